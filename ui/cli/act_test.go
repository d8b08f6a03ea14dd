package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/actions"
	"sandglass/actions/audit"
	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/config"
	"sandglass/ui/cli"
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

// control is the wiring: as the real one, it builds what the configuration allows.
func (s *actSite) control(a cli.Acting) (*actions.Control, error) {
	o := actions.Options{Environment: a.Config.Environment, ReadOnly: a.ReadOnly, StateDir: a.StateDir, Feed: a.Feed, Now: time.Now,
		Spawn: backend.NewSpawner(nil), Shared: s.shared, Fingerprint: func(s backend.Safe) string { return s.String() },
		Who: audit.Who{User: backend.Text("mara"), Host: backend.Text("bastion")}}
	j, err := audit.New(audit.Options{Dir: a.StateDir, Origin: audit.Origin{Host: backend.Text("bastion")}})
	if err != nil {
		o.JournalProblem = backend.Clean(err.Error(), 200)
	} else {
		o.Journal = j
	}
	for _, x := range a.Sources {
		src, ok := x.Source.(registrySource)
		if !ok {
			continue
		}
		able := actions.Ability{Source: x.Config.ID, SourceKind: "fake", Spec: resetSpec(), Denied: backend.Text("add \"reset\" to its actions")}
		if slices.Contains(x.Config.Actions, "reset") {
			s.built++
			able.Denied = backend.Safe{}
			able.Part = actions.Part{Looker: src, Verifier: src, Open: func(context.Context) (actions.Effect, error) { return src, nil }}
		}
		o.Abilities = append(o.Abilities, able)
	}
	return actions.NewControl(o), nil
}

// run is one command line.
func (s *actSite) run(code int, want string, args ...string) (stdout string) {
	s.t.Helper()
	var out, errs bytes.Buffer
	p := program(&out, &errs, func(string) string { return "" })
	began := time.Now()
	p.Now, p.Mono = time.Now, func() time.Duration { return time.Since(began) }
	p.Moment = func() alerts.Moment { return alerts.Moment{Wall: time.Now()} }
	p.Control, p.Stdin = s.control, strings.NewReader(s.stdin)
	kind := func(name string) backend.SourceKind {
		k := fakeKind(name)
		k.New = func(_ backend.Options, d backend.Deps) (backend.Source, error) {
			return registrySource{s.registry, d.ID}, nil
		}
		return k
	}
	p.Kinds = []backend.SourceKind{kind("docker"), kind("fake"), kind("tmpdir")}
	p.Acts = []config.ActionKind{{Kind: "fake", Verbs: []string{"reset"}}, {Kind: "docker", Verbs: []string{"reset", "destroy"}}}
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

func TestPlanThenYes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newActSite(t, actConfig, "w1", "w2", "w3")
		out := s.run(0, `reset 2 workspaces on a \(eu\)`, "reset", "s1/w1", "s1/w3", "s1/gone", "--reason", "bucket's back")
		for _, want := range []string{"opens it anew", "as read: state failed", "session s1", "loses: nothing", "left alone: 1\n  no source lists it\n      s1/gone",
			`sandglass reset --config ` + s.file + ` --state-dir ` + s.dir + `/state --yes-plan `, `--reason 'bucket'\''s back'`} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
		if len(s.registry.did) > 0 {
			t.Errorf("planning acted on %v", s.registry.did)
		}
		m := planLine.FindStringSubmatch(out)
		if m == nil {
			t.FailNow()
		}
		digest := m[1]
		s.run(64, "--reason is missing", "reset", "--yes-plan", digest)
		s.run(64, "takes no selector", "reset", "s1/w2", "--yes-plan", digest, "--reason", "x")
		s.run(4, "is to reset on a, which is not what this command does", "destroy", "--yes-plan", digest, "--reason", "x")
		s.run(4, "there is no plan 0123456789abcdef here", "reset", "--yes-plan", "0123456789abcdef", "--reason", "x")
		s.run(4, "read-only", "reset", "--yes-plan", digest, "--reason", "x", "--read-only")
		s.run(0, `plan `+digest+`: 2 of 2 done: 2 verified\n  s1/w1: verified, it succeeded since`, "reset", "--yes-plan", digest, "--reason", "new bucket")
		s.run(4, "carried out already", "reset", "--yes-plan", digest, "--reason", "x")
		if !slices.Equal(s.registry.did, []string{"w1", "w3"}) {
			t.Errorf("acted on %v", s.registry.did)
		}
		recs := s.records()
		if first, last := recs[0], recs[len(recs)-1]; first.Phase != audit.PhaseIntent || first.Reason.String() != "new bucket" || first.Digest != digest ||
			last.Phase != audit.PhaseDone || last.Result != audit.ResultVerified {
			t.Errorf("the journal begins with %+v and ends with %+v", first, last)
		}
	})
}

func TestPlansThatAreNotCarriedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newActSite(t, actConfig, "w1", "w2", "w3")
		old := s.plan("reset", "s1/w1")
		time.Sleep(61 * time.Second)
		s.run(4, "older than 60 s", "reset", "--yes-plan", old, "--reason", "x")
		changed := s.plan("reset", "s1/w1")
		s.registry.change(func() { s.registry.entries["w1"].success = time.Now() })
		s.run(4, "0 of 1 done: 1 skipped\n.*changed since the plan: last success was", "reset", "--yes-plan", changed, "--reason", "x")
		s.registry.change(func() { s.registry.entries["w2"].state = "ready" })
		out := s.run(4, "refused: there is nothing to act on", "reset", "s1/w2")
		if planLine.MatchString(out) || !strings.Contains(out, "  it is reported ready\n      s1/w2") {
			t.Errorf("a refused plan:\n%s", out)
		}
		later := s.plan("reset", "s1/w3")
		s.run(4, `allow|add "reset"`, "reset", "--yes-plan", later, "--reason", "x", "--config", s.other(strings.Replace(actConfig, `"reset"`, "", 1)))
		s.run(4, "was made for the environment eu", "reset", "--yes-plan", later, "--reason", "x", "--config", s.other(strings.Replace(actConfig, "eu", "us", 1)))
		path := filepath.Join(s.dir, "state", "plans", later+".json")
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.ReplaceAll(b, []byte("w3"), []byte("w1")), 0o600); err != nil {
			t.Fatal(err)
		}
		s.run(4, "somebody changed the file", "reset", "--yes-plan", later, "--reason", "x")
		if len(s.registry.did) > 0 {
			t.Errorf("acted on %v", s.registry.did)
		}
	})
}

// other is another configuration; the flag that comes last wins.
func (s *actSite) other(text string) string {
	file := filepath.Join(s.dir, "other.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.file = "" // not appended any more
	return file
}

func TestExitCodesOfPlans(t *testing.T) {
	for name, x := range map[string]struct {
		onDo func(string, *registryEntry) error
		code int
		want string
	}{
		"accepted, and nothing shows it": {func(string, *registryEntry) error { return nil }, 1, "1 of 1 done: 1 unverified"},
		"failed":                         {func(string, *registryEntry) error { return errors.New("500") }, 2, "1 of 1 done: 1 failed"},
		"sent, and no answer":            {func(string, *registryEntry) error { return &actions.UncertainError{Err: errors.New("timeout")} }, 2, "1 unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newActSite(t, actConfig, "w1")
				s.registry.onDo = x.onDo
				s.run(x.code, x.want, "reset", "--yes-plan", s.plan("reset", "s1/w1"), "--reason", "x")
			})
		})
	}
}

// Without a screen nobody decides that a wave may follow on one that no reading verified.
func TestHeadlessStopsAfterAnUnverifiedWave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newActSite(t, actConfig, "w1", "w2", "w3")
		s.registry.onDo = func(string, *registryEntry) error { return nil }
		s.run(2, "1 of 3 done.*\n(.*\n)*stopped: accepted, but no reading has verified it", "reset", "--yes-plan", s.plan("reset", "--filter", "state:failed"), "--reason", "x")
	})
}

func TestDryRunChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newActSite(t, actConfig, "w1", "w2")
		out := s.run(0, "dry run: 2 of 2 would be acted on", "reset", "s1/w1", "s1/w2", "--dry-run")
		if planLine.MatchString(out) || len(s.registry.did) > 0 {
			t.Errorf("acted on %v\n%s", s.registry.did, out)
		}
		for _, kept := range []string{"audit.jsonl", "plans"} {
			if _, err := os.Stat(filepath.Join(s.dir, "state", kept)); err == nil {
				t.Errorf("a dry run left %s", kept)
			}
		}
		s.run(64, "takes no --yes-plan", "reset", "--dry-run", "--yes-plan", "0123456789abcdef", "--reason", "x")
	})
}

