package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/backend"
)

// scripted is an engine without a socket, for tests in virtual time.
type scripted struct {
	events_ chan lifecycle
	broken  chan error
	since   []time.Time
}

func (s *scripted) ping(context.Context) (string, error)    { return "1.43", nil }
func (s *scripted) list(context.Context) ([]summary, error) { return nil, nil }
func (s *scripted) inspect(context.Context, string) (*inspection, error) {
	return nil, errors.New("unused")
}
func (s *scripted) volumes(context.Context) ([]volume, error)      { return nil, errors.New("unused") }
func (s *scripted) stats(context.Context, string) (*sample, error) { return nil, nil }
func (s *scripted) tail(context.Context, string, int, bool) (string, error) {
	return "", errors.New("unused")
}
func (s *scripted) logs(context.Context, string, backend.LogQuery, backend.LogSink) error {
	return errors.New("unused")
}
func (s *scripted) takeLoad() backend.Load { return backend.Load{} }
func (s *scripted) clock() (backend.Value[time.Duration], time.Time) {
	return backend.Known(time.Duration(0)), time.Unix(1000, 0)
}
func (s *scripted) podman() bool { return false }
func (s *scripted) close()       {}
func (s *scripted) stat(context.Context, string, string) (fs.FileMode, string, error) {
	return 0, "", errors.New("unused")
}
func (s *scripted) top(context.Context, string) ([]string, [][]string, error) {
	return nil, nil, errors.New("unused")
}
func (s *scripted) kills(context.Context, time.Time, time.Time) ([]lifecycle, error) {
	return nil, nil
}
func (s *scripted) events(ctx context.Context, since time.Time, opened func(), deliver func(lifecycle)) error {
	s.since = append(s.since, since)
	opened()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-s.broken:
			return err
		case e := <-s.events_:
			deliver(e)
		}
	}
}

func scriptedSource(t *testing.T) (*Source, *scripted) {
	t.Helper()
	eng := &scripted{events_: make(chan lifecycle), broken: make(chan error)}
	s := newSource(defaults(), selection{sessionLabel: "sandglass.session"}, backend.Deps{ID: "d", Interval: 5 * time.Second, Now: time.Now,
		Getenv: func(k string) string { return map[string]string{"DOCKER_HOST": "unix:///x.sock"}[k] }})
	s.dial = func(address, backend.Deps) (engine, error) { return eng, nil }
	if _, err := s.Poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s, eng
}

func TestEventsAreJoinedWithin250ms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, eng := scriptedSource(t)
		ctx, cancel := context.WithCancel(t.Context())
		var calls []time.Duration
		start := time.Now()
		done := make(chan error, 1)
		go func() { done <- s.Watch(ctx, func() { calls = append(calls, time.Since(start)) }) }()
		synctest.Wait()
		at := time.Unix(2000, 0)
		send := func(after time.Duration, action string) {
			time.Sleep(after)
			at = at.Add(time.Millisecond)
			eng.events_ <- lifecycle{action: action, id: "a", at: at}
			synctest.Wait()
		}
		// Health checks run as execs: no sign of them.
		for range 100 {
			send(time.Millisecond, "exec_create: /bin/check")
			send(0, "exec_start: /bin/check")
			send(0, "exec_die")
			send(0, "top")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if len(calls) != 0 {
			t.Fatalf("exec events asked for %d polls", len(calls))
		}
		began := time.Since(start)
		send(0, "create")
		send(100*time.Millisecond, "start")
		send(100*time.Millisecond, "health_status: unhealthy")
		time.Sleep(time.Second)
		synctest.Wait()
		if len(calls) != 1 || calls[0]-began != 250*time.Millisecond {
			t.Fatalf("calls at %v after %v, want one 250 ms later", calls, began)
		}
		send(0, "die")
		time.Sleep(time.Second)
		synctest.Wait()
		if len(calls) != 2 {
			t.Errorf("%d calls", len(calls))
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("the watch ended with %v", err)
		}
	})
}

func TestWatchResumesAndClosesTheGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, eng := scriptedSource(t)
		done := make(chan error, 1)
		calls := 0
		watch := func() {
			go func() { done <- s.Watch(t.Context(), func() { calls++ }) }()
			synctest.Wait()
		}
		watch()
		last := time.Unix(2000, 5)
		eng.events_ <- lifecycle{action: "start", id: "a", at: last}
		time.Sleep(time.Minute)
		synctest.Wait()
		if calls != 1 {
			t.Fatalf("%d calls", calls)
		}
		_ = s.takePending()
		eng.broken <- errors.New("cut")
		if err := <-done; err == nil || calls != 2 {
			t.Fatalf("error %v, %d calls: a broken stream must ask for a poll", err, calls)
		}
		watch()
		eng.events_ <- lifecycle{action: "start", id: "a", at: last} // the engine includes the moment asked for
		time.Sleep(time.Second)
		synctest.Wait()
		if len(eng.since) != 2 || !eng.since[1].Equal(last) {
			t.Errorf("resumed since %v", eng.since)
		}
		if first := eng.since[0]; first.After(time.Unix(1000, 0)) || first.Before(time.Unix(995, 0)) {
			t.Errorf("the first watch began at %v, the list was made at 1000", first)
		}
		p := s.takePending()
		if !p.gap || !p.missed || len(p.events) != 0 || calls != 3 {
			t.Errorf("after the gap: gap %v, missed %v, %d events (the replayed one is known), %d calls", p.gap, p.missed, len(p.events), calls)
		}
		// A stream that breaks at once must not make polls follow each other without a pause.
		eng.broken <- errors.New("cut")
		<-done
		synctest.Wait()
		if calls != 3 {
			t.Errorf("%d calls after a short stream", calls)
		}
	})
}

