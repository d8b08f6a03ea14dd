package fleet

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// onVersions makes sessions that run the given versions, named s0, s1, …; an empty version states none.
func onVersions(versions ...string) backend.Reading {
	r := backend.Reading{Scopes: []backend.Scope{whole(backend.KindSession)}}
	for i, v := range versions {
		s := sess(fmt.Sprintf("s%02d", i))
		s.Running = backend.Known(true)
		s.FrameworkVersion = backend.Clean(v, 40)
		r.Sessions = append(r.Sessions, s)
	}
	return r
}

func repeat(n int, v string) []string {
	return strings.Split(strings.TrimSuffix(strings.Repeat(v+" ", n), " "), " ")
}

// markers are the texts of a State's version markers.
func markers(t *testing.T, st *State) string {
	t.Helper()
	var out []string
	for _, e := range st.Events {
		if e.Kind != backend.EventChange || e.Source != "h" || e.Subject.Kind != backend.KindSource || e.At.IsZero() {
			t.Errorf("event %+v", e)
		}
		out = append(out, e.Name+": "+e.Text.String())
	}
	return strings.Join(out, " | ")
}

func wantMarkers(t *testing.T, st *State, want string) {
	t.Helper()
	if got := markers(t, st); got != want {
		t.Errorf("State %d says %q, want %q", st.Number, got, want)
	}
}

func TestARolloutIsTwoMarkers(t *testing.T) {
	s := newStore(time.Minute)
	wantMarkers(t, step(s, t0, onVersions(repeat(14, "6.4.1")...)), "")
	mixed := repeat(14, "6.4.1")
	for i := range 13 {
		mixed[i] = "6.4.2"
		want := ""
		if i == 0 {
			want = "version: 1 of 14 sessions now run 6.4.2 (before: 6.4.1)"
		}
		wantMarkers(t, step(s, t0.Add(time.Duration(i+1)*10*time.Second), onVersions(mixed...)), want)
	}
	mixed[13] = "6.4.2"
	wantMarkers(t, step(s, t0.Add(150*time.Second), onVersions(mixed...)), "version: 14 of 14 sessions now run 6.4.2 (before: 6.4.1)")
	wantMarkers(t, step(s, t0.Add(155*time.Second), onVersions(mixed...)), "")
	// And back.
	wantMarkers(t, step(s, t0.Add(200*time.Second), onVersions(repeat(14, "6.4.1")...)), "version: 14 of 14 sessions now run 6.4.1 (before: 6.4.2)")
}

func TestFindingSessionsIsNoChange(t *testing.T) {
	s := newStore(time.Minute)
	wantMarkers(t, step(s, t0, onVersions("", "")), "")
	wantMarkers(t, step(s, t0.Add(10*time.Second), onVersions("1", "")), "")
	wantMarkers(t, step(s, t0.Add(20*time.Second), onVersions("1", "2")), "")
	// Everything ends and comes back, and one of two versions pauses.
	wantMarkers(t, step(s, t0.Add(10*time.Minute), backend.Reading{Scopes: []backend.Scope{whole(backend.KindSession)}}), "")
	wantMarkers(t, step(s, t0.Add(11*time.Minute), backend.Reading{Scopes: []backend.Scope{whole(backend.KindSession)}}), "")
	wantMarkers(t, step(s, t0.Add(12*time.Minute), onVersions("1")), "")
	wantMarkers(t, step(s, t0.Add(13*time.Minute), onVersions("1", "2")), "")
	// A version that nobody ran for long, or never, is new.
	wantMarkers(t, step(s, t0.Add(14*time.Minute), onVersions("1", "2", "3")), "version: 1 of 3 sessions now run 3 (before: 1, 2)")
}

func TestIdleSessionsRunNothing(t *testing.T) {
	s := newStore(time.Minute)
	step(s, t0, onVersions("1", "1", "1"))
	r := onVersions("2", "1", "1")
	r.Sessions[1].Running, r.Sessions[2].Running = backend.Known(false), backend.Known(false)
	wantMarkers(t, step(s, t0.Add(10*time.Second), r), "version: 1 of 1 sessions now run 2 (before: 1)")
}

func TestImagesOfSandboxes(t *testing.T) {
	box := func(id, image string, class backend.SandboxClass) *backend.Sandbox {
		return &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "h", ID: backend.MustID(id)}},
			IsSandbox: id != "db", Image: backend.Clean(image, 80), Class: class}
	}
	boxes := func(list ...*backend.Sandbox) backend.Reading {
		return backend.Reading{Sandboxes: list, Scopes: []backend.Scope{whole(backend.KindSandbox)}}
	}
	s := newStore(time.Minute)
	step(s, t0, boxes(box("a", "agent:1", backend.SandboxRunning), box("db", "pg:15", backend.SandboxRunning)))
	at := t0.Add(5 * time.Minute)
	wantMarkers(t, step(s, at, boxes(box("a", "agent:1", backend.SandboxRunning), box("b", "agent:2", backend.SandboxCreated), box("db", "pg:16", backend.SandboxRunning))), "")
	wantMarkers(t, step(s, at.Add(time.Second), boxes(box("a", "agent:1", backend.SandboxExited), box("b", "agent:2", backend.SandboxRunning))),
		"image: 1 of 1 sandboxes now run agent:2 (before: agent:1)")
}

func TestMarkersAreBounded(t *testing.T) {
	s := newStore(time.Minute)
	step(s, t0, onVersions("base"))
	told := 0
	for i := range 1000 {
		st := step(s, t0.Add(5*time.Minute+time.Duration(i)*time.Second), onVersions("base", fmt.Sprintf("build-%d", i)))
		told += len(st.Events)
	}
	if told == 0 || told > maxVersionEvents {
		t.Errorf("%d markers for a thousand versions within a quarter of an hour", told)
	}
	for _, f := range s.versionTracker.fleets {
		if len(f.running) != 2 || len(f.announced) > maxVersionEvents {
			t.Errorf("%d running, %d told", len(f.running), len(f.announced))
		}
	}
}

// Counts follow the entities through every order of changes and departures.
func TestVersionCountsAreThoseOfTheState(t *testing.T) {
	s := newStore(time.Minute)
	for i := range 40 {
		n := (i*7)%5 + 1
		versions := make([]string, n)
		for j := range versions {
			versions[j] = fmt.Sprint((i + j) % 3)
		}
		r := onVersions(versions...)
		if i%4 == 3 {
			r.Ended = append(r.Ended, r.Sessions[0].Key)
		}
		st := step(s, t0.Add(time.Duration(i)*time.Minute), r)
		want := map[backend.Safe]int{}
		for x := range st.Sessions.All() {
			want[x.FrameworkVersion]++
		}
		got := s.versionTracker.fleets[versionedKind{"h", backend.KindSession}].running
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("State %d: counted %v, it holds %v", st.Number, got, want)
		}
	}
}

func TestAnotherSDKIsAMarkerToo(t *testing.T) {
	s := newStore(time.Minute)
	with := func(sdk string) backend.Reading {
		r := onVersions("6.4.1", "6.4.1")
		for _, x := range r.Sessions {
			x.SDKVersion = backend.Clean(sdk, 40)
		}
		return r
	}
	wantMarkers(t, step(s, t0, with("0.8.11")), "")
	wantMarkers(t, step(s, t0.Add(10*time.Second), with("0.10.3")), "version: 2 of 2 sessions now run 6.4.1, SDK 0.10.3 (before: 6.4.1, SDK 0.8.11)")
}
