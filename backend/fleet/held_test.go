package fleet

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// runningSession is a session that runs.
func runningSession(source, id string) *backend.Session {
	s := sess(id)
	s.Key.Source, s.Running = source, backend.Known(true)
	return s
}

// poll folds one whole list of sessions, with one workspace each, and what else it says.
func (f *listFleet) poll(source string, after time.Duration, edit func(*backend.Reading), sessions ...*backend.Session) *State {
	f.now = f.now.Add(after)
	r := &backend.Reading{Source: source, At: f.now, Scopes: []backend.Scope{whole(backend.KindSession), whole(backend.KindWorkspace)}, Sessions: sessions}
	for _, s := range sessions {
		k := wsKey(s.Key.ID.Raw(), "box")
		k.Source = source
		r.Workspaces = append(r.Workspaces, &backend.Workspace{Meta: backend.Meta{Key: k}})
	}
	if edit != nil {
		edit(r)
	}
	at := backend.Instant{Wall: f.now, Mono: f.now.Sub(t0)}
	return f.folder.Fold([]backend.Answer{{Source: source, Started: at, Ended: at, Reading: r}}, at)
}

type listFleet struct {
	folder *Folder
	now    time.Time
}

func newListFleet(sources ...string) *listFleet {
	f := &listFleet{NewFolder(time.Minute), t0}
	var configs []backend.Answer
	for _, s := range sources {
		configs = append(configs, backend.Answer{Source: s, Config: &backend.SourceConfig{Interval: 5 * time.Second, Deadline: time.Second}})
	}
	f.folder.Fold(configs, backend.Instant{Wall: t0})
	return f
}

func many(n int) (out []*backend.Session) {
	for i := range n {
		out = append(out, runningSession("h", fmt.Sprintf("s%02d", i)))
	}
	return out
}

func wantHeld(t *testing.T, st *State, sessions, held int) {
	t.Helper()
	h, got := st.Source("h"), 0
	for _, x := range h.Held {
		got += x.Count
	}
	if st.Sessions.Len() != sessions || got != held || (held > 0) != (h.Status == StatusDegraded) || h.Blurred() != (held > 0) {
		t.Errorf("State %d: %d sessions, %d held, %s %s; want %d and %d", st.Number, st.Sessions.Len(), got, h.Status, h.Error, sessions, held)
	}
}

// An empty list is not health: what it lost at once is held, with its workspaces, for as long as nothing says that it ended.
func TestAListThatLosesHalfAtOnceIsSuspect(t *testing.T) {
	for name, c := range map[string]struct{ before, after, held int }{
		"empty": {20, 0, 20}, "half": {20, 10, 10}, "less than half": {20, 11, 0}, "few": {9, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := newListFleet("h")
			f.poll("h", 0, nil, many(c.before)...)
			var st *State
			for range 3 {
				st = f.poll("h", 5*time.Second, nil, many(c.before)[:c.after]...)
			}
			wantHeld(t, st, c.after+c.held, c.held)
			if st.Workspaces.Len() != st.Sessions.Len() {
				t.Errorf("%d workspaces of %d sessions", st.Workspaces.Len(), st.Sessions.Len())
			}
			if c.held == 0 {
				return
			}
			if w := st.Workspace(wsKey(fmt.Sprintf("s%02d", c.before-1), "box")); w == nil || !w.Stale {
				t.Errorf("its workspace: %+v", w)
			}
			wantHeld(t, f.poll("h", 12*time.Hour, nil, many(c.before)[:c.after]...), c.after+c.held, c.held)
			wantHeld(t, f.poll("h", 5*time.Second, nil, many(c.before)...), c.before, 0) // named again
		})
	}
}

