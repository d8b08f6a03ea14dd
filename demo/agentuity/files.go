package agentuity

import (
	"archive/tar"
	"archive/zip"
	"cmp"
	"compress/gzip"
	"io"
	"path"
	"strings"
	"time"

	"sandglass/internal/stable"
)

// file is one entry of a sandbox's filesystem.
type file struct {
	dir     bool
	link    string
	mode    int64
	at      time.Time
	content []byte
}

const dirSize = 4096

func (f *file) size() int64 {
	switch {
	case f.dir:
		return dirSize
	case f.link != "":
		return int64(len(f.link))
	}
	return int64(len(f.content))
}

// newHome is what a sandbox of the Coder has in its home.
func newHome(at time.Time) map[string]*file {
	files := map[string]*file{"/": {dir: true, mode: 0o755, at: at}}
	put := func(name string, f *file) {
		f.at = at
		files[path.Join(homeDir, name)] = f
	}
	files["/home"] = &file{dir: true, mode: 0o755, at: at}
	put("", &file{dir: true, mode: 0o755})
	put(".env", &file{mode: 0o644, content: []byte("AGENTUITY_REGION=usc\nNODE_ENV=production\n")})
	put("client", &file{dir: true, mode: 0o755})
	put("client/driver", &file{dir: true, mode: 0o755})
	put("client/driver/rpc-driver.ts", &file{mode: 0o644, content: []byte("await connect(process.env.HUB_URL);\n")})
	put("workspace", &file{dir: true, mode: 0o755})
	put("workspace/README.md", &file{mode: 0o644, content: []byte("# build\n\nRun `bun test`.\n")})
	put("workspace/src", &file{dir: true, mode: 0o755})
	put("workspace/src/main.ts", &file{mode: 0o644, content: []byte("console.log(\"hello\");\n")})
	put("current", &file{link: "workspace", mode: 0o777})
	return files
}

// absolute is a path of a sandbox; a relative one begins in the home.
func absolute(p string) string {
	if p == "" {
		return homeDir
	}
	if !path.IsAbs(p) {
		p = path.Join(homeDir, p)
	}
	return path.Clean(p)
}

// find follows links. It returns nil where there is nothing.
func (s *sandbox) find(p string) (string, *file) {
	p = absolute(p)
	for range 8 {
		f := s.files[p]
		if f == nil || f.link == "" {
			return p, f
		}
		p = path.Join(path.Dir(p), f.link)
	}
	return p, nil
}

type listed struct {
	name string
	file *file
}

// list names the entries of a directory in order.
func (s *sandbox) list(dir string) []listed {
	var out []listed
	for p, f := range s.files {
		if p != dir && path.Dir(p) == dir {
			out = append(out, listed{path.Base(p), f})
		}
	}
	stable.Sort(out, func(a, b listed) int { return cmp.Compare(a.name, b.name) })
	return out
}

// below lists everything under a directory, or the one file, in order.
func (s *sandbox) below(root string) []listed {
	var out []listed
	for p, f := range s.files {
		if name, under := strings.CutPrefix(p, strings.TrimSuffix(root, "/")+"/"); under && name != "" {
			out = append(out, listed{name, f})
		} else if p == root && !f.dir {
			out = append(out, listed{path.Base(p), f})
		}
	}
	stable.Sort(out, func(a, b listed) int { return cmp.Compare(a.name, b.name) })
	return out
}

// write makes a file and the directories above it.
func (s *sandbox) write(p string, content []byte, at time.Time) {
	p = absolute(p)
	s.makeDirs(path.Dir(p), at)
	s.files[p] = &file{mode: 0o644, at: at, content: content}
}

func (s *sandbox) makeDirs(p string, at time.Time) {
	for ; p != "/"; p = path.Dir(p) {
		if f := s.files[p]; f != nil {
			return
		}
		s.files[p] = &file{dir: true, mode: 0o755, at: at}
	}
}

// remove takes an entry away, with everything below it.
func (s *sandbox) remove(p string) (found bool) {
	p = absolute(p)
	for name := range s.files {
		if name == p || strings.HasPrefix(name, p+"/") {
			found = true
			delete(s.files, name)
		}
	}
	return found
}

// packTar writes entries as a compressed tar archive.
func packTar(to io.Writer, entries []listed) error {
	zipped := gzip.NewWriter(to)
	out := tar.NewWriter(zipped)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: e.file.mode, ModTime: e.file.at, Typeflag: tar.TypeReg, Size: int64(len(e.file.content))}
		switch {
		case e.file.dir:
			h.Name, h.Typeflag, h.Size = e.name+"/", tar.TypeDir, 0
		case e.file.link != "":
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, e.file.link, 0
		}
		if err := out.WriteHeader(h); err != nil {
			return err
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := out.Write(e.file.content); err != nil {
				return err
			}
		}
	}
	if err := out.Close(); err != nil {
		return err
	}
	return zipped.Close()
}

// packZip writes the regular files among entries as a zip archive.
func packZip(to io.Writer, entries []listed) error {
	out := zip.NewWriter(to)
	for _, e := range entries {
		if e.file.dir || e.file.link != "" {
			continue
		}
		f, err := out.CreateHeader(&zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: e.file.at})
		if err != nil {
			return err
		}
		if _, err := f.Write(e.file.content); err != nil {
			return err
		}
	}
	return out.Close()
}
