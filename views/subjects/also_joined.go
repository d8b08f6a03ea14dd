package subjects

import (
	"sandglass/backend"
	"sandglass/views/kit"
)

// mostJoined is how many subjects of a kind a page lists that are joined to its own; of more, the rest is counted.
const mostJoined = 200

// alsoJoined lists what belongs to a subject and has no line on its page yet.
func (w *writer) alsoJoined(of backend.Key) {
	var rest []backend.Key
	seen := map[backend.Key]bool{of: true}
	for _, k := range w.links {
		seen[k] = true
	}
	Related(of, w.f.Snapshot, func(k backend.Key) {
		if !seen[k] {
			seen[k] = true
			rest = append(rest, k)
		}
	})
	if len(rest) == 0 {
		return
	}
	w.Head("Also joined")
	for _, k := range rest[:min(len(rest), mostJoined)] {
		if e := w.f.State.Entity(k); e != nil {
			w.to(k)
			w.Field(noun(k.Kind), kindOf(k.Kind).row(w, e)...)
		}
	}
	if more := rest[min(len(rest), mostJoined):]; len(more) > 0 {
		w.Field("", dim("and "+Counted(more)+" more"))
	}
}

func (workspaceKind) row(w *writer, e backend.Entity) []kit.Span {
	x := e.(*backend.Workspace)
	return []kit.Span{normal(x.Key.Safe().String() + "  "), w.state(WorksCell(x, w.f.Snapshot)), dim("  " + x.LastError.String())}
}

func (tmpdirKind) row(_ *writer, e backend.Entity) []kit.Span {
	t := e.(*backend.Tmpdir)
	size := "size unknown"
	if n, known := t.Bytes.Get(); known {
		size = backend.Bytes(n)
	}
	return []kit.Span{normal(t.Path.String() + "  "), dim(size + "  " + t.Key.Parent.Safe().String())}
}

func (refKind) row(w *writer, e backend.Entity) []kit.Span {
	r := e.(*backend.Ref)
	saved := "saved at an unknown time"
	if at, known := r.SavedAt.Get(); known {
		saved = "saved " + backend.Age(w.f.Now.Sub(at)) + " ago"
	}
	return []kit.Span{normal(r.Key.Safe().String() + "  "), dim(saved + "  " + r.Key.Source)}
}
