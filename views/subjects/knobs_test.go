package subjects

import (
	"strings"
	"testing"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/views/kit"
)

// A knob is one card: nobody has to look for its direction below its value.
func TestKnobsAreCards(t *testing.T) {
	f := frameWith()
	page, _ := runbook.Incident("7")
	var values []runbook.KnobValue
	for _, k := range page.Knobs {
		values = append(values, runbook.KnobValue{Knob: k, Current: backend.Text(runbook.NotDeclared)})
	}
	values[0].Current = backend.Text("4 (2 not declared)")
	w := &writer{Doc: &kit.Doc{}, f: f}
	w.knobs(values)
	text := strings.Join(w.Doc.Layout(f.Theme, 100), "\n")
	cards := strings.Split(text, "workspaceMaxConcurrentOpens")
	if len(cards) != 2 {
		t.Fatalf("no card of its own in\n%s", text)
	}
	card, _, _ := strings.Cut(cards[1], "maxGlobalConcurrentOpens")
	at := 0
	for _, part := range []string{"executor", "default", "unset", "current", "4 (2 not declared)", "direction", "lower it to the number", "cost", "start slower"} {
		i := strings.Index(card[at:], part)
		if i < 0 {
			t.Fatalf("%q is missing, or stands elsewhere, in the card%s", part, card)
		}
		at += i
	}
	if !strings.Contains(text, runbook.NotDeclared) {
		t.Errorf("nothing says which values are not declared:\n%s", text)
	}
}

// The page's text below a diagnosis does not repeat the knobs, and keeps everything else.
func TestAdviceHasNoKnobs(t *testing.T) {
	for _, page := range runbook.All() {
		whole, advice := page.Markdown(runbook.Local{}), page.Advice(runbook.Local{})
		if strings.Contains(advice, "## "+runbook.SectionKnobs) || !strings.Contains(whole, "## "+runbook.SectionKnobs) {
			t.Errorf("page %s: knobs in the wrong place", page.Number)
		}
		for _, s := range page.Sections {
			body := s.Body
			if s.Title.String() == runbook.SectionRefs { // its links are made absolute
				body = "## References"
			}
			if s.Title.String() != runbook.SectionKnobs && !strings.Contains(advice, body) {
				t.Errorf("page %s lost its section %s", page.Number, s.Title)
			}
		}
	}
}

// A leak is asked about one of those that share the place: its source may have another one, with other tenants.
func TestWhoStandsForAnAlert(t *testing.T) {
	one := alerts.Subject{Key: backend.Key{Kind: backend.KindWorkspace, Source: "helix", Parent: backend.MustID("s1"), ID: backend.MustID("box")}}
	place := alerts.Subject{Key: backend.Key{Kind: backend.KindSource, Source: "helix", ID: backend.MustID("helix/sandbox/one")}}
	for _, c := range []struct {
		runbook string
		first   alerts.Subject
		want    backend.Kind
	}{{"8", one, backend.KindWorkspace}, {"4", one, backend.KindWorkspace}, {"container", one, backend.KindWorkspace}, {"7", one, backend.KindSource}, {"8", place, backend.KindSource}} {
		q, _ := Asked(&alerts.Alert{Source: "helix", Runbook: c.runbook, SubjectCount: 2, Subjects: []alerts.Subject{c.first, c.first}})
		if q.Subject.Kind != c.want || c.want == backend.KindSource && q.Subject.ID != backend.MustID("helix") {
			t.Errorf("runbook %s of %v is asked about %v", c.runbook, c.first.Key, q.Subject)
		}
	}
}
