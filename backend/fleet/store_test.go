package fleet

import (
	"fmt"
	"testing"
	"time"

	"sandglass/backend"
)

func TestAbsenceEndsOnlyAfterTwoCompleteLists(t *testing.T) {
	s := newStore(0)
	all := []backend.Scope{whole(backend.KindWorkspace)}
	wantNames(t, step(s, t0, backend.Reading{Scopes: all,
		Workspaces: []*backend.Workspace{ws("b", "x", "open"), ws("a", "y", "open")}}), "a/y=open b/x=open ")
	wantNames(t, step(s, t0.Add(1), backend.Reading{Workspaces: []*backend.Workspace{ws("a", "y", "open")}}), "a/y=open b/x=open ")
	wantNames(t, step(s, t0.Add(2), backend.Reading{Scopes: all, Workspaces: []*backend.Workspace{ws("a", "y", "open")}}), "a/y=open ~b/x=open ")
	st := step(s, t0.Add(3), backend.Reading{Scopes: all, Workspaces: []*backend.Workspace{ws("a", "y", "open")}})
	wantNames(t, st, "a/y=open ")
	if len(st.Delta.Gone) != 1 || st.Delta.Gone[0].Key != wsKey("b", "x") {
		t.Errorf("gone = %v", st.Delta.Gone)
	}
}

func TestAbsentOnceThenBackIsNotGone(t *testing.T) {
	s := newStore(0)
	all := []backend.Scope{whole(backend.KindWorkspace)}
	one := func() []*backend.Workspace { return []*backend.Workspace{ws("a", "x", "open")} }
	step(s, t0, backend.Reading{Scopes: all, Workspaces: one()})
	step(s, t0.Add(1), backend.Reading{Scopes: all})
	wantNames(t, step(s, t0.Add(2), backend.Reading{Scopes: all, Workspaces: one()}), "a/x=open ")
	wantNames(t, step(s, t0.Add(3), backend.Reading{Scopes: all}), "~a/x=open ")
}

func TestFailedSessionKeepsItsWorkspacesStaleThroughCompleteLists(t *testing.T) {
	s := newStore(0)
	all := []backend.Scope{whole(backend.KindWorkspace)}
	step(s, t0, backend.Reading{Scopes: all, Sessions: []*backend.Session{sess("a")},
		Workspaces: []*backend.Workspace{ws("a", "x", "open")}})
	bad := backend.Reading{Scopes: all, Stale: []backend.StaleMark{{Key: sess("a").Key, Why: backend.Text("500")}}}
	for i := 1; i <= 3; i++ {
		wantNames(t, step(s, t0.Add(time.Duration(i)), bad), "~a/x=open ")
	}
	wantNames(t, step(s, t0.Add(9), backend.Reading{Scopes: all, Workspaces: []*backend.Workspace{ws("a", "x", "open")}}), "a/x=open ")
}

func TestEndedSessionTakesItsWorkspaces(t *testing.T) {
	s := newStore(0)
	step(s, t0, backend.Reading{Sessions: []*backend.Session{sess("a"), sess("b")},
		Workspaces: []*backend.Workspace{ws("a", "x", "open"), ws("b", "x", "open")}})
	st := step(s, t0.Add(1), backend.Reading{Ended: []backend.Key{sess("a").Key}})
	wantNames(t, st, "b/x=open ")
	if len(st.Delta.Gone) != 2 || st.Sessions.Len() != 1 {
		t.Errorf("gone %v, sessions %d", st.Delta.Gone, st.Sessions.Len())
	}
}

func TestUnchangedEntityKeepsItsRevision(t *testing.T) {
	s := newStore(0)
	all := []backend.Scope{whole(backend.KindWorkspace)}
	reused := ws("a", "x", "open")
	first := step(s, t0, backend.Reading{Scopes: all, Workspaces: []*backend.Workspace{reused, ws("a", "y", "open")}})
	second := step(s, t0.Add(time.Minute), backend.Reading{Scopes: all, Workspaces: []*backend.Workspace{reused, ws("a", "y", "open")}})
	if len(second.Delta.Changed) != 0 {
		t.Errorf("changed %v, want nothing", second.Delta.Changed)
	}
	x := second.Workspaces.Get(wsKey("a", "x"))
	if x != first.Workspaces.Get(wsKey("a", "x")) || !second.ReadAt(&x.Meta).Equal(t0.Add(time.Minute)) {
		t.Errorf("the same entity should stay in place and count as read a minute later, got %v", second.ReadAt(&x.Meta))
	}
	// In a slice nothing confirms it but the reading itself: the read time moves, the revision does not.
	third := step(s, t0.Add(2*time.Minute), backend.Reading{Workspaces: []*backend.Workspace{reused}})
	x = third.Workspaces.Get(wsKey("a", "x"))
	if !third.ReadAt(&x.Meta).Equal(t0.Add(2*time.Minute)) || x.Rev != 1 || len(third.Delta.Changed) != 0 {
		t.Errorf("rev %d read %v changed %v", x.Rev, third.ReadAt(&x.Meta), third.Delta.Changed)
	}
	if !first.Workspaces.Get(wsKey("a", "x")).ReadAt.Equal(t0) {
		t.Error("an entity of an older State was touched")
	}
}

func TestHistoryKeepsTheLastEightStatusChanges(t *testing.T) {
	s := newStore(0)
	var st *State
	for i := range 20 {
		st = step(s, t0.Add(time.Duration(i)*time.Second), backend.Reading{Workspaces: []*backend.Workspace{ws("a", "x", string(rune('a'+i/2)))}})
	}
	h := st.Workspaces.Get(wsKey("a", "x")).History
	if len(h) != backend.MaxHistory || h[7].Status.String() != "j" || !h[7].At.Equal(t0.Add(18*time.Second)) {
		t.Errorf("history %v", h)
	}
}

