package rules

import (
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestCloudRulesLast plays each rule of a platform: it fires at a cold start, is held while the platform does not answer, is the
// same alert after a restart, and is quiet where nothing is wrong.
func TestCloudRulesLast(t *testing.T) {
	asleep := func(b *backend.Sandbox) { b.Class, b.Reported = backend.SandboxAsleep, backend.Text("suspended") }
	for _, c := range []struct {
		rule         string
		wrong, right func(s *story)
	}{
		{checkpointRule, func(s *story) {
			s.cloudBox(cloudBox, asleep)
			s.sees(cloudBox, backend.Verdict{Plane: backend.PlaneControl, Outcome: backend.OutcomeFailed, Kind: backend.FailNoCheckpoint, At: noon})
		}, func(s *story) { s.cloudBox(cloudBox, asleep) }},
		{wakeRule, func(s *story) {
			s.hub(cloudSession, cloudBox, func(x *backend.Session) {
				x.Status, x.Hub.Error, x.Hub.NoDriverSince = backend.Text("error"), backend.Text("Sandbox driver did not connect within 120000ms."), noon.Add(-3*time.Minute)
			})
		}, func(s *story) {
			s.hub(cloudSession, cloudBox, func(x *backend.Session) { x.Hub.Driver = backend.Known(true) })
		}},
		{transitRule, func(s *story) {
			s.cloudBox(cloudBox, func(b *backend.Sandbox) {
				b.Class, b.Reported, b.KnownSince = backend.SandboxCreated, backend.Text("creating"), noon.Add(-time.Hour)
			})
		}, func(s *story) {
			s.cloudBox(cloudBox, func(b *backend.Sandbox) {
				b.Class, b.Reported, b.KnownSince = backend.SandboxRemoving, backend.Text("stopping"), s.wall
			})
		}},
		{reapedRule, func(s *story) {
			s.cloudBox(cloudBox, func(b *backend.Sandbox) { asleep(b); b.ReapedAt = noon.Add(10 * time.Minute) })
		}, func(s *story) {
			s.cloudBox(cloudBox, func(b *backend.Sandbox) { asleep(b); b.ReapedAt = noon.Add(10 * time.Hour) })
		}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			s := beginCloud(t)
			c.right(s)
			s.look().quiet(c.rule)
			s.every(10*time.Second, 2*time.Minute, func() { s.cloudBox(cloudBox, nil) }).quiet(c.rule)
			s = beginCloud(t)
			c.wrong(s)
			s.look().want(c.rule, alerts.StateFiring)
			s.wantHeldThenBack(c.rule, "cloud", func() { c.wrong(s) })
			s.wantSameAfterRestart(c.rule, "cloud", func() { c.wrong(s) })
		})
	}
}
