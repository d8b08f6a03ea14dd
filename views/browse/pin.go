package browse

import (
	"math"
	"slices"
	"strconv"
	"time"

	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// pinned is which rows of this screen stay on top.
type pinned struct {
	pins *views.Pins
	rev  int
}

// takePins takes the pins of a frame, and reports whether they are others than before.
func (l *List[R]) takePins(f *views.Frame) bool {
	if f.Pins == nil || l.pinned.pins == f.Pins && l.pinned.rev == f.Pins.Rev {
		return false
	}
	had := l.pinned.pins != nil && l.pinned.rev > 0
	l.pinned = pinned{f.Pins, f.Pins.Rev}
	return had || l.pins()
}

// pins reports whether some subject of this screen's kinds is pinned, there or not.
func (l *List[R]) pins() bool {
	return l.pinned.pins != nil && slices.ContainsFunc(l.pinned.pins.Keys, l.mine)
}

func (l *List[R]) mine(k backend.Key) bool { return slices.Contains(l.cfg.Kinds, k.Kind) }

// onTop puts pinned rows before all others, whatever the order.
func (l *List[R]) onTop(order func(R) kit.Order, reverse bool) func(R) kit.Order {
	return func(row R) kit.Order {
		if at := l.pinned.pins.Place(l.cfg.Set.Key(row)); at >= 0 {
			first := -math.MaxFloat64 / float64(1+at)
			if reverse {
				first = -first
			}
			return kit.Order{Num: first}
		}
		if order == nil {
			return kit.Order{}
		}
		return order(row)
	}
}

// topRows are the pinned rows that are there, as many as leave two thirds of the lines to the others.
func (l *List[R]) topRows(h int) []kit.Row[R] {
	if !l.pins() {
		return nil
	}
	rows := l.table.Top(min(len(l.pinned.pins.Keys), h/3))
	n := slices.IndexFunc(rows, func(r kit.Row[R]) bool { return l.pinned.pins.Place(l.cfg.Set.Key(r.Row)) < 0 })
	if n >= 0 {
		rows = rows[:n]
	}
	return rows
}

// away is how many pinned subjects of this screen are in no reading now.
func (l *List[R]) away() (n int) {
	if l.pinned.pins == nil {
		return 0
	}
	for _, k := range l.pinned.pins.Keys {
		if l.mine(k) && !l.table.Has(k) {
			n++
		}
	}
	return n
}

// sparkWidth is how many samples are drawn at most.
const sparkWidth = 24

// vitals draws what was seen of a pinned row.
func (l *List[R]) vitals(t *theme.Theme, w int, k backend.Key) string {
	line := kit.NewLine(t, w).Gap(gutter + 2)
	v := l.pinned.pins.Of(k)
	if v == nil {
		return line.Put(theme.Dim, "pinned: nothing was seen yet").String()
	}
	room := min(sparkWidth, max(w/8, 6))
	figure := func(name string, values []backend.Value[float64], write func(float64) string) {
		values = values[max(0, len(values)-room):]
		if !slices.ContainsFunc(values, func(v backend.Value[float64]) bool { return !v.IsNotApplicable() }) {
			return
		}
		last := t.NoSpark()
		if n, known := values[len(values)-1].Get(); known {
			last = write(n)
		}
		line.Put(theme.Dim, name+" ").Put(theme.Normal, kit.Spark(t, values)+" "+last+"   ")
	}
	figure("cpu", v.CPU, func(n float64) string { return strconv.FormatFloat(n*100, 'f', 1, 64) + " %" })
	figure("mem", v.Mem, func(n float64) string { return backend.Bytes(int64(n)) })
	line.Put(theme.Dim, "health ")
	for _, m := range v.Health[max(0, len(v.Health)-room):] {
		line.Put(toneOf(m), t.Mark(m))
	}
	if n := len(v.Health); n > 1 {
		shown := min(n, room)
		line.Put(theme.Dim, "  last "+backend.Age(views.SampleEvery*time.Duration(shown-1)))
	}
	return line.String()
}

// toneOf is the tone of a sign.
func toneOf(m theme.Mark) theme.Tone {
	switch {
	case m == theme.MarkGood:
		return theme.Good
	case m == theme.MarkWarn || m == theme.MarkHeld || m == theme.MarkBusy:
		return theme.Warn
	case m == theme.MarkBad:
		return theme.Bad
	case m == theme.MarkCritical:
		return theme.Critical
	}
	return theme.Dim
}
