package rules

import (
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
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

// TestUnreadEventsResolveNothing: a process that follows has not read the events, jobs and log lines of a sandbox yet. What they
// told stands until they are read, and then it ends or is the same alert.
func TestUnreadEventsResolveNothing(t *testing.T) {
	asleep := func(b *backend.Sandbox) { b.Class, b.Reported = backend.SandboxAsleep, backend.Text("suspended") }
	box := func(s *story, edit func(*backend.Sandbox)) { s.cloudBox(cloudBox, edit) }
	for name, c := range map[string]struct {
		rule        string
		wrong, over func(s *story)
	}{
		"deferred resume": {contradictionRule, func(s *story) {
			box(s, func(b *backend.Sandbox) {
				b.Lifecycle = []backend.LifecycleEvent{lived(backend.LifecycleResumed, noon.Add(-time.Hour), deferred)}
			})
		}, func(s *story) {
			box(s, func(b *backend.Sandbox) {
				b.Lifecycle = []backend.LifecycleEvent{lived(backend.LifecycleResumed, noon.Add(-time.Hour), deferred), lived(backend.LifecycleStarted, s.wall)}
			})
		}},
		"pending job": {contradictionRule, func(s *story) {
			box(s, nil)
			s.jobOf("job_1", func(j *backend.Job) {
				j.Class, j.Reported, j.KnownSince = backend.WorkQueued, backend.Text("pending"), noon.Add(-time.Hour)
			})
		}, func(s *story) {
			box(s, nil)
			s.jobOf("job_1", func(*backend.Job) {})
		}},
		"hub's line": {contradictionRule, func(s *story) {
			box(s, nil)
			s.says("ERROR Controller rejected for unknown session " + cloudSession + " " + cloudBox)
		}, func(s *story) {
			s.sees(cloudBox, backend.Verdict{Plane: backend.PlaneDriver, Outcome: backend.OutcomeOK, At: s.wall})
		}},
		"soon removed": {reapedRule, func(s *story) {
			box(s, func(b *backend.Sandbox) { asleep(b); b.ReapedAt = noon.Add(50 * time.Minute) })
		}, func(s *story) {
			box(s, func(b *backend.Sandbox) { asleep(b); b.ReapedAt = noon.Add(10 * time.Hour) })
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := beginCloud(t)
			c.wrong(s)
			s.every(10*time.Second, time.Minute, func() { box(s, nil) })
			first := s.look().alerts(c.rule)
			if len(first) != 1 {
				t.Fatalf("it raises %d alerts", len(first))
			}
			s.restart()
			s.jobs = map[backend.Key]*backend.Job{}
			s.health("hub-log", func(h *fleet.SourceHealth) { h.Reports = nil })
			unread := func() {
				box(s, func(b *backend.Sandbox) {
					b.LifecycleAt, b.WorkAt, b.Lifecycle, b.ReapedAt = time.Time{}, time.Time{}, nil, time.Time{}
				})
			}
			unread()
			s.look()
			s.every(10*time.Second, 5*time.Minute, unread)
			now := s.alerts(c.rule)
			if len(now) != 1 || now[0].ID != first[0].ID || now[0].State == alerts.StateEnded || !now[0].Active.Equal(first[0].Active) {
				t.Fatalf("before it is read: %+v", now)
			}
			c.over(s)
			s.look()
			s.every(10*time.Second, 2*time.Minute, func() { box(s, nil) }).quiet(c.rule)
		})
	}
}
