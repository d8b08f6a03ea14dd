package backend

import (
	"slices"
	"strings"
	"time"
)

// KindSandbox is the kind of a Sandbox.
const KindSandbox Kind = "sandbox"

var sandboxKind = SubjectKind{
	Kind: KindSandbox, Name: "sandbox", Plural: "sandboxes", List: "sandboxes", Short: "sb", Input: InputContainers,
	Copy: copyOf[Sandbox], Tells: true,
	InUse: func(e Entity) bool {
		b := e.(*Sandbox)
		return b.IsSandbox && !(b.Unlisted && b.NamedBy == NamedByRef) && b.Class != SandboxExited && b.Class != SandboxDead && b.Class != SandboxRemoving
	},
}

// Sandbox is the machine behind a workspace: a container, a microVM or a cloud sandbox.
type Sandbox struct {
	Meta
	Name     Safe `json:"name"`
	Provider Safe `json:"provider"` // docker, …
	Image    Safe `json:"image,omitzero"`
	// IsSandbox is false for a machine that is merely listed (dimmed, never a target).
	IsSandbox bool `json:"is_sandbox"`
	// Watched is true for a machine that is no sandbox and is watched like one, for looking only.
	Watched bool `json:"watched,omitempty"`
	// Reported is the platform's own word; Class its meaning.
	Reported Safe         `json:"reported"`
	Class    SandboxClass `json:"class"`
	// Observed is what was observed, apart from what is reported; unknown when nothing was tried.
	Observed Value[Observation] `json:"observed"`
	// Health is the platform's health check: healthy, unhealthy, starting; not applicable without a check.
	Health       Value[Safe] `json:"health,omitzero"`
	HealthOutput Safe        `json:"health_output,omitzero"` // of the newest check of this run
	// HealthChecks is when that check failed and passed; unknown while none has ended, not applicable without a check.
	HealthChecks Value[HealthChecks] `json:"health_checks,omitzero"`
	Session      ID                  `json:"session,omitzero"`   // joined session, raw
	Workspace    ID                  `json:"workspace,omitzero"` // joined workspace name, raw
	CreatedAt    Value[time.Time]    `json:"created_at"`
	StartedAt    Value[time.Time]    `json:"started_at"`
	FinishedAt   Value[time.Time]    `json:"finished_at"`
	ExitCode     Value[int]          `json:"exit_code"`
	OOMKilled    Value[bool]         `json:"oom_killed"`
	RestartCount Value[int]          `json:"restart_count"`
	// RestartPolicy is what starts it again when it ends: no, always, unless-stopped, on-failure:3; empty: not known.
	RestartPolicy Safe `json:"restart_policy,omitzero"`
	// StartError is why the platform could not start it the last time that it tried; empty when it could.
	StartError Safe `json:"start_error,omitzero"`
	// StartPeriod is how long after its start a health check may fail; not applicable without a check.
	StartPeriod Value[time.Duration] `json:"start_period,omitzero"`
	MemLimit    Value[int64]         `json:"mem_limit,omitzero"` // bytes; not applicable without a limit
	// Log is how its log ended when it last failed; not applicable where it did not fail.
	Log       Value[LogTail] `json:"log_tail,omitzero"`
	Usage     Value[Usage]   `json:"usage"`
	Mounts    []Mount        `json:"mounts,omitempty"`
	MountsCut bool           `json:"mounts_cut,omitempty"` // there are more than Mounts holds
	Labels    []Field        `json:"labels,omitempty"`     // sorted by name
	WorkDir   Safe           `json:"work_dir,omitzero"`
	Command   Safe           `json:"command,omitzero"` // of its first process
	Ports     []Safe         `json:"ports,omitempty"`  // published, as "0.0.0.0:8080->80/tcp"
	CloudFacts
}

