package backend

import "testing"

func TestWordsAndPathsInTexts(t *testing.T) {
	for _, c := range []struct {
		text, phrase string
		want         bool
	}{
		{"the ref is gone", "ref", true}, {"refused", "ref", false}, {"xref, ref", "ref", true}, {"a_ref", "ref", false},
		{"exit status: 137", "status: ", true}, {"status:137", ":", true}, {"anything", "", false}, {"", "ref", false}, {"", "", false},
	} {
		if got := HoldsWord(c.text, c.phrase); got != c.want {
			t.Errorf("%q holds the word %q: %t", c.text, c.phrase, got)
		}
	}
	for _, c := range []struct {
		text, path string
		want       bool
	}{
		{"stat /tmp/helix-ws-a: no such file", "/tmp/helix-ws-a", true}, {"stat /tmp/helix-ws-a/b", "/tmp/helix-ws-a", true},
		{"stat /tmp/helix-ws-ab", "/tmp/helix-ws-a", false}, {"/tmp/ab and /tmp/a", "/tmp/a", true}, {"anything", "", false},
	} {
		if got := HoldsPath(c.text, c.path); got != c.want {
			t.Errorf("%q holds the path %q: %t", c.text, c.path, got)
		}
	}
}

func TestPlural(t *testing.T) {
	for noun, want := range map[string]string{"sandbox": "sandboxes", "process": "processes", "entry": "entries", "scratch directory": "scratch directories",
		"day": "days", "host": "hosts"} {
		if got := Plural(noun); got != want {
			t.Errorf("%q: %q", noun, got)
		}
	}
}
