package cloudflare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

const (
	askedAtOnce = 20               // own routes of instances in one poll
	askAgain    = 10 * time.Second // between two requests for one instance
	firstReads  = 45 * time.Second // a command that polls until everything is read gives up after so long
)

// poll is the work of one Poll.
type poll struct {
	s          *Source
	ctx, slice context.Context
	r          backend.Reading
	now        time.Time
	unread     bool   // something that is due was not read in this slice
	before     []*box // instances that were read for the first time
}

// Poll reads what is due: applications, then their instances, namespaces, and the passive routes of the bridge.
func (s *Source) Poll(ctx context.Context) (backend.Reading, error) {
	now := s.deps.Now()
	p := &poll{s: s, ctx: ctx, now: now, r: backend.Reading{Schema: backend.ReadingSchema, Source: s.deps.ID, Kind: "cloudflare", Started: now}}
	slice, cancel := context.WithTimeout(ctx, time.Duration(float64(s.deps.Interval)*sliceShare))
	defer cancel()
	p.slice = slice
	refused := p.readAccount()
	p.readBridge()
	p.readMentions()
	if refused != nil && !s.bridge.answers() {
		p.finish()
		return p.r, refused
	}
	p.assemble()
	p.endedBefore()
	p.finish()
	if refused != nil {
		p.bridgeAlone(refused)
	}
	p.bridgeWords()
	p.analyticsWords()
	return p.r, nil
}

// readAccount asks the account API what is due, and returns why it tells nothing.
func (p *poll) readAccount() *backend.Error {
	s := p.s
	if b := s.budget.State(); b.Silence > 0 {
		return &backend.Error{Kind: backend.ErrThrottled, Source: s.deps.ID, RetryAfter: b.Silence,
			Err: fmt.Errorf("the account API asked for silence for another %v: it is not asked before. All programs of the token share 1200 requests in 5 minutes", b.Silence.Round(time.Second))}
	}
	rest, left := s.limits.rest(p.now)
	if rest > 0 {
		p.unread = true
		p.note("the limit of requests is nearly used up: %d are left to all programs of the token; nothing is asked for %s", left, backend.Age(rest))
		return nil
	}
	if f := p.readApplications(); f != nil {
		s.appsNext = p.now.Add(s.deps.Interval * 9 / 10)
		kind, where, what := s.explain(f, needContainers)
		return &backend.Error{Kind: kind, Source: s.deps.ID, Where: where, RetryAfter: f.retryAfter, Err: errors.New(what)}
	}
	s.readNamespaces(p.slice)
	p.readLists()
	p.readLost()
	s.analytics.read(p.ctx, s, p.now)
	return nil
}

// bridgeAlone says what is missing where only the bridge answers: what the account API told before is old.
func (p *poll) bridgeAlone(refused *backend.Error) {
	why := backend.Textf("the account API: %s", p.clean(strings.TrimPrefix(refused.Err.Error(), "the account API "), 300))
	p.problem(backend.Key{}, refused.Kind, refused.Where, why.String())
	p.r.Degraded, p.r.Unseen = why, true
	p.r.AnsweredAt = p.s.bridge.roundAt
	p.r.Inputs = []backend.Input{backend.InputContainers} // those of the bridge
	p.r.Missing = append(p.r.Missing, backend.MissingInput{Input: backend.InputCapacity, Why: why})
	for i := range p.r.Scopes {
		p.r.Scopes[i].Complete = false
	}
	for _, b := range p.s.boxes {
		if b.problem == nil {
			p.r.Stale = append(p.r.Stale, backend.StaleMark{Key: p.s.keyOf(b), Why: why})
		}
	}
}

// readLists reads the lists that are due: those of live instances first, in all applications.
func (p *poll) readLists() {
	for which := range filters {
		var due []*app
		for _, key := range p.s.listed {
			if a := p.s.apps[key]; a.lists[which].due(p.now) && (which == listActive || a.lists[listActive].err == nil) {
				due = append(due, a)
			}
		}
		stable.Sort(due, func(a, b *app) int { return a.lists[which].next.Compare(b.lists[which].next) }) // who waits longest comes first
		p.run(len(due), func(i int) { p.s.readInstances(p.ctx, p.slice, p.now, due[i], which) })
	}
	for _, key := range p.s.listed {
		p.takeLists(p.s.apps[key])
	}
}

