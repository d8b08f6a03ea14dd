package app

import (
	"context"
	"slices"

	"sandglass/backend"
)

// unfinished are the plans of former runs that were begun and never ended, and those that were stopped because the screen
// was lost. Each is written down as told, so that it is told once; a console that only looks writes nothing. What became of
// the targets is for readings to show.
func (s *Station) unfinished(ctx context.Context) ([]backend.Safe, error) {
	if s.Journal == nil {
		return nil, nil
	}
	now := s.app.Now()
	open, err := s.Journal.OpenIntents(ctx)
	if err != nil {
		return nil, err
	}
	unseen, err := s.Journal.UnseenStops(ctx)
	if err != nil {
		return nil, err
	}
	var out []backend.Safe
	for _, o := range slices.Concat(open, unseen) {
		if o.Running {
			continue
		}
		text := backend.Textf("%s (plan %s, begun %s by %s)", o.Text(), backend.Clean(o.Intent.Digest, 20), o.Intent.At.Format("01-02 15:04Z"), o.Intent.Who.Text())
		out = append(out, text)
		if s.ReadOnly {
			continue
		}
		if o.Stopped == nil { // the timeline has the end of the others
			e := backend.Event{Kind: backend.EventAction, At: now, Name: o.Intent.Verb, Text: backend.Textf("broken off: %s", text)}
			if len(o.Intent.Subjects) > 0 {
				e.Subject, e.Source = o.Intent.Subjects[0], o.Intent.Subjects[0].Source
			}
			if err := s.Alerts.Record(e); err != nil {
				return out, err
			}
		}
		if err := s.Journal.Settle(ctx, o, now, s.app.Who); err != nil {
			return out, err
		}
	}
	return out, nil
}
