package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// list is one of the complete lists of an expectation.
type list struct {
	what string
	want *[]string
}

func (l list) names() []string {
	if l.want == nil {
		return nil
	}
	return *l.want
}

func (e *Expect) lists() []list {
	return []list{{"pending", e.Pending}, {"firing", e.Firing}, {"held", e.Held}, {"ended", e.Ended}, {"resolved", e.Resolved}}
}

// empty reports whether an expectation would hold whatever happened.
func (e *Expect) empty() bool {
	return !slices.ContainsFunc(e.lists(), func(l list) bool { return l.want != nil }) &&
		!e.Quiet && e.Alerts == nil && e.Transitions == nil && e.Severity == "" && e.Cause == "" && e.Why == "" && len(e.Evidence) == 0
}

// compare looks at what one rule has concluded.
func (p *player) compare(step int, e Expect) {
	var of []*alerts.Alert
	for _, a := range p.board.Alerts {
		if a.Rule == e.Rule {
			of = append(of, a)
		}
	}
	differs := func(what, want, got string) {
		p.differences = append(p.differences, Difference{backend.Duration(time.Duration(step) * p.interval), e.Rule, what, want, got})
	}
	for _, l := range e.lists() {
		if l.want == nil {
			continue
		}
		got := subjectsIn(of, alerts.AlertState(l.what))
		if l.what == string(alerts.StateResolved) {
			got = nil
			for s := range p.history.resolved[e.Rule] {
				got = append(got, s)
			}
			slices.Sort(got)
		}
		want := slices.Sorted(slices.Values(*l.want))
		if !slices.Equal(want, got) {
			differs(l.what, names(want), names(got)+seenAs(of))
		}
	}
	if e.Quiet && len(of) > 0 {
		differs("alerts", "none", describe(of))
	}
	if e.Alerts != nil && *e.Alerts != len(of) {
		differs("alerts", fmt.Sprint(*e.Alerts), fmt.Sprintf("%d%s", len(of), seenAs(of)))
	}
	if e.Transitions != nil {
		if want, got := transitions(*e.Transitions, p.history.transitions[e.Rule]); want != got {
			differs("transitions", want, got)
		}
	}
	p.compareTexts(of, e, differs)
}

// compareTexts looks at what the alerts of a rule say.
func (p *player) compareTexts(of []*alerts.Alert, e Expect, differs func(what, want, got string)) {
	if len(of) == 0 && (e.Severity != "" || e.Cause != "" || e.Why != "" || len(e.Evidence) > 0) {
		differs("alerts", "one that says what is expected", "none")
		return
	}
	for _, a := range of {
		if e.Why != "" && a.Why.IsEmpty() {
			differs("why", e.Why, "nothing is missing and nothing has to be decided")
			continue
		}
		if e.Severity != "" && string(a.Severity) != e.Severity {
			differs("severity", e.Severity, string(a.Severity))
		}
		if !strings.Contains(a.Cause.String(), e.Cause) {
			differs("cause", e.Cause, a.Cause.String())
		}
		if !strings.Contains(a.Why.String(), e.Why) {
			differs("why", e.Why, a.Why.String())
		}
		var lines []string
		for _, l := range a.Evidence {
			lines = append(lines, l.Text.String())
		}
		for _, want := range e.Evidence {
			if !strings.Contains(strings.Join(lines, "\n"), want) {
				differs("evidence", want, strings.Join(lines, "; "))
			}
		}
	}
}

func subjectsIn(of []*alerts.Alert, s alerts.AlertState) []string {
	var out []string
	for _, a := range of {
		for _, x := range a.Subjects {
			if x.State == s {
				out = append(out, name(x.Key))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// transitions writes both lists alike: with its offset where the expectation gives one.
func transitions(want []string, got []transition) (string, string) {
	var out []string
	for i, t := range got {
		word := t.name
		if i < len(want) && strings.Contains(want[i], " ") {
			word = text(t.at) + " " + t.name
		}
		out = append(out, word)
	}
	return names(want), names(out)
}

func names(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

func seenAs(of []*alerts.Alert) string {
	if len(of) == 0 {
		return ""
	}
	return " (" + describe(of) + ")"
}

// describe says what the alerts are, in the order of the screen.
func describe(of []*alerts.Alert) string {
	var out []string
	for _, a := range of {
		var subjects []string
		for i, x := range a.Subjects {
			if i == 5 {
				subjects = append(subjects, fmt.Sprintf("and %d more", a.SubjectCount-5))
				break
			}
			subjects = append(subjects, fmt.Sprintf("%s %s", x.Label, x.State))
		}
		line := fmt.Sprintf("%s: %s", a.State, strings.Join(subjects, ", "))
		if !a.Why.IsEmpty() {
			line += "; " + a.Why.String()
		}
		out = append(out, line)
	}
	return strings.Join(out, " | ")
}
