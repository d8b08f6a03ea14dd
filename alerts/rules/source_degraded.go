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

// degradedNote is since when so many sessions of a source cannot be read, also by the runs before this one.
type degradedNote struct {
	Since time.Time `json:"since,omitzero"`
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

func (r *sourceDegraded) judge(env *alerts.Env, h *fleet.SourceHealth, note alerts.Note) alerts.Verdict {
	if o, why, gap := env.Gap(h.Key.Source); gap {
		return alerts.Verdict{Outcome: o, Why: why, Note: note}
	}
	lost, of, since := env.LostSince(h.Key.Source)
	emptied, emptySince := env.EmptiedSince(h.Key.Source)
	unseen := h.Unfinished && h.Status == fleet.StatusDegraded
	if h.Held == nil && !since && len(emptied) == 0 && h.UnreadSince.IsZero() && !unseen {
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
		tell("the registries of %s that run are empty since the last run: %s", plural(len(emptied), "session"), firstIDs(emptied))
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
	if !h.UnreadSince.IsZero() {
		tell("%d of %s cannot be read", h.UnreadSessions(), plural(h.Asked, "session"))
		for _, u := range h.Unread {
			tell("%s", u.Text())
		}
	}
	v.Fingerprint, v.Detail = alerts.Fingerprint(v.Cause.String()), v.Cause
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
	v.Cause = backend.Text("part of its sessions cannot be read")
	n, since := alerts.NoteAs[degradedNote](note), env.Ours(h.UnreadSince)
	before := n != nil && n.Since.Before(since)
	if n == nil {
		n = &degradedNote{Since: since}
	}
	v.Note, v.Bounds.Latest = alerts.NoteOf(n), n.Since
	if !before && !h.LastOK.After(h.UnreadSince) {
		v.Suspected, v.Why = true, backend.Text("fires when the next poll cannot read them either")
	}
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

// firstIDs lists the first of some ids.
func firstIDs(ids []backend.ID) backend.Safe {
	var names []backend.Safe
	for _, id := range ids[:min(len(ids), 5)] {
		names = append(names, id.Safe())
	}
	return firstOf(names, len(ids))
}
