package rules

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

const (
	pileupRule = "tmpdir-pileup"
	orphanRule = "tmpdir-orphaned"
	closeRule  = "tmpdir-close-failed"
)

func beginPile(t testing.TB) *story {
	s := beginHost(t, pileupRule)
	s.listed[backend.KindSession], s.listed[backend.KindWorkspace] = "helix", "helix"
	return s
}

func TestPileupByGrowth(t *testing.T) {
	s := beginPile(t)
	for i := range 200 {
		s.reads(fmt.Sprintf("s%d/box", i), reading{state: "open", attempt: time.Minute, success: time.Minute, provider: "local-bash"})
	}
	s.dirs(0, 20)
	s.look().quiet(pileupRule)
	n := 20
	s.every(10*time.Second, 50*time.Second, func() {
		s.dirs(n, n+5)
		n += 5
		s.host(nil)
	})
	s.quiet(pileupRule) // 25 more
	s.pass(10 * time.Second)
	s.dirs(n, n+5)
	s.host(nil)
	if p := s.look().want(pileupRule, alerts.StatePending); !strings.Contains(p.Why.String(), "fires when no session is listed for them at 12:01:15Z") {
		t.Errorf("why %q", p.Why)
	}
	s.pass(15 * time.Second)
	s.host(nil)
	a := s.look().want(pileupRule, alerts.StateFiring)
	if a.Severity != alerts.SeverityWarning || a.Runbook != "5" || a.Cause.String() != "scratch directories pile up" || len(a.Trend) < 2 {
		t.Errorf("alert %+v", a)
	}
	wantEvidence(t, a, "30 more directories and 30 MB in the 1m15s that were watched: 24 a minute and 24 MB a minute (alert from 30 more within 30m)",
		"50 scratch directories on box-1, 50 MB in all, 0 of them in use now", "60 GB of 100 GB free below /tmp (ext4)", "900,000 inodes free")
	s.every(time.Minute, 31*time.Minute, func() { s.host(nil) })
	s.quiet(pileupRule)
}

func TestPileupByCountAtAColdStart(t *testing.T) {
	s := beginPile(t)
	s.dirs(0, 130)
	a := s.look().want(pileupRule, alerts.StateFiring)
	if a.Bounds.Latest.IsZero() {
		t.Error("the onset has no bound")
	}
	wantEvidence(t, a, "130 directories that no process uses and no open workspace explains (alert from 100)")
	s.pass(10 * time.Second)
	s.dirs(130, 135)
	s.host(nil)
	a = s.look().want(pileupRule, alerts.StateFiring)
	wantEvidence(t, a, "5 more directories and 5 MB in the 10s that were watched: 30 a minute and 30 MB a minute")
	for _, e := range a.Evidence {
		if strings.Contains(e.Text.String(), "alert from 30 more") {
			t.Errorf("a limit that it does not reach: %s", e.Text)
		}
	}
	s.wantHeldThenBack(pileupRule, "scratch", func() { s.host(nil) })
	s.wantSameAfterRestart(pileupRule, "scratch", func() { s.host(nil) })
}

func TestPileupCountsWhatACleanUpHasSetAside(t *testing.T) {
	s := beginPile(t)
	s.dirs(0, 60)
	due := time.Date(2026, 3, 1, 15, 4, 0, 0, time.UTC)
	aside := func(h *backend.Host) {
		h.Roots[0].WaitingCount = 70
		for range 70 {
			h.Roots[0].Waiting = append(h.Roots[0].Waiting, backend.Waiting{Due: due, Bytes: backend.Known[int64](1e9)})
		}
	}
	s.host(aside)
	a := s.look().want(pileupRule, alerts.StateFiring)
	wantEvidence(t, a, "130 scratch directories on box-1", "70 directories quarantined by clean, 70 GB, still on the disk; removed from 15:04 UTC on")
	s.every(time.Minute, 31*time.Minute, func() {
		s.host(func(h *backend.Host) { h.Roots[0].Waiting, h.Roots[0].WaitingCount = nil, 0 })
	})
	s.quiet(pileupRule)
}

