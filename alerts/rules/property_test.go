package rules

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// randomly changes the fleet of each story in the same way, so that stories told differently can be compared.
func randomly(r *rand.Rand, stories ...*story) {
	path := fmt.Sprintf("s%d/w%d", r.IntN(6), r.IntN(3))
	session := fmt.Sprintf("s%d", r.IntN(6))
	state := []string{"open", "failed", "failed", "evicted", "opening"}[r.IntN(5)]
	err := []string{"", quota, "bucket unreachable", "timeout after 3s"}[r.IntN(4)]
	attempt, success := time.Duration(r.IntN(20))*time.Minute/4+1, time.Duration(r.IntN(60))*time.Minute/2
	n := float64(r.IntN(200))
	what := r.IntN(20)
	for _, s := range stories {
		h := s.sources["helix"]
		told := h.Status == fleet.StatusOK && !h.WorkspacesUnknown // a source that does not answer ends nothing
		switch {
		case what < 10:
			s.reads(path, reading{state: state, err: err, attempt: attempt, success: success, provider: "p" + path[1:2]})
		case what == 10 && told && s.workspaces[wsKey(path)] != nil:
			s.ends(path, "closed")
		case what == 11:
			s.session(session, nil)
		case what == 12 && told && s.sessions[sessionKey(session)] != nil:
			s.sessionEnds(session)
		case what == 13:
			s.down("helix", "connection refused")
		case what == 14:
			s.up("helix")
		case what == 15 && s.workspaces[wsKey(path)] != nil:
			s.edit(path, func(w *backend.Workspace) { w.Stale = !w.Stale })
		case what == 16:
			s.health("helix", func(h *fleet.SourceHealth) { h.WorkspacesUnknown = !h.WorkspacesUnknown })
		case what == 17:
			s.rejects(session, n, 1, 100*n)
		case what >= 18:
			s.evicts(n/4, n/10)
		}
	}
}

func propertyStory(t testing.TB) *story {
	s := begin(t)
	s.source("prom", backend.InputEvictions)
	s.source("app", backend.InputRejections)
	s.evicts(0, 0)
	for i := range 6 {
		s.rejects(fmt.Sprintf("s%d", i), 0, 0, 0)
	}
	return s.look()
}

