package tmpdir

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/hostfs"
)

func TestARootThatNeverAnswersHoldsUpNothing(t *testing.T) {
	good, dead := t.TempDir(), t.TempDir()
	backendtest.Write(t, good+"/helix-ws-a/f", "x")
	backendtest.Write(t, dead+"/helix-ws-b/f", "x")
	proc := fixture(t)
	synctest.Test(t, func(t *testing.T) {
		never := make(chan struct{})
		var calls atomic.Int32
		src, err := Kind().New(backendtest.Options[Options](func(o *Options) { o.Roots = []string{dead, good} }),
			backend.Deps{ID: "here", Interval: 5 * time.Second, Deadline: 10 * time.Second, Now: time.Now, Cleaner: backend.NewCleaner()})
		if err != nil {
			t.Fatal(err)
		}
		s := src.(*Source)
		s.proc.Root = proc
		s.open = func(p string) (*hostfs.Dir, error) {
			if p == dead {
				calls.Add(1)
				<-never
			}
			return hostfs.OpenDir(p)
		}
		for i := range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			begun := time.Now()
			r, err := s.Poll(ctx)
			if took := time.Since(begun); err != nil || ctx.Err() != nil || i > 0 && took > time.Second {
				t.Errorf("poll %d took %v, %v", i, took, err)
			}
			cancel()
			if len(r.Tmpdirs) != 1 || complete(t, r) || r.Degraded.IsEmpty() || !r.Tmpdirs[0].Entries.IsKnown() {
				t.Errorf("poll %d: %d directories, complete %v", i, len(r.Tmpdirs), complete(t, r))
			}
			if x := r.Hosts[0].Roots[0]; x.Exists.IsKnown() || x.Bytes.IsKnown() || x.Problem.IsEmpty() {
				t.Errorf("poll %d: root %+v", i, x)
			}
		}
		if calls.Load() != 1 {
			t.Errorf("%d calls into the dead root, want 1", calls.Load())
		}
		close(never)
		synctest.Wait()
		if r, err := s.Poll(t.Context()); err != nil || len(r.Tmpdirs) != 2 || !complete(t, r) {
			t.Errorf("after it came back: %d directories, %v", len(r.Tmpdirs), err)
		}
	})
}

