package helix

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
)

// TestPlan checks who is asked first when everybody is due.
func TestPlan(t *testing.T) {
	src := build(t, backend.Deps{ID: "helix", Interval: 5 * time.Second, Now: (backendtest.NewClock(noon)).Now, Dial: noDial}, func(o *Options) {
		o.URL = "http://h/{session}"
		for _, kind := range []string{"alert", "look", "run", "idle", "new"} {
			for i := range 4 {
				o.Sessions = append(o.Sessions, fmt.Sprintf("%s%d", kind, i))
			}
		}
	})
	var a backend.Attention
	for id, x := range src.sessions {
		key := backend.Key{Kind: backend.KindSession, Source: "helix", ID: id}
		switch name := id.Raw(); name[:len(name)-1] {
		case "alert":
			a.Alerting = append(a.Alerting, key)
			x.asked, x.answer = noon.Add(-time.Minute), backend.AnswerOK
		case "look":
			a.Visible = append(a.Visible, key)
			x.asked, x.answer = noon.Add(-2*time.Minute), backend.AnswerOK
		case "run":
			x.asked, x.answer = noon.Add(-time.Minute), backend.AnswerOK
		case "idle":
			x.asked, x.answer = noon.Add(-10*time.Minute), backend.AnswerIdle
		}
	}
	src.Attend(a)
	var order []string
	for _, x := range src.plan() {
		order = append(order, x.id.Raw())
	}
	const want = "alert0 alert1 alert2 new alert3 look0 look1 new look2 look3 new new idle0 idle1 idle2 idle3 run0 run1 run2 run3"
	var fresh []string
	for i, name := range order {
		if strings.HasPrefix(name, "new") { // in an order of this process's own
			fresh, order[i] = append(fresh, name), "new"
		}
	}
	if slices.Sort(fresh); strings.Join(fresh, " ") != "new0 new1 new2 new3" {
		t.Errorf("never asked: %v", fresh)
	}
	if got := strings.Join(order, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestUnchangedSessionOnAChangedPageIsTheSameEntity(t *testing.T) {
	rig, p := aggregateRig(t, `{"sessions":[`+full("a", "running", 1767268790000)+`,`+full("b", "running", 1767268790000)+`]}`)
	first := rig.poll()
	p.set(0, `{"sessions":[`+full("a", "running", 1767268790000)+`,`+full("b", "paused", 1767268790000)+`]}`)
	second := rig.poll()
	if sessionOf(first, "a") != sessionOf(second, "a") || sessionOf(first, "b") == sessionOf(second, "b") {
		t.Error("session a must be the same entity, session b a new one")
	}
	if workspace(first, "b/box") != workspace(second, "b/box") {
		t.Error("b's workspace did not change and must be the same entity")
	}
}

func TestEndIsToldOnceAndUndoneByTheNextSnapshot(t *testing.T) {
	m := &table{m: routes{"a": say(200, open), "b": say(200, open)}}
	rig := newRig(t, m.serve, fixed("a", "b"))
	rig.poll()
	m.drop("a")
	if r := rig.poll(); len(r.Ended) != 1 {
		t.Errorf("ended %v", r.Ended)
	}
	if r := rig.poll(); len(r.Ended) != 0 {
		t.Errorf("ended twice: %v", r.Ended)
	}
	m.set("a", say(200, open)) // the very same body as before
	rig.clock.Add(5 * time.Minute)
	if r := rig.poll(); workspace(r, "a/box") == nil {
		t.Errorf("a runs again and shows no workspace: %s", problemsText(r))
	}
}

// TestProcessesThatReadAPartReadEachSessionInTime: each has the time for a third of them, and knows nothing of the one before.
func TestProcessesThatReadAPartReadEachSessionInTime(t *testing.T) {
	read := map[string]bool{}
	for range 40 {
		src := build(t, backend.Deps{ID: "helix", Interval: 5 * time.Second, Now: (backendtest.NewClock(noon)).Now, Dial: noDial}, func(o *Options) {
			o.URL = "http://h/{session}"
			for i := range 30 {
				o.Sessions = append(o.Sessions, fmt.Sprint("s", i))
			}
		})
		for _, x := range src.plan()[:10] {
			read[x.id.Raw()] = true
		}
	}
	if len(read) != 30 {
		t.Errorf("%d of 30 sessions were ever read", len(read))
	}
}

// Each process reads a third and goes on where the one before stopped: none waits longer than a round, also while new sessions come.
func TestProcessesThatReadAPartTakeTurns(t *testing.T) {
	clock := backendtest.NewClock(noon)
	var marks []backend.Bookmark
	newest, wait := map[string]int{}, 0
	for run := range 12 {
		src := build(t, backend.Deps{ID: "helix", Interval: 5 * time.Second, Now: clock.Now, Dial: noDial}, func(o *Options) {
			o.URL = "http://h/{session}"
			for i := range 30 + run {
				o.Sessions = append(o.Sessions, fmt.Sprint("s", i))
			}
		})
		src.Resume(marks)
		if run > 0 {
			for _, id := range src.opt.Sessions[:29] {
				wait = max(wait, run-newest[id])
			}
		}
		for _, x := range src.plan()[:10] {
			x.asked, newest[x.id.Raw()] = clock.Now(), run+1
		}
		var r backend.Reading
		src.tellTurns(&r, src.waiting())
		marks = r.Bookmarks
		said := r.Notes[0].String()
		switch want := map[int]string{0: "20 of 30 sessions wait for their first reading", 1: "21 of 31 sessions were not read now; 11 of them were not read since the first run, 1m ago", 11: "31 of 41 sessions were not read now; earlier runs read each of them in the last 4m"}[run]; {
		case want != "" && said != want:
			t.Errorf("run %d: %q, want %q", run, said, want)
		}
		clock.Add(time.Minute)
	}
	if wait > 5 {
		t.Errorf("a session was not read for %d runs", wait)
	}
}
