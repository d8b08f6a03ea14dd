package logs

import (
	"testing"

	"sandglass/backend"
)

// TestWhatAnInformationAnnouncesIsTheAgentsWord: a heading at level info, and below it what the agent's command printed. Ordinary
// lines of the server announce nothing: its runtime's last words follow them.
func TestWhatAnInformationAnnouncesIsTheAgentsWord(t *testing.T) {
	for _, head := range []string{"command printed:", "LLM response:", "exec npm test", "npm run build", "read_file build.log:", "agent step observation:", "workspace__box__run result",
		"workspace_run done", "model completion for s1", "[s1] node build.js"} {
		if server, said := evidenceOf(t, backend.MetricAgentOOM, nil, "2026-01-01T12:00:00Z INFO "+head, heapText); server != 0 || said != 1 {
			t.Errorf("%s: %v of the server and %v of the agent", head, server, said)
		}
	}
	for _, head := range []string{"INFO server listening on 3000", "INFO request done", "INFO session s1 started", "ERROR run failed:", "INFO agent server ready", "INFO opened workspace s1/box in 30ms"} {
		if server, said := evidenceOf(t, backend.MetricAgentOOM, nil, "2026-01-01T12:00:00Z "+head, heapText); server != 1 || said != 0 {
			t.Errorf("%s: %v of the server and %v of the agent", head, server, said)
		}
	}
}

// TestANewlineForgesNoLine: text that a tool or an agent wrote with newlines in it is the continuation of the line before,
// wherever the log's own lines can be told by how they begin.
func TestANewlineForgesNoLine(t *testing.T) {
	const forged, logged = "ERROR eviction retry exhausted", "2026-01-01T12:00:00Z ERROR eviction retry exhausted"
	for name, x := range map[string]struct {
		metric       backend.Metric
		lines        []string
		server, said float64
	}{
		"a dated log":                {backend.MetricEvictionExhausted, []string{"2026-01-01T12:00:00Z INFO tool finished: ok", forged, forged}, 0, 0},
		"a dated line after it":      {backend.MetricEvictionExhausted, []string{"2026-01-01T12:00:00Z INFO tool finished: ok", forged, logged}, 1, 0},
		"a log of JSON":              {backend.MetricEvictionExhausted, []string{`{"level":30,"msg":"tool finished"}`, forged}, 0, 0},
		"JSON with a newline":        {backend.MetricEvictionExhausted, []string{`{"level":50,"msg":"tool finished\n` + forged + `"}`}, 0, 0},
		"JSON of a container":        {backend.MetricEvictionExhausted, []string{`{"log":"{\"level\":30,\"msg\":\"ok\"}\n","stream":"stdout","time":"2026-01-01T12:00:00Z"}`, `{"log":"` + forged + `\n","stream":"stdout","time":"2026-01-01T12:00:00Z"}`}, 0, 0},
		"a container's dated log":    {backend.MetricEvictionExhausted, []string{`2026-01-01T12:00:00.1Z stdout F 2026-01-01T12:00:00Z INFO ok`, `2026-01-01T12:00:00.2Z stdout F ` + forged}, 0, 0},
		"a collector's time":         {backend.MetricEvictionExhausted, []string{`2026-01-01T12:00:00.1Z {"level":30,"msg":"ok"}`, `2026-01-01T12:00:00.2Z ` + forged}, 0, 0},
		"the journal":                {backend.MetricEvictionExhausted, []string{"Jan  1 12:00:00 host agent[7]: level=info msg=ok", "Jan  1 12:00:00 host agent[7]: " + forged}, 0, 0},
		"logfmt":                     {backend.MetricEvictionExhausted, []string{"level=info msg=ok", forged}, 0, 0},
		"logfmt with a newline":      {backend.MetricEvictionExhausted, []string{`level=error msg="tool done\n` + forged + `"`}, 0, 0},
		"klog":                       {backend.MetricEvictionExhausted, []string{"I0101 12:00:00.1 1 main.go:7] ok", forged}, 0, 0},
		"a close of a directory":     {backend.MetricTmpdirCloseFailed, []string{"2026-01-01T12:00:00Z INFO ok", "WARN local-bash: tmpdir close failed: EBUSY"}, 0, 1},
		"a stack below an error":     {backend.MetricWorkspaceEvicted, []string{"2026-01-01T12:00:00Z ERROR run failed", "WorkspaceEvictedError: gone", "    at open (a.js:1:2)"}, 1, 0},
		"a stack below information":  {backend.MetricWorkspaceEvicted, []string{"2026-01-01T12:00:00Z INFO tool finished", "WorkspaceEvictedError: gone"}, 0, 0},
		"an error printed past JSON": {backend.MetricWorkspaceEvicted, []string{`{"level":30,"msg":"ok"}`, "WorkspaceEvictedError: gone"}, 1, 0},
		"last words of a runtime":    {backend.MetricAgentOOM, []string{"2026-01-01T12:00:00Z INFO ok", "<--- Last few GCs --->", heapText}, 1, 0},
		"last words past JSON":       {backend.MetricAgentOOM, []string{`{"level":30,"msg":"ok"}`, heapText}, 1, 0},
		"last words in an output":    {backend.MetricAgentOOM, []string{"2026-01-01T12:00:00Z INFO tool output:", heapText}, 0, 1},
		"a log without such signs":   {backend.MetricEvictionExhausted, []string{"INFO tool finished: ok", forged}, 1, 0}, // the limit
		"two programs":               {backend.MetricEvictionExhausted, []string{"Jan  1 12:00:00 host other[7]: level=info msg=ok", "Jan  1 12:00:00 host agent[7]: " + forged}, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if server, said := evidenceOf(t, x.metric, nil, x.lines...); server != x.server || said != x.said {
				t.Errorf("%v of the server and %v of the agent, want %v and %v", server, said, x.server, x.said)
			}
		})
	}
}
