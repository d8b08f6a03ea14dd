package agentuity

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

func nudgeFailed(w *world, session string) backend.Report {
	r, _ := backend.HubText("failed to send USR1 reconnect nudge to " + session + ": 500 Internal Server Error")
	r.Source, r.At, r.Text = "hub-log", w.clock.Now(), backend.Text("failed to send USR1 reconnect nudge: 500 Internal Server Error")
	return r
}

// TestALogLineStartsOneList: a line about a failed nudge has the directory of its session's sandbox listed once, not again within five
// minutes, and never while the sandbox sleeps.
func TestALogLineStartsOneList(t *testing.T) {
	w := newWorld(t, nil)
	w.poll()
	w.forget()
	say := func() { w.src.Listen([]backend.Report{nudgeFailed(w, healthyHub)}) }
	lists := func(want int, when string) {
		t.Helper()
		if got := w.requests("/fs/list/"); len(got) != want {
			t.Errorf("%s: %d lists, want %d: %v", when, len(got), want, got)
		}
	}
	say()
	b := sandboxOf(t, w.poll(), healthyID)
	lists(1, "after the line")
	if v := verdictOf(t, b, backend.PlaneList); v.Outcome != backend.OutcomeOK || v.What.String() != "/home/agentuity has 4 entries" {
		t.Errorf("list: %+v", v)
	}
	if v := verdictOf(t, b, backend.PlaneExec); v.Outcome != backend.OutcomeFailed || v.Kind != backend.FailControl5xx || !strings.Contains(v.What.String(), "500") {
		t.Errorf("exec: %+v", v)
	}
	say()
	w.poll()
	lists(1, "a second line")
	w.clock.Add(5 * time.Minute)
	w.poll()
	lists(2, "five minutes after the first list")
	w.clock.Add(6 * time.Minute)
	w.poll()
	lists(2, "without a newer line")

	w.set("GET /sandbox", ok(strings.Replace(string(readSample(t, "sandbox_list").Response.Body), `"status": "idle"`, `"status": "suspended"`, 1)))
	w.clock.Add(time.Minute)
	w.poll()
	say()
	w.poll()
	lists(2, "while it sleeps")
}

// TestAListOfADirectoryIsJudged: only the text of a missing mount proves that it is gone.
func TestAListOfADirectoryIsJudged(t *testing.T) {
	message := func(status int, text string) reply {
		return reply{status: status, body: `{"success":false,"message":"` + text + `"}`}
	}
	for name, x := range map[string]struct {
		answer  reply
		outcome backend.Outcome
		kind    backend.FailureKind
		what    string
	}{
		"mount gone":             {readReply(t, "zombie_fs_list_404"), backend.OutcomeFailed, backend.FailMountGone, "its mount is gone: /working/sandbox/" + zombieID + "/cow-merged"},
		"mount of another":       {message(404, "not found: readdirent /working/sandbox/sbx_other/cow-merged: no such file or directory"), backend.OutcomeFailed, backend.FailMountGone, "its mount is gone, and the path is that of another sandbox: /working/sandbox/sbx_other/cow-merged"},
		"mount gone with 500":    {message(500, "error: /working/sandbox/sbx_x/cow-merged: no such file or directory"), backend.OutcomeFailed, backend.FailMountGone, ""},
		"directory missing":      {message(404, "not found: /home/agentuity"), backend.OutcomeUnknown, "", "/home/agentuity cannot be listed: the platform does not find it"},
		"500":                    {message(500, "Internal Server Error"), backend.OutcomeUnknown, "", ""},
		"text of a proxy":        {reply{status: 502, body: "Bad Gateway"}, backend.OutcomeUnknown, "", ""},
		"401":                    {message(401, "unauthorized"), backend.OutcomeUnknown, "", ""},
		"an answer of no use":    {ok(`{"success":true,"data":{}}`), backend.OutcomeUnknown, "", "the answer to a list of its directory cannot be read"},
		"a refusal with a 200":   {message(200, "not now"), backend.OutcomeUnknown, "", ""},
		"an empty directory":     {ok(`{"success":true,"data":{"files":[]}}`), backend.OutcomeOK, "", "/home/agentuity has 0 entries"},
		"a sandbox of no record": {reply{status: 404, body: `{"success":false,"message":"sandbox not found","code":"SANDBOX_NOT_FOUND"}`}, backend.OutcomeUnknown, backend.FailGone, "the platform does not find it"},
	} {
		w := newWorld(t, nil)
		w.set("GET /fs/list/"+zombieID, x.answer)
		v := verdictOf(t, sandboxOf(t, w.poll(), zombieID), backend.PlaneList)
		if v.Outcome != x.outcome || v.Kind != x.kind || x.what != "" && v.What.String() != x.what {
			t.Errorf("%s: %s %q %s", name, v.Outcome, v.Kind, v.What)
		}
	}
}

