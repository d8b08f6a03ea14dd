package alerts

import (
	"iter"
	"slices"
	"strings"
	"time"

	"sandglass/alerts/cause"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// Env is what a rule may look at: one State, and time that never jumps.
type Env struct {
	State *fleet.State
	Now   time.Time // steady
	// Watching is the steady time of the first State of this memory: nothing before it was seen happening.
	Watching time.Time

	clock  clock
	causes causes
	reader cause.Reader
	names  map[string]Naming // by fingerprint
	prints map[string]string // fingerprints by the words that make the cause
	values map[string]string // each list of values once
	// templates are those of the Board before, or with what the workspaces of this State say; weak are the texts that need them.
	templates *cause.Templates
	weak      []weakText
	mined     bool
	others    map[string]bool // fingerprints of causes without a line of their own
	homes     map[backend.Series]string
	gaps      map[string]gap
	live      map[string]Live
	lists     map[string]listMemory
	back      map[string]time.Time
	read      lastRead
	past      map[backend.Key]Past
	was       map[backend.Key]Past // past, as it was before State
	prior     *fleet.State         // before State; nil at a start
	former    map[string]*former   // by source, of the process before
	left      map[backend.Key]bool // sessions of which past has workspaces
	owner     searchCursor         // among the State's sessions
	asked     backend.Key          // the session that was looked up last
	answer    *backend.Session
	// changed are the entities of a kind that changed since the Board before; all: they are not known, it may be any.
	changed func(backend.Kind) (es []backend.Entity, all bool)
}

// Gap reports why nothing can be said about a source's entities now, if that is so.
func (e *Env) Gap(source string) (o Outcome, why backend.Safe, is bool) {
	g, is := e.gaps[source]
	return g.Outcome, g.Why, is
}

// Silent reports why a source that answers counts nothing of an input now: it says itself that it could deliver it and does
// not. That it counted nothing then proves nothing.
func (e *Env) Silent(source string, inputs ...backend.Input) (why backend.Safe, is bool) {
	h := e.State.Source(source)
	if h == nil {
		return backend.Safe{}, false
	}
	for _, m := range h.Missing {
		if slices.Contains(inputs, m.Input) && !h.Delivers(m.Input) {
			return backend.Textf("%s: %s", backend.Clean(source, 80), m.Why), true
		}
	}
	return backend.Safe{}, false
}

// causeText is an error text that was read.
type causeText struct {
	raw, text   backend.Safe
	fingerprint string
	values      string // that tell variants apart, as cause.Values reads them
	subjects    int    // that have it, as far as they were looked at before the rules
	unmet       bool   // it may say that a limit was not met, by numbers
}

// weakText is a text of few listed words.
type weakText struct {
	at    int // in causes
	loose string
}

// causes are the texts of one State that were normalised. Every rule asks for them in about the same order, so that the
// next one asked for is mostly one of the next few, which needs no hashing.
type causes struct {
	list []causeText
	at   map[string]int // in list, by the raw text
	next int            // in list, after the one that was asked for last
}

// nearCauses is how many of the list are looked at before the map is.
const nearCauses = 3

func (c *causes) find(raw backend.Safe) (*causeText, bool) {
	for i := max(c.next-1, 0); i < min(c.next+nearCauses, len(c.list)); i++ {
		if c.list[i].raw == raw {
			c.next = i + 1
			return &c.list[i], true
		}
	}
	i, ok := c.at[raw.String()]
	if !ok {
		return nil, false
	}
	c.next = i + 1
	return &c.list[i], true
}

func (c *causes) add(x causeText) {
	c.at[x.raw.String()] = len(c.list)
	c.list = append(c.list, x)
	c.next = len(c.list)
}

// Time is the steady time of a source's timestamp about an entity, zero when it is not known.
func (e *Env) Time(m *backend.Meta, v backend.Value[time.Time]) time.Time {
	t, ok := v.Get()
	if !ok {
		return time.Time{}
	}
	if e.clock.JumpDrift == 0 {
		return plain(t)
	}
	return e.clock.theirs(e.State.Source(m.Key.Source), m.ReadAt, t)
}

// ReadAt is the steady time at which an entity was last read.
func (e *Env) ReadAt(m *backend.Meta) time.Time {
	if m.Stale {
		return e.clock.ours(m.ReadAt)
	}
	if e.read.kind != m.Key.Kind || e.read.source != m.Key.Source { // neighbours have it in common
		of := backend.Meta{Key: backend.Key{Kind: m.Key.Kind, Source: m.Key.Source}}
		e.read = lastRead{of.Key.Kind, of.Key.Source, e.State.ReadAt(&of)}
	}
	if e.read.at.After(m.ReadAt) {
		return e.clock.ours(e.read.at)
	}
	return e.clock.ours(m.ReadAt)
}

// lastRead is when all of one kind of a source was last confirmed, zero when it was not.
type lastRead struct {
	kind   backend.Kind
	source string
	at     time.Time
}

// SessionOf is the session that owns a workspace, nil when it is not listed. It is quick where rules ask about workspaces in
// the order of their keys.
func (e *Env) SessionOf(w *backend.Workspace) *backend.Session {
	k, all := backend.Key{Kind: backend.KindSession, Source: w.Key.Source, ID: w.Key.Parent}, &e.State.Sessions
	if e.asked == k {
		return e.answer
	}
	e.asked, e.answer = k, nil
	if i, ok := e.owner.find(all.Len(), func(i int) int {
		if x := &all.At(i).Key; *x != k { // mostly the same
			return x.Compare(k)
		}
		return 0
	}); ok {
		e.answer = all.At(i)
	}
	return e.answer
}

// HadWorkspaces reports whether workspaces of a session were read that left, as far as is remembered.
func (e *Env) HadWorkspaces(s *backend.Session) bool {
	if e.left == nil {
		e.left = make(map[backend.Key]bool, len(e.past))
		for k := range e.past {
			if k.Kind == backend.KindWorkspace {
				e.left[backend.Key{Kind: backend.KindSession, Source: k.Source, ID: k.Parent}] = true
			}
		}
	}
	return e.left[s.Key]
}

// Sandbox is a sandbox as it is now, or as it was read last before it left; nil where nothing is known of it.
func (e *Env) Sandbox(k backend.Key) *backend.Sandbox {
	if b := e.State.Sandbox(k); b != nil {
		return b
	}
	b, _ := e.past[k].Entity.(*backend.Sandbox)
	return b
}

// PastSandboxes walks the sandboxes that left, as they were read last, in no order.
func (e *Env) PastSandboxes() iter.Seq[*backend.Sandbox] {
	return func(yield func(*backend.Sandbox) bool) {
		for k, p := range e.past {
			if b, is := p.Entity.(*backend.Sandbox); is && e.State.Sandbox(k) == nil && !yield(b) {
				return
			}
		}
	}
}

// LeftAt is when an entity left, zero where that is not known.
func (e *Env) LeftAt(k backend.Key) time.Time { return e.past[k].Left }

// Former is what a former process read last of an entity that this one reads for the first time; nil where nothing is known.
func (e *Env) Former(k backend.Key) backend.Entity {
	if p := e.was[k]; p.Left.IsZero() {
		return p.Entity
	}
	return nil
}

// Changed are the entities of a kind that changed since the Board before; all says that any may have changed.
func (e *Env) Changed(kind backend.Kind) (es []backend.Entity, all bool) { return e.changed(kind) }

// Ours is the steady time of a moment of our own wall clock.
func (e *Env) Ours(t time.Time) time.Time { return e.clock.ours(t) }

// Display is the wall-clock form of a steady time.
func (e *Env) Display(t time.Time) time.Time { return e.clock.display(t) }

// Clock is the text of a steady time for evidence: UTC, with the date when it is not today's.
func (e *Env) Clock(t time.Time) string {
	t = e.Display(t).UTC()
	now := e.Display(e.Now).UTC()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04:05Z")
	}
	return t.Format("2006-01-02 15:04Z")
}

