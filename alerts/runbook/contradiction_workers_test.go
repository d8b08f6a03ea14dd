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

// TestAContainerBehindAWorker: each fault of it has its own conclusion and cure; no step names a container engine, and a repair is
// advised only where it cures.
func TestAContainerBehindAWorker(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault             backend.FailureKind
		says, does, never string
	}{
		{backend.FailWorkDirMissing, "working directory is missing", "sandglass repair b", "destroy b"},
		{backend.FailWorkDirDangling, "link to nothing", "copy from the mount at start", "destroy b"},
		{backend.FailServerDir, "A repair does not help", "sandglass destroy b", "repair b"},
		{backend.FailServerFrozen, "answers nothing", "sandglass destroy b", "repair b"},
		{backend.FailExecTimeout, "hangs, or its container does not start", "sandglass probe b", "Destroy it"},
		{"", "What was tried in it fails", "sandglass probe b", "repair b"},
	} {
		w := world{sandboxes: []*backend.Sandbox{box("b", "", func(b *backend.Sandbox) {
			b.Provider, b.Region = backend.Text("cloudflare"), backend.Text("EEUR")
			*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: c.fault, At: now, What: backend.Text("as it was answered")}})
		})}}
		d := w.diagnose("contradiction", sbKey("b"))
		var steps []string
		for _, l := range append(d.Do, d.Dont...) {
			steps = append(steps, l.String())
		}
		all := strings.Join(steps, "\n")
		if text := strings.Join(knobText(pageOf(t, "contradiction").Fitting(&d)), "\n"); strings.Contains(text, "docker") || !strings.Contains(text, "never /workspace") {
			t.Errorf("%q: settings\n%s", c.fault, text)
		}
		if !strings.Contains(d.Conclusion.String(), c.says) || !strings.Contains(all, c.does) || strings.Contains(all, c.never) || strings.Contains(all, "docker") {
			t.Errorf("%q: %s\n%s", c.fault, d.Conclusion, all)
		}
	}
}

func pageOf(t *testing.T, name string) *Page {
	t.Helper()
	for _, p := range All() {
		if p.Number == name {
			return p
		}
	}
	t.Fatalf("there is no page %s", name)
	return nil
}

func knobText(p *Page) (out []string) {
	for _, k := range p.Knobs {
		out = append(out, k.Name.String(), k.Where.String(), k.Direction.String())
	}
	for _, a := range p.Do {
		out = append(out, a.Text.String())
	}
	return out
}

// TestThePlatformsOwnFault: an error of Cloudflare's own service is looked up on its status page; there is nothing to mend here.
func TestThePlatformsOwnFault(t *testing.T) {
	d := Diagnosis{Do: []backend.Safe{backend.Text("Ask it")}, Checks: []Check{{Name: "down", Mark: Confirmed}}}
	d.platformFails("https://api.cloudflare.com/x answered 404 Not Found")
	if d.Do[0].String() != "Ask it" {
		t.Errorf("another error: %v", d.Do)
	}
	d.platformFails("https://api.cloudflare.com/x answered 500; see www.cloudflarestatus.com")
	if !strings.HasPrefix(d.Do[0].String(), "See www.cloudflarestatus.com. ") || strings.Contains(d.Conclusion.String(), "not answer") {
		t.Errorf("its own fault: %s %v", d.Conclusion, d.Do)
	}
}

// TestQuestionsAboutAWorkersSandboxNameItsProbe: only a probe answers them, which is said once, and nothing asks for a label.
func TestQuestionsAboutAWorkersSandboxNameItsProbe(t *testing.T) {
	t.Parallel()
	w := world{sandboxes: []*backend.Sandbox{box("b", "", func(b *backend.Sandbox) { b.Provider = backend.Text("cloudflare") })}}
	d := w.diagnose("contradiction", sbKey("b"))
	for _, c := range d.Checks {
		tell := c.WouldTell.String()
		if strings.Contains(tell, "label") || c.Mark == CannotTell && c.Name != "many" && c.Name != AlertCheck && tell != "a probe: sandglass probe b" {
			t.Errorf("%s: would tell: %s", c.Question, tell)
		}
	}
}