// CloudFacts are facts of a sandbox that only cloud platforms give.
type CloudFacts struct {
	Region Safe `json:"region,omitzero"`
	Org    Safe `json:"org,omitzero"`
	// Runtime is what it runs, with the platform's id of that.
	Runtime Safe `json:"runtime,omitzero"`
	// JoinedBy is what names its session: the hub's list, or a log line.
	JoinedBy Safe `json:"joined_by,omitzero"`
	// JoinedLine is that log line.
	JoinedLine Safe `json:"joined_line,omitzero"`
	// Lifecycle are the newest lifecycle events, oldest first; LifecycleAt is when they were read, zero: never.
	Lifecycle   []LifecycleEvent `json:"lifecycle,omitempty"`
	LifecycleAt time.Time        `json:"lifecycle_at,omitzero"`
	// WorkAt is when its executions and jobs were last read, the older of both; zero: one of them was not, or not whole.
	WorkAt time.Time `json:"work_at,omitzero"`
	// ReapedAt is when the platform removes it if it sleeps on, or is not used; zero: not told, or it does not sleep. ReapedBy is the
	// limit of that; empty: its paused timeout.
	ReapedAt time.Time `json:"reaped_at,omitzero"`
	ReapedBy Safe      `json:"reaped_by,omitzero"`
	// OpenLimits are limits on its life whose end is not known, in words.
	OpenLimits []Safe `json:"open_limits,omitempty"`
	// Views are the statuses that its routes give where two of them differ, in two rounds at least.
	Views []Field `json:"views,omitempty"`
	// KnownSince is when Sandglass first saw it in its present status, former processes included, or an earlier time at which its
	// platform wrote that status.
	KnownSince time.Time `json:"known_since,omitzero"`
	// Application is the container application that it belongs to; ObjectClass and Script are the Durable Object class and the
	// Worker script that manage it; Container is the platform's id of it where the key has another one.
	Application Safe `json:"application,omitzero"`
	ObjectClass Safe `json:"object_class,omitzero"`
	Script      Safe `json:"script,omitzero"`
	Container   ID   `json:"container,omitzero"`
	// BridgeID is the id under which a bridge Worker knows it, and NamedBy who says so; Unattributed says that nothing names that id.
	// Unlisted says that no list of its platform has it: it is named, and need not exist.
	BridgeID     ID      `json:"bridge_id,omitzero"`
	NamedBy      NamedBy `json:"named_by,omitempty"`
	Unattributed bool    `json:"unattributed,omitempty"`
	Unlisted     bool    `json:"unlisted,omitempty"`
	// ToldBy is what tells of it where the newest list of its platform does not name it; empty: that list does, or there is none.
	ToldBy Safe `json:"told_by,omitzero"`
	// Doubt says what speaks against its operator routes, which alone say that it runs; empty: nothing does, or they do not say that.
	Doubt Safe `json:"doubt,omitzero"`
	// FreshAt is when it was seen to start again on an empty disk, zero: it was not.
	FreshAt time.Time `json:"fresh_at,omitzero"`
	// Born is the platform's own time of the start of its container, or, where its name can be given again, of its making: by it one is told
	// from the next, as it does not move with the estimate of the platform's clock. Zero: not told.
	Born time.Time `json:"-"`
	// FreshAfter is when the container before that was last seen to run, zero: it was not.
	FreshAfter time.Time `json:"fresh_after,omitzero"`
	// Power is the platform's word for whether it runs or sleeps, where that is another word than its status; empty: not told.
	Power Safe `json:"power,omitzero"`
	// Address is where its own API answers, without a query.
	Address Safe `json:"address,omitzero"`
	// LastUsedAt is when the platform last saw it in use; zero: not told.
	LastUsedAt time.Time `json:"last_used_at,omitzero"`
	// ExpiresAt is when the platform removes it, whatever it does; zero: not told, or never. ExpiresBy is the limit that is met
	// first.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	ExpiresBy Safe      `json:"expires_by,omitzero"`
	// TTL is its limit on age from creation, as its record writes it; empty: the record names none.
	TTL Safe `json:"ttl,omitzero"`
	// NoPorts says that its record declares no port.
	NoPorts bool `json:"no_ports,omitempty"`
	// EnvNames are the names of the environment variables that it was made with, sorted, each once; never their values.
	EnvNames []Safe `json:"env_names,omitempty"`
	// NoEnv says that its record declares no environment variable.
	NoEnv bool `json:"no_env,omitempty"`
	// Previews are its addresses on the internet; PreviewsAt is when they were read, zero: never.
	Previews   []Preview `json:"previews,omitempty"`
	PreviewsAt time.Time `json:"previews_at,omitzero"`
	// Snapshots are what could be restored, the newest first, from a list of the whole platform; SnapshotsAt is when that was
	// read to its end, zero: never.
	Snapshots   []Snapshot `json:"snapshots,omitempty"`
	SnapshotsAt time.Time  `json:"snapshots_at,omitzero"`
}

// NamedBy is who names the id under which a bridge knows a sandbox.
type NamedBy string

// Those who name it.
const (
	NamedByRoutes NamedBy = "operator routes"
	NamedByConfig NamedBy = "configuration"
	NamedByRef    NamedBy = "reference"
)

// killedGuess is what exit code 137 can mean.
const killedGuess = "killed, perhaps for memory"

// ExitText is an exit code with what it says where a signal ended the process.
func ExitText(code int) Safe {
	switch code {
	case 137:
		return Text("137 (" + killedGuess + ")")
	case 143:
		return Text("143 (asked to stop)")
	}
	return Textf("%d", code)
}

// Judged reports whether its trouble raises alerts.
func (b *Sandbox) Judged() bool { return b.IsSandbox || b.Watched }

// Alias is its name.
func (b *Sandbox) Alias() string { return b.Name.String() }

