package logs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

const (
	heapText = "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory"
	exhText  = "workspace tool: eviction retry exhausted"
)

// of reads lines and counts those of the metric that a server wrote, and those that an agent said.
func evidenceOf(t *testing.T, m backend.Metric, change func(*Options), lines ...string) (server, said float64) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "app.log")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, func(o *Options) {
		o.Files = []string{path}
		if change != nil {
			change(o)
		}
	})
	r.poll(0)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := r.poll(5 * time.Second)
	return total(got.Counts, m, "*"), total(got.Counts, m.Said(), "*")
}

// TestALineIsEvidenceAtItsLevelAndShape: what an agent writes, quotes or runs proves nothing, whatever level its server logs
// it at; what a server reports as information is no trouble. A line without a level counts.
func TestALineIsEvidenceAtItsLevelAndShape(t *testing.T) {
	for _, x := range []struct {
		line         string
		server, said float64
	}{
		{heapText, 1, 0},
		{"2026-01-01T12:00:00.5Z stderr F " + heapText, 1, 0}, // the form of a container runtime
		{"agent-1  | " + heapText, 1, 0},
		{`{"log":"` + heapText + `\n","stream":"stderr","time":"2026-01-01T12:00:00Z"}`, 1, 0},
		{`{"level":60,"msg":"` + heapText + `"}`, 1, 0},
		{`{"msg":"` + heapText + `"}`, 1, 0},
		{`level=error msg="` + heapText + `"`, 1, 0},
		{`{"level":"error","message":"` + heapText + `","stream":"stderr","kubernetes":{"pod_name":"a"}}`, 1, 0},
		{`{"level":"weird","msg":"` + heapText + `"}`, 1, 0},
		{`{"severity":"CRITICAL","message":"` + heapText + `"}`, 1, 0},

		{"2026-01-01T12:00:00Z [stdout] " + heapText, 0, 1},
		{"2026-01-01T12:00:00Z tool> " + heapText, 0, 1},
		{"2026-01-01T12:00:00Z > " + heapText, 0, 1},
		{"2026-01-01T12:00:00Z [sandbox s1] " + heapText, 0, 1},
		{"2026-01-01T12:00:00Z [s1/box] $ " + heapText, 0, 1},
		{`{"level":30,"msg":"` + heapText + `"}`, 0, 0},
		{`{"level":"info","msg":"` + heapText + `"}`, 0, 0},
		{`{"level":"debug","msg":"` + heapText + `"}`, 0, 0},
		{`{"severity":"INFO","message":"` + heapText + `"}`, 0, 0},
		{"2026-01-01 12:00:00,123 INFO agents.sandbox: " + heapText, 0, 0},
		{"[2026-01-01 12:00:00] app.INFO: " + heapText, 0, 0},
		{"INFO:root:" + heapText, 0, 0},
		{"[info] " + heapText, 0, 0},
		{"I0101 12:00:00.000000 1 main.go:3] " + heapText, 0, 0},
		{`time=2026-01-01T12:00:00Z level=debug msg="` + heapText + `"`, 0, 0},
		{`{"level":30,"msg":"tool done","output":"` + heapText + `"}`, 0, 0},

		{`{"level":50,"msg":"tool output: ` + heapText + `"}`, 0, 1},
		{`{"level":50,"msg":"command failed: node build.js: ` + heapText + `"}`, 0, 1},
		{`{"level":"error","msg":"Command \"npm run build\" failed with exit code 134\n` + heapText + `"}`, 0, 1},
		{`{"level":"error","msg":"` + heapText + `","tool":"bash"}`, 0, 1},
		{`{"level":"error","msg":"` + heapText + `","command":"node x.js"}`, 0, 1},
		{`{"level":"error","msg":"` + heapText + `","stdout":"","stderr":"x"}`, 0, 1},
		{`{"level":"error","msg":"the user asked why \"JavaScript heap out of memory\" appears"}`, 0, 1},
		{"ERROR exec stderr: " + heapText, 0, 1},
		{"[error] bash: " + heapText, 0, 1},
		{`ERROR command failed command="grep -c 'JavaScript heap out of memory' log"`, 0, 1},
		{`ERROR grep 'JavaScript heap out of memory' found nothing`, 0, 1},
		{"assistant: the build died of JavaScript heap out of memory", 0, 1},
		{"2026-01-01T12:00:00Z error: bash tool exited with code 134: " + heapText, 0, 1},
		{`{"level":"error","msg":"bash tool exited with code 134: ` + heapText + `"}`, 0, 1},
		{`{"level":"error","msg":"workspace tool run failed: exit 134: ` + heapText + `"}`, 0, 1},
		{`{"level":"error","msg":"shell.run: npm run build failed (134): ` + heapText + `"}`, 0, 1},
		{"2026-01-01T12:00:00Z ERROR docker exec sandbox-1: " + heapText, 0, 1},
		{"ERROR process 12 in the sandbox died: " + heapText, 0, 1},
		{"ERROR vitest crashed: " + heapText, 0, 1},
		{"ERROR bash tool exited with code 1: Durable Object's isolate exceeded its memory limit and was reset.", 0, 1},
		{`{"level":"error","msg":"user asked about “` + heapText + `”"}`, 0, 1},
		{`{"level":"error","msg":"utilisateur : « ` + heapText + ` »"}`, 0, 1},
		{`{"level":"error","msg":"„` + heapText + `“"}`, 0, 1},
		{`{"level":"error","msg":"質問「` + heapText + `」"}`, 0, 1},
		{`{"level":"error","msg":"『` + heapText + `』"}`, 0, 1},
		{"ERROR asked: `" + heapText + "`", 0, 1},
		{`level=error msg="user asked about “` + heapText + `”"`, 0, 1},
		{`level=error msg="note: \"` + heapText + `\""`, 0, 1},

		{"Jan  1 12:00:00 host node[1]: " + heapText, 1, 0},
		{"2026-01-01T12:00:00+0000 host node[1]: " + heapText, 1, 0},
		{"[Nest] 1  - 01/01/2026, 8:50:04 PM   ERROR [Agent] " + heapText, 1, 0},
		{"\x1b[31m[Nest] 1  - \x1b[39m01/01/2026, 8:50:04 PM \x1b[31m  ERROR\x1b[39m \x1b[33m[Agent] \x1b[39m\x1b[31m" + heapText + "\x1b[39m", 1, 0},
		{"\x1b[31merror\x1b[39m: " + heapText, 1, 0},
		{"ERROR the agent server crashed: " + heapText, 1, 0},
		{"ERROR run failed: Durable Object’s isolate exceeded its memory limit and was reset.", 1, 0},
	} {
		if server, said := evidenceOf(t, backend.MetricAgentOOM, nil, x.line); server != x.server || said != x.said {
			t.Errorf("%s\n  counted %v and said %v, want %v and %v", x.line, server, said, x.server, x.said)
		}
	}
}

