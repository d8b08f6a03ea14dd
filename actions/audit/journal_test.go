package audit

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/lockfile"
)

func TestAppendChainsRecords(t *testing.T) {
	j := newJournal(t)
	first := add(t, j, entry(0))
	second, err := j.Append(t.Context(), entry(1), Synced)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(content(t, j), []byte("\n"))
	if len(lines) != 3 || len(lines[2]) != 0 {
		t.Fatalf("%d lines", len(lines)-1)
	}
	if first != (Receipt{1, sumOf(bytes.TrimSuffix(lines[0], []byte("\n")))}) || second.Seq != 2 {
		t.Errorf("receipts %v %v", first, second)
	}
	if want := `{"schema":1,"seq":1,"prev":"` + noLine + `","origin":{"host":"build-7","boot_id":"0d5c","config_digest":"sha256:abc"},` +
		`"at":"2026-01-01T11:00:00Z","phase":"intent","who":{"user":"ada","host":"build-7","ssh_client":"192.0.2.7","claimed":"Ada L"},` +
		`"verb":"reset","kind":"workspace","subjects":[{"kind":"workspace","source":"helix-eu","parent":"s-0","id":"notes"}],` +
		`"digest":"9f3c","reason":"ticket 0","sum":"`; !strings.HasPrefix(string(lines[0]), want) {
		t.Errorf("the first line is\n%s want\n%s", lines[0], want)
	}
	if !strings.HasPrefix(string(lines[1]), `{"schema":1,"seq":2,"prev":"`+first.Hash+`","at":`) {
		t.Errorf("the second line is %s", lines[1])
	}
	info, err := os.Stat(j.Path())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	r, err := j.Verify(t.Context())
	if err != nil || found(&r) != "" || r.Records != 2 || r.Head != second || !r.First.Equal(t0) || !r.Last.Equal(t0.Add(time.Second)) {
		t.Errorf("verify: %+v, %v", r, err)
	}
}

func TestNothingIsWrittenForAWrongEntry(t *testing.T) {
	for want, change := range map[string]func(*Entry){
		"no time":                    func(e *Entry) { e.At = time.Time{} },
		"is not a phase":             func(e *Entry) { e.Phase = "soon" },
		"has no result":              func(e *Entry) { e.Result = ResultVerified },
		"is not a result":            func(e *Entry) { e.Phase, e.Result = PhaseOutcome, "fine" },
		"is not a verb":              func(e *Entry) { e.Verb = "rm -rf" },
		"is not a kind":              func(e *Entry) { e.Kind = "a\x1b[2J" },
		"is not a digest":            func(e *Entry) { e.Digest = "-" },
		"does not say who":           func(e *Entry) { e.Who = Who{} },
		"not a SHA-256 of a file":    func(e *Entry) { e.Phase = PhaseBundle },
		"\"ABC\" is not a SHA-256":   func(e *Entry) { e.SHA256 = "ABC" },
		"fewer than the 2":           func(e *Entry) { e.Subjects, e.Targets = append(e.Subjects, e.Subjects...), 1 },
		"2 of 1 targets cannot":      func(e *Entry) { e.Done = 2 },
		"subjects are more":          func(e *Entry) { e.Subjects = make([]backend.Key, maxSubjects+1) },
		"facts are more":             func(e *Entry) { e.Facts = make([]backend.Field, maxFacts+1) },
		"name fewer subjects":        func(e *Entry) { e.Subjects = longSubjects() },
		"year outside of range":      func(e *Entry) { e.At = time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC) },
		"\"\" is not a result":       func(e *Entry) { e.Phase = PhaseOutcome },
		"\"Reset it\" is not a verb": func(e *Entry) { e.Verb = "Reset it" },
	} {
		j := newJournal(t)
		e := entry(0)
		change(&e)
		if _, err := j.Append(t.Context(), e, Written); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
		if b, err := os.ReadFile(j.Path()); err == nil && len(b) > 0 {
			t.Errorf("%s: something was written: %s", want, b)
		}
	}
}

func longSubjects() []backend.Key {
	long := backend.MustID(strings.Repeat("x", backend.MaxIDBytes))
	out := make([]backend.Key, MaxLine/backend.MaxIDBytes+1)
	for i := range out {
		out[i] = backend.Key{Kind: backend.KindSession, ID: long}
	}
	return out
}

