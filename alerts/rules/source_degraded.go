package rules

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// DegradedOptions are the keys of `[rules.source-degraded]`.
type DegradedOptions struct{ Common }

func degradedDefaults() *DegradedOptions {
	return &DegradedOptions{Common: common(alerts.SeverityWarning)}
}

func (o *DegradedOptions) build() (alerts.Rule, error) {
	return &sourceDegraded{base: o.base("source-degraded", "", "")}, nil
}

// reopenWithin is how long the empty registries of a framework that was restarted may stay empty: its agents open their
// workspaces again when they need them.
const reopenWithin = time.Minute

// degradedNote is since when so many sessions of a source cannot be read, and since when some left its list whose end nothing
// shows, also by the runs before this one.
type degradedNote struct {
	Since    time.Time `json:"since,omitzero"`
	Unlisted time.Time `json:"unlisted,omitzero"`
	Failing  time.Time `json:"failing,omitzero"` // since when a service of it does not answer
}

// sourceDegraded tells of sources that answer and do not tell how their part of the fleet is.
type sourceDegraded struct {
	base
	remembers[degradedNote]
}

func (r *sourceDegraded) JudgeFleet(env *alerts.Env, known alerts.Known) []alerts.Found {
	var out []alerts.Found
	for _, h := range env.State.Sources {
		v := r.judge(env, h, known.Note(h.Key))
		if v.Outcome == alerts.True || known.Finding(h.Key) != "" || !v.Note.IsZero() {
			out = append(out, alerts.Found{Key: h.Key, Verdict: v})
		}
	}
	return out
}

// partUnread is also what tells the alert of a source of which nothing is read from others: a part grows and shrinks.
const partUnread = "part of its sessions cannot be read"

func (r *sourceDegraded) judge(env *alerts.Env, h *fleet.SourceHealth, note alerts.Note) alerts.Verdict {
	if o, why, gap := env.Gap(h.Key.Source); gap {
		return alerts.Verdict{Outcome: o, Why: why, Note: note}
	}
	lost, of, since := env.LostSince(h.Key.Source)
	emptied, emptySince := env.EmptiedSince(h.Key.Source)
	unseen := h.Unfinished && h.Status == fleet.StatusDegraded
	if h.Held == nil && !since && len(emptied) == 0 && h.UnreadSince.IsZero() && h.UnlistedSince.IsZero() && h.FailingSince.IsZero() && !unseen {
		return alerts.Verdict{Outcome: alerts.False}
	}
	v := alerts.Verdict{Outcome: alerts.True, Source: h.Key.Source, Runbook: "source", Confirmed: env.Ours(h.LastOK)}
	tell := func(format backend.Literal, args ...any) {
		v.Evidence = append(v.Evidence, alerts.Evidence{Text: backend.Textf(format, args...), Source: h.Key.Source, At: h.LastOK})
	}
	switch {
	case h.Held != nil:
		r.held(env, h, &v)
	case since:
		v.Cause = backend.Textf("its list lost half or more of its %s at once", backend.Clean(env.ListKind(h.Key.Source).Spec().Plural, 40))
		tell("its list lost at least %d of %d %s since the last run, and where they went is not known", lost, of, backend.Clean(env.ListKind(h.Key.Source).Spec().Plural, 40))
	case len(emptied) > 0:
		v.Cause = (&fleet.Held{Kind: backend.KindWorkspace}).Cause()
		r.reopen(env, emptySince, &v)
		tell("the registries of %s that run are empty since the last run: %s", plural(len(emptied), "session"), backend.FirstIDs(emptied))
	case !h.UnlistedSince.IsZero():
		r.unlisted(env, h, note, &v)
	case h.UnreadSince.IsZero() && !h.FailingSince.IsZero() && !unseen:
		r.mute(env, h, note, &v)
	case h.UnreadSince.IsZero():
		v.Cause = backend.Text("a part of it is not read")
		tell("%s", h.Error)
	default:
		r.unread(env, h, note, &v)
	}
	for _, x := range h.Held {
		what := backend.Text("its list")
		if x.Kind == backend.KindWorkspace {
			what = backend.Text("registries of running sessions")
		}
		tell("%s lost %d of %d %s at %s", what, x.Lost, x.Of, backend.Clean(x.Kind.Spec().Plural, 40), env.Clock(env.Ours(x.Since)))
		tell("%s held until something says that %s ended: %s", x.Word(x.Count, "is", "are"), theyOrIt(x.Count), firstOf(x.Named, x.Count))
	}
	for _, text := range backend.UnlistedTexts(h.Unlisted) {
		tell("%s", text)
	}
	if !h.UnreadSince.IsZero() {
		tell("%d of %s that were asked cannot be read", h.UnreadSessions(), plural(h.Asked, "session"))
		for _, u := range h.Unread {
			tell("%s", u.Text())
		}
	}
	v.Fingerprint = alerts.Fingerprint(v.Cause.String())
	if v.Cause.String() == partUnread && h.UnreadSessions() >= h.Asked {
		v.Cause = backend.Text("its sessions cannot be read")
	}
	v.Detail = v.Cause
	return v
}

