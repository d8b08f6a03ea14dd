package subjects

import (
	"slices"
	"strings"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// The ranks of what stays where the pane is short: what is broken, what to do first and what not, where, what it means for the
// users, since when.
const (
	keepNext = iota + 1
	keepMore // steps and warnings after the first ones
	keepConfirmed
	keepEvidence
	keepWarning // the second warning
	keepFact
	keepDiagnosis
	keepSince
	keepImpact
	keepDont
	keepScope
	keepDo
	keepCause
	keepHead
)

// mostKept is how many confirmed checks are kept where the pane is short.
const mostKept = 2

// Asked is the question whose answer stands beside an alert; false when no incident of the runbook is about it, or it
// is over.
func Asked(a *alerts.Alert) (views.Question, bool) {
	over := a.State == alerts.StateEnded || a.State == alerts.StateResolved
	q := views.Question{Incident: a.Runbook, Subject: runbook.SubjectOfAlert(a), Alert: a.ID}
	if stands(a) {
		q.Subject = a.Subjects[0].Key
	}
	return q, a.Runbook != "" && !over
}

// stands reports whether an alert's first subject stands for all: what is asked is asked of one thing, and its source may
// have others of which something else is true.
func stands(a *alerts.Alert) bool {
	return len(a.Subjects) > 0 && a.SubjectCount > 1 && a.Subjects[0].Key.Kind != backend.KindSource &&
		slices.Contains([]string{"2", "4", "8", "container", "contradiction"}, a.Runbook)
}

// hasPage reports whether there is anything for R to show.
func (w *writer) hasPage(a *alerts.Alert) bool {
	_, local := w.f.Local[a.Rule]
	return a.Runbook != "" || local
}

func pageName(incident string) string { return strings.TrimSpace("runbook " + incident) }

// diagnosed is the diagnosis of an alert, nil while it is worked out, and whether there is one for it.
func (w *writer) diagnosed(a *alerts.Alert) (*runbook.Diagnosis, bool) {
	q, ok := Asked(a)
	return w.f.Diagnoses[q], ok
}

// concluded writes the sentence of the diagnosis of an alert.
func (w *writer) concluded(a *alerts.Alert, d *runbook.Diagnosis, asked bool) {
	switch {
	case !asked:
		if w.headed && a.Why.IsEmpty() && !w.f.Printed {
			w.Field("diagnosis", dim("The runbook has no page for this rule."))
		}
	case d == nil:
		w.Field("diagnosis", dim("The diagnosis is not ready yet."))
		w.Keep(keepDiagnosis)
	default:
		text := concise(w.conclusion(d), BareError(a.Cause.String())+" "+scope(a, w.f.Snapshot), w.f.Now)
		w.Field("diagnosis", normal(text))
		w.KeepSentences(keepDiagnosis)
	}
}

// checked writes what was confirmed, with its facts, and the rest by name.
func (w *writer) checked(d *runbook.Diagnosis) {
	names, echoes := map[runbook.Mark][]string{}, 0
	for i := range d.Checks {
		c := &d.Checks[i]
		if c.Name == runbook.AlertCheck || c.Echoes() { // the alert itself is beside it
			echoes++
			continue
		}
		if c.Mark == runbook.Confirmed {
			n := len(names[c.Mark])
			if !saysMore(c.Fact.String(), w.conclusion(d)) {
				echoes++
				continue
			}
			fact := w.once(c.Fact.String())
			if strings.HasSuffix(fact, "reports: the error above") || strings.HasSuffix(fact, "fires: the cause above") {
				echoes++
				continue
			}
			w.Field(label(n+1, "confirmed"), normal(fact))
			if n < mostKept {
				w.Keep(keepConfirmed)
			}
		}
		names[c.Mark] = append(names[c.Mark], c.Name)
	}
	if len(names[runbook.Confirmed])+echoes == 0 {
		w.Field("confirmed", dim("nothing"))
	}
	var rest []string
	if n := len(names[runbook.RuledOut]); n > 0 {
		rest = append(rest, number(n, "other cause")+" ruled out")
	}
	if n := len(names[runbook.CannotTell]); n > 0 {
		rest = append(rest, number(n, "question")+" open")
	}
	if len(rest) > 0 && !w.f.Printed {
		w.Field("checked", dim(strings.Join(rest, ", ")+": R shows them"))
	} else if len(rest) > 0 {
		w.Field("checked", dim(strings.Join(rest, ", ")))
	}
}

// mostFirst is how many warnings stand with the first step.
const mostFirst = 2

// firstSteps writes the first step and the first warnings. What the diagnosis found follows them, then furtherSteps.
func (w *writer) firstSteps(d *runbook.Diagnosis) {
	for _, s := range d.Do[:min(1, len(d.Do))] {
		w.Field("first", kit.Span{Tone: theme.Strong, Text: commandLines(s.String())})
		w.KeepSentences(keepDo)
	}
	keep := keepDont
	for _, s := range d.Dont[:min(mostFirst, len(d.Dont))] {
		w.dont(s, keep)
		keep = keepWarning
	}
}

func (w *writer) dont(s backend.Safe, keep int) {
	w.Field("don't", kit.Span{Tone: theme.Warn, Text: strings.TrimPrefix(s.String(), "Don't ")})
	w.KeepSentences(keep)
}

// furtherSteps writes the steps and warnings behind the first ones.
func (w *writer) furtherSteps(d *runbook.Diagnosis) {
	for _, s := range d.Do[min(1, len(d.Do)):] {
		w.Field("then", normal(commandLines(s.String())))
		w.Keep(keepMore)
	}
	for _, s := range d.Dont[min(mostFirst, len(d.Dont)):] {
		w.dont(s, keepMore)
	}
}

// diagnosis writes everything that a diagnosis found out.
func (w *writer) diagnosis(d *runbook.Diagnosis) {
	w.concludes(d)
	w.Blank()
	w.firstSteps(d)
	w.furtherSteps(d)
	w.warnings(d)
	w.Blank()
	w.answers(d.Checks, runbook.Confirmed, runbook.RuledOut, runbook.CannotTell)
	w.release(&d.Release)
	w.knobs(d.Knobs)
	w.sessions(d)
}

// conclusion is a diagnosis in words: foreign text is whole in what is printed, and short on a screen.
func (w *writer) conclusion(d *runbook.Diagnosis) string {
	if w.f.Printed {
		return d.Conclusion.String()
	}
	return d.Brief()
}

func (w *writer) concludes(d *runbook.Diagnosis) {
	w.Field("diagnosis", kit.Span{Tone: theme.Strong, Text: w.conclusion(d)})
	if d.Ending != "" {
		w.Field("the files", normal(string(d.Ending)))
	}
}

func (w *writer) release(r *runbook.Release) {
	if len(r.Proof) == 0 && len(r.Declared) == 0 {
		return
	}
	w.Head("The framework's release")
	for _, s := range r.Proof {
		w.Field("", normal(s.String()))
	}
	for i, s := range r.Declared {
		w.Field(label(i+1, "declared"), normal(s.String()))
	}
	if len(r.Declared) > 1 {
		w.Field("mixed", kit.Span{Tone: theme.Warn, Text: number(len(r.Declared), "version") + " run side by side"})
	}
}

// knobs writes one card for each knob: what it is, where it stands, which way to turn it and what that costs.
func (w *writer) knobs(knobs []runbook.KnobValue) {
	if len(knobs) == 0 {
		return
	}
	w.Head("Settings")
	for i, v := range knobs {
		if i > 0 {
			w.Blank()
		}
		k := &v.Knob
		w.Line(kit.Span{Tone: theme.Accent, Text: k.Name.String()}, dim("  "+k.Where.String()))
		w.Field("default", normal(k.Default.String()))
		current := dim(runbook.NotDeclared)
		if v.Declared() {
			current = kit.Span{Tone: theme.Strong, Text: v.Current.String()}
		}
		w.Field("current", current)
		w.Field("direction", normal(k.Direction.String()))
		w.Field("cost", normal(k.Cost.String()))
	}
}

func (w *writer) sessions(d *runbook.Diagnosis) {
	if d.SessionCount == 0 {
		return
	}
	w.Head(number(d.SessionCount, "session") + " with the same cause")
	for _, k := range d.Sessions {
		w.to(k)
		w.Line(normal("  " + k.Safe().String()))
	}
	if rest := d.SessionCount - len(d.Sessions); rest > 0 {
		w.Line(dim("  and " + kit.Number(rest) + " more"))
	}
}
