package logs

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
)

func TestOptionsAreChecked(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"kind: a logs source needs": func(o *Options) { o.Files = nil },
		"kind: files, command":      func(o *Options) { o.Command = []string{"x"} },
		"format: ":                  func(o *Options) { o.Format = "xml" },
		"lookback: ":                func(o *Options) { o.Lookback = backend.Duration(2 * time.Hour) },
		"byte_budget: ":             func(o *Options) { o.ByteBudget = 0 },
		"files: ":                   func(o *Options) { o.Files = []string{"[a"} },
		"close_timeout_texts: ":     func(o *Options) { o.CloseTimeoutTexts = []string{""} },
		"fields.message: ":          func(o *Options) { o.Fields.Message = nil },
		"pattern.contains: ":        func(o *Options) { o.Pattern = []PatternOption{{Name: "p", Class: "note"}} },
		"pattern.class: ":           func(o *Options) { o.Pattern = []PatternOption{{Contains: "x", Class: "oops"}} },
		"pattern.severity: ":        func(o *Options) { o.Pattern = []PatternOption{{Contains: "x", Class: "note", Severity: "bad"}} },
		"pattern.cause: ":           func(o *Options) { o.Pattern = []PatternOption{{Contains: "x", Class: "note", Cause: "("}} },
	} {
		opts := defaults()
		opts.Files = []string{"/x/*.log"}
		change(&opts)
		if _, err := Kind().New(backendtest.Fixed(opts), testDeps(t, time.Now)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s…", err, want)
		}
	}
}

func TestRoutesReadOnly(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"/x/*.log":               func(o *Options) { o.Files = []string{"/x/*.log"} },
		"journalctl -f":          func(o *Options) { o.Command = []string{"journalctl", "-f"} },
		"/containers/agent/logs": func(o *Options) { o.Container = "agent" },
	} {
		opts := defaults()
		change(&opts)
		src, err := Kind().New(backendtest.Fixed(opts), testDeps(t, time.Now))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, r := range src.(backend.Explainer).Routes() {
			found = found || strings.HasSuffix(r.Target, want)
			if r.Acts || r.Why == "" {
				t.Errorf("route %+v", r)
			}
		}
		if !found {
			t.Errorf("no route %q", want)
		}
		if err := src.(backend.Closer).Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestTimes(t *testing.T) {
	east := time.FixedZone("", 2*3600)
	want := time.Date(2026, 1, 2, 3, 4, 5, 600_000_000, time.UTC)
	for text, at := range map[string]time.Time{
		"2026-01-02T03:04:05.6Z":        want,
		"2026-01-02 05:04:05,600":       want, // in the zone of the console
		"2026-01-02T05:04:05.600+02:00": want,
		"2026-01-02T01:34:05.600-0130":  want,
		"1767323045.6":                  want,
		"1767323045600":                 want,
		"1767323045600000":              want,
		"1767323045600000000":           want,
		"2026-13-02T03:04:05Z":          {},
		"yesterday":                     {},
		"12":                            {},
		"NaN":                           {},
	} {
		if got, ok := backend.LogTime([]byte(text), east); !got.Equal(at) || ok == at.IsZero() {
			t.Errorf("%s: %v, %v", text, got, ok)
		}
	}
	if at, rest, ok := backend.LeadingTime([]byte("[2026-01-02T03:04:05.6Z] WARN x"), time.UTC); !ok || !at.Equal(want) || string(rest) != "WARN x" {
		t.Errorf("%v %q %v", at, rest, ok)
	}
}

func TestScanField(t *testing.T) {
	for line, want := range map[string]string{
		`sessionId=a-1 x`:                "a-1",
		`"sessionId":"a b"`:              "a b",
		`{\"sessionId\":\"a\"}`:          "a",
		`x sessionId: a, y`:              "a",
		`sessionId='a b'`:                "a b",
		`parentsessionId=no sessionId=a`: "a",
		`"sessionId":null`:               "",
		`"sessionId":{"x":1}`:            "",
		`sessionId`:                      "",
		`sessionId=`:                     "",
	} {
		if got := string(scanField([]byte(line), "sessionId")); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	if got := scanField([]byte("session: started"), "session"); got != nil {
		t.Errorf("an ordinary word was taken for a field: %q", got)
	}
}
