package alerts

import (
	"encoding/json"
	"slices"
	"sort"
	"time"

	"sandglass/alerts/cause"
	"sandglass/backend"
	"sandglass/internal/stable"
)

// memory is what the engine carries from Board to Board. It is immutable: Next makes a new one that shares what did
// not change.
type memory struct {
	clock    clock
	watching time.Time
	rules    map[string]*ruleState
	gaps     map[string]gap    // by source: what keeps its subjects from being judged
	unknown  map[string]bool   // sources that cannot tell whether their workspaces exist
	silent   map[string]string // by source: which inputs it does not deliver though it answers
	missed   map[string]bool   // sources of which something changed that could not be judged
	folds    map[string]string // by source: id of the alert under which its held alerts fold
	opening  bool              // the start goes on: its transitions are not reported yet
	unread   bool              // some subjects have not been read since the restart
	resume   *resume           // set on a memory that was loaded
	// reconsider: every subject is looked at once, for other thresholds may hold. It is not kept.
	reconsider bool
	orders     *Orders  // of operators; kept in a file of their own
	markers    []marker // changes of the last half hour, oldest first
	config     string   // digest of the configuration
	past       map[backend.Key]Past
	moves      map[backend.Key]Move              // of workspaces and references to another place
	former     map[string]*former                // loaded: by source, what the process before read
	proved     map[backend.Key][]backend.Verdict // loaded: what was observed before this process
	lists      map[string]listMemory             // by source
	ownLists   map[string]bool                   // sources whose list this process has read
	back       map[string]time.Time              // by source: since when it answers again after an outage, zero while it is out
	// bookmarks are where sources of files stand; by source, their times by the wall clock.
	bookmarks map[string][]backend.Bookmark
	// templates are the forms of error texts of few listed words.
	templates *cause.Templates
}

// gap is a reason for which no subject of a source can be judged.
type gap struct {
	Outcome  Outcome
	Why      backend.Safe
	Starting bool      // not read yet: everything stays as it was
	Since    time.Time // steady, of the last answer: what was true is not known to go on after it. Zero: not known
}

// ruleState is one rule's records and their groups.
type ruleState struct {
	records []*record // sorted by key
	// findings are the records that are no mere notes, sorted by key; only while a fleet rule looks.
	findings []*record
	groups   map[groupID]*group
	due      *dueIndex
	flaps    map[groupID]flap     // of alerts that changed lately, those that are gone included
	buckets  map[string][]*record // of a Bucketer, by place; sorted by key
	apart    map[apartID][]string // variants that are lines of their own
}

// record is one finding, or a note about a subject that is none. Notes are many, so they do without the rest.
type record struct {
	Key      backend.Key `json:"key"`
	State    AlertState  `json:"state,omitempty"` // empty: only a note
	Source   string      `json:"source"`
	Via      string      `json:"via,omitempty"`
	Due      time.Time   `json:"due,omitzero"`     // when it must be looked at again
	Listed   bool        `json:"listed,omitempty"` // the State has or had an entity of this key
	Note     Note        `json:"note,omitzero"`
	*finding             // nil exactly when State is empty
}

// finding is the part of a record that a mere note has not.
type finding struct {
	Fingerprint string        `json:"fingerprint,omitempty"`
	Cause       backend.Safe  `json:"cause,omitzero"`
	Values      string        `json:"values,omitempty"`   // of its error, that tell variants of the cause apart
	Severity    Severity      `json:"severity,omitempty"` // empty: the rule's
	Runbook     string        `json:"runbook,omitempty"`
	Active      time.Time     `json:"active,omitzero"` // when it became true
	Since       time.Time     `json:"since,omitzero"`  // when it took its state
	Ran         time.Duration `json:"ran,omitempty"`   // how long it has been true, gaps left out
	Tick        time.Time     `json:"tick,omitzero"`   // when Ran was last advanced; zero: the clock stands
	Clear       time.Time     `json:"clear,omitzero"`  // when it turned false while it goes on firing
	Bounds      Bounds        `json:"bounds,omitzero"`
	Confirmed   time.Time     `json:"confirmed,omitzero"`
	Suspected   bool          `json:"suspected,omitempty"`
	Vanished    time.Time     `json:"vanished,omitzero"` // when its session left its list though nothing said that it ended
	Lasts       time.Time     `json:"lasts,omitzero"`    // until when it goes on though its subject is gone
	Ends        time.Time     `json:"ends,omitzero"`     // when its subject will be no more; zero: not told
	Paused      bool          `json:"paused,omitempty"`  // pending, and its data is missing
	Corroborate bool          `json:"corroborate,omitempty"`
	Engine      string        `json:"engine,omitempty"` // the container engine that it was read from
	Why         backend.Safe  `json:"why,omitzero"`
	Detail      backend.Safe  `json:"detail,omitzero"`
	Session     backend.ID    `json:"session,omitzero"`
	Provider    backend.Safe  `json:"provider,omitzero"`
	Tenant      backend.Safe  `json:"tenant,omitzero"`
	*aggregate                // of a rule that is no SubjectRule; read it with aggregated. Nil in findings about single subjects
}

