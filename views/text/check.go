package text

import (
	"cmp"
	"slices"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// Check is the document of `sandglass check -o json`; docs/check-json.md describes it. Its shape is stable.
type Check struct {
	Schema      int           `json:"schema"`
	Time        Time          `json:"time"`
	Environment backend.Safe  `json:"environment"`
	Sources     []CheckSource `json:"sources"`
	Alerts      []CheckAlert  `json:"alerts"`
	Summary     Summary       `json:"summary"`
	ExitCode    int           `json:"exit_code"`

	notWatched []alerts.Blindness // rules that no configured source serves; only people are told
}

// CheckSource is one configured source.
type CheckSource struct {
	ID         backend.Safe  `json:"id"`
	Kind       backend.Safe  `json:"kind"`
	Status     string        `json:"status"` // ok, degraded, down
	Error      *backend.Safe `json:"error"`
	AgeSeconds *float64      `json:"age_seconds"` // since the last successful poll, null: never
	Blind      []string      `json:"blind"`

	absent bool // not there, and that is no failure
}

// CheckAlert is one rule, source and cause.
type CheckAlert struct {
	ID           string            `json:"id"`
	Rule         string            `json:"rule"`
	State        alerts.AlertState `json:"state"`
	Severity     alerts.Severity   `json:"severity"`
	Cause        backend.Safe      `json:"cause"`
	Fingerprint  string            `json:"cause_fingerprint"`
	Source       backend.Safe      `json:"source"`
	Since        Time              `json:"since"`
	SinceBounds  CheckBounds       `json:"since_bounds"`
	Runbook      *string           `json:"runbook"`
	Acknowledged *CheckAck         `json:"acknowledged"`
	Silenced     *CheckSilence     `json:"silenced"`
	SubjectCount int               `json:"subject_count"`
	Subjects     []CheckSubject    `json:"subjects"`
	Evidence     []CheckEvidence   `json:"evidence"`

	// These are left out where there is nothing to say.
	Why         backend.Safe    `json:"why,omitzero"`       // what decides while it is suspected, or what is missing while it is held
	Confirmed   Time            `json:"confirmed,omitzero"` // when the newest reading that supports it was taken
	Lapsed      *CheckLapse     `json:"lapsed,omitempty"`
	Flapping    bool            `json:"flapping,omitempty"`
	InhibitedBy string          `json:"inhibited_by,omitempty"` // id of the alert about the outage that this one is a part of
	Direction   *CheckDirection `json:"direction,omitempty"`

	joined []string // ids of the alerts that were joined with it
}

// CheckLapse is an acknowledgement that holds no more.
type CheckLapse struct {
	CheckAck
	Why backend.Safe `json:"why"`
}

// CheckDirection says where a measure goes, and how long it takes to double or to halve; null: it does neither.
type CheckDirection struct {
	Heading alerts.Heading `json:"heading"`
	Seconds *float64       `json:"seconds"`
}

// CheckBounds are the earliest and latest moment at which it can have begun; null: unknown.
type CheckBounds struct {
	Earliest Time `json:"earliest"`
	Latest   Time `json:"latest"`
}

// CheckAck says who has taken an alert.
type CheckAck struct {
	Owner  backend.Safe `json:"owner"`
	Reason backend.Safe `json:"reason"`
	At     Time         `json:"at"`
	Until  Time         `json:"until"`
}

// CheckSilence says who muted an alert.
type CheckSilence struct {
	ID     backend.Safe `json:"id"`
	Owner  backend.Safe `json:"owner"`
	Reason backend.Safe `json:"reason"`
	Until  Time         `json:"until"`
}

// CheckSubject is one entity that an alert is about.
type CheckSubject struct {
	Kind  backend.Kind      `json:"kind"`
	ID    backend.ID        `json:"id"` // raw; what acts on a terminal is escaped
	State alerts.AlertState `json:"state"`
	Since Time              `json:"since"`
}

// CheckEvidence is one traced statement.
type CheckEvidence struct {
	Text   backend.Safe           `json:"text"`
	Value  backend.Value[float64] `json:"value"`
	Unit   string                 `json:"unit"`
	Source backend.Safe           `json:"source"`
	At     Time                   `json:"at"`
	// Trend is how the value went until At, in equal parts of TrendSeconds; left out where that is not known.
	Trend        []float64 `json:"trend,omitempty"`
	TrendSeconds float64   `json:"trend_seconds,omitempty"`
}

// Summary counts what there is.
type Summary struct {
	Workspaces map[string]int          `json:"workspaces"`
	Sandboxes  map[string]int          `json:"sandboxes"`
	Alerts     map[alerts.Severity]int `json:"alerts"`
}

// Time is written as RFC 3339 in UTC, the zero Time as null.
type Time struct{ time.Time }

// MarshalJSON writes the time.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return t.UTC().MarshalJSON()
}

