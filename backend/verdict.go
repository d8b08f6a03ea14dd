package backend

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Plane is one way in which a sandbox is observed.
type Plane string

// The planes. Every sandbox has the first four; queue and driver are those of platforms that have them.
const (
	PlaneControl Plane = "control" // its status route answers
	PlaneExec    Plane = "exec"    // a harmless command runs in it
	PlaneList    Plane = "fs-list" // its working directory is listed
	PlaneRead    Plane = "fs-read" // a file that was listed is read
	PlaneQueue   Plane = "queue"   // what is queued starts
	PlaneDriver  Plane = "driver"  // its driver or agent is connected
)

// Planes lists all planes in the order in which they are shown.
func Planes() []Plane {
	return []Plane{PlaneControl, PlaneExec, PlaneList, PlaneRead, PlaneQueue, PlaneDriver}
}

// everyPlane lists the planes of every sandbox.
func everyPlane() []Plane { return Planes()[:4] }

// String returns the plane as a person reads it.
func (p Plane) String() string {
	return strings.Replace(string(p), "fs-", "filesystem ", 1)
}

// Outcome is what an observation of a plane came to.
type Outcome string

// The outcomes. Unknown was tried and not answered.
const (
	OutcomeOK       Outcome = "ok"
	OutcomeFailed   Outcome = "failed"
	OutcomeUnknown  Outcome = "unknown"
	OutcomeNotTried Outcome = "not-tried"
)

// weight orders outcomes of the same moment: what is worse counts.
func (o Outcome) weight() int {
	return slices.Index([]Outcome{OutcomeNotTried, OutcomeOK, OutcomeUnknown, OutcomeFailed}, o)
}

// FailureKind is why a plane failed, or why its state is unknown. All platforms share the kinds.
type FailureKind string

// The kinds of failures. A failure that fits none has no kind: its sentence and its evidence tell it.
const (
	FailWorkDirMissing    FailureKind = "working-directory-missing"
	FailWorkDirDangling   FailureKind = "working-directory-dangling" // a symbolic link to nothing
	FailWorkDirNoDir      FailureKind = "working-directory-not-a-directory"
	FailMountUnlinked     FailureKind = "mount-unlinked" // the mounted directory was removed on its host
	FailMountGone         FailureKind = "mount-gone"     // the platform lost the mount
	FailControl5xx        FailureKind = "control-5xx"
	FailExecStuckQueued   FailureKind = "exec-stuck-queued"
	FailExecTimeout       FailureKind = "exec-timeout"
	FailServerFrozen      FailureKind = "process-server-frozen"
	FailServerDir         FailureKind = "server-directory-missing" // that of the server which starts commands, not of the commands
	FailFilesystemMissing FailureKind = "filesystem-missing"
	FailGone              FailureKind = "gone"
	FailAsleep            FailureKind = "asleep" // asleep or paused: no command can run
	FailWaking            FailureKind = "waking" // it starts or wakes
	FailUnauthorised      FailureKind = "unauthorised"
	FailThrottled         FailureKind = "throttled"
	FailNoCheckpoint      FailureKind = "no-checkpoint"                 // it sleeps, and its platform has nothing to bring it back from
	FailResumeRefused     FailureKind = "resume-refused"                // a resume was refused, which may pass
	FailProtocol          FailureKind = "control-protocol-incompatible" // what sends commands and what runs them have versions that do not fit
	FailNoSpace           FailureKind = "no-space-left"                 // on its disk
	FailUsageLimit        FailureKind = "usage-limit"                   // its platform refuses every call in its workspace
)

// FailureKinds lists all kinds.
func FailureKinds() []FailureKind {
	return []FailureKind{FailWorkDirMissing, FailWorkDirDangling, FailWorkDirNoDir, FailMountUnlinked, FailMountGone, FailControl5xx, FailExecStuckQueued,
		FailExecTimeout, FailServerFrozen, FailServerDir, FailFilesystemMissing, FailGone, FailAsleep, FailWaking, FailUnauthorised, FailThrottled, FailNoCheckpoint, FailResumeRefused, FailProtocol, FailNoSpace, FailUsageLimit}
}

