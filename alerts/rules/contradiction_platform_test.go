package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

const (
	checkpointRule = "no-checkpoint"
	wakeRule       = "wake-failed"
	transitRule    = "stuck-in-transit"
	reapedRule     = "reaped-soon"
	cloudBox       = "sbx_50445cf9266fbb2f74d0"
	cloudSession   = "codesess_4cf3926c7813"
)

// beginCloud is one idle sandbox of a platform, with a session of its hub, and the hub's log.
func beginCloud(t testing.TB, names ...string) *story {
	s := begin(t, append([]string{contradictionRule, checkpointRule, wakeRule, transitRule, reapedRule}, names...)...)
	s.executions, s.jobs = map[backend.Key]*backend.Execution{}, map[backend.Key]*backend.Job{}
	s.source("cloud", backend.InputContainers, backend.InputSessions)
	s.source("hub-log")
	s.health("hub-log", func(h *fleet.SourceHealth) { h.About = []string{"cloud"} })
	s.cloudBox(cloudBox, nil)
	s.hub(cloudSession, cloudBox, nil)
	return s
}

func cloudKey(kind backend.Kind, id string) backend.Key {
	return backend.Key{Kind: kind, Source: "cloud", ID: backend.MustID(id)}
}

func (s *story) cloudBox(id string, edit func(*backend.Sandbox)) {
	k := cloudKey(backend.KindSandbox, id)
	b := &backend.Sandbox{Meta: backend.Meta{Key: k}, IsSandbox: true, Name: backend.Text("coder-session"), Provider: backend.Text("agentuity"), Reported: backend.Text("idle"), Class: backend.SandboxRunning}
	if id != cloudBox {
		b.Name = backend.Clean(id, 60)
	}
	if old := s.sandboxes[k]; old != nil {
		c := *old
		b = &c
	} else if id == cloudBox {
		b.Session = backend.MustID(cloudSession)
	}
	b.Region, b.ReadAt, b.WorkAt, b.LifecycleAt = backend.Text("usc"), s.wall, s.wall, s.wall
	if edit != nil {
		edit(b)
	}
	s.sandboxes[k] = b
	s.delta.Changed = append(s.delta.Changed, k)
}

func (s *story) sees(id string, vs ...backend.Verdict) {
	s.cloudBox(id, func(b *backend.Sandbox) {
		o, _ := b.Observed.Get()
		*b = *b.WithObserved(backend.MergeVerdicts(o.Verdicts, vs))
	})
}

func (s *story) hub(id, sandbox string, edit func(*backend.Session)) {
	k := cloudKey(backend.KindSession, id)
	x := &backend.Session{Meta: backend.Meta{Key: k, ReadAt: s.wall}, Status: backend.Text("active"), Running: backend.Known(true), Hub: &backend.HubSession{Sandbox: backend.MustID(sandbox)}}
	if edit != nil {
		edit(x)
	}
	s.sessions[k] = x
	s.delta.Changed = append(s.delta.Changed, k)
}

func (s *story) says(line string) {
	r, ok := backend.HubText(line)
	if !ok {
		s.t.Fatalf("no report: %s", line)
	}
	r.Source, r.At, r.Text = "hub-log", s.wall, backend.Clean(line, 300)
	s.health("hub-log", func(h *fleet.SourceHealth) { h.Reports = backend.KeepReports(h.Reports, []backend.Report{r}, s.wall) })
}

func (s *story) executes(id string, edit func(*backend.Execution)) {
	k := backend.Key{Kind: backend.KindExecution, Source: "cloud", Parent: backend.MustID(cloudBox), ID: backend.MustID(id)}
	x := &backend.Execution{Meta: backend.Meta{Key: k, ReadAt: s.wall}, Work: backend.Work{Within: backend.KindSandbox, Class: backend.WorkQueued, Reported: backend.Text("queued"), KnownSince: s.wall}}
	edit(x)
	s.executions[k] = x
	s.delta.Changed = append(s.delta.Changed, k)
}

