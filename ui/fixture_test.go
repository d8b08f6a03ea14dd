package ui

import (
	"fmt"
	"sync"
	"time"

	"sandglass/alerts"
	"sandglass/alerts/rules"
	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/fleet"
)

// The fixtures are small hand-made fleets, fixed at one moment.

func at(now time.Time, ago time.Duration) backend.Value[time.Time] {
	return backend.Known(now.Add(-ago))
}

func safe(s string) backend.Safe { return backend.Clean(s, backend.MaxTextRunes) }

type fixedFeed struct {
	mu      sync.Mutex
	state   *fleet.State
	board   *alerts.Board
	subs    map[chan struct{}]struct{}
	visible map[string][]backend.Key
}

func newFeed(s *fleet.State, b *alerts.Board) *fixedFeed {
	return &fixedFeed{state: s, board: b, subs: map[chan struct{}]struct{}{}, visible: map[string][]backend.Key{}}
}

func (f *fixedFeed) Latest() (*fleet.State, *alerts.Board) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state, f.board
}

func (f *fixedFeed) Subscribe() (<-chan struct{}, func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ch := make(chan struct{}, 1)
	f.subs[ch] = struct{}{}
	return ch, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.subs, ch)
	}
}

func (f *fixedFeed) SetVisible(viewer string, keys []backend.Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.visible[viewer] = keys
}

func (f *fixedFeed) set(s *fleet.State, b *alerts.Board) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state, f.board = s, b
	for ch := range f.subs {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

func wsKey(source, session, name string) backend.Key {
	return backend.Key{Kind: backend.KindWorkspace, Source: source, Parent: backend.MustID(session), ID: backend.MustID(name)}
}

func seKey(source, session string) backend.Key {
	return backend.Key{Kind: backend.KindSession, Source: source, ID: backend.MustID(session)}
}

func workspace(now time.Time, source, session, name, state string, class backend.StateClass, attempt, success time.Duration, lastError string) *backend.Workspace {
	w := &backend.Workspace{Meta: backend.Meta{Key: wsKey(source, session, name), ReadAt: now.Add(-3 * time.Second), FirstSeen: now.Add(-3 * time.Hour),
		History: []backend.StatusChange{{Status: safe("open"), At: now.Add(-3 * time.Hour)}, {Status: safe(state), At: now.Add(-attempt - time.Minute)}},
		Raw:     safe(fmt.Sprintf(`{"name":%q,"state":%q,"lastError":%q,"lastAttemptAt":%d}`, name, state, lastError, now.Add(-attempt).UnixMilli()))},
		Named: true, Reported: safe(state), Class: class, LastError: safe(lastError),
		LastAttemptAt: at(now, attempt), LastSuccessAt: at(now, success)}
	w.Provider = safe("cloudflare-sandbox")
	return w
}

func incident(now time.Time) (*fleet.State, *alerts.Board) {
	const eu, us, dock, build = "helix-eu", "helix-us", "docker-local", "tmp-build"
	var ws []*backend.Workspace
	for i := range 14 {
		ws = append(ws, workspace(now, eu, fmt.Sprintf("codesess_%04x", 0x3541+i*37), []string{"box", "notes", "build"}[i%3], "open",
			backend.ClassHealthy, time.Duration(i*7+1)*time.Minute, time.Duration(i*7+1)*time.Minute, ""))
	}
	for i := range 6 {
		ws = append(ws, workspace(now, eu, fmt.Sprintf("codesess_%04x", 0x9100+i*11), "box", "evicted", backend.ClassEvicted,
			time.Duration(i+1)*time.Minute, 50*time.Minute, "WorkspaceEvictedError: sandbox instance is gone: max_instances reached (60/60)"))
	}
	for i := range 3 {
		ws = append(ws, workspace(now, eu, fmt.Sprintf("codesess_%04x", 0x77c0+i), "scratch", "failed", backend.ClassFailed,
			41*time.Minute, 70*time.Minute, "WorkspaceFailedError: ref schemaVersion 4 is outside the supported range 1-3"))
	}
	busy := workspace(now, eu, "c4f1", "box", "opening", backend.ClassOpening, 90*time.Second, 12*time.Minute, "")
	unused := workspace(now, eu, "c4f1", "later", "declared", backend.ClassUnknown, 0, 0, "")
	unused.LastAttemptAt, unused.LastSuccessAt = backend.NotApplicable[time.Time](), backend.NotApplicable[time.Time]()
	stale := workspace(now, us, "u-1", "box", "open", backend.ClassHealthy, 9*time.Minute, 9*time.Minute, "")
	stale.Stale, stale.StaleWhy, stale.ReadAt = true, safe("connection refused"), now.Add(-4*time.Minute)
	ws = append(ws, busy, unused, stale)

	running := &backend.Session{Meta: backend.Meta{Key: seKey(eu, "c4f1"), ReadAt: now.Add(-3 * time.Second)}, Running: backend.Known(true), Answer: backend.AnswerOK,
		Status: safe("running"), SessionFacts: backend.SessionFacts{Tenant: safe("acme"), FrameworkVersion: safe("0.9.2")}}
	state := &fleet.State{Number: 40, Wall: now, LongestOperation: 5 * time.Minute,
		Workspaces: fleet.NewTable(ws...), Sessions: fleet.NewTable(running),
		Sandboxes: fleet.NewTable(machines(now, dock)...), Tmpdirs: fleet.NewTable(scratch(now, build)...),
		Hosts: fleet.NewTable(&backend.Host{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindHost, Source: build, ID: backend.MustID("build-3")}, ReadAt: now},
			Name: safe("build-3"), MemTotal: backend.Known[int64](32e9), MemAvailable: backend.Known[int64](9e9), OOMKills: backend.Known[int64](2),
			Roots: []backend.Root{{Path: safe("/tmp"), Exists: backend.Known(true), Writable: backend.Known(true), FSType: safe("tmpfs"),
				Bytes: backend.Known[int64](16e9), BytesFree: backend.Known[int64](1.4e9), Inodes: backend.Known[int64](4e6), InodesFree: backend.Known[int64](31e5)}}}),
		Sources: []*fleet.SourceHealth{
			source(now, eu, "helix", fleet.StatusOK, backend.InputRegistry, backend.InputSessions),
			source(now, us, "helix", fleet.StatusDown),
			source(now, dock, "docker", fleet.StatusOK, backend.InputContainers),
			source(now, build, "tmpdir", fleet.StatusOK, backend.InputTmpdirs, backend.InputHost),
			source(now, "app-logs", "logs", fleet.StatusDegraded, backend.InputRejections, backend.InputEvictionLogs),
			source(now, "prom-eu", "prometheus", fleet.StatusAbsent),
		}}
	board, _ := alerts.NewEngine(rules.Defaults(), "prod-eu").Next(nil, &fleet.State{Wall: now}) // diagnoses read the thresholds of its rules
	fixed := *board
	fixed.Number, fixed.At, fixed.Alerts = 40, now, incidentAlerts(now)
	fixed.Blind = []alerts.Blindness{
		{Rule: "eviction-storm", Source: us, Why: safe("no metrics and no logs speak about it")},
		{Rule: "audit-saturation", Source: us, Why: safe("no metrics and no logs speak about it")},
		{Rule: "failed-too-long", Source: us, Why: safe("the source is down")}}
	return state, &fixed
}

