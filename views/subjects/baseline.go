package subjects

import (
	"strings"
	"time"

	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
)

// baseline is with which moment the present is compared: then, or where a source was first read later, the end of its first round.
type baseline struct {
	s    *views.Snapshot
	then time.Time
}

func (b baseline) state() *fleet.State { return b.s.State }

// of is the moment for what a source lists.
func (b baseline) of(source string) time.Time {
	if h := b.s.State.Source(source); h != nil && !h.FirstTry.IsZero() {
		if first := h.FirstTry.Add(h.Interval); first.After(b.then) {
			if first.After(b.s.Now) {
				return b.s.Now
			}
			return first
		}
	}
	return b.then
}

// later says which sources were first read later than then; empty: none.
func (b baseline) later() string {
	var late []string
	var oldest time.Time
	for _, h := range b.s.State.Sources {
		if at := b.of(h.Key.Source); at.After(b.then) {
			late = append(late, h.Key.Source)
			if oldest.IsZero() || h.FirstTry.Before(oldest) {
				oldest = h.FirstTry
			}
		}
	}
	switch {
	case len(late) == 0:
		return ""
	case len(late) == len(b.s.State.Sources):
		return "Nothing was read before " + Clock(oldest, b.s.Now) + ": the first readings are compared."
	}
	return "Compared with their first readings: " + strings.Join(late[:min(len(late), 4)], ", ") + moreThan(len(late)-4) + "."
}

func moreThan(n int) string {
	if n <= 0 {
		return ""
	}
	return " and " + kit.Number(n) + " more"
}
