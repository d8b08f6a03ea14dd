package rules

import (
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

// sourceDegraded tells of sources that answer and do not tell how their part of the fleet is.
type sourceDegraded struct{ base }

func (r *sourceDegraded) JudgeFleet(env *alerts.Env, known alerts.Known) []alerts.Found {
	var out []alerts.Found
	for _, h := range env.State.Sources {
		v := r.judge(env, h)
		if v.Outcome == alerts.True || known.Finding(h.Key) != "" {
			out = append(out, alerts.Found{Key: h.Key, Verdict: v})
		}
	}
	return out
}

func (r *sourceDegraded) judge(env *alerts.Env, h *fleet.SourceHealth) alerts.Verdict {
	if o, why, gap := env.Gap(h.Key.Source); gap {
		return alerts.Verdict{Outcome: o, Why: why}
	}
	lost, of, since := env.LostSessions(h.Key.Source)
	unseen := h.Unfinished && h.Status == fleet.StatusDegraded
	if h.Held == nil && !since && h.UnreadSince.IsZero() && !unseen {
		return alerts.Verdict{Outcome: alerts.False}
	}
	v := alerts.Verdict{Outcome: alerts.True, Source: h.Key.Source, Runbook: "source", Confirmed: env.Ours(h.LastOK)}
	tell := func(format backend.Literal, args ...any) {
		v.Evidence = append(v.Evidence, alerts.Evidence{Text: backend.Textf(format, args...), Source: h.Key.Source, At: h.LastOK})
	}
	switch {
	case h.Held != nil:
		v.Cause = backend.Text("its list lost half or more of its sessions at once")
		v.Bounds.Latest = env.Ours(h.Held.Since)
		tell("its list lost %d of %d sessions at %s", h.Held.Lost, h.Held.Of, env.Clock(env.Ours(h.Held.Since)))
		tell("%s are held until something says that they ended: %s", plural(h.Held.Count, "session"), firstOf(h.Held.Named, h.Held.Count))
	case since:
		v.Cause = backend.Text("its list lost half or more of its sessions at once")
		tell("its list lost at least %d of %d sessions since the last run", lost, of)
	case h.UnreadSince.IsZero():
		v.Cause = backend.Text("a part of it is not read")
		tell("%s", h.Error)
	default:
		v.Cause = backend.Text("part of its sessions cannot be read")
		v.Bounds.Latest = env.Ours(h.UnreadSince)
		if !h.LastOK.After(h.UnreadSince) {
			v.Suspected, v.Why = true, backend.Text("fires when the next poll cannot read them either")
		}
	}
	if !h.UnreadSince.IsZero() {
		tell("%d of %s cannot be read", h.UnreadSessions(), plural(h.Asked, "session"))
		for _, u := range h.Unread {
			tell("%s %s, for example %s", plural(u.Sessions, "session"), kindWords(u.Kind), u.Example)
		}
	}
	v.Fingerprint, v.Detail = alerts.Fingerprint(v.Cause.String()), v.Cause
	return v
}

// firstOf lists names, and says how many more there are.
func firstOf(names []backend.Safe, all int) backend.Safe {
	text := backend.Join(names, ", ")
	if more := all - len(names); more > 0 {
		text = backend.Textf("%s and %d more", text, more)
	}
	return text
}

// kindWords says of a kind of error what happened to what was asked.
func kindWords(k backend.ErrorKind) backend.Safe {
	switch k {
	case backend.ErrTimeout:
		return backend.Text("did not answer in time (timeout)")
	case backend.ErrUnauthorised:
		return backend.Text("refused the credential (unauthorised)")
	case backend.ErrInvalid:
		return backend.Text("answered what cannot be read (invalid)")
	case backend.ErrThrottled:
		return backend.Text("refused for load (throttled)")
	case backend.ErrUnreachable:
		return backend.Text("failed (unreachable, or a server error)")
	case backend.ErrGone, backend.ErrAbsent:
	}
	return backend.Textf("failed (%s)", k)
}
