package rules

import (
	"cmp"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// SandboxOOMOptions are the keys of `[rules.sandbox-oom]`.
type SandboxOOMOptions struct {
	Common
	Recent  backend.Duration `toml:"recent" doc:"how long it stays an alert when it runs again or its session ended"`
	Down    backend.Duration `toml:"down" doc:"how long it stays an alert while it is down"`
	Near    float64          `toml:"near" doc:"share of the memory limit from which it is near (0 to 1)"`
	NearFor backend.Duration `toml:"near_for" doc:"how long it must stay near"`
}

func sandboxOOMDefaults() *SandboxOOMOptions {
	return &SandboxOOMOptions{Common: common(alerts.SeverityWarning), Recent: backend.Duration(time.Hour), Down: backend.Duration(youngTrouble), Near: 0.95, NearFor: backend.Duration(2 * time.Minute)}
}

func (o *SandboxOOMOptions) build() (alerts.Rule, error) {
	r := &sandboxOOM{sandboxTrouble: troubleBase(&o.Common, "sandbox-oom"), recent: o.Recent.Std(), down: o.Down.Std(), near: o.Near, nearFor: o.NearFor.Std()}
	r.meta.Inhibits = []alerts.Inhibition{{Rules: []string{"sandbox-crash-loop"}, Equal: []string{"source"}}}
	return r, cmp.Or(
		positive("recent", o.Recent),
		positive("down", o.Down),
		share("near", o.Near),
	)
}

// sandboxOOMNote is what is remembered of a sandbox's kills and memory.
type sandboxOOMNote struct {
	FirstKill   time.Time `json:"first,omitzero"`
	BeforeFirst time.Time `json:"worked,omitzero"` // when it was not killed yet
	LastKill    time.Time `json:"last,omitzero"`
	Kills       int32     `json:"count,omitempty"` // how many were seen
	NearSince   time.Time `json:"seen,omitzero"`   // since when it is near its limit, without the time in which it was not read
	NearRead    time.Time `json:"near_read,omitzero"`
	Used        int64     `json:"used,omitempty"` // bytes in the newest sample, which may be before the kill
	UsedAt      time.Time `json:"used_at,omitzero"`
}

type sandboxOOM struct {
	sandboxTrouble
	remembers[sandboxOOMNote]
	recent, down, nearFor time.Duration
	near                  float64
}

var killedCause = backend.Text("killed at its memory limit")

func (r *sandboxOOM) Judge(env *alerts.Env, e backend.Entity, known alerts.Note) alerts.Verdict {
	note := alerts.NoteAs[sandboxOOMNote](known)
	b, ok := e.(*backend.Sandbox)
	if !ok || !b.Judged() {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	n := r.noted(env, b, note)
	v := alerts.Verdict{Outcome: alerts.True, Note: alerts.NoteOf(&n), Runbook: "container", Session: b.Session, Provider: b.Provider}
	switch {
	case !n.LastKill.IsZero() && env.Now.Sub(n.LastKill) <= r.lasts(env, b):
		v.Cause, v.Detail = killedCause, r.killed(env, b, &n)
		v.Bounds = alerts.Bounds{Earliest: n.BeforeFirst, Latest: n.FirstKill}
		v.Recheck = earlierOf(recheckOf(env, b.Key), n.LastKill.Add(r.lasts(env, b)+1))
	case r.mayBeOOM(env, b, &n):
		v.Cause, v.Suspected = backend.Text("killed with its memory near the limit"), true
		v.Detail = backend.Textf("exit code 137 at %s; at its most it used %s of %s shortly before", env.Clock(r.ended(env, b)), bytesText(n.Used), bytesText(b.MemLimit.Or(0)))
		v.Why = backend.Text("the platform does not say why; a kill of a full sandbox for another reason looks the same")
		v.Bounds, v.Recheck = alerts.Bounds{Earliest: n.UsedAt, Latest: r.ended(env, b)}, earlierOf(recheckOf(env, b.Key), r.ended(env, b).Add(r.recent+1))
	case b.Class.Ended() && b.ExitCode.Or(0) == killedExit && !b.OOMKilled.IsKnown() && env.Now.Sub(r.ended(env, b)) <= r.recent:
		return alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("exit code 137 says that it was killed; whether for memory the engine does not tell"), Note: v.Note}
	case !n.NearSince.IsZero():
		v.Cause, v.Detail = backend.Text("near its memory limit"), nearText(b)
		v.Bounds = alerts.Bounds{Earliest: env.Time(&b.Meta, b.StartedAt), Latest: n.NearSince}
		u, sampled := b.Usage.Get()
		if _, known := u.Mem.Get(); !sampled || !known {
			return alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("its memory was not sampled"), Note: v.Note}
		}
		if env.Ours(u.At).Sub(n.NearSince) < r.nearFor {
			v.Suspected, v.Why = true, backend.Textf("fires when a sample after %s is as near", env.Clock(n.NearSince.Add(r.nearFor)))
		}
	default:
		v = alerts.Verdict{Outcome: alerts.False}
		if !n.LastKill.IsZero() && env.Now.Sub(n.LastKill) <= 24*time.Hour {
			v.Note, v.Recheck = alerts.NoteOf(&n), n.LastKill.Add(24*time.Hour)
		} else if n.Used > 0 {
			v.Note = alerts.NoteOf(&n)
		}
		return v
	}
	v.Fingerprint = alerts.Fingerprint(v.Cause.String())
	return v
}

// fullBefore is how long before a kill the memory of a sandbox is evidence of why.
const fullBefore = 10 * time.Minute

