package tmpdir

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/hostfs"
	"sandglass/internal/skip"
)

func TestPollReadsDirectoriesAndHost(t *testing.T) {
	root := t.TempDir()
	backendtest.Write(t, root+"/helix-ws-abc/a/b/file", "hello")
	backendtest.Write(t, root+"/other/file", "x")
	backendtest.Write(t, root+"/helix-ws-file", "not a directory")
	if err := os.Symlink(root+"/other", root+"/helix-ws-link"); err != nil {
		t.Fatal(err)
	}
	s, c := make1(t, func(o *Options) { o.Roots = []string{root} })
	r := poll1(t, s)
	d := only(t, r)
	st, err := os.Stat(root + "/helix-ws-abc/a/b/file")
	if err != nil {
		t.Fatal(err)
	}
	if n, ok := d.Newest.Get(); !ok || n.Before(st.ModTime()) || n.After(c.Now()) {
		t.Errorf("newest %v, %v", n, ok)
	}
	if n, ok := d.Entries.Get(); n != 3 || !ok || d.Cut || !d.CutWhy.IsEmpty() {
		t.Errorf("%d entries, cut %v %q", n, d.Cut, d.CutWhy)
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	if d.RawPath.Raw() != real+"/helix-ws-abc" || !strings.HasSuffix(d.Key.ID.Raw(), ":"+d.RawPath.Raw()) || strings.Count(d.Key.ID.Raw(), ":") != 2 {
		t.Errorf("key %q", d.Key.ID.Raw())
	}
	if d.Key.Parent.Raw() != "build-7" || !d.ReadAt.Equal(c.Now()) || !complete(t, r) {
		t.Errorf("parent %q, read at %v, scopes %+v", d.Key.Parent.Raw(), d.ReadAt, r.Scopes)
	}
	if len(r.Notes) != 1 || !strings.Contains(r.Notes[0].String(), "2 names") {
		t.Errorf("notes %v, want the file and the link named", r.Notes)
	}
	h := r.Hosts[0]
	if h.MemTotal.Or(0) != 1000<<10 || h.MemPressure.Or(0) != 0.5 || h.OOMKills.Or(0) != 3 || h.BootedAt.Or(time.Time{}).Unix() != 1700000000 {
		t.Errorf("host %+v", h)
	}
	if x := h.Roots[0]; !x.Exists.Or(false) || !x.Writable.Or(false) || x.ReadOnly.Or(true) || x.Bytes.Or(0) <= 0 || !x.Problem.IsEmpty() {
		t.Errorf("root %+v", x)
	}
	if !slices.Equal(r.Inputs, []backend.Input{backend.InputTmpdirs, backend.InputHost}) || !r.Degraded.IsEmpty() {
		t.Errorf("inputs %v, degraded %q", r.Inputs, r.Degraded)
	}
	if runtime.GOOS == "linux" {
		if who, ok := d.Holders.Get(); !ok || len(who) != 0 {
			t.Errorf("holders %v, %v: every process of the tree was read, so nobody is known", who, ok)
		}
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

func TestHoldersKnownUnknownNobody(t *testing.T) {
	if runtime.GOOS != "linux" {
		skip.Without(t, "linux", "who uses a directory is known on Linux only")
	}
	root := t.TempDir()
	backendtest.Write(t, root+"/helix-ws-held/deep/f", "x")
	backendtest.Write(t, root+"/helix-ws-free/f", "x")
	pid := backendtest.Hold(t, nil, "chdir", root+"/helix-ws-held/deep")
	s, _ := make1(t, func(o *Options) { o.Roots = []string{root} })
	s.proc.Root = "/proc"
	r := poll1(t, s)
	if len(r.Tmpdirs) != 2 {
		t.Fatalf("%d directories", len(r.Tmpdirs))
	}
	for _, d := range r.Tmpdirs {
		who, known := d.Holders.Get()
		held := strings.HasSuffix(d.RawPath.Raw(), "held")
		if held && (!known || len(who) != 1 || who[0].PID != pid || who[0].How.String() != "cwd" || who[0].Command.IsEmpty()) {
			t.Errorf("held directory: %+v, known %v", who, known)
		}
		if !held && known && d.Unreadable > 0 {
			t.Errorf("%d processes could not be read, and yet nobody is said to use it", d.Unreadable)
		}
	}
	// A process that shows nothing makes "nobody" unknown.
	s.proc.Root = fixture(t)
	backendtest.Write(t, s.proc.Root+"/77/comm", "secretive")
	for _, d := range poll1(t, s).Tmpdirs {
		if d.Holders.IsKnown() || d.Unreadable != 1 {
			t.Errorf("holders known %v with %d unreadable processes", d.Holders.IsKnown(), d.Unreadable)
		}
	}
}

func TestWalksAgainOnlyAfterTheIntervalUnlessTheTopChanged(t *testing.T) {
	root := t.TempDir()
	backendtest.Write(t, root+"/helix-ws-a/deep/f", "x")
	s, c := make1(t, func(o *Options) { o.Roots = []string{root} })
	walks := 0
	s.walk = func(ctx context.Context, d *hostfs.Dir, n string, o hostfs.WalkOptions) (hostfs.Tree, error) {
		walks++
		return hostfs.Walk(ctx, d, n, o)
	}
	first := only(t, poll1(t, s))
	backendtest.Write(t, root+"/helix-ws-a/deep/g", "x") // moves nothing at the top
	c.Add(30 * time.Second)
	if d := only(t, poll1(t, s)); walks != 1 || !d.ReadAt.Equal(first.ReadAt) || d.Entries.Or(0) != 2 {
		t.Errorf("%d walks within the interval, read at %v, %d entries", walks, d.ReadAt, d.Entries.Or(0))
	}
	c.Add(30 * time.Second)
	if d := only(t, poll1(t, s)); walks != 2 || !d.ReadAt.Equal(c.Now()) || d.Entries.Or(0) != 3 {
		t.Errorf("%d walks after the interval, %d entries, want 2 and 3", walks, d.Entries.Or(0))
	}
	backendtest.Write(t, root+"/helix-ws-a/top", "x")
	c.Add(5 * time.Second)
	if d := only(t, poll1(t, s)); walks != 3 || d.Entries.Or(0) != 4 {
		t.Errorf("%d walks after the top changed, %d entries, want 3 and 4", walks, d.Entries.Or(0))
	}
}

func TestAttentionComesFirstThenTheLongestUnread(t *testing.T) {
	root := t.TempDir()
	for _, n := range []string{"a", "b", "c", "d"} {
		backendtest.Write(t, root+"/helix-ws-"+n+"/f", "x")
	}
	s, c := make1(t, func(o *Options) { o.Roots = []string{root} })
	budget := 1
	var order string
	s.walk = func(ctx context.Context, d *hostfs.Dir, n string, o hostfs.WalkOptions) (hostfs.Tree, error) {
		if budget == 0 { // the time is up: as a walk without time ends
			return hostfs.Tree{Cut: hostfs.CutDeadline}, nil
		}
		budget--
		order += n[len(n)-1:]
		return hostfs.Walk(ctx, d, n, o)
	}
	r := poll1(t, s)
	if len(r.Tmpdirs) != 4 || !r.Partial || !complete(t, r) {
		t.Fatalf("%d directories, partial %v", len(r.Tmpdirs), r.Partial)
	}
	waiting := r.Tmpdirs[slices.IndexFunc(r.Tmpdirs, func(d *backend.Tmpdir) bool { return !d.Entries.IsKnown() })]
	if waiting.Bytes.IsKnown() || waiting.CutWhy.IsEmpty() {
		t.Errorf("a directory that was not read yet: %+v", waiting)
	}
	keyOf := func(n string) backend.Key {
		return r.Tmpdirs[slices.IndexFunc(r.Tmpdirs, func(d *backend.Tmpdir) bool { return strings.HasSuffix(d.RawPath.Raw(), n) })].Key
	}
	s.Attend(backend.Attention{Alerting: []backend.Key{keyOf("d")}, Visible: []backend.Key{keyOf("c")}})
	order = ""
	for range 5 {
		c.Add(time.Minute)
		budget = 2
		poll1(t, s)
	}
	if !strings.HasPrefix(order, "dc") || order != strings.Repeat("dc", 5) {
		t.Errorf("read in the order %q, want the alerting one, then the visible one", order)
	}
	s.Attend(backend.Attention{})
	order, budget = "", 2
	c.Add(time.Minute)
	poll1(t, s)
	if !strings.ContainsAny(order, "ab") || strings.ContainsAny(order, "cd") {
		t.Errorf("read %q, want the two longest unread", order)
	}
}

func TestCutWalkIsALowerBound(t *testing.T) {
	root := t.TempDir()
	for i := range 20 {
		backendtest.Write(t, fmt.Sprintf("%s/helix-ws-a/f%d", root, i), "x")
	}
	s, c := make1(t, func(o *Options) { o.Roots, o.MaxEntries = []string{root}, 5 })
	d := only(t, poll1(t, s))
	if !d.Cut || d.Entries.Or(0) != 5 || !strings.Contains(d.CutWhy.String(), "max_entries") || !d.Newest.IsKnown() {
		t.Errorf("%+v, want five entries, cut, and a newest change since it is recent", d)
	}
	c.Add(2 * time.Hour)
	if d := only(t, poll1(t, s)); d.Newest.IsKnown() {
		t.Errorf("newest %v: what was not read may be newer", d.Newest)
	}
}

func TestARemainderOfTimeReplacesNoFullReading(t *testing.T) {
	root := t.TempDir()
	backendtest.Write(t, root+"/helix-ws-a/f", "x")
	backendtest.Write(t, root+"/helix-ws-b/f", "x")
	s, c := make1(t, func(o *Options) { o.Roots = []string{root} })
	before := poll1(t, s)
	c.Add(time.Minute)
	walks := 0
	s.walk = func(ctx context.Context, d *hostfs.Dir, n string, o hostfs.WalkOptions) (hostfs.Tree, error) {
		if walks++; walks == 2 {
			return hostfs.Tree{Cut: hostfs.CutDeadline, Entries: 0}, nil
		}
		return hostfs.Walk(ctx, d, n, o)
	}
	after := poll1(t, s)
	if len(after.Tmpdirs) != 2 || walks != 2 {
		t.Fatalf("%d directories, %d walks", len(after.Tmpdirs), walks)
	}
	kept := 0
	for i, d := range after.Tmpdirs {
		if d.Cut || d.Entries.Or(0) != 1 {
			t.Errorf("%s: cut %v, %d entries", d.Path, d.Cut, d.Entries.Or(0))
		}
		if d.ReadAt.Equal(before.Tmpdirs[i].ReadAt) {
			kept++
		}
	}
	if kept != 1 {
		t.Errorf("%d directories keep their first reading, want 1", kept)
	}
}

func BenchmarkPoll(b *testing.B) {
	root := b.TempDir()
	for i := range 1000 {
		if err := os.MkdirAll(fmt.Sprintf("%s/helix-ws-%d/a/b", root, i), 0o755); err != nil {
			b.Fatal(err)
		}
	}
	o := defaults()
	o.Roots = []string{root}
	s := newSource(o, hostfs.Account{Self: true}, backend.Deps{ID: "here", Deadline: time.Minute, Now: time.Now, Cleaner: backend.NewCleaner()})
	b.ReportAllocs()
	for b.Loop() {
		if r, err := s.Poll(context.Background()); err != nil || len(r.Tmpdirs) != 1000 {
			b.Fatalf("%d directories, %v", len(r.Tmpdirs), err)
		}
	}
}

func TestObjectsWithoutAPathAreSettledByTheWalk(t *testing.T) {
	id, other := hostfs.FileID{Dev: 5, Ino: 9}, hostfs.FileID{Dev: 6, Ino: 9}
	s, c := make1(t, func(o *Options) { o.Roots = []string{t.TempDir()} })
	u := hostfs.Users{Unplaced: map[hostfs.FileID]hostfs.Use{id: {PID: 4, How: hostfs.HowCwd}, other: {PID: 5}}}
	r := &row{entry: hostfs.Entry{Stat: hostfs.Stat{ID: hostfs.FileID{Dev: 5, Ino: 1}}}, walked: c.Now()}
	r.tree.Top = r.entry.Stat
	if r.holders(s, u, nil).IsKnown() || !r.due(c.Now(), time.Hour, u.Unplaced) {
		t.Error("an object that no walk looked for may lie anywhere, and a walk is due")
	}
	r.tried = map[hostfs.FileID]bool{id: true}
	if who, ok := r.holders(s, u, nil).Get(); !ok || len(who) != 0 || r.due(c.Now(), time.Hour, u.Unplaced) {
		t.Errorf("the walk did not see it: %v, %v", who, ok)
	}
	r.tree.Cut = hostfs.CutEntries
	if r.holders(s, u, nil).IsKnown() {
		t.Error("a cut walk cannot rule an object out")
	}
	r.tree.Seen = []hostfs.FileID{id}
	if who, ok := r.holders(s, u, nil).Get(); !ok || len(who) != 1 || who[0].PID != 4 {
		t.Errorf("the walk saw it: %v, %v", who, ok)
	}
}

func TestHostileNamesAreHarmless(t *testing.T) {
	root := t.TempDir()
	name := "helix-ws-\x1b]0;pwned\a\u202e\nTOKEN=abcdef123456"
	backendtest.Write(t, filepath.Join(root, name, "f"), "x")
	s, _ := make1(t, func(o *Options) { o.Roots = []string{root} })
	r := poll1(t, s)
	d := only(t, r)
	if strings.ContainsAny(d.Path.String(), "\x1b\a\n\u202e") || !strings.HasSuffix(d.RawPath.Raw(), name) {
		t.Errorf("path %q", d.Path)
	}
	b, err := json.Marshal(r.Tmpdirs)
	if err != nil || strings.ContainsAny(string(b), "\x1b\a\u202e") {
		t.Errorf("%s, %v", b, err)
	}
}

func TestANewBootIsAChange(t *testing.T) {
	s, c := make1(t, func(o *Options) { o.Roots = []string{t.TempDir()} })
	if r := poll1(t, s); len(r.Events) != 0 {
		t.Errorf("events of the first poll: %+v", r.Events)
	}
	backendtest.Write(t, s.proc.Root+"/sys/kernel/random/boot_id", "second\n")
	r := poll1(t, s)
	if len(r.Events) != 1 || r.Events[0].Kind != backend.EventChange || r.Events[0].Name != "boot" || !r.Events[0].At.Equal(c.Now()) {
		t.Errorf("events %+v", r.Events)
	}
	if r := poll1(t, s); len(r.Events) != 0 {
		t.Errorf("the same boot again: %+v", r.Events)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for key, set := range map[string]func(*Options){
		"roots: \"tmp\"":        func(o *Options) { o.Roots = []string{"tmp"} },
		"roots: no directory":   func(o *Options) { o.Roots = nil },
		"roots: \"/tmp/\"":      func(o *Options) { o.Roots = []string{"/tmp", "/tmp/"} },
		"pattern: \"a/b\"":      func(o *Options) { o.Pattern = "a/b" },
		"pattern: \"[\"":        func(o *Options) { o.Pattern = "[" },
		"max_entries: must":     func(o *Options) { o.MaxEntries = 0 },
		"walk_interval: must":   func(o *Options) { o.WalkInterval = 0 },
		"agent_user: user: unk": func(o *Options) { o.AgentUser = "no-such-user-here" },
	} {
		_, err := Kind().New(backendtest.Options[Options](set), backend.Deps{})
		if err == nil || !strings.HasPrefix(err.Error(), key) {
			t.Errorf("%q expected, got %v", key, err)
		}
	}
	s, _ := make1(t, func(o *Options) { o.AgentUser = "4242424" })
	if s.account.UID != 4242424 || s.account.GroupsKnown || s.account.Self {
		t.Errorf("account %+v", s.account)
	}
	for _, r := range s.Routes() {
		if r.Acts || r.Why == "" || r.Target == "" {
			t.Errorf("route %+v", r)
		}
	}
	if s.ID() != "here" {
		t.Errorf("id %q", s.ID())
	}
}