func source(now time.Time, id, kind string, status fleet.SourceStatus, in ...backend.Input) *fleet.SourceHealth {
	h := &fleet.SourceHealth{Key: backend.Key{Kind: backend.KindSource, Source: id, ID: backend.MustID(id)}, Kind: kind, Status: status,
		LastOK: now.Add(-3 * time.Second), LastTry: now.Add(-3 * time.Second), Interval: 5 * time.Second, NextPoll: now.Add(2 * time.Second),
		P50: 12 * time.Millisecond, P95: 48 * time.Millisecond, RequestsPerMin: 212, BytesPerMin: 1.4e6, Inputs: in}
	switch status {
	case fleet.StatusDown:
		h.Error, h.ErrorKind = safe("connection refused (10.2.0.7:8080)"), backend.ErrUnreachable
		h.LastOK, h.Failures, h.NextPoll, h.DownFrom = now.Add(-4*time.Minute), 9, now.Add(42*time.Second), now.Add(-4*time.Minute)
		h.P50, h.P95, h.RequestsPerMin, h.BytesPerMin = 0, 0, 1.4, 0
	case fleet.StatusDegraded:
		h.Error = safe("above its byte budget: every line is searched, 1 in 20 is decoded")
		h.Notes = []backend.Safe{safe("/var/log/agent/app.log: 1 in 20 lines decoded")}
		h.Missing = []backend.MissingInput{{Input: backend.InputEvictions, Why: safe("a log has no metrics")}}
	case fleet.StatusAbsent:
		h.LastOK, h.Error = time.Time{}, safe("nothing listens on 127.0.0.1:9464")
		h.P50, h.P95, h.RequestsPerMin, h.BytesPerMin = 0, 0, 0, 0
	case fleet.StatusOK, fleet.StatusStarting:
	}
	return h
}

