package rules

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
)

// ContradictionOptions are the keys of `[rules.contradiction]`.
type ContradictionOptions struct {
	Common
	Settle backend.Duration `toml:"settle" doc:"how long a session or registry must go on as before after its container failed or was removed"`
	Many   int              `toml:"many" doc:"sandboxes of one source with the same fault that are one incident"`
	// What cloud platforms tell of a sandbox.
	UnfinishedResume backend.Duration `toml:"unfinished_resume" doc:"age of a resume that the platform deferred or undid, while nothing proves that the sandbox works"`
	PendingJob       backend.Duration `toml:"pending_job" doc:"how long a job of a cloud sandbox must not begin"`
	RegionMany       int              `toml:"region_many" doc:"sandboxes of one region with the same signal that are an incident of the region"`
	RegionWithin     backend.Duration `toml:"region_within" doc:"within which time these must be found"`
}

func contradictionDefaults() *ContradictionOptions {
	return &ContradictionOptions{Common: common(alerts.SeverityCritical), Settle: backend.Duration(30 * time.Second), Many: 5,
		UnfinishedResume: backend.Duration(time.Minute), PendingJob: backend.Duration(time.Minute), RegionMany: 3, RegionWithin: backend.Duration(5 * time.Minute)}
}

func (o *ContradictionOptions) build() (alerts.Rule, error) {
	r := &contradiction{base: o.base("contradiction", backend.KindSandbox, backend.InputContainers, backend.InputContainers), settle: o.Settle.Std(), many: o.Many,
		unfinished: o.UnfinishedResume.Std(), pendingJob: o.PendingJob.Std(), regionMany: o.RegionMany, regionWithin: o.RegionWithin.Std()}
	return r, cmp.Or(positive("settle", o.Settle), refuse(o.Many < 2, "many", "must be at least 2"), positive("unfinished_resume", o.UnfinishedResume),
		positive("pending_job", o.PendingJob), refuse(o.RegionMany < 2, "region_many", "must be at least 2"), positive("region_within", o.RegionWithin))
}

// contradictionNote is what is remembered of a sandbox that is not what is reported of it.
type contradictionNote struct {
	// Failed are the planes that failed and were not proved to work since, in the order in which they failed.
	Failed []failedPlane `json:"failed,omitempty"`
	// Began is when the first of them was found, Worked when that plane last worked before; both are ours.
	Began     time.Time  `json:"began,omitzero"`
	Worked    time.Time  `json:"worked,omitzero"`
	Good      time.Time  `json:"good,omitzero"` // the newest line before of a command that ran, of the log GoodFrom; that log's
	GoodFrom  string     `json:"good_from,omitempty"`
	Session   backend.ID `json:"session,omitzero"`
	Workspace backend.ID `json:"workspace,omitzero"`
	Fault     string     `json:"fault,omitempty"` // what many sandboxes have in common when they are one incident
	Proved    bool       `json:"proved,omitempty"`
	Sandbox   backend.ID `json:"sandbox,omitzero"` // of a workspace: its container that is gone
	Seen      time.Time  `json:"seen,omitzero"`    // steady: when a workspace was first seen without its container
	Odd       time.Time  `json:"odd,omitzero"`     // steady: since when the platform's events do not fit a resume that went well
	Region    string     `json:"region,omitempty"` // of a cloud platform
	Left      time.Time  `json:"left,omitzero"`    // steady: when nothing of a sandbox of a region failed any more
	Down      string     `json:"down,omitempty"`   // how a container came to run no more, see downTexts
	Onset     time.Time  `json:"onset,omitzero"`   // steady: when it did; of an incident: the onset of its first member
	Last      time.Time  `json:"last,omitzero"`    // of an incident: the onset of its last member
	// Agent is how its agent's lines began, Mend when a fault was proved to be gone.
	Agent *agentOnset `json:"agent,omitempty"`
	Mend  *mend       `json:"mend,omitempty"`
	// Mismatch is when a probe first found versions that do not understand each other, with no command that ran since.
	Mismatch time.Time            `json:"mismatch,omitzero"`
	Calm     time.Time            `json:"calm,omitzero"` // of the probe that found them while no rollout went on
	Full     *saidFull            `json:"full,omitempty"`
	Fails    *fleet.AgentFailures `json:"fails,omitempty"`
}

