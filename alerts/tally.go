package alerts

import (
	"maps"
	"time"

	"sandglass/backend"
)

// count is what a group's members add up to. It is a value: with makes the next one from the changes alone, so that a
// group of 100,000 subjects of which few change costs what changed.
type count struct {
	firing, held, pending stateCount // by state; one that speaks for all is the oldest
	ended                 int
	live                  liveTotals // of the members that have not ended
	waiting               liveTotals // of those of them that are pending, without times
}

// stateCount is what the members of one state add up to.
type stateCount struct {
	n      int
	oldest *record // whose onset is proved to lie furthest back; of equals the first by key
	since  extreme // the earliest

	active, confirmed extreme // the earliest and the latest
}

// extreme is the earliest or latest of some times, and how many have it.
type extreme struct {
	at time.Time
	n  int
}

func (x *extreme) add(t time.Time, newest bool) {
	switch {
	case x.n > 0 && t.Equal(x.at):
		x.n++
	case x.n == 0, newest == t.After(x.at):
		*x = extreme{t, 1}
	}
}

// remove reports whether the extreme is lost: nobody is known to have it any more.
func (x *extreme) remove(t time.Time) bool {
	if t.Equal(x.at) {
		x.n--
	}
	return x.n <= 0
}

// sessionID names a session: raw ids are only unique within a source.
type sessionID struct {
	source string
	id     backend.ID
}

// aggregate counts distinct sessions, providers and tenants.
type liveTotals struct {
	n                  int
	active             extreme // the earliest
	confirmed          extreme // the latest
	sessions           map[sessionID]int
	providers, tenants map[backend.Safe]int
	values             *valueCounts // replaced when they change
}

func (a *liveTotals) make() {
	a.sessions, a.providers, a.tenants = map[sessionID]int{}, map[backend.Safe]int{}, map[backend.Safe]int{}
	a.values = &valueCounts{map[string]int{}}
}

func (a *liveTotals) clone() {
	a.sessions, a.providers, a.tenants = maps.Clone(a.sessions), maps.Clone(a.providers), maps.Clone(a.tenants)
}

// total is what is written on the alert.
type total struct {
	pending                             int // members that are pending beside those that fire or are held: the other numbers are without them
	count, sessions, providers, tenants int
	active, since, confirmed            time.Time
	state                               AlertState
	live                                bool    // some member has not ended
	oldest                              *record // the member that speaks for all
	session                             sessionID
	provider, tenant                    backend.Safe // set when there is only one
}

// tally counts members in one pass; they are sorted by key, so that subjects of one session are neighbours.
func tally(members []*record) count {
	var c count
	c.live.make()
	c.waiting.make()
	var live, waiting runs
	for _, r := range members {
		if !c.add(r) {
			continue
		}
		live.count(&c.live, r)
		if r.State == StatePending {
			waiting.count(&c.waiting, r)
		}
	}
	live.end(&c.live)
	waiting.end(&c.waiting)
	return c
}

// runs spares looking up what neighbours have in common.
type runs struct {
	n      int
	sample *record
	valued int // how many have these values
	values string
}

func (x *runs) add(a *liveTotals, r *record) {
	if x.n > 0 && sameOwners(x.sample, r) {
		x.n++
		return
	}
	x.flush(a)
	x.n, x.sample = 1, r
}

func (x *runs) flush(a *liveTotals) {
	if x.n > 0 {
		a.owners(x.sample, x.n)
	}
	x.n = 0
}

func (x *runs) count(a *liveTotals, r *record) {
	x.add(a, r)
	if x.valued > 0 && r.Values != x.values {
		a.values.by[x.values] += x.valued
		x.valued = 0
	}
	x.valued, x.values = x.valued+1, r.Values
}

func (x *runs) end(a *liveTotals) {
	x.flush(a)
	if x.valued > 0 {
		a.values.by[x.values] += x.valued
	}
}

func sameOwners(a, b *record) bool {
	return a.Session == b.Session && a.Key.Source == b.Key.Source && a.Provider == b.Provider && a.Tenant == b.Tenant
}

// owners counts n subjects more, or fewer, of the record's session, provider and tenant.
func (a *liveTotals) owners(r *record, n int) {
	if !r.Session.IsZero() {
		addCount(a.sessions, sessionID{r.Key.Source, r.Session}, n)
	}
	if !r.Provider.IsEmpty() {
		addCount(a.providers, r.Provider, n)
	}
	if !r.Tenant.IsEmpty() {
		addCount(a.tenants, r.Tenant, n)
	}
}

func addCount[K comparable](m map[K]int, k K, n int) {
	if m[k] += n; m[k] == 0 {
		delete(m, k)
	}
}

func (c *count) of(s AlertState) *stateCount {
	switch s {
	case StateFiring:
		return &c.firing
	case StateHeld:
		return &c.held
	case StatePending:
		return &c.pending
	case StateEnded, StateResolved:
	}
	return nil
}

// add counts a record except for its owners; it reports whether the record lives.
func (c *count) add(r *record) bool {
	s := c.of(r.State)
	if s == nil {
		c.ended++
		return false
	}
	s.n++
	s.since.add(r.Since, false)
	s.active.add(r.Active, false)
	s.confirmed.add(r.Confirmed, true)
	switch o := s.oldest; {
	case o == nil, onset(r).Before(onset(o)):
		s.oldest = r
	case onset(r).Equal(onset(o)) && r.Key.Compare(o.Key) <= 0: // the same key: it replaces o
		s.oldest = r
	}
	c.live.n++
	c.live.active.add(r.Active, false)
	c.live.confirmed.add(r.Confirmed, true)
	return true
}

