package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

const (
	agentRule = "agent-oom"
	staleRule = "source-stale"
	skewRule  = "clock-skew"
)

const resetLine = "Durable Object's isolate exceeded its memory limit and was reset."

func beginAgent(t testing.TB) *story {
	s := beginHost(t, agentRule)
	s.source("app", backend.InputEvictionLogs)
	s.source("prom", backend.InputEvictions)
	s.lines(backend.MetricAgentOOM, "", 0, "")
	return s
}

func TestAgentOOMNamesTheCauseThatTheFactsSupport(t *testing.T) {
	s := beginAgent(t)
	s.session("a", nil)
	for _, w := range []string{"a/one", "a/two", "a/three", "a/four"} {
		s.reads(w, reading{state: "open", attempt: time.Second, success: time.Second, edit: func(w *backend.Workspace) { w.MaxFileSize = backend.Known[int64](5e7) }})
	}
	s.lines(backend.MetricEvictionExhausted, "a", 12, "exhausted")
	s.look().quiet(agentRule)
	s.pass(5 * time.Second)
	s.lines(backend.MetricAgentOOM, "a", 1, resetLine)
	a := s.look().want(agentRule, alerts.StateFiring)
	if a.Severity != alerts.SeverityCritical || a.Runbook != "3" || a.Sessions != 1 ||
		a.Cause.String() != "the agent ran out of memory; the facts support: exhausted retries, eager opens, large writes" {
		t.Errorf("alert %+v", a)
	}
	wantEvidence(t, a, "log lines that name its memory in 15m: 1", resetLine, "retries were exhausted 12 times", "4 workspaces of one session were tried within 1s",
		"files of 50 MB may be written", "its session had 4 workspaces, 0 of them failed or evicted")
	id := a.ID
	s.pass(5 * time.Second)
	s.sessionEnds("a") // the reset wipes out what is kept here
	s.lines(backend.MetricAgentOOM, "a", 0, "")
	a = s.look().want(agentRule, alerts.StateFiring)
	if a.ID != id {
		t.Errorf("another alert: %s", a.Cause)
	}
	wantEvidence(t, a, "its session had 4 workspaces", "before: a/one was open, last tried at 11:59:59Z", "files up to 50 MB")
	s.every(time.Minute, 16*time.Minute, func() { s.lines(backend.MetricAgentOOM, "a", 0, "") })
	s.quiet(agentRule)
}

func TestAgentOOMByTheKernelAndTheProcessStart(t *testing.T) {
	restarted := func(s *story) {
		s.happened = append(s.happened, backend.Event{Kind: backend.EventChange, At: s.wall, Source: "prom", Name: "process-restarted", Text: backend.Text("process restarted")})
	}
	s := beginAgent(t)
	s.look().quiet(agentRule)
	s.pass(time.Minute)
	s.host(func(h *backend.Host) { h.OOMKills = backend.Known[int64](5) })
	s.look().quiet(agentRule) // a kill alone may be anything
	s.pass(20 * time.Second)
	restarted(s)
	a := s.look().want(agentRule, alerts.StateFiring)
	wantEvidence(t, a, "the kernel killed 1 process for lack of memory", "restarted 1 time in 15m")
	s.lines(backend.MetricAgentOOM, "", 0, "")
	s.restart()
	s.after(time.Second).want(agentRule, alerts.StateFiring)

	s = beginAgent(t)
	s.look()
	for range 3 {
		s.pass(2 * time.Minute)
		restarted(s)
		s.lines(backend.MetricAgentOOM, "", 0, "")
		s.look()
	}
	if a := s.want(agentRule, alerts.StatePending); !strings.Contains(a.Why.String(), "3 starts within 15m; fires when") {
		t.Errorf("why %q", a.Why)
	}
	s.every(time.Minute, 16*time.Minute, func() { s.lines(backend.MetricAgentOOM, "", 0, "") })
	s.quiet(agentRule)
}

