package test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/alerts/scenario"
	"sandglass/app"
)

// counterShape is a story of two counters, by what they count in each 15 s. A reset begins the counters again at zero.
type counterShape struct {
	name  string
	parts []counterPart
}

type counterPart struct {
	steps              int
	evictions, retries float64 // in 15 s
	reset              bool    // at the first of them
	gone               bool    // the page does not answer, and the counters go on
}

// counterShapes begin with ten minutes of ordinary evictions, so that every window is full when the first is compared. The
// alert's line is 0.2 evictions a second, 3 in 15 s, of which half are not recovered.
func counterShapes() []counterShape {
	quiet, after := counterPart{steps: 40, evictions: 0.5, retries: 0.5}, counterPart{steps: 40, evictions: 0.5, retries: 0.5}
	storm := func(steps int, evictions, recovered float64) counterPart {
		return counterPart{steps: steps, evictions: evictions, retries: evictions * recovered}
	}
	reset := func(p counterPart) counterPart { p.reset = true; return p }
	list := []counterShape{
		{"calm", nil},
		{"calm, and the server restarts", []counterPart{reset(after)}},
		{"calm, and it restarts three times", []counterPart{reset(storm(8, 0.5, 1)), reset(storm(8, 0.5, 1)), reset(storm(8, 0.5, 1))}},
		{"just below the line", []counterPart{storm(40, 2.9, 0)}},
		{"just above the line", []counterPart{storm(40, 3.1, 0)}},
		{"fast and recovered", []counterPart{storm(40, 30, 1)}},
		{"fast and just recovered", []counterPart{storm(40, 30, 0.55)}},
		{"fast and just not recovered", []counterPart{storm(40, 30, 0.45)}},
		{"one spike", []counterPart{storm(1, 40, 0)}},
		{"one spike that is no storm", []counterPart{storm(1, 55, 0.9)}},
		{"two spikes far apart", []counterPart{storm(1, 80, 0), storm(24, 0.5, 1), storm(1, 80, 0)}},
		{"two spikes close together", []counterPart{storm(1, 40, 0), storm(8, 0.5, 1), storm(1, 40, 0)}},
		{"pulses", []counterPart{storm(4, 8, 0), storm(8, 0, 0), storm(4, 8, 0), storm(8, 0, 0), storm(4, 8, 0)}},
		{"a storm that recovers later", []counterPart{storm(16, 10, 0), storm(24, 10, 1)}},
		{"a storm that stops recovering", []counterPart{storm(16, 10, 1), storm(24, 10, 0)}},
		{"a storm that ends in silence", []counterPart{storm(20, 10, 0), storm(40, 0, 0)}},
		{"a storm in which the server restarts", []counterPart{storm(12, 10, 0), reset(storm(20, 10, 0))}},
		{"a storm in which it restarts twice", []counterPart{storm(8, 10, 0), reset(storm(8, 10, 0)), reset(storm(16, 10, 0))}},
		{"a storm that a restart ends", []counterPart{storm(12, 10, 0), reset(storm(24, 0.5, 1))}},
		{"a ramp", []counterPart{storm(6, 1, 0), storm(6, 2, 0), storm(6, 4, 0), storm(6, 8, 0), storm(6, 16, 0)}},
		{"a ramp up and down", []counterPart{storm(6, 2, 0), storm(6, 8, 0), storm(6, 4, 0), storm(6, 2, 0), storm(6, 1, 0)}},
	}
	for _, steps := range []int{2, 4, 8, 12, 20, 30} {
		for _, rate := range []float64{5, 25} {
			list = append(list, counterShape{fmt.Sprintf("%g in 15 s for %s", rate, time.Duration(steps)*15*time.Second), []counterPart{storm(steps, rate, 0.1)}})
		}
	}
	for i := range list {
		list[i].parts = append(append([]counterPart{quiet}, list[i].parts...), after)
	}
	return list
}

// samples are the values of both counters, one in 15 s; below zero where the page does not answer.
func (c counterShape) samples() (evictions, retries []float64) {
	e, r := 0.0, 0.0
	for _, p := range c.parts {
		for i := range p.steps {
			if p.reset && i == 0 {
				e, r = 0, 0
			}
			e, r = e+p.evictions, r+p.retries
			if p.gone {
				evictions, retries = append(evictions, -1), append(retries, -1)
			} else {
				evictions, retries = append(evictions, e), append(retries, r)
			}
		}
	}
	return evictions, retries
}