// Cause reads an error text: what is shown of it, and what identifies its cause. Equal texts of one State are read once.
func (e *Env) Cause(raw backend.Safe) (backend.Safe, string) {
	c := e.readCause(raw)
	return c.text, c.fingerprint
}

// Values are the values of an error text that may tell variants of its cause apart, see Verdict; none when its cause is not
// the given one. An empty fingerprint is any.
func (e *Env) Values(raw backend.Safe, fingerprint string) string {
	if raw.IsEmpty() {
		return ""
	}
	c := e.readCause(raw)
	if fingerprint != "" && fingerprint != c.fingerprint {
		return ""
	}
	return c.values
}

func (e *Env) readCause(raw backend.Safe) *causeText {
	if c, ok := e.causes.find(raw); ok {
		c.subjects++
		return c
	}
	r := &e.reader
	r.Read(raw.String())
	c := causeText{raw: raw, text: CauseText(raw), values: e.values[string(r.Values)], subjects: 1, unmet: mayBeUnmet(r.Words)}
	if c.values == "" && len(r.Values) > 0 {
		c.values = string(r.Values)
		e.values[c.values] = c.values
	}
	if r.Beyond {
		c.text = partly(c.text)
	}
	if r.Weak {
		loose := string(r.Loose)
		if e.mined {
			c.fingerprint = looseIn(e.templates, loose)
		} else {
			e.weak = append(e.weak, weakText{len(e.causes.list), loose})
		}
	} else if fp, ok := e.prints[string(r.Words)]; ok {
		c.fingerprint = fp
	} else {
		c.fingerprint = errorFingerprint(r)
		e.prints[string(r.Words)] = c.fingerprint
	}
	if e.others[c.fingerprint] {
		c.amongOthers()
	}
	e.causes.add(c)
	return &e.causes.list[len(e.causes.list)-1]
}

