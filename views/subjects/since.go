package subjects

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// since says when what the alert says began.
func (w *writer) since(a *alerts.Alert) {
	b := first(a, w.f.Snapshot).Bounds
	text := ago(b.Earliest, b.Latest, w.f.Now)
	if text == "" {
		text = "not known"
	}
	w.Field("since", normal(text))
	w.Keep(keepSince)
}

// ago says how long ago something began that cannot have begun before e or after l, and the times. A zero one is not known.
func ago(e, l, now time.Time) string {
	return Began(e, l, now, func(t time.Time) string { return Clock(t, now) })
}

// Began is how long ago something began, with the times as clock writes them; empty where neither bound is known.
func Began(e, l, now time.Time, clock func(time.Time) string) string {
	age := func(t time.Time) string { return backend.Age(now.Sub(t)) }
	switch {
	case e.IsZero() && l.IsZero():
		return ""
	case e.IsZero():
		return "at least " + age(l) + " ago (" + clock(l) + " or earlier)"
	case l.IsZero():
		return "at most " + age(e) + " ago (" + clock(e) + " or later)"
	case near(e, l, now), age(e) == age(l):
		return age(l) + " ago (" + clock(l) + ")"
	}
	return age(l) + " to " + age(e) + " ago (" + clock(e) + " to " + clock(l) + ")"
}