// failedPlane is the failure of one plane. Its times are ours, as they were read.
type failedPlane struct {
	Plane  backend.Plane       `json:"plane"`
	Kind   backend.FailureKind `json:"kind,omitempty"`
	What   backend.Safe        `json:"what,omitzero"`
	At     time.Time           `json:"at"`             // when it was last found
	First  time.Time           `json:"first,omitzero"` // steady: when it was first read
	Times  int                 `json:"times"`          // how many observations found it
	Former bool                `json:"former,omitempty"`
	Named  bool                `json:"named,omitempty"` // of an agent's lines: a second fact names what they are about
	Ran    bool                `json:"ran,omitempty"`   // a command found it: only another one ends it
	Until  time.Time           `json:"until,omitzero"`  // of what a hub's line said: when it counts no more
}

type contradiction struct {
	base
	remembers[contradictionNote]
	settle time.Duration
	many   int

	unfinished, pendingJob time.Duration
	regionMany             int
	regionWithin           time.Duration
}

// StandsFor lists the lesser alerts about the same sandbox and its workspace.
func (r *contradiction) StandsFor() []string {
	return []string{"sandbox-exited", "sandbox-start-failed", "sandbox-unhealthy", "sandbox-oom", "sandbox-crash-loop", "files-vanished",
		"failed-too-long", "hammered-and-failing", "evicted-sustained", "intermittent-failure", "reset-loop", "ref-mismatch", "wake-failed"}
}

// Behind is the workspace of a subject.
func (r *contradiction) Behind(subject backend.Key, note alerts.Note) (session, workspace backend.ID) {
	if n := alerts.NoteAs[contradictionNote](note); n != nil {
		return n.Session, n.Workspace
	}
	return backend.ID{}, backend.ID{}
}

// GatheredBy are the findings of the incidents that many sandboxes with one fault are, those that say most first.
func (r *contradiction) GatheredBy(subject backend.Key, note alerts.Note, noteOf func(backend.Key) alerts.Note) []backend.Key {
	n := alerts.NoteAs[contradictionNote](note)
	switch {
	case n == nil || n.Fault == "":
		return nil
	case n.Region == "":
		key := incidentKey(subject.Source, n.alike())
		if of, at := alerts.NoteAs[contradictionNote](noteOf(key)), n.onset(); of != nil && (at.Before(of.Onset) || at.After(of.Last)) {
			return nil // it began at another time
		}
		return []backend.Key{key}
	}
	var out []backend.Key
	for _, f := range n.shareable() {
		out = append(out, regionKey(subject.Source, n.Region, f.fault()))
	}
	return out
}

