package subjects

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// Sources are the configured backends themselves: their health and what reading them costs.
func Sources() *Set[*fleet.SourceHealth] {
	type row = *fleet.SourceHealth
	return &Set[row]{
		Kind: "sources",
		Rows: func(s *fleet.State, _ *alerts.Board) iter.Seq[row] { return slices.Values(s.Sources) },
		Key:  func(h row) backend.Key { return h.Key },
		Text: func(h row) string {
			return h.Key.Source + " " + h.Kind + " " + string(h.Status) + " " + h.Error.String()
		},
		JSON: func(h row, c *views.Snapshot) ([]byte, error) { return views.JSON(NewSourceItem(h, c)) },
		Columns: []Column[row]{
			{Name: "source", Title: "SOURCE", Help: "its id in the configuration", Min: 12, Ideal: 14, Priority: 0,
				Cell: func(h row, _ *views.Snapshot) Cell { return Cell{Text: plain(h.Key.Source), Tone: theme.Strong} },
				Sort: func(h row, _ *views.Snapshot) SortKey { return sortText(h.Key.Source) }},
			{Name: "kind", Title: "KIND", Help: "what it is", Min: 10, Ideal: 10, Priority: 3,
				Cell: func(h row, _ *views.Snapshot) Cell { return text(plain(h.Kind), theme.Dim) },
				Sort: func(h row, _ *views.Snapshot) SortKey { return sortText(h.Kind) }},
			{Name: "status", Title: "STATUS", Help: "ok, degraded, down, starting, or absent (not there, which is not a failure)",
				Min: 10, Ideal: 10, Priority: 0, Descending: true,
				Cell: func(h row, _ *views.Snapshot) Cell { return StatusCell(h.Status) },
				Sort: func(h row, _ *views.Snapshot) SortKey { return SortKey{Num: statusRank(h.Status)} }},
			{Name: "error", Title: "WHY", Help: "why it is degraded or down", Min: 12, Ideal: 24, Flex: 3, Priority: 2,
				Cell: func(h row, c *views.Snapshot) Cell { return sourceError(h, c) },
				Sort: func(h row, _ *views.Snapshot) SortKey { return sortText(h.Error.String()) }},
			{Name: "blind", Title: "NOT EVALUATED", Brief: "NOT EV.", Help: "number of rules that are not evaluated here", Align: Right, Min: 7, Ideal: 7, Priority: 2, Descending: true,
				Cell: func(h row, c *views.Snapshot) Cell { return blindCell(len(c.Board.BlindOn(h.Key.Source))) },
				Sort: func(h row, c *views.Snapshot) SortKey {
					return SortKey{Num: float64(len(c.Board.BlindOn(h.Key.Source)))}
				}},
			{Name: "runs", Title: "RUNS", Help: "framework version of its running sessions, or images that differ in their version only; mixed where there are several",
				Min: 10, Ideal: 24, Flex: 1, Priority: 8, Where: Extra,
				Cell: func(h row, c *views.Snapshot) Cell { return runsCell(h, c) },
				Sort: func(h row, c *views.Snapshot) SortKey { return sortText(runsCell(h, c).Text.String()) }},
			latencyColumn("p50", "P50", "half of the requests were faster", 6, func(h row) time.Duration { return h.P50 }),
			latencyColumn("p95", "P95", "one request in twenty was slower", 5, func(h row) time.Duration { return h.P95 }),
			rateColumn("requests", "REQ/MIN", "requests a minute", 5, func(h row) float64 { return h.RequestsPerMin },
				func(f float64) string { return kit.Rate(f) }),
			rateColumn("bytes", "BYTES/MIN", "bytes received a minute, decoded", 6, func(h row) float64 { return h.BytesPerMin },
				func(f float64) string { return backend.Bytes(int64(f)) }),
			numColumn(Column[row]{Name: "failures", Title: "FAILS", Help: "failed polls in a row", Min: 5, Ideal: 5, Priority: 6},
				func(h row) SortKey { return SortKey{Num: float64(h.Failures)} },
				func(h row) string { return strconv.Itoa(h.Failures) }, nil),
			{Name: "interval", Title: "EVERY", Help: "how often it is asked for what it tells: interval, or rarer where the source bounds requests", Align: Right, Min: 5, Ideal: 6, Priority: 7,
				Cell: func(h row, _ *views.Snapshot) Cell {
					return Cell{Text: plain(backend.Age(h.Interval)), Tone: theme.Dim}
				},
				Sort: func(h row, _ *views.Snapshot) SortKey { return SortKey{Num: h.Interval.Seconds()} }},
			{Name: "next", Title: "NEXT", Help: "when it is polled next, where that is further away than usual", Align: Right, Min: 6, Ideal: 6, Priority: 6,
				Cell: nextCell,
				Sort: func(h row, c *views.Snapshot) SortKey {
					return SortKey{Num: h.NextPoll.Sub(c.Now).Seconds(), Unknown: h.NextPoll.IsZero()}
				}},
			{Name: "age", Title: "LAST OK", Brief: "OK", Help: "age of the answer that its data is of; now = as fresh as the interval", Align: Right,
				Min: 5, Ideal: 7, Priority: 1, Cell: lastOK,
				Sort: func(h row, c *views.Snapshot) SortKey { return sortAge(known(answeredAt(h, c)), c.Now) },
				Measure: func(h row, c *views.Snapshot) (float64, bool) {
					return measured(sortAge(known(answeredAt(h, c)), c.Now))
				}},
		},
	}
}

