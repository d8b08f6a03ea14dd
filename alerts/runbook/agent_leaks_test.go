package runbook

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestThePageOfManyAgentLeaks asks of each what the page of one asks, advises as that does where all agree, and tells that they differ.
func TestThePageOfManyAgentLeaks(t *testing.T) {
	ids := []string{"a0000000-0001-4000-8000-000000000000", "a0000000-0002-4000-8000-000000000000"}
	names := []string{"agents-a00000000001", "agents-a00000000002"}
	for name, c := range map[string]struct {
		cause     string
		pause     []bool
		listed    int
		checks    map[string]Mark
		concludes string
		first     string
	}{
		"leaked": {"it leaked: the end of its session deletes it, its saved state says", []bool{false, false}, 2, map[string]Mark{"over": Confirmed, "up": Confirmed, "destroy-on-close": Confirmed, "kept": RuledOut}, "2 sandboxes leaked: the end of each session should have deleted it.",
			"Rescue the files that matter: sandglass rescue agents-a00000000001."},
		"kept":   {"it is kept after its session, and still runs", []bool{true, true}, 2, map[string]Mark{"over": Confirmed, "kept": Confirmed, "destroy-on-close": RuledOut}, "2 sandboxes are kept after their sessions.", "See what keeps each awake"},
		"differ": {"its session is over", []bool{false, true}, 2, map[string]Mark{"over": Confirmed, "kept": CannotTell, "destroy-on-close": CannotTell}, "2 sandboxes differ, or not all is known of them.", "Ask about each, such as the first: sandglass why agents-a00000000001"},
		"cut":    {"it leaked: the end of its session deletes it, its saved state says", []bool{false, false}, 30, map[string]Mark{"over": Confirmed}, "2 of 30 sandboxes leaked", "Rescue the files"},
	} {
		a := &alerts.Alert{ID: "x", Rule: "wont-terminate", Source: "docker", Runbook: "4", State: alerts.StateFiring, Cause: backend.Clean(c.cause, 100), Confirmed: now, SubjectCount: c.listed}
		w := world{board: &alerts.Board{Alerts: []*alerts.Alert{a}}}
		for i, id := range ids {
			a.Subjects = append(a.Subjects, alerts.Subject{Key: sbKey(names[i]), State: alerts.StateFiring})
			w.sessions = append(w.sessions, session(id, false))
			w.sandboxes = append(w.sandboxes, box(names[i], "", func(b *backend.Sandbox) {
				b.Provider, b.Region, b.Power, b.Reported, b.CreatedAt = backend.Text("blaxel"), backend.Text("us-pdx-1"), backend.Text("RUNNING"), backend.Text("DEPLOYED RUNNING"), at(3*time.Hour)
			}))
			w.saved = append(w.saved, savedRef(id, backend.NotApplicable[int](), func(r *backend.Ref) {
				r.Sandbox, r.SavedAt, r.Provider = backend.MustID(names[i]), at(time.Hour), backend.Text("blaxel")
				r.Agent = &backend.AgentState{PauseOnExit: backend.Known(c.pause[i])}
			}))
		}
		d := w.page(a)
		want(t, d, c.checks)
		if !strings.HasPrefix(d.Conclusion.String(), c.concludes) || len(d.Do) == 0 || !strings.HasPrefix(d.Do[0].String(), c.first) {
			t.Errorf("%s: %s: %v", name, d.Conclusion, d.Do)
		}
		for _, x := range d.Checks {
			if strings.Contains(" close-timeout image-version restart-policy awaiting-sleep ", " "+x.Name+" ") {
				t.Errorf("%s: asks of another platform: %s", name, x.Question)
			}
		}
	}
}