func readReply(t testing.TB, name string) reply {
	s := readSample(t, name)
	return s.answer()
}

// TestTheQueueIsJudged: what waits behind a running execution, or was overtaken, is not stuck.
func TestTheQueueIsJudged(t *testing.T) {
	executions := func(rows string) func(url.Values) reply {
		return func(url.Values) reply { return ok(`{"success":true,"data":{"executions":[` + rows + `]}}`) }
	}
	const queued = `{"executionId":"exe_q","status":"queued","command":["true"]}`
	w := newWorld(t, nil)
	route := "GET /sandbox/sandboxes/" + healthyID + "/executions"
	var b *backend.Sandbox
	after := func(rows string, polls int) (v backend.Verdict, is bool) {
		w.setFunc(route, executions(rows))
		w.src.Attend(backend.Attention{Alerting: []backend.Key{{Kind: backend.KindSandbox, Source: "agentuity", ID: backend.MustID(healthyID)}}})
		for range polls {
			b = sandboxOf(t, w.poll(), healthyID)
		}
		o, _ := b.Observed.Get()
		return o.Of(backend.PlaneQueue)
	}
	if v, _ := after(queued, 2); v.Outcome == backend.OutcomeFailed {
		t.Errorf("after some seconds: %+v", v)
	}
	if v, _ := after(queued, 3); v.Outcome != backend.OutcomeFailed || v.Kind != backend.FailExecStuckQueued {
		t.Errorf("idle for 20 s with something queued: %+v", v)
	}
	if v, _ := after(queued+`,{"executionId":"exe_r","status":"running","startedAt":"2026-04-04T01:00:00Z"}`, 20); v.Outcome != backend.OutcomeOK {
		t.Errorf("behind one that runs: %+v", v)
	}
	if v, _ := after(queued+`,{"executionId":"exe_s","status":"completed","startedAt":"2026-04-04T01:03:00Z","completedAt":"2026-04-04T01:03:01Z"}`, 2); v.Outcome != backend.OutcomeOK || !strings.Contains(v.What.String(), "overtaken") {
		t.Errorf("overtaken: %+v", v)
	}
	if v, _ := after("", 1); v.Outcome != backend.OutcomeOK || v.What.String() != "nothing is queued" {
		t.Errorf("empty: %+v", v)
	}
}

// TestFirstSeenOutlivesTheProcess: a queued execution is as old as a former process knows.
func TestFirstSeenOutlivesTheProcess(t *testing.T) {
	w := newWorld(t, nil)
	first := w.poll()
	w.clock.Add(10 * time.Minute)
	w.src = w.source(nil)
	w.src.Resume(first.Bookmarks)
	r := w.poll()
	n := 0
	for _, x := range r.Executions {
		if x.Class == backend.WorkQueued {
			n++
			if at := x.Queued().Latest; !at.Equal(first.Started) {
				t.Errorf("queued since %s, the former process saw it at %s", at, first.Started)
			}
		}
	}
	if n != 2 {
		t.Errorf("%d are queued", n)
	}
	for _, e := range r.Events {
		t.Errorf("told again: %s", e.Text)
	}
	if v := verdictOf(t, sandboxOf(t, r, zombieID), backend.PlaneQueue); v.Outcome != backend.OutcomeFailed {
		t.Errorf("queue: %+v", v)
	}
}

