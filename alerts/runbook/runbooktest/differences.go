// Package runbooktest compares the runbook's pages with the alerts beside them. Tests of rules, scenarios and noise use it.
package runbooktest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// Differences lists what the page of an alert says against it, asked about its source and about its first subjects.
func Differences(st *fleet.State, b *alerts.Board, a *alerts.Alert) (out []string) {
	if a.Runbook == "" || a.State != alerts.StateFiring && a.State != alerts.StatePending {
		return nil
	}
	asked := []backend.Key{runbook.SubjectOfAlert(a)}
	for i := range a.Subjects[:min(len(a.Subjects), 2)] {
		if a.Subjects[i].State == a.State && !slices.Contains(asked, a.Subjects[i].Key) {
			asked = append(asked, a.Subjects[i].Key)
		}
	}
	for _, k := range asked {
		p := page{st: st, board: b, alert: a, about: k, Diagnosis: runbook.Case{State: st, Board: b, Subject: k, Alert: a.ID, Events: st.Events}.Diagnose(a.Runbook)}
		p.words()
		p.spans()
		p.leads()
		if a.State == alerts.StateFiring {
			p.affirms()
			p.figures()
			p.ruledOut()
			p.refusedElsewhere()
		}
		out = append(out, p.found...)
	}
	return out
}

// page is a diagnosis beside the alert that leads to it.
type page struct {
	runbook.Diagnosis
	st    *fleet.State
	board *alerts.Board
	alert *alerts.Alert
	about backend.Key
	found []string
}

func (p *page) say(format string, args ...any) {
	p.found = append(p.found, fmt.Sprintf("%s of %s, page %s about %s: ", p.alert.Rule, p.alert.Source, p.alert.Runbook, p.about.Safe())+fmt.Sprintf(format, args...))
}

// oddNumber finds figures that no person writes.
var oddNumber = regexp.MustCompile(`(?:^|[ (])\d+(\.\d+)?[eE][-+]\d+\b|\b(\d+[smhd]) to (\d+[smhd]) ago|\b0 failed attempts|\b1 (entries|workspaces|sessions|subjects|errors)\b|\bof 1 workspace are\b|NaN|Inf\b`)

// oddHints are parts of what oddNumber finds: a text without any of them needs no search.
var oddHints = []string{"e+", "e-", "E+", "E-", " ago", "0 failed attempts", "1 entries", "1 workspace", "1 sessions", "1 subjects", "1 errors", "NaN", "Inf"}

func (p *page) words() {
	for i := range p.Checks {
		text := p.Checks[i].Fact.String()
		if !slices.ContainsFunc(oddHints, func(hint string) bool { return strings.Contains(text, hint) }) {
			continue
		}
		if odd := oddNumber.FindString(text); odd != "" {
			p.say("%q in %s: %s", odd, p.Checks[i].Name, p.Checks[i].Fact)
		}
	}
}

// wholeHour finds claims about an hour.
var wholeHour = regexp.MustCompile(`(in|of) the (last|past) hour`)

// spans finds claims about an hour by a source that was not watched for that long.
func (p *page) spans() {
	for i := range p.Checks {
		c := &p.Checks[i]
		h := p.st.Source(c.Source)
		if h != nil && !h.FirstTry.IsZero() && p.st.Wall.Sub(h.FirstTry) < 50*time.Minute && c.Mark == runbook.RuledOut && wholeHour.MatchString(c.Fact.String()) {
			p.say("check %s speaks of an hour and %s is read since %s: %s", c.Name, c.Source, backend.Age(p.st.Wall.Sub(h.FirstTry)), c.Fact)
		}
	}
}

// more ends a list that is not told whole.
var more = regexp.MustCompile(`; \d+ more`)