// String returns the kind as a person reads it.
func (k FailureKind) String() string { return strings.ReplaceAll(string(k), "-", " ") }

// Verdict is what one observation found on one plane of a sandbox.
type Verdict struct {
	Plane   Plane       `json:"plane"`
	Outcome Outcome     `json:"outcome"`
	Kind    FailureKind `json:"kind,omitempty"`
	// What says it in one sentence; Evidence is what the platform answered, at most MaxEvidence lines.
	What     Safe          `json:"what,omitzero"`
	Evidence []Safe        `json:"evidence,omitempty"`
	Took     time.Duration `json:"took,omitempty"` // from the request to the answer
	At       time.Time     `json:"at"`             // of the answer
	// Since is when a failure that takes time to prove was first seen; zero: at At.
	Since time.Time `json:"since,omitzero"`
	// Passive says that the observation had no side effect: it ran nothing, woke nothing and left no record.
	Passive bool `json:"passive,omitempty"`
	// LastOK is when the plane was last proved to work; zero: not recorded. The merge fills it.
	LastOK time.Time `json:"last_ok,omitzero"`
	// LastFailed is when an action last found the plane failing; zero: not recorded. The merge fills it.
	LastFailed time.Time `json:"last_failed,omitzero"`
	// Repaired is when a repair last proved the plane to work; zero: not recorded. The merge keeps the newest.
	Repaired time.Time `json:"repaired,omitzero"`
	// Unrepaired is when a repair last failed, of the exec plane; zero: not recorded. The merge keeps the newest.
	Unrepaired time.Time `json:"unrepaired,omitzero"`
	// Destroyed is when an end with all files was begun through Sandglass that was verified; zero: none. DestroyedHow says what was done
	// and who did it. The merge keeps the newest and drops what was found no later.
	Destroyed    time.Time `json:"destroyed,omitzero"`
	DestroyedHow Safe      `json:"destroyed_how,omitzero"`
	// Inside is what a probe read in the sandbox, of the control plane only. It is never changed.
	Inside *Inside `json:"inside,omitempty"`
	// Start is the start of the container in which it was found, where the platform dates that later than At; zero: it does not.
	// Sandbox.Dated fills it.
	Start time.Time `json:"start,omitzero"`
	// Past says that the sandbox was started or made again since: it was found in its former life. The fold fills it.
	Past bool `json:"past,omitempty"`
}

// Bounds of a verdict: lines of evidence, and characters of each text.
const (
	MaxEvidence     = 6
	maxVerdictRunes = 400
)

// Tried reports whether the verdict is of an observation that was made.
func (v *Verdict) Tried() bool { return v.Outcome != OutcomeNotTried }

// Leaves reports whether a success that was found without a side effect leaves a failure standing which an action found: what
// is there is not missing, but whether it can be entered, listed or read only an action tells.
func (v *Verdict) Leaves(failed *Verdict) bool {
	if !v.Passive || v.Outcome != OutcomeOK || v.Plane != failed.Plane || failed.Passive || failed.Outcome != OutcomeFailed || failed.Past {
		return false
	}
	return !slices.Contains([]FailureKind{FailWorkDirMissing, FailWorkDirDangling, FailWorkDirNoDir, FailMountUnlinked, FailMountGone, FailFilesystemMissing, FailServerFrozen, FailServerDir}, failed.Kind)
}

// First is when it was first found as far as it tells: Since, or At.
func (v *Verdict) First() time.Time {
	if v.Since.IsZero() || v.Since.After(v.At) {
		return v.At
	}
	return v.Since
}

