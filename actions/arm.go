package actions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sandglass/actions/audit"
	"sandglass/backend"
)

// Arming says that a viewer may act for a while.
type Arming struct {
	Who    audit.Who
	Reason backend.Safe
	At     time.Time
	Until  time.Time
}

// The bounds of an arming.
const (
	DefaultArming = 15 * time.Minute
	LongestArming = 8 * time.Hour
)

// ErrNotArmed is the refusal to act without arming.
var ErrNotArmed = errors.New("actions are not enabled on this console: enable them first, with :arm 15m and the reason")

// Arm lets this viewer act for a while; claimed is what the person calls themselves, empty where the account tells. It is
// journalled before it holds, ends by itself, and is never kept beyond the viewer.
func (o *Operator) Arm(ctx context.Context, lasting time.Duration, claimed, reason backend.Safe) (Arming, error) {
	c, who := o.control, o.person.Who
	if !claimed.IsEmpty() {
		who.Claimed = claimed
	}
	switch {
	case c.opt.ReadOnly:
		return Arming{}, errors.New(ReadOnly().Why.String())
	case o.hungUp():
		return Arming{}, errEnding
	case !o.unpermitted().IsEmpty():
		return Arming{}, errors.New(o.unpermitted().String())
	case !o.CanAct():
		return Arming{}, errors.New("the configuration allows no action on any source: add actions = [...] to a [[source]]")
	case lasting <= 0 || lasting > LongestArming:
		return Arming{}, fmt.Errorf("actions can be enabled for at most %s at a time", backend.Age(LongestArming))
	case o.person.Shared && who.Claimed.IsEmpty():
		return Arming{}, fmt.Errorf("%s is an account that several people can use: say who you are, or set SANDGLASS_USER", who.User)
	case reason.IsEmpty():
		return Arming{}, errors.New("say why: the reason goes into the journal")
	}
	now := c.opt.Now()
	a := Arming{Who: who, Reason: reason, At: now, Until: now.Add(lasting)}
	err := c.journal(ctx, audit.Entry{At: now, Phase: audit.PhaseArmed, Who: who, Verb: "arm", Reason: reason,
		Facts: []backend.Field{{Name: backend.Text("until"), Value: backend.Textf("%s", a.Until.UTC().Format(time.RFC3339))}}}, audit.Synced)
	if err != nil {
		return Arming{}, err
	}
	if !o.keep(a) {
		return Arming{}, errEnding
	}
	c.notify("arm", backend.Key{}, backend.Textf("actions enabled until %s: %s", a.Until.UTC().Format("15:04Z"), reason))
	return a, nil
}

// keep makes the arming hold, unless the viewer went while it was journalled.
func (o *Operator) keep(a Arming) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.ended {
		o.armed = a
	}
	return !o.ended
}

// Disarm ends the arming at once. It is written to the journal; a failure to write does not delay it.
func (o *Operator) Disarm(ctx context.Context) error {
	o.mu.Lock()
	a := o.armed
	o.armed = Arming{}
	o.mu.Unlock()
	c := o.control
	if !a.holds(c.opt.Now()) {
		return nil
	}
	c.notify("disarm", backend.Key{}, backend.Text("actions disabled"))
	return c.journal(ctx, audit.Entry{At: c.opt.Now(), Phase: audit.PhaseArmed, Who: a.Who, Verb: "disarm"}, audit.Written)
}

// Armed returns the arming that holds now.
func (o *Operator) Armed() (Arming, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.armed, o.armed.holds(o.control.opt.Now())
}

// holds checks the monotonic and the wall clock: the first stops while a machine sleeps, the second can be set back.
func (a Arming) holds(now time.Time) bool {
	return now.Before(a.Until) && now.Round(0).Before(a.Until.Round(0))
}
