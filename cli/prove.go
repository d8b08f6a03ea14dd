package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sandglass/actions"
	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views/text"
)

// The exit codes of commands that observe.
const (
	ExitObservedFailed = 1                  // something that was tried failed
	ExitObservedNot    = alerts.ExitUnknown // it could not be tried, or its result is not known
)

const observingHelp = `
Nothing is done yet: the command prints the plan and the command line that
carries it out. That plan can be confirmed for 60 s, once:

  sandglass %[1]s --yes-plan DIGEST --reason TEXT
`

// proveCommand tries a platform on a sandbox of its own.
func (p *Program) proveCommand(s *shared) *cobra.Command {
	a := &acting{words: []string{string(actions.Prove)}, verbs: []actions.Verb{actions.Prove}, all: true, observes: true}
	short := "Prove whether a platform works, on a sandbox that is made for that and removed"
	cmd := &cobra.Command{
		Use:   "prove [SOURCE]",
		Short: short,
		Long: short + `.

It makes one sandbox, writes a file, runs a command, lists, reads, pauses and
resumes it, tries each again, and removes it. The first step that fails is
named, with what the platform said. What a killed process left is removed by
the next command on the same state directory.
` + strings.ReplaceAll(observingHelp, "%[1]s", "prove") + `
Exit codes: 0 planned, or it works; 1 a step failed; 3 it could not be tried;
4 refused, nothing was done; 64 wrong flag; 78 wrong configuration.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return p.act(c, *s, a, args) },
	}
	cmd.Flags().StringVar(&a.beside, "beside", "", "compare with the suspect sandbox of this `ID`, and use its image")
	cmd.Flags().StringVar(&a.params.Image, "image", "", "make the sandbox of this `IMAGE`, which the platform must have; default: prove_image, else the image that most sandboxes use")
	cmd.ValidArgsFunction = p.completeIDs(s, backend.KindSource)
	a.flags(p, cmd, s)
	if err := cmd.RegisterFlagCompletionFunc("beside", p.completeIDs(s, backend.KindSandbox)); err != nil {
		panic(err) // the flag's name is misspelt in our own source
	}
	return cmd
}

// suspect finds the sandbox that a proof is compared with.
func (x *actingStation) suspect(name, source string) (backend.Key, error) {
	if name == "" {
		return backend.Key{}, nil
	}
	places := map[place]bool{{source, backend.KindSandbox}: true}
	rows, err := x.rows(places, selection{})
	if err != nil {
		return backend.Key{}, err
	}
	got, err := rows.named([]string{name})
	if err != nil {
		return backend.Key{}, err
	}
	if len(got.keys) == 0 {
		return backend.Key{}, x.nothing(actions.Prove, selection{ids: []string{name}, source: source}, got)
	}
	return got.keys[0], nil
}

// observed is the exit code of a run that observes. A plane that only looks observe, such as a frozen main process, counts too.
func observed(p actions.Progress, state *fleet.State) int {
	code := 0
	for i := range p.Lines {
		l := &p.Lines[i]
		o := backend.Observation{Verdicts: l.Done.Observed}
		if b := state.Sandbox(l.Target.Key); b != nil && o.Tried() {
			o.Verdicts = backend.MergeVerdicts(b.Observed.Or(backend.Observation{}).Present().Failed(), o.Verdicts)
		}
		switch {
		case o.Outcome() == backend.OutcomeFailed, p.Plan.Verb == actions.Prove && l.Result == actions.ResultFailed:
			return ExitObservedFailed
		case o.Outcome() == backend.OutcomeUnknown, p.Plan.Verb == actions.Probe && !commandTried(o), p.Plan.Verb != actions.Prove && !o.Tried(), l.Result != actions.ResultVerified:
			code = ExitObservedNot
		}
	}
	if len(p.Lines) == 0 {
		return ExitObservedNot
	}
	return code
}

// foundBefore are the planes that failed when they were looked at, and that a probe did not try: they count for its exit code.
func foundBefore(p actions.Progress, state *fleet.State) []string {
	var out []string
	for i := range p.Lines {
		l := &p.Lines[i]
		b := state.Sandbox(l.Target.Key)
		if b == nil || p.Plan.Verb != actions.Probe {
			continue
		}
		probed := backend.Observation{Verdicts: l.Done.Observed}
		for _, v := range b.Observed.Or(backend.Observation{}).Present().Failed() {
			if tried, found := probed.Of(v.Plane); !found || !tried.Tried() {
				out = append(out, fmt.Sprintf("%s: %s failed when it was looked at: %s", b.Name, v.Plane, v.Said()))
			}
		}
	}
	return out
}

// commandTried reports whether a command was run, or tried to.
func commandTried(o backend.Observation) bool {
	v, _ := o.Of(backend.PlaneExec)
	return v.Tried()
}

// probeCommand observes sandboxes by a harmless command.
func (p *Program) probeCommand(s *shared, short string) *cobra.Command {
	a := &acting{words: []string{string(actions.Probe)}, verbs: []actions.Verb{actions.Probe}, observes: true}
	cmd := &cobra.Command{
		Use:   "probe SELECTOR...",
		Short: short,
		Long: short + ".\n" + strings.ReplaceAll(observingHelp, "%[1]s", "probe") + `
SELECTOR is an id, exactly as check and get print it. - reads ids from the
standard input, one a line.

Exit codes: 0 planned, or every plane that was tried works; 1 a plane failed; 3
it could not be tried, or the result is unknown; 4 refused, nothing was done; 64
wrong flag; 78 wrong configuration.`,
		RunE: func(c *cobra.Command, args []string) error { return p.act(c, *s, a, args) },
	}
	cmd.ValidArgsFunction = p.completeIDs(s, backend.KindSandbox)
	a.flags(p, cmd, s)
	return cmd
}

// beside adds the suspect sandbox to the document of a run.
func (x *actingStation) besides(doc *text.Plan, plan *actions.Plan, progress actions.Progress) {
	if plan.Verb != actions.Prove || len(progress.Lines) == 0 {
		return
	}
	var suspect *backend.Sandbox
	if id, err := backend.NewID(plan.Params.Beside); err == nil {
		state, _ := x.Alerts.Latest()
		suspect = state.Sandbox(backend.Key{Kind: backend.KindSandbox, Source: plan.Source, ID: id})
	}
	doc.Beside(suspect, actions.Compared(&progress.Lines[0], suspect, x.p.Now()))
}
