package backend

import "testing"

func TestShellWord(t *testing.T) {
	for raw, want := range map[string]string{
		"/tmp/helix-ws-1": "/tmp/helix-ws-1", "": "''", "a b": "'a b'", "x; rm -rf /": "'x; rm -rf /'", "$(reboot)": "'$(reboot)'",
		"it's": `'it'\''s'`, "~root": "'~root'", "a\nb": "'a␊b'",
	} {
		if got := ShellWord(raw).String(); got != want {
			t.Errorf("%q: %s, want %s", raw, got, want)
		}
	}
}