// TestAPendingJobIsDated: a job that never begins (agentuity/sdk#1395) is as old as the first look at it.
func TestAPendingJobIsDated(t *testing.T) {
	w := newWorld(t, nil)
	w.serve(readSample(t, "orphan_jobs_pending"))
	w.poll()
	w.clock.Add(time.Minute)
	for _, j := range w.poll().Jobs {
		if j.Key.Parent.Raw() == healthyID && (j.Class != backend.WorkQueued || j.Reported.String() != "pending" || j.Driver || j.Queued().Latest.After(w.clock.Now().Add(-time.Minute))) {
			t.Errorf("%+v since %s", j.Work, j.Queued().Latest)
		}
	}
}

// TestNudgesAreLabelled in any spelling of the command that signals the driver.
func TestNudgesAreLabelled(t *testing.T) {
	for command, want := range map[string]bool{
		`pkill -USR1 -f rpc-driver.ts`: true, `pkill -SIGUSR1 -f "[r]pc-driver.ts"`: true, `pkill -s USR1 -f rpc-drive[r]`: true, `kill -USR1 $(pgrep -f '[r]pc-driver\.ts')`: true,
		`bash -lc pkill --signal USR1 -f 'rpc-driver[.]ts' || echo rpc-driver process not found`: true, `pkill -10 -f rpc-driver.ts`: true, `kill -s SIGUSR1 $(pidof rpc-driver)`: true,
		`<shell: find the rpc-driver process and send it SIGUSR1>`: true,
		`pkill --signal=10 -f rpc[-]driver`:                        true, `pkill --signal SIGUSR1 -f "[rR]pc-driver"`: true, `killall -s 10 rpc-driver.ts`: true, `pkill -USR1 -f "rpc-"'driver\.ts'`: true,
		`sh -c 'for p in /proc/[0-9]*; do grep -q "rpc-driver" $p/cmdline && kill -n 10 ${p#/proc/}; done'`: true, `bun -e "process.kill(pid('rpc-driver.ts'), 'SIGUSR1')"`: true,
		`sh -c pkill --signal 10 -f rpc-drive[r].ts`: true, `pgrep -f rpc-driver | xargs -r kill -USR1`: true, `bash -lc "p=$(pgrep -f '[r]pc-driver') && kill -USR1 $p"`: true,
		`timeout 5 pkill -USR1 -f rpc-driver`: true, `python3 -c "import os, signal; os.kill(pid('rpc-driver'), signal.SIGUSR1)"`: true,
		`bash -lc cat rpc-driver.ts | grep USR1`: false, `git commit -m pkill -USR1 rpc-driver.ts explained`: false, `bash -lc echo 'pkill -USR1 -f rpc-driver.ts' >> notes.md`: false,
		`tail -10 rpc-driver.log`: false, `bun run rpc-driver.ts --port 10`: false,
		`bun run /home/agentuity/client/driver/rpc-driver.ts`: false, `pkill -USR1 -f node`: false, `pkill -TERM -f rpc-driver.ts`: false, `ls`: false, `echo usr1`: false,
	} {
		if isNudge(command) != want {
			t.Errorf("%s: a nudge is %v", command, !want)
		}
	}
}

// TestNoCheckpointIsObserved: a line that says so of a sandbox that sleeps is a fact of its own, and no reason to list anything.
func TestNoCheckpointIsObserved(t *testing.T) {
	w := newWorld(t, nil)
	w.poll()
	r, _ := backend.HubText("resume of " + suspendedID + " failed: 409 Cannot resume sandbox: it is suspended but has no checkpoint data")
	r.At, r.Text = w.clock.Now(), backend.Text("409")
	w.src.Listen([]backend.Report{r})
	w.forget()
	v := verdictOf(t, sandboxOf(t, w.poll(), suspendedID), backend.PlaneExec)
	if v.Outcome != backend.OutcomeFailed || v.Kind != backend.FailNoCheckpoint || len(w.requests("/fs/list/")) > 0 {
		t.Errorf("%+v, asked %v", v, w.requests("/fs/list/"))
	}
}

