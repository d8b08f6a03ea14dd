package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"sandglass/backend"
	"sandglass/backend/lockfile"
)

// OpenPlan is a plan that began and has no end in the journal: its process was killed, or carries it out now.
type OpenPlan struct {
	Intent Record
	// Begun are the targets that were announced and have no outcome; it is unknown whether they were acted on. Left are
	// the others without an outcome; where single targets are not announced, some of them may have been acted on too.
	Begun, Left []backend.Key
	Done        int // targets with an outcome
	Of          int
	// Running says that a process carries the plan out now.
	Running bool
	// Stopped is its end, where it has one that no viewer saw; see Entry.Unseen.
	Stopped *Record
}

// Text says in one line how far the plan came.
func (o *OpenPlan) Text() backend.Safe {
	s := backend.Textf("%s: %d of %d done", backend.Clean(o.Intent.Verb, maxWord), o.Done, o.Of)
	switch {
	case o.Stopped != nil:
		return backend.Textf("%s: %s", backend.Clean(o.Intent.Verb, maxWord), o.Stopped.Detail)
	case o.Running:
		return backend.Textf("%s so far; it is being carried out now", s)
	case len(o.Begun) == 1:
		return backend.Textf("%s; the result of %s is unknown", s, o.Begun[0].Safe())
	case len(o.Begun) > 1:
		return backend.Textf("%s; the result of %s and %d more is unknown", s, o.Begun[0].Safe(), len(o.Begun)-1)
	}
	return backend.Textf("%s; it was broken off", s)
}

// ends reports whether the record ends a plan.
func (e *Entry) ends() bool {
	return e.Digest != "" && (e.Phase == PhaseDone || e.Phase == PhaseStopped || e.Phase == PhaseRefused)
}

// planProgress is what is known of a plan while the journal is read.
type planProgress struct {
	plan    OpenPlan
	settled map[backend.Key]bool
}

func (p *planProgress) of(r *Record) bool {
	return p.plan.Intent.Digest == r.Digest && p.plan.Intent.Verb == r.Verb
}

func (p *planProgress) over() bool {
	return p.plan.Done >= p.plan.Of && p.plan.Of <= len(p.plan.Intent.Subjects)
}

func (p *planProgress) take(r *Record) {
	for _, k := range r.Subjects {
		switch {
		case r.Phase == PhaseTargetIntent && !p.settled[k] && !slices.Contains(p.plan.Begun, k):
			p.plan.Begun = append(p.plan.Begun, k)
		case r.Phase == PhaseOutcome:
			if !p.settled[k] {
				p.settled[k] = true
				p.plan.Done++
			}
			p.plan.Begun = slices.DeleteFunc(p.plan.Begun, func(b backend.Key) bool { return b == k })
		}
	}
}

// OpenIntents lists the plans that began and did not end, oldest first. A target without an outcome may have been acted
// on: read it again before acting on it. OpenIntents skips lines that are no records; Verify reports them.
func (j *Journal) OpenIntents(ctx context.Context) ([]OpenPlan, error) {
	var open []*planProgress
	for r, err := range j.Records(ctx, Filter{}) {
		if err != nil {
			if line := (*LineError)(nil); errors.As(err, &line) {
				continue
			}
			return nil, err
		}
		switch r.Phase {
		case PhaseIntent:
			open = append(open, &planProgress{plan: OpenPlan{Intent: r, Of: max(r.Targets, len(r.Subjects))}, settled: map[backend.Key]bool{}})
		case PhaseTargetIntent, PhaseOutcome:
			for _, p := range open {
				if p.of(&r) {
					p.take(&r)
				}
			}
			open = slices.DeleteFunc(open, (*planProgress).over)
		case PhaseDone, PhaseStopped, PhaseRefused:
			open = slices.DeleteFunc(open, func(p *planProgress) bool { return r.ends() && p.plan.Intent.Digest == r.Digest })
		case PhaseArmed, PhaseBundle, PhaseNote, PhaseAck, PhaseSilence:
		}
	}
	out := make([]OpenPlan, 0, len(open))
	for _, p := range open {
		for _, k := range p.plan.Intent.Subjects {
			if !p.settled[k] && !slices.Contains(p.plan.Begun, k) {
				p.plan.Left = append(p.plan.Left, k)
			}
		}
		p.plan.Running = j.held(p.plan.Intent.Digest)
		out = append(out, p.plan)
	}
	return out, nil
}

