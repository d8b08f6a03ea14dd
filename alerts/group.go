package alerts

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// regroup brings the rule's groups up to date with the changes, rewrites the alerts that changed, and turns
// corroborated suspicion into findings, which adds changes.
func (re *ruleEvaluation) regroup() map[groupID]*group {
	touched := re.touched()
	if len(touched) == 0 {
		return re.refresh(re.report(re.settle(re.old.groups, nil)), nil)
	}
	groups := maps.Clone(re.old.groups)
	if groups == nil {
		groups = make(map[groupID]*group, len(touched))
	}
	flaps := make(map[groupID]flap, len(touched))
	for own := touched; len(own) > 0; { // in the second round the variants that got lines of their own
		var moved []change
		for _, id := range stable.Sorted(maps.Keys(own), groupID.compare) {
			moved = append(moved, re.update(groups, id, own[id], flaps)...)
		}
		own = map[groupID][]change{}
		for _, c := range moved {
			id, _ := c.next.group()
			own[id], touched[id] = append(own[id], change{next: c.next}), append(touched[id], change{next: c.next})
		}
	}
	groups = re.report(re.settle(groups, flaps))
	re.reportEnded(groups)
	if len(re.promoted) > 0 {
		re.changes = sortChanges(append(re.changes, re.promoted...))
	}
	return re.refresh(groups, touched)
}

// update brings one group up to date. It returns the members that leave it for lines of their own.
func (re *ruleEvaluation) update(groups map[groupID]*group, id groupID, changes []change, flaps map[groupID]flap) (moved []change) {
	was := groups[id]
	g := &group{id: id}
	if was != nil {
		*g = *was
	}
	g.change(changes)
	if up := re.corroborate(g); len(up) > 0 {
		g.change(up)
		re.promoted = append(re.promoted, up...)
	}
	if moved = re.secede(g); len(moved) > 0 {
		left := make([]change, len(moved))
		for i, c := range moved {
			left[i] = change{was: c.was}
		}
		g.change(left)
		re.promoted = append(re.promoted, moved...)
	}
	re.differs = true
	gone := len(g.members) == 0 && re.movedOn(changes)
	if g.flap = re.old.flaps[id]; !gone {
		g.flap = re.flapOf(id, was, g)
	}
	flaps[id] = g.flap
	switch {
	case len(g.members) > 0:
		re.begin(was, g)
		re.write(g)
	case was == nil:
		return moved
	case g.flap.Flaps && !gone:
		re.keep(g)
	default:
		delete(groups, id)
		re.leave(was, changes)
		return moved
	}
	groups[id] = g
	re.transition(was, g)
	return moved
}

// beginGrace is how long after its start a process takes what it finds for older than itself: its predecessor may have
// died before it saved.
const beginGrace = 2 * time.Minute

// begin notes when the alert's present episode began: what was said about an earlier one does not hold for it. An alert
// that only became more or less severe goes on.
func (re *ruleEvaluation) begin(was, g *group) {
	if was != nil && (len(was.members) == 0 || was.count.live.n > 0 || g.count.live.n == 0) {
		return
	}
	g.worse = re.worseThan(g.id)
	g.began = re.env.Now
	if start := latest(re.next.watching, re.next.clock.ResumedAt); re.env.Now.Sub(start) < beginGrace {
		// It may have been there before this process was, but not when the former one last saved, nor when it went off.
		g.began = re.next.clock.LeftAt
		if f, known := re.old.flaps[g.id]; known && !f.On {
			g.began = latest(g.began, f.At)
		}
	}
	for _, s := range []Severity{"", SeverityInfo, SeverityWarning, SeverityCritical} {
		id := g.id
		id.severity = s
		if o := re.old.groups[id]; id != g.id && o != nil && o.count.live.n > 0 && o.began.Before(g.began) {
			g.began = o.began
		}
	}
}

