package fleet

import (
	"slices"
	"testing"

	"sandglass/backend"
)

// TestACommandNamesTheSourceOfAnIDThatSeveralHave: by the id or the name of a sandbox, where another source has it too, and only
// there. A command that reads any kind names the kind too, where another kind has the id.
func TestACommandNamesTheSourceOfAnIDThatSeveralHave(t *testing.T) {
	key := func(kind backend.Kind, source, id string) backend.Key {
		return backend.Key{Kind: kind, Source: source, ID: backend.MustID(id)}
	}
	box := func(source, id, name string) *backend.Sandbox {
		return &backend.Sandbox{Meta: backend.Meta{Key: key(backend.KindSandbox, source, id)}, Name: backend.Clean(name, 60)}
	}
	st := &State{Sessions: NewTable(&backend.Session{Meta: backend.Meta{Key: key(backend.KindSession, "hx", "bbbb")}}, &backend.Session{Meta: backend.Meta{Key: key(backend.KindSession, "cf", "cccc")}})}
	for _, id := range []string{"cf", "cf2", "hx"} {
		st.Sources = append(st.Sources, &SourceHealth{Key: key(backend.KindSource, id, id)})
	}
	st = st.WithSandboxes(NewTable(box("cf", "aaaa", ""), box("cf", "bbbb", ""), box("cf", "cccc", ""), box("cf", "dddd", ""), box("cf", "e1", "blue"),
		box("cf2", "aaaa", ""), box("cf2", "e2", "blue"), box("cf2", "hx", "")))
	for _, c := range []struct{ command, at, id, want string }{
		{"probe", "cf/aaaa", "aaaa", "--source cf"}, {"probe", "cf2/aaaa", "aaaa", "--source cf2"}, {"why", "cf/aaaa", "aaaa", "--source cf"},
		{"probe", "cf/bbbb", "bbbb", ""}, {"why", "cf/bbbb", "bbbb", "--source cf"},
		{"probe", "cf/cccc", "cccc", ""}, {"why", "cf/cccc", "cccc", "--kind sandbox"},
		{"probe", "cf/dddd", "dddd", ""}, {"why", "cf/dddd", "dddd", ""}, {"probe", "cf/dddd", "aaaa", ""},
		{"probe", "cf/e1", "blue", "--source cf"}, {"probe", "cf/e1", "e1", ""}, {"why", "cf2/hx", "hx", "--source cf2"},
	} {
		at := func() backend.Key {
			for b := range st.Sandboxes.All() {
				if b.Key.Source+"/"+b.Key.ID.Raw() == c.at {
					return b.Key
				}
			}
			return backend.Key{}
		}()
		source, kind := st.ReachTo(slices.Values([]backend.Key{at})).Which(c.command, c.id)
		got := ""
		if source != "" {
			got = "--source " + source
		}
		if kind != "" {
			got += "--kind " + kind
		}
		if got != c.want {
			t.Errorf("%s %s of %s: %q, want %q", c.command, c.id, c.at, got, c.want)
		}
	}
}
