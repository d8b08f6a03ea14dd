package wire_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"sandglass/backend"
	"sandglass/backend/wire"
)

func TestCredentialGoesToItsOriginOnly(t *testing.T) {
	var seen atomic.Value
	h := func(_ http.ResponseWriter, r *http.Request) { seen.Store(r.Header.Get("Authorization")) }
	mine, other := serve(t, h), serve(t, h)
	c := client(t, wire.Config{Origins: []string{mine + "/a/{session}"},
		Credential: wire.Credential{Prefix: "Bearer ", Env: "TOKEN"}}, deps())
	for url, want := range map[string]string{mine: "Bearer tok-123456789", other: ""} {
		if _, err := c.Get(t.Context(), wire.Request{URL: url + "/x"}); err != nil {
			t.Fatal(err)
		}
		if got := seen.Load(); got != want {
			t.Errorf("sent %q, want %q", got, want)
		}
	}
	if got := c.Cleaner().Mask("x tok-123456789 y"); strings.Contains(got, "tok-") {
		t.Errorf("the credential is not masked: %s", got)
	}
}

func TestCredentialPlaces(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(p, mode); err != nil {
			t.Fatal(err)
		}
		return p
	}
	for name, tc := range map[string]struct {
		cred wire.Credential
		err  string
	}{
		"env":             {cred: wire.Credential{Env: "TOKEN"}},
		"env not set":     {cred: wire.Credential{Env: "NONE"}, err: "NONE is empty or not set"},
		"file":            {cred: wire.Credential{File: file("ok", "secret-in-file\n", 0o600)}},
		"file for others": {cred: wire.Credential{File: file("open", "x", 0o640)}, err: "can be read by others"},
		"file missing":    {cred: wire.Credential{File: filepath.Join(dir, "none")}, err: "no such file"},
		"file large":      {cred: wire.Credential{File: file("large", strings.Repeat("x", 100_000), 0o600)}, err: "larger than"},
		"line break":      {cred: wire.Credential{File: file("crlf", "a\r\nX-Evil: b", 0o600)}, err: "no header can carry"},
		"directory":       {cred: wire.Credential{File: dir}, err: "not a regular file"},
		"command":         {cred: wire.Credential{Command: []string{"echo", "secret-from-command"}}},
		"command fails":   {cred: wire.Credential{Command: []string{"sh", "-c", "echo sEcReT; echo sEcReT >&2; exit 3"}}, err: "exit status 3"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			url := serve(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get("Authorization") })
			_, err := client(t, wire.Config{Origins: []string{url}, Credential: tc.cred}, deps()).Get(t.Context(), wire.Request{URL: url})
			switch {
			case tc.err == "" && (err != nil || len(got) < 10):
				t.Errorf("got %q, %v", got, err)
			case tc.err != "" && (backend.KindOf(err) != backend.ErrUnauthorised || !strings.Contains(fmt.Sprint(err), tc.err)):
				t.Errorf("got %v, want %q", err, tc.err)
			case tc.err != "" && (got != "" || strings.Contains(err.Error(), "sEcReT")):
				t.Errorf("sent %q, error %v", got, err)
			}
		})
	}
}

func TestCredentialPrefix(t *testing.T) {
	for _, tc := range []struct{ header, prefix, value, want string }{
		{"", "", "tok", "Bearer tok"},
		{"Authorization", "", "Basic dTpw", "Basic dTpw"},
		{"Authorization", "Token ", "tok", "Token tok"},
		{"X-Api-Key", "", "tok", "tok"},
	} {
		got := ""
		url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
			got = r.Header.Get("X-Api-Key") + r.Header.Get("Authorization")
		})
		d := deps()
		d.Getenv = func(string) string { return tc.value }
		cred := wire.Credential{Header: tc.header, Prefix: tc.prefix, Env: "X"}
		_, err := client(t, wire.Config{Origins: []string{url}, Credential: cred}, d).Get(t.Context(), wire.Request{URL: url})
		if err != nil || got != tc.want {
			t.Errorf("%+v: got %q, %v", tc, got, err)
		}
	}
}

func TestEchoesOfACredentialAreMasked(t *testing.T) {
	clean := backend.NewCleaner().With(wire.SecretForms("Basic bWFyYTpodW50ZXIyMg==")...)
	for _, echo := range []string{"Basic bWFyYTpodW50ZXIyMg==", "got bWFyYTpodW50ZXIyMg==", "mara:hunter22 is locked", "wrong password hunter22"} {
		if got := clean.Mask(echo); strings.Contains(got, "hunter22") || strings.Contains(got, "bWFyYT") {
			t.Errorf("%q became %q", echo, got)
		}
	}
}
