package tmpdir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/fleet"
	"sandglass/backend/hostfs"
)

func TestCleanSetsAsideAndUndoPutsBack(t *testing.T) {
	r := newRig(t)
	k := r.dir("helix-ws-a")
	done, err := r.do(actions.Clean, actions.Params{}, k)
	if err != nil {
		t.Fatal(err)
	}
	if !done.Proved || done.Moved <= 0 || done.Freed != 0 || !strings.Contains(done.Text.String(), "moved, 0 B freed; purge removes it now, else it goes at") {
		t.Errorf("%+v", done)
	}
	names := r.names()
	if len(names) != 1 {
		t.Fatalf("%v", names)
	}
	a, ok := hostfs.ParseAside(names[0])
	if !ok || a.Original != "helix-ws-a" || a.Begun || a.Grace != 15*time.Minute || !a.Moved.Equal(r.now.Truncate(time.Second)) || a.Plan != "feedfacecafebeef" {
		t.Errorf("%q reads as %+v", names[0], a)
	}
	if b, err := os.ReadFile(filepath.Join(r.root, names[0], "a/b/g")); err != nil || string(b) != "xx" {
		t.Errorf("its content: %q, %v", b, err)
	}
	wantWhy(t, r.why(k), "gone")
	// Something else takes its name: undo replaces nothing.
	backendtest.Write(t, r.root+"/helix-ws-a/other", "x")
	wantWhy(t, r.look(actions.Undo, actions.Params{}, k)[0].Why.String(), "something else has its name now")
	if err := os.RemoveAll(r.root + "/helix-ws-a"); err != nil {
		t.Fatal(err)
	}
	if done, err = r.do(actions.Undo, actions.Params{}, k); err != nil || !done.Proved {
		t.Fatalf("%+v, %v", done, err)
	}
	if names := r.names(); len(names) != 1 || names[0] != "helix-ws-a" || r.key("helix-ws-a") != k {
		t.Errorf("after undo: %v", names)
	}
	wantWhy(t, r.look(actions.Undo, actions.Params{}, k)[0].Why.String(), "removed or put back")
}

func TestUndoReplacesNothingEvenInARace(t *testing.T) {
	r := newRig(t)
	k := r.dir("helix-ws-a")
	if _, err := r.do(actions.Clean, actions.Params{}, k); err != nil {
		t.Fatal(err)
	}
	c := r.look(actions.Undo, actions.Params{}, k)[0]
	backendtest.Write(t, r.root+"/helix-ws-a/canary", "keep") // after the look
	_, err := r.act(actions.Undo, actions.Params{}, c)
	if err == nil || !strings.Contains(err.Error(), "EEXIST") {
		t.Errorf("undo says %v", err)
	}
	if b, err := os.ReadFile(r.root + "/helix-ws-a/canary"); err != nil || string(b) != "keep" {
		t.Errorf("what was there: %q, %v", b, err)
	}
}

func TestPurgeRemovesWhatWasSetAside(t *testing.T) {
	r := newRig(t)
	k := r.dir("helix-ws-a")
	backendtest.Write(t, r.root+"/helix-ws-a/big", strings.Repeat("x", 1<<20))
	if _, err := r.do(actions.Clean, actions.Params{}, k); err != nil {
		t.Fatal(err)
	}
	r.pass(time.Minute)
	done, err := r.do(actions.Purge, actions.Params{}, k)
	if err != nil || !done.Proved || done.Freed < 1<<20 || done.Freed > 2<<20 || len(done.Notes) != 0 {
		t.Errorf("%+v, %v", done, err)
	}
	if names := r.names(); len(names) != 0 {
		t.Errorf("%v is left", names)
	}
}

func TestPurgeAtOnce(t *testing.T) {
	r := newRig(t)
	k := r.dir("helix-ws-a")
	done, err := r.do(actions.Clean, actions.Params{PurgeNow: true}, k)
	if err != nil || !done.Proved || done.Freed <= 0 || done.Moved != 0 || len(r.names()) != 0 {
		t.Errorf("%+v, %v, %v", done, err, r.names())
	}
}