// TestAMissingDirectoryRulesOutNoLostControlServer: commands of a new session begin also where the directory of the control server is
// gone, so that the page leaves that open and sends to no probe for it. What else could stand there is ruled out.
func TestAMissingDirectoryRulesOutNoLostControlServer(t *testing.T) {
	t.Parallel()
	w := world{sandboxes: []*backend.Sandbox{box("b", "", func(b *backend.Sandbox) {
		b.Provider = backend.Text("cloudflare")
		*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirMissing, At: now, What: backend.Text("/workspace is missing")},
			{Plane: backend.PlaneList, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirMissing, At: now, What: backend.Text("/workspace is missing")}})
	})}}
	d := w.diagnose("contradiction", sbKey("b"))
	seen := 0
	for _, c := range d.Checks {
		switch c.Name {
		case "server-dir":
			if seen++; c.Mark != CannotTell || strings.Contains(c.WouldTell.String(), "probe") || !strings.Contains(c.Fact.String(), "begin also where it is gone") {
				t.Errorf("%s: %s %s, would tell: %s", c.Question, c.Mark, c.Fact, c.WouldTell)
			}
		case "dangling", "frozen":
			if seen++; c.Mark != RuledOut {
				t.Errorf("%s: %s %s", c.Question, c.Mark, c.Fact)
			}
		}
	}
	if seen != 3 {
		t.Errorf("%d questions", seen)
	}
}

// TestNoInstanceToGiveIsNoLimit: where the platform has none to give, the page says to wait and raises nothing.
func TestNoInstanceToGiveIsNoLimit(t *testing.T) {
	t.Parallel()
	source := backend.Key{Kind: backend.KindSource, Source: "cf", ID: backend.MustID("cf/commands")}
	w := world{pools: []backend.Pool{{ID: backend.MustID("a"), Name: backend.Text("agents")}}, board: &alerts.Board{Alerts: []*alerts.Alert{{Rule: "capacity", Source: "cf", Runbook: "7",
		Cause: backend.Text("the platform of cf has no container to give now: that is not your limit"), State: alerts.StateFiring, Confirmed: now, Subjects: []alerts.Subject{{Key: source, State: alerts.StateFiring}}, SubjectCount: 1,
		Evidence: []alerts.Evidence{{Text: backend.Text("a command in demo was refused: the bridge answered 503")}}}}}}
	d := w.diagnose("7", source)
	if d.Mark("quota") != RuledOut {
		t.Errorf("a limit refuses: %s", d.Mark("quota"))
	}
	if !strings.Contains(d.Conclusion.String(), "not your limit") || !anyHas(d.Do, "Wait") || anyHas(d.Do, "max_instances") || !anyHas(d.Dont, "max_instances") {
		t.Errorf("%s %v %v", d.Conclusion, d.Do, d.Dont)
	}
}

// TestAFullApplicationSpeaksOfNoWorkspaces: where the platform counts its own instances, workspaces are not what would tell.
func TestAFullApplicationSpeaksOfNoWorkspaces(t *testing.T) {
	t.Parallel()
	source := backend.Key{Kind: backend.KindSource, Source: "cf", ID: backend.MustID("cf/agents")}
	w := world{pools: []backend.Pool{{ID: backend.MustID("a"), Name: backend.Text("agents")}}, board: &alerts.Board{Alerts: []*alerts.Alert{{Rule: "capacity", Source: "cf", Runbook: "7",
		Cause: backend.Text("agents has no instance left"), State: alerts.StateFiring, Confirmed: now, Subjects: []alerts.Subject{{Key: source, State: alerts.StateFiring}}, SubjectCount: 1}}}}
	d := w.diagnose("7", source)
	for _, c := range d.Checks {
		if c.Name == "quota" && (c.Mark != CannotTell || strings.Contains(c.Fact.String(), "workspace")) {
			t.Errorf("%s: %s %s", c.Question, c.Mark, c.Fact)
		}
	}
	if d.Conclusion.String() != "Every place is taken. Nothing that was read shows a refusal yet." {
		t.Errorf("%s", d.Conclusion)
	}
	w.board.Alerts[0].Evidence = []alerts.Evidence{{Text: backend.Text("a command in demo was refused: the bridge answered 503")}}
	if d := w.diagnose("7", source); !strings.Contains(d.Conclusion.String(), "limit refuses new containers") || d.Mark("quota") != Confirmed {
		t.Errorf("beside a refused command: %s", d.Conclusion)
	}
	if !anyHas(d.Do, "Wrangler configuration") {
		t.Errorf("steps: %v", d.Do)
	}
}

