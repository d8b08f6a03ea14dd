package operator

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

func look(t *testing.T, s *fleet.State, k backend.Key) actions.Candidate {
	t.Helper()
	p := part(t, "reset.url = \"http://127.0.0.1:1/{session}/{workspace}\"")
	cs := p.Targets.Look(t.Context(), actions.Question{Keys: []backend.Key{k}, State: s, Now: noon})
	if len(cs) != 1 {
		t.Fatalf("%d candidates", len(cs))
	}
	return cs[0]
}

func TestWhatCanBeReset(t *testing.T) {
	key := workspaceKey("s-1", "box")
	for name, c := range map[string]struct {
		set  func(*backend.Workspace)
		want string // empty: eligible
	}{
		"failed":  {nil, ""},
		"evicted": {func(w *backend.Workspace) { w.Class, w.Reported = backend.ClassEvicted, backend.Text("evicted") }, "recovers it by itself"},
		"deleted": {func(w *backend.Workspace) {
			w.LastError = backend.Text("WorkspaceFailedError: No such container: c6c6c6c6c6c6")
		}, "its container was deleted"},
		"open":          {func(w *backend.Workspace) { w.Class, w.Reported = backend.ClassHealthy, backend.Text("open") }, "it is reported open, not failed: nothing to reset"},
		"a plain word":  {func(w *backend.Workspace) { w.Class, w.Reported = backend.ClassUnknown, backend.Text("ready") }, "it is reported ready, not failed: nothing to reset"},
		"a strange one": {func(w *backend.Workspace) { w.Class, w.Reported = backend.ClassUnknown, backend.Text("zorp") }, "nothing says what its state zorp means"},
		"no state":      {func(w *backend.Workspace) { w.Class, w.Reported = backend.ClassUnknown, backend.Safe{} }, "without a state"},
		"unreadable":    {func(w *backend.Workspace) { w.Unreadable = true }, "cannot be read any more"},
		"stale":         {func(w *backend.Workspace) { w.Stale, w.StaleWhy = true, backend.Text("answered 500") }, "what is known of it is old: answered 500"},
		"a dot":         {func(w *backend.Workspace) { w.Key.ID = backend.MustID("..") }, "cannot be named to the server"},
	} {
		w := workspace(0, c.set)
		got := look(t, world(1, w), w.Key)
		if got.Why.IsEmpty() != (c.want == "") || !strings.Contains(got.Why.String(), c.want) {
			t.Errorf("%s: %q, want %q", name, got.Why, c.want)
		}
	}
	w := workspace(0, func(w *backend.Workspace) { w.ProviderID = backend.MustID("sbx-1") })
	got := look(t, world(1, w), key)
	if !got.Useless || got.CauseSeen != at(-10) || !strings.Contains(got.Owner.String(), "session s-1") || got.Name != "s-1/box" {
		t.Errorf("%+v", got)
	}
	if got := look(t, world(1), key); !strings.Contains(got.Why.String(), "does not list it") {
		t.Errorf("gone: %+v", got)
	}
	silent := world(1, w)
	silent.Wall = at(100)
	for what, s := range map[string]*fleet.State{"is down": down(world(1, w)), "has been silent": silent} {
		if got := look(t, s, key); !strings.Contains(got.Why.String(), "what is known of it is old") {
			t.Errorf("its source %s: %q", what, got.Why)
		}
	}
	hammered := workspace(4, func(w *backend.Workspace) {
		w.ProviderID, w.LastAttemptAt, w.LastError = backend.MustID("sbx-1"), backend.Known(at(3)), backend.Text("ENOSPC on disk 7")
	})
	if again := look(t, world(5, hammered), key); !reflect.DeepEqual(again.Identity, got.Identity) {
		t.Errorf("trying again makes it another one: %v, %v", got.Identity, again.Identity)
	}
	for what, set := range map[string]func(*backend.Workspace){
		"success": func(w *backend.Workspace) { w.LastSuccessAt = backend.Known(at(3)) },
		"cause":   func(w *backend.Workspace) { w.LastError = backend.Text("R2 is away") },
		"sandbox": func(w *backend.Workspace) { w.ProviderID = backend.MustID("sbx-2") },
		"state":   func(w *backend.Workspace) { w.Reported = backend.Text("FAILED") },
	} {
		w := workspace(4, func(w *backend.Workspace) { w.ProviderID = backend.MustID("sbx-1"); set(w) })
		if again := look(t, world(5, w), key); reflect.DeepEqual(again.Identity, got.Identity) {
			t.Errorf("another %s does not change it: %v", what, again.Identity)
		}
	}
	// Without {workspace} the request would be about every workspace of the session.
	p := part(t, "reset.url = \"http://127.0.0.1:1/{session}\"")
	q := actions.Question{Keys: []backend.Key{key}, State: world(1, workspace(0, nil)), Now: noon}
	if c := p.Targets.Look(t.Context(), q)[0]; !strings.Contains(c.Why.String(), "not which of its workspaces") {
		t.Errorf("one of several: %q", c.Why)
	}
	q.State = world(1, workspace(0, func(w *backend.Workspace) { w.Named = false }))
	if c := p.Targets.Look(t.Context(), q)[0]; !c.Why.IsEmpty() {
		t.Errorf("the only one: %q", c.Why)
	}
}

