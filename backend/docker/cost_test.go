package docker

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"sandglass/backend"
)

// A minute without events, 212 containers: one list, and one sample of each sandbox.
func TestQuietMinuteCostsOneListAndOneSweep(t *testing.T) {
	f := newFake(t)
	for i := range 212 {
		f.add(&fakeContainer{id: fmt.Sprintf("c%03d", i), name: fmt.Sprint("n", i), labels: map[string]string{"sandglass.session": fmt.Sprint(i)}})
	}
	s, c := f.source(nil)
	r := mustPoll(t, s)
	first := f.taken()
	if countOf(first, "_ping") != 1 || countOf(first, "containers/json") != 1 || countOf(first, "/json") != 213 || countOf(first, "/stats") != 0 || len(first) != 214 {
		t.Fatalf("the first poll made %d requests", len(first))
	}
	if r.Load.Requests != 214 || r.Load.Bytes < 212*500 || len(r.Load.Latencies) != maxLatencies {
		t.Errorf("load %d requests, %d bytes, %d latencies", r.Load.Requests, r.Load.Bytes, len(r.Load.Latencies))
	}
	watching(t, s)
	f.taken()
	for minute := range 3 {
		for range 12 {
			c.Add(5 * time.Second)
			mustPoll(t, s)
		}
		reqs := f.taken()
		lists, stats := countOf(reqs, "/containers/json"), countOf(reqs, "/stats")
		if lists != 1 || stats != 212 || len(reqs) != 213 {
			t.Errorf("minute %d: %d lists, %d samples, %d requests", minute, lists, stats, len(reqs))
		}
		for _, q := range reqs {
			if strings.Contains(q, "/stats") && !strings.Contains(q, "one-shot=true") {
				t.Fatalf("%s makes the engine wait a second for a second sample", q)
			}
		}
	}
	// Rows on a screen are sampled at every poll, the sweep goes on beside.
	var keys []backend.Key
	for i := range 40 {
		keys = append(keys, s.key(backend.MustID(fmt.Sprintf("c%03d", i))))
	}
	s.Attend(backend.Attention{Visible: keys})
	for range 12 {
		c.Add(5 * time.Second)
		mustPoll(t, s)
	}
	reqs := f.taken()
	if n := countOf(reqs, "/c005/stats"); n != 12 || countOf(reqs, "/stats") != 12*40+172 || countOf(reqs, "/c100/stats") != 1 {
		t.Errorf("a minute with 40 rows in sight: %d samples, %d of one row", countOf(reqs, "/stats"), n)
	}
	// A change between polls that no event told of costs one inspection.
	f.change(func() { f.containers["c100"].state, f.containers["c100"].status = "paused", "Up 2 minutes (Paused)" })
	s.Attend(backend.Attention{})
	for range 12 {
		c.Add(5 * time.Second)
		mustPoll(t, s)
	}
	reqs = f.taken()
	if countOf(reqs, "/c100/json") != 1 || countOf(reqs, "/json") != 2 {
		t.Errorf("one silent change cost %d inspections", countOf(reqs, "/json")-1)
	}
}

// Samples come slowly from an engine; neither they nor one that hangs may hold up what happened meanwhile.
func TestSamplesDoNotDelayAPoll(t *testing.T) {
	f := newFake(t)
	f.add(&fakeContainer{id: "slow", name: "slow", usage: 5000})
	a := f.add(&fakeContainer{id: "a", name: "a"})
	release := make(chan struct{})
	f.override = func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/slow/stats") {
			<-release
		}
		return false
	}
	s, c := f.source(nil)
	s.Attend(backend.Attention{Visible: []backend.Key{s.key(backend.MustID("slow"))}})
	poll := func() backend.Reading {
		t.Helper()
		r, err := s.Poll(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	poll()
	changed, _ := watching(t, s)
	f.change(func() { a.state, a.status = "paused", "Up 1 second (Paused)" })
	c.Add(5 * time.Second)
	f.emit(event("pause", "a", "a", time.Now().UnixNano(), ""))
	<-changed
	if r := poll(); find(t, r, "a").Class != backend.SandboxPaused {
		t.Error("the pause was not read")
	}
	if n := countOf(f.taken(), "/slow/stats"); n != 1 {
		t.Errorf("%d samples asked for while the first is not answered", n)
	}
	close(release)
	<-changed // somebody looks at it: a poll brings the figure at once
	if r := poll(); find(t, r, "slow").Usage.Or(backend.Usage{}).Mem.Or(0) != 4000 {
		t.Error("the figure did not arrive")
	}
}

func TestAtMostTenInFlight(t *testing.T) {
	f := newFake(t)
	for i := range 60 {
		f.add(&fakeContainer{id: fmt.Sprint("c", i), name: fmt.Sprint("n", i)})
	}
	var mu sync.Mutex
	cond := sync.NewCond(&mu)
	now, most := 0, 0
	f.override = func(_ http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/c") || strings.HasSuffix(r.URL.Path, "containers/json") {
			return false
		}
		mu.Lock()
		defer mu.Unlock()
		now++
		most = max(most, now)
		cond.Broadcast()
		for most < inFlight { // all ten must be there before the first goes on
			cond.Wait()
		}
		now--
		return false
	}
	s, _ := f.source(nil)
	if r := mustPoll(t, s); len(r.Stale) != 0 {
		t.Errorf("stale: %v", r.Stale)
	}
	if most != inFlight {
		t.Errorf("%d at once, want %d", most, inFlight)
	}
}
