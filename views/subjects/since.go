package subjects

import (
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// since says when what the alert says began: of many subjects for the first one, and for the last one where that differs.
func (w *writer) since(a *alerts.Alert) {
	b, now := first(a, w.f.Snapshot).Bounds, w.f.Now
	text := ago(b.Earliest, b.Latest, now)
	if text == "" {
		text = "not known"
	}
	if last := newest(a); !last.IsZero() && backend.Age(now.Sub(last)) != backend.Age(now.Sub(b.Latest)) && !near(b.Latest, last, now) {
		if !b.Earliest.IsZero() {
			text = strings.TrimSpace("first "+a.Subjects[0].Key.Kind.Spec().Name) + " " + text
		}
		text += ", newest " + backend.Age(now.Sub(last)) + " ago"
	}
	w.Field("since", normal(text))
	w.Keep(keepSince)
}

// newest is when the newest of many subjects began; zero where not all are listed, or that is not known of one.
func newest(a *alerts.Alert) (last time.Time) {
	if len(a.Subjects) != a.SubjectCount || a.SubjectCount < 2 || a.Bounds.Latest.IsZero() {
		return time.Time{}
	}
	for i := range a.Subjects {
		late := a.Subjects[i].Bounds.Latest
		if late.IsZero() {
			return time.Time{}
		}
		if late.After(last) {
			last = late
		}
	}
	return last
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
		return "at most " + backend.AgeAtMost(now.Sub(e)) + " ago (" + clock(e) + " or later)"
	case near(e, l, now), age(e) == age(l):
		return age(l) + " ago (" + clock(l) + ")"
	}
	return age(l) + " to " + backend.AgeAtMost(now.Sub(e)) + " ago (between " + clock(e) + " and " + clock(l) + ")"
}