// worseThan is until when the alert was more severe: what was said about it before does not hold for it any more.
func (re *ruleEvaluation) worseThan(id groupID) worse {
	var out worse
	for _, s := range []Severity{"", SeverityInfo, SeverityWarning, SeverityCritical} {
		from := id
		from.severity = s
		o := re.old.groups[from]
		if from == id || o == nil || o.count.live.n == 0 {
			continue
		}
		for rank, until := range o.worse {
			out[rank] = latest(out[rank], until)
		}
		rank := re.meta.severityOf(from).Rank()
		out[rank] = latest(out[rank], re.env.Now)
	}
	return out
}

// touched collects the groups whose members, folding or times changed, each with the changes to its members.
func (re *ruleEvaluation) touched() map[groupID][]change {
	touched := map[groupID][]change{}
	re.regrouped = map[backend.Key]bool{}
	for _, c := range re.changes {
		was, had := c.was.group()
		is, has := c.next.group()
		if had && (!has || was != is) {
			touched[was] = append(touched[was], change{was: c.was})
			if has {
				re.regrouped[c.key()] = true
			}
		}
		switch {
		case has && had && was == is:
			touched[is] = append(touched[is], c)
		case has:
			touched[is] = append(touched[is], change{next: c.next})
		}
	}
	if !re.rebuild && !re.marked && len(re.refold) == 0 {
		return touched
	}
	for id, g := range re.old.groups {
		if re.rebuild || re.marked && re.young(g) || re.refold[id.source] || len(g.members) > 0 && re.refold[g.members[0].Via] {
			if _, ok := touched[id]; !ok {
				touched[id] = nil
			}
		}
	}
	return touched
}

// change applies changes to the members and their count.
func (g *group) change(changes []change) {
	g.members = merged(g.members, changes)
	g.count = g.count.with(changes, g.members)
}

// corroborate returns what becomes of the suspected members when enough subjects share the cause: company proves the
// suspicion, and the rule's `for` still has to pass. No shipped default has both; a configuration may set `for`.
func (re *ruleEvaluation) corroborate(g *group) []change {
	if re.meta.Corroborate == 0 || g.count.pending.n == 0 || g.count.live.n < re.meta.Corroborate {
		return nil
	}
	var up []change
	for _, r := range g.members {
		if r.provable() && re.env.Now.Sub(r.Active) >= re.meta.For {
			n := r.clone()
			n.State, n.Suspected, n.Since, n.Why = StateFiring, false, re.env.Now, backend.Safe{}
			up = append(up, change{r, n})
		}
	}
	return up
}

// provable reports whether company would prove the suspicion; without present data nothing does.
func (r *record) provable() bool {
	return r.State == StatePending && r.Suspected && r.Corroborate && !r.Paused
}

// severityOf is the severity of one alert of the rule.
func (m *Meta) severityOf(id groupID) Severity {
	if id.severity != "" {
		return id.severity
	}
	return m.Severity
}

// alertID is short and stable.
func (e *Engine) alertID(m *Meta, id groupID) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{m.Name, id.source, id.fingerprint, string(m.severityOf(id)), e.environment}, "\x00")))
	return hex.EncodeToString(sum[:5])
}