func machines(now time.Time, src string) []*backend.Sandbox {
	box := func(name, session, reported string, class backend.SandboxClass, age time.Duration) *backend.Sandbox {
		b := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: src, ID: backend.MustID("id-" + name)}, ReadAt: now.Add(-10 * time.Second),
			Raw: safe(`{"Id":"id-` + name + `","State":"` + reported + `"}`)},
			Name: safe(name), Provider: safe("docker"), Image: safe("registry.local/agent:0.9.2"), IsSandbox: true, Reported: safe(reported), Class: class,
			Health: backend.NotApplicable[backend.Safe](), HealthChecks: backend.NotApplicable[backend.HealthChecks](), CreatedAt: at(now, age), StartedAt: at(now, age)}
		if session != "" {
			b.Session, b.Workspace = backend.MustID(session), backend.MustID("box")
		}
		if class == backend.SandboxRunning {
			b.Usage = backend.Known(backend.Usage{At: now.Add(-20 * time.Second), CPU: backend.Known(0.034), Mem: backend.Known[int64](118e6), MemLimit: backend.Known[int64](512e6)})
		}
		return b
	}
	broken := box("web-eval-12", "c4f1", "running", backend.SandboxRunning, 41*time.Minute)
	broken.Observed = backend.Known(backendtest.Ran(false, safe("broken: no /workspace"), now.Add(-10*time.Second)))
	sick := box("web-eval-15", "c4f4", "running", backend.SandboxRunning, 3*time.Hour)
	sick.Health, sick.HealthOutput = backend.Known(safe("unhealthy")), safe("curl: (7) failed to connect to localhost port 8080")
	sick.HealthChecks = backend.Known(backend.HealthChecks{Checked: now.Add(-20 * time.Second), ExitCode: 7, Failed: 80, FailingBy: now.Add(-40 * time.Minute)})
	oom := box("web-eval-19", "c511", "exited", backend.SandboxExited, 12*time.Minute)
	oom.OOMKilled, oom.ExitCode, oom.FinishedAt = backend.Known(true), backend.Known(137), at(now, 4*time.Minute)
	works := box("web-eval-14", "c4f3", "running", backend.SandboxRunning, 39*time.Minute)
	works.Observed = backend.Known(backendtest.Ran(true, safe("healthy"), now.Add(-10*time.Second)))
	other := box("postgres", "", "running", backend.SandboxRunning, 90*24*time.Hour)
	other.IsSandbox = false
	loop := box("web-eval-21", "c512", "restarting", backend.SandboxRestarting, 8*time.Minute)
	loop.RestartCount = backend.Known(17)
	return []*backend.Sandbox{broken, sick, oom, works, other, loop,
		box("bl-agents-9f", "c600", "paused", backend.SandboxPaused, 72*time.Hour)}
}

func scratch(now time.Time, src string) []*backend.Tmpdir {
	dir := func(name string, age time.Duration, size int64, holders backend.Value[[]backend.Holder]) *backend.Tmpdir {
		return &backend.Tmpdir{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindTmpdir, Source: src, Parent: backend.MustID("build-3"), ID: backend.MustID("26:" + name + ":/tmp/" + name)}, ReadAt: now.Add(-20 * time.Second)},
			Path: safe("/tmp/" + name), RawPath: backend.MustID("/tmp/" + name), Root: safe("/tmp"), Newest: at(now, age), Born: at(now, age+time.Hour),
			Bytes: backend.Known(size), Entries: backend.Known(size / 40_000), Owner: safe("agent"), Mode: safe("drwx------"), Holders: holders}
	}
	held := backend.Known([]backend.Holder{{PID: 4121, Command: safe("node"), How: safe("cwd")}, {PID: 4177, Command: safe("bash"), How: safe("fd")}})
	dirs := []*backend.Tmpdir{dir("helix-ws-c4f1-box", 2*time.Minute, 118e6, held)}
	for i := range 8 {
		dirs = append(dirs, dir(fmt.Sprintf("helix-ws-%04x", 0x51a0+i*77), time.Duration(i*9+3)*time.Hour, int64(38e6*(i+1)), backend.Known([]backend.Holder{})))
	}
	cut := dir("helix-ws-huge", 30*time.Minute, 9.1e9, backend.Unknown[[]backend.Holder]())
	cut.Cut, cut.Newest, cut.Unreadable = true, backend.Unknown[time.Time](), 412
	return append(dirs, cut)
}

