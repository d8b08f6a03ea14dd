package fleet

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// maxObserved bounds the sandboxes of which verdicts are kept. Beyond it the older half of what is no failure goes first.
const maxObserved = 20_000

// EventVerdict is the name of the event that a plane of a sandbox failed, failed otherwise, or works again.
const EventVerdict = "verdict"

// mostVerdictEvents is how many such events of a source one step tells one by one; more are told together.
const mostVerdictEvents = 5

// observations keeps the verdicts of each sandbox from reading to reading, until a newer one of the same plane.
type observations struct {
	known map[backend.Key]*observed
	// changed are the verdicts of this step that say otherwise than the one before them, with the sandbox's name.
	changed []verdictChange
	// misfits are those by which probes of this step first met versions that do not understand each other.
	misfits []verdictChange
}

// observed is what is known of one sandbox. In and out are the newest reading of it and what was made of that: an adapter
// may deliver the same value again.
type observed struct {
	verdicts []backend.Verdict
	told     []backend.Verdict // the newest decided verdict of each plane
	in, out  *backend.Sandbox
}

type verdictChange struct {
	key  backend.Key
	name backend.Safe
	v    backend.Verdict
}

// Observe takes what an action observed of a sandbox. It is shown beside what the platform reports, plane by plane, until a
// newer verdict of the plane. It asks for a poll of the source.
func (f *Fleet) Observe(k backend.Key, vs []backend.Verdict) {
	f.Learn(backend.Proof{Sandbox: k, Verdicts: vs})
	f.Wake(k.Source)
}

// Learn takes what another process observed of a sandbox, or a former one. It asks for no poll.
func (f *Fleet) Learn(p backend.Proof) {
	now := f.opt.instant()
	f.queue(backend.Answer{Source: p.Sandbox.Source, Started: now, Ended: now, Proved: &p})
}

// add merges verdicts into what is known of a sandbox and returns that.
func (o *observations) add(k backend.Key, name backend.Safe, vs []backend.Verdict, kept bool) *observed {
	x := o.known[k]
	if x == nil {
		x = &observed{}
		o.known[k] = x
	}
	was, _ := backend.Observation{Verdicts: x.verdicts}.Of(backend.PlaneExec)
	x.verdicts, x.out = backend.MergeVerdicts(x.verdicts, vs), nil
	if v, _ := (backend.Observation{Verdicts: x.verdicts}).Of(backend.PlaneExec); v.Kind == backend.FailProtocol && was.Kind != v.Kind && !kept {
		o.misfits = append(o.misfits, verdictChange{k, name, v})
	}
	destroyed := backend.Observation{Verdicts: x.verdicts}.Destroyed()
	x.told = slices.DeleteFunc(x.told, func(v backend.Verdict) bool { return !v.At.After(destroyed) })
	for _, v := range x.verdicts {
		if v.Outcome != backend.OutcomeOK && v.Outcome != backend.OutcomeFailed {
			continue
		}
		i := slices.IndexFunc(x.told, func(t backend.Verdict) bool { return t.Plane == v.Plane })
		news := i >= 0 && (x.told[i].Outcome != v.Outcome || x.told[i].Kind != v.Kind) || i < 0 && v.Outcome == backend.OutcomeFailed
		if i < 0 {
			i, x.told = len(x.told), append(x.told, v)
		}
		x.told[i] = v
		if news && !kept {
			o.changed = append(o.changed, verdictChange{k, name, v})
		}
	}
	return x
}

// news are the verdicts of a reading but for the successes that leave a failure standing.
func (x *observed) news(b *backend.Sandbox, vs []backend.Verdict) []backend.Verdict {
	if x == nil || !slices.ContainsFunc(x.verdicts, func(v backend.Verdict) bool { return !v.Passive && v.Outcome == backend.OutcomeFailed }) {
		return vs
	}
	known, _ := b.WithObserved(x.verdicts).Observed.Get()
	return slices.DeleteFunc(slices.Clone(vs), func(v backend.Verdict) bool {
		failed, is := known.Of(v.Plane)
		return is && v.Leaves(&failed)
	})
}

// join joins the sandboxes of a reading with what is known of them. Entities and lists may be shared, so that it changes
// copies.
func (o *observations) join(r *backend.Reading, s *store) {
	o.bound()
	own, whole, table := false, r.Whole(backend.KindSandbox), s.sandboxes()
	for i, b := range r.Sandboxes {
		x := o.known[b.Key]
		seen, passive := b.Observed.Get()
		if x == nil && !passive || b.Observed.IsNotApplicable() {
			continue
		}
		// What the table holds of an equal reading stays: then 10,000 sandboxes are not compared field by field.
		if x == nil || x.in != b || x.out == nil || !whole || x.out.Stale || table.get(b.Key) != x.out {
			x = o.add(b.Key, b.Name, x.news(b, seen.Verdicts), false)
			x.in, x.out = b, b.WithObserved(x.verdicts)
		}
		if !own {
			r.Sandboxes, own = slices.Clone(r.Sandboxes), true
		}
		r.Sandboxes[i] = x.out
	}
}