func TestAWalkThatNeverEndsLosesOnlyItself(t *testing.T) {
	root, proc := t.TempDir(), fixture(t)
	backendtest.Write(t, root+"/helix-ws-a/f", "x")
	backendtest.Write(t, root+"/helix-ws-b/f", "x")
	synctest.Test(t, func(t *testing.T) {
		never := make(chan struct{})
		src, err := Kind().New(backendtest.Options[Options](func(o *Options) { o.Roots = []string{root} }),
			backend.Deps{ID: "here", Interval: 5 * time.Second, Deadline: 10 * time.Second, Now: time.Now, Cleaner: backend.NewCleaner()})
		if err != nil {
			t.Fatal(err)
		}
		s := src.(*Source)
		s.proc.Root = proc
		first := ""
		s.walk = func(ctx context.Context, d *hostfs.Dir, n string, o hostfs.WalkOptions) (hostfs.Tree, error) {
			if first == "" {
				first = n
				return hostfs.Walk(ctx, d, n, o)
			}
			<-never
			return hostfs.Tree{}, ctx.Err()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		r, err := s.Poll(ctx)
		if err != nil || ctx.Err() != nil || len(r.Tmpdirs) != 2 {
			t.Fatalf("%d directories, %v, %v", len(r.Tmpdirs), err, ctx.Err())
		}
		for _, d := range r.Tmpdirs {
			if want := strings.HasSuffix(d.RawPath.Raw(), first); d.Entries.IsKnown() != want {
				t.Errorf("%s: read %v, want %v", d.Path, d.Entries.IsKnown(), want)
			}
		}
		if len(r.Problems) == 0 || r.Problems[0].Kind != backend.ErrTimeout {
			t.Errorf("problems %+v", r.Problems)
		}
		close(never)
		synctest.Wait()
	})
}

func TestMissingAndUnreadableRootsAreNotEmpty(t *testing.T) {
	root, gone := t.TempDir(), filepath.Join(t.TempDir(), "gone")
	backendtest.Write(t, root+"/helix-ws-a/f", "x")
	backendtest.Write(t, gone+"/helix-ws-b/f", "x")
	s, c := make1(t, func(o *Options) { o.Roots = []string{root, gone} })
	if r := poll1(t, s); len(r.Tmpdirs) != 2 || !complete(t, r) {
		t.Fatalf("%d directories, %+v", len(r.Tmpdirs), r.Problems)
	}
	if err := os.Rename(gone, gone+"-away"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		c.Add(5 * time.Second)
		r := poll1(t, s)
		if len(r.Tmpdirs) != 1 || complete(t, r) || len(r.Stale) != 1 || len(r.Ended) != 0 {
			t.Fatalf("%d directories, complete %v, stale %+v, ended %v", len(r.Tmpdirs), complete(t, r), r.Stale, r.Ended)
		}
		if x := r.Hosts[0].Roots[1]; x.Exists.Or(true) || x.Problem.IsEmpty() || r.Degraded.IsEmpty() || !slices.Contains(r.Inputs, backend.InputTmpdirs) {
			t.Errorf("root %+v, degraded %q", x, r.Degraded)
		}
	}
	// What leaves the root that can be read is gone all the same, after two lists.
	if err := os.RemoveAll(root + "/helix-ws-a"); err != nil {
		t.Fatal(err)
	}
	if r := poll1(t, s); len(r.Ended) != 0 {
		t.Errorf("ended after one list: %v", r.Ended)
	}
	if r := poll1(t, s); len(r.Ended) != 1 || !strings.HasSuffix(r.Ended[0].ID.Raw(), "helix-ws-a") {
		t.Errorf("ended after two lists: %v", r.Ended)
	}
	// An unreadable root: nothing of it is known, not even that it is empty.
	s.open = func(p string) (*hostfs.Dir, error) {
		return nil, &fs.PathError{Op: "open", Path: p, Err: fs.ErrPermission}
	}
	r := poll1(t, s)
	if len(r.Inputs) != 1 || len(r.Missing) != 1 || r.Missing[0].Input != backend.InputTmpdirs || complete(t, r) {
		t.Errorf("inputs %v, missing %v", r.Inputs, r.Missing)
	}
	if r.Problems[0].Kind != backend.ErrUnauthorised || r.Hosts[0].Roots[0].Exists.IsKnown() {
		t.Errorf("problem %+v, root %+v", r.Problems[0], r.Hosts[0].Roots[0])
	}
}

func TestWithoutProc(t *testing.T) {
	root := t.TempDir()
	backendtest.Write(t, root+"/helix-ws-a/f", "x")
	s, _ := make1(t, func(o *Options) { o.Roots = []string{root} })
	s.proc.Root = filepath.Join(t.TempDir(), "none")
	r := poll1(t, s)
	d := only(t, r)
	if d.Holders.IsKnown() || !d.Entries.IsKnown() || len(r.Notes) != 1 {
		t.Errorf("holders known %v, notes %v", d.Holders.IsKnown(), r.Notes)
	}
	if len(r.Missing) != 1 || r.Missing[0].Input != backend.InputHost || r.Missing[0].Why.IsEmpty() || r.Hosts[0].MemTotal.IsKnown() {
		t.Errorf("missing %+v", r.Missing)
	}
}

func TestAnUnreadableDirectoryStaysListed(t *testing.T) {
	root := t.TempDir()
	backendtest.Write(t, root+"/helix-ws-a/f", "x")
	s, _ := make1(t, func(o *Options) { o.Roots = []string{root} })
	s.walk = func(context.Context, *hostfs.Dir, string, hostfs.WalkOptions) (hostfs.Tree, error) {
		return hostfs.Tree{}, &fs.PathError{Op: "open", Path: "helix-ws-a", Err: fs.ErrPermission}
	}
	r := poll1(t, s)
	d := only(t, r)
	if d.Bytes.IsKnown() || d.Entries.IsKnown() || !d.Cut || len(r.Problems) != 1 || r.Problems[0].Subject != d.Key || r.Problems[0].Kind != backend.ErrUnauthorised {
		t.Errorf("%+v, problems %+v", d, r.Problems)
	}
	s.rows = map[backend.Key]*row{}
	s.walk = func(context.Context, *hostfs.Dir, string, hostfs.WalkOptions) (hostfs.Tree, error) {
		return hostfs.Tree{}, fs.ErrNotExist
	}
	if r := poll1(t, s); len(r.Tmpdirs) != 0 || len(r.Problems) != 0 {
		t.Errorf("a directory that vanished since it was listed: %+v, %+v", r.Tmpdirs, r.Problems)
	}
}
