package actions

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
)

// The times of a confirmation.
const (
	// armsAfter is how long a dialog ignores what is typed after it was drawn: it was meant for something else.
	armsAfter = 300 * time.Millisecond
	// TwiceWithin is how long the second press of a light confirmation may take.
	TwiceWithin = 5 * time.Second
)

// Confirmed is the right to carry one plan out once. Only this package makes one.
type Confirmed struct {
	plan *Plan
	at   time.Time
}

// Plan is what was confirmed.
func (c Confirmed) Plan() *Plan { return c.plan }

// Why a gesture does not confirm.
var (
	ErrTooEarly = errors.New("the dialog has only just appeared: read it, then confirm")
	ErrExpired  = errors.New("the plan is older than 60 s: make a new one")
	ErrTwice    = errors.New("press the key of the verb twice")
)

// Confirming is the gesture of one plan: what was typed, and when. Its dialog calls it, from one goroutine at a time,
// and passes only what a person typed. A light confirmation takes two presses without another key between them, the
// second at least 300 ms after the dialog was drawn.
type Confirming struct {
	plan  *Plan
	drawn time.Time
	first time.Time // the first press of a light confirmation
}

// NewConfirming begins the gesture of a plan. pressed is when the key of a light one opened the dialog, which is its
// first press.
func NewConfirming(p *Plan, pressed time.Time) *Confirming {
	return &Confirming{plan: p, first: pressed}
}

// Drawn says that the dialog is on the screen since then. Only the first call counts.
func (c *Confirming) Drawn(at time.Time) {
	if c.drawn.IsZero() {
		c.drawn = at
	}
}

// Ready reports whether what is typed counts yet.
func (c *Confirming) Ready(now time.Time) bool {
	return !c.drawn.IsZero() && now.Sub(c.drawn) >= armsAfter
}

// Light reports whether two presses confirm, and no text.
func (c *Confirming) Light() bool { return c.plan.Gesture == GestureTwice && len(c.plan.Open()) == 0 }

// Wants is the text that confirms the plan, in characters that every keyboard has; empty for a light confirmation.
func (p *Plan) Wants() string {
	switch p.Gesture {
	case GestureTwice:
		return ""
	case GestureYes:
		return "yes"
	case GestureName:
		return p.Short
	case GestureCount:
	}
	return fmt.Sprintf("%d %s", len(p.Targets), p.Digest[len(p.Digest)-4:])
}

// Press is one press of a light confirmation. It returns the confirmation when the gesture is complete.
func (c *Confirming) Press(now time.Time) (Confirmed, bool) {
	if !c.Ready(now) || !c.Light() {
		return Confirmed{}, false
	}
	since := now.Sub(c.first)
	if c.first.IsZero() || since > TwiceWithin || since < armsAfter {
		c.first = now
		return Confirmed{}, false
	}
	got, err := c.confirm(now)
	return got, err == nil
}

// Pressed reports whether the first press of a light confirmation counts still, so that one more confirms.
func (c *Confirming) Pressed(now time.Time) bool {
	return !c.first.IsZero() && now.Sub(c.first) <= TwiceWithin
}

// Interrupt reports another input: the next press counts as the first one.
func (c *Confirming) Interrupt() { c.first = time.Time{} }

// WordPurgeNow skips the grace period of a plan to clean: the space is free at once, and there is no undo. It needs a
// new plan.
const WordPurgeNow = "purge now"

// MayPurge reports whether the plan leaves that choice.
func (p *Plan) MayPurge() bool { return p.Verb == Clean && !p.Params.PurgeNow && len(p.Targets) > 0 }

// includes begins the text that takes what a filter hides into the plan: `with NAME`.
const includes = "with "