// MakeCheck concludes the document from a State and the Board that was concluded from it.
func MakeCheck(environment string, st *fleet.State, board *alerts.Board, now time.Time) *Check {
	c := &Check{Schema: Schema, Time: Time{now}, Environment: backend.Clean(environment, 200),
		Sources: []CheckSource{}, Alerts: mergeAlerts(board), Summary: summarise(st)}
	for _, h := range st.Sources {
		c.Sources = append(c.Sources, checkSource(h, board, now))
	}
	for _, a := range c.Alerts {
		if a.State == alerts.StateFiring || a.State == alerts.StateHeld {
			c.Summary.Alerts[a.Severity]++
		}
	}
	for _, b := range board.Blind {
		if b.Source == "" {
			c.notWatched = append(c.notWatched, b)
		}
	}
	c.ExitCode = alerts.ExitCode(board, st)
	return c
}

func checkSource(h *fleet.SourceHealth, board *alerts.Board, now time.Time) CheckSource {
	s := CheckSource{ID: backend.Clean(h.Key.Source, 200), Kind: backend.Clean(h.Kind, 200), Blind: board.BlindOn(h.Key.Source)}
	if s.Blind == nil {
		s.Blind = []string{}
	}
	slices.Sort(s.Blind)
	s.Blind = slices.Compact(s.Blind)
	why := h.Error
	switch h.Status {
	case fleet.StatusOK:
		s.Status = "ok"
	case fleet.StatusDown:
		s.Status = "down"
	case fleet.StatusStarting:
		s.Status = "down"
		if why.IsEmpty() {
			why = backend.Text("has not answered yet")
		}
	case fleet.StatusDegraded, fleet.StatusAbsent:
		s.Status, s.absent = "degraded", h.Status == fleet.StatusAbsent
		if why.IsEmpty() && h.Status == fleet.StatusAbsent {
			why = backend.Text("is not there")
		}
	}
	if !why.IsEmpty() {
		s.Error = &why
	}
	if !h.LastOK.IsZero() {
		age := max(0, now.Sub(h.LastOK).Round(time.Millisecond).Seconds())
		s.AgeSeconds = &age
	}
	return s
}

// mergeAlerts makes one entry per rule, source and fingerprint, in the order of the home screen.
func mergeAlerts(board *alerts.Board) []CheckAlert {
	type identity struct{ rule, source, fingerprint string }
	merged := []CheckAlert{}
	at := make(map[identity]int)
	for _, a := range board.Alerts {
		if a.State == alerts.StateResolved {
			continue
		}
		id := identity{a.Rule, a.Source, a.Fingerprint}
		if i, known := at[id]; known {
			merged[i] = join(merged[i], checkAlert(a))
			continue
		}
		at[id] = len(merged)
		merged = append(merged, checkAlert(a))
	}
	for i := range merged {
		trim(&merged[i])
	}
	slices.SortStableFunc(merged, func(a, b CheckAlert) int { // what was joined can be worse than each of its parts
		return cmp.Or(cmp.Compare(rank(a.State), rank(b.State)), cmp.Compare(b.Severity.Rank(), a.Severity.Rank()))
	})
	return merged
}

