package actions

import (
	"context"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// Kind is what can be done to the sources of one kind. The wiring holds one per kind that can do anything.
type Kind struct {
	Name string // of the source kind: docker, helix, tmpdir
	// Specs are the verbs of the kind, for keys, help and the check of `actions = [...]`.
	Specs []Spec
	// Defaults returns a pointer to the option struct of its actions: keys of [[source]] beside those of the adapter. nil:
	// it has none.
	Defaults func() any
	// Build makes the parts for the allowed verbs. It is called only when at least one verb is allowed, opens no
	// connection and reads no credential. A verb without a part is not available; missing says why and what to configure.
	Build func(Site) (parts map[Verb]Part, missing map[Verb]backend.Safe, err error)
	// Lacks are verbs that sandboxes elsewhere have and those of this kind have not: why, and what helps instead.
	Lacks map[Verb]backend.Safe
}

// Site is one configured source, as its actions see it.
type Site struct {
	Deps    backend.Deps
	Options backend.Options // the keys of Kind.Defaults
	// Source is the adapter's, for read abilities that are found by type assertion.
	Source  backend.Source
	Allowed []Verb
	// Peers are all sources of the program by id: a directory is spared when an engine on the same host uses it.
	Peers []Peer
	// StateDir is where an effect may keep what must outlive the process (what it moved away); empty: there is none.
	StateDir string
	// Root says that the process runs as the superuser.
	Root bool
	// Config is the path of the configuration file, for commands that a person is told to run; empty: there is none.
	Config string
}

// Peer is another configured source.
type Peer struct {
	ID, Kind string
	Source   backend.Source
}

// Part performs one verb on one source.
type Part struct {
	Targets TargetReader
	// Verifier is nil where no reading can show the result: then the effect's own proof counts.
	Verifier Verifier
	// ReadsItself says that the TargetReader reads the targets from the backend. Otherwise it judges the console's State, and a
	// run waits for a reading that is at most 5 s old before it asks.
	ReadsItself bool
	// Longest is how long one target may take; 0: two minutes.
	Longest time.Duration
	// Undo is what undoes it under this configuration; empty: what the Spec says.
	Undo string
	// Now is what the verb does while its source is as a State shows it; nil: always what the Spec says. It changes words only.
	Now func(*fleet.State, Spec) Spec
	// Open makes the effect. It is called by a run of a confirmed plan, and only there; the acting credential is read here
	// and dropped by Close.
	Open func(context.Context) (Effect, error)
	// Left is what removes a sandbox that the verb made and that its process did not remove; nil where it makes none.
	Left func(Made) Part
}

// TargetReader reads targets again: for the plan, and just before each effect.
type TargetReader interface {
	// Look returns one candidate for each key, in their order, and changes nothing outside. A key that cannot be read, or
	// that fails any condition, is a candidate with Why; an error about one never makes another eligible.
	Look(ctx context.Context, q Question) []Candidate
}

// Question is what a TargetReader is asked.
type Question struct {
	Keys []backend.Key
	// State is what the console knows now; never nil.
	State  *fleet.State
	Now    time.Time
	Params Params
	// Suspects are the sandboxes that an alert calls broken while it fires, the worst alert first.
	Suspects []backend.Key
	// Again says that a confirmed plan asks just before it acts; Planned is then what the plan saw.
	Again   bool
	Planned []Fact
}

// Params are what an operator can choose for a verb.
type Params struct {
	OlderThan time.Duration `json:"older_than,omitempty"` // clean: least age of a directory; 0: as configured
	PurgeNow  bool          `json:"purge_now,omitempty"`  // clean: no grace period
	// Harmless names, separated by line feeds, processes that may be unreadable: the executable of process 1, or a unit.
	Harmless string `json:"harmless,omitempty"`
	Most     int    `json:"most,omitempty"` // clean: most directories, the longest unchanged first; 0: as configured
	// Image is what prove makes its sandbox of; empty: as configured, else that of Beside, else the most used one.
	Image string `json:"image,omitempty"`
	// Beside is the raw id of the suspect sandbox that prove is compared with; empty: none.
	Beside string `json:"beside,omitempty"`
	// Process is the pid or the name of what stop-process and kill-process act on; empty: the only one that runs.
	Process string `json:"process,omitempty"`
	// Token is what revoke-token removes, as PREVIEW/TOKEN; empty: the only one.
	Token string `json:"token,omitempty"`
}

// Choice is one of several things in a target of which a verb acts on one.
type Choice struct {
	Name string       `json:"name"` // what Params takes
	Text backend.Safe `json:"text"`
}

// choose takes a choice for a verb.
func (p *Params) choose(v Verb, name string) {
	switch v {
	case StopProcess, KillProcess:
		p.Process = name
	case RevokeToken:
		p.Token = name
	}
}

// Candidate is one target as it was just read.
type Candidate struct {
	Key   backend.Key
	Label backend.Safe // the name people know it by
	// Name is the raw text that confirms an action on it alone; empty: the key's path.
	Name string
	// Identity is what must be the same when it is acted on: id, reported state, timestamps, generation or etag, device,
	// inode and birth time, whatever the backend has. It enters the digest.
	Identity []Fact
	// Loses is what the target loses for good, Owner who owns it.
	Loses []backend.Safe
	Owner backend.Safe
	// Notes are remarks that the plan shows beside the target.
	Notes []backend.Safe
	// Useless says that the target cannot be in use: a failed entry, an ownerless directory.
	Useless bool
	// Bytes is the space that the action should free; unknown where it was not measured.
	Bytes backend.Value[int64]
	// CauseSeen is when the cause of the trouble was last seen; zero: not known.
	CauseSeen time.Time
	// Choices are what the operator must choose of, where that is why the candidate is left out.
	Choices []Choice
	// Why excludes the candidate; empty: it is eligible.
	Why backend.Safe
	// Undecided says that Why is something that could not be read: the candidate may be eligible.
	Undecided bool
	// Ended says that Why is that the backend has it no longer.
	Ended bool
	// Advice is what the plan says at its top because of this candidate: what to run instead. Equal ones are said once.
	Advice backend.Safe
}

// Fact is one named raw value of an identity. Values are never drawn raw.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Effect acts. Only a run of a confirmed plan holds one.
type Effect interface {
	// Do acts on the target as it was read; it compares the identity in the same step where the backend can. A nil error
	// means that the backend accepted it. A *ChangedError means that the target changed and the effect was not tried; an
	// *UncertainError that it was sent and its outcome is unknown; any other error that it failed.
	Do(ctx context.Context, t Target, p Params) (Done, error)
	Close() error
}

// Done is what an effect reports. Accepted is not done: the Verifier decides from later readings.
type Done struct {
	Text  backend.Safe
	Moved int64 // bytes set aside, still occupied
	Freed int64 // bytes measured free
	Notes []backend.Safe
	// Proved says that the effect itself saw the wished state afterwards (a directory is gone, a plain exec works).
	Proved bool
	// Seen is what the effect itself saw afterwards in the place of the wished state; empty: it saw nothing that tells.
	Seen backend.Safe
	// Steps are what an effect of several steps tried, in their order.
	Steps []Step
	// Left names what the effect made and could not remove.
	Left backend.Safe
	// Observed are the verdicts that it found on a sandbox, plane by plane; none: nothing was observed.
	Observed []backend.Verdict
}

// ChangedError says that a target was not acted on because it is not what the plan saw.
type ChangedError struct{ What backend.Safe }

// Error says what changed.
func (e *ChangedError) Error() string { return "changed since the plan: " + e.What.String() }

// UncertainError says that an effect was sent and that its result is not known: a timeout or a lost connection after
// sending. It is read, not repeated.
type UncertainError struct{ Err error }

// Error says why the outcome is unknown.
func (e *UncertainError) Error() string {
	return notKnown + ": " + e.Err.Error()
}

// notKnown begins what is said of such an effect.
const notKnown = "sent, but its result is not known"

// Unwrap returns the cause.
func (e *UncertainError) Unwrap() error { return e.Err }

// Verifier decides from later readings whether the action on a target worked. It is pure.
type Verifier interface {
	// Verify judges a target on which the verb was issued at the given time. Undecided is ResultAccepted.
	Verify(t Target, issued time.Time, s *fleet.State) Verdict
}

// Verdict is what readings say about an outcome.
type Verdict struct {
	Result Result
	Why    backend.Safe
}

// Ability is one verb on one source: what it is, and whether it can be done here.
type Ability struct {
	Source     string // id
	SourceKind string
	Spec       Spec
	// Denied says why it cannot be done and how to enable it; empty: it can.
	Denied backend.Safe
	Part   Part // zero when denied
}

// For reports whether it is a verb for that thing.
func (a *Ability) For(k backend.Key) bool {
	return a.Source == k.Source && (a.Spec.Of == k.Kind || a.compares(k))
}

// compares reports whether it tries the platform of a sandbox, with which it is compared.
func (a *Ability) compares(k backend.Key) bool {
	return a.Spec.Makes && a.Spec.Of == backend.KindSource && k.Kind == backend.KindSandbox
}

// Target is what the verb is done to, for a thing that it is for, and the raw id of the sandbox that it is compared with.
func (a *Ability) Target(k backend.Key) (target backend.Key, beside string) {
	if a.compares(k) {
		return backend.Key{Kind: backend.KindSource, Source: k.Source, ID: backend.MustID(k.Source)}, k.ID.Raw()
	}
	return k, ""
}
