package columns

import (
	"math"
	"strconv"
	"time"

	"sandglass/backend"
	"sandglass/views/theme"
)

// None is shown for what does not exist for a row, Unknown for what exists and could not be read.
func None() Cell { return Cell{Text: backend.Text("–"), Tone: theme.Dim} }

// Unknown is shown for what could not be read.
func Unknown() Cell {
	return Cell{Text: backend.Text("unknown"), Short: backend.Text("?"), Tone: theme.Dim}
}

// Number writes a count with thousands separators: "1,284".
func Number[N ~int | ~int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Count writes a number of things: "1 row", "1,284 rows".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Number(n) + " " + many
}

// Rate writes a number per second or minute: "0", "0.3", "41", "1.9k".
func Rate(f float64) string {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return "–"
	case f < 0:
		return "-" + Rate(-f)
	case f == 0:
		return "0"
	case f < 0.05:
		return "<0.1"
	case f < 999.5:
		return backend.Digits(f)
	case f < 999_500:
		return backend.Digits(f/1e3) + "k"
	}
	return backend.Digits(min(f/1e6, 999)) + "M"
}

// Percent writes a share between 0 and 1: "0 %", "<1 %", "42 %".
func Percent(share float64) string {
	if share > 0 && share < 0.005 {
		return "<1 %"
	}
	return strconv.Itoa(int(math.Round(share*100))) + " %"
}

// Latency writes a request's time: "340µs" reads "<1ms", then "12ms", "1.2s".
func Latency(d time.Duration) string {
	switch {
	case d <= 0:
		return "–"
	case d < time.Millisecond:
		return "<1ms"
	case d < time.Second:
		return strconv.Itoa(int(d/time.Millisecond)) + "ms"
	case d < time.Minute:
		return backend.Digits(d.Seconds()) + "s"
	}
	return backend.Age(d)
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
func readCell(m *backend.Meta, c *Ctx) Cell {
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