// rank orders states: firing, held, pending, ended.
func rank(s alerts.AlertState) int {
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

func checkAlert(a *alerts.Alert) CheckAlert {
	c := CheckAlert{ID: a.ID, Rule: a.Rule, State: a.State, Severity: a.Severity, Cause: a.Cause, Fingerprint: a.Fingerprint,
		Source: backend.Clean(a.Source, 200), Since: Time{a.Since},
		SinceBounds:  CheckBounds{Earliest: Time{a.Bounds.Earliest}, Latest: Time{a.Bounds.Latest}},
		SubjectCount: a.SubjectCount, Subjects: []CheckSubject{}, Evidence: []CheckEvidence{}}
	if a.Runbook != "" {
		c.Runbook = &a.Runbook
	}
	c.Flapping, c.InhibitedBy, c.Why, c.Confirmed = a.Flapping, a.InhibitedBy, a.Why, Time{a.Confirmed}
	if d := a.Direction; d.Heading != alerts.HeadingUnknown {
		c.Direction = &CheckDirection{Heading: d.Heading}
		if d.Time > 0 {
			s := d.Time.Seconds()
			c.Direction.Seconds = &s
		}
	}
	if k := a.Acknowledged; k != nil {
		c.Acknowledged = &CheckAck{Owner: k.Owner, Reason: k.Reason, At: Time{k.At}, Until: Time{k.Until}}
	}
	if k := a.Lapsed; k != nil {
		c.Lapsed = &CheckLapse{CheckAck{Owner: k.Owner, Reason: k.Reason, At: Time{k.At}, Until: Time{k.Until}}, k.Why}
	}
	if s := a.Silenced; s != nil {
		c.Silenced = &CheckSilence{ID: s.ID, Owner: s.Owner, Reason: s.Reason, Until: Time{s.Until}}
	}
	for _, s := range a.Subjects {
		c.Subjects = append(c.Subjects, CheckSubject{Kind: s.Key.Kind, ID: s.Key.Path(), State: s.State, Since: Time{s.Since}})
	}
	for _, e := range a.Evidence {
		c.Evidence = append(c.Evidence, CheckEvidence{Text: e.Text, Value: e.Value, Unit: e.Unit,
			Source: backend.Clean(e.Source, 200), At: Time{e.At}, Trend: e.Trend, TrendSeconds: e.TrendSpan.Seconds()})
	}
	return c
}

// join keeps what is worse of two entries about the same cause, and the subjects and evidence of both.
func join(a, b CheckAlert) CheckAlert {
	lead, other := a, b
	if rank(b.State) < rank(a.State) {
		lead, other = b, a
	}
	if other.Severity.Rank() > lead.Severity.Rank() {
		lead.Severity = other.Severity
	}
	if other.InhibitedBy == "" {
		lead.InhibitedBy = "" // what is only in part explained stands by itself
	}
	lead.joined = append(slices.Concat(lead.joined, other.joined), other.ID)
	lead.SubjectCount += other.SubjectCount
	lead.Subjects = append(slices.Clone(lead.Subjects), other.Subjects...)
	lead.Evidence = append(slices.Clone(lead.Evidence), other.Evidence...)
	if e := other.SinceBounds.Earliest; !e.IsZero() && (lead.SinceBounds.Earliest.IsZero() || e.Before(lead.SinceBounds.Earliest.Time)) {
		lead.SinceBounds = other.SinceBounds
	}
	return lead
}

// trim orders the subjects, the worst first, and keeps to the bound.
func trim(a *CheckAlert) {
	slices.SortStableFunc(a.Subjects, func(x, y CheckSubject) int {
		return cmp.Or(cmp.Compare(rank(x.State), rank(y.State)), x.Since.Compare(y.Since.Time),
			cmp.Compare(x.Kind, y.Kind), x.ID.Compare(y.ID))
	})
	if len(a.Subjects) > alerts.MaxSubjects {
		a.Subjects = a.Subjects[:alerts.MaxSubjects:alerts.MaxSubjects]
	}
}

// maxStates bounds the summary: a state is a word that the platform chose, and a hostile one chooses many.
const maxStates = 32

func summarise(st *fleet.State) Summary {
	s := Summary{Workspaces: map[string]int{}, Sandboxes: map[string]int{},
		Alerts: map[alerts.Severity]int{alerts.SeverityInfo: 0, alerts.SeverityWarning: 0, alerts.SeverityCritical: 0}}
	for w := range st.Workspaces.All() {
		tally(s.Workspaces, w.Reported)
	}
	for b := range st.Sandboxes.All() {
		if b.IsSandbox {
			tally(s.Sandboxes, b.Reported)
		}
	}
	return s
}

func tally(counts map[string]int, state backend.Safe) {
	word := state.String()
	if word == "" {
		word = "unknown"
	}
	if _, known := counts[word]; !known && len(counts) >= maxStates {
		word = "other"
	}
	counts[word]++
}