func (s *story) jobOf(id string, edit func(*backend.Job)) {
	k := backend.Key{Kind: backend.KindJob, Source: "cloud", Parent: backend.MustID(cloudBox), ID: backend.MustID(id)}
	x := &backend.Job{Meta: backend.Meta{Key: k, ReadAt: s.wall}, Work: backend.Work{Within: backend.KindSandbox, Class: backend.WorkRunning, Reported: backend.Text("running")}}
	edit(x)
	s.jobs[k] = x
	s.delta.Changed = append(s.delta.Changed, k)
}

func lived(kind backend.LifecycleKind, at time.Time, edit ...func(*backend.LifecycleEvent)) backend.LifecycleEvent {
	e := backend.LifecycleEvent{Kind: kind, Type: backend.Clean(string(kind), 40), At: at}
	for _, f := range edit {
		f(&e)
	}
	return e
}

func deferred(e *backend.LifecycleEvent) { e.Deferred = backend.Known(true) }

func wasSuspended(e *backend.LifecycleEvent) { e.Previous = backend.Text("suspended") }

// TestTheZombieIsOneContradiction: each fact of the seed joins one alert, which keeps id, fingerprint and since.
func TestTheZombieIsOneContradiction(t *testing.T) {
	s := beginCloud(t)
	resumed := s.wall.Add(-10 * time.Hour)
	s.cloudBox(cloudBox, func(b *backend.Sandbox) {
		b.Lifecycle = []backend.LifecycleEvent{lived(backend.LifecycleSuspended, resumed.Add(-9*time.Second)), lived(backend.LifecycleResumed, resumed, deferred),
			lived(backend.LifecycleSuspended, resumed.Add(2*time.Minute)), lived(backend.LifecycleReconciled, s.wall.Add(-time.Minute), wasSuspended)}
	})
	s.jobOf("job_1", func(j *backend.Job) { j.Driver, j.StartedAt = true, backend.Known(resumed.Add(-time.Hour)) })
	s.look().quiet(contradictionRule)
	s.pass(time.Second)
	s.sees(cloudBox, failed(backend.PlaneList, backend.FailMountGone, s.wall))
	first := *s.look().want(contradictionRule, alerts.StateFiring)
	if first.Severity != alerts.SeverityCritical || !strings.Contains(first.Cause.String(), "reported idle, but its mount is gone") {
		t.Errorf("alert %s %s", first.Severity, first.Cause)
	}
	for _, id := range []string{"exe_1", "exe_2"} {
		s.executes(id, func(x *backend.Execution) { x.Nudge = true })
	}
	s.says("[ERROR] [hub] failed to send USR1 reconnect nudge (after resume): status: 500 " + cloudSession + " " + cloudBox)
	s.pass(5 * time.Second)
	s.says("ERROR failed to send USR1 reconnect nudge (follow-up): status: 500 " + cloudSession + " " + cloudBox)
	s.look()
	s.pass(time.Minute)
	s.sees(cloudBox, failed(backend.PlaneQueue, backend.FailExecStuckQueued, s.wall), failed(backend.PlaneDriver, "", s.wall), failed(backend.PlaneExec, backend.FailControl5xx, s.wall))
	s.hub(cloudSession, cloudBox, func(x *backend.Session) {
		x.Status, x.Running = backend.Text("error"), backend.Known(false)
		x.Hub.Error, x.Hub.NoDriverSince = backend.Text("Sandbox driver did not connect within 120000ms."), s.wall.Add(-3*time.Minute)
	})
	a := s.look().want(contradictionRule, alerts.StateFiring)
	if a.ID != first.ID || a.Fingerprint != first.Fingerprint || !a.Since.Equal(first.Since) || len(s.alerts(contradictionRule)) != 1 {
		t.Errorf("it is another alert: %+v", a)
	}
	wantEvidence(t, a, "reported: cloud lists coder-session ("+cloudBox+") as idle", "lists session "+cloudSession+" as error", "within 120 s", "2 executions are queued, 2 of them nudges of the driver: exe_1", "exe_2",
		"job job_1 is running", "but no driver leads its session", "log: 2 nudges failed, 1 right after the resume, 1 as a follow-up; a command in it was answered 500",
		"missing: no job began since the newest resume", "missing: no event of a resume since the newest suspend")
	if w := s.want(wakeRule, alerts.StateFiring); w.InhibitedBy != a.ID {
		t.Errorf("the failed wake is told beside it: %+v", w)
	}
	s.restart()
	if a := s.look().want(contradictionRule, alerts.StateFiring); a.ID != first.ID || !a.Since.Equal(first.Since) {
		t.Errorf("a restart makes another alert")
	}
}