// LogTail is the end of a log, read once for one failure.
type LogTail struct {
	At    time.Time `json:"at"` // when it was read
	Lines []Safe    `json:"lines,omitempty"`
	Why   Safe      `json:"why,omitzero"` // why there are none
}

// Crashed reports whether it ended by itself and not well: not with exit code 0, nor by a signal that ends what somebody
// stops (129, 130, 137 and 143 are 128 and the numbers of HUP, INT, KILL and TERM), nor at its memory limit.
func (b *Sandbox) Crashed() bool {
	code, known := b.ExitCode.Get()
	return known && b.Class.Ended() && !b.OOMKilled.Or(false) && code != 0 && code != 129 && code != 130 && code != 137 && code != 143
}

// FailedEnd reports whether its end tells of a fault: it crashed, or behind a Cloudflare Worker was killed (what idles there is asked to
// stop, which is 143; not through Sandglass), or its platform calls its end a failure, whatever the code is.
func (b *Sandbox) FailedEnd() bool {
	code, known := b.ExitCode.Get()
	return b.Crashed() || b.OfWorker() && b.DestroyedHere().IsZero() && b.Class.Over() && b.StartError.IsEmpty() && (b.Class == SandboxDead || known && code == 137)
}

// StatusWord returns the platform's word.
func (b *Sandbox) StatusWord() Safe { return b.Reported }

// HealthChecks is what a platform remembers of the health checks of a sandbox's present run, mostly the last few. Times
// are ours.
type HealthChecks struct {
	Checked  time.Time `json:"checked"`   // when the newest one ended
	ExitCode int       `json:"exit_code"` // of the newest one; what the platform could not begin, or ended for its time, has a code below 0
	// Failed is how many failed in a row up to the newest one, as the platform counts: 0 when that one passed, or failed
	// while the sandbox was starting up.
	Failed int `json:"failed"`
	// FailingBy is a moment at which the first of these had certainly failed, zero when none did. It is when that check
	// ended, or later where the platform does not remember it any more.
	FailingBy time.Time `json:"failing_by,omitzero"`
	// Passed is when the last one that passed began; zero when none is remembered: what fails then has failed since
	// FailingBy at least.
	Passed time.Time `json:"passed,omitzero"`
}

// Failing is between which times its health check began to fail, if it fails now. The earlier one is the last check
// that passed, else the start of its run, and zero when neither is known.
func (b *Sandbox) Failing() (earliest, latest time.Time, is bool) {
	c, known := b.HealthChecks.Get()
	if !known || c.Failed == 0 {
		return time.Time{}, time.Time{}, false
	}
	if c.Passed.IsZero() {
		return b.StartedAt.Or(time.Time{}), c.FailingBy, true
	}
	return c.Passed, c.FailingBy, true
}

// WorkDirGone reports whether its newest health check could not begin because the working directory is not there: then no
// other command begins in it either. It is false once a newer observation proved that it works.
func (b *Sandbox) WorkDirGone() bool {
	c, known := b.HealthChecks.Get()
	if o, _ := b.Proved(); known {
		for _, p := range []Plane{PlaneExec, PlaneList} {
			if v, _ := o.Of(p); v.Outcome == OutcomeOK && v.At.After(c.Checked) {
				return false
			}
		}
	}
	out := b.HealthOutput.String()
	return known && c.Failed > 0 && strings.HasPrefix(out, "OCI runtime") && NoWorkDir(out)
}

// NoWorkDir reports whether a container runtime says that a command cannot begin since its working directory is not
// there. The words are those of runc: "chdir to cwd (\"/workspace\") set in config.json failed: no such file or directory".
func NoWorkDir(text string) bool {
	low := strings.ToLower(text)
	return strings.Contains(low, "chdir") && strings.Contains(low, "no such file or directory")
}

// NoContainer reports whether a container engine says that a container does not exist. The words are Docker's: "No such
// container: 4f1c".
func NoContainer(text string) bool {
	return strings.Contains(strings.ToLower(text), "no such container")
}

// SandboxClass is the meaning of a platform's status word.
type SandboxClass string

// The classes of sandbox states.
const (
	SandboxUnknown    SandboxClass = "unknown"
	SandboxCreated    SandboxClass = "created"
	SandboxRunning    SandboxClass = "running"
	SandboxPaused     SandboxClass = "paused"
	SandboxAsleep     SandboxClass = "asleep"
	SandboxRestarting SandboxClass = "restarting"
	SandboxExited     SandboxClass = "exited"
	SandboxRemoving   SandboxClass = "removing"
	SandboxDead       SandboxClass = "dead"
)

// Ended reports whether its newest run is over.
func (c SandboxClass) Ended() bool {
	return c == SandboxExited || c == SandboxDead || c == SandboxRestarting
}

