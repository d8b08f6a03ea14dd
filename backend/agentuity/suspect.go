package agentuity

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

const (
	// suspectEvery is the shortest time between two lists of a directory of one sandbox: whether one wakes, bills or
	// records anything is not documented.
	suspectEvery = 5 * time.Minute
	suspectFor   = 15 * time.Minute // how long a suspicion keeps a sandbox urgent
	settled      = 15 * time.Second // how long after a suspend a list may still call the sandbox live
	claimAgain   = 30 * time.Second // after another process listed it
	toldEvery    = 100 * time.Millisecond
	listsAtOnce  = 4 // directories that one poll lists
	manyEntries  = 4 // a directory that had at least so many lost most of them where a quarter is left
)

// suspicion is why a sandbox may be broken, and when it was last looked into.
type suspicion struct {
	at     time.Time // of the newest reason, zero: none
	why    backend.Safe
	listed time.Time // when its directory was last listed
	served time.Time // the reason that this was for
}

// since reports whether a reason is fresh.
func (x *suspicion) since(now time.Time) bool { return !x.at.IsZero() && now.Sub(x.at) < suspectFor }

// open reports whether a reason is fresh and the directory was not listed for it.
func (x *suspicion) open(now time.Time) bool { return x.since(now) && x.at.After(x.served) }

// raise notes a reason.
func (x *suspicion) raise(at time.Time, why backend.Safe) {
	if at.After(x.at) {
		x.at, x.why = at, why
	}
}

// suspects raises what the Hub, logs and events give reason to suspect.
func (p *poll) suspects() {
	for _, r := range p.attention.reports {
		b := p.boxOf(r.Session, r.Sandbox)
		if b == nil || r.At.After(p.now) || r.At.Before(b.woke) {
			continue
		}
		if r.Kind.Suspicious() {
			b.suspect.raise(r.At, backend.Textf("a log line of its session: %s", r.Text))
		}
		p.reported(b, r)
	}
	for _, h := range p.s.sessions {
		b := p.s.boxes[h.sandbox(p.s)]
		if b == nil || h.entity == nil || h.entity.Hub.Error.IsEmpty() || !h.inError() || h.errorAt.Before(b.woke) {
			continue
		}
		if r, ok := backend.HubText(h.entity.Hub.Error.String()); ok {
			r.At, r.Text = h.errorAt, h.entity.Hub.Error
			if r.Kind.Suspicious() {
				b.suspect.raise(h.errorAt, backend.Textf("the Hub's error of its session: %s", backend.HubSeconds(h.entity.Hub.Error)))
			}
			p.reported(b, r)
		}
	}
	for _, b := range p.s.boxes {
		if at, why, is := b.odd(); is && live(b.status) {
			b.suspect.raise(maxTime(at, b.since), why)
		}
	}
}

// boxOf is the sandbox that a log line is about.
func (p *poll) boxOf(session, sandbox backend.ID) *box {
	if b := p.s.boxes[sandbox]; b != nil {
		return b
	}
	if b := p.s.boxes[p.s.saidOf[session].sandbox]; b != nil {
		return b
	}
	if h := p.s.sessions[session]; h != nil {
		return p.s.boxes[h.sandbox(p.s)]
	}
	return nil
}

// reported makes a verdict of what the Hub says: a command that the platform answered with a server error, or a resume that it
// refused for good.
func (p *poll) reported(b *box, r backend.Report) {
	if r.Kind == backend.ReportNoCheckpoint && classOf(b.status) == backend.SandboxAsleep {
		for _, plane := range []backend.Plane{backend.PlaneControl, backend.PlaneExec} { // no order and no command reaches it
			b.observe(backend.Verdict{Plane: plane, Outcome: backend.OutcomeFailed, Kind: backend.FailNoCheckpoint, At: r.At, Passive: true,
				What: backend.Text("it has no checkpoint to resume from: the platform cannot bring it back"), Evidence: []backend.Safe{r.Text}})
		}
		return
	}
	if r.Kind == backend.ReportDriverNotFound {
		b.driverMissing(r.At, r.Text)
		return
	}
	if known, told := find(b.checks, backend.PlaneDriver); r.Kind.Suspicious() && live(b.status) && (!told || r.At.After(known.At)) {
		b.observe(backend.Verdict{Plane: backend.PlaneDriver, Outcome: backend.OutcomeUnknown, At: r.At, Passive: true, What: backend.Text("its hub could not reach the driver"), Evidence: []backend.Safe{r.Text}})
	}
	if r.Status < 500 || r.Kind != backend.ReportNudgeFailed && r.Kind != backend.ReportNotReconnected {
		return
	}
	b.observe(backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailControl5xx, At: r.At, Passive: true,
		What: backend.Textf("the Hub's command in it was answered %d", r.Status), Evidence: []backend.Safe{r.Text}})
}

