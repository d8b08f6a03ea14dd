package runbook

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// grouped is an alert about several cloud sandboxes, and those sandboxes; of the first `tried` a probe listed the directory and ran a command.
func grouped(rule string, n, tried int) (world, *alerts.Alert) {
	a := &alerts.Alert{ID: "x", Rule: rule, Source: "docker", Runbook: "contradiction", State: alerts.StateFiring, Cause: backend.Text("its cause"), Confirmed: now, SubjectCount: n}
	w := world{board: &alerts.Board{Alerts: []*alerts.Alert{a}}}
	for i := range n {
		name := fmt.Sprint("b", i)
		a.Subjects = append(a.Subjects, alerts.Subject{Key: sbKey(name), State: alerts.StateFiring, Detail: a.Cause})
		w.sandboxes = append(w.sandboxes, box(name, "", func(b *backend.Sandbox) {
			b.Provider, b.Region, b.Reported, b.LifecycleAt = backend.Text("blaxel"), backend.Text("us-pdx-1"), backend.Text("DEPLOYED RUNNING"), before(time.Second)
			if i < tried {
				b.Observed = backend.Known(backend.Observation{Verdicts: []backend.Verdict{
					{Plane: backend.PlaneList, Outcome: backend.OutcomeOK, At: now}, {Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: now},
					{Plane: backend.PlaneControl, Outcome: backend.OutcomeOK, At: now, Inside: &backend.Inside{At: now, Answered: true}},
				}})
			}
		}))
	}
	return w, a
}

// TestAGroupCountsItself: the page of an alert about many sandboxes says that it is many, whatever the rule; of two it says that.
func TestAGroupCountsItself(t *testing.T) {
	for _, c := range []struct {
		rule  string
		n     int
		state alerts.AlertState
		mark  Mark
		fact  string
	}{
		{"public-preview", 3, alerts.StateFiring, Confirmed, "3 sandboxes in its alert"},
		{"sandbox-expiring", 5, alerts.StateFiring, Confirmed, "5 sandboxes in its alert"},
		{"runaway-process", 2, alerts.StateFiring, RuledOut, "2 sandboxes in its alert; two are not many"},
		{"runaway-process", 4, alerts.StatePending, CannotTell, "4 sandboxes in its alert, and not decided yet"},
		{"public-preview", 1, alerts.StateFiring, RuledOut, "no other alert tells the same"},
	} {
		w, a := grouped(c.rule, c.n, 0)
		a.State = c.state
		pages := map[string]Diagnosis{"of the alert": w.page(a)}
		if c.n > 1 {
			first := w.about(sbKey("b0"))
			first.Alert = a.ID
			pages["of its first"] = first.Diagnose(a.Runbook)
		}
		for which, d := range pages {
			want(t, d, map[string]Mark{"many": c.mark})
			for _, k := range d.Checks {
				if k.Name == "many" && k.Fact.String() != c.fact {
					t.Errorf("%s of %d, the page %s: %s", c.rule, c.n, which, k.Fact)
				}
			}
		}
	}
}

// TestOneOfAGroupDisprovesNothingOfTheOthers: a cause is ruled out on the page of several sandboxes where it is disproved of each.
func TestOneOfAGroupDisprovesNothingOfTheOthers(t *testing.T) {
	checks := []string{"missing", "commands", "planes", "runaway"}
	for _, c := range []struct {
		tried, more int
		mark        Mark
		fact        string
	}{
		{3, 0, RuledOut, ""},
		{1, 0, CannotTell, "; that tells nothing of b1"},
		{3, 4, CannotTell, "; that tells nothing of 4 other sandboxes that the alert counts"},
	} {
		w, a := grouped("public-preview", 3, c.tried)
		a.SubjectCount += c.more
		d := w.page(a)
		for _, name := range checks {
			if c.tried == 3 && c.more == 0 && name == "planes" {
				continue // a plane that was not tried stays open
			}
			for _, k := range d.Checks {
				if k.Name != name {
					continue
				}
				if k.Mark != c.mark || name == "missing" && !strings.HasSuffix(k.Fact.String(), c.fact) {
					t.Errorf("tried in %d: %s: %s: %s (%s)", c.tried, name, k.Mark, k.Fact, k.WouldTell)
				}
			}
		}
	}
}

// TestAPendingMemberIsNotSaidToFire: the page of a sandbox that is pending in an alert which fires for others says so.
func TestAPendingMemberIsNotSaidToFire(t *testing.T) {
	w, a := grouped("runaway-process", 2, 0)
	a.SubjectCount, a.Pending = 1, 1
	a.Subjects[1].State = alerts.StatePending
	for name, says := range map[string]string{"b0": "runaway-process fires for b0", "b1": "runaway-process is pending for b1"} {
		d := w.about(sbKey(name)).Diagnose("contradiction")
		if got := factOf(t, d, AlertCheck); !strings.HasPrefix(got, says) {
			t.Errorf("the page of %s: %s", name, got)
		}
	}
}
