package subjects

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// DiffersSpan is with how long before the present moment the present is compared.
const DiffersSpan = 30 * time.Minute

const (
	// rateSpan is the span of the rates that are compared.
	rateSpan = 5 * time.Minute
	// mostDiffering is how many subjects of a kind are listed.
	mostDiffering = 12
)

// DiffersTitle is the heading over what differs.
const DiffersTitle = "what differs from 30 minutes before"

// Differs writes what differs now from 30 minutes before: of one subject, or with the zero key of everything.
func Differs(key backend.Key, f *views.Frame) (doc *kit.Doc, links []backend.Key) {
	w := &writer{Doc: &kit.Doc{}, f: f}
	then := f.Now.Add(-DiffersSpan)
	for _, a := range f.Board.Alerts {
		if views.AlertKey(a) == key {
			w.alertDiffers(a, then)
			return w.Doc, w.links
		}
	}
	if key != (backend.Key{}) {
		w.differsOf(key, then)
		return w.Doc, w.links
	}
	w.Line(dim("Now " + Clock(f.Now, f.Now) + ", before " + Clock(then, f.Now) + "."))
	w.begunSince(then)
	w.Under("Changes in between: deploys, versions, restarts, actions", func() {
		for _, c := range f.Board.Changes(then, f.Now) {
			w.change(&c)
		}
	})
	for _, k := range backend.SubjectKinds() {
		if k.Copy != nil {
			w.changedOf(k, then)
		}
	}
	w.countsBefore(then)
	return w.Doc, w.links
}

// countsBefore compares the levels and rates of every source.
func (w *writer) countsBefore(then time.Time) {
	w.Under("Counts and rates", func() {
		fresh := 0
		for _, h := range w.f.State.Sources {
			for _, l := range w.f.State.Day.Lines(h.Key.Source) {
				if !charted(l.Name) {
					continue
				}
				was, now := w.amountAt(l, then), w.amountAt(l, w.f.Now)
				if was == now {
					continue
				}
				if was == "unknown" {
					fresh++
					continue
				}
				tone := theme.Normal
				if now == "unknown" {
					tone = theme.Dim
				}
				w.Field(h.Key.Source, normal(lineTitle(l)), dim("  "+was+" → "), kit.Span{Tone: tone, Text: now})
			}
		}
		if fresh > 0 {
			w.Line(dim(kit.Count(fresh, "count was", "counts were") + " not read 30 minutes before, so that nothing can be compared"))
		}
	})
}

// amountAt is the level of a line or its rate at a moment.
func (w *writer) amountAt(l fleet.Line, at time.Time) string {
	n, known := w.f.State.Day.Parts(l, at, rateSpan, 1)[0].Get()
	switch {
	case !known:
		return "unknown"
	case l.IsLevel():
		return measure(l, n)
	}
	return kit.Rate(n/rateSpan.Minutes()) + "/min"
}

// begunSince lists the alerts that began since.
func (w *writer) begunSince(then time.Time) {
	w.Under("Alerts that began since", func() {
		for _, a := range w.f.Board.Alerts {
			if a.Began().After(then) {
				w.domino(a, false, false)
			}
		}
	})
}

// difference is one subject that differs.
type difference struct {
	key      backend.Key
	was, now string
	at       time.Time
}

// differenceOf compares an entity with what it was; false: it is as it was, or that is not known.
func differenceOf(m *backend.Meta, then time.Time) (difference, bool) {
	if len(m.History) == 0 {
		return difference{}, false
	}
	last := m.History[len(m.History)-1]
	d := difference{key: m.Key, now: last.Status.String(), at: last.At}
	if !last.At.After(then) {
		return d, false
	}
	d.was = "unknown"
	for i := range m.History {
		if !m.History[i].At.After(then) {
			d.was = m.History[i].Status.String()
		}
	}
	if m.FirstSeen.After(then) {
		d.was = "not seen"
	}
	return d, d.was != d.now
}

