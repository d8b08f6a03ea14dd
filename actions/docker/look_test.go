package docker

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/backend/workdir"
)

func TestWhoIsATarget(t *testing.T) {
	for _, c := range []struct {
		verb  actions.Verb
		state string
		why   string // empty: a target
	}{
		{actions.Destroy, stateRunning, ""}, {actions.Destroy, statePaused, ""}, {actions.Destroy, stateExited, ""}, {actions.Destroy, stateDead, ""},
		{actions.Destroy, stateCreated, ""}, {actions.Destroy, stateRestarting, ""}, {actions.Destroy, stateRemoving, "removing it already"},
		{actions.Destroy, "somewhere new", ""},
		{actions.Stop, stateRunning, ""}, {actions.Stop, statePaused, ""}, {actions.Stop, stateRestarting, ""},
		{actions.Stop, stateExited, "it does not run: exited"}, {actions.Stop, "somewhere new", "it does not run: somewhere new"},
		{actions.Pause, stateRunning, ""}, {actions.Pause, statePaused, "paused already"}, {actions.Pause, stateRestarting, "does not run: restarting"},
		{actions.Resume, statePaused, ""}, {actions.Resume, stateRunning, "runs already"}, {actions.Resume, stateExited, "it is not paused: exited"},
		{actions.Start, stateExited, ""}, {actions.Start, stateCreated, ""}, {actions.Start, stateRunning, "it runs already"}, {actions.Start, statePaused, "resume it"},
		{actions.Start, stateRestarting, "its restart policy starts it already"}, {actions.Start, stateDead, "destroy it"}, {actions.Start, "somewhere new", "calls it somewhere new"},
		{actions.Restart, stateRunning, ""}, {actions.Restart, statePaused, "resume it first"}, {actions.Restart, stateExited, "does not run (exited): start it"},
		{actions.Restart, stateRestarting, "find why it ends"}, {actions.Restart, stateRemoving, "removing it already"},
		{actions.Probe, stateRunning, ""}, {actions.Probe, statePaused, ""}, {actions.Probe, stateExited, ""}, {actions.Probe, stateRemoving, "removing"},
		{actions.Repair, statePaused, "until it is resumed"}, {actions.Repair, stateRestarting, "does not run"},
	} {
		t.Run(fmt.Sprint(c.verb, " ", c.state), func(t *testing.T) {
			f := newFake(t)
			f.set(c.state)
			got := lookAt(t, f.parts(soon)[c.verb], known(sandbox()))
			if got.Why.IsEmpty() != (c.why == "") || !strings.Contains(got.Why.String(), c.why) {
				t.Errorf("left out because %q, want %q", got.Why, c.why)
			}
			if got.Name != "web-eval-12" || got.Label.String() != "web-eval-12" {
				t.Errorf("called %q, %q", got.Name, got.Label)
			}
			for _, r := range f.requests() {
				if !strings.HasPrefix(r, "GET ") && !strings.HasPrefix(r, "HEAD ") {
					t.Errorf("looking sent %s", r)
				}
			}
		})
	}
}

// What runs commands waits for what is queued in the container.
func TestNothingRunsBeforeWhatIsQueued(t *testing.T) {
	for verb, state := range map[actions.Verb]string{actions.Probe: stateRunning, actions.Repair: stateRunning, actions.Resume: statePaused, actions.Pause: stateRunning} {
		f := newFake(t)
		f.set(state)
		s := known(sandbox())
		s.Executions = fleet.NewTable(&backend.Execution{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindExecution, Source: "h", ID: backend.MustID("exe_1")}},
			Work: backend.Work{Sandbox: backend.MustID(boxID), Class: backend.WorkQueued}})
		got := lookAt(t, f.parts(soon)[verb], s)
		if waits := strings.Contains(got.Why.String(), "exe_1 is queued in it"); waits != (verb != actions.Pause) {
			t.Errorf("%s is left out because %q", verb, got.Why)
		}
	}
}

func TestErrorsLeaveOut(t *testing.T) {
	f := newFake(t)
	p := f.parts(40 * time.Millisecond)[actions.Destroy]
	other := sandbox()
	other.IsSandbox = false
	for name, s := range map[string]*fleet.State{"the newest reading of its engine does not list it": known(), "it is not a sandbox": known(other)} {
		if got := lookAt(t, p, s); !strings.Contains(got.Why.String(), name) {
			t.Errorf("left out because %q, want %q", got.Why, name)
		}
	}
	over := make(chan struct{})
	defer close(over)
	for want, answer := range map[string]func(w http.ResponseWriter){
		"no such container any more": func(w http.ResponseWriter) { f.fail(w, 404, "No such container: x") },
		"disk on fire":               func(w http.ResponseWriter) { f.fail(w, 500, "disk on fire") },
		"another container": func(w http.ResponseWriter) {
			_, _ = w.Write([]byte(`{"Id":"` + strings.Repeat("a", 64) + `","State":{},"Config":{},"HostConfig":{}}`))
		},
		"did not answer in time": func(http.ResponseWriter) { <-over },
	} {
		f.mu.Lock()
		f.answer = func(w http.ResponseWriter, _ *http.Request, _ string) bool {
			answer(w)
			return true
		}
		f.mu.Unlock()
		if got := lookAt(t, p, known(sandbox())); !strings.Contains(got.Why.String(), want) {
			t.Errorf("left out because %q, want %q", got.Why, want)
		}
	}
}