// write makes the group's alert anew from its members.
func (re *ruleEvaluation) write(g *group) {
	m, d := re.meta, &re.env
	a := &Alert{Rule: m.Name, Source: g.id.source, Severity: m.severityOf(g.id), Fingerprint: g.id.fingerprint}
	if g.alert != nil {
		a.ID, a.Cause = g.alert.ID, g.alert.Cause
		annotationOf(g.alert).on(a) // until annotate
	} else {
		a.ID = re.e.alertID(m, g.id)
	}
	t := g.count.total(g.members)
	a.State, a.Flapping = t.state, g.flap.Flaps && t.live
	if a.Flapping && t.state == StatePending {
		a.State = StateFiring
	}
	if g.alert == nil || g.alert.State != a.State {
		g.since = d.Now
		if g.alert == nil || g.alert.State != StateFiring && g.alert.State != StateHeld {
			g.since = t.since
		}
	}
	o := t.oldest
	said := o.aggregated()
	if l := said.Listing; l != nil && a.State == StateFiring && !l.Since.IsZero() && l.Since.Before(g.since) {
		g.since = l.Since // what stands for findings is no younger than they
	}
	a.Since, a.Active = d.Display(g.since), d.Display(t.active)
	a.Bounds = Bounds{d.Display(o.Bounds.Earliest), d.Display(o.Bounds.Latest)}
	a.Confirmed = d.Display(t.confirmed)
	if a.Cause.IsEmpty() || m.Folds || said.Listing != nil || o.Detail == o.Cause { // else the text of the first stays
		a.Cause = o.Cause
	}
	values := g.count.counted()
	if g.alert != nil && values.same(g.told) {
		a.Variants = g.alert.Variants
	} else if values != nil {
		a.Variants = VariantsOf(values.by)
	}
	g.valued, g.told = g.count.live.values, values
	a.Runbook, a.Why, a.Trend, a.TrendSpan = o.Runbook, o.Why, said.Trend, said.TrendSpan
	a.SubjectCount, a.Sessions, a.Providers, a.Tenants, a.Pending = t.count, t.sessions, t.providers, t.tenants, t.pending
	switch {
	case a.State != t.state:
		a.Why = g.flap.why()
	case a.State == StateFiring && o.Corroborate && o.Clear.IsZero() && g.count.live.n >= m.Corroborate:
		a.Why = backend.Textf("%d subjects share the cause: it fires from %d", t.count, m.Corroborate)
	}
	if a.State == StateHeld {
		a.FoldedUnder = re.fold(g.id.source, o.Via, a.ID)
	}
	if said.Listing != nil && len(g.members) == 1 {
		a.Subjects, a.SubjectCount = re.listed(said.Listing, a.State), said.Listing.Count
		a.Sessions, a.Providers, a.Tenants = said.Listing.Sessions, said.Listing.Providers, said.Listing.Tenants
		a.Variants = said.Listing.Variants
	} else {
		a.Subjects = re.list(g.members, t.live, t.pending > 0)
	}
	if s, ok := re.rule.(SubjectRule); ok && said.Listing == nil && said.Evidence == nil {
		oldest := re.st.Entity(o.Key)
		a.Evidence = s.Evidence(d, a, oldest)
		if x, is := s.(RecallingRule); is && len(a.Evidence) > 0 {
			a.Evidence = append(a.Evidence, x.Recalled(d, oldest, o.Note)...)
		}
		if len(a.Evidence) == 0 && g.alert != nil {
			a.Evidence = g.alert.Evidence[:len(g.alert.Evidence)-g.marks]
		}
	} else {
		a.Evidence = slices.Concat(said.Evidence, re.ofEach(g.members, t.oldest))
	}
	a.Direction = DirectionOf(a.Trend, a.TrendSpan)
	near := re.changesNear(g.id.source, o.Via, a.Subjects, onset(o), o.Bounds)
	if old := g.alert; len(near) < g.marks && old.Bounds == a.Bounds && old.Active.Equal(a.Active) {
		near = old.Evidence[len(old.Evidence)-g.marks:] // they are forgotten by now, and explain as much as before
	}
	a.Evidence, g.marks = slices.Concat(a.Evidence, near), len(near)
	g.alert = a
}

// mostOfEach bounds the evidence about further subjects of an alert.
const mostOfEach = 8

// ofEach is the evidence about those of the first subjects that are not the oldest.
func (re *ruleEvaluation) ofEach(members []*record, oldest *record) (out []Evidence) {
	rule, is := re.rule.(EachRule)
	if !is {
		return nil
	}
	for _, r := range members[:min(len(members), MaxSubjects)] {
		if r == oldest || r.State != StateFiring {
			continue
		}
		if out = append(out, rule.Each(r.aggregated().Evidence)...); len(out) >= mostOfEach {
			return out[:mostOfEach]
		}
	}
	return out
}

