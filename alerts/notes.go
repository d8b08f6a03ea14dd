package alerts

import (
	"slices"
	"strings"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// Bucketer is a FleetRule that takes notes and looks at them by place: the engine keeps those of one place together, so
// that a State in which few notes change does not walk them all.
type Bucketer interface {
	// Bucket names the place of a note; empty: in none.
	Bucket(k backend.Key, n Note) string
}

// Notes are what a rule noted about several subjects, in key order.
type Notes struct{ rs []*record }

// Len counts them.
func (n Notes) Len() int { return len(n.rs) }

// All walks them.
func (n Notes) All(yield func(backend.Key, Note) bool) {
	for _, r := range n.rs {
		if !yield(r.Key, r.Note) {
			return
		}
	}
}

// Where are those that a test accepts.
func (n Notes) Where(accept func(backend.Key, Note) bool) Notes {
	var out []*record
	for _, r := range n.rs {
		if accept(r.Key, r.Note) {
			out = append(out, r)
		}
	}
	return Notes{out}
}

// With are these and others.
func (n Notes) With(o Notes) Notes {
	out := append(slices.Clip(n.rs), o.rs...)
	stable.Sort(out, func(a, b *record) int { return a.Key.Compare(b.Key) })
	return Notes{out}
}

// Buckets walks the rule's notes by place, in the order of the places' names.
func (k Known) Buckets(yield func(string, Notes) bool) {
	names := make([]string, 0, len(k.l.buckets))
	for name := range k.l.buckets {
		names = append(names, name)
	}
	stable.Sort(names, strings.Compare)
	for _, name := range names {
		if !yield(name, Notes{k.l.buckets[name]}) {
			return
		}
	}
}

// bucketed brings the places up to date. Changes are sorted and without doubles.
func (l *ruleState) bucketed(b Bucketer, changes []change) map[string][]*record {
	place := func(r *record) string {
		if r == nil || r.Note.IsZero() {
			return ""
		}
		return b.Bucket(r.Key, r.Note)
	}
	by := map[string][]change{}
	old := l.buckets
	if old == nil { // from a file: everything is new
		old = map[string][]*record{}
		for _, r := range l.records {
			if p := place(r); p != "" {
				old[p] = append(old[p], r)
			}
		}
	} else if len(changes) == 0 {
		return old
	}
	for _, c := range changes {
		was, is := place(c.was), place(c.next)
		if was != "" && was != is {
			by[was] = append(by[was], change{was: c.was})
		}
		switch {
		case is == "":
		case was == is:
			by[is] = append(by[is], c)
		default:
			by[is] = append(by[is], change{next: c.next})
		}
	}
	out := make(map[string][]*record, len(old)+len(by))
	for p, rs := range old {
		if rs = merged(rs, by[p]); len(rs) > 0 {
			out[p] = rs
		}
		delete(by, p)
	}
	for p, cs := range by {
		out[p] = merged(nil, cs)
	}
	return out
}