func TestAUserThatComesBetweenGetsItBack(t *testing.T) {
	r := newRig(t)
	k := r.dir("helix-ws-a")
	c := r.look(actions.Clean, actions.Params{PurgeNow: true}, k)[0]
	addProcess(t, r.proc, 10, r.root+"/helix-ws-a/a")
	// The fixture's link is a path, so the process must seem to follow the rename.
	tl := r.tool()
	o, err := objectOf(actions.Target{Identity: c.Identity})
	if err != nil {
		t.Fatal(err)
	}
	st, err := hostfs.StatAt(unix.AT_FDCWD, r.root+"/helix-ws-a")
	if err != nil {
		t.Fatal(err)
	}
	wantWhy(t, tl.usedNow(t.Context(), &o, "helix-ws-a", st, "").String(), "in use by process 10")
	r.proc = fixture(t)
	c = r.look(actions.Clean, actions.Params{PurgeNow: true}, k)[0]
	if !c.Why.IsEmpty() {
		t.Fatal(c.Why)
	}
	pid := backendtest.Hold(t, nil, "chdir", r.root+"/helix-ws-a/a")
	r.onlyThese(pid)
	var changed *actions.ChangedError
	_, err = r.act(actions.Clean, actions.Params{PurgeNow: true}, c)
	if !errors.As(err, &changed) || !strings.Contains(err.Error(), fmt.Sprintf("process %d", pid)) {
		t.Errorf("%v", err)
	}
	if names := r.names(); !slices.Equal(names, []string{"helix-ws-a"}) {
		t.Errorf("%v", names)
	}
	if b, err := os.ReadFile(r.root + "/helix-ws-a/a/b/g"); err != nil || string(b) != "xx" {
		t.Errorf("its content: %q, %v", b, err)
	}
}

func TestAnotherDirectoryUnderTheNameIsNotTouched(t *testing.T) {
	for _, at := range []string{"before opening", "between"} {
		r := newRig(t)
		k := r.dir("helix-ws-a")
		c := r.look(actions.Clean, actions.Params{}, k)[0]
		exchange := func() {
			if err := os.Rename(r.root+"/helix-ws-a", r.root+"/elsewhere"); err != nil {
				t.Fatal(err)
			}
			backendtest.Write(t, r.root+"/helix-ws-a/canary", "keep")
		}
		var err error
		if at == "before opening" {
			exchange()
			_, err = r.act(actions.Clean, actions.Params{}, c)
		} else {
			tl := r.tool()
			o, oerr := objectOf(actions.Target{Identity: c.Identity})
			if oerr != nil {
				t.Fatal(oerr)
			}
			h, herr := tl.hold(&o, "helix-ws-a")
			if herr != nil {
				t.Fatal(herr)
			}
			exchange()
			err = tl.swap(h, &o, "helix-ws-a", ".sandglass-aside-1-1-1-0-0-x")
			h.close()
		}
		var changed *actions.ChangedError
		if !errors.As(err, &changed) {
			t.Errorf("%s: %v", at, err)
		}
		if names := r.names(); !slices.Equal(names, []string{"elsewhere", "helix-ws-a"}) {
			t.Errorf("%s: %v", at, names)
		}
	}
}

// TestAnotherDirectoryIsNotMarkedForRemoval exchanges what waits just before it would get the name of a removal.
func TestAnotherDirectoryIsNotMarkedForRemoval(t *testing.T) {
	r := newRig(t)
	k := r.dir("helix-ws-a")
	if _, err := r.do(actions.Clean, actions.Params{}, k); err != nil {
		t.Fatal(err)
	}
	waits := r.names()
	r.pass(time.Hour)
	c := r.look(actions.Purge, actions.Params{}, k)[0]
	tl := r.tool()
	o, err := objectOf(actions.Target{Identity: c.Identity})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := hostfs.ParseAside(o.name)
	h, err := tl.hold(&o, o.name)
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	if err := os.Rename(filepath.Join(r.root, o.name), r.root+"/elsewhere"); err != nil {
		t.Fatal(err)
	}
	backendtest.Write(t, filepath.Join(r.root, o.name, "canary"), "keep")
	var changed *actions.ChangedError
	if name, err := tl.going(h, &o, a); !errors.As(err, &changed) {
		t.Errorf("it is called %q, %v", name, err)
	}
	if names := r.names(); !slices.Equal(names, append(waits, "elsewhere")) {
		t.Errorf("%v, want %v and elsewhere", names, waits)
	}
}

