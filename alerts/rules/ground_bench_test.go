package rules

import (
	"fmt"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// Ten thousand sandboxes with their sessions and as many scratch directories; four States a second, of which every twentieth
// reads the host anew.
func BenchmarkGroundTick10k(b *testing.B) {
	s := beginHost(b)
	s.source("docker", backend.InputContainers)
	for i := range 10_000 {
		id := fmt.Sprintf("s%05d", i)
		s.session(id, func(x *backend.Session) {
			x.Running, x.StartedAt = backend.Known(i%10 > 0), backend.Known(s.wall.Add(-time.Duration(i)*time.Minute))
		})
		s.box("c"+id, id, nil)
		s.dir(id, time.Duration(i)*time.Minute, nil)
	}
	st := s.state()
	st = st.WithListed("helix", backend.KindSession, s.wall).WithListed("helix", backend.KindWorkspace, s.wall)
	engine := alerts.NewEngine(rulesNamed(b), "bench")
	board, _ := engine.Next(nil, st)
	if len(board.Alerts) == 0 {
		b.Fatal("no alerts")
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		next := *st
		next.Number += uint64(i + 1)
		next.Wall, next.Mono = st.Wall.Add(time.Duration(i)*250*time.Millisecond), st.Mono+time.Duration(i)*250*time.Millisecond
		next.Delta = fleet.Delta{}
		if i%20 == 0 {
			next.Delta.Changed = []backend.Key{hostKey()}
		}
		next.Sources = nil
		for _, h := range st.Sources {
			c := *h
			c.LastOK = next.Wall
			next.Sources = append(next.Sources, &c)
		}
		board, _ = engine.Next(board, &next)
	}
}
