package backend

import "time"

// Work is what executions and jobs have in common.
type Work struct {
	// Within is the kind of subject that the key's Parent names: a sandbox or a session.
	Within  Kind `json:"within"`
	Sandbox ID   `json:"sandbox,omitzero"` // raw; zero where none is named
	Session ID   `json:"session,omitzero"` // raw; zero where none is named
	// Reported is the platform's own word; Class its meaning.
	Reported Safe      `json:"reported"`
	Class    WorkClass `json:"class"`
	Command  Safe      `json:"command,omitzero"`
	// QueuedAt, StartedAt and EndedAt are the platform's times, corrected by the source's clock offset. Not applicable: it
	// has not come to that; unknown: the platform does not say.
	QueuedAt  Value[time.Time] `json:"queued_at,omitzero"`
	StartedAt Value[time.Time] `json:"started_at,omitzero"`
	EndedAt   Value[time.Time] `json:"ended_at,omitzero"`
	// KnownSince is when Sandglass first saw it, former processes included, where the platform does not say when it was queued.
	KnownSince time.Time `json:"known_since,omitzero"`
	// Driver says that it runs the driver by which a hub leads the sandbox's session.
	Driver bool `json:"driver,omitempty"`
	// Nudge says that it signals that driver to connect again. That it succeeds proves only that it signalled.
	Nudge bool `json:"nudge,omitempty"`
	// Seen is between which readings each of these happened. The fleet sets it.
	Seen     WorkSeen   `json:"seen,omitzero"`
	ExitCode Value[int] `json:"exit_code,omitzero"` // not applicable before it ended
	// Error is why the platform says that it failed, empty when it does not say.
	Error Safe    `json:"error,omitzero"`
	Extra []Field `json:"extra,omitempty"`
}

// WorkSeen is between which readings the platform queued, started and ended a piece of work.
type WorkSeen struct {
	Queued  Bounds `json:"queued,omitzero"`
	Started Bounds `json:"started,omitzero"`
	Ended   Bounds `json:"ended,omitzero"`
}

// Bounds are two times between which something happened. A zero time is not known: without the earlier one it may have
// happened at any time before the later one.
type Bounds struct {
	Earliest time.Time `json:"earliest,omitzero"`
	Latest   time.Time `json:"latest,omitzero"`
}

// StatusWord returns the platform's word.
func (w *Work) StatusWord() Safe { return w.Reported }

// Worker is an entity that is a piece of work: an execution, a job.
type Worker interface {
	Entity
	AsWork() *Work
}

// WorkKinds are the kinds of Workers: what sandboxes carry out.
func WorkKinds() (kinds []Kind) {
	for _, s := range KindSandbox.Spec().Parts() {
		kinds = append(kinds, s.Kind)
	}
	return kinds
}

// AsWork is what executions and jobs have in common.
func (w *Work) AsWork() *Work { return w }

// carryWork bounds the times that the platform does not report by those of the readings.
func carryWork(next, old Entity, seen Bounds) {
	w, was := next.(Worker).AsWork(), WorkClass("")
	w.Seen = WorkSeen{Queued: seen}
	if old != nil {
		before := old.(Worker).AsWork()
		w.Seen, was = before.Seen, before.Class
	}
	begun := func(c WorkClass) bool { return c == WorkRunning || c.Ended() }
	if begun(w.Class) && !begun(was) {
		w.Seen.Started = seen
	}
	if w.Class.Ended() && !was.Ended() {
		w.Seen.Ended = seen
	}
}

// workEnded is the event of a piece of work that failed or was cancelled since the reading before. What succeeds is left
// to the history of the work: a fleet completes too much for a timeline.
func workEnded(next, old Entity) (Event, bool) {
	w, was := next.(Worker).AsWork(), WorkClass("")
	if old != nil {
		was = old.(Worker).AsWork().Class
	}
	if w.Class != WorkFailed && w.Class != WorkCancelled || w.Class == was || w.Seen.Ended.Earliest.IsZero() {
		return Event{}, false
	}
	k := next.EntityMeta().Key
	text := Textf("%s %s in %s: %s", Clean(string(k.Kind), 40), k.ID.Safe(), k.Parent.Safe(), w.Reported)
	if code, known := w.ExitCode.Get(); known {
		text = Textf("%s, exit code %d", text, code)
	}
	if !w.Error.IsEmpty() {
		text = Textf("%s: %s", text, w.Error)
	}
	return Event{Kind: EventPlatform, At: w.Ended().Latest, Source: k.Source, Subject: k, Name: string(w.Class), Text: text}, true
}

func forgetWork(e Entity) { e.(Worker).AsWork().Seen = WorkSeen{} }

func (w *Work) parentKind() Kind { return w.Within }

// WorkClass is the meaning of a platform's word for the status of an execution or a job.
type WorkClass string

// The classes of work.
const (
	WorkUnknown   WorkClass = "unknown"
	WorkQueued    WorkClass = "queued" // accepted and not begun
	WorkRunning   WorkClass = "running"
	WorkSucceeded WorkClass = "succeeded"
	WorkFailed    WorkClass = "failed"    // also: it ran longer than it may
	WorkCancelled WorkClass = "cancelled" // a user or the platform ended it early
)

// WorkClassOf is the meaning of the words that platforms use for the status of an execution or a job.
func WorkClassOf(word string) WorkClass {
	switch word {
	case "queued", "pending":
		return WorkQueued
	case "running":
		return WorkRunning
	case "completed":
		return WorkSucceeded
	case "failed", "timeout", "error":
		return WorkFailed
	case "cancelled", "killed":
		return WorkCancelled
	}
	return WorkUnknown
}

// Ended reports whether the work is over.
func (c WorkClass) Ended() bool { return c == WorkSucceeded || c == WorkFailed || c == WorkCancelled }

// Queued is when the work was queued: the platform's own time, or else between which readings, and before it began.
func (w *Work) Queued() Bounds {
	known := exactly(w.QueuedAt, w.Seen.Queued)
	if !w.KnownSince.IsZero() && (known.Latest.IsZero() || w.KnownSince.Before(known.Latest)) {
		known.Latest = w.KnownSince
		if known.Earliest.After(known.Latest) {
			known.Earliest = time.Time{}
		}
	}
	return before(known, w.Started())
}

// Started is when the work began: the platform's own time, or else between which readings, and before it was over.
func (w *Work) Started() Bounds { return before(exactly(w.StartedAt, w.Seen.Started), w.Ended()) }

// Ended is when the work was over: the platform's own time, or else between which readings.
func (w *Work) Ended() Bounds { return exactly(w.EndedAt, w.Seen.Ended) }

func exactly(at Value[time.Time], seen Bounds) Bounds {
	if t, known := at.Get(); known {
		return Bounds{t, t}
	}
	return seen
}

// before lowers the later bound of what came first to that of what followed.
func before(first, then Bounds) Bounds {
	if !then.Latest.IsZero() && !first.Latest.IsZero() && then.Latest.Before(first.Latest) {
		first.Latest = then.Latest
		if first.Earliest.After(first.Latest) {
			first.Earliest = time.Time{}
		}
	}
	return first
}
