package agentuity

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
	"sandglass/internal/stable"
)

const (
	hubEvery    = 10 * time.Second
	hubShare    = 0.25            // of requests_per_second, on top of them
	hubDetails  = 12              // sessions whose own routes one poll asks
	hubAgain    = time.Minute     // after the Hub could not be found
	detailEvery = 4 * time.Second // of one session
)

// hub is the Coder Hub and how far its list is read.
type hub struct {
	place  *place // nil: not found yet
	next   time.Time
	offset int
	rows   []*backend.Session // of the walk in progress
	joins  []join
	failed *failure
	ok     time.Time           // when its list was last read to its end
	missed map[backend.ID]bool // sessions that its newest list left out; true: their end is told
}

// hubSession is one session of the Hub.
type hubSession struct {
	entity   *backend.Session // as the list says, with what its own routes added; never changed once it is delivered
	join     join
	asked    time.Time // its own routes
	errorAt  time.Time // when its error was first seen
	told     []backend.Participant
	toldAt   time.Time
	noDriver time.Time // since when no reading found a driver, zero: it has one or needs none
	touched  bool
}

// joinHub makes the client of the Hub.
func (s *Source) joinHub(base string) error {
	base = strings.TrimSuffix(trimSlash(base), "/api")
	p, err := s.place(base, wire.NewBudget(s.hubPerSecond(), s.deps.Now))
	if err != nil {
		return err
	}
	p.asks = "is " + p.base + " a Coder Hub? If not, " + noHub
	if s.opt.Org != "" {
		p.header.Set(headerOrg, s.opt.Org)
	}
	s.hub.place = p
	return nil
}

// hubPerSecond is the request budget of the Hub.
func (s *Source) hubPerSecond() float64 { return max(s.opt.RequestsPerSec*hubShare, 1) }

// trusted reports whether a Hub that an answer names gets the key: it is below an allowed domain, or where a region is.
func (s *Source) trusted(raw string) bool {
	u, err := wire.ParseURL(raw)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	for _, r := range s.regions {
		if v, err := wire.ParseURL(r.place.base); err == nil && v.Scheme == u.Scheme && strings.EqualFold(v.Hostname(), u.Hostname()) {
			return true
		}
	}
	return u.Scheme == "https" && slices.ContainsFunc(s.opt.HubHosts, func(d string) bool { return host == d || strings.HasSuffix(host, "."+d) })
}

// noHub is the next step where a region does not say where the Hub is.
const noHub = "set hub_url, or hub = false"

// findHub asks the first region where the Hub is.
func (p *poll) findHub() {
	h := &p.s.hub
	r := p.s.regions[0]
	a, f := p.askIn(p.ctx, r, "coder", "/coder", nil)
	if f == errLater {
		return
	}
	h.next = p.now.Add(hubAgain)
	if f != nil {
		c := *f
		c.asks = noHub
		h.failed = &c
		return
	}
	at, _ := a.data.Get("url").Text()
	refuse := func(format string, args ...any) {
		h.failed = &failure{status: http.StatusOK, err: backend.Errorf(backend.ErrInvalid, a.where, format, args...)}
	}
	switch {
	case at == "":
		refuse("the answer names no Hub (url); %s", noHub)
	case !p.s.trusted(at):
		refuse("names the Hub %s, which is below none of hub_hosts: the key is not sent there; add its domain, or set hub_url", backend.Clean(at, 120))
	default:
		if err := p.s.joinHub(at); err != nil {
			refuse("names the Hub %s: %v", backend.Clean(at, 120), err)
			return
		}
		h.failed, h.next = nil, time.Time{}
	}
}

// readHub reads the Hub's list when it is due, and then the sessions in doubt.
func (p *poll) readHub() {
	h := &p.s.hub
	defer p.bind()
	if !p.s.opt.Hub {
		return
	}
	if h.place == nil && !p.now.Before(h.next) {
		p.findHub()
	}
	if h.place == nil {
		return
	}
	if !p.now.Before(h.next) {
		p.run([]job{func(ctx context.Context) func() { p.walkHub(ctx); return nil }})
		p.partial = p.partial || h.failed == nil && h.ok.IsZero()
	}
	p.readSessions()
}

