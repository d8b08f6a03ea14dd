package ui

import (
	tea "charm.land/bubbletea/v2"

	"sandglass/views/keys"
	"sandglass/views/kit"
)

// Heights from which the program takes lines for itself even when the screen could use them.
const (
	tabsAlways   = 20
	footerAlways = 10
	ruleFrom     = 30
)

// fits reports whether the terminal has room for anything.
func (m *Model) fits() bool { return m.width >= 20 && m.height >= 4 }

// overTable reports whether the screen's table is in sight and no dialog asks for attention.
func (m *Model) overTable() bool {
	page, _ := m.stack.body()
	c := m.context()
	return page == nil && (len(m.stack) == 0 || c == keys.FilterLine || c == keys.CommandMenu)
}

// draw lays the whole screen out.
func (m *Model) draw() (kit.Block, *tea.Cursor) {
	w, h := m.width, m.height
	if !m.fits() {
		return tooSmall(w, h, &m.frame), nil
	}
	top, foot := surroundings(m, w, h)
	m.pointing.top = len(top)
	body := m.body(w, h-len(top)-len(foot))
	var cursor *tea.Cursor
	if n := len(foot); n > 0 {
		prompt, typing := m.stack.top().(prompter)
		line, x := footer(m, w, prompt) // its place in the table is known only now
		foot[n-1] = line
		if typing {
			cursor = tea.NewCursor(min(x, w-1), h-1)
		}
	}
	all := kit.Stack(kit.NewBlock(w, len(top), top), body, kit.NewBlock(w, len(foot), foot))
	_, boxes := m.stack.body()
	for _, o := range boxes {
		if _, inFooter := o.(prompter); inFooter {
			continue
		}
		var box kit.Block
		box, cursor = o.Render(w, h, &m.frame)
		x, y := max(0, (w-box.Width)/2), max(0, (h-box.Height())/3) // a little above the middle
		all = kit.Overlay(all, box, x, y)
		if cursor != nil {
			cursor.X, cursor.Y = cursor.X+x, cursor.Y+y
		}
	}
	return all, cursor
}

// surroundings are the lines above and below the body. The last one is the footer, still empty.
func surroundings(m *Model, w, h int) (top, foot []string) {
	need := 1 + m.screen().Need(w, &m.frame)
	if h >= tabsAlways || h > need+1 {
		line, clock, spots := tabs(w, &m.frame, m.screens, m.screen())
		m.pointing.spots = spots
		first, told := header(w, &m.viewer, &m.frame, !clock)
		top, m.clockBelow = []string{first, line}, !told
	} else {
		m.pointing.spots = nil
		first, told := header(w, &m.viewer, &m.frame, true)
		top, m.clockBelow = []string{first}, !told
	}
	if h >= ruleFrom {
		top = append(top, kit.Rule(m.frame.Theme, w))
	}
	top = append(top, unfinished(w, &m.frame, m.unfinished)...)
	top = append(top, notReloaded(w, h, &m.frame, m.reloading.problem)...)
	_, typing := m.stack.top().(prompter)
	if h < footerAlways && h <= need+1 && !typing {
		return top, nil
	}
	if h >= ruleFrom {
		foot = append(foot, kit.Rule(m.frame.Theme, w))
	}
	if typing && h >= footerAlways {
		above, _ := m.stack.top().Render(w, h, &m.frame)
		foot = append(foot, above.Lines...)
	}
	return top, append(foot, "")
}

// body is what is between header and footer, below any box.
func (m *Model) body(w, h int) kit.Block {
	if page, _ := m.stack.body(); page != nil {
		block, _ := page.Render(w, h, &m.frame)
		return block
	}
	return m.screen().Render(w, h, &m.frame)
}