// aggregate is what a finding carries when it is the only member of its alert: what many subjects add up to.
type aggregate struct {
	Listing   *Listing      `json:"listing,omitempty"`
	Evidence  []Evidence    `json:"evidence,omitempty"`
	Trend     []float64     `json:"trend,omitempty"`
	TrendSpan time.Duration `json:"trend_span,omitempty"`
}

func (t aggregate) isZero() bool {
	return t.Listing == nil && t.Evidence == nil && t.Trend == nil && t.TrendSpan == 0
}

// aggregated returns what the finding carries, the zero value for most.
func (f *finding) aggregated() aggregate {
	if f.aggregate == nil {
		return aggregate{}
	}
	return *f.aggregate
}

func aggregateOf(v *Verdict) *aggregate {
	t := aggregate{v.Listing, v.Evidence, v.Trend, v.TrendSpan}
	if t.isZero() {
		return nil
	}
	return new(t)
}

// begun is a record with a finding, both in one piece of memory.
func newFinding(r record, f finding) *record {
	x := &struct {
		record
		f finding
	}{r, f}
	x.finding = &x.f
	return &x.record
}

// clone copies a record to change it.
func (r *record) clone() *record {
	if r.finding == nil {
		n := *r
		return &n
	}
	return newFinding(*r, *r.finding)
}

// UnmarshalJSON reads a record; the package cannot make the part that is not exported.
func (r *record) UnmarshalJSON(data []byte) error {
	type plain record
	x := plain{finding: &finding{aggregate: &aggregate{}}}
	if err := json.Unmarshal(data, &x); err != nil {
		return err
	}
	*r = record(x)
	switch t := x.aggregated(); {
	case r.State == "":
		r.finding = nil
	case t.isZero():
		r.aggregate = nil
	}
	return nil
}

// groupID is what makes findings of one rule one alert. An empty severity is the rule's.
type groupID struct {
	source, fingerprint string
	severity            Severity
}

type group struct {
	id      groupID
	members []*record // sorted by key
	count   count     // of members
	since   time.Time // steady time at which the alert took its state
	began   time.Time // steady time at which the alert came; kept while its severity changes
	worse   worse
	flap    flap
	valued  *valueCounts // of the members that have not ended
	told    *valueCounts // of which the alert's variants are made
	// unreported says that what changed during the start is not on the timeline yet; before is the group as of the start.
	unreported bool
	before     *group
	marks      int // how many of the alert's evidence are changes near its onset: the last ones
	alert      *Alert
}

// worse is until when, in steady time, an alert was of each severity above its own in its present episode, by rank; zero:
// never.
type worse [3]time.Time

func (r *record) group() (groupID, bool) {
	if r == nil || r.State == "" {
		return groupID{}, false
	}
	return groupID{r.Source, r.Fingerprint, r.Severity}, true
}

func searchRecords(rs []*record, k backend.Key) int {
	return sort.Search(len(rs), func(i int) bool { return rs[i].Key.Compare(k) >= 0 })
}

func (l *ruleState) get(k backend.Key) *record {
	if i := searchRecords(l.records, k); i < len(l.records) && l.records[i].Key == k {
		return l.records[i]
	}
	return nil
}

// change is what an evaluation makes of one subject: next nil forgets it.
type change struct {
	was, next *record // never both nil
}

func (c change) key() backend.Key {
	if c.next != nil {
		return c.next.Key
	}
	return c.was.Key
}

// merged applies changes, sorted by key and without doubles, to records. It copies the runs between changes whole.
func merged(rs []*record, changes []change) []*record {
	if len(changes) == 0 {
		return rs
	}
	out := make([]*record, 0, len(rs)+len(changes))
	for _, c := range changes {
		i := find(rs, c)
		out = append(out, rs[:i]...)
		rs = rs[i:]
		if len(rs) > 0 && (rs[0] == c.was || rs[0].Key == c.key()) {
			rs = rs[1:]
		}
		if c.next != nil {
			out = append(out, c.next)
		}
	}
	return append(out, rs...)
}

// find is where a change belongs. What is replaced is mostly near: to compare pointers up to there is far cheaper than
// to look into scattered records for their keys.
func find(rs []*record, c change) int {
	if c.was != nil {
		for i, r := range rs[:min(len(rs), 4096)] {
			if r == c.was {
				return i
			}
		}
	}
	return searchRecords(rs, c.key())
}

