// Package alerts concludes: a pure engine turns the Board before and a State into the next Board and events.
package alerts

import (
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// Severity orders alerts. The values are part of the documented JSON.
type Severity string

// The severities, least first.
const (
	SeverityInfo     Severity = "info"
	SeverityWarning  Severity = "warning"
	SeverityCritical Severity = "critical"
)

// Rank is 0 for info, 1 for warning, 2 for critical.
func (s Severity) Rank() int {
	switch s {
	case SeverityCritical:
		return 2
	case SeverityWarning:
		return 1
	case SeverityInfo:
	}
	return 0
}

// Short is the word for narrow places.
func (s Severity) Short() backend.Safe {
	switch s {
	case SeverityCritical:
		return backend.Text("crit")
	case SeverityWarning:
		return backend.Text("warn")
	case SeverityInfo:
	}
	return backend.Text("info")
}

// AlertState is where in its life an alert or a finding is.
type AlertState string

// The states of alerts. Held: it fired, and its data is gone. Ended: its subjects are no more. Resolved alerts leave
// the Board and live on as events.
const (
	StatePending  AlertState = "pending"
	StateFiring   AlertState = "firing"
	StateHeld     AlertState = "held"
	StateEnded    AlertState = "ended"
	StateResolved AlertState = "resolved"
)

// Board is what the rules conclude from one State. It is immutable.
type Board struct {
	Number uint64 // of the State it was concluded from
	At     time.Time
	// Alerts, the worst first: what ended last, then by severity, firing before held before pending, those of urgent rules,
	// the larger, the oldest. A source's line has the place of the worst alert that it holds. Alerts folded under a source's line follow that line's fold
	// count and are listed as well.
	Alerts []*Alert
	// Blind lists which rules cannot see where.
	Blind []Blindness

	memory *memory          // the engine's own, serialisable
	state  *fleet.State     // it was concluded from; nil after loading
	rules  map[string]*Meta // those that were evaluated
	ended  []backend.Event  // sessions that ended between two processes
}

// Alert is the findings of one rule, source and cause.
type Alert struct {
	// ID is short and stable: it depends on the label set {rule, source, cause fingerprint, severity, environment}.
	ID          string
	Rule        string
	Source      string
	Severity    Severity
	State       AlertState
	Cause       backend.Safe
	Fingerprint string // "v3:…", carries the version of how causes are compared
	// Variants are the live subjects by the values in their errors that differ; empty where they do not.
	Variants Variants

	Since  time.Time // when the alert took its state
	Active time.Time // when its oldest finding became true
	Bounds Bounds    // of the oldest onset
	// Confirmed is when the newest reading that supports it was taken; Why says what is missing while it is held, or
	// what decides while it is pending.
	Confirmed time.Time
	Why       backend.Safe
	// FoldedUnder is the id of the source-down alert that this held alert folds under, empty otherwise; Folds counts
	// the alerts folded under this one.
	FoldedUnder string
	Folds       int
	Folded      Folded
	// InhibitedBy is the id of the alert about the outage that this one is a part of, empty otherwise; Inhibits counts
	// the alerts that are parts of this one. See Hidden.
	InhibitedBy string
	Inhibits    int

	Runbook  string // incident number, empty when there is none
	Subjects []Subject
	// The numbers of distinct subjects, their sessions, providers and tenants; Subjects may be cut, these are exact. Pending is how many
	// more are pending beside those that fire or are held: they come last in Subjects, and the other numbers are without them.
	SubjectCount, Sessions, Providers, Tenants int
	Pending                                    int `json:",omitzero"`
	Evidence                                   []Evidence
	// Trend is the measure of a rule that has one, oldest first, over TrendSpan; empty otherwise.
	Trend     []float64
	TrendSpan time.Duration
	Direction Direction // of Trend

	// Flapping says that the alert goes on and off: it keeps its line and fires all the while; see Muted.
	Flapping bool

	Acknowledged *Acknowledgement // nil until somebody does
	Lapsed       *Lapse           // an acknowledgement that held no longer; nil when there is none
	Silenced     *Silence
}

// Folded is how much the alerts folded under one are about: the worst severity of them, and how many subjects they have together.
type Folded struct {
	Severity Severity
	Subjects int
}

// MaxSubjects bounds Alert.Subjects.
const MaxSubjects = 1000

// Bounds are the earliest and latest moment at which something can have begun. Latest zero: unknown.
type Bounds struct {
	Earliest time.Time
	Latest   time.Time
}

// Subject is one entity that an alert is about.
type Subject struct {
	Key    backend.Key
	Label  backend.Safe
	State  AlertState
	Since  time.Time // when its finding took this state
	Bounds Bounds
	Detail backend.Safe // what is true of it: "failed 41m, lastError …"
	Ends   time.Time    `json:",omitzero"` // when it will be no more; zero: not told
}

// Left is how many subjects the alert does not list.
func (a *Alert) Left() int { return max(0, a.SubjectCount+a.Pending-len(a.Subjects)) }

// About reports whether one of the alert's subjects is the thing. A session that only a log names is the one of the alert's
// source.
func (a *Alert) About(i int, k backend.Key) bool {
	s := a.Subjects[i].Key
	return s == k || s.Kind == backend.KindSession && k.Kind == backend.KindSession && s.ID == k.ID && a.Source == k.Source
}

// Evidence is one traced statement behind an alert. Value and Unit repeat the number in Text, where there is one. Trend
// is how that number went until At, oldest first in equal parts of TrendSpan; empty where that is not known.
type Evidence struct {
	Text   backend.Safe
	Value  backend.Value[float64]
	Unit   string
	Source string
	At     time.Time

	Trend     []float64     `json:",omitempty"`
	TrendSpan time.Duration `json:",omitzero"`
}

// Blindness says that a rule cannot judge a source's subjects, and why.
type Blindness struct {
	Rule   string
	Source string
	Why    backend.Safe
	// Part says that it judges some of them: those that Why names.
	Part bool
}

// Acknowledgement says that somebody has taken an alert.
type Acknowledgement struct {
	Owner, Reason backend.Safe
	At, Until     time.Time
}

// Lapse is an acknowledgement that does not hold any more, and why: its time is over, or the alert is more severe or ten times as
// large now. It is final: only another acknowledgement holds after it.
type Lapse struct {
	Acknowledgement
	Why     backend.Safe
	Ordered time.Time // when the order was given that lapsed, as the order says

	told  bool // when the alert became more severe
	grown int  // from how many subjects
}

// Silence says that an alert is muted.
type Silence struct {
	ID, Owner, Reason backend.Safe
	Until             time.Time
}

// Count counts the alerts of one state by severity.
func (b *Board) Count(s AlertState) map[Severity]int {
	n := make(map[Severity]int, 3)
	for _, a := range b.Alerts {
		if a.State == s {
			n[a.Severity]++
		}
	}
	return n
}

// NotEvaluated is the number of rules that are blind on some source, and not for a part of its subjects only. Rules that no configured source serves do not count.
func (b *Board) NotEvaluated() int {
	rules := map[string]struct{}{}
	for _, x := range b.Blind {
		if x.Source != "" && !x.Part {
			rules[x.Rule] = struct{}{}
		}
	}
	return len(rules)
}

// BlindOn lists the rules that judge no subject of one source.
func (b *Board) BlindOn(source string) []string {
	var rules []string
	for _, x := range b.Blind {
		if x.Source == source && !x.Part {
			rules = append(rules, x.Rule)
		}
	}
	return rules
}