// held tells what the source's answers lost. Registries that lost workspaces may be those of a framework that was restarted.
func (r *sourceDegraded) held(env *alerts.Env, h *fleet.SourceHealth, v *alerts.Verdict) {
	first := h.Held[0]
	for _, x := range h.Held {
		if first.Kind == backend.KindWorkspace && x.Kind != backend.KindWorkspace {
			first = x // a list that lost its sessions says more
		}
	}
	v.Cause, v.Bounds.Latest = first.Cause(), env.Ours(first.Since)
	if first.Kind == backend.KindWorkspace {
		r.reopen(env, v.Bounds.Latest, v)
	}
}

// reopen leaves a framework that was restarted the time to open its workspaces again.
func (r *sourceDegraded) reopen(env *alerts.Env, since time.Time, v *alerts.Verdict) {
	v.Bounds.Latest = since
	if at := since.Add(reopenWithin); env.Now.Before(at) {
		v.Suspected, v.Recheck = true, at
		v.Why = backend.Textf("fires when they are not opened again within %s", text(reopenWithin))
	}
}

// unread tells of sessions that cannot be read, since the run that found so first.
func (r *sourceDegraded) unread(env *alerts.Env, h *fleet.SourceHealth, note alerts.Note, v *alerts.Verdict) {
	v.Cause = backend.Text(partUnread)
	n := goesOn(note, h)
	before := r.since(&n.Since, env.Ours(h.UnreadSince), v)
	v.Note = alerts.NoteOf(&n)
	if !before && !h.LastOK.After(h.UnreadSince) {
		v.Suspected, v.Why = true, backend.Text("fires when the next poll cannot read them either")
	}
}

// failingTries is how many tries in a row a service of a source fails before that is told, as source-down's default for a whole source.
const failingTries = 3

// mute tells of a service of the source that does not answer, since the run that found so first.
func (r *sourceDegraded) mute(env *alerts.Env, h *fleet.SourceHealth, note alerts.Note, v *alerts.Verdict) {
	v.Cause = h.Failing.What
	n := goesOn(note, h)
	before := r.since(&n.Failing, env.Ours(h.FailingSince), v)
	v.Note = alerts.NoteOf(&n)
	v.Evidence = append(v.Evidence, alerts.Evidence{Text: backend.Textf("%s in a row failed, the newest: %s", plural(h.Failing.Tries, "try"), h.Failing.Why),
		Value: backend.Known(float64(h.Failing.Tries)), Unit: "tries", Source: h.Key.Source, At: h.LastOK})
	if !before && h.Failing.Tries < failingTries {
		v.Suspected, v.Why = true, backend.Textf("fires after %d tries in a row that fail, %d so far", failingTries, h.Failing.Tries)
	}
}

// unlisted tells of sessions that left the list though nothing says that they ended. A list may be a moment ahead of the
// sessions' own routes.
func (r *sourceDegraded) unlisted(env *alerts.Env, h *fleet.SourceHealth, note alerts.Note, v *alerts.Verdict) {
	v.Cause = backend.Text("sessions left its list, and nothing says that they ended")
	n := goesOn(note, h)
	before := r.since(&n.Unlisted, env.Ours(h.UnlistedSince), v)
	v.Note = alerts.NoteOf(&n)
	if !before && !h.Unfinished && !h.Unlists() {
		v.Suspected, v.Why = true, backend.Text("fires when the next poll still shows no end of them")
	}
}

// goesOn is what a note says of what is still so.
func goesOn(note alerts.Note, h *fleet.SourceHealth) (n degradedNote) {
	if was := alerts.NoteAs[degradedNote](note); was != nil {
		n = *was
	}
	if h.UnreadSince.IsZero() {
		n.Since = time.Time{}
	}
	if h.UnlistedSince.IsZero() {
		n.Unlisted = time.Time{}
	}
	if h.FailingSince.IsZero() {
		n.Failing = time.Time{}
	}
	return n
}

// since keeps when something was found first, and reports whether a reading of a run before found it.
func (r *sourceDegraded) since(first *time.Time, now time.Time, v *alerts.Verdict) bool {
	before := !first.IsZero() && first.Before(now)
	if first.IsZero() {
		*first = now
	}
	v.Bounds.Latest = *first
	return before
}

// firstOf lists names, and says how many more there are.
func firstOf(names []backend.Safe, all int) backend.Safe {
	text := backend.Join(names, ", ")
	if more := all - len(names); more > 0 {
		text = backend.Textf("%s and %d more", text, more)
	}
	return text
}

func theyOrIt(n int) backend.Safe {
	if n == 1 {
		return backend.Text("it")
	}
	return backend.Text("they")
}
