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
	// armsAfter is how long a dialog ignores keys after it was drawn: what was typed for something else must not land in it.
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
	ErrExpired  = errors.New("the plan is older than 60 s: it has to be made anew")
)

// Confirming is the gesture of one plan, key by key. It is no goroutine's in particular: its dialog calls it.
//
// What is not typed by a person must not confirm: pasted text is refused, a reply of the terminal that arrives as keys
// spoils the text, and enter alone does nothing. A light confirmation counts two presses of the verb's key with nothing
// between them, the second no sooner than 300 ms after the dialog was drawn.
type Confirming struct {
	plan  *Plan
	key   string // of a light confirmation
	drawn time.Time
	text  []rune
	first time.Time // the first press of a light confirmation
}

// maxGesture bounds what can be typed.
const maxGesture = 120

// NewConfirming begins the gesture of a plan; key is the verb's, for a light one. pressed is when that key opened the
// dialog, which is its first press.
func NewConfirming(p *Plan, key string, pressed time.Time) *Confirming {
	return &Confirming{plan: p, key: key, first: pressed}
}

// Drawn says that the dialog is on the screen since then. Only the first call counts.
func (c *Confirming) Drawn(at time.Time) {
	if c.drawn.IsZero() {
		c.drawn = at
	}
}

// Ready reports whether keys count yet.
func (c *Confirming) Ready(now time.Time) bool {
	return !c.drawn.IsZero() && now.Sub(c.drawn) >= armsAfter
}

// Wants is the text that confirms; empty for a light confirmation.
func (c *Confirming) Wants() string { return c.plan.Wants() }

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

// Typed is what was typed so far.
func (c *Confirming) Typed() string { return string(c.text) }

// Key is one key, as the terminal gave it: a printable text of one character, or a name. It returns the confirmation
// when a light gesture is complete.
func (c *Confirming) Key(name, text string, now time.Time) (Confirmed, bool) {
	if !c.Ready(now) {
		c.text = nil
		return Confirmed{}, false
	}
	if c.plan.Gesture == GestureTwice && len(c.plan.Open()) == 0 {
		return c.twice(name, now)
	}
	switch {
	case name == "backspace":
		c.text = c.text[:max(len(c.text)-1, 0)]
	case name == "ctrl+u":
		c.text = nil
	case len([]rune(text)) == 1 && len(c.text) < maxGesture:
		c.text = append(c.text, []rune(text)...)
	}
	return Confirmed{}, false
}

func (c *Confirming) twice(name string, now time.Time) (Confirmed, bool) {
	if name != c.key {
		c.first = time.Time{}
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

// Paste refuses pasted text: it drops what was typed.
func (c *Confirming) Paste() { c.text, c.first = nil, time.Time{} }

// Enter confirms if the text is the one that is wanted.
func (c *Confirming) Enter(now time.Time) (Confirmed, error) {
	switch {
	case !c.Ready(now):
		return Confirmed{}, ErrTooEarly
	case c.plan.Gesture == GestureTwice:
		c.first = time.Time{}
		return Confirmed{}, fmt.Errorf("press %s again within %s", c.key, TwiceWithin)
	case strings.TrimSpace(string(c.text)) == "":
		return Confirmed{}, fmt.Errorf("enter alone does not confirm: type %s", c.Wants())
	case string(c.text) != c.Wants():
		c.text = nil
		return Confirmed{}, fmt.Errorf("that is not it: type %s", c.Wants())
	}
	return c.confirm(now)
}

// WordPurgeNow chooses, in a plan to clean, that nothing waits for the end of a grace period: the space is free at once,
// and there is no undo. The plan has to be made anew with it.
const WordPurgeNow = "purge now"

// MayPurge reports whether the plan leaves that choice.
func (p *Plan) MayPurge() bool { return p.Verb == Clean && !p.Params.PurgeNow && len(p.Targets) > 0 }

// Purges takes what was typed as that choice.
func (c *Confirming) Purges(now time.Time) bool {
	if !c.Ready(now) || !c.plan.MayPurge() || string(c.text) != WordPurgeNow {
		return false
	}
	c.text = nil
	return true
}

// Word takes what was typed as the word that sets an open refusal of the plan aside. The plan has to be made anew with it.
func (c *Confirming) Word(now time.Time) (string, error) {
	if !c.Ready(now) {
		return "", ErrTooEarly
	}
	typed := string(c.text)
	c.text = nil
	for _, r := range c.plan.Open() {
		if r.Word != "" && r.Word == typed {
			return typed, nil
		}
	}
	return "", errors.New("that is none of the words: type one of them in full, or leave")
}

// includes begins the line that takes what a filter hides into the plan.
const includes = "with "

// Include takes what was typed as the name of a mark that the filter hides: `with NAME`, in full or a beginning of at least
// 8 characters that only one has. The plan has to be made anew with it. asked is false when something else was typed.
func (c *Confirming) Include(now time.Time) (k backend.Key, asked bool, err error) {
	name, asked := strings.CutPrefix(string(c.text), includes)
	hidden := c.plan.Hidden()
	if !asked || len(hidden) == 0 {
		return backend.Key{}, false, nil
	}
	if !c.Ready(now) {
		return backend.Key{}, true, ErrTooEarly
	}
	c.text = nil
	name = strings.TrimSpace(name)
	var found []Exclusion
	for _, x := range hidden {
		names := []string{x.Label.String(), x.Key.Path().Raw()}
		if slices.Contains(names, name) {
			return x.Key, true, nil
		}
		if len(name) >= leastShort && slices.ContainsFunc(names, func(s string) bool { return strings.HasPrefix(s, name) }) {
			found = append(found, x)
		}
	}
	switch len(found) {
	case 0:
		return backend.Key{}, true, errors.New("none of what the filter hides is called that: type its name in full")
	case 1:
		return found[0].Key, true, nil
	}
	return backend.Key{}, true, fmt.Errorf("%d of what the filter hides begin with that: type the name in full", len(found))
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
		return Confirmed{}, errors.New("the plan is not what its digest says: make it anew")
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
