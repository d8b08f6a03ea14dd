package actions

import (
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// A target is gone once a reading that is newer than the effect, of a source that answers, lists it no longer.
func TestGone(t *testing.T) {
	issued := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	k := backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID("b1")}
	listed := &backend.Sandbox{Meta: backend.Meta{Key: k}}
	for name, x := range map[string]struct {
		last   time.Time
		status fleet.SourceStatus
		boxes  []*backend.Sandbox
		want   Result
	}{
		"gone":                         {issued.Add(time.Second), fleet.StatusOK, nil, ResultVerified},
		"not there before the effect":  {issued.Add(-time.Second), fleet.StatusOK, nil, ResultAccepted},
		"read at the very same moment": {issued, fleet.StatusOK, nil, ResultAccepted},
		"still listed":                 {issued.Add(time.Second), fleet.StatusOK, []*backend.Sandbox{listed}, ResultAccepted},
		"down":                         {issued.Add(time.Second), fleet.StatusDown, nil, ResultAccepted},
		"not read yet":                 {issued.Add(time.Second), fleet.StatusStarting, nil, ResultAccepted},
	} {
		st := &fleet.State{Sandboxes: fleet.NewTable(x.boxes...), Sources: []*fleet.SourceHealth{{
			Key: backend.Key{Kind: backend.KindSource, Source: "docker", ID: backend.MustID("docker")}, Status: x.status, LastOK: x.last}}}
		if got := Gone(Target{Key: k}, issued, st); got.Result != x.want {
			t.Errorf("%s: %s, %s", name, got.Result, got.Why)
		}
	}
	if got := Gone(Target{Key: k}, issued, &fleet.State{}); got.Result != ResultAccepted {
		t.Errorf("without its source: %s", got.Result)
	}
}
