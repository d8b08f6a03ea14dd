package alerts

import (
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// everyRule is true for each subject of one kind.
type everyRule struct {
	lampRule
	kind backend.Kind
}

func (r *everyRule) Kind() backend.Kind { return r.kind }

func (r *everyRule) Judge(env *Env, _ backend.Entity, _ Note) Verdict {
	cause, fp := env.Cause(backend.Text("there"))
	return Verdict{Outcome: True, Cause: cause, Fingerprint: fp}
}

// TestEveryKindIsJudged holds that a rule on any kind of entity judges all of them in the first turn, and in the next one
// those that changed.
func TestEveryKindIsJudged(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	key := func(kind backend.Kind, id string) backend.Key {
		return backend.Key{Kind: kind, Source: "s", ID: backend.MustID(id)}
	}
	state := func(number uint64, ids ...string) *fleet.State {
		st := &fleet.State{Number: number, Wall: now, Sources: []*fleet.SourceHealth{{Key: key(backend.KindSource, "s"), Status: fleet.StatusOK, LastOK: now}}}
		var (
			workspaces []*backend.Workspace
			sessions   []*backend.Session
			sandboxes  []*backend.Sandbox
			executions []*backend.Execution
			jobs       []*backend.Job
			tmpdirs    []*backend.Tmpdir
			hosts      []*backend.Host
			refs       []*backend.Ref
		)
		for _, id := range ids {
			meta := func(kind backend.Kind) backend.Meta { return backend.Meta{Key: key(kind, id), ReadAt: now} }
			workspaces = append(workspaces, &backend.Workspace{Meta: meta(backend.KindWorkspace)})
			sessions = append(sessions, &backend.Session{Meta: meta(backend.KindSession)})
			sandboxes = append(sandboxes, &backend.Sandbox{Meta: meta(backend.KindSandbox)})
			executions = append(executions, &backend.Execution{Meta: meta(backend.KindExecution)})
			jobs = append(jobs, &backend.Job{Meta: meta(backend.KindJob)})
			tmpdirs = append(tmpdirs, &backend.Tmpdir{Meta: meta(backend.KindTmpdir)})
			hosts = append(hosts, &backend.Host{Meta: meta(backend.KindHost)})
			refs = append(refs, &backend.Ref{Meta: meta(backend.KindRef)})
		}
		st.Workspaces, st.Sessions, st.Sandboxes = fleet.NewTable(workspaces...), fleet.NewTable(sessions...), fleet.NewTable(sandboxes...)
		st.Executions, st.Jobs = fleet.NewTable(executions...), fleet.NewTable(jobs...)
		st.Tmpdirs, st.Hosts, st.Refs = fleet.NewTable(tmpdirs...), fleet.NewTable(hosts...), fleet.NewTable(refs...)
		return st
	}
	for _, spec := range backend.SubjectKinds() {
		if spec.Copy == nil {
			continue
		}
		rule := &everyRule{lampRule{Meta{Name: "there", Severity: SeverityWarning}}, spec.Kind}
		e := NewEngine([]Rule{rule}, "test")
		count := func(b *Board) (n int) {
			for _, a := range b.Alerts {
				n += a.SubjectCount
			}
			return n
		}
		b, _ := e.Next(nil, state(1, "a", "b"))
		if got := count(b); got != 2 {
			t.Errorf("%s: the first turn found %d subjects, want 2", spec.Kind, got)
		}
		next := state(2, "a", "b", "c")
		next.Delta.Changed = []backend.Key{key(spec.Kind, "c")}
		b, _ = e.Next(b, next)
		if got := count(b); got != 3 {
			t.Errorf("%s: the second turn found %d subjects, want 3", spec.Kind, got)
		}
	}
}