// mayBeOOM reports whether a sandbox was killed and was nearly full shortly before, on a platform that does not tell why.
func (r *sandboxOOM) mayBeOOM(env *alerts.Env, b *backend.Sandbox, n *sandboxOOMNote) bool {
	ended, limit := r.ended(env, b), b.MemLimit.Or(0)
	return b.Class.Ended() && b.ExitCode.Or(0) == killedExit && !b.OOMKilled.IsKnown() && !ended.IsZero() && env.Now.Sub(ended) <= r.recent &&
		limit > 0 && atShare(float64(n.Used), r.near, float64(limit)) && !n.UsedAt.After(ended) && ended.Sub(n.UsedAt) <= fullBefore
}

// lasts is how long after a kill it is an alert: longest while the sandbox is down and its session is not known to be over.
func (r *sandboxOOM) lasts(env *alerts.Env, b *backend.Sandbox) time.Duration {
	if !b.Class.Ended() || b.Class == backend.SandboxRestarting {
		return r.recent
	}
	if r.sessionOver(env, b) {
		return r.recent
	}
	return max(r.recent, r.down)
}

// sessionOver reports whether a list says that the sandbox's session does not run.
func (r *sandboxOOM) sessionOver(env *alerts.Env, b *backend.Sandbox) bool {
	for _, h := range env.HomesOf(b.Key.Source) {
		if s := env.State.Session(backend.Key{Kind: backend.KindSession, Source: h.Key.Source, ID: b.Session}); s != nil && !alerts.Runs(s) {
			return true
		}
	}
	return false
}

// killedExit is the exit code of a process that SIGKILL ended: 128 and the signal's number.
const killedExit = 137

func (r *sandboxOOM) noted(env *alerts.Env, b *backend.Sandbox, note *sandboxOOMNote) sandboxOOMNote {
	var n sandboxOOMNote
	if note != nil {
		n = *note
	}
	at := r.ended(env, b)
	for i := range env.State.Events { // a restart may follow so soon that no reading shows the flag
		if x := &env.State.Events[i]; x.Subject == b.Key && x.Name == "oom" {
			if t := env.Ours(x.At); t.After(at) || at.IsZero() {
				at = t
			}
			killedAt(&n, at, at)
		}
	}
	for x := range env.State.Windows.All(backend.MetricLimitKills) { // as the kernel's log or the engine told
		if x.Sandbox != b.Key.ID {
			continue
		}
		for t, kills := range env.State.Windows.Counts(x) {
			if kills > 0 {
				killedAt(&n, env.Ours(t), env.Ours(t))
			}
		}
	}
	if b.OOMKilled.Or(false) {
		since := at
		if at.IsZero() { // when it ended is not known: in its newest run, and by now
			at, since = env.ReadAt(&b.Meta), env.Time(&b.Meta, b.StartedAt)
			if !n.LastKill.IsZero() {
				at = n.LastKill
			}
		}
		killedAt(&n, since, at)
	}
	u, ok := b.Usage.Get()
	used, ok2 := u.Mem.Get()
	limit, ok3 := u.MemLimit.Get()
	if ok && ok2 && ok3 && 2*used >= limit { // a sandbox that uses little needs no note
		n.Used, n.UsedAt = used, env.Ours(u.At)
	}
	switch {
	case b.Class != backend.SandboxRunning:
		n.NearSince, n.NearRead = time.Time{}, time.Time{}
	case !ok || !ok2 || !ok3 || u.Over > 0: // no sample disproves nothing; whether the most of a span has the page cache in it, nobody tells
	case limit > 0 && atShare(float64(used), r.near, float64(limit)):
		n.NearSince, n.NearRead = watchedSince(env, b.Key.Source, n.NearSince, n.NearRead, env.Ours(u.At))
	default:
		n.NearSince, n.NearRead = time.Time{}, time.Time{}
	}
	return n
}

// killedAt takes one kill into the note, once: it was between since and at.
func killedAt(n *sandboxOOMNote, since, at time.Time) {
	if n.LastKill.IsZero() {
		n.BeforeFirst, n.FirstKill = since, at
	}
	if at.Sub(n.LastKill) > 5*time.Second { // the event and the reading tell of the same kill
		n.LastKill = at
		n.Kills++
	}
}

// ended is when the container's newest run ended, zero when that is not known.
func (r *sandboxOOM) ended(env *alerts.Env, b *backend.Sandbox) time.Time {
	return env.Time(&b.Meta, b.FinishedAt)
}

func nearText(b *backend.Sandbox) backend.Safe {
	u, _ := b.Usage.Get()
	return backend.Textf("%s of its limit of %s", bytesText(u.Mem.Or(0)), bytesText(u.MemLimit.Or(0)))
}

func (r *sandboxOOM) killed(env *alerts.Env, b *backend.Sandbox, n *sandboxOOMNote) backend.Safe {
	after := backend.Text("is down")
	switch {
	case env.State.Sandbox(b.Key) == nil:
		after = backend.Text("was removed")
	case b.Class == backend.SandboxRunning:
		after = backend.Text("runs again")
	}
	limit, used := backend.Text(""), backend.Text("")
	if x, ok := b.MemLimit.Get(); ok {
		limit = backend.Textf(" of %s", limitText(x))
	}
	if n.Used > 0 && !n.UsedAt.After(n.LastKill) {
		used = backend.Textf("; it used %s at %s", bytesText(n.Used), env.Clock(n.UsedAt))
	}
	if n.Kills > 1 {
		return backend.Textf("killed at its memory limit%s %d times, the last at %s%s; it %s", limit, n.Kills, env.Clock(n.LastKill), used, after)
	}
	return backend.Textf("killed at its memory limit%s at %s%s; it %s", limit, env.Clock(n.LastKill), used, after)
}
