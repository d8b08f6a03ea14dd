package subjects

import (
	"cmp"
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
	base := baseline{f.Snapshot, then}
	if a := views.FindAlert(f.Board, key); a != nil {
		w.alertDiffers(a, base)
		return w.Doc, w.links
	}
	if key != (backend.Key{}) {
		w.differsOf(key, base)
		return w.Doc, w.links
	}
	w.Line(dim("Now " + Clock(f.Now, f.Now) + ", before " + Clock(then, f.Now) + "."))
	if later := base.later(); later != "" { // two lines: each fits a narrow screen
		w.Line(dim(later))
	}
	w.begunSince(then)
	w.Under("Changes in between: deploys, versions, restarts, actions", func() {
		for _, c := range f.Board.Changes(then, f.Now) {
			w.change(&c)
		}
	})
	for _, k := range backend.SubjectKinds() {
		if k.Copy != nil {
			w.changedOf(k, base)
		}
	}
	w.countsBefore(then)
	return w.Doc, w.links
}

// countsBefore compares the levels and rates of every source.
func (w *writer) countsBefore(then time.Time) {
	all, fresh := countsThatDiffer(w.f.Snapshot, then)
	w.Under("Counts and rates", func() {
		for _, d := range all {
			tone := theme.Normal
			if d.now == unknownAmount {
				tone = theme.Dim
			}
			w.Field(d.source, normal(lineTitle(d.line)), dim("  "+d.was+d.since+" → "), kit.Span{Tone: tone, Text: d.now})
		}
		if fresh > 0 {
			w.Line(dim(kit.Count(fresh, "count was", "counts were") + " first read too short ago to be compared"))
		}
	})
}

// countDifference is a level or rate at two moments.
type countDifference struct {
	source   string
	line     fleet.Line
	was, now string
	since    string // when it was first read, where that is later
}

// countsThatDiffer compares all counts, with what was read first where that came later; fresh is how many were first read just now.
func countsThatDiffer(s *views.Snapshot, then time.Time) (all []countDifference, fresh int) {
	for _, h := range s.State.Sources {
		for _, l := range s.State.Day.Lines(h.Key.Source) {
			if !charted(l.Name) {
				continue
			}
			d := countDifference{source: h.Key.Source, line: l, was: amountAt(s, l, then), now: amountAt(s, l, s.Now)}
			if first := s.State.Day.Since(l); d.was == unknownAmount {
				if !l.IsLevel() {
					first = first.Add(time.Minute + rateSpan) // its first minute is rarely whole
				}
				if age := s.Now.Sub(first); age >= time.Minute && first.After(then) {
					d.was, d.since = amountAt(s, l, first), ", first read "+backend.Age(age)+" ago"
				}
			}
			switch d.was {
			case d.now:
			case unknownAmount:
				fresh++
			default:
				all = append(all, d)
			}
		}
	}
	return all, fresh
}

// unknownAmount is an amount that was not read.
const unknownAmount = "unknown"

// amountAt is the level of a line or its rate at a moment.
func amountAt(s *views.Snapshot, l fleet.Line, at time.Time) string {
	n, known := s.State.Day.Parts(l, at, rateSpan, 1)[0].Get()
	switch {
	case !known:
		return unknownAmount
	case l.IsLevel():
		return measure(l, n)
	}
	return kit.Rate(n/rateSpan.Minutes()) + "/min"
}

// mostBegun is how many alerts are listed that began since.
const mostBegun = 24

// begunSince lists the alerts that began since, the worst first and of these the newest.
func (w *writer) begunSince(then time.Time) {
	all := alertsSince(w.f.Snapshot, then, backend.Key{})
	w.Under("Alerts that began in the last 30 minutes", func() {
		for i, a := range all {
			if i == mostBegun {
				w.Line(dim("and " + kit.Number(len(all)-i) + " more"))
				break
			}
			w.domino(a, false, false)
		}
	})
}

// alertsSince are those that began since, the worst first: about one subject, or with the zero key all.
func alertsSince(s *views.Snapshot, then time.Time, key backend.Key) (all []*alerts.Alert) {
	for _, a := range s.Board.Alerts {
		named := key == (backend.Key{})
		for i := range a.Subjects {
			named = named || a.About(i, key)
		}
		if named && a.Began().After(then) {
			all = append(all, a)
		}
	}
	stable.Sort(all, func(a, b *alerts.Alert) int {
		return cmp.Or(cmp.Compare(standing(b), standing(a)), b.Began().Compare(a.Began()))
	})
	return all
}

