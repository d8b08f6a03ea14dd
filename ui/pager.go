package ui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"sandglass/backend"
	"sandglass/views/keys"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// pager scrolls through a page and searches it.
type pager struct {
	kit.Pager
	sought string   // in lower case; empty: nothing
	lines  []string // of the page as it was drawn last
	at     int      // the line that was found last
}

// read handles the keys of a page: it scrolls, searches, and ends the search, then the page.
func (p *pager) read(in keys.Intent) (reply, bool) {
	switch in.Action {
	case keys.Filter:
		return openPageLine(p.sought, p.seek), true
	case keys.NextMatch, keys.PrevMatch:
		return p.step(in.Action == keys.NextMatch), true
	case keys.Back:
		ends := p.sought == ""
		p.sought = ""
		return reply{Close: ends}, true
	}
	return reply{}, scroll(&p.Pager, in)
}

// seek goes to the first line from the top of those in sight that holds a text.
func (p *pager) seek(text string) {
	p.sought, p.at = strings.ToLower(text), p.Top()-1
	p.step(true)
}

// hits are the lines that hold what is sought.
func (p *pager) hits() (found []int) {
	for i, l := range p.lines {
		if p.sought != "" && strings.Contains(strings.ToLower(ansi.Strip(l)), p.sought) {
			found = append(found, i)
		}
	}
	return found
}

// step goes to the next line that holds what is sought, or to the one before; behind the last one to the first.
func (p *pager) step(forward bool) reply {
	found := p.hits()
	switch {
	case p.sought == "":
		return reply{Say: "nothing is sought: / searches this page"}
	case len(found) == 0:
		return reply{Say: "no line of this page has this in it"}
	}
	to := found[len(found)-1]
	if forward {
		to = found[0]
	}
	for _, line := range found {
		if forward && line > p.at {
			to = line
			break
		}
		if !forward && line < p.at {
			to = line
		}
	}
	p.at = to
	p.Show(to)
	return reply{}
}

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

// paged draws a title, a rule that says how much is out of sight and what is sought, and the lines in sight.
func paged(p *pager, w, h int, t *theme.Theme, title string, lines []string) kit.Block {
	p.lines = lines
	visible, above, below := p.Window(lines, max(h-2, 0))
	var notes []string
	if p.sought != "" {
		found, nth := p.hits(), 0
		for nth < len(found) && found[nth] <= p.at {
			nth++
		}
		notes = append(notes, fmt.Sprintf("/%s %d of %s", kit.Cut(backend.Clean(p.sought, maxEntry).String(), 24), nth, kit.Count(len(found), "line", "lines")))
	}
	if above > 0 {
		notes = append(notes, fmt.Sprintf("%d above ↑", above))
	}
	if below > 0 {
		notes = append(notes, fmt.Sprintf("%d below ↓", below))
	}
	block := kit.NewBlock(w, h, append([]string{title, kit.RuleWith(t, w, theme.Strong, strings.Join(notes, "  "))}, visible...))
	for i, l := range visible {
		plain := ansi.Strip(l)
		low := strings.ToLower(plain)
		for from := 0; p.sought != ""; {
			n := strings.Index(low[from:], p.sought)
			if n < 0 {
				break
			}
			x, size := kit.Width(low[:from+n]), kit.Width(p.sought)
			mark := kit.NewLine(t, size)
			if above+i == p.at {
				mark.OnCursor()
			}
			block = kit.Overlay(block, kit.NewBlock(size, 1, []string{mark.Typed(theme.Accent, ansi.Cut(plain, x, x+size)).String()}), x, i+2)
			from += n + len(p.sought)
		}
	}
	return block
}