func incidentAlerts(now time.Time) []*alerts.Alert {
	mk := func(id, rule, src string, sev alerts.Severity, st alerts.AlertState, cause string, since time.Duration, n int, kind backend.Kind, book string) *alerts.Alert {
		a := &alerts.Alert{ID: id, Rule: rule, Source: src, Severity: sev, State: st, Cause: safe(cause), Fingerprint: "v1:" + id, Since: now.Add(-since),
			Active: now.Add(-since - 2*time.Minute), Confirmed: now.Add(-3 * time.Second), SubjectCount: n, Runbook: book, Sessions: (n + 4) / 5, Providers: 1}
		for i := range min(n, 6) {
			k := backend.Key{Kind: kind, Source: src, ID: backend.MustID(fmt.Sprintf("%s-%d", id, i))}
			if kind == backend.KindWorkspace {
				k = wsKey(src, fmt.Sprintf("codesess_%04x", 0x9100+i*11), "box")
			}
			a.Subjects = append(a.Subjects, alerts.Subject{Key: k, Label: k.Safe(), State: st, Since: now.Add(-since), Detail: safe("evicted 6m, 3 attempts")})
		}
		return a
	}
	storm := mk("a1", "eviction-storm", "helix-eu", alerts.SeverityCritical, alerts.StateFiring, "cloudflare-sandbox: max_instances reached", 6*time.Minute, 212, backend.KindWorkspace, "7")
	storm.Evidence = []alerts.Evidence{{Text: safe("evictions 41.2/s, recovered by retry 3 % (storm below 50 %)"), Source: "helix-eu"},
		{Text: safe("212 of 230 workspaces of this provider are evicted, in 40 sessions"), Source: "helix-eu"},
		{Text: safe(`412 × "eviction retry exhausted" in 5m`), Source: "app-logs"}}
	storm.Trend, storm.TrendSpan = []float64{0, 0, 0, 1, 2, 5, 11, 20, 31, 38, 41, 40, 42, 41, 41, 42}, 10*time.Minute
	storm.Bounds = alerts.Bounds{Earliest: now.Add(-9 * time.Minute), Latest: now.Add(-8 * time.Minute)}
	failed := mk("a2", "failed-too-long", "helix-eu", alerts.SeverityCritical, alerts.StateFiring, "WorkspaceFailedError: ref schemaVersion # is outside the supported range #-#", 41*time.Minute, 9, backend.KindWorkspace, "6")
	failed.Bounds = alerts.Bounds{Earliest: now.Add(-70 * time.Minute), Latest: now.Add(-7 * time.Minute)}
	failed.Acknowledged = &alerts.Acknowledgement{Owner: safe("mara"), Reason: safe("rolling forward"), Until: now.Add(12 * time.Minute)}
	hammered := mk("a3", "hammered-and-failing", "helix-eu", alerts.SeverityWarning, alerts.StateFiring, "r2 bucket unreachable", 5*time.Minute, 18, backend.KindWorkspace, "1")
	audit := mk("a4", "audit-saturation", "app-logs", alerts.SeverityWarning, alerts.StateFiring, `session c4f1: "ls;" rejected 1,900/s`, 3*time.Minute, 1, backend.KindSession, "9")
	down := mk("a5", "source-down", "helix-us", alerts.SeverityWarning, alerts.StateFiring, "connection refused", 4*time.Minute, 1, backend.KindSource, "")
	down.Folds, down.Folded = 2, alerts.Folded{Severity: alerts.SeverityCritical, Subjects: 43}
	held := mk("a6", "failed-too-long", "helix-us", alerts.SeverityCritical, alerts.StateHeld, "max_instances reached", 4*time.Minute, 12, backend.KindWorkspace, "1")
	held.FoldedUnder, held.Why, held.Confirmed = "a5", safe("helix-us does not answer"), now.Add(-4*time.Minute)
	held2 := mk("a7", "eviction-storm", "helix-us", alerts.SeverityCritical, alerts.StateHeld, "max_instances reached", 4*time.Minute, 31, backend.KindWorkspace, "7")
	held2.FoldedUnder = "a5"
	susp := mk("a8", "failed-too-long", "helix-eu", alerts.SeverityCritical, alerts.StatePending, "sandbox binding missing", 12*time.Second, 2, backend.KindWorkspace, "1")
	susp.Why = safe("a second failed attempt at least a minute after the first decides; the first was seen 12s ago")
	susp.Bounds = alerts.Bounds{Earliest: now.Add(-3 * 24 * time.Hour), Latest: now.Add(-12 * time.Second)}
	ended := mk("a9", "hammered-and-failing", "helix-eu", alerts.SeverityWarning, alerts.StateEnded, "session closed while still failed", 7*time.Minute, 1, backend.KindWorkspace, "")
	return []*alerts.Alert{storm, failed, hammered, audit, down, held2, held, susp, ended}
}
