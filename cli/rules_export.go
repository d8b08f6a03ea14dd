package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sandglass/alerts/rules"
	"sandglass/app"
	"sandglass/backend"
	"sandglass/config"
)

// export is what `rules export` writes about.
type export struct {
	config    *config.Config
	evictions string // metric names
	retries   string
	provider  string // label
	file      string // the name of the rule file in the tests
}

// stormName is the one rule whose input Prometheus has.
const stormName = "eviction-storm"

func (p *Program) rulesExportCommand(s *shared) *cobra.Command {
	var format *oneWord
	e := export{evictions: "helix_workspace_evictions_total", retries: "helix_workspace_eviction_retries_total", provider: "provider", file: "sandglass.rules.yml"}
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write what PromQL can express as Prometheus rules, or the tests of those rules",
		Long: `Write the rules that PromQL can express, with the thresholds of the
configuration, as a Prometheus rule file; or with --format promtool the tests of
that file. Every other rule is listed in a comment with the reason.

  sandglass rules export >sandglass.rules.yml
  sandglass rules export --format promtool >sandglass.test.yml
  promtool check rules sandglass.rules.yml
  promtool test rules sandglass.test.yml`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			for _, n := range []string{e.evictions, e.retries, e.provider} {
				if !plainName(n) {
					return usage("%q is no plain name of a metric or label: letters, digits and _, not beginning with a digit", n)
				}
			}
			var err error
			if e.config, err = p.load(*s); err != nil {
				return err
			}
			write := e.prometheus
			if format.word == "promtool" {
				write = e.promtool
			}
			out, err := write()
			if err != nil {
				return err
			}
			if _, err := io.WriteString(p.Stdout, out); err != nil {
				return unwritten(err)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&e.evictions, "evictions", e.evictions, "`METRIC` that counts evictions")
	f.StringVar(&e.retries, "retries", e.retries, "`METRIC` that counts evictions which retries recovered")
	f.StringVar(&e.provider, "provider-label", e.provider, "`LABEL` that names the provider")
	f.StringVar(&e.file, "rule-file", e.file, "`NAME` of the rule file that the tests are about")
	format = p.word(cmd, "format", "", "prometheus or promtool", "prometheus", "promtool")
	return cmd
}

