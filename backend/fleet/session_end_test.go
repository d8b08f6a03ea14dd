package fleet

import (
	"testing"
	"time"

	"sandglass/backend"
)

// TestTheEndOfASessionEndsWhatItsAgentBelieves: a line says so, which one that comes later disproves; what an agent that gave its
// sandbox up last said is no belief once it is silent.
func TestTheEndOfASessionEndsWhatItsAgentBelieves(t *testing.T) {
	now := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	const ago = 5 * time.Minute
	for name, c := range map[string]struct {
		kind         backend.ReportKind
		said, silent time.Duration // before now
		over, told   bool
	}{
		"it ended":                       {backend.ReportAgentDone, ago, ago, true, false},
		"… and went on":                  {backend.ReportAgentDone, ago, 2 * time.Minute, false, false},
		"it gave it up":                  {backend.ReportAgentDown, ago, ago, false, true},
		"… and is silent":                {backend.ReportAgentDown, 20 * time.Minute, 20 * time.Minute, false, false},
		"… long ago, and goes on":        {backend.ReportAgentDown, 20 * time.Minute, time.Minute, false, true},
		"it takes it for running, still": {backend.ReportAgentRuns, 20 * time.Minute, 20 * time.Minute, false, true},
	} {
		b := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: backend.MustID("agents-0a1b2c3d4e5f")}, ReadAt: now}, Name: backend.Text("agents-0a1b2c3d4e5f"),
			Provider: backend.Text("blaxel"), Session: backend.MustID("s1"), Class: backend.SandboxAsleep, Reported: backend.Text("DEPLOYED STANDBY")}
		said := backend.Report{Source: "log", At: now.Add(-c.said), Kind: c.kind, Session: b.Session, Sandbox: b.Key.ID, Text: backend.Text("words")}
		h := &SourceHealth{Key: backend.Key{Kind: backend.KindSource, Source: "log", ID: backend.MustID("log")}, About: []string{"bl"}, Reports: []backend.Report{said}}
		st := &State{Wall: now, Sandboxes: NewTable(b), Sources: []*SourceHealth{h},
			Windows: NewWindows(backend.Count{Series: backend.Series{Source: "log", Name: backend.MetricNamed, Session: b.Session}, At: now.Add(-c.silent), N: 1})}
		end, over := st.EndOn(b)
		if over != c.over || over && (!end.At.Equal(said.At) || end.Source != "log") {
			t.Errorf("%s: over %v: %+v", name, over, end)
		}
		if x, _ := st.BeliefOn(b); (x.Told != nil) != c.told || c.over && x.Runs.IsKnown() {
			t.Errorf("%s: %+v", name, x)
		}
		if c.over && !st.LiveOn(b).IsEmpty() {
			t.Errorf("%s: %s", name, st.LiveOn(b))
		}
	}
}
