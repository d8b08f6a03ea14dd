package tmpdir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/fleet"
	"sandglass/backend/hostfs"
	"sandglass/internal/skip"
)

func TestMain(m *testing.M) {
	backendtest.Umask() // what others could write is trusted nowhere
	backendtest.Roles(m, play)
}

// play is what the other process does.
func play(verb, arg string, ready func()) error {
	switch verb {
	case "chdir":
		if err := os.Chdir(arg); err != nil {
			return err
		}
	case "open":
		f, err := os.Open(arg)
		if err != nil {
			return err
		}
		kept = f
	case "lock":
		f, err := os.Open(arg)
		if err != nil {
			return err
		}
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
			return err
		}
		kept = f
	case "swap":
		ready()
		swapFor(arg)
	default:
		return errors.New("no such role")
	}
	return nil
}

var kept *os.File

// needsRoot skips where root is missing.
func needsRoot(t *testing.T, why string) {
	t.Helper()
	if os.Geteuid() != 0 {
		skip.Without(t, "root", "this "+why)
	}
}

// options decode into the defaults what a test wants.
func options(set func(*Options)) backendtest.Options[Options] {
	return func(o *Options) {
		o.SessionLifetime = backend.Duration(7 * 24 * time.Hour)
		o.EngineSockets = nil
		if set != nil {
			set(o)
		}
	}
}

// source stands for the adapter.
type source struct {
	backend.Source
	scratch hostfs.Scratch
}

func (s source) Scratch() hostfs.Scratch { return s.scratch }

// rig is one root with the actions on it.
type rig struct {
	t     *testing.T
	root  string
	site  actions.Site
	set   func(*Options)
	state *fleet.State
	proc  string // a /proc tree without processes; empty: the machine's own
	mu    sync.Mutex
	now   time.Time
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, root: t.TempDir(), now: time.Now().Add(30 * 24 * time.Hour), proc: fixture(t)}
	r.site = actions.Site{
		Deps: backend.Deps{ID: "here", Now: r.clock, Cleaner: backend.NewCleaner(), Getenv: func(string) string { return "" }},
		Source: source{scratch: hostfs.Scratch{Roots: []string{r.root}, Pattern: "helix-ws-*",
			Owner: hostfs.Account{UID: uint32(os.Geteuid()), Self: true}}},
		Allowed: []actions.Verb{actions.Clean}, Config: "/etc/sandglass/it's.toml",
	}
	r.state = &fleet.State{Wall: r.now}
	return r
}

func (r *rig) clock() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

func (r *rig) pass(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = r.now.Add(d)
}

// fixture is a /proc tree with the machine's mount table, no process and no lock.
func fixture(t *testing.T) string {
	t.Helper()
	proc := t.TempDir()
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	backendtest.Write(t, proc+"/self/mountinfo", string(table))
	backendtest.Write(t, proc+"/locks", "")
	if err := os.Mkdir(proc+"/self/ns", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("mnt:[1]", proc+"/self/ns/mnt"); err != nil {
		t.Fatal(err)
	}
	return proc
}

// onlyThese makes the rig see these processes of the machine, and no others: some machines hide one even from root.
func (r *rig) onlyThese(pids ...int) {
	r.t.Helper()
	r.proc = fixture(r.t)
	if err := os.Remove(r.proc + "/locks"); err != nil {
		r.t.Fatal(err)
	}
	for _, name := range append([]string{"locks", "stat"}, strings.Fields(strings.Trim(fmt.Sprint(pids), "[]"))...) {
		if err := os.Symlink("/proc/"+name, r.proc+"/"+name); err != nil {
			r.t.Fatal(err)
		}
	}
}

// dir makes a scratch directory with a few files and returns its key.
func (r *rig) dir(name string) backend.Key {
	r.t.Helper()
	backendtest.Write(r.t, filepath.Join(r.root, name, "f"), "x")
	backendtest.Write(r.t, filepath.Join(r.root, name, "a/b/g"), "xx")
	return r.key(name)
}

func (r *rig) key(name string) backend.Key {
	r.t.Helper()
	st, err := hostfs.StatAt(unix.AT_FDCWD, filepath.Join(r.root, name))
	if err != nil {
		r.t.Fatal(err)
	}
	return backend.Key{Kind: backend.KindTmpdir, Source: "here", Parent: backend.MustID("box"),
		ID: backend.MustID(fmt.Sprintf("%d:%d:%s", st.ID.Dev, st.ID.Ino, filepath.Join(r.root, name)))}
}

// tool is what Build makes, on the rig's /proc.
func (r *rig) tool() *tool {
	r.t.Helper()
	r.site.Options = options(r.set)
	o := defaults()
	if err := r.site.Options.Decode(&o); err != nil {
		r.t.Fatal(err)
	}
	t, why := newTool(r.site, o)
	if !why.IsEmpty() {
		r.t.Fatal(why)
	}
	if r.proc != "" {
		t.proc = hostfs.Proc{Root: r.proc}
	}
	return t
}

func (r *rig) look(v actions.Verb, p actions.Params, keys ...backend.Key) []actions.Candidate {
	r.t.Helper()
	out := r.tool().part(v).Targets.Look(r.t.Context(), actions.Question{Keys: keys, State: r.state, Now: r.clock(), Params: p})
	if len(out) != len(keys) {
		r.t.Fatalf("%d candidates for %d keys", len(out), len(keys))
	}
	for i := range out {
		if out[i].Key != keys[i] {
			r.t.Fatalf("candidate %d is another key's", i)
		}
	}
	return out
}

// why is why a directory is left out by clean; empty: it is not.
func (r *rig) why(k backend.Key) string {
	r.t.Helper()
	return r.look(actions.Clean, actions.Params{}, k)[0].Why.String()
}

// do looks and acts, as a run does.
func (r *rig) do(v actions.Verb, p actions.Params, k backend.Key) (actions.Done, error) {
	r.t.Helper()
	c := r.look(v, p, k)[0]
	if !c.Why.IsEmpty() {
		r.t.Fatalf("%s leaves it out: %s", v, c.Why)
	}
	return r.act(v, p, c)
}

func (r *rig) act(v actions.Verb, p actions.Params, c actions.Candidate) (actions.Done, error) {
	r.t.Helper()
	e, err := r.tool().part(v).Open(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	if f, ok := e.(interface{ ForPlan(string) }); ok {
		f.ForPlan("feedfacecafebeef")
	}
	return e.Do(r.t.Context(), actions.Target{Key: c.Key, Label: c.Label, Name: c.Name, Identity: c.Identity, Bytes: c.Bytes}, p)
}

// names lists the root.
func (r *rig) names() []string {
	r.t.Helper()
	entries, err := os.ReadDir(r.root)
	if err != nil {
		r.t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func wantWhy(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		if got == "" || !strings.Contains(got, w) {
			t.Errorf("left out because of %q, want something with %q", got, w)
		}
	}
}
