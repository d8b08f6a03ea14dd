package rules

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// OrphanOptions are the keys of `[rules.tmpdir-orphaned]`.
type OrphanOptions struct {
	Common
	After backend.Duration `toml:"after" doc:"how long nothing in the tree may have changed"`
}

func orphanDefaults() *OrphanOptions {
	return &OrphanOptions{Common: common(alerts.SeverityWarning), After: backend.Duration(24 * time.Hour)}
}

func (o *OrphanOptions) build() (alerts.Rule, error) {
	r := &tmpdirOrphaned{base: o.base("tmpdir-orphaned", backend.KindTmpdir, backend.InputTmpdirs), after: o.After.Std()}
	r.meta.Needs = [][]backend.Input{{backend.InputTmpdirs}, {backend.InputRegistry, backend.InputSessions}}
	return r, positive("after", o.After)
}

// orphanNote is what is remembered of a directory without an owner.
type orphanNote struct {
	Newest time.Time `json:"last,omitzero"` // when something in it last changed
}

type tmpdirOrphaned struct {
	base
	remembers[orphanNote]
	after time.Duration
}

// orphanRecheck is how often a directory that may be orphaned is compared with the sessions again.
const orphanRecheck = 2 * time.Minute

func (r *tmpdirOrphaned) Judge(env *alerts.Env, e backend.Entity, note alerts.Note) alerts.Verdict {
	t, ok := e.(*backend.Tmpdir)
	if !ok {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	holders, known := t.Holders.Get()
	newest := env.Time(&t.Meta, t.Newest)
	switch {
	case known && len(holders) > 0:
		return alerts.Verdict{Outcome: alerts.False}
	case newest.IsZero():
		return alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("when it last changed is not known"), Note: note}
	}
	ripe := newest.Add(r.after)
	if ripe.After(env.Now) {
		return alerts.Verdict{Outcome: alerts.False, Note: alerts.NoteOf(&orphanNote{Newest: newest}), Recheck: ripe}
	}
	if !known {
		return alerts.Verdict{Outcome: alerts.NoData, Why: backend.Textf("%s could not be read: one of them may use it", plural(t.Unreadable, "process")), Note: note}
	}
	if ref := referredTo(env, t); !ref.IsZero() {
		return alerts.Verdict{Outcome: alerts.False, Note: alerts.NoteOf(&orphanNote{Newest: newest}), Recheck: env.Now.Add(orphanRecheck)}
	}
	cause := backend.Textf("scratch directories below %s have no owner", t.Root)
	v := alerts.Verdict{
		Outcome: alerts.True, Cause: cause, Fingerprint: alerts.Fingerprint(cause.String()), Runbook: "5", Note: alerts.NoteOf(&orphanNote{Newest: newest}),
		Bounds: alerts.Bounds{Earliest: newest, Latest: ripe}, Recheck: env.Now.Add(orphanRecheck), Detail: r.detail(env, t, newest),
	}
	l := env.Live(t.Key.Source)
	switch {
	case !l.Told:
		v.Suspected, v.Why = true, backend.Textf("whether a session still owns it is not known: %s", l.Why)
	case l.Unsure > 0:
		v.Suspected, v.Why = true, backend.Textf("%s may own it, since when it runs is not known", plural(l.Unsure, "session"))
	case !l.Oldest.IsZero() && !l.Oldest.After(newest):
		v.Suspected, v.Why = true, backend.Textf("a session that runs since %s may own it: fires when none is older than its last change", env.Clock(l.Oldest))
	}
	return v
}

func (r *tmpdirOrphaned) detail(env *alerts.Env, t *backend.Tmpdir, newest time.Time) backend.Safe {
	size := "size unknown"
	if n, ok := t.Bytes.Get(); ok {
		size = bytesText(n)
	}
	return backend.Textf("%s, nothing changed since %s", size, env.Clock(newest))
}

// referredTo is the saved reference that names a directory, zero when none does.
func referredTo(env *alerts.Env, t *backend.Tmpdir) backend.ID {
	if t.RawPath.IsZero() {
		return backend.ID{}
	}
	for ref := range env.State.Refs.All() {
		if names(ref.RawOpaque, t.RawPath) || names(ref.Sandbox, t.RawPath) {
			return ref.Key.ID
		}
	}
	return backend.ID{}
}

func (r *tmpdirOrphaned) Evidence(env *alerts.Env, a *alerts.Alert, oldest backend.Entity) []alerts.Evidence {
	t, ok := oldest.(*backend.Tmpdir)
	if !ok {
		return nil
	}
	src, at := t.Key.Source, env.Display(env.ReadAt(&t.Meta))
	total, whole := int64(0), true
	for _, s := range a.Subjects {
		d := env.State.Tmpdirs.Get(s.Key)
		if d == nil {
			continue
		}
		n, known := d.Bytes.Get()
		total += n
		whole = whole && known && !d.Cut
	}
	least := ""
	if !whole || a.Left() > 0 {
		least = "at least "
	}
	out := []alerts.Evidence{{
		Text:  backend.Textf("%s not in use, %s%s in all", plural(a.SubjectCount, "directory"), backend.Clean(least, 20), bytesText(total)),
		Value: backend.Known(float64(a.SubjectCount)), Unit: "directories", Source: src, At: at,
	}, {
		Text: backend.Textf("%s: nothing in it changed since %s", t.Path, env.Clock(env.Time(&t.Meta, t.Newest))), Source: src, At: at,
	}}
	switch l := env.Live(src); {
	case l.Told && l.Running == 0:
		out = append(out, alerts.Evidence{Text: backend.Text("no session runs that could own it"), Source: src, At: at})
	case l.Told && l.Unsure == 0:
		out = append(out, alerts.Evidence{Text: backend.Textf("of %s that run the oldest began at %s", plural(l.Running, "session"), env.Clock(l.Oldest)), Source: src, At: at})
	}
	return out
}
