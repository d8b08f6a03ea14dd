package scenario_test

import (
	"testing"

	"sandglass/alerts"
	"sandglass/alerts/scenario"
	"sandglass/backend"
)

// waitingRule is true for an execution or job that is queued.
type waitingRule struct {
	meta alerts.Meta
	kind backend.Kind
}

func (r *waitingRule) Meta() *alerts.Meta { return &r.meta }

func (r *waitingRule) Kind() backend.Kind { return r.kind }

func (r *waitingRule) Judge(env *alerts.Env, e backend.Entity, _ alerts.Note) alerts.Verdict {
	var w *backend.Work
	switch e := e.(type) {
	case *backend.Execution:
		w = &e.Work
	case *backend.Job:
		w = &e.Work
	default:
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	if w.Class != backend.WorkQueued || w.Command.IsEmpty() {
		return alerts.Verdict{Outcome: alerts.False}
	}
	cause, fp := env.Cause(backend.Text("waits"))
	return alerts.Verdict{Outcome: alerts.True, Cause: cause, Fingerprint: fp}
}

func (r *waitingRule) Evidence(*alerts.Env, *alerts.Alert, backend.Entity) []alerts.Evidence {
	return nil
}

// TestScenariosHaveExecutionsAndJobs: a story can tell what is queued, runs and ends, and rules judge it.
func TestScenariosHaveExecutionsAndJobs(t *testing.T) {
	const story = `rules = ["execution-waits", "job-waits"]
[[scenario]]
name = "queued, run, ended"
source = [{ id = "helix", inputs = ["workspace registry"] }]
session = [{ id = "s" }]
sandbox = [{ id = "b" }]
execution = [{ id = "s/e1", sandbox = "b", type = "exec", command = "npm test", states = "queuedx1 running completed stale" }]
job = [{ id = "b/j1", within = "sandbox", command = "node watch.js", states = "_ queued failed", exit_code = 1, error = "port in use" }]
[[scenario.expect]]
at = "1m"
rule = "execution-waits"
firing = ["s/e1"]
[[scenario.expect]]
at = "1m"
rule = "job-waits"
firing = ["b/j1"]
[[scenario.expect]]
at = "2m"
rule = "execution-waits"
resolved = ["s/e1"]
quiet = true
[[scenario.expect]]
at = "2m"
rule = "job-waits"
resolved = ["b/j1"]
`
	f, err := scenario.Read("work.toml", []byte(story))
	if err != nil {
		t.Fatal(err)
	}
	var rules []alerts.Rule
	for _, k := range []backend.Kind{backend.KindExecution, backend.KindJob} {
		rules = append(rules, &waitingRule{alerts.Meta{Name: string(k) + "-waits", Severity: alerts.SeverityWarning}, k})
	}
	results, err := f.Run(rules)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		for _, d := range r.Differences {
			t.Errorf("%s: %v", r.Scenario, d)
		}
	}
}
