package agentuity

import (
	"cmp"
	"slices"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

const (
	queuedIdle   = 15 * time.Second // idle with something queued for so long, in idleLooks readings
	idleLooks    = 3
	firstPolls   = 5               // a command that polls until everything is read gives up after so many
	verdictFresh = 5 * time.Minute // how old a passing verdict of an unattended sandbox may get before it is renewed
)

// assemble puts what changed into the reading.
func (p *poll) assemble() {
	whole := p.whole()
	lost := 0
	for _, key := range p.sorted() {
		b := p.s.boxes[key]
		p.judge(b)
		if b.lost {
			lost++
			p.partial = p.partial || b.unread() && b.problem == nil
		}
		if b.problem != nil {
			p.r.Problems = append(p.r.Problems, *b.problem)
			if p.now.Sub(b.readAt) > 2*p.s.opt.FullList.Std() {
				p.r.Stale = append(p.r.Stale, backend.StaleMark{Key: b.key(p.s), Why: b.problem.What})
			}
		}
		if (b.touched || whole) && !b.unread() {
			p.r.Sandboxes = append(p.r.Sandboxes, p.sandbox(b))
		}
		b.touched = false
	}
	p.r.Scopes = append(p.scopes, backend.Scope{Kind: backend.KindSandbox, Complete: whole && lost == 0})
	for _, y := range p.s.sessions {
		if y.touched || slices.ContainsFunc(p.scopes, func(c backend.Scope) bool { return c.Kind == backend.KindSession }) {
			p.r.Sessions = append(p.r.Sessions, y.entity)
		}
		y.touched = false
	}
	stable.Sort(p.r.Sessions, func(a, b *backend.Session) int { return a.Key.Compare(b.Key) })
	p.sortWork()
	p.refused()
	p.noteEmpty()
	if lost > 0 {
		p.note("%s left the list; their own routes are asked", backend.Counted(lost, "sandbox", "sandboxes"))
	}
}

// refused says which sandboxes cannot be read although their list can: once is ordinary, where a part was read before.
func (p *poll) refused() {
	n, first := 0, (*box)(nil)
	for _, key := range p.sorted() {
		if b := p.s.boxes[key]; b.problem != nil && (b.barred || b.fails > 1 || b.fails > 0 && (b.work.whole().IsZero() || b.events.at.IsZero())) {
			if n++; first == nil {
				first = b
			}
		}
	}
	if n > 0 {
		p.r.Unseen = true
		p.r.Degraded = cmp.Or(p.r.Degraded, backend.Textf("%s cannot be read, the first is %s: %s", backend.Counted(n, "sandbox", "sandboxes"), cmp.Or(first.entity.Name, first.id.Safe()), first.problem.What))
	}
}

// whole reports whether the lists of all regions were read to their end lately and held still, the newest of them in this poll.
func (p *poll) whole() bool {
	fresh := false
	for _, r := range p.s.regions {
		l := &r.full
		if r.err != nil || !l.whole || l.done.IsZero() || l.walk != nil || p.now.Sub(l.done) > 3*max(l.every, time.Duration(len(l.ids)/pageSize)*perPage) {
			return false
		}
		fresh = fresh || !l.done.Before(p.now)
	}
	return fresh
}

func (p *poll) sorted() []backend.ID {
	out := make([]backend.ID, 0, len(p.s.boxes))
	for key := range p.s.boxes {
		out = append(out, key)
	}
	stable.Sort(out, backend.ID.Compare)
	return out
}

// sandbox makes the entity of a box. It is a new one: what was delivered is never changed.
func (p *poll) sandbox(b *box) *backend.Sandbox {
	out := b.entity
	out.ReadAt = b.readAt
	out.Session, out.JoinedBy, out.JoinedLine = b.session, b.joinedBy, b.joinedLine
	out.Lifecycle, out.LifecycleAt = b.events.list, b.events.at
	out.WorkAt, out.Views, out.KnownSince = b.work.whole(), b.disagreement(p.now), b.since
	out.StartedAt = b.startedAt()
	out.ReapedAt = b.reaped()
	if len(b.checks) > 0 {
		out.Observed = backend.Known(backend.Observation{Verdicts: b.checks})
	}
	return &out
}

// startedAt is when the sandbox came to live last: as seen, or as its events say. Not applicable: neither tells.
func (b *box) startedAt() backend.Value[time.Time] {
	at := b.woke
	for _, e := range b.events.list {
		switch e.Kind {
		case backend.LifecycleStarted:
			at = maxTime(at, e.At)
		case backend.LifecycleResumed:
			if deferred, known := e.Deferred.Get(); known && !deferred {
				at = maxTime(at, e.At)
			}
		case backend.LifecycleCreated, backend.LifecycleSuspended, backend.LifecycleEvacuated, backend.LifecycleCheckpointed, backend.LifecycleReconciled,
			backend.LifecycleDestroyed, backend.LifecycleOther:
		}
	}
	if at.IsZero() {
		return backend.NotApplicable[time.Time]()
	}
	return backend.Known(at)
}

// reaped is when the platform removes a sandbox that sleeps on; zero: it does not sleep, or nothing tells.
func (b *box) reaped() time.Time {
	if b.entity.Class != backend.SandboxAsleep || b.paused <= 0 {
		return time.Time{}
	}
	if e, ok := (&backend.Sandbox{CloudFacts: backend.CloudFacts{Lifecycle: b.events.list}}).Latest(backend.LifecycleSuspended); ok {
		return e.At.Add(b.paused)
	}
	return time.Time{}
}

// judge brings the verdicts up to date that need no request of their own.
func (p *poll) judge(b *box) {
	p.judgeQueue(b)
	p.judgeNudges(b)
	p.judgeDriver(b)
	p.judgeCommands(b)
	p.judgeFiles(b)
}

// judgeCommands takes a command that ended since a failure for what it proves: commands run again, and the directory is worth
// another look.
func (p *poll) judgeCommands(b *box) {
	ran := b.work.newestRun()
	if ran.at.IsZero() || ran.at.After(p.now) {
		return
	}
	if v, told := find(b.checks, backend.PlaneExec); told && v.Outcome == backend.OutcomeFailed && ran.at.After(v.At) {
		b.observe(backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: ran.at, Passive: true, What: backend.Textf("a command ran in it: %s", ran.what)})
	}
	if v, told := find(b.checks, backend.PlaneList); told && v.Outcome == backend.OutcomeFailed && ran.at.After(v.At) && ran.at.After(b.suspect.at) {
		b.suspect.raise(p.now, backend.Text("a command ran in it since its directory could not be listed"))
	}
}

