package docker

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

func exitedAt(at time.Time, code int, more string) string {
	return fmt.Sprintf(`,"ExitCode":%d,"StartedAt":%q,"FinishedAt":%q%s`, code, at.Add(-time.Second).UTC().Format(time.RFC3339Nano), at.UTC().Format(time.RFC3339Nano), more)
}

var labelled = map[string]string{"sandglass.session": "s1"}

// The log of a failing sandbox is read once for each failure, and no other log is.
func TestLogsAreReadOncePerFailure(t *testing.T) {
	f := newFake(t)
	now := time.Now()
	log := []string{"first", "loading", "token=our-own-secret", "cannot open db"}
	bad := f.add(&fakeContainer{id: "bad", name: "bad", state: "exited", status: "Exited (3) 1 second ago", labels: labelled, stateJSON: exitedAt(now, 3, ""), log: log, memory: 64 << 20, policy: "always"})
	f.add(&fakeContainer{id: "oom", name: "oom", state: "exited", status: "Exited (137)", labels: labelled, stateJSON: exitedAt(now, 137, `,"OOMKilled":true`), log: log})
	f.add(&fakeContainer{id: "done", name: "done", state: "exited", labels: labelled, stateJSON: exitedAt(now, 0, ""), log: log})
	f.add(&fakeContainer{id: "stopped", name: "stopped", state: "exited", labels: labelled, stateJSON: exitedAt(now, 137, ""), log: log})
	f.add(&fakeContainer{id: "old", name: "old", state: "exited", labels: labelled, stateJSON: exitedAt(now.Add(-25*time.Hour), 1, ""), log: log})
	f.add(&fakeContainer{id: "other", name: "db", state: "exited", stateJSON: exitedAt(now, 1, ""), log: log})
	f.add(&fakeContainer{id: "new", name: "new", state: "created", labels: labelled, startError: `exec: "/bin/no": no such file or directory`, stateJSON: `,"ExitCode":127,"StartedAt":"0001-01-01T00:00:00Z","FinishedAt":"0001-01-01T00:00:00Z"`})
	s, clock := f.source(func(o *Options) { o.LogLines = 3 })
	r := mustPoll(t, s)
	tail, known := find(t, r, "bad").Log.Get()
	if !known || len(tail.Lines) != 3 || tail.Lines[2].String() != "cannot open db" || strings.Contains(tail.Lines[1].String(), "our-own-secret") {
		t.Errorf("the end of the log: %+v", tail)
	}
	b := find(t, r, "bad")
	if b.MemLimit.Or(0) != 64<<20 || b.RestartPolicy.String() != "always" || !b.Crashed() {
		t.Errorf("facts: %+v", b)
	}
	if b := find(t, r, "new"); b.StartError.String() != `exec: "/bin/no": no such file or directory` || b.Crashed() {
		t.Errorf("the error of the start: %q", b.StartError)
	}
	for _, id := range []string{"done", "stopped", "old", "other", "new"} {
		if b := find(t, r, id); !b.Log.IsNotApplicable() || b.Crashed() && id == "stopped" {
			t.Errorf("%s has a log: %+v", id, b.Log)
		}
	}
	if n := countOf(f.taken(), "/logs?"); n != 2 {
		t.Errorf("%d logs were read, want 2", n)
	}
	for range 5 {
		clock.Add(time.Minute)
		mustPoll(t, s)
	}
	if n := countOf(f.taken(), "/logs?"); n != 0 {
		t.Errorf("%d logs were read again", n)
	}
	f.change(func() {
		bad.stateJSON, bad.status, bad.log = exitedAt(now.Add(time.Hour), 4, ""), "Exited (4) 1 second ago", []string{"another end"}
	})
	clock.Add(time.Minute)
	if tail, _ := find(t, mustPoll(t, s), "bad").Log.Get(); len(tail.Lines) != 1 || tail.Lines[0].String() != "another end" {
		t.Errorf("after another failure: %+v", tail)
	}
	f.change(func() { bad.state, bad.status, bad.stateJSON = "running", "Up 1 second", "" })
	clock.Add(time.Minute)
	if b := find(t, mustPoll(t, s), "bad"); !b.Log.IsNotApplicable() {
		t.Errorf("it works and has the log of a failure: %+v", b.Log)
	}
}

// A hundred sandboxes that fail at once cost few requests a poll, and a log that cannot be read is no problem of the source.
func TestLogsOfManyFailuresTakeTurns(t *testing.T) {
	f := newFake(t)
	now := time.Now()
	for i := range 100 {
		f.add(&fakeContainer{id: fmt.Sprint("c", i), name: fmt.Sprint("c", i), state: "restarting", status: fmt.Sprintf("Restarting (1) %d", i), labels: labelled, restarts: 29, stateJSON: exitedAt(now, 1, "")})
	}
	s, clock := f.source(nil)
	for i := range 3 {
		r := mustPoll(t, s)
		if n := countOf(f.taken(), "/logs?"); n != maxTails {
			t.Errorf("poll %d: %d logs were read", i, n)
		}
		if len(r.Problems) > 0 {
			t.Errorf("problems: %+v", r.Problems)
		}
		clock.Add(time.Second)
	}
	if tail := s.entries["c0"].tail; tail == nil || tail.Why != backend.Text("it is empty") {
		t.Errorf("an empty log: %+v", tail)
	}
	s, _ = f.source(func(o *Options) { o.LogLines = 0 })
	mustPoll(t, s)
	if n := countOf(f.taken(), "/logs?"); n != 0 {
		t.Errorf("%d logs were read though none is wanted", n)
	}
}
