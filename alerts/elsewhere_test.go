package alerts

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// TestAnotherEngineEndsNothing: the source of a laptop reads another engine after `docker context use`. What was found on the
// first one is held, since nothing says that it ended; it goes on when that engine is read again.
func TestAnotherEngineEndsNothing(t *testing.T) {
	l := newLamp(t, Meta{})
	read := func(engine, word string) {
		t.Helper()
		st := l.state(word)
		st.Sources[0].Engine = backend.Clean(engine, 80)
		st = st.WithListed("s", backend.KindSession, l.now)
		l.board, _ = l.engine.Next(l.board, st)
		l.now = l.now.Add(time.Minute)
	}
	again := func(after time.Duration) { // a new process
		t.Helper()
		at := ClockReading{Wall: l.now, Boot: "b", SinceBoot: time.Duration(l.now.Unix()) * time.Second}
		data, err := encoded(l.board, at)
		if err != nil {
			t.Fatal(err)
		}
		l.now = l.now.Add(after)
		at.Wall, at.SinceBoot = l.now, at.SinceBoot+after
		loaded, err := l.engine.decode(data, at)
		if err != nil {
			t.Fatal(err)
		}
		l.board = loaded.Board
	}
	want := func(state AlertState, why string) {
		t.Helper()
		if len(l.board.Alerts) != 1 || l.board.Alerts[0].State != state || !strings.Contains(l.board.Alerts[0].Why.String(), why) {
			t.Fatalf("want it %s (%s): %s %s", state, why, l.board.Alerts[0].State, l.board.Alerts[0].Why)
		}
	}
	read("unix:///a.sock", "on")
	want(StateFiring, "")
	for range 3 { // each command is a process of its own
		again(0)
		read("unix:///b.sock", "away")
		want(StateHeld, "s reads another engine now, unix:///b.sock; this was read from unix:///a.sock")
		read("unix:///b.sock", "away")
		want(StateHeld, "another engine")
	}
	again(0)
	read("unix:///a.sock", "on")
	want(StateFiring, "")
	read("unix:///b.sock", "gone") // in one process: its engine is gone, and the context names another one
	want(StateHeld, "another engine")
	if past, is := l.board.Past(l.board.Alerts[0].Subjects[0].Key); is && !past.By.IsZero() {
		t.Errorf("it is said to have left: %+v", past)
	}
	again(0)
	read("unix:///b.sock", "away")
	want(StateHeld, "another engine")
	again(elsewhereFor)
	read("unix:///b.sock", "away")
	want(StateEnded, "not read for a day")

	l = newLamp(t, Meta{})
	read("unix:///a.sock", "on")
	again(0)
	read("unix:///a.sock", "away")
	want(StateHeld, "not listed any more") // as ever, where the engine is the same
}