// tellingValues are values that name a cause which the text without values does not: a property, exit and HTTP codes, an errno.
var tellingValues = [...]string{"reading\x1f", "\x1f137", "\x1f28", "\x1f401", "\x1f403", "\x1f429"}

// Names is what an error text names, none for an empty one; it is read once per cause and State.
func (e *Env) Names(raw backend.Safe) Naming {
	if raw.IsEmpty() {
		return 0
	}
	c := e.readCause(raw)
	key, byValue := c.fingerprint, slices.ContainsFunc(tellingValues[:], func(v string) bool { return strings.Contains(c.values, v) })
	if strings.Contains(raw.String(), "win32") || strings.Contains(raw.String(), "storage.sql") {
		byValue = true
		key += "\x00" + raw.String()
	}
	if c.unmet { // the numbers decide
		key += "\x00" + asserted(strings.ToLower(raw.String()))
	}
	if key == otherTexts {
		key += "\x00" + raw.String()
	}
	if byValue { // the property that is read, or the exit code, names it
		key += c.values
	}
	n, ok := e.names[key]
	if !ok {
		n = NamesIn(NormaliseCause(asserted(strings.ToLower(raw.String()))))
		if byValue {
			n |= (NamesSQLite | NamesMemory | NamesSpace | NamesPOSIX | NamesAuth | NamesRate).In(raw.String())
		}
		if e.names == nil {
			e.names = map[string]Naming{}
		}
		e.names[key] = n
	}
	return n
}

