package ui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"sandglass/backend"
	"sandglass/views/theme"
)

// looks are what a viewer's terminal can do and draws on: with the theme that the viewer chose they say how texts look.
type looks struct {
	colours    theme.Colours
	background theme.Background
	asked      bool // for the background
}

// setTheme makes the theme anew, which shows no hidden name.
func setTheme(m *Model) {
	p, _ := theme.PaletteOf(m.viewer.Theme)
	m.frame.Theme = theme.NewWith(m.looks.colours, m.viewer.Glyphs, p, m.looks.background)
	if m.names.set != nil {
		m.frame.Theme = m.frame.Theme.Showing(m.names.set.Text)
	}
	m.dirty = true
}

// askBackground asks the terminal once whether it is dark or light, where colours depend on it.
func askBackground(m *Model) tea.Cmd {
	p, _ := theme.PaletteOf(m.viewer.Theme)
	if m.looks.asked || !p.Asks(m.looks.colours, m.viewer.getenv("TERM")) {
		return nil
	}
	m.looks.asked = true
	return tea.RequestBackgroundColor
}

// takeTold takes what the terminal tells of itself.
func takeTold(m *Model, msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.ColorProfileMsg:
		if c := theme.ColoursOf(msg.Profile); c != m.looks.colours {
			m.looks.colours = c
			setTheme(m)
			return tea.Batch(tea.ClearScreen, askBackground(m)) // cells that are there keep their old colours otherwise
		}
	case tea.BackgroundColorMsg:
		on := theme.Light
		if msg.IsDark() {
			on = theme.Dark
		}
		if on != m.looks.background {
			m.looks.background = on
			setTheme(m)
		}
	}
	return nil
}

// chooseTheme changes the theme of this console until it ends.
func (x *scope) chooseTheme(name string) reply {
	name = strings.ToLower(strings.TrimSpace(name))
	p, ok := theme.PaletteOf(name)
	if name == "" || !ok {
		said := "write a theme after it: "
		if name != "" {
			said = fmt.Sprintf("%q is not a theme: ", backend.Clean(name, 30).String())
		}
		return reply{Say: said + strings.Join(theme.Palettes(), ", ")}
	}
	x.viewer.Theme = name
	said := "theme " + name
	if p != theme.Plain && x.colours == theme.NoColours {
		said += "; the terminal has no colours, or NO_COLOR is set"
	}
	return reply{Say: said, Theme: true}
}