func TestSecretsAndTerminalBytesStayOut(t *testing.T) {
	const secret = "hunter2-hunter2"
	j := newJournal(t, secret)
	e := entry(0)
	hostile := "\x1b]0;pwned\a\r\u009b31m\u202e\U000E0041\x7f\n" + secret + " é漢🦀 \xff"
	e.Reason = backend.Clean(hostile, 500)
	e.Who.Claimed = backend.Clean(hostile, 500)
	e.Subjects[0].ID = backend.MustID(hostile)
	e.Facts = []backend.Field{{Name: backend.Text("API_TOKEN"), Value: backend.Text("abcdefgh")}, {Name: backend.Text("wave"), Value: backend.Text("1 of 3")}}
	add(t, j, e)
	for i, c := range content(t, j) {
		if (c < 0x20 || c > 0x7e) && c != '\n' {
			t.Fatalf("byte %d is %#x", i, c)
		}
	}
	if b := content(t, j); bytes.Contains(b, []byte("hunter2")) || bytes.Contains(b, []byte("abcdefgh")) || !bytes.Contains(b, []byte("1 of 3")) {
		t.Errorf("secrets or facts: %s", b)
	}
	n := 0
	for r, err := range j.Records(t.Context(), Filter{}) {
		if n++; err != nil {
			t.Fatal(err)
		}
		want := strings.ReplaceAll(strings.ReplaceAll(hostile, secret, "‹masked›"), "\xff", "\ufffd")
		if got := r.Subjects[0].ID.Raw(); got != want {
			t.Errorf("the id came back as %q, want %q", got, want)
		}
		if got, want := r.Reason, backend.NewCleaner(secret).Clean(e.Reason.String(), 500); got != want {
			t.Errorf("the reason came back as %q, want %q", got, want)
		}
	}
	if n != 1 {
		t.Errorf("%d records", n)
	}
}

