package hostfs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sandglass/backend/backendtest"

	"golang.org/x/sys/unix"
)

func target(t *testing.T, path string) Target {
	t.Helper()
	d := openDir(t, path)
	return Target{Path: d.Path(), ID: d.Stat().ID, MountID: d.Stat().MountID}
}

// real looks at the processes of this machine.
func real(t *testing.T, targets ...Target) Users {
	t.Helper()
	u, err := Proc{Root: "/proc"}.Users(t.Context(), targets)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func usesOf(u Users, i, pid int) string {
	var out []string
	for _, x := range u.Uses[i] {
		if x.PID == pid {
			how := string(x.How)
			if x.Deleted {
				how += " deleted"
			}
			out = append(out, how)
		}
	}
	return strings.Join(out, ",")
}

func TestUsersOfRealProcesses(t *testing.T) {
	root := t.TempDir()
	for _, n := range []string{"cwd", "deepfd", "deleted", "free", "exe"} {
		backendtest.Write(t, root+"/"+n+"/a/b/c/file", "x")
	}
	backendtest.Write(t, root+"/cwd-other/file", "x") // its name starts like another's
	bin, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(root+"/exe/a/bin", bin, 0o755); err != nil {
		t.Fatal(err)
	}
	cwd := backendtest.Hold(t, nil, "chdir", root+"/cwd/a")
	fd := backendtest.Hold(t, nil, "open", root+"/deepfd/a/b/c/file")
	deleted := backendtest.Hold(t, nil, "open-deleted", root+"/deleted/a/b/c/file")
	exe := backendtest.Hold(t, func(c *exec.Cmd) { c.Path = root + "/exe/a/bin" }, "chdir", "/")
	var targets []Target
	for _, n := range []string{"cwd", "deepfd", "deleted", "free", "exe", "cwd-other"} {
		targets = append(targets, target(t, root+"/"+n))
	}
	u := real(t, targets...)
	for _, c := range []struct {
		i, pid int
		want   string
	}{{0, cwd, "cwd"}, {1, fd, "fd"}, {2, deleted, "fd deleted"}, {4, exe, "exe,map"}} {
		if got := usesOf(u, c.i, c.pid); got != c.want {
			t.Errorf("%s: process %d uses it as %q, want %q", targets[c.i].Path, c.pid, got, c.want)
		}
	}
	for _, free := range []int{3, 5} {
		if len(u.Uses[free]) != 0 {
			t.Errorf("%s: used by %+v, want nobody", targets[free].Path, u.Uses[free])
		}
	}
	if u.Uses[0][0].Command == "" || u.Processes < 4 {
		t.Errorf("command %q, %d processes", u.Uses[0][0].Command, u.Processes)
	}
}

func TestUsersBeyondThePathLimitAreForTheWalk(t *testing.T) {
	root := t.TempDir()
	deepTree(t, root+"/ws", deepLevels)
	pid := backendtest.Hold(t, nil, "chdir-deep", root+"/ws")
	u := real(t, target(t, root+"/ws"))
	if len(u.Uses[0]) != 0 {
		t.Logf("the kernel printed a path of more than a page: %+v", u.Uses[0])
	}
	watch := map[FileID]bool{}
	for id, use := range u.Unplaced {
		if use.PID == pid {
			watch[id] = true
		}
	}
	if len(watch) != 1 {
		t.Fatalf("unplaced objects of %d: %v in %v, want its working directory", pid, watch, u.Unplaced)
	}
	if tree := walkIn(t, root, "ws", WalkOptions{Watch: watch}); len(tree.Seen) != 1 {
		t.Errorf("the walk saw %v of %v", tree.Seen, watch)
	}
}

func TestUsersInAnotherMountNamespace(t *testing.T) {
	needsMounts(t)
	root := t.TempDir()
	backendtest.Write(t, root+"/ws/inside/file", "x")
	backendtest.Write(t, root+"/free/inside/file", "x")
	if err := os.Mkdir(root+"/elsewhere", 0o755); err != nil {
		t.Fatal(err)
	}
	usedFromOwnMounts(t, root, "mount,fd", "bind", root+"/ws,"+root+"/elsewhere") // and the file opened through it
}

// usedFromOwnMounts checks that a process with a mount namespace of its own, in a role, uses root/ws in these ways and
// that nobody uses root/free.
func usedFromOwnMounts(t *testing.T, root, want string, role ...string) {
	t.Helper()
	pid := backendtest.Hold(t, func(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS} }, role...)
	u := real(t, target(t, root+"/ws"), target(t, root+"/free"))
	if got := usesOf(u, 0, pid); got != want {
		t.Errorf("uses %q, want %q", got, want)
	}
	if len(u.Uses[1]) != 0 {
		t.Errorf("the other directory is used by %+v", u.Uses[1])
	}
}