// walkHub reads the pages of the Hub's list that are left.
func (p *poll) walkHub(ctx context.Context) {
	h := &p.s.hub
	for {
		if !h.place.budget.Wait(p.slice) {
			return
		}
		a, f := h.place.get(ctx, "hub/sessions", "/api/hub/sessions", url.Values{"limit": {strconv.Itoa(pageSize)}, "offset": {strconv.Itoa(h.offset)}})
		if f != nil {
			h.failed, h.next, h.offset, h.rows, h.joins = f, p.now.Add(hubEvery*9/10), 0, nil, nil
			return
		}
		list := a.data.Get("sessions")
		if list.Kind() != '{' {
			h.failed = a.lacks("object sessions", h.place.asks)
			h.next, h.offset, h.rows, h.joins = p.now.Add(hubEvery*9/10), 0, nil, nil
			return
		}
		d, count := p.s.decoder(h.place), 0
		for n := range list.Get("websocket").Elements() {
			count++
			if s, ok := d.session(n); ok {
				s.ReadAt = a.at
				h.rows = append(h.rows, s)
			}
		}
		rest := 0
		for n := range list.Get("sandbox").Elements() {
			rest++
			if j, ok := d.join(n); ok {
				h.joins = append(h.joins, j)
			}
		}
		h.failed = nil
		h.offset += max(count, rest)
		if total, told := number(a.data.Get("total")); max(count, rest) == 0 || told && h.offset >= total || !told && max(count, rest) < pageSize {
			p.takeHub(a.at)
			return
		}
	}
}

// takeHub takes over a list of the Hub that was read to its end.
func (p *poll) takeHub(at time.Time) {
	h, s := &p.s.hub, p.s
	named := map[backend.ID]bool{}
	joins := map[backend.ID]join{}
	for _, j := range h.joins {
		if old, twice := joins[j.session]; !twice || old.sandbox.IsZero() || j.connected.Or(false) && !old.connected.Or(false) {
			joins[j.session] = j
		}
	}
	d := s.decoder(h.place)
	for _, x := range h.rows {
		named[x.Key.ID] = true
	}
	for key, j := range joins { // a row without a session of its own
		if !named[key] {
			named[key] = true
			h.rows = append(h.rows, &backend.Session{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSession, Source: s.deps.ID, ID: key}, ReadAt: at}, Status: d.cut(j.status, 60),
				Running: runs(j.status), ListedRunning: runs(j.status), Hub: &backend.HubSession{}, SessionFacts: backend.SessionFacts{Runtime: backend.Text("agentuity coder")}})
		}
	}
	for _, x := range h.rows {
		y := s.sessions[x.Key.ID]
		if y == nil {
			y = &hubSession{}
			s.sessions[x.Key.ID] = y
		}
		y.take(p, x, joins[x.Key.ID])
	}
	p.leftHub(named, len(h.rows) <= pageSize)
	h.ok, h.next, h.offset, h.rows, h.joins = at, p.now.Add(hubEvery*9/10), 0, nil, nil
	p.scopes = append(p.scopes, backend.Scope{Kind: backend.KindSession, Complete: true})
}

// take takes over what the list says of a session; what its own routes said last stays.
func (y *hubSession) take(p *poll, x *backend.Session, j join) {
	x.Hub.Connected = j.connected
	if old := y.entity; old != nil && x.Hub.Error.IsEmpty() && old.Status == x.Status {
		x.Hub.Error, x.Hub.Trace = old.Hub.Error, old.Hub.Trace // the list carries none
	}
	if x.Status.IsEmpty() {
		x.Status = p.clean(j.status, 60)
	}
	if y.entity == nil || y.entity.Hub.Error != x.Hub.Error {
		y.errorAt = p.now
	}
	y.entity, y.join = x, j
	x.Hub.Sandbox, x.Hub.JoinedBy = y.joined(p.s)
	y.settle(p)
}

// inError reports whether the session is in its error now: the Hub keeps its last error after its cause is gone (agentuity/sdk#1343).
func (y *hubSession) inError() bool {
	word := strings.ToLower(y.entity.Status.String())
	return word == "error" || word == "failed"
}

// waking reports whether the Hub waits for the driver of the session now.
func (y *hubSession) waking() bool {
	word := strings.ToLower(y.entity.Status.String())
	return word == "creating" || word == "resuming"
}