// standing orders alerts: those that fire by severity, then the others.
func standing(a *alerts.Alert) int {
	if a.State != alerts.StateFiring {
		return -1
	}
	return a.Severity.Rank()
}

// difference is one subject that differs.
type difference struct {
	key      backend.Key
	was, now string
	at       time.Time
}

// differenceOf compares an entity with what it was; false: it is as it was, or that is not known.
func (b baseline) differenceOf(m *backend.Meta) (difference, bool) {
	then := b.of(m.Key.Source)
	if len(m.History) == 0 {
		return difference{}, false
	}
	last := m.History[len(m.History)-1]
	d := difference{key: m.Key, now: last.Status.String(), at: last.At}
	if !last.At.After(then) {
		return d, false
	}
	d.was = unknownAmount
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

// subjectsThatDiffer are the subjects of a kind that are gone or of another status, the newest change first; fresh is how many are new.
func (b baseline) subjectsThatDiffer(k *backend.SubjectKind, board *alerts.Board) (all []difference, fresh int) {
	rows := b.state().Rows(k.Kind)
	for i := range rows.Len() {
		d, is := b.differenceOf(rows.Entity(i).EntityMeta())
		switch {
		case is && d.was == "not seen":
			fresh++
		case is:
			all = append(all, d)
		}
	}
	for _, p := range board.PastOf(k.Kind) {
		key := p.Entity.EntityMeta().Key
		if _, latest := p.Gone(); latest.After(b.of(key.Source)) {
			all = append(all, difference{key, "listed", "gone", latest})
		}
	}
	stable.Sort(all, func(a, b difference) int { return b.at.Compare(a.at) })
	return all, fresh
}

// changedOf lists the subjects of a kind that are new, gone, or of another status.
func (w *writer) changedOf(k *backend.SubjectKind, base baseline) {
	all, fresh := base.subjectsThatDiffer(k, w.f.Board)
	if len(all)+fresh == 0 {
		return
	}
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
		w.Field("first seen", normal(kit.Count(fresh, k.Name, k.Plural)), dim("  since then"))
	}
}

// mostSubjectsDiffering is how many subjects of an alert are compared.
const mostSubjectsDiffering = 4

// alertDiffers compares the subjects of an alert.
func (w *writer) alertDiffers(a *alerts.Alert, base baseline) {
	for i := range a.Subjects {
		key := a.Subjects[i].Key
		if i == mostSubjectsDiffering {
			w.Line(dim("and " + kit.Number(len(a.Subjects)-i) + " more"))
			break
		}
		w.Head(Title(key, w.f))
		w.statusDiffers(key, base)
	}
	if len(a.Subjects) == 0 {
		w.Line(dim("It names no subject."))
	}
	w.changesBetween(backend.Key{Source: a.Source}, base.then)
}

// differsOf compares one subject.
func (w *writer) differsOf(key backend.Key, base baseline) {
	w.statusDiffers(key, base)
	w.Under("Alerts about it that began since", func() {
		for _, a := range alertsSince(w.f.Snapshot, base.then, key) {
			w.domino(a, false, false)
		}
	})
	w.changesBetween(key, base.then)
}

// statusDiffers compares the status and the readings of one subject.
func (w *writer) statusDiffers(key backend.Key, base baseline) {
	e := w.f.State.Entity(key)
	if e == nil {
		w.Line(dim("It is not there now, or has no status of its own that could be compared."))
		return
	}
	m, then := e.EntityMeta(), base.of(key.Source)
	before, at, behind := "as 30 minutes before", then, ""
	switch d, is := base.differenceOf(m); {
	case m.FirstSeen.After(then):
		before, at, behind = "as it was first read, ", m.FirstSeen, "; what it was before is not known"
	case is:
		before, at = d.was+" → "+d.now+"  ", d.at
	case then.After(base.then):
		before = "as when its source was first read, "
	default:
		at = time.Time{}
	}
	if !at.IsZero() {
		before += backend.Age(w.f.Now.Sub(at)) + " ago"
	}
	w.Field("status", normal(before), dim(behind))
	for i := len(m.History) - 1; i >= 0 && m.History[i].At.After(then); i-- {
		w.Field(Clock(m.History[i].At, w.f.Now), normal(m.History[i].Status.String()))
	}
	w.readingsDiffer(e, then)
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