// A size that takes too long costs the figure, not the target.
func TestSizeIsNotWorthATarget(t *testing.T) {
	f := newFake(t)
	over := make(chan struct{})
	defer close(over)
	f.answer = func(_ http.ResponseWriter, r *http.Request, _ string) bool {
		if r.URL.Query().Get("size") == "" {
			return false
		}
		<-over
		return true
	}
	c := lookAt(t, f.parts(40 * time.Millisecond)[actions.Destroy], known(sandbox()))
	// The fake tells a size unasked; a real engine does not.
	if !c.Why.IsEmpty() || len(f.requests()) != 2 || strings.Contains(f.requests()[1], "size") {
		t.Errorf("%+v, asked %q", c, f.requests())
	}
}

func TestWhatIsLost(t *testing.T) {
	f := newFake(t)
	made := strings.Repeat("ab", 32)
	f.mounts = `[{"Type":"volume","Name":"` + made + `","Source":"/var/lib/docker/volumes/x","Destination":"/cache"},
		{"Type":"volume","Name":"keep","Source":"/var/lib/docker/volumes/keep","Destination":"/named","RW":false},
		{"Type":"bind","Source":"/tmp/helix-ws-1","Destination":"/work","RW":true},{"Type":"tmpfs","Source":"","Destination":"/run"}]`
	c := lookAt(t, f.parts(soon)[actions.Destroy], known(sandbox()))
	if got := joined(c.Loses); got != "what runs in it, up 41m␊its own layer: 118 MB written since it was made␊its log␊its anonymous volume at /cache, unless another container uses it" {
		t.Errorf("loses %s", got)
	}
	if got := joined(c.Notes); !strings.Contains(got, "volume keep at /named stays; it was mounted read-only") || !strings.Contains(got, "/tmp/helix-ws-1 of the host at /work stays") || strings.Contains(got, "/work stays; it was") ||
		!strings.Contains(got, "no source lists sessions") {
		t.Errorf("notes %s", got)
	}
	if c.Owner.String() != "session c4f1" || c.Useless {
		t.Errorf("%+v", c)
	}
	for mounts, want := range map[string]string{
		`[{"Type":"bind","Source":"/srv/sub","Destination":"/work/sub"}]`:                     "the files of /work outside its mounts: nothing else holds them",
		`[{"Type":"bind","Source":"/srv/sub","Destination":"/elsewhere"}]`:                    "the files of /work: nothing else holds them",
		`[{"Type":"volume","Name":"` + made + `","Source":"/var/lib","Destination":"/work"}]`: "the files of /work: nothing else holds them",
	} {
		f.mounts = mounts
		if got := joined(lookAt(t, f.parts(soon)[actions.Destroy], known(sandbox())).Loses); !strings.Contains(got, want) {
			t.Errorf("%s: loses %s", mounts, got)
		}
	}
	f.set(stateExited)
	if c := lookAt(t, f.parts(soon)[actions.Destroy], known(sandbox())); !c.Useless || strings.Contains(joined(c.Loses), "up") {
		t.Errorf("one that ended: %+v", c)
	}
}