// sortChanges orders changes by key; of two about one key the later wins, and replaces what the first one did.
func sortChanges(cs []change) []change {
	rising := true
	for i := 1; i < len(cs) && rising; i++ {
		rising = cs[i-1].key().Compare(cs[i].key()) < 0
	}
	if rising {
		return cs
	}
	stable.Sort(cs, func(a, b change) int { return a.key().Compare(b.key()) })
	out := cs[:0]
	for _, c := range cs {
		if n := len(out); n > 0 && out[n-1].key() == c.key() {
			if out[n-1].next = c.next; out[n-1].was == nil && c.next == nil {
				out = out[:n-1]
			}
			continue
		}
		out = append(out, c)
	}
	return out
}

// dueIndex finds the records that must be looked at again, by the second. Entries whose record has meanwhile another
// due time are skipped when they come up. Immutable.
type dueIndex struct {
	buckets map[int64][]backend.Key
	first   int64 // no bucket lies before it
}

// take returns the keys due at now, and the index without the buckets that are over.
func (d *dueIndex) take(now time.Time) ([]backend.Key, *dueIndex) {
	if d == nil {
		return nil, &dueIndex{}
	}
	sec := now.Unix()
	if d.first > sec || len(d.buckets) == 0 {
		return nil, d
	}
	var keys []backend.Key
	n := &dueIndex{buckets: make(map[int64][]backend.Key, len(d.buckets)), first: sec + 1<<40}
	for s, b := range d.buckets {
		if s <= sec {
			keys = append(keys, b...)
		}
		if s >= sec { // the bucket of this second holds some that are due later in it
			n.buckets[s] = b
			n.first = min(n.first, s)
		}
	}
	stable.Sort(keys, backend.Key.Compare)
	return slices.Compact(keys), n
}

// with adds the due times of changed records.
func (d *dueIndex) with(changes []change) *dueIndex {
	fresh := func(c change) (second int64, is bool) {
		if c.next == nil || c.next.Due.IsZero() {
			return 0, false
		}
		s := c.next.Due.Unix()
		if old := c.was; old != nil && !old.Due.IsZero() && old.Due.Unix() == s && len(d.buckets[s]) > 0 {
			return 0, false // the bucket holds it already
		}
		return s, true
	}
	counts := map[int64]int{}
	for _, c := range changes {
		if s, is := fresh(c); is {
			counts[s]++
		}
	}
	add := make(map[int64][]backend.Key, len(counts))
	for _, c := range changes {
		s, is := fresh(c)
		if !is {
			continue
		}
		if add[s] == nil {
			add[s] = append(make([]backend.Key, 0, len(d.buckets[s])+counts[s]), d.buckets[s]...)
		}
		add[s] = append(add[s], c.key())
	}
	if len(add) == 0 {
		return d
	}
	n := &dueIndex{buckets: make(map[int64][]backend.Key, len(d.buckets)+len(add)), first: d.first}
	for s, b := range d.buckets {
		n.buckets[s] = b
	}
	if len(d.buckets) == 0 {
		n.first = 1 << 62
	}
	for s, keys := range add {
		n.buckets[s] = keys
		n.first = min(n.first, s)
	}
	return n
}

// Known gives a fleet rule what it remembers.
type Known struct{ l *ruleState }

// All walks the rule's findings and notes in key order.
func (k Known) All(yield func(backend.Key, Note) bool) {
	for _, r := range k.l.records {
		if !yield(r.Key, r.Note) {
			return
		}
	}
}

// Finding reports the state of one finding, empty when there is none.
func (k Known) Finding(key backend.Key) AlertState {
	if r := k.l.get(key); r != nil {
		return r.State
	}
	return ""
}

// Since is when one finding took its state, zero when there is none.
func (k Known) Since(key backend.Key) time.Time {
	if r := k.l.get(key); r != nil && r.State != "" {
		return r.Since
	}
	return time.Time{}
}

// Note is what is remembered of one subject, the zero Note when nothing is.
func (k Known) Note(key backend.Key) Note {
	if r := k.l.get(key); r != nil {
		return r.Note
	}
	return Note{}
}

// Via is the other source on which a finding rests, empty when there is none.
func (k Known) Via(key backend.Key) string {
	if r := k.l.get(key); r != nil {
		return r.Via
	}
	return ""
}

// Findings walks the rule's findings, notes left out, in key order.
func (k Known) Findings(yield func(backend.Key, AlertState) bool) {
	for _, r := range k.l.findings {
		if r.State != "" && !yield(r.Key, r.State) {
			return
		}
	}
}
