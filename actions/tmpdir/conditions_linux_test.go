package tmpdir

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/fleet"
	"sandglass/backend/hostfs"
)

func TestADirectoryThatPassesEveryCondition(t *testing.T) {
	r := newRig(t)
	k := r.dir("helix-ws-a")
	c := r.look(actions.Clean, actions.Params{}, k)[0]
	if !c.Why.IsEmpty() {
		t.Fatalf("left out: %s", c.Why)
	}
	if !c.Useless || c.Name != r.root+"/helix-ws-a" || c.Bytes.Or(0) <= 0 || len(c.Loses) != 1 || c.Owner.IsEmpty() {
		t.Errorf("%+v", c)
	}
	// The advice is about the disk below the test's directory, which may be full on any machine.
	var disk unix.Statfs_t
	if err := unix.Statfs(r.root, &disk); err != nil {
		t.Fatal(err)
	}
	if full := float64(disk.Bavail) < fullDisk*float64(disk.Blocks); full == c.Advice.IsEmpty() {
		t.Errorf("advice %q where %d of %d blocks are free", c.Advice, disk.Bavail, disk.Blocks)
	}
	var names []string
	for _, f := range c.Identity {
		if names = append(names, f.Name); f.Value == "" {
			t.Errorf("%s is empty", f.Name)
		}
	}
	if got := strings.Join(names, ","); got != "path,device,inode,born,newest change" {
		t.Errorf("identity %s", got)
	}
}

func TestConditionsOfThePlace(t *testing.T) {
	r := newRig(t)
	inside := r.dir("helix-ws-a")
	deep := r.key("helix-ws-a/a")
	wantWhy(t, r.why(deep), "not a configured root")
	other := r.dir("other-ws-a")
	wantWhy(t, r.why(other), "does not match helix-ws-*")
	backendtest.Write(t, r.root+"/helix-ws-file", "x")
	wantWhy(t, r.why(r.key("helix-ws-file")), "not a directory but a file")
	if err := os.Symlink("helix-ws-a", r.root+"/helix-ws-link"); err != nil {
		t.Fatal(err)
	}
	wantWhy(t, r.why(r.key("helix-ws-link")), "a symbolic link")
	long := "helix-ws-" + strings.Repeat("x", 200)
	wantWhy(t, r.why(r.dir(long)), "too long", "209 bytes")
	again := r.dir("helix-ws-again")
	if err := os.Rename(r.root+"/helix-ws-again", r.root+"/kept"); err != nil {
		t.Fatal(err)
	}
	wantWhy(t, r.why(again), "gone")
	r.dir("helix-ws-again")
	wantWhy(t, r.why(again), "removed and made again")
	for _, raw := range []string{"x", "1:2", "1:2:rel", "1:2:/tmp/../etc", "a:2:/tmp/x", "1:2:/tmp/x\x00y"} {
		k := inside
		k.ID = backend.MustID(raw)
		wantWhy(t, r.why(k), "not a key of a scratch directory")
	}
}

func TestConditionOfTheRootsPath(t *testing.T) {
	r := newRig(t)
	k := r.dir("helix-ws-a")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(r.root, link); err != nil {
		t.Fatal(err)
	}
	s, _ := r.site.Source.(source)
	s.scratch.Roots = []string{link}
	r.site.Source = s
	wantWhy(t, r.why(k), "not a configured root", "symbolic link")
	// The key that names the link's own path.
	_, path, _ := parseKey(k)
	k.ID = backend.MustID(strings.Replace(k.ID.Raw(), path, link+"/helix-ws-a", 1))
	wantWhy(t, r.why(k), "reached through a symbolic link")
}

