package alerts

import (
	"slices"
	"time"

	"sandglass/backend"
)

// work is the evaluation of one rule in one turn.
type work struct {
	*turn
	rule     Rule
	meta     *Meta
	old      *ledger
	settling bool
	changes  []change
	ended    []change // those of changes whose subject is no more
	buckets  map[string][]*record
	records  []*record // with the first applied changes, once a fleet rule has seen them
	applied  int
	promoted []change // by corroboration
	finder   finder   // in the records before
	flaps    map[groupID]flap
}

func (w *work) put(was, next *record) {
	if was != next {
		w.changes = append(w.changes, change{was, next})
	}
}

// due are the records that are due; others of these keys have another due time by now.
func (w *work) due(keys []backend.Key) []*record {
	var out []*record
	f := finder{rs: w.old.records}
	for _, k := range keys {
		if r := f.get(k); r != nil && !r.Due.IsZero() && !r.Due.After(w.env.Now) {
			out = append(out, r)
		}
	}
	return out
}

func (w *work) end(r *record, why backend.Safe) {
	n := end(r, why, w.env.Now)
	w.put(r, n)
	if n != nil && r.State != StateEnded {
		w.ended = append(w.ended, change{r, n})
	}
}

// extra are the keys of one kind that must be looked at though they did not change: due ones, and those whose source
// fell silent or came back.
func (w *work) extra(kind backend.Kind, due []*record) []backend.Key {
	var keys []backend.Key
	for _, r := range due {
		if r.Key.Kind == kind {
			keys = append(keys, r.Key)
		}
	}
	if len(w.moved) > 0 {
		for _, r := range w.old.records {
			if r.Key.Kind == kind && (w.moved[r.Key.Source] || w.moved[r.Via]) {
				keys = append(keys, r.Key)
			}
		}
	}
	return keys
}

// entities are the changed entities of one kind, looked up once for all rules.
func (t *turn) entities(kind backend.Kind) []backend.Entity {
	if es, ok := t.found[kind]; ok {
		return es
	}
	keys := t.changed[kind]
	slices.SortFunc(keys, backend.Key.Compare)
	keys = slices.Compact(keys)
	es := make([]backend.Entity, 0, len(keys))
	switch kind {
	case backend.KindWorkspace:
		es = lookUp(es, t.st.Workspaces, keys)
	case backend.KindSession:
		es = lookUp(es, t.st.Sessions, keys)
	default:
		for _, k := range keys {
			if e := t.st.Entity(k); e != nil {
				es = append(es, e)
			}
		}
	}
	t.found[kind] = es
	return es
}

func (w *work) subjects(rule SubjectRule, due []*record) {
	if !w.all && len(w.catchUp) == 0 {
		changed := w.entities(rule.Kind())
		for _, e := range changed {
			w.judge(rule, e.EntityMeta().Key, e)
		}
		for _, k := range w.extra(rule.Kind(), due) {
			_, done := slices.BinarySearchFunc(changed, k, func(e backend.Entity, k backend.Key) int { return e.EntityMeta().Key.Compare(k) })
			if e := w.st.Entity(k); e != nil && !done {
				w.judge(rule, k, e)
			}
		}
		return
	}
	switch rule.Kind() {
	case backend.KindWorkspace:
		for e := range w.st.Workspaces.All() {
			w.judge(rule, e.Key, e)
		}
	case backend.KindSession:
		for e := range w.st.Sessions.All() {
			w.judge(rule, e.Key, e)
		}
	case backend.KindSandbox:
		for e := range w.st.Sandboxes.All() {
			w.judge(rule, e.Key, e)
		}
	case backend.KindTmpdir:
		for e := range w.st.Tmpdirs.All() {
			w.judge(rule, e.Key, e)
		}
	case backend.KindHost:
		for e := range w.st.Hosts.All() {
			w.judge(rule, e.Key, e)
		}
	case backend.KindExecution, backend.KindJob, backend.KindSource:
	}
}