func down(s *fleet.State) *fleet.State {
	s.Sources[0].Status = fleet.StatusDown
	return s
}

func TestWhatBecameOfAReset(t *testing.T) {
	plan := target(look(t, world(0, workspace(0, nil)), workspaceKey("s-1", "box")))
	v := part(t, "reset.url = \"http://127.0.0.1:1/{session}/{workspace}\"").Verifier
	open := func(w *backend.Workspace) { w.Class, w.Reported = backend.ClassHealthy, backend.Text("open") }
	for name, c := range map[string]struct {
		state *fleet.State
		want  actions.Result
	}{
		"not read since":      {world(6, workspace(4, nil)), actions.ResultAccepted},
		"still failed":        {world(6, workspace(6, nil)), actions.ResultAccepted},
		"an attempt before":   {world(6, workspace(6, func(w *backend.Workspace) { w.LastAttemptAt = backend.Known(at(4)) })), actions.ResultAccepted},
		"left failed":         {world(6, workspace(6, open)), actions.ResultAccepted},
		"open, tried in vain": {world(9, workspace(9, func(w *backend.Workspace) { open(w); w.LastAttemptAt = backend.Known(at(8)) })), actions.ResultAccepted},
		"an old success": {world(9, workspace(9, func(w *backend.Workspace) {
			open(w)
			w.LastSuccessAt = backend.Known(at(-1))
		})), actions.ResultAccepted},
		"a success by a clock that is behind": {world(9, workspace(9, func(w *backend.Workspace) {
			open(w)
			w.LastSuccessAt = backend.Known(at(2))
		})), actions.ResultVerified},
		"a success": {world(9, workspace(9, func(w *backend.Workspace) { open(w); w.LastSuccessAt = backend.Known(at(8)) })), actions.ResultVerified},
		"a success, failed again since": {world(9, workspace(9, func(w *backend.Workspace) {
			w.LastSuccessAt, w.LastAttemptAt = backend.Known(at(7)), backend.Known(at(8))
		})), actions.ResultVerified},
		"the same cause": {world(9, workspace(9, func(w *backend.Workspace) { w.LastAttemptAt = backend.Known(at(8)) })), actions.ResultFailedAgain},
		"another cause": {world(9, workspace(9, func(w *backend.Workspace) {
			w.LastAttemptAt, w.LastError = backend.Known(at(8)), backend.Text("R2 is away")
		})), actions.ResultFailed},
		"no times":     {world(9, workspace(9, func(w *backend.Workspace) { w.LastAttemptAt = backend.Unknown[time.Time]() })), actions.ResultAccepted},
		"stale":        {world(9, workspace(9, func(w *backend.Workspace) { w.Stale = true; w.LastSuccessAt = backend.Known(at(8)) })), actions.ResultAccepted},
		"unreadable":   {world(9, workspace(9, func(w *backend.Workspace) { w.Unreadable = true; w.LastSuccessAt = backend.Known(at(8)) })), actions.ResultAccepted},
		"ended":        {world(9), actions.ResultEnded},
		"source down":  {down(world(9)), actions.ResultAccepted},
		"an old state": {world(4), actions.ResultAccepted},
	} {
		got := v.Verify(plan, at(5), c.state)
		if got.Result != c.want || got.Why.IsEmpty() {
			t.Errorf("%s: %v (%v), want %v", name, got.Result, got.Why, c.want)
		}
	}
}

