package rules

import (
	"sandglass/alerts"
	"sandglass/backend"
)

// CapabilityOptions are the keys of `[rules.capability-mismatch]`.
type CapabilityOptions struct {
	Common
}

func capabilityDefaults() *CapabilityOptions {
	return &CapabilityOptions{Common: common(alerts.SeverityCritical)}
}

func (o *CapabilityOptions) build() (alerts.Rule, error) {
	r := &capabilityMismatch{base: o.base("capability-mismatch", backend.KindWorkspace, backend.InputRegistry, backend.InputRegistry)}
	r.meta.Inhibits = sameCause("failed-too-long", "hammered-and-failing")
	return r, nil
}

type capabilityMismatch struct {
	base
	remembers[failureRun]
}

func (r *capabilityMismatch) Judge(env *alerts.Env, e backend.Entity, known alerts.Note) alerts.Verdict {
	w, ok := e.(*backend.Workspace)
	if !ok {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	return judgeNamed(env, w, known, func(n alerts.Naming) bool { return n&alerts.NamesConfiguration != 0 && n&alerts.NamesSchema == 0 }, "1")
}

func (r *capabilityMismatch) Evidence(env *alerts.Env, a *alerts.Alert, oldest backend.Entity) []alerts.Evidence {
	w, _ := oldest.(*backend.Workspace)
	return append(workspaceEvidence(env, a, w), r.what(env, w)...)
}

// what says which part of the configuration the error names.
func (r *capabilityMismatch) what(env *alerts.Env, w *backend.Workspace) []alerts.Evidence {
	if w == nil {
		return nil
	}
	n := env.NamesOf(w)
	for _, x := range []struct {
		naming alerts.Naming
		text   backend.Literal
	}{
		{alerts.NamesSnapshot, "it names snapshots: they need a backup bucket that is bound (backupR2Binding) and a provider that makes them"},
		{alerts.NamesSQLite, "it names SQLite storage: the Durable Object's class must be listed in new_sqlite_classes of a migration"},
		{alerts.NamesPOSIX, "it names the host: local shells run on POSIX hosts only"},
		{alerts.NamesSharing, "it names sharing: since round 4 an explicit sandbox id needs shareAcrossSessions: true, so remove the id or set the flag after a review of who shares it"},
		{alerts.NamesRuntime, "it names the runtime: workspaces run in the JS runtime and in Durable Objects only"},
		{alerts.NamesModule, "it names a capability or module that the provider does not have"},
		{alerts.NamesBinding, "it names a binding that the deployment does not have"},
	} {
		if n&x.naming != 0 {
			return []alerts.Evidence{{Text: backend.Text(x.text), Source: w.Key.Source, At: env.Display(env.ReadAt(&w.Meta))}}
		}
	}
	return nil
}

// judgeNamed is true of a workspace that has failed with an error of a certain sort, until it succeeds or fails with
// another; an open under way in between changes nothing.
func judgeNamed(env *alerts.Env, w *backend.Workspace, known alerts.Note, sort func(alerts.Naming) bool, runbook string) alerts.Verdict {
	note := alerts.NoteAs[failureRun](known)
	if w.Unreadable {
		return alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("its registry cannot be read any more"), Note: known}
	}
	f := factsOf(env, w)
	return whileUsed(env, w, f, func() alerts.Verdict { return nameFailure(env, w, f, note, sort, runbook) })
}

func nameFailure(env *alerts.Env, w *backend.Workspace, f facts, note *failureRun, sort func(alerts.Naming) bool, runbook string) alerts.Verdict {
	if note != nil && f.advanced(note) {
		note = nil
	}
	said := !w.LastError.IsEmpty()
	switch {
	case w.Class == backend.ClassFailed && said && sort(env.NamesOf(w)):
	case note == nil, w.Class == backend.ClassFailed && said, w.Class == backend.ClassHealthy:
		return alerts.Verdict{Outcome: alerts.False}
	}
	n, cause, fp := causeOf(env, w, note, withLogFailures(env, w, f, note, noted(f, note)), "failed without a lastError")
	v := alerts.Verdict{
		Outcome: alerts.True, Cause: cause, Fingerprint: fp, Runbook: runbook, Note: alerts.NoteOf(n), Detail: detail(w),
		Bounds: alerts.Bounds{Earliest: n.earliest(), Latest: n.proved()},
	}
	describe(env, w, &v)
	return v
}
