package subjects

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// Events are what happened: transitions of alerts, actions, notes, what backends reported, change markers.
func Events() *Set[views.Event] {
	type row = views.Event
	return &Set[row]{
		Kind: "events",
		Rows: func(*fleet.State, *alerts.Board) iter.Seq[row] { return func(func(row) bool) {} },
		Of:   func(c *views.Snapshot) iter.Seq[row] { return views.EventRows(c.Events) },
		Key:  func(e row) backend.Key { return e.Key },
		Text: func(e row) string {
			return e.Text.String() + " " + e.Name + " " + string(e.Kind) + " " + e.Source + " " + subjectOf(e).String()
		},
		Muted: func(e row) bool { return e.Kind == backend.EventPlatform },
		JSON:  func(e row, _ *views.Snapshot) ([]byte, error) { return views.JSON(e.Event) },
		Columns: []Column[row]{
			{Name: "time", Title: "TIME", Help: "our time, UTC; with the day when it is another one", Min: 9, Ideal: 11, Priority: 2, Descending: true,
				Cell:    func(e row, c *views.Snapshot) Cell { return timeCell(e.At, c.Now, theme.Normal) },
				Sort:    func(e row, _ *views.Snapshot) SortKey { return SortKey{Num: float64(e.At.UnixNano())} },
				Measure: func(e row, c *views.Snapshot) (float64, bool) { return c.Now.Sub(e.At).Seconds(), true }},
			{Name: "source_time", Title: "ITS TIME", Help: "the source's own time, where it gave one", Min: 9, Ideal: 11, Priority: 6, Where: WideOnly,
				Cell: func(e row, c *views.Snapshot) Cell {
					if e.SourceAt.IsZero() {
						return None()
					}
					return timeCell(e.SourceAt, c.Now, theme.Dim)
				},
				Sort: func(e row, _ *views.Snapshot) SortKey {
					return SortKey{Num: float64(e.SourceAt.UnixNano()), Unknown: e.SourceAt.IsZero()}
				}},
			{Name: "happened", Title: "EVENT", Help: "its short name, with the sign of what kind of event it is", Min: 9, Ideal: 24, Priority: 0, Where: NarrowOnly,
				Cell: func(e row, c *views.Snapshot) Cell {
					cell := ranked(kindCell(e.Event), e.Event, c)
					if name := EventName(e.Event); !name.IsEmpty() {
						cell.Text = name
					}
					return cell
				},
				Sort: func(e row, _ *views.Snapshot) SortKey {
					return sortText(string(e.Kind) + " " + EventName(e.Event).String())
				}},
			{Name: "kind", Title: "WHAT", Help: "alert, action, note, platform or change", Min: 10, Ideal: 10, Priority: 3, Where: WideOnly,
				Cell: func(e row, c *views.Snapshot) Cell { return ranked(kindCell(e.Event), e.Event, c) },
				Sort: func(e row, _ *views.Snapshot) SortKey { return sortText(string(e.Kind)) }},
			textColumn(Column[row]{Name: "name", Title: "EVENT", Help: "its short name: firing, die, reset, …", Min: 9, Ideal: 24, Priority: 0, Where: WideOnly},
				theme.Normal, func(e row) backend.Safe { return EventName(e.Event) }),
			{Name: "subject", Title: "ABOUT", Help: "what it is about, by name where it has one", Min: 12, Ideal: 21, Flex: 1, Priority: 4,
				Cell: func(e row, c *views.Snapshot) Cell { return text(NameOf(e.Subject, c), theme.Normal) },
				Sort: func(e row, c *views.Snapshot) SortKey { return sortText(NameOf(e.Subject, c).String()) }},
			sourceColumn(func(e row) string { return e.Source }, 5),
			{Name: "text", Title: "WHAT HAPPENED", Help: "in words", Min: 30, Ideal: 48, Flex: 4, Priority: 1,
				Cell: func(e row, c *views.Snapshot) Cell { return eventText(e.Event, NameOf(e.Subject, c).String()) },
				Sort: func(e row, _ *views.Snapshot) SortKey { return sortText(e.Text.String()) }},
		},
	}
}

func subjectOf(e views.Event) backend.Safe {
	if e.Subject == (backend.Key{}) {
		return backend.Safe{}
	}
	return e.Subject.Safe()
}

// clock writes a time of day, with the day before it when it is not today's.
func clock(at, now time.Time) string {
	on, _ := views.On(at, now)
	today, _ := views.On(now, now)
	if on.Year() == today.Year() && on.YearDay() == today.YearDay() {
		return views.Seconds(at, now)
	}
	return on.Format("01-02 15:04")
}

// timeCell is a time of day, or of another day the day where there is little room.
func timeCell(at, now time.Time, tone theme.Tone) Cell {
	c := Cell{Text: plain(clock(at, now)), Tone: tone}
	if day, _, other := strings.Cut(c.Text.String(), " "); other {
		c.Short = plain(day)
	}
	return c
}

// EventTitle names an event: "14:03:12Z alert firing".
func EventTitle(e *backend.Event, now time.Time) string {
	return fmt.Sprintf("%s %s %s", clock(e.At, now), EventKind(e), EventName(e))
}

// EventKind is the word for what kind of event it is.
func EventKind(e *backend.Event) string { return kindCell(e).Text.String() }

