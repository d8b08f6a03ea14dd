package alerts

import (
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// starting adds a source that has neither answered nor failed.
func starting(st *fleet.State) *fleet.State {
	slow := &fleet.SourceHealth{Key: backend.Key{Kind: backend.KindSource, Source: "slow", ID: backend.MustID("slow")}, Status: fleet.StatusStarting}
	st.Sources = append(st.Sources, slow)
	return st
}

// next plays one State and moves the time on.
func (l *lamp) next(st *fleet.State, wait time.Duration) {
	board, events := l.engine.Next(l.board, st)
	l.board = board
	for _, e := range events {
		l.events = append(l.events, e.Name)
	}
	l.now = l.now.Add(wait)
}

// While sources still start, what one answer suspects and the next proves is one change: the one at the end.
func TestStartIsOneMoment(t *testing.T) {
	l := newLamp(t, Meta{})
	start := l.now
	l.next(starting(l.state("maybe")), 100*time.Millisecond)
	l.next(starting(l.state("on")), 100*time.Millisecond)
	l.want("", "")
	l.next(l.state("on"), time.Second)
	l.want("", "firing")
	l.next(l.state("on"), time.Second)
	l.want("", "firing")
	if a := l.board.Alerts[0]; !a.Active.Equal(start) {
		t.Errorf("active since %v, want the start %v: what answers first must not decide the order of alerts", a.Active, start)
	}
}

// What the last of the answers brings became true with the start too, and what comes after it does not.
func TestStartEndsWithTheLastAnswer(t *testing.T) {
	l := newLamp(t, Meta{})
	start := l.now
	l.next(starting(l.state("off")), 3*time.Second)
	l.next(l.state("on"), time.Second)
	if a := l.board.Alerts[0]; !a.Active.Equal(start) {
		t.Errorf("active since %v, want %v", a.Active, start)
	}
	l.next(l.state("off"), time.Second)
	l.next(l.state("on"), 0)
	if a := l.board.Alerts[0]; !a.Active.Equal(l.now) {
		t.Errorf("active since %v, want %v", a.Active, l.now)
	}
	l.want("", "firing resolved firing")
}

// A source that hangs does not keep the timeline empty.
func TestStartIsBounded(t *testing.T) {
	l := newLamp(t, Meta{})
	l.next(starting(l.state("on")), longestOpening)
	l.want("", "")
	l.next(starting(l.state("on")), time.Second)
	l.want("", "firing")
}

// After a restart only what changed against the former process is reported; a process that ended during its start
// leaves what it did not report to the next one.
func TestStartAfterARestart(t *testing.T) {
	l := newLamp(t, Meta{})
	again := func(change string) {
		t.Helper()
		data, err := encoded(l.board, moment(l))
		if err != nil {
			t.Fatal(err)
		}
		loaded, err := l.engine.decode(data, moment(l))
		if err != nil {
			t.Fatal(err)
		}
		l.board, l.number = loaded.Board, 0
		l.next(starting(l.state(change)), 100*time.Millisecond)
	}
	l.next(starting(l.state("on")), time.Second)
	again("on") // the first process ended before its start was over
	l.want("", "")
	l.next(l.state("on"), time.Minute)
	l.want("", "firing")
	again("on")
	l.next(l.state("on"), time.Minute)
	l.want("", "firing")
	again("off")
	l.want("", "firing resolved")
	l.next(l.state("off"), time.Minute)
	l.want("", "firing resolved")
}
