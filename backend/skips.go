package backend

import (
	"slices"
	"strings"
)

// MaxSkipsKept bounds the paths that are kept of what snapshots leave out.
const MaxSkipsKept = 50

// LeftOut are paths below the root of a session that the snapshots of its agent's SDK leave out, sorted, each once. SkipsMore is how many
// others there are.
type LeftOut struct {
	Skips     []Safe `json:"skips,omitempty"`
	SkipsMore int    `json:"skips_more,omitempty"`
}

// LeaveOut keeps the first of those paths that are below a directory.
func LeaveOut(paths []string, root string, clean func(string, int) Safe) (x LeftOut) {
	slices.Sort(paths)
	root, last := strings.TrimSuffix(root, "/")+"/", ""
	for _, p := range paths {
		p, is := strings.CutPrefix(p, root)
		if !is || p == last {
			continue
		}
		if last = p; len(x.Skips) < MaxSkipsKept {
			x.Skips = append(x.Skips, clean(p, 200))
		} else {
			x.SkipsMore++
		}
	}
	return x
}

// Named are the first of the paths in words; empty: there is none.
func (x *LeftOut) Named() Safe {
	const named = 3
	first := x.Skips[:min(len(x.Skips), named)]
	if more := len(x.Skips) - len(first) + x.SkipsMore; more > 0 {
		return Textf("%s and %d more", Join(first, ", "), more)
	}
	return Join(first, ", ")
}

// With puts those of another behind its own that it has not.
//
//go:noinline
func (x *LeftOut) With(other *LeftOut) {
	x.Skips = slices.Clip(x.Skips)
	for _, p := range other.Skips {
		if !slices.Contains(x.Skips, p) {
			x.Skips = append(x.Skips, p)
		}
	}
	x.SkipsMore = max(x.SkipsMore, other.SkipsMore)
}
