package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sandglass/alerts"
	"sandglass/alerts/rules"
	"sandglass/app"
	"sandglass/backend"
	"sandglass/config"
	"sandglass/views/text"
)

func (p *Program) rulesCommand(s *shared) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "List, explain, test and export the alert rules",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	cmd.AddCommand(p.rulesListCommand(s), p.rulesShowCommand(s), p.rulesTestCommand(s), p.rulesExportCommand(s))
	return cmd
}

// ruleItem is a rule in `rules list -o json`.
type ruleItem struct {
	Rule          string           `json:"rule"`
	Summary       string           `json:"summary"`
	Enabled       bool             `json:"enabled"`
	Severity      alerts.Severity  `json:"severity"`
	For           backend.Duration `json:"for"`
	KeepFiringFor backend.Duration `json:"keep_firing_for"`
	// Inputs are groups: of each group some source must deliver one.
	Inputs  [][]backend.Input `json:"inputs"`
	Scope   string            `json:"scope,omitempty"` // what the configuration limits it to
	Runbook string            `json:"runbook"`
	Blind   []blindItem       `json:"blind"`
}

type blindItem struct {
	Source string       `json:"source,omitempty"` // empty: everywhere
	Why    backend.Safe `json:"why"`
	Part   bool         `json:"part,omitempty"` // some of its subjects are judged
}

type ruleList struct {
	Schema int        `json:"schema"`
	Rules  []ruleItem `json:"rules"`
}

