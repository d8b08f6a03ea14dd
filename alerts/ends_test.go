package alerts

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestEndsBetweenTwoProcessesAreEvents: no State of the later one shows the sessions leave. A list that lost half or more at once
// ends none.
func TestEndsBetweenTwoProcessesAreEvents(t *testing.T) {
	key := func(i int) backend.Key {
		return backend.Key{Kind: backend.KindSession, Source: "helix", ID: backend.MustID("s" + string(rune('a'+i)))}
	}
	state := func(n uint64, at time.Time, status ...string) *fleet.State {
		var all []*backend.Session
		for i, s := range status {
			if s != "" {
				all = append(all, &backend.Session{Meta: backend.Meta{Key: key(i)}, Status: backend.Clean(s, 20), ListedRunning: backend.Known(s == "running")})
			}
		}
		st := &fleet.State{Number: n, Wall: at, Sessions: fleet.NewTable(all...), Sources: []*fleet.SourceHealth{{Key: backend.Key{Kind: backend.KindSource, Source: "helix"}, Status: fleet.StatusOK}}}
		return st.WithListed("helix", backend.KindSession, at)
	}
	of := func(n int, status string) []string { return slices.Repeat([]string{status}, n) }
	e := NewEngine(nil, "test")
	for _, x := range []struct {
		name   string
		second []string
		want   string
	}{
		{"all go on", of(12, "running"), ""},
		{"one left, one completed", append([]string{"", "completed"}, of(10, "running")...),
			"session sa ended: its list names it no more; it ran at 12:00:00Z, at the run before | session sb ended: its list says completed; it ran at 12:00:00Z, at the run before"},
		{"many", append(of(6, "failed"), of(6, "running")...), "6 sessions ended: its list says failed; it ran at 12:00:00Z, at the run before"},
		{"a suspect list", nil, ""},
	} {
		b, _ := e.Next(nil, state(1, pastNow, of(12, "running")...))
		at := ClockReading{Wall: pastNow, Boot: "b", SinceBoot: time.Hour}
		data, err := encoded(b, at)
		if err != nil {
			t.Fatal(err)
		}
		at.Wall, at.SinceBoot = at.Wall.Add(time.Minute), at.SinceBoot+time.Minute
		l, err := e.decode(data, at)
		if err != nil {
			t.Fatal(err)
		}
		b, _ = e.Next(l.Board, state(1, at.Wall, x.second...))
		var got []string
		for _, v := range b.ended {
			got = append(got, v.Text.String())
		}
		if strings.Join(got, " | ") != x.want {
			t.Errorf("%s: %s", x.name, strings.Join(got, " | "))
		}
		next := state(2, at.Wall.Add(time.Second), x.second...)
		next.Mono = time.Second
		if b, _ = e.Next(b, next); len(b.ended) != 0 {
			t.Errorf("%s: told again: %v", x.name, b.ended)
		}
	}
}