func TestLiveSessionsKeepTheirSandboxes(t *testing.T) {
	session := func(running backend.Value[bool], change ...func(*backend.Session)) *backend.Session {
		x := &backend.Session{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSession, Source: "helix-eu", ID: backend.MustID("c4f1")}, ReadAt: noon}, Running: running}
		x.Tenant = backend.Text("acme")
		for _, do := range change {
			do(x)
		}
		return x
	}
	with := func(h *fleet.SourceHealth, sessions ...*backend.Session) *fleet.State {
		s := known(sandbox())
		s.Sources = append(s.Sources, h)
		s.Sessions = fleet.NewTable(sessions...)
		return s
	}
	helix := func(change ...func(*fleet.SourceHealth)) *fleet.SourceHealth {
		h := healthy("helix-eu", "helix", backend.InputRegistry, backend.InputSessions)
		for _, do := range change {
			do(h)
		}
		return h
	}
	down := helix(func(h *fleet.SourceHealth) { h.Status, h.Error = fleet.StatusDown, backend.Text("connection refused") })
	starting := &fleet.SourceHealth{Key: backend.Key{Kind: backend.KindSource, Source: "helix-eu"}, Kind: "helix", Status: fleet.StatusStarting}
	stale := session(backend.Known(false), func(x *backend.Session) { x.Stale, x.StaleWhy = true, backend.Text("500") })
	ref := func(session string) *backend.Ref {
		return &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "refs", Parent: backend.MustID(session), ID: backend.MustID("workspace")}},
			Session: backend.MustID(session), Sandbox: backend.MustID(boxID[:12])}
	}
	other := session(backend.Known(true), func(x *backend.Session) { x.Key.ID = backend.MustID("c4f9") })
	named := with(helix(), session(backend.Known(false)), other)
	named.Refs = fleet.NewTable(ref("c4f9"))
	own := with(helix(), session(backend.Known(false)))
	own.Refs = fleet.NewTable(ref("c4f1"))
	for _, c := range []struct {
		name string
		s    *fleet.State
		why  string
	}{
		{"live", with(helix(), session(backend.Known(true))), "session c4f1 of acme is live"},
		{"nobody knows whether it runs", with(helix(), session(backend.Unknown[bool]())), "is live"},
		{"over", with(helix(), session(backend.Known(false))), ""},
		{"over, as read before its reading failed", with(helix(), stale), "not known: 500"},
		{"its source is down", with(down, session(backend.Known(false))), "not known: helix-eu is down"},
		{"not listed, source down", with(down), "helix-eu did not answer"},
		{"not listed, source not read yet", with(starting), "helix-eu did not answer"},
		{"not listed, never listed whole", with(helix()), "has not listed all of its sessions"},
		{"not listed since it started", with(helix()).WithListed("helix-eu", backend.KindSession, noon.Add(-time.Hour)), "has not listed all of its sessions"},
		{"in no list", with(helix()).WithListed("helix-eu", backend.KindSession, noon), ""},
		{"named by another live session", named, "a saved reference of session c4f9, which is live, names it"},
		{"named by its own session, which is over", own, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t)
			got := lookAt(t, f.parts(soon)[actions.Destroy], c.s)
			if got.Why.IsEmpty() != (c.why == "") || !strings.Contains(got.Why.String(), c.why) {
				t.Errorf("left out because %q, want %q", got.Why, c.why)
			}
			if useless := c.name == "in no list"; c.why == "" && got.Useless != useless {
				t.Errorf("useless: %t", got.Useless)
			}
			// The other verbs can be taken back, and say it.
			if got := lookAt(t, f.parts(soon)[actions.Pause], c.s); !got.Why.IsEmpty() || c.why == "session c4f1 of acme is live" && joined(got.Notes) != c.why {
				t.Errorf("pause: %q, notes %s", got.Why, joined(got.Notes))
			}
		})
	}
}

func TestIdentityOfACrashLoop(t *testing.T) {
	b := containerInfo{Container: workdir.Container{ID: boxID, PID: 1}, state: stateRestarting, restarting: true, restarts: 7, started: "a"}
	next := b
	next.state, next.restarts, next.started, next.PID = stateRunning, 8, "b", 2
	for _, v := range []actions.Verb{actions.Destroy, actions.Stop} {
		if !slices.Equal(b.identity(v), next.identity(v)) {
			t.Errorf("%s: the next run of a crash loop is another container", v)
		}
	}
	if slices.Equal(b.identity(actions.Pause), next.identity(actions.Pause)) {
		t.Error("pause: another run is the same")
	}
	b.restarts, b.state, next.restarts = 0, stateRunning, 0
	if slices.Equal(b.identity(actions.Destroy), next.identity(actions.Destroy)) {
		t.Error("destroy: another run of a container that never crashed is the same")
	}
}

// Nothing but GET and HEAD leaves the client that plans are made with, whoever asks it.
func TestReaderRefusesToChange(t *testing.T) {
	f := newFake(t)
	d := &clientFactory{source: f, opt: defaults(), deps: backend.Deps{Deadline: soon, Now: time.Now, Cleaner: backend.NewCleaner()}}
	r, err := d.read()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.close() }()
	h := &mutatingClient{reader: *r}
	for what, do := range map[string]operation{"destroy": h.destroy, "stop": h.stop, "pause": h.pause, "resume": h.resume, "probe": h.probe} {
		b := box()
		b.state, b.Dir = stateRunning, "/work"
		if _, err := do(t.Context(), b, actions.Target{Key: key(boxID)}); err == nil || !strings.Contains(err.Error(), errReads.Error()) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, got := range f.requests() {
		if !strings.HasPrefix(got, "HEAD ") {
			t.Errorf("sent %q", got)
		}
	}
}
