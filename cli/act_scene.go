package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sandglass/actions"
	"sandglass/app"
	"sandglass/views"
)

// actingStation is what a command that acts has open.
type actingStation struct {
	p *Program
	*app.Station
	operator *actions.Operator // whoever runs the command
}

// openActing opens a Station that can act. Close must be called.
func (p *Program) openActing(s shared, a *acting) (*actingStation, error) {
	if a.timeout <= 0 {
		return nil, usage("--timeout must be longer than 0s")
	}
	x, err := p.open(s, opening{permitted: true, readOnly: a.readOnly})
	if err != nil {
		return nil, err
	}
	return &actingStation{p, x, x.Operator(actions.Everything())}, nil
}

// read reads every source once.
func (x *actingStation) read(ctx context.Context, timeout time.Duration) error {
	x.p.removeLeft(ctx, x.Station)
	once, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	x.Poll(once)
	if ctx.Err() != nil {
		return refused(errors.New("interrupted"))
	}
	return nil
}

// watch goes on reading until stop is called. It does not end with ctx: what was begun is still to be verified.
func (x *actingStation) watch(ctx context.Context) (stop func()) {
	return x.Start(context.WithoutCancel(ctx), false)
}

// longestMemory is how long a command waits at its end for a reading that carries what it proved.
const longestMemory = 5 * time.Second

// remember waits until what was proved is part of a State, so that the next command knows it.
func (x *actingStation) remember(ctx context.Context) {
	waiting, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestMemory)
	defer cancel()
	x.Feed.WaitForProofs(waiting)
}

// available says why the verb cannot be done at all, before anything is read for it.
func (x *actingStation) available(verb actions.Verb, source string) error {
	if source != "" && x.Config.Source(source) == nil {
		return usage("there is no source %q%s", source, didYouMean(source, sourceIDs(x.Config)))
	}
	var denied []string
	var custom []string
	for _, a := range x.operator.All() {
		if a.Spec.Custom {
			custom = append(custom, string(a.Spec.Verb))
		}
		if a.Spec.Verb != verb || source != "" && a.Source != source {
			continue
		}
		if a.Denied.IsEmpty() {
			return nil
		}
		denied = append(denied, fmt.Sprintf("  %s: %s", a.Source, a.Denied))
	}
	f := &failure{code: ExitRefused, what: fmt.Sprintf("nothing was done: %s is not available here", verb), lines: denied}
	switch {
	case len(denied) == 0 && source != "":
		f.what = fmt.Sprintf("nothing was done: there is no %q on the source %s", verb, source)
	case len(denied) == 0 && len(custom) > 0:
		f.what = fmt.Sprintf("nothing was done: there is no verb %q here; an [[action]] defines %s", verb, strings.Join(distinct(custom), ", "))
	case len(denied) == 0:
		f.what = fmt.Sprintf("nothing was done: no source of this configuration is of a kind that knows %q", verb)
	}
	f.lines = append(f.lines, x.lacks(verb, source)...)
	return f
}

// lacks says of each source that has not got a verb why, where that is known; source bounds it to one, empty: all.
func (x *actingStation) lacks(verb actions.Verb, source string) []string {
	has := map[string]bool{}
	for at := range x.places(verb, source) {
		has[at.source] = true
	}
	var lines []string
	for _, s := range x.Config.Sources {
		if has[s.ID] || source != "" && s.ID != source {
			continue
		}
		for _, k := range x.p.Effects {
			if why := k.Lacks[verb]; k.Name == s.Kind && !why.IsEmpty() {
				lines = append(lines, fmt.Sprintf("  %s has no %s: %s", s.ID, verb, why))
			}
		}
	}
	return lines
}

func distinct(words []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, w := range words {
		if !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	return out
}

// seen is what was read.
func (x *actingStation) seen() *views.Snapshot {
	state, board := x.Alerts.Latest()
	return views.NewSnapshot(x.p.Now(), state, board)
}