// TestAnAgentCannotForgeAStorm: the words of a storm in a command or in what it printed.
func TestAnAgentCannotForgeAStorm(t *testing.T) {
	for line, want := range map[string]float64{
		`{"level":50,"msg":"` + exhText + `","tool":"read_file","err":{"type":"WorkspaceEvictedError","message":"gone"}}`: 1,
		"2026-01-01T12:00:00Z ERROR " + exhText + " session=s1":                                                           1,
		`{"level":50,"msg":"` + exhText + `","command":"ls"}`:                                                             1,
		`{"level":30,"msg":"` + exhText + `"}`:                                                                            0,
		`{"level":50,"msg":"tool result: ` + exhText + `"}`:                                                               0,
		`{"level":50,"msg":"command exited with 1: echo ` + exhText + `"}`:                                                0,
		`{"level":40,"msg":"done","err":"sh: ` + exhText + `: not found"}`:                                                0,
		`WARN refused command="echo eviction retry exhausted"`:                                                            0,
		"2026-01-01T12:00:00Z \x1b[34mDEBUG\x1b[39m " + exhText + " session=s1":                                           0,
		"2026-01-01T12:00:00Z \x1b[31mERROR\x1b[39m " + exhText + " session=s1":                                           1,
		`{"level":50,"msg":"bash tool exited with code 1: ` + exhText + `"}`:                                              0,
		`{"level":50,"msg":"user wrote «` + exhText + `»"}`:                                                               0,
	} {
		if got, _ := evidenceOf(t, backend.MetricEvictionExhausted, nil, line); got != want {
			t.Errorf("%s\n  counted %v, want %v", line, got, want)
		}
	}
	// Above the byte budget lines are searched undecoded, and the same holds.
	quick := func(o *Options) { o.ByteBudget = 1000 }
	var good, bad []string
	for i := range 400 {
		good = append(good, fmt.Sprintf(`{"level":50,"sessionId":"s%d","msg":"%s"}`, i, exhText))
		bad = append(bad, fmt.Sprintf(`{"level":30,"sessionId":"s%d","msg":"%s"}`, i, exhText), fmt.Sprintf(`{"level":50,"sessionId":"s%d","msg":"done","stdout":"%s"}`, i, exhText))
	}
	if got, _ := evidenceOf(t, backend.MetricEvictionExhausted, quick, good...); got != 400 {
		t.Errorf("counted %v of 400", got)
	}
	if got, _ := evidenceOf(t, backend.MetricEvictionExhausted, quick, bad...); got != 0 {
		t.Errorf("counted %v of none", got)
	}
}

