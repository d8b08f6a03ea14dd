package agentuity

import (
	"strings"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestASecondResumeIsRefused: once a resume of ours was answered that there is no checkpoint. What only the hub was told may be tried
// once, and a refusal that may pass may be repeated.
func TestASecondResumeIsRefused(t *testing.T) {
	at := time.Date(2026, 4, 4, 1, 2, 3, 0, time.UTC)
	key := backend.Key{Kind: backend.KindSandbox, Source: "agentuity", ID: backend.MustID(boxID)}
	lost := func(plane backend.Plane, passive bool) backend.Verdict {
		return backend.Verdict{Plane: plane, Outcome: backend.OutcomeFailed, Kind: backend.FailNoCheckpoint, At: at, Passive: passive, What: backend.Text("no checkpoint")}
	}
	for name, c := range map[string]struct {
		seen      []backend.Verdict
		why, note string
	}{
		"nothing":             {nil, "", ""},
		"our resume":          {[]backend.Verdict{lost(backend.PlaneControl, false), lost(backend.PlaneExec, false)}, "a resume of it was refused at 01:02:03Z, since it has no checkpoint: another one fails too. Replace it: sandglass replace " + boxID, ""},
		"our resume, and hub": {[]backend.Verdict{lost(backend.PlaneControl, true), lost(backend.PlaneExec, false)}, "a resume of it was refused at 01:02:03Z", ""},
		"its hub":             {[]backend.Verdict{lost(backend.PlaneControl, true), lost(backend.PlaneExec, true)}, "", "its hub was told that it has no checkpoint"},
		"for now":             {[]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeUnknown, Kind: backend.FailResumeRefused, At: at}}, "", ""},
	} {
		b := &backend.Sandbox{Meta: backend.Meta{Key: key, ReadAt: at}, Provider: backend.Text("agentuity"), Reported: backend.Text("suspended"), Class: backend.SandboxAsleep, Observed: backend.Known(backend.Observation{Verdicts: c.seen})}
		st := &fleet.State{Wall: at, Sandboxes: fleet.NewTable(b), Sources: []*fleet.SourceHealth{{Key: backend.Key{Kind: backend.KindSource, Source: "agentuity", ID: backend.MustID("agentuity")}, Status: fleet.StatusOK, LastOK: at}}}
		got := targetReader{actions.Resume}.Look(t.Context(), actions.Question{Keys: []backend.Key{key}, State: st, Now: at})[0]
		notes := backend.Join(got.Notes, "\n").String()
		if !strings.HasPrefix(got.Why.String(), c.why) || got.Why.IsEmpty() != (c.why == "") || !strings.HasPrefix(notes, c.note) || (notes == "") != (c.note == "") {
			t.Errorf("%s: why %q, notes %q", name, got.Why, notes)
		}
	}
}