func TestAKillIsToldOfAContainerThatNoListNamed(t *testing.T) {
	f := newFake(t)
	s, _ := f.source(nil)
	mustPoll(t, s)
	changed, _ := watching(t, s)
	now := time.Now().UnixNano()
	for i, labels := range []string{`,"sandglass.session":"s1","sandglass.workspace":"box"`, ""} {
		id := string(rune('a' + i))
		f.emit(event("oom", id, "job-"+id, now+1, labels))
		f.emit(event("die", id, "job-"+id, now+2, labels+`,"exitCode":"137"`))
		f.emit(event("destroy", id, "job-"+id, now+3, labels))
	}
	<-changed
	r := mustPoll(t, s)
	b := find(t, r, "a")
	if !b.IsSandbox || !b.OOMKilled.Or(false) || b.Session.Raw() != "s1" || b.Workspace.Raw() != "box" || b.FinishedAt.Or(time.Time{}).UnixNano() != now+1 || len(r.Sandboxes) != 1 {
		t.Errorf("read %+v", r.Sandboxes)
	}
	if !slices.Contains(r.Ended, b.Key) || len(r.Counts) != 1 || r.Counts[0].Series.Sandbox.Raw() != "b" {
		t.Errorf("ended %v, counts %v", r.Ended, r.Counts)
	}
	if r = mustPoll(t, s); len(r.Sandboxes) != 0 {
		t.Errorf("read again: %+v", r.Sandboxes)
	}
}

func TestFloodOfEventsIsBounded(t *testing.T) {
	s, _ := scriptedSource(t)
	for i := range 3 * maxPending {
		s.take(lifecycle{action: "start", id: fmt.Sprint(i), at: time.Unix(int64(i), 0)})
	}
	if len(s.pend.events) != maxPending || len(s.pend.seen) > maxSeen || !s.pend.gap || s.pend.lost != 2*maxPending {
		t.Errorf("%d events, %d lost, gap %v", len(s.pend.events), s.pend.lost, s.pend.gap)
	}
	s.putBack(s.takePending())
	if len(s.pend.events) != maxPending {
		t.Errorf("%d events after a failed poll", len(s.pend.events))
	}
}

func TestEventsReachTheReading(t *testing.T) {
	f := newFake(t)
	box := map[string]string{"sandglass.session": "s1"}
	a := f.add(&fakeContainer{id: "a", name: "a", labels: box})
	f.add(&fakeContainer{id: "plain", name: "plain"})
	s, c := f.source(nil)
	mustPoll(t, s)
	changed, _ := watching(t, s)
	f.taken()
	now := time.Now().UnixNano()
	f.change(func() {
		a.state, a.status = "exited", "Exited (137) now"
		a.stateJSON = `,"OOMKilled":true,"ExitCode":137,"StartedAt":"2026-11-21T10:00:34Z","FinishedAt":"2026-11-21T10:00:35Z"`
	})
	f.emit(event("exec_create: sh -c true", "a", "a", now, ""))
	f.emit(event("oom", "a", "a", now+1, ""))
	f.emit(event("die", "a", "a", now+2, `,"exitCode":"137"`))
	f.emit(event("die", "plain", "plain", now+3, `,"exitCode":"1"`))
	f.add(&fakeContainer{id: "new", name: "new", labels: box})
	f.emit(event("create", "new", "new", now+4, `,"sandglass.session":"s1"`))
	f.emit(event("start", "new", "new", now+5, `,"sandglass.session":"s1"`))
	f.emit(`{"Type":"container","Action":"start","Actor":{"ID":"","Attributes":null},"timeNano":9}`)
	<-changed
	r := mustPoll(t, s)
	var got []string
	for _, e := range r.Events {
		got = append(got, string(e.Kind)+" "+e.Name+" "+e.Subject.ID.Raw()+": "+e.Text.String())
	}
	want := "platform oom a: container a ran out of memory: the kernel killed a process in it|platform die a: container a ended with exit code 137|" +
		"platform create new: container new was created from image agent:1|change start new: container new started from image agent:1"
	if strings.Join(got, "|") != want {
		t.Errorf("events\n%s", strings.Join(got, "\n"))
	}
	if b := find(t, r, "a"); b.Class != backend.SandboxExited || !b.OOMKilled.Or(false) || b.ExitCode.Or(0) != 137 {
		t.Errorf("a after its end: %+v", b)
	}
	find(t, r, "new")
	reqs := f.taken()
	if countOf(reqs, "/containers/json") != 0 || countOf(reqs, "/a/json") != 1 || countOf(reqs, "/new/json") != 1 || len(reqs) > 4 {
		t.Errorf("the events cost %v", reqs)
	}
	// Destroyed: its owner said so.
	f.change(func() { delete(f.containers, "a") })
	f.emit(event("destroy", "a", "a", now+9, ""))
	<-changed
	r = mustPoll(t, s)
	if len(r.Ended) != 1 || r.Ended[0] != s.key(backend.MustID("a")) || len(r.Events) != 1 || r.Events[0].Name != "destroy" {
		t.Errorf("ended %v, events %v", r.Ended, r.Events)
	}
	// Later events list once, beside the inspections; what the first events said is not inspected again.
	c.Add(eventList)
	f.taken()
	f.emit(event("health_status: unhealthy", "new", "new", now+10, ""))
	<-changed
	r = mustPoll(t, s)
	reqs = f.taken()
	if countOf(reqs, "/containers/json") != 1 || countOf(reqs, "/new/json") != 1 || len(reqs) != 2 || len(r.Scopes) != 1 {
		t.Errorf("an event later on cost %v", reqs)
	}
}

