package subjects

import (
	"time"

	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/theme"
)

// None is shown for what does not exist for a row, Unknown for what exists and could not be read.
func None() Cell { return Cell{Text: backend.Text(Nothing), Tone: theme.Dim} }

// Nothing is the text of None.
const Nothing = "–"

// Unknown is shown for what could not be read.
func Unknown() Cell {
	return Cell{Text: backend.Text("unknown"), Short: backend.Text("?"), Tone: theme.Dim}
}

func plain(s string) backend.Safe { return backend.Clean(s, backend.MaxTextRunes) }

func text(s backend.Safe, tone theme.Tone) Cell {
	if s.IsEmpty() {
		return None()
	}
	return Cell{Text: s, Tone: tone}
}

// ageOf is the cell of a time in the past.
func ageOf(v backend.Value[time.Time], now time.Time, tone theme.Tone) Cell {
	if t, ok := v.Get(); ok {
		return Cell{Text: plain(backend.Age(now.Sub(t))), Tone: tone}
	}
	return absent(v.IsNotApplicable())
}

func absent(notApplicable bool) Cell {
	if notApplicable {
		return None()
	}
	return Cell{Text: backend.Text("?"), Tone: theme.Dim}
}

func idOf(id backend.ID, tone theme.Tone) Cell { return text(id.Safe(), tone) }

// sortAge orders by age: the oldest has the largest key.
func sortAge(v backend.Value[time.Time], now time.Time) SortKey {
	t, ok := v.Get()
	return SortKey{Num: now.Sub(t).Seconds(), Unknown: !ok}
}

func sortNum[N ~int | ~int64 | ~float64](v backend.Value[N]) SortKey {
	n, ok := v.Get()
	return SortKey{Num: float64(n), Unknown: !ok}
}

func sortText(s string) SortKey { return SortKey{Text: s, Unknown: s == ""} }

func measured(k SortKey) (float64, bool) { return k.Num, !k.Unknown }

// readCell says how fresh a row is: "now" while it is as fresh as its source's interval allows, else its age, and with
// a warning where newer readings failed.
func readCell(m *backend.Meta, c *views.Snapshot) Cell {
	at := c.ReadAt(m)
	age := c.Now.Sub(at)
	switch {
	case c.Stale(m):
		return Cell{Text: plain("stale " + backend.Age(age)), Short: plain("!" + backend.Age(age)), Tone: theme.Warn}
	case at.IsZero():
		return Unknown()
	case age < max(time.Minute, 2*c.Interval(m.Key.Source)):
		return Cell{Text: backend.Text("now"), Tone: theme.Dim}
	}
	return Cell{Text: plain(backend.Age(age)), Tone: theme.Dim}
}
