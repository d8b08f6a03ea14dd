package subjects

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/internal/stable"
	"sandglass/views"
)

// AlertJSON is one rule, source and cause.
type AlertJSON struct {
	ID           string            `json:"id"`
	Rule         string            `json:"rule"`
	State        alerts.AlertState `json:"state"`
	Severity     alerts.Severity   `json:"severity"`
	Cause        backend.Safe      `json:"cause"`
	Fingerprint  string            `json:"cause_fingerprint"`
	Source       backend.Safe      `json:"source"`
	Since        views.Time        `json:"since"`
	SinceBounds  BoundsJSON        `json:"since_bounds"`
	Runbook      *string           `json:"runbook"`
	Acknowledged *AckJSON          `json:"acknowledged"`
	Silenced     *SilenceJSON      `json:"silenced"`
	SubjectCount int               `json:"subject_count"`
	Subjects     []SubjectJSON     `json:"subjects"`
	Evidence     []EvidenceJSON    `json:"evidence"`
	Variants     *VariantsJSON     `json:"variants,omitempty"` // left out where the errors of its subjects do not differ

	// These are left out where there is nothing to say.
	Pending     int            `json:"pending_count,omitempty"` // subjects that are pending beside those that are counted
	Why         backend.Safe   `json:"why,omitzero"`            // what decides while it is suspected, or what is missing while it is held
	Confirmed   views.Time     `json:"confirmed,omitzero"`      // when the newest reading that supports it was taken
	Lapsed      *LapseJSON     `json:"lapsed,omitempty"`
	Flapping    bool           `json:"flapping,omitempty"`
	InhibitedBy string         `json:"inhibited_by,omitempty"` // id of the alert about the outage that this one is a part of
	Direction   *DirectionJSON `json:"direction,omitempty"`

	Joined []string `json:"-"` // ids of the alerts that were joined with it
	Milder Milder   `json:"-"` // its subjects that are less severe than it
}

// Milder counts subjects by a severity.
type Milder struct{ Info, Warning int }

// With adds another count.
func (m Milder) With(o Milder) Milder { return Milder{m.Info + o.Info, m.Warning + o.Warning} }

// Text is the count in words; empty: there are none.
func (m Milder) Text() string {
	var out []string
	if m.Warning > 0 {
		out = append(out, strconv.Itoa(m.Warning)+" of them "+string(alerts.SeverityWarning))
	}
	if m.Info > 0 {
		out = append(out, strconv.Itoa(m.Info)+" of them "+string(alerts.SeverityInfo))
	}
	return strings.Join(out, ", ")
}

// Beside gives two entries about one cause the severity of the worse. The subjects of the other keep theirs.
func (a AlertJSON) Beside(b AlertJSON) (x, y AlertJSON) {
	if a.Severity.Rank() >= b.Severity.Rank() {
		return a, b.milderThan(a.Severity)
	}
	return a.milderThan(b.Severity), b
}

func (a AlertJSON) milderThan(worse alerts.Severity) AlertJSON {
	if a.Severity == worse {
		return a
	}
	own := a.SubjectCount - a.Milder.Info - a.Milder.Warning
	switch a.Severity {
	case alerts.SeverityInfo:
		a.Milder.Info += own
	case alerts.SeverityWarning:
		a.Milder.Warning += own
	case alerts.SeverityCritical:
	}
	a.Subjects = slices.Clone(a.Subjects)
	for i := range a.Subjects {
		a.Subjects[i].Severity = cmp.Or(a.Subjects[i].Severity, a.Severity)
	}
	a.Severity = worse
	return a
}

// VariantsJSON are the subjects by the values in their errors that differ.
type VariantsJSON struct {
	Count int              `json:"count"`
	Text  backend.Safe     `json:"text"`
	List  []alerts.Variant `json:"list"` // the most frequent first, at most 20
}

// LapseJSON is an acknowledgement that holds no more.
type LapseJSON struct {
	AckJSON
	Why backend.Safe `json:"why"`
}

// DirectionJSON says where a measure goes, and how long it takes to double or to halve; null: it does neither.
type DirectionJSON struct {
	Heading alerts.Heading `json:"heading"`
	Seconds *float64       `json:"seconds"`
}

// BoundsJSON are the earliest and latest moment at which it can have begun; null: unknown.
type BoundsJSON struct {
	Earliest views.Time `json:"earliest"`
	Latest   views.Time `json:"latest"`
}

// AckJSON says who has taken an alert.
type AckJSON struct {
	Owner  backend.Safe `json:"owner"`
	Reason backend.Safe `json:"reason"`
	At     views.Time   `json:"at"`
	Until  views.Time   `json:"until"`
}

// SilenceJSON says who muted an alert.
type SilenceJSON struct {
	ID     backend.Safe `json:"id"`
	Owner  backend.Safe `json:"owner"`
	Reason backend.Safe `json:"reason"`
	Until  views.Time   `json:"until"`
}

