package ui

import (
	"fmt"
	"strings"

	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// tooSmall draws a terminal without room for a screen: how many alerts fire still fits. What is not known is not zero.
func tooSmall(w, h int, f *views.Frame) kit.Block {
	s, t := f.Summary, f.Theme
	counts := kit.NewLine(t, w)
	switch {
	case !known(f):
		counts.Put(theme.Warn, "no data yet")
	default:
		crit, warn := theme.Dim, theme.Dim
		if s.Critical > 0 {
			crit = theme.Critical
		}
		if s.Warning > 0 {
			warn = theme.Warn
		}
		counts.Put(crit, fmt.Sprintf("%d crit", s.Critical)).Put(warn, fmt.Sprintf(" %d warn", s.Warning))
	}
	lines := []string{counts.String()}
	if s.SourcesUp < s.Sources {
		lines = append(lines, kit.NewLine(t, w).Put(theme.Warn, fmt.Sprintf("%d/%d sources", s.SourcesUp, s.Sources)).String())
	}
	lines = append(lines, kit.NewLine(t, w).Put(theme.Strong, "too small").String())
	return kit.NewBlock(w, h, lines[:min(len(lines), h)])
}

// known reports whether some source has answered.
func known(f *views.Frame) bool { return f.Summary.SourcesUp > 0 || len(f.Board.Alerts) > 0 }

// windowTitle names the terminal's window, with the alerts that need someone: it is read while another window is used.
func windowTitle(environment string, f *views.Frame) string {
	title := "sandglass " + f.Shown(backend.Clean(environment, 40).String())
	var parts []string
	if n := f.Summary.Critical; n > 0 {
		parts = append(parts, fmt.Sprintf("%d critical", n))
	}
	if n := f.Summary.Warning; n > 0 {
		parts = append(parts, kit.Count(n, "warning", "warnings"))
	}
	if n := f.Summary.Sources - f.Summary.SourcesUp - f.Summary.Starting; n > 0 && known(f) {
		parts = append(parts, kit.Count(n, "source down", "sources down"))
	}
	if len(parts) == 0 {
		return title
	}
	return strings.Join(parts, ", ") + " - " + title
}
