package actions

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// removes makes the verb of the world a removal whose targets a reading can show as they were.
type removes struct {
	*world
	tells func() bool // whether readings tell anything
}

func (v removes) Stands(t Target, issued time.Time, s *fleet.State) (time.Time, backend.Safe) {
	x := s.Workspace(t.Key)
	if x == nil || !s.ReadAt(&x.Meta).After(issued) {
		return time.Time{}, backend.Safe{}
	}
	if !v.tells() {
		return s.ReadAt(&x.Meta), backend.Safe{}
	}
	return s.ReadAt(&x.Meta), x.Reported
}

// TestARemovalWithoutAnAnswerIsConcludedFromReadings: what every reading of the whole wait still lists as it was is not deleted, by one
// request; one reading that shows something else leaves it unknown, and one that shows the end proves it.
func TestARemovalWithoutAnAnswerIsConcludedFromReadings(t *testing.T) {
	for name, x := range map[string]struct {
		after  time.Duration
		change func(*world, *atomic.Bool)
		want   Result
		says   string
	}{
		"stands":       {0, nil, ResultFailed, "not deleted: answered 503, and it is still listed as failed, by each of "},
		"changes once": {time.Minute, func(_ *world, tells *atomic.Bool) { tells.Store(false) }, ResultUnknown, "its result is not known: answered 503"},
		"goes":         {time.Minute, func(w *world, _ *atomic.Bool) { delete(w.entries, "notes") }, ResultEnded, "it ended"},
		"source down":  {30 * time.Second, func(w *world, _ *atomic.Bool) { w.down = true }, ResultUnknown, "still listed as failed"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, []string{"notes"}, func(t *testing.T, w *world) {
				var tells atomic.Bool
				tells.Store(true)
				w.onDo = func(*entry) error { return &UncertainError{errors.New("answered 503")} }
				o := w.options()
				o.Abilities[0].Part.Verifier = removes{w, tells.Load}
				c := operator(o)
				if _, err := c.Arm(t.Context(), time.Hour, backend.Safe{}, backend.Text("incident 7")); err != nil {
					t.Fatal(err)
				}
				r := w.start(c, w.intent("notes"))
				time.Sleep(10 * time.Second)
				if p := r.Progress(); !strings.Contains(p.Why.String(), "the inventory is read for up to 2m") || !strings.Contains(p.Lines[0].Text.String(), "answered 503; it is still listed as failed (") {
					t.Errorf("meanwhile: %s; %s", p.Why, p.Lines[0].Text)
				}
				if x.change != nil {
					time.Sleep(x.after)
					w.change(func() { x.change(w, &tells) })
				}
				<-r.Done()
				l := r.Progress().Lines[0]
				if l.Result != x.want || !strings.Contains(l.Text.String(), x.says) || len(w.acted()) != 1 {
					t.Errorf("%s: %s after %d requests", l.Result, l.Text, len(w.acted()))
				}
			})
		})
	}
}

// TestStillListed: only a newer reading of a sandbox that is not on its way out says that nothing was removed.
func TestStillListed(t *testing.T) {
	issued := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	k := backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: backend.MustID("b1")}
	for _, x := range []struct {
		class backend.SandboxClass
		after time.Duration
		read  bool
		as    string
	}{
		{backend.SandboxRunning, time.Second, true, "DEPLOYED RUNNING"},
		{backend.SandboxAsleep, time.Second, true, "DEPLOYED RUNNING"},
		{backend.SandboxRemoving, time.Second, true, ""},
		{backend.SandboxUnknown, time.Second, true, ""},
		{backend.SandboxRunning, -time.Second, false, ""},
		{backend.SandboxRunning, 0, false, ""},
	} {
		at := issued.Add(x.after)
		b := &backend.Sandbox{Meta: backend.Meta{Key: k, ReadAt: at}, Class: x.class, Reported: backend.Text("DEPLOYED RUNNING")}
		st := &fleet.State{Wall: at, Sandboxes: fleet.NewTable(b), Sources: []*fleet.SourceHealth{{
			Key: backend.Key{Kind: backend.KindSource, Source: "bl", ID: backend.MustID("bl")}, Status: fleet.StatusOK, LastOK: at}}}
		read, as := SandboxEnded{}.Stands(Target{Key: k}, issued, st)
		if read.IsZero() == x.read || as.String() != x.as {
			t.Errorf("%s read %s after: %s as %q", x.class, x.after, read, as)
		}
	}
	if read, as := (SandboxEnded{}).Stands(Target{Key: k}, issued, &fleet.State{}); !read.IsZero() || !as.IsEmpty() {
		t.Errorf("not listed: %s as %q", read, as)
	}
}