// TestGradesOfAPlatform: what suggests it is pending, what proves itself or does not depend on another fact fires.
func TestGradesOfAPlatform(t *testing.T) {
	queue := func(s *story) backend.Verdict {
		return failed(backend.PlaneQueue, backend.FailExecStuckQueued, s.wall)
	}
	exec := func(s *story) backend.Verdict { return failed(backend.PlaneExec, backend.FailControl5xx, s.wall) }
	driver := func(s *story) backend.Verdict { return failed(backend.PlaneDriver, "", s.wall) }
	odd := func(s *story, es ...backend.LifecycleEvent) {
		s.cloudBox(cloudBox, func(b *backend.Sandbox) { b.Lifecycle = es })
	}
	for _, c := range []struct {
		name     string
		want     alerts.AlertState
		severity alerts.Severity
		says     string
		do       func(s *story)
	}{
		{"a queue", alerts.StatePending, alerts.SeverityCritical, "its commands stay queued", func(s *story) { s.sees(cloudBox, queue(s)) }},
		{"a refused command", alerts.StatePending, alerts.SeverityCritical, "server error", func(s *story) { s.sees(cloudBox, exec(s)) }},
		{"a driver", alerts.StatePending, alerts.SeverityWarning, "driver", func(s *story) { s.sees(cloudBox, driver(s)) }},
		{"a refused command and a driver", alerts.StatePending, alerts.SeverityCritical, "server error", func(s *story) { s.sees(cloudBox, exec(s), driver(s)) }},
		{"a queue and a driver", alerts.StateFiring, alerts.SeverityCritical, "its commands stay queued", func(s *story) { s.sees(cloudBox, queue(s), driver(s)) }},
		{"a queue and a refused command", alerts.StateFiring, alerts.SeverityCritical, "", func(s *story) { s.sees(cloudBox, queue(s), exec(s)) }},
		{"a mount of another sandbox", alerts.StateFiring, alerts.SeverityCritical, "its mount is gone", func(s *story) {
			s.sees(cloudBox, failed(backend.PlaneList, backend.FailMountGone, s.wall))
		}},
		{"a deferred resume", alerts.StatePending, alerts.SeverityCritical, "was only noted (deferred)", func(s *story) {
			odd(s, lived(backend.LifecycleResumed, s.wall.Add(-2*time.Minute), deferred))
		}},
		{"an evacuation after a resume", alerts.StatePending, alerts.SeverityCritical, "moved off its host", func(s *story) {
			odd(s, lived(backend.LifecycleResumed, s.wall.Add(-time.Hour)), lived(backend.LifecycleEvacuated, s.wall.Add(-58*time.Minute)))
		}},
		{"a reconcile and a queue", alerts.StateFiring, alerts.SeverityCritical, "its commands stay queued", func(s *story) {
			odd(s, lived(backend.LifecycleReconciled, s.wall.Add(-time.Hour), wasSuspended))
			s.sees(cloudBox, queue(s))
		}},
		{"a pending job", alerts.StatePending, alerts.SeverityWarning, "job job_1 is pending", func(s *story) {
			s.jobOf("job_1", func(j *backend.Job) {
				j.Class, j.Reported, j.KnownSince = backend.WorkQueued, backend.Text("pending"), s.wall
			})
		}},
		{"the line after five seconds", alerts.StatePending, alerts.SeverityWarning, "its hub says", func(s *story) {
			s.says("WARN driver of " + cloudSession + " still has not reconnected after 5000ms")
		}},
		{"routes that disagree", alerts.StatePending, alerts.SeverityWarning, "routes disagree: list idle, status suspended", func(s *story) {
			s.cloudBox(cloudBox, func(b *backend.Sandbox) {
				b.Views = []backend.Field{{Name: backend.Text("list"), Value: backend.Text("idle")}, {Name: backend.Text("status"), Value: backend.Text("suspended")}}
			})
		}},
		{"a driver that is awaited", "", "", "", func(s *story) { s.says("info: waiting for driver of " + cloudSession + " to connect") }},
		{"a resume that went well", "", "", "", func(s *story) {
			odd(s, lived(backend.LifecycleReconciled, s.wall.Add(-time.Hour), wasSuspended), lived(backend.LifecycleResumed, s.wall.Add(-time.Minute), func(e *backend.LifecycleEvent) { e.Deferred = backend.Known(false) }))
		}},
		{"an odd resume, and its files are there", "", "", "", func(s *story) {
			odd(s, lived(backend.LifecycleResumed, s.wall.Add(-2*time.Minute), deferred))
			s.sees(cloudBox, passed(backend.PlaneList, s.wall))
		}},
		{"an odd resume, and a command ran since", "", "", "", func(s *story) {
			odd(s, lived(backend.LifecycleResumed, s.wall.Add(-2*time.Hour), deferred))
			s.executes("exe_1", func(x *backend.Execution) {
				x.Class, x.StartedAt = backend.WorkSucceeded, backend.Known(s.wall.Add(-time.Hour))
			})
		}},
		{"idle with a running job", "", "", "", func(s *story) { s.jobOf("job_1", func(j *backend.Job) { j.Driver = true }) }},
		{"a young queue", "", "", "", func(s *story) {
			s.executes("exe_1", func(*backend.Execution) {})
			s.sees(cloudBox, backend.Verdict{Plane: backend.PlaneQueue, Outcome: backend.OutcomeUnknown, At: s.wall, Passive: true})
		}},
		{"files that cannot be listed", "", "", "", func(s *story) {
			s.sees(cloudBox, backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeUnknown, At: s.wall, What: backend.Text("answered 500")})
		}},
		{"asleep", "", "", "", func(s *story) {
			s.cloudBox(cloudBox, func(b *backend.Sandbox) {
				b.Class, b.Reported = backend.SandboxAsleep, backend.Text("suspended")
				b.Lifecycle = []backend.LifecycleEvent{lived(backend.LifecycleResumed, s.wall.Add(-2*time.Minute), deferred)}
			})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := beginCloud(t)
			s.look()
			s.pass(time.Second)
			c.do(s)
			s.look()
			if s.every(5*time.Second, 70*time.Second, nil); c.want == "" {
				s.quiet(contradictionRule)
				return
			}
			if a := s.want(contradictionRule, c.want); a.Severity != c.severity || !strings.Contains(a.Cause.String(), c.says) {
				t.Errorf("%s: %s", a.Severity, a.Cause)
			}
		})
	}
}