// TestOneProcessAMinuteListsRarely: what a former process listed within five minutes is not listed again, as by a command of cron.
func TestOneProcessAMinuteListsRarely(t *testing.T) {
	w := newWorld(t, nil)
	marks := w.poll().Bookmarks
	for range 12 {
		w.clock.Add(time.Minute)
		w.src = w.source(nil)
		w.src.Resume(marks)
		marks = w.poll().Bookmarks
	}
	if got := w.requests("/fs/list/"); len(got) > 4 {
		t.Errorf("%d lists in 13 minutes", len(got))
	}
}

// TestALineJoins: without the Hub's list, a line that names a session and a sandbox joins them, and says so.
func TestALineJoins(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Hub = false })
	w.poll()
	r := nudgeFailed(w, "codesess_other")
	r.Sandbox = backend.MustID(healthyID)
	w.src.Listen([]backend.Report{r})
	b := sandboxOf(t, w.poll(), healthyID)
	if b.Session.Raw() != "codesess_other" || !strings.HasPrefix(b.JoinedBy.String(), "a log line of hub-log at 2026-04-04 ") || b.JoinedLine != r.Text {
		t.Errorf("joined with %q by %q", b.Session.Raw(), b.JoinedBy)
	}
	w.clock.Add(6 * time.Minute)
	w.forget()
	w.src.Listen([]backend.Report{nudgeFailed(w, "codesess_other")}) // names the session alone
	w.poll()
	if got := w.requests("/fs/list/" + healthyID); len(got) != 1 {
		t.Errorf("listed %v", got)
	}
}

// TestLostFilesAreSeen: a directory that lost most of its entries while the sandbox slept is a failure (agentuity/sdk#1161).
func TestLostFilesAreSeen(t *testing.T) {
	w := newWorld(t, nil)
	list := string(readSample(t, "sandbox_list").Response.Body)
	asleep := strings.Replace(list, `"status": "idle"`, `"status": "suspended"`, 1)
	w.poll()
	w.src.Listen([]backend.Report{nudgeFailed(w, healthyHub)})
	w.poll()
	w.set("GET /sandbox", ok(asleep))
	w.clock.Add(time.Minute)
	w.poll()
	w.set("GET /sandbox", ok(list))
	w.set("GET /fs/list/"+healthyID, ok(`{"success":true,"data":{"files":[{"path":".env"}]}}`))
	w.clock.Add(5 * time.Minute)
	w.poll()
	w.src.Listen([]backend.Report{nudgeFailed(w, healthyHub)})
	v := verdictOf(t, sandboxOf(t, w.poll(), healthyID), backend.PlaneList)
	if v.Outcome != backend.OutcomeFailed || v.Kind != backend.FailFilesystemMissing || !strings.Contains(v.What.String(), "has 1 entry, and had 4 before it slept") {
		t.Errorf("%+v", v)
	}
}

// TestAnErrorThatIsOverSaysNothing: the Hub keeps its last error. Of a session that wakes again it is no reason for anything.
func TestAnErrorThatIsOverSaysNothing(t *testing.T) {
	w := newWorld(t, nil)
	for _, route := range []string{"GET /api/hub/sessions", "GET /api/hub/session/" + zombieHub} {
		name := map[bool]string{true: "hub_sessions_list", false: "hub_session_error"}[strings.HasSuffix(route, "sessions")]
		w.set(route, ok(strings.ReplaceAll(string(readSample(t, name).Response.Body), `"status": "error"`, `"status": "resuming"`)))
	}
	w.set("GET /sandbox/sandboxes/"+zombieID+"/events", ok(`{"success":true,"data":{"events":[]}}`))
	w.set("GET /sandbox/sandboxes/"+zombieID+"/executions", ok(`{"success":true,"data":{"executions":[]}}`))
	b := sandboxOf(t, w.poll(), zombieID)
	if got := w.requests("/fs/list/"); len(got) > 0 {
		t.Errorf("listed %v", got)
	}
	if v := verdictOf(t, b, backend.PlaneDriver); v.Outcome != backend.OutcomeUnknown || v.Kind != backend.FailWaking {
		t.Errorf("driver: %+v", v)
	}
	w.clock.Add(2 * time.Minute)
	w.poll()
	if v := verdictOf(t, sandboxOf(t, w.poll(), zombieID), backend.PlaneDriver); v.Outcome != backend.OutcomeFailed {
		t.Errorf("driver after two minutes: %+v", v)
	}
}