// Judge compares what an engine reports of a sandbox with what was observed of it.
func (r *contradiction) Judge(env *alerts.Env, e backend.Entity, known alerts.Note) alerts.Verdict {
	b, ok := e.(*backend.Sandbox)
	if !ok || !b.Judged() {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	n := contradictionNote{}
	if old := alerts.NoteAs[contradictionNote](known); old != nil {
		n = *old
		n.Failed = slices.Clone(old.Failed)
	}
	n.Session, n.Workspace = b.Session, b.Workspace
	failed := len(n.Failed) > 0
	n.take(b, n.calm(env, b, protocolLines(env, b, observations(b))))
	next := r.signals(env, b, &n)
	if n.Region = b.Region.String(); onWorkers(b) {
		n.Region = "" // where it is placed tells nothing of who serves it
	}
	if len(n.Failed) > 0 {
		n.Left = time.Time{}
	} else if failed && n.Region != "" {
		n.Left = env.Now
	}
	if len(n.Failed) == 0 && n.Fault != faultDown {
		n.Proved, n.Fault, n.Good = false, "", time.Time{}
	}
	for i := range n.Failed {
		if f := &n.Failed[i]; f.First.IsZero() {
			f.First = env.Now
		}
	}
	if len(n.Failed) > 0 {
		if v, is := r.observed(env, b, &n); is {
			v.Recheck = next
			return v
		}
	}
	if v, is := r.answersAfterEnd(env, b, &n); is {
		return v
	}
	if v, is := r.believed(env, b, &n); is {
		return v
	}
	waits, is := r.unusable(env, b, &n)
	if is {
		return waits
	}
	for _, said := range []func(*alerts.Env, *backend.Sandbox, *contradictionNote) (alerts.Verdict, bool){r.diskSaid, r.failsSaid} {
		if v, is := said(env, b, &n); is {
			return v
		}
	}
	v := r.ended(env, b, &n)
	if v.Outcome == alerts.False {
		v.Recheck = latestOf(v.Recheck, latestOf(next, waits.Recheck))
		if !n.Odd.IsZero() || !next.IsZero() || !waits.Recheck.IsZero() || n.Mend != nil || !n.Mismatch.IsZero() || !n.Calm.IsZero() || !n.Left.IsZero() || n.Fails != nil {
			v.Note = alerts.NoteOf(&n)
		}
	}
	return v
}

// reportedLive reports whether a sandbox is reported to be at work: one that sleeps, starts or ended is not expected to answer. Of
// a sandbox of a bridge nobody reports it without operator routes: what was observed in it and what its agent logs count then.
func reportedLive(b *backend.Sandbox) bool {
	return b.Class == backend.SandboxRunning || b.Class == backend.SandboxUnknown && onWorkers(b) && !b.BridgeID.IsZero()
}

// observe brings the failures up to date with what was observed: a newer success of a plane ends its failure. A failure of
// a former life that no command found ends also when a plane that failed alike works now.
func (n *contradictionNote) observe(b *backend.Sandbox) { n.take(b, observations(b)) }

func (n *contradictionNote) take(b *backend.Sandbox, all []backend.Verdict) {
	if gone := goneAt(b); !gone.IsZero() {
		n.Failed = slices.DeleteFunc(n.Failed, func(f failedPlane) bool { return f.At.Before(gone) })
	}
	var mended []backend.FailureKind
	for _, v := range all {
		n.mismatched(&v)
		i := slices.IndexFunc(n.Failed, func(f failedPlane) bool { return f.Plane == v.Plane })
		switch {
		case v.Outcome == backend.OutcomeOK && i >= 0 && v.At.After(n.Failed[i].At):
			mended = append(mended, n.Failed[i].Kind)
			n.Failed = slices.Delete(n.Failed, i, i+1)
		case v.Outcome != backend.OutcomeFailed || v.Past || !counts(&v) || i < 0 && !reportedLive(b):
		case i < 0:
			n.begins(len(n.Failed) == 0, v.First(), v.LastOK)
			n.Failed = append(n.Failed, failedPlane{Plane: v.Plane, Kind: v.Kind, What: v.What, At: v.At, Times: 1, Ran: !v.Passive})
		case v.At.After(n.Failed[i].At):
			f := &n.Failed[i]
			f.Kind, f.What, f.At, f.Former, f.Ran = v.Kind, v.What, v.At, false, f.Ran || !v.Passive
			f.Times++
		}
	}
	if early, late, fails := b.Failing(); fails && b.WorkDirGone() && late.Before(n.Began) { // its checks tell of the time before
		n.Began, n.Worked = late, early
	}
	n.Failed = slices.DeleteFunc(n.Failed, func(f failedPlane) bool { return !f.Ran && b.StartedSince(f.At) && slices.Contains(mended, f.Kind) })
	for i := range n.Failed {
		n.Failed[i].Former = b.StartedSince(n.Failed[i].At)
	}
}

// goneAt is until when what failed in a sandbox is gone with its container: Sandglass ended it, or it ended behind a Worker, where each
// start is on a new disk; zero: nothing shows that.
func goneAt(b *backend.Sandbox) time.Time {
	o, _ := b.Observed.Get()
	at := o.Destroyed()
	if ended, known := b.FinishedAt.Get(); known && onWorkers(b) && b.Class.Ended() && ended.After(at) {
		return ended
	}
	return at
}

// The faults of containers that are not there to be observed.
const (
	faultDown = "down"
	faultGone = "container-gone"
)

// observations are the verdicts on the planes of a sandbox, with what its health check proves.
func observations(b *backend.Sandbox) []backend.Verdict {
	o, _ := b.Observed.Get()
	out := o.Verdicts
	c, known := b.HealthChecks.Get()
	if !known {
		return out
	}
	h := backend.Verdict{Plane: backend.PlaneExec, Passive: true, At: c.Checked, LastOK: c.Passed}
	switch {
	case b.WorkDirGone():
		h.Outcome, h.Kind, h.What = backend.OutcomeFailed, backend.FailWorkDirMissing, backend.Text("its health check cannot begin: its working directory is not there")
	case c.Failed == 0 && c.ExitCode == 0:
		h.Outcome = backend.OutcomeOK
	default:
		return out
	}
	if x, is := o.Of(backend.PlaneExec); is && !x.Past && !x.At.Before(h.At) {
		return out
	}
	return append(slices.DeleteFunc(slices.Clone(out), func(v backend.Verdict) bool { return v.Plane == backend.PlaneExec }), h)
}

// counts reports whether a failed verdict says something about the sandbox: one that sleeps or wakes has not failed, and a
// request that was refused or slowed down says nothing.
func counts(v *backend.Verdict) bool {
	switch v.Kind {
	case backend.FailAsleep, backend.FailWaking, backend.FailThrottled, backend.FailUsageLimit, backend.FailNoCheckpoint, backend.FailResumeRefused:
		return false
	case backend.FailUnauthorised: // of a command or its directory: the sandbox's own user is refused
		return v.Plane != backend.PlaneControl
	case backend.FailGone:
		return true
	case "", backend.FailWorkDirMissing, backend.FailWorkDirDangling, backend.FailWorkDirNoDir, backend.FailMountUnlinked, backend.FailMountGone,
		backend.FailControl5xx, backend.FailExecStuckQueued, backend.FailExecTimeout, backend.FailServerFrozen, backend.FailServerDir, backend.FailFilesystemMissing, backend.FailProtocol, backend.FailNoSpace:
	}
	return v.Plane != backend.PlaneControl
}

// observed is the verdict about a sandbox of which a plane failed; false: it is none.
func (r *contradiction) observed(env *alerts.Env, b *backend.Sandbox, n *contradictionNote) (alerts.Verdict, bool) {
	if !n.Proved && (!reportedLive(b) && len(b.Views) < 2 || !needed(env, b)) {
		return alerts.Verdict{}, false
	}
	if s := needOf(env, b).session; s != nil && s.Hub != nil && gaveUp(s) && n.minor() && !n.proved() && !n.Proved {
		return alerts.Verdict{}, false // wake-failed tells it, about the session
	}
	n.Proved = n.Proved || n.proved()
	worst := n.worst()
	n.Fault = worst.fault()
	if at := lastSuccess(env, b); worst.lacksFiles() && at.After(steadyOf(env, b, n.Worked)) && at.Before(steadyOf(env, b, n.Began)) {
		n.Worked = env.Display(at) // what fails now worked then
	}
	n.ranInLog(env, b)
	v := r.verdict(b, n)
	v.Bounds = alerts.Bounds{Earliest: n.worked(env, b), Latest: steadyOf(env, b, n.Began)}
	v.Confirmed = steadyOf(env, b, slices.MaxFunc(n.Failed, func(x, y failedPlane) int { return x.At.Compare(y.At) }).At)
	v.Cause = backend.Textf("reported %s, but %s", reported(b), fault(b, &worst))
	if unlisted(b) {
		v.Cause = backend.Textf("not reported, but %s", fault(b, &worst))
	}
	switch {
	case b.Class == backend.SandboxExited || b.Class == backend.SandboxDead:
		v.Cause = backend.Textf("it ended, and was not verified since that %s", fault(b, &worst))
	case worst.Former:
		v.Cause = backend.Textf("it was started again, and not verified since that %s", fault(b, &worst))
	}
	v.Detail = v.Cause
	if n.unlisted(b) {
		v.Severity = alerts.SeverityInfo
	}
	if !n.Proved {
		v.Suspected, v.Why = true, r.decides(env, b, n, &worst)
		if n.minor() {
			v.Severity = alerts.SeverityWarning
		}
	}
	return v, true
}

// decides says what would prove a failure that is only suspected. It advises no probe where none would tell or reach it.
func (r *contradiction) decides(env *alerts.Env, b *backend.Sandbox, n *contradictionNote, worst *failedPlane) backend.Safe {
	unreached := env.State.NoProbe(b)
	misfit, misfits := env.State.Misfit(b)
	switch {
	case worst.Plane == signalAgent && plainRan(b, n.Agent.first()):
		return backend.Text("fires with a second fact. A probe tells no more, for its command ran: see the log of the application")
	case worst.Plane == signalAgent && !unreached.IsEmpty():
		return backend.Textf("fires with a second fact. No probe gives one: %s", unreached)
	case worst.Plane == signalAgent && misfits && !misfit.Rollout.IsEmpty():
		return backend.Textf("fires with a second fact. A probe gives one once %s is over: until then their versions do not fit", misfit.Rollout)
	case worst.Plane == signalAgent && misfits && misfit.Calm.IsEmpty():
		return backend.Text("fires with a second fact. A probe gives one once its Worker and its container have versions that fit")
	case worst.Plane == signalAgent && env.State.NoRoom(b, env.Display(env.Now)):
		return backend.Text("fires with a second fact. A probe gives one once an instance is free: the newest was refused for want of one")
	case worst.Plane == signalAgent:
		return backend.WithFlags(backend.Textf("fires with a second fact, such as a probe: sandglass probe %s", called(b)), env.State.ReachTo(only(b.Key)))
	case onPlatform(b):
		return backend.Text("fires with a second sign, such as a mount that is gone")
	case !unreached.IsEmpty():
		return backend.Textf("fires when a command or the filesystem is proved not to work. No probe shows it: %s", unreached)
	}
	return backend.WithFlags(backend.Textf("fires when a command or the filesystem is proved not to work: sandglass probe %s", called(b)), env.State.ReachTo(only(b.Key)))
}

// only walks one subject.
func only(k backend.Key) func(func(backend.Key) bool) {
	return func(yield func(backend.Key) bool) { yield(k) }
}

// worst is the failure that says most.
func (n *contradictionNote) worst() failedPlane { return n.ranked()[0] }

// ranked are the failures, those first that say most: a kind says more than none, commands and files more than what serves
// them, and what was observed more than what a platform tells.
func (n *contradictionNote) ranked() []failedPlane {
	rank := func(f failedPlane) int {
		switch {
		case f.Plane == signalAgent && f.Kind == backend.FailServerDir: // nothing else that is mended helps
			return -1
		case isSignal(f.Plane):
			return 5 + slices.Index(allSignals(), f.Plane)
		case f.Former:
			return 4
		case f.Kind == "":
			return 3
		case f.Kind == backend.FailExecTimeout, f.Kind == backend.FailExecStuckQueued, f.Kind == backend.FailControl5xx: // these have many causes
			return 2
		case f.Kind == backend.FailWorkDirMissing: // a more precise kind of another plane comes first
			return 1
		}
		return 0
	}
	return stable.Sorted(slices.Values(n.Failed), func(x, y failedPlane) int { return cmp.Compare(rank(x), rank(y)) })
}

// fault is what sandboxes with the same failure have in common.
func (f *failedPlane) fault() string {
	if f.Plane == signalAgent { // lines of logs alone do not tell which case it is, and what was observed elsewhere is no proof of it
		return string(f.Plane)
	}
	return cmp.Or(string(f.Kind), string(f.Plane))
}

// verdict is what all contradictions about a sandbox have in common. Its fingerprint is the subject's, so that new facts
// keep the alert.
func (r *contradiction) verdict(b *backend.Sandbox, n *contradictionNote) alerts.Verdict {
	note := *n
	return alerts.Verdict{Outcome: alerts.True, Runbook: "contradiction", Source: b.Key.Source, Session: b.Session, Provider: b.Provider,
		Fingerprint: subjectFingerprint(b.Key), Note: alerts.NoteOf(&note)}
}

// subjectFingerprint identifies the one alert about a subject.
func subjectFingerprint(k backend.Key) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{string(k.Kind), k.Source, k.Parent.Raw(), k.ID.Raw()}, "\x00")))
	return alerts.Fingerprint("contradiction") + "-" + hex.EncodeToString(sum[:6])
}

