package agentuity

import (
	"fmt"
	"slices"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
	"sandglass/internal/stable"
)

// endedKept is how many ended executions and jobs are kept of a sandbox each.
const endedKept = 10

// work are the executions and jobs of a sandbox as they were last read.
type work struct {
	executions []*backend.Execution
	jobs       []*backend.Job
	at         time.Time    // of the executions
	jobsAt     time.Time    // of the jobs, zero: never, or the newest list may leave some out
	shapeless  *failure     // of a list in the newest reading that is none, or that has rows without an id
	judged     time.Time    // the reading that the queue was judged by
	older      backend.Safe // why newer executions may be missing, empty: none is
	looks      int          // readings in a row in which something was queued while nothing ran
}

// whole is when executions and jobs were last read, the older of both; zero: one of them never was.
func (w *work) whole() time.Time {
	if w.at.Before(w.jobsAt) {
		return w.at
	}
	return w.jobsAt
}

// unsettled reports whether something is queued, so that the next reading decides.
func (w *work) unsettled() bool {
	return slices.ContainsFunc(w.executions, func(x *backend.Execution) bool { return x.Class == backend.WorkQueued }) ||
		slices.ContainsFunc(w.jobs, func(j *backend.Job) bool { return j.Class == backend.WorkQueued })
}

// takeExecutions takes over a list of executions. One that is full may leave out what is queued: that stays.
func (p *poll) takeExecutions(b *box, a *answer) {
	d := p.s.decoder(b.region.place)
	all, count, ok := takeRows(p, b, a, "executions", b.work.executions, func(n wire.Node) (*backend.Execution, *backend.Work, bool) {
		x, ok := d.execution(n, b.id, b.session)
		if !ok {
			return nil, nil, false
		}
		return x, &x.Work, true
	}, func(x *backend.Execution) *backend.Work { return &x.Work })
	if !ok {
		return
	}
	b.work.older = backend.Safe{}
	if count >= rowsAsked && b.executions > count && oldestFirst(all) {
		b.work.older = backend.Textf("the platform gives the oldest %d of %d executions: what is queued among the others is not known", count, b.executions)
	}
	if count >= rowsAsked {
		for _, x := range b.work.executions {
			if !x.Class.Ended() && !slices.ContainsFunc(all, func(y *backend.Execution) bool { return y.Key == x.Key }) {
				all = append(all, x)
			}
		}
	}
	b.work.executions, b.work.at = kept(all, func(x *backend.Execution) *backend.Work { return &x.Work }), a.at
	p.r.Executions = append(p.r.Executions, b.work.executions...)
	p.scopes = append(p.scopes, backend.Scope{Kind: backend.KindExecution, Parent: b.id, Complete: b.work.shapeless == nil})
}

// oldestFirst reports whether a list of executions begins with the oldest: the platform documents no order.
func oldestFirst(all []*backend.Execution) bool {
	var first, last time.Time
	for _, x := range all {
		if at := x.StartedAt.Or(time.Time{}); !at.IsZero() {
			if first.IsZero() {
				first = at
			}
			last = at
		}
	}
	return last.After(first)
}

// takeJobs takes over a list of jobs.
func (p *poll) takeJobs(b *box, a *answer) {
	d := p.s.decoder(b.region.place)
	all, count, ok := takeRows(p, b, a, "jobs", b.work.jobs, func(n wire.Node) (*backend.Job, *backend.Work, bool) {
		j, ok := d.job(n, b.id, b.session)
		if !ok {
			return nil, nil, false
		}
		return j, &j.Work, true
	}, func(j *backend.Job) *backend.Work { return &j.Work })
	if !ok {
		return
	}
	b.work.jobs, b.work.jobsAt = kept(all, func(j *backend.Job) *backend.Work { return &j.Work }), a.at
	if count >= rowsAsked {
		b.work.jobsAt = time.Time{}
	}
	p.r.Jobs = append(p.r.Jobs, b.work.jobs...)
	p.scopes = append(p.scopes, backend.Scope{Kind: backend.KindJob, Parent: b.id, Complete: b.work.shapeless == nil})
}

