package lockfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxLinks bounds the links of one path, as the kernel does.
const maxLinks = 40

// Links calls visit for every symbolic link that a path leads through, with what is told of the link itself: who owns a link
// decides where the path leads. What does not exist yet has no links.
func Links(path string, visit func(link string, info fs.FileInfo) error) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	root := filepath.VolumeName(path) + string(filepath.Separator)
	at, rest := root, split(path[len(filepath.VolumeName(path)):])
	for seen := 0; len(rest) > 0; {
		if rest[0] == ".." {
			at, rest = filepath.Dir(at), rest[1:]
			continue
		}
		p := filepath.Join(at, rest[0])
		rest = rest[1:]
		info, err := os.Lstat(p)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink == 0:
			at = p
			continue
		}
		if err := visit(p, info); err != nil {
			return err
		}
		if seen++; seen > maxLinks {
			return fmt.Errorf("%s leads through more than %d symbolic links", path, maxLinks)
		}
		to, err := os.Readlink(p)
		if err != nil {
			return err
		}
		if filepath.IsAbs(to) {
			at, to = root, to[len(filepath.VolumeName(to)):]
		}
		rest = append(split(to), rest...)
	}
	return nil
}

func split(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
}