func TestHeldSessionsEndByTheWordOfAnother(t *testing.T) {
	begin := func() (*listFleet, *State) {
		f := newListFleet("h", "other", "docker")
		f.poll("h", 0, nil, many(12)...)
		f.poll("docker", 0, func(r *backend.Reading) {
			r.Scopes = []backend.Scope{whole(backend.KindSandbox)}
			for i := range 12 {
				r.Sandboxes = append(r.Sandboxes, &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID(fmt.Sprint(i))}},
					Session: backend.MustID(fmt.Sprintf("s%02d", i)), IsSandbox: true, Class: backend.SandboxRunning})
			}
		})
		return f, f.poll("h", 5*time.Second, nil)
	}
	f, st := begin()
	wantHeld(t, st, 12, 12)
	st = f.poll("h", 5*time.Second, func(r *backend.Reading) {
		for _, s := range many(7) { // their own routes answer the documented 404
			r.Ended = append(r.Ended, s.Key)
		}
	})
	wantHeld(t, st, 5, 5)
	over := runningSession("other", "s07")
	over.Running = backend.Known(false)
	f.poll("other", 0, nil, over)
	st = f.poll("h", 5*time.Second, nil)
	wantHeld(t, st, 5, 4)                                           // and the one of the other source
	st = f.poll("docker", 5*time.Second, func(r *backend.Reading) { // its engine calls them gone
		r.Scopes = []backend.Scope{whole(backend.KindSandbox)}
		for i := range 12 {
			r.Ended = append(r.Ended, backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID(fmt.Sprint(i))})
		}
	})
	for _, g := range st.Delta.Gone { // that says nothing of their sessions
		if g.Key.Kind == backend.KindSandbox && g.Why.String() != "its engine says that it was removed" {
			t.Errorf("a container that its engine calls gone: %s", g.Why)
		}
	}
	wantHeld(t, f.poll("h", 5*time.Second, nil), 1, 0)

	f, _ = begin()
	st = f.poll("h", 25*time.Hour, nil)
	wantHeld(t, st, 0, 0)
	if k := many(1)[0].Key; !st.Forgotten(k) || f.poll("h", time.Second, nil, many(1)...).Forgotten(k) {
		t.Error("that nothing said that it ended is forgotten too, or remembered when it is back")
	}
}

// Who says of a sandbox that it is gone: an engine of a container, a control plane of what a platform of cloud sandboxes has.
func TestWhoSaysThatASandboxIsGone(t *testing.T) {
	for kind, want := range map[string]string{"docker": "its engine says that it was removed", "blaxel": "its control plane says that it is gone"} {
		f := newListFleet("box")
		box := backend.Key{Kind: backend.KindSandbox, Source: "box", ID: backend.MustID("c")}
		f.poll("box", 0, func(r *backend.Reading) {
			r.Kind, r.Sandboxes = kind, []*backend.Sandbox{{Meta: backend.Meta{Key: box}}}
		})
		st := f.poll("box", time.Second, func(r *backend.Reading) { r.Kind, r.Ended = kind, []backend.Key{box} })
		if len(st.Delta.Gone) != 1 || st.Delta.Gone[0].Why.String() != want {
			t.Errorf("%s: %v, want %s", kind, st.Delta.Gone, want)
		}
	}
}

// A list that loses only sessions which are known to be over was tidied up.
func TestAListThatIsTidiedUpIsNotSuspect(t *testing.T) {
	f := newListFleet("h")
	done := many(20)
	for _, s := range done {
		s.Running, s.ListedRunning = backend.Known(false), backend.Known(false)
	}
	f.poll("h", 0, nil, done...)
	f.poll("h", 5*time.Second, nil)
	wantHeld(t, f.poll("h", 5*time.Second, nil), 0, 0)
}

// A fifth of a source's sessions, or five, that cannot be read make it degraded.
func TestUnreadSessionsDegradeTheirSource(t *testing.T) {
	for _, c := range []struct {
		unread, asked int
		degraded      bool
	}{{0, 0, false}, {1, 6, false}, {1, 5, true}, {4, 30, false}, {5, 3000, true}} {
		f := newListFleet("h")
		st := f.poll("h", 0, func(r *backend.Reading) {
			r.Asked = c.asked
			if c.unread > 0 {
				r.Unread = []backend.Unread{{Kind: backend.ErrTimeout, Sessions: c.unread}}
			}
		}, many(3)...)
		if h := st.Source("h"); h.Blurred() != c.degraded || (h.Status == StatusDegraded) != c.degraded {
			t.Errorf("%d of %d: %s, %s", c.unread, c.asked, h.Status, h.Error)
		}
	}
}

// registry folds one answer about a session that runs and the workspaces that it names, "-" before those that fail.
func (f *listFleet) registry(edit func(*backend.Reading), names ...string) *State {
	f.now = f.now.Add(5 * time.Second)
	s := runningSession("h", "s")
	r := &backend.Reading{Source: "h", At: f.now, Sessions: []*backend.Session{s}, Scopes: []backend.Scope{whole(backend.KindSession), {Kind: backend.KindWorkspace, Parent: s.Key.ID, Complete: true}}}
	for _, n := range names {
		name, fails := strings.CutPrefix(n, "-")
		k := wsKey("s", name)
		k.Source = "h"
		w := &backend.Workspace{Meta: backend.Meta{Key: k}}
		if fails {
			w.Class, w.LastError = backend.ClassFailed, backend.Text("boom")
		}
		r.Workspaces = append(r.Workspaces, w)
	}
	if edit != nil {
		edit(r)
	}
	at := backend.Instant{Wall: f.now, Mono: f.now.Sub(t0)}
	return f.folder.Fold([]backend.Answer{{Source: "h", Started: at, Ended: at, Reading: r}}, at)
}

