package alerts

import "testing"

func TestSplitLink(t *testing.T) {
	for text, want := range map[string][2]string{
		"https://wiki.example/x":                        {"", "https://wiki.example/x"},
		" Who to call  https://wiki.example/x#night ":   {"Who to call", "https://wiki.example/x#night"},
		"On call mailto:oncall@example.com":             {"On call", "mailto:oncall@example.com"},
		"Zürich: 3 a.m. https://wiki.example/a%20b?q=1": {"Zürich: 3 a.m.", "https://wiki.example/a%20b?q=1"},
	} {
		title, address, err := SplitLink(text)
		if err != nil || title != want[0] || address != want[1] {
			t.Errorf("%q: %q, %q, %v", text, title, address, err)
		}
	}
	for _, text := range []string{"", "wiki/page", "https://wiki.example/x the wiki", "https://", "://x"} {
		if title, address, err := SplitLink(text); err == nil {
			t.Errorf("%q: %q, %q", text, title, address)
		}
	}
}