func TestSelectors(t *testing.T) {
	two := actConfig + "[[source]]\nid = \"b\"\nkind = \"fake\"\nactions = [\"reset\"]\n"
	synctest.Test(t, func(t *testing.T) {
		s := newActSite(t, two, "w1", "w2", "x1")
		s.run(4, "an id means several things:\n +s1/w1: the workspace s1/w1 of a\n +s1/w1: the workspace s1/w1 of b", "reset", "s1/w1")
		s.run(0, "reset 1 workspace on b", "reset", "s1/w1", "--source", "b")
		s.run(4, "acts on one source, and this is on several:\n +a: 3\n +b: 3", "reset", "--filter", "state:failed")
		s.run(0, "reset 2 workspaces on a", "reset", "--match", "s1/w*", "--source", "a")
		s.run(0, "reset 1 workspace on a", "reset", "--match", "s1/*", "--filter", "workspace:x1", "--source", "a")
		s.run(4, "no id matches", "reset", "--match", "*", "--source", "a") // a star does not match a /
		s.run(4, "no source lists\n +s1/w", "reset", "s1/w", "--source", "a")
		s.run(4, "no row matches the filter", "reset", "--filter", "state:ready")
		s.run(64, "there is no field", "reset", "--filter", "nonsense=1")
		s.run(64, "needs what to act on", "reset")
		s.run(64, "stands alone, or narrows --match", "reset", "s1/w1", "--filter", "state:failed")
		s.run(64, "cannot be understood", "reset", "--match", "[")
		s.run(64, `no source "c"`, "reset", "s1/w1", "--source", "c")
		s.stdin = "s1/w1\r\ns1/x1\n\n"
		s.run(0, "reset 2 workspaces on a", "reset", "-", "--source", "a")
		s.stdin = ""
		s.run(4, "the standard input names nothing", "reset", "-")
		s.run(4, `there is no verb|knows "interrupt"`, "do", "interrupt", "s1/w1")
		s.run(64, "do needs a verb", "do")
		s.run(4, `knows "pause"`, "pause", "s1/w1")
	})
}

func TestSharedAccountSaysWhoActs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newActSite(t, actConfig, "w1")
		s.shared = true
		s.run(4, "name yourself with --by NAME", "reset", "s1/w1")
		s.run(0, "1 verified", "reset", "--yes-plan", s.plan("reset", "s1/w1", "--by", "ann"), "--reason", "x")
		if who := s.records()[0].Who; who.Claimed.String() != "ann" || who.User.String() != "mara" {
			t.Errorf("the journal says that %+v did it", who)
		}
	})
}

// A hang-up ends the plan after the target that is under way, and the journal says how far it came.
func TestInterruptedPlanFinishesItsTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := strings.Fields("w01 w02 w03 w04 w05 w06 w07 w08 w09 w10")
		s := newActSite(t, actConfig, names...)
		digest := s.plan("reset", "--filter", "state:failed")
		ctx, hangUp := context.WithCancel(t.Context())
		s.ctx = ctx
		s.registry.onDo = func(name string, e *registryEntry) error {
			if name == "w02" {
				hangUp()
				time.Sleep(20 * time.Second)
			}
			s.registry.change(func() { e.state, e.success = "ready", time.Now().Add(time.Millisecond) })
			return nil
		}
		s.run(2, "2 of 10 done(.*\n)*stopped: the program is ending\n(.*\n)*.*interrupted: the target under way finishes", "reset", "--yes-plan", digest, "--reason", "x")
		s.ctx = t.Context()
		if !slices.Equal(s.registry.did, []string{"w01", "w02"}) {
			t.Errorf("acted on %v", s.registry.did)
		}
		recs := s.records()
		if last := recs[len(recs)-1]; last.Phase != audit.PhaseStopped || last.Done != 2 || last.Targets != 10 {
			t.Errorf("the journal ends with %+v", last)
		}
	})
}

