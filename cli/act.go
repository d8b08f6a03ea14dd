package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sandglass/actions"
	"sandglass/actions/audit"
	"sandglass/backend"
	"sandglass/config"
	"sandglass/views/subjects"
	"sandglass/views/text"
)

// The exit codes of commands that act, besides those for wrong flags and configurations.
const (
	ExitUnverified = 1 // everything was accepted, and readings do not show all of it
	ExitPartly     = 2 // something failed, was left out, or is not known
	ExitRefused    = 4 // nothing was done
)

// acting are the flags of the commands that act.
type acting struct {
	timeout   time.Duration
	words     []string       // of the command: reset, or do VERB
	verbs     []actions.Verb // whose plans the command carries out
	plans     actions.Verb   // what it plans; empty: the first of verbs
	source    string
	filter    string
	match     bool
	dryRun    bool
	readOnly  bool
	reason    string
	by        string
	digest    string
	overrides []string
	format    *oneWord
	params    actions.Params
	beside    string // prove: the suspect, as the command line names it
	observes  bool   // its exit codes are those of commands that observe
	all       bool   // without a selector everything is meant, and the plan leaves out what is not to be touched
}

func (a *acting) flags(p *Program, cmd *cobra.Command, s *shared) {
	f := cmd.Flags()
	a.timeout = 55 * time.Second
	f.Var((*lasting)(&a.timeout), "timeout", "give up on sources that have not answered after this long")
	f.StringVar(&a.source, "source", "", "`ID` of the source that is acted on, where several have it")
	f.StringVar(&a.filter, "filter", "", "act on the rows of get that match `EXPRESSION`")
	f.BoolVar(&a.match, "match", false, "the selectors are patterns, such as 's-1*/repo'; * does not match a /")
	f.BoolVar(&a.dryRun, "dry-run", false, "go through everything with an effect that only records; nothing changes, and nothing is written down")
	f.StringVar(&a.reason, "reason", "", "why; it goes into the journal, and --yes-plan needs it")
	f.StringVar(&a.by, "by", "", "`NAME` of who acts, to confirm on an account that several people can use; default $SANDGLASS_USER")
	f.StringVar(&a.digest, "yes-plan", "", "carry out the plan of this `DIGEST`, exactly as it was printed")
	f.StringArrayVar(&a.overrides, "override", nil, "`WORD` that overrides a refusal of the plan, as the plan names it; repeatable")
	a.format = p.output(cmd)
	f.BoolVar(&a.readOnly, "read-only", false, "refuse everything that changes something")
	p.permitFlags(cmd, s)
	p.complete(cmd, "override", overriding())
	p.completeFrom(cmd, "source", s, sourceIDs)
	p.completeWith(cmd, "filter", p.completeFilter(s, func([]string) string { return a.kind() }))
	if cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
}

// completeFrom completes a flag with words of the configuration; of one that cannot be read there are none.
func (p *Program) completeFrom(cmd *cobra.Command, flag string, s *shared, words func(*config.Config) []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		c, err := p.load(*s)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return words(c), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err) // the flag's name is misspelt in our own source
	}
}

// permitFlags are the flags of everything that can act on a machine without a configuration.
func (p *Program) permitFlags(cmd *cobra.Command, s *shared) {
	cmd.Flags().StringSliceVar(&s.permit.Verbs, "allow", nil, "without a configuration: the `VERBS` that may be done here, such as destroy,stop,pause")
	p.complete(cmd, "allow", p.Verbs())
	cmd.Flags().Var((*lasting)(&s.permit.SessionLifetime), "session-lifetime", "without a configuration: how long a session can live at most, which --allow clean needs")
}

// lasting is a duration flag that takes what configuration files take: 90s, 48h, 7d.
type lasting time.Duration

// Set reads the flag.
func (l *lasting) Set(s string) error { return (*backend.Duration)(l).UnmarshalText([]byte(s)) }

// String is the default in the help; none is shown for zero.
func (l *lasting) String() string {
	if *l == 0 {
		return ""
	}
	return backend.Duration(*l).String()
}

// Type is the word for it in the help.
func (l *lasting) Type() string { return "duration" }

const actingHelp = `
Nothing is done yet: the command prints the plan, with what each target loses and
what is left out and why, and the command line that carries it out. That plan can
be confirmed for 60 s, once:

  sandglass %[1]s --yes-plan DIGEST --reason TEXT

SELECTOR is an id, exactly as check and get print it; of a workspace
<session>/<name>. - reads ids from the standard input, one a line.

Exit codes: 0 planned, or done and verified; 1 accepted, but not verified; 2
failed or partly done; 4 refused, nothing was done; 64 wrong flag; 78 wrong
configuration.`

// verbCommand is the command of one of Sandglass's own verbs.
func (p *Program) verbCommand(s *shared, verb actions.Verb, short string) *cobra.Command {
	return p.commandOf(s, &acting{words: []string{string(verb)}, verbs: []actions.Verb{verb}}, short)
}

