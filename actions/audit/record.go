package audit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
)

// Schema is the number of the record's form. Within one number fields are only ever added.
const Schema = 1

// Phase says at which point of what happened a record was written.
type Phase string

// The phases of an action, in their order. An intent is on the disk before the first effect of its plan, a target
// intent before the effect on that target; an outcome follows the effect, and another one when later readings proved
// more. A plan ends as done, with its result, or as stopped; one with an intent and neither was broken off
// (OpenIntents).
const (
	PhaseArmed        Phase = "armed"         // a person may act for a while, or (verb disarm) no longer may
	PhaseRefused      Phase = "refused"       // a confirmed plan was not begun, the reason is in Detail
	PhaseIntent       Phase = "intent"        // of a plan, with all of its targets
	PhaseTargetIntent Phase = "target-intent" // the subjects are acted on next
	PhaseOutcome      Phase = "outcome"       // the result for the subjects
	PhaseStopped      Phase = "stopped"       // the plan ended early: Done of Targets
	PhaseDone         Phase = "done"          // the plan ended
)

// The phases of records that belong to no plan.
const (
	PhaseBundle  Phase = "bundle" // evidence about the subjects was written to a file whose hash is SHA256
	PhaseNote    Phase = "note"
	PhaseAck     Phase = "ack"
	PhaseSilence Phase = "silence"
)

// Phases lists all phases.
func Phases() []Phase {
	return []Phase{PhaseArmed, PhaseRefused, PhaseIntent, PhaseTargetIntent, PhaseOutcome, PhaseStopped,
		PhaseDone, PhaseBundle, PhaseNote, PhaseAck, PhaseSilence}
}

// announces reports whether an effect follows the record, and with it records that must find room.
func (p Phase) announces() bool { return p == PhaseIntent || p == PhaseTargetIntent }

// judges reports whether the records of a phase must have a result.
func (p Phase) judges() bool { return p == PhaseOutcome || p == PhaseDone }

// Result is the outcome of an intent. Accepted is not done: only a later reading makes it verified.
type Result string

// The results of an outcome or of a whole plan; every other phase has none.
const (
	ResultNone        Result = ""
	ResultIssued      Result = "issued"
	ResultAccepted    Result = "accepted"
	ResultVerified    Result = "verified"
	ResultUnverified  Result = "unverified"
	ResultFailed      Result = "failed"
	ResultFailedAgain Result = "failed again"
	ResultEnded       Result = "ended"
	ResultSkipped     Result = "skipped"
	ResultRefused     Result = "refused"
	ResultUnknown     Result = "unknown"
)

// Results lists all results.
func Results() []Result {
	return []Result{ResultIssued, ResultAccepted, ResultVerified, ResultUnverified, ResultFailed, ResultFailedAgain, ResultEnded,
		ResultSkipped, ResultRefused, ResultUnknown}
}

func (r Result) valid() bool { return slices.Contains(Results(), r) }

// Who is the person behind a record, as far as the system knows. Claimed is what they call themselves on a shared
// account; nothing proves it.
type Who struct {
	User      backend.Safe `json:"user"`
	Host      backend.Safe `json:"host"`
	SSHClient backend.Safe `json:"ssh_client,omitzero"`
	Claimed   backend.Safe `json:"claimed,omitzero"`
	// SudoUser is who became User through sudo, as sudo says.
	SudoUser backend.Safe `json:"sudo_user,omitzero"`
	// Viewer tells the viewers apart that one person has on one host: the process and a number in it.
	Viewer backend.Safe `json:"viewer,omitzero"`
}

// Name is what to call the person.
func (w Who) Name() backend.Safe {
	if !w.Claimed.IsEmpty() {
		return w.Claimed
	}
	return w.User
}