// TestWaitingIsAdvisedOrNot: a page says to wait while a sandbox may end by itself, and never beside that nothing is to be waited for.
func TestWaitingIsAdvisedOrNot(t *testing.T) {
	for _, failed := range []bool{false, true} {
		for _, n := range []int{1, 2} {
			a := &alerts.Alert{ID: "x", Rule: "wont-terminate", Source: "docker", Runbook: "4", State: alerts.StatePending, Cause: backend.Text("it leaked: the end of its session deletes it, its saved state says"),
				Why: backend.Text("fires when it still runs at 12:02:00Z"), Confirmed: now, SubjectCount: n}
			w := world{board: &alerts.Board{Alerts: []*alerts.Alert{a}}}
			for i := range n {
				id, name := fmt.Sprintf("a0000000-000%d-4000-8000-000000000000", i+1), fmt.Sprintf("agents-a0000000000%d", i+1)
				a.Subjects = append(a.Subjects, alerts.Subject{Key: sbKey(name), State: alerts.StatePending})
				w.sessions = append(w.sessions, session(id, false))
				w.sandboxes = append(w.sandboxes, box(name, "", func(b *backend.Sandbox) {
					b.Provider, b.Region, b.Power, b.Reported, b.CreatedAt = backend.Text("blaxel"), backend.Text("us-pdx-1"), backend.Text("RUNNING"), backend.Text("DEPLOYED RUNNING"), at(3*time.Hour)
					if failed {
						b.Class, b.Reported = backend.SandboxRemoving, backend.Text("DELETING")
					}
				}))
				w.saved = append(w.saved, savedRef(id, backend.NotApplicable[int](), func(r *backend.Ref) {
					r.Sandbox, r.SavedAt, r.Provider = backend.MustID(name), at(time.Hour), backend.Text("blaxel")
					r.Agent = &backend.AgentState{PauseOnExit: backend.Known(false)}
				}))
			}
			d := w.page(a)
			wait, dont := strings.HasPrefix(d.Do[0].String(), "Wait: it may end by itself."), anyHas(d.Dont, "Don't wait")
			if wait == failed || wait && dont || len(d.Dont) == 0 {
				t.Errorf("failed %t, %d: %v\n%v", failed, n, d.Do, d.Dont)
			}
		}
	}
}

// TestASandboxOfASessionInNoListHasStepsOfItsOwn: not those of a restore. Where a restore failed too, its owner comes first, and its
// files before a destroy.
func TestASandboxOfASessionInNoListHasStepsOfItsOwn(t *testing.T) {
	const id, name = "a0000000-0001-4000-8000-000000000000", "agents-a00000000001"
	for _, rule := range []string{"", "persist-failed", "hydrate-failed"} {
		a := &alerts.Alert{ID: "x", Rule: "wont-terminate", Source: "docker", Runbook: "4", State: alerts.StateFiring, Cause: backend.Text("no list names its session"), Confirmed: now,
			Subjects: []alerts.Subject{{Key: sbKey(name), State: alerts.StateFiring}}, SubjectCount: 1}
		w := world{board: &alerts.Board{Alerts: []*alerts.Alert{a}}, sandboxes: []*backend.Sandbox{box(name, id, func(b *backend.Sandbox) {
			b.Provider, b.Region, b.Power, b.Reported = backend.Text("blaxel"), backend.Text("us-pdx-1"), backend.Text("STANDBY"), backend.Text("DEPLOYED STANDBY")
		})}}
		if rule != "" {
			w.board.Alerts = append(w.board.Alerts, &alerts.Alert{ID: "y", Rule: rule, Source: "app-log", Runbook: "2", State: alerts.StateFiring, Cause: backend.Text("it failed"), Confirmed: now,
				Subjects: []alerts.Subject{{Key: sessionKey(id), State: alerts.StateFiring}}, SubjectCount: 1})
		}
		d := w.page(a)
		steps := []string{"Find the owner of session " + id, "Save its files yourself: sandglass rescue " + name, "Only if that session is over: sandglass destroy " + name}
		if rule == "" {
			steps = slices.Delete(steps, 1, 2)
		}
		if !strings.HasPrefix(d.Conclusion.String(), "No list ever named session "+id) || d.NoDestroy.IsEmpty() || len(d.Do) != len(steps) {
			t.Fatalf("%q: %s: %v", rule, d.Conclusion, d.Do)
		}
		for i, x := range steps {
			if !strings.HasPrefix(d.Do[i].String(), x) {
				t.Errorf("%q: step %d is %q, not %q", rule, i+1, d.Do[i], x)
			}
		}
		if hydrate := anyHas(d.Do, "what its failed restore left"); hydrate != (rule == "hydrate-failed") {
			t.Errorf("%q: %v", rule, d.Do)
		}
	}
	// a page that denies, and an alert that is not about a restore
	a := &alerts.Alert{ID: "x", Rule: "wont-terminate", Source: "docker", Runbook: "4", State: alerts.StateFiring, Cause: backend.Text("no list names its session"), Confirmed: now,
		Subjects: []alerts.Subject{{Key: sbKey(name), State: alerts.StateFiring}}, SubjectCount: 1}
	w := world{board: &alerts.Board{Alerts: []*alerts.Alert{a}}, sandboxes: []*backend.Sandbox{box(name, "", func(b *backend.Sandbox) {
		b.Provider, b.Region, b.Reported = backend.Text("blaxel"), backend.Text("us-pdx-1"), backend.Text("DEPLOYED RUNNING")
	})}}
	if d := w.page(a); anyHas(d.Do, "save now") || !strings.Contains(d.Conclusion.String(), "no list names its session") {
		t.Errorf("%s: %v", d.Conclusion, d.Do)
	}
}
