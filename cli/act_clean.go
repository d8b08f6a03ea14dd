package cli

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"sandglass/actions"
	"sandglass/app"
	"sandglass/backend"
	"sandglass/views/text"
)

// cleaning are the flags of clean alone.
type cleaning struct {
	undo, purge, list, timer bool
	policy                   string
}

func (p *Program) cleanCommand(s *shared) *cobra.Command {
	a := &acting{words: []string{string(actions.Clean)}, verbs: []actions.Verb{actions.Clean, actions.Purge, actions.Undo}, all: true}
	var o cleaning
	short := "Quarantine unused scratch directories, and free their space"
	cmd := &cobra.Command{
		Use:   "clean [SELECTOR...]",
		Short: short,
		Long: short + `.

Without a selector the plan covers every directory and gives the reason for each one
that it skips. A directory is quarantined first: renamed in its place. It is removed
after a grace period, or at once with --purge-now. Until then --undo puts it back,
--purge removes it sooner, and --list shows it.

--policy cleans without a confirmation what a file allows that only root or you can
write: it is for timers. --timer prints the units of systemd.
` + strings.ReplaceAll(actingHelp, "%[1]s", "clean"),
		RunE: func(c *cobra.Command, args []string) error { return p.cleanUp(c, *s, a, o, args) },
	}
	a.flags(p, cmd, s)
	f := cmd.Flags()
	f.Var((*lasting)(&a.params.OlderThan), "older-than", "leave alone what changed within that time; default: as configured")
	f.IntVar(&a.params.Most, "max", 0, "clean at most so many, those unchanged for longest; default: as configured")
	f.BoolVar(&a.params.PurgeNow, "purge-now", false, "remove at once, without a grace period; there is no undo then")
	f.BoolVar(&o.undo, "undo", false, "put quarantined directories back")
	f.BoolVar(&o.purge, "purge", false, "remove quarantined directories now")
	f.BoolVar(&o.list, "list", false, "list quarantined directories")
	f.BoolVar(&o.timer, "timer", false, "print a service and a timer of systemd that clean by a policy, and what goes where")
	f.StringVar(&o.policy, "policy", "", "clean what this `FILE` allows, without a confirmation; with --timer: where that file will be")
	return cmd
}

func (p *Program) cleanUp(c *cobra.Command, s shared, a *acting, o cleaning, args []string) error {
	modes := 0
	for _, is := range []bool{o.undo, o.purge, o.list, o.timer, o.policy != "" && !o.timer, a.digest != ""} {
		if is {
			modes++
		}
	}
	switch {
	case modes > 1:
		return usage("--undo, --purge, --list, --timer, --policy and --yes-plan exclude each other: give one")
	case a.params.Most < 0:
		return usage("--max must be at least 1")
	case c.Flags().Changed("older-than") && a.params.OlderThan < app.LeastCleanAge:
		return usage("--older-than must be at least %s: a directory in use may not change for minutes", backend.Age(app.LeastCleanAge))
	case p.Cleaning == nil:
		return refused(errors.New("this program cannot clean"))
	case (o.list || o.timer || o.policy != "") && (len(args) > 0 || a.filter != ""):
		return usage("--list, --timer and --policy take no selector")
	case (o.undo || o.purge) && a.filter != "":
		return usage("--filter is for directories in their place: name a quarantined directory by its path, or leave the selector out for all")
	case o.list:
		return p.listWaiting(c.Context(), s, a)
	case o.timer:
		return p.timer(s, a, o)
	case o.policy != "":
		return p.cleanByPolicy(c.Context(), s, a, o.policy)
	case o.undo:
		a.plans = actions.Undo
	case o.purge:
		a.plans = actions.Purge
	}
	return p.act(c, s, a, args)
}

// listWaiting prints what was set aside.
func (p *Program) listWaiting(ctx context.Context, s shared, a *acting) error {
	x, err := p.openActing(s, a)
	if err != nil {
		return err
	}
	defer x.Close()
	if err := x.read(ctx, a.timeout); err != nil {
		return err
	}
	waiting, failed := x.waiting(ctx, a.source)
	doc := text.WaitingList{Schema: text.Schema, Time: text.Time{Time: p.Now()}, Environment: backend.Clean(x.Config.Environment, 200), Waiting: waiting}
	err = print(p, a.format, doc, func(d text.WaitingList) error { return text.WriteWaiting(p.Stdout, d) })
	switch {
	case err != nil:
		return err
	case failed != nil:
		return &failure{code: ExitPartly, what: "not everything could be listed: " + failed.Error()}
	}
	return nil
}

// waiting is what was set aside on the sources that allow cleaning.
func (x *actingStation) waiting(ctx context.Context, source string) ([]text.Waiting, error) {
	all, err := x.p.Cleaning.Waiting(ctx, x.Station)
	out := []text.Waiting{}
	for _, w := range all {
		if source == "" || w.Key.Source == source {
			out = append(out, w)
		}
	}
	return out, err
}

// waitingRows are the same for selectors.
func (x *actingStation) waitingRows(ctx context.Context, source string) (*rows, error) {
	waiting, err := x.waiting(ctx, source)
	if err != nil {
		return nil, refused(err)
	}
	out := &rows{byName: map[string][]backend.Key{}}
	for _, w := range waiting {
		out.add(w.Key, distinct([]string{w.Key.Path().Raw(), w.Path.Raw(), w.Path.Safe().String(), w.Name.Raw(), w.Name.Safe().String()}))
	}
	return out, nil
}