func steadyOf(env *alerts.Env, b *backend.Sandbox, t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return env.Time(&b.Meta, backend.Known(t))
}

// lastSuccess is when the registry last reported a success of the workspace in a sandbox; zero where none is known.
func lastSuccess(env *alerts.Env, b *backend.Sandbox) time.Time {
	need := needOf(env, b)
	if need.session == nil || b.Workspace.IsZero() {
		return time.Time{}
	}
	w := env.State.Workspace(backend.Key{Kind: backend.KindWorkspace, Source: need.home.Key.Source, Parent: b.Session, ID: b.Workspace})
	if w == nil || !w.LastSuccessAt.IsKnown() {
		return time.Time{}
	}
	return env.Time(&w.Meta, w.LastSuccessAt)
}

// called is what a person calls a sandbox.
func called(b *backend.Sandbox) backend.Safe {
	if b.Name.IsEmpty() {
		return b.Key.Safe()
	}
	return b.Name
}

// reported is what an engine says of a sandbox, its health check included.
func reported(b *backend.Sandbox) backend.Safe {
	word := b.Reported
	if word.IsEmpty() {
		word = backend.Clean(string(b.Class), 40)
	}
	if !b.Doubt.IsEmpty() {
		return backend.Textf("%s by its operator routes alone", word)
	}
	if b.Health.Or(backend.Safe{}).String() == "healthy" {
		return backend.Textf("%s and healthy", word)
	}
	return word
}

