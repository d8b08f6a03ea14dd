package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/alerts/rules"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// afterwards is the Case about a subject after some of a world's entities left.
func (w world) afterwards(left []backend.Entity, after world, subject backend.Key) Case {
	e := alerts.NewEngine(rules.Defaults(), "test")
	first := w.state()
	first.Wall = before(time.Minute)
	b, _ := e.Next(nil, first)
	st := after.state()
	st.Number, st.Mono = 2, time.Minute
	for _, x := range left {
		why := backend.Text("its owner says that it ended")
		if x.EntityMeta().Key.Kind == backend.KindSandbox {
			why = backend.Text("its engine says that it was removed")
		}
		st.Delta.Gone = append(st.Delta.Gone, fleet.Departure{Key: x.EntityMeta().Key, Last: x, Why: why, At: before(40 * time.Second)})
	}
	b, _ = e.Next(b, st)
	return Case{State: st, Board: b, Subject: subject, Events: after.events}
}

// TestADiagnosisRemembersASessionThatClosed: provider, destroyOnClose and the last success were read seconds ago.
func TestADiagnosisRemembersASessionThatClosed(t *testing.T) {
	x := session("s1", true)
	ws := healthy("s1", "box", provider("cloudflare-sandbox"), func(w *backend.Workspace) { w.DestroyOnClose = backend.Known(true) })
	c := world{sessions: []*backend.Session{x}, workspaces: []*backend.Workspace{ws}}.afterwards([]backend.Entity{x, ws}, world{}, ws.Key)
	d := c.Diagnose("2")
	want(t, d, map[string]Mark{"closed": Confirmed})
	if d.Ending != EndClosed || !strings.Contains(d.Conclusion.String(), "session s1 ended 40s ago") || !strings.Contains(d.Conclusion.String(), "destroyOnClose") {
		t.Errorf("%s: %s", d.Ending, d.Conclusion)
	}
	if d := (Case{State: c.State, Board: c.Board, Subject: sessionKey("s1")}).Diagnose("2"); d.Ending != EndClosed {
		t.Errorf("asked about the session: %s", d.Conclusion)
	}
}

// TestSharedReferencesAreRemembered after the sessions that had them left.
func TestSharedReferencesAreRemembered(t *testing.T) {
	saved := func(session string) *backend.Ref {
		return &backend.Ref{Meta: meta(backend.Key{Kind: backend.KindRef, Source: "helix-eu", Parent: backend.MustID(session), ID: backend.MustID("box")}),
			Session: backend.MustID(session), Workspace: backend.MustID("box"), Sandbox: backend.MustID("sbx")}
	}
	one, two := saved("s1"), saved("s2")
	c := world{saved: []*backend.Ref{one, two}}.afterwards([]backend.Entity{one, two}, world{}, sessionKey("s1"))
	want(t, c.Diagnose("8"), map[string]Mark{"shared-id": Confirmed})
}

// TestANameThatALaterSessionOpens: the files of an earlier session are not those of a later one.
func TestANameThatALaterSessionOpens(t *testing.T) {
	x, ws := session("s1", true), healthy("s1", "box")
	for _, c := range []struct {
		tenant backend.Literal
		began  time.Duration
		offers bool
	}{{"", 20 * time.Second, true}, {"acme", 20 * time.Second, true}, {"umbrella", 20 * time.Second, false}, {"", time.Hour, false}} {
		x.Tenant = backend.Text("acme")
		later := world{sessions: []*backend.Session{session("s2", true, func(s *backend.Session) { s.StartedAt, s.Tenant = at(c.began), backend.Text(c.tenant) })},
			workspaces: []*backend.Workspace{healthy("s2", "box")}}
		d := world{sessions: []*backend.Session{x}, workspaces: []*backend.Workspace{ws}}.afterwards([]backend.Entity{x, ws}, later, wsKey("s2", "box")).Diagnose("2")
		if offers := strings.Contains(d.Conclusion.String(), "closed between sessions: session s1"); offers != c.offers {
			t.Errorf("%+v: %s", c, d.Conclusion)
		}
	}
}