// bounded is a verdict that keeps the bounds, with an outcome that is known and with its success recorded.
func (v Verdict) bounded() Verdict {
	if v.Outcome.weight() < 0 {
		v.Outcome = OutcomeUnknown
	}
	v.What, v.DestroyedHow = Clean(v.What.String(), maxVerdictRunes), Clean(v.DestroyedHow.String(), maxVerdictRunes)
	if len(v.Evidence) > 0 {
		v.Evidence = slices.Clone(v.Evidence[:min(len(v.Evidence), MaxEvidence)])
		for i, e := range v.Evidence {
			v.Evidence[i] = Clean(e.String(), maxVerdictRunes)
		}
	} else {
		v.Evidence = nil
	}
	v.Inside = v.Inside.bounded()
	if v.Outcome == OutcomeOK && v.At.After(v.LastOK) {
		v.LastOK = v.At
	}
	if v.Outcome == OutcomeFailed && !v.Passive && v.At.After(v.LastFailed) {
		v.LastFailed = v.At
	}
	return v
}

// over reports how a verdict compares with another of its plane: the larger one stays. One that was tried counts more than
// one that was not, then the newer one, then the worse one; the rest makes the order total.
func (v *Verdict) over(o *Verdict) int {
	tried := func(v *Verdict) int { return min(v.Outcome.weight(), 1) }
	active := func(v *Verdict) int {
		if v.Passive {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(tried(v), tried(o)), v.At.Compare(o.At), cmp.Compare(v.Outcome.weight(), o.Outcome.weight()), cmp.Compare(active(v), active(o)),
		cmp.Compare(v.Kind, o.Kind), cmp.Compare(v.What.s, o.What.s), cmp.Compare(v.Took, o.Took), v.Since.Compare(o.Since),
		slices.CompareFunc(v.Evidence, o.Evidence, func(a, b Safe) int { return cmp.Compare(a.s, b.s) }))
}

// Observation is what was observed of a sandbox, apart from what is reported: at most one verdict of each plane, in their
// order. Each has its own age.
type Observation struct {
	Verdicts []Verdict `json:"verdicts"`
	// Unwell says that the platform's own health check of the sandbox fails: then what passed is no health.
	Unwell bool `json:"unwell,omitempty"`
	// Unproved are the planes that failed in a former life and were not tried since. Present fills it.
	Unproved []Plane `json:"unproved,omitempty"`
}

// Of is the verdict of a plane, false when there is none.
func (o Observation) Of(p Plane) (Verdict, bool) {
	i := slices.IndexFunc(o.Verdicts, func(v Verdict) bool { return v.Plane == p })
	if i < 0 {
		return Verdict{}, false
	}
	return o.Verdicts[i], true
}

// CommandsFailed is when the commands of a probe that failed were begun, no later; zero: none failed.
func (o Observation) CommandsFailed() time.Time {
	v, is := o.Of(PlaneExec)
	if !is || v.Outcome != OutcomeFailed {
		return time.Time{}
	}
	return v.At.Add(-v.Took - time.Second)
}

// Fault names the fault whose beginning is from, for what was observed before it: commands of a probe that failed, or another.
func (o Observation) Fault(from time.Time) Safe {
	if failed := o.CommandsFailed(); !failed.IsZero() && failed.Equal(from) {
		return Text("commands of a probe failed")
	}
	return Text("the fault")
}

// Present is what was observed of the present life.
func (o Observation) Present() Observation {
	if !slices.ContainsFunc(o.Verdicts, func(v Verdict) bool { return v.Past }) {
		return o
	}
	now := Observation{Unwell: o.Unwell}
	for _, v := range o.Verdicts {
		switch {
		case !v.Past:
			now.Verdicts = append(now.Verdicts, v)
		case v.Outcome == OutcomeFailed:
			now.Unproved = append(now.Unproved, v.Plane)
		}
	}
	return now
}

// Tried reports whether anything was tried.
func (o Observation) Tried() bool { return o.worst() != OutcomeNotTried }

// Past reports whether everything that was tried was tried in a former life.
func (o Observation) Past() bool { return o.Tried() && !o.Present().Tried() }

// Outcome is the worst outcome of what was tried: ok when all of that passed and nothing that failed before waits to be tried.
func (o Observation) Outcome() Outcome {
	if c := o.worst(); c != OutcomeOK || len(o.Unproved) == 0 {
		return c
	}
	return OutcomeUnknown
}

func (o Observation) worst() Outcome {
	worst := OutcomeNotTried
	for _, v := range o.Verdicts {
		if v.Outcome.weight() > worst.weight() {
			worst = v.Outcome
		}
	}
	return worst
}

// Works reports whether something of the sandbox itself was tried and all that was tried passed.
func (o Observation) Works() bool { return o.Outcome() == OutcomeOK && !o.StatusOnly() }

// Failed lists the verdicts of planes that failed.
func (o Observation) Failed() []Verdict { return o.with(OutcomeFailed) }

func (o Observation) with(c Outcome) []Verdict {
	return slices.DeleteFunc(slices.Clone(o.Verdicts), func(v Verdict) bool { return v.Outcome != c })
}

// NotTried lists the planes that the sandbox has and that were not tried.
func (o Observation) NotTried() []Plane {
	every := everyPlane()
	var out []Plane
	for _, p := range Planes() {
		if v, found := o.Of(p); found && !v.Tried() || !found && slices.Contains(every, p) {
			out = append(out, p)
		}
	}
	return out
}

// At is when the newest verdict was found; zero: nothing was tried.
func (o Observation) At() time.Time {
	var at time.Time
	for _, v := range o.Verdicts {
		if v.Tried() && v.At.After(at) {
			at = v.At
		}
	}
	return at
}

// What says in one sentence what was observed: what failed first, else what is not known, else what passed. It names the
// planes that were not tried.
func (o Observation) What() Safe {
	switch o.worst() {
	case OutcomeFailed, OutcomeUnknown:
		worst, _ := o.Worst()
		if worst.What.IsEmpty() {
			return Textf("%s: %s", worst.Plane, worst.Said())
		}
		return worst.What
	case OutcomeOK:
		if len(o.Unproved) > 0 {
			return Textf("%s failed before, not tried since", PlaneNames(o.Unproved))
		}
		said := Text("healthy")
		if o.Unwell || o.StatusOnly() {
			said = o.passed()
		}
		if begun := o.Begun(); !begun.IsEmpty() {
			said = Textf("%s; commands run in it", begun)
		}
		if rest := o.NotTried(); len(rest) > 0 {
			said = Textf("%s; not tried: %s", said, PlaneNames(rest))
		}
		switch v, _ := o.Of(PlaneExec); {
		case strings.HasSuffix(v.What.s, string(MayBeNew)):
			said = Textf("%s; %s", said, Text(MayBeNew))
		case strings.Contains(v.What.s, ListHangs):
			said = Textf("%s; %s", said, Text(ListHangs))
		}
		return said
	case OutcomeNotTried:
	}
	return Text("not tried")
}

// Worst is the verdict that says most of those with the worst outcome, false when nothing was tried: an error of the platform
// tells least, and what may only be slow less than what is proof by itself.
func (o Observation) Worst() (Verdict, bool) {
	all := o.with(o.worst())
	if len(all) == 0 {
		return Verdict{}, false
	}
	vague := []FailureKind{FailExecTimeout, FailExecStuckQueued, FailControl5xx}
	return slices.MinFunc(all, func(x, y Verdict) int { return cmp.Compare(slices.Index(vague, x.Kind), slices.Index(vague, y.Kind)) }), true
}

// StatusOnly reports whether nothing passed but the platform's own word, its queue and the connection of a driver: nothing of
// the sandbox itself was tried, so that no health is proved.
func (o Observation) StatusOnly() bool {
	return !slices.ContainsFunc(o.Verdicts, func(v Verdict) bool {
		return v.Outcome == OutcomeOK && v.Plane != PlaneControl && v.Plane != PlaneQueue && v.Plane != PlaneDriver
	})
}

// passed says what was seen to work.
func (o Observation) passed() Safe {
	all := o.with(OutcomeOK)
	parts := make([]Safe, 0, len(all))
	for i := range all {
		parts = append(parts, all[i].Said())
	}
	return Join(parts, ", ")
}

// Said is what the verdict says, or its outcome and kind where it says nothing.
func (v *Verdict) Said() Safe {
	if !v.What.IsEmpty() {
		return v.What
	}
	return v.Word()
}

// Word is the outcome, with the kind of a failure.
func (v *Verdict) Word() Safe {
	word := Clean(strings.ReplaceAll(string(v.Outcome), "-", " "), maxVerdictRunes)
	if v.Kind != "" {
		return Textf("%s, %s", word, v.Kind)
	}
	return word
}

// PlaneNames names planes; both of the filesystem together are the filesystem.
func PlaneNames(all []Plane) Safe {
	names := make([]string, 0, len(all))
	for _, p := range all {
		names = append(names, p.String())
	}
	return Clean(strings.Replace(strings.Join(names, ", "), "filesystem list, filesystem read", "filesystem", 1), maxVerdictRunes)
}

// ObservationJSON is the JSON form of an Observation: what it comes to, and its verdicts.
type ObservationJSON struct {
	Works    bool      `json:"works"`
	Outcome  Outcome   `json:"outcome"`
	What     Safe      `json:"what"`
	At       time.Time `json:"at"`
	Past     bool      `json:"past,omitempty"`
	NotTried []Plane   `json:"not_tried,omitempty"`
	Verdicts []Verdict `json:"verdicts,omitempty"`
}

// MarshalJSON writes the verdicts and what they come to: of the present life where anything of it was tried.
func (o Observation) MarshalJSON() ([]byte, error) {
	now := o.Present()
	if !now.Tried() {
		now = o
	}
	return json.Marshal(ObservationJSON{now.Works(), now.Outcome(), now.What(), now.At(), o.Past(), now.NotTried(), o.Verdicts})
}

// UnmarshalJSON reads what MarshalJSON wrote, and what versions before wrote, which knew one result.
func (o *Observation) UnmarshalJSON(b []byte) error {
	var x ObservationJSON
	if err := json.Unmarshal(b, &x); err != nil {
		return err
	}
	o.Verdicts = x.list()
	return nil
}

// list is what the JSON form says. A result without verdicts was found by a command that was run.
func (x *ObservationJSON) list() []Verdict {
	if len(x.Verdicts) > 0 || x.At.IsZero() {
		return MergeVerdicts(x.Verdicts)
	}
	v := Verdict{Plane: PlaneExec, Outcome: OutcomeFailed, What: x.What, At: x.At, Past: x.Past}
	if x.Works {
		v.Outcome = OutcomeOK
	}
	return MergeVerdicts([]Verdict{v})
}

// Proof is what was observed of one sandbox, by an action or by a former process.
type Proof struct {
	Sandbox  Key       `json:"sandbox"`
	Verdicts []Verdict `json:"verdicts"`
	// Kept says that a former process found it: it is no news.
	Kept bool `json:"kept,omitempty"`
}

// UnmarshalJSON reads a Proof, and what versions before wrote, which knew one result.
func (p *Proof) UnmarshalJSON(b []byte) error {
	var x struct {
		Sandbox Key
		Kept    bool `json:"kept"`
		ObservationJSON
	}
	if err := json.Unmarshal(b, &x); err != nil {
		return err
	}
	*p = Proof{Sandbox: x.Sandbox, Verdicts: x.list(), Kept: x.Kept}
	return nil
}

// Unrecoverable is the verdict that a sandbox has no checkpoint to resume from: passive, as its hub or a log says; else, as one of
// our own resumes was answered.
func (o Observation) Unrecoverable() (v Verdict, is bool) {
	for _, x := range o.Failed() {
		if x.Kind == FailNoCheckpoint && (!is || v.Passive) {
			v, is = x, true
		}
	}
	return v, is
}
