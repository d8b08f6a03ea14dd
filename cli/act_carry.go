package cli

import (
	"context"
	"fmt"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/views/kit"
	"sandglass/views/text"
)

// firstLook bounds the reading before a confirmed plan begins. What a run needs besides it waits for by itself.
const firstLook = 10 * time.Second

// longestEnd is how long an interrupted command waits for the target that is under way, which a run bounds itself.
const longestEnd = 150 * time.Second

// carryOut does exactly what a plan says that was printed before, or refuses.
func (p *Program) carryOut(ctx context.Context, s shared, a *acting, args []string) error {
	switch {
	case !actions.IsDigest(a.digest):
		return usage("--yes-plan %q is not the digest of a plan, which has 16 hexadecimal digits; copy it from the plan", a.digest)
	case len(args) > 0 || a.filter != "" || a.match:
		return usage("--yes-plan takes no selector: the plan has its targets")
	case a.dryRun:
		return usage("--dry-run makes a new plan and does not accept --yes-plan")
	case len(a.overrides) > 0:
		return usage("--override belongs to the plan: make a new plan with it")
	}
	reason, err := p.reason(a.reason)
	if err != nil {
		return err
	}
	x, err := p.openActing(s, a)
	if err != nil {
		return err
	}
	defer x.Close()
	x.operator.UseTerminal(x.LocalTerminal(ctx))
	plan, err := x.operator.Kept(a.digest)
	if err != nil {
		return refused(err)
	}
	if err := a.fits(plan, x.Config.Environment); err != nil {
		return refused(err)
	}
	ok, err := actions.ConfirmDigest(plan, a.digest, p.Now())
	if err != nil {
		return refused(err)
	}
	if ok = ok.For(reason, p.whoActs(x, a)); x.operator.NeedsName() && ok.Plan().Who.Claimed.IsEmpty() {
		return nameless(ok.Plan().Who)
	}
	x.Feed.Attend(keysOf(plan))
	if err := x.read(ctx, min(firstLook, a.timeout)); err != nil {
		return err
	}
	stop := x.watch(ctx)
	defer stop()
	p.warnOfDamage(ctx, x.operator)
	if err := x.operator.Start(ctx, ok); err != nil {
		return refused(err)
	}
	progress := p.follow(ctx, x.operator)
	x.remember(ctx)
	doc := text.MakePlan(plan, nil, p.Now())
	doc.Reason = &reason
	doc.Ran(progress)
	doc.ExitCode = exitOf(progress)
	if a.observes {
		state, _ := x.Alerts.Latest()
		doc.ExitCode = observed(progress, state)
		for _, text := range foundBefore(progress, state) {
			p.notice("%s", text)
		}
	}
	x.besides(doc, plan, progress)
	return p.printed(doc, a.format)
}

// warnOfDamage says before anything is done that the journal is damaged, which may be newer than the plan.
func (p *Program) warnOfDamage(ctx context.Context, o *actions.Operator) {
	if err := o.Damage(ctx); err != nil {
		p.notice("warning: %v", err)
	}
}

// fits says why a plan is not for this command line.
func (a *acting) fits(plan *actions.Plan, environment string) error {
	switch {
	case !a.mine(plan):
		return fmt.Errorf("plan %s is to %s on %s, which is not what this command does", plan.Digest, plan.Verb, plan.Source)
	case plan.Environment != environment:
		return fmt.Errorf("plan %s was made for the environment %s, and this is %s", plan.Digest, plan.Environment, environment)
	case !plan.Headless:
		return fmt.Errorf("plan %s was made on a screen", plan.Digest)
	}
	return nil
}

func keysOf(plan *actions.Plan) []backend.Key {
	keys := make([]backend.Key, len(plan.Targets))
	for i, t := range plan.Targets {
		keys[i] = t.Key
	}
	return keys
}

// follow prints what changes until the operator's run is over, or, once the command is interrupted, until it does not end.
func (p *Program) follow(ctx context.Context, o *actions.Operator) actions.Progress {
	run := o.Current()
	changed, stop := o.Subscribe()
	defer stop()
	seen := &watcher{p: p}
	interrupted := ctx.Done()
	var limit <-chan time.Time
	for {
		seen.tell(run.Progress())
		select {
		case <-run.Done():
			last := run.Progress()
			seen.tell(last)
			return last
		case <-changed:
		case <-interrupted:
			interrupted = nil
			if o.TakesTerminal(run.Progress().Plan) { // it ends at once, and has the terminal until then
				break
			}
			p.notice("interrupted: the target under way finishes, then the plan stops")
			t := time.NewTimer(longestEnd)
			defer t.Stop()
			limit = t.C
		case <-limit:
			p.notice("the target under way has not finished within %s; its result is not known", backend.Age(longestEnd))
			return run.Progress()
		}
	}
}

// watcher prints a line for whatever is new in a run.
type watcher struct {
	p     *Program
	lines []actions.Line
	wave  int
	phase actions.Phase
	why   backend.Safe
}

func (w *watcher) tell(p actions.Progress) {
	if !p.Over() && p.Wave > 0 && (p.Phase != w.phase || p.Wave != w.wave || p.Why != w.why) {
		w.phase, w.wave, w.why = p.Phase, p.Wave, p.Why
		s := fmt.Sprintf("batch %d of %d: %s", p.Wave, p.Waves, p.Phase)
		if !p.Why.IsEmpty() {
			s += ", " + p.Why.String()
		}
		w.say(s)
	}
	for i := range p.Lines {
		l := &p.Lines[i]
		if i < len(w.lines) && w.lines[i].Result == l.Result && w.lines[i].Text == l.Text || l.Result == actions.ResultNone {
			continue
		}
		told := 0
		if i < len(w.lines) {
			told = len(w.lines[i].Done.Steps)
		}
		for _, step := range l.Done.Steps[min(told, len(l.Done.Steps)):] {
			w.say(fmt.Sprintf("%s: %s", l.Target.Label, stepText(step)))
		}
		if l.Result == actions.ResultIssued && len(l.Done.Steps) > 0 {
			continue
		}
		s := fmt.Sprintf("%s: %s", l.Target.Label, l.Result)
		if !l.Text.IsEmpty() {
			s += ", " + l.Text.String()
		}
		w.say(s)
	}
	w.lines = p.Lines
}

// stepText is one step in one line.
func stepText(s actions.Step) string {
	line := fmt.Sprintf("%s: %s", s.Name, s.Result)
	if s.Took > 0 {
		line += ", " + kit.Latency(s.Took)
	}
	if !s.Said.IsEmpty() {
		line += ", " + s.Said.String()
	}
	return line
}

func (w *watcher) say(s string) {
	w.p.notice("%s  %s", w.p.Now().UTC().Format("15:04:05"), s)
}

// exitOf is the exit code of what became of a plan.
func exitOf(p actions.Progress) int {
	n := len(p.Lines)
	switch verified := p.Count(actions.ResultVerified); {
	case p.Over() && p.Acted() == 0:
		return ExitRefused
	case !p.Over() || !p.Problem.IsEmpty():
		return ExitPartly
	case verified == n:
		return 0
	case verified+p.Count(actions.ResultAccepted, actions.ResultUnverified, actions.ResultEnded) == n:
		return ExitUnverified
	}
	return ExitPartly
}
