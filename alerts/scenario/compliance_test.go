package scenario_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/alerts/scenario"
	"sandglass/backend"
)

// metricRule is true of a session whose state is a number above 10: the sort of rule that the alert-generator compliance
// suite of Prometheus runs. It knows nothing of an onset before it was seen. A session that is not there any more is
// what a series without a sample is to Prometheus.
type metricRule struct{ meta alerts.Meta }

func (r *metricRule) Meta() *alerts.Meta { return &r.meta }
func (r *metricRule) Kind() backend.Kind { return backend.KindSession }

func (r *metricRule) Judge(env *alerts.Env, e backend.Entity, _ alerts.Note) alerts.Verdict {
	s, ok := e.(*backend.Session)
	if !ok {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	var n float64
	if _, err := fmt.Sscanf(s.Status.String(), "%g", &n); err != nil {
		return alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("no sample")}
	}
	if n <= 10 {
		return alerts.Verdict{Outcome: alerts.False}
	}
	cause, fp := env.Cause(backend.Text("above 10"))
	return alerts.Verdict{Outcome: alerts.True, Cause: cause, Fingerprint: fp, Detail: backend.Textf("the value is %s", s.Status)}
}

func (r *metricRule) Evidence(env *alerts.Env, a *alerts.Alert, _ backend.Entity) []alerts.Evidence {
	return []alerts.Evidence{{Text: a.Subjects[0].Detail, Source: a.Source, At: env.Display(env.Now)}}
}

func metric(name string, pendingFor, keep time.Duration) alerts.Rule {
	return &metricRule{alerts.Meta{Name: name, Severity: alerts.SeverityWarning, For: pendingFor, KeepFiringFor: keep, Gap: alerts.GapReset}}
}

// TestCompliance plays the state cases of the compliance suite, evaluated every 5 seconds as there.
func TestCompliance(t *testing.T) {
	const second = time.Second
	for _, c := range []struct {
		name      string
		rule      alerts.Rule
		series    string
		at        time.Duration // of the checks below; transitions are all those up to then
		state     string
		also      string
		wantMoves string
	}{
		{"pending, firing, inactive", metric("m", 30*second, 0), "9x2 15x10 9x5", 80 * second, "quiet = true\nresolved = [\"s\"]", "",
			`"15s pending", "45s firing", "1m10s resolved"`},
		{"pending, inactive", metric("m", 30*second, 0), "9x2 15x4 9x5", 50 * second, "quiet = true\nresolved = []", "",
			`"15s pending", "40s cleared"`},
		{"pending again begins a new clock", metric("m", 30*second, 0), "15x4 9 15x8", 70 * second, `firing = ["s"]`, "",
			`"0s pending", "25s cleared", "30s pending", "1m firing"`},
		{"never active", metric("m", 30*second, 0), "9x20", 100 * second, "quiet = true\nresolved = []", "", ""},
		{"for zero fires at once", metric("m", 0, 0), "9 15x3 9x3", 30 * second, "quiet = true\nresolved = [\"s\"]", "",
			`"5s firing", "25s resolved"`},
		{"for below the interval fires at the second evaluation", metric("m", 2*second, 0), "9 15x3", 20 * second, `firing = ["s"]`, "",
			`"5s pending", "10s firing"`},
		{"for of exactly the time that passed fires", metric("m", 10*second, 0), "15x3", 10 * second, `firing = ["s"]`, "",
			`"0s pending", "10s firing"`},
		{"changing annotations are the same alert", metric("m", 10*second, 0), "11+1x20", 50 * second, "firing = [\"s\"]\nalerts = 1\nevidence = [\"the value is 21\"]", "",
			`"0s pending", "10s firing"`},
		{"keep firing for counts from the first evaluation without it, strictly", metric("m", 0, 10*second), "15x1 9x9", 30 * second, "quiet = true", "",
			`"0s firing", "20s resolved"`},
		{"keep firing for is cancelled by a new match", metric("m", 0, 10*second), "15x1 9 15 9x9", 40 * second, "quiet = true", "",
			`"0s firing", "30s resolved"`},
		{"a pending one whose sample is missing is dropped", metric("m", 30*second, 0), "15x2 none 15x2", 25 * second, `pending = ["s"]`, "",
			`"0s pending", "15s cleared", "20s pending"`},
		{"fires again after it was resolved", metric("m", 0, 0), "15 9 15 9", 15 * second, "quiet = true\nresolved = [\"s\"]", "",
			`"0s firing", "5s resolved", "10s firing", "15s resolved"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			states := c.series
			if strings.Contains(states, "+") { // a rising value, one word a step
				states = ""
				for n := 11; n < 32; n++ {
					states += fmt.Sprintf("%d ", n)
				}
			}
			file := fmt.Sprintf("rules = [\"m\"]\ninterval = \"5s\"\n[[scenario]]\nname = \"x\"\nsource = [{ id = \"src\", inputs = [\"session list\"] }]\n"+
				"session = [{ id = \"s\", states = %q }]\n[[scenario.expect]]\nat = \"%s\"\nrule = \"m\"\n%s\ntransitions = [%s]\n", states, c.at, c.state, c.wantMoves)
			play(t, file, c.rule)
		})
	}
}

// play runs a scenario file and reports what differs.
func play(t *testing.T, file string, rules ...alerts.Rule) {
	t.Helper()
	f, err := scenario.Read("x.toml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	results, err := f.Run(rules)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		for _, d := range r.Differences {
			t.Errorf("%s: at %s, %s: %s\nwant %s\ngot  %s", r.Scenario, d.At.Std(), d.Rule, d.What, d.Want, d.Got)
		}
	}
}

func TestComplianceAlertsAddedLater(t *testing.T) {
	play(t, `
rules = ["m"]
interval = "5s"
[[scenario]]
name = "a second series joins, and leaves, without moving the first"
source = [{ id = "src", inputs = ["session list"] }]
session = [{ id = "a", states = "15" }, { id = "b", states = "_x3 15x7 9" }]

[[scenario.expect]]
at = "20s"
rule = "m"
firing = ["a"]
pending = ["b"]
transitions = ["0s pending", "10s firing"]

[[scenario.expect]]
at = "30s"
rule = "m"
firing = ["a", "b"]
transitions = ["0s pending", "10s firing"]

[[scenario.expect]]
at = "1m10s"
rule = "m"
firing = ["a"]
pending = []
resolved = ["b"]
`, metric("m", 10*time.Second, 0))
}

// TestComplianceOrder holds that the rules of one evaluation report in the order in which they are given.
func TestComplianceOrder(t *testing.T) {
	var rules []alerts.Rule
	for i := range 6 {
		rules = append(rules, metric(fmt.Sprintf("m%d", 5-i), 0, 0))
	}
	e := alerts.NewEngine(rules, "test")
	var names []string
	for _, ev := range evaluateOnce(e) {
		rule, _, _ := strings.Cut(ev.Text.String(), " ")
		names = append(names, rule)
	}
	if got := strings.Join(names, " "); got != "m5 m4 m3 m2 m1 m0" {
		t.Errorf("the rules reported in the order %s", got)
	}
}
