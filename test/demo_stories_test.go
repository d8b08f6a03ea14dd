package test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/app"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/demo"
	"sandglass/views/subjects"
)

type story struct{ rule, cause, confirms string }

// brief stories are told only where a poll meets them.
func (s story) brief() bool {
	return s.rule == "contradiction" && (s.cause == "killed at its memory limit" || s.cause == "main process is frozen") || s.rule == "source-degraded" || s.cause == "evicted faster" || s.rule == "eviction-storm" && s.cause == "exited with code 137"
}

// stories are what the demo plays: an alert, a part of its cause, and the checks of its page that say so.
var stories = []story{
	{"source-down", "refused", "down partly together"},
	{"source-down", "503", "down together"},
	{"", "schemaVersion", "schema rollback versions"},
	{"", "backupR2Binding", "snapshot binding"},
	{"", "manifest unknown", "image"},
	{"", "tmpdirRoot", "root"},
	{"", "ENOSPC", "full network"},
	{"eviction-storm", "exited with code 137", "storm evicted retries sandbox-oom parent-restarts quota opened"},
	{"", "exited with code 137", "memory sandbox storm"},
	{"", "is restarting", "sandbox storm"},
	{"", "r2 bucket unreachable", "storage network"},
	{"", "D1_ERROR", "database network"},
	{"", "did not answer its first command", ""},
	{"", "setup command", ""},
	{"", "one attempt runs", "long-attempt"},
	{"source-degraded", "part of its sessions", "partly down together"},
	{"eviction-storm", "evicted faster", "retries evicted opened storage full quota"},
	{"eviction-storm", "max_instances", "storm evicted retries quota opened"},
	{"", "max_instances", "quota storm"},
	{"", "sandbox instance", "storm"},
	{"source-down", "answered 500", "down together"},
	{"capacity", "agents has no instance left", ""}, // nothing that is read there shows a refusal
	{"capacity", "no instance left", "storm evicted retries quota opened"},
	{"audit-saturation", "metacharacter", "loop flood one-session works"},
	{"tmpdir-close-failed", "ENOTEMPTY", "close-failed close-timeout close-errnos pile held"},
	{"tmpdir-orphaned", "have no owner", "pile held close-failed close-timeout close-errnos"},
	{"tmpdir-pileup", "pile up", "pile held close-failed close-timeout close-errnos"},
	{"wont-terminate", "no list names", "up image-version close-timeout"},
	{"wont-terminate", "its agent's SDK could not delete it", "over destroy"},
	{"contradiction", "its agent takes it for running, but", "believed"},
	{"contradiction", "its agent takes it for not running, but", "believed"},
	{"sandbox-oom", "memory limit", "memory"},
	{"sandbox-unhealthy", "health check", "unhealthy"},
	{"sandbox-crash-loop", "started again and again", "loop ended"},
	{"contradiction", "working directory is missing", "missing emptied planes commands many changed"},
	{"contradiction", "link to nothing", "dangling planes commands many changed"},
	{"contradiction", "no command begins in it", "commands many changed"},
	{"contradiction", "main process is frozen", "frozen planes commands many"},
	{"contradiction", "container is gone", "gone many"},
	{"contradiction", "commands stay queued", "planes commands many jobs resume"},
	{"contradiction", "refused with a server error", "planes commands many jobs resume"},
	{"contradiction", "is pending since at least", ""},
	{"contradiction", "its mount is gone", "unmounted planes commands many jobs resume"},
	{"wake-failed", "its wake failed", "wake planes commands unmounted many jobs resume"},
	{"no-checkpoint", "no checkpoint to resume from", "no-checkpoint planes commands jobs resume wake"},
	{"contradiction", "its container could not start", "down"},
	{"contradiction", "its container ended", "down"},
	{"contradiction", "killed at its memory limit", "down"},
	{"sandbox-start-failed", "cannot start: exec", "start"},
	{"sandbox-exited", "while its session runs", "ended"},
	{"files-vanished", "working directory", "emptied"},
	{"possible-leak", "different tenants", "shared-id explicit tenants"},
}

// ownStories are what a scenario's alert of a rule confirms where another platform's would confirm something else.
var ownStories = map[string]string{
	"leaked-on-exit wont-terminate": "over up destroy-on-close destroy",
}

// always are checks that repeat the alert, its lines, its size or where this test's own directory is, whatever the cause is.
const always = "alert failed lines log-end shared session tmpfs"