// Text names the person in one line; what nothing proves is marked as claimed.
func (w Who) Text() backend.Safe {
	parts := []string{fmt.Sprintf("%s@%s", w.User, w.Host)}
	if !w.SudoUser.IsEmpty() {
		parts = append(parts, "sudo by "+w.SudoUser.String())
	}
	if !w.Claimed.IsEmpty() {
		parts = append(parts, "claims to be "+w.Claimed.String())
	}
	if !w.SSHClient.IsEmpty() {
		parts = append(parts, "from "+w.SSHClient.String())
	}
	return backend.Textf("%s", strings.Join(parts, ", "))
}

// Origin binds a journal to where it was begun. Only the first record has it.
type Origin struct {
	Host         backend.Safe `json:"host"`
	BootID       backend.Safe `json:"boot_id"`
	ConfigDigest string       `json:"config_digest"`
}

// Entry is what a caller has to say; the journal adds the place in the chain.
type Entry struct {
	At    time.Time `json:"at"` // stored in UTC, RFC 3339 with a fraction
	Phase Phase     `json:"phase"`
	Who   Who       `json:"who"`
	// Verb is what is done (reset, destroy, clean, ack, …) and Kind to what sort of thing: lower-case words.
	Verb string `json:"verb"`
	Kind string `json:"kind,omitempty"`
	// Subjects are what it is done to. One that looked like a secret is stored masked.
	Subjects []backend.Key `json:"subjects,omitempty"`
	// Targets is how many there are altogether, where Subjects may be cut or the record is about the whole plan; 0: as
	// many as Subjects. Done is how many of them were acted on.
	Targets int `json:"targets,omitzero"`
	Done    int `json:"done,omitzero"`
	// Unseen says that a plan stopped without a viewer. A second record of its end says that the stop was reported to a
	// person.
	Unseen bool `json:"unseen,omitzero"`
	// Digest is that of the plan: letters, digits, and -_.: between them.
	Digest string       `json:"digest,omitempty"`
	Reason backend.Safe `json:"reason,omitzero"`
	Result Result       `json:"result,omitempty"`
	// Verification is what later readings said about the outcome.
	Verification backend.Safe `json:"verification,omitzero"`
	// SHA256 is the hash of the file that the record is about, in hex.
	SHA256 string `json:"sha256,omitempty"`
	// Detail says more about the result, and Facts holds what belongs to one verb only: matchers, expiry, wave.
	Detail backend.Safe    `json:"detail,omitzero"`
	Facts  []backend.Field `json:"facts,omitempty"`
}

// Record is one stored line.
type Record struct {
	Schema int    `json:"schema"`
	Seq    uint64 `json:"seq"`  // 1 for the first
	Prev   string `json:"prev"` // SHA-256 of the record's line before, without its line end, in hex; 64 zeros for the first
	// After describes bytes between that line and this one that are no record.
	After  *Remains `json:"after,omitempty"`
	Origin *Origin  `json:"origin,omitempty"`
	Entry
}

// Remains are bytes that are no record: the beginning of a line whose writer died, or a record that was damaged.
type Remains struct {
	Bytes int64  `json:"bytes"` // without the last line end
	Sum   string `json:"sum"`   // SHA-256 of these bytes, in hex
	// Torn says that they are the beginning of one line without a line end, which is what a crash or a full disk leaves.
	Torn bool `json:"torn,omitempty"`
}

const (
	maxWord     = 80     // characters of a verb, kind or digest
	maxSubjects = 10_000 // of one record
	maxFacts    = 100
)

// check refuses an entry that a reader could not trust or use.
func (e *Entry) check() error {
	switch {
	case !slices.Contains(Phases(), e.Phase):
		return fmt.Errorf("%q is not a phase", string(e.Phase))
	case e.Phase.judges() && !e.Result.valid():
		return fmt.Errorf("%q is not a result", string(e.Result))
	case !e.Phase.judges() && e.Result != ResultNone:
		return fmt.Errorf("a record of phase %s has no result", e.Phase)
	case e.At.IsZero():
		return errors.New("the record has no time")
	case e.Who.User.IsEmpty() || e.Who.Host.IsEmpty():
		return errors.New("the record does not say who, and on which host")
	case !isWord(e.Verb):
		return fmt.Errorf("%q is not a verb", e.Verb)
	case e.Kind != "" && !isWord(e.Kind):
		return fmt.Errorf("%q is not a kind", e.Kind)
	case e.Digest != "" && !isWord(e.Digest):
		return fmt.Errorf("%q is not a digest", e.Digest)
	case e.Phase == PhaseBundle && len(e.SHA256) != hexSum, e.SHA256 != "" && !isHash(e.SHA256):
		return fmt.Errorf("%q is not a SHA-256 of a file", e.SHA256)
	}
	return e.checkCounts()
}

