package subjects

import (
	"cmp"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/internal/stable"
	"sandglass/views"
)

// since says when what the alert says began: of many subjects, or of one with others alike, for the first one, and for the newest
// one where that differs.
func (w *writer) since(a *alerts.Alert) {
	b, now := first(a, w.f.Snapshot).Bounds, w.f.Now
	text := ago(b.Earliest, b.Latest, now)
	if last := newest(a, w.f.Snapshot); !last.IsZero() && text != "" {
		if backend.Age(now.Sub(last)) != backend.Age(now.Sub(b.Latest)) && !near(b.Latest, last, now) {
			text = "first " + text + ", newest " + backend.Age(now.Sub(last)) + " ago"
		} else {
			text = "all " + text
		}
	}
	if all := atTimes(a, w.f.Snapshot); len(all) > 1 {
		text = "first " + Onset(all[0], now) + " ago, newest " + Onset(all[len(all)-1], now) + " ago; this one " + text
	}
	w.Field("since", normal(cmp.Or(text, "not known")))
	w.Keep(keepSince)
}

// atTimes is an alert about one subject with those alike, the oldest first; nil where all of them are told to have begun together.
func atTimes(a *alerts.Alert, c *views.Snapshot) []*alerts.Alert {
	all := append(alike(a, c), a)
	if len(all) == 1 || len(a.Subjects) != 1 {
		return nil
	}
	stable.Sort(all, func(x, y *alerts.Alert) int { return began(x).Compare(began(y)) })
	if Onset(all[0], c.Now) == Onset(all[len(all)-1], c.Now) {
		return nil
	}
	return all
}

// newest is when the newest of many subjects began, with those of the same outage; zero where not all are listed, or that is not
// known of one.
func newest(a *alerts.Alert, c *views.Snapshot) (last time.Time) {
	if a.SubjectCount < 2 || a.Bounds.Latest.IsZero() {
		return time.Time{}
	}
	for _, x := range outage(a, c) {
		if x.Left() > 0 {
			return time.Time{}
		}
		for i := range x.Subjects {
			late := x.Subjects[i].Bounds.Latest
			if late.IsZero() {
				return time.Time{}
			}
			if late.After(last) {
				last = late
			}
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
		return "at most " + atMost(now.Sub(e)) + " ago (" + clock(e) + " or later)"
	case clock(e) == clock(l):
		return age(l) + " ago (" + clock(l) + ")"
	case near(e, l, now): // one age, and both times: what happened lies between them
		return age(l) + " ago (between " + clock(e) + " and " + clock(l) + ")"
	}
	return age(l) + " to " + atMost(now.Sub(e)) + " ago (between " + clock(e) + " and " + clock(l) + ")"
}

// atMost is backend.AgeAtMost with the minutes of some hours: beside exact times "4h" for 3h 26m reads as a mistake.
func atMost(d time.Duration) string {
	up := (d + time.Minute - 1).Truncate(time.Minute)
	if minutes := up % time.Hour; up >= time.Hour && up < 48*time.Hour && minutes > 0 {
		return backend.Age(up) + " " + backend.Age(minutes)
	}
	return backend.AgeAtMost(d)
}