// leads wants the alert, its cause, its subjects and its figures as the first fact.
func (p *page) leads() {
	a := p.alert
	if len(p.Checks) == 0 {
		p.say("there are no checks")
		return
	}
	told := ""
	for i := range p.Checks {
		if p.Checks[i].Name == runbook.AlertCheck {
			told = p.Checks[i].Fact.String()
		}
	}
	crowded := more.MatchString(told)
	switch {
	case told == "":
		p.say("the alert is not among the facts")
	case crowded:
		return
	case p.Checks[0].Name != runbook.AlertCheck && a.State == alerts.StateFiring:
		p.say("the first fact is %s: %s", p.Checks[0].Name, p.Checks[0].Fact)
	case !strings.Contains(told, a.Rule), !strings.Contains(told, a.Cause.String()):
		p.say("the rule and the cause %q are not told: %s", a.Cause, told)
	}
	if n := fmt.Sprint(a.SubjectCount, " "); a.SubjectCount > 1 && !strings.Contains(strings.ReplaceAll(told, ",", ""), n) && !crowded && a.Subjects[0].Key.Kind != backend.KindSource {
		p.say("the %d subjects are not told: %s", a.SubjectCount, told)
	}
	for i := range a.Evidence {
		e := &a.Evidence[i]
		subjects := strings.Contains(e.Text.String(), " with this cause in ") || strings.HasSuffix(e.Text.String(), ": "+a.Cause.String()) // counted above
		if e.Value.IsKnown() && i < 2 && !subjects && !strings.Contains(told, e.Text.String()) && a.State == alerts.StateFiring {
			p.say("the figure %q is not told: %s", e.Text, told)
		}
	}
}

// asksTheSame is the check of a page that asks what the rule says; it is confirmed while the rule fires.
var asksTheSame = map[string]string{
	"failed-too-long": "failed", "hammered-and-failing": "failed", "reset-loop": "failed", "error-burst": "failed", "error-chaos": "failed", "capability-mismatch": "failed",
	"eviction-storm": "storm", "evicted-sustained": "evicted", "misclassified-transient": "permanent", "restart-storm": "rollout", "capacity": "quota", "agent-oom": "agent-oom",
	"wont-terminate": "over", "tmpdir-pileup": "pile", "tmpdir-orphaned": "pile", "tmpdir-close-failed": "close-failed", "tmpdir-root-unusable": "root", "audit-saturation": "flood",
	"source-down": "down", "source-stale": "old", "source-open": "exposed", "clock-skew": "clock", "registry-not-published": "unpublished", "host-oom": "host-memory",
}

// denies is how conclusions say that there is no such trouble, and deniesFact how facts do.
var (
	denies     = regexp.MustCompile(`^(No |Nothing that|Cannot tell|Rejections are few|It is in use|It has ended)|[Tt]he data does not show|recover or are few`)
	deniesFact = regexp.MustCompile(`none of .* fails|no entry is failed|no such line|none of .* is evicted|recover or are few`)
)

// affirms wants what the alert says confirmed, and not denied beside it.
func (p *page) affirms() {
	x := asksTheSame[p.alert.Rule]
	if x == "failed" && strings.Contains(p.alert.Cause.String(), "longer than longest_operation") {
		x = "long-attempt"
	}
	if x == "over" && strings.HasPrefix(p.alert.Cause.String(), "no list ") {
		x = "" // whether the session is over is what the alert does not know
	}
	if x == "quota" && (strings.Contains(p.alert.Cause.String(), "not your limit") ||
		!slices.ContainsFunc(p.alert.Evidence, func(e alerts.Evidence) bool { return strings.Contains(e.Text.String(), "refused") })) {
		x = "" // nothing was refused by a limit
	}
	for i := range p.Checks {
		c := &p.Checks[i]
		same := x == c.Name && (p.alert.Runbook != "6" || x != "failed") && (p.alert.Runbook != "7" || slices.Contains([]string{"storm", "evicted", "permanent", "rollout", "quota"}, x))
		if same && c.Mark != runbook.Confirmed {
			p.say("check %s is %s: %s", c.Name, c.Mark, c.Fact)
		}
		if same && deniesFact.MatchString(c.Fact.String()) {
			p.say("check %s denies beside it: %s", c.Name, c.Fact)
		}
	}
	if text := p.Conclusion.String(); denies.MatchString(text) && !strings.HasPrefix(text, "No cause has a majority") && !strings.HasPrefix(text, "No list ever named ") {
		p.say("it concludes: %s", text)
	}
	if x == "long-attempt" && p.about.Kind == backend.KindWorkspace && regexp.MustCompile(`lastError|cannot be used`).MatchString(p.Conclusion.String()+backend.Join(p.Do, " ").String()) {
		p.say("nothing failed, and it says: %s %s", p.Conclusion, backend.Join(p.Do, " "))
	}
}

