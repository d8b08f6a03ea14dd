package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/subjects"
	"sandglass/views/text"
	"sandglass/views/theme"
)

func (p *Program) whyCommand(s *shared) *cobra.Command {
	var o oneShot
	var f finding
	var format *oneWord
	var code bool
	cmd := &cobra.Command{
		Use:   "why ID",
		Short: "Print everything about one subject: its state, the alerts that name it, and the diagnosis",
		Long: paragraph("Print all that is known about one %s, and what the runbook makes of it. ID is an id as check and get print it, "+
			"or any part of one that no other id has. What is gone is answered from what is remembered.", anySubject("alert")) + `

Exit codes: 0 printed; 3 a source is down, so that something may be missing; 64 no
id or several ids match. With --exit-code as check, for this subject: 1 a warning
fires for it, 2 something critical fires, 3 its state is not known.`,
		Args:              oneArg("why needs one id, as check and get print it"),
		ValidArgsFunction: p.completeIDs(s),
		RunE: func(c *cobra.Command, args []string) error {
			o.asked = args[0]
			return p.reading(c.Context(), *s, o, func(r *reading) error { return p.why(r, args[0], f, format, code) })
		},
	}
	format = p.output(cmd)
	cmd.Flags().BoolVar(&code, "exit-code", false, "exit as check does, for this subject")
	f.flags(p, cmd, s)
	o.flags(cmd)
	return cmd
}

// whyDoc is `why -o json`.
type whyDoc struct {
	Schema      int                  `json:"schema"`
	Time        views.Time           `json:"time"`
	Environment backend.Safe         `json:"environment"`
	Kind        backend.Kind         `json:"kind"`
	ID          backend.ID           `json:"id"`
	Source      string               `json:"source"`
	Gone        bool                 `json:"gone"`    // its source was read and does not show it
	Subject     json.RawMessage      `json:"subject"` // as get prints it; of what is gone its last value, null where that is not known
	Alerts      []subjects.AlertJSON `json:"alerts"`  // that name it
	Runbook     string               `json:"runbook,omitempty"`
	Diagnosis   *runbook.Diagnosis   `json:"diagnosis"`
	Events      []backend.Event      `json:"events"` // oldest first
	ExitCode    int                  `json:"exit_code"`
}

// why prints what is known of one subject, and what the runbook makes of it.
func (p *Program) why(r *reading, given string, find finding, format *oneWord, code bool) error {
	key, err := r.find(given, find)
	if err != nil {
		return err
	}
	r.state = r.board.Shown(r.state)
	f := r.frame()
	f.Theme = p.theme()
	page, ok := subjects.PageOf(key, f)
	if ok = ok && page.Trouble; !ok { // a healthy subject needs no page; runbook N --subject prints it
		page = subjects.Page{}
	}
	if page.Incident != "" {
		d := r.diagnosis(page.Question)
		f.Diagnoses[page.Question] = &d
	}
	if format.word != formatText {
		doc, err := r.whyDoc(key, f)
		if err == nil {
			doc.Runbook, doc.Diagnosis = page.Incident, f.Diagnoses[page.Question]
			err = print(p, format, doc, nil)
		}
		if err != nil {
			return err
		}
	} else if err := p.whyText(r, key, f, page, ok); err != nil {
		return err
	}
	if !code {
		return p.incomplete(r.state)
	}
	if n := r.exitCode(key); n != alerts.ExitOK {
		return exit(n)
	}
	return nil
}

func (p *Program) whyText(r *reading, key backend.Key, f *views.Frame, page subjects.Page, paged bool) error {
	about := &page
	if !paged || page.Incident == "" {
		about = nil
	}
	doc := subjects.Why(key, f, about)
	if _, here := r.record(key, f.Snapshot); !here {
		r.history(doc, key)
	}
	return p.writeDoc(subjects.Title(key, f), doc, f)
}

// shownEvents bounds what is printed of the timeline about a subject.
const shownEvents = 20

// history adds what the timeline says about a subject that no source shows.
func (r *reading) history(doc *kit.Doc, key backend.Key) {
	events := r.eventsOf(key)
	for i, e := range events[max(0, len(events)-shownEvents):] {
		if i == 0 {
			doc.Head("Timeline")
		}
		doc.Line(kit.Span{Tone: theme.Dim, Text: moments(e.At) + "  "}, kit.Span{Text: e.Text.String()})
	}
}

func (r *reading) eventsOf(key backend.Key) []backend.Event {
	out := []backend.Event{}
	for i := range r.events {
		if about(&r.events[i], key) {
			out = append(out, r.events[i])
		}
	}
	return out
}