// TestWhatTheAgentSaysIsSuspected: its words are marked, never fire, and the server's own line decides.
func TestWhatTheAgentSaysIsSuspected(t *testing.T) {
	s := beginAgent(t)
	s.session("a", nil)
	s.lines(backend.MetricAgentOOM.Said(), "a", 3, "tool output: JavaScript heap out of memory")
	s.look()
	for range 3 {
		a := s.want(agentRule, alerts.StatePending)
		if a.Cause.String() != "said by the agent" || !strings.Contains(a.Why.String(), "fires when the server's own log says so") {
			t.Errorf("alert %+v", a)
		}
		wantEvidence(t, a, "newest: tool output: JavaScript heap")
		s.every(time.Minute, 4*time.Minute, func() { s.lines(backend.MetricAgentOOM, "", 0, "") })
	}
	s.lines(backend.MetricAgentOOM, "a", 1, resetLine)
	s.after(time.Second).want(agentRule, alerts.StateFiring)
	s.every(time.Minute, 17*time.Minute, func() { s.lines(backend.MetricAgentOOM, "a", 0, "") })
	s.quiet(agentRule)

	for _, rule := range []string{"persist-failed", "hydrate-failed", "preview-failed", "tmpdir-close-failed"} {
		m := backend.Metric(rule)
		s := begin(t, rule)
		s.source("app", backend.InputEvictionLogs)
		s.session("a", nil)
		s.lines(m, "a", 0, "")
		s.lines(m.Said(), "a", 2, "stdout: "+rule)
		if a := s.look().want(rule, alerts.StatePending); a.Cause.String() != "said by the agent" {
			t.Errorf("%s: %+v", rule, a)
		}
		s.pass(time.Second)
		s.lines(m, "a", 1, "the disk is full")
		if a := s.look().want(rule, alerts.StateFiring); a.Cause.String() != "the disk is full" {
			t.Errorf("%s: %+v", rule, a)
		}
	}
}

// TestAgentOOMTakesNoOldKill: kills of a host that was not read for hours, of one that is read for the first time, and of a
// sandbox at its own limit are none of the agent's, though it starts in that minute.
func TestAgentOOMTakesNoOldKill(t *testing.T) {
	start := func(s *story) {
		s.happened = append(s.happened, backend.Event{Kind: backend.EventChange, At: s.wall, Source: "prom", Name: "process-restarted", Text: backend.Text("process restarted")})
		s.lines(backend.MetricAgentOOM, "", 0, "")
	}
	kill := func(h *backend.Host) { h.OOMKills = backend.Known[int64](9) }
	s := beginAgent(t)
	s.look()
	s.off(6 * time.Hour)
	s.host(kill)
	start(s)
	s.look().quiet(agentRule)

	s = beginAgent(t)
	s.look()
	s.pass(10 * time.Second)
	s.source("other", backend.InputHost)
	k := backend.Key{Kind: backend.KindHost, Source: "other", ID: backend.MustID("box-2")}
	s.hosts[k] = &backend.Host{Meta: backend.Meta{Key: k, ReadAt: s.wall}, OOMKills: backend.Known[int64](30)}
	s.delta.Changed = append(s.delta.Changed, k)
	start(s)
	s.look()
	s.after(5 * time.Second).quiet(agentRule)

	s = beginAgent(t)
	s.source("docker", backend.InputContainers)
	s.box("c1", "a", nil)
	s.look()
	s.pass(10 * time.Second)
	s.host(kill)
	start(s)
	s.look().quiet(agentRule)
	s.box("c1", "a", killedBefore(s, time.Second))
	s.after(time.Second).quiet(agentRule)
	s.after(10 * time.Second).quiet(agentRule)
}

func TestAgentOOMColdStartGapRestartBlind(t *testing.T) {
	s := beginAgent(t)
	s.counted("app", backend.MetricAgentOOM, 2, func(c *backend.Count) { c.At, c.Sample = s.wall.Add(-10*time.Minute), backend.Text(resetLine) })
	if a := s.look().want(agentRule, alerts.StateFiring); a.Cause.String() != "the agent ran out of memory" || s.wall.Sub(a.Bounds.Latest) != 10*time.Minute {
		t.Errorf("alert %+v", a)
	}
	s.wantHeldThenBack(agentRule, "app", func() {})
	s.wantSameAfterRestart(agentRule, "app", func() {})
	b := begin(t, agentRule)
	b.look()
	if why := b.blindWhy(agentRule, "helix"); !strings.Contains(why, "no log source speaks about helix") {
		t.Errorf("blind because %q", why)
	}
}

