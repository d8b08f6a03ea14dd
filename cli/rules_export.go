package cli

import (
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sandglass/alerts/rules"
	"sandglass/app"
	"sandglass/backend"
	"sandglass/config"
)

// exportTemplates are the rule file, the tests of it, and parts of both, with values as ${name}. They are not those of
// text/template, because a program that links that package keeps every exported method: 4 MB more.
//
//go:embed export
var exportTemplates embed.FS

// filled is a template with its values, without the last end of line.
func filled(name string, values map[string]string) string {
	b, err := exportTemplates.ReadFile("export/" + name + ".tmpl")
	if err != nil {
		panic(err) // a test fills them all
	}
	return os.Expand(strings.TrimSuffix(string(b), "\n"), func(key string) string { return values[key] })
}

// export is what `rules export` writes about.
type export struct {
	config             *config.Config
	evictions, retries string // metric names
	provider           string // label
	file               string // the name of the rule file in the tests
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
					return usage("%q is not a name of a metric or label: letters, digits and _, not beginning with a digit", n)
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

// storm is eviction-storm as configured; on is false where it is switched off.
func (e *export) storm() (o *rules.StormOptions, scope string, on bool, err error) {
	k, err := kindNamed(stormName)
	if err != nil {
		return nil, "", false, err
	}
	m, on, err := app.RuleMeta(k, e.config)
	if err != nil {
		return nil, "", false, err
	}
	options, err := app.RuleOptions(k, e.config)
	if err != nil {
		return nil, "", false, err
	}
	o, ok := options.(*rules.StormOptions)
	if !ok {
		return nil, "", false, fmt.Errorf("the options of %s have another type", stormName)
	}
	return o, backend.Clean(m.Scope.String(), 2000).String(), on, nil
}

func (e *export) prometheus() (string, error) {
	o, scope, on, err := e.storm()
	if err != nil {
		return "", err
	}
	groups := filled("off", nil)
	if on {
		groups = filled("storm", e.rule(o, scope))
	}
	return filled("prometheus", map[string]string{"groups": groups, "left_out": e.leftOut()}) + "\n", nil
}

// rule are the values of the exported rule: more than `rate` evictions a second, of which less than `recovery` recover.
// A retry counter that does not exist yet has counted none, which `unless` gets right.
func (e *export) rule(o *rules.StormOptions, scope string) map[string]string {
	rate := func(metric string) string {
		return fmt.Sprintf("sum by (%s) (rate(%s[%s]))", e.provider, metric, prometheusDuration(o.Over.Std()))
	}
	v := map[string]string{"leave": percent(o.Leave), "evictions": rate(e.evictions), "retries": rate(e.retries), "rate": decimal(o.Rate),
		"recovery": decimal(o.Recovery), "labels": labels(o, 10), "annotations": annotations(o, 10)}
	if scope != "" {
		v["scope"] = "\n      # The configuration limits the rule to: " + scope + ".\n      # That is not in this expression, which counts all of its series."
	}
	for name, d := range map[string]backend.Duration{"for": o.For, "keep": o.KeepFiringFor} {
		if d > 0 {
			v[name] = "\n        " + map[string]string{"for": "for", "keep": "keep_firing_for"}[name] + ": " + prometheusDuration(d.Std())
		}
	}
	return v
}

func labels(o *rules.StormOptions, indent int) string {
	return lines(indent, "rule", stormName, "severity", string(o.Severity), "runbook", "7")
}

func annotations(o *rules.StormOptions, indent int) string {
	return lines(indent, "summary", "Workspaces are evicted faster than they recover",
		"description", fmt.Sprintf("More than %s evictions a second over %s, of which retries recover less than %s. Next: sandglass runbook 7", decimal(o.Rate),
			duration(o.Over.Std()), percent(o.Recovery)))
}

// lines are the pairs of a YAML map, each on a line of its own.
func lines(indent int, pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "\n%*s%s: %s", indent, "", pairs[i], quote(pairs[i+1]))
	}
	return b.String()
}

// leftOut lists the rules that PromQL cannot express, and why.
func (e *export) leftOut() string {
	var b strings.Builder
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
		fmt.Fprintf(&b, "\n#   %s: %s", k.Name, why)
	}
	return b.String()
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

// promtool writes tests of a storm, of one whose evictions recover, and of a rate below the threshold.
func (e *export) promtool() (string, error) {
	o, _, on, err := e.storm()
	if err != nil {
		return "", err
	}
	cases := " []"
	if on {
		cases = e.cases(o)
	}
	return filled("promtool", map[string]string{"file": quote(e.file), "cases": cases}) + "\n", nil
}

func (e *export) cases(o *rules.StormOptions) string {
	const interval = 15 * time.Second // as in the templates
	at := (2*o.Over.Std() + o.For.Std() + interval).Truncate(interval)
	storm := math.Ceil(o.Rate*interval.Seconds()*10) / 2 // five times the rate, a multiple of a half
	series := func(metric string, each float64) string {
		return "\n      - series: " + quote(fmt.Sprintf("%s{%s=\"docker\"}", metric, e.provider)) +
			"\n        values: " + quote(fmt.Sprintf("0+%sx%d", decimal(each), int(at/interval)+1))
	}
	var b strings.Builder
	for _, c := range []struct {
		name, series string
		fires        bool
	}{
		{"a storm from which nothing recovers, before the retry counter exists", series(e.evictions, storm), true},
		{"a storm from which nearly nothing recovers", series(e.evictions, storm) + series(e.retries, storm*o.Recovery/10), true},
		{"as many evictions, of which enough recover", series(e.evictions, storm) + series(e.retries, storm*math.Min(1, o.Recovery*1.01)), false},
		{"evictions at half the rate", series(e.evictions, o.Rate*interval.Seconds()/2) + series(e.retries, 0), false},
	} {
		expected := " []"
		if c.fires {
			expected = filled("expected", map[string]string{"provider": e.provider, "labels": labels(o, 14), "annotations": annotations(o, 14)})
		}
		b.WriteString(filled("case", map[string]string{"name": quote(c.name), "series": c.series, "at": prometheusDuration(at), "expected": expected}))
	}
	return b.String()
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
