package rules

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// stir changes sandboxes, hosts, scratch directories, sessions and lines of each story in the same way.
func stir(r *rand.Rand, stories ...*story) {
	what, i, n := r.IntN(16), r.IntN(5), float64(r.IntN(3))
	session, box, dir := fmt.Sprintf("s%d", i), fmt.Sprintf("c%d", r.IntN(5)), fmt.Sprintf("d%d", r.IntN(6))
	age := time.Duration(r.IntN(50)) * time.Hour
	flag, far := r.IntN(2) == 0, int64(r.IntN(10))
	for _, s := range stories {
		up := s.sources["helix"].Status == fleet.StatusOK
		switch what {
		case 0, 1:
			s.session(session, func(x *backend.Session) {
				x.Running, x.StartedAt = backend.Known(flag), backend.Known(s.wall.Add(-age))
			})
		case 2:
			if up && s.sessions[sessionKey(session)] != nil {
				s.sessionEnds(session)
			}
		case 3, 4:
			s.reads(session+"/box", reading{state: "open", attempt: time.Second, success: time.Second, edit: func(w *backend.Workspace) {
				w.DestroyOnClose, w.MaxFileSize = backend.Known(flag), backend.Known(far*1e7)
				if far > 6 {
					w.SleepAfter = backend.Known(10 * time.Minute)
				}
			}})
		case 5, 6:
			s.box(box, session, func(b *backend.Sandbox) {
				b.Class, b.OOMKilled, b.FinishedAt = backend.SandboxRunning, backend.Known(false), backend.NotApplicable[time.Time]()
				b.Usage = backend.Known(backend.Usage{At: s.wall, Mem: backend.Known(far * 1e8), MemLimit: backend.Known[int64](9e8)})
			})
		case 7:
			s.box(box, session, killedBefore(s, time.Duration(far)*time.Minute))
		case 8:
			if s.sandboxes[boxKey(box)] != nil {
				s.boxGone(box)
			}
		case 9, 10:
			s.dir(dir, age, func(d *backend.Tmpdir) {
				if !flag && far > 5 {
					d.Holders = backend.Unknown[[]backend.Holder]()
				}
			})
		case 11:
			s.host(func(h *backend.Host) {
				h.OOMKills = backend.Known(h.OOMKills.Or(0) + far/8)
				h.MemAvailable = backend.Known(far * 1e8)
			})
		case 12:
			s.root(func(x *backend.Root) { x.Writable, x.BytesFree = backend.Known(flag), backend.Known(far*1e9) })
		case 13:
			if s.sources["app"].Status == fleet.StatusOK {
				for _, m := range lineMetrics {
					s.lines(m, session, n, "EBUSY: resource busy")
				}
			}
		case 14:
			id := []string{"helix", "scratch", "docker", "app"}[i%4]
			if s.sources[id].Status == fleet.StatusOK {
				s.down(id, "connection refused")
			} else {
				s.up(id)
			}
		case 15:
			s.health("docker", func(h *fleet.SourceHealth) { h.ClockOffset = backend.Known(time.Duration(far) * 10 * time.Second) })
		}
	}
}

var lineMetrics = []backend.Metric{backend.MetricTmpdirCloseFailed, backend.MetricAgentOOM, backend.MetricCloseTimeout}

// settle says once more what hangs on other things: rules look at sandboxes and directories again after some seconds when
// their session changed, a look at everything does so at once.
func (s *story) settle() {
	if s.sources["app"].Status == fleet.StatusOK {
		for i := range 5 {
			for _, m := range lineMetrics {
				s.lines(m, fmt.Sprintf("s%d", i), 0, "")
			}
		}
	}
	for k := range s.sandboxes {
		s.delta.Changed = append(s.delta.Changed, k)
	}
	for k := range s.tmpdirs {
		s.delta.Changed = append(s.delta.Changed, k)
	}
	for k := range s.hosts {
		s.delta.Changed = append(s.delta.Changed, k)
	}
}

// Whatever happens to what workspaces stand on, deltas find what a look at everything finds (every look compares), and
// restarts in between change nothing.
func TestPropertyGround(t *testing.T) {
	var names []string
	for _, k := range kindsBetween("sandbox-oom", "clock-skew") {
		names = append(names, k.Name)
	}
	begins := func() *story {
		s := beginHost(t, names...)
		s.source("docker", backend.InputContainers)
		s.source("app", backend.InputEvictionLogs)
		s.listed[backend.KindSession], s.listed[backend.KindWorkspace] = "helix", "helix"
		return s.look()
	}
	for seed := range uint64(5) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 2))
			through, restarted := begins(), begins()
			through.t, restarted.t = t, t
			restarted.plainly = true
			for range 70 {
				d := []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute}[r.IntN(4)]
				for range r.IntN(4) {
					stir(r, through, restarted)
				}
				if r.IntN(4) == 0 {
					restarted.restart()
				}
				for _, s := range []*story{through, restarted} {
					s.pass(d)
					s.settle()
					s.look()
				}
				if a, b := summary(through.board), summary(restarted.board); a != b {
					t.Fatalf("at %s a restart changed the alerts:\n%s\nrestarted:\n%s", through.wall.Format("15:04:05"), a, b)
				}
			}
			if a, b := through.transitions(), restarted.transitions(); a != b || a == "" {
				t.Errorf("transitions %q\nrestarted   %q", a, b)
			}
		})
	}
}