// changedOf lists the subjects of a kind that are new, gone, or of another status.
func (w *writer) changedOf(k *backend.SubjectKind, then time.Time) {
	var all []difference
	fresh := 0
	rows := w.f.State.Rows(k.Kind)
	for i := range rows.Len() {
		d, is := differenceOf(rows.Entity(i).EntityMeta(), then)
		switch {
		case is && d.was == "not seen":
			fresh++
		case is:
			all = append(all, d)
		}
	}
	for _, p := range w.f.Board.PastOf(k.Kind) {
		if _, latest := p.Gone(); latest.After(then) {
			all = append(all, difference{p.Entity.EntityMeta().Key, "listed", "gone", latest})
		}
	}
	if len(all)+fresh == 0 {
		return
	}
	stable.Sort(all, func(a, b difference) int { return b.at.Compare(a.at) })
	head := k.Plural
	if len(all) > 0 {
		head = kit.Count(len(all), k.Name+" differs", k.Plural+" differ")
	}
	w.Head(head)
	for i, d := range all {
		if i == mostDiffering {
			w.Field("", dim("and "+kit.Number(len(all)-i)+" more"))
			break
		}
		w.to(d.key)
		w.Field(backend.Age(w.f.Now.Sub(d.at))+" ago", normal(NameOf(d.key, w.f.Snapshot).String()), dim("  "+d.was+" → "), normal(d.now), dim("  "+d.key.Source))
	}
	if fresh > 0 {
		w.Field("first seen", normal(kit.Count(fresh, k.Name, k.Plural)), dim("  within the 30 minutes"))
	}
}

// mostSubjectsDiffering is how many subjects of an alert are compared.
const mostSubjectsDiffering = 4

// alertDiffers compares the subjects of an alert.
func (w *writer) alertDiffers(a *alerts.Alert, then time.Time) {
	for i := range a.Subjects {
		key := a.Subjects[i].Key
		if i == mostSubjectsDiffering {
			w.Line(dim("and " + kit.Number(len(a.Subjects)-i) + " more"))
			break
		}
		w.Head(Title(key, w.f))
		w.statusDiffers(key, then)
	}
	if len(a.Subjects) == 0 {
		w.Line(dim("It names no subject."))
	}
	w.changesBetween(backend.Key{Source: a.Source}, then)
}

// differsOf compares one subject.
func (w *writer) differsOf(key backend.Key, then time.Time) {
	w.statusDiffers(key, then)
	w.Under("Alerts about it that began since", func() {
		for _, a := range w.f.Board.Alerts {
			for i := range a.Subjects {
				if a.About(i, key) && a.Began().After(then) {
					w.domino(a, false, false)
					break
				}
			}
		}
	})
	w.changesBetween(key, then)
}

// statusDiffers compares the status and the readings of one subject.
func (w *writer) statusDiffers(key backend.Key, then time.Time) {
	e := w.f.State.Entity(key)
	if e == nil {
		w.Line(dim("It is not there now, or has no status of its own that could be compared."))
	} else {
		m := e.EntityMeta()
		switch d, is := differenceOf(m, then); {
		case is && !m.FirstSeen.After(then):
			w.Field("status", dim(d.was+" → "), kit.Span{Tone: theme.Strong, Text: d.now}, dim("  "+backend.Age(w.f.Now.Sub(d.at))+" ago"))
		case m.FirstSeen.After(then):
			w.Field("status", normal("as it was first read, "+backend.Age(w.f.Now.Sub(m.FirstSeen))+" ago"), dim("; what it was before is not known"))
		default:
			w.Field("status", normal("as 30 minutes before"))
		}
		for i := len(m.History) - 1; i >= 0 && m.History[i].At.After(then); i-- {
			w.Field(Clock(m.History[i].At, w.f.Now), normal(m.History[i].Status.String()))
		}
		w.readingsDiffer(e, then)
	}
}

// changesBetween lists the changes that tell something of a subject's source.
func (w *writer) changesBetween(key backend.Key, then time.Time) {
	w.Under("Changes in between", func() {
		for _, c := range w.f.Board.Changes(then, w.f.Now) {
			if h := w.f.State.Source(c.Source); h == nil || c.Source == key.Source || h.ReportsOn(key.Source) {
				w.change(&c)
			}
		}
	})
}
