package hostfs

import (
	"os"
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
