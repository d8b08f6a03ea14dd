package actions

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"sandglass/backend"
)

// rescueDir is the directory of archives, below the state directory.
const rescueDir = "rescue"

// NewRescueFile makes the file of an archive, which only its owner can read.
func NewRescueFile(stateDir, id string, now time.Time) (*os.File, error) {
	dir := filepath.Join(stateDir, rescueDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%s-%s.tar.gz", fileName(id), now.UTC().Format("20060102T150405.000000Z"))
	return os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// fileName is an id as a part of a file name.
func fileName(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, id[:min(len(id), 100)])
}

// Tree lists and reads the files that a rescue copies one by one.
type Tree interface {
	List(ctx context.Context, dir string) ([]TreeEntry, error)
	Read(ctx context.Context, name string, to io.Writer, limit int64) (int64, error)
}

// TreeEntry is one name in a directory. Links are not followed.
type TreeEntry struct {
	Path      string // absolute
	Dir, Link bool
	Size      backend.Value[int64] // bytes, as the list says
	// Left says that Path is a directory of which the list leaves names out, and why.
	Left string
}

// Lost is what a copy could not read, or not whole: how many files and directories, and the first of them with the reasons.
type Lost struct {
	N     int
	First []error
}

// mostLost is how many of them are named.
const mostLost = 5

// Said names them, each made fit for display by clean; empty: nothing was lost.
func (l Lost) Said(clean func(string, int) backend.Safe) backend.Safe {
	texts := make([]backend.Safe, len(l.First))
	for i, err := range l.First {
		texts[i] = clean(err.Error(), 200)
	}
	if more := l.N - len(texts); more > 0 {
		texts = append(texts, backend.Textf("and %d more", more))
	}
	return backend.Join(texts, "; ")
}

// notSaved is the file of an archive that names everything that the archive lacks.
const notSaved = "NOT-SAVED.txt"

// partlyDone begins what is said of a rescue that saved a part.
const partlyDone = "partly done: "

// Rescued is the result of a rescue into a file: an archive that lacks something is kept, and the rescue has failed in part.
func Rescued(done Done, lost Lost, clean func(string, int) backend.Safe) (Done, error) {
	if lost.N == 0 {
		done.Proved = true
		return done, nil
	}
	return Done{}, fmt.Errorf(partlyDone+"%s. %s not saved, or not whole: %s. %s in the archive names all", done.Text,
		backend.Counted(lost.N, "file or directory is", "files and directories are"), lost.Said(clean), notSaved)
}

const (
	mostFiles   = 5000
	mostDeep    = 20
	largestFile = 64 << 20
)

// treeCopy is a copy under way.
type treeCopy struct {
	tree  Tree
	to    *tar.Writer
	now   func() time.Time
	left  int64 // bytes that the archive may still take
	saved int
	lost  Lost
	names []string // all of the lost, with the reasons
}

// CopyTree copies a directory and what is in it, file by file, into an archive of at most limit bytes. It is an error when
// nothing could be read.
func CopyTree(ctx context.Context, t Tree, root string, to io.Writer, limit int64, now func() time.Time) (saved int, lost Lost, err error) {
	zipped := gzip.NewWriter(to)
	f := &treeCopy{tree: t, to: tar.NewWriter(zipped), now: now, left: limit}
	f.dir(ctx, root, 0)
	saved = f.saved
	if saved > 0 && f.lost.N > 0 {
		f.left = largestFile
		err = f.write(notSaved, []byte(strings.Join(f.names, "\n")+"\n"))
	}
	err = errors.Join(err, f.to.Close(), zipped.Close())
	if f.saved == 0 && f.lost.N > 0 {
		err = f.lost.First[0]
	}
	return saved, f.lost, err
}

func (f *treeCopy) miss(name string, err error) {
	f.names = append(f.names, backend.Clean(fmt.Sprintf("%s: %v", name, err), 1000).String())
	if f.lost.N++; len(f.lost.First) < mostLost {
		f.lost.First = append(f.lost.First, fmt.Errorf("%s: %w", name, err))
	}
}

func (f *treeCopy) dir(ctx context.Context, dir string, depth int) {
	entries, err := f.tree.List(ctx, dir)
	if err != nil {
		f.miss(dir, err)
		return
	}
	seen := map[string]bool{}
	for _, e := range entries {
		again := seen[e.Path]
		seen[e.Path] = true
		switch {
		case ctx.Err() != nil, f.saved+f.lost.N >= mostFiles, f.left <= 0:
			f.miss(dir, errors.New("the rest was not read: it is too much"))
			return
		case e.Left != "":
			f.miss(e.Path, errors.New(e.Left))
		case e.Link, e.Path == dir, again:
		case path.Dir(e.Path) != path.Clean(dir):
			f.miss(e.Path, errors.New("it is not in the directory whose list names it"))
		case e.Dir && depth < mostDeep:
			f.dir(ctx, e.Path, depth+1)
		case e.Dir:
			f.miss(e.Path, errors.New("directories deeper than 20 were not read"))
		default:
			if err := f.file(ctx, e); err != nil {
				f.miss(e.Path, err)
			}
		}
	}
}

// file copies one file. Fewer bytes than its list says are saved as they came, and are an error.
func (f *treeCopy) file(ctx context.Context, e TreeEntry) error {
	var content bytes.Buffer
	size, err := f.tree.Read(ctx, e.Path, &content, min(largestFile, f.left))
	if err != nil {
		return err
	}
	if err := f.write(strings.TrimPrefix(e.Path, "/"), content.Bytes()); err != nil {
		return err
	}
	f.saved++
	if listed, known := e.Size.Get(); known && size < listed {
		return fmt.Errorf("%s came of the %s that are listed: it was cut short, or changed meanwhile", backend.Bytes(size), backend.Bytes(listed))
	}
	return nil
}

func (f *treeCopy) write(name string, content []byte) error {
	size := int64(len(content))
	if err := f.to.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o600, Size: size, ModTime: f.now()}); err != nil {
		return err
	}
	f.left -= size
	_, err := f.to.Write(content)
	return err
}