// TestEvidenceTellsEachSign: two signs make it fire, and both are told, also by a new process that has not read the events yet.
func TestEvidenceTellsEachSign(t *testing.T) {
	s := beginCloud(t)
	s.look()
	resumed := s.wall.Add(-66 * time.Minute)
	s.cloudBox(cloudBox, func(b *backend.Sandbox) {
		b.Lifecycle = []backend.LifecycleEvent{lived(backend.LifecycleResumed, resumed, deferred)}
	})
	s.sees(cloudBox, failed(backend.PlaneQueue, backend.FailExecStuckQueued, s.wall))
	s.jobOf("job_1", func(j *backend.Job) {
		j.Class, j.Reported, j.KnownSince = backend.WorkQueued, backend.Text("pending"), s.wall
	})
	s.says("WARN driver of " + cloudSession + " still has not reconnected after 5000ms")
	s.look()
	s.every(5*time.Second, 70*time.Second, nil)
	signs := []string{"queue failed", "its resume of " + resumed.UTC().Format("15:04:05Z") + " was only noted (deferred)", "job job_1 is pending", "still has not reconnected"}
	a := s.want(contradictionRule, alerts.StateFiring)
	wantEvidence(t, a, signs...)
	if c := strings.Count(evidence(a), "still has not reconnected"); c != 1 {
		t.Errorf("the hub's line is told %d times:\n%s", c, evidence(a))
	}
	s.restart()
	s.cloudBox(cloudBox, func(b *backend.Sandbox) { b.Lifecycle = nil })
	s.sandboxes[cloudKey(backend.KindSandbox, cloudBox)].LifecycleAt = time.Time{} // its events are not read yet
	wantEvidence(t, s.look().want(contradictionRule, alerts.StateFiring), signs[:2]...)
}

