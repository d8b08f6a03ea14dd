package workdir

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// threads writes the status of threads into a /proc: the state's letter of each.
func threads(t *testing.T, h Host, pid, comm, states string, switches int) {
	t.Helper()
	dir := filepath.Join(h.Proc, pid)
	for i, s := range states {
		task := filepath.Join(dir, "task", fmt.Sprint(i+1))
		if err := os.MkdirAll(task, 0o755); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("Name:\t%s\nState:\t%c (x)\nvoluntary_ctxt_switches:\t%d\nnonvoluntary_ctxt_switches:\t3\n", comm, s, switches)
		if err := os.WriteFile(filepath.Join(task, "status"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "comm"), []byte(comm+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFrozenProcess(t *testing.T) {
	for states, frozen := range map[string]bool{"T": true, "D": true, "TTD": true, "ZTT": true, "S": false, "TS": false, "R": false, "t": false, "Z": false} {
		b := &Container{ID: boxID, PID: 12725}
		h := tree(t, b, "0::/docker/"+boxID+"\n", "")
		threads(t, h, "12725", "node", states, 9)
		p, ok := h.Process(b)
		if ok != (states != "Z") || p.Frozen() != frozen {
			t.Errorf("threads %s: %+v %t", states, p, ok)
		}
		var rows [][]string
		for i, s := range states {
			rows = append(rows, []string{"12725", "1", fmt.Sprint(12725 + i), string(s) + "sl", "00:00:01", "node"})
		}
		rows = append(rows, []string{"12800", "12725", "12800", "S", "00:00:00", "sh"})
		p, ok = ProcessOf(b, []string{"PID", "PPID", "LWP", "STAT", "TIME", "COMMAND"}, rows)
		if ok != (states != "Z") || p.Frozen() != frozen {
			t.Errorf("ps of threads %s: %+v %t", states, p, ok)
		}
	}
}

// TestThreadThatRanInBetween: the states are the same, and it was not frozen.
func TestThreadThatRanInBetween(t *testing.T) {
	b := &Container{ID: boxID, PID: 12725}
	h := tree(t, b, "0::/docker/"+boxID+"\n", "")
	threads(t, h, "12725", "node", "D", 9)
	first, _ := h.Process(b)
	again, _ := h.Process(b)
	threads(t, h, "12725", "node", "D", 10)
	later, _ := h.Process(b)
	if first.Ran != again.Ran || first.Ran == later.Ran {
		t.Errorf("%q, %q, %q", first.Ran, again.Ran, later.Ran)
	}
}

// TestInitProgram: what it started is the main process.
func TestInitProgram(t *testing.T) {
	b := &Container{ID: boxID, PID: 12725}
	h := tree(t, b, "0::/docker/"+boxID+"\n", "")
	threads(t, h, "12725", "tini", "S", 1)
	threads(t, h, "12730", "node", "TT", 1)
	if err := os.MkdirAll(filepath.Join(h.Proc, "12725", "task", "12725"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.Proc, "12725", "task", "12725", "children"), []byte("12730 "), 0o600); err != nil {
		t.Fatal(err)
	}
	if p, ok := h.Process(b); !ok || !p.Frozen() {
		t.Errorf("%+v %t", p, ok)
	}
	p, ok := ProcessOf(b, []string{"PID", "PPID", "LWP", "STAT", "TIME", "COMMAND"}, [][]string{
		{"12725", "1", "12725", "Ss", "00:00:00", "docker-init"}, {"12730", "12725", "12730", "Tl", "00:00:03", "node"}})
	if !ok || !p.Frozen() {
		t.Errorf("ps: %+v %t", p, ok)
	}
	if _, ok := ProcessOf(b, []string{"PID", "PPID", "LWP", "STAT", "TIME", "COMMAND"}, [][]string{{"1", "0", "1", "T", "00:00:00", "node"}}); ok {
		t.Error("a process with another number is the main process")
	}
	if _, ok := (Host{Proc: t.TempDir()}).Process(b); ok {
		t.Error("a process of another machine is seen")
	}
}

// answers are what an engine says of paths: a mode, or a link's target; else 404.
type answers map[string]any

func (a answers) stat(_ context.Context, p string) (fs.FileMode, string, error) {
	switch x := a[p].(type) {
	case fs.FileMode:
		return x, "", nil
	case string:
		return fs.ModeSymlink | 0o777, x, nil
	case error:
		return 0, "", x
	}
	return 0, "", fs.ErrNotExist
}

func TestLookThroughTheEngine(t *testing.T) {
	dir := fs.ModeDir | 0o755
	far := Host{Proc: t.TempDir(), Passive: true}
	for name, x := range map[string]struct {
		box    Container
		says   answers
		state  State
		target string
	}{
		"there":                        {Container{Dir: "/work"}, answers{"/work": dir}, There, ""},
		"missing":                      {Container{Dir: "/work"}, answers{}, Missing, ""},
		"missing below a directory":    {Container{Dir: "/a/b/c"}, answers{"/a": dir}, Missing, ""},
		"a file":                       {Container{Dir: "/work"}, answers{"/work": fs.FileMode(0o644)}, Other, ""},
		"dangling":                     {Container{Dir: "/work"}, answers{"/work": "/gone"}, Dangling, "/gone"},
		"a link":                       {Container{Dir: "/work"}, answers{"/work": "/x", "/x": dir}, Link, "/x"},
		"a link to a file":             {Container{Dir: "/work"}, answers{"/work": "/x", "/x": fs.FileMode(0o644)}, Other, "/x"},
		"a link into memory":           {Container{Dir: "/work"}, answers{"/work": "/dev/shm/x"}, Unseen, "/dev/shm/x"},
		"in memory":                    {Container{Dir: "/dev/shm/x"}, answers{}, Unseen, ""},
		"through a link into memory":   {Container{Dir: "/a/x"}, answers{"/a": "/dev/shm"}, Unseen, ""},
		"through a link":               {Container{Dir: "/a/x"}, answers{"/a": "/b", "/b": dir}, Missing, ""},
		"through a link to nothing":    {Container{Dir: "/d/a/x"}, answers{"/d": dir, "/d/a": "/gone"}, Dangling, "/gone/x"},
		"on a tmpfs":                   {Container{Dir: "/work/x", Mounts: []Mount{{Kind: "tmpfs", Dest: "/work"}}}, answers{}, Unseen, ""},
		"beside a bind mount":          {Container{Dir: "/work", Mounts: []Mount{{Kind: "bind", Source: "/s", Dest: "/d"}}}, answers{"/work": dir}, Unseen, ""},
		"on a volume":                  {Container{Dir: "/work", Mounts: []Mount{{Kind: "volume", Dest: "/work"}}}, answers{"/work": dir}, There, ""},
		"it mounts itself, missing":    {Container{Dir: "/work", Mounter: true}, answers{}, Unseen, ""},
		"it mounts itself, there":      {Container{Dir: "/work", Mounter: true}, answers{"/work": dir}, There, ""},
		"a runtime of its own":         {Container{Dir: "/work", Runtime: "runsc"}, answers{}, Unseen, ""},
		"a runtime of its own, no 404": {Container{Dir: "/work", Runtime: "kata"}, answers{"/work": dir}, Unseen, ""},
	} {
		r, err := far.Look(t.Context(), &x.box, x.says.stat)
		if err != nil || r.State != x.state || r.Target != x.target {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if asked := strings.Join(r.Looked, " "); x.state == Unseen && x.target == "" && len(x.box.Mounts) > 0 && asked != "" {
			t.Errorf("%s: asked for %s", name, asked)
		}
	}
}

// TestDenied: a directory that certainly cannot be entered, by the mode alone or by its owner as this machine shows it.
func TestDenied(t *testing.T) {
	far := Host{Proc: t.TempDir()}
	for user, denied := range map[string]bool{"": false, "root": false, "0:0": false, "1000": true, "1000:1000": true, "agent": false} {
		_, is := far.Denied(&Container{Dir: "/work", User: user}, Root{State: There, Mode: fs.ModeDir | 0o600})
		if is != denied {
			t.Errorf("user %q and mode 0600: %t", user, is)
		}
	}
	if _, is := far.Denied(&Container{Dir: "/work", User: "1000"}, Root{State: There, Mode: fs.ModeDir | 0o700}); is {
		t.Error("mode 0700 says nothing without an owner")
	}
	uid, gid := os.Getuid(), os.Getgid()
	for _, x := range []struct {
		user   int
		mode   fs.FileMode
		group  int
		denied bool
	}{
		{uid + 1000, 0o700, gid + 1000, true}, {uid + 1000, 0o701, gid + 1000, false}, {uid + 1000, 0o750, gid + 1000, false},
		{uid + 1000, 0o701, gid, true}, {uid + 1000, 0o755, gid, false},
	} {
		b := &Container{ID: boxID, PID: 12725, Dir: "/work", User: fmt.Sprint(x.user)}
		h := tree(t, b, "0::/docker/"+boxID+"\n", "20 1 0:19 / / rw - overlay overlay rw\n")
		root := filepath.Join(h.Proc, "12725", "root")
		if err := os.MkdirAll(filepath.Join(root, "work"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(root, "work"), x.mode); err != nil {
			t.Fatal(err)
		}
		status := fmt.Sprintf("Uid:\t%d\t%d\t%d\t%d\nGid:\t%d\t%d\t%d\t%d\nGroups:\t\n", x.user, x.user, x.user, x.user, x.group, x.group, x.group, x.group)
		for name, text := range map[string]string{"uid_map": "         0          0 4294967295\n", "status": status} {
			if err := os.WriteFile(filepath.Join(h.Proc, "12725", name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if d, is := h.Denied(b, Root{State: There, Mode: fs.ModeDir | x.mode}); is != x.denied {
			t.Errorf("%+v: %t %s", x, is, d)
		}
		b.Dir = "/work/gone"
		if d, is := h.Denied(b, Root{State: Missing}); is != (x.denied || x.mode&0o002 == 0) {
			t.Errorf("%+v: make it: %t %s", x, is, d)
		}
		b.Dir = "/work"
	}
}
