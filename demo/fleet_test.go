package demo

import (
	"cmp"
	"encoding/json"
	"slices"
	"testing"
	"time"
)

var testStart = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

func testFleet(t testing.TB, scenario string, size int, seed uint64) *fleet {
	t.Helper()
	s, err := findScript(scenario)
	if err != nil {
		t.Fatal(err)
	}
	f, err := newFleet(fleetOptions{size: size, seed: seed, incidents: s.incidents, start: testStart, root: "/tmp/demo-test"})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// everything renders all that servers can say at one moment.
func everything(t testing.TB, f *fleet, at time.Duration) string {
	t.Helper()
	w := f.At(at)
	var out []byte
	for where := range instances {
		for first := 0; first < len(f.order[where]); first += pageSlots {
			out = append(out, encode(t, w.wirePage(page{where: where, first: first, full: true}))...)
		}
		for _, l := range w.logLines(where, at-time.Minute) {
			out = append(out, w.jsonLine(l)...)
		}
	}
	for i := range f.containers {
		out = append(out, encode(t, w.inspected(&f.containers[i]))...)
		out = append(out, encode(t, w.stats(&f.containers[i], known(at-time.Second)))...)
	}
	for _, e := range w.events(at - time.Minute) {
		out = append(out, encode(t, w.wireEvent(e))...)
	}
	return string(append(out, w.metrics()...))
}

func encode[T any](t testing.TB, v T) []byte {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestFleetIsAFunctionOfSeedScenarioAndTime(t *testing.T) {
	for _, s := range Scenarios() {
		a, b := testFleet(t, s.Name, 300, 7), testFleet(t, s.Name, 300, 7)
		other := testFleet(t, s.Name, 300, 8)
		// Asked in another order, to find answers that depend on former ones.
		late := everything(t, b, 10*time.Minute)
		for _, at := range []time.Duration{0, 61500 * time.Millisecond, 10 * time.Minute} {
			one, two := everything(t, a, at), everything(t, b, at)
			if one != two {
				t.Fatalf("%s at %s: equal seeds give different fleets", s.Name, at)
			}
			if one == everything(t, other, at) {
				t.Fatalf("%s at %s: the seed makes no difference", s.Name, at)
			}
		}
		if late != everything(t, a, 10*time.Minute) {
			t.Fatalf("%s: the fleet remembers being asked", s.Name)
		}
	}
}

func TestFleetHasExactlyTheWorkspacesAskedFor(t *testing.T) {
	for _, size := range []int{1, 2, 17, 300, defaultWorkspaces, 20_000} {
		f := testFleet(t, "all", size, 1)
		for _, at := range []time.Duration{0, time.Hour} {
			n := 0
			seen := map[string]bool{}
			for where := range instances {
				for first := 0; first < len(f.order[where]); first += pageSlots {
					p := f.At(at).wirePage(page{where: where, first: first, full: true})
					if len(p.Sessions) > 1000 {
						t.Fatalf("a page has %d sessions", len(p.Sessions))
					}
					for _, s := range p.Sessions {
						if seen[s.SessionID] {
							t.Fatalf("session %s is listed twice", s.SessionID)
						}
						seen[s.SessionID] = true
						n += len(s.Workspaces)
					}
				}
			}
			if n != size {
				t.Errorf("%d workspaces asked for, %d listed at %s", size, n, at)
			}
		}
	}
	for _, size := range []int{-1, maxWorkspaces + 1} {
		if _, err := newFleet(fleetOptions{size: size}); err == nil {
			t.Errorf("%d workspaces are accepted", size)
		}
	}
}

func TestMostOfTheDefaultFleetIsHealthy(t *testing.T) {
	f := testFleet(t, "all", defaultWorkspaces, 1)
	for _, at := range []time.Duration{0, 10 * time.Minute} {
		bad := 0
		for i := range f.workspaces {
			w := &f.workspaces[i]
			if w.trouble != noIndex && at >= f.troubles[w.trouble].first {
				bad++
			}
		}
		if bad < 30 || bad > defaultWorkspaces*6/100 {
			t.Errorf("%d of %d workspaces do not work at %s", bad, defaultWorkspaces, at)
		}
	}
	if n := len(f.containers); n < 195 || n > 230 {
		t.Errorf("%d containers, about 212 expected", n)
	}
}

func TestIDsCanBeReadBack(t *testing.T) {
	n := newNaming(seededHash(99))
	seen := map[string]bool{}
	for slot := range 5000 {
		for cycle := range int64(3) {
			id := n.id(slot, cycle)
			s, c, ok := n.parse(id)
			if !ok || s != slot || c != cycle || seen[id] {
				t.Fatalf("id %s of %d/%d reads back as %d/%d %v", id, slot, cycle, s, c, ok)
			}
			seen[id] = true
		}
	}
	for _, id := range []string{"", "s-", "s-00000000000g", "s-0000000000001", "x-000000000001", "s-0000000000FF"} {
		if _, _, ok := n.parse(id); ok {
			t.Errorf("%q is read as an id", id)
		}
	}
}

func TestTurningSessionsEndAndNewOnesCome(t *testing.T) {
	f := testFleet(t, "calm", defaultWorkspaces, 1)
	slot := slices.IndexFunc(f.sessions, func(s session) bool { return s.kind == turning })
	if slot < 0 {
		t.Fatal("no session ever ends")
	}
	s := f.sessions[slot]
	end := s.started + s.period
	before, after := f.At(end-time.Second), f.At(end+time.Second)
	old := before.sessionID(slot)
	if old == after.sessionID(slot) {
		t.Fatal("the new run has the old id")
	}
	if _, ok := after.findSession(old); ok {
		t.Error("a run that is over still has a health route")
	}
	done, ok := after.finished(slot)
	if !ok || done.SessionID != old || done.Status != "completed" {
		t.Errorf("the list shows %+v for the run that ended", done)
	}
	if _, ok := f.At(end + completedFor).finished(slot); ok {
		t.Error("a run that is over is listed for ever")
	}
}

func BenchmarkNewFleet(b *testing.B) {
	s, _ := findScript("all")
	for b.Loop() {
		if _, err := newFleet(fleetOptions{size: maxWorkspaces, incidents: s.incidents, start: testStart}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTagsOfAllPages(b *testing.B) {
	f := testFleet(b, "all", maxWorkspaces, 1)
	at := time.Duration(0)
	for b.Loop() {
		at += 5 * time.Second
		for where := range instances {
			for first := 0; first < len(f.order[where]); first += pageSlots {
				if f.At(at).tag(page{where: where, first: first, full: true}) == "" {
					b.Fatal("no tag")
				}
			}
		}
	}
}

func TestNoSessionBeginsInTheFuture(t *testing.T) {
	f := testFleet(t, "all", 100_000, 1)
	w := f.At(0)
	for i := range f.sessions {
		if begin := w.startOf(i); begin > 0 {
			t.Fatalf("session %d of %d begins %s from now", i, len(f.sessions), begin)
		}
	}
}

// events lists what happened after from and not after w.t, oldest first.
func (w world) events(from time.Duration) []containerEvent {
	out := w.scriptEvents(from)
	for _, d := range w.actions.from(0) {
		out = append(out, slices.DeleteFunc(actionEvents(d), func(e containerEvent) bool { return e.at <= from || e.at > w.t || !w.holds(e) })...)
	}
	slices.SortStableFunc(out, func(a, b containerEvent) int { return cmp.Compare(a.at, b.at) })
	return out
}