// remove reports whether all members must be looked at to know the count again.
func (c *count) remove(r *record) (lost bool) {
	s := c.of(r.State)
	if s == nil {
		c.ended--
		return false
	}
	s.n--
	active, confirmed := s.active.remove(r.Active), s.confirmed.remove(r.Confirmed)
	if lost = s.since.remove(r.Since) || active || confirmed || s.oldest == r; s.n == 0 {
		*s, lost = stateCount{}, false
	}
	a := &c.live
	a.n--
	active, confirmed = a.active.remove(r.Active), a.confirmed.remove(r.Confirmed)
	if a.n == 0 {
		a.active, a.confirmed = extreme{}, extreme{}
		return false
	}
	return lost || active || confirmed
}

// with is the count after the changes; members are those after them.
func (c count) with(changes []change, members []*record) count {
	if c.live.sessions == nil || 2*len(changes) > len(members) {
		return tally(members)
	}
	for _, x := range changes { // what comes before what goes: the newest readings replace older ones
		if x.next != nil {
			c.add(x.next)
		}
	}
	c.live.follow(changes, living)
	c.waiting.follow(changes, waiting)
	lost := false
	for _, x := range changes {
		if x.was != nil && c.remove(x.was) {
			lost = true
		}
	}
	if lost {
		return tally(members)
	}
	return c
}

// follow counts the changes of those records of which some is not nil.
func (a *liveTotals) follow(changes []change, some func(*record) *record) {
	cloned, revalued := false, false
	for _, x := range changes {
		was, next := some(x.was), some(x.next)
		a.revalue(was, next, &revalued)
		if was == next || was != nil && next != nil && sameOwners(was, next) {
			continue
		}
		if !cloned {
			a.clone()
			cloned = true
		}
		if next != nil {
			a.owners(next, 1)
		}
		if was != nil {
			a.owners(was, -1)
		}
	}
}

// revalue counts the values of a member that came, went or changed them.
func (a *liveTotals) revalue(was, next *record, cloned *bool) {
	if was == next || was != nil && next != nil && was.Values == next.Values {
		return
	}
	if !*cloned {
		a.values, *cloned = &valueCounts{maps.Clone(a.values.by)}, true
	}
	if next != nil {
		addCount(a.values.by, next.Values, 1)
	}
	if was != nil {
		addCount(a.values.by, was.Values, -1)
	}
}

func living(r *record) *record {
	if r == nil || r.State == StateEnded {
		return nil
	}
	return r
}

func waiting(r *record) *record {
	if r == nil || r.State != StatePending {
		return nil
	}
	return r
}

// mixed reports whether members are pending beside others that fire or are held.
func (c *count) mixed() bool { return c.pending.n > 0 && c.firing.n+c.held.n > 0 }

// counted are the values of those members whose number the alert gives.
func (c *count) counted() *valueCounts {
	if !c.mixed() {
		return c.live.values
	}
	out := &valueCounts{maps.Clone(c.live.values.by)}
	for v, n := range c.waiting.values.by {
		addCount(out.by, v, -n)
	}
	return out
}

func (c *count) state() AlertState {
	switch {
	case c.firing.n > 0:
		return StateFiring
	case c.held.n > 0:
		return StateHeld
	case c.pending.n > 0:
		return StatePending
	}
	return StateEnded
}

// total sums up: about those that live, or when none does about those that ended.
func (c *count) total(members []*record) total {
	t := total{state: c.state(), live: c.live.n > 0}
	a, s := &c.live, c.of(t.state)
	if !t.live {
		a, s = &liveTotals{}, &stateCount{}
		a.make()
		var all count
		for _, r := range members {
			x := *r
			x.State = StateFiring
			all.add(&x)
			a.owners(r, 1)
			if s.oldest == nil || onset(r).Before(onset(s.oldest)) {
				s.oldest = r
			}
		}
		a.n, a.active, a.confirmed, s.since = all.live.n, all.live.active, all.live.confirmed, all.firing.since
	}
	t.active, t.confirmed, t.since, t.oldest = a.active.at, a.confirmed.at, s.since.at, s.oldest
	w := &liveTotals{}
	if t.live && c.mixed() {
		w, t.pending = &c.waiting, c.pending.n
		t.active, t.confirmed = c.firing.active.earliest(c.held.active), latest(c.firing.confirmed.at, c.held.confirmed.at)
	}
	t.count = a.n - t.pending
	t.sessions, t.session = beyond(a.sessions, w.sessions)
	t.providers, t.provider = beyond(a.providers, w.providers)
	t.tenants, t.tenant = beyond(a.tenants, w.tenants)
	return t
}

// earliest is the earlier of two extremes, of which one may be of nothing.
func (x extreme) earliest(y extreme) time.Time {
	if x.n == 0 || y.n > 0 && y.at.Before(x.at) {
		return y.at
	}
	return x.at
}

// beyond is how many keys count more than a part of them does, and which one where it is the only one.
func beyond[K comparable](all, part map[K]int) (n int, one K) {
	n = len(all)
	for k, x := range part {
		if all[k] == x {
			n--
		}
	}
	if n != 1 {
		return n, one
	}
	for k, x := range all {
		if part[k] != x {
			one = k
		}
	}
	return n, one
}

// only is the key of a map that has one.
func only[K comparable](m map[K]int) (k K) {
	if len(m) == 1 {
		for k = range m {
			return k
		}
	}
	return k
}

func onset(r *record) time.Time {
	if r.Bounds.Latest.IsZero() {
		return r.Active
	}
	return r.Bounds.Latest
}