// Registries write milliseconds, and Sandglass issues at a finer time.
func TestWhatBecameOfAResetWithinAMillisecond(t *testing.T) {
	v := part(t, "reset.url = \"http://127.0.0.1:1/{session}/{workspace}\"").Verifier
	issued := at(5).Add(700 * time.Microsecond)
	for _, before := range []backend.Value[time.Time]{backend.Known(at(-60)), backend.NotApplicable[time.Time](), backend.Unknown[time.Time]()} {
		plan := target(look(t, world(0, workspace(0, func(w *backend.Workspace) { w.LastSuccessAt = before })), workspaceKey("s-1", "box")))
		for name, c := range map[string]struct {
			success, attempt int // seconds
			want             actions.Result
		}{
			"success":      {5, 5, actions.ResultVerified},
			"failed again": {-60, 5, actions.ResultFailedAgain},
			"nothing yet":  {-60, 4, actions.ResultAccepted},
		} {
			w := workspace(9, func(w *backend.Workspace) {
				w.LastSuccessAt, w.LastAttemptAt = backend.Known(at(c.success)), backend.Known(at(c.attempt))
			})
			if got := v.Verify(plan, issued, world(9, w)); got.Result != c.want {
				t.Errorf("%s, before %v: %v (%v), want %v", name, before, got.Result, got.Why, c.want)
			}
		}
	}
}

func TestConditions(t *testing.T) {
	k := workspaceKey("s-1", "box")
	word := func(s string, c backend.StateClass) *fleet.State {
		return world(9, workspace(9, func(w *backend.Workspace) { w.Reported, w.Class = backend.Clean(s, 40), c }))
	}
	open := func(w *backend.Workspace) { w.Reported, w.Class = backend.Text("open"), backend.ClassHealthy }
	for _, c := range []struct {
		cond  string
		state *fleet.State
		want  actions.Result
	}{
		{"gone", world(9), actions.ResultVerified},
		{"gone", word("open", backend.ClassHealthy), actions.ResultAccepted},
		{"state != failed", word("open", backend.ClassHealthy), actions.ResultVerified},
		{"state != failed", world(4, workspace(4, open)), actions.ResultAccepted}, // as read before the issue
		{"state != failed", world(9, workspace(9, func(w *backend.Workspace) { open(w); w.Stale = true })), actions.ResultAccepted},
		{"state != failed", world(9, workspace(9, func(w *backend.Workspace) { open(w); w.Unreadable = true })), actions.ResultAccepted},
		{"state != failed", word("broken", backend.ClassFailed), actions.ResultAccepted},
		{"state  ==  parked", word("parked", backend.ClassUnknown), actions.ResultVerified},
		{"state==healthy", word("open", backend.ClassHealthy), actions.ResultVerified},
		{"state == parked", word("open", backend.ClassHealthy), actions.ResultAccepted},
		{"state == parked", world(9), actions.ResultEnded},
	} {
		cond, err := parseCondition(c.cond, backend.KindWorkspace)
		if err != nil {
			t.Fatal(err)
		}
		if got := cond.verifier(printed).Verify(actions.Target{Key: k}, at(5), c.state); got.Result != c.want {
			t.Errorf("%s: %v (%v), want %v", c.cond, got.Result, got.Why, c.want)
		}
	}
	if cond, err := parseCondition("none", backend.KindSession); err != nil || cond.verifier(nil) != nil {
		t.Errorf("none verifies something: %v", err)
	}
}