func (p *Program) rulesListCommand(s *shared) *cobra.Command {
	var format *oneWord
	var o oneShot
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the rules with severity and inputs, and where each of them is not evaluated",
		Long: `List the rules with their severity, what they read, and where they are not evaluated.

Every configured source is read once, because only its answer tells what it
delivers.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.reading(c.Context(), *s, o, func(r *reading) error {
				list, err := ruleItems(r)
				if err != nil {
					return err
				}
				return print(p, format, list, func(l *ruleList) error {
					return p.write(l.text() + p.pasted("\nsandglass rules show NAME explains one of them.\n"))
				})
			})
		},
	}
	format = p.output(cmd)
	o.flags(cmd)
	return cmd
}

func ruleItems(r *reading) (*ruleList, error) {
	list := &ruleList{Schema: text.Schema}
	for _, k := range rules.Kinds() {
		m, on, err := app.RuleMeta(k, r.Config)
		if err != nil {
			return nil, err
		}
		item := ruleItem{Rule: k.Name, Summary: k.Summary, Enabled: on, Severity: m.Severity, For: backend.Duration(m.For), KeepFiringFor: backend.Duration(m.KeepFiringFor),
			Inputs: m.Needs, Scope: m.Scope.String(), Runbook: m.Explain.Runbook, Blind: []blindItem{}}
		if item.Inputs == nil {
			item.Inputs = [][]backend.Input{}
		}
		for _, b := range r.board.Blind {
			if b.Rule == k.Name {
				item.Blind = append(item.Blind, blindItem{b.Source, b.Why, b.Part})
			}
		}
		list.Rules = append(list.Rules, item)
	}
	return list, nil
}

func (l *ruleList) text() string {
	var b strings.Builder
	wide := 0
	for _, r := range l.Rules {
		wide = max(wide, len(r.Rule))
	}
	for _, r := range l.Rules {
		state := string(r.Severity)
		if !r.Enabled {
			state = "off"
		}
		fmt.Fprintf(&b, "%-*s  %-8s  %s\n", wide, r.Rule, state, r.Summary)
		fmt.Fprintf(&b, "%*s  reads: %s\n", wide, "", inputsText(r.Inputs))
		if r.Scope != "" {
			fmt.Fprintf(&b, "%*s  judges: %s\n", wide, "", backend.Clean(r.Scope, 2000))
		}
		for _, x := range r.Blind {
			on := "everywhere"
			if x.Source != "" {
				on = "on " + backend.Clean(x.Source, 80).String()
			}
			word := "not evaluated"
			if x.Part {
				word = "evaluated in part"
			}
			fmt.Fprintf(&b, "%*s  %s %s: %s\n", wide, "", word, on, x.Why)
		}
	}
	return b.String()
}

func inputsText(groups [][]backend.Input) string {
	if len(groups) == 0 {
		return "the health of every source"
	}
	var parts []string
	for _, g := range groups {
		var in []string
		for _, i := range g {
			in = append(in, string(i))
		}
		parts = append(parts, strings.Join(in, " or "))
	}
	return strings.Join(parts, "; and ")
}

// kindNamed finds a rule for a command.
func kindNamed(name string) (rules.Kind, error) {
	for _, k := range rules.Kinds() {
		if k.Name == name {
			return k, nil
		}
	}
	all, _ := ruleNames(nil, nil, "")
	return rules.Kind{}, &failure{code: ExitUsage, what: fmt.Sprintf("there is no rule %q%s", name, didYouMean(name, all)), next: "sandglass rules list"}
}

func ruleNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var all []string
	for _, k := range rules.Kinds() {
		all = append(all, k.Name)
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}

// ruleDoc is `rules show -o json`.
type ruleDoc struct {
	Schema   int             `json:"schema"`
	Rule     string          `json:"rule"`
	Summary  string          `json:"summary"`
	Enabled  bool            `json:"enabled"`
	Severity alerts.Severity `json:"severity"`
	Means    string          `json:"means"`
	Inputs   string          `json:"inputs"`
	Missing  string          `json:"missing"`
	Limits   string          `json:"limits"`
	Runbook  string          `json:"runbook"`
	First    []string        `json:"first"`
	Options  []ruleOption    `json:"options"`
}

// ruleOption is one key of a rule's table. Values are written as the configuration file would.
type ruleOption struct {
	Key     string `json:"key"`
	Value   string `json:"value"`
	Default string `json:"default"`
	Doc     string `json:"doc"`
}

func (p *Program) rulesShowCommand(s *shared) *cobra.Command {
	var format *oneWord
	cmd := &cobra.Command{
		Use:               "show NAME",
		Short:             "Explain one rule, with its thresholds as configured",
		ValidArgsFunction: ruleNames,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &failure{code: ExitUsage, what: "rules show needs the name of one rule", next: "sandglass rules list"}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			k, err := kindNamed(args[0])
			if err != nil {
				return err
			}
			c, err := p.load(*s)
			if err != nil {
				return err
			}
			doc, err := makeRuleDoc(k, c)
			if err != nil {
				return err
			}
			return print(p, format, doc, func(d *ruleDoc) error { return p.write(d.text(p.clean)) })
		},
	}
	format = p.output(cmd)
	return cmd
}

func makeRuleDoc(k rules.Kind, c *config.Config) (*ruleDoc, error) {
	m, on, err := app.RuleMeta(k, c)
	if err != nil {
		return nil, err
	}
	now, err := app.RuleOptions(k, c)
	if err != nil {
		return nil, err
	}
	e := m.Explain
	doc := &ruleDoc{Schema: text.Schema, Rule: k.Name, Summary: k.Summary, Enabled: on, Severity: m.Severity, Means: e.Means, Inputs: e.Inputs, Missing: e.Missing, Limits: e.Limits,
		Runbook: e.Runbook, First: e.First}
	defaults := rules.OptionList(k.Defaults())
	for i, o := range rules.OptionList(now) {
		doc.Options = append(doc.Options, ruleOption{o.Key, o.Default, defaults[i].Default, o.Doc})
	}
	return doc, nil
}

func (d *ruleDoc) text(clean func(string) string) string {
	var b strings.Builder
	state := string(d.Severity)
	if !d.Enabled {
		state = "switched off"
	}
	fmt.Fprintf(&b, "%s (%s): %s\n", d.Rule, state, d.Summary)
	part := func(title, body string) { fmt.Fprintf(&b, "\n%s\n%s", title, wrap(body, 2)) }
	part("Fires when", d.Means)
	part("Needs", d.Inputs)
	part("When data is missing", d.Missing)
	part("Limits", d.Limits)
	part("Runbook", d.Runbook)
	b.WriteString("\nWhat to do first\n")
	for i, f := range d.First {
		b.WriteString(wrap(fmt.Sprintf("%d. %s", i+1, f), 2))
	}
	fmt.Fprintf(&b, "\n[rules.%s]\n", d.Rule)
	for _, o := range d.Options {
		changed := ""
		if o.Value != o.Default {
			changed = ", default " + o.Default
		}
		fmt.Fprintf(&b, "  %s = %s\n%s", o.Key, clean(o.Value), wrap(o.Doc+changed, 6))
	}
	return b.String()
}

// wrap breaks a text into lines of at most 78 characters, indented.
func wrap(s string, indent int) string {
	var b strings.Builder
	line := strings.Repeat(" ", indent)
	for i, word := range strings.Fields(s) {
		if i > 0 && len(line)+1+len(word) > 78 {
			b.WriteString(line + "\n")
			line = strings.Repeat(" ", indent) + word
			continue
		}
		if i > 0 {
			line += " "
		}
		line += word
	}
	return b.String() + line + "\n"
}