// TestANearlyFullApplicationRefusesNothing: the page does not speak of refusals that nothing shows.
func TestANearlyFullApplicationRefusesNothing(t *testing.T) {
	t.Parallel()
	source := backend.Key{Kind: backend.KindSource, Source: "cf", ID: backend.MustID("cf/agents")}
	w := world{pools: []backend.Pool{{ID: backend.MustID("a"), Name: backend.Text("agents")}}, board: &alerts.Board{Alerts: []*alerts.Alert{{Rule: "capacity", Source: "cf", Runbook: "7",
		Cause: backend.Text("agents is nearly full"), State: alerts.StateFiring, Confirmed: now, Subjects: []alerts.Subject{{Key: source, State: alerts.StateFiring}}, SubjectCount: 1}}}}
	if d := w.diagnose("7", source); d.Conclusion.String() != "Few places are left. Nothing that was read shows a refusal yet." {
		t.Errorf("%s", d.Conclusion)
	}
}

// TestAnObservationBeforeAChangeTellsNothing: the command that changed the working directory is newer than the probe, so that the page
// rules nothing out by it, and sends to a probe.
func TestAnObservationBeforeAChangeTellsNothing(t *testing.T) {
	t.Parallel()
	b := box("b", "", func(b *backend.Sandbox) {
		b.Provider = backend.Text("cloudflare")
		at := now.Add(-time.Minute)
		*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: at, Repaired: at}, {Plane: backend.PlaneList, Outcome: backend.OutcomeOK, At: at}, {Plane: backend.PlaneRead, Outcome: backend.OutcomeOK, At: at}})
	})
	w := world{sandboxes: []*backend.Sandbox{b}, board: &alerts.Board{Alerts: []*alerts.Alert{{Rule: "contradiction", Source: b.Key.Source, Runbook: "contradiction", State: alerts.StateFiring, Confirmed: now,
		Cause: backend.Text("reported running, but no command begins in it since its working directory was changed: rm -rf /workspace"), Subjects: []alerts.Subject{{Key: b.Key, State: alerts.StateFiring}}, SubjectCount: 1,
		Evidence: []alerts.Evidence{{Text: backend.Text("log: 2 commands in session sandbox-b could not begin since 12:00:00Z"), At: now}, {Text: backend.Text("log: before it, at 11:59:58Z, the agent ran: rm -rf /workspace"), At: now.Add(-2 * time.Second)}}}}}}
	d := w.diagnose("contradiction", b.Key)
	for _, c := range d.Checks {
		if c.Mark == RuledOut && strings.Contains(c.Question.String(), "working directory") {
			t.Errorf("%s: %s", c.Question, c.Fact)
		}
	}
	if !strings.Contains(d.Conclusion.String(), "only a probe tells") || !anyHas(d.Do, "sandglass probe b") {
		t.Errorf("%s %v", d.Conclusion, d.Do)
	}
}

