package rules

import (
	"slices"
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// InterruptedOptions are the keys of `[rules.snapshot-interrupted]`.
type InterruptedOptions struct{ Common }

func interruptedDefaults() *InterruptedOptions {
	return &InterruptedOptions{common(alerts.SeverityWarning)}
}

func (o *InterruptedOptions) build() (alerts.Rule, error) {
	return &snapshotInterrupted{dueBase(&o.Common, "snapshot-interrupted")}, nil
}

// snapshotInterrupted is about what an agent's SDK left behind in a sandbox while it saved or restored the files of a session. The
// SDK puts them in an archive in /tmp, removes it then, and detaches drives meanwhile.
type snapshotInterrupted struct{ cloudDue }

// Judge looks at what a probe read: nothing is asked for it.
func (r *snapshotInterrupted) Judge(env *alerts.Env, e backend.Entity, _ alerts.Note) alerts.Verdict {
	b, ok := e.(*backend.Sandbox)
	if !ok || !b.Judged() || !onPlatform(b) {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	x, read := b.Inside()
	if !read || b.Class.Ended() || b.Class == backend.SandboxRemoving {
		return alerts.Verdict{Outcome: alerts.False}
	}
	left := leftArchives(env, b, x)
	if len(left) > 0 {
		return r.left(env, b, x, left)
	}
	if drives := env.State.DrivesLost(b, x); len(drives) > 0 {
		if under := env.State.Saving(b, x); !under.IsEmpty() {
			return alerts.Verdict{Outcome: alerts.NoData, Why: under}
		}
		says := backend.Text("a drive that its saved state declares is not mounted")
		v := r.due(env, b, says.String(), says, env.Ours(x.At))
		v.Session, v.Confirmed = env.State.SessionOn(b), env.Ours(x.At)
		v.Detail = notMounted(drives)
		return v
	}
	if !x.Read(backend.PartArchives) {
		return alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("its /tmp could not be read by the newest probe")}
	}
	return alerts.Verdict{Outcome: alerts.False}
}

// Blind says where no probe read /tmp yet.
func (r *snapshotInterrupted) Blind(st *fleet.State, h *fleet.SourceHealth) (backend.Safe, bool) {
	return notProbed(st, h, backend.PartArchives, "/tmp")
}

// notProbed says of a source whose sandboxes only a probe looks into that none has read a part of one. A probe is never made by itself: it
// wakes a sandbox, and is billed.
func notProbed(st *fleet.State, h *fleet.SourceHealth, part, what backend.Literal) (backend.Safe, bool) {
	up := 0
	for b := range st.Sandboxes.All() {
		if b.Key.Source != h.Key.Source || h.Kind != "blaxel" || b.Class.Ended() {
			continue
		}
		if x, read := b.Inside(); read && x.Read(part) {
			return backend.Safe{}, false
		}
		up++
	}
	return backend.Textf("no probe has read %s of a sandbox of %s that has not ended: a probe of one does, and it wakes the sandbox, which is billed", backend.Text(what), backend.Clean(h.Key.Source, 80)), up > 0
}

// left is the verdict about archives that a probe found.
func (r *snapshotInterrupted) left(env *alerts.Env, b *backend.Sandbox, x *backend.Inside, left []backend.SandboxArchive) alerts.Verdict {
	own := slices.DeleteFunc(slices.Clone(left), func(a backend.SandboxArchive) bool { return foreign(env, b, &a) })
	if len(own) > 0 {
		left = own
	}
	worst := left[0]
	if i := slices.IndexFunc(left, func(a backend.SandboxArchive) bool { return a.Restore }); i >= 0 {
		worst = left[i]
	}
	says := backend.Text("a save of its files was cut off: the archive is still in /tmp")
	if worst.Restore {
		says = backend.Text("a restore of its files was cut off: part of them may be missing")
	}
	if len(own) == 0 {
		says = backend.Text("an archive of another session's save or restore is in its /tmp")
	}
	v := r.due(env, b, says.String(), says, env.Ours(worst.ChangedAt))
	if len(own) == 0 {
		v.Severity = alerts.SeverityInfo
	}
	v.Session, v.Confirmed = archiveSession(env, b, &worst), env.Ours(x.At)
	parts := make([]backend.Safe, len(left))
	for i := range left {
		parts[i] = toldArchive(env, b, x, &left[i])
	}
	if drives := env.State.DrivesLost(b, x); len(drives) > 0 && env.State.Saving(b, x).IsEmpty() {
		parts = append(parts, notMounted(drives))
	}
	v.Detail = backend.Join(parts, "; ")
	return v
}

//go:noinline
func notMounted(drives []backend.Safe) backend.Safe {
	return backend.Textf("not mounted: %s", backend.Join(drives, ", "))
}

// leftArchives are those that were cut off.
func leftArchives(env *alerts.Env, b *backend.Sandbox, x *backend.Inside) (left []backend.SandboxArchive) {
	for _, a := range x.Archives {
		if env.State.ArchiveLeft(b, x, &a) {
			left = append(left, a)
		}
	}
	return left
}

// foreign reports whether an archive is of another session than the one that is known to be on its sandbox: its name tells.
func foreign(env *alerts.Env, b *backend.Sandbox, a *backend.SandboxArchive) bool {
	id, digits := strings.ReplaceAll(env.State.SessionOn(b).Raw(), "-", ""), strings.ReplaceAll(a.Session.String(), "-", "")
	const hex = "0123456789abcdef"
	return len(id) == 32 && strings.Trim(id, hex) == "" && digits != "" && !strings.HasPrefix(id, digits)
}

// stateOf is what the SDK saved of the session on a sandbox; nil: nothing is known.
func stateOf(env *alerts.Env, b *backend.Sandbox) *backend.AgentState {
	if r := env.State.StateOn(b); r != nil {
		return r.Agent
	}
	return nil
}

// archiveSession is the session that the digits in an archive's name name, else that of its sandbox.
func archiveSession(env *alerts.Env, b *backend.Sandbox, a *backend.SandboxArchive) backend.ID {
	if id := env.State.SessionOfDigits(a.Session.String()); !id.IsZero() {
		return id
	}
	return env.State.SessionOn(b)
}

// toldArchive says what is known of an archive.
func toldArchive(env *alerts.Env, b *backend.Sandbox, x *backend.Inside, a *backend.SandboxArchive) backend.Safe {
	text := backend.Textf("%s, %s, not written since %s", a.Path, backend.Clean(backend.Bytes(a.Size), 40), env.Clock(env.Ours(a.ChangedAt)))
	if id := env.State.SessionOfDigits(a.Session.String()); !id.IsZero() {
		text = backend.Textf("%s, of session %s", text, id.Safe())
	} else {
		text = backend.Textf("%s, of the session that begins with %s", text, a.Session)
	}
	for _, p := range x.Processes {
		if p.Class == backend.WorkRunning && strings.Contains(p.Command.String(), a.Path.String()) {
			return backend.Textf("%s; process %s still uses it", text, p.PID)
		}
	}
	return text
}

// Evidence is what the probe read, and what the agent's log says of the same session.
func (r *snapshotInterrupted) Evidence(env *alerts.Env, a *alerts.Alert, oldest backend.Entity) []alerts.Evidence {
	b, ok := oldest.(*backend.Sandbox)
	if !ok {
		return nil
	}
	out := r.cloudDue.Evidence(env, a, oldest)
	x, read := b.Inside()
	if !read {
		return append(out, details(env, a)...)
	}
	for _, d := range details(env, a) {
		d.At = x.At
		d.Text = backend.Textf("probe: %s", d.Text)
		out = append(out, d)
	}
	out = append(out, sdkEvidence(env, b, backend.MetricSDKNotice)...)
	session := env.State.SessionOn(b)
	for _, m := range []backend.Metric{backend.MetricPersistFailed, backend.MetricHydrateFailed} {
		for s := range env.State.Windows.All(m) {
			if said := env.Over(s, fleet.WindowSpan); s.Session == session && !session.IsZero() && said.N > 0 {
				out = append(out, alerts.Evidence{Text: backend.Textf("log: %s of %s, newest: %s", plural(int(said.N), "line"), backend.Clean(string(m), 40), backend.Clean(said.Sample.String(), 200)), Source: s.Source, At: newestOf(env, []backend.Series{s})})
			}
		}
	}
	return out
}
