package fleet

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// TestAnExistingSandboxThatASessionTookOver: its age alone tells it, and a name that is another session's does; the name that the SDK gives
// for its own session does not.
func TestAnExistingSandboxThatASessionTookOver(t *testing.T) {
	const own, other = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d", "1a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"
	began := t0.Add(-2 * time.Hour)
	for name, c := range map[string]struct {
		box      string
		made     time.Time
		unbegun  bool
		saved    time.Time
		refs     int // with a state of the other session
		want     RefResult
		why      string
		said     []string
		listsOne bool
		kept     bool // at the end of a session, so that a later one resumes it
	}{
		"long before":    {box: "my-box", made: began.Add(-118 * time.Hour), want: RefTakenOver, why: "taken over? made 4d 22h before its session began: files of others may be in it", said: []string{"made: at 2025-12-27 12:00:00Z; its session began at 2026-01-01 10:00:00Z"}},
		"an hour":        {box: "my-box", made: began.Add(-time.Hour), want: RefTakenOver, why: "taken over? made 1h before its session began: files of others may be in it", said: []string{"made: at 2026-01-01 09:00:00Z; its session began at 2026-01-01 10:00:00Z"}},
		"short of that":  {box: "my-box", made: began.Add(-time.Hour + time.Second), want: RefSame},
		"not told":       {box: "my-box", made: began.Add(-118 * time.Hour), unbegun: true, want: RefSame},
		"an earlier run": {box: "my-box", made: began.Add(-118 * time.Hour), saved: began.Add(-time.Hour), want: RefSame},
		"kept for it":    {box: "my-box", made: began.Add(-118 * time.Hour), kept: true, want: RefSame},
		"its own name":   {box: "agents-0a1b2c3d4e5f", made: began.Add(-118 * time.Hour), want: RefSame},
		"of a listed session": {box: "agents-1a1b2c3d4e5f", made: began, listsOne: true, want: RefTakenOver, why: "taken over? the name is that of session " + other + ": files of others may be in it",
			said: []string{"name: the SDK itself names a sandbox of this session agents-0a1b2c3d4e5f"}},
		"of a saved session": {box: "agents-1a1b2c3d4e5f", made: began, refs: 1, want: RefTakenOver, why: "taken over? the name is that of session " + other + ": files of others may be in it",
			said: []string{"name: the SDK itself names a sandbox of this session agents-0a1b2c3d4e5f"}},
		"of no known session": {box: "agents-1a1b2c3d4e5f", made: began, want: RefSame},
	} {
		t.Run(name, func(t *testing.T) {
			saved := c.saved
			if saved.IsZero() {
				saved = t0.Add(-time.Minute)
			}
			ref := func(of string) *backend.Ref {
				return &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "store", Parent: backend.MustID(of), ID: backend.MustID("coder")}, ReadAt: t0}, Session: backend.MustID(of),
					Sandbox: backend.MustID(c.box), Provider: backend.Text("blaxel"), SavedAt: backend.Known(saved), Agent: &backend.AgentState{PauseOnExit: backend.Known(c.kept)}}
			}
			listed := func(of string) *backend.Session {
				x := &backend.Session{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSession, Source: "hx", ID: backend.MustID(of)}, ReadAt: t0}, Running: backend.Known(true)}
				if !c.unbegun {
					x.StartedAt = backend.Known(began)
				}
				return x
			}
			refs, sessions := []*backend.Ref{ref(own)}, []*backend.Session{listed(own)}
			if c.refs > 0 {
				refs = append(refs, ref(other))
			}
			if c.listsOne {
				sessions = append(sessions, listed(other))
			}
			box := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: backend.MustID(c.box)}, ReadAt: t0}, Name: backend.Clean(c.box, 60), IsSandbox: true,
				Provider: backend.Text("blaxel"), Class: backend.SandboxRunning, CreatedAt: backend.Known(c.made)}
			var all []backend.Answer
			for _, r := range []*backend.Reading{
				{Source: "bl", Kind: "blaxel", At: t0, Sandboxes: []*backend.Sandbox{box}, Inputs: []backend.Input{backend.InputContainers}, Scopes: []backend.Scope{{Kind: backend.KindSandbox, Complete: true}}},
				{Source: "store", Kind: "refs", At: t0, Refs: refs, Scopes: []backend.Scope{{Kind: backend.KindRef, Complete: true}}},
				{Source: "hx", Kind: "helix", At: t0, Sessions: sessions, Inputs: []backend.Input{backend.InputSessions}, Scopes: []backend.Scope{{Kind: backend.KindSession, Complete: true}}},
			} {
				all = append(all, backend.Answer{Source: r.Source, Config: &backend.SourceConfig{Kind: r.Kind, Interval: time.Minute}}, backend.Answer{Source: r.Source, Reading: r})
			}
			st := NewFolder(time.Minute).Fold(all, backend.Instant{Wall: t0})
			m := st.MatchOf(refs[0])
			if m.Result != c.want || c.why != "" && m.Why.String() != c.why || len(m.Differences) != len(c.said) {
				t.Fatalf("%+v", m)
			}
			for i, said := range c.said {
				if got := m.Differences[i].Said().String(); got != said {
					t.Errorf("%s, not %s", got, said)
				}
			}
		})
	}
}

// TestASandboxWhoseSessionNamesAnother is joined to no session by the digits of its name.
func TestASandboxWhoseSessionNamesAnother(t *testing.T) {
	const one = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"
	ref := func(id, box string) *backend.Ref {
		r := &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "store", Parent: backend.MustID(one), ID: backend.MustID(id)}, ReadAt: t0}, Session: backend.MustID(one), Agent: &backend.AgentState{}}
		if box != "" {
			r.Sandbox = backend.MustID(box)
		}
		return r
	}
	for name, c := range map[string]struct {
		refs          []*backend.Ref
		session, says string
	}{
		"another":          {[]*backend.Ref{ref("a", "agents-1a1b2c3d4e5f")}, "", "agents-1a1b2c3d4e5f"},
		"another and none": {[]*backend.Ref{ref("a", "my-box"), ref("b", "")}, one, ""},
		"another and it":   {[]*backend.Ref{ref("a", "my-box"), ref("b", "agents-0a1b2c3d4e5f")}, one, ""},
	} {
		st := NewFolder(time.Minute).Fold([]backend.Answer{{Source: "store", Config: &backend.SourceConfig{Kind: "refs", Interval: time.Minute}},
			{Source: "store", Reading: &backend.Reading{Source: "store", Refs: c.refs, Scopes: []backend.Scope{{Kind: backend.KindRef, Complete: true}}}}}, backend.Instant{Wall: t0})
		session, digits := st.AgentSession(&backend.Sandbox{Name: backend.Text("agents-0a1b2c3d4e5f")})
		_, box := st.NamesAnother(digits)
		if session.Raw() != c.session || box.Raw() != c.says {
			t.Errorf("%s: session %q, another %q", name, session.Raw(), box.Raw())
		}
	}
}

// TestAResumeWithoutASnapshotFindsNoFiles: where the snapshot keeps nothing, none is said to have files.
func TestAResumeWithoutASnapshotFindsNoFiles(t *testing.T) {
	b := &backend.Sandbox{Provider: backend.Text("blaxel"), Class: backend.SandboxDead, Reported: backend.Text("FAILED")}
	for snapshot, want := range map[string]string{"noop": "except in mounts", "local": "except in mounts or a snapshot"} {
		r := &backend.Ref{Agent: &backend.AgentState{Snapshot: backend.Clean(snapshot, 20)}}
		if got := resumed(r, b).String(); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s", snapshot, got)
		}
	}
}
