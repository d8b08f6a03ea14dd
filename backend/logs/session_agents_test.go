package logs

import (
	"fmt"
	"testing"
)

// TestWhoChangedTheWorkingDirectory: the agent of the line, with the exit code of its end, and the agents of its session, each once.
func TestWhoChangedTheWorkingDirectory(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"agent":"coder","msg":"x"}`: "coder", `{"msg":"x","agentName": "web coder"}`: "web", `{"agent":{"name":"planner"}}`: "planner", `ran agent=b-1 x`: "b-1",
		`{"msg":"my \"agent\":\"x\""}`: "", `{"userAgent":"x"}`: "", `the agent: x`: "", `{"agent":""}`: "", `{"agent":3}`: "",
	} {
		if got := agentOf([]byte(in)); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
	line := func(second int, agent, rest string) string {
		return fmt.Sprintf(`{"time":"2026-01-01T12:00:%02dZ","agent":%q,"sessionId":"sandbox-demo",%s}`, second, agent, rest)
	}
	ran := func(second int, agent, command, exit string) string {
		return line(second, agent, `"level":"info","msg":"exec","command":"`+command+`"`+exit)
	}
	bad := line(40, "planner", `"level":"error","msg":"tool failed","err":{"message":"Failed to execute command 'ls' in session 'sandbox-demo': Unknown Error, TODO"}`)
	const change = "rm -rf /workspace && git clone x"
	for name, x := range map[string]struct {
		lines     []string
		by        string
		exit      int
		inSession string
	}{
		"its end":               {[]string{ran(10, "tester", "ls", `,"exitCode":0`), ran(20, "coder", change, `,"exitCode":128`), bad}, "coder", 128, "coder, planner, tester"},
		"its beginning and end": {[]string{ran(10, "coder", change, ""), ran(20, "coder", change, `,"exitCode":128`), bad}, "coder", 128, "coder, planner"},
		"its end and a later beginning of the same": {[]string{ran(10, "coder", change, `,"exitCode":0`), ran(20, "coder", change, ""), bad}, "coder", 0, "coder, planner"},
	} {
		_, r := lines(t, nil, x.lines...)
		if len(r.Reports) != 1 {
			t.Fatalf("%s: %+v", name, r.Reports)
		}
		got := r.Reports[0]
		if got.Changed.String() != change || got.ChangedBy.String() != x.by || got.Exit != x.exit || got.Agents.String() != x.inSession {
			t.Errorf("%s: %q by %q, %d, of %q", name, got.Changed, got.ChangedBy, got.Exit, got.Agents)
		}
	}
}
