package rules

import (
	"maps"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

const (
	startRule     = "sandbox-start-failed"
	loopsRule     = "sandbox-crash-loop"
	unhealthyRule = "sandbox-unhealthy"
	exitedRule    = "sandbox-exited"
)

// refused is a container that the engine could not start.
func refused(s *story, ago time.Duration) func(*backend.Sandbox) {
	made := s.wall.Add(-ago)
	return func(b *backend.Sandbox) {
		b.Class, b.Reported, b.StartedAt, b.CreatedAt = backend.SandboxCreated, backend.Text("created"), backend.NotApplicable[time.Time](), backend.Known(made)
		b.StartError = backend.Text(`exec: "/bin/agent": stat /bin/agent: no such file or directory`)
	}
}

func TestStartFailedFires(t *testing.T) {
	s := beginBoxes(t, startRule)
	s.box("c1", "a", nil)
	s.look().quiet(startRule)
	s.box("c2", "a", refused(s, 2*time.Second))
	a := s.after(time.Second).want(startRule, alerts.StateFiring)
	wantEvidence(t, a, `helix-c2: cannot start: exec: "/bin/agent": stat /bin/agent: no such file or directory`)
	if a.Runbook != "container" {
		t.Errorf("runbook %q", a.Runbook)
	}
	s.box("c2", "a", func(b *backend.Sandbox) { b.Class, b.StartError = backend.SandboxRunning, backend.Safe{} })
	s.after(time.Second).quiet(startRule)
}

func TestStartFailedDoesNotFire(t *testing.T) {
	s := beginBoxes(t, startRule)
	s.box("made", "a", func(b *backend.Sandbox) { refused(s, time.Minute)(b); b.StartError = backend.Safe{} })
	s.box("old", "a", refused(s, 25*time.Hour))
	s.box("other", "", func(b *backend.Sandbox) { refused(s, time.Minute)(b); b.IsSandbox = false })
	s.look().quiet(startRule)
}

func TestStartFailedColdStartGapRestart(t *testing.T) {
	s := beginBoxes(t, startRule)
	s.box("c1", "a", refused(s, time.Hour))
	if a := s.look().want(startRule, alerts.StateFiring); a.Bounds.Latest != s.wall.Add(-time.Hour) {
		t.Errorf("bounds %+v", a.Bounds)
	}
	s.wantHeldThenBack(startRule, "docker", func() { s.box("c1", "a", refused(s, time.Hour)) })
	s.wantSameAfterRestart(startRule, "docker", func() { s.box("c1", "a", refused(s, time.Hour)) })
}

// restarted is a container that its policy started for the n-th time a moment ago, and that was made some time before.
func restarted(s *story, n int, made time.Duration, edit func(*backend.Sandbox)) func(*backend.Sandbox) {
	at := s.wall
	return func(b *backend.Sandbox) {
		b.RestartCount, b.RestartPolicy, b.CreatedAt = backend.Known(n), backend.Text("always"), backend.Known(at.Add(-made))
		b.StartedAt, b.FinishedAt = backend.Known(at.Add(-time.Second)), backend.Known(at.Add(-2*time.Second))
		if edit != nil {
			edit(b)
		}
	}
}

func waiting(b *backend.Sandbox) {
	b.Class, b.Reported, b.ExitCode = backend.SandboxRestarting, backend.Text("restarting"), backend.Known(3)
	b.Log = backend.Known(backend.LogTail{At: noon, Lines: []backend.Safe{backend.Text("connecting"), backend.Text("cannot open db")}})
}

func TestCrashLoopFires(t *testing.T) {
	s := beginBoxes(t, loopsRule)
	s.box("c1", "a", restarted(s, 5, 720*time.Hour, nil))
	s.look().want(loopsRule, alerts.StatePending)
	for i := range 3 {
		s.pass(time.Minute)
		s.box("c1", "a", restarted(s, 6+i, 720*time.Hour, waiting))
		s.look()
	}
	a := s.want(loopsRule, alerts.StateFiring)
	wantEvidence(t, a, "restarted 8 times, 3 of them between 11:59:59Z and 12:02:59Z; exit code 3", "restart policy: always", "the log of helix-c1 ends: connecting | cannot open db", "ended with exit code 3 at 12:02:59Z")
	s.box("c1", "a", restarted(s, 8, 720*time.Hour, func(b *backend.Sandbox) { b.Class = backend.SandboxRunning }))
	s.after(11 * time.Minute).quiet(loopsRule)
}

func TestCrashLoopDoesNotFire(t *testing.T) {
	s := beginBoxes(t, loopsRule)
	s.box("often", "a", func(b *backend.Sandbox) { // long ago
		restarted(s, 29, 720*time.Hour, nil)(b)
		b.StartedAt, b.FinishedAt = backend.Known(s.wall.Add(-time.Hour)), backend.Known(s.wall.Add(-time.Hour))
	})
	s.box("none", "a", func(b *backend.Sandbox) { b.RestartCount = backend.Known(0) })
	s.box("other", "", func(b *backend.Sandbox) { restarted(s, 29, time.Minute, waiting)(b); b.IsSandbox = false })
	s.look().quiet(loopsRule)
	for i := range 3 { // once in an hour
		s.pass(time.Hour)
		s.box("often", "a", restarted(s, 30+i, 720*time.Hour, nil))
		s.look()
		if len(s.alerts(loopsRule)) == 1 {
			s.want(loopsRule, alerts.StatePending)
		}
	}
	s.after(11 * time.Minute).quiet(loopsRule)
	s.box("often", "a", restarted(s, 1, 720*time.Hour, nil)) // started by hand: the count begins anew
	s.look().quiet(loopsRule)
}

func TestCrashLoopColdStartGapRestart(t *testing.T) {
	s := beginBoxes(t, loopsRule)
	s.box("c1", "a", restarted(s, 29, 25*time.Minute, nil))
	wantEvidence(t, s.look().want(loopsRule, alerts.StateFiring), "restarted 29 times, 29 of them between 11:35:00Z and 11:59:59Z")
	s.wantHeldThenBack(loopsRule, "docker", func() { s.box("c1", "a", restarted(s, 30, 26*time.Minute, nil)) })
	s.wantSameAfterRestart(loopsRule, "docker", func() { s.box("c1", "a", restarted(s, 31, 27*time.Minute, nil)) })

	s = beginBoxes(t, loopsRule) // an old container: the engine's wait shows the loop
	s.box("c1", "a", func(b *backend.Sandbox) {
		restarted(s, 29, 720*time.Hour, waiting)(b)
		b.StartedAt, b.FinishedAt = backend.Known(s.wall.Add(-21*time.Second)), backend.Known(s.wall.Add(-20*time.Second))
	})
	wantEvidence(t, s.look().want(loopsRule, alerts.StateFiring), "restarted 29 times; the engine has waited since 11:59:40Z")

	s = beginBoxes(t, loopsRule) // its policy gave up
	s.box("c1", "a", restarted(s, 3, 720*time.Hour, func(b *backend.Sandbox) { waiting(b); b.Class = backend.SandboxExited }))
	wantEvidence(t, s.look().want(loopsRule, alerts.StateFiring), "then ended for good at 11:59:59Z; exit code 3")
}

func failingHealth(s *story, since, period time.Duration) func(*backend.Sandbox) {
	at := s.wall.Add(-since)
	return func(b *backend.Sandbox) {
		b.Health, b.HealthOutput, b.StartPeriod = backend.Known(backend.Text("unhealthy")), backend.Text("connection refused"), backend.Known(period)
		b.HealthChecks = backend.Known(backend.HealthChecks{Checked: s.wall, ExitCode: 1, Failed: 7, FailingBy: at})
	}
}

func TestUnhealthyFires(t *testing.T) {
	s := beginBoxes(t, unhealthyRule)
	s.box("c1", "a", failingHealth(s, time.Second, time.Minute))
	s.look().want(unhealthyRule, alerts.StatePending)
	s.after(50*time.Second).want(unhealthyRule, alerts.StatePending)
	a := s.after(11*time.Second).want(unhealthyRule, alerts.StateFiring)
	wantEvidence(t, a, "the health check of sandbox helix-c1 fails since 11:59:59Z or earlier, 7 times in a row: connection refused", "its checks may fail for 1m after its start")
	s.box("c1", "a", func(b *backend.Sandbox) { b.Health = backend.Known(backend.Text("healthy")) })
	s.after(time.Second).quiet(unhealthyRule)
}

func TestUnhealthyDoesNotFire(t *testing.T) {
	s := beginBoxes(t, unhealthyRule)
	s.box("starting", "a", func(b *backend.Sandbox) {
		failingHealth(s, 10*time.Minute, time.Hour)(b)
		b.Health = backend.Known(backend.Text("starting"))
	})
	s.box("paused", "a", func(b *backend.Sandbox) { failingHealth(s, time.Hour, 0)(b); b.Class = backend.SandboxPaused })
	s.box("none", "a", func(b *backend.Sandbox) { b.Health = backend.NotApplicable[backend.Safe]() })
	s.look().quiet(unhealthyRule)
}

func TestUnhealthyColdStartGapRestart(t *testing.T) {
	s := beginBoxes(t, unhealthyRule)
	s.box("c1", "a", failingHealth(s, 40*time.Minute, time.Minute))
	if a := s.look().want(unhealthyRule, alerts.StateFiring); a.Bounds.Latest != s.wall.Add(-40*time.Minute) {
		t.Errorf("bounds %+v", a.Bounds)
	}
	again := failingHealth(s, 40*time.Minute, time.Minute)
	s.wantHeldThenBack(unhealthyRule, "docker", func() { s.box("c1", "a", again) })
	s.wantSameAfterRestart(unhealthyRule, "docker", func() { s.box("c1", "a", again) })
}

// crashed is a container that ended by itself.
func crashed(s *story, code int, ago time.Duration) func(*backend.Sandbox) {
	at := s.wall.Add(-ago)
	return func(b *backend.Sandbox) {
		b.Class, b.Reported, b.ExitCode, b.FinishedAt = backend.SandboxExited, backend.Text("exited"), backend.Known(code), backend.Known(at)
		b.MemLimit = backend.Known[int64](64 << 20)
		b.Log = backend.Known(backend.LogTail{At: at, Why: backend.Text("it is empty")})
	}
}

func beginRunning(t testing.TB) *story { return beginRunningFor(t, exitedRule) }

func beginRunningFor(t testing.TB, rule string) *story {
	s := beginBoxes(t, rule)
	s.session("a", func(x *backend.Session) { x.Running = backend.Known(true) })
	s.box("c1", "a", nil)
	s.look().quiet(rule)
	return s
}

func TestExitedFires(t *testing.T) {
	s := beginRunning(t)
	s.pass(time.Second)
	s.box("c1", "a", crashed(s, 3, 0))
	s.look().want(exitedRule, alerts.StatePending)
	s.every(5*time.Second, time.Minute, func() { s.session("a", func(x *backend.Session) { x.Running = backend.Known(true) }) })
	a := s.want(exitedRule, alerts.StateFiring)
	if a.Cause.String() != "ended with exit code 3 while its session runs" || a.Severity != alerts.SeverityWarning {
		t.Errorf("alert %+v", a)
	}
	wantEvidence(t, a, "exit code 3 at 12:00:01Z", "the memory limit of helix-c1 is 64 MiB", "the log of helix-c1 has no lines to show: it is empty")
	s.box("c2", "a", func(b *backend.Sandbox) { b.StartedAt = backend.Known(s.wall) }) // takes its place
	s.after(time.Minute).quiet(exitedRule)
}

// causes are the alerts of a rule that fire, by their causes: how many subjects each has.
func (s *story) causes(rule string) map[string]int {
	out := map[string]int{}
	for _, a := range s.alerts(rule) {
		if a.State == alerts.StateFiring {
			out[a.Cause.String()] += a.SubjectCount
		}
	}
	return out
}

func (s *story) wantCauses(rule string, want map[string]int) {
	s.t.Helper()
	if got := s.causes(rule); !maps.Equal(got, want) {
		s.t.Errorf("at %s %s fires for %v, want %v", s.wall.Format("15:04:05"), rule, got, want)
	}
}

// Several exit codes are several causes: each has an alert, whose headline and steps are its own.
func TestExitedWithSeveralCodes(t *testing.T) {
	s := beginRunning(t)
	for id, code := range map[string]int{"c3": 139, "c4": 1, "c5": 4, "c6": 1} {
		s.box(id, "a", crashed(s, code, 0))
	}
	s.every(5*time.Second, time.Minute, func() { s.session("a", func(x *backend.Session) { x.Running = backend.Known(true) }) })
	s.wantCauses(exitedRule, map[string]int{
		"ended with exit code 139 while its session runs": 1, "ended with exit code 1 while its session runs": 2, "ended with exit code 4 while its session runs": 1})
}

// TestCrashLoopsOfEachCause: a loop of kills for memory and loops with other exit codes are alerts of their own.
func TestCrashLoopsOfEachCause(t *testing.T) {
	s := beginBoxes(t, loopsRule)
	ends := func(code int, killed bool) func(*backend.Sandbox) {
		return func(b *backend.Sandbox) {
			waiting(b)
			b.ExitCode, b.OOMKilled = backend.Known(code), backend.Known(killed)
		}
	}
	s.box("c1", "a", restarted(s, 9, time.Minute, ends(3, false)))
	s.box("c2", "a", restarted(s, 9, time.Minute, ends(3, false)))
	s.box("c3", "a", restarted(s, 9, time.Minute, ends(1, false)))
	s.box("c4", "a", restarted(s, 9, time.Minute, ends(137, true)))
	s.box("c5", "a", restarted(s, 9, time.Minute, nil)) // read while it ran
	s.look()
	const three, one = "ends with exit code 3 and is started again and again", "ends with exit code 1 and is started again and again"
	const memory, unread = "killed at its memory limit and started again and again", "it ends and is started again and again"
	s.wantCauses(loopsRule, map[string]int{three: 2, one: 1, memory: 1, unread: 1})

	turn := func(n int, code int) {
		s.pass(time.Minute)
		s.box("c1", "a", restarted(s, n, time.Hour, ends(code, false)))
		s.box("c5", "a", restarted(s, n, time.Hour, ends(1, false)))
		s.look()
	}
	turn(10, 1) // one run that ends in another way is no other loop
	s.wantCauses(loopsRule, map[string]int{three: 2, one: 2, memory: 1})
	turn(11, 3)
	turn(12, 1)
	s.wantCauses(loopsRule, map[string]int{three: 2, one: 2, memory: 1})
	s.look() // the same run read twice is one run
	s.wantCauses(loopsRule, map[string]int{three: 2, one: 2, memory: 1})
	turn(13, 1)
	s.wantCauses(loopsRule, map[string]int{three: 1, one: 3, memory: 1})
}

// TestUnhealthyKeepsItsOnset: an engine that forgets the older checks tells a later bound each time; the earliest known one holds until
// the check fails fewer times in a row.
func TestUnhealthyKeepsItsOnset(t *testing.T) {
	s := beginBoxes(t, unhealthyRule)
	fails := func(n int, ago time.Duration) {
		s.box("c1", "a", func(b *backend.Sandbox) {
			failingHealth(s, ago, 0)(b)
			c, _ := b.HealthChecks.Get()
			c.Failed = n
			b.HealthChecks, b.StartedAt = backend.Known(c), backend.Known(noon.Add(-time.Hour))
		})
	}
	fails(20, 30*time.Minute)
	first := s.look().want(unhealthyRule, alerts.StateFiring).Bounds.Latest
	s.pass(10 * time.Minute)
	fails(24, 32*time.Minute)
	if a := s.look().want(unhealthyRule, alerts.StateFiring); !a.Bounds.Latest.Equal(first) {
		t.Errorf("it began at %v, and now at %v", first, a.Bounds.Latest)
	}
	s.pass(10 * time.Minute)
	fails(3, 5*time.Minute) // it passed in between
	if a := s.look().want(unhealthyRule, alerts.StateFiring); !a.Bounds.Latest.Equal(s.wall.Add(-5 * time.Minute)) {
		t.Errorf("another episode began at %v, not 5 minutes before %v", a.Bounds.Latest, s.wall)
	}
}

// TestUnhealthyByWhatTheCheckPrints: other words at its first failure are another cause; later ones begin no other alert.
func TestUnhealthyByWhatTheCheckPrints(t *testing.T) {
	s := beginBoxes(t, unhealthyRule)
	says := func(text backend.Literal) func(*backend.Sandbox) {
		return func(b *backend.Sandbox) { failingHealth(s, time.Hour, 0)(b); b.HealthOutput = backend.Text(text) }
	}
	s.box("c1", "a", says("connection refused"))
	s.box("c2", "a", says("connection refused"))
	s.box("c3", "a", says("no space left on device"))
	s.box("c4", "a", func(b *backend.Sandbox) { says("x")(b); b.HealthOutput = backend.Safe{} })
	s.look()
	want := map[string]int{"its health check fails: connection refused": 2, "its health check fails: no space left on device": 1, "its health check fails": 1}
	s.wantCauses(unhealthyRule, want)
	s.box("c2", "a", says("timed out"))
	s.after(time.Minute)
	s.wantCauses(unhealthyRule, want)
	s.box("c2", "a", func(b *backend.Sandbox) { b.Health = backend.Known(backend.Text("healthy")) })
	s.after(time.Minute)
	s.box("c2", "a", says("timed out"))
	s.after(time.Minute)
	want["its health check fails: connection refused"], want["its health check fails: timed out"] = 1, 1
	s.wantCauses(unhealthyRule, want)
}

func TestExitedDoesNotFire(t *testing.T) {
	s := beginRunning(t)
	s.session("over", func(x *backend.Session) { x.Running, x.Answer = backend.Known(false), backend.AnswerIdle })
	for id, code := range map[string]int{"done": 0, "stopped": 137, "term": 143, "hung": 129, "typed": 130} {
		s.box(id, "a", crashed(s, code, time.Hour))
	}
	s.box("harmless", "over", crashed(s, 1, time.Hour))
	s.box("unknown", "nobody", crashed(s, 1, time.Hour))
	s.box("nowhere", "", crashed(s, 1, time.Hour))
	s.box("oom", "a", killedBefore(s, time.Hour))
	s.box("paused", "a", func(b *backend.Sandbox) { b.Class = backend.SandboxPaused })
	s.look().quiet(exitedRule)
	s.every(10*time.Second, time.Minute, nil)
	s.quiet(exitedRule)
}

// TestExitedWithoutSessionsIsANote: on a laptop no list tells whether a container that failed was still needed.
func TestExitedWithoutSessionsIsANote(t *testing.T) {
	s := beginBoxes(t, exitedRule)
	s.box("db", "", crashed(s, 7, time.Hour))
	s.box("job", "", crashed(s, 0, time.Hour))
	s.box("stopped", "", crashed(s, 137, time.Hour))
	for id := range s.sandboxes {
		s.sandboxes[id].IsSandbox, s.sandboxes[id].Watched = false, true
	}
	a := s.look().want(exitedRule, alerts.StateFiring)
	if a.Severity != alerts.SeverityInfo || a.SubjectCount != 1 || a.Cause.String() != "ended with exit code 7" {
		t.Errorf("alert %+v", a)
	}
	b := beginBoxes(t, exitedRule)
	b.box("db", "", crashed(b, 7, time.Hour))
	for id := range b.sandboxes {
		b.sandboxes[id].IsSandbox = false
	}
	b.look().quiet(exitedRule)
}

func TestExitedColdStartGapRestart(t *testing.T) {
	s := beginBoxes(t, exitedRule)
	s.session("a", func(x *backend.Session) { x.Running = backend.Known(true) })
	again := crashed(s, 1, time.Hour)
	s.box("c1", "a", again)
	s.look().want(exitedRule, alerts.StateFiring)
	s.wantHeldThenBack(exitedRule, "docker", func() { s.box("c1", "a", again) })
	s.wantSameAfterRestart(exitedRule, "docker", func() { s.box("c1", "a", again) })
	s.after(25 * time.Hour)
	if a := s.want(exitedRule, alerts.StateFiring); a.Severity != alerts.SeverityInfo {
		t.Errorf("after a day it is %s", a.Severity)
	}
}

// TestAKilledContainerBehindAWorker: exit code 137 under a session that runs is told whatever the platform calls it, since what idles
// there is asked to stop; one that was asked, and one that nobody is known to need, are not.
func TestAKilledContainerBehindAWorker(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		class backend.SandboxClass
		code  int
		fires bool
	}{{backend.SandboxExited, 137, true}, {backend.SandboxDead, 137, true}, {backend.SandboxExited, 143, false}, {backend.SandboxExited, 1, true}} {
		for _, rule := range []string{exitedRule, contradictionRule} {
			s := beginRunningFor(t, rule)
			s.box("c1", "a", func(b *backend.Sandbox) {
				crashed(s, c.code, 0)(b)
				b.Class, b.Provider = c.class, backend.Text("cloudflare")
			})
			s.every(5*time.Second, time.Minute, func() { s.session("a", func(x *backend.Session) { x.Running = backend.Known(true) }) })
			if got := len(s.alerts(rule)) == 1 && s.alerts(rule)[0].State == alerts.StateFiring; got != c.fires {
				t.Errorf("%s, %s with %d: %s", rule, c.class, c.code, summary(s.board))
			}
		}
	}
	s := begin(t, exitedRule)
	s.source("workers", backend.InputContainers)
	s.workersBox(func(b *backend.Sandbox) {
		b.Class, b.Reported, b.ExitCode, b.FinishedAt = backend.SandboxExited, backend.Text("stopped"), backend.Known(137), backend.Known(s.wall.Add(-time.Minute))
	})
	s.after(10 * time.Second).quiet(exitedRule)
}

