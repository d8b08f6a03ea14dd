package text

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
	"sandglass/views"
	"sandglass/views/subjects"
)

func (e *evidence) head(p *page) {
	a := e.alert()
	if a != nil {
		p.title("Alert " + a.Rule + " on " + code(a.Source))
	} else {
		p.title(code(subjects.Title(e.Key, frameOf(e.Snapshot))) + " on " + code(e.Key.Source))
	}
	p.text("")
	p.text("Evidence written down by Sandglass %s at %s in environment %s. Times are UTC. What looks like a secret is masked;",
		code(e.Version), utc(e.Snapshot.Now), code(e.Environment))
	p.text("read it through before you give it to others: names, paths and error texts of your systems are in it.")
	p.section("Summary")
	for _, id := range e.sources {
		if h := e.Snapshot.State.Source(id); h != nil {
			p.item("source %s, kind %s: %s, last answered %s", code(id), code(h.Kind), h.Status, utc(h.LastOK))
		}
	}
	quote := func(s backend.Safe) string { return code(s.String()) }
	for _, line := range subjects.Summary(e.Key, e.Snapshot, quote) {
		p.item("%s", line)
	}
	if a == nil && len(e.alerts) > 0 {
		a = e.alerts[0] // worst first
	}
	if a != nil {
		p.item("worst alert: %s, %s, %s since %s: %s", a.Rule, a.Severity, a.State, utc(a.Since), code(a.Cause.String()))
	}
	if e.Diagnosis != nil {
		p.item("diagnosis: %s", code(e.Diagnosis.Conclusion.String()))
		for _, v := range e.Diagnosis.Release.Declared {
			p.item("framework release as declared: %s", code(v.String()))
		}
	}
	if a == nil && e.Diagnosis == nil {
		p.item("no alert names it")
	}
}

func (e *evidence) identifiers(p *page) {
	p.section("Identifiers, in full")
	for _, k := range e.covered {
		p.item("%s %s on %s", k.Kind, rawID(k.Path()), code(k.Source))
	}
	if e.left > 0 {
		p.item("and %d more that are not in this bundle", e.left)
	}
	found := e.traces()
	p.text("")
	p.text("Trace and request ids:")
	p.text("")
	if len(found) == 0 {
		p.item("none was found in what was read")
	}
	for _, t := range found {
		p.item("%s in %s", code(t.id), t.where)
	}
}

func (e *evidence) evidence(p *page) {
	p.section("Alerts and their evidence")
	if len(e.alerts) == 0 {
		p.item("no alert names it")
	}
	for _, a := range e.alerts[:min(len(e.alerts), maxBundledAlerts)] {
		p.item("**%s**: %s, %s since %s; cause %s, fingerprint %s, id %s", a.Rule, a.Severity, a.State, utc(a.Since),
			code(a.Cause.String()), code(a.Fingerprint), code(a.ID))
		p.sub("subjects: %d, sessions: %d; began %s", a.SubjectCount, a.Sessions, bounds(a.Bounds))
		for _, x := range a.Evidence {
			p.sub("%s%s", code(x.Text.String()), origin(x.Source, x.At))
		}
		for i := range a.Subjects {
			if s := &a.Subjects[i]; e.covers(s.Key) && !s.Detail.IsEmpty() {
				p.sub("%s: %s, began %s", rawID(s.Key.Path()), code(s.Detail.String()), bounds(s.Bounds))
			}
		}
		e.besides(p, a)
		if !a.Why.IsEmpty() {
			p.sub("%s", code(a.Why.String()))
		}
	}
	if more := len(e.alerts) - maxBundledAlerts; more > 0 {
		p.item("and %d more", more)
	}
}

// besides names what else an alert is about: a leak has two sides, and who gets this page sees one of them.
func (e *evidence) besides(p *page, a *alerts.Alert) {
	var ids []string
	for i := range a.Subjects {
		if k := a.Subjects[i].Key; !e.covers(k) {
			ids = append(ids, rawID(k.Path()))
		}
	}
	if named := ids[:min(len(ids), maxBesides)]; len(named) > 0 {
		text := strings.Join(named, ", ")
		if more := a.Left() + len(ids) - len(named); more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		p.sub("it is also about %s", text)
	}
}

