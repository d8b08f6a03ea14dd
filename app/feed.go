package app

import (
	"context"
	"strings"
	"sync"
	"time"

	"sandglass/actions"
	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// ActionFeed lets actions see what the screen sees.
type ActionFeed struct {
	fleet   *fleet.Fleet
	service *alerts.Service

	mu       sync.Mutex
	board    *alerts.Board // that concerns were made of
	concerns []actions.Concern
	none     []backend.Key             // in which no command begins, as the log of their agent says
	proofs   map[backend.Key]time.Time // what effects proved, until a State shows it
}

// NewActionFeed joins a fleet and what evaluates its States.
func NewActionFeed(f *fleet.Fleet, d *alerts.Service) *ActionFeed {
	return &ActionFeed{fleet: f, service: d}
}

// attending is the viewer under whose name the targets of a plan are looked at.
const attending = "actions"

// Snapshot is the newest State with its alerts.
func (f *ActionFeed) Snapshot() actions.Snapshot {
	state, board := f.service.Latest()
	f.mu.Lock()
	defer f.mu.Unlock()
	if board != f.board && board != nil {
		f.board, f.concerns, f.none = board, concerns(board), noneBegins(board)
	}
	return actions.Snapshot{State: state, Concerns: f.concerns, NoneBegins: f.none}
}

// Subscribe tells of newer snapshots.
func (f *ActionFeed) Subscribe() (<-chan struct{}, func()) { return f.service.Subscribe() }

// Wake asks for a poll of the source now.
func (f *ActionFeed) Wake(source string) { f.fleet.Wake(source) }

// Reread asks for a poll of the key's source now that reads the key itself.
func (f *ActionFeed) Reread(k backend.Key) { f.fleet.Reread(k) }

// Attend names what readings look at first.
func (f *ActionFeed) Attend(keys []backend.Key) { f.service.SetVisible(attending, keys) }

// Observe shows what an effect observed of a sandbox.
func (f *ActionFeed) Observe(k backend.Key, vs []backend.Verdict) {
	if b := f.fleet.State().Sandbox(k); b != nil {
		vs = b.Dated(vs)
	}
	f.mu.Lock()
	if f.proofs == nil {
		f.proofs = map[backend.Key]time.Time{}
	}
	f.proofs[k] = backend.Observation{Verdicts: vs}.At()
	f.mu.Unlock()
	f.service.KeepVerdicts(k, vs)
	f.fleet.Observe(k, vs)
}

// WaitForProofs returns once the newest State shows what effects proved, or ctx ends: what ends before is not remembered.
func (f *ActionFeed) WaitForProofs(ctx context.Context) {
	newer, stop := f.Subscribe()
	defer stop()
	for !f.showsProofs() {
		select {
		case <-newer:
		case <-ctx.Done():
			return
		}
	}
}

func (f *ActionFeed) showsProofs() bool {
	state, _ := f.service.Latest()
	f.mu.Lock()
	defer f.mu.Unlock()
	for k, at := range f.proofs {
		b := state.Sandbox(k)
		if b == nil {
			continue // it is gone, and what was proved with it
		}
		if o, ok := b.Observed.Get(); !ok || o.At().Before(at) {
			return false
		}
	}
	return true
}

func concerns(b *alerts.Board) []actions.Concern {
	var out []actions.Concern
	for _, a := range b.Alerts {
		if a.State != alerts.StateFiring && a.State != alerts.StateHeld {
			continue
		}
		c := actions.Concern{ID: a.ID, Rule: a.Rule, Source: a.Source, Cause: a.Cause, Firing: true,
			Critical: a.Severity == alerts.SeverityCritical, Since: a.Since, Cut: a.Left() > 0}
		for _, s := range a.Subjects {
			c.Subjects = append(c.Subjects, s.Key)
		}
		out = append(out, c)
	}
	return out
}

// noneBegins are the sandboxes in which no command begins, as the log of their agent says. One for want of its directory does not count:
// a command that runs shows that the directory is there.
func noneBegins(b *alerts.Board) (out []backend.Key) {
	for _, a := range b.Alerts {
		if a.State != alerts.StateFiring && a.State != alerts.StateHeld && a.State != alerts.StatePending || !alerts.AgentSays(a.Cause.String()) || strings.Contains(a.Cause.String(), "for want of its directory") {
			continue
		}
		for _, s := range a.Subjects {
			if s.Key.Kind == backend.KindSandbox {
				out = append(out, s.Key)
			}
		}
	}
	return out
}
