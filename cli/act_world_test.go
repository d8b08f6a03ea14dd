package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/actions/audit"
	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// registry is a source of workspaces that can be reset, and the effect that resets them.
type registry struct {
	mu      sync.Mutex
	entries map[string]*registryEntry // by name, in the session s1
	did     []string
	// onDo is what happens instead of a cure.
	onDo func(name string, e *registryEntry) error
}

type registryEntry struct {
	state   string
	attempt time.Time
	success time.Time
}

func newRegistry(names ...string) *registry {
	r := &registry{entries: map[string]*registryEntry{}}
	for _, n := range names {
		r.entries[n] = &registryEntry{state: "failed", attempt: time.Now().Add(-5 * time.Minute), success: time.Now().Add(-time.Hour)}
	}
	return r
}

func (r *registry) change(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

// registrySource is one configured source that shows the registry.
type registrySource struct {
	*registry
	id string
}

func (s registrySource) ID() string { return s.id }

func (s registrySource) Poll(context.Context) (backend.Reading, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	r := backend.Reading{Started: now, At: now, Scopes: []backend.Scope{{Kind: backend.KindWorkspace, Complete: true}},
		Inputs: []backend.Input{backend.InputRegistry}, Registry: backend.RegistryAnswers}
	for n, e := range s.entries {
		w := &backend.Workspace{Meta: backend.Meta{Key: s.key(n), ReadAt: now}, Named: true, Reported: backend.Clean(e.state, 40), Class: backend.ClassHealthy,
			LastAttemptAt: backend.Known(e.attempt), LastSuccessAt: backend.Known(e.success)}
		if e.state == "failed" {
			w.Class, w.LastError = backend.ClassFailed, backend.Text("bucket is gone")
		}
		r.Workspaces = append(r.Workspaces, w)
	}
	return r, nil
}

func (s registrySource) key(name string) backend.Key {
	return backend.Key{Kind: backend.KindWorkspace, Source: s.id, Parent: backend.MustID("s1"), ID: backend.MustID(name)}
}

func (s registrySource) Look(_ context.Context, q actions.Question) []actions.Candidate {
	var out []actions.Candidate
	for _, k := range q.Keys {
		c := actions.Candidate{Key: k, Label: k.Safe(), Useless: true, Owner: backend.Text("session s1"), Loses: []backend.Safe{backend.Text("nothing")}}
		w := q.State.Workspace(k)
		switch {
		case w == nil:
			c.Why = backend.Text("it is not listed any more")
		case w.Class != backend.ClassFailed:
			c.Why = backend.Textf("it is reported %s", w.Reported)
		default:
			success, _ := w.LastSuccessAt.Get()
			c.Identity = []actions.Fact{{Name: "state", Value: w.Reported.String()}, {Name: "last success", Value: success.UTC().Format(time.RFC3339)}}
		}
		out = append(out, c)
	}
	return out
}

func (s registrySource) Do(_ context.Context, t actions.Target, _ actions.Params) (actions.Done, error) {
	name := t.Key.ID.Raw()
	s.mu.Lock()
	s.did = append(s.did, name)
	e, onDo := s.entries[name], s.onDo
	s.mu.Unlock()
	if onDo != nil {
		return actions.Done{}, onDo(name, e)
	}
	s.change(func() { e.state, e.success = "ready", time.Now().Add(time.Millisecond) })
	return actions.Done{Text: backend.Text("204")}, nil
}

func (s registrySource) Close() error { return nil }

func (s registrySource) Verify(t actions.Target, issued time.Time, st *fleet.State) actions.Verdict {
	w := st.Workspace(t.Key)
	if at, ok := w.LastSuccessAt.Get(); ok && at.After(issued) {
		return actions.Verdict{Result: actions.ResultVerified, Why: backend.Text("it succeeded since")}
	}
	return actions.Verdict{Result: actions.ResultAccepted, Why: backend.Text("no success yet")}
}

// actSite is an installation with that registry, on which several command lines run.
type actSite struct {
	t        *testing.T
	registry *registry
	file     string // of the configuration; empty: none
	dir      string
	built    int // how often an acting client could have been made
	stdin    string
	shared   bool
	ctx      context.Context
}

const actConfig = "environment = \"eu\"\n[[source]]\nid = \"a\"\nkind = \"fake\"\nactions = [\"reset\"]\n"

func newActSite(t *testing.T, text string, names ...string) *actSite {
	s := &actSite{t: t, registry: newRegistry(names...), dir: t.TempDir(), ctx: t.Context()}
	if text != "" {
		s.file = filepath.Join(s.dir, "sandglass.toml")
		if err := os.WriteFile(s.file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func resetSpec() actions.Spec {
	return actions.Spec{Verb: actions.Reset, Of: backend.KindWorkspace, Title: "reset", Effect: "opens it anew", Cap: actions.CapAbsolute, Most: 30, Gesture: actions.GestureYes}
}

// effects can reset what any source of the site lists.
func (s *actSite) effects() []actions.Kind {
	build := func(x actions.Site) (map[actions.Verb]actions.Part, map[actions.Verb]backend.Safe, error) {
		s.built++
		src := x.Source.(registrySource)
		return map[actions.Verb]actions.Part{actions.Reset: {Targets: src, Verifier: src,
			Open: func(context.Context) (actions.Effect, error) { return src, nil }}}, nil, nil
	}
	destroy := actions.Spec{Verb: actions.Destroy, Of: backend.KindSandbox, Title: "destroy", Effect: "destroys it"}
	return []actions.Kind{{Name: "fake", Specs: []actions.Spec{resetSpec()}, Build: build},
		{Name: "docker", Specs: []actions.Spec{resetSpec(), destroy}, Build: build}}
}

// run is one command line.
func (s *actSite) run(code int, want string, args ...string) (stdout string) {
	s.t.Helper()
	var out, errs bytes.Buffer
	p := program(&out, &errs, func(string) string { return "" })
	began := time.Now()
	p.Now, p.Mono = time.Now, func() time.Duration { return time.Since(began) }
	p.ReadClock = func() alerts.ClockReading { return alerts.ClockReading{Wall: time.Now()} }
	p.Stdin, p.Effects, p.SharedAccount = strings.NewReader(s.stdin), s.effects(), s.shared
	p.Who = audit.Who{User: backend.Text("mara"), Host: backend.Text("bastion")}
	kind := func(name string) backend.SourceKind {
		k := fakeKind(name)
		k.New = func(_ backend.Options, d backend.Deps) (backend.Source, error) {
			return registrySource{s.registry, d.ID}, nil
		}
		return k
	}
	p.Kinds = []backend.SourceKind{kind("docker"), kind("fake"), kind("tmpdir")}
	if s.file != "" {
		args = append(args, "--config", s.file)
	}
	got := p.Run(s.ctx, append(args, "--state-dir", s.dir+"/state"))
	text := out.String() + errs.String()
	if got != code || !regexp.MustCompile(want).MatchString(text) {
		s.t.Errorf("%v: exit code %d, want %d; want %q in\n%s", args, got, code, want, text)
	}
	return out.String()
}

var planLine = regexp.MustCompile(`(?m)^plan ([0-9a-f]{16})$`)

// plan makes a plan and returns its digest.
func (s *actSite) plan(args ...string) string {
	s.t.Helper()
	m := planLine.FindStringSubmatch(s.run(0, `(?m)^plan [0-9a-f]{16}$`, args...))
	if m == nil {
		s.t.FailNow()
	}
	return m[1]
}

func (s *actSite) records() []audit.Record {
	s.t.Helper()
	var out []audit.Record
	j := audit.At(s.dir + "/state/audit.jsonl")
	for r, err := range j.Records(s.t.Context(), audit.Filter{}) {
		if err != nil {
			s.t.Fatal(err)
		}
		out = append(out, r)
	}
	if report, err := j.Verify(s.t.Context()); err != nil || !report.Intact() {
		s.t.Errorf("the journal: %+v, %v", report, err)
	}
	return out
}