// TestCommandsThatBeginOnlyForAProbe: a link is named with its costs; without one the page says that the probe cannot tell.
func TestCommandsThatBeginOnlyForAProbe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what     backend.Literal
		image    backend.Literal
		repaired time.Time
		want     []string
	}{
		{backend.RootIsLink + "/mnt/r2, and has 2 entries", "agent:1", time.Time{}, []string{"is a link, to /mnt/r2", "copy from the mount at start. Costs: slower cold starts"}},
		{backend.RootIsLink + "/mnt/r2, and has 2 entries", "cloudflare/sandbox:0.12.7", time.Time{}, []string{"A probe's command ran all the same"}},
		{"/workspace has 2 entries", "", time.Time{}, []string{"A probe's command ran all the same", "sandglass destroy b"}},
		{"/workspace has 2 entries", "", now, []string{"since its repair", "sandglass destroy b", "SDK 0.9.0"}},
	} {
		what, want := c.what, c.want
		b := box("b", "", func(b *backend.Sandbox) {
			b.Provider, b.Image = backend.Text("cloudflare"), backend.Text(c.image)
			*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: now, Repaired: c.repaired}, {Plane: backend.PlaneList, Outcome: backend.OutcomeOK, At: now, What: backend.Text(what)}})
		})
		w := world{sandboxes: []*backend.Sandbox{b}, board: &alerts.Board{Alerts: []*alerts.Alert{{Rule: "contradiction", Source: b.Key.Source, Runbook: "contradiction", State: alerts.StateFiring, Confirmed: now,
			Cause: backend.Text("reported running, but no command begins in it, its agent's log says"), Subjects: []alerts.Subject{{Key: b.Key, State: alerts.StateFiring}}, SubjectCount: 1,
			Evidence: []alerts.Evidence{{Text: backend.Text("log: 2 commands in session sandbox-b could not begin since 12:00:00Z"), At: now}, {Text: backend.Text("probe: /workspace is a link")}}}}}}
		d := w.diagnose("contradiction", b.Key)
		text := d.Conclusion.String()
		for _, l := range d.Do {
			text += "\n" + l.String()
		}
		for _, x := range want {
			if !strings.Contains(text, x) {
				t.Errorf("%s: %q is missing in\n%s", what, x, text)
			}
		}
	}
}

// TestAWorkersContainerHasNoEngine: its page names no command of a container engine, and what exit code 137 can mean.
func TestAWorkersContainerHasNoEngine(t *testing.T) {
	t.Parallel()
	for rule, c := range map[string]struct {
		edit func(*backend.Sandbox)
		want string
	}{
		"sandbox-exited": {func(b *backend.Sandbox) {
			b.Class, b.Reported, b.ExitCode = backend.SandboxDead, backend.Text("failed"), backend.Known(137)
		}, "larger instance_type"},
		"sandbox-unhealthy": {func(b *backend.Sandbox) {
			b.Health, b.HealthChecks, b.BridgeID = backend.Known(backend.Text("unhealthy")), backend.NotApplicable[backend.HealthChecks](), backend.MustID("b")
		}, "sandglass probe b"},
	} {
		b := box("b", "", func(b *backend.Sandbox) {
			b.Provider, b.Name = backend.Text("cloudflare"), backend.Text("b")
			c.edit(b)
		})
		w := world{sandboxes: []*backend.Sandbox{b}, board: &alerts.Board{Alerts: []*alerts.Alert{{Rule: rule, Source: b.Key.Source, Runbook: "container", State: alerts.StateFiring, Confirmed: now,
			Cause: backend.Text("ended"), Subjects: []alerts.Subject{{Key: b.Key, State: alerts.StateFiring}}, SubjectCount: 1}}}}
		d := w.diagnose("container", b.Key)
		if anyHas(d.Do, "docker") || !anyHas(d.Do, c.want) {
			t.Errorf("%s: %s %v", rule, d.Conclusion, d.Do)
		}
		for _, k := range d.Checks {
			if strings.Contains(k.Fact.String(), "0 failed checks") || strings.Contains(k.Fact.String(), "has no health check") || strings.Contains(k.WouldTell.String(), "engine") {
				t.Errorf("%s: %s: %s, would tell: %s", rule, k.Question, k.Fact, k.WouldTell)
			}
		}
		if text := strings.Join(knobText(pageOf(t, "container").Fitting(&d)), "\n"); strings.Contains(text, "--") || strings.Contains(text, "restart policy") || !strings.Contains(text, "instance_type") {
			t.Errorf("%s: settings\n%s", rule, text)
		}
	}
}