// Enter judges a complete text. It confirms the plan, or returns in again the intent to plan next; in is the intent of
// this plan. Without a result and an error there is nothing to confirm.
func (c *Confirming) Enter(text string, in Intent, now time.Time) (ok Confirmed, again *Intent, err error) {
	p, open := c.plan, c.plan.Open()
	name, including := strings.CutPrefix(text, includes)
	including = including && len(p.Hidden()) > 0
	words := p.Words()
	c.Interrupt()
	switch {
	case c.Expired(now):
	case !including && (len(p.Targets) == 0 || len(open) > 0 && len(words) == 0):
		return Confirmed{}, nil, nil
	case !c.Ready(now):
		return Confirmed{}, nil, ErrTooEarly
	case including:
		k, err := c.include(name)
		if err != nil {
			return Confirmed{}, nil, err
		}
		in.Named = append(slices.Clone(in.Named), k)
	case len(open) > 0:
		if !slices.Contains(words, text) {
			return Confirmed{}, nil, errors.New("that is none of the words: type one of them in full, or leave")
		}
		in.Overrides = append(slices.Clone(in.Overrides), text)
	case p.MayPurge() && text == WordPurgeNow:
		in.Params.PurgeNow = true
	default:
		ok, err = c.typed(text, now)
		return ok, nil, err
	}
	return Confirmed{}, &in, nil
}

// typed confirms if the text is the one that is wanted.
func (c *Confirming) typed(text string, now time.Time) (Confirmed, error) {
	switch wants := c.plan.Wants(); {
	case c.plan.Gesture == GestureTwice:
		return Confirmed{}, ErrTwice
	case strings.TrimSpace(text) == "":
		return Confirmed{}, fmt.Errorf("enter alone does not confirm: type %s", wants)
	case text != wants:
		return Confirmed{}, fmt.Errorf("that is not it: type %s", wants)
	}
	return c.confirm(now)
}

// Choose returns the intent that takes one of the plan's choices; in is the intent of this plan.
func (c *Confirming) Choose(i int, in Intent, now time.Time) (*Intent, error) {
	if !c.Ready(now) {
		return nil, ErrTooEarly
	}
	in.Params.choose(c.plan.Verb, c.plan.Choices[i].Name)
	return &in, nil
}

// include finds the mark that the filter hides and that has the name, in full or a beginning of at least 8 characters that
// only one has.
func (c *Confirming) include(name string) (backend.Key, error) {
	name = strings.TrimSpace(name)
	var found []Exclusion
	for _, x := range c.plan.Hidden() {
		names := []string{x.Label.String(), x.Key.Path().Raw()}
		if slices.Contains(names, name) {
			return x.Key, nil
		}
		if len(name) >= leastShort && slices.ContainsFunc(names, func(s string) bool { return strings.HasPrefix(s, name) }) {
			found = append(found, x)
		}
	}
	switch len(found) {
	case 0:
		return backend.Key{}, errors.New("none of what the filter hides is called that: type its name in full")
	case 1:
		return found[0].Key, nil
	}
	return backend.Key{}, fmt.Errorf("%d of what the filter hides begin with that: type the name in full", len(found))
}

// Expired reports whether it is too late to confirm: by the clock that the plan has its time from, and by how long the
// dialog has been there, because that clock can be set back.
func (c *Confirming) Expired(now time.Time) bool {
	return c.plan.Expired(now) || !c.drawn.IsZero() && now.Sub(c.drawn) > ConfirmWithin
}

func (c *Confirming) confirm(now time.Time) (Confirmed, error) {
	if c.Expired(now) {
		return Confirmed{}, ErrExpired
	}
	return confirm(c.plan, now)
}

// confirm checks what every confirmation needs.
func confirm(p *Plan, now time.Time) (Confirmed, error) {
	switch open := p.Open(); {
	case !p.intact():
		return Confirmed{}, errors.New("the plan is not what its digest says: make a new one")
	case p.Expired(now):
		return Confirmed{}, ErrExpired
	case len(open) > 0:
		return Confirmed{}, &RefusedError{open}
	case len(p.Targets) == 0:
		return Confirmed{}, errors.New("there is nothing to act on")
	}
	return Confirmed{plan: p, at: now}, nil
}

// ConfirmDigest confirms a plan on the command line: the digest is the gesture.
func ConfirmDigest(p *Plan, digest string, now time.Time) (Confirmed, error) {
	if digest != p.Digest {
		return Confirmed{}, fmt.Errorf("the plan is %s, not %s", p.Digest, digest)
	}
	return confirm(p, now)
}

// RefusedError lists why a plan must not be carried out.
type RefusedError struct{ Refusals []Refusal }

// Error is the first reason and its next step.
func (e *RefusedError) Error() string {
	r := e.Refusals[0]
	s := r.Why.String()
	if !r.Next.IsEmpty() {
		s += "; " + r.Next.String()
	}
	if n := len(e.Refusals) - 1; n > 0 {
		s += fmt.Sprintf(" (and %d more)", n)
	}
	return s
}