// TestARegionIsOneIncident: one signal on three sandboxes of a region within five minutes.
func TestARegionIsOneIncident(t *testing.T) {
	for _, n := range []int{2, 3, 1000} {
		for _, region := range []string{"usc", "use"} { // of the first: the others are in usc
			s := beginCloud(t)
			s.plainly = n > 100
			for i := range n {
				id := fmt.Sprintf("sbx_%04d", i)
				s.cloudBox(id, nil)
				s.sees(id, failed(backend.PlaneQueue, backend.FailExecStuckQueued, s.wall))
				if i == 0 {
					s.sandboxes[cloudKey(backend.KindSandbox, id)].Region = backend.Clean(region, 20)
				}
			}
			s.sees(cloudBox, failed(backend.PlaneList, backend.FailMountGone, s.wall)) // a zombie beside it
			s.look()
			want := n
			if region == "use" {
				want--
			}
			incidents, hidden := 0, 0
			for _, a := range s.alerts(contradictionRule) {
				switch {
				case a.Hidden():
					hidden++
				case a.SubjectCount > 1:
					incidents++
					if a.SubjectCount != want || a.State != alerts.StateFiring || !strings.Contains(a.Cause.String(), "region usc: many sandboxes at once are reported well, but their commands stay queued") {
						t.Errorf("%d: incident of %d: %s", n, a.SubjectCount, a.Cause)
					}
				case a.State == alerts.StateFiring && !slices.ContainsFunc(a.Subjects, func(x alerts.Subject) bool { return x.Key.ID.Raw() == cloudBox }):
					t.Errorf("%d: %s fires alone", n, a.Subjects[0].Label)
				}
			}
			if want >= 3 != (incidents == 1) || incidents == 1 && hidden != want {
				t.Errorf("%d in %s: %d incidents, %d hidden", n, region, incidents, hidden)
			}
		}
	}
	s := beginCloud(t) // one after the other
	for i := range 3 {
		id := fmt.Sprintf("sbx_%d", i)
		s.cloudBox(id, nil)
		s.sees(id, failed(backend.PlaneQueue, backend.FailExecStuckQueued, s.wall))
		s.look()
		s.every(10*time.Second, 3*time.Minute, func() { s.cloudBox(cloudBox, nil) })
	}
	for _, a := range s.alerts(contradictionRule) {
		if a.SubjectCount > 1 {
			t.Errorf("it is an incident: %s", a.Cause)
		}
	}
}

