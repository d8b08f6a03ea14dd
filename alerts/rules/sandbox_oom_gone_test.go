package rules

import (
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// A sandbox that is killed and removed with it stays an alert for `recent`: its removal mends nothing.
func TestSandboxOOMOutlivesARemovalWithTheKill(t *testing.T) {
	s := beginBoxes(t, boxOOMRule)
	s.box("c1", "a", nil)
	s.look().quiet(boxOOMRule)
	s.pass(5 * time.Minute)
	s.happened = []backend.Event{{Kind: backend.EventPlatform, At: s.wall, Source: "docker", Subject: boxKey("c1"), Name: "oom"}}
	s.boxGone("c1")
	a := s.look().want(boxOOMRule, alerts.StateFiring)
	wantEvidence(t, a, "helix-c1: killed at its memory limit at 12:05:00Z; it was removed")
	s.off(30 * time.Minute)
	s.after(time.Second).want(boxOOMRule, alerts.StateFiring)
	s.after(30*time.Minute).want(boxOOMRule, alerts.StateEnded)
	s.after(time.Hour).quiet(boxOOMRule)
}

// A container that came, was killed and went between two readings is known by its event alone.
func TestSandboxOOMOfWhatNoListNamed(t *testing.T) {
	s := beginBoxes(t, boxOOMRule)
	s.look().quiet(boxOOMRule)
	s.pass(10 * time.Minute)
	for _, id := range []string{"c1", "c2"} {
		s.box(id, "a", killedBefore(s, 8*time.Minute))
		s.boxGone(id)
	}
	if a := s.look().want(boxOOMRule, alerts.StateFiring); a.SubjectCount != 2 || a.Sessions != 1 {
		t.Errorf("alert %+v", a)
	}
	s.after(53*time.Minute).want(boxOOMRule, alerts.StateEnded)
}

// What somebody removes after a while, whose session is over or what is no sandbox ends with its removal.
func TestSandboxOOMEndsWithALaterRemoval(t *testing.T) {
	s := beginBoxes(t, boxOOMRule)
	s.box("c1", "a", killedBefore(s, 0))
	s.look().want(boxOOMRule, alerts.StateFiring)
	s.pass(3 * time.Minute)
	s.boxGone("c1")
	s.look().want(boxOOMRule, alerts.StateEnded)

	s = beginBoxes(t, boxOOMRule)
	s.session("over", func(x *backend.Session) { x.Running, x.Answer = backend.Known(false), backend.AnswerIdle })
	s.look()
	s.pass(time.Minute)
	s.box("c1", "over", killedBefore(s, time.Second))
	s.box("c2", "", func(b *backend.Sandbox) { killedBefore(s, time.Second)(b); b.IsSandbox = false })
	s.boxGone("c1")
	s.boxGone("c2")
	s.look().quiet(boxOOMRule)
}