// TestABranchThatUsesItsParentsSandbox is not by design.
func TestABranchThatUsesItsParentsSandbox(t *testing.T) {
	refs := func(branch string) []Ref {
		return []Ref{{Session: backend.MustID("s0"), Resource: backend.MustID("sbx"), Source: "helix-eu", At: now}, {Session: backend.MustID("s1"), Resource: backend.MustID(branch), Source: "helix-eu", At: now}}
	}
	w := world{sessions: []*backend.Session{session("s1", true, func(s *backend.Session) { s.BranchedFrom = backend.MustID("s0") })}, workspaces: []*backend.Workspace{healthy("s1", "box")}, refs: refs("sbx")}
	d := w.diagnose("2", wsKey("s1", "box"))
	want(t, d, map[string]Mark{"branch-shares": Confirmed})
	if d.Ending == EndByDesign || !strings.Contains(d.Conclusion.String(), "Not by design") {
		t.Errorf("%s: %s", d.Ending, d.Conclusion)
	}
	want(t, w.diagnose("8", wsKey("s1", "box")), map[string]Mark{"branch-shares": Confirmed})
	w.refs = refs("own")
	if d = w.diagnose("2", wsKey("s1", "box")); d.Ending != EndByDesign {
		t.Errorf("a branch with a sandbox of its own: %s", d.Conclusion)
	}
}

// TestAChangedNamespaceIsAnotherPlace: old and new are shown.
func TestAChangedNamespaceIsAnotherPlace(t *testing.T) {
	w := world{workspaces: []*backend.Workspace{healthy("s1", "box", provider("cloudflare-filestore"), func(w *backend.Workspace) {
		w.Namespace, w.Moved = backend.MustID("ns-new"), backend.MustID("ns-old")
	})}}
	d := w.diagnose("2", wsKey("s1", "box"))
	if d.Ending != EndReplaced || !strings.Contains(d.Conclusion.String(), "ns-old") || !strings.Contains(d.Conclusion.String(), "ns-new") {
		t.Errorf("%s: %s", d.Ending, d.Conclusion)
	}
}

// TestAReleaseIsShownByASessionForItself: what one session shows says nothing of another.
func TestAReleaseIsShownByASessionForItself(t *testing.T) {
	legacy := healthy("s2", "box", func(w *backend.Workspace) {
		w.LastAttemptAt, w.LastSuccessAt, w.LastOpAt = backend.NotApplicable[time.Time](), backend.NotApplicable[time.Time](), at(time.Minute)
	})
	w := world{workspaces: []*backend.Workspace{healthy("s1", "box"), legacy}}
	want(t, w.diagnose("9", sessionKey("s1")), map[string]Mark{"before-5": RuledOut})
	want(t, w.diagnose("9", sessionKey("s2")), map[string]Mark{"before-5": Confirmed})
	want(t, w.diagnose("9", sourceKeyOf("helix-eu")), map[string]Mark{"before-5": CannotTell})
}

// TestAdviceFitsTheProvider: snapshots only where there are some, and a durable provider of the same runtime.
func TestAdviceFitsTheProvider(t *testing.T) {
	branched := func(p backend.Literal) Diagnosis {
		return world{sessions: []*backend.Session{session("s1", true, func(s *backend.Session) { s.BranchedFrom = backend.MustID("s0") })},
			workspaces: []*backend.Workspace{healthy("s1", "box", provider(p))}}.diagnose("2", wsKey("s1", "box"))
	}
	if d := branched("local-bash"); anyHas(d.Do, "Snapshot") {
		t.Errorf("local-bash has no snapshots: %v", d.Do)
	}
	if d := branched("cloudflare-sandbox"); !anyHas(d.Do, "Snapshot") {
		t.Errorf("cloudflare-sandbox has snapshots: %v", d.Do)
	}
	for runtime, want := range map[backend.Literal]string{"cloudflare-do": "cloudflare-filestore", "js": "local-bash"} {
		d := world{sessions: []*backend.Session{session("s1", true, func(s *backend.Session) { s.Runtime = backend.Text(runtime) })},
			workspaces: []*backend.Workspace{healthy("s1", "box", provider("in-memory"))}}.diagnose("2", wsKey("s1", "box"))
		if !anyHas(d.Do, want) {
			t.Errorf("%s: %v", runtime, d.Do)
		}
	}
}

// TestARolloutIsConfirmedWithinItsWindow: a change that came after a storm began did not bring it.
func TestARolloutIsConfirmedWithinItsWindow(t *testing.T) {
	rollout := func(ago time.Duration) world {
		return world{workspaces: evicted("gone"), events: []backend.Event{event(backend.EventChange, "rollout", sourceKeyOf("helix-eu"), ago, "release 7")},
			board: &alerts.Board{Alerts: []*alerts.Alert{{Rule: "eviction-storm", Source: "helix-eu", State: alerts.StateFiring, Confirmed: now, Bounds: alerts.Bounds{Latest: before(30 * time.Minute)}}}}}
	}
	for ago, w := range map[time.Duration]Mark{31 * time.Minute: Confirmed, 5 * time.Minute: CannotTell, 3 * time.Hour: CannotTell} {
		want(t, rollout(ago).diagnose("7", sourceKeyOf("helix-eu")), map[string]Mark{"rollout": w})
	}
}

