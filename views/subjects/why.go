package subjects

import (
	"slices"
	"strings"
	"time"

	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// Why describes a subject as Doc does, with the answers of its runbook page where Doc points to the page; nil: without.
func Why(key backend.Key, f *views.Frame, page *Page) *kit.Doc {
	w := &writer{Doc: &kit.Doc{}, f: withLast(key, f), headed: true, page: page, home: key.Source}
	w.unread(key)
	if !kindOf(key.Kind).details(w, key) {
		w.gone(key)
		w.pageHere()
	}
	return w.Doc
}

// answered is the diagnosis that the document holds whole, nil where it holds none.
func (w *writer) answered() *runbook.Diagnosis {
	if w.page == nil {
		return nil
	}
	return w.f.Diagnoses[w.page.Question]
}

// pageHere writes what the page says about a subject: what to do, why, and the settings.
func (w *writer) pageHere() {
	d := w.answered()
	if d == nil {
		return
	}
	w.Head(headDo)
	w.firstSteps(d)
	w.warnings(d)
	w.Head(headWhy)
	if w.page.Rule == "" {
		w.Line(dim(w.page.Why))
	}
	w.concludes(d)
	w.examined(d, runbook.Confirmed, runbook.RuledOut, runbook.CannotTell)
	w.Under(headThen, func() { w.furtherSteps(d) })
	w.settings(d)
}

// examined writes the checks of a diagnosis, without those that repeat the alert beside them.
func (w *writer) examined(d *runbook.Diagnosis, marks ...runbook.Mark) {
	var rest []runbook.Check
	for i := range d.Checks {
		if c := &d.Checks[i]; c.Name != runbook.AlertCheck && !(c.Echoes() && w.page.Alert != "") {
			rest = append(rest, *c)
		}
	}
	w.answers(rest, marks...)
}

// settings writes what the page says of the release and of the settings.
func (w *writer) settings(d *runbook.Diagnosis) {
	w.release(&d.Release)
	w.knobs(d.Knobs)
}

// group are checks with one answer.
type group struct {
	first *runbook.Check
	would []string

	questions []string
}

// grouped are the checks of a mark, those with the same fact together.
func grouped(checks []runbook.Check, mark runbook.Mark) []*group {
	var out []*group
	for i := range checks {
		c := &checks[i]
		if c.Mark != mark {
			continue
		}
		at := slices.IndexFunc(out, func(g *group) bool {
			return !c.Fact.IsEmpty() && g.first.Fact == c.Fact && g.first.Source == c.Source
		})
		if at < 0 {
			at, out = len(out), append(out, &group{first: c})
		}
		g := out[at]
		g.questions = append(g.questions, c.Question.String())
		if s := c.WouldTell.String(); s != "" && !slices.Contains(g.would, s) {
			g.would = append(g.would, s)
		}
	}
	return out
}

// answers writes the questions whose answers have one of the marks, grouped by mark.
func (w *writer) answers(checks []runbook.Check, marks ...runbook.Mark) {
	for _, mark := range marks {
		label := string(mark)
		for _, g := range grouped(checks, mark) {
			w.check(label, g)
			label = ""
		}
	}
}

// check writes a question, its answer, and where that is from.
func (w *writer) check(mark string, g *group) {
	c, tone := g.first, theme.Normal
	switch c.Mark {
	case runbook.Confirmed:
		tone = theme.Bad
	case runbook.CannotTell:
		tone = theme.Dim
	case runbook.RuledOut:
	}
	folds := len(g.questions) > 1 && c.Mark == runbook.CannotTell && !c.Fact.IsEmpty()
	switch {
	case folds: // the reason first: who reads it need not read on
		w.Field(mark, normal(w.once(c.Fact.String())), dim(w.from(c)+": "+strings.Join(g.questions, " ")))
	case len(g.questions) > 1 && c.Mark != runbook.Confirmed:
		w.Field(mark, kit.Span{Tone: tone, Text: strings.Join(g.questions, " ")})
	default:
		for _, q := range g.questions {
			w.Field(mark, kit.Span{Tone: tone, Text: q})
			mark = ""
		}
	}
	if !c.Fact.IsEmpty() && !folds {
		w.Field("", normal("- "+w.once(c.Fact.String())), dim(w.from(c)))
	}
	if len(g.would) > 0 {
		w.Field("", dim("- would tell: "+strings.Join(g.would, "; ")))
	}
}

// from says which source reported a fact, and how old it is where that is not plain.
func (w *writer) from(c *runbook.Check) string {
	h := w.f.State.Source(c.Source)
	if c.Source == "" || h == nil {
		return ""
	}
	s := ""
	if w.home != c.Source {
		s = "  " + c.Source
	}
	if age := w.f.Now.Sub(c.At); !c.At.IsZero() && age >= max(2*w.f.Interval(c.Source), minuteOld) {
		s += "  " + backend.Age(age) + " ago"
	}
	return s
}

// minuteOld is from when on the age of a fact is told.
const minuteOld = time.Minute
