package alerts

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// OrderKind says what an operator ordered.
type OrderKind string

// The kinds of orders. Unacknowledge and expire take back what they name.
const (
	OrderAcknowledge   OrderKind = "acknowledge"
	OrderUnacknowledge OrderKind = "unacknowledge"
	OrderSilence       OrderKind = "silence"
	OrderExpire        OrderKind = "expire"
)

// Order is one record of what an operator said about alerts. Orders are only ever added; they are known on the host
// whose state directory holds them and nowhere else.
type Order struct {
	Schema int       `json:"schema"`
	ID     string    `json:"id"` // 8 hexadecimal digits
	Kind   OrderKind `json:"kind"`
	At     time.Time `json:"at"`
	// For is how long an acknowledgement or a silence lasts, in nanoseconds in JSON.
	For    time.Duration `json:"for,omitempty"`
	Owner  backend.Safe  `json:"owner"`
	Reason backend.Safe  `json:"reason,omitzero"`

	// What is acknowledged: the alert, whatever its severity becomes, as long as it is not more than it was.
	Alert       string   `json:"alert,omitempty"`
	Rule        string   `json:"rule,omitempty"`
	Source      string   `json:"source,omitempty"`
	Fingerprint string   `json:"cause_fingerprint,omitempty"`
	Severity    Severity `json:"severity,omitempty"`
	Subjects    int      `json:"subjects,omitempty"` // how many it had; 0 in orders of former versions

	Matchers string `json:"matchers,omitempty"` // of a silence
	Silence  string `json:"silence,omitempty"`  // the id of the silence that ends
}

// orderSchema is the number of the record's form.
const orderSchema = 1

// alertKey is an alert's identity without its severity.
type alertKey struct{ rule, source, fingerprint string }

// Orders are all orders that may still matter. Immutable; nil is none.
type Orders struct {
	about    map[alertKey][]Order // acknowledgements and what takes them back, oldest first
	silences []silenceOrder       // oldest first
	expired  map[string]time.Time // by id of the silence: when it was ended by hand
}

type silenceOrder struct {
	Order
	matchers Matchers
}

// NewOrders sorts records. What cannot be understood is left out and reported.
func NewOrders(list []Order) (*Orders, error) {
	o := &Orders{about: map[alertKey][]Order{}, expired: map[string]time.Time{}}
	var problems []error
	list = slices.Clone(list)
	stable.Sort(list, func(a, b Order) int { return a.At.Compare(b.At) })
	for _, x := range list {
		if err := x.check(); err != nil {
			problems = append(problems, fmt.Errorf("%s: order %q is left out: it %w", ordersFile, shorten(x.ID), err))
			continue
		}
		switch x.Kind {
		case OrderAcknowledge, OrderUnacknowledge:
			k := alertKey{x.Rule, x.Source, x.Fingerprint}
			o.about[k] = append(o.about[k], x)
		case OrderSilence:
			m, err := ParseMatchers(x.Matchers)
			if err != nil {
				problems = append(problems, fmt.Errorf("%s: silence %q is left out: %w", ordersFile, shorten(x.ID), err))
				continue
			}
			o.silences = append(o.silences, silenceOrder{x, m})
		case OrderExpire:
			o.expired[x.Silence] = x.At
		}
	}
	return o, errors.Join(problems...)
}

func (x *Order) check() error {
	switch {
	case x.Schema != orderSchema:
		return fmt.Errorf("has schema %d, this program reads %d", x.Schema, orderSchema)
	case x.ID == "" || x.At.IsZero() || x.Owner.IsEmpty():
		return errors.New("says not who ordered it, or when")
	}
	switch x.Kind {
	case OrderAcknowledge, OrderSilence:
		if x.For <= 0 {
			return errors.New("has no end")
		}
	case OrderUnacknowledge, OrderExpire:
	default:
		return fmt.Errorf("is of no kind that is known: %q", shorten(string(x.Kind)))
	}
	return nil
}

// orderTime is the steady time of an order. Unlike what sources report it may be somewhat newer than the State.
func (c *clock) orderTime(t time.Time) time.Time {
	t = plain(t)
	if c.JumpDrift != 0 && !t.Before(c.Wall.Add(-c.Steady.Sub(c.JumpAt))) && !t.After(c.Wall.Add(time.Minute)) {
		return t.Add(-c.JumpDrift)
	}
	return t
}

// end is when a silence is over, in steady time, and whether it is.
func (o *Orders) end(c *clock, s *silenceOrder) (until time.Time, over bool) {
	until = c.orderTime(s.At).Add(s.For)
	if at, ok := o.expired[s.ID]; ok {
		if at = c.orderTime(at); at.Before(until) {
			return at, true
		}
	}
	return until, !c.Steady.Before(until)
}

// silenceFor is the silence that mutes an alert the longest.
func (o *Orders) silenceFor(c *clock, labels map[string]string) *Silence {
	var best *Silence
	var last time.Time
	for i := range o.silences {
		s := &o.silences[i]
		until, over := o.end(c, s)
		if over || !last.Before(until) || !s.matchers.Match(labels) {
			continue
		}
		last = until
		best = &Silence{ID: backend.Clean(s.ID, 20), Owner: s.Owner, Reason: s.Reason, Until: c.display(until)}
	}
	return best
}

