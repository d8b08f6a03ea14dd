package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// grows reads the memory of the agent behind prom every minute until just now, in MB.
func grows(mb ...int64) []backend.Memory {
	var out []backend.Memory
	for i, n := range mb {
		out = append(out, backend.Memory{Of: backend.Process{Source: "prom", Name: "process_resident_memory_bytes"},
			At: before(time.Duration(len(mb)-1-i)*time.Minute + 10*time.Second), Bytes: n * 1e6, Limit: backend.Known[int64](2e9)})
	}
	return out
}

func TestAgentMemoryBeforeItFell(t *testing.T) {
	died := lines("app-log", backend.MetricAgentOOM, "s1", 1)
	small := healthy("s1", "box", func(w *backend.Workspace) { w.MaxFileSize = backend.Known[int64](5e6) })
	for _, c := range []struct {
		story
		fact string
	}{
		{story{"step by step", "3", world{workspaces: []*backend.Workspace{small}, counts: died, memory: grows(1000, 1200, 1400, 1600, 1800, 1950)}, sessionKey("s1"),
			map[string]Mark{"memory": Confirmed, "agent-oom": Confirmed, "file-cap": RuledOut}, "step by step", "", "", false}, "it grew 950 MB in 5m, to 1.9 of 2.0 GB"},
		{story{"at once", "3", world{workspaces: []*backend.Workspace{small}, counts: died, memory: grows(300, 310, 320, 330, 1900)}, sessionKey("s1"),
			map[string]Mark{"memory": Confirmed}, "One large write or search", "", "", false}, "it grew 1.6 GB in 4m, most of it in the last 1m, to 1.9 of 2.0 GB"},
		{story{"the sessionLife before", "3", world{workspaces: []*backend.Workspace{small}, counts: died, memory: grows(1000, 1500, 1990, 200)}, sessionKey("s1"),
			map[string]Mark{"memory": Confirmed}, "step by step", "", "", false}, "it grew 990 MB in 2m, to 2.0 of 2.0 GB"},
		{story{"flat", "3", world{workspaces: []*backend.Workspace{small}, counts: died, memory: grows(500, 500, 510, 505, 500, 505, 501)}, sessionKey("s1"),
			map[string]Mark{"memory": RuledOut}, "not known yet", "", "", false}, "it was at 501 MB of 2.0 GB, hardly more than 6m before"},
		{story{"read once", "3", world{workspaces: []*backend.Workspace{small}, counts: died, memory: grows(500)}, sessionKey("s1"),
			map[string]Mark{"memory": CannotTell}, "not known yet", "", "", false}, "it was at 500 MB of 2.0 GB, read once"},
		{story{"not read", "3", world{workspaces: []*backend.Workspace{small}, counts: died}, sessionKey("s1"),
			map[string]Mark{"memory": CannotTell}, "", "", "", false}, "no source reads the memory"},
		{story{"of another source", "3", world{workspaces: []*backend.Workspace{small}, counts: died, memory: grows(500, 900), without: []string{"prom"}}, sessionKey("s1"),
			map[string]Mark{"memory": CannotTell}, "", "", "", false}, "no source reads the memory"},
		{story{"nothing says that it fell", "3", world{workspaces: []*backend.Workspace{small}, memory: grows(500, 700, 900)}, sessionKey("s1"),
			map[string]Mark{"memory": Confirmed, "agent-oom": CannotTell}, "The memory that the agent uses grows", "", "", false}, "it grew 400 MB in 2m"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.run(t)
			d := c.world.diagnose(c.incident, c.subject)
			for _, x := range d.Checks {
				if x.Name == "memory" && !strings.HasPrefix(x.Fact.String(), c.fact) {
					t.Errorf("fact %q, want %q", x.Fact, c.fact)
				}
			}
		})
	}
}