// TestWhatWorksAgainIsSeen: a command that ended since proves that commands run, and gives reason to list the directory again.
func TestWhatWorksAgainIsSeen(t *testing.T) {
	w := newWorld(t, nil)
	w.poll()
	r := nudgeFailed(w, zombieHub)
	w.src.Listen([]backend.Report{r})
	if v := verdictOf(t, sandboxOf(t, w.poll(), zombieID), backend.PlaneExec); v.Outcome != backend.OutcomeFailed {
		t.Errorf("exec: %+v", v)
	}
	for range 8 { // until what is queued counts as stuck
		w.poll()
	}
	w.clock.Add(5 * time.Minute)
	w.set("GET /fs/list/"+zombieID, readReply(t, "healthy_fs_list"))
	w.set("GET /sandbox/sandboxes/"+zombieID+"/executions", ok(`{"success":true,"data":{"executions":[{"executionId":"exe_new","type":"exec","status":"completed","exitCode":0,
		"startedAt":"`+w.clock.Now().Format(time.RFC3339)+`","completedAt":"`+w.clock.Now().Format(time.RFC3339)+`","command":["ls"]}]}}`))
	w.poll()
	b := sandboxOf(t, w.poll(), zombieID)
	if v := verdictOf(t, b, backend.PlaneExec); v.Outcome != backend.OutcomeOK || !strings.Contains(v.What.String(), "exe_new ended with exit code 0") {
		t.Errorf("exec: %+v", v)
	}
	if v := verdictOf(t, b, backend.PlaneList); v.Outcome != backend.OutcomeOK {
		t.Errorf("list: %+v", v)
	}
	if v := verdictOf(t, b, backend.PlaneQueue); v.Outcome != backend.OutcomeOK {
		t.Errorf("queue: %+v", v)
	}
}

// TestJobsThatCannotBeReadAreNotAbsent: without the jobs' list, or with one that may be cut, nothing is said to be missing.
func TestJobsThatCannotBeReadAreNotAbsent(t *testing.T) {
	w := newWorld(t, nil)
	if b := sandboxOf(t, w.poll(), zombieID); b.WorkAt.IsZero() {
		t.Error("it was read, and nothing says so")
	}
	for name, answer := range map[string]reply{"refused": {status: 500, body: "{}"}, "cut": ok(`{"success":true,"data":{"jobs":[` + strings.TrimSuffix(strings.Repeat(`{"jobId":"job_1","status":"completed"},`, rowsAsked), ",") + `]}}`)} {
		w := newWorld(t, nil)
		w.set("GET /sandbox/sandboxes/"+zombieID+"/jobs", answer)
		if b := sandboxOf(t, w.poll(), zombieID); !b.WorkAt.IsZero() {
			t.Errorf("%s: all work was read at %s", name, b.WorkAt)
		}
	}
}

// TestASuspendRightAfterAResume is looked into where a later list still calls the sandbox live, and only then.
func TestASuspendRightAfterAResume(t *testing.T) {
	w := newWorld(t, nil)
	w.set("GET /sandbox/sandboxes/"+healthyID+"/events", ok(`{"success":true,"data":{"events":[{"eventId":"evt_r","type":"lifecycle:resumed","event":{"deferred":false},"createdAt":"2026-04-04T01:00:05Z"},
		{"eventId":"evt_s","type":"suspend","event":{},"createdAt":"2026-04-04T01:02:04Z"}]}}`))
	w.poll()
	if got := w.requests("/fs/list/" + healthyID); len(got) > 0 {
		t.Errorf("listed at once: %v", got)
	}
	for range 4 {
		w.poll()
	}
	if got := w.requests("/fs/list/" + healthyID); len(got) != 1 {
		t.Errorf("listed %v", got)
	}
}

