// Package alertsview is screen 1, the home screen: what is broken, why, and what to do next.
package alertsview

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/browse"
	"sandglass/views/kit"
	"sandglass/views/markdown"
	"sandglass/views/subjects"
	"sandglass/views/theme"
)

// How many subjects are listed beside the table, and below it.
const (
	besideSubjects = 20
	belowSubjects  = 5
)

// New makes the screen.
func New() views.Screen {
	set := subjects.Alerts()
	set.Of = func(c *views.Snapshot) iter.Seq[*alerts.Alert] { return slices.Values(c.InOutages()) }
	page := &prose{}
	return browse.New(browse.Config[*alerts.Alert]{
		Number: 1, Name: "Alerts", Set: set, Kinds: []backend.Kind{views.KindAlert}, Nothing: calm, Gone: subjects.GoneAlert, Steady: true,
		Under: func(c *views.Snapshot, a *alerts.Alert) bool { return c.Follows(a) },
		Above: subjects.ChangesAbove,
		Pane: func(f *views.Frame, a *alerts.Alert, room browse.Room) *kit.Doc {
			switch room {
			case browse.Beside:
				return subjects.AlertPane(a, f, besideSubjects)
			case browse.Below:
				return subjects.AlertPane(a, f, belowSubjects)
			case browse.Tight:
			}
			return subjects.AlertPane(a, f, 0)
		},
		Beneath: page.beneath,
	})
}

// prose is the text of the runbook's page as it was last laid out: parsing it for every frame would be felt.
type prose struct {
	page  subjects.Page
	at    string // platform
	theme *theme.Theme
	width int
	lines []string
}

// beneath is the runbook beside the alert: what its diagnosis found and what it could not tell, then the page.
func (p *prose) beneath(f *views.Frame, a *alerts.Alert, w, h int) []string {
	var lines []string
	if doc := subjects.Checked(a, f); doc != nil {
		lines = append(doc.Layout(f.Theme, w), kit.NewLine(f.Theme, w).String())
	}
	if page, ok := subjects.PageOf(views.AlertKey(a), f); ok {
		if at := page.Platform(f); p.page != page || p.at != at || p.theme != f.Theme || p.width != w {
			*p = prose{page, at, f.Theme, w, markdown.Render(f.Theme, page.Markdown(f), w)}
		}
		lines = append(lines, p.lines...)
	}
	if more := len(lines) - h; more > 0 {
		lines = append(lines[:h-1], kit.NewLine(f.Theme, w).End(theme.Dim, kit.Count(more+1, "more line: R ", "more lines: R ")).String())
	}
	return lines
}

// mostBlind is how many reasons why rules are not evaluated are named where nothing is wrong.
const mostBlind = 5

// calm says what the absence of alerts is worth: who was watched, and who could not be. It is good news only where all rules were evaluated.
func calm(f *views.Frame) *kit.Doc {
	doc := &kit.Doc{}
	s := f.Summary
	doc.Blank()
	head := kit.Span{Tone: theme.Good, Text: f.Theme.Mark(theme.MarkGood) + " No alert fires."}
	if unread := f.Board.Unread(f.State); len(unread) > 0 {
		head = kit.Span{Tone: theme.Warn, Text: f.Theme.Mark(theme.MarkWarn) + " No alert fires. Not read: " + few(unread) + "."}
	} else if s.BlindRule > 0 {
		head = kit.Span{Tone: theme.Strong, Text: f.Theme.Mark(theme.MarkUnknown) + " No alert fires; " + kit.Count(s.BlindRule, "rule", "rules") + " could not be evaluated."}
	}
	doc.Line(head)
	doc.Blank()
	one, many := s.Machines()
	watched := kit.Count(s.Sandboxes, one, many) + ", " + kit.Count(s.Tmpdirs, "scratch directory", "scratch directories")
	if s.Framework {
		watched = kit.Count(s.Workspaces, "workspace", "workspaces") + ", " + watched
	}
	doc.Field("watched", kit.Span{Text: watched})
	doc.Field("sources", kit.Span{Text: fmt.Sprintf("%d of %d answer", s.SourcesUp, s.Sources)})
	for _, h := range f.State.Sources {
		if h.Status == fleet.StatusAbsent {
			why, _, _ := strings.Cut(h.Error.String(), " Tried: ") // where is on 9 Sources
			doc.Field("not found", kit.Span{Text: h.Key.Source + ": " + why})
		}
	}
	label := "not evaluated"
	all := blind(f)
	for i, x := range all {
		if i == mostBlind {
			doc.Field(label, kit.Span{Text: "and " + kit.Count(len(all)-i, "other reason", "other reasons")})
			break
		}
		where := x.source
		if n := f.State.CountOf(backend.KindWorkspace, x.source); n > 0 {
			where += " (" + kit.Count(n, "workspace", "workspaces") + ")"
		}
		doc.Field(label, kit.Span{Text: named(x.rules) + " on " + where + ": " + x.why})
		label = ""
	}
	if s.BlindRule > 0 {
		doc.Field(label, kit.Span{Tone: theme.Dim, Text: "Such an alert would not fire there. 9 Sources says what would help."})
	}
	return doc
}

// lack is a reason why rules are not evaluated on a source.
type lack struct {
	source, why string
	rules       []string
}

// blind are the rules that are not evaluated, by source and reason.
func blind(f *views.Frame) (out []lack) {
	for _, x := range f.Board.Blind {
		if x.Source == "" || x.Part {
			continue
		}
		why, _, _ := strings.Cut(x.Why.String(), ": ") // what would help is on 9 Sources
		i := slices.IndexFunc(out, func(l lack) bool { return l.source == x.Source && l.why == why })
		if i < 0 {
			i, out = len(out), append(out, lack{source: x.Source, why: why})
		}
		out[i].rules = append(out[i].rules, x.Rule)
	}
	return out
}

// mostNamed is how many rules are named that lack the same.
const mostNamed = 3

// named lists the first rules and counts the others.
func named(rules []string) string {
	if more := len(rules) - mostNamed; more > 1 {
		return strings.Join(rules[:mostNamed], ", ") + " and " + kit.Number(more) + " more rules"
	}
	return strings.Join(rules, ", ")
}

// few names the first of a list and counts the others.
func few(list []backend.Safe) string {
	if more := len(list) - 1; more > 0 {
		return fmt.Sprintf("%s and %d more", list[0], more)
	}
	return list[0].String()
}