func (e *Entry) checkCounts() error {
	switch {
	case len(e.Subjects) > maxSubjects:
		return fmt.Errorf("%d subjects are more than one record holds (%d)", len(e.Subjects), maxSubjects)
	case len(e.Facts) > maxFacts:
		return fmt.Errorf("%d facts are more than one record holds (%d)", len(e.Facts), maxFacts)
	case e.Targets < 0 || e.Targets > 0 && e.Phase == PhaseIntent && e.Targets < len(e.Subjects):
		return fmt.Errorf("%d targets are fewer than the %d subjects", e.Targets, len(e.Subjects))
	case e.Unseen && (e.Phase != PhaseStopped || e.Digest == ""):
		return errors.New("only the end of a plan that was stopped can be unseen")
	case e.Done < 0 || e.Done > max(e.Targets, len(e.Subjects)):
		return fmt.Errorf("%d of %d targets cannot be done", e.Done, max(e.Targets, len(e.Subjects)))
	}
	return nil
}

// isHash reports whether s is a SHA-256 in lower-case hex.
func isHash(s string) bool {
	return len(s) == hexSum && strings.Trim(s, "0123456789abcdef") == ""
}

func isWord(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c|0x20 >= 'a' && c|0x20 <= 'z', c >= '0' && c <= '9':
		case i > 0 && (c == '-' || c == '_' || c == '.' || c == ':'):
		default:
			return false
		}
	}
	return s != "" && len(s) <= maxWord
}

// masked returns the entry as it may be stored.
func (e Entry) masked(c *backend.Cleaner) Entry {
	text := func(s backend.Safe) backend.Safe { return c.Clean(s.String(), backend.MaxTextRunes) }
	e.At = e.At.UTC()
	e.Who = Who{User: text(e.Who.User), Host: text(e.Who.Host), SSHClient: text(e.Who.SSHClient), Claimed: text(e.Who.Claimed),
		SudoUser: text(e.Who.SudoUser), Viewer: text(e.Who.Viewer)}
	e.Reason, e.Verification, e.Detail = text(e.Reason), text(e.Verification), text(e.Detail)
	subjects := make([]backend.Key, 0, len(e.Subjects))
	for _, k := range e.Subjects {
		subjects = append(subjects, maskedKey(c, k))
	}
	facts := make([]backend.Field, 0, len(e.Facts))
	for _, f := range e.Facts {
		// Name and value together, because what a value is often shows in its name only.
		pair := f.Name.String() + "=" + f.Value.String()
		if m := c.Mask(pair); m != pair {
			_, value, _ := strings.Cut(m, "=")
			f.Value = backend.Clean(value, backend.MaxTextRunes)
		}
		facts = append(facts, backend.Field{Name: text(f.Name), Value: text(f.Value)})
	}
	e.Subjects, e.Facts = subjects, facts
	return e
}

// maskedKey is a key as it is stored.
func maskedKey(c *backend.Cleaner, k backend.Key) backend.Key {
	id := func(id backend.ID) backend.ID {
		if id.IsZero() {
			return id
		}
		m := c.Mask(id.Raw())
		return backend.MustID(m[:min(len(m), backend.MaxIDBytes)]) // a mask may be longer than what it hides
	}
	k.Parent, k.ID, k.Source = id(k.Parent), id(k.ID), c.Mask(k.Source)
	return k
}