// TestExitedAsksEachHome: two sources may list the session, and the first one cannot be read.
func TestExitedAsksEachHome(t *testing.T) {
	runs := func(x *backend.Session) { x.Running = backend.Known(true) }
	in := func(source string, edit func(*backend.Session)) func(*backend.Session) {
		return func(x *backend.Session) { x.Key.Source = source; edit(x) }
	}
	for name, first := range map[string]func(*story){
		"its source is down":         func(s *story) { s.down("helix", "timeout") },
		"its session cannot be read": func(s *story) { s.session("a", func(x *backend.Session) { runs(x); x.Stale = true }) },
	} {
		s := beginBoxes(t, exitedRule)
		s.source("second", backend.InputSessions)
		s.session("a", runs)
		k := sessionKey("a")
		other := *s.sessions[k]
		in("second", runs)(&other)
		s.sessions[other.Key] = &other
		s.delta.Changed = append(s.delta.Changed, other.Key)
		s.box("c1", "a", nil)
		s.look()
		s.pass(time.Second)
		first(s)
		s.box("c1", "a", crashed(s, 3, 0))
		s.every(5*time.Second, 40*time.Second, func() {
			x := other
			x.ReadAt = s.wall
			s.sessions[x.Key] = &x
			s.delta.Changed = append(s.delta.Changed, x.Key)
		})
		if as := s.alerts(exitedRule); len(as) != 1 || as[0].State != alerts.StateFiring {
			t.Errorf("%s, and the second source says that it runs: %s", name, summary(s.board))
		}
	}
}

