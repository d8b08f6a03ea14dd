package ui

import (
	tea "charm.land/bubbletea/v2"

	"sandglass/backend"
)

// Kept is what a viewer's console keeps between runs.
type Kept struct {
	Views []View `json:"views,omitempty"` // that the viewer saved, the newest last
	// Pins stay on top of their screens.
	Pins []backend.Key `json:"pins,omitempty"`
	Last *Place        `json:"last,omitempty"` // where the console was left
}

// mostKept bounds each list of Kept.
const mostKept = 100

// keep changes what is kept, now in this console and then on disk, and says so.
func (x *scope) keep(say string, change func(*Kept)) reply {
	change(x.kept)
	write := x.viewer.Keep
	if write == nil {
		return reply{Say: say + "; only until this console ends: there is no state directory"}
	}
	return reply{Say: say, Cmd: func() tea.Msg {
		if err := write(change); err != nil {
			return orderedMsg{err: err, failed: "kept only until this console ends"}
		}
		return nil
	}}
}
