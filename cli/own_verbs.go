package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sandglass/actions"
)

// doCommand is the command of the verbs that operators define.
func (p *Program) doCommand(s *shared) *cobra.Command {
	a := &acting{}
	short := "Do what an [[action]] of the configuration defines"
	cmd := &cobra.Command{
		Use:   "do VERB SELECTOR...",
		Short: short,
		Long:  short + ".\n" + strings.ReplaceAll(actingHelp, "%[1]s", "do VERB"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("do needs a verb, which an [[action]] of the configuration names, and what to do it to")
			}
			if err := p.defined(*s, args[0]); err != nil {
				return err
			}
			a.words, a.verbs = []string{"do", args[0]}, []actions.Verb{actions.Verb(args[0])}
			return p.act(c, *s, a, args[1:])
		},
	}
	ids := p.completeIDs(s)
	cmd.ValidArgsFunction = func(c *cobra.Command, args []string, begun string) (verbs []string, _ cobra.ShellCompDirective) {
		if len(args) > 0 {
			return ids(c, args, begun)
		}
		if c, err := p.load(*s); err == nil && len(args) == 0 {
			for _, x := range c.Actions {
				verbs = append(verbs, x.Name)
			}
		}
		return verbs, cobra.ShellCompDirectiveNoFileComp
	}
	a.flags(p, cmd, s)
	return cmd
}

// defined refuses a verb that no [[action]] of the configuration defines.
func (p *Program) defined(s shared, verb string) error {
	c, err := p.load(s)
	if err != nil {
		return err
	}
	var own []string
	for _, x := range c.Actions {
		own = append(own, x.Name)
	}
	builtin := slices.DeleteFunc(p.Verbs(), func(v string) bool { return v == string(actions.Purge) || v == string(actions.Undo) })
	switch {
	case slices.Contains(own, verb):
		return nil
	case slices.Contains(builtin, verb):
		return usage("%s is a command of its own: sandglass %s", verb, verb)
	case len(own) == 0:
		return usage("there is no verb %q: the configuration has no [[action]]; the verbs that need none are commands: %s", verb, strings.Join(builtin, ", "))
	}
	return usage("there is no verb %q%s", verb, didYouMean(verb, own))
}