func TestConditionsOfOwnerAndMode(t *testing.T) {
	r := newRig(t)
	k := r.dir("helix-ws-a")
	for mode, ok := range map[os.FileMode]bool{0o700: true, 0o755: true, 0o775: false, 0o757: false, os.ModeSticky | 0o777: false} {
		if err := os.Chmod(r.root+"/helix-ws-a", mode); err != nil {
			t.Fatal(err)
		}
		if why := r.why(k); (why == "") != ok {
			t.Errorf("mode %v: %q", mode, why)
		}
	}
	if err := os.Chmod(r.root+"/helix-ws-a", 0o755); err != nil {
		t.Fatal(err)
	}
	s, _ := r.site.Source.(source)
	s.scratch.Owner = hostfs.Account{UID: 4242}
	r.site.Source = s
	wantWhy(t, r.why(k), "not to uid 4242", "agent_user")
	needsRoot(t, "gives a directory to another user")
	if err := os.Chown(r.root+"/helix-ws-a", 4242, 4242); err != nil {
		t.Fatal(err)
	}
	if why := r.why(k); why != "" {
		t.Errorf("the agent's own directory: %s", why)
	}
	// Behind sudo the directories are those of who called it.
	s.scratch.Owner = hostfs.Account{Self: true}
	r.site.Source = s
	wantWhy(t, r.why(k), "belongs to uid 4242, not to")
	r.site.Deps.Getenv = func(k string) string { return map[string]string{"SUDO_UID": "4242"}[k] }
	if why := r.why(k); why != "" {
		t.Errorf("behind sudo: %s", why)
	}
}

func TestConditionOfTheRename(t *testing.T) {
	r := newRig(t)
	k := r.dir("helix-ws-a")
	needsRoot(t, "looks as another user would")
	if err := os.Chmod(r.root, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	tl := r.tool()
	tl.self = 4242
	c := cleanTargetReader{tl}.Look(t.Context(), actions.Question{Keys: []backend.Key{k}, State: r.state, Now: r.now})
	wantWhy(t, c[0].Why.String(), "only its owner and root may rename it", "sticky")
	s := &subject{w: &hostSnapshot{t: tl}, path: "/ro/x", root: &root{fs: hostfs.Filesystem{ReadOnly: true}, dir: &hostfs.Dir{}}}
	wantWhy(t, canRename(s).String(), "/ro is mounted read-only")
}

func TestConditionOfAge(t *testing.T) {
	r := newRig(t)
	k := r.dir("helix-ws-a")
	now := r.now
	r.set = func(o *Options) { o.SessionLifetime = backend.Duration(10 * time.Minute) }
	r.now = time.Now().Add(47 * time.Hour)
	wantWhy(t, r.why(k), "ago", "2d")
	r.now = time.Now().Add(49 * time.Hour)
	if why := r.why(k); why != "" {
		t.Errorf("after 49 hours: %s", why)
	}
	r.now = time.Now().Add(time.Hour)
	ask := func(d time.Duration) string {
		return r.look(actions.Clean, actions.Params{OlderThan: d}, k)[0].Why.String()
	}
	if why := ask(30 * time.Minute); why != "" {
		t.Errorf("30 minutes were asked for: %s", why)
	}
	wantWhy(t, ask(5*time.Minute), "too short")
	// Only the newest change anywhere counts, and the top does not show it.
	r.now = now
	if err := os.WriteFile(r.root+"/helix-ws-a/a/b/g", []byte("now"), 0o644); err != nil {
		t.Fatal(err)
	}
	r.now = time.Now().Add(47 * time.Hour)
	wantWhy(t, r.why(k), "something in it changed")
	r.now = time.Now().Add(-time.Hour)
	wantWhy(t, r.why(k), "clocks")
}

func TestConditionOfTheSessionsLifetime(t *testing.T) {
	r := newRig(t)
	k := r.dir("helix-ws-a")
	r.now = time.Now().Add(72 * time.Hour) // older than clean_older_than, not than session_lifetime
	r.state.Wall = r.now
	wantWhy(t, r.why(k), "session_lifetime is 7d", "no source reads the persisted refs")
	r.state = withRefs(r, fleet.StatusOK)
	if why := r.why(k); why != "" {
		t.Errorf("no ref names it: %s", why)
	}
	r.state = withRefs(r, fleet.StatusDegraded)
	wantWhy(t, r.why(k), "session_lifetime", "refs-1 does not list all")
	r.state = withRefs(r, fleet.StatusOK)
	r.state.Sources[0].LastOK = r.now.Add(-time.Hour)
	wantWhy(t, r.why(k), "session_lifetime", "refs-1 does not list all")
	r.state = withRefs(r, fleet.StatusOK).WithListed("refs-1", backend.KindRef, time.Time{})
	wantWhy(t, r.why(k), "session_lifetime", "refs-1 does not list all")
	r.state = withRefs(r, fleet.StatusOK)
	r.state.Sources[0].About = []string{"elsewhere"}
	wantWhy(t, r.why(k), "session_lifetime", "no source reads")
	r.set = func(o *Options) { o.SessionLifetime = 0 }
	r.state = &fleet.State{}
	wantWhy(t, r.why(k), "session_lifetime is not set")
}

// withRefs is a State with a source of refs and these refs.
func withRefs(r *rig, status fleet.SourceStatus, refs ...*backend.Ref) *fleet.State {
	h := &fleet.SourceHealth{Key: backend.Key{Kind: backend.KindSource, Source: "refs-1"}, Kind: "refs", Status: status,
		Inputs: []backend.Input{backend.InputRefs}, LastOK: r.now, Interval: time.Minute}
	s := &fleet.State{Wall: r.now, Sources: []*fleet.SourceHealth{h}, Refs: fleet.NewTable[backend.Ref](refs...)}
	return s.WithListed("refs-1", backend.KindRef, r.now)
}

func ref(id string, edit func(*backend.Ref)) *backend.Ref {
	r := &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "refs-1", Parent: backend.MustID(id), ID: backend.MustID("workspace")}}}
	edit(r)
	return r
}

