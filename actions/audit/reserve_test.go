package audit

import (
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// small puts the journal on a disk of so many bytes; the returned function changes that.
func small(j *Journal, size int64) (resize func(int64)) {
	j.disk.write = func(f *os.File, b []byte) (int, error) {
		room := size
		for _, name := range []string{j.path, j.reservePath()} {
			if info, err := os.Stat(name); err == nil {
				room -= info.Size()
			}
		}
		if room >= int64(len(b)) {
			return f.Write(b)
		}
		n, err := f.Write(b[:max(room, 0)])
		return n, errors.Join(syscall.ENOSPC, err)
	}
	return func(n int64) { size = n }
}

// fill appends records like e until one is refused, and returns how many were stored.
func fill(t *testing.T, j *Journal, e Entry) int {
	t.Helper()
	for n := range 100_000 {
		_, err := j.Append(t.Context(), e, Written)
		if err == nil {
			continue
		}
		var full *FullError
		if !errors.Is(err, syscall.ENOSPC) || !errors.As(err, &full) || !strings.Contains(err.Error(), "so nothing may be done: free some space") {
			t.Fatalf("the error is %v", err)
		}
		return n
	}
	t.Fatal("the disk never gets full")
	return 0
}

// filled checks what holds on any full disk, real or not: intents stop while there is room for outcomes, outcomes go on
// for long, what is refused leaves no trace, and all is well again when there is room. Nothing but an announcement needs
// a reserve.
func filled(t *testing.T, j *Journal, makeRoom func()) {
	intent, outcome := entry(0), entry(1)
	intent.Subjects, outcome.Subjects = slices.Repeat(intent.Subjects, 60), slices.Repeat(outcome.Subjects, 60) // some 5 KB
	intents := fill(t, j, intent)
	if intents == 0 {
		t.Fatal("no intent was stored: the reserve was of no use")
	}
	before := verify(t, content(t, j))
	if reserve, err := os.Stat(j.reservePath()); err != nil || reserve.Size() < reserveFloor {
		t.Fatalf("intents used up the room of the outcomes: %v, %v", reserve, err)
	}
	outcomes := fill(t, j, outcome)
	if outcomes < reserveFloor/10_000 {
		t.Errorf("only %d outcomes were stored", outcomes)
	}
	if r := verify(t, content(t, j)); !r.Intact() || r.Torn != 0 || r.Records != before.Records+outcomes {
		t.Errorf("%d records, %s", r.Records, found(&r))
	}
	if n := fill(t, j, intent); n != 0 {
		t.Errorf("%d intents were stored without any reserve", n)
	}
	makeRoom()
	add(t, j, intent, outcome)
	if reserve, err := os.Stat(j.reservePath()); err != nil || reserve.Size() != reserveSize || reserve.Mode().Perm() != 0o600 {
		t.Errorf("the reserve was not filled up: %v", err)
	}
	if r := verify(t, content(t, j)); !r.Intact() || r.Records != before.Records+outcomes+2 {
		t.Errorf("in the end %d records, %s", r.Records, found(&r))
	}
}

func TestAFullDiskDoesNotStopTheJournal(t *testing.T) {
	j, _ := journalOf(t, 1)
	resize := small(j, reserveSize+4096)
	filled(t, j, func() { resize(3 * reserveSize) })
}

func TestWithoutRoomForTheOutcomeNothingIsAnnounced(t *testing.T) {
	j := newJournal(t)
	small(j, 4096)
	if n := fill(t, j, entry(0)); n != 0 {
		t.Errorf("%d intents on a disk that has no room for a reserve", n)
	}
	if b, err := os.ReadFile(j.Path()); err != nil || len(b) != 0 {
		t.Errorf("something was written: %q, %v", b, err)
	}
	e := entry(0)
	e.Phase = PhaseAck
	add(t, j, e) // no effect follows: it needs room for itself alone
	if r := verify(t, content(t, j)); !r.Intact() || r.Records != 1 {
		t.Errorf("%d records, %s", r.Records, found(&r))
	}
}

func TestAReserveThatCannotBeMadeRefusesTheIntent(t *testing.T) {
	j := newJournal(t)
	if err := os.MkdirAll(j.reservePath(), 0o700); err != nil { // something else has its name
		t.Fatal(err)
	}
	if _, err := j.Append(t.Context(), entry(0), Synced); err == nil || !strings.Contains(err.Error(), "room for the outcome cannot be reserved") {
		t.Errorf("the error is %v", err)
	}
	if b, err := os.ReadFile(j.Path()); err != nil || len(b) != 0 {
		t.Errorf("something was written: %q, %v", b, err)
	}
}

func TestARecordThatDidNotReachTheDiskIsAnError(t *testing.T) {
	j := newJournal(t)
	add(t, j, entry(0))
	j.disk.sync = func(*os.File) error { return syscall.ENOSPC }
	var lost *NotSyncedError
	if _, err := j.Append(t.Context(), entry(1), Synced); !errors.As(err, &lost) || lost.Receipt.Seq != 2 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("the error is %v", err)
	}
}