// SubjectJSON is one entity that an alert is about.
type SubjectJSON struct {
	Kind  backend.Kind      `json:"kind"`
	ID    backend.ID        `json:"id"` // raw; what acts on a terminal is escaped
	State alerts.AlertState `json:"state"`
	Since views.Time        `json:"since"`
	// Severity is left out where it is that of the alert.
	Severity alerts.Severity `json:"severity,omitempty"`

	key  backend.Key
	ends time.Time // when it will be no more; zero: not told
}

// Name is what people call the subject.
func (s *SubjectJSON) Name(c *views.Snapshot) backend.Safe { return NameOf(s.key, c) }

// EvidenceJSON is one traced statement.
type EvidenceJSON struct {
	Text   backend.Safe           `json:"text"`
	Value  backend.Value[float64] `json:"value"`
	Unit   string                 `json:"unit"`
	Source backend.Safe           `json:"source"`
	At     views.Time             `json:"at"`
	// Trend is how the value went until At, in equal parts of TrendSeconds; left out where that is not known.
	Trend        []float64 `json:"trend,omitempty"`
	TrendSeconds float64   `json:"trend_seconds,omitempty"`
}

// StateOrder orders states: firing, held, pending, ended.
func StateOrder(s alerts.AlertState) int {
	switch s {
	case alerts.StateFiring:
		return 0
	case alerts.StateHeld:
		return 1
	case alerts.StatePending:
		return 2
	case alerts.StateEnded, alerts.StateResolved:
	}
	return 3
}

// NewAlertJSON is the JSON form of one alert, with all its subjects. It began when its line on the screen says.
func NewAlertJSON(a *alerts.Alert, of *views.Snapshot) AlertJSON {
	bounds := first(a, of).Bounds
	c := AlertJSON{ID: a.ID, Rule: a.Rule, State: a.State, Severity: a.Severity, Cause: a.Cause, Fingerprint: a.Fingerprint,
		Source: backend.Clean(a.Source, 200), Since: views.At(a.Since),
		SinceBounds:  BoundsJSON{Earliest: views.At(bounds.Earliest), Latest: views.At(bounds.Latest)},
		SubjectCount: a.SubjectCount, Pending: a.Pending, Subjects: []SubjectJSON{}, Evidence: []EvidenceJSON{}}
	if a.Runbook != "" {
		c.Runbook = &a.Runbook
	}
	c.Flapping, c.InhibitedBy, c.Why, c.Confirmed = a.Flapping, a.InhibitedBy, a.Why, views.At(a.Confirmed)
	if d := a.Direction; d.Heading != alerts.HeadingUnknown {
		c.Direction = &DirectionJSON{Heading: d.Heading}
		if d.Time > 0 {
			s := d.Time.Seconds()
			c.Direction.Seconds = &s
		}
	}
	if v := a.Variants; !v.IsZero() {
		c.Variants = &VariantsJSON{Count: v.Count, Text: v.Text(), List: v.List}
	}
	if k := a.Acknowledged; k != nil {
		c.Acknowledged = &AckJSON{Owner: k.Owner, Reason: k.Reason, At: views.At(k.At), Until: views.At(k.Until)}
	}
	if k := a.Lapsed; k != nil {
		c.Lapsed = &LapseJSON{AckJSON{Owner: k.Owner, Reason: k.Reason, At: views.At(k.At), Until: views.At(k.Until)}, k.Why}
	}
	if s := a.Silenced; s != nil {
		c.Silenced = &SilenceJSON{ID: s.ID, Owner: s.Owner, Reason: s.Reason, Until: views.At(s.Until)}
	}
	for _, s := range a.Subjects {
		c.Subjects = append(c.Subjects, SubjectJSON{key: s.Key, Kind: s.Key.Kind, ID: s.Key.Path(), State: s.State, Since: views.At(s.Since), ends: s.Ends})
	}
	for _, e := range a.Evidence {
		c.Evidence = append(c.Evidence, EvidenceJSON{Text: e.Text, Value: e.Value, Unit: e.Unit,
			Source: backend.Clean(e.Source, 200), At: views.At(e.At), Trend: e.Trend, TrendSeconds: e.TrendSpan.Seconds()})
	}
	return c
}

// Trim orders the subjects, the worst first and of these what will end first, and keeps to the bound.
func (a *AlertJSON) Trim() {
	stable.Sort(a.Subjects, func(x, y SubjectJSON) int {
		ends := 0
		if !x.ends.IsZero() && !y.ends.IsZero() {
			ends = x.ends.Compare(y.ends)
		}
		return cmp.Or(cmp.Compare(StateOrder(x.State), StateOrder(y.State)), ends, x.Since.Compare(y.Since.Time),
			cmp.Compare(x.Kind, y.Kind), x.ID.Compare(y.ID))
	})
	if len(a.Subjects) > alerts.MaxSubjects {
		a.Subjects = a.Subjects[:alerts.MaxSubjects:alerts.MaxSubjects]
	}
}