// An empty registry of a session that goes on running proves nothing about the workspaces that it named.
func TestAnEmptyRegistryOfARunningSessionIsSuspect(t *testing.T) {
	many := strings.Split("a b c d e f g h i j k l", " ")
	idle := func(r *backend.Reading) { r.Sessions[0].Answer = backend.AnswerIdle }
	paused := func(r *backend.Reading) { r.Sessions[0].Running = backend.Known(false) }
	reset := func(r *backend.Reading) {
		r.Workspaces[0].ResetAfter, r.Workspaces[0].LastAttemptAt = backend.Known(time.Second), backend.Known(r.At.Add(-time.Minute))
	}
	for name, c := range map[string]struct {
		before, after []string
		declared      func(*backend.Reading)
		then          func(*backend.Reading) // what the next answers say
		held, kept    int
	}{
		"a failing workspace":                       {before: []string{"-a"}, held: 1, kept: 1},
		"several, all well":                         {before: []string{"a", "b"}, held: 2, kept: 2},
		"one that is well":                          {before: []string{"a"}},
		"one of several":                            {before: []string{"a", "-b", "c"}, after: []string{"a", "c"}, kept: 2},
		"half and more of several, one fails":       {before: []string{"a", "-b", "c"}, after: []string{"a"}, held: 2, kept: 3},
		"half of many":                              {before: many, after: many[:6], held: 6, kept: 12},
		"its session is idle afterwards":            {before: []string{"-a", "b"}, then: idle},
		"its session is paused afterwards":          {before: []string{"-a", "b"}, then: paused},
		"its session is listed as paused at once":   {before: []string{"-a", "b"}, then: paused},
		"its declared automatic reset was due":      {before: []string{"-a"}, declared: reset},
		"a session that never had any has none now": {},
	} {
		t.Run(name, func(t *testing.T) {
			f := newListFleet("h")
			f.registry(c.declared, c.before...)
			var st *State
			for range 4 {
				st = f.registry(c.then, c.after...)
			}
			held := 0
			for _, h := range st.Source("h").Held {
				held += h.Count
			}
			if held != c.held || st.Workspaces.Len() != c.kept || st.Source("h").Blurred() != (held > 0) {
				t.Errorf("%d held of %d workspaces, %s; want %d of %d", held, st.Workspaces.Len(), st.Source("h").Error, c.held, c.kept)
			}
		})
	}
	f := newListFleet("h")
	f.registry(nil, "-a", "b", "c")
	f.registry(nil)
	if st := f.registry(nil, "a"); len(st.Source("h").Held) > 0 || st.Workspaces.Len() != 3 {
		t.Errorf("its registry was opened again: %d workspaces, held %v", st.Workspaces.Len(), st.Source("h").Held)
	}
	if st := f.registry(nil, "a"); st.Workspaces.Len() != 1 {
		t.Errorf("two more answers do not name the others: %d workspaces", st.Workspaces.Len())
	}
}

// References of running sessions that vanish at once are held, those of sessions that are over are tidied up.
func TestReferencesThatVanishAtOnceAreHeld(t *testing.T) {
	for running, held := range map[bool]int{true: 12, false: 0} {
		f := newListFleet("h", "refs")
		sessions := many(12)
		for _, s := range sessions {
			s.Running = backend.Known(running)
		}
		f.poll("h", 0, nil, sessions...)
		f.poll("refs", 0, func(r *backend.Reading) {
			r.Scopes = []backend.Scope{whole(backend.KindRef)}
			for _, s := range sessions {
				r.Refs = append(r.Refs, &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "refs", Parent: s.Key.ID, ID: backend.MustID("box")}}, Session: s.Key.ID})
			}
		})
		var st *State
		for range 3 {
			st = f.poll("refs", time.Second, func(r *backend.Reading) { r.Scopes = []backend.Scope{whole(backend.KindRef)} })
		}
		if st.Refs.Len() != held || (len(st.Source("refs").Held) > 0) != (held > 0) {
			t.Errorf("running %v: %d references, held %v", running, st.Refs.Len(), st.Source("refs").Held)
		}
	}
}