func TestConcurrentAppendersKeepOneChain(t *testing.T) {
	const processes, each = 3, 20
	j := newJournal(t)
	var wg sync.WaitGroup
	for range processes {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childDir+"="+filepath.Dir(j.Path()), childCount+"="+strconv.Itoa(each))
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v: %s", err, said.String())
			}
		})
	}
	for range 2 { // goroutines of one process are no exception
		wg.Go(func() {
			if err := appendMany(filepath.Dir(j.Path()), each); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	r, err := j.Verify(t.Context())
	if err != nil || found(&r) != "" || r.Records != (processes+2)*each {
		t.Errorf("%d records, %s, %v", r.Records, found(&r), err)
	}
}

// TestEveryCutIsAppendedToSafely cuts a journal at every byte of its last line, as a crash between write and sync may,
// and appends.
func TestEveryCutIsAppendedToSafely(t *testing.T) {
	_, whole := journalOf(t, 3)
	lastLine := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	j := newJournal(t)
	for cut := lastLine; cut <= len(whole); cut++ {
		before := verify(t, whole[:cut])
		wantTorn, wantRecords := 3, 2
		switch cut {
		case lastLine:
			wantTorn = 0
		case len(whole) - 1, len(whole): // the record is there, with or without its line end
			wantTorn, wantRecords = 0, 3
		}
		if before.Torn != wantTorn || before.Records != wantRecords || !before.Intact() {
			t.Fatalf("cut at %d: torn %d, %d records, %s", cut, before.Torn, before.Records, found(&before))
		}
		put(t, j, whole[:cut])
		got := add(t, j, entry(7))
		after := verify(t, content(t, j))
		wantSealed := ""
		if wantTorn > 0 {
			wantSealed = "; sealed [3]"
		}
		if found(&after) != wantSealed || after.Records != wantRecords+1 || after.Head != got || got.Seq != uint64(wantRecords+1) {
			t.Fatalf("cut at %d, then appended: %s, %d records", cut, found(&after), after.Records)
		}
		if b := content(t, j); !bytes.HasPrefix(b, whole[:cut]) {
			t.Fatalf("cut at %d: what was there was changed", cut)
		}
	}
}

func TestAFirstRecordThatWasTornIsSealedToo(t *testing.T) {
	_, whole := journalOf(t, 1)
	j := newJournal(t)
	put(t, j, whole[:40])
	if got := add(t, j, entry(0)); got.Seq != 1 {
		t.Errorf("record %d", got.Seq)
	}
	if r := verify(t, content(t, j)); found(&r) != "; sealed [1]" || r.Records != 1 {
		t.Errorf("%s, %d records", found(&r), r.Records)
	}
}

func TestASealedLineIsProtectedByTheChain(t *testing.T) {
	j, whole := journalOf(t, 2)
	put(t, j, whole[:len(whole)-30])
	add(t, j, entry(1), entry(2))
	good := content(t, j)
	lines := bytes.SplitAfter(good, []byte("\n"))
	torn := len(lines[0])
	for i := range lines[1] {
		b := bytes.Clone(good)
		b[torn+i] ^= 1
		if r := verify(t, b); r.Intact() {
			t.Errorf("byte %d of the sealed line was changed unnoticed", i)
		}
	}
	if r := verify(t, join(lines[0], lines[2], lines[3])); r.Intact() {
		t.Error("the sealed line was removed unnoticed")
	}
}

func TestDamageAtTheEndIsNeverTakenForACrash(t *testing.T) {
	_, whole := journalOf(t, 2)
	j := newJournal(t)
	start := bytes.IndexByte(whole, '\n') + 1
	for i := start; i < len(whole); i++ {
		b := bytes.Clone(whole)
		b[i] ^= 1
		put(t, j, b)
		if _, err := j.Append(t.Context(), entry(5), Written); err != nil {
			t.Fatal(err)
		}
		if r := verify(t, content(t, j)); r.Intact() {
			t.Fatalf("byte %d was changed before a record was appended; the report says %q", i, found(&r))
		}
	}
}

func TestAFullDiskLeavesAJournalThatGoesOn(t *testing.T) {
	j, _ := journalOf(t, 2)
	// A limit on the size of files lets a part of the write through, as a full disk does.
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+filepath.Dir(j.Path()), childCount+"=room "+strconv.Itoa(len(content(t, j))+100))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if r := verify(t, content(t, j)); r.Torn != 0 || !r.Intact() || r.Records != 2 {
		t.Errorf("after the failed write: %s", found(&r))
	}
	add(t, j, entry(2))
	if r := verify(t, content(t, j)); found(&r) != "" || r.Records != 3 {
		t.Errorf("after the next record: %s", found(&r))
	}
}

func TestAHeldLockIsWaitedForOnlySoLong(t *testing.T) {
	j, _ := journalOf(t, 1)
	f, err := lockfile.Open(j.Path(), os.O_RDWR|os.O_APPEND|os.O_CREATE, othersWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := lockfile.Lock(t.Context(), f, false); err != nil {
		t.Fatal(err)
	}
	gone := errors.New("the operator gave up")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	if _, err := j.Append(ctx, entry(1), Written); !errors.Is(err, gone) || !strings.Contains(err.Error(), "another process holds the lock") {
		t.Errorf("append: %v", err)
	}
	if _, err := j.Verify(ctx); !errors.Is(err, gone) {
		t.Errorf("verify: %v", err)
	}
}

func TestUnsafeFilesAreRefused(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"can be written by others": func(p string) error {
			return errors.Join(os.WriteFile(p, nil, 0o600), os.Chmod(p, 0o620))
		},
		"too many levels of symbolic links": func(p string) error { return os.Symlink("/dev/null", p) },
		"is not a regular file":             func(p string) error { backendtest.Fifo(t, p); return nil },
	} {
		j := newJournal(t)
		if err := errors.Join(os.MkdirAll(filepath.Dir(j.Path()), 0o700), make(j.Path())); err != nil {
			t.Fatal(err)
		}
		if _, err := j.Append(t.Context(), entry(0), Written); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if err := j.Usable(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: a plan is told %v", name, err)
		}
	}
	j := newJournal(t)
	put(t, j, bytes.Repeat([]byte("garbage without an end "), 2*maxBack/23))
	if _, err := j.Append(t.Context(), entry(0), Written); !errors.Is(err, ErrNoRecord) {
		t.Errorf("a file of something else: %v", err)
	}
}

func TestAMissingJournalIsEmpty(t *testing.T) {
	j := newJournal(t)
	r, err := j.Verify(t.Context())
	if err != nil || !r.Intact() || r.Records != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	for r, err := range j.Records(t.Context(), Filter{}) {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestNewNeedsItsArguments(t *testing.T) {
	for want, o := range map[string]Options{
		"state directory":           {Origin: origin()},
		"name of its host":          {Dir: "x"},
		"digest of a configuration": {Dir: "x", Origin: Origin{Host: backend.Text("h"), ConfigDigest: "\x1b"}},
	} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

type failing struct{ r io.Reader }

func (f failing) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil {
		return n, errors.New("the disk is broken")
	}
	return n, nil
}

func TestReadErrorsAreErrors(t *testing.T) {
	_, b := journalOf(t, 2)
	if _, err := verifyChain(failing{bytes.NewReader(b)}, "", nil); err == nil || !strings.Contains(err.Error(), "behind line 2: the disk is broken") {
		t.Errorf("verify: %v", err)
	}
	var last error
	for _, err := range Read(failing{bytes.NewReader(b)}, Filter{}) {
		last = err
	}
	if last == nil || !strings.Contains(last.Error(), "the disk is broken") {
		t.Errorf("read: %v", last)
	}
}

func TestAJournalThatWasMovedAwayWhileItsLockWasAwaitedIsLetGo(t *testing.T) {
	j, _ := journalOf(t, 2)
	f, err := lockfile.Open(j.Path(), os.O_RDWR|os.O_APPEND|os.O_CREATE, othersWrite)
	if err != nil {
		t.Fatal(err)
	}
	if err := lockfile.Lock(t.Context(), f, false); err != nil {
		t.Fatal(err)
	}
	waiting, done := make(chan struct{}), make(chan error, 1)
	go func() {
		close(waiting)
		_, err := j.Append(t.Context(), entry(0), Written)
		done <- err
	}()
	<-waiting
	if err := errors.Join(os.Rename(j.Path(), j.Path()+".old"), f.Close()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if r := verify(t, content(t, j)); r.Records != 1 || found(&r) != "" {
		t.Errorf("the new journal has %d records, %s", r.Records, found(&r))
	}
	old, err := os.ReadFile(j.Path() + ".old")
	if err != nil {
		t.Fatal(err)
	}
	if r := verify(t, old); r.Records != 2 {
		t.Errorf("the old journal has %d records", r.Records)
	}
}
