package fleet

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// TestWhatATerminalNeeds: each need is present, missing, or cannot be told.
func TestWhatATerminalNeeds(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	count := func(m backend.Metric, session, sample string) backend.Count {
		return backend.Count{Series: backend.Series{Source: "log", Name: m, Session: backend.MustID(session)}, At: noon.Add(-time.Minute), N: 1, Sample: backend.Clean(sample, 200)}
	}
	for name, c := range map[string]struct {
		address string
		counts  []backend.Count
		want    string
	}{
		"nothing tells":       {"https://a.bl.run", nil, "present, cannot tell, cannot tell"},
		"no address":          {"", nil, "missing, cannot tell, cannot tell"},
		"it opened some":      {"https://a.bl.run", []backend.Count{count(backend.MetricPTYCount, "s1", "60 active")}, "present, present, present"},
		"another one opened":  {"https://a.bl.run", []backend.Count{count(backend.MetricPTYCount, "s2", "60 active")}, "present, cannot tell, cannot tell"},
		"it lacks a library":  {"https://a.bl.run", []backend.Count{count(backend.MetricPTYFailed, "s1", "x: "+backend.NoWebSocketLibrary)}, "present, cannot tell, missing"},
		"another one failed":  {"https://a.bl.run", []backend.Count{count(backend.MetricPTYFailed, "s1", "it did not start: TimeoutError")}, "present, cannot tell, cannot tell"},
		"that was long since": {"https://a.bl.run", []backend.Count{{Series: backend.Series{Source: "log", Name: backend.MetricPTYCount, Session: backend.MustID("s1")}, At: noon.Add(-2 * time.Hour), N: 1}}, "present, cannot tell, cannot tell"},
	} {
		t.Run(name, func(t *testing.T) {
			ref := &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "store", ID: backend.MustID("s1")}, ReadAt: noon}, Session: backend.MustID("s1"), Provider: backend.Text("blaxel"),
				Sandbox: backend.MustID("agents-1"), Agent: &backend.AgentState{Root: backend.Text("/workspace"), Address: backend.Clean(c.address, 80)}}
			box := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: backend.MustID("agents-1")}, ReadAt: noon}, Name: backend.Text("agents-1"), Provider: backend.Text("blaxel")}
			st := NewFolder(time.Minute).Fold([]backend.Answer{
				{Source: "store", Config: &backend.SourceConfig{Kind: "refs", Interval: time.Minute}}, {Source: "bl", Config: &backend.SourceConfig{Kind: "blaxel", Interval: time.Minute}},
				{Source: "log", Config: &backend.SourceConfig{Kind: "logs", Interval: time.Minute}},
				{Source: "store", Reading: &backend.Reading{Source: "store", Refs: []*backend.Ref{ref}, Scopes: []backend.Scope{{Kind: backend.KindRef, Complete: true}}}},
				{Source: "bl", Reading: &backend.Reading{Source: "bl", Sandboxes: []*backend.Sandbox{box}, Scopes: []backend.Scope{{Kind: backend.KindSandbox, Complete: true}}}},
				{Source: "log", Reading: &backend.Reading{Source: "log", Counts: c.counts}}}, backend.Instant{Wall: noon})
			var got []string
			for _, n := range st.TerminalNeeds(st.Sandbox(box.Key)) {
				word := "cannot tell"
				if have, known := n.Have.Get(); known {
					word = map[bool]string{true: "present", false: "missing"}[have]
				}
				if got = append(got, word); n.Why.IsEmpty() || n.Name.IsEmpty() {
					t.Errorf("%+v", n)
				}
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("%v, want %s", got, c.want)
			}
		})
	}
}
