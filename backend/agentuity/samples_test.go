package agentuity

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

func at(t testing.TB, text string) time.Time {
	t.Helper()
	out, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSamplesAreRead plays the story of agentuity/sdk#1350 with a healthy and a suspended sandbox beside it.
func TestSamplesAreRead(t *testing.T) {
	w := newWorld(t, nil)
	r := w.poll()
	if r.Unseen || !r.Degraded.IsEmpty() || len(r.Problems) > 0 {
		t.Fatalf("the source complains: %v %s", r.Degraded, problems(r))
	}
	if !r.Whole(backend.KindSandbox) || !r.Whole(backend.KindSession) || r.Partial {
		t.Errorf("scopes %v, partial %v", r.Scopes, r.Partial)
	}
	healthy := sandboxOf(t, r, healthyID)
	if healthy.Name.String() != "build-agent-7" || healthy.Reported.String() != "idle" || healthy.Class != backend.SandboxRunning || !healthy.IsSandbox {
		t.Errorf("healthy: %s %s %s", healthy.Name, healthy.Reported, healthy.Class)
	}
	if healthy.Region.String() != "usc" || healthy.Org.String() != orgID || healthy.Runtime.String() != "bun:1 (srt_64ed21b0748992fdd251dae0)" {
		t.Errorf("healthy is of %s %s %s", healthy.Region, healthy.Org, healthy.Runtime)
	}
	if healthy.Session.Raw() != healthyHub || healthy.JoinedBy.String() != "the Hub's list" {
		t.Errorf("healthy belongs to %q by %q", healthy.Session.Raw(), healthy.JoinedBy)
	}
	if o, _ := healthy.Observed.Get(); len(o.Failed()) > 0 {
		t.Errorf("healthy is said to fail: %v", o.Failed())
	}
	if created, _ := healthy.CreatedAt.Get(); !created.Equal(at(t, "2026-04-04T00:40:02Z")) {
		t.Errorf("healthy was created %s", created)
	}
	if asleep := sandboxOf(t, r, suspendedID); asleep.Class != backend.SandboxAsleep || asleep.Reported.String() != "suspended" {
		t.Errorf("suspended: %s %s", asleep.Reported, asleep.Class)
	}
	if asleep := sandboxOf(t, r, suspendedID); !asleep.ReapedAt.Equal(at(t, "2026-04-05T00:30:00Z")) {
		t.Errorf("suspended is removed at %s", asleep.ReapedAt)
	}
	if got := w.requests("/fs/list/" + healthyID); len(got) > 0 {
		t.Errorf("the filesystem of the healthy sandbox was listed without a reason: %v", got)
	}
	for _, asked := range w.requests("") {
		if !strings.HasPrefix(asked, "GET ") || strings.Contains(asked, testKey) {
			t.Errorf("asked %s", asked)
		}
		if strings.Contains(asked, "/sandbox") && !strings.Contains(asked, "orgId="+orgID) && !strings.Contains(asked, "/hub/") {
			t.Errorf("asked without the organisation: %s", asked)
		}
	}
}

// TestTheZombieIsSeen: idle, mount gone, two nudges queued, a job still running, a session without a driver.
func TestTheZombieIsSeen(t *testing.T) {
	w := newWorld(t, nil)
	b := sandboxOf(t, w.poll(), zombieID)
	list := verdictOf(t, b, backend.PlaneList)
	if list.Outcome != backend.OutcomeFailed || list.Kind != backend.FailMountGone || list.Passive ||
		!strings.Contains(list.What.String(), "/working/sandbox/"+zombieID+"/cow-merged") || !strings.Contains(list.Evidence[0].String(), "sess_40f877662e42ac40956682f66593fa7b") {
		t.Errorf("list: %+v", list)
	}
	if driver := verdictOf(t, b, backend.PlaneDriver); driver.Outcome != backend.OutcomeFailed || !strings.Contains(driver.Evidence[0].String(), "within 120 s") {
		t.Errorf("driver: %+v", driver)
	}
	if b.Reported.String() != "idle" || b.Class != backend.SandboxRunning || b.Session.Raw() != zombieHub {
		t.Errorf("it is %s %s of %s", b.Reported, b.Class, b.Session.Raw())
	}
	w.poll()
	var r backend.Reading
	for range 6 {
		r = w.poll()
	}
	b = sandboxOf(t, r, zombieID)
	if queue := verdictOf(t, b, backend.PlaneQueue); queue.Outcome != backend.OutcomeFailed || queue.Kind != backend.FailExecStuckQueued || !strings.Contains(queue.What.String(), "2 executions are queued since at least 01:02:05Z") {
		t.Errorf("queue: %+v", queue)
	}
	nudges := 0
	for _, x := range r.Executions {
		if x.Key.Parent.Raw() != zombieID {
			continue
		}
		if x.Nudge {
			nudges++
			if since := x.Queued().Latest; x.Class != backend.WorkQueued || !since.Equal(at(t, "2026-04-04T01:02:05Z")) {
				t.Errorf("a nudge is %s since %s", x.Class, since)
			}
		}
	}
	if nudges != 2 {
		t.Errorf("%d executions are nudges, want 2", nudges)
	}
	for _, j := range r.Jobs {
		if j.Key.Parent.Raw() == zombieID && (!j.Driver || j.Class != backend.WorkRunning || j.ExitCode.IsKnown() || !j.Error.IsEmpty()) {
			t.Errorf("the job is %+v", j.Work)
		}
	}
	if got := w.requests("/fs/list/"); len(got) != 1 {
		t.Errorf("directories were listed %d times: %v", len(got), got)
	}
	for range 80 { // more than five minutes: the reason is no new one
		w.poll()
	}
	if got := w.requests("/fs/list/"); len(got) != 1 {
		t.Errorf("directories were listed %d times without a new reason", len(got))
	}
}

// TestLifecycleIsTold: suspend with checkpoint, deferred resume, evacuation, reconcile, with the times of the platform.
func TestLifecycleIsTold(t *testing.T) {
	w := newWorld(t, nil)
	r := w.poll()
	b := sandboxOf(t, r, zombieID)
	var kinds []string
	for _, e := range b.Lifecycle {
		kinds = append(kinds, string(e.Kind))
	}
	if got := strings.Join(kinds, " "); got != "created started suspended resumed evacuated suspended reconciled" {
		t.Fatalf("lifecycle: %s", got)
	}
	first, resumed, last := b.Lifecycle[2], b.Lifecycle[3], b.Lifecycle[6]
	if first.Checkpoint.String() != "ckpt_71634e5cec00ece6" || !resumed.Deferred.Or(false) || last.Previous.String() != "suspended" || !b.Lifecycle[5].Checkpoint.IsEmpty() {
		t.Errorf("events: %+v %+v %+v", first, resumed, last)
	}
	if !resumed.At.Equal(at(t, "2026-04-03T15:21:55Z")) {
		t.Errorf("resumed at %s", resumed.At)
	}
	var told []string
	for _, e := range r.Events {
		if e.Subject == b.Key {
			told = append(told, e.Text.String())
			if e.At.IsZero() || e.SourceAt.IsZero() || e.At.Equal(e.SourceAt) {
				t.Errorf("%s is told at %s, source %s", e.Text, e.At, e.SourceAt)
			}
		}
	}
	if got := strings.Join(told, "\n"); !strings.Contains(got, "coder-session: lifecycle:reconcile, was suspended") {
		t.Errorf("told:\n%s", got)
	}
	for _, e := range w.poll().Events {
		t.Errorf("told twice: %s", e.Text)
	}
}

// TestHubSessionsAreJoined: who drives a session, what the Hub's last error is, and which sandbox it has.
func TestHubSessionsAreJoined(t *testing.T) {
	w := newWorld(t, nil)
	r := w.poll()
	broken, fine := sessionOf(t, r, zombieHub), sessionOf(t, r, healthyHub)
	if broken.Status.String() != "error" || broken.Running.Or(true) || broken.Hub.Sandbox.Raw() != zombieID || broken.Hub.Driver.Or(true) || broken.Hub.Connected.Or(true) ||
		!strings.Contains(broken.Hub.Error.String(), "did not connect within 120 s") || broken.Hub.Trace.String() != "sess_c3a6b6074b3bc91adebbd247d791c578" || broken.Hub.NoDriverSince.IsZero() || !broken.Hub.Wakeable.Or(false) {
		t.Errorf("broken: %+v %+v", broken, broken.Hub)
	}
	if fine.Status.String() != "active" || !fine.Running.Or(false) || !fine.Hub.Connected.Or(false) || fine.Hub.Sandbox.Raw() != healthyID {
		t.Errorf("fine: %+v", fine.Hub)
	}
	w.src.Attend(backend.Attention{Visible: []backend.Key{fine.Key}})
	if fine = sessionOf(t, w.poll(), healthyHub); !fine.Hub.Driver.Or(false) || len(fine.Hub.Participants) != 1 || fine.Hub.Participants[0].Role.String() != backend.RoleLead {
		t.Errorf("looked at: %+v", fine.Hub)
	}
}

// TestEverySampleIsReplayed holds that no sample is left out: each is decoded here or by the tests that play it.
func TestEverySampleIsReplayed(t *testing.T) {
	played := map[string]string{}
	for name, how := range samples() {
		played[name] = how
	}
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name, is := strings.CutSuffix(e.Name(), ".json")
		if is && name != "index" && played[name] == "" {
			t.Errorf("%s is not replayed", name)
		}
	}
	for name := range played {
		if s := readSample(t, name); s.Sample != name || !json.Valid(s.Response.Body) && s.Response.RawBody == "" {
			t.Errorf("%s is not what its name says", name)
		}
	}
}

