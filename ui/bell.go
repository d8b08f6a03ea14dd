package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"sandglass/alerts"
	"sandglass/backend/fleet"
)

// bellPause is the shortest time between two rings, so that an outage of a hundred alerts is not a hundred rings.
const bellPause = 10 * time.Second

// bell knows which alerts it rang for, or need not ring for.
type bell struct {
	known map[string]bool // by alert id; nil until every source was heard once
	rang  time.Time
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

// ring is the terminal's own bell: a sound, a flash or a mark at the tab, as the viewer set it up there.
func (m *Model) ring() tea.Cmd {
	if !m.bell.due(m.frame.Now, m.viewer.Bell, m.frame.State, m.frame.Board) {
		return nil
	}
	return tea.Raw("\a")
}
