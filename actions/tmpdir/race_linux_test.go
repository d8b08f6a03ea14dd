package tmpdir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sandglass/actions"
	"sandglass/backend/backendtest"
	"sandglass/backend/hostfs"
)

// canary makes files outside of every scratch directory, and returns a function that checks that all are there, as they
// were.
func canary(t *testing.T) (dir string, check func()) {
	t.Helper()
	dir = t.TempDir()
	for i := range 20 {
		backendtest.Write(t, fmt.Sprintf("%s/keep-%d", dir, i), fmt.Sprint(i))
		backendtest.Write(t, fmt.Sprintf("%s/sub/deep/keep-%d", dir, i), fmt.Sprint(i))
	}
	return dir, func() {
		t.Helper()
		for i := range 20 {
			for _, p := range []string{"keep-%d", "sub/deep/keep-%d"} {
				if b, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf(p, i))); err != nil || string(b) != fmt.Sprint(i) {
					t.Errorf("canary %d: %q, %v", i, b, err)
				}
			}
		}
	}
}

// unmountBelow ends every mount below a directory, whoever made it.
func unmountBelow(t testing.TB, dir string) {
	t.Helper()
	for range 50 {
		table, err := hostfs.Proc{Root: "/proc"}.Mounts()
		if err != nil {
			t.Fatal(err)
		}
		found := table.Below(dir)
		if len(found) == 0 {
			return
		}
		for i := len(found) - 1; i >= 0; i-- {
			_ = unix.Unmount(found[i].Point, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW) // it may be gone meanwhile
		}
	}
	t.Errorf("mounts stay below %s", dir)
}