// TestAPatternNamesLevelLoggerFieldAndSpeaker: the keys of a pattern of the operator's own.
func TestAPatternNamesLevelLoggerFieldAndSpeaker(t *testing.T) {
	own := func(edit func(*PatternOption)) func(*Options) {
		return func(o *Options) {
			p := PatternOption{Name: "own", Contains: "heap is full", Class: string(ClassAgentOOM)}
			edit(&p)
			o.Pattern = []PatternOption{p}
		}
	}
	for name, x := range map[string]struct {
		edit         func(*PatternOption)
		hits, misses []string
		said         bool
	}{
		"defaults":         {func(*PatternOption) {}, []string{`{"msg":"heap is full"}`, `{"level":"warn","msg":"the heap is fuller"}`}, []string{`{"level":"info","msg":"heap is full"}`}, false},
		"level":            {func(p *PatternOption) { p.Level = "info" }, []string{`{"level":"info","msg":"heap is full"}`, `INFO heap is full`}, []string{`{"level":20,"msg":"heap is full"}`}, false},
		"level error":      {func(p *PatternOption) { p.Level = "error" }, []string{`ERROR heap is full`, `heap is full`}, []string{`WARN heap is full`}, false},
		"logger":           {func(p *PatternOption) { p.Logger = "agent" }, []string{`{"logger":"agent","msg":"heap is full"}`, `{"name":"agent.memory","msg":"heap is full"}`, `logger=agent heap is full`}, []string{`{"logger":"agents","msg":"heap is full"}`, `{"msg":"heap is full"}`}, false},
		"field":            {func(p *PatternOption) { p.Field = "event.reason" }, []string{`{"msg":"x","event":{"reason":"heap is full"}}`, `{"event":{"reason":"heap is full"}}`}, []string{`{"msg":"heap is full"}`, `{"msg":"x","reason":"heap is full"}`}, false},
		"speaker server":   {func(p *PatternOption) { p.Speaker = "server" }, []string{`heap is full`}, []string{`ERROR stdout: heap is full`}, false},
		"speaker agent":    {func(p *PatternOption) { p.Speaker = "agent" }, []string{`ERROR stdout: heap is full`}, []string{`heap is full`}, true},
		"speaker not told": {func(*PatternOption) {}, []string{`ERROR stdout: heap is full`}, nil, true},
	} {
		for want, lines := range map[float64][]string{1: x.hits, 0: x.misses} {
			for _, line := range lines {
				server, said := evidenceOf(t, backend.MetricAgentOOM, own(x.edit), line)
				if got := map[bool]float64{false: server, true: said}[x.said]; got != want || server+said != want {
					t.Errorf("%s: %s\n  counted %v and said %v, want %v", name, line, server, said, want)
				}
			}
		}
	}
}

// TestTheKernelNamesTheContainerAtItsLimit: its line gives the id; the kernel's own level is information.
func TestTheKernelNamesTheContainerAtItsLimit(t *testing.T) {
	id := strings.Repeat("ab12", 16)
	path := filepath.Join(t.TempDir(), "kern.log")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, func(o *Options) { o.Files = []string{path} })
	r.poll(0)
	if err := os.WriteFile(path, []byte("Jan  1 12:00:00 host kernel: [  12.3] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=docker-"+id+
		".scope,mems_allowed=0,oom_memcg=/system.slice/docker-"+id+".scope,task_memcg=/system.slice/docker-"+id+".scope,task=node,pid=42,uid=0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range r.poll(5 * time.Second).Counts {
		if c.Series.Name == backend.MetricLimitKills && c.N == 1 && c.Series.Sandbox.Raw() == id {
			return
		}
	}
	t.Error("the kill is not counted for its container")
}
