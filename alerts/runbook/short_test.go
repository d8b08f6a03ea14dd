package runbook

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// Narrow places show the first sentence of a conclusion, a step or a warning: it is complete and fits a line.
func TestFirstSentencesAreShort(t *testing.T) {
	const most = 60
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	said := regexp.MustCompile(`(?:\.(?:do|dont|conclude|deny)\(|\b(?:do|dont|conclude):\s*)"((?:[^"\\]|\\.)*)"`)
	end := regexp.MustCompile(`[.?!] [^a-z]`)
	n := 0
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range said.FindAllStringSubmatch(string(text), -1) {
			s := strings.TrimPrefix(m[1], "Don't ")
			if at := end.FindStringIndex(s); at != nil {
				s = s[:at[0]+1]
			}
			if steps := strings.Contains(m[0], "do(") || strings.HasPrefix(m[0], "do:"); steps && (strings.HasPrefix(s, "First ") || strings.HasPrefix(s, "Then ")) {
				t.Errorf("%s: the field before a step says first or then: %s", f, s)
			}
			if n++; utf8.RuneCountInString(s) > most {
				t.Errorf("%s: %d characters: %s", f, utf8.RuneCountInString(s), s)
			}
		}
	}
	if n < 150 {
		t.Errorf("only %d sentences found", n)
	}
}