func (w *work) judge(rule SubjectRule, k backend.Key, e backend.Entity) {
	rec := w.finder.get(k)
	meta := e.EntityMeta()
	if g, is := w.gapFor(k, meta); is {
		switch {
		case rec == nil && !meta.Stale: // a stale entity is a changed one once it is read again
			w.next.missed[k.Source] = true
		case rec != nil && !g.Starting:
			w.put(rec, step(w.meta, k, rec, &Verdict{Outcome: g.Outcome, Why: g.Why}, w.env.Now, w.settling))
		}
		return
	}
	var note *Note
	if rec != nil {
		note = rec.Note
	}
	v := rule.Judge(&w.env, e, note)
	if w.outside(k, e, &v, false) {
		v = Verdict{Outcome: False}
	}
	if rec == nil && v.Note == nil && v.Outcome != True {
		return
	}
	if v.Source == "" {
		v.Source = k.Source
	}
	if v.Confirmed.IsZero() {
		v.Confirmed = w.env.ReadAt(meta)
	}
	next := step(w.meta, k, rec, &v, w.env.Now, w.settling)
	if next != nil && next != rec {
		next.Listed = true
	}
	w.put(rec, next)
}

// countedSubjects judges the subjects whose series changed or that are due.
func (w *work) countedSubjects(rule SeriesRule, due []*record) {
	metrics := rule.Metrics()
	seen := map[backend.Key][]backend.Series{}
	add := func(s backend.Series) {
		if w.env.HomeOf(s) == "" {
			return // looked at when it is homed
		}
		k := rule.SubjectOf(&w.env, s)
		seen[k] = append(seen[k], s)
	}
	if w.all || w.homed {
		for _, name := range metrics {
			for s := range w.st.Windows.All(name) {
				add(s)
			}
		}
		for _, r := range w.old.records {
			seen[r.Key] = append(seen[r.Key], []backend.Series(nil)...)
		}
	} else {
		for _, s := range w.series {
			if slices.Contains(metrics, s.Name) {
				add(s)
			}
		}
	}
	for _, r := range due {
		seen[r.Key] = append(seen[r.Key], []backend.Series(nil)...)
	}
	if len(w.moved) > 0 {
		for _, r := range w.old.records {
			if w.moved[r.Key.Source] || w.moved[r.Via] {
				seen[r.Key] = append(seen[r.Key], []backend.Series(nil)...)
			}
		}
	}
	for k, series := range seen {
		if _, gone := w.gone[k]; gone && w.st.Entity(k) == nil {
			continue
		}
		w.judgeCounted(rule, k, series)
	}
}

// silentRecheck is how often it is looked whether a source counts again.
const silentRecheck = 10 * time.Second

func (w *work) judgeCounted(rule SeriesRule, k backend.Key, series []backend.Series) {
	rec := w.old.get(k)
	if rec != nil && rec.State == StateEnded && (len(series) == 0 && rec.Note == nil || w.st.Entity(k) == nil) {
		return // what is left in the windows of an ended subject does not start it anew
	}
	for _, c := range w.ended {
		if c.key() == k {
			return
		}
	}
	if g := w.next.gaps[k.Source]; g.Starting && rec != nil {
		return // whose sessions its series speak about is not known before the registry is read: everything stays as it was
	}
	note := &Note{}
	if rec != nil && rec.Note != nil {
		if slices.ContainsFunc(rec.Note.Series(), func(s backend.Series) bool { return w.env.HomeOf(s) == "" }) {
			return // the same
		}
		c := *rec.Note
		c.Keep(func(r *Rest) {
			r.Series = slices.DeleteFunc(slices.Clone(r.Series), func(s backend.Series) bool { return rule.SubjectOf(&w.env, s) != k })
		})
		note = &c
	}
	for _, s := range series {
		if !slices.Contains(note.Series(), s) {
			note.Keep(func(r *Rest) { r.Series = append(slices.Clip(r.Series), s) })
		}
	}
	via := ""
	for _, s := range note.Series() {
		if g, is := w.next.gaps[s.Source]; is {
			if !g.Starting && rec != nil {
				w.put(rec, step(w.meta, k, rec, &Verdict{Outcome: g.Outcome, Why: g.Why}, w.env.Now, w.settling))
			}
			return
		}
		if why, is := w.env.Silent(s.Source, slices.Concat(w.meta.Needs...)...); is {
			if rec != nil {
				w.put(rec, step(w.meta, k, rec, &Verdict{Outcome: SourceError, Why: why, Recheck: w.env.Now.Add(silentRecheck)}, w.env.Now, w.settling))
			}
			return
		}
		via = s.Source
	}
	v := rule.JudgeSeries(&w.env, k, note)
	if v.Source == "" {
		v.Source = k.Source
	}
	v.Via = via
	if w.outside(k, w.st.Entity(k), &v, false) {
		v = Verdict{Outcome: False, Source: v.Source, Via: via, Note: v.Note}
	}
	next := step(w.meta, k, rec, &v, w.env.Now, w.settling)
	if next != nil && next != rec {
		next.Listed = rec != nil && rec.Listed || w.st.Entity(k) != nil
	}
	w.put(rec, next)
}

