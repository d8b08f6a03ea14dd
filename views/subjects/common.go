package subjects

import (
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// These columns mean the same for several kinds of rows. What makes a column is called and not copied into each table: that makes the
// program 70 kB smaller.

//go:noinline
func sourceColumn[R any](source func(R) string, priority int) Column[R] {
	return Column[R]{Name: "source", Title: "SOURCE", Help: "the configured source that reported it",
		Min: 12, Ideal: 14, Priority: priority,
		Cell: func(r R, _ *views.Snapshot) Cell { return Cell{Text: plain(source(r)), Tone: theme.Dim} },
		Sort: func(r R, _ *views.Snapshot) SortKey { return sortText(source(r)) }}
}

//go:noinline
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
//
//go:noinline
func alertColumn[R any](key func(R) backend.Key, priority int) Column[R] {
	return worstAlert("the worst alert that names it", func(r R, c *views.Snapshot) *alerts.Alert { return c.Alert(key(r)) }, priority)
}

// worstAlert shows one alert of each row.
//
//go:noinline
func worstAlert[R any](help string, worst func(R, *views.Snapshot) *alerts.Alert, priority int) Column[R] {
	return Column[R]{Name: "alert", Title: "ALERT", Help: help,
		Min: 20, Ideal: 20, Priority: priority, Descending: true,
		Cell: func(r R, c *views.Snapshot) Cell {
			a := worst(r, c)
			if a == nil {
				return Cell{}
			}
			return Cell{Text: plain(a.Rule), Tone: alertTone(a)}
		},
		Sort: func(r R, c *views.Snapshot) SortKey {
			a := worst(r, c)
			if a == nil {
				return SortKey{Unknown: true}
			}
			return SortKey{Num: float64(a.Severity.Rank()), Text: a.Rule}
		}}
}

// comparePaths compares subjects that people call by their ids, whatever their source.
func comparePaths(a, b backend.Key) int {
	if c := strings.Compare(a.Parent.Raw(), b.Parent.Raw()); c != 0 {
		return c
	}
	return strings.Compare(a.ID.Raw(), b.ID.Raw())
}

// text columns show one Safe text of the row.
//
//go:noinline
func textColumn[R any](c Column[R], tone theme.Tone, get func(R) backend.Safe) Column[R] {
	c.Cell = func(r R, _ *views.Snapshot) Cell { return text(get(r), tone) }
	c.Sort = func(r R, _ *views.Snapshot) SortKey { return sortText(get(r).String()) }
	return c
}

// listColumn shows parts in one line, what does not fit as a number; unit is the word for several of them.
//
//go:noinline
func listColumn[R any](c Column[R], unit string, get func(R) []backend.Safe) Column[R] {
	c.Cell = func(r R, _ *views.Snapshot) Cell {
		parts := get(r)
		if len(parts) == 0 {
			return None()
		}
		cell := Cell{Text: backend.Join(parts, " "), Tone: theme.Dim}
		if len(parts) > 1 {
			cell.Parts, cell.Short = parts, plain(kit.Number(len(parts))+" "+unit)
		}
		return cell
	}
	c.Sort = func(r R, _ *views.Snapshot) SortKey { return sortText(backend.Join(get(r), " ").String()) }
	return c
}

// idColumn shows an identifier.
//
//go:noinline
func idColumn[R any](c Column[R], tone theme.Tone, get func(R) backend.ID) Column[R] {
	c.IDs = true
	c.Cell = func(r R, _ *views.Snapshot) Cell { return idOf(get(r), tone) }
	c.Sort = func(r R, _ *views.Snapshot) SortKey { return sortText(get(r).Raw()) }
	return c
}

// slim is a column that takes no more room than it needs, where another one is what is read.
//
//go:noinline
func slim[R any](c Column[R]) Column[R] {
	c.Ideal = c.Min
	return c
}

// wide offers a column only where there is room, and in reports.
//
//go:noinline
func wide[R any](c Column[R]) Column[R] {
	c.Where = WideOnly
	return c
}

// narrow offers a column only where there is too little room for the wide ones.
//
//go:noinline
func narrow[R any](c Column[R]) Column[R] {
	c.Where = NarrowOnly
	return c
}

// numColumn shows a number; key tells whether it is known.
//
//go:noinline
func numColumn[R any](c Column[R], key func(R) SortKey, show func(R) string, notApplicable func(R) bool) Column[R] {
	c.Align, c.Descending = Right, true
	c.Cell = func(r R, _ *views.Snapshot) Cell {
		if key(r).Unknown {
			return absent(notApplicable != nil && notApplicable(r))
		}
		return Cell{Text: plain(show(r))}
	}
	c.Sort = func(r R, _ *views.Snapshot) SortKey { return key(r) }
	c.Measure = func(r R, _ *views.Snapshot) (float64, bool) { return measured(key(r)) }
	return c
}

//go:noinline
func ageColumn[R any](c Column[R], get func(R) backend.Value[time.Time]) Column[R] {
	c.Align, c.Descending = Right, false
	c.Cell = func(r R, x *views.Snapshot) Cell { return ageOf(get(r), x.Now, theme.Normal) }
	c.Sort = func(r R, x *views.Snapshot) SortKey { return sortAge(get(r), x.Now) }
	c.Measure = func(r R, x *views.Snapshot) (float64, bool) { return measured(sortAge(get(r), x.Now)) }
	return c
}

// span is how long ago something began: "12m" where both bounds are near each other, "≥ 40m" where only the later one is known,
// "≤ 41m" where it may have begun at any time since the earlier one. A zero bound is not known.
func span(early, late, now time.Time) string {
	switch {
	case early.IsZero():
		return "≥ " + backend.Age(now.Sub(late))
	case !late.IsZero() && (near(early, late, now) || backend.Age(now.Sub(late)) == backend.Age(now.Sub(early))) && now.Sub(late) >= time.Second:
		return backend.Age(now.Sub(late))
	}
	return "≤ " + backend.AgeAtMost(now.Sub(early))
}

// near reports whether two bounds are so near each other that they are told as one.
func near(early, late, now time.Time) bool {
	return late.Sub(early) <= max(30*time.Second, now.Sub(early)/8)
}

// known turns a time that is zero when there is none into a value.
func known(t time.Time) backend.Value[time.Time] {
	if t.IsZero() {
		return backend.NotApplicable[time.Time]()
	}
	return backend.Known(t)
}