// takeRows decodes a list of work and dates what is queued: the platform does not.
func takeRows[E backend.Entity](p *poll, b *box, a *answer, name string, before []E, decode func(wire.Node) (E, *backend.Work, bool), of func(E) *backend.Work) (all []E, count int, ok bool) {
	rows := a.data.Get(name)
	if rows.Kind() != '[' && !rows.IsNull() { // null is an empty list
		b.work.shapeless = a.lacks("list data."+name, "")
		return nil, 0, false
	}
	nameless := 0
	since, named := map[backend.Key]time.Time{}, map[backend.Key]bool{}
	for _, e := range before {
		since[e.EntityMeta().Key] = of(e).KnownSince
	}
	for n := range rows.Elements() {
		count++
		e, w, ok := decode(n)
		if !ok {
			nameless++
			continue
		}
		if named[e.EntityMeta().Key] {
			continue
		}
		m := e.EntityMeta()
		named[m.Key], m.ReadAt = true, a.at
		if w.Class == backend.WorkQueued {
			w.KnownSince = p.s.firstSeen(workMark(m.Key), p.now, true)
		} else {
			w.KnownSince = since[m.Key]
			delete(p.s.seen, workMark(m.Key))
		}
		all = append(all, e)
	}
	if nameless > 0 {
		b.work.shapeless = a.lacks(fmt.Sprintf("id in %d of %d rows of data.%s", nameless, count, name), "")
	}
	for k := range since {
		if !named[k] && count < rowsAsked {
			delete(p.s.seen, workMark(k))
		}
	}
	return all, count, true
}

// kept are all pieces of work that have not ended, and the newest that have, in the order of their ids.
func kept[E backend.Entity](all []E, of func(E) *backend.Work) []E {
	ended := func(e E) (time.Time, bool) {
		w := of(e)
		return w.EndedAt.Or(w.StartedAt.Or(time.Time{})), w.Class.Ended()
	}
	stable.Sort(all, func(a, b E) int {
		x, _ := ended(a)
		y, _ := ended(b)
		return y.Compare(x)
	})
	n := 0
	all = slices.DeleteFunc(all, func(e E) bool {
		if _, over := ended(e); !over {
			return false
		}
		n++
		return n > endedKept
	})
	stable.Sort(all, func(a, b E) int { return a.EntityMeta().Key.Compare(b.EntityMeta().Key) })
	return all
}

// commandRun is a command that ended with an exit code.
type commandRun struct {
	at   time.Time
	what backend.Safe
}

// newestRun is the newest command that ended with an exit code; zero where none is known.
func (w *work) newestRun() (out commandRun) {
	for _, x := range w.executions {
		code, known := x.ExitCode.Get()
		known = known && (!x.Nudge || code == 0) // how else a nudge ended cannot tell whether commands run
		if at := x.EndedAt.Or(time.Time{}); known && x.Class.Ended() && at.After(out.at) && (x.Type.IsEmpty() || x.Type.String() == "exec") {
			out = commandRun{at, backend.Textf("%s ended with exit code %d", x.Key.ID.Safe(), code)}
		}
	}
	return out
}

// newestNudge is when the newest nudge that signalled ended; zero: none did.
func (w *work) newestNudge() (at time.Time) {
	for _, x := range w.executions {
		if code, known := x.ExitCode.Get(); x.Nudge && known && code == 0 {
			at = maxTime(at, x.EndedAt.Or(time.Time{}))
		}
	}
	return at
}

// stuck is the execution that has been queued longest although nothing runs or started since, nil where there is none; waits
// says what there is then.
func (w *work) stuck() (oldest *backend.Execution, queued int, waits backend.Safe) {
	var started time.Time
	runs := false
	for _, x := range w.executions {
		runs = runs || x.Class == backend.WorkRunning
		started = maxTime(started, x.StartedAt.Or(time.Time{}))
	}
	overtaken := 0
	for _, x := range w.executions {
		switch {
		case x.Class != backend.WorkQueued:
		case started.After(x.KnownSince):
			overtaken++ // later ones ran: this record was left behind (agentuity/sdk#1370)
		default:
			queued++
			if oldest == nil || x.KnownSince.Before(oldest.KnownSince) {
				oldest = x
			}
		}
	}
	switch {
	case runs && queued > 0:
		return nil, queued, backend.Text("an execution runs; the others wait for it")
	case oldest == nil && overtaken > 0:
		return nil, 0, backend.Textf("%s overtaken by later ones that ran", backend.Counted(overtaken, "queued record was", "queued records were"))
	}
	return oldest, queued, backend.Text("nothing is queued")
}

func (p *poll) sortWork() {
	stable.Sort(p.r.Executions, func(a, b *backend.Execution) int { return a.Key.Compare(b.Key) })
	stable.Sort(p.r.Jobs, func(a, b *backend.Job) int { return a.Key.Compare(b.Key) })
}
