package hostfs

import (
	"maps"
	"os"
	"slices"
	"testing"

	"sandglass/backend/backendtest"
)

// What follows are ways to use a directory that neither the first thread's links nor a mount's root show.

func TestUsersSeesWhatOneThreadHasForItself(t *testing.T) {
	root := t.TempDir()
	backendtest.Write(t, root+"/ws/sub/file", "x")
	pid := backendtest.Hold(t, nil, "thread", root+"/ws/sub")
	if got := usesOf(real(t, target(t, root+"/ws")), 0, pid); got != "cwd,fd" {
		t.Errorf("uses %q, want the working directory and the file of one thread", got)
	}
}

// TestUsersOfAProcessWhoseFirstThreadEnded: the others go on, and hold what they opened.
func TestUsersOfAProcessWhoseFirstThreadEnded(t *testing.T) {
	root := t.TempDir()
	backendtest.Write(t, root+"/ws/f", "x")
	proc := fixture(t)
	addProcess(t, proc, "40", "/", "")
	ended := func(pid, stat string) {
		backendtest.Write(t, proc+"/"+pid+"/stat", pid+stat)
		for _, gone := range []string{"cwd", "root", "ns/mnt"} {
			if err := os.Remove(proc + "/" + pid + "/" + gone); err != nil {
				t.Fatal(err)
			}
		}
	}
	ended("40", " (node) Z 1 1 1 0 -1 4228108 0")
	addProcess(t, proc+"/40/task", "41", root+"/ws", "")
	addProcess(t, proc, "42", "/", "") // about to end: it has let go of everything, and is no zombie yet
	ended("42", " (vet) R 1 1 1 0 -1 4194564 0")
	addProcess(t, proc, "43", "/", "") // shows nothing, and does not end
	ended("43", " (odd) S 1 1 1 0 -1 4194560 0")
	u, err := Proc{Root: proc}.Users(t.Context(), []Target{target(t, root+"/ws")})
	if err != nil {
		t.Fatal(err)
	}
	if got := usesOf(u, 0, 40); got != "cwd" {
		t.Errorf("uses %q of %+v, want the working directory of the thread that is left", got, u.Uses[0])
	}
	if u.Processes != 2 || u.Unreadable != 1 || u.Closed[0].PID != 43 {
		t.Errorf("%d processes, %d unreadable (%+v), want 2, and of these 43", u.Processes, u.Unreadable, u.Closed)
	}
}

func TestUsersSeesBoundSockets(t *testing.T) {
	root := t.TempDir()
	for _, n := range []string{"near", "far", "free"} {
		backendtest.Write(t, root+"/"+n+"/sub/file", "x")
	}
	near := backendtest.Hold(t, nil, "listen", root+"/near/sub/s")
	far := backendtest.Hold(t, nil, "listen-relative", root+"/far/sub/agent.sock")
	u := real(t, target(t, root+"/near"), target(t, root+"/far"), target(t, root+"/free"))
	if got := usesOf(u, 0, near); got != "socket" {
		t.Errorf("uses %q, want the socket that is bound there", got)
	}
	if use, ok := u.Unlocated["agent.sock"]; !ok || use.PID != far || use.Command == "" {
		t.Errorf("%+v, want the socket that process %d bound by a relative name", u.Unlocated, far)
	}
	if len(u.Uses[1])+len(u.Uses[2]) != 0 {
		t.Errorf("%+v", u.Uses)
	}
	if tree := walkIn(t, root, "far", WalkOptions{}); !tree.Sockets["agent.sock"] || len(tree.Sockets) != 1 {
		t.Errorf("the walk saw %v", tree.Sockets)
	}
}

