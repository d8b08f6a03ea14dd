package subjects

import (
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/theme"
)

// These columns mean the same for several kinds of rows.

func sourceColumn[R any](source func(R) string, priority int) Column[R] {
	return Column[R]{Name: "source", Title: "SOURCE", Help: "the configured source that reported it",
		Min: 12, Ideal: 14, Priority: priority,
		Cell: func(r R, _ *views.Snapshot) Cell { return Cell{Text: plain(source(r)), Tone: theme.Dim} },
		Sort: func(r R, _ *views.Snapshot) SortKey { return sortText(source(r)) }}
}

func readColumn[R any](meta func(R) *backend.Meta, priority int) Column[R] {
	return Column[R]{Name: "read", Title: "READ", Help: "age of the newest reading; now = as fresh as the source's interval",
		Align: Right, Min: 4, Ideal: 9, Priority: priority, Descending: true,
		Cell: func(r R, c *views.Snapshot) Cell { return readCell(meta(r), c) },
		Sort: func(r R, c *views.Snapshot) SortKey {
			at := c.ReadAt(meta(r))
			return SortKey{Num: c.Now.Sub(at).Seconds(), Unknown: at.IsZero()}
		},
		Measure: func(r R, c *views.Snapshot) (float64, bool) {
			at := c.ReadAt(meta(r))
			return c.Now.Sub(at).Seconds(), !at.IsZero()
		}}
}

// alertColumn names the worst alert about the row.
func alertColumn[R any](key func(R) backend.Key, priority int) Column[R] {
	return Column[R]{Name: "alert", Title: "ALERT", Help: "the worst alert that names it",
		Min: 20, Ideal: 20, Priority: priority, Descending: true,
		Cell: func(r R, c *views.Snapshot) Cell {
			a := c.Alert(key(r))
			if a == nil {
				return Cell{}
			}
			return Cell{Text: plain(a.Rule), Tone: alertTone(a)}
		},
		Sort: func(r R, c *views.Snapshot) SortKey {
			a := c.Alert(key(r))
			if a == nil {
				return SortKey{Unknown: true}
			}
			return SortKey{Num: float64(a.Severity.Rank()), Text: a.Rule}
		}}
}

// text columns show one Safe text of the row.
func textColumn[R any](c Column[R], tone theme.Tone, get func(R) backend.Safe) Column[R] {
	c.Cell = func(r R, _ *views.Snapshot) Cell { return text(get(r), tone) }
	c.Sort = func(r R, _ *views.Snapshot) SortKey { return sortText(get(r).String()) }
	return c
}

// idColumn shows an identifier.
func idColumn[R any](c Column[R], tone theme.Tone, get func(R) backend.ID) Column[R] {
	c.Cell = func(r R, _ *views.Snapshot) Cell { return idOf(get(r), tone) }
	c.Sort = func(r R, _ *views.Snapshot) SortKey { return sortText(get(r).Raw()) }
	return c
}

// slim is a column that takes no more room than it needs, where another one is what is read.
func slim[R any](c Column[R]) Column[R] {
	c.Ideal = c.Min
	return c
}

// wide offers a column only where there is room, and in reports.
func wide[R any](c Column[R]) Column[R] {
	c.Where = WideOnly
	return c
}