// TestConditionOfRefs: the directory of a paused session has no process, and only its ref says that it is wanted.
func TestConditionOfRefs(t *testing.T) {
	r := newRig(t)
	k := r.dir("helix-ws-a")
	opaque := func(text string) func(*backend.Ref) {
		return func(x *backend.Ref) { x.Opaque = backend.Clean(text, 100); x.RawOpaque = backend.MustID(text) }
	}
	for text, named := range map[string]bool{
		`{"dir":"` + r.root + `/helix-ws-a"}`: true, `{"dir":"\/tmp\/helix-ws-a"}`: true, `helix-ws-a`: true, `/tmp/helix-ws-a/sub`: true,
		`/tmp/helix-ws-ab`: false, `/tmp/helix-ws-b`: false, `my-helix-ws-a`: false, `helix-ws-ab and helix-ws-a`: true,
	} {
		r.state = withRefs(r, fleet.StatusOK, ref("paused", opaque(text)))
		if why := r.why(k); (why != "") != named {
			t.Errorf("ref %s: %q", text, why)
		} else if named {
			wantWhy(t, why, "persisted ref of paused/workspace names it")
		}
	}
	for _, edit := range []func(*backend.Ref){
		func(x *backend.Ref) { x.Sandbox = backend.MustID(r.root + "/helix-ws-a") },
		func(x *backend.Ref) { x.Namespace = backend.MustID("helix-ws-a") },
		func(x *backend.Ref) { x.Extra = []backend.Field{{Value: backend.Text("in helix-ws-a")}} },
	} {
		r.state = withRefs(r, fleet.StatusOK, ref("p", edit))
		wantWhy(t, r.why(k), "names it")
	}
	quoted := r.dir("helix-ws-a\"b")
	r.state = withRefs(r, fleet.StatusOK, ref("p", opaque(`{"dir":"/tmp/helix-ws-a\"b"}`)))
	wantWhy(t, r.why(quoted), "names it")
	// A ref that is too long to be searched makes refs unknown.
	r.now = time.Now().Add(72 * time.Hour)
	r.state = withRefs(r, fleet.StatusOK, ref("long", func(x *backend.Ref) { x.Opaque = backend.Text("…") }))
	wantWhy(t, r.why(k), "session_lifetime", "too long to be searched")
	w := &backend.Workspace{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindWorkspace, Source: "helix", Parent: backend.MustID("s"), ID: backend.MustID("box")}}}
	w.ProviderID = backend.MustID("/tmp/helix-ws-a")
	r.state = &fleet.State{Workspaces: fleet.NewTable[backend.Workspace](w)}
	wantWhy(t, r.why(k), "workspace s/box names it")
	w.ProviderID, w.Namespace = backend.ID{}, backend.MustID("helix-ws-a")
	r.state = &fleet.State{Workspaces: fleet.NewTable[backend.Workspace](w)}
	wantWhy(t, r.why(k), "workspace s/box names it")
	x := &backend.Session{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSession, Source: "helix", ID: backend.MustID("s")}}}
	x.WorkspaceRefs = []backend.Safe{backend.Text("notes: helix-ws-a")}
	r.state = &fleet.State{Sessions: fleet.NewTable[backend.Session](x)}
	wantWhy(t, r.why(k), "session s names it")
}