func TestBrokenStreamIsResumedByAList(t *testing.T) {
	f := newFake(t)
	a := f.add(&fakeContainer{id: "a", name: "a", labels: map[string]string{"sandglass.session": "s"}})
	f.add(&fakeContainer{id: "off", name: "off", state: "exited", status: "Exited (0) now"})
	s, c := f.source(func(o *Options) { o.StatsSweep = 0 })
	mustPoll(t, s)
	_, ended := watching(t, s)
	if r := mustPoll(t, s); len(r.Scopes) != 0 || len(r.Confirmed) != 1 || len(r.Sandboxes) != 0 {
		t.Fatalf("a quiet poll: scopes %v, confirmed %v", r.Scopes, r.Confirmed)
	}
	f.breakStreams()
	if err := <-ended; backend.KindOf(err) != backend.ErrUnreachable {
		t.Fatalf("the watch ended with %v", err)
	}
	f.taken()
	r := mustPoll(t, s)
	if reqs := f.taken(); len(reqs) != 1 || len(r.Scopes) != 1 || !strings.Contains(fmt.Sprint(r.Notes), "no event stream") {
		t.Errorf("without a stream: %v, notes %v", reqs, r.Notes)
	}
	// A restart that nobody saw is found once the stream is back.
	f.change(func() { a.restarts = 3 })
	watching(t, s)
	f.taken()
	r = mustPoll(t, s)
	if reqs := f.taken(); countOf(reqs, "containers/json") != 1 || countOf(reqs, "/a/json") != 1 || len(reqs) != 2 || find(t, r, "a").RestartCount.Or(0) != 3 {
		t.Errorf("after the gap: %v", reqs)
	}
	c.Add(5 * time.Second)
	if mustPoll(t, s); len(f.taken()) != 0 {
		t.Error("a quiet poll asked for something")
	}
}

func TestEngineWithoutEvents(t *testing.T) {
	f := newFake(t)
	f.refuse = true
	a := f.add(&fakeContainer{id: "a", name: "a"})
	s, c := f.source(nil)
	mustPoll(t, s)
	changes := 0
	if err := s.Watch(t.Context(), func() { changes++ }); backend.KindOf(err) != backend.ErrUnauthorised || changes != 0 {
		t.Errorf("watch: %v, %d changes", err, changes)
	}
	f.change(func() { a.state, a.status = "paused", "Up 3 minutes (Paused)" })
	c.Add(5 * time.Second)
	r := mustPoll(t, s)
	if find(t, r, "a").Class != backend.SandboxPaused || !strings.Contains(fmt.Sprint(r.Notes), "events are not allowed here") {
		t.Errorf("%v %v", r.Sandboxes[0], r.Notes)
	}
	// A quick restart leaves no mark in the list; a slow re-inspection finds it.
	f.change(func() { a.restarts = 2 })
	c.Add(time.Minute)
	if r = mustPoll(t, s); find(t, r, "a").RestartCount.Or(0) != 2 {
		t.Error("a restart went unseen")
	}
}

func TestMalformedEventEndsTheWatchOnly(t *testing.T) {
	f := newFake(t)
	f.add(&fakeContainer{id: "a", name: "a"})
	s, _ := f.source(nil)
	mustPoll(t, s)
	_, ended := watching(t, s)
	f.emit(`{"Type": 7`)
	f.emit(`}`)
	if err := <-ended; backend.KindOf(err) != backend.ErrInvalid {
		t.Errorf("a malformed event: %v", err)
	}
	_, ended = watching(t, s)
	f.emit(event("start", "a", strings.Repeat("x", 2*maxEvent), 5, ""))
	if err := <-ended; backend.KindOf(err) != backend.ErrInvalid || !strings.Contains(err.Error(), "too large") {
		t.Errorf("an endless event: %v", err)
	}
	mustPoll(t, s)
}