// unlisted reports whether nothing but its name is known of a sandbox: no platform lists it.
func unlisted(b *backend.Sandbox) bool {
	return b.Unlisted
}

// faults are the kinds of failures as the second half of a sentence.
var faults = map[backend.FailureKind]backend.Literal{
	backend.FailWorkDirMissing:    "its working directory is missing",
	backend.FailWorkDirDangling:   "its working directory is a link to nothing",
	backend.FailWorkDirNoDir:      "its working directory is not a directory",
	backend.FailMountUnlinked:     "the host directory mounted there was removed",
	backend.FailMountGone:         "its mount is gone",
	backend.FailControl5xx:        "its platform answers with errors",
	backend.FailExecStuckQueued:   "its commands stay queued",
	backend.FailExecTimeout:       "a command in it did not end",
	backend.FailServerFrozen:      "its main process is frozen",
	backend.FailServerDir:         "the working directory of its control server is missing",
	backend.FailFilesystemMissing: "its filesystem is missing",
	backend.FailGone:              "it is gone",
	backend.FailUnauthorised:      "its user may not enter its working directory",
	backend.FailNoSpace:           "its disk has no space left",
	backend.FailProtocol:          "it and its Worker have versions that do not understand each other",
}

// fault says what failed.
func fault(b *backend.Sandbox, f *failedPlane) backend.Safe {
	text, known := faults[f.Kind]
	switch {
	case isSignal(f.Plane), f.Kind == backend.FailFilesystemMissing && onPlatform(b) && !f.What.IsEmpty():
		return f.What
	case onWorkers(b) && f.Kind == backend.FailServerFrozen: // no process of it was looked at
		return backend.Text("its control server answers nothing")
	case onWorkers(b) && f.Kind == backend.FailExecTimeout:
		return backend.Text("no command in it ended: its control server hangs, or its container does not start")
	case onWorkers(b) && f.Plane == backend.PlaneExec && f.Kind == backend.FailControl5xx:
		return backend.Textf("its bridge refuses each command: %s", backend.Clean(f.What.String(), 250))
	case f.Plane == backend.PlaneExec && f.Kind == backend.FailControl5xx:
		return backend.Text("a command in it was refused with a server error")
	case !known && f.What.IsEmpty():
		return backend.Textf("%s fails", f.Plane)
	case !known:
		return backend.Textf("%s fails: %s", f.Plane, backend.Clean(f.What.String(), 200))
	}
	return backend.Text(text)
}
