package subjects

import (
	"fmt"
	"slices"
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

// SourcePane describes a source beside or below the list: with headings, its alerts and the problems of the last poll where
// there is room, and with charts where they stand nowhere else.
func SourcePane(h *fleet.SourceHealth, f *views.Frame, roomy, charted bool) *kit.Doc {
	w := &writer{Doc: &kit.Doc{}, f: f, headed: roomy}
	w.Line(kit.Span{Tone: theme.Strong, Text: h.Key.Source}, dim("  "+h.Kind+"  "), w.state(StatusCell(h.Status)))
	if !h.Error.IsEmpty() {
		w.tone("why", StatusCell(h.Status).Tone, h.Error.String())
	}
	w.sight(h)
	w.cost(h)
	if charted {
		charts(w.Doc, h.Key.Source, f)
	}
	w.statements(h)
	if roomy {
		w.unnamedErrors(h)
		w.dependent(h)
		w.problems(h)
	}
	return w.Doc
}

// source writes everything about a source.
func (w *writer) source(h *fleet.SourceHealth) {
	w.cell("status", StatusCell(h.Status), dim("  "+h.Kind))
	if !h.Error.IsEmpty() {
		w.tone("why", StatusCell(h.Status).Tone, h.Error.String())
	}
	w.doable(w.urgent(h.Key, nil))
	w.sight(h)
	w.cost(h)
	charts(w.Doc, h.Key.Source, w.f)
	w.statements(h)
	w.unnamedErrors(h)
	w.dependent(h)
	w.problems(h)
}

// sight writes what a source lets us see and not see.
func (w *writer) sight(h *fleet.SourceHealth) {
	w.section("What it lets us see, and not see")
	sees(w.Doc, h)
	if !blind(w.Doc, w.f, h.Key.Source, "not evaluated") {
		w.Field("not evaluated", dim("none"))
	}
	blind(w.Doc, w.f, "", "not watched")
}

// cost writes what reading a source costs it.
func (w *writer) cost(h *fleet.SourceHealth) {
	w.section("What reading it costs")
	load := fmt.Sprintf("%s requests and %s a minute", kit.Rate(h.RequestsPerMin), backend.Bytes(int64(h.BytesPerMin)))
	if h.P50 > 0 {
		load += fmt.Sprintf(", p50 %s, p95 %s", kit.Latency(h.P50), kit.Latency(h.P95))
	}
	w.Field("load", normal(load))
	polls := "every " + h.Interval.String()
	if !h.Paced.IsEmpty() {
		polls += " (" + h.Paced.String() + ")"
	}
	if wait := h.NextPoll.Sub(w.f.Now); !h.Answers() && wait > 0 {
		polls += ", next try in " + backend.Age(wait)
	}
	if h.Failures > 0 {
		polls += fmt.Sprintf(", %d failed in a row", h.Failures)
	}
	w.Field("polls", normal(polls), dim(lastSuccess(h, w.f)))
	if off, ok := h.ClockOffset.Get(); ok && off.Abs() >= 2*time.Second {
		w.tone("clock", theme.Warn, fmt.Sprintf("%s ahead of ours; its times are corrected", off.Round(time.Second)))
	}
}

// statements writes what a source says of itself and of what runs there.
func (w *writer) statements(h *fleet.SourceHealth) {
	runs(w.Doc, h.Key.Source, w.f)
	if len(h.About) > 0 {
		w.Field("about", normal(strings.Join(h.About, ", ")))
	}
	facts(w.Doc, h, w.f)
	pools(w.Doc, h, w.f)
	for i, n := range h.Notes {
		if len(h.Facts) > 0 {
			break // the note of a check is its fact
		}
		w.Field(label(i+1, "notes"), normal(n.String()))
	}
	if said := w.f.State.Unattributed(h); !said.IsEmpty() {
		w.Field("", normal(said.String()))
	}
}

// mostDependent is how many alerts of a source are listed.
const mostDependent = 20

// dependent lists the alerts that rest on what the source said.
func (w *writer) dependent(h *fleet.SourceHealth) {
	alike := map[alertForm][]*alerts.Alert{}
	for _, a := range w.f.Board.Alerts {
		if a.Source == h.Key.Source && a.SubjectCount == 1 && len(a.Subjects) == 1 {
			alike[formOf(a)] = append(alike[formOf(a)], a)
		}
	}
	var list []*alerts.Alert
	n := 0
	for _, a := range w.f.Board.Alerts {
		all := alike[formOf(a)]
		if a.Source != h.Key.Source || len(all) > mostAlike && a.SubjectCount == 1 && all[0] != a {
			continue
		}
		if n++; n <= mostDependent {
			list = append(list, a)
		}
	}
	if n == 0 {
		return
	}
	w.Head("Alerts that rest on it")
	w.alerts(list, n, func(a *alerts.Alert) string { return w.aged(a.State, a.Since) })
	for _, a := range list {
		if all := alike[formOf(a)]; len(all) > mostAlike {
			w.Line(dim("  " + w.tellTheSame(all)))
		}
	}
}

// mostAlike is how many alerts that tell the same of one subject each are listed one by one.
const mostAlike = 2

// alertForm is what alerts have in common that tell the same.
type alertForm struct {
	rule, cause string
	state       alerts.AlertState
	severity    alerts.Severity
}

func formOf(a *alerts.Alert) alertForm {
	return alertForm{a.Rule, a.Cause.String(), a.State, a.Severity}
}

// tellTheSame says of how many subjects alerts tell the same, and names the first.
func (w *writer) tellTheSame(all []*alerts.Alert) string {
	var names []string
	for _, a := range all[:min(len(all), 6)] {
		names = append(names, named(&a.Subjects[0], w.f.Snapshot))
	}
	text := kit.Number(len(all)) + " such alerts, of one each, tell this: " + strings.Join(names, ", ")
	if rest := len(all) - len(names); rest > 0 {
		text += " and " + kit.Number(rest) + " more"
	}
	return text
}

func (w *writer) problems(h *fleet.SourceHealth) {
	if len(h.Problems) == 0 {
		return
	}
	w.Head("Problems of the last poll")
	for _, p := range h.Problems {
		w.Field(string(p.Kind), normal(p.What.String()), dim("  "), kit.Span{Tone: theme.Dim, Text: p.Where.String(), Link: kit.Address(p.Where.String())})
	}
}

// runs writes which versions run there, and that they are mixed where they are.
func runs(d *kit.Doc, source string, f *views.Frame) {
	if text, mixed := Versions(f.State, source); mixed {
		d.Field("runs", kit.Span{Tone: theme.Warn, Text: text.String()})
	} else if !text.IsEmpty() {
		d.Field("runs", normal(text.String()))
	}
}

// pools writes how full the applications of a platform are, as of its newest answer.
func pools(d *kit.Doc, h *fleet.SourceHealth, f *views.Frame) {
	if len(h.Pools) == 0 {
		return
	}
	d.Head("Applications")
	for i := range h.Pools {
		x := &h.Pools[i]
		text := kit.Span{Tone: theme.Normal, Text: "unknown how many run"}
		if used, known := x.Used.Get(); known {
			text.Text = fmt.Sprintf("%d run", used)
			switch limit, limited := x.Limit.Get(); {
			case limited && limit < 1: // it bounds nothing that runs
				text.Text += ", limit 0"
			case limited:
				text.Text = fmt.Sprintf("%d of %d run", used, limit)
				if used >= limit {
					text.Tone = theme.Warn
				}
			}
		}
		switch {
		case x.Limit.IsNotApplicable():
			text.Text += ", limit not applicable"
		case !x.Limit.IsKnown():
			text.Text += ", limit unknown"
		}
		more := ""
		if n := x.Starting.Or(0); n > 0 {
			more += fmt.Sprintf(", %d starting", n)
		}
		if n := x.Failed.Or(0); n > 0 {
			more += fmt.Sprintf(", %d failed", n)
		}
		if !x.Health.IsEmpty() {
			more += ", " + x.Health.String()
		}
		if !x.Rollout.IsEmpty() {
			more += ", rollout " + x.Rollout.String()
		}
		d.Field(x.Name.String(), text, dim(more+"  "+backend.Age(f.Now.Sub(x.At))+" ago"))
	}
}

// facts writes what the site's own checks found out, how long ago, and since when it has been so.
func facts(d *kit.Doc, h *fleet.SourceHealth, f *views.Frame) {
	for i, fact := range h.Facts {
		word := kit.Span{Tone: theme.Warn, Text: fact.Name + " is false"}
		if fact.Holds {
			word = kit.Span{Tone: theme.Strong, Text: fact.Name + " is true"}
		}
		age := fmt.Sprintf("  %s ago, so since %s ago", backend.Age(f.Now.Sub(fact.At)), backend.Age(f.Now.Sub(fact.Since)))
		if h.Status == fleet.StatusDown || h.Overdue(f.Now) {
			word.Tone = theme.Dim
			age += "; old, it is not known now"
		}
		d.Field(label(i+1, "fact"), word, normal(": "+fact.Text.String()), dim(age))
		if names := slices.Concat(fact.RulesOut, fact.Confirms); len(names) > 0 {
			d.Field("", dim("answers in diagnoses: "+strings.Join(names, ", ")))
		}
	}
}

// blind lists the rules that cannot judge a source, by reason; of the source "" those for which no source of the kind
// they watch is configured at all. It reports whether there is any.
func blind(d *kit.Doc, f *views.Frame, source, name string) bool {
	rules := map[string][]string{}
	var order []string
	for _, b := range f.Board.Blind {
		if b.Source != source {
			continue
		}
		why := b.Why.String()
		if b.Part {
			why = "in part: " + why
		}
		if rules[why] == nil {
			order = append(order, why)
		}
		rules[why] = append(rules[why], b.Rule)
	}
	for i, why := range order {
		d.Field(label(i+1, name), kit.Span{Tone: theme.Warn, Text: strings.Join(rules[why], ", ")}, dim("  "+why))
	}
	return len(order) > 0
}

func sees(d *kit.Doc, h *fleet.SourceHealth) {
	var in []string
	for _, i := range h.Inputs {
		in = append(in, string(i))
	}
	if len(in) == 0 {
		d.Field("sees", dim("nothing now"))
	} else {
		d.Field("sees", normal(strings.Join(in, ", ")))
	}
	if h.WorkspacesUnknown {
		d.Field("", kit.Span{Tone: theme.Warn, Text: "It cannot tell whether its workspaces exist or work."})
	}
	for i, m := range h.Missing {
		d.Field(label(i+1, "missing"), normal(string(m.Input)), dim("  "+m.Why.String()))
	}
}

func lastSuccess(h *fleet.SourceHealth, f *views.Frame) string {
	if at := f.Board.LastAnswer(h.Key.Source); h.LastOK.IsZero() && !at.IsZero() {
		return ", last success " + backend.Age(f.Now.Sub(at)) + " ago, of a run before"
	}
	if h.LastOK.IsZero() {
		return ", no poll has succeeded yet"
	}
	if h.Failures == 0 {
		return ""
	}
	return ", last success " + backend.Age(f.Now.Sub(h.LastOK)) + " ago"
}

type sourceKind struct{ base }

func (sourceKind) listing() Listing { return Sources().Listing() }

// name calls an application of a platform, which an alert can be about, by its own name where no other one there has that.
func (sourceKind) name(k backend.Key, c *views.Snapshot) backend.Safe {
	h := c.State.Source(k.Source)
	if h == nil {
		return k.Safe()
	}
	id, is := strings.CutPrefix(k.ID.Raw(), k.Source+"/")
	n := slices.IndexFunc(h.Pools, func(x backend.Pool) bool { return x.ID.Raw() == id })
	if !is || n < 0 || h.Pools[n].Name.IsEmpty() {
		return k.Safe()
	}
	for i := range h.Pools {
		if i != n && h.Pools[i].Name == h.Pools[n].Name {
			return k.Safe()
		}
	}
	return backend.Textf("%s/%s", plain(k.Source), h.Pools[n].Name)
}

func (sourceKind) details(w *writer, k backend.Key) bool {
	return write(w, w.f.State.Source(k.Source), w.source)
}

// page is that of the first rule that is not evaluated on a source, else the one about sources.
func (sourceKind) page(k backend.Key, f *views.Frame) (incident, why string, trouble bool) {
	for _, rule := range f.Board.BlindOn(k.Source) {
		if m := f.Board.Rule(rule); m != nil {
			for _, number := range runbook.Leads(m.Explain.Runbook) {
				return number, rule + " is not evaluated here: its page.", false
			}
		}
	}
	return "source", "This page covers a whole source.", false
}
