package runbook

import (
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// Release is what is known of the framework's release at the subject's source. The documentation numbers its changes
// in rounds (https://agents.open-source.onhelix.ai, workspaces/upgrading); which published version carries which round
// is not stated anywhere, so versions are shown as declared and never translated.
type Release struct {
	// AtLeast is the oldest round that fits what was seen, 0 when nothing was seen.
	AtLeast int `json:"at_least,omitempty"`
	// Below is the round that it must be older than, 0 when nothing says so.
	Below int `json:"below,omitempty"`
	// Unmitigated says that rejections are logged one by one, as before the rate limiter of round 5.
	Unmitigated bool           `json:"unmitigated,omitempty"`
	Proof       []backend.Safe `json:"proof,omitempty"`
	// Declared are the versions that sessions declare; more than one are mixed.
	Declared []backend.Safe `json:"declared,omitempty"`
	From     string         `json:"source,omitempty"`
	At       time.Time      `json:"at,omitzero"`

	partly backend.Safe // why a proof does not hold for all sessions that were asked about, empty when it does
}

// release infers the framework's release from what only some releases write.
func (s *subjectView) release() Release {
	r := Release{Declared: s.versions()}
	s.releaseFromRefs(&r)
	if r.AtLeast > 0 && s.wide && s.State.Sessions.Len() > 1 {
		r.partly = onlySome("one session shows it")
	}
	s.releaseFromTimes(&r)
	s.releaseFromLines(&r)
	return r
}

// ofSession reports whether what a session shows says something of the subject: of itself, or of a whole source.
func (s *subjectView) ofSession(id backend.ID) bool {
	return s.wide || s.sessionID.IsZero() || id == s.sessionID
}

// raise notes a proof for a round; the sources of the newest round are kept.
func (r *Release) raise(round int, o origin, l backend.Literal, args ...any) {
	r.Proof = append(r.Proof, backend.Textf(l, args...))
	if round > r.AtLeast {
		r.AtLeast, r.From, r.At = round, o.source, o.at
	}
}

// releaseFromRefs: references carry a schemaVersion since round 4.
func (s *subjectView) releaseFromRefs(r *Release) {
	for _, e := range s.errors {
		if e.cause&alerts.NamesSchema != 0 {
			r.raise(4, e.from, "an error names schemaVersion (%s), which references carry since round 4", e.who)
			return
		}
	}
	for _, ref := range s.Refs {
		if v, ok := ref.SchemaVersion.Get(); ok && s.speaksHere(ref.Source) && s.ofSession(ref.Session) {
			r.raise(4, origin{ref.Source, ref.At}, "a persisted reference carries schemaVersion %d: round 4 or later", v)
			return
		}
	}
	for x := range s.State.Sessions.All() {
		if !s.here(x.Key.Source) || !s.ofSession(x.Key.ID) {
			continue
		}
		for _, ref := range x.WorkspaceRefs {
			if strings.Contains(strings.ToLower(ref.String()), "schemaversion") {
				r.raise(4, s.from(&x.Meta), "a reference of session %s carries schemaVersion: round 4 or later", x.Key.Safe())
				return
			}
		}
	}
}

// releaseFromTimes: snapshots give lastAttemptAt since round 5, and lastOpAt before it.
func (s *subjectView) releaseFromTimes(r *Release) {
	var legacy, shows *backend.Workspace
	shown, all := 0, 0
	last := backend.ID{}
	for w := range s.State.Workspaces.All() { // in the order of their sessions
		if !s.here(w.Key.Source) || !s.ofSession(w.Key.Parent) {
			continue
		}
		if w.Key.Parent != last {
			all++
		}
		switch {
		case w.LastAttemptAt.IsKnown():
			if shows == nil || shows.Key.Parent != w.Key.Parent {
				shown++
			}
			shows = w
		case w.LastOpAt.IsKnown():
			legacy = w
		}
		last = w.Key.Parent
	}
	switch {
	case shows != nil && shown < all:
		r.raise(5, s.from(&shows.Meta), "snapshots carry lastAttemptAt: round 5 or later")
		r.partly = onlySome("%d of %s show it", shown, plural(all, "session"))
	case shows != nil:
		r.partly = backend.Safe{}
		r.raise(5, s.from(&shows.Meta), "snapshots carry lastAttemptAt: round 5 or later")
	case legacy != nil:
		r.Below = 5
		r.Proof = append(r.Proof, backend.Textf("snapshots carry lastOpAt and no lastAttemptAt, which round 5 brought: older than round 5"))
		if r.From == "" {
			o := s.from(&legacy.Meta)
			r.From, r.At = o.source, o.at
		}
	}
}

// releaseFromLines: the rate limiter of round 5 writes rollups.
func (s *subjectView) releaseFromLines(r *Release) {
	// The rate limiter writes repeats once in 60 s and a rollup every 5 s.
	over, _ := s.span(floodOver)
	rollups, rejected := s.tally(backend.MetricRollups, time.Hour), s.tally(backend.MetricRejections, over)
	if n := rollups.in.N; n > 0 {
		r.raise(5, rollups.from, "%s in the last %s: round 5 or later", plural(int(n), "rollup line"), s.watched(rollups, time.Hour))
		return
	}
	flood, judged := s.number(floodRejections)
	rate, ok := rejected.in.Rate(over)
	if !ok || !judged || rate < flood {
		return
	}
	told := backend.Textf("%s rejections a second", rateText(rate))
	if a := s.ledBy("audit-saturation"); a != nil {
		told = s.rejectedRate(rejected, over, a)
	}
	// Only repeats are collected: what never repeats is written line by line by every release.
	commands := s.tally(backend.MetricRejectedWords, time.Hour).in.N
	if most, _ := s.number(floodLoop); commands > most {
		r.Proof = append(r.Proof, backend.Textf("%s and no rollup, of %s different commands: nothing repeats, so this tells no release from another", told, number(commands)))
		return
	}
	r.Unmitigated = true
	identical := commands > 0
	switch {
	case identical && r.AtLeast >= 5:
		r.Proof = append(r.Proof, backend.Textf("%s, identical, and not one rollup: this logger is not rate-limited", told))
		return
	case r.AtLeast >= 5:
		r.Proof = append(r.Proof, backend.Textf("%s and no rollup: either every rejection differs, which looks like probing, or this logger is not rate-limited", told))
		return
	case identical:
		r.Proof = append(r.Proof, backend.Textf("%s, identical, and not one rollup: unmitigated, as before round 5", told))
	default:
		r.Proof = append(r.Proof, backend.Textf("%s and not one rollup: unmitigated, as before round 5, unless every rejection differs", told))
	}
	if r.From == "" {
		r.From, r.At = rejected.from.source, rejected.from.at
	}
}

// check turns the release into an answer to "is it older than this round".
func (r Release) check(q question, round int) Check {
	o := origin{r.From, r.At}
	proof := backend.Join(r.Proof, "; ")
	switch {
	case r.AtLeast >= round && !r.partly.IsEmpty():
		return q.unsure("%s; %s", proof, r.partly)
	case r.AtLeast >= round:
		return q.no(o, "%s", proof)
	case r.Below > 0 && r.Below <= round:
		return q.yes(o, "%s", proof)
	case round == 5 && r.Unmitigated:
		return q.yes(o, "%s", proof)
	case len(r.Declared) > 0:
		return q.unsure("declared: %s; its round is not known", backend.Join(r.Declared, ", "))
	case len(r.Proof) > 0:
		return q.unsure("%s", proof)
	}
	return q.unsure("nothing that was read tells releases apart")
}