// TestNoListOfWhatFellAsleep: the status route is asked before a directory is listed.
func TestNoListOfWhatFellAsleep(t *testing.T) {
	w := newWorld(t, nil)
	w.poll()
	w.set("GET /sandbox/status/"+healthyID, ok(`{"success":true,"data":{"sandboxId":"`+healthyID+`","status":"suspended"}}`))
	w.src.Listen([]backend.Report{nudgeFailed(w, healthyHub)})
	w.poll()
	if got := w.requests("/fs/list/" + healthyID); len(got) > 0 {
		t.Errorf("listed %v", got)
	}
}

// TestWhatANudgeProves: exit code 0 says that a command ran, another one nothing.
func TestWhatANudgeProves(t *testing.T) {
	for code, want := range map[string]backend.Outcome{"0": backend.OutcomeOK, "1": backend.OutcomeFailed} {
		w := newWorld(t, nil)
		w.src.Listen([]backend.Report{nudgeFailed(w, zombieHub)})
		w.poll()
		w.clock.Add(time.Minute)
		at := w.clock.Now().Format(time.RFC3339)
		w.set("GET /sandbox/sandboxes/"+zombieID+"/executions", ok(`{"success":true,"data":{"executions":[{"executionId":"exe_n","type":"exec","status":"completed","exitCode":`+code+`,
			"startedAt":"`+at+`","completedAt":"`+at+`","command":["pkill","-USR1","-f","[r]pc-driver.ts"]}]}}`))
		w.poll()
		b := sandboxOf(t, w.poll(), zombieID)
		if v := verdictOf(t, b, backend.PlaneExec); v.Outcome != want {
			t.Errorf("exit code %s: %+v", code, v)
		}
		if v := verdictOf(t, b, backend.PlaneDriver); v.Outcome != backend.OutcomeFailed {
			t.Errorf("exit code %s: the driver is %+v", code, v)
		}
	}
}

// TestADriverThatANudgeDidNotFind is dead, and the command that looked for it ran; one that was signalled long ago and does not
// lead has failed at the first look.
func TestADriverThatANudgeDidNotFind(t *testing.T) {
	active := func(w *world) {
		for _, route := range []string{"GET /api/hub/sessions", "GET /api/hub/session/" + zombieHub} {
			name := map[bool]string{true: "hub_sessions_list", false: "hub_session_error"}[strings.HasSuffix(route, "sessions")]
			w.set(route, ok(strings.ReplaceAll(string(readSample(t, name).Response.Body), `"status": "error"`, `"status": "active"`)))
		}
		w.set("GET /sandbox/sandboxes/"+zombieID+"/events", ok(`{"success":true,"data":{"events":[]}}`))
	}
	for name, x := range map[string]struct {
		nudge        string
		driver, exec backend.Outcome
	}{
		"not found":   {`"status":"failed","exitCode":1,"error":"rpc-driver process not found"`, backend.OutcomeFailed, backend.OutcomeOK},
		"signalled":   {`"status":"completed","exitCode":0`, backend.OutcomeFailed, ""},
		"cannot tell": {`"status":"failed","exitCode":1`, backend.OutcomeUnknown, ""},
	} {
		w := newWorld(t, nil)
		active(w)
		w.set("GET /sandbox/sandboxes/"+zombieID+"/executions", ok(`{"success":true,"data":{"executions":[{"executionId":"exe_n","type":"exec",`+x.nudge+`,
			"startedAt":"2026-04-04T00:58:00Z","completedAt":"2026-04-04T00:58:01Z","command":["pkill","-USR1","-f","[r]pc-driver.ts"]}]}}`))
		w.poll()
		b := sandboxOf(t, w.poll(), zombieID)
		if v := verdictOf(t, b, backend.PlaneDriver); v.Outcome != x.driver || v.Kind == backend.FailWaking {
			t.Errorf("%s: driver %+v", name, v)
		}
		o, _ := b.Observed.Get()
		if v, _ := o.Of(backend.PlaneExec); v.Outcome != x.exec {
			t.Errorf("%s: exec %+v", name, v)
		}
	}
}

