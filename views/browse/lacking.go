package browse

import (
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// Lacking says what it means that a screen has no rows: nothing there, nobody who looks, or somebody who cannot see.
func Lacking(f *views.Frame, in backend.Input, head, none, nobody string) *kit.Doc {
	doc := &kit.Doc{}
	doc.Blank()
	delivers := false
	var blind []*fleet.SourceHealth
	for _, h := range f.State.Sources {
		switch {
		case h.Delivers(in):
			delivers = true
		case h.Status == fleet.StatusDown || h.Status == fleet.StatusStarting || h.Status == fleet.StatusAbsent || misses(h, in):
			blind = append(blind, h)
		}
	}
	if !delivers && len(blind) > 0 {
		head += " known"
	}
	doc.Line(kit.Span{Tone: theme.Strong, Text: head})
	switch {
	case delivers && len(blind) == 0:
		doc.Line(kit.Span{Tone: theme.Dim, Text: none})
	case len(blind) == 0:
		doc.Line(kit.Span{Tone: theme.Dim, Text: nobody})
	}
	if len(blind) > 0 {
		doc.Blank()
	}
	for _, h := range blind {
		why := h.Error.String()
		for _, m := range h.Missing {
			if m.Input == in {
				why = m.Why.String()
			}
		}
		doc.Field(h.Key.Source, kit.Span{Tone: theme.Warn, Text: string(h.Status)}, kit.Span{Tone: theme.Dim, Text: "  " + why})
	}
	return doc
}

func misses(h *fleet.SourceHealth, in backend.Input) bool {
	for _, m := range h.Missing {
		if m.Input == in {
			return true
		}
	}
	return false
}
