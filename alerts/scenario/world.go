package scenario

import (
	"time"

	"sandglass/backend"
)

// world is the simulated fleet as it is, whether a source shows it or not.
type world struct {
	plan     *plan
	entities []*observedEntity // sessions, workspaces, sandboxes, hosts, scratch directories, references
	work     map[int]*attempts
	box      map[int]*lifetime
}

// observedEntity is what a reading shows of one entity at this step.
type observedEntity struct {
	key    backend.Key
	entity func(backend.Meta) backend.Entity // nil: it cannot be read
	gone   bool                              // it has ended or was removed
}

type attempts struct{ attempt, success time.Time }

type lifetime struct{ started, finished time.Time }

func newWorld(p *plan) *world {
	w := &world{plan: p, work: map[int]*attempts{}, box: map[int]*lifetime{}}
	before := func(d backend.Duration) time.Time {
		if d == 0 {
			return time.Time{}
		}
		return p.Start.Add(-d.Std())
	}
	for i, x := range p.work {
		w.work[i] = &attempts{before(x.Attempted), before(x.Succeeded)}
	}
	for i := range p.sandbox {
		w.box[i] = &lifetime{before(p.sandbox[i].Began), before(p.sandbox[i].Ended)}
	}
	return w
}

// advance moves the world on to a step.
func (w *world) advance(step int, now time.Time) {
	w.entities = w.entities[:0]
	ended := map[backend.Key]bool{}
	for i := range w.plan.session {
		s := &w.plan.session[i]
		t := &observedEntity{key: s.key}
		if s.ends > 0 && step >= s.ends || at(s.states, step) == wordStale {
			t.gone = true
			ended[s.key] = true
		} else if word := at(s.states, step); word != wordMissing {
			answer := at(s.answers, step)
			t.entity = func(m backend.Meta) backend.Entity { return s.entity(m, word, answer, w.plan, step) }
		}
		w.entities = append(w.entities, t)
	}
	for i := range w.plan.work {
		w.addWorkspace(i, step, now, ended)
	}
	for i := range w.plan.sandbox {
		w.addSandbox(i, step, now)
	}
	w.addWorks(step)
	w.addResources(step)
}

func (w *world) addWorkspace(i, step int, now time.Time, ended map[backend.Key]bool) {
	x, tried := &w.plan.work[i], w.work[i]
	if step < len(x.attempts) {
		switch x.attempts[step] {
		case "ok":
			tried.attempt, tried.success = now, now
		case "fail":
			tried.attempt = now
		}
	}
	t := &observedEntity{key: x.key}
	owner := backend.Key{Kind: backend.KindSession, Source: x.key.Source, ID: x.key.Parent}
	switch word := at(x.states, step); {
	case ended[owner]:
		t.gone = true
	case word == wordStale:
		t.gone = true
	case word != wordMissing:
		seen := *tried
		t.entity = func(m backend.Meta) backend.Entity { return x.entity(m, word, w.plan.class(word), seen) }
	}
	w.entities = append(w.entities, t)
}

func (w *world) addSandbox(i, step int, now time.Time) {
	x, life := &w.plan.sandbox[i], w.box[i]
	t := &observedEntity{key: x.key}
	switch word := at(x.states, step); word {
	case wordStale:
		t.gone = true
	case wordMissing:
	default:
		class := backend.SandboxClass(word)
		if over := class == backend.SandboxExited || class == backend.SandboxDead; over && life.finished.IsZero() {
			life.finished = now
		} else if !over && (life.started.IsZero() || !life.finished.IsZero()) {
			*life = lifetime{started: now}
		}
		was := *life
		t.entity = func(m backend.Meta) backend.Entity { return x.entity(m, class, was, w.plan, step) }
	}
	w.entities = append(w.entities, t)
}

func (p *plan) class(word string) backend.StateClass {
	if c, ok := p.Classes[word]; ok {
		return c
	}
	switch word {
	case "failed":
		return backend.ClassFailed
	case "evicted":
		return backend.ClassEvicted
	}
	return backend.ClassUnknown
}

func (s *sessionPlan) entity(m backend.Meta, word, answer string, p *plan, step int) backend.Entity {
	e := &backend.Session{Meta: m, Status: backend.Clean(word, 60)}
	e.Answer, _ = answerWord(answer)
	switch word {
	case "running":
		e.Running, e.ListedRunning = backend.Known(true), backend.Known(true)
	case "idle":
		e.Running, e.ListedRunning = backend.Known(false), backend.Known(false)
	}
	e.Tenant = backend.Clean(s.Tenant, 60)
	if s.Started > 0 {
		e.StartedAt = backend.Known(p.Start.Add(-s.Started.Std()))
	}
	s.SessionFacts.put(e)
	s.putHub(e, p, step)
	return e
}

func (x *workspacePlan) entity(m backend.Meta, word string, class backend.StateClass, tried attempts) backend.Entity {
	e := &backend.Workspace{Meta: m, Named: true, Reported: backend.Clean(word, 60), Class: class,
		LastAttemptAt: known(tried.attempt), LastSuccessAt: known(tried.success), LastOpAt: backend.NotApplicable[time.Time]()}
	e.Provider = backend.Clean(x.Provider, 60)
	if class == backend.ClassFailed || class == backend.ClassEvicted || tried.attempt.After(tried.success) {
		e.LastError = backend.Clean(x.Error, 4000)
	}
	x.WorkspaceFacts.put(e)
	return e
}

func (x *sandboxPlan) entity(m backend.Meta, class backend.SandboxClass, life lifetime, p *plan, step int) backend.Entity {
	e := &backend.Sandbox{Meta: m, Name: backend.Clean(x.ID, 60), Provider: backend.Clean(x.Provider, 60), IsSandbox: true, Reported: backend.Clean(string(class), 40), Class: class,
		StartedAt: known(life.started), CreatedAt: known(life.started), FinishedAt: known(life.finished)}
	if x.Session != "" {
		e.Session = backend.MustID(x.Session)
	}
	if !life.finished.IsZero() {
		e.ExitCode, e.OOMKilled = backend.Known(x.ExitCode), backend.Known(x.OOMKilled)
	}
	x.put(e, p, step)
	return e
}

func known(t time.Time) backend.Value[time.Time] {
	if t.IsZero() {
		return backend.NotApplicable[time.Time]()
	}
	return backend.Known(t)
}
