package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// beginLeft is a sandbox whose session ended, with the saved state of an agent SDK; pause is its pause_on_exit.
func beginLeft(t *testing.T, pause bool, edit func(*backend.Sandbox)) *story {
	s := beginCloud(t, terminateRule)
	s.stateOn(cloudBox, s.wall, func(x *backend.AgentState) { x.PauseOnExit = backend.Known(pause) })
	s.cloudBox(cloudBox, func(b *backend.Sandbox) { b.Session, b.Power = backend.ID{}, backend.Text("RUNNING") })
	s.look()
	s.pass(time.Second)
	s.hub(cloudSession, cloudBox, func(x *backend.Session) { x.Status, x.Running = backend.Text("completed"), backend.Known(false) })
	s.cloudBox(cloudBox, edit)
	return s.look()
}

func sleeps(b *backend.Sandbox) { b.Class, b.Power = backend.SandboxAsleep, backend.Text("STANDBY") }

// TestASandboxLeaksByItsSavedState: what the end of its session deletes and is listed still has leaked, also asleep; what it keeps has
// not, and neither has what is merely stopped or being deleted.
func TestASandboxLeaksByItsSavedState(t *testing.T) {
	for name, edit := range map[string]func(*backend.Sandbox){"it runs": nil, "it sleeps": sleeps} {
		s := beginLeft(t, false, edit)
		s.every(10*time.Second, time.Minute, nil).want(terminateRule, alerts.StatePending)
		a := s.every(10*time.Second, 90*time.Second, nil).want(terminateRule, alerts.StateFiring)
		if !strings.Contains(a.Cause.String(), "it leaked") || a.Severity != alerts.SeverityWarning {
			t.Errorf("%s: %s %s", name, a.Severity, a.Cause)
		}
	}
	stopped := func(b *backend.Sandbox) { b.Class = backend.SandboxExited }
	deleting := func(b *backend.Sandbox) { b.Class, b.Power = backend.SandboxRemoving, backend.Safe{} }
	for name, s := range map[string]*story{"kept": beginLeft(t, true, sleeps), "stopped": beginLeft(t, false, stopped), "being deleted": beginLeft(t, false, deleting), "going": beginLeft(t, true, nil)} {
		t.Run(name, func(t *testing.T) { s.every(20*time.Second, 30*time.Minute, nil).quiet(terminateRule) })
	}
	s := beginLeft(t, false, nil) // a state of a former sandbox of that name says nothing of this one
	s.refs[0].SavedAt = backend.Known(s.wall.Add(-time.Hour))
	s.delta.Changed = append(s.delta.Changed, s.refs[0].Key)
	s.cloudBox(cloudBox, func(b *backend.Sandbox) { b.CreatedAt = backend.Known(s.wall) })
	s.every(20*time.Second, 30*time.Minute, nil).quiet(terminateRule)
}

// TestAKeptSandboxThatStaysAwake is told as a note, from an hour after its session on, where its platform puts it to sleep.
func TestAKeptSandboxThatStaysAwake(t *testing.T) {
	s := beginLeft(t, true, nil)
	s.every(30*time.Second, 59*time.Minute, nil).quiet(terminateRule)
	a := s.every(30*time.Second, 2*time.Minute, nil).want(terminateRule, alerts.StateFiring)
	if a.Severity != alerts.SeverityInfo || !strings.Contains(a.Cause.String(), "keeps it from falling asleep") {
		t.Errorf("%s %s", a.Severity, a.Cause)
	}
	s.cloudBox(cloudBox, sleeps)
	s.after(30 * time.Second)
	for _, a := range s.alerts(terminateRule) {
		if a.State == alerts.StateFiring {
			t.Errorf("it sleeps now, and it fires")
		}
	}
}

// TestWhatNobodySaysOfASessionIsNoLeak: without a list of sessions, or with a session that runs, nothing is told.
func TestWhatNobodySaysOfASessionIsNoLeak(t *testing.T) {
	s := begin(t, terminateRule) // a laptop: a platform and a saved state
	s.sources, s.order = map[string]*fleet.SourceHealth{}, nil
	s.source("cloud", backend.InputContainers, backend.InputPlatform)
	s.cloudBox(cloudBox, nil)
	s.stateOn(cloudBox, s.wall, func(x *backend.AgentState) { x.PauseOnExit = backend.Known(false) })
	s.look()
	s.every(20*time.Second, 30*time.Minute, nil).quiet(terminateRule)
	s = beginCloud(t, terminateRule)
	s.stateOn(cloudBox, s.wall, func(x *backend.AgentState) { x.PauseOnExit = backend.Known(false) })
	s.look()
	s.every(20*time.Second, 30*time.Minute, nil).quiet(terminateRule)
}

// TestAContradictionTellsWhatTheAgentBelieves: the evidence sets it beside what was observed, and says nothing of a sandbox that no
// agent SDK is known to use.
func TestAContradictionTellsWhatTheAgentBelieves(t *testing.T) {
	for _, of := range []bool{true, false} {
		s := beginCloud(t)
		s.cloudBox(cloudBox, func(b *backend.Sandbox) { b.Provider = backend.Text("blaxel") })
		if of {
			s.stateOn(cloudBox, s.wall, nil)
		}
		s.look()
		s.pass(time.Second)
		in := &backend.Inside{At: s.wall, AgentSees: backend.Known(true), AgentWhy: backend.Text("/ was listed in time")}
		s.sees(cloudBox, failed(backend.PlaneList, backend.FailMountGone, s.wall), backend.Verdict{Plane: backend.PlaneControl, Outcome: backend.OutcomeOK, At: s.wall, Inside: in})
		if !of {
			s.cloudBox(cloudBox, func(b *backend.Sandbox) {
				*b = *b.WithObserved([]backend.Verdict{failed(backend.PlaneList, backend.FailMountGone, s.wall)})
			})
		}
		a := s.look().want(contradictionRule, alerts.StateFiring)
		if told := strings.Contains(evidence(a), "its agent's check would say: running, since / was listed in time; but filesystem list failed"); told != of {
			t.Errorf("with a saved state %v, told %v:\n%s", of, told, evidence(a))
		}
	}
}