// asSeries writes a series as promtool and scenario files do.
func asSeries(values []float64) string {
	var out []string
	for _, v := range values {
		if v < 0 {
			out = append(out, "_")
		} else {
			out = append(out, fmt.Sprintf("%.10g", v))
		}
	}
	return strings.Join(out, " ")
}

// promtoolCase writes what promtool has to find for a shape: whether the alert fires, by the number of the sample.
func (c counterShape) promtoolCase(fires map[int]bool) string {
	var b strings.Builder
	e, r := c.samples()
	fmt.Fprintf(&b, "  - name: %q\n    interval: 15s\n    input_series:\n      - series: 'helix_workspace_evictions_total{provider=\"docker\"}'\n        values: '%s'\n"+
		"      - series: 'helix_workspace_eviction_retries_total{provider=\"docker\"}'\n        values: '%s'\n    promql_expr_test:\n", c.name, asSeries(e), asSeries(r))
	for _, i := range slices.Sorted(maps.Keys(fires)) {
		want := "[]"
		if fires[i] {
			want = "[{labels: '{}', value: 1}]"
		}
		fmt.Fprintf(&b, "      - {expr: 'count(ALERTS{alertstate=\"firing\"})', eval_time: %s, exp_samples: %s}\n", time.Duration(i)*15*time.Second, want)
	}
	return b.String()
}

// agrees lets promtool judge the shapes.
func agrees(t *testing.T, config string, cases []string) {
	t.Helper()
	dir := exported(t, config)
	text := "rule_files: [sandglass.rules.yml]\nevaluation_interval: 15s\ntests:\n" + strings.Join(cases, "")
	if err := os.WriteFile(filepath.Join(dir, "live.yml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := promtool(t, dir, "test", "rules", "live.yml"); err != nil {
		t.Errorf("Prometheus and Sandglass differ in %d evaluations: %v\n%.6000s", strings.Count(out, "got:"), err, out)
	}
}

// TestAlertsLiveAsInPrometheus lets Prometheus' own evaluation and the engine judge the same counters, without gaps, at every
// evaluation: resets, spikes, storms that end and come again, each with three lengths of `for` and `keep_firing_for`. What is
// meant to differ is written in docs/rule-tests.md.
func TestAlertsLiveAsInPrometheus(t *testing.T) {
	t.Parallel()
	if n := 2 * len(counterShapes()); n < 30 {
		t.Fatalf("%d series", n)
	}
	for name, config := range map[string]string{
		"at once":     "[rules.eviction-storm]\nfor = \"0s\"\nkeep_firing_for = \"0s\"\nleave = 1.0\n",
		"one minute":  "[rules.eviction-storm]\nfor = \"1m\"\nkeep_firing_for = \"1m\"\nleave = 1.0\n",
		"two and 3 m": "[rules.eviction-storm]\nfor = \"2m\"\nkeep_firing_for = \"3m\"\nleave = 1.0\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var cases []string
			fired, checks := 0, 0
			for _, c := range counterShapes() {
				fires := firingAt(t, config, c)
				cases = append(cases, c.promtoolCase(fires))
				for _, is := range fires {
					if checks++; is {
						fired++
					}
				}
			}
			if fired*20 < checks || fired == checks {
				t.Fatalf("%d of %d checks fire: that compares little", fired, checks)
			}
			agrees(t, config, cases)
		})
	}
}

// firstFull is the first sample at which the window of both is full.
const firstFull = 24

// firingAt plays a shape to the engine and tells at which samples the alert fires.
func firingAt(t *testing.T, config string, c counterShape) map[int]bool {
	t.Helper()
	e, r := c.samples()
	var file strings.Builder
	fmt.Fprintf(&file, "rules = [\"eviction-storm\"]\ninterval = \"15s\"\n[[scenario]]\nname = \"x\"\n"+
		"source = [{ id = \"helix\", inputs = [\"workspace registry\"] }, { id = \"prom\", inputs = [\"eviction metrics\"] }]\n"+
		"count = [{ source = \"prom\", metric = \"evictions\", provider = \"docker\", counter = %q }, { source = \"prom\", metric = \"eviction-retries\", provider = \"docker\", counter = %q }]\n",
		asSeries(e), asSeries(r))
	fires := map[int]bool{}
	for i := firstFull; i < len(e); i++ {
		fmt.Fprintf(&file, "[[scenario.expect]]\nat = %q\nrule = \"eviction-storm\"\nfiring = [\"helix\"]\n", time.Duration(i)*15*time.Second)
		fires[i] = true
	}
	f, err := scenario.Read("x.toml", []byte(file.String()))
	if err != nil {
		t.Fatal(err)
	}
	rules, wrong := app.MakeRules(parseConfig(t, testProgram(time.Now), config))
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	results, err := f.Run(rules)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range results[0].Differences {
		fires[int(d.At.Std()/(15*time.Second))] = false
	}
	return fires
}

