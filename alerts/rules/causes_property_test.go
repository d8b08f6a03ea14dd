package rules

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// causesAtRandom changes the fleet of each story in the same way, with what the rules about causes look at.
func causesAtRandom(r *rand.Rand, stories ...*story) {
	session := fmt.Sprintf("s%d", r.IntN(8))
	path := fmt.Sprintf("%s/w%d", session, r.IntN(2))
	state := []string{"open", "failed", "failed", "failed", "evicted", "opening"}[r.IntN(6)]
	err := []string{"", schema, noBucket, quota, full(r.IntN(99)), oneCause(r.IntN(99)), oneCause(r.IntN(99)), manyCauses(r.IntN(12)), manyCauses(r.IntN(12)),
		"ENOENT: no such file or directory, open '/tmp/helix-ws-a1b2c3/x'", "No such container: 0a1b2c3d4e5f"}[r.IntN(11)]
	attempt, success := time.Duration(r.IntN(20))*time.Minute/4+1, time.Duration(r.IntN(60))*time.Minute/2
	provider := []string{"", "in-memory", "local-bash", "cloudflare-sandbox", "cloudflare-filestore"}[r.IntN(5)]
	tenant, id, lost, what := fmt.Sprintf("t%d", r.IntN(2)), r.IntN(8), time.Duration(r.IntN(90))*time.Minute, r.IntN(24)
	for _, s := range stories {
		h := s.sources["helix"]
		told := h.Status == fleet.StatusOK && !h.WorkspacesUnknown // a source that does not answer tells nothing and ends nothing
		switch {
		case what < 8 && told && s.workspaces[wsKey(path)] != nil: // it is tried once more, in vain, or opened anew in between
			s.edit(path, func(w *backend.Workspace) {
				if w.LastAttemptAt = backend.Known(s.wall.Add(-time.Second)); w.Class == backend.ClassFailed && id < 4 {
					w.Reported, w.Class = backend.Text("opening"), backend.ClassOpening
				} else if w.Class == backend.ClassOpening {
					w.Reported, w.Class = backend.Text("failed"), backend.ClassFailed
				}
			})
		case what < 15 && told:
			s.reads(path, reading{state: state, err: err, attempt: attempt, success: success, provider: provider, edit: func(w *backend.Workspace) {
				if id < 4 {
					w.ProviderID = backend.MustID(fmt.Sprintf("sbx-%d", id))
				}
				if lost < 20*time.Minute {
					w.LostSuccess = noon.Add(lost)
				}
			}})
		case what == 15 && told:
			s.session(session, func(x *backend.Session) {
				x.Tenant, x.StartedAt, x.Running = backend.Clean(tenant, 9), backend.Known(noon.Add(-lost)), backend.Known(id > 2)
			})
		case what == 16 && told && s.alertless(wsKey(path)):
			s.ends(path, "closed")
		case what == 18 && id == 0:
			s.down("helix", "connection refused")
		case what == 18 || what == 19:
			s.up("helix")
		case what == 20 && s.workspaces[wsKey(path)] != nil:
			s.edit(path, func(w *backend.Workspace) { w.Stale = !w.Stale })
		case what == 21 && s.workspaces[wsKey(path)] != nil:
			s.edit(path, func(w *backend.Workspace) { w.Unreadable = !w.Unreadable })
		case what == 22:
			rollout(s)
		case what == 23 && told:
			k := wsKey(path)
			s.ref(path, func(x *backend.Ref) { x.Sandbox = backend.MustID("container-" + k.Parent.Raw()) })
			s.sandbox(fmt.Sprintf("container-s%d", id), session, backend.SandboxRunning)
		}
	}
}

// alertless reports whether a workspace is there and no alert is about it. What a rule notes of a workspace that comes
// back while its ended alert is still listed is not kept, so that such a case depends on when it is looked at.
func (s *story) alertless(k backend.Key) bool {
	for _, a := range s.board.Alerts {
		for _, x := range a.Subjects {
			if x.Key == k {
				return false
			}
		}
	}
	return s.workspaces[k] != nil
}

// kindsBetween are the rules from one to another in the order of the documentation.
func kindsBetween(first, last string) []Kind {
	all := Kinds()
	at := func(name string) int { return slices.IndexFunc(all, func(k Kind) bool { return k.Name == name }) }
	return all[at(first) : at(last)+1]
}

// touchy builds the rules about causes with thresholds that a small fleet reaches. restart-storm stands apart: after a
// restart nobody knows any more what was opened when.
func touchy(t *testing.T, restart bool) []alerts.Rule {
	var out []alerts.Rule
	for _, k := range kindsBetween("evicted-sustained", "restart-storm") {
		o := k.Defaults()
		switch o := o.(type) {
		case *BurstOptions:
			o.Sessions = 2
		case *ChaosOptions:
			o.Causes, o.Sessions = 3, 2
		case *LoopOptions:
			o.Resets = 2
		case *RestartOptions:
			o.Opens, o.Share = 2, 0.1
		}
		r, err := k.New(o)
		if err != nil {
			t.Fatal(err)
		}
		if (k.Name == restartRule) == restart {
			out = append(out, r)
		}
	}
	return out
}

// Deltas find what evaluating from scratch finds, and a restart anywhere changes neither alerts nor transitions.
func TestPropertyOfCauseRules(t *testing.T) {
	fired := map[string]bool{}
	for seed := range uint64(5) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 7))
			begun := func(restart bool) *story {
				s := beginWith(t, touchy(t, restart)...)
				s.source("refs", backend.InputRefs)
				s.source("docker", backend.InputContainers)
				s.source("prom", backend.InputEvictions)
				return s.look()
			}
			through, restarted, rolled := begun(false), begun(false), begun(true)
			restarted.plainly = true
			for range 100 {
				d := []time.Duration{time.Second, 5 * time.Second, 20 * time.Second, time.Minute}[r.IntN(4)]
				for range r.IntN(8) {
					causesAtRandom(r, through, restarted, rolled)
				}
				if r.IntN(4) == 0 {
					restarted.restart()
				}
				for _, s := range []*story{through, restarted, rolled} {
					s.after(d)
					for _, a := range s.board.Alerts {
						fired[a.Rule] = true
					}
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
	for _, k := range kindsBetween("evicted-sustained", "restart-storm") {
		if !fired[k.Name] {
			t.Errorf("%s never had an alert, so this proves nothing about it", k.Name)
		}
	}
}