func TestClockSkew(t *testing.T) {
	s := begin(t, skewRule)
	s.source("docker", backend.InputContainers)
	offset := func(id string, d time.Duration) {
		s.health(id, func(h *fleet.SourceHealth) { h.ClockOffset = backend.Known(d) })
	}
	offset("helix", 30*time.Second-1)
	s.look().quiet(skewRule) // not yet the bound
	offset("helix", -4*time.Minute)
	s.after(5*time.Second).want(skewRule, alerts.StatePending)
	s.every(10*time.Second, time.Minute, nil)
	a := s.want(skewRule, alerts.StateFiring)
	if a.Severity != alerts.SeverityWarning || a.Source != "helix" || a.Cause.String() != "its clock is behind ours" {
		t.Errorf("alert %+v", a)
	}
	wantEvidence(t, a, "its clock is 4m behind ours (alert from 30s)")
	s.down("helix", "x")
	s.after(5*time.Second).want(skewRule, alerts.StateHeld)
	s.up("helix")
	s.after(5*time.Second).want(skewRule, alerts.StateFiring)
	s.restart()
	s.after(time.Second).want(skewRule, alerts.StateFiring)
	s.health("helix", func(h *fleet.SourceHealth) { h.ClockOffset = backend.Unknown[time.Duration]() })
	s.after(time.Second).want(skewRule, alerts.StateHeld)
	offset("helix", -4*time.Minute)
	offset("docker", -4*time.Minute-time.Second)
	s.after(2 * time.Minute)
	for _, a := range s.alerts(skewRule) {
		if a.Source == "helix" {
			wantEvidence(t, a, "this machine's clock may be the wrong one")
		}
	}
	offset("helix", 0)
	offset("docker", 0)
	s.after(time.Second).quiet(skewRule)
}

// active gives the registry three sessions at work, with attempts of the given age.
func active(s *story, age time.Duration) {
	for _, p := range []string{"a/box", "b/box", "c/box"} {
		s.reads(p, reading{state: "open", attempt: age, success: age})
	}
}

func beginStale(t testing.TB) *story {
	s := begin(t, staleRule)
	s.source("app", backend.InputRejections, backend.InputEvictionLogs)
	return s
}

func TestSourceStaleNewestAttemptIsAHint(t *testing.T) {
	s := beginStale(t)
	said := func() {
		for _, x := range []string{"a", "b", "c"} {
			s.lines(backend.MetricNamed, x, 3, "")
		}
		s.lines(backend.MetricLogLines, "", 9, "")
	}
	active(s, time.Second)
	said()
	s.look().quiet(staleRule)
	s.every(30*time.Second, 14*time.Minute, said)
	s.quiet(staleRule)
	s.every(30*time.Second, 2*time.Minute, said)
	a := s.want(staleRule, alerts.StatePending) // agents may wait, and one attempt may be stuck
	if a.Source != "helix" || a.Cause.String() != "its registries do not move" {
		t.Errorf("alert %+v", a)
	}
	wantEvidence(t, a, "it answers, and the newest attempt in its registries is of 11:59:59Z", "log lines name 3 sessions within 5m")
	if code := alerts.ExitCode(s.board, s.lastState()); code != 0 {
		t.Errorf("it counts towards the exit code: %d", code)
	}
	active(s, time.Second)
	said()
	s.after(31 * time.Second).quiet(staleRule)
}

// copies has helix answer with a body of some time ago.
func copies(s *story, age time.Duration, date string) {
	s.health("helix", func(h *fleet.SourceHealth) {
		h.BodyAge, h.BodyDate, h.BodyWhere, h.LastOK = age, date, backend.Text("http://helix/sessions"), s.wall
	})
}

// Exactly at three intervals an Age decides.
func TestSourceStaleByItsAge(t *testing.T) {
	for age, state := range map[time.Duration]alerts.AlertState{14 * time.Second: alerts.StatePending, 15 * time.Second: alerts.StateFiring} {
		s := begin(t, staleRule)
		copies(s, age, "Sat, 14 Mar 2026 12:00:00 GMT")
		s.health("helix", func(h *fleet.SourceHealth) { h.BodyBy = "Age" })
		wantEvidence(t, s.look().want(staleRule, state), "its Age header says "+text(age))
	}
}