const asInPrometheus = "[rules.eviction-storm]\nfor = \"1m\"\nkeep_firing_for = \"1m\"\nleave = 1.0\n"

// statesOnAPage serves the counters of a shape on a metrics page and tells the state of the alert after each poll.
func statesOnAPage(t *testing.T, c counterShape) []string {
	t.Helper()
	s := newWorldSite(t)
	s.fleet(3, "s")
	x := s.console(s.configuration(world{reads: "helix metrics", config: asInPrometheus}), t.TempDir())
	defer x.Close()
	var out []string
	e, r := c.samples()
	for i := range e {
		s.mu.Lock()
		if s.counters[evictions], s.counters[retries] = e[i], r[i]; e[i] < 0 {
			s.answers["/metrics"] = worldAnswer{status: 503}
		} else {
			delete(s.answers, "/metrics")
		}
		s.mu.Unlock()
		x.Poll(t.Context())
		state := ""
		_, board := x.Alerts.Latest()
		for _, a := range board.Alerts {
			if a.Rule == "eviction-storm" {
				state = string(a.State)
			}
		}
		out = append(out, state)
		s.advance(15 * time.Second)
	}
	return out
}

// TestAPageIsCountedAsPrometheusDoes polls the same counters from a real page and lets promtool judge what was concluded.
func TestAPageIsCountedAsPrometheusDoes(t *testing.T) {
	t.Parallel()
	var cases []string
	for _, c := range counterShapes() {
		fires := map[int]bool{}
		for i, state := range statesOnAPage(t, c) {
			if i >= firstFull {
				fires[i] = state == "firing"
			}
		}
		cases = append(cases, c.promtoolCase(fires))
	}
	agrees(t, asInPrometheus, cases)
}

// TestWherePrometheusDiffers holds the differences about counters that docs/rule-tests.md names: what each of both says at some
// samples.
func TestWherePrometheusDiffers(t *testing.T) {
	t.Parallel()
	quiet := counterPart{steps: 40, evictions: 0.5, retries: 0.5}
	for _, x := range []struct {
		counterShape
		prometheus map[int]bool
		sandglass  map[int]string
	}{
		{counterShape{"the page of a storm goes away for ten minutes", []counterPart{quiet, {steps: 20, evictions: 25}, {steps: 40, evictions: 25, gone: true}, quiet}},
			map[int]bool{58: true, 90: false, 118: false}, map[int]string{58: "firing", 90: "held", 118: ""}},
		{counterShape{"counters that begin with a slow storm", []counterPart{{steps: 40, evictions: 4}}},
			map[int]bool{8: false, 30: true}, map[int]string{8: "pending", 30: "firing"}},
		{counterShape{"a counter that is first seen at 400", []counterPart{{steps: 1, evictions: 400}, quiet}},
			map[int]bool{8: false, 30: false}, map[int]string{8: "", 30: ""}},
		{counterShape{"100 evictions in a gap of two minutes", []counterPart{quiet, {steps: 8, evictions: 12.5, gone: true}, quiet}},
			map[int]bool{46: false, 54: true}, map[int]string{46: "", 54: "firing"}},
		{counterShape{"400 evictions in a gap of ten minutes", []counterPart{quiet, {steps: 40, evictions: 10, gone: true}, quiet}},
			map[int]bool{86: false, 100: false}, map[int]string{86: "", 100: ""}},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			agrees(t, asInPrometheus, []string{x.promtoolCase(x.prometheus)})
			states := statesOnAPage(t, x.counterShape)
			for i, want := range x.sandglass {
				if states[i] != want {
					t.Errorf("after %d samples it is %q, want %q", i, states[i], want)
				}
			}
		})
	}
}