func (p *Program) commandOf(s *shared, a *acting, short string) *cobra.Command {
	verb := a.verbs[0]
	cmd := &cobra.Command{
		Use:   string(verb) + " SELECTOR...",
		Short: short,
		Long:  short + ".\n" + strings.ReplaceAll(actingHelp, "%[1]s", string(verb)),
		RunE:  func(c *cobra.Command, args []string) error { return p.act(c, *s, a, args) },
	}
	cmd.ValidArgsFunction = p.completeIDs(s, verbTargets[verb])
	a.flags(p, cmd, s)
	return cmd
}

// verbTargets are the kinds that Sandglass's own verbs act on.
var verbTargets = map[actions.Verb]backend.Kind{actions.Reset: backend.KindWorkspace, actions.Clean: backend.KindTmpdir, actions.Destroy: backend.KindSandbox,
	actions.Stop: backend.KindSandbox, actions.Start: backend.KindSandbox, actions.Restart: backend.KindSandbox, actions.Shell: backend.KindSandbox, actions.Pause: backend.KindSandbox, actions.Resume: backend.KindSandbox, actions.Repair: backend.KindSandbox, actions.Probe: backend.KindSandbox,
	actions.Prove: backend.KindSource, actions.Rescue: backend.KindSandbox, actions.Wake: backend.KindSession, actions.Replace: backend.KindSandbox,
	actions.StopProcess: backend.KindSandbox, actions.KillProcess: backend.KindSandbox, actions.RevokeToken: backend.KindSandbox}

// kind is the name of the rows that the command acts on; empty: they can be of any kind.
func (a *acting) kind() string {
	if len(a.verbs) == 0 {
		return ""
	}
	return verbTargets[a.verbs[0]].Spec().List
}

// actingCommands are the commands that can change something.
func (p *Program) actingCommands(s *shared) []*cobra.Command {
	return []*cobra.Command{
		p.verbCommand(s, actions.Reset, "Reset failed workspaces, so that they open again"),
		p.verbCommand(s, actions.Destroy, "Destroy sandboxes"),
		p.verbCommand(s, actions.Stop, "Stop sandboxes; their files stay"),
		p.verbCommand(s, actions.Start, "Start sandboxes that have ended, with their files"),
		p.verbCommand(s, actions.Restart, "Stop sandboxes and start them again; their files stay"),
		p.verbCommand(s, actions.Shell, "Open a shell in a sandbox on this terminal"),
		p.verbCommand(s, actions.Pause, "Freeze sandboxes until they are resumed"),
		p.verbCommand(s, actions.Resume, "Let paused sandboxes go on"),
		p.verbCommand(s, actions.Repair, "Make the vanished working directory of sandboxes again, empty"),
		p.verbCommand(s, actions.Rescue, "Save the files of sandboxes that can still be read"),
		p.verbCommand(s, actions.Wake, "Have the hub resume sessions and their drivers"),
		p.verbCommand(s, actions.Replace, "Make new sandboxes configured like old ones, which stay"),
		p.processCommand(s, actions.StopProcess, "Ask one process in a sandbox to end"),
		p.processCommand(s, actions.KillProcess, "Kill one process in a sandbox"),
		p.revokeCommand(s),
		p.probeCommand(s, "Run a harmless command in sandboxes, to see whether any command runs"),
		p.proveCommand(s),
		p.cleanCommand(s),
		p.doCommand(s),
	}
}

// act makes a plan, rehearses one, or carries one out.
func (p *Program) act(c *cobra.Command, s shared, a *acting, args []string) error {
	if err := unsaid(c, a); err != nil {
		return err
	}
	if a.digest != "" {
		return p.carryOut(c.Context(), s, a, args)
	}
	want, err := p.selection(c.InOrStdin(), a, args)
	if err != nil {
		return err
	}
	return p.propose(c.Context(), s, a, want)
}

// overriding are the words that answer a refusal of a plan.
func overriding() []string {
	return []string{actions.WordCauseFixed, actions.WordAddsOpens, actions.WordEvidenceSaved}
}

// unsaid refuses an empty digest, as a script gives it whose variable is not set: a plan that is only printed, with the
// exit code of success, must not pass for one that was carried out.
func unsaid(c *cobra.Command, a *acting) error {
	if c.Flags().Changed("yes-plan") && a.digest == "" {
		return usage("--yes-plan is empty: give it the digest that the plan ended with")
	}
	for _, word := range a.overrides {
		if !slices.Contains(overriding(), word) {
			return usage("--override %q answers no refusal%s", word, didYouMean(word, overriding()))
		}
	}
	return nil
}

// verb is what the command plans.
func (a *acting) verb() actions.Verb {
	if a.plans != "" {
		return a.plans
	}
	return a.verbs[0]
}

