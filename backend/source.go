package backend

import (
	"context"
	"time"
)

// Source is one configured backend. At most one Poll runs at a time. Poll returns what it read together with the
// problems it met; an error means that nothing of use was read. The deadline of ctx bounds the whole poll; deadlines
// of single requests are the adapter's.
type Source interface {
	ID() string
	Poll(ctx context.Context) (Reading, error)
}

// Progressive is a source that can give a part of what it reads before its poll ends.
type Progressive interface {
	// PollParts is Poll. It calls part with what was read so far: entities of which much is unknown, in no complete scope.
	// The Reading that it returns holds everything, what was in the parts too.
	PollParts(ctx context.Context, part func(Reading)) (Reading, error)
}

// Watcher is a source that learns of changes by itself: it calls changed (cheap, never blocks) when a poll would find
// something new, and returns when ctx ends. An error ends the watch until the next successful poll.
type Watcher interface {
	Watch(ctx context.Context, changed func()) error
}

// Attention is what people and rules look at now. A source spends its request budget there first.
type Attention struct {
	Alerting []Key // subjects of alerts that are pending, firing or held
	Visible  []Key // rows on some screen
	// Asked is the id or name of the subject that a command asks about, as it was given; empty: of all.
	Asked string
	// Listed is what a former run found on the list. Where the list lost much of it, the own routes tell what ended.
	Listed []Key
}

// Attentive is a source that can spend its budget where attention is. Attend is cheap and safe to call at any time.
type Attentive interface {
	Attend(Attention)
}

// Rereader is a source whose lists come seldom. Reread has its next poll read one subject by its own route, before all else.
// It is cheap and safe to call at any time.
type Rereader interface {
	Reread(Key)
}

// Listener is a source that goes on what log lines say of its subjects. Listen is cheap and safe to call at any time.
type Listener interface {
	Listen([]Report)
}

// Owned is a source that reads one organisation of its platform only.
type Owned interface {
	// Organisation is the name of that one, as the platform writes it in addresses.
	Organisation() string
}

// Referred is a source some of whose subjects only references of other sources name.
type Referred interface {
	// TakesRefs reports whether it looks for names in references.
	TakesRefs() bool
	// Refer hands over the references that a reading of another source brought. whole says that they are all of that source, alone
	// that they concern no other source that takes references. It reports whether they name a subject that none named before. It is cheap and safe to
	// call at any time.
	Refer(from string, refs []*Ref, whole, alone bool) (news bool)
}

// Claims are what all processes of a state directory together do rarely, and what they found by it.
type Claims interface {
	// Claim reports whether something is due, and notes that it is done now. Where it is not, last is when it was done.
	Claim(name string, every time.Duration) (due bool, last time.Time)
	// Tell keeps what was found for the other processes, and Told is what one of them found last.
	Tell(name string, found Verdict)
	Told(name string) (found Verdict, known bool)
}

// Claimer is a source that does something which all processes of a state directory together do rarely.
type Claimer interface {
	Claims(Claims)
}

// Closer is a source that holds connections or processes. Close is called once, and never while Poll runs.
type Closer interface {
	Close() error
}

// Route is one thing a source does to its backend, for `config check --explain`.
type Route struct {
	Verb   string // GET, list, walk, run, read
	Target string // URL template, socket, path, argv; without credentials
	Why    string // what it is read for
	Acts   bool   // whether it changes anything; always false in an adapter
}

// Explainer lists every route that a source would use, without using any.
type Explainer interface {
	Routes() []Route
}
