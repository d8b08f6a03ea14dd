package alerts

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func moment(l *lamp) ClockReading {
	return ClockReading{Wall: l.now, Boot: "b1", SinceBoot: time.Duration(l.now.UnixNano())}
}

func openStore(t *testing.T, dir string, e *Engine) *StateStore {
	t.Helper()
	s, err := OpenStateStore(dir, e)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func save(t *testing.T, s *StateStore, b *Board, at ClockReading) {
	t.Helper()
	if ok, err := s.Save(b, at); err != nil || !ok {
		t.Fatalf("saved %v, %v", ok, err)
	}
}

// restarted saves, and goes on with what was loaded after the machine was away for a while.
func (l *lamp) restarted(t *testing.T, away time.Duration, change func(*ClockReading)) Loaded {
	t.Helper()
	s := openStore(t, t.TempDir(), l.engine)
	save(t, s, l.board, moment(l))
	l.now = l.now.Add(away)
	at := moment(l)
	if change != nil {
		change(&at)
	}
	got, err := s.Load(at)
	if err != nil {
		t.Fatal(err)
	}
	l.board, l.number = got.Board, 0
	return got
}

func TestForGoesOnAcrossARestart(t *testing.T) {
	l := newLamp(t, Meta{For: 10 * time.Minute}).minutes("on on on")
	l.now = l.now.Add(-time.Minute) // the last State is two minutes after the first
	if got := l.restarted(t, 6*time.Minute, nil); got.Elapsed != 6*time.Minute || got.ByWall {
		t.Errorf("loaded %+v", got)
	}
	l.minutes("on on on")
	l.want("pending pending pending pending pending firing", "pending firing")
}

func TestElapsedBetweenRuns(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*ClockReading)
		want   time.Duration
		byWall bool
	}{
		"same boot, wall clock set back":  {func(m *ClockReading) { m.Wall = m.Wall.Add(-time.Hour) }, 6 * time.Minute, false},
		"same boot, wall clock set ahead": {func(m *ClockReading) { m.Wall = m.Wall.Add(time.Hour) }, 6 * time.Minute, false},
		"another boot":                    {func(m *ClockReading) { m.Boot, m.SinceBoot = "b2", time.Second }, 6 * time.Minute, true},
		"another boot, never negative":    {func(m *ClockReading) { m.Boot = "b2"; m.Wall = m.Wall.Add(-time.Hour) }, 0, true},
		"no boot clock":                   {func(m *ClockReading) { m.Boot = "" }, 6 * time.Minute, true},
	} {
		l := newLamp(t, Meta{For: time.Hour}).minutes("on")
		if got := l.restarted(t, 6*time.Minute, c.change); got.Elapsed != c.want || got.ByWall != c.byWall {
			t.Errorf("%s: %s, by the wall clock %v", name, got.Elapsed, got.ByWall)
		}
	}
}

// Between loading and the first State only the wall clock tells what passed, and it is believed within reason.
func TestTimeUntilTheFirstStateAfterARestart(t *testing.T) {
	for name, c := range map[string]struct{ set, want time.Duration }{
		"a moment":                   {4 * time.Second, 4 * time.Second},
		"the wall clock is set back": {-time.Hour, 0},
		"it is set ahead":            {time.Hour, maxLoadDelay},
	} {
		l := newLamp(t, Meta{For: time.Hour}).minutes("on")
		before := l.board.memory.clock.Steady
		l.now = l.now.Add(-time.Minute) // of the newest State
		l.restarted(t, 6*time.Minute, nil)
		l.now = l.now.Add(c.set)
		l.minutes("on")
		if got := l.board.memory.clock.Steady.Sub(before); got != 6*time.Minute+c.want {
			t.Errorf("%s: %s passed, want %s", name, got, 6*time.Minute+c.want)
		}
	}
}

func TestSystemMomentAdvances(t *testing.T) {
	a := ReadSystemClock()
	b := ReadSystemClock()
	if d, _ := b.Since(a); d < 0 || d > time.Minute {
		t.Errorf("%s between two readings", d)
	}
}

func TestOneProcessHoldsTheLock(t *testing.T) {
	l := newLamp(t, Meta{}).minutes("on")
	dir := filepath.Join(t.TempDir(), "state")
	holder := openStore(t, dir, l.engine)
	if !holder.Locked() {
		t.Fatal("the first one does not hold the lock")
	}
	save(t, holder, l.board, moment(l))
	guest := openStore(t, dir, l.engine)
	if guest.Locked() {
		t.Fatal("two hold the lock")
	}
	before, err := os.ReadFile(filepath.Join(dir, stateFile))
	if err != nil {
		t.Fatal(err)
	}
	l.minutes("off")
	if ok, err := guest.Save(l.board, moment(l)); ok || err != nil {
		t.Errorf("saved %v, %v without the lock", ok, err)
	}
	if _, err := guest.SetAside(); err != nil {
		t.Error(err)
	}
	if after, err := os.ReadFile(filepath.Join(dir, stateFile)); err != nil || string(after) != string(before) {
		t.Error("the guest changed the holder's state")
	}
	if got, err := guest.Load(moment(l)); err != nil || len(got.Board.Alerts) != 1 || got.Board.Alerts[0].State != StateFiring {
		t.Errorf("the guest does not see the holder's state: %+v %v", got, err)
	}
	if err := holder.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := guest.TryLock(); !got || err != nil {
		t.Errorf("the lock is free: %v %v", got, err)
	}
}