func TestASuccessThatIsForgottenStaysKnown(t *testing.T) {
	s := newStore(0)
	read := func(i int, success backend.Value[time.Time]) *backend.Workspace {
		w := ws("a", "x", "open")
		w.LastSuccessAt = success
		return step(s, t0.Add(time.Duration(i)*time.Minute), backend.Reading{Workspaces: []*backend.Workspace{w}}).Workspaces.Get(wsKey("a", "x"))
	}
	worked := t0.Add(-time.Hour)
	for i, c := range []struct {
		success backend.Value[time.Time]
		lost    time.Time
	}{
		{backend.Known(worked), time.Time{}},
		{backend.Known(worked.Add(-time.Second)), time.Time{}}, // the clock's correction wobbles
		{backend.Unknown[time.Time](), time.Time{}},            // unreadable is not absent
		{backend.Known(worked), time.Time{}},
		{backend.NotApplicable[time.Time](), worked},
		{backend.NotApplicable[time.Time](), worked},
		{backend.Known(t0), worked}, // it works again, and what was lost stays lost
		{backend.Known(t0.Add(-5 * time.Minute)), t0},
	} {
		if got := read(i, c.success).LostSuccess; !got.Equal(c.lost) {
			t.Errorf("reading %d: lost %v, want %v", i, got, c.lost)
		}
	}
	w := ws("a", "x", "open")
	w.LastSuccessAt = backend.Known(t0.Add(-5 * time.Minute))
	if st := step(s, t0.Add(time.Hour), backend.Reading{Workspaces: []*backend.Workspace{w}}); len(st.Delta.Changed) != 0 {
		t.Errorf("an equal reading changed %v", st.Delta.Changed)
	}
}

func TestChangesSinceRemembersAHundredStates(t *testing.T) {
	s := newStore(0)
	var st *State
	for i := range 1100 {
		st = step(s, t0.Add(time.Duration(i)), backend.Reading{Workspaces: []*backend.Workspace{ws("a", "x", string(rune('a'+i%2)))}})
	}
	if d, ok := st.ChangesSince(st.Number - 100); !ok || len(d) != 100 {
		t.Errorf("100 States back: %d deltas, complete %v", len(d), ok)
	}
	if _, ok := st.ChangesSince(st.Number - 101); ok {
		t.Error("101 States back is claimed to be complete")
	}
	if d, ok := st.ChangesSince(st.Number); !ok || len(d) != 0 {
		t.Errorf("since itself: %v %v", d, ok)
	}
}

func TestSandboxesAreFoundBySession(t *testing.T) {
	s := newStore(0)
	b := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "h", ID: backend.MustID("c1")}}, Session: backend.MustID("a")}
	st := step(s, t0, backend.Reading{Sandboxes: []*backend.Sandbox{b}})
	if got := st.SandboxesOf(backend.MustID("a")); len(got) != 1 || got[0].Key != b.Key {
		t.Errorf("sandboxes of a: %v", got)
	}
}

func TestRefsOutliveTheirSession(t *testing.T) {
	s := newStore(0)
	ref := func(session, name string) *backend.Ref {
		id := backend.MustID(session)
		return &backend.Ref{Session: id, Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "h", Parent: id, ID: backend.MustID(name)}}}
	}
	all := []backend.Scope{whole(backend.KindRef)}
	step(s, t0, backend.Reading{Scopes: all, Sessions: []*backend.Session{sess("a")}, Refs: []*backend.Ref{ref("b", "x"), ref("a", "x")}})
	st := step(s, t0.Add(1), backend.Reading{Scopes: all, Ended: []backend.Key{sess("a").Key}, Refs: []*backend.Ref{ref("a", "x")},
		Stale: []backend.StaleMark{{Key: ref("b", "x").Key, Why: backend.Text("its file cannot be read")}}})
	if a, b := st.Refs.Get(ref("a", "x").Key), st.Refs.Get(ref("b", "x").Key); st.Refs.Len() != 2 || a == nil || a.Stale || b == nil || !b.Stale {
		t.Fatalf("refs %d, of a %v, of b %v", st.Refs.Len(), a, b)
	}
	if st.Entity(ref("a", "x").Key) == nil {
		t.Error("the ref of a is not found")
	}
	step(s, t0.Add(2), backend.Reading{Scopes: all})
	if st = step(s, t0.Add(3), backend.Reading{Scopes: all}); st.Refs.Len() != 0 {
		t.Errorf("%d refs are left after two complete lists without them", st.Refs.Len())
	}
}

// Series count too in how far back is remembered: a console of many would grow for as long as it runs.
func TestManySeriesAreRememberedForFewerStates(t *testing.T) {
	s := newStore(0)
	var st *State
	for i := range 60 {
		at := t0.Add(time.Duration(i) * time.Second)
		counts := make([]backend.Count, 1000)
		for n := range counts {
			counts[n] = backend.Count{Series: backend.Series{Source: "log", Name: backend.MetricEvictions, Session: backend.MustID(fmt.Sprint("s", n))}, At: at, N: 1}
		}
		st = step(s, at, backend.Reading{Counts: counts})
	}
	if _, ok := st.ChangesSince(st.Number - 50); ok {
		t.Error("50 States with 1,000 series each are remembered")
	}
	if d, ok := st.ChangesSince(st.Number - 20); !ok || len(d) != 20 || len(d[0].Series) != 1000 {
		t.Errorf("20 States back: %d deltas, complete %v", len(d), ok)
	}
}
