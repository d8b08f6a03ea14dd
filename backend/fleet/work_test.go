package fleet

import (
	"slices"
	"testing"
	"time"

	"sandglass/backend"
)

func execution(sandbox, id, status string, class backend.WorkClass) *backend.Execution {
	return &backend.Execution{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindExecution, Source: "h", Parent: backend.MustID(sandbox), ID: backend.MustID(id)}},
		Work: backend.Work{Within: backend.KindSandbox, Reported: backend.Text(backend.Literal(status)), Class: class}}
}

func job(session, id string) *backend.Job {
	return &backend.Job{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindJob, Source: "h", Parent: backend.MustID(session), ID: backend.MustID(id)}},
		Work: backend.Work{Within: backend.KindSession, Reported: backend.Text("running"), Class: backend.WorkRunning}}
}

func machine(id string) *backend.Sandbox {
	return &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "h", ID: backend.MustID(id)}}}
}

// TestTimesOfWorkLieBetweenReadings: a platform that tells no times is watched, and each step happened between two readings.
func TestTimesOfWorkLieBetweenReadings(t *testing.T) {
	s := newStore(0)
	whole := []backend.Scope{{Kind: backend.KindExecution, Complete: true}}
	at := func(i int) time.Time { return t0.Add(time.Duration(i) * time.Minute) }
	read := func(i int, list ...*backend.Execution) *State {
		return step(s, at(i), backend.Reading{Scopes: whole, Executions: list})
	}
	read(0, execution("b", "old", "running", backend.WorkRunning))
	read(1, execution("b", "old", "running", backend.WorkRunning), execution("b", "new", "queued", backend.WorkQueued))
	read(2, execution("b", "old", "running", backend.WorkRunning), execution("b", "new", "queued", backend.WorkQueued))
	read(3, execution("b", "old", "completed", backend.WorkSucceeded), execution("b", "new", "running", backend.WorkRunning))
	st := read(4, execution("b", "old", "completed", backend.WorkSucceeded), execution("b", "new", "failed", backend.WorkFailed))
	between := func(a, b int) backend.Bounds { return backend.Bounds{Earliest: at(a), Latest: at(b)} }
	for id, want := range map[string]backend.WorkSeen{
		"new": {Queued: between(0, 1), Started: between(2, 3), Ended: between(3, 4)},
		// Nothing was read before the first reading, so that it may have begun at any time before.
		"old": {Queued: backend.Bounds{Latest: at(0)}, Started: backend.Bounds{Latest: at(0)}, Ended: between(2, 3)},
	} {
		x := st.Executions.Get(execution("b", id, "", "").Key)
		if x.Seen != want {
			t.Errorf("%s: %+v, want %+v", id, x.Seen, want)
		}
	}
	if st := read(5, execution("b", "old", "completed", backend.WorkSucceeded), execution("b", "new", "failed", backend.WorkFailed)); len(st.Delta.Changed) != 0 {
		t.Errorf("the same again changed %v", st.Delta.Changed)
	}
}

// TestFailedWorkIsOnTheTimeline: what fails or is cancelled between two readings is an event of the platform, once. What had
// ended before the first reading, and what succeeds, is none.
func TestFailedWorkIsOnTheTimeline(t *testing.T) {
	s := newStore(0)
	whole := []backend.Scope{{Kind: backend.KindExecution, Complete: true}}
	var got []string
	read := func(i int, list ...*backend.Execution) {
		for _, e := range step(s, t0.Add(time.Duration(i)*time.Minute), backend.Reading{Scopes: whole, Executions: list}).Events {
			got = append(got, e.At.Format("04:05 ")+string(e.Kind)+" "+e.Subject.ID.Raw()+": "+e.Text.String())
		}
	}
	failed := func(id string) *backend.Execution {
		x := execution("b", id, "timeout", backend.WorkFailed)
		x.ExitCode, x.Error = backend.Known(124), backend.Text("took too long")
		return x
	}
	dated := execution("b", "dated", "cancelled", backend.WorkCancelled)
	dated.EndedAt = backend.Known(t0.Add(90 * time.Second))
	read(0, failed("old"), execution("b", "slow", "running", backend.WorkRunning), execution("b", "fine", "running", backend.WorkRunning))
	read(1, failed("old"), execution("b", "slow", "running", backend.WorkRunning), execution("b", "fine", "completed", backend.WorkSucceeded))
	read(2, failed("old"), failed("slow"), dated, failed("quick"))
	read(3, failed("old"), failed("slow"), dated, failed("quick"))
	slices.Sort(got)
	minute := func(i int) string { return t0.Add(time.Duration(i) * time.Minute).Format("04:05 ") }
	want := []string{
		t0.Add(90*time.Second).Format("04:05 ") + "platform dated: execution dated in b: cancelled",
		minute(2) + "platform quick: execution quick in b: timeout, exit code 124: took too long",
		minute(2) + "platform slow: execution slow in b: timeout, exit code 124: took too long",
	}
	if !slices.Equal(got, want) {
		t.Errorf("events\n%q, want\n%q", got, want)
	}
}

// TestWorkEndsWithWhatItRunsIn: executions and jobs end and grow stale with the sandbox or session that their key names,
// and with no other subject of that id.
func TestWorkEndsWithWhatItRunsIn(t *testing.T) {
	s := newStore(0)
	twin := sess("twin")
	twin.Key.Source = "h"
	step(s, t0, backend.Reading{Source: "h", Sessions: []*backend.Session{twin}, Sandboxes: []*backend.Sandbox{machine("twin"), machine("b")},
		Executions: []*backend.Execution{execution("twin", "e", "running", backend.WorkRunning), execution("b", "e", "running", backend.WorkRunning)},
		Jobs:       []*backend.Job{job("twin", "j")}})
	st := step(s, t0.Add(1), backend.Reading{Source: "h", Stale: []backend.StaleMark{{Key: machine("b").Key, Why: backend.Text("no answer")}}})
	if !st.Executions.Get(execution("b", "e", "", "").Key).Stale || st.Executions.Get(execution("twin", "e", "", "").Key).Stale {
		t.Error("the executions of the stale sandbox are stale, and no others")
	}
	st = step(s, t0.Add(2), backend.Reading{Source: "h", Ended: []backend.Key{machine("twin").Key}})
	if st.Executions.Len() != 1 || st.Jobs.Len() != 1 {
		t.Errorf("%d executions and %d jobs are left, want 1 and 1", st.Executions.Len(), st.Jobs.Len())
	}
	if d := st.Delta.Gone[1]; d.Key.Kind != backend.KindExecution || d.Why.String() != "its sandbox ended" {
		t.Errorf("%v went: %s", d.Key, d.Why)
	}
	if st = step(s, t0.Add(3), backend.Reading{Source: "h", Ended: []backend.Key{twin.Key}}); st.Jobs.Len() != 0 {
		t.Error("the job of the ended session is still there")
	}
}
