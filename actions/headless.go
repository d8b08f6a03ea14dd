package actions

import (
	"context"
	"errors"

	"sandglass/actions/audit"
	"sandglass/backend"
)

// For adds the reason and the person of a confirmation: the person who confirms a plan answers for it. The plan keeps its
// digest, which names what was shown; the journal has both people. A person without a claimed name who uses the account
// of the plan's maker counts as the maker.
func (c Confirmed) For(reason backend.Safe, who audit.Who) Confirmed {
	if c.plan == nil {
		return c
	}
	p := *c.plan
	if !reason.IsEmpty() {
		p.Reason = reason
	}
	if made := p.Who; who.Claimed.IsEmpty() && who.User == made.User && who.Host == made.Host && who.SudoUser == made.SudoUser {
		who.Claimed = made.Claimed
	}
	made := p.Who
	if made.Viewer = who.Viewer; who != made {
		p.madeBy = p.Who
	}
	p.Who = who
	c.plan = &p
	return c
}

// Keep stores a plan for a later call of the command line.
func (o *Operator) Keep(p *Plan) error {
	c := o.control
	return errors.Join(c.store.prune(c.opt.Now()), c.store.save(p))
}

// Kept reads a stored plan back.
func (o *Operator) Kept(digest string) (*Plan, error) {
	p, err := o.control.store.load(digest)
	if err != nil {
		return nil, err
	}
	if o.control.store.used(digest) {
		return nil, ErrUsed
	}
	return p, nil
}

// Rehearse runs a plan as a dry run: the same code with an effect that only records. It needs no confirmation and does not
// use the plan up.
func (o *Operator) Rehearse(ctx context.Context, p *Plan) (Progress, error) {
	ability, err := o.ability(p.Source, p.Verb)
	if err != nil {
		return Progress{}, err
	}
	dry := *p
	dry.DryRun = true
	r := newRun(o.control, &dry, ability)
	r.carryOut(ctx)
	return r.Progress(), nil
}
