package blaxel

import (
	"context"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// state is a saved state of an agent SDK that names a sandbox.
func (w *world) state(name string) *backend.Ref {
	return &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "st", Parent: backend.MustID("s-" + name), ID: backend.MustID("coder")}, ReadAt: w.clock.Now()},
		Session: backend.MustID("s-" + name), Provider: backend.Text("blaxel"), Sandbox: backend.MustID(name), SavedAt: backend.Known(zero.Add(-time.Hour)), Agent: &backend.AgentState{}}
}

// states is a source of such states.
type states struct{ refs []*backend.Ref }

func (s *states) ID() string { return "st" }

func (s *states) Poll(context.Context) (backend.Reading, error) {
	return backend.Reading{Inputs: []backend.Input{backend.InputRefs}, Refs: s.refs, Scopes: []backend.Scope{{Kind: backend.KindRef, Complete: true}}}, nil
}

// TestWhatAStateNamesIsAskedForBeforeItIsGone, also by a command that polls once: a list may leave out what is there.
func TestWhatAStateNamesIsAskedForBeforeItIsGone(t *testing.T) {
	waking := reply{404, `{"error":{"code":"WORKLOAD_UNAVAILABLE","message":"m","status":404,"retryable":true,"origin":"platform"}}`,
		map[string]string{"X-Blaxel-Source": "platform", "X-Blaxel-Error-Code": "WORKLOAD_UNAVAILABLE"}}
	for name, x := range map[string]struct {
		own  reply
		want fleet.RefResult
	}{
		"it is there":         {ok(one("left-out", "DEPLOYED", day, `,"state":"RUNNING"`)), fleet.RefSame},
		"it does not answer":  {waking, fleet.RefUnknown},
		"its record fails":    {refused(500, `{"code":500,"error":"no"}`), fleet.RefUnknown},
		"it may not be read":  {refused(403, `{"code":403,"error":"no"}`), fleet.RefUnknown},
		"it is no more":       {refused(404, notFound), fleet.RefGone},
		"it ended":            {ok(one("left-out", "TERMINATED", day, "")), fleet.RefGone},
		"another one is told": {ok(one("other", "DEPLOYED", day, "")), fleet.RefUnknown},
	} {
		w := newWorld(t, nil)
		w.set("/sandboxes", page("", one("a", "DEPLOYED", day, `,"state":"RUNNING"`)))
		w.set("/sandboxes/left-out", x.own)
		for run := range 3 { // each is a new process that knows what the one before saw
			f := fleet.New(fleet.Options{Now: w.clock.Now, Mono: func() time.Duration { return w.clock.Now().Sub(zero) }, Spawn: backend.NewSpawner(nil)})
			f.Add(w.src, backend.SourceConfig{Kind: "blaxel", Interval: 5 * time.Second, Deadline: 10 * time.Second, Organisation: "acme"})
			r := w.state("left-out")
			f.Add(&states{[]*backend.Ref{r}}, backend.SourceConfig{Kind: "refs", Interval: 5 * time.Second, Deadline: 10 * time.Second})
			st := f.PollOnce(t.Context())
			if m := st.MatchOf(r); m.Result != x.want || m.Result == fleet.RefUnknown && m.Why.String() != "not listed by bl; its own record was not asked, or did not answer" {
				t.Errorf("%s, run %d: %s: %s", name, run, m.Result, m.Why)
			} else if m.Result == fleet.RefSame && m.Why.String() != "bl reports it as DEPLOYED RUNNING, by its own record: no list names it" {
				t.Errorf("%s, run %d: %s", name, run, m.Why)
			}
			if says := st.Source("bl").Error.String(); (x.want == fleet.RefUnknown) != strings.Contains(says, "left-out is named by a saved state and not listed") {
				t.Errorf("%s, run %d: the source says %q", name, run, says)
			}
			marks := w.src.bookmarks()
			w.clock.Add(time.Minute)
			w.src = w.source(nil)
			w.src.Resume(marks)
		}
		want := 3
		if x.want == fleet.RefGone { // no later process asks again
			want = 1
		}
		if n := w.requests("GET /sandboxes/left-out") - w.requests("GET /sandboxes/left-out/"); n != want {
			t.Errorf("%s: its own record was asked %d times, want %d", name, n, want)
		}
	}
}

// TestWhatIsNamedAgain is asked for again, what another workspace has is not, and what is listed counts as listed.
func TestWhatIsNamedAgain(t *testing.T) {
	w := newWorld(t, nil)
	w.set("/sandboxes", page("", one("a", "DEPLOYED", day, `,"state":"RUNNING"`)))
	gone, other, listed := w.state("left-out"), w.state("elsewhere"), w.state("a")
	other.Agent.Address = backend.Text("https://sbx-elsewhere-otherws.us-pdx-1.bl.run")
	refs := []*backend.Ref{gone, other, listed}
	if !w.src.Refer("st", refs, true, true) || w.src.Refer("st", refs, true, true) {
		t.Error("the first time is no news, or the second is")
	}
	asks := func(want int) backend.Reading {
		t.Helper()
		r := w.poll()
		if n := w.requests("GET /sandboxes/left-out"); n != want || w.requests("GET /sandboxes/elsewhere") > 0 {
			t.Errorf("asked %d times, want %d", n, want)
		}
		return r
	}
	asks(1)
	if r := asks(1); len(r.OwnGone) != 1 || r.OwnGone[0].ID != gone.Sandbox || !r.Whole(backend.KindSandbox) {
		t.Errorf("gone: %v", r.OwnGone)
	}
	saved := *gone
	saved.SavedAt = backend.Known(w.clock.Now().Add(time.Second))
	w.src.Refer("st", []*backend.Ref{&saved}, true, true)
	asks(2)
	w.set("/sandboxes", page("", one("left-out", "DEPLOYED", day, `,"state":"RUNNING"`)))
	if r := w.poll(); len(r.OwnGone) != 0 || r.OwnGone == nil {
		t.Errorf("it is listed: %v", r.OwnGone)
	}
}

// TestWhoTellsOfASandbox that the newest list does not name: a reading from before, until its own record says that it is there.
func TestWhoTellsOfASandbox(t *testing.T) {
	w := newWorld(t, nil)
	box := one("a", "DEPLOYED", day, `,"state":"RUNNING"`)
	w.set("/sandboxes", page("", box))
	told := func(want string) {
		t.Helper()
		if b := sandboxOf(t, w.poll(), "a"); !strings.HasPrefix(b.ToldBy.String(), want) || want == "" && !b.ToldBy.IsEmpty() {
			t.Errorf("told by %q, want %q", b.ToldBy, want)
		}
		w.clock.Add(time.Minute)
	}
	told("")
	w.set("/sandboxes", page("", one("other", "DEPLOYED", day, `,"state":"RUNNING"`)))
	w.set("/sandboxes/a", refused(500, `{"code":500,"error":"no"}`))
	told("a reading from before")
	w.set("/sandboxes/a", ok(box))
	told("its own record")
	w.set("/sandboxes", page("", box))
	told("")
}