// limits finds thresholds, rate figures a second, and evicted how many workspaces are.
var (
	limits  = regexp.MustCompile(`the alert needs [\d.,]+ [a-z ]+`)
	rate    = regexp.MustCompile(`([\d.,]+) (?:evictions|rejections|rejected commands)(?: a second|/s)|evictions ([\d.,]+)/s`)
	evicted = regexp.MustCompile(`(\d+) of (\d+) workspaces? (is|are) evicted now|(\d+) of (\d+) are evicted now`)
)

// figures wants figures of the kinds that an alert measured to be those of an alert.
func (p *page) figures() {
	told := ""
	for i := range p.Checks {
		c := &p.Checks[i]
		if text := c.Fact.String(); !strings.Contains(text, "evict") && !strings.Contains(text, "rejec") {
			continue // what both find
		}
		for _, find := range []*regexp.Regexp{rate, evicted} {
			for _, m := range find.FindAllStringSubmatch(limits.ReplaceAllString(c.Fact.String(), ""), -1) {
				if told == "" { // few pages have such figures
					told = toldBy(p.board)
				}
				if !find.MatchString(told) {
					break
				}
				for _, n := range m[1:] {
					if n != "" && strings.Trim(n, "isare") != "" && !backend.HoldsWord(told, n) {
						p.say("check %s has %q, which the alert does not: %s", c.Name, m[0], c.Fact)
					}
				}
			}
		}
	}
}

// toldBy is what all alerts say.
func toldBy(b *alerts.Board) string {
	var out strings.Builder
	for _, a := range b.Alerts {
		for i := range a.Evidence {
			out.WriteString(a.Evidence[i].Text.String() + " ")
		}
		out.WriteString(a.Cause.String() + " " + a.Why.String() + " ")
	}
	return out.String()
}

// unread is how facts say that something was not read.
var unread = regexp.MustCompile(`not counted by any source|no workspace reports an error|(is|are|was|were) not (known|read)|w(as|ere) not seen|read once|nothing (says|tells)|cannot be read`)

// ruledOut wants a reading behind each "ruled out".
func (p *page) ruledOut() {
	exhausted := false
	for i := range p.alert.Evidence {
		exhausted = exhausted || strings.Contains(p.alert.Evidence[i].Text.String(), "retry exhausted")
	}
	for i := range p.Checks {
		c := &p.Checks[i]
		switch {
		case c.Mark != runbook.RuledOut:
		case unread.MatchString(c.Fact.String()) && c.Name != "drained":
			p.say("check %s is ruled out without a reading: %s", c.Name, c.Fact)
		case exhausted && c.Name == "retries":
			p.say("check %s is ruled out beside exhausted retries: %s", c.Name, c.Fact)
		}
	}
}

// refusedElsewhere finds advice that another page about the same subject refuses, where the reason is not given.
func (p *page) refusedElsewhere() {
	pages := map[string]bool{}
	for _, a := range p.board.Alerts {
		if a.State == alerts.StateFiring && a.Runbook != "" && a.Runbook != p.Incident && slices.ContainsFunc(a.Subjects, func(x alerts.Subject) bool { return x.Key == p.about }) {
			pages[a.Runbook] = true
		}
	}
	for n := range pages {
		other := runbook.Diagnose(n, p.st, p.board, p.about)
		for _, verb := range []string{"reset", "destroy", "restart"} {
			refused := verb == "reset" && !other.NoReset.IsEmpty()
			for _, line := range other.Dont {
				refused = refused || strings.HasPrefix(strings.ToLower(line.String()), "don't "+verb) && !strings.Contains(line.String(), " to get rid ")
			}
			for _, line := range p.Do {
				text := strings.ToLower(line.String())
				if refused && backend.HoldsWord(text, verb) && !strings.Contains(text, "not yet") && (verb != "reset" || p.NoReset.IsEmpty()) {
					p.say("it says %q, which page %s refuses", line, n)
				}
			}
		}
	}
}
