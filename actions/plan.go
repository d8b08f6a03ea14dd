package actions

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"sandglass/actions/audit"
	"sandglass/backend"
)

// PlanSchema is the number of the plan's stored form.
const PlanSchema = 1

// ConfirmWithin is how long a plan can be confirmed after it was made; carrying it out may take longer.
const ConfirmWithin = 60 * time.Second

// Intent is what a person wants to do: a verb, its targets and parameters.
type Intent struct {
	Verb   Verb
	Source string
	Keys   []backend.Key // what was chosen, in the order of the screen
	// Hidden are marked rows that a filter hides. The plan leaves them out and lists them, unless Named holds them:
	// the person typed the name of each.
	Hidden []backend.Key
	Named  []backend.Key
	Params Params
	// Overrides are the refusals that the operator sets aside, by Refusal.Word.
	Overrides []string
	Who       audit.Who
	Reason    backend.Safe
	// NotNow is why the diagnosis advises against it; the plan says it first. Empty: it does not.
	NotNow backend.Safe
	DryRun bool
	// Headless says that no screen is there: waves stop where a person would have to decide.
	Headless bool
}

// Target is one subject that a plan acts on, as it was read when the plan was made.
type Target struct {
	Key       backend.Key          `json:"key"`
	Label     backend.Safe         `json:"label"`
	Name      string               `json:"name"`
	Identity  []Fact               `json:"identity"`
	Loses     []backend.Safe       `json:"loses,omitempty"`
	Owner     backend.Safe         `json:"owner,omitzero"`
	Notes     []backend.Safe       `json:"notes,omitempty"`
	Useless   bool                 `json:"useless,omitempty"`
	Bytes     backend.Value[int64] `json:"bytes"`
	CauseSeen time.Time            `json:"cause_seen,omitzero"`
	// Cause is the fingerprint of the trouble when the plan was made, to tell a new failure from the same one again.
	Cause string `json:"cause,omitempty"`
}

// NameFact is the fact of a record that names its only target, where people know it by another name than its id.
const NameFact = "name"

func (t *Target) nameFact() []backend.Field {
	if t.Key.Kind != backend.KindSandbox || t.Label.IsEmpty() || t.Label == t.Key.Safe() {
		return nil
	}
	return []backend.Field{{Name: backend.Text(NameFact), Value: t.Label}}
}

// Exclusion is a chosen subject that the plan does not act on.
type Exclusion struct {
	Key   backend.Key  `json:"key"`
	Label backend.Safe `json:"label"`
	Why   backend.Safe `json:"why"`
	// Hidden says that only the filter keeps it out: typing its name includes it.
	Hidden bool `json:"hidden,omitempty"`
	// Undecided says that Why is something that could not be read.
	Undecided bool `json:"-"`
}

// Refusal is a reason not to act. One with a Word is a judgement that the operator may set aside by typing that word.
type Refusal struct {
	Why  backend.Safe `json:"why"`
	Next backend.Safe `json:"next,omitzero"`
	Word string       `json:"word,omitempty"`
}

// Plan is an action made concrete. It is immutable; its digest covers everything that decides what happens.
type Plan struct {
	Schema      int          `json:"schema"`
	Digest      string       `json:"digest"`
	Verb        Verb         `json:"verb"`
	Of          backend.Kind `json:"of"`
	Title       string       `json:"title"`
	Effect      string       `json:"effect"`
	Cost        string       `json:"cost,omitempty"`
	Undo        string       `json:"undo,omitempty"`
	Source      string       `json:"source"`
	SourceKind  string       `json:"source_kind"`
	Environment string       `json:"environment"`
	Production  bool         `json:"production,omitempty"`
	Made        time.Time    `json:"made"`
	Who         audit.Who    `json:"who"`
	Reason      backend.Safe `json:"reason,omitzero"`
	Params      Params       `json:"params"`
	DryRun      bool         `json:"dry_run,omitempty"`
	Headless    bool         `json:"headless,omitempty"`
	Gesture     Gesture      `json:"gesture"`
	// Short is the short name that confirms GestureName.
	Short     string      `json:"short,omitempty"`
	PerMinute int         `json:"per_minute"`
	Targets   []Target    `json:"targets"`
	Excluded  []Exclusion `json:"excluded,omitempty"`
	// Choices are what must be chosen of in the only subject of a plan that has no target because of that.
	Choices []Choice `json:"choices,omitempty"`
	// Advice is shown at the top of the plan, Warnings beside the targets.
	Advice    []backend.Safe `json:"advice,omitempty"`
	Warnings  []backend.Safe `json:"warnings,omitempty"`
	Refusals  []Refusal      `json:"refusals,omitempty"`
	Overrides []string       `json:"overrides,omitempty"`

	// madeBy is who made the plan, where another person confirmed it; Who is then the one who confirmed.
	madeBy audit.Who
}

// Expires is when the plan can no longer be confirmed.
func (p *Plan) Expires() time.Time { return p.Made.Add(ConfirmWithin) }

// Expired reports whether it is too late to confirm the plan.
func (p *Plan) Expired(now time.Time) bool {
	return now.After(p.Expires()) || now.Before(p.Made.Add(-time.Second))
}

// Open lists the refusals that were not set aside. A plan with one cannot be confirmed.
func (p *Plan) Open() []Refusal {
	return slices.DeleteFunc(slices.Clone(p.Refusals), func(r Refusal) bool {
		return r.Word != "" && slices.Contains(p.Overrides, r.Word)
	})
}

// Words are those that set the open refusals aside; none when one of them cannot be.
func (p *Plan) Words() []string {
	var words []string
	for _, r := range p.Open() {
		if r.Word == "" {
			return nil
		}
		words = append(words, r.Word)
	}
	return words
}

// Hidden lists what only the filter keeps out.
func (p *Plan) Hidden() []Exclusion {
	return slices.DeleteFunc(slices.Clone(p.Excluded), func(x Exclusion) bool { return !x.Hidden })
}

// Bytes is the space that the targets occupy together, as far as it is known; unknown when it is known of none.
func (p *Plan) Bytes() backend.Value[int64] {
	var sum int64
	known := false
	for _, t := range p.Targets {
		if n, ok := t.Bytes.Get(); ok {
			sum, known = sum+n, true
		}
	}
	if !known {
		return backend.Unknown[int64]()
	}
	return backend.Known(sum)
}

// seal computes the digest. It covers the whole stored plan, so that a changed one is detected.
func (p *Plan) seal() { p.Digest = p.sum() }

func (p *Plan) sum() string {
	c := *p
	c.Digest = ""
	b, err := json.Marshal(&c)
	if err != nil { // every field is plain data
		panic(err)
	}
	// What is no UTF-8 is an escape here, and the replacement character itself once the plan was stored and read back.
	sum := sha256.Sum256(bytes.ReplaceAll(b, []byte(`\ufffd`), []byte("\ufffd")))
	return hex.EncodeToString(sum[:])[:digestChars]
}

// digestChars is how many hexadecimal digits of SHA-256 name a plan: 64 bits, for something that lives for minutes and
// is compared with a handful of others.
const digestChars = 16

// intact reports whether the digest belongs to the content.
func (p *Plan) intact() bool { return p.Schema == PlanSchema && p.Digest == p.sum() }