// run does n pieces of work, a few at once, in their order.
func (p *poll) run(n int, do func(i int)) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	next := 0
	take := func() int {
		mu.Lock()
		defer mu.Unlock()
		if next >= n || p.slice.Err() != nil {
			return -1
		}
		next++
		return next - 1
	}
	for range min(inFlight, n) {
		wg.Add(1)
		p.s.deps.Spawn.Go("read "+p.s.deps.ID, func() {
			defer wg.Done()
			for i := take(); i >= 0; i = take() {
				do(i)
			}
		})
	}
	wg.Wait()
}

// takeLists takes over the rows that were read of an application, those of pages of unfinished lists too.
func (p *poll) takeLists(a *app) {
	for which := range a.lists {
		l := &a.lists[which]
		for i := range l.part {
			p.takeRow(a, &l.part[i].row, l.part[i].at)
		}
		l.part = nil
		w := l.walk
		if w == nil {
			continue
		}
		if w.ids == nil {
			w.ids = map[backend.ID]bool{}
		}
		for i := range w.rows {
			w.ids[w.rows[i].id] = true
			p.takeRow(a, &w.rows[i].row, w.rows[i].at)
		}
		w.rows = nil
		if !w.over {
			p.unread = true
			continue
		}
		if l.said != "" { // what it leaves out may still be there
			maps.Copy(w.ids, l.ids)
		}
		l.ids, l.walk = w.ids, nil
	}
}

// takeRow takes over what a list, or its own route, says of an instance.
func (p *poll) takeRow(a *app, x *row, at time.Time) {
	b := p.s.boxes[x.id]
	if over(x.state) && !x.at.IsZero() && p.now.Sub(x.at) > p.s.opt.Ended.Std() {
		if b != nil {
			p.end(x.id)
		}
		return
	}
	if b == nil {
		b = &box{since: x.since(p.now, time.Time{})}
		p.s.boxes[x.id] = b
	}
	if at.Before(b.readAt) {
		return
	}
	first := b.app == nil
	if !first {
		p.compare(b, x)
	}
	b.row, b.app, b.readAt, b.problem = *x, a, at, nil
	b.entity.Name = a.nameOf(x)
	if first {
		p.s.recall(b)
		p.before = append(p.before, b)
	}
	if b.entity.Class == backend.SandboxRunning {
		b.ran = at
	}
}

// shortID is how many characters of an id stand in the name of an instance that has none.
const shortID = 12

// nameOf is the name of an instance; one without has that of its application, with the beginning of its id.
func (a *app) nameOf(x *row) backend.Safe {
	if !x.entity.Name.IsEmpty() {
		return x.entity.Name
	}
	raw := []rune(x.id.Raw())
	return backend.Textf("%s-%s", a.name, backend.Clean(string(raw[:min(len(raw), shortID)]), shortID))
}

// since is when an instance was in its state for certain: when the platform wrote it, no earlier than a reading that had another one;
// else now.
func (x *row) since(now, other time.Time) time.Time {
	switch {
	case x.at.IsZero() || x.at.After(now):
		return now
	case x.at.Before(other):
		return other
	}
	return x.at
}

// compare tells what happened to an instance between two readings.
func (p *poll) compare(b *box, x *row) {
	if b.state != x.state {
		b.since = x.since(p.now, b.readAt)
	}
	name := b.app.nameOf(x)
	if now, known := x.entity.StartedAt.Get(); known && !b.started.IsZero() && x.started.After(b.started) {
		b.startedAgain(now)
		p.r.Events = append(p.r.Events, backend.Event{Kind: backend.EventChange, Name: backend.ChangeStart, At: now, Source: p.s.deps.ID, Subject: p.s.keyOf(b), Leaves: backend.SandboxRunning,
			Text: backend.Textf("%s: its container started again, on an empty disk", name)})
	}
	if x.entity.ExitCode.IsKnown() && !b.entity.ExitCode.IsKnown() {
		p.stopped(b, x, name)
	}
}

// mostEndedBefore bounds the ends from before the first reading that one reading tells.
const mostEndedBefore = 200

// endedBefore tells the ends of instances from before they were first read: their platform lists them, with the time.
func (p *poll) endedBefore() {
	n := 0
	for _, b := range p.before {
		if over(b.state) && b.entity.FinishedAt.IsKnown() && n < mostEndedBefore {
			n++
			p.stopped(b, &b.row, b.entity.Name)
		}
	}
}