func TestLocalModeActsOnlyOnWhatIsAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newActSite(t, "", "w1")
		s.run(4, `docker-local: add "reset"`, "reset", "s1/w1", "--source", "docker-local")
		if s.built != 0 {
			t.Errorf("nothing was allowed, and %d clients could have acted", s.built)
		}
		out := s.run(0, "plan ", "reset", "s1/w1", "--source", "docker-local", "--allow", "reset")
		if s.built != 1 || !strings.Contains(out, "--allow reset --yes-plan") {
			t.Errorf("built %d\n%s", s.built, out)
		}
		s.run(4, "read-only", "reset", "s1/w1", "--allow", "reset", "--read-only")
		s.run(64, `no verb "rest" on this machine; did you mean "reset"`, "reset", "s1/w1", "--allow", "rest")
		s.run(64, `no verb "rest"`, "--allow", "rest") // the console takes it too
	})
	synctest.Test(t, func(t *testing.T) {
		s := newActSite(t, actConfig, "w1")
		s.run(64, "says what may be done", "reset", "s1/w1", "--allow", "reset")
		s.run(64, "says what may be done", "--session-lifetime", "24h")
	})
}

func TestPlanJSON(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "plan-json.md"))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		s := newActSite(t, actConfig, "w1", "w2")
		s.registry.entries["w2"].state = "ready"
		planned := s.run(0, "", "reset", "s1/w1", "s1/w2", "s1/none", "--reason", "x", "-o", "json")
		refused := s.run(4, "", "reset", "s1/w2", "-o", "json")
		rehearsed := s.run(0, "", "reset", "s1/w1", "--dry-run", "-o", "json")
		var first struct {
			Digest string
			Next   []string
		}
		if err := json.Unmarshal([]byte(planned), &first); err != nil || !slices.Contains(first.Next, first.Digest) {
			t.Fatalf("%v in\n%s", err, planned)
		}
		ran := s.run(0, "", "reset", "--yes-plan", first.Digest, "--reason", "x", "-o", "json")
		for what, doc := range map[string]string{"planned": planned, "refused": refused, "rehearsed": rehearsed, "ran": ran} {
			var document any
			if err := json.Unmarshal([]byte(doc), &document); err != nil {
				t.Fatalf("%s: %v\n%s", what, err, doc)
			}
			for _, bad := range walk("", document, planShape()) {
				t.Errorf("%s: %s", what, bad)
			}
		}
	})
	for _, name := range fieldsOf("", planShape()) {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/plan-json.md does not name `%s`", name)
		}
	}
}

func planShape() shape {
	texts := listOf(is("string"))
	results := oneOfWords("issued", "accepted", "verified", "unverified", "failed", "failed again", "ended", "skipped", "unknown")
	results.kinds += "|null"
	run := object(map[string]shape{"phase": oneOfWords("acting", "verifying", "waiting", "stopped", "done"), "stopped": is("string|null"),
		"summary": is("string"), "began": is("time"), "ended": is("time|null"), "acted": is("number"), "moved_bytes": is("number"),
		"freed_bytes": is("number"), "results": {counts: true}, "journal_problem": is("string|null"),
		"lines": listOf(object(map[string]shape{"id": is("string"), "label": is("string"), "wave": is("number"), "result": results,
			"text": is("string"), "issued": is("time|null"), "notes": texts}))})
	next := texts
	next.kinds = "null"
	return object(map[string]shape{
		"schema": is("number"), "time": is("time"), "environment": is("string"), "production": is("bool"), "digest": is("string|null"),
		"verb": is("string"), "kind": oneOfWords("workspace", "sandbox", "session", "tmpdir"), "source": is("string"), "source_kind": is("string"),
		"effect": is("string"), "undo": is("string|null"), "made": is("time"), "expires": is("time"), "reason": is("string|null"),
		"who": object(map[string]shape{"user": is("string"), "host": is("string"), "claimed": is("string|null"), "sudo_user": is("string|null"),
			"ssh_client": is("string|null")}),
		"params":  object(map[string]shape{"older_than_seconds": is("number|null"), "purge_now": is("bool"), "most": is("number|null")}),
		"dry_run": is("bool"), "refused": is("bool"), "bytes": is("number|null"), "not_listed": texts, "advice": texts, "warnings": texts,
		"targets": listOf(object(map[string]shape{"id": is("string"), "label": is("string"), "owner": is("string|null"), "loses": texts, "notes": texts,
			"useless": is("bool"), "bytes": is("number|null"), "cause_seen": is("time|null"),
			"identity": listOf(object(map[string]shape{"name": is("string"), "value": is("string")}))})),
		"excluded": listOf(object(map[string]shape{"id": is("string"), "label": is("string"), "why": is("string")})),
		"refusals": listOf(object(map[string]shape{"why": is("string"), "next": is("string|null"), "word": is("string|null"), "set_aside": is("bool")})),
		"next":     next, "run": orNull(run), "exit_code": is("number")})
}