// settle fills in who drives the session. The entity is one that was not delivered yet.
func (y *hubSession) settle(p *poll) {
	h := y.entity.Hub
	h.Participants, h.DriverAt, h.Driver = y.told, y.toldAt, backend.Unknown[bool]()
	if !y.toldAt.IsZero() {
		h.Driver = backend.Known(slices.ContainsFunc(y.told, func(x backend.Participant) bool { return strings.EqualFold(x.Role.String(), backend.RoleLead) }))
	}
	mark := driverMark(y.entity.Key.ID, y.sandbox(p.s))
	lacks := !h.Driver.Or(true)
	if h.Driver.Or(false) || !y.expectsDriver(p) {
		delete(p.s.seen, mark)
		y.noDriver = time.Time{}
	} else if lacks {
		y.noDriver = p.s.firstSeen(mark, y.toldAt, true)
	}
	h.NoDriverSince = y.noDriver
	y.touched = true
}

// expectsDriver reports whether a driver should lead the session: its sandbox is live, and the session is not put away.
func (y *hubSession) expectsDriver(p *poll) bool {
	b := p.s.boxes[y.sandbox(p.s)]
	if b == nil || !live(b.status) {
		return false
	}
	switch strings.ToLower(y.entity.Status.String()) {
	case "archived", "shutdown", "paused", "stopped":
		return false
	}
	return !strings.EqualFold(y.entity.Hub.Bucket.String(), "history")
}

// bind joins sandboxes with their sessions. Of several sessions the one that is connected counts, then the one that began last.
func (p *poll) bind() {
	best := map[backend.ID]*hubSession{}
	for _, y := range p.s.sessions {
		if y.join.sandbox.IsZero() {
			continue
		}
		old := best[y.join.sandbox]
		if old == nil || y.over(old) > 0 {
			best[y.join.sandbox] = y
		}
	}
	said := p.saidJoins()
	for key, b := range p.s.boxes {
		session := b.row.session
		var by, line backend.Safe
		if y := best[key]; y != nil {
			session, by = y.entity.Key.ID, backend.Text(byHub)
		} else if x, is := said[key]; is && session.IsZero() {
			session, by, line = x.session, x.by(), x.line
		}
		if session != b.session || by != b.joinedBy || line != b.joinedLine {
			b.session, b.joinedBy, b.joinedLine, b.touched = session, by, line, true
		}
	}
	for _, y := range p.s.sessions {
		if of, by := y.joined(p.s); of != y.entity.Hub.Sandbox || by != y.entity.Hub.JoinedBy {
			x, hub := *y.entity, *y.entity.Hub // what was delivered is never changed
			hub.Sandbox, hub.JoinedBy, x.Hub = of, by, &hub
			y.entity, y.touched = &x, true
		}
	}
}

func (y *hubSession) over(o *hubSession) int {
	connected := func(x *hubSession) int {
		if x.join.connected.Or(false) {
			return 1
		}
		return 0
	}
	began := func(x *hubSession) time.Time { return x.entity.StartedAt.Or(time.Time{}) }
	return cmp.Or(cmp.Compare(connected(y), connected(o)), began(y).Compare(began(o)), y.entity.Key.ID.Compare(o.entity.Key.ID))
}

// doubt reports whether the own routes of a session are asked: it is in trouble, it should be connected and is not, or somebody
// looks at it or at its sandbox.
func (y *hubSession) doubt(p *poll) bool {
	if p.attention.sessions[y.entity.Key.ID] || p.attention.alerting[y.sandbox(p.s)] || p.attention.visible[y.sandbox(p.s)] || p.accused(y) || !y.noDriver.IsZero() {
		return true
	}
	switch strings.ToLower(y.entity.Status.String()) {
	case "archived", "shutdown", "stopped":
		return false
	case "error", "failed", "creating", "resuming":
		return true
	}
	return y.expectsDriver(p) && !y.join.connected.Or(true)
}

// accused reports whether a log line lately gave reason to look at the session or its sandbox.
func (p *poll) accused(y *hubSession) bool {
	at := y.sandbox(p.s)
	return slices.ContainsFunc(p.attention.reports, func(r backend.Report) bool {
		return r.Kind.Suspicious() && p.now.Sub(r.At) < suspectFor && (r.Session == y.entity.Key.ID || !at.IsZero() && r.Sandbox == at)
	})
}

// readSessions asks the own routes of the sessions in doubt, the longest not asked first.
func (p *poll) readSessions() {
	var all []*hubSession
	for _, y := range p.s.sessions {
		if y.doubt(p) && p.now.Sub(y.asked) >= detailEvery {
			all = append(all, y)
		}
	}
	stable.Sort(all, func(a, b *hubSession) int {
		return cmp.Or(a.asked.Compare(b.asked), a.entity.Key.ID.Compare(b.entity.Key.ID))
	})
	var jobs []job
	for _, y := range all[:min(len(all), hubDetails)] {
		jobs = append(jobs, p.readSession(y))
	}
	p.run(jobs)
}

