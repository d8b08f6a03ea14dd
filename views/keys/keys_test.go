package keys

import (
	"testing"
)

func table() []Binding { return Bindings([]ScreenName{{1, "Alerts"}, {2, "Workspaces"}}) }

// Every binding can be found by each of its keys, has a line of help, and hides nothing of a wider context by accident.
func TestTableIsConsistent(t *testing.T) {
	m := NewMap(table())
	for _, b := range table() {
		if len(b.Keys()) == 0 && b.Command == "" || b.Help().Desc == "" || b.Intent.Action == None {
			t.Errorf("%+v", b)
		}
		for _, k := range b.Keys() {
			if in, ok := m.Lookup(b.Context, k); !ok || in != b.Intent {
				t.Errorf("%s in %q asks for %v, want %v", k, b.Context.Name(), in, b.Intent)
			}
			if b.Context == Everywhere {
				for _, c := range []Context{List, Details} {
					if in, _ := m.Lookup(c, k); in != b.Intent {
						t.Errorf("%s does something else in %q", k, c.Name())
					}
				}
			}
		}
	}
}

// In text entries letters are text.
func TestEntriesBindNoPrintableKey(t *testing.T) {
	m := NewMap(table())
	for r := '!'; r <= '~'; r++ {
		for _, c := range []Context{FilterLine, CommandMenu} {
			if in, ok := m.Lookup(c, string(r)); ok {
				t.Errorf("%q in %q asks for %v", r, c.Name(), in)
			}
		}
	}
}

func TestTwiceBoundPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a key bound twice went unnoticed")
		}
	}()
	NewMap(append(table(), bind(List, []string{"s"}, Intent{Action: Quit}, "", "twice", "")))
}
