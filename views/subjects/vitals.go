package subjects

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/theme"
)

// usageFor is how old a reading of a machine's use may be to count as what it uses now.
const usageFor = time.Minute

// SampleOf is what is known of a subject now.
func SampleOf(k backend.Key, c *views.Snapshot) views.Sample {
	s := views.Sample{CPU: backend.NotApplicable[float64](), Mem: backend.NotApplicable[float64](), Health: healthOf(k, c)}
	b, is := c.State.Entity(k).(*backend.Sandbox)
	if !is || b == nil || b.Usage.IsNotApplicable() {
		return s
	}
	s.CPU, s.Mem = backend.Unknown[float64](), backend.Unknown[float64]()
	u, known := b.Usage.Get()
	if !known || c.Now.Sub(u.At) > usageFor {
		return s
	}
	s.CPU = u.CPU
	if n, ok := u.Mem.Get(); ok {
		s.Mem = backend.Known(float64(n))
	}
	return s
}

// healthOf is the sign of how a subject is: of its own words, of the worst alert that names it, or unknown.
func healthOf(k backend.Key, c *views.Snapshot) theme.Mark {
	if k.Kind == views.KindAlert {
		if a := views.FindAlert(c.Board, k); a != nil {
			return alertMark(a)
		}
		return theme.MarkIdle // it is over
	}
	e := c.State.Entity(k)
	if e == nil {
		return theme.MarkUnknown
	}
	if c.Stale(e.EntityMeta()) {
		return theme.MarkHeld
	}
	if w, is := e.(*backend.Workspace); is {
		return WorksCell(w, c).Mark
	}
	a := c.Alert(k)
	if b, is := e.(*backend.Sandbox); is {
		if m := reportedCell(b).Mark; a == nil || m == theme.MarkBad {
			return m
		}
	}
	if a != nil {
		return alertMark(a)
	}
	return theme.MarkIdle // no alert names it, which does not say that it works
}

func alertMark(a *alerts.Alert) theme.Mark {
	switch {
	case a.State == alerts.StateHeld:
		return theme.MarkHeld
	case a.State == alerts.StatePending:
		return theme.MarkSuspect
	case a.State != alerts.StateFiring:
		return theme.MarkIdle
	case a.Severity == alerts.SeverityCritical:
		return theme.MarkCritical
	}
	return theme.MarkWarn
}
