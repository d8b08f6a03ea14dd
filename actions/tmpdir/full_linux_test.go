package tmpdir

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"sandglass/actions"
	"sandglass/backend/backendtest"
	"sandglass/backend/hostfs"
	"sandglass/internal/skip"
)

func TestOnAFullDisk(t *testing.T) {
	needsRoot(t, "mounts a small file system")
	r := newRig(t)
	small := t.TempDir()
	if err := unix.Mount("tmpfs", small, "tmpfs", 0, "size=2m,nr_inodes=200,mode=0755"); err != nil {
		skip.Without(t, "root", "mounting is not allowed: "+err.Error())
	}
	t.Cleanup(func() { unmountBelow(t, small) })
	r.root = small
	s, _ := r.site.Source.(source)
	s.scratch.Roots = []string{small}
	r.site.Source = s
	r.proc = fixture(t)
	k := r.dir("helix-ws-a")
	backendtest.Write(t, small+"/helix-ws-a/big", strings.Repeat("x", 1<<20))
	fill(t, small)
	c := r.look(actions.Clean, actions.Params{}, k)[0]
	wantWhy(t, c.Advice.String(), "only 0.0 % free below "+small, "choose purge")
	if !c.Why.IsEmpty() {
		t.Fatal(c.Why)
	}
	if done, err := r.act(actions.Clean, actions.Params{}, c); err != nil || done.Moved < 1<<20 {
		t.Fatalf("%+v, %v", done, err)
	}
	if _, err := r.do(actions.Undo, actions.Params{}, k); err != nil {
		t.Fatal(err)
	}
	if _, err := r.do(actions.Clean, actions.Params{}, k); err != nil {
		t.Fatal(err)
	}
	if done, err := r.do(actions.Purge, actions.Params{}, k); err != nil || done.Freed < 1<<20 {
		t.Fatalf("%+v, %v", done, err)
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(small, &fs); err != nil || int64(fs.Bavail)*fs.Bsize < 1<<20 {
		t.Errorf("%d blocks are free, %v", fs.Bavail, err)
	}
}

func TestOnAFullExt4(t *testing.T) {
	needsRoot(t, "mounts a small file system")
	mkfs, err := exec.LookPath("mkfs.ext4")
	if err != nil {
		skip.Without(t, "ext4", err.Error())
	}
	image, mnt := t.TempDir()+"/image", t.TempDir()
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(mkfs, "-q", "-F", "-m", "0", "-b", "1024", "-N", "300", image, "16M").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := exec.Command("mount", "-o", "loop", image, mnt).CombinedOutput(); err != nil {
		skip.Without(t, "root", "mounting is not allowed: "+string(out))
	}
	t.Cleanup(func() { unmountBelow(t, mnt) })
	for _, beside := range []int{0, 18, 19, 20, 40} { // how full the root's last block is
		r := newRig(t)
		r.root = mnt
		r.site.Source = source{scratch: hostfs.Scratch{Roots: []string{mnt}, Pattern: "helix-ws-*", Owner: hostfs.Account{Self: true}}}
		r.proc = fixture(t)
		k := r.dir("helix-ws-a")
		backendtest.Write(t, mnt+"/helix-ws-a/big", strings.Repeat("x", 1<<20))
		for i := range beside {
			if err := os.MkdirAll(fmt.Sprintf("%s/beside-%d-0123456789abcdef", mnt, i), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		fill(t, mnt)
		c := r.look(actions.Clean, actions.Params{}, k)[0]
		done, err := r.act(actions.Clean, actions.Params{}, c)
		if err != nil {
			t.Logf("%d beside: %v", beside, err)
			wantWhy(t, err.Error(), "ENOSPC", "choose purge")
			if got := r.key("helix-ws-a"); got != k {
				t.Errorf("it is another directory: %v", got)
			}
			done, err = r.do(actions.Clean, actions.Params{PurgeNow: true}, k)
		} else {
			done, err = r.do(actions.Purge, actions.Params{}, k)
		}
		if err != nil || done.Freed < 1<<20 || slices.ContainsFunc(r.names(), func(n string) bool { return strings.Contains(n, "helix-ws") }) {
			t.Errorf("%d beside: %+v, %v", beside, done, err)
		}
		for _, n := range r.names() {
			if n != "lost+found" {
				if err := os.RemoveAll(filepath.Join(mnt, n)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func fill(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(dir + "/ballast")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for i := 0; ; i++ {
		f, err := os.Create(fmt.Sprintf("%s/inode-%d", dir, i))
		if errors.Is(err, unix.ENOSPC) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
	}
	at := int64(0)
	for size := int64(1 << 20); size >= 1<<9; size /= 2 {
		for ; unix.Fallocate(int(f.Fd()), 0, at, size) == nil; at += size {
		}
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil || fs.Bavail > 1 || fs.Ffree != 0 {
		t.Fatalf("%d blocks and %d inodes are free, %v", fs.Bavail, fs.Ffree, err)
	}
}
