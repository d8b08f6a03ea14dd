package tmpdir

import (
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// refsView is what persisted refs and registries say about directories.
type refsView struct {
	// known says why not every ref that could name a directory is known; empty: all are.
	known backend.Safe
	said  []mention
}

// mention is a text that may name a directory, and its origin.
type mention struct{ text, who string }

// readRefs collects all texts that may name a scratch directory. All refs are known only when there is a source of refs
// that reports about ours, and each such source answers with a complete list.
func (t *tool) readRefs(s *fleet.State, now time.Time) refsView {
	var v refsView
	v.known = t.refsUnknown(s, now)
	for r := range s.Refs.All() {
		who := "the persisted ref of " + r.Key.Safe().String()
		opaque := r.RawOpaque.Raw()
		if opaque == "" && !r.Opaque.IsEmpty() && v.known.IsEmpty() {
			v.known = backend.Textf("the ref of %s is too long to be searched", r.Key.Safe())
		}
		for _, text := range []string{opaque, r.Sandbox.Raw(), r.Namespace.Raw(), r.Opaque.String(), r.Raw.String()} {
			v.add(text, who)
		}
		for _, f := range r.Extra {
			v.add(f.Value.String(), who)
		}
	}
	for w := range s.Workspaces.All() {
		who := "workspace " + w.Key.Safe().String()
		v.add(w.ProviderID.Raw(), who)
		v.add(w.Namespace.Raw(), who)
	}
	for x := range s.Sessions.All() {
		for _, ref := range x.WorkspaceRefs {
			v.add(ref.String(), "session "+x.Key.Safe().String())
		}
	}
	return v
}

func (v *refsView) add(text, who string) {
	if text != "" {
		v.said = append(v.said, mention{text, who})
	}
}

// refsUnknown says why there may be refs that were not read.
func (t *tool) refsUnknown(s *fleet.State, now time.Time) backend.Safe {
	found := false
	for _, h := range s.Sources {
		if h.Kind != "refs" || !h.ReportsOn(t.site.Deps.ID) {
			continue
		}
		found = true
		if h.Status != fleet.StatusOK || !h.Delivers(backend.InputRefs) || h.Overdue(now) || s.LastCompleteList(h.Key.Source, backend.KindRef).IsZero() {
			return backend.Textf("%s does not list all persisted refs now", backend.Clean(h.Key.Source, 80))
		}
	}
	if !found {
		return backend.Text("no source reads the persisted refs")
	}
	return backend.Safe{}
}

// naming says which ref names the directory; empty: none. The base name alone is enough, whatever its path in the ref.
func (v *refsView) naming(base string) backend.Safe {
	quoted := backend.QuoteJSON(base)
	for _, x := range v.said {
		if names(x.text, base) || names(x.text, quoted[1:len(quoted)-1]) {
			return backend.Textf("%s names it", backend.Clean(x.who, 200))
		}
	}
	return backend.Safe{}
}

// names reports whether the text contains the name, and not merely a longer one that begins or ends with it.
func names(text, name string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(name)
		if (from == 0 || !nameByte(text[from-1])) && (to == len(text) || !nameByte(text[to])) {
			return true
		}
		at = from + 1
	}
}

func nameByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}
