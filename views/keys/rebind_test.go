package keys

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A configuration can name every binding of a place, and names no two by one word.
func TestEveryBindingHasAName(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range table() {
		name := b.Context.Place() + "." + b.Name()
		if b.Name() == "" || seen[name] || strings.ToLower(name) != name || strings.Contains(name, " ") {
			t.Errorf("%q for %v", name, b.Intent)
		}
		seen[name] = true
	}
	for c := range contextCount {
		if !slices.Contains(Contexts(), c) {
			t.Errorf("%s is not listed", c.Name())
		}
	}
}

// What every terminal can send: no ctrl, alt, function key or esc is needed for anything.
func TestEveryIntentHasAPlainKey(t *testing.T) {
	special := regexp.MustCompile(`^(ctrl|alt)\+|^f\d|^esc$`)
	for _, b := range table() {
		plain := b.Command != "" // the palette has a plain key
		for _, o := range table() {
			same := o.Intent == b.Intent || b.Intent.Action == Cancel && o.Intent.Action == LeaveEmpty
			plain = plain || o.Context == b.Context && same && slices.ContainsFunc(o.Keys(), func(k string) bool { return !special.MatchString(k) })
		}
		if !plain {
			t.Errorf("%s in %q needs one of %v", b.Name(), b.Context.Name(), b.Keys())
		}
	}
}

func TestRebind(t *testing.T) {
	all := Rebind(table(), map[string]map[string][]string{
		"table": {"sort": {"O", "pgdown"}, "mark": {}, "probe": {"n"}, "prove": {"X"}}, "everywhere": {"screen-alerts": {"!"}},
	})
	m := NewMap(slices.DeleteFunc(all, func(b Binding) bool { return b.Intent.Action == PageDown }))
	for k, want := range map[string]Intent{"O": {Action: Sort}, "pgdown": {Action: Sort}, "n": {Action: Act, Text: "probe"}, "X": {Action: Act, Text: "prove"}, "!": {Action: Screen, N: 1}} {
		if in, ok := m.Lookup(List, k); !ok || in != want {
			t.Errorf("%s asks for %v", k, in)
		}
	}
	for _, k := range []string{"s", "space", "1"} {
		if in, ok := m.Lookup(List, k); ok {
			t.Errorf("%s still asks for %v", k, in)
		}
	}
	if m.OfVerb(List, "probe") != "n" || m.OfVerb(Details, "probe") != "p" || m.OfVerb(List, "destroy") != "D" || (*Map)(nil).OfVerb(List, "probe") != "p" {
		t.Error(m.OfVerb(List, "probe"), m.OfVerb(Details, "probe"), m.OfVerb(List, "destroy"))
	}
	for _, b := range all {
		if b.Context == List && b.Intent.Action == Mark && (b.Help().Key != ":mark" || b.Hint.Help().Desc != "") {
			t.Errorf("a command without a key: help %q, hint %q", b.Help().Key, b.Hint.Help().Desc)
		}
		if b.Context == List && b.Intent.Action == Sort && (b.Help().Key != "O pgdown" || b.Hint.Help().Key != "O") {
			t.Errorf("help %q, hint %q", b.Help().Key, b.Hint.Help().Key)
		}
	}
	if in, _ := NewMap(table()).Lookup(List, "s"); in.Action != Sort {
		t.Error("the table itself was changed")
	}
}

func TestBadKey(t *testing.T) {
	for _, k := range []string{"a", "Z", "ü", "#", "ctrl+a", "ctrl+alt+x", "shift+tab", "f12", "space", "alt+enter", "+", "ctrl++"} {
		if why := BadKey(k, false, false); why != "" {
			t.Errorf("%s: %s", k, why)
		}
	}
	for k, want := range map[string]string{"": "missing", "ab": "is not a key", "f13": "is not a key", "control+a": "is not a key", "ctrl+": "is not a key",
		" ": "such as space", "shift+a": `write "A"`, "ctrl+A": `write "ctrl+a"`, "\x1b": "is not a key", "alt+ctrl+x": "in this order"} {
		if why := BadKey(k, false, false); !strings.Contains(why, want) {
			t.Errorf("%q: %q, want %q", k, why, want)
		}
	}
	if BadKey("a", true, false) == "" || BadKey("space", true, false) == "" || BadKey("enter", true, false) != "" || BadKey("ctrl+a", true, false) != "" {
		t.Error("text where text is typed")
	}
	if BadKey("y", false, true) == "" || BadKey("p", false, true) != "" {
		t.Error("a letter of answers of terminals confirms")
	}
	for _, v := range VerbKeys() {
		if why := BadKey(v.Key, false, v.Twice); why != "" {
			t.Error(why)
		}
	}
}
