package tmpdir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/backend/hostfs"
)

func TestPurgeAfterARestart(t *testing.T) {
	r := newRig(t)
	k, young := r.dir("helix-ws-a"), r.dir("helix-ws-b")
	if _, err := r.do(actions.Clean, actions.Params{}, k); err != nil {
		t.Fatal(err)
	}
	r.pass(10 * time.Minute)
	if _, err := r.do(actions.Clean, actions.Params{}, young); err != nil {
		t.Fatal(err)
	}
	keeper := func() *Keeper { return &Keeper{r.tool()} } // another process knows nothing but the names
	j := &journal{}
	run := func() []Due {
		t.Helper()
		due, err := keeper().PurgeDue(t.Context(), r.state, r.clock(), j)
		if err != nil {
			t.Fatal(err)
		}
		return due
	}
	if due := run(); len(due) != 0 || len(r.names()) != 2 {
		t.Fatalf("within the grace: %+v", due)
	}
	if all, err := keeper().Waiting(t.Context(), r.state); err != nil || len(all) != 2 || all[0].Plan != "feedfacecafebeef" {
		t.Errorf("%+v, %v", all, err)
	}
	r.pass(6 * time.Minute)
	// No journal, no removal.
	j.refuse = errors.New("disk full")
	if _, err := keeper().PurgeDue(t.Context(), r.state, r.clock(), j); !errors.Is(err, j.refuse) || len(r.names()) != 2 {
		t.Errorf("%v, %v", err, r.names())
	}
	j.refuse = nil
	due := run()
	if len(due) != 1 || due[0].Err != nil || !due[0].Left.IsEmpty() || due[0].Waiting.Key.ID != k.ID || due[0].Done.Freed <= 0 {
		t.Fatalf("%+v", due)
	}
	if want := []string{"intended " + r.root + "/helix-ws-a", "came " + r.root + "/helix-ws-a"}; !slices.Equal(j.lines, want) {
		t.Errorf("journal %v", j.lines)
	}
	if names := r.names(); len(names) != 1 || !strings.HasSuffix(names[0], "-helix-ws-b") {
		t.Errorf("%v", names)
	}
}

type journal struct {
	lines  []string
	refuse error
}

func (j *journal) Intended(_ context.Context, w Waiting, _ actions.Candidate) error {
	if j.refuse == nil {
		j.lines = append(j.lines, "intended "+w.Path)
	}
	return j.refuse
}

func (j *journal) Came(_ context.Context, w Waiting, _ actions.Done, _ error) error {
	j.lines = append(j.lines, "came "+w.Path)
	return nil
}

func TestPurgeLooksAgain(t *testing.T) {
	r := newRig(t)
	r.now = time.Now().Add(-time.Hour) // so that what is written now comes after the rename
	r.set = func(o *Options) { o.SessionLifetime = backend.Duration(10 * time.Minute) }
	k := r.dir("helix-ws-a")
	c := r.look(actions.Clean, actions.Params{}, k)[0]
	if c.Why.IsEmpty() {
		t.Fatal("it is young")
	}
	// Set aside by hand, as clean would an hour ago.
	a := hostfs.Aside{Original: "helix-ws-a", Moved: r.now, Grace: time.Minute}
	st, err := hostfs.StatAt(unix.AT_FDCWD, r.root+"/helix-ws-a")
	if err != nil {
		t.Fatal(err)
	}
	a.Ino, a.Born = st.ID.Ino, st.Born
	name, err := a.Name()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(r.root+"/helix-ws-a", filepath.Join(r.root, name)); err != nil {
		t.Fatal(err)
	}
	r.now = time.Now().Add(time.Minute)
	wantWhy(t, r.look(actions.Purge, actions.Params{}, k)[0].Why.String(), "after it was quarantined")
	due, err := (&Keeper{r.tool()}).PurgeDue(t.Context(), r.state, r.clock(), &journal{})
	if err != nil || len(due) != 1 || due[0].Left.IsEmpty() || len(r.names()) != 1 {
		t.Errorf("%+v, %v", due, err)
	}
	// With a record of a later rename it goes, unless a container was given it meanwhile.
	a.Moved = time.Now().Add(time.Second)
	later, _ := a.Name()
	if err := os.Rename(filepath.Join(r.root, name), filepath.Join(r.root, later)); err != nil {
		t.Fatal(err)
	}
	r.state = &fleet.State{Sandboxes: fleet.NewTable[backend.Sandbox](box("b1", "created", "bind", r.root+"/helix-ws-a"))}
	wantWhy(t, r.look(actions.Purge, actions.Params{}, k)[0].Why.String(), "container b1 (created)")
	r.state = &fleet.State{}
	if why := r.look(actions.Purge, actions.Params{}, k)[0].Why.String(); why != "" {
		t.Errorf("%s", why)
	}
}

func TestARestOfARemovalIsNotPutBackButRemoved(t *testing.T) {
	r := newRig(t)
	k := r.dir("helix-ws-a")
	st, err := hostfs.StatAt(unix.AT_FDCWD, r.root+"/helix-ws-a")
	if err != nil {
		t.Fatal(err)
	}
	name, err := hostfs.Aside{Original: "helix-ws-a", Moved: r.now, Grace: time.Hour, Ino: st.ID.Ino, Born: st.Born, Begun: true}.Name()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(r.root+"/helix-ws-a", filepath.Join(r.root, name)); err != nil {
		t.Fatal(err)
	}
	wantWhy(t, r.look(actions.Undo, actions.Params{}, k)[0].Why.String(), "not the whole directory")
	due, err := (&Keeper{r.tool()}).PurgeDue(t.Context(), r.state, r.clock(), &journal{})
	if err != nil || len(due) != 1 || due[0].Err != nil || len(r.names()) != 0 {
		t.Errorf("%+v, %v, %v", due, err, r.names())
	}
}

func TestTwoKeepersAtOnce(t *testing.T) {
	r := newRig(t)
	for i := range 30 {
		if _, err := r.do(actions.Clean, actions.Params{}, r.dir(fmt.Sprintf("helix-ws-%d", i))); err != nil {
			t.Fatal(err)
		}
	}
	r.pass(time.Hour)
	var all sync.WaitGroup
	got := make([][]Due, 2)
	for i := range got {
		k := &Keeper{r.tool()}
		all.Go(func() {
			var err error
			if got[i], err = k.PurgeDue(t.Context(), r.state, r.clock(), &journal{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if names := r.names(); len(names) != 0 {
		t.Errorf("%v is left", names)
	}
	removed := 0
	for _, due := range got {
		for _, d := range due {
			var changed *actions.ChangedError
			switch {
			case d.Err == nil && d.Left.IsEmpty():
				removed++
			case d.Err != nil && !errors.As(d.Err, &changed):
				t.Errorf("%+v", d)
			}
		}
	}
	if removed != 30 {
		t.Errorf("%d are said to be removed, 30 were", removed)
	}
}