func TestWalkStopsAtABindMountOfTheSameFileSystem(t *testing.T) {
	needsMounts(t)
	root := t.TempDir()
	backendtest.Write(t, root+"/precious/file", "x")
	backendtest.Write(t, root+"/ws/f", "x")
	for _, n := range []string{"ws/dir", "ws/top"} {
		if err := os.Mkdir(root+"/"+n, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	backendtest.Write(t, root+"/ws/file", "x")
	mount(t, root+"/precious", root+"/ws/dir")
	mount(t, root+"/precious/file", root+"/ws/file")
	tree := walkIn(t, root, "ws", WalkOptions{})
	if tree.Mounts != 2 || tree.Whole() || tree.Entries != 2 {
		t.Errorf("%+v, want two mounts that are not entered and two entries", tree)
	}
	// Without openat2 the comparison after opening must do.
	o := opener{noOpenat2: true}
	if fd, err := o.child(openDir(t, root+"/ws").fd(), "dir", tree.Top); err != errCrossed {
		t.Errorf("opened %d, %v, want %v", fd, err, errCrossed)
	}
	mount(t, root+"/precious", root+"/ws")
	if _, err := Walk(t.Context(), openDir(t, root), "ws", WalkOptions{}); err == nil {
		t.Error("a directory that is a mount point was walked")
	}
}

// needsMounts skips a test, as needsRoot does, where this process may not mount.
func needsMounts(t *testing.T) {
	t.Helper()
	if id := os.Geteuid(); id != 0 {
		needsRoot(t, fmt.Sprintf("user id is %d", id))
	}
	if !hasCapability(unix.CAP_SYS_ADMIN) {
		needsRoot(t, "it is not effective")
	}
}

func mount(t *testing.T, from, to string) {
	t.Helper()
	if err := unix.Mount(from, to, "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(to, unix.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", to, err)
		}
	})
}