// driverMissing notes that a nudge ran and found no driver process: commands run, and the driver is dead.
func (b *box) driverMissing(at time.Time, said backend.Safe) {
	if known, told := find(b.checks, backend.PlaneDriver); at.Before(b.woke) || told && !at.After(known.At) {
		return
	}
	b.observe(backend.Verdict{Plane: backend.PlaneDriver, Outcome: backend.OutcomeFailed, At: at, Passive: true,
		What: backend.Text("a nudge found no driver process"), Evidence: []backend.Safe{said}})
	if known, told := find(b.checks, backend.PlaneExec); !told || known.Outcome == backend.OutcomeFailed && at.After(known.At) {
		b.observe(backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: at, Passive: true, What: backend.Text("a command ran: it looked for the driver")})
	}
}

// judgeNudges reads what ended nudges prove. That a nudge succeeded proves only that it signalled.
func (p *poll) judgeNudges(b *box) {
	for _, x := range b.work.executions {
		at, ended := x.EndedAt.Get()
		if !ended || !x.Nudge || at.Before(b.woke) {
			continue
		}
		if r, is := backend.HubText(x.Error.String()); is && r.Kind == backend.ReportDriverNotFound {
			b.driverMissing(at, x.Error)
		}
	}
}

// odd reports whether the newest lifecycle events fit a sandbox that is not what its status says: the platform corrected its
// record from asleep, or moved or suspended it right after a resume. A suspend counts where a later list still calls it live.
func (b *box) odd() (at time.Time, why backend.Safe, is bool) {
	e, is := backend.OddResume(b.events.list)
	switch {
	case !is:
	case e.Kind == backend.LifecycleReconciled:
		return e.At, backend.Textf("the platform corrected its record from %s", e.Previous), true
	case e.Kind == backend.LifecycleEvacuated:
		return e.At, backend.Text("it was moved off its host right after a resume"), true
	case e.Kind == backend.LifecycleSuspended && b.readAt.Sub(e.At) > settled:
		return e.At, backend.Text("it was suspended right after a resume, and is reported live"), true
	}
	return at, why, false
}

// lookAtSuspects lists one directory of each live sandbox that gives a new reason, at most every suspectEvery.
func (p *poll) lookAtSuspects() {
	p.suspects()
	p.takeTold()
	due := p.dueSuspects()
	var jobs []job
	for _, b := range due[:min(len(due), listsAtOnce)] {
		jobs = append(jobs, p.listDirectory(b))
	}
	p.run(jobs)
}

// takeTold takes over what other processes found when they listed the directories of suspects.
func (p *poll) takeTold() {
	if p.s.claims == nil {
		return
	}
	for _, b := range p.s.boxes {
		if live(b.status) && b.suspect.open(p.now) {
			if v, told := p.s.claims.Told(p.s.listClaim(b)); told {
				p.told(b, v)
			}
		}
	}
}

// told takes over what another process found when it listed a directory. It counts as long as the sandbox did not start since.
func (p *poll) told(b *box, v backend.Verdict) {
	known, has := find(b.checks, backend.PlaneList)
	now := p.s.deps.Now() // it may have been found during this poll
	if v.Plane != backend.PlaneList || v.At.After(now) || now.Sub(v.At) > suspectEvery || v.At.Before(b.startedAt().Or(time.Time{})) || has && !v.At.After(known.At) {
		return
	}
	b.observe(v)
	if b.suspect.listed = v.At; !v.At.Before(b.suspect.at) {
		b.suspect.served = b.suspect.at
	}
}

// listClaim is under which name the processes of a state directory together list the directory of a sandbox.
func (s *Source) listClaim(b *box) string { return "list " + s.deps.ID + " " + b.id.Raw() }

// dueSuspects are the sandboxes whose directory is to be listed, the longest suspect first.
func (p *poll) dueSuspects() (due []*box) {
	if !p.s.opt.ListDirectory || p.s.deps.Tap != nil { // doctor reads a source several times
		return nil
	}
	for _, b := range p.s.boxes {
		x := &b.suspect
		if at, known := p.s.seen[listedMark(b.id)]; known && at.After(x.listed) && !at.After(p.now) {
			x.listed = at // by a former process
		}
		if live(b.status) && x.open(p.now) && (x.listed.IsZero() || p.now.Sub(x.listed) >= suspectEvery) {
			due = append(due, b)
		}
	}
	stable.Sort(due, func(a, b *box) int { return cmp.Or(a.suspect.at.Compare(b.suspect.at), a.id.Compare(b.id)) })
	return due
}

