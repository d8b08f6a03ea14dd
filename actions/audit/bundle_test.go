package audit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

func TestABundleIsWrittenAndRemembered(t *testing.T) {
	j := newJournal(t, "hunter2-hunter2")
	odd := target(2)
	odd.ID = backend.MustID("../../\x1b[31m hunter2-hunter2")
	f, err := j.WriteBundle(t.Context(), Bundle{Subjects: []backend.Key{odd, target(1)}, Text: "# evidence\n"}, t0, entry(0).Who)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(filepath.Dir(j.Path()), BundlesDir)
	b, err := os.ReadFile(f.Path)
	if err != nil || string(b) != "# evidence\n" || sumOf(b) != f.SHA256 || filepath.Dir(f.Path) != dir {
		t.Errorf("%s: %q, %v", f.Path, b, err)
	}
	if base := filepath.Base(f.Path); !strings.HasPrefix(base, "20260101T110000Z-workspace-s-2_") || strings.Trim(base, nameRunes) != "" || strings.Contains(base, "hunter2") {
		t.Errorf("the file is called %q", base)
	}
	for path, want := range map[string]fs.FileMode{f.Path: 0o600, dir: 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	n := 0
	for r, err := range j.Records(t.Context(), Filter{Phases: []Phase{PhaseBundle}}) {
		if n++; err != nil || r.SHA256 != f.SHA256 || r.Targets != 2 || r.Verb != "bundle" || len(r.Facts) != 1 {
			t.Errorf("%+v, %v", r, err)
		}
	}
	if n != 1 {
		t.Errorf("%d records", n)
	}

	saved := func(since time.Time, want ...backend.Key) {
		t.Helper()
		missing, err := j.EvidenceSaved(t.Context(), since, []backend.Key{target(1), target(3), odd})
		if err != nil || !slices.Equal(missing, want) {
			t.Errorf("missing %v, %v; want %v", missing, err, want)
		}
	}
	saved(time.Time{}, target(3))
	saved(t0, target(3))
	saved(t0.Add(time.Second), target(1), target(3), odd)
	add(t, j, entry(3)) // a record about target(3) that is no bundle
	saved(time.Time{}, target(3))
}

const nameRunes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

func TestABundleNeverReplacesAFile(t *testing.T) {
	j := newJournal(t)
	out := filepath.Join(t.TempDir(), "issue.md")
	b := Bundle{Subjects: []backend.Key{target(1)}, Text: "x", Out: out}
	if f, err := j.WriteBundle(t.Context(), b, t0, entry(0).Who); err != nil || f.Path != out {
		t.Fatalf("%+v, %v", f, err)
	}
	b.Text = "y"
	if _, err := j.WriteBundle(t.Context(), b, t0, entry(0).Who); !errors.Is(err, fs.ErrExist) {
		t.Errorf("the error is %v", err)
	}
	if got, err := os.ReadFile(out); err != nil || string(got) != "x" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := j.WriteBundle(t.Context(), Bundle{Text: "x"}, t0, entry(0).Who); err == nil {
		t.Error("a bundle about nothing was written")
	}
}

func TestABundleThatTheJournalDoesNotKnowIsNoEvidence(t *testing.T) {
	j := newJournal(t)
	if err := os.MkdirAll(j.Path(), 0o700); err != nil { // so that the journal cannot be written
		t.Fatal(err)
	}
	f, err := j.WriteBundle(t.Context(), Bundle{Subjects: []backend.Key{target(1)}, Text: "x"}, t0, entry(0).Who)
	if err == nil || !strings.Contains(err.Error(), "does not count as saved evidence") || f.Path == "" {
		t.Errorf("%+v, %v", f, err)
	}
	if missing, err := j.EvidenceSaved(t.Context(), time.Time{}, []backend.Key{target(1)}); err == nil || len(missing) != 1 {
		t.Errorf("missing %v, %v", missing, err)
	}
}

// A long id names its file only with its beginning, so that the name fits on a line of a screen.
func TestABundleHasAShortName(t *testing.T) {
	k := backend.Key{Kind: backend.KindWorkspace, Source: "s", ID: backend.MustID(strings.Repeat("3f11eb97b722", 6))}
	if got, want := bundleName(k, t0, "0123456789"), "-workspace-_3f11eb97b7223f11eb9-01234567.md"; !strings.HasSuffix(got, want) || len(got) > 62 {
		t.Errorf("%s (%d characters)", got, len(got))
	}
}
