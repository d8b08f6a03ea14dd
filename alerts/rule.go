package alerts

import (
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// Outcome is what a rule says about one subject.
type Outcome uint8

// The five outcomes. Only False resolves.
const (
	NoData Outcome = iota
	True
	False
	SourceError
	NotApplicable
)

// String returns the outcome's word.
func (o Outcome) String() string {
	switch o {
	case True:
		return "true"
	case False:
		return "false"
	case SourceError:
		return "source-error"
	case NotApplicable:
		return "not-applicable"
	case NoData:
	}
	return "no-data"
}

// GapPolicy says what a pending finding's clock does while its data is missing.
type GapPolicy string

// The gap policies: pause stops the clock, reset drops the finding, count lets the clock run on.
const (
	GapPause GapPolicy = "pause"
	GapReset GapPolicy = "reset"
	GapCount GapPolicy = "count"
)

// Meta is what a rule declares about itself. The documentation is generated from it.
type Meta struct {
	Name          string
	Severity      Severity
	For           time.Duration // how long it must be true before it fires
	KeepFiringFor time.Duration // how long it goes on firing after it turned false
	// OwnFor says that the rule applies For itself, by the times of its evidence.
	OwnFor bool
	Gap    GapPolicy // empty is pause
	// Watches is the input whose sources the rule judges: it can be blind on these.
	Watches backend.Input
	// Needs are groups of inputs: of each group at least one must be delivered by a source that speaks about the
	// judged one, otherwise the rule is blind there.
	Needs [][]backend.Input
	// Corroborate is the number of subjects with one cause from which suspicion becomes certainty for those whose
	// verdict allows it; 0: never.
	Corroborate int
	// Urgent alerts come before others of their severity and state, however few subjects they have.
	Urgent bool
	// Folds says that a finding about a source explains why other alerts lack data: they fold under it.
	Folds bool
	// Inhibits says which alerts of other rules are parts of what this one reports.
	Inhibits []Inhibition
	// Alone is what the rule sees also where its needs are not met, so that it is blind for the rest only.
	Alone Alone
	// Window is how far back the rule counts. For that long after a restart missing counts do not hold an alert.
	Window     time.Duration
	Explain    Explain
	Thresholds Thresholds
	// Scope is the part of the fleet that the rule judges.
	Scope Scope
	// RunbookText is what the operators of this site add to the runbook's page, as Markdown, and RunbookLinks the
	// addresses that they point to.
	RunbookText  string
	RunbookLinks []string
}

// Explain is a rule's documentation.
type Explain struct {
	Means   string   // what is true when it fires
	Inputs  string   // what it reads, in words
	Missing string   // what happens when data is missing
	Runbook string   // which incident, and when
	First   []string // what to do first
	Limits  string   // what it cannot tell
}

// Rule is one condition. It is exactly one of SubjectRule, SeriesRule and FleetRule (a FleetRule may also be a
// SubjectRule that only takes notes).
type Rule interface {
	Meta() *Meta
}

// SubjectRule judges entities one by one: when they change, when their source's health changes and when a verdict's
// Recheck time has come. It must depend on nothing but its arguments.
type SubjectRule interface {
	Rule
	Kind() backend.Kind
	Judge(env *Env, e backend.Entity, note Note) Verdict
	// Evidence states what stands behind an alert; a has everything but its evidence, oldest is the entity of its
	// oldest finding, nil when that is gone.
	Evidence(env *Env, a *Alert, oldest backend.Entity) []Evidence
}

// RecallingRule is a SubjectRule whose evidence has more than the entity shows: what the rule remembers of it.
type RecallingRule interface {
	SubjectRule
	// Recalled states what a note adds to the evidence about the entity of the oldest finding.
	Recalled(env *Env, oldest backend.Entity, note Note) []Evidence
}

// LastingRule is a SubjectRule whose findings may outlive their subject.
type LastingRule interface {
	SubjectRule
	// JudgeGone judges a subject that has just left. True lasts until the verdict's Recheck, which must be set; any other
	// outcome ends what was found.
	JudgeGone(env *Env, gone *fleet.Departure, note Note) Verdict
}

// SeriesRule judges subjects by what is counted about them.
type SeriesRule interface {
	Rule
	Metrics() []backend.Metric
	// SubjectOf names the subject that a series speaks about, and the source that is judged.
	SubjectOf(env *Env, s backend.Series) backend.Key
	// JudgeSeries judges a subject by all series known of it. The rule keeps them in its note.
	JudgeSeries(env *Env, key backend.Key, series []backend.Series, note Note) Verdict
	// SeriesOf returns the series that a note keeps.
	SeriesOf(note Note) []backend.Series
}

// EachRule is a SeriesRule that tells some of its evidence about each subject of an alert, not only about the oldest.
type EachRule interface {
	SeriesRule
	// Each is that part of the evidence of one finding.
	Each(said []Evidence) []Evidence
}

// FleetRule judges aggregates. It is evaluated on every State and returns a verdict for each subject it can judge,
// False included; a known finding that it leaves out has no data.
type FleetRule interface {
	Rule
	JudgeFleet(env *Env, known Known) []Found
}

// StandingRule is a rule whose firing alert about one subject stands for the lesser alerts about the same subject.
type StandingRule interface {
	Rule
	// StandsFor lists the rules of those lesser alerts.
	StandsFor() []string
	// Behind is the workspace that the subject of a finding belongs to; zero values: not known.
	Behind(subject backend.Key, note Note) (session, workspace backend.ID)
	// GatheredBy are the rule's own findings of which the first that fires stands for a finding which many subjects share.
	GatheredBy(subject backend.Key, note Note, noteOf func(backend.Key) Note) []backend.Key
}

// Alone is what one input shows a rule without any other; the zero value is nothing.
type Alone struct {
	Input backend.Input
	Sees  backend.Safe // a part of a sentence, in the singular
}

// Found is a fleet rule's verdict about one subject.
type Found struct {
	Key     backend.Key
	Verdict Verdict
}

// Verdict is what a rule says about one subject in one State. All times are of Env's steady clock.
type Verdict struct {
	Outcome Outcome
	// Suspected says that facts suggest the condition without proving it: the finding stays pending. Corroborated
	// suspicion (Meta.Corroborate) counts as proof where Corroborable is set.
	Suspected    bool
	Corroborable bool
	// Stopped says with NoData that what told of the subject stopped, so that more counts do not come: it is held at once.
	Stopped bool
	// Unread says with NoData that this process has not read yet what tells of the subject: what a former one found stays as it was.
	Unread      bool
	Bounds      Bounds
	Cause       backend.Safe // readable
	Fingerprint string       // of the cause; required with True
	Values      string       // of an error text that tell variants of the cause apart, from Env.Values
	Severity    Severity     // where it differs from the rule's; empty: the rule's
	Runbook     string
	// Source is the source that is judged, Via another one that the verdict rests on, empty when there is none.
	Source, Via      string
	Detail           backend.Safe // what is true of the subject; no text that changes with time alone
	Why              backend.Safe // what is missing, or what decides while it is suspected
	Session          backend.ID
	Provider, Tenant backend.Safe
	Confirmed        time.Time // when the newest reading that supports it was taken
	Recheck          time.Time // when the verdict can change by itself, zero: never
	Ends             time.Time // when the subject will be no more; alerts name those that end first before others. Zero: not told
	Note             Note      // what to remember; the zero Note forgets unless the outcome is a gap or a fleet rule's finding is kept firing

	// Listing replaces the subjects of a finding that stands for many; nil otherwise.
	Listing *Listing
	// Evidence and Trend are for rules that are no SubjectRule.
	Evidence  []Evidence
	Trend     []float64
	TrendSpan time.Duration
}

// Listing is the subjects behind one finding; Subjects may be cut, the counts are exact.
type Listing struct {
	Subjects                            []Subject
	Count, Sessions, Providers, Tenants int
	Variants                            Variants  `json:",omitzero"`
	Since                               time.Time `json:",omitzero"` // since when the first of the findings holds that it stands for; zero: it stands for none
}
