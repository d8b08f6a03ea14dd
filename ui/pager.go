package ui

import (
	"fmt"

	"sandglass/views/keys"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// scroll reports whether the intent was to scroll.
func scroll(p *kit.Pager, in keys.Intent) bool {
	switch in.Action {
	case keys.Up:
		p.Move(-1)
	case keys.Down:
		p.Move(1)
	case keys.PageUp:
		p.Page(-1)
	case keys.PageDown:
		p.Page(1)
	case keys.Top:
		p.Home()
	case keys.Bottom:
		p.End()
	default:
		return false
	}
	return true
}

// paged draws a title, a rule that says how much is out of sight, and the lines in sight.
func paged(p *kit.Pager, w, h int, t *theme.Theme, title string, lines []string) kit.Block {
	visible, above, below := p.Window(lines, max(h-2, 0))
	note := ""
	switch {
	case above > 0 && below > 0:
		note = fmt.Sprintf("%d above ↑  %d below ↓", above, below)
	case above > 0:
		note = fmt.Sprintf("%d above ↑", above)
	case below > 0:
		note = fmt.Sprintf("%d below ↓", below)
	}
	return kit.NewBlock(w, h, append([]string{title, kit.RuleWith(t, w, theme.Strong, note)}, visible...))
}
