package hostfs

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// chdirDeep goes down 700 levels of "dddddd", so far that the kernel cannot print the path any more.
func chdirDeep(path string) error {
	if err := os.Chdir(path); err != nil {
		return err
	}
	for range deepLevels {
		if err := unix.Chdir(deepName); err != nil {
			return err
		}
	}
	return nil
}

const (
	deepLevels = 700
	deepName   = "dddddd"
)

// bindElsewhere shows the first of two directories at the second, in a mount namespace of its own, and opens a file
// below there.
func bindElsewhere(arg string) error {
	from, to, _ := strings.Cut(arg, ",")
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := unix.Mount(from, to, "", unix.MS_BIND, ""); err != nil {
		return err
	}
	f, err := os.Open(to + "/inside/file")
	keep = append(keep, f)
	return err
}

// threadIn goes into a directory and opens a file there, with one thread that shares neither with the others.
func threadIn(dir string) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := unix.Unshare(unix.CLONE_FS | unix.CLONE_FILES)
		if err == nil {
			err = unix.Chdir(dir)
		}
		if err == nil {
			_, err = unix.Open("file", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		}
		done <- err
		select {} // the thread has to stay
	}()
	return <-done
}

// listen binds a socket; to a name relative to its directory, which is left at once, when relative is set.
func listen(path string, relative bool) error {
	name := path
	if relative {
		if err := os.Chdir(filepath.Dir(path)); err != nil {
			return err
		}
		name = "./" + filepath.Base(path)
	}
	l, err := net.Listen("unix", name)
	if err != nil {
		return err
	}
	listening = append(listening, l)
	return os.Chdir("/")
}

var listening []net.Listener

// overlay shows two directories as one, in a mount namespace of its own, and works there.
func overlay(arg string) error {
	d := strings.Split(arg, ",")
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := unix.Mount("overlay", d[2], "overlay", 0, "lowerdir="+d[0]+":"+d[1]); err != nil {
		return err
	}
	return os.Chdir(d[2])
}
