package fleet

import (
	"fmt"
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
	if h.Held != nil {
		got = h.Held.Count
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
	wantHeld(t, st, 5, 4) // and the one of the other source
	for range 2 {
		f.poll("docker", 5*time.Second, func(r *backend.Reading) { r.Scopes = []backend.Scope{whole(backend.KindSandbox)} })
	}
	wantHeld(t, f.poll("h", 5*time.Second, nil), 1, 0)

	f, _ = begin()
	st = f.poll("h", 25*time.Hour, nil)
	wantHeld(t, st, 0, 0)
	if k := many(1)[0].Key; !st.Forgotten(k) || f.poll("h", time.Second, nil, many(1)...).Forgotten(k) {
		t.Error("that nothing said that it ended is forgotten too, or remembered when it is back")
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