// TestAHeadlineNeedsAMajority, or it is given as a share.
func TestAHeadlineNeedsAMajority(t *testing.T) {
	many := func(texts ...string) world {
		var w world
		for i, text := range texts {
			w.workspaces = append(w.workspaces, failed("s"+string(rune('a'+i)), "box", text))
		}
		return w
	}
	d := many("socket hang up", "socket hang up", "socket hang up", "max_instances reached").diagnose("1", sourceKeyOf("helix-eu"))
	if s := d.Conclusion.String(); !strings.Contains(s, "A connection breaks") || !strings.Contains(s, "3 of 4 errors: socket hang up; 1: max_instances reached") {
		t.Errorf("%s", s)
	}
	if s := d.NoReset.String(); !strings.Contains(s, "of 1 of them the instance limit") {
		t.Errorf("no reset: %s", s)
	}
	d = many("socket hang up", "max_instances reached", "boom", "ENOSPC: no space left").diagnose("1", sourceKeyOf("helix-eu"))
	if s := d.Conclusion.String(); !strings.HasPrefix(s, "No cause has a majority. 1 of 4 errors") {
		t.Errorf("%s", s)
	}
}

// TestAFilestoreThatMovedIsReplaced: as a former process or a stored reference told; without either nothing is disproved.
func TestAFilestoreThatMovedIsReplaced(t *testing.T) {
	w := world{workspaces: []*backend.Workspace{healthy("s1", "box", provider("cloudflare-filestore"))}}
	want(t, w.diagnose("2", wsKey("s1", "box")), map[string]Mark{"replaced": CannotTell})
	w = world{workspaces: []*backend.Workspace{healthy("s1", "box")}, refs: []Ref{{Session: backend.MustID("s1"), Workspace: backend.MustID("box"), Provider: backend.Text("cloudflare-filestore"), Source: "refs"}}}
	for page, check := range map[string]string{"2": "durability", "3": "write-guard"} {
		if fact := factOf(t, w.diagnose(page, wsKey("s1", "box")), check); strings.Contains(fact, "not named") {
			t.Errorf("page %s: %s", page, fact)
		}
	}
	ref := func(sandbox string) *backend.Ref {
		return &backend.Ref{Meta: meta(backend.Key{Kind: backend.KindRef, Source: "refs", Parent: backend.MustID("s1"), ID: backend.MustID("box")}),
			Session: backend.MustID("s1"), Workspace: backend.MustID("box"), Sandbox: backend.MustID(sandbox)}
	}
	w.saved = []*backend.Ref{ref("sb1")}
	engine := alerts.NewEngine(nil, "test")
	st := w.state()
	b, _ := engine.Next(nil, st)
	w.saved[0] = ref("sb1-new")
	next := w.state()
	next.Number, next.Delta.Changed = st.Number+1, []backend.Key{w.saved[0].Key}
	b, _ = engine.Next(b, next)
	d := Case{State: next, Board: b, Subject: wsKey("s1", "box"), Refs: w.refs}.Diagnose("2")
	want(t, d, map[string]Mark{"replaced": Confirmed})
	if !strings.Contains(d.Conclusion.String(), "named sandbox sb1 and names sb1-new now") {
		t.Error(d.Conclusion)
	}
}

// What an error says in its parentheses is whole in a conclusion. A pane has its beginning, and no parenthesis stays open there.
func TestConclusionsKeepErrorsWhole(t *testing.T) {
	const full = "max_instances reached (60/60 in use, request c6a1f0b2, region weur)"
	var w world
	for i, text := range []string{full, full, "sandbox instance i-ec50af2c is gone", "boom"} {
		w.workspaces = append(w.workspaces, failed("s"+string(rune('a'+i)), "box", "WorkspaceFailedError: "+text))
	}
	d := w.diagnose("1", sourceKeyOf("helix-eu"))
	if s := d.Conclusion.String(); !strings.Contains(s, "2 of 4 errors: "+full+"; 1: ") || strings.Contains(s, "…") {
		t.Errorf("whole: %s", s)
	}
	if s := d.Brief(); !strings.Contains(s, "2 of 4 errors: max_instances reached (60/60 in use, request c6…); 1: ") {
		t.Errorf("in a pane: %s", s)
	}
}