// TestTwoCausesOfSilence: where no command of a probe ended and nothing tells that its container runs, the page says that two causes
// fit, as the alert does, and does not ask for the probe that was made.
func TestTwoCausesOfSilence(t *testing.T) {
	w := world{sandboxes: []*backend.Sandbox{box("b", "", func(b *backend.Sandbox) {
		b.Provider = backend.Text("cloudflare")
		*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailExecTimeout, At: now, What: backend.Text("neither ended, twice")}})
	})}}
	for _, c := range w.diagnose("contradiction", sbKey("b")).Checks {
		if c.Name == "frozen" && (c.Mark != CannotTell || !strings.Contains(c.Fact.String(), "a container that does not start") || strings.Contains(c.WouldTell.String(), "probe")) {
			t.Errorf("%s: %s; would tell: %s", c.Mark, c.Fact, c.WouldTell)
		}
	}
}

// TestPendingAlertsTellTheSame: what other alerts tell that are not decided yet is not ruled out.
func TestPendingAlertsTellTheSame(t *testing.T) {
	const cause = "not reported, but no command begins in it, its agent's log says"
	for state, want := range map[alerts.AlertState]Mark{alerts.StatePending: CannotTell, alerts.StateEnded: RuledOut} {
		b, c := workersBox(nil), box("c", "")
		w := world{sandboxes: []*backend.Sandbox{b, c}, board: saidOf(b, alerts.StateFiring, cause)}
		w.board.Alerts = append(w.board.Alerts, saidOf(c, state, cause).Alerts...)
		found := false
		for _, c := range w.diagnose("contradiction", b.Key).Checks {
			if c.Name == "many" {
				found = true
				if c.Mark != want || want == CannotTell && !strings.Contains(c.Fact.String(), "1 other sandbox shows the same line of its agent's log, which alone proves no fault: c") {
					t.Errorf("beside one that is %s: %s, %s", state, c.Mark, c.Fact)
				}
			}
		}
		if !found {
			t.Error("the question is not asked")
		}
	}
}

// TestManySandboxesWhoseAgentsSayTheSame: whatever each log names as the cause, the others are counted, and those that are not decided
// yet are not ruled out.
func TestManySandboxesWhoseAgentsSayTheSame(t *testing.T) {
	const cause = "not reported, but no command begins in it, its agent's log says"
	for _, x := range []struct {
		firing, pending int
		want            Mark
		fact            string
	}{
		{2, 0, Confirmed, "2 other sandboxes show the same"},
		{1, 1, CannotTell, "2 other sandboxes show the same line of their agents' logs, which alone proves no fault: c0, c1"},
		{1, 0, RuledOut, "two are not many"},
	} {
		b := workersBox(nil)
		w := world{sandboxes: []*backend.Sandbox{b}, board: saidOf(b, alerts.StateFiring, cause)}
		for i := range x.firing + x.pending {
			c, state := box(fmt.Sprint("c", i), ""), alerts.StateFiring
			if i >= x.firing {
				state = alerts.StatePending
			}
			w.sandboxes = append(w.sandboxes, c)
			w.board.Alerts = append(w.board.Alerts, saidOf(c, state, "reported running, but no command begins in it since its working directory was changed: mv /workspace /data").Alerts...)
		}
		for _, c := range w.diagnose("contradiction", b.Key).Checks {
			if c.Name == "many" && (c.Mark != x.want || !strings.Contains(c.Fact.String(), x.fact)) {
				t.Errorf("%d fire, %d pending: %s, %s", x.firing, x.pending, c.Mark, c.Fact)
			}
		}
	}
}

// TestStepsNameTheSourceOfASandboxThatTwoHave: each command about it is refused without.
func TestStepsNameTheSourceOfASandboxThatTwoHave(t *testing.T) {
	t.Parallel()
	ill := box("b", "", func(b *backend.Sandbox) {
		b.Provider = backend.Text("cloudflare")
		*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirMissing, At: now, What: backend.Text("as it was answered")}})
	})
	twin := box("b", "", func(b *backend.Sandbox) { b.Key.Source = "host-a" })
	for _, w := range []world{{sandboxes: []*backend.Sandbox{ill}}, {sandboxes: []*backend.Sandbox{ill, twin}}} {
		d := w.diagnose("contradiction", sbKey("b"))
		if said, want := fmt.Sprint(d.Do), "sandglass repair b"; !strings.Contains(said, want) || strings.Contains(said, want+" --source docker") != (len(w.sandboxes) > 1) {
			t.Errorf("%d of that id: %s", len(w.sandboxes), said)
		}
	}
}