func TestSourceStaleServesACopy(t *testing.T) {
	s := begin(t, staleRule)
	copies(s, 0, "Sat, 14 Mar 2026 12:00:00 GMT")
	s.look().quiet(staleRule)
	for _, step := range []struct {
		age   time.Duration
		state alerts.AlertState
	}{{5 * time.Second, ""}, {10 * time.Second, ""}, {15 * time.Second, alerts.StateFiring}, {20 * time.Second, alerts.StateFiring}} {
		s.pass(5 * time.Second)
		copies(s, step.age, "Sat, 14 Mar 2026 12:00:00 GMT")
		if s.look(); step.state == "" {
			s.quiet(staleRule)
		} else {
			s.want(staleRule, step.state)
		}
	}
	a := s.want(staleRule, alerts.StateFiring)
	wantEvidence(t, a, "what http://helix/sessions answers is of", "its Date header has not moved from Sat, 14 Mar 2026 12:00:00 GMT for 20s")
	for _, b := range s.board.Blind {
		if b.Rule == staleRule {
			t.Errorf("it fires, and is listed as blind: %s", b.Why)
		}
	}
	if a.Counts() || alerts.ExitCode(s.board, s.lastState()) != alerts.ExitUnknown {
		t.Errorf("exit code %d", alerts.ExitCode(s.board, s.lastState()))
	}
	s.down("helix", "x")
	s.after(time.Second).want(staleRule, alerts.StateHeld)
	s.up("helix")
	s.pass(4 * time.Second)
	copies(s, 0, "Sat, 14 Mar 2026 12:00:25 GMT")
	s.look().quiet(staleRule)
}

// Two runs of check compare the Date of their answers.
func TestSourceStaleAcrossRuns(t *testing.T) {
	s := begin(t, staleRule)
	copies(s, 0, "Sat, 14 Mar 2026 12:00:00 GMT")
	s.look().quiet(staleRule)
	s.off(5 * time.Minute)
	copies(s, 0, "Sat, 14 Mar 2026 12:00:00 GMT")
	s.look().want(staleRule, alerts.StateFiring)
	s.restart()
	s.after(time.Second).want(staleRule, alerts.StateFiring)
	copies(s, 0, "Sat, 14 Mar 2026 12:05:06 GMT")
	s.after(5 * time.Second).quiet(staleRule)
}

func TestSourceStaleDoesNotFireForAQuietFleet(t *testing.T) {
	s := beginStale(t)
	active(s, time.Second)
	s.lines(backend.MetricLogLines, "", 9, "")
	s.look()
	s.every(time.Minute, 2*time.Hour, func() { s.lines(backend.MetricLogLines, "", 0, "") }) // nobody works
	s.quiet(staleRule)
}

func TestSourceStaleSilentLog(t *testing.T) {
	s := beginStale(t)
	active(s, time.Second)
	s.lines(backend.MetricLogLines, "", 9, "")
	s.look()
	work := func() { active(s, time.Second); s.lines(backend.MetricLogLines, "", 0, "") }
	s.every(30*time.Second, 14*time.Minute, work)
	s.quiet(staleRule)
	s.every(30*time.Second, 2*time.Minute, work)
	a := s.want(staleRule, alerts.StatePending) // a hint: nothing may have happened that it would tell
	if a.Source != "app" || a.Cause.String() != "its log is silent" {
		t.Errorf("alert %+v", a)
	}
	wantEvidence(t, a, "registries show attempts of 3 sessions within 5m")
	s.pass(time.Minute)
	active(s, time.Second)
	s.lines(backend.MetricLogLines, "", 2, "")
	s.look().quiet(staleRule)
}

func TestSourceStaleColdStartAndBlind(t *testing.T) {
	s := beginStale(t)
	active(s, 3*time.Hour)
	for _, x := range []string{"a", "b", "c"} {
		s.lines(backend.MetricNamed, x, 3, "")
	}
	s.look().want(staleRule, alerts.StatePending) // the times in the readings are a hint
	b := begin(t, staleRule)
	b.look()
	if b.blindWhy(staleRule, "helix") == "" {
		t.Error("without a second source it is blind")
	}
}