// listDirectory lists one directory of a sandbox that its status route calls live. Its request is the only one of this kind in flight for the sandbox.
func (p *poll) listDirectory(b *box) job {
	return func(ctx context.Context) func() {
		query := url.Values{"path": {p.s.opt.Directory}}
		if now, _ := p.ask(ctx, b, "status", "/sandbox/status/"+url.PathEscape(b.id.Raw()), nil); now != nil {
			if word, _ := now.data.Get("status").Text(); word != "" && !live(word) {
				return nil // the list that calls it live is older
			}
		}
		if !p.pay(b) {
			return nil // a claim would bar it for all
		}
		if p.s.claims != nil {
			if due, last := p.s.claims.Claim(p.s.listClaim(b), suspectEvery); !due { // another process lists it
				v, told := p.awaitTold(b, last)
				return func() {
					if b.suspect.listed = p.now.Add(claimAgain - suspectEvery); told {
						p.told(b, v)
					}
				}
			}
		}
		began := p.s.deps.Now()
		a, f := p.askPaid(ctx, b, "fs/list", "/fs/list/"+url.PathEscape(b.id.Raw()), query)
		if f == errLater {
			return nil
		}
		at := p.s.deps.Now()
		return func() {
			b.suspect.listed, b.suspect.served = at, b.suspect.at
			p.s.seen[listedMark(b.id)], p.s.used[listedMark(b.id)] = at, true
			v := p.listVerdict(b, a, f)
			v.At, v.Took = at, at.Sub(began)
			b.observe(v)
			if p.s.claims != nil {
				p.s.claims.Tell(p.s.listClaim(b), v)
			}
			if v.Outcome == backend.OutcomeOK {
				b.listed.at = at
			}
		}
	}
}

// awaitTold waits for what another process finds that began to list a directory just now, so that a command that reads once
// concludes the same.
func (p *poll) awaitTold(b *box, began time.Time) (backend.Verdict, bool) {
	for {
		v, told := p.s.claims.Told(p.s.listClaim(b))
		if told || p.s.polls > firstPolls || p.s.deps.Now().Sub(began) > p.s.deps.Deadline {
			return v, told
		}
		pause := time.NewTimer(toldEvery)
		select {
		case <-p.slice.Done():
			pause.Stop()
			return v, false
		case <-pause.C:
		}
	}
}

// listVerdict is what the list of a directory says about a sandbox.
func (p *poll) listVerdict(b *box, a *answer, f *failure) backend.Verdict {
	dir := p.clean(p.s.opt.Directory, 200)
	v := backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeUnknown}
	if f == nil {
		files := a.data.Get("files")
		n := 0
		for range files.Elements() {
			n++
		}
		if files.Kind() != '[' {
			v.What = backend.Text("the answer to a list of its directory cannot be read")
			return v
		}
		b.refusedAt = time.Time{}
		v.Outcome, v.What = backend.OutcomeOK, backend.Textf("%s has %s", dir, backend.Counted(n, "entry", "entries"))
		b.listed.entries = n
		return v
	}
	v.Evidence = []backend.Safe{p.clean(f.said(), 400), backend.Textf("looked at because: %s", b.suspect.why)}
	if path, gone := mountGone(f.message); gone && (f.is(http.StatusNotFound) || f.status >= 500) {
		v.Outcome, v.Kind = backend.OutcomeFailed, backend.FailMountGone
		v.What = backend.Textf("its mount is gone: %s", p.clean(path, 200))
		if owner := mountOwner(path); owner != "" && owner != b.id.Raw() {
			v.What = backend.Textf("its mount is gone, and the path is that of another sandbox: %s", p.clean(path, 200))
		}
		return v
	}
	kind, _, what := p.explain(f, b)
	switch {
	case f.is(http.StatusNotFound) && f.code == "SANDBOX_NOT_FOUND":
		v.Kind, v.What = backend.FailGone, backend.Text("the platform does not find it")
	case f.is(http.StatusNotFound):
		v.What = backend.Textf("%s cannot be listed: the platform does not find it", dir)
	case f.status >= 500: // it has hit healthy sandboxes too (agentuity/sdk#1217)
		v.What = backend.Textf("whether %s can be listed is not known: the platform answered %d, as it did for healthy sandboxes", dir, f.status)
	case kind == backend.ErrUnauthorised:
		v.Kind, v.What = backend.FailUnauthorised, p.clean(what, 300)
	case kind == backend.ErrThrottled:
		v.Kind, v.What = backend.FailThrottled, p.clean(what, 300)
	default:
		v.What = p.clean(what, 300)
	}
	if v.Kind != "" {
		return v
	}
	if b.refusedAt.IsZero() { // one more look tells whether it passes
		b.refusedAt = p.now
		b.suspect.raise(p.now, backend.Text("its directory could not be listed"))
	} else {
		v.What = backend.Textf("%s; so it was since %s", v.What, b.refusedAt.UTC().Format("15:04:05Z"))
	}
	return v
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
