package subjects

import (
	"time"

	"sandglass/alerts"
	"sandglass/internal/stable"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// beforeFirst is how long before the first alert of an incident a change is told with it.
const beforeFirst = 15 * time.Minute

// mostDominoes is how many lines of an incident are listed.
const mostDominoes = 16

// dominoes lists the alerts of one incident by when they began, with the changes between them.
func (w *writer) dominoes(a *alerts.Alert) {
	var all []*alerts.Alert
	for _, x := range w.f.Board.Alerts {
		if x == a || w.f.SameOutage(x, a) || x.InhibitedBy == a.ID || a.InhibitedBy == x.ID {
			all = append(all, x)
		}
	}
	if len(all) < 2 {
		return
	}
	stable.Sort(all, func(x, y *alerts.Alert) int { return x.Began().Compare(y.Began()) })
	changes := w.f.Board.Changes(all[0].Began().Add(-beforeFirst), all[len(all)-1].Began())
	w.Head("The incident, by what began first")
	lines := 0
	for i, x := range all {
		for len(changes) > 0 && !changes[0].At.After(x.Began()) {
			if lines++; lines <= mostDominoes {
				w.change(&changes[0])
			}
			changes = changes[1:]
		}
		if lines++; lines <= mostDominoes {
			w.domino(x, i == 0, x == a)
		}
	}
	if lines > mostDominoes {
		w.Field("", dim("and "+kit.Count(lines-mostDominoes, "more line", "more lines")))
	}
}

// mostAbove is how many changes are told above one alert in a table.
const mostAbove = 2

// ChangesAbove are the lines of a table above an alert: the newest of what changed before it began and after the alert above it.
func ChangesAbove(c *views.Snapshot, a *alerts.Alert) (lines [][]kit.Span) {
	all := c.ChangesBefore(a)
	more := max(len(all)-mostAbove, 0)
	for i := range all[more:] {
		x := &all[more+i]
		line := append([]kit.Span{dim(Clock(x.At, c.Now) + "  ")}, changed(x)...)
		if i == 0 && more > 0 {
			line = append(line, dim("  and "+kit.Count(more, "change", "changes")+" before"))
		}
		lines = append(lines, line)
	}
	return lines
}

func (w *writer) domino(x *alerts.Alert, first, here bool) {
	spans := []kit.Span{w.state(SeverityCell(x)), {Tone: theme.Strong, Text: "  " + x.Rule}, normal("  " + BareError(x.Cause.String()))}
	if first {
		spans = append(spans, dim("  first"))
	}
	if here {
		spans = append(spans, dim("  this alert"))
	} else {
		w.to(views.AlertKey(x))
	}
	w.Field(Clock(x.Began(), w.f.Now), spans...)
}

func (w *writer) change(c *alerts.Change) { w.Field(Clock(c.At, w.f.Now), changed(c)...) }

// changed says what changed, and where.
func changed(c *alerts.Change) []kit.Span {
	word := "change"
	if c.Ours {
		word = "action"
	}
	spans := []kit.Span{warn(word), normal("  " + c.Text.String())}
	if c.Source != "" {
		spans = append(spans, dim("  "+c.Source))
	}
	return spans
}
