package audit

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"sandglass/backend"
)

// Schema is the number of the record's form. Within one number fields are only ever added.
const Schema = 1

// Phase says at which point of what happened a record was written.
type Phase string

// The phases. An intent comes before the first effect of a plan, an outcome after that on each target, and a done record
// after the last of the plan, with its result; a note, an arming, an acknowledgement, a silence and a bundle stand for
// themselves.
const (
	PhaseArmed   Phase = "armed"
	PhaseDone    Phase = "done"
	PhaseBundle  Phase = "bundle"
	PhaseIntent  Phase = "intent"
	PhaseOutcome Phase = "outcome"
	PhaseNote    Phase = "note"
	PhaseAck     Phase = "ack"
	PhaseSilence Phase = "silence"
)

// Result is what became of an intent. Accepted is not done: only a later reading makes it verified.
type Result string

// The results of an outcome; every other phase has none.
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

func (r Result) valid() bool {
	switch r {
	case ResultIssued, ResultAccepted, ResultVerified, ResultUnverified, ResultFailed, ResultFailedAgain, ResultEnded,
		ResultSkipped, ResultRefused, ResultUnknown:
		return true
	case ResultNone:
	}
	return false
}

// Who is the person behind a record, as far as the system knows. Claimed is what they call themselves on a shared
// account; nothing proves it.
type Who struct {
	User      backend.Safe `json:"user"`
	Host      backend.Safe `json:"host"`
	SSHClient backend.Safe `json:"ssh_client,omitzero"`
	Claimed   backend.Safe `json:"claimed,omitzero"`
}

// Origin binds a journal to where it was begun. It stands in the first record only.
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
	// Digest is that of the plan: letters, digits, and -_.: between them.
	Digest string       `json:"digest,omitempty"`
	Reason backend.Safe `json:"reason,omitzero"`
	Result Result       `json:"result,omitempty"`
	// Detail says more about the result, and Facts holds what belongs to one verb only: matchers, expiry, wave.
	Detail backend.Safe    `json:"detail,omitzero"`
	Facts  []backend.Field `json:"facts,omitempty"`
}

// Record is one stored line.
type Record struct {
	Schema int    `json:"schema"`
	Seq    uint64 `json:"seq"`  // 1 for the first
	Prev   string `json:"prev"` // SHA-256 of the record's line before, without its line end, in hex; 64 zeros for the first
	// After names what lies between that line and this one, when it is no record.
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
	switch e.Phase {
	case PhaseIntent, PhaseNote, PhaseAck, PhaseSilence, PhaseArmed, PhaseBundle:
		if e.Result != ResultNone {
			return fmt.Errorf("a record of phase %s has no result", e.Phase)
		}
	case PhaseOutcome, PhaseDone:
		if !e.Result.valid() {
			return fmt.Errorf("%q is no result", string(e.Result))
		}
	default:
		return fmt.Errorf("%q is no phase", string(e.Phase))
	}
	switch {
	case e.At.IsZero():
		return errors.New("the record has no time")
	case e.Who.User.IsEmpty() || e.Who.Host.IsEmpty():
		return errors.New("the record does not say who, and on which host")
	case !isWord(e.Verb):
		return fmt.Errorf("%q is no verb", e.Verb)
	case e.Kind != "" && !isWord(e.Kind):
		return fmt.Errorf("%q is no kind", e.Kind)
	case e.Digest != "" && !isWord(e.Digest):
		return fmt.Errorf("%q is no digest", e.Digest)
	case len(e.Subjects) > maxSubjects:
		return fmt.Errorf("%d subjects are more than one record holds (%d)", len(e.Subjects), maxSubjects)
	case len(e.Facts) > maxFacts:
		return fmt.Errorf("%d facts are more than one record holds (%d)", len(e.Facts), maxFacts)
	}
	return nil
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
	id := func(id backend.ID) backend.ID {
		if id.IsZero() {
			return id
		}
		m := c.Mask(id.Raw())
		return backend.MustID(m[:min(len(m), backend.MaxIDBytes)]) // a mask may be longer than what it hides
	}
	e.At = e.At.UTC()
	e.Who = Who{User: text(e.Who.User), Host: text(e.Who.Host), SSHClient: text(e.Who.SSHClient), Claimed: text(e.Who.Claimed)}
	e.Reason, e.Detail = text(e.Reason), text(e.Detail)
	subjects := make([]backend.Key, 0, len(e.Subjects))
	for _, k := range e.Subjects {
		k.Parent, k.ID = id(k.Parent), id(k.ID)
		k.Source = c.Mask(k.Source)
		subjects = append(subjects, k)
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
