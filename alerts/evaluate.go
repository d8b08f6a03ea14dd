package alerts

import (
	"slices"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// ruleEvaluation is the part of an evaluation that concerns one rule.
type ruleEvaluation struct {
	*evaluation
	rule     Rule
	meta     *Meta
	old      *ruleState
	settling bool
	changes  []change
	ended    []change // those of changes whose subject is no more
	buckets  map[string][]*record
	records  []*record // with the first applied changes, once a fleet rule has seen them
	applied  int
	promoted []change     // by corroboration
	cursor   recordCursor // in the records before
	flaps    map[groupID]flap
	apart    map[apartID][]string
	vanished int // findings held whose session left its list unseen
}

func (re *ruleEvaluation) put(was, next *record) {
	if was != next {
		re.changes = append(re.changes, change{was, next})
	}
}

// due are the records that are due; others of these keys have another due time by now.
func (re *ruleEvaluation) due(keys []backend.Key) []*record {
	var out []*record
	f := recordCursor{rs: re.old.records}
	for _, k := range keys {
		if r := f.get(k); r != nil && !r.Due.IsZero() && !r.Due.After(re.env.Now) {
			out = append(out, r)
		}
	}
	return out
}

func (re *ruleEvaluation) end(r *record, why backend.Safe) {
	n := end(r, why, re.env.Now)
	re.put(r, n)
	if n != nil && r.State != StateEnded {
		re.ended = append(re.ended, change{r, n})
	}
}

// extra are the keys of one kind that must be looked at though they did not change: due ones, and those whose source
// fell silent or came back.
func (re *ruleEvaluation) extra(kind backend.Kind, due []*record) []backend.Key {
	var keys []backend.Key
	for _, r := range due {
		if r.Key.Kind == kind {
			keys = append(keys, r.Key)
		}
	}
	if len(re.moved) > 0 {
		for _, r := range re.old.records {
			if r.Key.Kind == kind && (re.moved[r.Key.Source] || re.moved[r.Via]) {
				keys = append(keys, r.Key)
			}
		}
	}
	return keys
}

// entities are the changed entities of one kind, looked up once for all rules.
func (ev *evaluation) entities(kind backend.Kind) []backend.Entity {
	if es, ok := ev.found[kind]; ok {
		return es
	}
	keys := ev.changed[kind]
	stable.Sort(keys, backend.Key.Compare)
	keys = slices.Compact(keys)
	es := lookUp(ev.st.Rows(kind), keys)
	ev.found[kind] = es
	return es
}

func (re *ruleEvaluation) subjects(rule SubjectRule, due []*record) {
	if !re.all && len(re.catchUp) == 0 {
		changed := re.entities(rule.Kind())
		for _, e := range changed {
			re.judge(rule, e.EntityMeta().Key, e)
		}
		for _, k := range re.extra(rule.Kind(), due) {
			_, done := slices.BinarySearchFunc(changed, k, func(e backend.Entity, k backend.Key) int { return e.EntityMeta().Key.Compare(k) })
			if e := re.st.Entity(k); e != nil && !done {
				re.judge(rule, k, e)
			}
		}
		return
	}
	rows := re.st.Rows(rule.Kind())
	for i := range rows.Len() {
		e := rows.Entity(i)
		re.judge(rule, e.EntityMeta().Key, e)
	}
}

func (re *ruleEvaluation) judge(rule SubjectRule, k backend.Key, e backend.Entity) {
	rec := re.cursor.get(k)
	meta := e.EntityMeta()
	if g, is := re.gapFor(k, meta); is {
		switch {
		case rec == nil && !meta.Stale: // a stale entity is a changed one once it is read again
			re.next.missed[k.Source] = true
		case rec != nil && !g.Starting:
			re.put(rec, re.step(k, rec, &Verdict{Outcome: g.Outcome, Why: g.Why, Confirmed: g.Since}))
		}
		return
	}
	var note Note
	if rec != nil {
		note = rec.Note
	}
	v := rule.Judge(&re.env, e, note)
	if re.outside(k, e, &v, false) {
		v = Verdict{Outcome: False}
	}
	if rec == nil && v.Note.IsZero() && v.Outcome != True {
		return
	}
	if v.Source == "" {
		v.Source = k.Source
	}
	if v.Confirmed.IsZero() {
		v.Confirmed = re.env.ReadAt(meta)
	}
	re.old.lined(&v)
	next := re.step(k, rec, &v)
	if next != nil && next != rec {
		next.Listed = true
	}
	re.put(rec, next)
}

// countedSubjects judges the subjects whose series changed or that are due.
func (re *ruleEvaluation) countedSubjects(rule SeriesRule, due []*record) {
	metrics := rule.Metrics()
	seen := map[backend.Key][]backend.Series{}
	add := func(s backend.Series) {
		if re.env.HomeOf(s) == "" {
			return // looked at when it is homed
		}
		k := rule.SubjectOf(&re.env, s)
		seen[k] = append(seen[k], s)
	}
	if re.all || re.homed {
		for _, name := range metrics {
			for s := range re.st.Windows.All(name) {
				add(s)
			}
		}
		for _, r := range re.old.records {
			seen[r.Key] = append(seen[r.Key], []backend.Series(nil)...)
		}
	} else {
		for _, s := range re.series {
			if slices.Contains(metrics, s.Name) {
				add(s)
			}
		}
	}
	for _, r := range due {
		seen[r.Key] = append(seen[r.Key], []backend.Series(nil)...)
	}
	if len(re.moved) > 0 {
		for _, r := range re.old.records {
			if re.moved[r.Key.Source] || re.moved[r.Via] {
				seen[r.Key] = append(seen[r.Key], []backend.Series(nil)...)
			}
		}
	}
	for k, series := range seen {
		if _, gone := re.gone[k]; gone && re.st.Entity(k) == nil {
			continue
		}
		re.judgeCounted(rule, k, series)
	}
}

// silentRecheck is how often it is looked whether a source counts again.
const silentRecheck = 10 * time.Second

func (re *ruleEvaluation) judgeCounted(rule SeriesRule, k backend.Key, series []backend.Series) {
	rec := re.old.get(k)
	if rec != nil && rec.State == StateEnded && (len(series) == 0 && rec.Note.IsZero() || re.st.Entity(k) == nil) {
		return // what is left in the windows of an ended subject does not start it anew
	}
	if rec != nil && re.heldVanished(rec) {
		return
	}
	if _, is := re.elsewhere(rec); is {
		return
	}
	for _, c := range re.ended {
		if c.key() == k {
			return
		}
	}
	if g := re.next.gaps[k.Source]; g.Starting && rec != nil {
		return // whose sessions its series speak about is not known before the registry is read: everything stays as it was
	}
	var note Note
	var known []backend.Series
	if rec != nil {
		note = rec.Note
		before := rule.SeriesOf(note)
		if slices.ContainsFunc(before, func(s backend.Series) bool { return re.env.HomeOf(s) == "" }) {
			return // the same
		}
		known = slices.DeleteFunc(slices.Clone(before), func(s backend.Series) bool { return rule.SubjectOf(&re.env, s) != k })
	}
	for _, s := range series {
		if !slices.Contains(known, s) {
			known = append(known, s)
		}
	}
	via := ""
	for _, s := range known {
		if g, is := re.next.gaps[s.Source]; is {
			if !g.Starting && rec != nil {
				re.put(rec, re.step(k, rec, &Verdict{Outcome: g.Outcome, Why: g.Why, Confirmed: g.Since}))
			}
			return
		}
		if why, is := re.env.Silent(s.Source, slices.Concat(re.meta.Needs...)...); is {
			if rec != nil {
				re.put(rec, re.step(k, rec, &Verdict{Outcome: SourceError, Why: why, Recheck: re.env.Now.Add(silentRecheck)}))
			}
			return
		}
		via = s.Source
	}
	v := rule.JudgeSeries(&re.env, k, known, note)
	if v.Source == "" {
		v.Source = k.Source
	}
	v.Via = via
	if re.outside(k, re.st.Entity(k), &v, false) {
		v = Verdict{Outcome: False, Source: v.Source, Via: via, Note: v.Note}
	}
	next := re.step(k, rec, &v)
	if next != nil && next != rec {
		next.Listed = rec != nil && rec.Listed || re.st.Entity(k) != nil
	}
	re.put(rec, next)
}

// fleetWide runs a fleet rule. Known findings that it does not judge have no data.
func (re *ruleEvaluation) fleetWide(rule FleetRule) {
	_, notes := rule.(SubjectRule)
	pending := make(map[backend.Key]*record)
	var findings []*record
	for _, g := range re.old.groups {
		findings = append(findings, g.members...)
		for _, r := range g.members {
			if r.State != StateEnded && (!notes || r.Key.Kind == backend.KindSource) {
				pending[r.Key] = r
			}
		}
	}
	re.changes = sortChanges(re.changes)
	re.records = merged(re.old.records, re.changes)
	re.applied = len(re.changes)
	known := &ruleState{records: re.records, findings: findingsAfter(findings, re.changes)}
	if b, ok := rule.(Bucketer); ok {
		known.buckets = re.old.bucketed(b, re.changes)
		re.buckets = known.buckets
	}
	for _, f := range rule.JudgeFleet(&re.env, Known{known}) {
		delete(pending, f.Key)
		if g, is := re.next.gaps[f.Key.Source]; is && g.Starting {
			continue
		}
		if g, is := re.next.gaps[f.Verdict.Source]; is && g.Starting && f.Verdict.Outcome == NoData {
			continue // what it needs from there is not read yet in this run: that changes nothing
		}
		rec := re.old.get(f.Key)
		if re.outside(f.Key, re.st.Entity(f.Key), &f.Verdict, notes) {
			f.Verdict = Verdict{Outcome: False, Source: f.Verdict.Source, Via: f.Verdict.Via, Note: f.Verdict.Note}
		}
		next := re.step(f.Key, rec, &f.Verdict)
		if next != nil && next != rec && next.State == StateFiring && !next.Clear.IsZero() && next.Note.IsZero() {
			next.Note = rec.Note // while it is kept firing it may come back, and then it began when it first did
		}
		re.put(rec, next)
	}
	for k, r := range pending {
		if _, gone := re.gone[k]; gone || re.heldVanished(r) {
			continue
		}
		if _, is := re.elsewhere(r); is {
			continue
		}
		g := gap{Outcome: NoData, Why: backend.Text("nothing was read that could confirm it")}
		for _, src := range []string{k.Source, r.Via} {
			if s, is := re.next.gaps[src]; is {
				g = s
			}
		}
		if !g.Starting {
			re.put(r, re.step(k, r, &Verdict{Outcome: g.Outcome, Why: g.Why, Confirmed: g.Since}))
		}
	}
}

// findingsAfter is the findings after changes, in key order: few, where a rule takes notes of many.
func findingsAfter(findings []*record, changes []change) []*record {
	stable.Sort(findings, func(a, b *record) int { return a.Key.Compare(b.Key) })
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
func (re *ruleEvaluation) after(late []change) []*record {
	if re.records == nil {
		return merged(re.old.records, re.changes)
	}
	return merged(re.records, sortChanges(slices.Concat(late, re.promoted)))
}