// origin says who reported something and when, as far as that is known.
func origin(source string, at time.Time) string {
	switch {
	case source == "":
		return ""
	case at.IsZero():
		return " (" + code(source) + ")"
	}
	return " (" + code(source) + ", " + utc(at) + ")"
}

func bounds(b alerts.Bounds) string {
	if b.Earliest.IsZero() && b.Latest.IsZero() {
		return "at an unknown time"
	}
	return "between " + utc(b.Earliest) + " and " + utc(b.Latest)
}

func (e *evidence) diagnosis(p *page) {
	d := e.Diagnosis
	if d == nil {
		return
	}
	p.section("Diagnosis")
	p.text("%s", code(d.Conclusion.String()))
	p.text("")
	for _, c := range d.Checks {
		p.item("**%s**, %s: %s", c.Mark, c.Name, code(c.Question.String()))
		if !c.Fact.IsEmpty() {
			p.sub("%s%s", code(c.Fact.String()), origin(c.Source, c.At))
		}
		if c.Mark == runbook.CannotTell && !c.WouldTell.IsEmpty() {
			p.sub("would tell: %s", code(c.WouldTell.String()))
		}
	}
	for _, s := range d.Release.Proof {
		p.item("release: %s", code(s.String()))
	}
}

// happened are the events about what is covered, and those of its sources that name no subject: changes, notes, what
// people did.
func (e *evidence) happened() []backend.Event {
	sessions := map[backend.ID]bool{}
	for _, k := range e.covered {
		if k.Kind == backend.KindSession {
			sessions[k.ID] = true
		}
	}
	var out []backend.Event
	for _, x := range e.Events {
		about := e.covers(x.Subject) || slices.ContainsFunc(x.About, e.covers) || sessions[x.Subject.Parent] && !x.Subject.Parent.IsZero()
		wide := x.Subject.Kind == "" && (x.Source == "" || slices.Contains(e.sources, x.Source)) && e.concerns(x)
		if about || wide {
			out = append(out, x)
		}
	}
	return out
}

func (e *evidence) covers(k backend.Key) bool { return slices.Contains(e.covered, k) }

// concerns reports whether an event without a subject may explain something here: transitions of its own alerts, and
// whatever was changed, done or noted.
func (e *evidence) concerns(x backend.Event) bool {
	switch x.Kind {
	case backend.EventTransition:
		return slices.ContainsFunc(e.alerts, func(a *alerts.Alert) bool { return strings.HasPrefix(x.Text.String(), a.Rule+" ") })
	case backend.EventPlatform:
		return false
	case backend.EventAction, backend.EventNote, backend.EventChange:
	}
	return true
}

func (e *evidence) timeline(p *page) {
	p.section("Timeline")
	all := e.happened()
	shown := all[max(0, len(all)-maxBundledEvents):]
	history := e.changes()
	if len(all) == 0 && len(history) == 0 {
		p.item("nothing is known to have happened")
		return
	}
	if left := len(all) - len(shown); left > 0 {
		p.text("The newest %d of %d events.", len(shown), len(all))
		p.text("")
	}
	p.text("| when | by the source's clock | source | what | about | text |")
	p.text("|---|---|---|---|---|---|")
	rows := history
	for _, x := range shown {
		theirs, about := "", ""
		if !x.SourceAt.IsZero() {
			theirs = utc(x.SourceAt)
		}
		if x.Subject.Kind != "" {
			about = cell(x.Subject.Safe().String())
		}
		rows = append(rows, timelineRow{x.At, []string{theirs, cell(x.Source), string(x.Kind) + " " + cell(x.Name), about, cell(x.Text.String())}})
	}
	stable.Sort(rows, func(a, b timelineRow) int { return a.at.Compare(b.at) })
	for _, r := range rows {
		p.text("| %s | %s |", utc(r.at), strings.Join(r.cells, " | "))
	}
}

type timelineRow struct {
	at    time.Time
	cells []string
}