func TestPileupDoesNotCountWhatOpenWorkspacesExplain(t *testing.T) {
	s := beginPile(t)
	for i := range 120 {
		s.reads(fmt.Sprintf("s%d/box", i), reading{state: "open", attempt: time.Minute, success: time.Minute, provider: "local-bash"})
	}
	s.dirs(0, 130)
	s.look().quiet(pileupRule)
	s.pass(time.Minute)
	for i := 120; i < 200; i++ { // a rush of sessions brings its directories along
		s.reads(fmt.Sprintf("s%d/box", i), reading{state: "open", attempt: time.Minute, success: time.Minute, provider: "local-bash"})
	}
	s.dirs(130, 210)
	s.host(nil)
	s.look().quiet(pileupRule)
}

func TestPileupByTheDisk(t *testing.T) {
	s := beginPile(t)
	s.dirs(0, 3)
	s.root(func(r *backend.Root) { r.InodesFree = backend.Known[int64](1000) })
	a := s.look().want(pileupRule, alerts.StateFiring)
	if a.Severity != alerts.SeverityCritical || !strings.Contains(a.Subjects[0].Detail.String(), "1,000 of 1,000,000 inodes free") {
		t.Errorf("alert %+v", a)
	}
	s = beginPile(t)
	grown := int64(1e9)
	grow := func() {
		grown += 2e9
		s.dir("big", 0, func(d *backend.Tmpdir) { d.Bytes = backend.Known(grown) })
		s.host(nil)
	}
	grow()
	s.look().quiet(pileupRule)
	s.every(time.Minute, 4*time.Minute, grow)
	s.quiet(pileupRule)
	s.every(time.Minute, time.Minute, grow) // 2 GB a minute into 60 GB
	if a := s.want(pileupRule, alerts.StateFiring); a.Severity != alerts.SeverityWarning || a.Cause.String() != "the disk below scratch directories fills up" {
		t.Errorf("alert %+v", a)
	}
}

// fills lets the free space below the root fall from 60 GB by so much a minute.
func (s *story) fills(free *float64, perMinute float64, span time.Duration) {
	s.every(5*time.Second, span, func() {
		*free -= perMinute / 12
		s.root(func(r *backend.Root) { r.BytesFree = backend.Known(int64(*free)) })
	})
}

func TestPileupByADiskThatAnythingFills(t *testing.T) {
	s, free := beginPile(t), 60e9
	s.plainly = true
	s.look()
	s.fills(&free, 0.6e9, 9*time.Minute)
	s.quiet(pileupRule) // the rate was not seen for 10 minutes
	s.fills(&free, 0.6e9, 2*time.Minute)
	a := s.want(pileupRule, alerts.StateFiring)
	if a.Severity != alerts.SeverityWarning || a.Cause.String() != "the disk below scratch directories fills up" {
		t.Errorf("alert %+v", a)
	}
	wantEvidence(t, a, "free space below /tmp fell by 6", "at this rate it is full in 8")
	s.fills(&free, 0.6e9, 60*time.Minute)
	if a := s.want(pileupRule, alerts.StateFiring); a.Severity != alerts.SeverityCritical {
		t.Errorf("with less than half an hour left it is %s", a.Severity)
	}
	s.fills(&free, 0, 11*time.Minute)
	s.quiet(pileupRule)

	s, free = beginPile(t), 60e9 // one large write is no rate
	s.plainly = true
	s.look()
	s.fills(&free, 0, 12*time.Minute)
	s.fills(&free, 10e9, time.Minute)
	s.fills(&free, 0, 15*time.Minute)
	s.quiet(pileupRule)

	s, free = beginPile(t), 60e9 // it fell while the source was out
	s.plainly = true
	s.look()
	s.fills(&free, 0.1e9, 6*time.Minute)
	s.down("scratch", "connection refused")
	s.every(time.Minute, 20*time.Minute, nil)
	s.up("scratch")
	free -= 30e9
	s.fills(&free, 0.1e9, 6*time.Minute)
	s.quiet(pileupRule)
}

func running(s *story, since time.Duration) func(*backend.Session) {
	return func(x *backend.Session) {
		x.Running, x.StartedAt = backend.Known(true), backend.Known(s.wall.Add(-since))
	}
}