func (p *poll) readSession(y *hubSession) job {
	return func(ctx context.Context) func() {
		h := &p.s.hub
		at := "/api/hub/session/" + url.PathEscape(y.entity.Key.ID.Raw())
		ask := func(route, path string) (*answer, *failure) {
			if !h.place.budget.Wait(p.slice) {
				return nil, errLater
			}
			return h.place.get(ctx, route, path, nil)
		}
		detail, df := ask("hub/session", at)
		people, pf := ask("hub/participants", at+"/participants")
		if df == errLater && pf == errLater {
			return nil
		}
		return func() { p.takeSession(y, detail, people, df, pf) }
	}
}

// takeSession takes over what the own routes of a session say. A session that is not found may be one that wakes.
func (p *poll) takeSession(y *hubSession, detail, people *answer, df, pf *failure) {
	if p.s.sessions[y.entity.Key.ID] != y {
		return
	}
	y.asked = p.now
	x := *y.entity
	hub := *x.Hub
	x.Meta = backend.Meta{Key: x.Key, ReadAt: p.now, Raw: x.Raw}
	x.Hub = &hub
	if df == nil {
		if s, ok := p.s.decoder(p.s.hub.place).session(detail.data); ok && s.Key == x.Key {
			s.ReadAt, s.Hub.Sandbox, s.Hub.JoinedBy, s.Hub.Connected = detail.at, hub.Sandbox, hub.JoinedBy, hub.Connected
			if s.Status.IsEmpty() {
				s.Status = x.Status
			}
			if !s.Hub.Error.IsEmpty() {
				s.Hub.Trace = backend.Clean(detail.trace, maxTrace)
			}
			if s.Hub.Error != hub.Error {
				y.errorAt = p.now
			}
			x = *s
		}
	}
	if pf == nil {
		if list := people.data.Get("participants"); list.Kind() == '[' || list.IsNull() { // null is an empty list
			y.told, y.toldAt = p.s.decoder(p.s.hub.place).participants(people.data), people.at
		} else {
			pf = people.lacks("list participants", "")
		}
	}
	for _, f := range []*failure{df, pf} {
		if f != nil && f != errLater && !f.notFound() {
			kind, where, what := p.explain(f, nil)
			p.problem(x.Key, kind, where, what)
			break
		}
	}
	y.entity = &x
	y.settle(p)
}

// hubWords says what is wrong with the Hub, and what is read of it.
func (p *poll) hubWords() {
	h := &p.s.hub
	if !p.s.opt.Hub {
		p.r.Missing = append(p.r.Missing, backend.MissingInput{Input: backend.InputSessions, Why: backend.Text("hub = false: the sessions of the Coder Hub are not read")})
		return
	}
	if h.failed == nil {
		if h.place != nil {
			p.r.Inputs = append(p.r.Inputs, backend.InputSessions)
			p.note("Coder Hub at %s, %s", p.clean(h.place.base, 120), backend.Counted(len(p.s.sessions), "session", "sessions"))
		}
		return
	}
	kind, where, what := p.explain(h.failed, nil)
	if h.place == nil && h.failed.is(http.StatusNotFound) {
		p.r.Missing = append(p.r.Missing, backend.MissingInput{Input: backend.InputSessions, Why: backend.Textf("the region names no Coder Hub; %s", backend.Text(noHub))})
		return
	}
	p.problem(backend.Key{}, kind, where, fmt.Sprintf("Coder Hub: %s", what))
	p.r.Unseen = true
	p.r.Degraded = cmp.Or(p.r.Degraded, backend.Textf("the Coder Hub does not answer, so sessions are unknown: %s", p.clean(what, 400)))
	p.r.Missing = append(p.r.Missing, backend.MissingInput{Input: backend.InputSessions, Why: backend.Textf("the Coder Hub does not answer: %s", p.clean(what, 400))})
	for key := range p.s.sessions {
		p.r.Stale = append(p.r.Stale, backend.StaleMark{Key: backend.Key{Kind: backend.KindSession, Source: p.s.deps.ID, ID: key}, Why: p.clean(what, 400)})
	}
}
