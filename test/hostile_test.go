package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

const hostileName = "\x1b]0;pwned\x07\u009b31m\u202e"

// hostileServer is a Helix server whose agents do their worst.
func hostileServer(t *testing.T, token string) *httptest.Server {
	t.Helper()
	quote := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	old := time.Now().Add(-time.Hour).UnixMilli()
	body := fmt.Sprintf(`{"workspaces":[
		{"name":%s,"state":"failed","lastError":%s,"lastAttemptAt":%d,"lastSuccessAt":%d},
		{"name":"=cmd|' /C calc'!A0","state":%s,"lastError":%s,"lastAttemptAt":%d}]}`,
		quote(hostileName), quote("OPENAI_API_KEY=sk-verysecret0123456789 "+strings.Repeat("x", 1<<20)), old, old-1000,
		quote("\x1b[2Jopen\u202e"), quote("the server echoes "+token), old)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(s.Close)
	return s
}

// TestHostileTextDoesNoHarmInAnyOutput runs the whole program on such a server, with a credential of ours that the
// server sends back.
func TestHostileTextDoesNoHarmInAnyOutput(t *testing.T) {
	const token = "our-own-token-7f3a9"
	s := hostileServer(t, token)
	file := writeConfig(t, fmt.Sprintf("[[source]]\nid = \"h\"\nkind = \"helix\"\nurl = %q\nsessions = [\"c4f1\"]\n[source.read]\nenv = \"T\"\n",
		s.URL+"/healthz/{session}"))
	for _, args := range []string{"check", "check -o json", "get workspaces", "get workspaces -o wide", "get workspaces -o json",
		"get workspaces -o jsonl", "get workspaces -o csv", "get all -o json", "get alerts -o json", "get sources", "config show"} {
		t.Run(args, func(t *testing.T) {
			p := testProgram(time.Now)
			var out, errs bytes.Buffer
			p.Stdout, p.Stderr = &out, &errs
			p.Getenv = func(name string) string {
				if name == "T" {
					return token
				}
				return ""
			}
			p.Run(t.Context(), append(strings.Fields(args), "--config", file, "--state-dir", t.TempDir()))
			got := out.String() + errs.String()
			if len(got) < 50 || len(got) > 64<<10 {
				t.Errorf("%d bytes of output", len(got))
			}
			for _, secret := range []string{token, "sk-verysecret0123456789"} {
				if strings.Contains(got, secret) {
					t.Errorf("the secret %s is printed", secret)
				}
			}
			for _, r := range got {
				if r < 0x20 && r != '\n' || r == 0x7f || r >= 0x80 && r <= 0x9f || r == 0x202e || r == utf8.RuneError {
					t.Fatalf("%U is printed raw: %q", r, got)
				}
			}
			if strings.HasSuffix(args, "csv") && strings.Contains(got, "\n=cmd") || strings.Contains(got, ",=cmd") {
				t.Error("a spreadsheet would execute a cell")
			}
			if strings.HasSuffix(args, "-o json") && !json.Valid(out.Bytes()) {
				t.Errorf("no valid JSON: %s", out.String())
			}
			if args == "get workspaces -o json" && !strings.Contains(got, `\u001b]0;pwned\u0007\u009b31m\u202e`) {
				t.Error("the raw name cannot be read back from the JSON")
			}
		})
	}
}