func plainName(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// storm reads the thresholds of eviction-storm; on is false where it is switched off.
func (e *export) storm() (o *rules.StormOptions, on bool, err error) {
	k, err := kindNamed(stormName)
	if err != nil {
		return nil, false, err
	}
	if _, on, err = app.RuleMeta(k, e.config); err != nil {
		return nil, false, err
	}
	options, err := app.RuleOptions(k, e.config)
	if err != nil {
		return nil, false, err
	}
	o, ok := options.(*rules.StormOptions)
	if !ok {
		return nil, false, fmt.Errorf("the options of %s have another type", stormName)
	}
	return o, on, nil
}

func (e *export) prometheus() (string, error) {
	o, on, err := e.storm()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("# Written by sandglass rules export. Sandglass judges more than these rules can: what each of them leaves out,\n# and which rules are left out as a whole, stands in the comments.\n")
	if !on {
		fmt.Fprintf(&b, "# %s is switched off in the configuration.\ngroups: []\n", stormName)
		e.leftOut(&b)
		return b.String(), nil
	}
	fmt.Fprintf(&b, "groups:\n  - name: sandglass\n    rules:\n")
	fmt.Fprintf(&b, `      # eviction-storm by its counters only: log lines about exhausted retries and the states of the registries are no
      # metrics. Sandglass suspects it while less than the window was read, holds it while the counters are missing,
      # and ends it only below %s of the rate; Prometheus does none of this.
`, percent(o.Leave))
	if scope := e.scope(); scope != "" {
		fmt.Fprintf(&b, "      # The configuration limits the rule to: %s.\n      # That is not in this expression, which counts all of its series.\n", scope)
	}
	fmt.Fprintf(&b, "      - alert: SandglassEvictionStorm\n        expr: |\n")
	for _, l := range e.expression(o) {
		fmt.Fprintf(&b, "          %s\n", l)
	}
	if o.For > 0 {
		fmt.Fprintf(&b, "        for: %s\n", prometheusDuration(o.For.Std()))
	}
	if o.KeepFiringFor > 0 {
		fmt.Fprintf(&b, "        keep_firing_for: %s\n", prometheusDuration(o.KeepFiringFor.Std()))
	}
	b.WriteString("        labels:\n")
	for _, l := range e.labels(o) {
		fmt.Fprintf(&b, "          %s: %s\n", l[0], quote(l[1]))
	}
	b.WriteString("        annotations:\n")
	for _, l := range e.annotations(o) {
		fmt.Fprintf(&b, "          %s: %s\n", l[0], quote(l[1]))
	}
	e.leftOut(&b)
	return b.String(), nil
}

// scope is what the configuration limits eviction-storm to, on one line; empty: nothing.
func (e *export) scope() string {
	k, err := kindNamed(stormName)
	if err != nil {
		return ""
	}
	m, _, err := app.RuleMeta(k, e.config)
	if err != nil {
		return ""
	}
	return backend.Clean(m.Scope.String(), 2000).String()
}

// expression is more than `rate` evictions a second, of which less than `recovery` recover. A retry counter that does
// not exist yet has counted none, which `unless` gets right.
func (e *export) expression(o *rules.StormOptions) []string {
	over := prometheusDuration(o.Over.Std())
	evictions := fmt.Sprintf("sum by (%s) (rate(%s[%s]))", e.provider, e.evictions, over)
	return []string{
		fmt.Sprintf("%s > %s", evictions, decimal(o.Rate)),
		"unless",
		fmt.Sprintf("sum by (%s) (rate(%s[%s])) >= %s * %s", e.provider, e.retries, over, decimal(o.Recovery), evictions),
	}
}

func (e *export) labels(o *rules.StormOptions) [][2]string {
	return [][2]string{{"rule", stormName}, {"severity", string(o.Severity)}, {"runbook", "7"}}
}

func (e *export) annotations(o *rules.StormOptions) [][2]string {
	return [][2]string{
		{"summary", "Workspaces are evicted faster than they recover"},
		{"description", fmt.Sprintf("More than %s evictions a second over %s, of which retries recover less than %s. Next: sandglass runbook 7", decimal(o.Rate),
			duration(o.Over.Std()), percent(o.Recovery))},
	}
}

// leftOut lists the rules that PromQL cannot express, and why.
func (e *export) leftOut(b *strings.Builder) {
	b.WriteString("\n# Not exported:\n")
	for _, k := range rules.Kinds() {
		if k.Name == stormName {
			continue
		}
		m, on, err := app.RuleMeta(k, e.config)
		why := "switched off in the configuration"
		switch {
		case err != nil:
			why = backend.Clean(err.Error(), 200).String()
		case on:
			why = noMetric(m.Needs)
		}
		fmt.Fprintf(b, "#   %s: %s\n", k.Name, why)
	}
}

// noMetric says why a rule cannot be written in PromQL.
func noMetric(needs [][]backend.Input) string {
	if len(needs) == 0 {
		return "it judges the sources of the console, which are no targets of Prometheus"
	}
	var in []string
	for _, g := range needs {
		for _, i := range g {
			if i != backend.InputEvictions {
				in = append(in, string(i))
			}
		}
	}
	return "it reads " + strings.Join(in, ", ") + ": Sandglass knows of no metric for that"
}

// promtool writes tests of the exported rule: a storm, one whose evictions recover, and a rate at the threshold.
func (e *export) promtool() (string, error) {
	o, on, err := e.storm()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Written by sandglass rules export --format promtool; tests the rules of sandglass rules export.\nrule_files:\n  - %s\nevaluation_interval: 15s\n", quote(e.file))
	if !on {
		b.WriteString("tests: []\n")
		return b.String(), nil
	}
	b.WriteString("tests:\n")
	const interval = 15 * time.Second
	at := (2*o.Over.Std() + o.For.Std() + interval).Truncate(interval)
	n := int(at/interval) + 1
	storm := math.Ceil(o.Rate*interval.Seconds()*10) / 2 // five times the rate, a multiple of a half
	for _, c := range []struct {
		name                 string
		evictions, recovered float64 // in one interval
		fires, retries       bool
	}{
		{"a storm from which nothing recovers, before the retry counter exists", storm, 0, true, false},
		{"a storm from which nearly nothing recovers", storm, storm * o.Recovery / 10, true, true},
		{"as many evictions, of which enough recover", storm, storm * math.Min(1, o.Recovery*1.01), false, true},
		{"evictions at half the rate", o.Rate * interval.Seconds() / 2, 0, false, true},
	} {
		fmt.Fprintf(&b, "  - name: %s\n    interval: %s\n    input_series:\n", quote(c.name), prometheusDuration(interval))
		e.series(&b, e.evictions, c.evictions, n)
		if c.retries {
			e.series(&b, e.retries, c.recovered, n)
		}
		fmt.Fprintf(&b, "    alert_rule_test:\n      - eval_time: %s\n        alertname: SandglassEvictionStorm\n", prometheusDuration(at))
		if !c.fires {
			b.WriteString("        exp_alerts: []\n")
			continue
		}
		fmt.Fprintf(&b, "        exp_alerts:\n          - exp_labels:\n              %s: %s\n", e.provider, quote("docker"))
		for _, l := range e.labels(o) {
			fmt.Fprintf(&b, "              %s: %s\n", l[0], quote(l[1]))
		}
		b.WriteString("            exp_annotations:\n")
		for _, l := range e.annotations(o) {
			fmt.Fprintf(&b, "              %s: %s\n", l[0], quote(l[1]))
		}
	}
	return b.String(), nil
}

func (e *export) series(b *strings.Builder, metric string, each float64, n int) {
	fmt.Fprintf(b, "      - series: %s\n        values: %s\n", quote(fmt.Sprintf("%s{%s=\"docker\"}", metric, e.provider)), quote(fmt.Sprintf("0+%sx%d", decimal(each), n)))
}

// decimal writes a number without an exponent: promtool's notation knows none.
func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func percent(f float64) string { return strconv.FormatFloat(f*100, 'f', -1, 64) + " %" }

// prometheusDuration writes what Prometheus reads; it knows no fractions.
func prometheusDuration(d time.Duration) string {
	if d%time.Second == 0 {
		return duration(d)
	}
	return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
}

// quote writes a YAML string; JSON's form is one.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}
