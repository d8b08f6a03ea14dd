package text

import (
	"cmp"
	"slices"
	"time"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
	"sandglass/views"
	"sandglass/views/subjects"
)

// Check is the document of `sandglass check -o json`; docs/json.md describes it. Its shape is stable.
type Check struct {
	Schema      int                   `json:"schema"`
	Time        Time                  `json:"time"`
	Environment backend.Safe          `json:"environment"`
	Sources     []subjects.SourceJSON `json:"sources"`
	Alerts      []subjects.AlertJSON  `json:"alerts"`
	Summary     Summary               `json:"summary"`
	ExitCode    int                   `json:"exit_code"`

	blind       []alerts.Blindness // rules that are not evaluated, and why; those of no source are not watched; only people are told
	unevaluated int
	snapshot    *views.Snapshot // of which people are told names
	advice      map[string]*runbook.Diagnosis
	unread      bool         // there may be workspaces that were not read
	counted     backend.Kind // what the verdict counts; empty: nothing that is read can be counted
	framework   bool         // workspaces are watched, not containers alone
	unwatched   int          // containers that are no sandboxes and raise no alert
	// Unused are variables of the environment that nothing is configured for, in words; only people are told.
	Unused []backend.Safe `json:"-"`
}

// Summary counts what there is.
type Summary struct {
	Workspaces map[string]int          `json:"workspaces"`
	Sandboxes  map[string]int          `json:"sandboxes"`
	Alerts     map[alerts.Severity]int `json:"alerts"`
}

// MakeCheck concludes the document from a State and the Board that was concluded from it.
func MakeCheck(environment string, st *fleet.State, board *alerts.Board, now time.Time) *Check {
	snapshot := views.NewSnapshot(now, st, board)
	c := &Check{Schema: Schema, Time: views.At(now), Environment: backend.Clean(environment, 200),
		Sources: []subjects.SourceJSON{}, Alerts: mergeAlerts(snapshot), Summary: summarise(st), snapshot: snapshot, framework: st.WatchesFramework()}
	c.counted = counted(st)
	c.unread = st.Unread(c.counted) != nil
	for b := range st.Sandboxes.All() {
		if !b.Judged() {
			c.unwatched++
		}
	}
	for _, h := range st.Sources {
		c.Sources = append(c.Sources, subjects.NewSourceJSON(h, board, now))
	}
	for _, a := range c.Alerts {
		if a.State == alerts.StateFiring || a.State == alerts.StateHeld {
			c.Summary.Alerts[a.Severity]++
		}
	}
	c.blind, c.unevaluated = board.Blind, board.NotEvaluated()
	c.ExitCode = alerts.ExitCode(board, st)
	return c
}

// mergeAlerts makes one entry per rule, source and fingerprint, in the order of the home screen.
func mergeAlerts(of *views.Snapshot) []subjects.AlertJSON {
	type identity struct{ rule, source, fingerprint string }
	merged := []subjects.AlertJSON{}
	at := make(map[identity]int)
	for _, a := range of.Board.Alerts {
		if a.State == alerts.StateResolved {
			continue
		}
		id := identity{a.Rule, a.Source, a.Fingerprint}
		if i, known := at[id]; known {
			merged[i] = join(merged[i], subjects.NewAlertJSON(a, of))
			continue
		}
		at[id] = len(merged)
		merged = append(merged, subjects.NewAlertJSON(a, of))
	}
	for i := range merged {
		merged[i].Trim()
	}
	stable.Sort(merged, func(a, b subjects.AlertJSON) int { // what was joined can be worse than each of its parts
		return cmp.Or(cmp.Compare(subjects.StateOrder(a.State), subjects.StateOrder(b.State)), cmp.Compare(b.Severity.Rank(), a.Severity.Rank()))
	})
	return merged
}

// join keeps what is worse of two entries about the same cause, and the subjects and evidence of both.
func join(a, b subjects.AlertJSON) subjects.AlertJSON {
	lead, other := a, b
	if subjects.StateOrder(b.State) < subjects.StateOrder(a.State) {
		lead, other = b, a
	}
	lead, other = lead.Beside(other)
	if other.InhibitedBy == "" {
		lead.InhibitedBy = "" // what is only in part explained stands by itself
	}
	lead.Joined = append(slices.Concat(lead.Joined, other.Joined), other.ID)
	lead.SubjectCount, lead.Pending, lead.Milder = lead.SubjectCount+other.SubjectCount, lead.Pending+other.Pending, lead.Milder.With(other.Milder)
	lead.Variants = nil // each of the two counts its own subjects
	lead.Subjects = append(slices.Clone(lead.Subjects), other.Subjects...)
	lead.Evidence = append(slices.Clone(lead.Evidence), other.Evidence...)
	if e := other.SinceBounds.Earliest; !e.IsZero() && (lead.SinceBounds.Earliest.IsZero() || e.Before(lead.SinceBounds.Earliest.Time)) {
		lead.SinceBounds = other.SinceBounds
	}
	return lead
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
		if b.Judged() {
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
