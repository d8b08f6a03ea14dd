// Package tmpdirs is screen 7: scratch directories, and how full the hosts below them are.
package tmpdirs

import (
	"strings"

	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/browse"
	"sandglass/views/kit"
	"sandglass/views/subjects"
	"sandglass/views/theme"
)

// mostHosts is how many hosts get a line of their own above the table.
const mostHosts = 4

// New makes the screen.
func New() views.Screen {
	return browse.New(browse.Config[*backend.Tmpdir]{
		Number: 7, Name: "Tmpdirs", Set: subjects.Tmpdirs(), Kinds: []backend.Kind{backend.KindTmpdir}, Strip: hosts,
		Follows: true,
		Offered: func(f *views.Frame) bool {
			return f.Summary.Tmpdirs > 0 || f.Summary.Framework && f.State != nil && f.State.MayRead(backend.InputTmpdirs)
		},
		Nothing: func(f *views.Frame) *kit.Doc {
			return browse.Lacking(f, backend.InputTmpdirs, "No scratch directories",
				"The configured roots were read, and nothing in them matches the pattern.",
				"No source looks at scratch directories. A source of kind tmpdir does.")
		},
	})
}

// hosts draws a line or more for each host: memory, and disk and inodes of each root.
func hosts(f *views.Frame, w int) []string {
	n := f.State.Hosts.Len()
	if n == 0 {
		return nil
	}
	doc := &kit.Doc{}
	for i := range min(n, mostHosts) {
		fold(doc, subjects.HostGroups(f.State.Hosts.At(i)), w)
	}
	lines := doc.Layout(f.Theme, w)
	note := ""
	if n > mostHosts {
		note = kit.Number(n-mostHosts) + " more hosts"
	}
	return append(lines, kit.RuleWith(f.Theme, w, theme.Dim, note))
}

// shortestPath is to how many cells a path is cut where there is no room.
const shortestPath = 8

// fold puts groups on one line as far as they fit.
func fold(doc *kit.Doc, groups [][]kit.Span, w int) {
	var line []kit.Span
	used := 0
	for _, g := range groups {
		n := 0
		for _, s := range g {
			n += kit.Width(s.Text)
		}
		if over := n - (w - 4); over > 0 && strings.HasPrefix(g[0].Text, "/") { // how full it is matters more than where its path begins
			short := kit.CutLeft(g[0].Text, max(kit.Width(g[0].Text)-over, shortestPath))
			n += kit.Width(short) - kit.Width(g[0].Text)
			g = append([]kit.Span{{Tone: g[0].Tone, Text: short}}, g[1:]...)
		}
		if used > 0 && used+5+n > w-2 {
			doc.Line(line...)
			line, used = []kit.Span{{Text: "  "}}, 2
		} else if used > 0 {
			line, used = append(line, kit.Span{Tone: theme.Dim, Text: "  │  "}), used+5
		}
		line, used = append(line, g...), used+n
	}
	doc.Line(line...)
}