func TestOrphanedWhenNoSessionCanOwnIt(t *testing.T) {
	s := beginHost(t, orphanRule)
	s.session("a", running(s, time.Hour))
	s.session("old", func(x *backend.Session) { x.Answer, x.Running = backend.AnswerIdle, backend.Known(false) })
	s.dir("old1", 30*time.Hour, nil)
	s.dir("old2", 50*time.Hour, func(d *backend.Tmpdir) { d.Bytes = backend.Known[int64](3e9) })
	s.dir("young", time.Hour, nil)
	s.dir("held", 90*time.Hour, func(d *backend.Tmpdir) { d.Holders = backend.Known([]backend.Holder{{PID: 1}}) })
	s.dir("unknown", 90*time.Hour, func(d *backend.Tmpdir) { d.Holders, d.Unreadable = backend.Unknown[[]backend.Holder](), 7 })
	s.dir("cut", 0, func(d *backend.Tmpdir) { d.Newest = backend.Unknown[time.Time]() })
	a := s.look().want(orphanRule, alerts.StateFiring)
	if a.SubjectCount != 2 || a.Runbook != "5" {
		t.Errorf("alert %+v", a)
	}
	wantEvidence(t, a, "2 directories not in use, 3 GB in all", "of 1 session that run the oldest began at 11:00:00Z")
	s.pass(time.Minute)
	s.dirGone("old1")
	s.dirGone("old2")
	if a := s.look().want(orphanRule, alerts.StateEnded); a.SubjectCount != 2 {
		t.Errorf("ended %+v", a)
	}
}

func TestOrphanedIsSuspectedWhileASessionMayOwnIt(t *testing.T) {
	for name, c := range map[string]struct {
		session func(*story) func(*backend.Session)
		why     string
	}{
		"older":  {func(s *story) func(*backend.Session) { return running(s, 40*time.Hour) }, "a session that runs since"},
		"unsure": {func(*story) func(*backend.Session) { return nil }, "1 session may own it, since when it runs is not known"},
	} {
		s := beginHost(t, orphanRule)
		s.session("a", c.session(s))
		s.dir("old", 30*time.Hour, nil)
		if a := s.look().want(orphanRule, alerts.StatePending); !strings.Contains(a.Why.String(), c.why) {
			t.Errorf("%s: why %q", name, a.Why)
		}
		s.pass(time.Minute)
		s.sessionEnds("a")
		s.after(2*time.Minute).want(orphanRule, alerts.StateFiring)
		s.pass(time.Minute)
		s.dir("old", 0, nil) // used again
		s.look().quiet(orphanRule)
	}
}

func TestOrphanedBecomesSoWithTime(t *testing.T) {
	s := beginHost(t, orphanRule)
	s.dir("d", 23*time.Hour, nil)
	s.look().quiet(orphanRule)
	s.every(10*time.Minute, 50*time.Minute, nil)
	s.quiet(orphanRule)
	s.after(10*time.Minute).want(orphanRule, alerts.StateFiring)
}

func TestOrphanedGapRestartAndBlind(t *testing.T) {
	s := beginHost(t, orphanRule)
	read := func() { s.dir("d", 30*time.Hour, nil) }
	read()
	s.look().want(orphanRule, alerts.StateFiring)
	s.wantHeldThenBack(orphanRule, "scratch", read)
	s.wantSameAfterRestart(orphanRule, "scratch", read)
	s.pass(time.Second)
	s.dir("d", 30*time.Hour, func(d *backend.Tmpdir) { d.Holders, d.Unreadable = backend.Unknown[[]backend.Holder](), 3 })
	if a := s.look().want(orphanRule, alerts.StateHeld); !strings.Contains(a.Why.String(), "3 processes could not be read") {
		t.Errorf("why %q", a.Why)
	}
	b := beginHost(t, orphanRule)
	b.health("helix", func(h *fleet.SourceHealth) { h.Inputs = []backend.Input{backend.InputContainers} })
	b.dir("d", 30*time.Hour, nil)
	a := b.look().want(orphanRule, alerts.StatePending)
	if !strings.Contains(a.Why.String(), "no source lists the sessions") || b.blindWhy(orphanRule, "scratch") != "" {
		t.Errorf("why %q, blind %v", a.Why, b.board.Blind)
	}
}