// list names the subjects: those that live, or when none does those that ended. Those that will end soonest come first, those that are
// pending beside others last.
func (re *ruleEvaluation) list(members []*record, live, mixed bool) []Subject {
	if slices.ContainsFunc(members, func(r *record) bool { return !r.Ends.IsZero() }) {
		members = slices.Clone(members)
		stable.Sort(members, func(a, b *record) int {
			if a.Ends.IsZero() || b.Ends.IsZero() {
				return b.Ends.Compare(a.Ends)
			}
			return a.Ends.Compare(b.Ends)
		})
	}
	if mixed {
		pending := func(r *record) bool { return r.State == StatePending }
		members = slices.Concat(slices.DeleteFunc(slices.Clone(members), pending), slices.DeleteFunc(slices.Clone(members), func(r *record) bool { return !pending(r) }))
	}
	out := make([]Subject, 0, min(len(members), MaxSubjects))
	for _, r := range members {
		if live == (r.State == StateEnded) {
			continue
		}
		if len(out) == MaxSubjects {
			break
		}
		out = append(out, Subject{
			Key: r.Key, Label: r.Key.Safe(), State: r.State, Since: re.env.Display(r.Since), Detail: r.Detail,
			Bounds: Bounds{re.env.Display(r.Bounds.Earliest), re.env.Display(r.Bounds.Latest)}, Ends: re.env.Display(r.Ends),
		})
	}
	return out
}

// listed names the subjects of a finding that stands for many.
func (re *ruleEvaluation) listed(l *Listing, state AlertState) []Subject {
	out := slices.Clone(l.Subjects)
	for i := range out {
		s := &out[i]
		s.State, s.Since = state, re.env.Display(s.Since)
		s.Bounds = Bounds{re.env.Display(s.Bounds.Earliest), re.env.Display(s.Bounds.Latest)}
	}
	return out
}

// fold is the id of the alert under which a held alert folds.
func (ev *evaluation) fold(source, via, self string) string {
	for _, s := range []string{source, via} {
		if id := ev.next.folds[s]; id != "" && id != self {
			return id
		}
	}
	return ""
}

// foldUnder notes the sources whose trouble has a line of its own, and which of them are new or over.
func (ev *evaluation) foldUnder(l *ruleState) {
	if ev.refold == nil {
		ev.refold = map[string]bool{}
	}
	for id, g := range l.groups {
		if g.alert.State == StateFiring || g.alert.State == StatePending {
			ev.next.folds[id.source] = g.alert.ID
		}
	}
	for s, id := range ev.next.folds {
		if ev.old.folds[s] != id {
			ev.refold[s] = true
		}
	}
	for s := range ev.old.folds {
		if ev.next.folds[s] == "" {
			ev.refold[s] = true
		}
	}
}

// refresh brings "last confirmed" up to date for alerts that did not change, as long as they are few.
func (re *ruleEvaluation) refresh(groups map[groupID]*group, touched map[groupID][]change) map[groupID]*group {
	if _, ok := re.rule.(SubjectRule); !ok || len(groups) > 200 {
		return groups
	}
	cloned := touched != nil
	for id, g := range groups {
		if _, done := touched[id]; done && touched[id] != nil || g.alert.State != StateFiring && g.alert.State != StatePending {
			continue
		}
		newest := time.Time{}
		for _, r := range g.members[:min(len(g.members), 2)] {
			if e := re.st.Entity(r.Key); e != nil && !e.EntityMeta().Stale {
				newest = latest(newest, re.env.ReadAt(e.EntityMeta()))
			}
		}
		if newest = re.env.Display(newest); !newest.After(g.alert.Confirmed) {
			continue
		}
		if !cloned {
			groups, cloned = maps.Clone(groups), true
		}
		c, a := *g, *g.alert
		a.Confirmed = newest
		c.alert = &a
		groups[id] = &c
		re.differs = true
	}
	return groups
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