// fleetWide runs a fleet rule. Known findings that it does not judge have no data.
func (w *work) fleetWide(rule FleetRule) {
	_, notes := rule.(SubjectRule)
	pending := make(map[backend.Key]*record)
	var findings []*record
	for _, g := range w.old.groups {
		findings = append(findings, g.members...)
		for _, r := range g.members {
			if r.State != StateEnded && (!notes || r.Key.Kind == backend.KindSource) {
				pending[r.Key] = r
			}
		}
	}
	w.changes = sortChanges(w.changes)
	w.records = merged(w.old.records, w.changes)
	w.applied = len(w.changes)
	known := &ledger{records: w.records, findings: findingsAfter(findings, w.changes)}
	if b, ok := rule.(Bucketer); ok {
		known.buckets = w.old.bucketed(b, w.changes)
		w.buckets = known.buckets
	}
	for _, f := range rule.JudgeFleet(&w.env, Known{known}) {
		delete(pending, f.Key)
		if g, is := w.next.gaps[f.Key.Source]; is && g.Starting {
			continue
		}
		rec := w.old.get(f.Key)
		if w.outside(f.Key, w.st.Entity(f.Key), &f.Verdict, notes) {
			f.Verdict = Verdict{Outcome: False, Source: f.Verdict.Source, Via: f.Verdict.Via, Note: f.Verdict.Note}
		}
		next := step(w.meta, f.Key, rec, &f.Verdict, w.env.Now, w.settling)
		if next != nil && next != rec && next.State == StateFiring && !next.Clear.IsZero() && next.Note == nil {
			next.Note = rec.Note // while it is kept firing it may come back, and then it began when it first did
		}
		w.put(rec, next)
	}
	for k, r := range pending {
		if _, gone := w.gone[k]; gone {
			continue
		}
		g := gap{Outcome: NoData, Why: backend.Text("nothing was read that could confirm it")}
		for _, src := range []string{k.Source, r.Via} {
			if s, is := w.next.gaps[src]; is {
				g = s
			}
		}
		if !g.Starting {
			w.put(r, step(w.meta, k, r, &Verdict{Outcome: g.Outcome, Why: g.Why}, w.env.Now, w.settling))
		}
	}
}

// findingsAfter is the findings after changes, in key order: few, where a rule takes notes of many.
func findingsAfter(findings []*record, changes []change) []*record {
	slices.SortFunc(findings, func(a, b *record) int { return a.Key.Compare(b.Key) })
	var of []change
	for _, c := range changes {
		_, was := c.was.group()
		_, is := c.next.group()
		switch {
		case is && was:
			of = append(of, c)
		case is:
			of = append(of, change{next: c.next})
		case was:
			of = append(of, change{was: c.was})
		}
	}
	return merged(findings, of)
}

// after is the rule's records after all changes; late are those that the fleet rule made.
func (w *work) after(late []change) []*record {
	if w.records == nil {
		return merged(w.old.records, w.changes)
	}
	return merged(w.records, sortChanges(slices.Concat(late, w.promoted)))
}
