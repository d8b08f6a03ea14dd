package tmpdir

import (
	"os"
	"path/filepath"
	"strings"

	"sandglass/backend"
	"sandglass/backend/hostfs"
)

// kernelFile is a file that the kernel itself uses, without any process.
type kernelFile struct{ path, what string }

// kernelFiles lists the backing files of loop devices and the swap files, by the paths that the kernel shows. A system
// that shows none of either has none that is known.
func (t *tool) kernelFiles() []kernelFile {
	var out []kernelFile
	found, _ := filepath.Glob(filepath.Join(t.sys, "block/loop*/loop/backing_file")) // the pattern is well-formed
	for _, f := range found {
		b, err := os.ReadFile(f)
		if err != nil {
			continue // it was detached
		}
		path := strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), " (deleted)")
		out = append(out, kernelFile{path, "loop device " + filepath.Base(filepath.Dir(filepath.Dir(f)))})
	}
	b, err := os.ReadFile(filepath.Join(t.proc.Root, "swaps"))
	if err != nil {
		return out // without swapping in the kernel there is no such file
	}
	for line := range strings.Lines(string(b)) {
		if path, _, ok := strings.Cut(line, " "); ok && strings.HasPrefix(path, "/") {
			out = append(out, kernelFile{hostfs.Unescape(path), "swap space"})
		}
	}
	return out
}

// noKernel: nothing in the directory is in use by the kernel itself.
func noKernel(s *subject) backend.Safe {
	for _, f := range s.w.kernel {
		if below(f.path, s.at) || below(f.path, s.path) {
			return backend.Textf("%s is in use by %s", drawn(f.path), backend.Clean(f.what, 60))
		}
	}
	return backend.Safe{}
}