// fixture builds a /proc tree around a mount table of a file system "8:1" mounted at "/".
func fixture(t *testing.T) string {
	t.Helper()
	proc := t.TempDir()
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	backendtest.Write(t, proc+"/self/mountinfo", string(table))
	link(t, "mnt:[1]", proc+"/self/ns/mnt")
	return proc
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

func addProcess(t *testing.T, proc, pid, cwd, maps string) {
	t.Helper()
	p := proc + "/" + pid
	backendtest.Write(t, p+"/cmdline", "node\x00agent.js\x00")
	backendtest.Write(t, p+"/stat", pid+" (no) de)) S 1 1 1 0 -1 4194560 0")
	backendtest.Write(t, p+"/maps", maps)
	link(t, "mnt:[1]", p+"/ns/mnt")
	link(t, cwd, p+"/cwd")
	link(t, "/", p+"/root")
	if err := os.Mkdir(p+"/fd", 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestUsersOfFixtureTrees(t *testing.T) {
	root := t.TempDir()
	backendtest.Write(t, root+"/ws/sub/f", "x")
	backendtest.Write(t, root+"/free/f", "x")
	proc := fixture(t)
	addProcess(t, proc, "10", root+"/ws/sub", "")
	addProcess(t, proc, "11", "/", "7f00-7f01 r-xp 00000000 08:01 7   "+root+"/ws/lib\\012so (deleted)\n7f02-7f03 rw-p 0 00:00 0 [heap]\n")
	link(t, "socket:[99]", proc+"/11/fd/3")
	addProcess(t, proc, "12", root+"/ws", "")
	backendtest.Write(t, proc+"/12/stat", "12 (kworker/0:1) I 2 0 0 0 -1 69238880 0") // a kernel thread has no files
	addProcess(t, proc, "13", root+"/ws", "")
	backendtest.Write(t, proc+"/13/stat", "13 (node) Z 1 1 1 0 -1 4194560 0") // has ended
	addProcess(t, proc, "14", root+"/ws", "")
	p := Proc{Root: proc, deny: func(path string) error {
		if path == proc+"/14/ns/mnt" {
			return unix.EACCES
		}
		return nil
	}}
	u, err := p.Users(t.Context(), []Target{target(t, root+"/ws"), target(t, root+"/free")})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(usesOf(u, 0, 10), " ", usesOf(u, 0, 11)); got != "cwd map deleted" || len(u.Uses[0]) != 2 {
		t.Errorf("uses %q of %+v, want cwd of 10 and a deleted map of 11", got, u.Uses[0])
	}
	if u.Uses[0][0].Command != "node agent.js" {
		t.Errorf("command %q", u.Uses[0][0].Command)
	}
	if u.Processes != 3 || u.Unreadable != 1 || len(u.Closed) != 1 || u.Closed[0].PID != 14 || u.Closed[0].Command != "node agent.js" {
		t.Errorf("%d processes, %d unreadable (%+v), want 3 and 1, which is 14", u.Processes, u.Unreadable, u.Closed)
	}
	if len(u.Uses[1]) != 0 {
		t.Errorf("the free directory is used by %+v", u.Uses[1])
	}
}

func TestUsersSeesMountsOfUnreadableProcesses(t *testing.T) {
	root := t.TempDir()
	backendtest.Write(t, root+"/ws/sub/f", "x")
	ws := target(t, root+"/ws")
	proc := fixture(t)
	own, err := Proc{Root: "/proc"}.Mounts()
	if err != nil {
		t.Fatal(err)
	}
	m, ok := own.ByID(ws.MountID)
	if !ok {
		m, _ = own.At(ws.Path)
	}
	addProcess(t, proc, "20", "/", "")
	escaped := strings.ReplaceAll(m.Inside(ws.Path+"/sub"), " ", `\040`)
	backendtest.Write(t, proc+"/20/mountinfo", fmt.Sprintf("900 1 %s %s /workspace rw - ext4 /dev/x rw\n", m.Dev, escaped))
	addProcess(t, proc, "21", "/", "")
	backendtest.Write(t, proc+"/21/mountinfo", fmt.Sprintf("901 1 %s %s//deleted /workspace rw - ext4 /dev/x rw\n", m.Dev, m.Inside(ws.Path)))
	p := Proc{Root: proc, deny: func(path string) error {
		if strings.HasSuffix(path, "/ns/mnt") && !strings.Contains(path, "self") {
			return unix.EACCES
		}
		return nil
	}}
	u, err := p.Users(t.Context(), []Target{ws})
	if err != nil {
		t.Fatal(err)
	}
	if got := usesOf(u, 0, 20); got != "mount" || len(u.Uses[0]) != 1 || u.Unreadable != 2 {
		t.Errorf("uses %+v, %d unreadable, want the mount of 20 only and 2", u.Uses[0], u.Unreadable)
	}
}

func TestUsersSaysWhenItIsBlind(t *testing.T) {
	proc := fixture(t)
	addProcess(t, proc, "30", "/", "")
	link(t, "pid:[4026532999]", proc+"/self/ns/pid")
	u, err := Proc{Root: proc}.Users(t.Context(), nil)
	if err != nil || !strings.Contains(u.Blind, "container") {
		t.Errorf("blind %q, %v in a container's process namespace", u.Blind, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	u, err = Proc{Root: fixtureWith(t, "30")}.Users(ctx, nil)
	if err != nil || !strings.Contains(u.Blind, "time") {
		t.Errorf("blind %q, %v without time", u.Blind, err)
	}
	if _, err := (Proc{Root: t.TempDir()}).Users(t.Context(), nil); err == nil {
		t.Error("no mount table, and no error")
	}
}

func TestHides(t *testing.T) {
	for super, want := range map[string]bool{"rw": false, "rw,hidepid=0": false, "rw,hidepid=1": false, "rw,hidepid=noaccess": false,
		"rw,hidepid=2": true, "rw,gid=4,hidepid=invisible": true, "rw,hidepid=ptraceable": true, "rw,hidepid=off": false} {
		if got := hidesProcesses(Mount{FSType: "proc", Super: super}); got != want {
			t.Errorf("%s: %v, want %v", super, got, want)
		}
	}
}

func fixtureWith(t *testing.T, pid string) string {
	proc := fixture(t)
	addProcess(t, proc, pid, "/", "")
	return proc
}

func BenchmarkUsers(b *testing.B) {
	var targets []Target
	root := b.TempDir()
	for i := range 1000 {
		p := fmt.Sprintf("%s/ws-%d", root, i)
		if err := os.Mkdir(p, 0o755); err != nil {
			b.Fatal(err)
		}
		st, err := statPath(p)
		if err != nil {
			b.Fatal(err)
		}
		targets = append(targets, Target{Path: p, ID: st.ID, MountID: st.MountID})
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (Proc{Root: "/proc"}).Users(context.Background(), targets); err != nil {
			b.Fatal(err)
		}
	}
}