// propose makes the plan and prints it.
func (p *Program) propose(ctx context.Context, s shared, a *acting, want selection) error {
	reason, err := p.optionalReason(a.reason)
	if err != nil {
		return err
	}
	x, err := p.openActing(s, a)
	if err != nil {
		return err
	}
	defer x.Close()
	x.operator.UseTerminal(x.LocalTerminal(ctx))
	if err := x.available(a.verb(), a.source); err != nil {
		return err
	}
	who := p.whoActs(x, a)
	if err := x.read(ctx, a.timeout); err != nil {
		return err
	}
	got, err := x.choose(ctx, a.verb(), want)
	if err != nil {
		return err
	}
	suspect, err := x.suspect(a.beside, got.source)
	if err != nil {
		return err
	}
	a.params.Beside = suspect.ID.Raw()
	plan, err := x.operator.Plan(ctx, actions.Intent{Verb: a.verb(), Source: got.source, Keys: got.keys, Params: a.params,
		Overrides: a.overrides, Who: who, Reason: reason, DryRun: a.dryRun, Headless: true, NotNow: subjects.Against(a.verb(), got.keys, x.seen())})
	if err != nil {
		return refused(err)
	}
	doc := text.MakePlan(plan, got.missing, p.Now())
	switch {
	case doc.Refused && a.observes && len(plan.Targets) == 0:
		doc.ExitCode = ExitObservedNot
	case doc.Refused:
		doc.ExitCode = ExitRefused
	case a.dryRun:
		stop := x.watch(ctx)
		progress, err := x.operator.Rehearse(ctx, plan)
		stop()
		if err != nil {
			return refused(err)
		}
		doc.Ran(progress)
	default:
		if err := x.operator.Keep(plan); err != nil {
			return refused(err)
		}
		if x.operator.NeedsName() && who.Claimed.IsEmpty() {
			doc.Unnamed = manyUse(who)
		} else {
			doc.Next = p.nextLine(s, a, x, plan)
		}
	}
	return p.printed(doc, a.format)
}

// whoActs is the person at the command line.
func (p *Program) whoActs(x *actingStation, a *acting) audit.Who {
	return x.operator.Who(p.Cleaner.Clean(strings.Join(strings.Fields(a.by), " "), maxAuthor))
}

func nameless(who audit.Who) error {
	return &failure{code: ExitRefused, what: "nothing was done: " + manyUse(who) + ", and the journal must say who acts",
		next: "name yourself: --by and your name, or set SANDGLASS_USER"}
}

func manyUse(who audit.Who) string {
	return who.User.String() + " is an account that several people can use"
}

// printed writes the document and ends with its exit code.
func (p *Program) printed(doc *text.Plan, format *oneWord) error {
	var err error
	doc.Paste(p.given.reach())
	switch {
	case format.word != formatText:
		err = print(p, format, doc, nil)
	case doc.Run == nil || doc.DryRun:
		if err = text.WritePlan(p.Stdout, doc); err == nil && doc.Run != nil {
			err = text.WriteRun(p.Stdout, doc)
		}
	default:
		err = text.WriteRun(p.Stdout, doc)
	}
	if err != nil {
		return unwritten(err)
	}
	if doc.ExitCode != 0 {
		return exit(doc.ExitCode)
	}
	return nil
}

// nextLine is the command line that carries the plan out.
func (p *Program) nextLine(s shared, a *acting, x *actingStation, plan *actions.Plan) []string {
	argv := append([]string{"sandglass"}, a.words...)
	for _, f := range []struct{ name, value string }{{"--config", s.config}, {"--state-dir", s.stateDir},
		{"--allow", strings.Join(s.permit.Verbs, ",")}, {"--session-lifetime", (*lasting)(&s.permit.SessionLifetime).String()},
		{"--yes-plan", plan.Digest}} {
		if f.value != "" {
			argv = append(argv, f.name, f.value)
		}
	}
	reason := plan.Reason.String()
	if reason == "" {
		reason = occasion(x, plan)
	}
	return append(argv, "--reason", reason)
}

// occasion is the reason of a plan for which none was given, so that its command line can be pasted: the alert about its
// targets, where there is one.
func occasion(x *actingStation, plan *actions.Plan) string {
	_, board := x.Alerts.Latest() // of the reading that the plan was made from
	for _, a := range board.Alerts {
		for i := range a.Subjects {
			if slices.ContainsFunc(plan.Targets, func(t actions.Target) bool { return a.About(i, t.Key) }) {
				return "alert " + a.Rule + " " + a.ID
			}
		}
	}
	return "no reason given"
}

func (p *Program) optionalReason(given string) (backend.Safe, error) {
	if given == "" {
		return backend.Safe{}, nil
	}
	return p.reason(given)
}

// refused says that nothing was done and why.
func refused(err error) error {
	f := &failure{code: ExitRefused, what: "nothing was done: " + err.Error()}
	var no *actions.RefusedError
	var wrong config.Errors
	if errors.As(err, &wrong) {
		return err
	}
	if errors.As(err, &no) {
		for _, r := range no.Refusals[1:] {
			f.lines = append(f.lines, r.Why.String())
		}
	}
	return f
}

// mine reports whether a plan is one that this command makes.
func (a *acting) mine(plan *actions.Plan) bool {
	return slices.Contains(a.verbs, plan.Verb) && (a.source == "" || a.source == plan.Source)
}
