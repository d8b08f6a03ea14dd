package fleet

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/backend"
)

// referred lists the sandboxes that references named by the time of its poll.
type referred struct {
	*scripted
	named []string
	alone bool
}

func (s *referred) TakesRefs() bool { return true }

func (s *referred) Refer(from string, refs []*backend.Ref, whole, alone bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alone = alone
	before := len(s.named)
	for _, r := range refs {
		if whole {
			s.named = append(s.named, from+" "+r.Sandbox.Raw())
		}
	}
	return len(s.named) > before
}

func newReferred(id string) *referred {
	s := &referred{scripted: &scripted{id: id}}
	s.do = func(context.Context, int) (backend.Reading, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		r := backend.Reading{Scopes: []backend.Scope{whole(backend.KindSandbox)}}
		for _, name := range s.named {
			b := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: s.id, ID: backend.MustID(name)}}}
			r.Sandboxes = append(r.Sandboxes, b)
		}
		return r, nil
	}
	return s
}

// TestReferencesReachWhatTheyName also in a command that polls once, whichever of the two answers first.
func TestReferencesReachWhatTheyName(t *testing.T) {
	for name, c := range map[string]struct {
		about  []string
		others bool
		alone  bool
		want   int
	}{
		"one source takes them":    {nil, false, true, 1},
		"two do":                   {nil, true, false, 1},
		"they speak about it":      {[]string{"cf"}, true, true, 1},
		"they speak about another": {[]string{"cf2"}, true, false, 0},
		"they speak of a registry": {[]string{"docker"}, false, true, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			f := New(Options{Now: time.Now, Mono: func() time.Duration { return time.Since(start) }, Spawn: backend.NewSpawner(nil)})
			box := newReferred("cf")
			f.Add(box, backend.SourceConfig{Kind: "cloudflare", Interval: time.Minute, Deadline: time.Second})
			if c.others {
				f.Add(newReferred("cf2"), backend.SourceConfig{Kind: "cloudflare", Interval: time.Minute, Deadline: time.Second})
			}
			f.Add(&scripted{id: "states", do: func(context.Context, int) (backend.Reading, error) {
				time.Sleep(100 * time.Millisecond)
				return backend.Reading{Scopes: []backend.Scope{whole(backend.KindRef)}, Refs: []*backend.Ref{{Sandbox: backend.MustID("abc"),
					Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "states", Parent: backend.MustID("s1"), ID: backend.MustID("box")}}}}}, nil
			}}, backend.SourceConfig{Kind: "refs", Interval: time.Minute, Deadline: time.Second, About: c.about})
			st := f.PollOnce(t.Context())
			n := 0
			for b := range st.Sandboxes.All() {
				if b.Key.Source == "cf" && b.Key.ID.Raw() == "states abc" {
					n++
				}
			}
			if n != c.want || box.alone != c.alone {
				t.Errorf("%s: %d sandboxes are named, alone %v", name, n, box.alone)
			}
			f.Close()
		})
	}
}

// TestALineAndAWorkspaceNameASandbox together, and neither of them alone.
func TestALineAndAWorkspaceNameASandbox(t *testing.T) {
	for name, c := range map[string]struct {
		line, id, provider string
		want               int
	}{
		"both":               {"abc", "abc", "cloudflare-sandbox", 1},
		"both, a filestore":  {"abc", "abc", "cloudflare-filestore", 1},
		"no line":            {"", "abc", "cloudflare-sandbox", 0},
		"a line of another":  {"abd", "abc", "cloudflare-sandbox", 0},
		"another provider":   {"abc", "abc", "docker", 0},
		"no id of a sandbox": {"abc", "", "cloudflare-sandbox", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			f := New(Options{Now: time.Now, Mono: func() time.Duration { return time.Since(start) }, Spawn: backend.NewSpawner(nil)})
			box := newReferred("cf")
			f.Add(box, backend.SourceConfig{Kind: "cloudflare", Interval: time.Minute, Deadline: time.Second})
			f.Add(&scripted{id: "hx", do: func(context.Context, int) (backend.Reading, error) {
				w := &backend.Workspace{}
				w.Provider = backend.Clean(c.provider, 40)
				w.Key = backend.Key{Kind: backend.KindWorkspace, Source: "hx", Parent: backend.MustID("s1"), ID: backend.MustID("box")}
				w.ProviderID, _ = backend.NewID(c.id)
				return backend.Reading{Source: "hx", Scopes: []backend.Scope{whole(backend.KindWorkspace)}, Workspaces: []*backend.Workspace{w}}, nil
			}}, backend.SourceConfig{Kind: "helix", Interval: time.Minute, Deadline: time.Second})
			f.Add(&scripted{id: "alog", do: func(context.Context, int) (backend.Reading, error) {
				time.Sleep(100 * time.Millisecond)
				x := backend.Report{Kind: backend.ReportNotStarted}
				x.Sandbox, _ = backend.NewID(c.line)
				return backend.Reading{Source: "alog", Reports: []backend.Report{x}}, nil
			}}, backend.SourceConfig{Kind: "logs", Interval: time.Minute, Deadline: time.Second})
			st := f.PollOnce(t.Context())
			if n := st.Sandboxes.Len(); n != c.want || n == 1 && st.Sandboxes.Get(backend.Key{Kind: backend.KindSandbox, Source: "cf", ID: backend.MustID("hx abc")}) == nil {
				t.Errorf("%s: %d sandboxes are named", name, n)
			}
			f.Close()
		})
	}
}

