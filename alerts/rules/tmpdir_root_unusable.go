package rules

import (
	"cmp"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// RootOptions are the keys of `[rules.tmpdir-root-unusable]`.
type RootOptions struct {
	Common
	Bytes  backend.Size `toml:"bytes" doc:"a root with this much free space or less is full"`
	Inodes int64        `toml:"inodes" doc:"a root with this many free inodes or fewer is full"`
}

func rootDefaults() *RootOptions {
	return &RootOptions{Common: common(alerts.SeverityCritical), Bytes: 16_000_000, Inodes: 100}
}

func (o *RootOptions) build() (alerts.Rule, error) {
	// A root that cannot be listed is what it looks for: what is known of the host is enough.
	r := &rootUnusable{base: o.base("tmpdir-root-unusable", backend.KindHost, backend.InputTmpdirs, backend.InputTmpdirs, backend.InputHost), bytes: int64(o.Bytes), inodes: o.Inodes}
	return r, cmp.Or(
		refuse(o.Bytes < 0, "bytes", "must be at least 0B"),
		atLeast("inodes", int(o.Inodes), 0),
	)
}

// rootNote is between which moments a root became unusable.
type rootNote struct {
	Seen   time.Time `json:"seen,omitzero"`
	Worked time.Time `json:"worked,omitzero"`
}

type rootUnusable struct {
	base
	remembers[rootNote]
	bytes  int64
	inodes int64
}

func (r *rootUnusable) Judge(env *alerts.Env, e backend.Entity, known alerts.Note) alerts.Verdict {
	note := alerts.NoteAs[rootNote](known)
	h, ok := e.(*backend.Host)
	if !ok || len(h.Roots) == 0 {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	var what, where, dark []backend.Safe
	runbook := "1"
	for i := range h.Roots {
		root := &h.Roots[i]
		why, full, known := r.wrong(root)
		switch {
		case !why.IsEmpty():
			if len(what) == 0 || what[len(what)-1] != why {
				what = append(what, why)
			}
			where = append(where, backend.Textf("%s: %s", root.Path, why))
			if full {
				runbook = "5"
			}
		case !known:
			dark = append(dark, backend.Textf("%s: %s", root.Path, root.Problem))
		}
	}
	if len(what) == 0 {
		if len(dark) > 0 {
			return alerts.Verdict{Outcome: alerts.NoData, Why: backend.Join(dark, "; "), Note: known}
		}
		return alerts.Verdict{Outcome: alerts.False}
	}
	n := note
	if n == nil {
		n = &rootNote{Seen: env.ReadAt(&h.Meta), Worked: r.worked(env, h)}
	}
	v := alerts.Verdict{Outcome: alerts.True, Note: alerts.NoteOf(n), Cause: backend.Join(what, "; "), Detail: backend.Join(where, "; "), Runbook: runbook, Bounds: alerts.Bounds{Earliest: n.Worked, Latest: n.Seen}}
	v.Fingerprint = alerts.Fingerprint(v.Cause.String())
	return v
}

// worked is when a directory was last made below one of the roots that are full or read-only now: then it still could be.
// Other troubles prove nothing, since another user may have made it. Zero: not known of each root.
func (r *rootUnusable) worked(env *alerts.Env, h *backend.Host) time.Time {
	var first time.Time
	for i := range h.Roots {
		root := &h.Roots[i]
		why, full, _ := r.wrong(root)
		if why.IsEmpty() {
			continue
		}
		if !full && !root.ReadOnly.Or(false) {
			return time.Time{}
		}
		var made time.Time
		for t := range env.State.Tmpdirs.Of(backend.KindTmpdir, h.Key.Source, h.Key.ID) {
			if at := env.Time(&t.Meta, t.Born); t.Root == root.Path && !at.After(env.ReadAt(&h.Meta)) {
				made = latestOf(made, at)
			}
		}
		if made.IsZero() {
			return time.Time{}
		}
		if first.IsZero() || made.Before(first) {
			first = made
		}
	}
	return first
}

// wrong says why nothing can be made below a root. known is false when nothing about it could be read.
func (r *rootUnusable) wrong(root *backend.Root) (why backend.Safe, full, known bool) {
	exists, ok := root.Exists.Get()
	switch {
	case ok && !exists:
		return backend.Text("the root does not exist"), false, true
	case root.ReadOnly.Or(false):
		return backend.Text("the file system is read-only"), false, true
	case !root.Writable.Or(true):
		return backend.Text("the agent's user may not write there"), false, true
	case root.BytesFree.IsKnown() && root.BytesFree.Or(0) <= r.bytes:
		return backend.Text("the file system is full"), true, true
	case root.InodesFree.IsKnown() && root.InodesFree.Or(0) <= r.inodes:
		return backend.Text("no inodes are left"), true, true
	}
	return backend.Safe{}, false, ok
}

func (r *rootUnusable) Evidence(env *alerts.Env, _ *alerts.Alert, oldest backend.Entity) []alerts.Evidence {
	h, ok := oldest.(*backend.Host)
	if !ok {
		return nil
	}
	src, at := h.Key.Source, env.Display(env.ReadAt(&h.Meta))
	var out []alerts.Evidence
	for i := range h.Roots {
		if why, _, _ := r.wrong(&h.Roots[i]); !why.IsEmpty() {
			out = append(out, alerts.Evidence{Text: backend.Textf("%s on %s: %s", h.Roots[i].Path, h.Name, why), Source: src, At: at})
			out = append(out, spaceEvidence(&h.Roots[i], src, at)...)
		}
	}
	return out
}
