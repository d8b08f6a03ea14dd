package tmpdir

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/hostfs"
)

// wrongs says, for each line of the written list, what makes that line alone not hold.
func wrongs() map[string]func(*subject) {
	return map[string]func(*subject){
		"root":   func(s *subject) { s.root = nil },
		"there":  func(s *subject) { s.id.Ino++ },
		"name":   func(s *subject) { s.w.t.scratch.Pattern = "agent-*" },
		"owner":  func(s *subject) { s.w.t.owner++ },
		"mode":   func(s *subject) { s.stat.Mode |= 0o020 },
		"mount":  func(s *subject) { s.stat.MountRoot = true },
		"local":  func(s *subject) { s.w.table = hostfs.Mounts{{ID: s.stat.MountID, FSType: "nfs4"}} },
		"rename": func(s *subject) { s.root.fs.ReadOnly = true },
		"mounts inside": func(s *subject) {
			s.uses = []hostfs.Use{{How: hostfs.HowMount}}
		},
		"holders":    func(s *subject) { s.uses = []hostfs.Use{{PID: 9, How: hostfs.HowSocket}} },
		"kernel":     func(s *subject) { s.w.kernel = []kernelFile{{s.at + "/disk", "swap space"}} },
		"processes":  func(s *subject) { s.w.users.Unreadable = 1 },
		"containers": func(s *subject) { s.w.binds = []containerMount{{paths: []string{s.path}}} },
		"engines":    func(s *subject) { s.w.engine = backend.Text("an engine is silent") },
		"refs":       func(s *subject) { s.w.refs.add(s.path, "a ref") },
		"whole tree": func(s *subject) { s.tree.Unreadable = 1 },
		"unplaced":   func(s *subject) { s.tree.Sockets = map[string]bool{"agent.sock": true} },
		"locks":      func(s *subject) { s.w.noLock = errors.New("no /proc/locks") },
		"age":        func(s *subject) { s.w.older = 1000 * 24 * time.Hour },
		"lifetime":   func(s *subject) { s.w.t.o.SessionLifetime = backend.Duration(1000 * 24 * time.Hour) },
		"settled": func(s *subject) {
			if s.wait != nil {
				s.tree.Below = s.wait.Moved
			}
		},
	}
}

// fine is a directory that passes the whole list, in its place or waiting to be removed. A process listens at a socket
// called agent.sock, nobody knows where.
func (r *rig) fine(waits bool) *subject {
	r.t.Helper()
	r.set = func(o *Options) { o.SessionLifetime = backend.Duration(10 * time.Minute) }
	k := r.dir("helix-ws-a")
	w := r.tool().begin(r.t.Context(), actions.Question{State: r.state, Now: r.clock()}, waits)
	r.t.Cleanup(w.close)
	s := w.subject(k)
	if waits {
		a := hostfs.Aside{Original: "helix-ws-a", Moved: r.clock().Add(-time.Hour), Grace: time.Minute, Ino: s.stat.ID.Ino, Born: s.stat.Born}
		name, err := a.Name()
		if err != nil {
			r.t.Fatal(err)
		}
		if err := os.Rename(s.path, filepath.Join(r.root, name)); err != nil {
			r.t.Fatal(err)
		}
		s = w.waiting(k)
	}
	w.findUsers([]*subject{s})
	w.users.Unlocated = map[string]hostfs.Use{"agent.sock": {PID: 9, How: hostfs.HowSocket}}
	if c, why, ok := s.failing(); !ok {
		r.t.Fatalf("%s: %s", c.name, why)
	}
	return s
}

// TestEachLineOfTheListCounts holds that every line alone keeps a directory from being cleaned, and that those with a
// star alone keep one that waits from being removed.
func TestEachLineOfTheListCounts(t *testing.T) {
	all := wrongs()
	for _, c := range conditions() {
		wrong := all[c.name]
		if wrong == nil {
			t.Errorf("%s: nothing says what makes it not hold", c.name)
			continue
		}
		for _, waits := range []bool{false, true} {
			if !waits && c.name == "settled" {
				continue // only what waits has a time of its rename
			}
			s := newRig(t).fine(waits)
			wrong(s)
			got, why, ok := s.failing()
			if counts := !waits || starred(c.name); counts && (ok || got.name != c.name || why.IsEmpty()) || !counts && !ok {
				t.Errorf("%s, waiting %v: it fails at %q (%s)", c.name, waits, got.name, why)
			}
		}
	}
}

// starred are the lines that hold again before a removal: all but those that only choose what to set aside.
func starred(name string) bool { return name != "name" && name != "age" && name != "lifetime" }

// TestWhatKeepsUndoBack: a directory gets its name back only where it is what it was, on its own mount, and ours.
func TestWhatKeepsUndoBack(t *testing.T) {
	s := newRig(t).fine(true)
	if why := s.noUndo(); !why.IsEmpty() {
		t.Fatal(why)
	}
	for _, name := range []string{"root", "there", "owner", "mount", "rename"} {
		s := newRig(t).fine(true)
		wrongs()[name](s)
		if why := s.noUndo(); why.IsEmpty() {
			t.Errorf("%s does not keep undo back", name)
		}
	}
}

func TestAMountThatNobodyTellsApart(t *testing.T) {
	s := newRig(t).fine(false)
	own := s.stat.MountID
	s.stat.MountID = 0
	wantWhy(t, onMount(s).String(), "does not tell mounts apart")
	s.stat.MountID = own + 1
	wantWhy(t, onMount(s).String(), "another mount")
	s.stat.MountID = own
	s.stat.ID.Dev++
	wantWhy(t, onMount(s).String(), "another mount")
}

// TestAProcessThatShowsNothingStopsARemovalAtOnce: it came between the plan and the removal.
func TestAProcessThatShowsNothingStopsARemovalAtOnce(t *testing.T) {
	r := newRig(t)
	k := r.dir("helix-ws-a")
	c := r.look(actions.Clean, actions.Params{PurgeNow: true}, k)[0]
	backendtest.Write(t, r.proc+"/77/stat", "77 (closed) S 1 1 1 0 -1 4194560 0")
	_, err := r.act(actions.Clean, actions.Params{PurgeNow: true}, c)
	var changed *actions.ChangedError
	if !errors.As(err, &changed) || len(r.names()) != 1 || r.names()[0] != "helix-ws-a" {
		t.Errorf("%v, %v", err, r.names())
	}
}
