package alerts

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// The check values of the method: five changes in a row are 28.5 %, six 33.9 %, and fifteen steady results after that
// 21.0 %.
func TestFlapCheckValues(t *testing.T) {
	now := time.Unix(1e9, 0)
	f := flap{At: now}
	want := func(percent float64, flaps bool) {
		t.Helper()
		if math.Abs(f.percent()-percent) > 0.05 || f.Flaps != flaps {
			t.Fatalf("%.2f %% flapping %v, want %.1f %% %v", f.percent(), f.Flaps, percent, flaps)
		}
	}
	for i := range 6 {
		now = now.Add(flapEvery)
		if f = f.next(i%2 == 0, now); i == 4 {
			want(28.5, false)
		}
	}
	want(33.9, true)
	for i := range 15 {
		if i == 14 {
			want(25.5, true)
		}
		now = now.Add(flapEvery)
		f = f.next(f.On, now)
	}
	want(21, false)
	for range 20 {
		f = f.result(!f.On)
	}
	want(99, true)
	if g := f.next(f.On, now.Add(100*time.Hour)); g.Changes != 0 || g.Flaps {
		t.Errorf("a hundred steady hours leave %+v", g)
	}
}

func TestResultsAreTakenOnceAMinuteAndAtEveryChange(t *testing.T) {
	f := flap{At: time.Unix(1e9, 0)}
	for i := range 239 { // a minute of States
		f = f.next(false, f.At.Add(time.Duration(i%2)*time.Millisecond))
	}
	f = f.next(true, time.Unix(1e9, 1))
	f = f.next(true, f.At.Add(59*time.Second))
	f = f.next(false, f.At.Add(150*time.Second))
	if f.Changes != 0b1001 {
		t.Errorf("changes %b, want two with two steady results between", f.Changes)
	}
}

func TestAFlappingAlertKeepsItsLine(t *testing.T) {
	l := newLamp(t, Meta{}).minutes("on off on off on").minutes("off off on dark on off")
	l.want("firing - firing - firing firing firing firing held firing firing", "firing resolved firing resolved firing flapping held firing")
	a := l.board.Alerts[0]
	if !a.Flapping || !a.Muted() || a.Severity != SeverityWarning || !strings.Contains(a.Why.String(), "kept while it flaps") || a.Subjects[0].State != StateResolved {
		t.Errorf("%+v", a)
	}
	l.minutes(strings.Repeat("off ", 30))
	if len(l.board.Alerts) != 0 || l.events[len(l.events)-1] != "resolved" {
		t.Errorf("after half an hour: %v %v", l.seen, l.events)
	}
	if n := len(l.board.memory.rules["lamp"].flaps); n != 0 {
		t.Errorf("%d histories are kept for nothing", n)
	}
}

func TestAFlappingAlertThatStaysOnGoesOnFiring(t *testing.T) {
	l := newLamp(t, Meta{}).minutes("on off on off on off on").minutes(strings.Repeat("on ", 20))
	if a := l.board.Alerts[0]; a.Flapping || a.State != StateFiring || l.events[len(l.events)-1] != "steady" {
		t.Errorf("%+v after %v", a, l.events)
	}
}

func TestPendingDoesNotEndAFlappingLine(t *testing.T) {
	l := newLamp(t, Meta{For: time.Minute}).minutes("on on off on on off on on off on on off")
	if got := strings.Join(l.seen[len(l.seen)-3:], " "); got != "firing firing firing" {
		t.Errorf("%v %v", l.seen, l.events)
	}
}

func TestFlappingSurvivesARestartAtAnyPoint(t *testing.T) {
	words := strings.Fields("on off on off on off on off off dark on off " + strings.Repeat("off ", 20))
	plain := newLamp(t, Meta{}).minutes(strings.Join(words, " "))
	for at := range len(words) - 1 {
		l := newLamp(t, Meta{}).minutes(strings.Join(words[:at+1], " "))
		l.now = l.now.Add(-time.Minute) // to the last State
		l.restarted(t, time.Minute, nil)
		l.minutes(strings.Join(words[at+1:], " "))
		if got, want := fmt.Sprint(l.seen, l.events), fmt.Sprint(plain.seen, plain.events); got != want {
			t.Errorf("restarted after %d:\n%s, want\n%s", at, got, want)
		}
	}
}

func TestWhatEndsDoesNotFlap(t *testing.T) {
	l := newLamp(t, Meta{}).minutes(strings.Repeat("on gone ", 12))
	for _, e := range l.events {
		if e == "flapping" {
			t.Fatalf("sessions that fail and end are no flapping: %v", l.events)
		}
	}
}