// record is the row of a subject, as get prints it; false where nothing shows it.
func (r *reading) record(key backend.Key, s *views.Snapshot) (row []byte, here bool) {
	for _, l := range subjects.Listings() {
		if l.Of != key.Kind {
			continue
		}
		for rec := range l.Each(s) {
			if rec.Key() == key {
				row, err := rec.JSON()
				return row, err == nil
			}
		}
	}
	return nil, r.state.Entity(key) != nil
}

func (r *reading) whyDoc(key backend.Key, f *views.Frame) (*whyDoc, error) {
	d := &whyDoc{Schema: text.Schema, Time: views.At(r.now), Environment: backend.Clean(r.Config.Environment, 200), Kind: key.Kind, ID: key.Path(),
		Source: key.Source, Alerts: []subjects.AlertJSON{}, Events: r.eventsOf(key), ExitCode: r.exitCode(key)}
	row, here := r.record(key, f.Snapshot)
	var last backend.Entity
	if here {
		last = r.state.Entity(key)
	} else if past, ok := r.board.Past(key); ok {
		last = past.Entity
	}
	named := key.Kind == backend.KindSession && last == nil && len(r.state.BoxesOf(key.ID)) > 0
	if d.Gone = !here && !named && len(r.couldKnow(key.Source, key.Kind)) == 0; row == nil && last != nil {
		var err error
		if row, err = views.JSON(last); err != nil {
			return nil, err
		}
	}
	d.Subject = row
	near := subjects.JoinedTo(key, r.state)
	for _, a := range r.board.Alerts {
		if names(a, key, near) {
			d.Alerts = append(d.Alerts, subjects.NewAlertJSON(a, f.Snapshot))
		}
	}
	return d, nil
}

// names reports whether an alert is the one with the key, or is about the subject, about a part of it or what is near it, or of
// that source.
func names(a *alerts.Alert, key backend.Key, near map[backend.Key]bool) bool {
	if views.AlertKey(a) == key || key.Kind == backend.KindSource && a.Source == key.Source {
		return true
	}
	for i := range a.Subjects {
		k := a.Subjects[i].Key
		if near[k] || a.About(i, key) || !k.Parent.IsZero() && k.Parent == key.ID && k.Source == key.Source && key.Parent.IsZero() {
			return true
		}
	}
	return false
}

// exitCode is that of check for one subject: 3 where nothing fires for it and its source does not tell how it is.
func (r *reading) exitCode(key backend.Key) int {
	worst, near := alerts.ExitOK, subjects.JoinedTo(key, r.state)
	for _, a := range r.board.Alerts {
		if names(a, key, near) && a.Counts() {
			worst = max(worst, a.Severity.Rank())
		}
	}
	h := r.state.Source(key.Source)
	if worst > 0 || h == nil || h.Status == fleet.StatusAbsent {
		return worst
	}
	e := r.state.Entity(key)
	_, doubted := r.board.Doubted(key.Source)
	if key.Kind == backend.KindSource && h.Status == fleet.StatusDegraded || doubted || h.Blurred() || h.Status == fleet.StatusDown || h.Status == fleet.StatusStarting || e != nil && e.EntityMeta().Stale {
		return alerts.ExitUnknown
	}
	return alerts.ExitOK
}

// anySubject lists the nouns of all kinds, and more: "workspace, session or alert".
func anySubject(more ...string) string {
	var nouns []string
	for _, k := range backend.SubjectKinds() {
		nouns = append(nouns, k.Name)
	}
	nouns = append(nouns, more...)
	last := len(nouns) - 1
	return strings.Join(nouns[:last], ", ") + " or " + nouns[last]
}

// paragraph is a part of a help text.
func paragraph(format string, args ...any) string {
	return strings.Join(kit.Wrap(fmt.Sprintf(format, args...), 79), "\n")
}

// theme is what the standard output can draw.
func (p *Program) theme() *theme.Theme {
	if !p.Output.Terminal {
		return theme.New(theme.NoColours, theme.Unicode)
	}
	return theme.New(p.Output.Colours, p.Output.Glyphs)
}

// writeDoc prints a document under its title.
func (p *Program) writeDoc(title string, doc *kit.Doc, f *views.Frame) error {
	o := text.TableOptions{Width: p.width(), Theme: f.Theme}
	o.Colour = p.coloured()
	return unwrittenIf(text.WriteDoc(p.Stdout, title, doc, o))
}