func TestAKilledSaveLeavesTheOldState(t *testing.T) {
	l := newLamp(t, Meta{}).minutes("on")
	dir := t.TempDir()
	s := openStore(t, dir, l.engine)
	save(t, s, l.board, moment(l))
	if err := os.WriteFile(filepath.Join(dir, "."+stateFile+".123"), []byte(`{"schema":1,"rul`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Load(moment(l)); err != nil || len(got.Board.Alerts) != 1 {
		t.Errorf("%+v %v", got, err)
	}
	info, err := os.Stat(filepath.Join(dir, stateFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	openStore(t, dir, l.engine)
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("the next holder of the lock leaves %v, %v", left, err)
	}
}

// Whoever has the old file open goes on to read all of the old state: it is replaced, not written over.
func TestASaveReplacesTheFile(t *testing.T) {
	l := newLamp(t, Meta{}).minutes("on")
	dir := t.TempDir()
	s := openStore(t, dir, l.engine)
	save(t, s, l.board, moment(l))
	path := filepath.Join(dir, stateFile)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	old, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	save(t, s, l.minutes("on off").board, moment(l))
	if got, err := io.ReadAll(old); err != nil || string(got) != string(before) {
		t.Errorf("the old file was changed: %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) == string(before) {
		t.Errorf("nothing was saved: %v", err)
	}
}

func TestUnreadableStatesAreErrors(t *testing.T) {
	l := newLamp(t, Meta{}).minutes("on")
	for name, c := range map[string]struct{ text, want string }{
		"cut":               {`{"schema":1,"rules":{`, "does not hold a whole alert state"},
		"another schema":    {`{"schema":99}`, "schema 99"},
		"other environment": {`{"schema":1,"environment":"prod"}`, `environment "prod"`},
	} {
		dir := t.TempDir()
		s := openStore(t, dir, l.engine)
		if got, err := s.Load(moment(l)); err != nil || got.Board != nil {
			t.Errorf("%s: an empty directory gives %v %v", name, got, err)
		}
		if err := os.WriteFile(filepath.Join(dir, stateFile), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Load(moment(l)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if path, err := s.SetAside(); err != nil || path != filepath.Join(dir, stateFile+".unreadable") {
			t.Errorf("%s: set aside as %q, %v", name, path, err)
		}
		if kept, err := os.ReadFile(filepath.Join(dir, stateFile+".unreadable")); err != nil || string(kept) != c.text {
			t.Errorf("%s: the unreadable state is lost: %v", name, err)
		}
	}
}

func FuzzDecodeState(f *testing.F) {
	l := newLamp(f, Meta{For: time.Hour}).minutes("on on dark")
	good, err := encoded(l.board, moment(l))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"schema":1,"environment":"test","rules":{"lamp":{"records":[null],"alerts":[{"alert":null}]}}}`))
	f.Add([]byte(`{"schema":1,"environment":"test","rules":{"lamp":{"records":[{"key":{"kind":"session","source":"s","id":"b"},"state":"firing"},{"key":{"kind":"session","source":"s","id":"a"}}]}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := l.engine.decode(data, moment(l))
		if err != nil || got.Board == nil {
			return
		}
		x := *l
		if b, _ := x.engine.Next(got.Board, x.state("on")); b == nil {
			t.Error("no Board")
		}
	})
}

// encoded is what the state file of the environment "test" would hold.
func encoded(b *Board, at ClockReading) ([]byte, error) {
	var out bytes.Buffer
	err := b.encode(&out, "test", at)
	return out.Bytes(), err
}

// Saved alerts that cannot be read are kept, and whoever starts is told what that costs and what to do.
func TestUnreadableStateIsTold(t *testing.T) {
	l := newLamp(t, Meta{})
	dir := t.TempDir()
	s := openStore(t, dir, l.engine)
	if err := os.WriteFile(filepath.Join(dir, stateFile), []byte("no JSON"), 0o600); err != nil {
		t.Fatal(err)
	}
	var told []error
	svc := NewService(l.engine, ServiceOptions{Store: s, Problem: func(err error) { told = append(told, err) }, ReadClock: func() ClockReading { return moment(l) }})
	defer svc.Close()
	aside := (*SetAsideError)(nil)
	if len(told) != 1 || !errors.As(told[0], &aside) || !strings.Contains(told[0].Error(), "The file is now "+filepath.Join(dir, stateFile+".unreadable")) {
		t.Errorf("told %v", told)
	}
}
