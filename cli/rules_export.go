package cli

import (
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/spf13/cobra"

	"sandglass/alerts/rules"
	"sandglass/app"
	"sandglass/backend"
	"sandglass/config"
)

// exportTemplates are the rule file and the tests of it.
//
//go:embed prometheus.yml.tmpl promtool.yml.tmpl
var exportTemplates embed.FS

// export is what `rules export` writes about; the templates read its exported fields.
type export struct {
	config             *config.Config
	Evictions, Retries string // metric names
	Provider           string // label
	File               string // the name of the rule file in the tests

	On          bool // eviction-storm is switched on
	Storm       *rules.StormOptions
	Scope       string // what the configuration limits it to, empty: nothing
	Labels      [][2]string
	Annotations [][2]string
	LeftOut     [][2]string // the rules that PromQL cannot express, and why
	At          string      // when the tests look
	Samples     int
	Cases       []exportCase
}

// exportCase is one test of the exported rule.
type exportCase struct {
	Name   string
	Fires  bool
	Series []exportSeries
}

// exportSeries is a counter that grows by the same number in each interval.
type exportSeries struct {
	Metric string
	Each   float64
}

// stormName is the one rule whose input Prometheus has.
const stormName = "eviction-storm"

func (p *Program) rulesExportCommand(s *shared) *cobra.Command {
	var format *oneWord
	e := export{Evictions: "helix_workspace_evictions_total", Retries: "helix_workspace_eviction_retries_total", Provider: "provider", File: "sandglass.rules.yml"}
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
			for _, n := range []string{e.Evictions, e.Retries, e.Provider} {
				if !plainName(n) {
					return usage("%q is no plain name of a metric or label: letters, digits and _, not beginning with a digit", n)
				}
			}
			var err error
			if e.config, err = p.load(*s); err != nil {
				return err
			}
			out, err := e.write(format.word + ".yml.tmpl")
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
	f.StringVar(&e.Evictions, "evictions", e.Evictions, "`METRIC` that counts evictions")
	f.StringVar(&e.Retries, "retries", e.Retries, "`METRIC` that counts evictions which retries recovered")
	f.StringVar(&e.Provider, "provider-label", e.Provider, "`LABEL` that names the provider")
	f.StringVar(&e.File, "rule-file", e.File, "`NAME` of the rule file that the tests are about")
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

// write fills in a template.
func (e *export) write(name string) (string, error) {
	if err := e.fill(); err != nil {
		return "", err
	}
	funcs := template.FuncMap{"decimal": decimal, "percent": percent, "quote": quote,
		"span": func(d backend.Duration) string { return prometheusDuration(d.Std()) }}
	t, err := template.New(name).Funcs(funcs).ParseFS(exportTemplates, name)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, e)
	return b.String(), err
}

// fill reads the thresholds of eviction-storm and what the configuration says of the other rules.
func (e *export) fill() error {
	k, err := kindNamed(stormName)
	if err != nil {
		return err
	}
	m, on, err := app.RuleMeta(k, e.config)
	if err != nil {
		return err
	}
	options, err := app.RuleOptions(k, e.config)
	if err != nil {
		return err
	}
	o, ok := options.(*rules.StormOptions)
	if !ok {
		return fmt.Errorf("the options of %s have another type", stormName)
	}
	e.On, e.Storm, e.Scope = on, o, backend.Clean(m.Scope.String(), 2000).String()
	e.Labels = [][2]string{{"rule", stormName}, {"severity", string(o.Severity)}, {"runbook", "7"}}
	e.Annotations = [][2]string{
		{"summary", "Workspaces are evicted faster than they recover"},
		{"description", fmt.Sprintf("More than %s evictions a second over %s, of which retries recover less than %s. Next: sandglass runbook 7", decimal(o.Rate),
			duration(o.Over.Std()), percent(o.Recovery))},
	}
	e.LeftOut = e.leftOut()
	e.tests()
	return nil
}

// leftOut lists the rules that PromQL cannot express, and why.
func (e *export) leftOut() (out [][2]string) {
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
		out = append(out, [2]string{k.Name, why})
	}
	return out
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

// tests are of a storm, of one whose evictions recover, and of a rate below the threshold.
func (e *export) tests() {
	o := e.Storm
	const interval = 15 * time.Second // as in the template
	at := (2*o.Over.Std() + o.For.Std() + interval).Truncate(interval)
	e.At, e.Samples = prometheusDuration(at), int(at/interval)+1
	storm := math.Ceil(o.Rate*interval.Seconds()*10) / 2 // five times the rate, a multiple of a half
	evictions := func(each float64) exportSeries { return exportSeries{e.Evictions, each} }
	retries := func(each float64) exportSeries { return exportSeries{e.Retries, each} }
	e.Cases = []exportCase{
		{"a storm from which nothing recovers, before the retry counter exists", true, []exportSeries{evictions(storm)}},
		{"a storm from which nearly nothing recovers", true, []exportSeries{evictions(storm), retries(storm * o.Recovery / 10)}},
		{"as many evictions, of which enough recover", false, []exportSeries{evictions(storm), retries(storm * math.Min(1, o.Recovery*1.01))}},
		{"evictions at half the rate", false, []exportSeries{evictions(o.Rate * interval.Seconds() / 2), retries(0)}},
	}
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
