package backend

import (
	"strings"
	"testing"
)

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

// TestMaskArgs: an argument behind a flag that takes a secret is masked, whatever it looks like; others stay as they are.
func TestMaskArgs(t *testing.T) {
	for line, want := range map[string]string{
		"curl -u a:s3cret http://h/":   "curl -u 'a:‹masked›' http://h/",
		"tool --password hunter22 s-1": "tool --password '‹masked›' s-1", "docker login -p hunter22 reg": "docker login -p '‹masked›' reg",
		"redis-cli -a hunter22 del s-1": "redis-cli -a '‹masked›' del s-1", "sqlite3 x.db s-1": "sqlite3 x.db s-1",
		"curl -u bob:s3cret --password hunter22 --token hunter5q --secret Zq9hunter10 https://u:p4ss@h/": "curl -u 'bob:‹masked›' --password '‹masked›' --token '‹masked›' --secret '‹masked›' 'https://‹masked›@h/'",
		"env X-Api-Key=abcdefgh run": "env 'X-Api-Key=‹masked›' run",
	} {
		if got := ShellLine(strings.Split(line, " ")); got != want {
			t.Errorf("%s: %s", line, got)
		}
	}
	if got := ShellLine([]string{"sqlite3", "x.db", "delete from w where id='s 1'"}); got != `sqlite3 x.db 'delete from w where id='\''s 1'\'''` {
		t.Error(got)
	}
}
