package ui

import (
	"cmp"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// bellPause is the shortest time between two rings, so that an outage of a hundred alerts is not a hundred rings.
const bellPause = 10 * time.Second

// bell knows which alerts it rang for, or need not ring for.
type bell struct {
	known map[string]bool // by alert id; nil until every source was heard once
	rang  time.Time
	away  bool // the terminal says that another window is used
}

// see notes whether the terminal is looked at.
func (b *bell) see(msg tea.Msg) {
	switch msg.(type) {
	case tea.FocusMsg:
		b.away = false
	case tea.BlurMsg:
		b.away = true
	}
}

// due reports whether the bell rings now: an alert of at least that severity, which nobody has and nothing stands for,
// began to fire since it was last asked. What is there when the console starts, and what comes back with a source, is
// not new. Empty severity: never.
func (b *bell) due(now time.Time, from alerts.Severity, st *fleet.State, board *alerts.Board) bool {
	if from == "" || st == nil || board == nil {
		return false
	}
	first := b.known == nil
	if first && st.Starting() {
		return false
	}
	known, news := map[string]bool{}, false
	for _, a := range board.Alerts {
		if a.Severity.Rank() < from.Rank() || !unattended(a) {
			continue
		}
		known[a.ID] = true
		news = news || !b.known[a.ID] && a.State == alerts.StateFiring
	}
	b.known = known
	if first || !news || !b.rang.IsZero() && now.Sub(b.rang) < bellPause {
		return false
	}
	b.rang = now
	return true
}

// unattended reports whether an alert wants somebody: it fires, or did until its data went away, and it is not muted by
// anything but that.
func unattended(a *alerts.Alert) bool {
	if a.State == alerts.StateHeld {
		return a.Acknowledged == nil && a.Silenced == nil && !a.Flapping
	}
	return a.State == alerts.StateFiring && !a.Muted()
}

// notice is what a terminal that is not looked at gets in place of its bell: a notification of the desktop, in the form that it is known to
// take. A multiplexer would drop it. The text names no subject: others may see it.
func (v *Viewer) notice(title string) string {
	if v.multiplexer() != direct {
		return ""
	}
	title = backend.Clean(title, 120).String()
	term, program := v.getenv("TERM"), v.getenv("TERM_PROGRAM")
	switch {
	case v.getenv("KITTY_WINDOW_ID") != "" || term == "xterm-kitty":
		return "\x1b]99;;" + title + "\x1b\\"
	case program == "iTerm.app" || program == "WezTerm" || program == "ghostty" || term == "xterm-ghostty":
		return "\x1b]9;" + title + "\x1b\\"
	case strings.HasPrefix(term, "foot") || strings.HasPrefix(term, "rxvt-unicode"):
		return "\x1b]777;notify;sandglass;" + strings.ReplaceAll(title, ";", ",") + "\x1b\\"
	}
	return ""
}

// ringBell is the terminal's own bell: a sound, a flash or a mark at the tab, as the viewer set it up there. Where another window is used
// it is a notification, if the terminal is known to take one.
func ringBell(m *Model) tea.Cmd {
	if !m.bell.due(m.frame.Now, m.viewer.Bell, m.frame.State, m.frame.Board) {
		return nil
	}
	ring := "\a"
	if m.bell.away {
		ring = cmp.Or(m.viewer.notice(windowTitle(m.viewer.Environment, &m.frame)), ring)
	}
	return tea.Raw(ring)
}
