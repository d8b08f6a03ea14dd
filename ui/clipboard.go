package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// multiplexer is the program between this one and the terminal.
type multiplexer uint8

const (
	direct     multiplexer = iota
	inTmux                 // of its own or of a machine that we were reached from
	inScreen               // GNU screen, which passes on what is wrapped for it
	someScreen             // GNU screen or an old tmux on a machine that we were reached from
)

// screenPasses is the longest string in bytes that GNU screen passes on at once, as its manual says.
const screenPasses = 768

// multiplexer tells from the viewer's environment what its terminal is.
func (v *Viewer) multiplexer() multiplexer {
	term := v.getenv("TERM")
	switch {
	case v.getenv("TMUX") != "", strings.HasPrefix(term, "tmux"):
		return inTmux
	case v.getenv("STY") != "":
		return inScreen
	case strings.HasPrefix(term, "screen"):
		return someScreen
	}
	return direct
}

// toClipboard sends a text to the clipboard of the viewer's terminal.
func (v *Viewer) toClipboard(text string) tea.Cmd {
	if v.multiplexer() == inScreen {
		return tea.Raw(ansi.ScreenPassthrough(ansi.SetSystemClipboard(text), screenPasses))
	}
	return tea.SetClipboard(text)
}

// copyHint says what lets a text through to the clipboard; empty: nothing is known to be in the way.
func (v *Viewer) copyHint() string {
	switch v.multiplexer() {
	case inTmux:
		return "in tmux this needs: set -g set-clipboard on"
	case inScreen:
		return "screen passes it on; its terminal has to take OSC 52"
	case someScreen:
		return "an old tmux needs: set -g set-clipboard on; screen of another machine drops it"
	case direct:
	}
	return ""
}
