package rules

import (
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestAFailureCannotBeOlderThanTheReadingBeforeIt: a workspace that rested for hours and fails for two minutes under our eyes
// has not failed for longer than `after`, whatever its last success.
func TestAFailureCannotBeOlderThanTheReadingBeforeIt(t *testing.T) {
	tried := func(rule, state string, watched bool) *story {
		s := begin(t, rule)
		worked, success := s.wall, s.wall.Add(-3*time.Hour)
		s.every(30*time.Second, 3*time.Minute, func() {
			s.reads("a/box", reading{state: state, err: "socket hang up", attempt: time.Second, edit: func(w *backend.Workspace) {
				w.LastSuccessAt = backend.Known(success)
				if watched {
					w.WorkedAt = worked
				}
			}})
		})
		return s
	}
	tried(failedRule, "failed", false).want(failedRule, alerts.StateFiring)
	a := tried(failedRule, "failed", true).want(failedRule, alerts.StatePending)
	if !a.Bounds.Earliest.Equal(noon) {
		t.Errorf("it can have begun at %v, not before %v", a.Bounds.Earliest, noon)
	}
	tried(hammeredRule, "open", false).want(hammeredRule, alerts.StateFiring)
	for _, a := range tried(hammeredRule, "open", true).alerts(hammeredRule) {
		if a.State == alerts.StateFiring {
			t.Error("it was hammered for three minutes only")
		}
	}
}

func TestRefMismatchWaitsForTheReferenceToANewSandbox(t *testing.T) {
	s := danglingStory(t)
	s.sandbox("container-c", "b", backend.SandboxRunning)
	k := backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID("container-c")}
	s.sandboxes[k].CreatedAt = backend.Known(s.wall)
	read := func() {
		for _, x := range s.refs {
			x.ReadAt = s.wall
		}
	}
	s.every(10*time.Second, 2*time.Minute, read).quiet(refRule)
	s.every(10*time.Second, 2*time.Minute, read).want(refRule, alerts.StateFiring)
}

func TestRefMismatchDoesNotTrustAListOlderThanTheReference(t *testing.T) {
	s := danglingStory(t)
	s.look().after(5 * time.Second)
	s.want(refRule, alerts.StateFiring)
	b := danglingStory(t)
	b.refs[1].SavedAt = backend.Known(b.wall.Add(10 * time.Second)) // it is read at once, the list not yet
	b.every(5*time.Second, 10*time.Second, nil).quiet(refRule)
	b.every(5*time.Second, 10*time.Second, nil).want(refRule, alerts.StateFiring)
}

func TestRefMismatchDoesNotTrustAListFromBeforeTheSessionWentOn(t *testing.T) {
	s := danglingStory(t)
	s.session("b", func(x *backend.Session) {
		x.Running, x.History = backend.Known(true), []backend.StatusChange{{Status: backend.Text("running"), At: s.wall.Add(6 * time.Second)}}
	})
	s.look()
	s.after(5*time.Second).want(refRule, alerts.StatePending) // the list may be older than its new sandbox
	s.after(5*time.Second).want(refRule, alerts.StateFiring)
}

func TestRefMismatchWaitsForAReadingOfTheSessionAfterTheList(t *testing.T) {
	s := danglingStory(t)
	delete(s.listed, backend.KindSession) // the registry's polls are lost
	s.every(5*time.Second, 10*time.Second, nil).want(refRule, alerts.StatePending)
	s.listed[backend.KindSession] = "helix"
	s.after(5*time.Second).want(refRule, alerts.StateFiring)
	delete(s.listed, backend.KindSession)
	s.after(5*time.Second).want(refRule, alerts.StateFiring) // what fires is not taken back for want of news
}
