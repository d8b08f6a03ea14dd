package hostfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// What two tasks can share, as kcmp(2) numbers it.
const (
	kcmpFiles = 2 // descriptors
	kcmpFS    = 3 // working directory and root, and with them the mount namespace
)

// threads looks at what the other threads of a process do not share with the first, and returns how many there are. They
// share everything unless they called unshare(2), as file servers and container tools do. alone: the first thread has
// ended.
func (f *processScan) threads(pid int, id string, alone bool) (seen int, err error) {
	entries, err := os.ReadDir(f.p.path(id, "task"))
	if ended(err) {
		return 0, nil // the process has just shown everything that it had
	}
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		tid, err := strconv.Atoi(e.Name())
		if err != nil || tid == pid {
			continue
		}
		if f.ctx.Err() != nil {
			return seen, f.ctx.Err()
		}
		if err := f.thread(pid, tid, filepath.Join(id, "task", e.Name()), alone); ended(err) {
			continue
		} else if err != nil {
			return seen, err
		}
		seen++
	}
	return seen, nil
}

func (f *processScan) thread(pid, tid int, id string, alone bool) error {
	own := strconv.Itoa(pid) == f.self
	if alone {
		return f.task(pid, id, own)
	}
	places, files := !sharedByKernel(pid, tid, kcmpFS), !sharedByKernel(pid, tid, kcmpFiles)
	if !places && !files {
		return nil
	}
	t, err := f.tableOf(pid, id)
	for _, how := range []UseKind{HowCwd, HowRoot} {
		if err == nil && places {
			err = f.addLink(t, pid, how, f.p.path(id, string(how)), own)
		}
	}
	if err == nil && files {
		err = f.descriptors(t, pid, id, own)
	}
	return err
}

// sharedByKernel asks the kernel whether two tasks share something. If the kernel does not say, it counts as not shared.
func sharedByKernel(a, b int, what uintptr) bool {
	order, _, errno := unix.Syscall6(unix.SYS_KCMP, uintptr(a), uintptr(b), what, 0, 0, 0)
	return errno == 0 && order == 0
}

// ended reports whether an error means that the process or file no longer exists.
func ended(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) }
