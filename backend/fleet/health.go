package fleet

import (
	"slices"
	"time"

	"sandglass/backend"
)

// sourceRecord is what the Answers of one source say about the source itself.
type sourceRecord struct {
	h    SourceHealth
	can  []backend.Input // what its kind can deliver
	opt  bool            // no configuration names it: it may be absent
	poll time.Duration
	load loadMeter
	last *SourceHealth // as of the State before
}

func newSourceRecord(id string, c backend.SourceConfig) *sourceRecord {
	return &sourceRecord{can: c.Inputs, opt: c.Optional, poll: c.Interval, h: SourceHealth{
		Key:  backend.Key{Kind: backend.KindSource, Source: id, ID: backend.MustID(id)},
		Kind: c.Kind, Organisation: c.Organisation, About: c.About, Allowed: c.Allowed, Local: c.Optional, Status: StatusStarting, Interval: c.Interval, Deadline: c.Deadline,
	}}
}

// note takes in the Answer that ended a poll.
func (s *sourceRecord) note(a *backend.Answer) {
	h, now := &s.h, a.Ended.Wall
	if h.FirstTry.IsZero() {
		h.FirstTry = a.Started.Wall
	}
	h.LastTry, h.NextPoll = now, a.Next
	s.load.add(now, a.Load)
	if a.Failure != nil {
		h.noteFailure(a.Failure, now, s.opt)
		if wait := a.Failure.RetryAfter; wait > 0 { // a later process keeps to it too
			_, others := backend.TakeQuiet(h.Bookmarks, now)
			h.Bookmarks = append(others, backend.QuietBookmark(now.Add(wait)))
		}
		if h.LastOK.IsZero() {
			h.Missing = s.unanswered()
		}
		return
	}
	r := a.Reading
	h.BodyAge, h.BodyBy, h.BodyWhere, h.BodyDate = a.Load.BodyAge, a.Load.BodyBy, backend.Clean(a.Load.BodyWhere, 200), a.Load.BodyDate
	h.Failures, h.DownFrom, h.ErrorKind, h.Error = 0, time.Time{}, "", r.Degraded
	h.Status = StatusOK
	if !r.Degraded.IsEmpty() || r.WorkspacesUnknown {
		h.Status = StatusDegraded
	}
	h.LastOK = now
	if at := r.AnsweredAt; !at.IsZero() && at.Before(now) { // no answer is younger than its request
		h.LastOK = at
	}
	h.Interval, h.Paced = max(s.poll, r.Every), r.EveryWhy
	h.Inputs, h.Missing, h.Problems, h.Notes, h.Facts, h.Pools = r.Inputs, r.Missing, r.Problems, r.Notes, r.Facts, r.Pools
	h.Client, h.Engine = r.Client, r.Engine
	h.Refuses = r.Refuses
	if h.Failing = r.Failing; h.Failing.What.IsEmpty() {
		h.FailingSince = time.Time{}
	} else if h.FailingSince.IsZero() {
		h.FailingSince = now
	}
	if h.Exposed = r.Exposed; h.Exposed.IsEmpty() {
		h.ExposedSince = time.Time{}
	} else if h.ExposedSince.IsZero() {
		h.ExposedSince = now
	}
	h.Reports = backend.KeepReports(h.Reports, r.Reports, now)
	h.Bookmarks, h.Undated, h.Stopped = r.Bookmarks, r.Undated, r.Stopped
	h.WorkspacesUnknown, h.Unfinished, h.Rejections = r.WorkspacesUnknown, r.Partial || r.Unseen, r.Rejections
	h.Unseen, h.OtherIDs, h.OwnGone = r.Unseen, r.OtherIDs, r.OwnGone
	if h.Unread, h.Asked = r.Unread, r.Asked; !TooManyUnread(h.UnreadSessions(), h.Asked) {
		h.UnreadSince = time.Time{}
	} else if h.UnreadSince.IsZero() {
		h.UnreadSince = now
	}
	if h.Unlisted = r.Unlisted; len(h.Unlisted) == 0 {
		h.UnlistedSince = time.Time{}
	} else if h.UnlistedSince.IsZero() {
		h.UnlistedSince = now
	}
	if len(h.Unread) > 0 {
		h.Notes = append(slices.Clip(h.Notes), backend.Textf("of %d sessions: %s", h.Asked, backend.UnreadText(h.Unread)))
	}
	if r.Registry != h.Registry {
		h.Registry, h.RegistrySince = r.Registry, now
	}
	if r.ClockOffset.IsKnown() {
		h.ClockOffset, h.ClockGuessed = r.ClockOffset, r.ClockGuessed
	}
}

// unanswered is what a source that has never answered does not deliver. What does not exist here is not missed.
func (s *sourceRecord) unanswered() []backend.MissingInput {
	if s.h.Status == StatusAbsent {
		return nil
	}
	missing := make([]backend.MissingInput, 0, len(s.can))
	for _, in := range s.can {
		missing = append(missing, backend.MissingInput{Input: in, Why: backend.Text("it does not answer")})
	}
	return missing
}

// noteFailure takes in a failed poll. Only what no configuration names may be absent.
func (h *SourceHealth) noteFailure(f *backend.Failure, now time.Time, optional bool) {
	if !f.Unasked {
		h.Failures++
	}
	if h.DownFrom.IsZero() {
		h.DownFrom = now
	}
	h.ErrorKind, h.Error = f.Kind, f.Text
	switch {
	case f.Kind == backend.ErrAbsent && optional:
		h.Status = StatusAbsent
	case h.Failures == 1 && !h.LastOK.IsZero():
		// One lost packet must not make a whole fleet's values doubtful: they are as old as they are.
		h.Status = StatusDegraded
		h.Error = backend.Textf("the newest poll failed: %s", f.Text)
	default:
		h.Status = StatusDown
	}
}

// Answers reports whether the newest poll did not fail; one that was asked to wait by a former process has not answered.
func (h *SourceHealth) Answers() bool { return h.Failures == 0 && h.Status != StatusDown }

// health is the source's health as of now; the same pointer while nothing of it changed.
func (s *sourceRecord) health(now time.Time, held []Held) *SourceHealth {
	h := s.h
	if h.Held = held; h.Status == StatusOK && (held != nil || !h.UnreadSince.IsZero() || h.Copied() || h.Unlists()) {
		h.Status = StatusDegraded
	}
	switch {
	case !h.Error.IsEmpty():
	case held != nil:
		h.Error = backend.Textf("%s: %d of %d; %s held", held[0].Cause(), held[0].Lost, held[0].Of, held[0].Word(held[0].Count, "is", "are"))
	case h.Unlists():
		h.Error = backend.Join(backend.UnlistedTexts(h.Unlisted), "; ")
	case h.Copied():
		h.Error = backend.Textf("it serves a copy that is %s old", backend.Age(h.BodyAge))
	case !h.UnreadSince.IsZero():
		h.Error = backend.Textf("%d of %d sessions cannot be read", h.UnreadSessions(), h.Asked)
	}
	h.P50, h.P95 = s.load.latencies()
	h.RequestsPerMin, h.BytesPerMin = s.load.perMinute(now)
	if s.last != nil && sameHealth(s.last, &h) {
		return s.last
	}
	h.Rev++
	s.h.Rev = h.Rev
	s.last = &h
	return s.last
}