// TestOnALowerLayerOfAnOverlay: directories there cannot be renamed, which is said, and can be removed.
func TestOnALowerLayerOfAnOverlay(t *testing.T) {
	if os.Geteuid() != 0 {
		needsRoot(t, "mounts an overlay")
	}
	r := newRig(t)
	r.dir("helix-ws-a")
	r.dir("helix-ws-b")
	lower, upper := r.root, t.TempDir()
	r.root = t.TempDir()
	for _, d := range []string{"/u", "/w"} {
		if err := os.Mkdir(upper+d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mount("overlay", r.root, "overlay", 0, "lowerdir="+lower+",upperdir="+upper+"/u,workdir="+upper+"/w,redirect_dir=off"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unmountBelow(t, r.root) })
	s, _ := r.site.Source.(source)
	s.scratch.Roots = []string{r.root}
	r.site.Source, r.proc = s, fixture(t)
	_, err := r.do(actions.Clean, actions.Params{}, r.key("helix-ws-a"))
	if err == nil || !strings.Contains(err.Error(), "lower layer of an overlay") || len(r.names()) != 2 {
		t.Errorf("%v, %v", err, r.names())
	}
	done, err := r.do(actions.Clean, actions.Params{PurgeNow: true}, r.key("helix-ws-a"))
	if err != nil || !done.Proved || !slices.Equal(r.names(), []string{"helix-ws-b"}) {
		t.Errorf("%+v, %v, %v", done, err, r.names())
	}
	if _, err := os.Stat(lower + "/helix-ws-a/f"); err != nil {
		t.Errorf("the layer itself: %v", err)
	}
}

// TestAnIdentityThatIsNotWhatWaits: the effects themselves refuse what no look would give them.
func TestAnIdentityThatIsNotWhatWaits(t *testing.T) {
	r := newRig(t)
	k := r.dir("helix-ws-a")
	if _, err := r.do(actions.Clean, actions.Params{}, k); err != nil {
		t.Fatal(err)
	}
	c := r.look(actions.Undo, actions.Params{}, k)[0]
	waits := r.names()
	a, ok := hostfs.ParseAside(waits[0])
	if !ok {
		t.Fatal(waits)
	}
	for _, what := range []string{"another's name", "no longer whole"} {
		other := a
		if other.Begun = what == "no longer whole"; !other.Begun {
			other.Original = "helix-ws-b"
		}
		name, err := other.Name()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(r.root, waits[0]), filepath.Join(r.root, name)); err != nil {
			t.Fatal(err)
		}
		for i := range c.Identity {
			if c.Identity[i].Name == "waits as" {
				c.Identity[i].Value = name
			}
		}
		if _, err := r.act(actions.Undo, actions.Params{}, c); err == nil || !strings.Contains(err.Error(), "does not say under which name it waits") {
			t.Errorf("%s: undo says %v", what, err)
		}
		if _, err := r.act(actions.Purge, actions.Params{}, c); other.Begun == (err != nil) {
			t.Errorf("%s: purge says %v", what, err)
		}
		if got := r.names(); !other.Begun && !slices.Equal(got, []string{name}) || other.Begun && len(got) != 0 {
			t.Errorf("%s: %v is left", what, got)
		}
		if other.Begun {
			continue // it was removed
		}
		if err := os.Rename(filepath.Join(r.root, name), filepath.Join(r.root, waits[0])); err != nil {
			t.Fatal(err)
		}
	}
}

func TestALockHolderIsRespectedAtTheLastMoment(t *testing.T) {
	r := newRig(t)
	k := r.dir("helix-ws-a")
	c := r.look(actions.Clean, actions.Params{}, k)[0]
	backendtest.Hold(t, nil, "lock", r.root+"/helix-ws-a")
	var changed *actions.ChangedError
	if _, err := r.act(actions.Clean, actions.Params{}, c); !errors.As(err, &changed) || !strings.Contains(err.Error(), "lock") {
		t.Errorf("%v", err)
	}
	if names := r.names(); !slices.Equal(names, []string{"helix-ws-a"}) {
		t.Errorf("%v", names)
	}
}