func TestParseUnix(t *testing.T) {
	got := parseUnix("Num       RefCount Protocol Flags    Type St Inode Path\n" +
		"0000000000000000: 00000002 00000000 00010000 0001 01 10842 /run/a b: c.sock\n" +
		"0000000000000000: 00000003 00000000 00000000 0001 03  9120\n" +
		"0000000000000000: 00000002 00000000 00010000 0001 01 9121 @abstract\n" +
		"ffff888103a2e000: 00000002 00000000 00010000 0001 01 77 /tmp/two\nlines/s\n" +
		"0000000000000000: 00000002 00000000 00010000 0001 01 78 ./rel\n" +
		"nonsense\n")
	want := map[string]string{"10842": "/run/a b: c.sock", "77": "/tmp/two\nlines/s", "78": "./rel\nnonsense"}
	if !maps.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzParseUnix(f *testing.F) {
	f.Add("0000000000000000: 00000002 00000000 00010000 0001 01 10842 /run/a\nb\n")
	f.Fuzz(func(t *testing.T, text string) {
		for ino, name := range parseUnix(text) {
			if ino == "" || name == "" || name[0] == '@' {
				t.Errorf("%q: %q", ino, name)
			}
		}
	})
}

func TestUsersSeesLayersOfAnOverlay(t *testing.T) {
	needsMounts(t)
	root := t.TempDir()
	for _, n := range []string{"ws/lower", "else", "at", "free/x"} {
		backendtest.Write(t, root+"/"+n+"/file", "x")
	}
	usedFromOwnMounts(t, root, "mount", "overlay", root+"/ws/lower,"+root+"/else,"+root+"/at") // as a layer
}

// TestUsersSeesWhatAMountIsMadeOf, as tables tell it: through a link, in other words, from an image.
func TestUsersSeesWhatAMountIsMadeOf(t *testing.T) {
	root := t.TempDir()
	backendtest.Write(t, root+"/ws/image", "x")
	ws := target(t, root+"/ws")
	link(t, "ws", root+"/link")
	for super, want := range map[string]int{
		"overlay none rw,lowerdir=/l:" + root + "/ws/image":       1,
		"overlay none rw,lowerdir+=/l,datadir+=" + root + "/ws":   1,
		"overlay none rw,upperdir=" + root + "/link/u,workdir=/w": 0, // it leads nowhere
		"overlay none rw,upperdir=" + root + "/link,workdir=/w":   1,
		"overlay none rw,lowerdir=/l:" + root + "/wsx":            0,
		"erofs " + root + "/ws/image ro":                          1,
		"erofs /dev/loop7 ro":                                     0,
	} {
		proc := fixture(t)
		table, err := os.ReadFile(proc + "/self/mountinfo")
		if err != nil {
			t.Fatal(err)
		}
		backendtest.Write(t, proc+"/self/mountinfo", string(table)+"99901 1 0:99 / /somewhere rw - "+super+"\n")
		u, err := Proc{Root: proc}.Users(t.Context(), []Target{ws})
		if err != nil {
			t.Fatal(err)
		}
		if got := u.Uses[0]; len(got) != want || want == 1 && (got[0].How != HowMount || got[0].Command != "mounted at /somewhere") {
			t.Errorf("%s: %+v, want %d", super, got, want)
		}
	}
}

func TestLayersAreReadAsTheyWereWritten(t *testing.T) {
	for super, want := range map[string][]string{
		`rw,lowerdir=/a:/b\134:c:/d,upperdir=/u\054v,workdir=/w\075x,index=off`: {"/a", "/b:c", "/d", "/u,v", "/w=x"},
		`rw,lowerdir=/a::/data`:            {"/a", "/data"},
		`rw,lowerdir+=/x:y,datadir+=/z`:    {"/x:y", "/z"},
		`rw,lowerdir=l/AB:l/CD,upperdir=u`: nil, // relative: nobody remembers to what
		`rw,xino=on`:                       nil,
	} {
		m, err := ParseMounts([]byte("1 0 0:9 / /m rw - overlay o " + super + "\n"))
		if err != nil || !slices.Equal(m[0].Layers, want) {
			t.Errorf("%s: %q, %v, want %q", super, m[0].Layers, err, want)
		}
	}
}