// TestACheckpointThatIsGone: by the log, the hub's error and our own resume; a refusal right after a suspend waits.
func TestACheckpointThatIsGone(t *testing.T) {
	const none = "Cannot resume sandbox: it is suspended but has no checkpoint data"
	asleep := func(s *story, ago time.Duration) {
		s.cloudBox(cloudBox, func(b *backend.Sandbox) {
			b.Class, b.Reported, b.StartedAt = backend.SandboxAsleep, backend.Text("suspended"), backend.NotApplicable[time.Time]()
			b.Lifecycle = []backend.LifecycleEvent{lived(backend.LifecycleSuspended, s.wall.Add(-ago)), lived(backend.LifecycleCheckpointed, s.wall.Add(-ago))}
		})
	}
	for name, tell := range map[string]func(*story){
		"log": func(s *story) { s.says("WARN resume of " + cloudBox + " failed: 409 " + none) },
		"hub": func(s *story) {
			s.hub(cloudSession, cloudBox, func(x *backend.Session) {
				x.Status, x.Hub.Error = backend.Text("error"), backend.Text("Failed to resume sandbox: "+none)
			})
		},
		"our resume": func(s *story) {
			s.sees(cloudBox, backend.Verdict{Plane: backend.PlaneControl, Outcome: backend.OutcomeFailed, Kind: backend.FailNoCheckpoint, At: s.wall})
		},
	} {
		s := beginCloud(t)
		asleep(s, time.Minute)
		s.look().quiet(checkpointRule)
		s.pass(time.Second)
		tell(s)
		a := *s.look().want(checkpointRule, alerts.StateFiring)
		if a.Severity != alerts.SeverityCritical || !strings.Contains(a.Cause.String(), "unrecoverable") {
			t.Errorf("%s: %s %s", name, a.Severity, a.Cause)
		}
		wantEvidence(t, &a, "as suspended", "that does not say that it can be used")
		s.quiet(contradictionRule)
		s.sees(cloudBox, backend.Verdict{Plane: backend.PlaneControl, Outcome: backend.OutcomeOK, At: s.wall.Add(time.Second)})
		s.every(time.Minute, 90*time.Minute, func() { s.cloudBox(cloudBox, nil) })
		if b := s.want(checkpointRule, alerts.StateFiring); b.ID != a.ID {
			t.Errorf("%s: it does not last", name)
		}
		s.cloudBox(cloudBox, func(b *backend.Sandbox) {
			b.Class, b.Reported, b.StartedAt = backend.SandboxRunning, backend.Text("idle"), backend.Known(s.wall)
		})
		s.look().quiet(checkpointRule)
		s.pass(time.Minute)
		asleep(s, 0)
		s.look().quiet(checkpointRule) // the hub keeps its last error
	}
	s := beginCloud(t)
	asleep(s, time.Minute)
	s.look()
	s.says("ERROR Failed to resume sandbox: 409 checkpoint is not stored yet " + cloudBox)
	s.after(time.Second).quiet(checkpointRule)
	s.pass(5 * time.Minute)
	s.says("ERROR Failed to resume sandbox: 409 checkpoint is not stored yet " + cloudBox)
	s.cloudBox(cloudBox, nil)
	if a := s.look().want(checkpointRule, alerts.StatePending); a.Severity != alerts.SeverityWarning {
		t.Errorf("%s", a.Severity)
	}
	refused := func(s *story) {
		s.sees(cloudBox, backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeUnknown, Kind: backend.FailResumeRefused, At: s.wall, What: backend.Text("its resume was refused: answered 409 Conflict")})
	}
	s = beginCloud(t)
	asleep(s, time.Minute)
	s.look()
	refused(s)
	s.look().quiet(checkpointRule)
	s.every(time.Minute, time.Hour, func() { s.cloudBox(cloudBox, nil) }).quiet(checkpointRule) // nobody asked again
	refused(s)
	a := *s.look().want(checkpointRule, alerts.StatePending)
	if a.Severity != alerts.SeverityWarning || !strings.Contains(a.Cause.String(), "refused long after its suspend") {
		t.Errorf("%s %s", a.Severity, a.Cause)
	}
	wantEvidence(t, &a, "seen by a resume: its resume was refused: answered 409 Conflict")
	s.quiet(contradictionRule)
	s.pass(time.Minute)
	s.cloudBox(cloudBox, func(b *backend.Sandbox) {
		b.Class, b.Reported, b.StartedAt = backend.SandboxRunning, backend.Text("idle"), backend.Known(s.wall)
	})
	s.look().quiet(checkpointRule)
	s.pass(10 * time.Minute)
	asleep(s, 6*time.Minute)
	s.look().quiet(checkpointRule) // it was resumed since it was refused
}