// swapFor exchanges directories for links, mounts, renames and makes anew below every directory of a root, as fast as it
// can, for ever. Whatever fails is tried again.
func swapFor(arg string) {
	root, rest, _ := strings.Cut(arg, ",")
	outside, canaries, _ := strings.Cut(rest, ",")
	for i := 0; ; i++ {
		entries, _ := os.ReadDir(root)
		if len(entries) == 0 {
			continue
		}
		top := filepath.Join(root, entries[i%len(entries)].Name())
		d, link, away := fmt.Sprintf("%s/d%d", top, i%5), top+"/link", fmt.Sprintf("%s/d%d", outside, i%5)
		switch i % 9 {
		case 0, 1:
			_ = os.Symlink(canaries, link)
			_ = unix.Renameat2(unix.AT_FDCWD, d, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE)
		case 2:
			if os.Rename(d, away) == nil {
				_ = os.Symlink(canaries, d)
			}
		case 3:
			_ = os.Remove(d)
			_ = os.Rename(away, d)
		case 4:
			_ = os.MkdirAll(d+"/x/y", 0o755)
			_ = os.WriteFile(d+"/x/f", []byte("x"), 0o644)
		case 5, 6:
			_ = os.Mkdir(d, 0o755)
			if i/20_000%2 == 0 && unix.Mount(canaries, d, "", unix.MS_BIND, "") == nil && i%2 == 0 {
				_ = unix.Unmount(d, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
			}
		case 7:
			_ = unix.Unmount(d, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
			_ = os.Link(canaries+"/keep-0", d+"/hard")
			_ = os.Symlink(canaries, d+"/in")
		case 8: // the directory itself
			_ = os.Symlink(canaries, outside+"/top")
			_ = unix.Renameat2(unix.AT_FDCWD, top, unix.AT_FDCWD, outside+"/top", unix.RENAME_EXCHANGE)
			_ = unix.Renameat2(unix.AT_FDCWD, top, unix.AT_FDCWD, outside+"/top", unix.RENAME_EXCHANGE)
		}
	}
}

// TestNothingOutsideIsTouchedInARace cleans for two seconds while another process exchanges everything for everything.
func TestNothingOutsideIsTouchedInARace(t *testing.T) {
	r := newRig(t)
	canaries, check := canary(t)
	outside := t.TempDir()
	t.Cleanup(func() {
		for _, dir := range []string{canaries, outside, r.root} {
			unmountBelow(t, dir)
		}
	})
	pid := backendtest.Hold(t, nil, "swap", r.root+","+outside+","+canaries)
	outcomes := map[string]int{}
	tries := func() int { return outcomes["removal true"] + outcomes["removal false"] }
	began := time.Now()
	for round := 0; time.Since(began) < 2*time.Second || tries() < 20 && time.Since(began) < 2*time.Minute; round++ {
		name := fmt.Sprintf("helix-ws-%d", round%3)
		for i := range 5 {
			for j := range 8 {
				p := fmt.Sprintf("%s/%s/d%d/s%d", r.root, name, i, j)
				_ = os.MkdirAll(p, 0o755) // the other process is at work
				_ = os.WriteFile(p+"/f", []byte("x"), 0o644)
			}
		}
		st, err := hostfs.StatAt(unix.AT_FDCWD, filepath.Join(r.root, name))
		if err != nil {
			continue
		}
		// The whole way, and besides the removal alone, without all that usually keeps it from beginning.
		c := r.look(actions.Clean, actions.Params{PurgeNow: round%2 == 0}, r.key(name))[0]
		if c.Why.IsEmpty() {
			_, err := r.act(actions.Clean, actions.Params{PurgeNow: round%2 == 0}, c)
			outcomes[fmt.Sprintf("clean %v", err == nil)]++
		}
		// Whatever waits by now, an hour later.
		due, err := (&Keeper{r.tool()}).PurgeDue(t.Context(), r.state, r.clock().Add(time.Hour), &journal{})
		if err != nil {
			outcomes["waiting unread"]++ // a link stood in the way, or a name vanished
		}
		for _, d := range due {
			outcomes[fmt.Sprintf("purge %v", d.Err == nil && d.Left.IsEmpty())]++
		}
		root, err := hostfs.OpenDirBare(r.root)
		if err != nil {
			t.Fatal(err)
		}
		err = (&removal{ctx: t.Context(), top: st}).run(root.FD(), name)
		outcomes[fmt.Sprintf("removal %v", err == nil)]++
		_ = root.Close()
	}
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Errorf("the other process had ended by itself: %v", err)
	}
	check()
	if tries() < 20 {
		t.Errorf("too few tries to prove anything: %v", outcomes)
	}
	t.Log(outcomes)
}

// TestExchangesAtTheWorstMoment does what the race hopes for, just before each step of a removal.
func TestExchangesAtTheWorstMoment(t *testing.T) {
	canaries, check := canary(t)
	for what, exchange := range map[string]func(path, spare string) error{
		"a link for whatever it is": func(path, spare string) error {
			if err := os.Rename(path, spare); err != nil {
				return err
			}
			return os.Symlink(canaries, path)
		},
		"a link to the files": func(path, spare string) error {
			if err := os.Rename(path, spare); err != nil {
				return err
			}
			return os.Symlink(canaries+"/keep-0", path)
		},
		"a directory in its place": func(path, spare string) error {
			if err := os.Rename(path, spare); err != nil {
				return err
			}
			return os.MkdirAll(path+"/new", 0o755)
		},
		"a mount on it": func(path, _ string) error {
			if os.Geteuid() != 0 {
				return nil
			}
			return unix.Mount(canaries, path, "", unix.MS_BIND, "")
		},
	} {
		for step := range 12 {
			root, spare := t.TempDir(), filepath.Join(t.TempDir(), "spare")
			for _, p := range []string{"a/b/f", "a/g", "c/h", "i"} {
				backendtest.Write(t, filepath.Join(root, "ws", p), "x")
			}
			d, st := opened(t, root, "ws")
			n := 0
			rm := &removal{ctx: t.Context(), top: st, before: func(dir int, name string) {
				if n++; n != step+1 {
					return
				}
				at, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", dir))
				if err != nil {
					t.Fatal(err)
				}
				if err := exchange(filepath.Join(at, name), spare); err != nil && os.Geteuid() == 0 && !strings.Contains(what, "mount") {
					t.Fatalf("%s before step %d: %v", what, step, err)
				}
			}}
			err := rm.run(d.FD(), "ws")
			unmountBelow(t, root)
			_ = d.Close()
			check()
			if _, lerr := os.Lstat(spare); err == nil && lerr != nil {
				if left, _ := os.ReadDir(root); len(left) != 0 {
					t.Errorf("%s before step %d: nothing failed, and %v is left", what, step, left)
				}
			}
		}
	}
}

// TestARemovalIsOfTheDirectoryThatWasHeld: another one that has its name by now is not entered.
func TestARemovalIsOfTheDirectoryThatWasHeld(t *testing.T) {
	root := t.TempDir()
	backendtest.Write(t, root+"/meant/f", "x")
	backendtest.Write(t, root+"/ws/f", "x")
	d, top := opened(t, root, "meant")
	defer func() { _ = d.Close() }()
	var changed *actions.ChangedError
	if err := (&removal{ctx: t.Context(), top: top}).run(d.FD(), "ws"); !errors.As(err, &changed) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(root + "/ws/f"); err != nil {
		t.Error(err)
	}
}