func TestConditionsOfProcesses(t *testing.T) {
	r := newRig(t)
	a, b := r.dir("helix-ws-a"), r.dir("helix-ws-b")
	addProcess(t, r.proc, 10, r.root+"/helix-ws-a/a")
	wantWhy(t, r.why(a), "in use by process 10 (node agent.js): cwd")
	if why := r.why(b); why != "" {
		t.Errorf("the other directory: %s", why)
	}
	// One process that does not show what it uses excludes everything, and the plan leads with it.
	addProcess(t, r.proc, 11, "/")
	if err := os.RemoveAll(r.proc + "/11/fd"); err != nil {
		t.Fatal(err)
	}
	tl := r.tool()
	look := func(self uint32) []actions.Candidate {
		tl.self = self
		return cleanTargetReader{tl}.Look(t.Context(), actions.Question{Keys: []backend.Key{a, b}, State: r.state, Now: r.now, Params: actions.Params{OlderThan: 90 * time.Hour}})
	}
	for _, c := range look(0) {
		wantWhy(t, c.Advice.String(), "0 of 2: 1 process unreadable even for root (first: process 11, node agent.js)", "CAP_SYS_PTRACE",
			"Run it on the host, outside the container and its PID namespace", "where /proc has the mount option hidepid, mount it without", "a policy file can name them: harmless = [...]")
	}
	cs := look(4242)
	wantWhy(t, cs[0].Why.String(), "process 10")
	wantWhy(t, cs[1].Why.String(), "1 of 2 processes unreadable", "process 11, node agent.js")
	for _, c := range cs {
		wantWhy(t, c.Advice.String(), "0 of 2: 1 process unreadable", `sudo sandglass clean --older-than 90h --source here --config '/etc/sandglass/it'\''s.toml'`)
	}
	tl.site.Config = "" // a machine without a configuration
	wantWhy(t, look(4242)[0].Advice.String(), `sudo sandglass clean --older-than 90h --source here --allow clean --session-lifetime `)
	r.proc = fixture(t)
	if err := os.Symlink("pid:[4026532999]", r.proc+"/self/ns/pid"); err != nil {
		t.Fatal(err)
	}
	c := r.look(actions.Clean, actions.Params{}, a)[0]
	wantWhy(t, c.Why.String(), "who uses it is not known: only the processes of this container")
	wantWhy(t, c.Advice.String(), "0 of 1: only the processes of this container", "Run it as root on the host", "hidepid, mount it without")
	r.proc = t.TempDir()
	wantWhy(t, r.why(a), "unknown")
}

// TestAPolicyNamesHarmlessProcesses: process 1 by its executable, another by its unit, and nothing by what it calls itself.
func TestAPolicyNamesHarmlessProcesses(t *testing.T) {
	r := newRig(t)
	k := r.dir("helix-ws-a")
	closed := func(pid int, program, unit string) {
		addProcess(t, r.proc, pid, "/")
		at := fmt.Sprintf("%s/%d", r.proc, pid)
		if err := os.RemoveAll(at + "/fd"); err != nil {
			t.Fatal(err)
		}
		backendtest.Write(t, at+"/cmdline", program+"\x00--addr\x00x\x00")
		backendtest.Write(t, at+"/cgroup", "0::/system.slice/"+unit+"\n")
	}
	why := func(harmless ...string) string {
		return r.look(actions.Clean, actions.Params{Harmless: strings.Join(harmless, "\n")}, k)[0].Why.String()
	}
	closed(1, "/process_api", "init.scope")
	wantWhy(t, why(), "unreadable", "process 1, /process_api")
	wantWhy(t, why("/process"), "unreadable")
	if got := why("/process_api"); got != "" {
		t.Errorf("process 1 is named by its executable: %s", got)
	}
	closed(77, "/process_api", "falco.service") // the name that a process gives itself proves nothing
	wantWhy(t, why("/process_api"), "unreadable", "process 77")
	wantWhy(t, why("/process_api", "other.service"), "process 77")
	if got := why("/process_api", "falco.service"); got != "" {
		t.Errorf("both are named: %s", got)
	}
	for pid := 100; pid < 100+hostfs.MaxClosed; pid++ {
		closed(pid, "/x", "falco.service")
	}
	wantWhy(t, why("/process_api", "falco.service"), "unreadable") // not all of so many can be named
}

