package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"sandglass/alerts"
	"sandglass/alerts/scenario"
	"sandglass/app"
	"sandglass/views/text"
)

// ruleTests is `rules test -o json`.
type ruleTests struct {
	Schema  int               `json:"schema"`
	Passed  int               `json:"passed"`
	Failed  int               `json:"failed"`
	Results []scenario.Result `json:"results"`
}

func (p *Program) rulesTestCommand(s *shared) *cobra.Command {
	var format *oneWord
	cmd := &cobra.Command{
		Use:   "test FILE…",
		Short: "Play scenario files to the rules as configured",
		Long: `Play scenario files to the rules, with the thresholds of the configuration, and
compare what is concluded with what the files expect. Nothing is read but the
files. Their form is described in docs/rule-tests.md.

Exit codes: 0 everything is as expected, 1 something is not, 64 a file names a
rule or a subject that is not there or cannot be read, 78 wrong configuration.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("rules test needs at least one scenario file")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := p.load(*s)
			if err != nil {
				return err
			}
			conditions, wrong := app.MakeRules(c)
			if len(wrong) > 0 {
				return wrong
			}
			doc := &ruleTests{Schema: text.Schema, Results: []scenario.Result{}}
			var faults []string
			for _, name := range args {
				results, err := p.runScenarios(name, conditions)
				if err != nil {
					faults = append(faults, strings.Split(err.Error(), "\n")...)
				}
				doc.Results = append(doc.Results, results...)
			}
			return p.writeTests(doc, faults, format)
		},
	}
	format = p.output(cmd)
	return cmd
}

// runScenarios plays one file. Its names and texts are drawn, so they are cleaned here.
func (p *Program) runScenarios(name string, conditions []alerts.Rule) ([]scenario.Result, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	f, err := scenario.Read(name, data)
	if err != nil {
		return nil, err
	}
	results, err := f.Run(conditions)
	for i := range results {
		r := &results[i]
		r.File, r.Scenario = p.clean(r.File), p.clean(r.Scenario)
		for j := range r.Differences {
			d := &r.Differences[j]
			d.Want, d.Got = p.clean(d.Want), p.clean(d.Got)
		}
	}
	return results, err
}

func (p *Program) writeTests(doc *ruleTests, faults []string, format *oneWord) error {
	for _, r := range doc.Results {
		if len(r.Differences) > 0 {
			doc.Failed++
		} else {
			doc.Passed++
		}
	}
	switch err := print(p, format, doc, func(d *ruleTests) error { return p.write(d.text()) }); {
	case err != nil:
		return err
	case len(faults) > 0:
		return &failure{code: ExitUsage, what: "not everything could be tested:", lines: faults, next: "correct the scenario files"}
	case doc.Failed > 0:
		return exit(ExitFailed)
	}
	return nil
}

func (d *ruleTests) text() string {
	var b strings.Builder
	for _, r := range d.Results {
		word := "ok"
		if len(r.Differences) > 0 {
			word = "FAILED"
		}
		fmt.Fprintf(&b, "%-6s %s: %s\n", word, r.File, r.Scenario)
		for _, x := range r.Differences {
			fmt.Fprintf(&b, "       at %s, %s, %s\n         want %s\n         got  %s\n", duration(x.At.Std()), x.Rule, x.What, x.Want, x.Got)
		}
	}
	fmt.Fprintf(&b, "%d of %d scenarios as expected\n", d.Passed, d.Passed+d.Failed)
	return b.String()
}