// TestAWakeThatFailed is a warning about the session; an error that the hub keeps over a driver that leads is none.
func TestAWakeThatFailed(t *testing.T) {
	fails := func(x *backend.Session) {
		x.Status, x.Hub.Error = backend.Text("error"), backend.Text("Sandbox driver did not connect within 120000ms.")
	}
	s := beginCloud(t)
	s.look()
	s.pass(time.Second)
	s.hub(cloudSession, cloudBox, fails)
	s.sees(cloudBox, failed(backend.PlaneDriver, "", s.wall))
	if a := s.look().want(wakeRule, alerts.StateFiring); a.Severity != alerts.SeverityWarning || a.Hidden() {
		t.Errorf("%+v", a)
	}
	s.quiet(contradictionRule)
	began := s.want(wakeRule, alerts.StateFiring).Bounds
	s.every(10*time.Second, 5*time.Minute, nil)
	s.restart()
	for _, read := range []bool{false, true} { // a new process reads the list first, its error later and its participants last
		s.hub(cloudSession, cloudBox, func(x *backend.Session) {
			if fails(x); !read {
				x.Hub.Error = backend.Safe{}
			}
		})
		s.look()
		s.pass(time.Second)
	}
	if a := s.want(wakeRule, alerts.StateFiring); a.Bounds != began {
		t.Errorf("a restart makes it younger: %v, was %v", a.Bounds, began)
	}
	for name, edit := range map[string]func(*backend.Session){
		"a driver leads": func(x *backend.Session) { x.Hub.Driver = backend.Known(true) },
		"history":        func(x *backend.Session) { x.Hub.Bucket = backend.Text("history") },
		"active again":   func(x *backend.Session) { x.Status = backend.Text("active") },
	} {
		s := beginCloud(t)
		s.hub(cloudSession, cloudBox, func(x *backend.Session) { fails(x); edit(x) })
		s.look()
		if len(s.alerts(wakeRule)) > 0 {
			t.Errorf("%s: %s", name, s.alerts(wakeRule)[0].Cause)
		}
	}
}

// TestAWakeOfABrokenSandboxIsLeftToItsContradiction: with the failed wake of a sandbox that nothing is known of, each has its alert.
func TestAWakeOfABrokenSandboxIsLeftToItsContradiction(t *testing.T) {
	s := beginCloud(t)
	s.cloudBox("sbx_other", nil)
	s.look()
	s.pass(time.Second)
	for id, of := range map[string]string{cloudSession: cloudBox, "codesess_other": "sbx_other"} {
		s.hub(id, of, func(x *backend.Session) {
			x.Status, x.Hub.Error = backend.Text("error"), backend.Text("Sandbox driver did not connect within 120000ms.")
		})
	}
	s.sees(cloudBox, failed(backend.PlaneList, backend.FailMountGone, s.wall))
	s.look()
	s.want(contradictionRule, alerts.StateFiring)
	open := 0
	for _, a := range s.alerts(wakeRule) {
		if a.SubjectCount != 1 {
			t.Fatalf("one alert of %d wakes, one of them in a broken sandbox", a.SubjectCount)
		}
		if broken := a.Subjects[0].Key.ID.Raw() == cloudSession; a.Hidden() != broken {
			t.Errorf("%s hidden: %t", a.Subjects[0].Label, a.Hidden())
		} else if !broken {
			open++
		}
	}
	if open != 1 {
		t.Errorf("%d wakes have a line of their own, want 1", open)
	}
}

// TestARegionBeganWithItsFirstSandbox: what was read late began as early as the alert of the sandbox says.
func TestARegionBeganWithItsFirstSandbox(t *testing.T) {
	s := beginCloud(t)
	for i := range 3 {
		id := fmt.Sprintf("sbx_%d", i)
		s.cloudBox(id, nil)
		v := failed(backend.PlaneQueue, backend.FailExecStuckQueued, s.wall)
		v.Since = s.wall.Add(time.Duration(i-5) * time.Minute)
		s.sees(id, v)
	}
	s.look()
	want, found := s.wall.Add(-5*time.Minute), false
	for _, a := range s.alerts(contradictionRule) {
		if a.SubjectCount != 3 {
			continue
		}
		found = true
		if !a.Bounds.Latest.Equal(want) || a.Since.Before(a.Bounds.Latest) {
			t.Errorf("it began by %s, want %s", a.Bounds.Latest, want)
		}
	}
	if !found {
		t.Fatal("no incident")
	}
}

