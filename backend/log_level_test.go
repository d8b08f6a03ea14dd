package backend

import "testing"

// A line is about an error by its level, else by how loggers and runtimes begin one; a word in passing is none.
func TestLogError(t *testing.T) {
	for line, want := range map[string]bool{
		`{"level":"error","msg":"x"}`:              true,
		`{"level":50,"msg":"x"}`:                   true,
		`{"level":30,"msg":"error: in passing"}`:   false,
		`time=1 level=info msg="ERROR in passing"`: false,
		`time=1 level=fatal msg=x`:                 true,
		`{"severity":"CRITICAL"}`:                  true,
		"2026-11-27 ERROR x":                       true,
		"[error] 31#31: x":                         true,
		"error: x":                                 true,
		"panic: runtime error":                     true,
		"ValueError: x":                            true,
		"java.lang.IllegalStateException: x":       true,
		"Traceback (most recent call last):":       true,
		"E1127 10:00:00.000000 1 x.go:1] x":        true,
		"FATAL":                                    true,
		"0 errors, no error at all":                false,
		"terror: a film":                           false,
		"the errors were few":                      false,
		"":                                         false,
		"E":                                        false,
	} {
		if got := LogError([]byte(line)); got != want {
			t.Errorf("%q: %t", line, got)
		}
	}
}