// timer prints what a machine needs to clean by itself.
func (p *Program) timer(s shared, a *acting, o cleaning) error {
	x, err := p.openActing(s, a)
	if err != nil {
		return err
	}
	defer x.Close()
	if err := x.available(actions.Clean, a.source); err != nil {
		return err
	}
	units, err := p.Cleaning.Units(x.Station, app.Units{Source: a.source, Params: a.params, File: o.policy})
	if err != nil {
		return refused(err)
	}
	_, err = io.WriteString(p.Stdout, units)
	return unwrittenIf(err)
}

// cleanByPolicy removes what is past its grace and cleans what a policy allows: the file stands for the person who
// confirms, and its hash for the reason.
func (p *Program) cleanByPolicy(ctx context.Context, s shared, a *acting, file string) error {
	if a.params != (actions.Params{}) || a.reason != "" || len(a.overrides) > 0 {
		return usage("--policy says itself how old and how many, and is its own reason")
	}
	policy, err := p.Cleaning.Policy(file)
	if err != nil {
		return refused(err)
	}
	x, err := p.openActing(s, a)
	if err != nil {
		return err
	}
	defer x.Close()
	if err := x.available(actions.Clean, a.source); err != nil {
		return err
	}
	if err := x.read(ctx, a.timeout); err != nil {
		return err
	}
	var failed error
	if !a.dryRun {
		failed = x.purgeDue(ctx)
	}
	got, err := x.covered(ctx, a.source, policy)
	if err != nil {
		return err
	}
	if len(got.keys) == 0 {
		return p.nothingToClean(&actions.Plan{}, failed)
	}
	plan, err := x.operator.Plan(ctx, actions.Intent{Verb: actions.Clean, Source: got.source, Keys: got.keys, Params: policy.Params, Reason: policy.Reason,
		Who: x.operator.Who(backend.Safe{}), DryRun: a.dryRun, Headless: true})
	if err != nil {
		return refused(err)
	}
	doc := text.MakePlan(plan, nil, p.Now())
	switch {
	case len(plan.Targets) == 0:
		if a.format.word != formatText || a.dryRun {
			return errors.Join(p.printed(doc, a.format), failed)
		}
		return p.nothingToClean(plan, failed)
	case doc.Refused:
		doc.ExitCode = ExitRefused
		return p.printed(doc, a.format)
	}
	return p.perform(ctx, x, plan, a, failed)
}

// perform rehearses or carries out a plan that a policy confirms.
func (p *Program) perform(ctx context.Context, x *actingStation, plan *actions.Plan, a *acting, failed error) error {
	doc := text.MakePlan(plan, nil, p.Now())
	stop := x.watch(ctx)
	defer stop()
	if a.dryRun {
		progress, err := x.operator.Rehearse(ctx, plan)
		if err != nil {
			return refused(err)
		}
		doc.Ran(progress)
		return p.printed(doc, a.format)
	}
	ok, err := actions.ConfirmDigest(plan, plan.Digest, p.Now())
	if err != nil {
		return refused(err)
	}
	p.warnOfDamage(ctx, x.operator)
	if err := x.operator.Start(ctx, ok); err != nil {
		return refused(err)
	}
	progress := p.follow(ctx, x.operator)
	doc.Ran(progress)
	if doc.ExitCode = exitOf(progress); doc.ExitCode == 0 && failed != nil {
		doc.ExitCode = ExitPartly
	}
	return p.printed(doc, a.format)
}

// purgeDue removes what is past its grace period, and says what came of it.
func (x *actingStation) purgeDue(ctx context.Context) error {
	said, err := x.p.Cleaning.PurgeDue(ctx, x.Station)
	for _, s := range said {
		x.p.notice("%s", s)
	}
	if err != nil {
		x.p.notice("not everything that is past its grace period was removed: %v", err)
	}
	return err
}

// covered are the directories that a policy speaks about.
func (x *actingStation) covered(ctx context.Context, source string, policy app.Policy) (chosen, error) {
	places := x.places(actions.Clean, source)
	r, err := x.rows(places, selection{})
	if err != nil {
		return chosen{}, err
	}
	var got chosen
	for _, k := range r.keys {
		if places[place{k.Source, k.Kind}] && policy.Covers(k) {
			got.keys = append(got.keys, k)
		}
	}
	return x.onOneSource(got)
}

// mostLeftOut is how many directories that were left out are named where nothing is left to clean.
const mostLeftOut = 5

// nothingToClean says so, and why what the policy covers is left alone: a timer's journal is all that anybody reads of it.
func (p *Program) nothingToClean(plan *actions.Plan, failed error) error {
	undecided := 0
	for _, x := range plan.Excluded {
		if x.Undecided {
			undecided++
		}
	}
	for i, x := range plan.Excluded {
		if i == mostLeftOut {
			p.notice("left out: %d more; see them with --dry-run", len(plan.Excluded)-i)
			break
		}
		p.notice("left out: %s: %s", x.Label, x.Why)
	}
	if undecided > 0 {
		f := &failure{code: ExitRefused, what: "nothing was cleaned: whether " + backend.Counted(undecided, "directory is", "directories are") + " in use cannot be read"}
		for _, a := range plan.Advice {
			f.lines = append(f.lines, "  "+p.clean(a.String()))
		}
		return f
	}
	if err := unwrittenIf(say(p.Stdout, "there is nothing to clean")); err != nil {
		return err
	}
	if failed != nil {
		return exit(ExitPartly)
	}
	return nil
}
