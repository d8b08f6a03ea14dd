package test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandglass/alerts/rules"
	"sandglass/alerts/scenario"
	"sandglass/internal/skip"
)

// exported writes the rules and their tests, as the command prints them, to a new directory.
func exported(t *testing.T, config string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, args := range map[string][]string{
		"sandglass.rules.yml": {"rules", "export"},
		"sandglass.test.yml":  {"rules", "export", "--format", "promtool"},
	} {
		p := testProgram(time.Now)
		var out, errs bytes.Buffer
		p.Stdout, p.Stderr = &out, &errs
		if code := p.Run(t.Context(), append(args, "--config", writeConfig(t, config))); code != 0 {
			t.Fatalf("%v: exit code %d: %s", args, code, errs.String())
		}
		if err := os.WriteFile(filepath.Join(dir, name), out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func promtool(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	binary, err := exec.LookPath("promtool")
	if err != nil {
		skip.Without(t, "promtool", err.Error())
	}
	cmd := exec.Command(binary, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestPromtoolAcceptsTheExportedRules(t *testing.T) {
	for name, config := range map[string]string{
		"defaults":   "",
		"thresholds": "[rules.eviction-storm]\nrate = 1.5\nrecovery = 0.8\nover = \"90s\"\nfor = \"2m\"\nseverity = \"warning\"\nkeep_firing_for = \"0s\"\n",
		"off":        "[rules.eviction-storm]\nenabled = false\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := exported(t, config)
			if out, err := promtool(t, dir, "check", "rules", "sandglass.rules.yml"); err != nil {
				t.Errorf("promtool check rules: %v\n%s", err, out)
			}
			if out, err := promtool(t, dir, "test", "rules", "sandglass.test.yml"); err != nil {
				t.Errorf("promtool test rules: %v\n%s", err, out)
			}
		})
	}
}

// TestExportedTestsCanFail holds that the exported tests notice another threshold.
func TestExportedTestsCanFail(t *testing.T) {
	dir := exported(t, "")
	file := filepath.Join(dir, "sandglass.rules.yml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, with := range []string{">= 20", ">= 0.02"} {
		changed := strings.Replace(string(text), ">= 0.2", with, 1)
		if changed == string(text) {
			t.Fatal("nothing was changed")
		}
		if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := promtool(t, dir, "test", "rules", "sandglass.test.yml"); err == nil {
			t.Errorf("the tests pass with the threshold %s:\n%s", with, out)
		}
	}
}

// TestExportedRulesAnswerAsSandglassDoes lets Prometheus' own evaluation and the engine judge the same counters, which
// have no gap and are older than the window, while a storm begins.
func TestExportedRulesAnswerAsSandglassDoes(t *testing.T) {
	t.Parallel()
	dir := exported(t, "")
	var tests strings.Builder
	tests.WriteString("rule_files: [sandglass.rules.yml]\nevaluation_interval: 15s\ntests:\n")
	fired, checks := 0, 0
	for _, before := range []float64{0, 1} {
		for _, storm := range []float64{2, 2.75, 3.25, 5, 10, 30, 75} {
			for _, recovered := range []float64{0, 0.25, 0.45, 0.55, 1} {
				evictions := fmt.Sprintf("0+%gx40 %g+%gx40", before, 40*before+storm, storm)
				retries := fmt.Sprintf("0+%gx40 %g+%gx40", before*recovered, (40*before+storm)*recovered, storm*recovered)
				fmt.Fprintf(&tests, "  - interval: 15s\n    input_series:\n      - series: 'helix_workspace_evictions_total{provider=\"docker\"}'\n        values: '%s'\n"+
					"      - series: 'helix_workspace_eviction_retries_total{provider=\"docker\"}'\n        values: '%s'\n    promql_expr_test:\n", evictions, retries)
				for at, fires := range firesInSandglass(t, evictions, retries) {
					checks++
					samples := " []"
					if fires {
						fired++
						samples = "\n          - labels: '{__name__=\"ALERTS\",alertname=\"SandglassEvictionStorm\",alertstate=\"firing\",provider=\"docker\",rule=\"eviction-storm\",runbook=\"7\",severity=\"critical\"}'\n            value: 1"
					}
					fmt.Fprintf(&tests, "      - expr: 'ALERTS{alertstate=\"firing\"}'\n        eval_time: %s\n        exp_samples:%s\n", at, samples)
				}
			}
		}
	}
	if fired == 0 || fired == checks {
		t.Fatalf("%d of %d checks fire: that compares nothing", fired, checks)
	}
	if err := os.WriteFile(filepath.Join(dir, "same.yml"), []byte(tests.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := promtool(t, dir, "test", "rules", "same.yml"); err != nil {
		t.Errorf("Prometheus and Sandglass differ: %v\n%.4000s", err, out)
	}
}

// firesInSandglass plays the counters to the engine and tells, every 30 seconds from the ninth minute on, whether the
// alert fires.
func firesInSandglass(t *testing.T, evictions, retries string) map[time.Duration]bool {
	t.Helper()
	var file strings.Builder
	fmt.Fprintf(&file, `rules = ["eviction-storm"]
interval = "15s"
[[scenario]]
name = "x"
source = [{ id = "helix", inputs = ["workspace registry"] }, { id = "prom", inputs = ["eviction metrics"] }]
count = [
	{ source = "prom", metric = "evictions", provider = "docker", counter = %q },
	{ source = "prom", metric = "eviction-retries", provider = "docker", counter = %q },
]
`, evictions, retries)
	fires := map[time.Duration]bool{}
	for at := 9 * time.Minute; at <= 20*time.Minute; at += 30 * time.Second {
		fmt.Fprintf(&file, "[[scenario.expect]]\nat = %q\nrule = \"eviction-storm\"\nfiring = [\"helix\"]\n", at)
		fires[at] = true
	}
	f, err := scenario.Read("x.toml", []byte(file.String()))
	if err != nil {
		t.Fatal(err)
	}
	results, err := f.Run(rules.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range results[0].Differences {
		fires[d.At.Std()] = false
	}
	return fires
}