// Over reports whether its newest run is over and nothing starts it again by itself.
func (c SandboxClass) Over() bool { return c == SandboxExited || c == SandboxDead }

// StatusAlone is the first word of the platform's status, without what follows for its power, which each request may change.
func (b *Sandbox) StatusAlone() string {
	word, _, _ := strings.Cut(b.Reported.String(), " ")
	return strings.TrimSuffix(word, ",")
}

// Proved is what was observed of its present life, false when nothing was.
func (b *Sandbox) Proved() (Observation, bool) {
	o, ok := b.Observed.Get()
	if !ok {
		return o, false
	}
	o = o.Present()
	return o, o.Tried()
}

// WithObserved is the sandbox with what was observed of it. A verdict from before its newest start, its creation or the end
// of its run is of a former life.
func (b *Sandbox) WithObserved(vs []Verdict) *Sandbox {
	vs = slices.Clone(vs)
	for i := range vs {
		v := &vs[i]
		v.Past = b.startedSince(v.At, vs) || v.At.Before(b.CreatedAt.Or(time.Time{})) || v.At.Before(b.FinishedAt.Or(time.Time{}))
	}
	c := *b
	c.Observed = Known(Observation{Verdicts: vs, Unwell: b.Health.Or(Safe{}).String() == "unhealthy"})
	return &c
}

// StartedSince reports whether its newest start is of after something was observed in it, at our time. Behind a Worker a start of up to
// clockSlack later is not: whoever dates it has another clock, of which no answer tells less. One that was read before the observation was
// made is none at whatever time it is dated.
func (b *Sandbox) StartedSince(at time.Time) bool {
	o, _ := b.Observed.Get()
	return b.startedSince(at, o.Verdicts)
}

func (b *Sandbox) startedSince(at time.Time, vs []Verdict) bool {
	started, slack := b.StartedAt.Or(time.Time{}), time.Duration(0)
	if b.OfWorker() {
		slack = clockSlack
	}
	return at.Before(started.Add(-slack)) && !slices.ContainsFunc(vs, func(v Verdict) bool { return v.At.Equal(at) && v.Start.Equal(started) })
}

// Dated are verdicts that were just found in it, with the start of its container where it is dated later than they are although it was
// read before.
func (b *Sandbox) Dated(vs []Verdict) []Verdict {
	vs = slices.Clone(vs)
	started := b.StartedAt.Or(time.Time{})
	for i := range vs {
		if at := vs[i].At; started.After(at) && !b.ReadAt.After(at) {
			vs[i].Start = started
		}
	}
	return vs
}

// Turn is what made everything before it a former life: the newest start of a sandbox, or the end of its run.
func (b *Sandbox) Turn() string {
	if b.FinishedAt.Or(time.Time{}).After(b.StartedAt.Or(time.Time{})) {
		return "end"
	}
	return "start"
}

// Usage is one sample of what a sandbox uses. It has an age of its own, since samples are taken rarely.
type Usage struct {
	At       time.Time      `json:"at"`
	CPU      Value[float64] `json:"cpu"`       // cores in use, 1.0 = one core; unknown on the first sample
	Mem      Value[int64]   `json:"mem"`       // bytes, without page cache
	MemLimit Value[int64]   `json:"mem_limit"` // bytes, not applicable without a limit
	PIDs     Value[int64]   `json:"pids"`
	// Over is the span up to At over which a platform measured: CPU is its mean, Mem the highest, Sent the sum; zero: Mem is of
	// one moment.
	Over     time.Duration  `json:"over,omitempty"`
	CPULimit Value[float64] `json:"cpu_limit,omitzero"` // cores
	Sent     Value[int64]   `json:"sent,omitzero"`      // bytes
}

// Mount is one directory of a sandbox that comes from outside.
type Mount struct {
	Type        Safe `json:"type"` // bind, volume, tmpfs
	Source      Safe `json:"source"`
	RawSource   ID   `json:"raw_source,omitzero"`
	Destination Safe `json:"destination"`
	ReadOnly    bool `json:"read_only,omitempty"`
}

// Volume is a volume that stands for something at another place of its engine's host than the engine's own, by its
// driver's options, whether or not a container was ever given it.
type Volume struct {
	Name      Safe
	RawSource ID // an absolute path; zero: not known
}

// Broken reports whether a sandbox calls for eyes: dead, killed for memory, restarting, unhealthy, or observed not to
// work. A machine that is not a sandbox is never broken.
func (b *Sandbox) Broken() bool {
	if o, _ := b.Proved(); len(o.Failed()) > 0 {
		return b.Judged()
	}
	return b.Judged() && (b.Class == SandboxDead || b.Class == SandboxRestarting ||
		b.Class == SandboxExited && b.OOMKilled.Or(false) ||
		b.Class == SandboxRunning && b.Health.Or(Safe{}).String() == "unhealthy")
}
