package rules

import (
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestALaterRunGoesOnFiring: what a later process reads first lacks what the alert rests on. That it was not read yet ends nothing
// and begins nothing again, for as long as a start may take.
func TestALaterRunGoesOnFiring(t *testing.T) {
	told := func(s *story) {
		s.health("hub-log", func(h *fleet.SourceHealth) {
			h.Reports = []backend.Report{{Kind: backend.ReportAgentRuns, At: s.wall, Sandbox: backend.MustID(cloudBox), Session: backend.MustID(cloudSession), Text: backend.Text("running: true")}}
		})
	}
	for name, x := range map[string]struct {
		rule         string
		begin        func(*story, *backend.Sandbox)
		before, next func(*story)
	}{
		"previews": {publicRule, public(false), func(s *story) {
			s.cloudBox(cloudBox, func(b *backend.Sandbox) { b.Previews, b.PreviewsAt = nil, time.Time{} })
		}, func(s *story) { s.cloudBox(cloudBox, func(b *backend.Sandbox) { public(false)(s, b) }) }},
		"tokens of a preview": {tokenRule, opens(), func(s *story) {
			s.cloudBox(cloudBox, func(b *backend.Sandbox) { opens()(s, b); b.Previews[0].TokensAt = time.Time{} })
		}, func(s *story) { s.cloudBox(cloudBox, func(b *backend.Sandbox) { opens()(s, b) }) }},
		"the list of sessions": {expiringRule, ends(30 * time.Minute), func(s *story) {
			delete(s.sessions, cloudKey(backend.KindSession, cloudSession))
			s.health("helix", func(h *fleet.SourceHealth) { h.Status = fleet.StatusStarting })
		}, func(s *story) {
			s.health("helix", func(h *fleet.SourceHealth) { h.Status = fleet.StatusOK })
			s.hub(cloudSession, cloudBox, nil)
		}},
		"the agent's log": {expiringRule, func(s *story, b *backend.Sandbox) {
			ends(30*time.Minute)(s, b)
			delete(s.sessions, cloudKey(backend.KindSession, cloudSession))
			told(s)
		}, func(s *story) {
			s.health("hub-log", func(h *fleet.SourceHealth) { h.Status, h.Reports = fleet.StatusStarting, nil })
		}, func(s *story) {
			s.health("hub-log", func(h *fleet.SourceHealth) { h.Status = fleet.StatusOK })
			told(s)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := beginExpiring(t, x.begin)
			s.after(90 * time.Second)
			since := s.want(x.rule, alerts.StateFiring).Since
			s.off(time.Minute)
			x.before(s)
			s.after(time.Second)
			if a := s.want(x.rule, alerts.StateFiring); !a.Since.Equal(since) {
				t.Errorf("before it is read: since %s, not %s", a.Since, since)
			}
			s.pass(2 * time.Second)
			x.next(s)
			s.look()
			if a := s.want(x.rule, alerts.StateFiring); !a.Since.Equal(since) {
				t.Errorf("read again: since %s, not %s", a.Since, since)
			}
		})
	}
}
