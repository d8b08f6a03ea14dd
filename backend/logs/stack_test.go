package logs

import (
	"testing"

	"sandglass/backend"
)

// TestAnErrorThatOnlyItsTraceTells is read from there, with its session and its command of several lines, and once: what the error says
// beside its trace is not repeated.
func TestAnErrorThatOnlyItsTraceTells(t *testing.T) {
	t.Parallel()
	const trace = `"stack":"CommandError: Failed to execute command 'ls\npwd' in session 'sandbox-demo': Unknown Error, TODO\n    at Sandbox.exec (sandbox.js:1:2)\n    at run"`
	for name, line := range map[string]string{
		"of the line":            `{"level":"error","msg":"tool failed",` + trace + `}`,
		"of its error":           `{"level":"error","msg":"tool failed","err":{"name":"CommandError",` + trace + `}}`,
		"beside another message": `{"level":"error","msg":"tool failed","error":{"message":"gave up",` + trace + `}}`,
	} {
		_, r := lines(t, nil, line)
		if len(r.Reports) != 1 || r.Reports[0].Kind != backend.ReportNotStarted || r.Reports[0].Session.Raw() != "sandbox-demo" || r.Reports[0].Command.String() != "ls␊pwd" {
			t.Errorf("%s: %+v", name, r.Reports)
		}
	}
	for _, c := range []struct{ said, stack, want string }{
		{"Error: boom", "Error: boom\n    at x", "Error: boom"},
		{"boom", "Error: boom\n    at x", "boom"},
		{"", "Traceback (most recent call last):\n  File \"x\"\nValueError: boom", ""},
		{"", "at x", ""},
		{"", "TypeError: no\n    at x", "TypeError: no"},
		{"gave up", "TypeError: no\n    at x", "gave up: TypeError: no"},
	} {
		if got := string(withStack([]byte(c.said), []byte(c.stack))); got != c.want {
			t.Errorf("%q with %q: %q, want %q", c.said, c.stack, got, c.want)
		}
	}
}
