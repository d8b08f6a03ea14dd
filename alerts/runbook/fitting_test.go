package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// ended is a container behind a Worker, or of an engine, that ended while its session runs.
func ended(provider backend.Literal, code int) *backend.Sandbox {
	return box("b", "s1", func(b *backend.Sandbox) {
		b.Provider, b.Class, b.Reported, b.ExitCode, b.FinishedAt = backend.Text(provider), backend.SandboxExited, backend.Text("stopped"), backend.Known(code), at(time.Minute)
	})
}

// TestNobodyAsksWhatIsInAContainerThatEnded: nor does its page send to a probe, which would be refused; it gives the steps of its end.
func TestNobodyAsksWhatIsInAContainerThatEnded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		provider backend.Literal
		code     int
		does     string
	}{{"cloudflare", 1, "wrangler tail"}, {"cloudflare", 137, "instance_type"}, {"docker", 1, "docker logs"}} {
		b := ended(c.provider, c.code)
		w := world{sandboxes: []*backend.Sandbox{b}, board: saidOf(b, alerts.StateFiring, "hx lists its workspace as open, but its container ended with exit code 1")}
		d := w.diagnose("contradiction", b.Key)
		for _, x := range d.Checks {
			if strings.Contains(ofPlanes, " "+x.Name+" ") || strings.Contains(x.WouldTell.String(), "probe") {
				t.Errorf("%s asks %q of a container that ended; %s would tell", c.provider, x.Question, x.WouldTell)
			}
		}
		if all := steps(&d); strings.Contains(strings.ToLower(all), "probe") || !strings.Contains(all, c.does) || d.Mark("down") != Confirmed {
			t.Errorf("%s with exit code %d: %s\n%s", c.provider, c.code, d.Conclusion, all)
		}
	}
	w := world{sandboxes: []*backend.Sandbox{ended("cloudflare", 0)}}
	if d := w.diagnose("contradiction", sbKey("b")); strings.Contains(steps(&d), "probe") {
		t.Errorf("without an alert: %s", steps(&d))
	}
}

// TestNoMoreCommandsAreAdvisedWhereEachWaits: neither as a step nor as what would tell more.
func TestNoMoreCommandsAreAdvisedWhereEachWaits(t *testing.T) {
	t.Parallel()
	b := workersBox(func(*backend.Sandbox) {}, backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailServerFrozen, At: now, What: backend.Text("no answer")})
	w := world{sandboxes: []*backend.Sandbox{b}}
	d := w.diagnose("contradiction", b.Key)
	for _, c := range d.Checks {
		if strings.Contains(c.WouldTell.String(), "sandglass probe") || c.Name == "missing" && !strings.Contains(c.WouldTell.String(), "once commands begin again") {
			t.Errorf("%s: %s would tell", c.Question, c.WouldTell)
		}
	}
	if !strings.Contains(steps(&d), "Don't send more commands") {
		t.Errorf("%s", steps(&d))
	}
}

// TestStepsThatWouldBeRefusedAreLeftOut: by their verb and their sandbox, but for those after a step that turns the sandbox round.
func TestStepsThatWouldBeRefusedAreLeftOut(t *testing.T) {
	t.Parallel()
	asleep := box("b", "s1", func(b *backend.Sandbox) {
		b.Provider, b.Class, b.Reported = backend.Text("agentuity"), backend.SandboxAsleep, backend.Text("suspended")
	})
	s := newSubjectView(world{sandboxes: []*backend.Sandbox{asleep, box("c", "s1")}}.about(sbKey("b")))
	s.sandboxes = []*backend.Sandbox{asleep, box("c", "s1")}
	for _, c := range []struct {
		steps []backend.Literal
		left  int
	}{
		{[]backend.Literal{"Rescue its files: sandglass rescue b. It wakes it."}, 0},
		{[]backend.Literal{"Resume it: sandglass resume b", "Rescue its files then: sandglass rescue b"}, 2},
		{[]backend.Literal{"Probe it: sandglass probe b", "Probe it: sandglass probe c", "Probe each: sandglass probe NAME"}, 2},
	} {
		d := Diagnosis{}
		for _, x := range c.steps {
			d.do(x)
		}
		if why := s.fittingSteps(&d); len(d.Do) != c.left || (why.IsEmpty() != (c.left == len(c.steps))) {
			t.Errorf("%q: %q are left, since %q", c.steps, d.Do, why)
		}
	}
}

// TestVersionsThatDoNotFitHaveTheirOwnSteps: the page of that alert names the rollout and the deployment, and waits for nothing.
func TestVersionsThatDoNotFitHaveTheirOwnSteps(t *testing.T) {
	t.Parallel()
	b := workersBox(func(*backend.Sandbox) {}, backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeUnknown, Kind: backend.FailProtocol, At: now, What: backend.Text("refused")})
	w := world{sandboxes: []*backend.Sandbox{b}, board: saidOf(b, alerts.StateFiring, "reported running, but it and its Worker have versions that do not understand each other")}
	d := w.diagnose("contradiction", b.Key)
	if all := steps(&d); !strings.Contains(all, "one version of the SDK") || strings.Contains(all, "sandglass destroy") {
		t.Errorf("%s\n%s", d.Conclusion, all)
	}
}