func TestHoldersOfTheRealMachine(t *testing.T) {
	r := newRig(t)
	cwd, fd, free := r.dir("helix-ws-cwd"), r.dir("helix-ws-fd"), r.dir("helix-ws-free")
	one := backendtest.Hold(t, nil, "chdir", r.root+"/helix-ws-cwd/a/b")
	two := backendtest.Hold(t, nil, "open", r.root+"/helix-ws-fd/a/b/g")
	three := backendtest.Hold(t, nil, "lock", r.dirPath("helix-ws-locked")+"/f")
	r.onlyThese(one, two, three, os.Getpid())
	cs := r.look(actions.Clean, actions.Params{}, cwd, fd, r.key("helix-ws-locked"), free)
	wantWhy(t, cs[0].Why.String(), fmt.Sprintf("process %d", one), "cwd")
	wantWhy(t, cs[1].Why.String(), fmt.Sprintf("process %d", two), "fd")
	wantWhy(t, cs[2].Why.String(), fmt.Sprintf("process %d", three))
	if !cs[3].Why.IsEmpty() {
		t.Errorf("nobody uses it: %s", cs[3].Why)
	}
}

func (r *rig) dirPath(name string) string {
	r.dir(name)
	return filepath.Join(r.root, name)
}

// TestTwoKeepersAtOnce: two consoles share a root, and neither knows of the other.
func TestDryRunTouchesNothing(t *testing.T) {
	r := newRig(t)
	keys := []backend.Key{r.dir("helix-ws-a"), r.dir("helix-ws-b")}
	before := snapshot(t, r.root)
	r.look(actions.Clean, actions.Params{}, keys...)
	r.look(actions.Clean, actions.Params{PurgeNow: true}, keys...)
	r.look(actions.Purge, actions.Params{}, keys...)
	r.look(actions.Undo, actions.Params{}, keys...)
	if after := snapshot(t, r.root); after != before {
		t.Errorf("looking changed something:\n%s\n%s", before, after)
	}
}