func TestOrphanedNotWhenASavedReferenceNamesIt(t *testing.T) {
	for in, want := range map[string]bool{
		`{"path":"/tmp/helix-ws-a1"}`: true, `/tmp/helix-ws-a1`: true, `{"path":"/tmp/helix-ws-a12"}`: false, `x/tmp/helix-ws-a1b /tmp/helix-ws-a1 y`: true, ``: false,
	} {
		id, _ := backend.NewID(in)
		if got := names(id, backend.MustID("/tmp/helix-ws-a1")); got != want {
			t.Errorf("%q names it: %v", in, got)
		}
	}
}

func beginLines(t testing.TB, rule string, m backend.Metric) *story {
	s := begin(t, rule)
	s.source("app", backend.InputRejections, backend.InputEvictionLogs)
	s.lines(m, "", 0, "")
	return s
}

// The rules that count lines of one class live alike.
func TestLineRules(t *testing.T) {
	for _, c := range []struct {
		rule, runbook string
		metric        backend.Metric
		severity      alerts.Severity
	}{
		{closeRule, "5", backend.MetricTmpdirCloseFailed, alerts.SeverityWarning},
		{"persist-failed", "2", backend.MetricPersistFailed, alerts.SeverityCritical},
		{"preview-failed", "contradiction", backend.MetricPreviewFailed, alerts.SeverityWarning},
		{"package-missing", "contradiction", backend.MetricPackageMissing, alerts.SeverityWarning},
		{"hydrate-failed", "2", backend.MetricHydrateFailed, alerts.SeverityCritical},
	} {
		t.Run(c.rule, func(t *testing.T) {
			s := beginLines(t, c.rule, c.metric)
			s.look().quiet(c.rule)
			fail := func(session string, n int) {
				s.lines(c.metric, session, 1, fmt.Sprintf("EACCES: permission denied, rmdir '/tmp/helix-ws-a%d'", n))
			}
			s.session("a", nil)
			s.pass(5 * time.Second)
			fail("a", 1)
			fail("b", 2)
			a := s.look().want(c.rule, alerts.StateFiring)
			if a.SubjectCount != 2 || a.Sessions != 2 || a.Severity != c.severity || a.Runbook != c.runbook || !strings.Contains(a.Cause.String(), "EACCES: permission denied") {
				t.Errorf("alert %+v", a)
			}
			wantEvidence(t, a, "session a: 1 such line in 30m", "newest: EACCES")
			s.pass(5 * time.Second)
			s.sessionEnds("a") // what was not done stays undone
			s.look().want(c.rule, alerts.StateFiring)
			beat := func() { s.lines(c.metric, "", 0, ""); s.lines(c.metric, "a", 0, ""); s.lines(c.metric, "b", 0, "") }
			s.wantHeldThenBack(c.rule, "app", beat)
			s.every(time.Minute, 28*time.Minute, beat)
			s.want(c.rule, alerts.StateFiring)
			s.every(time.Minute, 3*time.Minute, beat)
			s.quiet(c.rule)
			// a restart loses the counts, and with them nothing else
			s.pass(time.Second)
			fail("c", 3)
			s.look()
			s.wantSameAfterRestart(c.rule, "app", func() { fail("c", 3) })
			b := begin(t, c.rule)
			b.look()
			if why := b.blindWhy(c.rule, "helix"); !strings.Contains(why, "no log source speaks about helix") {
				t.Errorf("blind because %q", why)
			}
			cold := begin(t, c.rule)
			cold.source("app", backend.InputEvictionLogs)
			cold.counted("app", c.metric, 1, func(x *backend.Count) { x.At = cold.wall.Add(-10 * time.Minute) })
			cold.counted("app", c.metric, 0, nil)
			if a := cold.look().want(c.rule, alerts.StateFiring); cold.wall.Sub(a.Bounds.Latest) != 10*time.Minute {
				t.Errorf("began %s", a.Bounds.Latest)
			}
		})
	}
}