// judgeQueue looks whether what is queued starts. Executions run one after the other: while one runs, others wait.
func (p *poll) judgeQueue(b *box) {
	if b.work.at.IsZero() || b.work.at.Equal(b.work.judged) {
		return
	}
	b.work.judged = b.work.at
	oldest, queued, waits := b.work.stuck()
	known, told := find(b.checks, backend.PlaneQueue)
	if oldest == nil {
		b.work.looks = 0
		if !b.work.older.IsEmpty() {
			b.observe(backend.Verdict{Plane: backend.PlaneQueue, Outcome: backend.OutcomeUnknown, At: b.work.at, Passive: true, What: b.work.older})
			return
		}
		if told && (known.Outcome != backend.OutcomeOK || known.What != waits) || queued > 0 && !told {
			b.observe(backend.Verdict{Plane: backend.PlaneQueue, Outcome: backend.OutcomeOK, At: b.work.at, Passive: true, What: waits})
		}
		return
	}
	b.work.looks++
	age := b.work.at.Sub(oldest.KnownSince)
	if age < queuedIdle && (!told || known.Outcome != backend.OutcomeFailed) {
		return // ordinary
	}
	v := backend.Verdict{Plane: backend.PlaneQueue, Outcome: backend.OutcomeUnknown, At: b.work.at, Passive: true,
		What:     backend.Textf("%s queued since at least %s, and nothing runs", backend.Counted(queued, "execution is", "executions are"), oldest.KnownSince.UTC().Format("15:04:05Z")),
		Evidence: []backend.Safe{backend.Textf("%s: %s", oldest.Key.ID.Safe(), oldest.Command)}}
	if age >= p.s.opt.StuckAfter.Std() || b.status == "idle" && age >= queuedIdle && b.work.looks >= idleLooks {
		v.Outcome, v.Kind, v.Since = backend.OutcomeFailed, backend.FailExecStuckQueued, oldest.KnownSince
	}
	b.observe(v)
}

func find(all []backend.Verdict, plane backend.Plane) (backend.Verdict, bool) {
	return backend.Observation{Verdicts: all}.Of(plane)
}

