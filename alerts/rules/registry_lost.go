package rules

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// lostFor is how long a session must answer 404 while its list calls it running: the list may lag.
const lostFor = 2 * time.Minute

// lostRegistryNote is a session that its list calls running and that answers 404.
type lostRegistryNote struct {
	Since time.Time `json:"since,omitzero"`
	Had   bool      `json:"had,omitempty"` // it had a registry, or has references
}

// Judge takes notes of sessions that run by their list and publish no registry. Agents without workspaces do that too, so it
// counts only where there was a registry or a reference.
func (r *registryNotPublished) Judge(env *alerts.Env, e backend.Entity, known alerts.Note) alerts.Verdict {
	s, ok := e.(*backend.Session)
	if !ok || !s.ListedRunning.Or(false) || s.Answer != backend.AnswerIdle && s.Answer != backend.AnswerNoRoute {
		return alerts.Verdict{Outcome: alerts.False}
	}
	n := alerts.NoteAs[lostRegistryNote](known)
	v := alerts.Verdict{Outcome: alerts.False, Note: known}
	had := n != nil && n.Had || hadRegistry(env, s)
	if n == nil || n.Had != had {
		c := lostRegistryNote{Since: env.ReadAt(&s.Meta), Had: had}
		if n != nil {
			c.Since = n.Since
		}
		v.Note = alerts.NoteOf(&c)
	}
	if !had {
		v.Recheck = env.Now.Add(time.Minute) // its workspaces may leave later, and references may be read later
	}
	return v
}

// hadRegistry reports whether a session had workspaces, or has references.
func hadRegistry(env *alerts.Env, s *backend.Session) bool {
	for range env.State.Workspaces.Of(backend.KindWorkspace, s.Key.Source, s.Key.ID) { // read before, and kept since nothing is read
		return true
	}
	return env.HadWorkspaces(s) || hasRefs(env, s)
}

// hasRefs reports whether a source of references has one of a session.
func hasRefs(env *alerts.Env, s *backend.Session) bool {
	for _, h := range env.State.Sources {
		if h.Delivers(backend.InputRefs) && h.ReportsOn(s.Key.Source) {
			for range env.State.Refs.Of(backend.KindRef, h.Key.Source, s.Key.ID) {
				return true
			}
		}
	}
	return false
}

// judgeLost judges a source whose other sessions answer with a registry.
func (r *registryNotPublished) judgeLost(env *alerts.Env, h *fleet.SourceHealth, known alerts.Known) alerts.Verdict {
	var lost []backend.ID
	var since time.Time
	lasts := env.Now.Sub
	if f := known.Finding(h.Key); f != alerts.StateFiring && f != alerts.StateHeld { // what it was seen to last
		lasts = func(since time.Time) time.Duration { return env.Watched(h.Key.Source, since) }
	}
	for k, n := range known.All {
		x := alerts.NoteAs[lostRegistryNote](n)
		if x == nil || k.Kind != backend.KindSession || k.Source != h.Key.Source || lasts(x.Since) < lostFor {
			continue
		}
		if s := env.State.Session(k); !x.Had && (s == nil || !hadRegistry(env, s)) {
			continue
		}
		lost = append(lost, k.ID)
		if since.IsZero() || x.Since.Before(since) {
			since = x.Since
		}
	}
	if len(lost) < r.lost {
		return alerts.Verdict{Outcome: alerts.False}
	}
	running := 0
	for s := range env.State.Sessions.All() {
		if s.Key.Source == h.Key.Source && s.ListedRunning.Or(false) {
			running++
		}
	}
	if !atShare(float64(len(lost)), r.share, float64(running)) {
		return alerts.Verdict{Outcome: alerts.False}
	}
	cause := backend.Text(alerts.RegistriesLost)
	return alerts.Verdict{
		Outcome: alerts.True, Source: h.Key.Source, Cause: cause, Detail: cause, Fingerprint: alerts.Fingerprint("some registries not published"),
		Bounds: alerts.Bounds{Latest: since}, Confirmed: env.Ours(h.LastOK), Listing: sessionsOf(env, h.Key.Source, lost),
		Evidence: []alerts.Evidence{{
			Text:  backend.Textf("%d of %d sessions that the list route calls running had a registry, or have references, and answer 404 now, the first since %s", len(lost), running, env.Clock(since)),
			Value: backend.Known(float64(len(lost))), Unit: "sessions", Source: h.Key.Source, At: env.Display(env.Now),
		}},
	}
}