// bound forgets the older half of the sandboxes without a failure when there are too many, else the older half of all.
func (o *observations) bound() {
	if len(o.known) <= maxObserved {
		return
	}
	type aged struct {
		key  backend.Key
		at   time.Time
		fine bool
	}
	all := make([]aged, 0, len(o.known))
	for k, x := range o.known {
		s := backend.Observation{Verdicts: x.verdicts}
		all = append(all, aged{k, s.At(), len(s.Failed()) == 0})
	}
	rank := func(a aged) int {
		if a.fine {
			return 0
		}
		return 1
	}
	stable.Sort(all, func(a, b aged) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), a.at.Compare(b.at), a.key.Compare(b.key))
	})
	for _, a := range all[:len(all)-maxObserved/2] {
		delete(o.known, a.key)
	}
}

// Observes reports whether anything was observed of a sandbox, in its present life or a former one.
func (s *State) Observes() bool {
	if s.observes != nil {
		return *s.observes
	}
	return observesAny(s.Sandboxes)
}

func observesAny(t Table[backend.Sandbox, *backend.Sandbox]) bool {
	for b := range t.All() {
		if o, ok := b.Observed.Get(); ok && o.Tried() {
			return true
		}
	}
	return false
}

func (s *store) sandboxes() *stagingTable[backend.Sandbox, *backend.Sandbox] {
	return s.of(backend.KindSandbox).(*stagingTable[backend.Sandbox, *backend.Sandbox])
}

// prove shows what was observed of a sandbox that is known: its source may have nothing new to say of it for long.
func (s *store) prove(p *backend.Proof, o *observations) {
	t := s.sandboxes()
	b, name := t.get(p.Sandbox), p.Sandbox.Safe()
	if b != nil {
		name = cmp.Or(b.Name, name)
	}
	var before []backend.Verdict
	if known := o.known[p.Sandbox]; known != nil {
		before = known.verdicts
	}
	x := o.add(p.Sandbox, name, p.Verdicts, p.Kept)
	if b == nil || reflect.DeepEqual(before, x.verdicts) || b.Observed.IsNotApplicable() {
		return
	}
	c := b.WithObserved(x.verdicts)
	c.Rev = s.number + 1
	t.put[p.Sandbox] = c
	s.changed = append(s.changed, p.Sandbox)
}

// events tells the verdicts of this step that changed: one by one when they are few of a source, else together.
func (o *observations) events() []backend.Event {
	out := o.misfitEvents()
	stable.Sort(o.changed, bySource)
	for len(o.changed) > 0 {
		source := o.changed[0].key.Source
		n := slices.IndexFunc(o.changed, func(c verdictChange) bool { return c.key.Source != source })
		if n < 0 {
			n = len(o.changed)
		}
		all := o.changed[:n]
		o.changed = o.changed[n:]
		if n <= mostVerdictEvents {
			for _, c := range all {
				out = append(out, backend.Event{Kind: backend.EventPlatform, At: c.v.At, Source: source, Subject: c.key, Name: EventVerdict,
					Text: backend.Textf("%s, %s: %s", c.name, c.v.Plane, c.v.Said())})
			}
			continue
		}
		out = append(out, together(source, all)...)
	}
	o.changed = nil
	return out
}

// together is one event for each plane and outcome of many verdicts.
func together(source string, all []verdictChange) []backend.Event {
	type form struct {
		plane   backend.Plane
		outcome backend.Outcome
		kind    backend.FailureKind
	}
	var order []form
	by := map[form][]verdictChange{}
	for _, c := range all {
		f := form{c.v.Plane, c.v.Outcome, c.v.Kind}
		if by[f] == nil {
			order = append(order, f)
		}
		by[f] = append(by[f], c)
	}
	var out []backend.Event
	for _, f := range order {
		e := backend.Event{Kind: backend.EventPlatform, Source: source, Name: EventVerdict}
		word := backend.Clean(string(f.outcome), 40)
		if f.kind != "" {
			word = backend.Textf("%s, %s", word, backend.Clean(f.kind.String(), 60))
		}
		e.Text = backend.Textf("%s, %s: %s", backend.Counted(len(by[f]), "sandbox", "sandboxes"), f.plane, word)
		for _, c := range by[f] {
			if c.v.At.After(e.At) {
				e.At = c.v.At
			}
			if len(e.About) < 100 {
				e.About = append(e.About, c.key)
			}
		}
		out = append(out, e)
	}
	return out
}