// TestDemoStoriesAreDiagnosed plays two and a half minutes of each scenario. Every alert tells one of the stories, its
// diagnosis confirms the check of that story, and none of another story. No page of a sandbox prints a command that its action refuses.
func TestDemoStoriesAreDiagnosed(t *testing.T) {
	t.Parallel()
	told, asked := map[string]bool{}, map[string]int{}
	for _, s := range demo.Scenarios() {
		var written string
		state, board, events := watchDemoBy(t, s.Name, 150*time.Second, func(config string) string { written = config; return config }, func(*fleet.State, *alerts.Board) {})
		judgesOf(t, written).advisesNothingRefused(t, s.Name, runbook.Case{State: state, Board: board, Events: events}, asked)
		for _, a := range board.Alerts {
			if a.State != alerts.StateFiring && a.State != alerts.StatePending {
				continue
			}
			if s.Name == "calm" {
				t.Errorf("calm: %s: %s", a.Rule, a.Cause)
			}
			n := slices.IndexFunc(stories, func(x story) bool {
				return (x.rule == "" || x.rule == a.Rule) && strings.Contains(a.Cause.String(), x.cause)
			})
			if n < 0 {
				t.Errorf("%s: %s on %s tells no story: %s", s.Name, a.Rule, a.Source, a.Cause)
				continue
			}
			told[stories[n].rule+stories[n].cause] = true
			q, ok := subjects.Asked(a)
			if !ok {
				t.Errorf("%s: %s has no page", s.Name, a.Rule)
				continue
			}
			d := runbook.Case{State: state, Board: board, Subject: q.Subject, Alert: a.ID, Events: events}.Diagnose(q.Incident)
			confirms := stories[n].confirms
			if own, is := ownStories[s.Name+" "+a.Rule]; is {
				confirms = own
			}
			confirmsItsStory(t, s.Name, a, &d, strings.Fields(confirms))
		}
	}
	if asked["probe"] < 5 || asked["rescue"]+asked["destroy"] == 0 {
		t.Errorf("no page advises what could be refused: %v", asked)
	}
	for _, x := range stories {
		if !told[x.rule+x.cause] && !x.brief() {
			t.Errorf("no scenario tells the story of %s %q", x.rule, x.cause)
		}
	}
}

func confirmsItsStory(t *testing.T, scenario string, a *alerts.Alert, d *runbook.Diagnosis, want []string) {
	t.Helper()
	var got []string
	for _, c := range d.Checks {
		if c.Mark == runbook.Confirmed && !slices.Contains(strings.Fields(always), c.Name) {
			got = append(got, c.Name)
		}
	}
	other := slices.ContainsFunc(got, func(name string) bool { return !slices.Contains(want, name) })
	if other || len(want) > 0 && !slices.Contains(got, want[0]) {
		t.Errorf("%s: %s: %s\nconfirms %q, want %q\n%s", scenario, a.Rule, a.Cause, got, want, marks(*d))
	}
}

// watchDemo polls a scenario every five seconds of a clock of its own, and shows what each poll left.
func watchDemo(t *testing.T, scenario string, lasts time.Duration, polled func(*fleet.State, *alerts.Board)) (*fleet.State, *alerts.Board, []backend.Event) {
	t.Helper()
	return watchDemoBy(t, scenario, lasts, func(config string) string { return config }, polled)
}

// watchDemoBy watches with a configuration that is not quite the demo's.
func watchDemoBy(t *testing.T, scenario string, lasts time.Duration, change func(config string) string, polled func(*fleet.State, *alerts.Board)) (*fleet.State, *alerts.Board, []backend.Event) {
	t.Helper()
	start := time.Date(2026, 3, 14, 3, 0, 0, 0, time.UTC)
	clock := &atomic.Int64{}
	since := func() time.Duration { return time.Duration(clock.Load()) }
	now := func() time.Time { return start.Add(since()) }
	d, err := demo.Start(t.Context(), demo.Options{Workspaces: 400, Seed: 1, Scenario: scenario, Start: start, Clock: since})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	p := testProgram(now)
	// Request budgets live by the clock: where it stands still all requests have to be in the first second's.
	sources, rules := buildConfig(t, p, strings.ReplaceAll(change(d.Config()), "requests_per_second = 40", "requests_per_second = 1000"))
	engine := alerts.NewEngine(rules, "demo")
	var board *alerts.Board
	var events []backend.Event
	f := fleet.New(fleet.Options{Now: now, Mono: since, Spawn: p.Spawn, LongestOperation: 5 * time.Minute, OnState: func(st *fleet.State) {
		var told []backend.Event
		board, told = engine.Next(board, st)
		events = append(events, told...)
	}})
	defer f.Close()
	app.AddTo(f, sources)
	for at := time.Duration(0); at <= lasts; at += 5 * time.Second {
		clock.Store(int64(at))
		step(t, d)
		f.PollOnce(t.Context())
		polled(f.State(), board)
	}
	return f.State(), board, events
}
