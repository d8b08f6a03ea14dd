package app

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sandglass/actions/audit"
	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/text"
)

// recentEvents is how many events a diagnosis looks back at.
const recentEvents = 5000

// Events are the newest of former runs and of this one, oldest first.
func (s *Station) Events() []backend.Event {
	events := slices.Clone(s.Alerts.Timeline(recentEvents))
	slices.Reverse(events)
	return events
}

// Saved is a bundle that was written.
type Saved struct {
	audit.BundleFile
	About []backend.Key // what it is evidence about, what was asked for first
}

// SaveEvidence writes down for a person what the Station knows about an entity or an alert (views.AlertKey), with the hash of the
// file in the journal, and tells the timeline. The file is in the state directory, or is out, which must not exist.
func (s *Station) SaveEvidence(ctx context.Context, who audit.Who, key backend.Key, out string) (Saved, error) {
	if s.Journal == nil {
		return Saved{}, s.NoJournal
	}
	now := s.app.Now()
	state, board := s.Alerts.Latest()
	if state == nil || board == nil {
		return Saved{}, errors.New("nothing was read yet")
	}
	state = board.Shown(state)
	events := s.Events()
	b := text.Bundle{Key: key, Snapshot: views.NewSnapshot(now, state, board), Environment: s.Config.Environment, Version: s.app.Version,
		Events: events, Cleaner: s.app.Cleaner}
	if q, ok := b.Question(); ok {
		d := runbook.Case{State: state, Board: board, Subject: q.Subject, Alert: q.Alert, Events: events}.Diagnose(q.Incident)
		b.Diagnosis = &d
	}
	saved := Saved{About: b.Subjects()}
	if len(saved.About) == 0 {
		return saved, errors.New("the alert names nothing that evidence could be about")
	}
	var err error
	if saved.BundleFile, err = s.Journal.WriteBundle(ctx, audit.Bundle{Subjects: saved.About, Text: b.Markdown(), Out: out}, now, who); err != nil {
		return saved, err
	}
	return saved, s.Alerts.Record(backend.Event{Kind: backend.EventAction, At: now, Source: key.Source, Subject: saved.About[0], Name: alerts.EventBundle,
		Text: s.app.Cleaner.Clean(fmt.Sprintf("%s wrote evidence about %s to %s", who.User, saved.About[0].Safe(), saved.Path), 500)})
}
