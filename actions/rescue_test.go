package actions

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// memoryTree is a tree whose files are texts; a missing file cannot be read, and a missing directory not listed.
type memoryTree struct {
	dirs  map[string][]TreeEntry
	files map[string]string
}

func (m memoryTree) List(_ context.Context, dir string) ([]TreeEntry, error) {
	if list, is := m.dirs[dir]; is {
		return list, nil
	}
	return nil, errors.New("no such directory " + dir)
}

func (m memoryTree) Read(_ context.Context, name string, to io.Writer, limit int64) (int64, error) {
	text, is := m.files[name]
	if !is || int64(len(text)) > limit {
		return 0, errors.New("not read " + name)
	}
	n, err := io.WriteString(to, text)
	return int64(n), err
}

// TestCopyTree: files below the root are copied, links are not followed, and what cannot be read is counted.
func TestCopyTree(t *testing.T) {
	tree := memoryTree{map[string][]TreeEntry{"/w": {{Path: "/w/a"}, {Path: "/w/link", Link: true}, {Path: "/w/d", Dir: true}, {Path: "/w/gone"}, {Path: "/w/e", Dir: true}, {Path: "/w", Left: "2 names"}, {Path: "/w", Dir: true}, {Path: "/w/a"}, {Path: "/", Dir: true}},
		"/": {{Path: "/etc"}}, "/w/d": {{Path: "/w/d/b", Size: backend.Known[int64](2)}, {Path: "/w/d/cut", Size: backend.Known[int64](500)}}}, map[string]string{"/w/a": "1", "/w/d/b": "22", "/w/d/cut": "only", "/w/link": "secret"}}
	var out bytes.Buffer
	saved, lost, err := CopyTree(t.Context(), tree, "/w", &out, 1000, time.Now)
	said := lost.Said(backend.Clean).String()
	if err != nil || saved != 3 || lost.N != 5 || said != "/w/d/cut: 4 B came of the 500 B that are listed: it was cut short, or changed meanwhile; /w/gone: not read /w/gone; /w/e: no such directory /w/e; /w: 2 names; /: it is not in the directory whose list names it" {
		t.Errorf("saved %d, lost %d, %v: %s", saved, lost.N, err, said)
	}
	if said := (Lost{N: 8, First: lost.First}).Said(backend.Clean).String(); !strings.HasSuffix(said, "; and 3 more") {
		t.Errorf("those that are not named: %s", said)
	}
	unzipped, err := gzip.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	var names, missing []string
	for all := tar.NewReader(unzipped); ; {
		h, err := all.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		if h.Name == notSaved {
			text, err := io.ReadAll(all)
			if err != nil {
				t.Fatal(err)
			}
			missing = strings.Split(strings.TrimSpace(string(text)), "\n")
		}
	}
	if got := strings.Join(names, " "); got != "w/a w/d/b w/d/cut NOT-SAVED.txt" || len(missing) != lost.N || !strings.HasPrefix(missing[0], "/w/d/cut: 4 B") {
		t.Errorf("archive of %s, which lacks %q", got, missing)
	}
	if done, err := Rescued(Done{Text: backend.Text("3 files")}, lost, backend.Clean); err == nil || done.Proved || !strings.HasPrefix(err.Error(), "partly done: 3 files. 5 files and directories are not saved, or not whole: /w/d/cut") {
		t.Errorf("a rescue that lacks something: %+v %v", done, err)
	}
	if done, err := Rescued(Done{}, Lost{}, backend.Clean); err != nil || !done.Proved {
		t.Errorf("a whole rescue: %+v %v", done, err)
	}
	if saved, lost, err := CopyTree(t.Context(), tree, "/w", io.Discard, 1, time.Now); saved != 1 || lost.N == 0 || err != nil {
		t.Errorf("with a limit: %d %v %v", saved, lost, err)
	}
	if _, _, err := CopyTree(t.Context(), tree, "/nowhere", io.Discard, 1, time.Now); err == nil {
		t.Error("nothing could be read, and no error tells it")
	}
}

// TestRescueFiles belong to their owner, and their names hold no path.
func TestRescueFiles(t *testing.T) {
	dir := t.TempDir()
	f, err := NewRescueFile(dir, "../../x y", time.Date(2026, 11, 24, 3, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := os.Stat(f.Name())
	if err != nil || info.Mode().Perm() != 0o600 || !strings.HasPrefix(f.Name(), dir+"/rescue/------x-y-2026") {
		t.Errorf("%s %v %v", f.Name(), info, err)
	}
}