// judgeDriver looks whether a driver leads the session of a sandbox. The Hub gives one driverLimit to connect.
func (p *poll) judgeDriver(b *box) {
	y := p.s.sessions[b.session]
	if y == nil || y.sandbox(p.s) != b.id || !y.expectsDriver(p) {
		p.unled(b)
		return
	}
	b.led = true
	v := backend.Verdict{Plane: backend.PlaneDriver, At: y.toldAt, Passive: true}
	name := y.entity.Key.ID.Safe()
	h := y.entity.Hub
	gaveUp, since := false, y.noDriver
	if at := b.work.newestNudge(); !at.IsZero() && at.Before(since) && !at.Before(b.woke) {
		since = at // the driver should have connected since
	}
	if r, ok := backend.HubText(h.Error.String()); ok && r.Kind == backend.ReportDriverTimeout {
		gaveUp = y.inError()
	}
	switch {
	case h.Driver.Or(false):
		v.Outcome, v.What = backend.OutcomeOK, backend.Textf("a driver leads the session %s", name)
	case !h.Driver.IsKnown() && y.join.connected.Or(false):
		v.Outcome, v.What, v.At = backend.OutcomeOK, backend.Textf("the session %s is connected", name), p.s.hub.ok
	case y.noDriver.IsZero():
		return
	case gaveUp || p.now.Sub(since) >= p.s.opt.DriverLimit.Std():
		v.Since = since
		v.Outcome, v.What = backend.OutcomeFailed, backend.Textf("no driver leads the session %s since at least %s", name, since.UTC().Format("15:04:05Z"))
		if gaveUp {
			v.Evidence = []backend.Safe{backend.Textf("the Hub says: %s", backend.HubSeconds(h.Error))}
		}
	case !y.waking():
		v.Outcome, v.What = backend.OutcomeUnknown, backend.Textf("no driver was seen at the session %s since %s; that is a failure after %s", name, since.UTC().Format("15:04:05Z"), backend.Age(p.s.opt.DriverLimit.Std()))
	default:
		v.Outcome, v.Kind = backend.OutcomeUnknown, backend.FailWaking
		v.What = backend.Textf("no driver leads the session %s yet; that is a failure after %s", name, backend.Age(p.s.opt.DriverLimit.Std()))
	}
	if known, told := find(b.checks, backend.PlaneDriver); told && known.Outcome == backend.OutcomeFailed && v.Outcome == backend.OutcomeUnknown && !known.At.Before(b.woke) {
		return // a nudge found none, and none came since
	}
	if known, told := find(b.checks, backend.PlaneDriver); told && known.Outcome == v.Outcome && known.What == v.What && !p.attention.alerting[b.id] && v.At.Sub(known.At) < verdictFresh {
		return
	}
	b.observe(v)
}

// finish adds the words about the source.
func (p *poll) finish() {
	s := p.s
	p.r.Inputs = append(p.r.Inputs, backend.InputContainers, backend.InputPlatform)
	if p.down() == nil {
		p.regionsDown()
		p.listsInDoubt()
		p.regionsInTrouble()
		p.hubWords()
		p.noteLoad()
	}
	unlisted := slices.ContainsFunc(s.regions, func(r *region) bool { return r.err == nil && r.full.done.IsZero() })
	p.r.Partial = unlisted || p.partial && s.polls <= firstPolls || p.unswept()
	p.r.Bookmarks = s.bookmarks(p.now)
	for _, place := range s.places() {
		p.r.Load = p.r.Load.Plus(place.client.TakeLoad())
	}
	offset := s.regions[0].place.client.Offset()
	p.r.ClockOffset = offset
	if text, expired := s.profile.warning(s.opt.KeyWarning.Std()); !text.IsEmpty() {
		p.note("%s", text)
		p.r.Degraded = cmp.Or(p.r.Degraded, text)
		if expired {
			p.problem(backend.Key{}, backend.ErrUnauthorised, s.profile.file, text.String())
		}
	}
	if b := s.budget.State(); b.Current < b.Configured {
		p.note("request budget %.2g of %.2g a second: %v", b.Current, b.Configured, b.Why)
	}
	if longest := s.sweep.Longest(p.swept); longest > s.opt.Sweep.Std() {
		p.note("executions, jobs and events of %d live sandboxes are read every %s: requests_per_second is %v", p.swept, backend.Age(longest), s.opt.RequestsPerSec)
	}
	p.noteAddresses()
	p.paced()
	p.r.At = s.deps.Now()
}

// paced says how old the lists of live sandboxes are that the reading repeats, and how often they are asked for.
func (p *poll) paced() {
	var every time.Duration
	for _, r := range p.s.regions {
		l := &r.live
		if l.from.IsZero() { // the first full list holds the live ones
			l = &r.full
		}
		if r.err != nil || l.from.IsZero() {
			continue
		}
		if p.r.AnsweredAt.IsZero() || l.from.Before(p.r.AnsweredAt) {
			p.r.AnsweredAt = l.from
		}
		every = max(every, r.live.rest(l.size))
	}
	p.r.Paced(every, p.s.deps.Interval, backend.Textf("the platform bounds how often lists are asked for, interval is %s", backend.Duration(p.s.deps.Interval)))
}

// unswept reports whether a command that reads once should read on: executions, jobs and events of some sandbox were not read
// yet. It says so as long as no process read them lately.
func (p *poll) unswept() bool {
	s := p.s
	if s.swept {
		return false
	}
	lately := p.now.Add(-2 * max(s.opt.Sweep.Std(), s.sweep.Longest(p.swept)))
	left, unread := 0, 0
	for _, x := range p.subjects() {
		if s.boxes[x.ID].problem != nil {
			continue // told by itself
		}
		if at := s.readOf[x.ID]; at.Before(s.started) {
			if left++; at.Before(lately) {
				unread++
			}
		}
	}
	if s.swept = left == 0; unread > 0 {
		p.r.Unseen = true
		p.note("executions, jobs and events of %d of %d sandboxes were not read yet", unread, p.swept)
	}
	return left > 0 && p.now.Sub(s.started) < firstSweep
}