// platformLimits are how long a platform may take.
var platformLimits = []limit{
	{wakeRule, func(t *testing.T, at bool) *story {
		s := beginCloud(t)
		s.hub(cloudSession, cloudBox, func(x *backend.Session) {
			x.Status, x.Hub.Driver, x.Hub.NoDriverSince = backend.Text("creating"), backend.Known(false), s.wall
		})
		s.look()
		return s.after(short(2*time.Minute, at))
	}},
	{transitRule, func(t *testing.T, at bool) *story {
		s := beginCloud(t)
		s.cloudBox(cloudBox, func(b *backend.Sandbox) {
			b.Class, b.Reported, b.KnownSince = backend.SandboxCreated, backend.Text("creating"), s.wall
		})
		s.look()
		s.after(5*time.Minute).want(transitRule, alerts.StatePending)
		return s.after(short(10*time.Minute, at))
	}},
	{reapedRule, func(t *testing.T, at bool) *story {
		s := beginCloud(t)
		s.cloudBox(cloudBox, func(b *backend.Sandbox) {
			b.Class, b.Reported, b.ReapedAt = backend.SandboxAsleep, backend.Text("suspended"), s.wall.Add(2*time.Hour)
		})
		s.look()
		return s.after(short(time.Hour, at))
	}},
}

// TestNudgesThatEnded are one fact with what they prove; a job list that was not read proves no absence.
func TestNudgesThatEnded(t *testing.T) {
	for says, edit := range map[string]func(*backend.Execution){
		"nudge exe_2 ended with exit code 0: it signalled, which does not prove a driver": func(x *backend.Execution) { x.ExitCode = backend.Known(0) },
		"nudge exe_2 ended with exit code 1: that cannot tell whether a driver runs":      func(x *backend.Execution) { x.ExitCode = backend.Known(1) },
		"nudge exe_2 is completed: that cannot tell whether a driver runs":                func(*backend.Execution) {},
		"nudge exe_2 ended with exit code 1: it ran and found no driver process": func(x *backend.Execution) {
			x.ExitCode, x.Error = backend.Known(1), backend.Text("rpc-driver process not found")
		},
	} {
		s := beginCloud(t)
		s.look()
		s.pass(time.Second)
		for i, id := range []string{"exe_1", "exe_2"} {
			s.executes(id, func(x *backend.Execution) {
				x.Nudge, x.Class, x.Reported, x.EndedAt = true, backend.WorkSucceeded, backend.Text("completed"), backend.Known(s.wall.Add(time.Duration(i-9)*time.Second))
				edit(x)
			})
		}
		s.cloudBox(cloudBox, func(b *backend.Sandbox) {
			b.Lifecycle, b.WorkAt = []backend.LifecycleEvent{lived(backend.LifecycleResumed, s.wall.Add(-time.Minute))}, time.Time{}
		})
		s.sees(cloudBox, failed(backend.PlaneList, backend.FailMountGone, s.wall))
		s.cloudBox(cloudBox, func(b *backend.Sandbox) { b.WorkAt = time.Time{} })
		a := s.look().want(contradictionRule, alerts.StateFiring)
		wantEvidence(t, a, says)
		if slices.ContainsFunc(a.Evidence, func(e alerts.Evidence) bool { return strings.Contains(e.Text.String(), "no job began") }) {
			t.Errorf("a list that was not read proves something: %v", a.Evidence)
		}
	}
}

// TestASessionThatNoHubListsIsInUse: where the hub's sessions are not read, or it does not list the session that a log line joins,
// what fails is told although another framework's list lacks that session too.
func TestASessionThatNoHubListsIsInUse(t *testing.T) {
	for name, hub := range map[string][]backend.Input{"no hub": {backend.InputContainers}, "a hub that forgot it": {backend.InputContainers, backend.InputSessions}} {
		t.Run(name, func(t *testing.T) {
			s := beginCloud(t)
			s.source("helix", backend.InputSessions, backend.InputRegistry)
			s.source("cloud", hub...)
			delete(s.sessions, cloudKey(backend.KindSession, cloudSession))
			s.cloudBox(cloudBox, func(b *backend.Sandbox) { b.JoinedBy = backend.Text("a log line of hub-log") })
			s.sees(cloudBox, failed(backend.PlaneList, backend.FailMountGone, s.wall))
			s.look()
			s.every(10*time.Second, time.Minute, func() { s.cloudBox(cloudBox, nil) }).want(contradictionRule, alerts.StateFiring)
		})
	}
}