// addProcess adds a process that shows everything: a shell in a directory.
func addProcess(t *testing.T, proc string, pid int, cwd string) {
	t.Helper()
	p := fmt.Sprintf("%s/%d", proc, pid)
	backendtest.Write(t, p+"/cmdline", "node\x00agent.js\x00")
	backendtest.Write(t, p+"/stat", fmt.Sprintf("%d (node) S 1 1 1 0 -1 4194560 0", pid))
	backendtest.Write(t, p+"/maps", "")
	for _, l := range [][2]string{{"mnt:[1]", "/ns/mnt"}, {cwd, "/cwd"}, {"/", "/root"}} {
		if err := os.MkdirAll(filepath.Dir(p+l[1]), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(l[0], p+l[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(p+"/fd", 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestConditionOfLocks(t *testing.T) {
	r := newRig(t)
	k := r.dir("helix-ws-a")
	st, err := hostfs.StatAt(unix.AT_FDCWD, r.root+"/helix-ws-a/a/b/g")
	if err != nil {
		t.Fatal(err)
	}
	lock := func(ino uint64) {
		backendtest.Write(t, r.proc+"/locks", fmt.Sprintf("1: FLOCK ADVISORY WRITE 77 %02x:%02x:%d 0 EOF\n", unix.Major(st.ID.Dev), unix.Minor(st.ID.Dev), ino))
	}
	lock(st.ID.Ino)
	wantWhy(t, r.why(k), "process 77 holds a lock (FLOCK)")
	lock(st.ID.Ino + 1_000_000)
	if why := r.why(k); why != "" {
		t.Errorf("somebody else's lock: %s", why)
	}
	backendtest.Write(t, r.proc+"/locks", "nonsense\n")
	wantWhy(t, r.why(k), "which files are locked is not known")
}

// withDocker is a State with an engine of these containers.
// engine is a source that says which socket it reads.
func TestConditionOfTheWholeTree(t *testing.T) {
	r := newRig(t)
	k := r.dir("helix-ws-a")
	if os.Geteuid() != 0 {
		if err := os.Chmod(r.root+"/helix-ws-a/a", 0); err != nil {
			t.Fatal(err)
		}
		wantWhy(t, r.why(k), "cannot be read", "EACCES")
		if err := os.Chmod(r.root+"/helix-ws-a/a", 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s := &subject{walked: true, stat: hostfs.Stat{ID: hostfs.FileID{Ino: 1}}, tree: hostfs.Tree{Top: hostfs.Stat{ID: hostfs.FileID{Ino: 1}}}}
	for want, edit := range map[string]func(*subject){
		"removed and made again": func(s *subject) { s.tree.Top.ID.Ino = 2 },
		"3 mount points":         func(s *subject) { s.tree.Mounts = 3 },
		"2 places in it cannot":  func(s *subject) { s.tree.Unreadable, s.tree.Unread = 2, unix.EACCES },
		"in time":                func(s *subject) { s.tree.Cut = hostfs.CutDeadline },
		"names":                  func(s *subject) { s.tree.Cut = hostfs.CutNames },
		"disk reports errors":    func(s *subject) { s.noTree = unix.EIO },
	} {
		x := *s
		edit(&x)
		wantWhy(t, wholeTree(&x).String(), want)
	}
	if why := wholeTree(s); !why.IsEmpty() {
		t.Errorf("a whole tree: %s", why)
	}
}

func TestConditionOfMountsAsTablesShowThem(t *testing.T) {
	s := &subject{w: &hostSnapshot{t: &tool{}}, uses: []hostfs.Use{{PID: 0, How: hostfs.HowPoint, Command: "at /tmp/x"}}}
	wantWhy(t, noMounts(s).String(), "mounted on it or in it", "this process")
	s.uses[0] = hostfs.Use{PID: 9, How: hostfs.HowMount, Command: "node"}
	wantWhy(t, noMounts(s).String(), "mounted elsewhere", "process 9")
	s.uses[0].How = hostfs.HowFD
	if why := noMounts(s); !why.IsEmpty() {
		t.Errorf("an open file is no mount: %s", why)
	}
}

func TestConditionOfFilesThatTheKernelUses(t *testing.T) {
	r := newRig(t)
	k := r.dir("helix-ws-a")
	tl := r.tool()
	tl.sys = t.TempDir()
	look := func() string {
		return cleanTargetReader{tl}.Look(t.Context(), actions.Question{Keys: []backend.Key{k}, State: r.state, Now: r.now})[0].Why.String()
	}
	backendtest.Write(t, tl.sys+"/block/loop3/loop/backing_file", r.root+"/helix-ws-ab/image\n")
	backendtest.Write(t, r.proc+"/swaps", "Filename Type Size Used Priority\n/dev/vdb partition 1 0 -2\n")
	if why := look(); why != "" {
		t.Errorf("others' files: %s", why)
	}
	backendtest.Write(t, tl.sys+"/block/loop3/loop/backing_file", r.root+"/helix-ws-a/a/image (deleted)\n")
	wantWhy(t, look(), "helix-ws-a/a/image is in use by loop device loop3")
	backendtest.Write(t, tl.sys+"/block/loop3/loop/backing_file", "/elsewhere\n")
	backendtest.Write(t, r.proc+"/swaps", "Filename Type Size Used Priority\n"+r.root+"/helix-ws-a/swap\\040file file 1 0 -2\n")
	wantWhy(t, look(), "helix-ws-a/swap file is in use by swap space")
}

func TestConditionOfALocalFileSystem(t *testing.T) {
	s := &subject{w: &hostSnapshot{}, stat: hostfs.Stat{MountID: 7}}
	wantWhy(t, isLocal(s).String(), "unknown")
	for kind, local := range map[string]bool{"ext4": true, "tmpfs": true, "overlay": true, "nfs4": false, "cifs": false, "fuse.sshfs": false, "virtiofs": false, "9p": false, "": false} {
		s.w.table = hostfs.Mounts{{ID: 7, FSType: kind}}
		if why := isLocal(s); why.IsEmpty() != local {
			t.Errorf("%s: %s", kind, why)
		}
	}
}

func TestConditionOfUnplacedFiles(t *testing.T) {
	id := hostfs.FileID{Dev: 1, Ino: 2}
	s := &subject{w: &hostSnapshot{t: &tool{}, users: hostfs.Users{Unplaced: map[hostfs.FileID]hostfs.Use{id: {PID: 4, How: hostfs.HowFD}}}}}
	if why := noUnplaced(s); !why.IsEmpty() {
		t.Errorf("it does not lie there: %s", why)
	}
	s.tree.Seen = []hostfs.FileID{id}
	wantWhy(t, noUnplaced(s).String(), "process 4")
}

// TestTheListIsWhole holds that the written list has no second line of a name, and that all of it is said in docs.
func TestTheListIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range conditions() {
		if seen[c.name] || c.rule == "" || c.check == nil {
			t.Errorf("condition %q stands twice or says nothing", c.name)
		}
		seen[c.name] = true
	}
	r := newRig(t)
	r.site.Source = source{}
	r.site.Options = options(nil)
	if _, missing, err := build(r.site); err != nil || len(missing) != 3 {
		t.Errorf("a pattern that is not there: %v, %v", missing, err)
	}
}

// TestWithoutOpenat2NothingIsDone: an old kernel, or a filter, as containers have.
func TestWithoutOpenat2NothingIsDone(t *testing.T) {
	for _, err := range []error{unix.ENOSYS, unix.EPERM} {
		s := &subject{path: "/tmp/helix-ws-a", root: &root{err: &os.PathError{Op: "openat2", Path: "/tmp", Err: err}}}
		wantWhy(t, inRoot(s).String(), "no openat2", "nothing is removed")
	}
	s := &subject{path: "/tmp/helix-ws-a", root: &root{err: unix.EACCES}}
	wantWhy(t, inRoot(s).String(), "/tmp cannot be opened", "EACCES")
}
