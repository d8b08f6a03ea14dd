package scenario_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sandglass/alerts"
	"sandglass/alerts/rules"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestDiagnosesAgreeWithTheirAlerts plays every scenario with all rules and compares the page of each alert that fires with
// the alert.
func TestDiagnosesAgreeWithTheirAlerts(t *testing.T) {
	compared := map[string]bool{}
	for _, f := range files(t) {
		for i := range f.Scenarios {
			s := f.Scenarios[i]
			all := rules.Defaults()
			s.Rules = nil
			for _, r := range all {
				s.Rules = append(s.Rules, r.Meta().Name)
			}
			told := map[string]bool{}
			if err := s.RunSeen(all, func(st *fleet.State, b *alerts.Board) {
				for _, a := range b.Alerts {
					if a.State != alerts.StateFiring || a.Runbook == "" {
						continue
					}
					compared[a.Rule] = true
					for _, what := range disagreements(st, b, a) {
						if !told[a.Rule+what] {
							told[a.Rule+what] = true
							t.Errorf("%s, %q: %s", f.Name, s.Name, what)
						}
					}
				}
			}); err != nil {
				t.Error(err)
			}
		}
	}
	if len(compared) < 8 {
		t.Errorf("alerts of %d rules only were compared: %v", len(compared), compared)
	}
}

// asksTheSame is the check of a page that asks what the rule says; it is confirmed while the rule fires.
var asksTheSame = map[string]string{
	"failed-too-long": "failed", "hammered-and-failing": "failed", "reset-loop": "failed", "error-burst": "failed", "error-chaos": "failed", "capability-mismatch": "failed",
	"eviction-storm": "storm", "evicted-sustained": "evicted", "misclassified-transient": "permanent", "restart-storm": "rollout", "capacity": "quota", "agent-oom": "agent-oom",
	"wont-terminate": "over", "tmpdir-pileup": "pile", "tmpdir-orphaned": "pile", "tmpdir-close-failed": "close-failed", "tmpdir-root-unusable": "root", "audit-saturation": "flood",
	"source-down": "down", "source-stale": "old", "clock-skew": "clock", "registry-not-published": "unpublished", "host-oom": "host-memory",
}

// denies is how pages say that there is no such trouble.
var denies = regexp.MustCompile(`^(No |Nothing|Cannot tell|Rejections are few|It is in use|It has ended)|[Nn]o reading shows|recover or are few`)

// disagreements compares an alert that fires with its page, asked about its source and about its first subjects.
func disagreements(st *fleet.State, b *alerts.Board, a *alerts.Alert) (out []string) {
	asked := []backend.Key{runbook.SubjectOfAlert(a)}
	for i := range a.Subjects[:min(len(a.Subjects), 2)] {
		if a.Subjects[i].State == alerts.StateFiring {
			asked = append(asked, a.Subjects[i].Key)
		}
	}
	for _, k := range asked {
		d := runbook.Diagnose(a.Runbook, st, b, k)
		say := func(format string, args ...any) {
			out = append(out, fmt.Sprintf("%s of %s, page %s about %s: ", a.Rule, a.Source, a.Runbook, k.Safe())+fmt.Sprintf(format, args...))
		}
		told := ""
		for i := range d.Checks {
			c := &d.Checks[i]
			if c.Name == "alert" && c.Mark == runbook.Confirmed {
				told = c.Fact.String()
			}
			if x := asksTheSame[a.Rule]; (a.Runbook != "6" || x != "failed") && a.Runbook != "7" && x == c.Name && c.Mark != runbook.Confirmed {
				say("check %s is %s: %s", c.Name, c.Mark, c.Fact)
			}
			if odd := oddNumber.FindString(c.Fact.String()); odd != "" {
				say("%q in %s", odd, c.Fact)
			}
		}
		if told == "" {
			say("the alert is not among the facts")
		}
		if first := b.Alerts[slices.Index(b.Alerts, a)]; !strings.Contains(told, first.Cause.String()) && !strings.Contains(told, "more") {
			say("the cause %q is not told: %s", first.Cause, told)
		}
		if n := fmt.Sprint(a.SubjectCount, " "); a.SubjectCount > 1 && !strings.Contains(told, n) && !strings.Contains(told, "more") && a.Subjects[0].Key.Kind != backend.KindSource {
			say("the %d subjects are not told: %s", a.SubjectCount, told)
		}
		if denies.MatchString(d.Conclusion.String()) && !strings.HasPrefix(d.Conclusion.String(), "No cause has a majority") {
			say("it concludes: %s", d.Conclusion)
		}
		out = append(out, refusedElsewhere(st, b, k, d)...)
	}
	return out
}

// oddNumber finds figures that no person writes.
var oddNumber = regexp.MustCompile(`\d[eE][-+]\d+|\b(\d+[smhd]) to (\d+[smhd]) ago|\b0 failed attempts`)

// refusedElsewhere lists the advice of a page which another page about the same subject refuses, where the reason is not given.
func refusedElsewhere(st *fleet.State, b *alerts.Board, k backend.Key, d runbook.Diagnosis) (out []string) {
	pages := map[string]bool{}
	for _, a := range b.Alerts {
		if a.State == alerts.StateFiring && a.Runbook != "" && a.Runbook != d.Incident && slices.ContainsFunc(a.Subjects, func(x alerts.Subject) bool { return x.Key == k }) {
			pages[a.Runbook] = true
		}
	}
	for n := range pages {
		other := runbook.Diagnose(n, st, b, k)
		for _, verb := range []string{"reset", "destroy", "restart"} {
			refused := verb == "reset" && !other.NoReset.IsEmpty()
			for _, line := range other.Dont {
				refused = refused || strings.HasPrefix(strings.ToLower(line.String()), "don't "+verb) && !strings.Contains(line.String(), " to get rid ")
			}
			for _, line := range d.Do {
				text := strings.ToLower(line.String())
				if refused && backend.HoldsWord(text, verb) && !strings.Contains(text, "not yet") && (verb != "reset" || d.NoReset.IsEmpty()) {
					out = append(out, fmt.Sprintf("page %s says %q, which page %s refuses", d.Incident, line, n))
				}
			}
		}
	}
	return out
}

// agrees compares the page of an alert that begins to fire with it.
func (r *noisyRun) agrees(st *fleet.State, a *alerts.Alert) {
	if a.Runbook == "" || r.firing[a.ID] {
		return
	}
	for _, what := range disagreements(st, r.board, a) {
		r.t.Errorf("at %s: %s", st.Wall.Format("15:04:05"), what)
	}
}
