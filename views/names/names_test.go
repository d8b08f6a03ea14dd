package names

import (
	"strings"
	"testing"
)

func demo() *Set {
	s := New([]byte("salt"))
	for _, n := range []string{"codesess_3541", "codesess_35", "web-eval-12", "/tmp/helix-ws-c4f1", "acme", "12", "acme corp", "日本"} {
		s.Add(n)
	}
	s.AddWord("box")
	s.AddWord("failed")
	s.AddWord("box-2")
	s.AddAs("76fca18e0b12", "76fca18e0b12aaaabbbb")
	s.Add("76fca18e0b12aaaabbbb")
	return s
}

// A name is replaced wherever it stands as a word, by one hash; sentences and counts stay as they are.
func TestText(t *testing.T) {
	s := demo()
	hash := func(name string) string {
		h := s.Text(name)
		if h == name || len(h) != HashWidth {
			t.Fatalf("%s becomes %s", name, h)
		}
		return h
	}
	for text, want := range map[string]string{
		"session codesess_3541: refused":       "session " + hash("codesess_3541") + ": refused",
		"codesess_3541/box and codesess_35/no": hash("codesess_3541") + "/" + hash("box") + " and " + hash("codesess_35") + "/no",
		"codesess_354":                         "codesess_354", // another name
		"xcodesess_3541":                       "xcodesess_3541",
		"/tmp/helix-ws-c4f1/a.log":             hash("/tmp/helix-ws-c4f1") + "/a.log",
		`"acme corp" owns 12 of 12`:            `"` + hash("acme corp") + `" owns 12 of 12`,
		"it failed in a box":                   "it failed in a box",
		"failed":                               hash("failed"),
		"  box ":                               "  " + hash("box") + " ",
		`{"name":"box"}`:                       `{"name":"` + hash("box") + `"}`,
		"of acme, in a box-2":                  "of " + hash("acme") + ", in a " + hash("box-2"),
		"76fca18e0b12 is 76fca18e0b12aaaabbbb": hash("76fca18e0b12") + " is " + hash("76fca18e0b12"),
		"日本 ok":                                hash("日本") + " ok",
		"":                                     "",
	} {
		if got := s.Text(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	if a, b := s.Text("web-eval-12"), s.Text("x web-eval-12."); b != "x "+a+"." {
		t.Error(a, b)
	}
	if other := New([]byte("other")); other.Text("web-eval-12") != "web-eval-12" {
		t.Error("an empty set hides something")
	} else if other.Add("web-eval-12"); other.Text("web-eval-12") == s.Text("web-eval-12") {
		t.Error("the salt changes nothing")
	}
	if (*Set)(nil).Text("a") != "a" {
		t.Error("a nil set hides something")
	}
}

// What an ellipsis leaves of a name is hidden at its beginning, its end, or both.
func TestCutNames(t *testing.T) {
	s := demo()
	for _, text := range []string{"on codeses… now", "…eval-12 is", "web-ev…-12", "at /tmp/helix…", "76fca18…", "…ws-c4f1"} {
		got := s.Text(text)
		for _, part := range []string{"codeses", "eval", "web-", "helix", "76fca", "c4f1"} {
			if strings.Contains(got, part) {
				t.Errorf("%q becomes %q", text, got)
			}
		}
		if !strings.Contains(got, "…") || !strings.Contains(got, "#") {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	if got := s.Text("wait… and see"); got != "wait… and see" {
		t.Error(got)
	}
}

func BenchmarkText(b *testing.B) {
	s := New([]byte("salt"))
	for i := range 10_000 {
		s.Add("codesess_" + strings.Repeat("x", i%20) + string(rune('a'+i%26)) + "-" + string(rune('0'+i%10)))
	}
	b.ReportAllocs()
	for b.Loop() {
		s.Text("says idle; exec and files dead; the session codesess_xxxb-1 was evicted 12m ago by the platform")
	}
}