func TestAuditTellsALoopFromProbing(t *testing.T) {
	flood := func(words float64, sample string) *story {
		s := beginLogs(t)
		s.rejects("c4f1", 0, 0, 0)
		s.lines(backend.MetricRejectedWords, "c4f1", 0, "")
		s.look()
		s.lines(backend.MetricRejectedWords, "c4f1", words, sample)
		s.every(5*time.Second, time.Minute, func() { s.rejects("c4f1", 100, 1, 200) })
		return s
	}
	a := flood(1, "curl").want(auditRule, alerts.StateFiring)
	if a.Severity != alerts.SeverityWarning {
		t.Errorf("a loop is %s", a.Severity)
	}
	wantEvidence(t, a, "a loop: one rejection repeated, the command begins with \"curl\"")
	wantEvidence(t, flood(4, "nc").want(auditRule, alerts.StateFiring), "4 different commands within the hour")
	wantEvidence(t, flood(0, "").want(auditRule, alerts.StateFiring), "cannot be told: the lines name no command")
	s := flood(20, "nmap")
	a = s.want(auditRule, alerts.StateFiring)
	if a.Severity != alerts.SeverityCritical || a.Cause.String() != "probing: many different commands rejected" || alerts.ExitCode(s.board, s.lastState()) != 2 {
		t.Errorf("alert %+v", a)
	}
	wantEvidence(t, a, "probing: 20 different commands in 10m, the newest begins with \"nmap\"")
	s.restart()
	s.rejects("c4f1", 100, 1, 200)
	if b := s.after(5*time.Second).want(auditRule, alerts.StateFiring); b.ID != a.ID || b.Severity != a.Severity {
		t.Errorf("after a restart %+v", b)
	}
	s.every(5*time.Second, 3*time.Minute, func() { s.rejects("c4f1", 0, 0, 0) })
	s.quiet(auditRule)
}

func TestAgentOOMKeepsABoundedRecordOfTheSession(t *testing.T) {
	s := beginAgent(t)
	s.session("a", nil)
	for i := range maxLastState + 2 {
		s.reads("a/w"+string(rune('a'+i)), reading{state: "failed", err: "WorkspaceFailedError: " + strings.Repeat("x", 500), attempt: time.Minute,
			edit: func(w *backend.Workspace) { w.RetryAttempts = backend.Known(3) }})
	}
	s.counted("app", backend.MetricEvictionExhausted, 5, func(c *backend.Count) {
		c.Series.Session, c.Series.Workspace = backend.MustID("a"), backend.MustID("wb")
	})
	s.look()
	s.pass(time.Second)
	s.lines(backend.MetricAgentOOM, "a", 1, resetLine)
	a := s.look().want(agentRule, alerts.StateFiring)
	wantEvidence(t, a, "before: a/wa was failed", "never known to have succeeded, transientRetryAttempts 3, lastError: WorkspaceFailedError", "retries exhausted 5 times", "before: … and 2 workspaces more")
	before := 0
	for _, e := range a.Evidence {
		if text := e.Text.String(); strings.HasPrefix(text, "before: a/") {
			if before++; len(text) > 500 {
				t.Errorf("%d bytes of one workspace are kept", len(text))
			}
		}
	}
	if before != maxLastState {
		t.Errorf("%d workspaces are kept one by one, want %d", before, maxLastState)
	}
	kept := len(a.Evidence)
	s.restart()
	if a = s.after(time.Second).want(agentRule, alerts.StateFiring); len(a.Evidence) != kept {
		t.Errorf("a restart keeps %d statements of %d", len(a.Evidence), kept)
	}
}

// TestAgentOOMJoinsTheSessionOfItsSandbox: the SDK of a sandbox calls its session by the id of that sandbox.
func TestAgentOOMJoinsTheSessionOfItsSandbox(t *testing.T) {
	s := beginAgent(t)
	s.session("a", nil)
	s.reads("a/repo", reading{state: "open", attempt: time.Second, success: time.Second})
	s.box("ffff", "a", func(b *backend.Sandbox) { b.Provider, b.Name = backend.Text("cloudflare"), backend.Text("ffff") })
	s.lines(backend.MetricAgentOOM, "sandbox-ffff", 1, resetLine)
	a := s.look().want(agentRule, alerts.StateFiring)
	if a.Subjects[0].Key.ID != backend.MustID("a") {
		t.Errorf("subject %v", a.Subjects[0].Key)
	}
	wantEvidence(t, a, "before: a/repo was open", resetLine)
}
