package cli

import (
	"github.com/spf13/cobra"

	"sandglass/actions"
)

// processCommand is a command that signals one process in a sandbox.
func (p *Program) processCommand(s *shared, verb actions.Verb, short string) *cobra.Command {
	a := &acting{words: []string{string(verb)}, verbs: []actions.Verb{verb}}
	cmd := p.commandOf(s, a, short)
	cmd.Flags().StringVar(&a.params.Process, "process", "", "`PID` or name of the process, as a probe found it; empty: the only one that runs")
	return cmd
}

// revokeCommand is the command that removes a token of a private preview.
func (p *Program) revokeCommand(s *shared) *cobra.Command {
	a := &acting{words: []string{string(actions.RevokeToken)}, verbs: []actions.Verb{actions.RevokeToken}}
	cmd := p.commandOf(s, a, "Remove one token of a private preview")
	cmd.Flags().StringVar(&a.params.Token, "token", "", "the token, as `PREVIEW/TOKEN`; empty: the only one that the sandbox has")
	return cmd
}