// lastOK is the age of the last success; "now" while it is as fresh as the interval allows, so that it does not change
// at every poll.
func lastOK(h *fleet.SourceHealth, c *views.Snapshot) Cell {
	switch {
	case answeredAt(h, c).IsZero():
		return Cell{Text: backend.Text("never"), Tone: theme.Dim}
	case h.Failures == 0 && !h.LastOK.IsZero() && c.Now.Sub(h.DataAt()) < max(time.Minute, 2*h.Interval):
		return Cell{Text: backend.Text("now"), Tone: theme.Dim}
	}
	return Cell{Text: plain(backend.Age(c.Now.Sub(answeredAt(h, c)))), Tone: theme.Warn}
}

// answeredAt is when the data of a source was true last, also in a run before; zero: never.
func answeredAt(h *fleet.SourceHealth, c *views.Snapshot) time.Time {
	if h.LastOK.IsZero() {
		return c.Board.LastAnswer(h.Key.Source)
	}
	return h.DataAt()
}

//go:noinline
func latencyColumn(name, title, help string, priority int, get func(*fleet.SourceHealth) time.Duration) Column[*fleet.SourceHealth] {
	return numColumn(Column[*fleet.SourceHealth]{Name: name, Title: title, Help: help, Min: 5, Ideal: 6, Priority: priority},
		func(h *fleet.SourceHealth) SortKey { return SortKey{Num: get(h).Seconds(), Unknown: get(h) <= 0} },
		func(h *fleet.SourceHealth) string { return kit.Latency(get(h)) },
		func(*fleet.SourceHealth) bool { return true })
}

//go:noinline
func rateColumn(name, title, help string, priority int, get func(*fleet.SourceHealth) float64, show func(float64) string) Column[*fleet.SourceHealth] {
	return numColumn(Column[*fleet.SourceHealth]{Name: name, Title: title, Help: help, Min: len(title), Ideal: len(title), Priority: priority},
		func(h *fleet.SourceHealth) SortKey { return SortKey{Num: get(h), Unknown: h.LastTry.IsZero()} },
		func(h *fleet.SourceHealth) string { return show(get(h)) }, nil)
}

// StatusCell is how the health of a source is shown.
func StatusCell(s fleet.SourceStatus) Cell {
	c := Cell{Text: plain(string(s))}
	switch s {
	case fleet.StatusOK:
		c.Tone, c.Mark = theme.Good, theme.MarkGood
	case fleet.StatusDegraded:
		c.Tone, c.Mark = theme.Warn, theme.MarkWarn
	case fleet.StatusDown:
		c.Tone, c.Mark = theme.Bad, theme.MarkBad
	case fleet.StatusStarting:
		c.Tone, c.Mark = theme.Normal, theme.MarkBusy
	case fleet.StatusAbsent:
		c.Tone, c.Mark = theme.Dim, theme.MarkIdle
	}
	return c
}

func statusRank(s fleet.SourceStatus) float64 {
	switch s {
	case fleet.StatusDown:
		return 4
	case fleet.StatusDegraded:
		return 3
	case fleet.StatusStarting:
		return 2
	case fleet.StatusOK:
		return 1
	case fleet.StatusAbsent:
	}
	return 0
}

func sourceError(h *fleet.SourceHealth, c *views.Snapshot) Cell {
	if said := c.State.Unattributed(h); h.Error.IsEmpty() && !said.IsEmpty() {
		return Cell{Text: said, Tone: theme.Normal}
	}
	switch {
	case h.Error.IsEmpty() && len(h.Notes) > 0:
		return Cell{Text: h.Notes[0], Short: plain(kit.Count(len(h.Notes), "note", "notes")), Tone: theme.Dim}
	case h.Error.IsEmpty():
		return Cell{}
	}
	cell := Cell{Text: h.Error, Brief: errorBrief(h.Error.String()), Tone: theme.Normal}
	if h.Status == fleet.StatusDown {
		cell.Tone = theme.Bad
	}
	if cell.Brief.IsEmpty() { // our own sentence, whose beginning says what it is about
		what, _, _ := strings.Cut(h.Error.String(), ": ")
		what, _, _ = strings.Cut(what, " on ") // which address, its page says
		cell.Brief = plain(what)
	}
	return cell
}

func blindCell(n int) Cell {
	if n == 0 {
		return Cell{Text: backend.Text("0"), Tone: theme.Dim}
	}
	return Cell{Text: plain(fmt.Sprint(n)), Tone: theme.Warn}
}

// nextCell shows the wait only where it is longer than the interval explains: a back-off.
func nextCell(h *fleet.SourceHealth, c *views.Snapshot) Cell {
	wait := h.NextPoll.Sub(c.Now)
	switch {
	case h.NextPoll.IsZero():
		return None()
	case h.Answers() || wait <= 0:
		return Cell{Text: backend.Text("due"), Tone: theme.Dim}
	}
	return Cell{Text: plain("in " + backend.Age(wait)), Tone: theme.Warn}
}