// shared are the claims of a state directory with another process.
type shared struct {
	t     *testing.T
	free  bool
	last  time.Time
	found map[string]backend.Verdict
}

func (s *shared) Claim(name string, every time.Duration) (bool, time.Time) {
	if every != suspectEvery || name != "list agentuity "+zombieID {
		s.t.Errorf("claims %s for %v", name, every)
	}
	return s.free, s.last
}

func (s *shared) Tell(name string, found backend.Verdict) { s.found[name] = found }

func (s *shared) Told(name string) (backend.Verdict, bool) {
	v, known := s.found[name]
	return v, known
}

// TestProcessesListTogether: a directory that another process of the state directory listed is left alone, and what that process
// found is known to this one too. What this one finds it tells.
func TestProcessesListTogether(t *testing.T) {
	name := "list agentuity " + zombieID
	w := newWorld(t, nil)
	both := &shared{t: t, found: map[string]backend.Verdict{}}
	w.src.Claims(both)
	for range 12 {
		w.poll()
	}
	if got := w.requests("/fs/list/"); len(got) > 0 {
		t.Errorf("listed %v", got)
	}
	both.found[name] = backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeFailed, Kind: backend.FailMountGone, What: backend.Text("its mount is gone"), At: w.clock.Now()}
	if v := verdictOf(t, sandboxOf(t, w.poll(), zombieID), backend.PlaneList); v.Kind != backend.FailMountGone || len(w.requests("/fs/list/")) > 0 {
		t.Errorf("what the other process found: %+v", v)
	}
	delete(both.found, name)
	both.free = true
	for range 70 { // until the next one is due, and a new reason for it
		w.set("GET /api/hub/session/"+zombieHub, ok(strings.ReplaceAll(string(readSample(t, "hub_session_error").Response.Body), "120000ms", "120001ms")))
		w.poll()
	}
	if got := w.requests("/fs/list/"); len(got) != 1 {
		t.Errorf("listed %v", got)
	}
	if v := both.found[name]; v.Kind != backend.FailMountGone || v.Plane != backend.PlaneList {
		t.Errorf("told %+v", v)
	}
}

// TestACommandAwaitsWhatAnotherProcessLists: while another process lists a directory, a process that only begins waits for it, so
// that both conclude the same. What that process found before the sandbox started again is nothing any more.
func TestACommandAwaitsWhatAnotherProcessLists(t *testing.T) {
	w := newWorld(t, nil)
	both := &late{shared: shared{t: t, found: map[string]backend.Verdict{}}, after: 3}
	both.last = w.clock.Now()
	both.when = func() time.Time { w.clock.Add(time.Millisecond); return w.clock.Now() } // during its poll
	w.src.Claims(both)
	if r := w.poll(); both.after > 0 {
		t.Errorf("%d more looks", both.after)
	} else if v := verdictOf(t, sandboxOf(t, r, zombieID), backend.PlaneList); v.Kind != backend.FailMountGone {
		t.Errorf("it concludes from %+v", v)
	}
	b := &box{woke: w.clock.Now().Add(time.Second), suspect: suspicion{at: w.clock.Now()}}
	p := &poll{s: w.src, now: w.clock.Now().Add(time.Minute)}
	if p.told(b, backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeFailed, At: w.clock.Now()}); len(b.checks) > 0 {
		t.Errorf("of a former life: %+v", b.checks)
	}
}

// late is another process that tells what it found when it was asked for it so many times.
type late struct {
	shared
	after int
	when  func() time.Time
}

func (l *late) Told(string) (backend.Verdict, bool) {
	if l.after--; l.after > 0 {
		return backend.Verdict{}, false
	}
	return backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeFailed, Kind: backend.FailMountGone, At: l.when()}, true
}