// TestSessionsAndSandboxes holds that other kinds of subjects are read and named too.
func TestSessionsAndSandboxes(t *testing.T) {
	session := &backend.Session{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSession, Source: "h", ID: backend.MustID("s-1")}, ReadAt: noon}, Status: backend.Text("running")}
	box := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "h", ID: backend.MustID("c0ffee")}, ReadAt: noon},
		Name: backend.Text("agent-1"), IsSandbox: true, Reported: backend.Text("running"), Session: backend.MustID("s-1"), Workspace: backend.MustID("box")}
	other := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "h", ID: backend.MustID("db")}, ReadAt: noon},
		Name: backend.Text("db-1"), Reported: backend.Text("running")}
	s := world(1)
	s.Sessions, s.Sandboxes = fleet.NewTable(session), fleet.NewTable(box, other)
	look := func(of string, states string, k backend.Key) actions.Candidate {
		v, err := verb(t, "name = \"stop\"\nof = \""+of+"\"\neffect = \"stops\"\nloses = \"its memory\"\nstates = ["+states+"]\ncommand = [\"true\", \"{id}\", \"{name}\"]")
		if err != nil {
			t.Fatal(err)
		}
		return v.Part(deps(), printed).Targets.Look(t.Context(), actions.Question{Keys: []backend.Key{k}, State: s, Now: noon})[0]
	}
	if c := look("session", `"running"`, session.Key); !c.Why.IsEmpty() || len(c.Loses) != 1 || c.Loses[0].String() != "its memory" {
		t.Errorf("session: %+v", c)
	}
	if c := look("session", `"paused"`, session.Key); !strings.Contains(c.Why.String(), "it is reported running, which this verb is not for") {
		t.Errorf("session in another state: %q", c.Why)
	}
	if c := look("sandbox", "", box.Key); !c.Why.IsEmpty() || !strings.Contains(c.Owner.String(), "s-1") {
		t.Errorf("sandbox: %+v", c)
	}
	if c := look("sandbox", "", other.Key); !strings.Contains(c.Why.String(), "not a sandbox of an agent") {
		t.Errorf("what is no sandbox: %q", c.Why)
	}
	if c := look("sandbox", "", session.Key); c.Why.IsEmpty() {
		t.Error("another kind of subject is a target")
	}
}

// A reading from before the effect, or of what cannot be read now, verifies nothing, whatever it says.
func TestOnlyALaterReadingVerifies(t *testing.T) {
	for _, condition := range []string{"state == open", "state != failed", "success advances"} {
		cond, err := parseCondition(condition, backend.KindWorkspace)
		if err != nil {
			t.Fatal(err)
		}
		v := cond.verifier(func(backend.Safe) string { return "" })
		for name, x := range map[string]struct {
			read int
			set  func(*backend.Workspace)
			want actions.Result
		}{
			"later":            {1, nil, actions.ResultVerified},
			"before":           {-1, nil, actions.ResultAccepted},
			"at that moment":   {0, nil, actions.ResultAccepted},
			"later, but stale": {1, func(w *backend.Workspace) { w.Stale = true }, actions.ResultAccepted},
			"not readable":     {1, func(w *backend.Workspace) { w.Unreadable = true }, actions.ResultAccepted},
		} {
			w := workspace(x.read, func(w *backend.Workspace) {
				w.Class, w.Reported, w.LastSuccessAt = backend.ClassHealthy, backend.Text("open"), backend.Known(at(5))
				if x.set != nil {
					x.set(w)
				}
			})
			got := v.Verify(actions.Target{Key: w.Key, CauseSeen: at(-10)}, at(0), world(2, w))
			if got.Result != x.want {
				t.Errorf("%s, read %s: %s, %s", condition, name, got.Result, got.Why)
			}
		}
	}
}