// changes are the status changes that the entities remember.
func (e *evidence) changes() []timelineRow {
	var out []timelineRow
	for _, k := range e.covered {
		if x := e.Snapshot.State.Entity(k); x != nil {
			for _, h := range x.EntityMeta().History {
				out = append(out, timelineRow{h.At, []string{"", cell(k.Source), "status", cell(k.Safe().String()), cell(h.Status.String())}})
			}
		}
	}
	return out
}

func (e *evidence) readings(p *page) {
	p.section("Readings")
	for i, k := range e.covered {
		if i > 0 {
			p.text("")
		}
		p.text("### %s %s", k.Kind, rawID(k.Path()))
		p.text("")
		if h := e.Snapshot.State.Source(k.Source); h != nil && k.Kind == backend.KindSource {
			p.text("As of %s.", utc(e.Snapshot.Now))
			p.block("json", indented(subjects.NewSourceItem(h, e.Snapshot)))
		} else if x := e.Snapshot.State.Entity(k); x != nil {
			e.reading(p, x)
		} else {
			e.gone(p, k)
		}
	}
}

func (e *evidence) reading(p *page, x backend.Entity) {
	m := x.EntityMeta()
	p.text("Read at %s from %s.", utc(e.Snapshot.State.ReadAt(m)), code(m.Key.Source))
	if why, stale := e.Snapshot.State.StaleWhy(m); stale {
		p.text("Stale: %s", code(why.String()))
	}
	p.block("json", parsed(x))
	if !m.Raw.IsEmpty() {
		p.text("")
		p.text("As the backend gave it:")
		p.block("", m.Raw.String())
	}
}

func (e *evidence) gone(p *page, k backend.Key) {
	p.text("Not listed any more, or never read: what is known about it is on the timeline.")
	for _, g := range e.Snapshot.State.Delta.Gone {
		if g.Key != k {
			continue
		}
		p.item("gone at %s: %s", utc(g.At), code(g.Why.String()))
		if g.Last != nil {
			p.text("")
			p.text("What was read last:")
			e.reading(p, g.Last)
		}
	}
}

// parsed is the entity as JSON, without what stands elsewhere in the bundle.
func parsed(x backend.Entity) string {
	c := x.EntityMeta().Key.Kind.Spec().Copy(x)
	m := c.EntityMeta()
	m.Raw, m.History = backend.Safe{}, nil
	return indented(c)
}

func indented[T any](document T) string {
	var b bytes.Buffer
	if doc, err := views.JSON(document); err != nil || json.Indent(&b, doc, "", "  ") != nil {
		return ""
	}
	return b.String()
}

func (e *evidence) unread(p *page) {
	p.section("What could not be read")
	n := 0
	for _, h := range e.Snapshot.State.Sources {
		if h.Status == fleet.StatusDown || h.Status == fleet.StatusStarting || h.Status == fleet.StatusDegraded {
			n++
			p.item("source %s is %s: %s", code(h.Key.Source), h.Status, code(h.Error.String()))
		}
		if !slices.Contains(e.sources, h.Key.Source) {
			continue
		}
		for _, x := range h.Problems {
			n++
			p.item("%s: %s: %s", code(h.Key.Source), code(x.Where.String()), code(x.What.String()))
		}
		for _, x := range h.Missing {
			n++
			p.item("%s does not deliver %s: %s", code(h.Key.Source), x.Input, code(x.Why.String()))
		}
	}
	for _, x := range e.Snapshot.Board.Blind {
		if slices.Contains(e.sources, x.Source) {
			n++
			word := "not evaluated"
			if x.Part {
				word = "evaluated in part"
			}
			p.item("the rule %s is %s on %s: %s", x.Rule, word, code(x.Source), code(x.Why.String()))
		}
	}
	if n == 0 {
		p.item("every source answered, and every rule is evaluated")
	}
}

func (e *evidence) redaction(p *page) {
	p.section("What is left out")
	p.item("values of configured credentials, and what looks like a secret: replaced by %s", code("‹masked›"))
	p.item("control, reordering and invisible characters: identifiers have them as JSON escapes, texts as visible stand-ins")
	p.item("what was longer than the bounds of a reading, and files and memory of sandboxes: Sandglass does not read them")
	if e.Key.Kind == views.KindAlert && e.left > 0 {
		p.item("%d entities: write a bundle about each that matters", e.left)
	}
}