// snapshot is everything that is seen below a directory, times of change included.
func snapshot(t *testing.T, root string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(root, func(p string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := hostfs.StatAt(unix.AT_FDCWD, p)
		fmt.Fprintf(&b, "%s %+v\n", p, st)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestOnePlanHasALimitAndTakesTheOldestFirst(t *testing.T) {
	r := newRig(t)
	r.set = func(o *Options) { o.CleanMax = 2 }
	var keys []backend.Key
	for i := range 4 {
		keys = append(keys, r.dir(fmt.Sprintf("helix-ws-%d", i)))
	}
	if err := os.WriteFile(r.root+"/helix-ws-0/f", []byte("newest"), 0o644); err != nil {
		t.Fatal(err)
	}
	left := 0
	for i, c := range r.look(actions.Clean, actions.Params{}, keys...) {
		if !c.Why.IsEmpty() {
			left++
			wantWhy(t, c.Why.String(), "clean_max")
		} else if i == 0 {
			t.Error("the one that changed last is cleaned")
		}
	}
	if left != 2 {
		t.Errorf("%d are left out, want 2", left)
	}
}

func TestVerifiers(t *testing.T) {
	r := newRig(t)
	k := r.dir("helix-ws-a")
	target := actions.Target{Key: k}
	issued := r.now
	state := func(at time.Time, listed bool, waits ...backend.Waiting) *fleet.State {
		h := &backend.Host{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindHost, Source: "here", ID: backend.MustID("box")}, ReadAt: at},
			Roots: []backend.Root{{Waiting: waits, WaitingCount: len(waits)}}}
		s := &fleet.State{Wall: at, Hosts: fleet.NewTable[backend.Host](h), Sources: []*fleet.SourceHealth{{Key: backend.Key{Kind: backend.KindSource, Source: "here"}, Kind: "tmpdir", Status: fleet.StatusOK, LastOK: at}}}
		if listed {
			s.Tmpdirs = fleet.NewTable[backend.Tmpdir](&backend.Tmpdir{Meta: backend.Meta{Key: k, ReadAt: at}})
		}
		return s
	}
	later, there := issued.Add(time.Second), backend.Waiting{Key: k}
	root := func(edit func(*backend.Root)) *fleet.State { // a later reading that may not show everything that waits
		s := state(later, true)
		for h := range s.Hosts.All() {
			edit(&h.Roots[0])
		}
		return s
	}
	closed := root(func(r *backend.Root) { r.Problem = backend.Text("cannot be opened") })
	cut := root(func(r *backend.Root) { r.WaitingCount = 1 })
	tl := r.tool()
	for _, c := range []struct {
		verb actions.Verb
		s    *fleet.State
		want actions.Result
	}{
		{actions.Clean, state(later, true), actions.ResultAccepted},
		{actions.Clean, state(later, false, there), actions.ResultVerified},
		{actions.Purge, state(issued, false), actions.ResultAccepted},
		{actions.Purge, state(later, false, there), actions.ResultAccepted},
		{actions.Purge, state(later, false), actions.ResultVerified},
		{actions.Purge, &fleet.State{}, actions.ResultAccepted},
		{actions.Purge, closed, actions.ResultAccepted},
		{actions.Purge, cut, actions.ResultAccepted},
		{actions.Undo, closed, actions.ResultAccepted},
		{actions.Undo, cut, actions.ResultAccepted},
		{actions.Undo, state(later, false), actions.ResultAccepted},
		{actions.Undo, state(later, true, there), actions.ResultAccepted},
		{actions.Undo, state(later, true), actions.ResultVerified},
		{actions.Undo, state(issued, true), actions.ResultAccepted},
	} {
		if v := tl.part(c.verb).Verifier.Verify(target, issued, c.s); v.Result != c.want || v.Why.IsEmpty() {
			t.Errorf("%s: %+v, want %s", c.verb, v, c.want)
		}
	}
}

func TestBuild(t *testing.T) {
	r := newRig(t)
	r.site.Options = options(nil)
	parts, missing, err := Kind().Build(r.site)
	if err != nil || len(parts) != 3 || len(missing) != 0 {
		t.Errorf("%d parts, missing %v, %v", len(parts), missing, err)
	}
	r.site.Options = options(func(o *Options) { o.SessionLifetime = 0 })
	parts, missing, err = Kind().Build(r.site)
	if err != nil || len(parts) != 2 || parts[actions.Clean].Targets != nil {
		t.Errorf("without session_lifetime: %d parts, %v", len(parts), err)
	}
	wantWhy(t, missing[actions.Clean].String(), "session_lifetime")
	s, _ := r.site.Source.(source)
	for _, pattern := range []string{"*", "?elix", "[h]elix", ".helix-*", `\helix`} {
		s.scratch.Pattern = pattern
		r.site.Source = s
		if parts, missing, err = Kind().Build(r.site); err != nil || len(parts) != 0 || !strings.Contains(missing[actions.Clean].String(), "could match") {
			t.Errorf("pattern %s: %d parts, %v", pattern, len(parts), missing)
		}
	}
	for key, set := range map[string]func(*Options){
		"session_lifetime": func(o *Options) { o.SessionLifetime = 1 }, "clean_older_than": func(o *Options) { o.CleanOlderThan = 0 },
		"clean_max": func(o *Options) { o.CleanMax = 0 }, "clean_grace": func(o *Options) { o.CleanGrace = 1 }, "engine_sockets": func(o *Options) { o.EngineSockets = []string{"x"} },
	} {
		r.site.Options = options(set)
		if _, _, err := Kind().Build(r.site); err == nil || !strings.HasPrefix(err.Error(), key+":") {
			t.Errorf("%s: %v", key, err)
		}
	}
	r.site.Allowed = []actions.Verb{actions.Undo}
	if _, err := NewKeeper(r.site); err == nil {
		t.Error("a keeper without permission")
	}
}

// A purge removes the directory that the plan saw, and no other that waits under its name.
func TestPurgeOfAnotherDirectoryTouchesNothing(t *testing.T) {
	r := newRig(t)
	k := r.dir("helix-ws-a")
	if _, err := r.do(actions.Clean, actions.Params{}, k); err != nil {
		t.Fatal(err)
	}
	r.pass(time.Minute)
	c := r.look(actions.Purge, actions.Params{}, k)[0]
	waits := r.names()
	if len(waits) != 1 || !c.Why.IsEmpty() {
		t.Fatalf("%v waits: %s", waits, c.Why)
	}
	if err := os.Rename(filepath.Join(r.root, waits[0]), r.root+"/elsewhere"); err != nil {
		t.Fatal(err)
	}
	backendtest.Write(t, filepath.Join(r.root, waits[0], "canary"), "keep")
	_, err := r.act(actions.Purge, actions.Params{}, c)
	var changed *actions.ChangedError
	if !errors.As(err, &changed) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(r.root, waits[0], "canary")); err != nil {
		t.Errorf("%v; %v is left", err, r.names())
	}
}
