package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
)

var t0 = time.Date(2026, 1, 1, 12, 0, 0, 0, time.FixedZone("elsewhere", 3600))

const (
	childDir   = "SANDGLASS_AUDIT_DIR"
	childCount = "SANDGLASS_AUDIT_COUNT"
)

// TestMain lets the test binary play another process that appends.
func TestMain(m *testing.M) {
	dir := os.Getenv(childDir)
	if dir == "" {
		os.Exit(m.Run())
	}
	n, err := strconv.Atoi(os.Getenv(childCount))
	room, limited := strings.CutPrefix(os.Getenv(childCount), "room ")
	switch {
	case os.Getenv(childCount) == "plan":
		err = beginPlan(dir)
	case limited:
		err = appendWithin(dir, room)
	case err == nil:
		err = appendMany(dir, n)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func appendMany(dir string, n int) error {
	j, err := New(Options{Dir: dir, Origin: origin()})
	if err != nil {
		return err
	}
	for i := range n {
		e := entry(i)
		e.Facts = []backend.Field{{Name: backend.Text("pid"), Value: backend.Textf("%d", os.Getpid())}}
		if _, err := j.Append(context.Background(), e, Written); err != nil {
			return err
		}
	}
	return nil
}

// appendWithin appends where no file may be larger than so many bytes. It is a process of its own, because the limit is
// for every file of a process, those of the test's own runner too.
func appendWithin(dir, room string) error {
	size, err := strconv.ParseUint(room, 10, 64)
	if err != nil {
		return err
	}
	if err := backendtest.LimitFiles(size); err != nil {
		return err
	}
	j, err := New(Options{Dir: dir, Origin: origin()})
	if err != nil {
		return err
	}
	if _, err := j.Append(context.Background(), entry(2), Synced); !errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("append ended with %v", err)
	}
	return nil
}

func origin() Origin {
	return Origin{Host: backend.Text("build-7"), BootID: backend.Text("0d5c"), ConfigDigest: "sha256:abc"}
}

func entry(i int) Entry {
	e := Entry{At: t0.Add(time.Duration(i) * time.Second), Phase: PhaseIntent, Verb: "reset", Kind: "workspace", Digest: "9f3c",
		Who:    Who{User: backend.Text("ada"), Host: backend.Text("build-7"), SSHClient: backend.Text("192.0.2.7"), Claimed: backend.Text("Ada L")},
		Reason: backend.Textf("ticket %d", i),
		Subjects: []backend.Key{{Kind: backend.KindWorkspace, Source: "helix-eu", Parent: backend.MustID(fmt.Sprintf("s-%d", i)),
			ID: backend.MustID("notes")}}}
	if i%2 == 1 {
		e.Phase, e.Result, e.Detail = PhaseOutcome, ResultAccepted, backend.Text("answered 202")
	}
	return e
}

func newJournal(t testing.TB, secrets ...string) *Journal {
	t.Helper()
	j, err := New(Options{Dir: filepath.Join(t.TempDir(), "state"), Origin: origin(), Cleaner: backend.NewCleaner(secrets...)})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func add(t testing.TB, j *Journal, entries ...Entry) Receipt {
	t.Helper()
	var last Receipt
	for _, e := range entries {
		var err error
		if last, err = j.Append(t.Context(), e, Written); err != nil {
			t.Fatal(err)
		}
	}
	return last
}

// journalOf returns the bytes of a journal of n records.
func journalOf(t testing.TB, n int) (*Journal, []byte) {
	t.Helper()
	j := newJournal(t)
	for i := range n {
		add(t, j, entry(i))
	}
	return j, content(t, j)
}

func content(t testing.TB, j *Journal) []byte {
	t.Helper()
	b, err := os.ReadFile(j.Path())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func put(t testing.TB, j *Journal, b []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(j.Path()), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(j.Path(), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func verify(t testing.TB, b []byte) Report {
	t.Helper()
	r, err := verifyChain(bytes.NewReader(b), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// found prints what a Report found: "3 damaged, 5 missing; torn 6; sealed [2]".
func found(r *Report) string {
	var parts []string
	for _, p := range r.Problems {
		parts = append(parts, fmt.Sprintf("%d %s", p.Line, p.Kind))
	}
	out := strings.Join(parts, ", ")
	if r.Torn > 0 {
		out += fmt.Sprintf("; torn %d", r.Torn)
	}
	if len(r.Sealed) > 0 {
		out += fmt.Sprintf("; sealed %v", r.Sealed)
	}
	return out
}
