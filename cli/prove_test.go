package cli

import (
	"strings"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestProbeNamesThePlaneThatDecides lets a look find that a main process is frozen, which no command of a probe tells.
func TestProbeNamesThePlaneThatDecides(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	key := backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID("a1")}
	frozen := backend.Verdict{Plane: backend.PlaneDriver, Outcome: backend.OutcomeFailed, Kind: backend.FailServerFrozen, What: backend.Text("the main process is frozen"), At: now.Add(-12 * time.Second), Passive: true}
	runs := backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, What: backend.Text("commands run"), At: now}
	dies := backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, What: backend.Text("commands do not run"), At: now}
	former := frozen
	former.Past = true
	for name, c := range map[string]struct {
		seen, probed []backend.Verdict
		code         int
		note         string
	}{
		"frozen, and a command runs":     {[]backend.Verdict{frozen}, []backend.Verdict{runs}, ExitObservedFailed, "driver fails, seen 12s ago without a command: the main process is frozen"},
		"healthy":                        {nil, []backend.Verdict{runs}, 0, ""},
		"frozen before its restart":      {[]backend.Verdict{former}, []backend.Verdict{runs}, 0, ""},
		"the probe itself tells":         {nil, []backend.Verdict{dies}, ExitObservedFailed, ""},
		"the probe's own, seen by all":   {[]backend.Verdict{dies}, []backend.Verdict{dies}, ExitObservedFailed, ""},
		"failed before, and works again": {[]backend.Verdict{dies}, []backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: now.Add(time.Second)}}, 0, ""},
	} {
		b := &backend.Sandbox{Meta: backend.Meta{Key: key}, Observed: backend.Known(backend.Observation{Verdicts: c.seen})}
		state := &fleet.State{Sandboxes: fleet.NewTable(b)}
		p := actions.Progress{Plan: &actions.Plan{Verb: actions.Probe}, Lines: []actions.Line{{Target: actions.Target{Key: key}, Result: actions.ResultVerified, Done: actions.Done{Observed: c.probed}}}}
		var notes []string
		for _, n := range looksFailed(&p.Lines[0], state, now) {
			notes = append(notes, n.String())
		}
		if code, note := observed(p, state), strings.Join(notes, "; "); code != c.code || note != c.note {
			t.Errorf("%s: exit code %d, note %q; want %d, %q", name, code, note, c.code, c.note)
		}
	}
}
