package rules

import (
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// beginReturned has a workspace whose alert ended with it, and that is back, and failed, a while later.
func beginReturned(t *testing.T, after time.Duration) *story {
	s := begin(t, loopRule)
	fails := func() {
		s.reads("a/box", reading{state: "failed", err: oneCause(0), attempt: time.Second, success: time.Hour})
		s.look()
	}
	fails()
	for i := range 3 {
		resets(s, "a/box", oneCause(i))
	}
	s.want(loopRule, alerts.StateFiring)
	s.ends("a/box", "its session ended")
	s.look().want(loopRule, alerts.StateEnded)
	s.pass(after)
	fails()
	return s
}

func TestWhatComesBackIsRememberedWhileItsEndIsListed(t *testing.T) {
	for name, c := range map[string]struct {
		after   time.Duration
		restart int // after how many resets in vain; -1: never
		listed  bool
	}{
		"at once":                         {after: time.Second, restart: -1, listed: true},
		"at once, restarted":              {after: time.Second, restart: 2, listed: true},
		"before its end is unlisted":      {after: 14 * time.Minute, restart: -1},
		"… and restarted before that":     {after: 14 * time.Minute, restart: 1},
		"… and restarted later":           {after: 14 * time.Minute, restart: 2},
		"after its end is unlisted":       {after: 16 * time.Minute, restart: -1},
		"… and restarted in the meantime": {after: 16 * time.Minute, restart: 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := beginReturned(t, c.after)
			for i := range 3 {
				if i == c.restart {
					s.restart()
				}
				if i == 2 && c.listed {
					s.want(loopRule, alerts.StateEnded)
				} else if i == 2 {
					s.quiet(loopRule)
				}
				resets(s, "a/box", oneCause(i))
			}
			s.want(loopRule, alerts.StateFiring)
			s.wantTransitions("firing ended firing")
		})
	}
}

func TestWhatComesBackAndGoesAgainIsForgotten(t *testing.T) {
	for name, restart := range map[string]bool{"seen going": false, "gone during a restart": true} {
		t.Run(name, func(t *testing.T) {
			s := beginReturned(t, time.Second)
			resets(s, "a/box", oneCause(1))
			resets(s, "a/box", oneCause(2))
			if restart {
				s.restart()
				s.session("a", func(x *backend.Session) { x.Answer = backend.AnswerOK })
				delete(s.workspaces, wsKey("a/box"))
			} else {
				s.ends("a/box", "its session ended")
			}
			s.after(time.Second).want(loopRule, alerts.StateEnded)
			s.reads("a/box", reading{state: "failed", err: oneCause(0), attempt: time.Second, success: time.Hour})
			s.look()
			resets(s, "a/box", oneCause(1))
			resets(s, "a/box", oneCause(2))
			s.want(loopRule, alerts.StateEnded)
			resets(s, "a/box", oneCause(3))
			s.want(loopRule, alerts.StateFiring)
			s.wantTransitions("firing ended firing")
		})
	}
}

// What is remembered outlives the listed end though nothing is read in that moment, and the end is listed no longer for it.
func TestAnEndIsUnlistedWhileWhatCameBackIsNotRead(t *testing.T) {
	s := beginReturned(t, 10*time.Minute)
	resets(s, "a/box", oneCause(1))
	resets(s, "a/box", oneCause(2))
	s.down("helix", "timeout")
	s.after(3*time.Minute).want(loopRule, alerts.StateEnded)
	s.after(time.Minute).quiet(loopRule)
	s.up("helix")
	resets(s, "a/box", oneCause(3))
	s.want(loopRule, alerts.StateFiring)
}