// stopped tells the end of an instance.
func (p *poll) stopped(b *box, x *row, name backend.Safe) {
	e := backend.Event{Kind: backend.EventPlatform, Name: backend.EventExit, At: x.entity.FinishedAt.Or(p.now), Source: p.s.deps.ID, Subject: p.s.keyOf(b), Leaves: backend.SandboxExited}
	if code, told := x.entity.ExitCode.Get(); told {
		e.Text = backend.Textf("%s: its container ended with exit code %s", name, backend.ExitText(code))
	} else {
		e.Name, e.Text = "stop", backend.Textf("%s: its container is %s", name, x.entity.Reported)
	}
	p.r.Events = append(p.r.Events, e)
}

// startedAgain notes a start on an empty disk, and until when the container of before was seen to run.
func (b *box) startedAgain(at time.Time) {
	if b.fresh, b.before = at, b.ran; !b.ran.Before(at) { // clocks differ
		b.before = time.Time{}
	}
}

// over reports whether an instance of a state runs no more.
func over(state string) bool { return classOf(state).Ended() }

// live reports whether an instance of a class holds a container.
func live(c backend.SandboxClass) bool {
	return c == backend.SandboxCreated || c == backend.SandboxRunning || c == backend.SandboxRemoving
}

// lost reports whether no list names an instance any more, or a live one is not among the live ones.
func (b *box) lost() bool {
	l := &b.app.lists
	if live(b.entity.Class) && !l[listActive].done.IsZero() && !l[listActive].ids[b.id] && l[listActive].done.After(b.readAt) {
		return true
	}
	for which := range l {
		if l[which].done.IsZero() || l[which].ids[b.id] {
			return false
		}
	}
	return true
}

// readLost asks the own routes of instances that left the lists.
func (p *poll) readLost() {
	var lost []*box
	for _, b := range p.s.boxes {
		if b.app.unlisted || p.now.Sub(b.asked) < askAgain || !b.lost() {
			continue
		}
		lost = append(lost, b)
	}
	stable.Sort(lost, func(a, b *box) int { return cmp.Or(a.asked.Compare(b.asked), a.id.Compare(b.id)) })
	if len(lost) > askedAtOnce {
		lost, p.unread = lost[:askedAtOnce], true
	}
	type told struct {
		a *answer
		f *failure
	}
	out := make([]told, len(lost))
	p.run(len(lost), func(i int) {
		if !p.s.budget.Wait(p.slice) {
			return
		}
		b := lost[i]
		out[i].a, out[i].f = p.s.get(p.ctx, "/instances/{instance}", "/containers/applications/"+url.PathEscape(b.app.id.Raw())+"/instances/"+url.PathEscape(b.id.Raw()), nil)
	})
	for i, b := range lost {
		x := out[i]
		if x.a == nil && x.f == nil {
			continue
		}
		b.asked = p.now
		if x.f.is(http.StatusNotFound) {
			p.end(b.id)
			continue
		}
		var r row
		ok := false
		if x.f == nil {
			if r, ok = p.s.decoder().instance(x.a.result); !ok || r.id != b.id {
				x.f, ok = &failure{status: http.StatusOK, err: backend.Errorf(backend.ErrInvalid, x.a.where, "the answer holds no such instance")}, false
			}
		}
		if ok {
			p.takeRow(b.app, &r, x.a.at)
			continue
		}
		kind, where, what := p.s.explain(x.f, needContainers)
		b.problem = &backend.Problem{Kind: kind, Where: p.clean(where, 300), What: p.clean(what, 400), Subject: p.s.keyOf(b), At: p.now}
	}
}

// end forgets an instance that the platform does not know any more.
func (p *poll) end(id backend.ID) {
	if b := p.s.boxes[id]; b != nil {
		p.r.Ended = append(p.r.Ended, p.s.keyOf(b))
	}
	delete(p.s.boxes, id)
}

func (p *poll) problem(subject backend.Key, kind backend.ErrorKind, where, what string) {
	switch n := len(p.r.Problems); {
	case n < maxProblems:
		p.r.Problems = append(p.r.Problems, backend.Problem{Kind: kind, Where: p.clean(where, 300), What: p.clean(what, 400), Subject: subject, At: p.s.deps.Now()})
	case n == maxProblems:
		p.r.Problems = append(p.r.Problems, backend.Problem{Kind: kind, At: p.s.deps.Now(), What: backend.Textf("more than %d problems; the rest is not listed", maxProblems)})
	}
}

func (p *poll) note(format backend.Literal, args ...any) {
	p.r.Notes = append(p.r.Notes, backend.Textf(format, args...))
}

func (p *poll) clean(raw string, limit int) backend.Safe {
	return p.s.client.Cleaner().Clean(raw, limit)
}