// samples names where each sample is asserted.
func samples() map[string]string {
	const world, refusal, action = "TestSamplesAreRead and its neighbours", "TestRefusalsAreExplained", "the tests of actions/agentuity"
	return map[string]string{
		"sandbox_list": world, "healthy_sandbox_get": world, "healthy_sandbox_status": world, "healthy_executions": world, "healthy_jobs": world, "healthy_events": world,
		"healthy_fs_list": world, "zombie_sandbox_get": world, "zombie_sandbox_status": world, "zombie_executions": world, "zombie_jobs": world, "zombie_events": world,
		"zombie_fs_list_404": world, "hub_sessions_list": world, "hub_session_error": world, "hub_participants_lead": world, "hub_participants_no_lead": world,
		"suspended_sandbox_get": world, "cli_sandbox_resolve": refusal, "cli_sandbox_list": refusal, "list_401": refusal, "get_404_not_found": refusal,
		"zombie_execute_500": refusal, "zombie_execute_500_error_key": refusal, "zombie_execute_500_text": refusal, "resume_409_no_checkpoint": refusal,
		"resume_409_checkpoint_pending": refusal, "checkpoints_409_suspended": refusal, "execute_409_busy": refusal, "orphan_jobs_pending": "TestAPendingJobIsDated",
		"resume_200": action, "pause_200": action, "execute_auto_resumed": action, "healthy_execution_get": action, "checkpoints_list": action,
	}
}