// Over is what a series saw in the window that ends now, across a jump of the wall clock too.
func (e *Env) Over(s backend.Series, window time.Duration) fleet.Increase {
	wall := e.clock.Wall
	if e.clock.JumpDrift == 0 {
		return e.State.Windows.Over(s, wall, window)
	}
	since := e.Now.Sub(e.clock.JumpAt)
	if since >= window {
		return e.State.Windows.Over(s, wall, window)
	}
	after := e.State.Windows.Over(s, wall, since+1)
	before := e.State.Windows.Over(s, e.clock.JumpAt, window-since)
	both := before.Add(after)
	if before.Samples > 0 && after.Samples > 0 {
		both.Samples = before.Samples + after.Samples
		both.First = before.First
		both.Last = e.clock.ours(after.Last)
	}
	return both
}

// Measure is a rate with what is known about it.
type Measure struct {
	fleet.Increase
	// PerSecond is the rate over the part of the window that was watched.
	PerSecond float64
	// Least is the rate over the whole window as if nothing had happened in its unwatched part: a lower bound.
	Least float64
	// Covered is the watched part of the window.
	Covered time.Duration
	// Known is false when fewer than two counts were seen or the newest is too old to speak about now.
	Known bool
	// Whole says that nearly all of the window was watched, Half that at least half of it was.
	Whole, Half bool
}

// Rate measures several series together over a window.
func (e *Env) Rate(series []backend.Series, window time.Duration) Measure {
	var m Measure
	stale := time.Minute
	for _, s := range series {
		h := e.State.Source(s.Source)
		if h != nil {
			stale = max(stale, 3*h.Interval+h.Deadline)
		}
		x := e.Over(s, window)
		if h != nil && e.readBefore(h, s, window) && x.Samples > 0 {
			x.First, x.Samples = e.clock.display(e.Now.Add(-window)), x.Samples+1
		}
		m.Increase = m.Add(x)
	}
	if m.Samples == 0 {
		return m
	}
	m.Covered = min(max(e.Now.Sub(e.clock.ours(m.First)), 0), window)
	m.Least = m.N / window.Seconds()
	m.Known = m.Samples >= 2 && m.Covered > 0 && e.Now.Sub(e.clock.ours(m.Last)) <= stale
	m.Whole, m.Half = m.Covered >= window*9/10, m.Covered >= window/2
	if m.Covered > 0 {
		m.PerSecond = m.N / max(m.Covered, time.Second).Seconds()
	}
	if m.Whole {
		m.PerSecond = m.Least
	}
	return m
}

// readBefore reports whether a log was read without a gap since before the window: all lines between two looks are read.
func (e *Env) readBefore(h *fleet.SourceHealth, s backend.Series, window time.Duration) bool {
	if h.Kind != "logs" || window >= fleet.WindowSpan || e.clock.JumpDrift != 0 && e.Now.Sub(e.clock.JumpAt) < fleet.WindowSpan {
		return false
	}
	all := e.State.Windows.Over(s, e.clock.Wall, fleet.WindowSpan)
	return all.Samples > 0 && !e.clock.ours(all.First).After(e.Now.Add(-window))
}

// Reaches judges a rate against a threshold, which counts itself: certain either way once enough of the window was watched, suspected
// before that, no data when nothing can be said.
func (m Measure) Reaches(perSecond float64) (o Outcome, suspected bool) {
	switch {
	case m.Samples > 0 && m.Least >= perSecond:
		return True, false
	case !m.Known:
		return NoData, false
	case m.Whole:
		return False, false
	case m.N >= 5 && m.PerSecond >= perSecond:
		return True, true
	case m.Half:
		return False, false
	}
	return NoData, false
}

// HomeOf is the id of the source whose sessions a series speaks about: the one that lists its session, else the only
// registry that its source speaks about, else its own source. It is empty, not known yet, while one that could list the
// session has not been read for the first time.
func (e *Env) HomeOf(s backend.Series) string {
	s = backend.Series{Source: s.Source, Session: s.Session}
	if home, ok := e.homes[s]; ok {
		return home
	}
	home := e.State.HomeOf(s.Source, s.Session)
	e.homes[s] = home
	return home
}