// grownTimes is how many times as many subjects an alert has when it is another trouble than the one that was taken.
const grownTimes = 10

// acknowledged is what holds for an alert that began at a time and was worse since: an acknowledgement, or one that lapsed.
// One that lapsed before stays so.
func (o *Orders) acknowledged(c *clock, a *Alert, began time.Time, was worse, former *Lapse) (*Acknowledgement, *Lapse) {
	k, severity := alertKey{a.Rule, a.Source, a.Fingerprint}, a.Severity
	about := o.about[k]
	if len(about) == 0 {
		return nil, o.outdated(c, k, a.Active)
	}
	x := about[len(about)-1]
	at := c.orderTime(x.At)
	if x.Kind != OrderAcknowledge || at.Before(began) {
		return nil, nil
	}
	until := at.Add(x.For)
	taken := Acknowledgement{Owner: x.Owner, Reason: x.Reason, At: c.display(at), Until: c.display(until)}
	lapse := &Lapse{Acknowledgement: taken, Ordered: plain(x.At)}
	switch {
	case severity.Rank() > x.Severity.Rank():
		lapse.Why = backend.Textf("it was acknowledged as %s and is %s now", backend.Clean(string(x.Severity), 20), backend.Clean(string(severity), 20))
		return nil, lapse
	case !c.Steady.Before(until):
		lapse.Why = backend.Textf("it was taken for %s", short(x.For))
		return nil, lapse
	case x.Subjects > 0 && a.SubjectCount >= grownTimes*x.Subjects:
		lapse.grown = x.Subjects
		lapse.Why = backend.Textf("it had %s when it was acknowledged and %d or more since", backend.Counted(x.Subjects, "subject", "subjects"), grownTimes*x.Subjects)
		return nil, lapse
	}
	for _, s := range []Severity{SeverityCritical, SeverityWarning} {
		if s.Rank() > x.Severity.Rank() && was[s.Rank()].After(at) {
			lapse.Why = backend.Textf("it was acknowledged as %s and was %s since", backend.Clean(string(x.Severity), 20), backend.Clean(string(s), 20))
			lapse.told = true
			return nil, lapse
		}
	}
	if former != nil && former.Ordered.Equal(x.At) {
		lapse.Why, lapse.told = former.Why, true
		return nil, lapse
	}
	return &taken, nil
}

// outdated is what a former version of this program kept: an acknowledgement of an alert of this rule and source that was
// there then. It names the cause in another way, so which of the rule's alerts it meant is not known any more.
func (o *Orders) outdated(c *clock, k alertKey, active time.Time) *Lapse {
	var last *Order
	for of, about := range o.about {
		x := &about[len(about)-1]
		at := c.orderTime(x.At)
		if of.rule != k.rule || of.source != k.source || isCurrent(of.fingerprint) || x.Kind != OrderAcknowledge ||
			c.display(at).Before(active) || !c.Steady.Before(at.Add(x.For)) {
			continue
		}
		if last == nil || x.At.After(last.At) || x.At.Equal(last.At) && x.ID > last.ID {
			last = x
		}
	}
	if last == nil {
		return nil
	}
	at := c.orderTime(last.At)
	version, _, _ := strings.Cut(last.Fingerprint, ":")
	return &Lapse{Acknowledgement: Acknowledgement{Owner: last.Owner, Reason: last.Reason, At: c.display(at), Until: c.display(at.Add(last.For))},
		Why: backend.Textf("an alert of this rule was acknowledged when causes were compared in another way (%s, now %s): acknowledge again if it was this one",
			backend.Clean(version, 10), causeVersion)}
}

// isCurrent reports whether a fingerprint is of the present version.
func isCurrent(fp string) bool { return strings.HasPrefix(fp, causeVersion+":") }

// matters reports whether an order may still matter: until a week after its end.
func (x *Order) matters(now time.Time) bool { return now.Sub(x.At.Add(x.For)) < 7*24*time.Hour }

// Silencing is a silence as it stands in the list of silences.
type Silencing struct {
	Silence
	At       time.Time
	Matchers Matchers
	Matches  int // alerts that it mutes now
}

// list is the silences that are not over at a moment of the wall clock, those that end first at the top.
func (o *Orders) list(b *Board, environment string, now time.Time) []Silencing {
	if o == nil {
		return nil
	}
	c := clock{Wall: plain(now), Steady: plain(now)}
	if b != nil {
		c = b.memory.clock
		c.Steady = latest(c.Steady, c.orderTime(now))
	}
	var out []Silencing
	for i := range o.silences {
		s := &o.silences[i]
		until, over := o.end(&c, s)
		if over {
			continue
		}
		out = append(out, Silencing{
			Silence: Silence{ID: backend.Clean(s.ID, 20), Owner: s.Owner, Reason: s.Reason, Until: c.display(until)},
			At:      c.display(c.orderTime(s.At)), Matchers: s.matchers, Matches: b.matching(s.matchers, environment),
		})
	}
	stable.Sort(out, func(a, b Silencing) int {
		return cmp.Or(a.Until.Compare(b.Until), strings.Compare(a.ID.String(), b.ID.String()))
	})
	return out
}