// EventName is an event's short name; the states of alerts have the same words as everywhere.
func EventName(e *backend.Event) backend.Safe {
	if e.Kind == backend.EventTransition {
		return plain(StateWord(alerts.AlertState(e.Name)))
	}
	return plain(e.Name)
}

// eventText leaves out, where there is little room, what other columns say: the state of an alert, the name of an error's type and
// what the event is about. The briefest form has the brief cause of an alert, or the sentence before the values of a log line.
func eventText(e *backend.Event, about string) Cell {
	c := text(e.Text, theme.Normal)
	whole := e.Text.String()
	if e.Kind == backend.EventTransition {
		rule, cause, ok := strings.Cut(whole, " "+EventName(e).String()+": ")
		if ok {
			rule = strings.TrimSuffix(rule, " is") + ": "
			c.Short = plain(rule + BareError(cause))
			if short := brief(cause); !short.IsEmpty() {
				c.Brief = plain(rule + short.String())
			}
		}
		return c
	}
	if named := noun(e.Subject.Kind) + " " + about + " "; about != "" && strings.HasPrefix(whole, named) {
		c.Short = plain(whole[len(named):])
	} else if rest, is := strings.CutPrefix(whole, "container "+about+" "); is && about != "" {
		c.Short = plain(rest)
	} else if rest, is := strings.CutPrefix(whole, about+", "); is && about != "" {
		c.Short = plain(rest)
	}
	if sentence, _, more := strings.Cut(whole, " · "); more {
		c.Brief = plain(sentence)
	}
	return c
}

// ranked gives an alert that fires the sign of its severity, as the Alerts screen does, while the alert is there to tell.
func ranked(cell Cell, e *backend.Event, c *views.Snapshot) Cell {
	if e.Kind != backend.EventTransition || alerts.AlertState(e.Name) != alerts.StateFiring {
		return cell
	}
	cell.Tone, cell.Mark = theme.Normal, theme.MarkWarn
	for _, a := range c.Board.Alerts { // worst first
		if a.Source != e.Source || !strings.HasPrefix(e.Text.String(), a.Rule+" ") {
			continue
		}
		switch a.Severity {
		case alerts.SeverityCritical:
			cell.Tone, cell.Mark = theme.Critical, theme.MarkCritical
		case alerts.SeverityWarning:
			cell.Tone = theme.Warn
		case alerts.SeverityInfo:
		}
		break
	}
	return cell
}

func kindCell(e *backend.Event) Cell {
	switch e.Kind {
	case backend.EventTransition:
		switch alerts.AlertState(e.Name) {
		case alerts.StateFiring:
			return Cell{Text: backend.Text("alert"), Tone: theme.Bad, Mark: theme.MarkBad}
		case alerts.StateResolved:
			return Cell{Text: backend.Text("alert"), Tone: theme.Good, Mark: theme.MarkGood}
		case alerts.StatePending, alerts.StateHeld, alerts.StateEnded:
		}
		return Cell{Text: backend.Text("alert"), Tone: theme.Normal, Mark: theme.MarkSuspect}
	case backend.EventAction:
		return Cell{Text: backend.Text("action"), Tone: theme.Accent, Mark: theme.MarkBusy}
	case backend.EventNote:
		return Cell{Text: backend.Text("note"), Tone: theme.Strong, Mark: theme.MarkNone}
	case backend.EventChange:
		if e.Name == backend.ChangeStart { // daily life
			return Cell{Text: backend.Text("change"), Tone: theme.Normal, Mark: theme.MarkBusy}
		}
		return Cell{Text: backend.Text("change"), Tone: theme.Warn, Mark: theme.MarkWarn}
	case backend.EventPlatform:
	}
	return Cell{Text: backend.Text("platform"), Tone: theme.Dim, Mark: theme.MarkIdle}
}

// event describes one line of the timeline and leads to what it is about.
func (w *writer) event(e *backend.Event) {
	w.Field("what", kit.Span{Tone: theme.Strong, Text: e.Text.String()})
	w.Field("when", kit.Span{Text: views.Stamp(e.At, w.f.Now)}, kit.Span{Tone: theme.Dim, Text: "  " + backend.Age(w.f.Now.Sub(e.At)) + " ago, by our clock"})
	if !e.SourceAt.IsZero() {
		w.Field("its time", kit.Span{Text: views.Stamp(e.SourceAt, w.f.Now)}, kit.Span{Tone: theme.Dim, Text: "  by the source's clock"})
	}
	kind, name := EventKind(e), EventName(e).String()
	if name != kind {
		kind += ", " + name
	}
	w.Field("kind", kit.Span{Text: kind})
	if e.Source != "" {
		w.to(backend.Key{Kind: backend.KindSource, Source: e.Source, ID: backend.MustID(e.Source)})
		w.Field("source", kit.Span{Text: backend.Clean(e.Source, 80).String()})
	}
	if e.Subject != (backend.Key{}) && e.Subject.Kind != backend.KindSource {
		w.to(e.Subject)
		w.Field("about", kit.Span{Text: noun(e.Subject.Kind) + " " + NameOf(e.Subject, w.f.Snapshot).String()})
	}
}

type eventKind struct{ base }

func (eventKind) listing() Listing { return Events().Listing() }

func (eventKind) title(k backend.Key, f *views.Frame) string {
	if e := f.Event(k); e != nil {
		return EventTitle(e, f.Now)
	}
	return "event"
}

func (eventKind) details(w *writer, k backend.Key) bool { return write(w, w.f.Event(k), w.event) }
