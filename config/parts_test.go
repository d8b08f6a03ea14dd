package config_test

import (
	"slices"
	"testing"

	"sandglass/config"
)

// What differs between two readings of a file is named as the file writes it, and comments are no difference.
func TestDiffers(t *testing.T) {
	parse := func(text string) *config.Config {
		t.Helper()
		c, err := config.Parse([]byte(text), "f", known())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	was := parse(good)
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"the same", good, nil},
		{"a comment", "# why\n" + good + "\n# end", nil},
		{"a key", "time = \"local\"\n" + good, []string{"time"}},
		{"a theme", good + "\n[ui]\ntheme = \"none\"\n", []string{"[ui]"}},
		{"a source", good + "\n[[source]]\nid = \"more\"\nkind = \"docker\"\n", []string{`[[source]] "more"`}},
		{"a view", good + "\n[[view]]\nname = \"x\"\nscreen = \"alerts\"\n", []string{"[[view]]"}},
	} {
		now := parse(c.text)
		if got := now.Differs(was); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if got := was.Differs(now); !slices.Equal(got, c.want) {
			t.Errorf("%s, taken back: %q, want %q", c.name, got, c.want)
		}
	}
	a, b := parse("[rules.eviction-storm]\nrate = 0.3\n"), parse("[rules.eviction-storm]\nrate = 0.4\n")
	if got := b.Differs(a); !slices.Equal(got, []string{"[rules.eviction-storm]"}) {
		t.Errorf("a threshold: %q", got)
	}
}
