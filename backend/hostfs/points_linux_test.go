package hostfs

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"sandglass/backend/backendtest"

	"golang.org/x/sys/unix"
)

// TestUsersSeesMountPointsOfOtherNamespaces lets a process mount something on a directory inside the target, where only
// that process sees it.
func TestUsersSeesMountPointsOfOtherNamespaces(t *testing.T) {
	if os.Geteuid() != 0 {
		needsRoot(t, "mounts in a namespace of its own")
	}
	root := t.TempDir()
	backendtest.Write(t, root+"/ws/sub/f", "x")
	backendtest.Write(t, root+"/else/inside/file", "x")
	pid := backendtest.Hold(t, func(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS} }, "bind", root+"/else,"+root+"/ws/sub")
	u, err := Proc{Root: "/proc"}.Users(t.Context(), []Target{target(t, root+"/ws")})
	if err != nil {
		t.Fatal(err)
	}
	if got := usesOf(u, 0, pid); !strings.Contains(got, string(HowPoint)) {
		t.Errorf("uses %+v, want a mount point of process %d", u.Uses[0], pid)
	}
	if st, err := os.ReadDir(root + "/ws/sub"); err != nil || len(st) != 1 || st[0].Name() != "f" {
		t.Errorf("this test assumes that the mount is seen there only: %v, %v", st, err)
	}
}

func TestUsesTellWhatSpaceTheyKeep(t *testing.T) {
	root := t.TempDir()
	backendtest.Write(t, root+"/ws/big", strings.Repeat("x", 1<<16))
	pid := backendtest.Hold(t, nil, "open-deleted", root+"/ws/big")
	u, err := Proc{Root: "/proc"}.Users(t.Context(), []Target{target(t, root+"/ws")})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range u.Uses[0] {
		if x.PID == pid && x.Deleted {
			if age := time.Since(x.Since); x.Bytes < 1<<16 || age < -2*time.Second || age > time.Minute {
				t.Errorf("%+v, want 64 KiB kept by a process that started just now", x)
			}
			return
		}
	}
	t.Errorf("uses %+v, want the deleted file of process %d", u.Uses[0], pid)
}

func TestBarePathsHaveNoLinks(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(root+"/real", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", root+"/link"); err != nil {
		t.Fatal(err)
	}
	d, err := OpenDirBare(root + "/real")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	backendtest.Write(t, root+"/real/f", "x")
	if st, err := d.Lookup("f"); err != nil || !st.Mode.IsRegular() {
		t.Errorf("%+v, %v", st, err)
	}
	for _, p := range []string{root + "/link", root + "/link/.", fmt.Sprintf("/proc/self/fd/%d", d.FD())} {
		if d, err := OpenDirBare(p); err == nil {
			_ = d.Close()
			t.Errorf("%s was opened", p)
		}
	}
}