// Whatever happens, evaluating from deltas finds what evaluating from scratch finds (every look of a story compares the
// two), and restarts anywhere in between change neither alerts nor transitions.
func TestPropertyIncrementalAndRestarted(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			through, restarted := propertyStory(t), propertyStory(t)
			restarted.plainly = true
			for range 100 {
				d := []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute}[r.IntN(4)]
				for range r.IntN(4) {
					randomly(r, through, restarted)
				}
				if r.IntN(4) == 0 {
					restarted.restart()
				}
				// health and counts are read each time, so that only what the test wants is a gap
				for _, s := range []*story{through, restarted} {
					s.pass(d)
					s.evicts(0, 0)
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

// A thousand sessions fail and close within a day; nothing of them stays.
func TestADayOfFailingSessionsLeavesNoLine(t *testing.T) {
	s := begin(t)
	s.plainly = true
	fired := 0
	for i := range 1000 {
		id := fmt.Sprintf("s%d", i)
		s.session(id, nil)
		s.reads(id+"/box", reading{state: "failed", err: fmt.Sprintf("cause number %c", 'a'+i%26), attempt: 11 * time.Minute, success: 12 * time.Minute})
		s.after(30 * time.Second)
		fired += len(s.alerts(failedRule))
		s.sessionEnds(id)
		s.after(56 * time.Second)
	}
	if fired < 1000 {
		t.Fatalf("%d alerts on the way, want at least one for each session", fired)
	}
	s.after(15 * time.Minute)
	if len(s.board.Alerts) != 0 {
		t.Errorf("left over:\n%s", summary(s.board))
	}
}

// benchFleet makes a State of n workspaces, of which a share is failing in each way.
func benchFleet(b testing.TB, n int, sick float64) (*alerts.Engine, []*backend.Workspace, func(changed []*backend.Workspace) *fleet.State) {
	ws := make([]*backend.Workspace, n)
	for i := range ws {
		w := &backend.Workspace{
			Meta:  backend.Meta{Key: wsKey(fmt.Sprintf("session-%06d/box%d", i/4, i%4)), ReadAt: noon, FirstSeen: noon.Add(-time.Hour)},
			Named: true, Reported: backend.Text("open"), LastAttemptAt: ago(noon, time.Minute), LastSuccessAt: ago(noon, time.Minute),
			LastOpAt: backend.NotApplicable[time.Time](),
		}
		w.Provider, w.ProviderID = backend.Text("cloudflare-sandbox"), backend.MustID(fmt.Sprintf("sbx-%08x", i))
		if float64(i%1000) < sick*1000 {
			w.LastSuccessAt = ago(noon, 40*time.Minute)
			w.LastAttemptAt = ago(noon, 30*time.Minute)
			w.LastError = backend.Clean(fmt.Sprintf("WorkspaceFailedError: sandbox sbx_%08x: max_instances %d reached", i*2654435761, i%50), 200)
			switch i % 3 {
			case 0:
				w.Reported, w.Class = backend.Text("failed"), backend.ClassFailed
			case 1:
				w.Reported, w.Class = backend.Text("evicted"), backend.ClassEvicted
			}
		}
		ws[i] = w
	}
	h := &fleet.SourceHealth{
		Key:    backend.Key{Kind: backend.KindSource, Source: "helix", ID: backend.MustID("helix")},
		Status: fleet.StatusOK, Interval: 5 * time.Second, LastOK: noon, Inputs: []backend.Input{backend.InputRegistry},
	}
	sessions := make([]*backend.Session, 0, n/4+1)
	for i := 0; i < n; i += 4 {
		key := backend.Key{Kind: backend.KindSession, Source: "helix", ID: ws[i].Key.Parent}
		x := &backend.Session{Meta: backend.Meta{Key: key, ReadAt: noon}, Running: backend.Known(true)}
		x.Tenant = backend.Text("acme")
		sessions = append(sessions, x)
	}
	owners := fleet.NewTable(sessions...)
	number := uint64(0)
	return alerts.NewEngine(rulesNamed(b), "bench"), ws, func(changed []*backend.Workspace) *fleet.State {
		number++
		now := noon.Add(time.Duration(number) * 250 * time.Millisecond)
		c := *h
		c.LastOK = now
		st := &fleet.State{Number: number, Wall: now, Mono: now.Sub(noon), LongestOperation: 5 * time.Minute, Sources: []*fleet.SourceHealth{&c}, Sessions: owners}
		for _, w := range changed {
			st.Delta.Changed = append(st.Delta.Changed, w.Key)
		}
		return st
	}
}

func BenchmarkFromScratch10k(b *testing.B) {
	for _, sick := range []float64{0.05, 1} {
		b.Run(fmt.Sprintf("sick=%g", sick), func(b *testing.B) {
			engine, ws, next := benchFleet(b, 10_000, sick)
			st := next(nil)
			st.Workspaces = fleet.NewTable(ws...)
			st = st.Followed()
			b.ReportAllocs()
			for b.Loop() {
				board, _ := engine.Next(nil, st)
				if len(board.Alerts) == 0 {
					b.Fatal("no alerts")
				}
			}
		})
	}
}

func BenchmarkTick100k(b *testing.B) {
	for _, sick := range []float64{0.05, 1} {
		b.Run(fmt.Sprintf("sick=%g", sick), func(b *testing.B) {
			engine, ws, next := benchFleet(b, 100_000, sick)
			st := next(nil)
			st.Workspaces = fleet.NewTable(ws...)
			board, _ := engine.Next(nil, st)
			// ten generations of changed rows are prepared, so that only the evaluation is measured
			var states []*fleet.State
			for g := range 10 {
				var changed []*backend.Workspace
				for i := g * 7; i < len(ws); i += 100 {
					w := *ws[i]
					w.LastAttemptAt = backend.Known(noon.Add(time.Duration(g) * time.Second))
					if w.Class == backend.ClassUnknown && w.LastError.IsEmpty() {
						w.LastSuccessAt = w.LastAttemptAt
					}
					ws[i] = &w
					changed = append(changed, &w)
				}
				s := next(changed)
				s.Workspaces = fleet.NewTable(ws...)
				states = append(states, s.Followed())
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				s, now := *states[i%10], next(nil)
				s.Number, s.Wall, s.Mono, s.Sources = board.Number+1, now.Wall, now.Mono, now.Sources
				board, _ = engine.Next(board, &s)
			}
		})
	}
}