// TestContainersThatAreListedAreNotMissed: of a platform that counts neither restarts nor kills the page of capacity says that, and sends
// to no further container source.
func TestContainersThatAreListedAreNotMissed(t *testing.T) {
	t.Parallel()
	w := world{sandboxes: []*backend.Sandbox{box("b", "", func(b *backend.Sandbox) {
		b.Provider, b.OOMKilled, b.RestartCount = backend.Text("cloudflare"), backend.Unknown[bool](), backend.NotApplicable[int]()
	})}}
	source := backend.Key{Kind: backend.KindSource, Source: "docker", ID: backend.MustID("docker")}
	for _, listed := range []bool{true, false} {
		if !listed {
			w.sandboxes = nil
		}
		d := w.diagnose("7", source)
		for name, want := range map[string]string{"parent-restarts": "the platform of 1 sandbox counts no restarts", "sandbox-oom": "the platform of 1 sandbox does not tell why one ended"} {
			i := slices.IndexFunc(d.Checks, func(c Check) bool { return c.Name == name })
			if i < 0 {
				t.Fatalf("no check %s", name)
			}
			if c := d.Checks[i]; c.Mark != CannotTell || strings.Contains(c.Fact.String(), want) != listed || strings.Contains(c.WouldTell.String(), "container source") == listed {
				t.Errorf("listed %v: %s, would tell %s", listed, c.Fact, c.WouldTell)
			}
		}
	}
}

// TestAPlaneThatIsNotKnownRulesNothingOut: that another plane fails is ruled out only where those that a sandbox has were tried and work.
func TestAPlaneThatIsNotKnownRulesNothingOut(t *testing.T) {
	t.Parallel()
	v := func(p backend.Plane, o backend.Outcome, what backend.Literal) backend.Verdict {
		return backend.Verdict{Plane: p, Outcome: o, At: now, What: backend.Text(what)}
	}
	exec, list, read := v(backend.PlaneExec, backend.OutcomeOK, ""), v(backend.PlaneList, backend.OutcomeOK, ""), v(backend.PlaneRead, backend.OutcomeOK, "")
	for name, c := range map[string]struct {
		planes      []backend.Verdict
		want        Mark
		fact, tells string
	}{
		"all work":        {[]backend.Verdict{exec, list, read}, RuledOut, "works in b", ""},
		"a file is empty": {[]backend.Verdict{exec, list, v(backend.PlaneRead, backend.OutcomeUnknown, backend.EmptyRead)}, CannotTell, "filesystem read is not known: the file", string(backend.EmptyReadNext)},
		"no file is read": {[]backend.Verdict{exec, list}, CannotTell, "filesystem read was not tried there", "sandglass probe b"},
		"no list":         {[]backend.Verdict{exec, v(backend.PlaneList, backend.OutcomeUnknown, "the list did not end"), read}, CannotTell, "filesystem list is not known: the list did not end", "sandglass probe b"},
		"a queue":         {[]backend.Verdict{exec, list, read, v(backend.PlaneQueue, backend.OutcomeUnknown, "no answer")}, CannotTell, "queue is not known: no answer", "sandglass probe b"},
		"one fails":       {[]backend.Verdict{exec, list, v(backend.PlaneRead, backend.OutcomeFailed, "no such file")}, Confirmed, "no such file", ""},
	} {
		b := workersBox(nil, c.planes...)
		d := world{sandboxes: []*backend.Sandbox{b}}.diagnose("contradiction", b.Key)
		i := slices.IndexFunc(d.Checks, func(k Check) bool { return k.Name == "planes" })
		if i < 0 {
			t.Fatalf("%s: the question is not asked", name)
		}
		if k := d.Checks[i]; k.Mark != c.want || !strings.Contains(k.Fact.String(), c.fact) || !strings.Contains(k.WouldTell.String(), c.tells) {
			t.Errorf("%s: %s, %s, would tell: %s", name, k.Mark, k.Fact, k.WouldTell)
		}
	}
}