// UnseenStops lists, oldest first, the plans that stopped without a viewer and were not reported to a person since.
func (j *Journal) UnseenStops(ctx context.Context) ([]OpenPlan, error) {
	var out []OpenPlan
	intents := map[string]Record{}
	for r, err := range j.Records(ctx, Filter{Phases: []Phase{PhaseIntent, PhaseStopped}}) {
		if err != nil {
			if line := (*LineError)(nil); errors.As(err, &line) {
				continue
			}
			return nil, err
		}
		if r.Phase == PhaseIntent {
			intents[r.Digest] = r
			continue
		}
		out = slices.DeleteFunc(out, func(o OpenPlan) bool { return o.Intent.Digest == r.Digest })
		if intent, known := intents[r.Digest]; known && r.Unseen {
			out = append(out, OpenPlan{Intent: intent, Done: r.Done, Of: r.Targets, Stopped: &r})
		}
		delete(intents, r.Digest) // a journal may be long
	}
	return out, nil
}

// Settle ends an open plan in the journal after it was reported to a person: targets without an outcome are unknown. A
// plan that stopped unseen is marked as reported. Settle refuses a plan that is being carried out.
func (j *Journal) Settle(ctx context.Context, o OpenPlan, at time.Time, who Who) error {
	if o.Running || j.held(o.Intent.Digest) {
		return fmt.Errorf("plan %s is being carried out now", o.Intent.Digest)
	}
	e := Entry{At: at, Who: who, Verb: o.Intent.Verb, Kind: o.Intent.Kind, Digest: o.Intent.Digest}
	unknown := o.Begun
	if o.Intent.Digest == "" { // nothing else ends an intent without a plan
		unknown = slices.Concat(o.Begun, o.Left)
	}
	if len(unknown) > 0 {
		e.Phase, e.Result, e.Subjects = PhaseOutcome, ResultUnknown, unknown
		e.Detail = backend.Text("the process that acted ended before it recorded the result")
		if _, err := j.Append(ctx, e, Synced); err != nil {
			return err
		}
	}
	if o.Intent.Digest == "" {
		return nil
	}
	e.Phase, e.Result, e.Subjects, e.Targets, e.Done = PhaseStopped, ResultNone, nil, o.Of, o.Done
	e.Detail = backend.Text("found broken off at a later start")
	if o.Stopped != nil {
		e.Detail = backend.Text("told at a later start")
	}
	if _, err := j.Append(ctx, e, Synced); err != nil {
		return err
	}
	return nil
}

func (j *Journal) runPath(digest string) string {
	return filepath.Join(filepath.Dir(j.path), "audit-run-"+digest+".lock")
}

// hold locks the plan of an intent as being carried out by this process, until the process exits. mine says that this
// call took the lock.
func (j *Journal) hold(e *Entry) (mine bool, err error) {
	if e.Phase != PhaseIntent || e.Digest == "" {
		return false, nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.plans[e.Digest] != nil {
		return false, nil
	}
	if err := os.MkdirAll(filepath.Dir(j.path), 0o700); err != nil {
		return false, err
	}
	f, err := lockfile.TryOpen(j.runPath(e.Digest))
	if f != nil {
		j.plans[e.Digest] = f
	}
	return f != nil, err
}

// unlock releases the lock of hold.
func (j *Journal) unlock(digest string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if f := j.plans[digest]; f != nil {
		delete(j.plans, digest)
		_ = lockfile.Remove(f) // an empty file without a lock says nothing
	}
}

// Held reports whether a living process carries the plan out.
func (j *Journal) Held(digest string) bool { return j.held(digest) }

// Announced reports whether a plan said, before it acted on a target, that it makes something of that name.
func (j *Journal) Announced(ctx context.Context, digest, name string) (bool, error) {
	for r, err := range j.Records(ctx, Filter{Phases: []Phase{PhaseTargetIntent}, Digest: digest}) {
		if line := (*LineError)(nil); errors.As(err, &line) {
			continue // what is damaged proves nothing
		}
		if err != nil {
			return false, err
		}
		if r.Digest == digest && slices.ContainsFunc(r.Facts, func(f backend.Field) bool { return f.Name.String() == "makes" && f.Value.String() == name }) {
			return true, nil
		}
	}
	return false, nil
}

// held reports whether a living process carries the plan out.
func (j *Journal) held(digest string) bool {
	if digest == "" {
		return false
	}
	if _, err := os.Lstat(j.runPath(digest)); errors.Is(err, fs.ErrNotExist) {
		return false
	}
	f, err := lockfile.TryOpen(j.runPath(digest))
	if f == nil {
		return err == nil
	}
	_ = lockfile.Remove(f)
	return false
}
