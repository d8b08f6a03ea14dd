package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/lockfile"
)

// BundlesDir is the directory of bundles in the state directory.
const BundlesDir = "bundles"

// Bundle is evidence about some subjects, to be kept in a file.
type Bundle struct {
	Subjects []backend.Key // everything that the text is evidence about, what was asked for first
	Text     string
	// Out is the file to write, which must not exist; empty: a new one in the state directory.
	Out string
}

// BundleFile is a bundle that was written down.
type BundleFile struct {
	Path   string
	SHA256 string // of its bytes, in hex
}

// WriteBundle writes a bundle to a file of mode 0600 and its hash into the journal; both are on the disk when it
// returns. When the journal cannot be written the file stays, and does not count as saved evidence.
func (j *Journal) WriteBundle(ctx context.Context, b Bundle, at time.Time, who Who) (BundleFile, error) {
	if len(b.Subjects) == 0 || b.Text == "" {
		return BundleFile{}, errors.New("there is no evidence to write down")
	}
	f := BundleFile{Path: b.Out, SHA256: sumOf([]byte(b.Text))}
	if f.Path == "" {
		f.Path = filepath.Join(filepath.Dir(j.path), BundlesDir, bundleName(maskedKey(j.cleaner, b.Subjects[0]), at, f.SHA256))
		if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
			return BundleFile{}, fmt.Errorf("the bundle was not written: %w", err)
		}
	}
	if path, err := filepath.Abs(f.Path); err == nil {
		f.Path = path
	}
	if err := WriteNew(f.Path, []byte(b.Text)); errors.Is(err, fs.ErrExist) {
		return BundleFile{}, &occupiedError{f.Path}
	} else if err != nil {
		return BundleFile{}, fmt.Errorf("the bundle was not written: %w", err)
	}
	e := Entry{At: at, Phase: PhaseBundle, Who: who, Verb: "bundle", Kind: string(b.Subjects[0].Kind), SHA256: f.SHA256,
		Subjects: b.Subjects[:min(len(b.Subjects), maxSubjects)], Targets: len(b.Subjects),
		Facts: []backend.Field{{Name: backend.Text("file"), Value: j.cleaner.Clean(f.Path, 1000)}}}
	if _, err := j.Append(ctx, e, Synced); err != nil {
		return f, fmt.Errorf("the bundle is written to %s, but does not count as saved evidence: %w", f.Path, err)
	}
	return f, nil
}

// longestWord bounds what names the subject there, in bytes: the name fits on a line of 80 cells, behind what says that it was written.
const longestWord = 20

// bundleName names a file so that files sort by time and none is like another.
func bundleName(k backend.Key, at time.Time, sum string) string {
	word := strings.Map(func(r rune) rune {
		if r < 0x80 && (isWord(string(r)) || r == '-') {
			return r
		}
		return '_'
	}, k.Path().Raw())
	return fmt.Sprintf("%s-%s-%s-%s.md", at.UTC().Format("20060102T150405Z"), k.Kind, word[:min(len(word), longestWord)], sum[:8])
}

// WriteNew writes a file of mode 0600 that must not exist yet (fs.ErrExist otherwise) and makes it and its name last; what
// could not be written whole does not stay.
func WriteNew(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		return lockfile.SyncDir(filepath.Dir(path))
	}
	return errors.Join(err, os.Remove(path))
}

// EvidenceSaved returns those of the subjects about which no bundle was written at or after since; the zero time asks
// for any bundle.
func (j *Journal) EvidenceSaved(ctx context.Context, since time.Time, subjects []backend.Key) (missing []backend.Key, err error) {
	missing = slices.Clone(subjects)
	for r, err := range j.Records(ctx, Filter{Since: since, Phases: []Phase{PhaseBundle}}) {
		if err != nil {
			if line := (*LineError)(nil); errors.As(err, &line) {
				continue // what is damaged proves nothing
			}
			return subjects, err
		}
		missing = slices.DeleteFunc(missing, func(k backend.Key) bool {
			return slices.Contains(r.Subjects, maskedKey(j.cleaner, k))
		})
	}
	return missing, nil
}

// occupiedError is fs.ErrExist in the words of whoever named the file.
type occupiedError struct{ path string }

func (e *occupiedError) Error() string {
	return e.path + " is there already, and no bundle was written; name another file"
}

func (e *occupiedError) Unwrap() error { return fs.ErrExist }