// TestNoProbeIsAskedForWhereNoneBegins: after a probe whose commands began neither way, another one tells no more until they do.
func TestNoProbeIsAskedForWhereNoneBegins(t *testing.T) {
	t.Parallel()
	b := workersBox(nil, backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, At: now, What: backend.Text("commands begin neither without a session nor in a new one: killed")})
	d := world{sandboxes: []*backend.Sandbox{b}}.diagnose("contradiction", b.Key)
	for _, c := range d.Checks {
		if c.Mark == CannotTell && c.Name != "many" && c.Name != AlertCheck && c.WouldTell.String() != string(commandsTell) {
			t.Errorf("%s: %s, would tell: %s", c.Question, c.Fact, c.WouldTell)
		}
	}
}

// TestALogThatNamesTheMissingDirectory: the page says so, and asks for the probe that a repair needs.
func TestALogThatNamesTheMissingDirectory(t *testing.T) {
	t.Parallel()
	b := workersBox(nil)
	w := world{sandboxes: []*backend.Sandbox{b}, board: saidOf(b, alerts.StateFiring, "reported running, but no command begins in it for want of its directory, its agent's log says",
		"log: 1 command in session sandbox-b could not begin since 12:00:00Z", "log: it names a directory that is missing: Failed to create session 'sandbox-b'")}
	if d := w.diagnose("contradiction", b.Key); !strings.Contains(d.Conclusion.String(), "names its directory as missing") || !strings.Contains(d.Do[0].String(), "sandglass probe b") || anyHas(d.Do, "destroy") {
		t.Errorf("%s", steps(&d))
	}
}

// TestAProbeOfAnotherMemberTells: on the page of an alert over several sandboxes, whose first was not probed, a probe of another one tells that commands
// fail; one that found them to run in another tells nothing of the first.
func TestAProbeOfAnotherMemberTells(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[backend.Outcome]Mark{backend.OutcomeFailed: Confirmed, backend.OutcomeOK: CannotTell} {
		var w world
		group := &alerts.Alert{ID: "g", Rule: "contradiction", Source: "docker", Runbook: "contradiction", State: alerts.StateFiring, Confirmed: now, SubjectCount: 3,
			Cause: backend.Text("many sandboxes at once are reported well, but their working directory is missing")}
		for _, id := range []string{"a", "b", "c"} {
			w.sandboxes = append(w.sandboxes, box(id, "", func(b *backend.Sandbox) {
				if b.Provider = backend.Text("cloudflare"); id == "b" {
					*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: outcome, At: now, What: backend.Text("no plain command begins")}})
				}
			}))
			group.Subjects = append(group.Subjects, alerts.Subject{Key: sbKey(id), State: alerts.StateFiring})
		}
		w.board = &alerts.Board{Alerts: []*alerts.Alert{group}}
		d := w.diagnose("contradiction", sbKey("a"))
		for _, c := range d.Checks {
			if c.Name == "commands" && (c.Mark != want || want == Confirmed && !strings.Contains(c.Fact.String(), "b: no plain command begins")) {
				t.Errorf("%s: %s %s", outcome, c.Mark, c.Fact)
			}
		}
		if d.Mark("commands") != want {
			t.Errorf("%s: %s", outcome, d.Mark("commands"))
		}
	}
}

// TestAKnownExitCodeAsksNoProbe: where true began and failed, the page says what that is and the next step.
func TestAKnownExitCodeAsksNoProbe(t *testing.T) {
	t.Parallel()
	for code, does := range map[int]string{1: "df and free", 126: "PATH", 127: "PATH", 137: "memory of its instance"} {
		w := world{sandboxes: []*backend.Sandbox{box("b", "", func(b *backend.Sandbox) {
			b.Provider = backend.Text("cloudflare")
			*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, At: now, What: backend.Textf("%s%d", backend.Text(backend.TrueEnded), code)}})
		})}}
		d := w.diagnose("contradiction", sbKey("b"))
		if !strings.Contains(d.Conclusion.String(), fmt.Sprintf("Commands begin in it, and fail: b: true ended with exit code %d", code)) || !anyHas(d.Do, does) || anyHas(d.Do, "sandglass probe") || !anyHas(d.Dont, "the answer is known") {
			t.Errorf("%d: %s\n%v\n%v", code, d.Conclusion, d.Do, d.Dont)
		}
	}
}
