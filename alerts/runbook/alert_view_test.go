package runbook

import (
	"fmt"
	"strings"
	"testing"

	"sandglass/alerts"
	"sandglass/backend"
)

// alertOn is an alert about workspaces of helix-eu.
func alertOn(id, rule, page string, state alerts.AlertState, cause string, of ...*backend.Workspace) *alerts.Alert {
	a := &alerts.Alert{ID: id, Rule: rule, Source: "helix-eu", Runbook: page, State: state, Confirmed: now, Cause: backend.Clean(cause, 200), SubjectCount: len(of), Sessions: len(of)}
	for _, w := range of {
		a.Subjects = append(a.Subjects, alerts.Subject{Key: w.Key, State: state, Label: w.Key.Safe()})
	}
	return a
}

// page is the diagnosis of an alert, as Alerts shows it.
func (w world) page(a *alerts.Alert) Diagnosis {
	c := w.about(SubjectOfAlert(a))
	c.Alert = a.ID
	return c.Diagnose(a.Runbook)
}

func group(n int, prefix, text string, class backend.StateClass, of backend.Literal) (out []*backend.Workspace) {
	for i := range n {
		out = append(out, broken(fmt.Sprint(prefix, i), "box", class, text, provider(of)))
	}
	return out
}

// TestAPageIsOfItsAlert: what other workspaces of the source report neither explains an alert nor dilutes its cause.
func TestAPageIsOfItsAlert(t *testing.T) {
	full := group(14, "f", "ENOSPC: no space left on device, mkdtemp", backend.ClassFailed, "local-bash")
	quota := group(6, "q", "max_instances reached (60/60 in use)", backend.ClassFailed, "cloudflare-sandbox")
	hang := group(20, "h", "Error: socket hang up", backend.ClassFailed, "cloudflare-sandbox")
	capacity := alertOn("c", "capacity", "7", alerts.StateFiring, "cloudflare-sandbox has no instance left", quota...)
	w := world{workspaces: append(append(full, quota...), hang...), board: &alerts.Board{Alerts: []*alerts.Alert{capacity}}}
	d := w.page(capacity)
	if !strings.HasPrefix(d.Conclusion.String(), "The platform's limit refuses new containers") || !strings.Contains(d.fact("quota").String(), "6 of 6 errors") {
		t.Errorf("%s; %s", d.Conclusion, d.fact("quota"))
	}
	if anyHas(d.Do, "Make room") {
		t.Errorf("advice of another fault: %v", d.Do)
	}
	one := w.diagnose("7", quota[0].Key)
	if !strings.HasPrefix(one.Conclusion.String(), "The platform's limit refuses new containers") {
		t.Errorf("its workspace: %s", one.Conclusion)
	}
}

// TestAPageOfSeveralCausesIsOfAllOfThem: a headline needs a majority among all subjects, and rules out none that one reports.
func TestAPageOfSeveralCausesIsOfAllOfThem(t *testing.T) {
	list := append(group(8, "a", "ENOSPC: no space left on device", backend.ClassFailed, ""), group(4, "b", "Error: socket hang up", backend.ClassFailed, "")...)
	list = append(append(list, group(3, "c", "env.SANDBOX is undefined", backend.ClassFailed, "")...), group(3, "d", "D1_ERROR: Network connection lost", backend.ClassFailed, "")...)
	chaos := alertOn("x", "error-chaos", "1", alerts.StateFiring, "many causes at once", list...)
	d := world{workspaces: append(list, healthy("z", "box")), board: &alerts.Board{Alerts: []*alerts.Alert{chaos}}}.page(chaos)
	if !strings.HasPrefix(d.Conclusion.String(), "No cause has a majority. 8 of 18 errors: ENOSPC") {
		t.Error(d.Conclusion)
	}
	if !strings.Contains(d.fact("failed").String(), "18 of 18 workspaces failed") {
		t.Error(d.fact("failed"))
	}
	want(t, d, map[string]Mark{"network": Confirmed, "database": Confirmed, "binding": Confirmed})
}

// TestAStormOfOthersExplainsNoKill: the same source has a storm of another provider; the kill of a container is its own.
func TestAStormOfOthersExplainsNoKill(t *testing.T) {
	killed := group(2, "k", "WorkspaceEvictedError: container d380 exited with code 137", backend.ClassEvicted, "docker")
	storm := group(30, "s", "max_instances reached (60/60 in use)", backend.ClassEvicted, "cloudflare-sandbox")
	of := alertOn("h", "hammered-and-failing", "1", alerts.StateFiring, "container d380 exited with code 137", killed...)
	w := world{workspaces: append(killed, storm...), board: &alerts.Board{Alerts: []*alerts.Alert{
		alertOn("s", "eviction-storm", "7", alerts.StateFiring, "max_instances reached", storm...), of}}}
	d := w.page(of)
	if strings.Contains(d.Conclusion.String(), "together with others") || anyHas(d.Do, "runbook 7") || d.is("storm") {
		t.Errorf("%s %v", d.Conclusion, d.Do)
	}
	for i := range 2 {
		w.sandboxes = append(w.sandboxes, box(fmt.Sprint("b", i), fmt.Sprint("k", i)))
	}
	kill := &alerts.Alert{ID: "o", Rule: "sandbox-oom", Source: "docker", Runbook: "container", State: alerts.StateFiring, Confirmed: now, Cause: backend.Text("killed at its memory limit"),
		Subjects: []alerts.Subject{{Key: sbKey("b0"), State: alerts.StateFiring}, {Key: sbKey("b1"), State: alerts.StateFiring}}, SubjectCount: 2}
	w.board.Alerts = append(w.board.Alerts, kill)
	if d = w.page(of); !strings.Contains(d.fact("memory").String(), "2 of 2 workspaces") || !strings.Contains(d.Conclusion.String(), "killed for lack of memory") {
		t.Errorf("%s; %s", d.fact("memory"), d.Conclusion)
	}
}

// TestAHeldAlertKeepsItsCause: what cannot be read now is unknown, and its cause is the one that was read last.
func TestAHeldAlertKeepsItsCause(t *testing.T) {
	for cause, says := range map[string]string{"r2 bucket unreachable: GET": "Object storage", "boom": "failed-too-long is held"} {
		a := alertOn("l", "failed-too-long", "1", alerts.StateHeld, cause, broken("s1", "box", backend.ClassFailed, ""), broken("s2", "box", backend.ClassFailed, ""))
		a.Why = backend.Text("helix-eu does not answer")
		w := world{down: []string{"helix-eu"}, board: &alerts.Board{Alerts: []*alerts.Alert{a}}}
		if d := w.page(a); strings.Contains(d.Conclusion.String(), "Nothing that was read") || !strings.Contains(d.Conclusion.String(), says) && !strings.Contains(d.Conclusion.String(), "matches no known cause") {
			t.Errorf("%s: %s", cause, d.Conclusion)
		}
		if d := w.diagnose("1", backend.Key{}); strings.Contains(d.Conclusion.String(), "Nothing that was read") {
			t.Errorf("%s, the whole fleet: %s", cause, d.Conclusion)
		}
	}
}
