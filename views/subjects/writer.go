// Package detail writes everything that is known about one thing: its state, what it is joined to, the alerts that
// name it, its history, and the reading as the backend gave it.
package subjects

import (
	"strings"

	"time"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// writer collects a document about one thing.
type writer struct {
	*kit.Doc
	f      *views.Frame
	links  []backend.Key
	headed bool   // parts have headings
	page   *Page  // the document holds its answers; nil: it points to the page
	home   string // source of what the document is about: facts that it reported do not name it

	told   []string       // causes and errors that the document holds
	errors []string       // those of them that facts do not repeat
	quoted []backend.Safe // errors that facts can quote
}

// to says that the next field or line leads to another thing.
func (w *writer) to(k backend.Key) {
	w.links = append(w.links, k)
	w.Link(len(w.links))
}

// Doc describes the thing with that key; the links of the document are the things it leads to, the first is number 1.
// When the thing is no longer there, the document says so.
func Doc(key backend.Key, f *views.Frame) (doc *kit.Doc, links []backend.Key) {
	w := &writer{Doc: &kit.Doc{}, f: withLast(key, f), headed: true, home: key.Source}
	w.unread(key)
	if !kindOf(key.Kind).details(w, key) {
		w.gone(key)
	}
	return w.Doc, w.links
}

// withLast is the frame with what a source that does not answer listed last under the key.
func withLast(key backend.Key, f *views.Frame) *views.Frame {
	last := f.Board.LastOf(key, f.State)
	if last == nil {
		return f
	}
	c := *f
	c.Snapshot = f.Snapshot.Next(f.Now, f.State.Including(last), f.Board)
	return &c
}

// unread begins the page of what was listed only before Sandglass started.
func (w *writer) unread(key backend.Key) {
	if e := w.f.State.Entity(key); e == nil || !e.EntityMeta().Stale || w.f.Board.LastOf(key, &fleet.State{Sources: w.f.State.Sources}) == nil {
		return
	}
	w.presentUnknown(w.f.State.Source(key.Source))
}

func (w *writer) presentUnknown(h *fleet.SourceHealth) {
	w.Line(kit.Span{Tone: theme.Strong, Text: "Its present state is unknown: source " + h.Key.Source + " is " + string(h.Status)})
}

func write[T any](w *writer, thing *T, f func(*T)) bool {
	if thing == nil {
		return false
	}
	f(thing)
	return true
}

func (w *writer) gone(key backend.Key) {
	w.Blank()
	if key.Kind == views.KindAlert && w.pastAlert(key) {
		return
	}
	if h := w.f.State.Source(key.Source); h != nil && (h.Status == fleet.StatusDown || h.Status == fleet.StatusStarting) {
		w.presentUnknown(h)
	} else {
		w.Line(kit.Span{Tone: theme.Strong, Text: GoneSince(key, w.f.Snapshot)})
	}
	for _, g := range w.f.State.Delta.Gone {
		if g.Key == key {
			w.Field("", kit.Span{Tone: theme.Normal, Text: g.Why.String()})
		}
	}
	if !w.f.Printed {
		w.Field("", kit.Span{Tone: theme.Dim, Text: "esc goes back to the table"})
	}
	w.stillNamed(key)
	if p, ok := w.f.Board.Past(key); ok {
		w.Blank()
		p.Left = time.Time{} // it is above
		w.lastRead(p)
	}
}

// GoneSince says since when a subject is in no reading, and why, as far as that is remembered.
func GoneSince(key backend.Key, s *views.Snapshot) string {
	p, ok := s.Board.Past(key)
	when := func(t time.Time) string { return Clock(t, s.Now) + " (" + backend.Age(s.Now.Sub(t)) + " ago)" }
	if !ok {
		if a, over := PastAlertOf(key.ID.Raw(), s.Events); over && key.Kind == views.KindAlert {
			return a.said() + " " + when(a.At)
		}
		if key.Kind == views.KindAlert {
			return "It is no longer there. No event tells that it fired: it was pending, or that is long ago"
		}
		return "It is no longer there"
	}
	earliest, latest := p.Gone()
	text := "Gone since " + when(latest)
	if why, is := p.Elsewhere(s.State); is && latest.IsZero() {
		return "Its present state is unknown; last read at " + when(earliest) + ": " + why.String()
	}
	switch {
	case earliest.IsZero() && latest.IsZero():
		return "It is no longer there"
	case latest.IsZero() && partly(s.State.Source(key.Source)):
		text = "Its present state is unknown; last read at " + when(earliest) + ": " + s.State.Source(key.Source).Error.String()
	case latest.IsZero():
		text = "It is no longer there; last read at " + when(earliest)
	case !earliest.IsZero() && !earliest.Equal(latest):
		text = "Gone since a moment between " + when(earliest) + " and " + when(latest)
	}
	if !p.Why.IsEmpty() {
		text += ": " + p.Why.String()
	}
	return text
}

// partly reports whether a source reads a part of what it has only.
func partly(h *fleet.SourceHealth) bool {
	return h != nil && h.Status == fleet.StatusDegraded && h.Unfinished
}

// text adds a labelled text unless it is empty.
func (w *writer) text(label string, s backend.Safe) {
	if !s.IsEmpty() {
		w.Field(label, kit.Span{Text: s.String()})
	}
}

func (w *writer) tone(label string, tone theme.Tone, s string) {
	w.Field(label, linked(tone, s)...)
}

// linked are the parts of a text, of which https addresses open; a query that is not shown is left out.
func linked(tone theme.Tone, s string) (out []kit.Span) {
	for {
		before, rest, found := strings.Cut(s, "https://")
		if !found {
			return append(out, kit.Span{Tone: tone, Text: s})
		}
		rest, _, _ = strings.Cut(rest, " ")
		url := strings.TrimRight("https://"+rest, ".,:;)")
		target, _, _ := strings.Cut(url, "?…")
		out = append(out, kit.Span{Tone: tone, Text: before}, kit.Span{Tone: tone, Text: url, Link: kit.Address(target)})
		s = s[len(before)+len(url):]
	}
}

// cell adds a labelled cell with its mark.
func (w *writer) cell(label string, c Cell, more ...kit.Span) {
	w.Field(label, append([]kit.Span{w.state(c)}, more...)...)
}

func (w *writer) state(c Cell) kit.Span {
	s := c.Text.String()
	if c.Mark != theme.MarkNone {
		s = w.f.Theme.Mark(c.Mark) + " " + s
	}
	return kit.Span{Tone: c.Tone, Text: s}
}

func dim(s string) kit.Span    { return kit.Span{Tone: theme.Dim, Text: s} }
func warn(s string) kit.Span   { return kit.Span{Tone: theme.Warn, Text: s} }
func normal(s string) kit.Span { return kit.Span{Text: s} }

// Clock writes a moment on the viewer's clock: the time of day while that is clear, else the date too.
func Clock(t, now time.Time) string {
	on, mark := views.On(t, now)
	switch d := now.Sub(t).Abs(); {
	case d < 18*time.Hour:
		return views.Seconds(t, now)
	case d < 300*24*time.Hour:
		return on.Format("Jan 02 15:04") + mark
	}
	return on.Format("2006-01-02")
}

func (w *writer) at(label string, v backend.Value[time.Time], never string) {
	t, ok := v.Get()
	switch {
	case ok:
		w.Field(label, normal(backend.Age(w.f.Now.Sub(t))+" ago"), dim("  at "+Clock(t, w.f.Now)))
	case v.IsNotApplicable() && never != "":
		w.Field(label, dim(never))
	case !v.IsNotApplicable():
		w.Field(label, dim("unknown"))
	}
}

// read says how old the reading is and what went wrong since.
func (w *writer) read(m *backend.Meta) {
	spans := []kit.Span{normal(m.Key.Source)}
	if w.f.State.ReadAt(m).IsZero() {
		spans = append(spans, dim(", never read"))
	} else {
		spans = append(spans, dim(", read "+freshness(m, w.f)))
	}
	w.Field("source", spans...)
	if why, stale := w.f.State.StaleWhy(m); stale {
		w.tone("stale", theme.Warn, why.String()+". These are the values read last.")
	}
}

func freshness(m *backend.Meta, f *views.Frame) string {
	at := f.State.ReadAt(m)
	_, stale := f.State.StaleWhy(m)
	if age := f.Now.Sub(at); stale || age >= max(time.Minute, 2*f.Interval(m.Key.Source)) {
		return backend.Age(age) + " ago, at " + Clock(at, f.Now)
	}
	return "just now"
}

// mostParts is how many subjects of an alert are listed that belong to the one of the page.
const mostParts = 3

// naming lists the alerts that name a subject, and reports whether there are any.
func (w *writer) naming(key backend.Key) bool {
	first := true
	near := JoinedTo(key, w.f.State)
	for _, a := range w.f.Board.Alerts {
		parts := 0
		for i := range a.Subjects {
			k := a.Subjects[i].Key
			if !a.About(i, key) {
				if !near[k] {
					continue
				}
				if parts++; parts > mostParts {
					continue
				}
			}
			if first {
				w.Head(headAlerts)
				first = false
			}
			if parts <= 1 {
				w.named(a, &a.Subjects[i])
			}
			if near[k] && !a.About(i, key) {
				w.Line(dim("  about " + ofIt(k, w.f.Snapshot)))
			}
		}
		if more := parts - mostParts; more > 0 {
			w.Line(dim("  and about " + kit.Number(more) + " more that belong to it"))
		}
	}
	return !first
}

// reason writes the conclusion of a diagnosis; nil: it is worked out.
func (w *writer) reason(d *runbook.Diagnosis) {
	if d == nil {
		w.Field("diagnosis", dim("The diagnosis is not ready yet."))
		return
	}
	w.Field("diagnosis", kit.Span{Tone: theme.Strong, Text: w.conclusion(d)})
}

// named is one alert that names a subject: with its cause and what it says of the subject, as far as the document does not hold them.
func (w *writer) named(a *alerts.Alert, s *alerts.Subject) {
	spans := []kit.Span{w.state(SeverityCell(a)), {Tone: theme.Strong, Text: "  " + a.Rule},
		normal("  " + StateWord(s.State) + " " + backend.Age(w.f.Now.Sub(s.Since))), normal("  " + howMany(a, w.f.Snapshot))}
	if w.f.Printed {
		spans = append(spans, dim("  alert "+a.ID))
	}
	w.to(views.AlertKey(a))
	w.Line(spans...)
	for _, text := range []backend.Safe{a.Cause, s.Detail} {
		if text.IsEmpty() || w.news(text.String()) != text.String() {
			continue
		}
		w.Line(dim("  " + text.String()))
		w.tell(text)
	}
}

// history lists the last changes of the reported status, newest first. What the first reading showed is no change.
func (w *writer) history(m *backend.Meta) {
	w.alsoJoined(m.Key)
	if len(m.History) == 0 || w.f.Printed && len(m.History) == 1 {
		return
	}
	w.Head("Status changes, newest first")
	for i := len(m.History) - 1; i >= 0; i-- {
		h := m.History[i]
		word := h.Status.String()
		if word == "" {
			word = "–"
		}
		w.Field(Clock(h.At, w.f.Now), normal(word), dim("  "+backend.Age(w.f.Now.Sub(h.At))+" ago"))
	}
	if !m.FirstSeen.IsZero() {
		w.Field("first seen", dim(Clock(m.FirstSeen, w.f.Now)))
	}
}

func (w *writer) raw(m *backend.Meta) {
	if m.Raw.IsEmpty() || w.f.Printed { // -o json prints it
		return
	}
	w.Head("The reading as the backend gave it")
	w.Raw(m.Raw.String())
}

func (w *writer) extra(title string, fields []backend.Field) {
	if len(fields) == 0 {
		return
	}
	w.Head(title)
	for _, f := range fields {
		if name := f.Name.String(); kit.Width(name) > kit.MaxLabel {
			w.Field("", dim(name+"  "), normal(f.Value.String())) // a name of theirs is not cut
		} else {
			w.Field(name, normal(f.Value.String()))
		}
	}
}