// TestANameTakesNoOtherName: a sandbox that no list has does not make the name of a listed one ambiguous, whichever is read first.
func TestANameTakesNoOtherName(t *testing.T) {
	box := func(source, id, provider string, unlisted bool) *backend.Sandbox {
		b := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: source, ID: backend.MustID(id)}}, IsSandbox: true,
			Name: backend.Text("web"), Provider: backend.Clean(provider, 40)}
		b.Unlisted = unlisted
		return b
	}
	for _, engine := range []string{"a", "z"} { // beside a source called m
		listed, named := box(engine, "4f1c", "docker", false), box("m", "web", "cloudflare", true)
		st := (&State{}).WithSandboxes(NewTable(listed, named))
		if b := st.SandboxNamed(backend.MustID("web"), backend.Text("docker")); b != listed {
			t.Errorf("%s: web of docker is %v", engine, b)
		}
		if b := st.SandboxNamed(backend.MustID("web"), backend.Text("cloudflare-sandbox")); b != nil {
			t.Errorf("%s: web of Cloudflare is %v", engine, b)
		}
	}
	st := (&State{}).WithSandboxes(NewTable(box("m", "web", "cloudflare", true), box("n", "web", "cloudflare", true)))
	if b := st.SandboxNamed(backend.MustID("web"), backend.Text("cloudflare")); b != nil {
		t.Errorf("two are called web, and it is %v", b)
	}
}

// TestANameIsNoList: what a reference names is not there for that, and a list of other ids proves no end.
func TestANameIsNoList(t *testing.T) {
	ref := &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "states", Parent: backend.MustID("s1"), ID: backend.MustID("box")}},
		Session: backend.MustID("s1"), Sandbox: backend.MustID("abc"), Provider: backend.Text("cloudflare"), Agent: &backend.AgentState{}}
	box := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "cf", ID: backend.MustID("abc")}}, IsSandbox: true, Name: backend.Text("abc"), Provider: backend.Text("cloudflare")}
	box.Unlisted, box.NamedBy = true, backend.NamedByRef
	for name, c := range map[string]struct {
		boxes []*backend.Sandbox
		other bool
		want  RefResult
		why   string
	}{
		"named only":            {[]*backend.Sandbox{box}, true, RefUnknown, "only its name is known"},
		"named only, ids known": {[]*backend.Sandbox{box}, false, RefUnknown, "not listed by the operator routes of cf"},
		"other ids are listed":  {nil, true, RefUnknown, "other ids"},
		"its list lacks it":     {nil, false, RefGone, "not listed by cf"},
	} {
		f := NewFolder(time.Minute)
		config := backend.SourceConfig{Kind: "cloudflare", Interval: time.Minute, Inputs: []backend.Input{backend.InputContainers}}
		fold := func(at time.Time, r backend.Reading) *State {
			r.Source, r.Kind, r.At = "cf", "cloudflare", at
			return f.Fold([]backend.Answer{{Source: "cf", Reading: &r, Ended: backend.Instant{Wall: at}}}, backend.Instant{Wall: at})
		}
		f.Fold([]backend.Answer{{Source: "cf", Config: &config}, {Source: "states", Config: &backend.SourceConfig{Kind: "refs"}},
			{Source: "states", Reading: &backend.Reading{Source: "states", At: t0, Refs: []*backend.Ref{ref}}}}, backend.Instant{Wall: t0})
		st := fold(t0.Add(time.Minute), backend.Reading{Scopes: []backend.Scope{whole(backend.KindSandbox)}, Sandboxes: c.boxes, OtherIDs: c.other, Inputs: []backend.Input{backend.InputContainers}})
		if m := st.MatchOf(ref); m.Result != c.want || !strings.Contains(m.Why.String(), c.why) {
			t.Errorf("%s: %s, %v", name, m.Result, m.Why)
		}
		if len(c.boxes) == 0 {
			continue
		}
		st = fold(t0.Add(2*time.Minute), backend.Reading{Scopes: []backend.Scope{whole(backend.KindSandbox)}, Ended: []backend.Key{box.Key}})
		if gone := st.Delta.Gone; len(gone) != 1 || gone[0].Why.String() != "nothing names it any more" {
			t.Errorf("%s: it left as %+v", name, gone)
		}
	}
}
