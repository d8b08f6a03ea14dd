package test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestCompletionWithinQuotes: the shells complete what has to be typed in quotes: filters with two terms, matchers. Bash does so
// without the package bash-completion too.
func TestCompletionWithinQuotes(t *testing.T) {
	t.Parallel()
	helix := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		old := time.Now().Add(-time.Hour).UnixMilli()
		_, _ = fmt.Fprintf(w, `{"workspaces":[{"name":"box","state":"failed","lastError":"no","lastAttemptAt":%d}]}`, old)
	}))
	t.Cleanup(helix.Close)
	r := newReadme(t)
	text := fmt.Sprintf("environment = \"quotes\"\n[[source]]\nid = \"h\"\nkind = \"helix\"\nurl = %q\nsessions = [\"s-1\"]\n", helix.URL+"/healthz/{session}")
	if err := os.WriteFile(filepath.Join(r.dir, "c.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r.given = []string{"export SANDGLASS_CONFIG=c.toml"}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if err := os.WriteFile(filepath.Join(r.dir, shell), []byte(r.run("sandglass completion "+shell, 0)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		words string // of bash, the last one open
		line  string // of fish
		want  string
	}{
		{`get ws --filter "'sta"`, `sandglass get ws --filter 'sta`, "state=failed"},
		{`get ws --filter "'state="`, `sandglass get ws --filter 'state=`, "state=failed"},
		{`get ws --filter "'state=failed err"`, `sandglass get ws --filter 'state=failed err`, "state=failed error="},
		{`silence "'rule=\"failed-too"`, `sandglass silence 'rule="failed-too`, `rule="failed-too-long"`},
		{`silence "'rule=\"source-down\", sou"`, `sandglass silence 'rule="source-down", sou`, `rule="source-down", source=`},
		{`why s-`, `sandglass why s-`, "s-1/box"},
	} {
		got := r.run("bash --norc -c 'source ./bash; COMP_TYPE=9 COLUMNS=80; COMP_WORDS=(sandglass "+strings.ReplaceAll(c.words, "'", `'\''`)+
			`); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); __sandglass_start 2>&1; printf "%s\n" "${COMPREPLY[@]}"'`, 0)
		if !strings.Contains(got, c.want) || strings.Contains(got, "not found") {
			t.Errorf("bash, %s: %q lacks %q", c.words, got, c.want)
		}
		if _, err := exec.LookPath("fish"); err == nil {
			line := strings.ReplaceAll(c.line, "'", `'\''`)
			out := r.run(`HOME=. fish --no-config -c 'source ./fish; complete -C "$argv[1]"' -- '`+line+"'", 0)
			want, _, _ := strings.Cut(c.want, "=failed")
			if !slices.ContainsFunc(strings.Split(out, "\n"), func(l string) bool { return strings.HasPrefix(l, want) }) {
				t.Errorf("fish, %s: %q lacks %q", c.line, out, want)
			}
		}
	}
}