// TestCrashLoopKeepsItsOnset: a restart more does not move when the loop began.
func TestCrashLoopKeepsItsOnset(t *testing.T) {
	s := beginBoxes(t, loopsRule)
	s.box("c1", "a", restarted(s, 5, 2*time.Second, waiting))
	first := s.look().want(loopsRule, alerts.StateFiring).Bounds
	for i := range 5 {
		s.pass(time.Minute)
		s.box("c1", "a", restarted(s, 6+i, time.Duration(i+1)*time.Minute+2*time.Second, waiting))
		if a := s.look().want(loopsRule, alerts.StateFiring); a.Bounds != first {
			t.Fatalf("its onset moved from %v to %v", first, a.Bounds)
		}
	}
}

// TestStartErrorsThatDifferAreCounted: the cause of one is not that of all.
func TestStartErrorsThatDifferAreCounted(t *testing.T) {
	s := beginBoxes(t, "sandbox-start-failed")
	for i, program := range []string{"/no/such/binary", "/nope2", "/nope2"} {
		s.box("c"+string(rune('1'+i)), "a", func(b *backend.Sandbox) {
			b.Class, b.Reported, b.CreatedAt = backend.SandboxCreated, backend.Text("created"), backend.Known(s.wall)
			b.StartError = backend.Clean(`exec: "`+program+`": stat `+program+": no such file or directory", 200)
		})
	}
	a := s.look().want("sandbox-start-failed", alerts.StateFiring)
	if text := a.Variants.Text().String(); a.SubjectCount != 3 || !strings.Contains(text, "2 variants") || !strings.Contains(text, "/no/such/binary 1") {
		t.Errorf("%d subjects, %q", a.SubjectCount, text)
	}
}
