package actions

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// mostChosen bounds what one intent may name: more is a slip, not a plan that anybody can read.
const mostChosen = 10_000

// DeniedError is the reason why a verb cannot be done on a source at all.
type DeniedError struct {
	Verb   Verb
	Source string
	Why    backend.Safe
}

// Error says what, where and why.
func (e *DeniedError) Error() string {
	return fmt.Sprintf("%s is not available on %s: %s", e.Verb, e.Source, e.Why)
}

// Plan makes an intent concrete. It reads, changes nothing, and keeps nothing. The plan is this viewer's own: no other one
// can start it from a screen.
func (o *Operator) Plan(ctx context.Context, in Intent) (*Plan, error) {
	c := o.control
	ability, err := o.ability(in.Source, in.Verb)
	if err != nil {
		return nil, err
	}
	if ability.Denied.String() != "" {
		return nil, &DeniedError{in.Verb, in.Source, ability.Denied}
	}
	if in.Who.User.IsEmpty() {
		in.Who = o.Who(backend.Safe{})
	}
	in.Who.Viewer = o.person.Who.Viewer
	keys, excluded, err := chosen(in, ability.Spec)
	if err != nil {
		return nil, err
	}
	snap := c.opt.Feed.Snapshot()
	if snap.State == nil {
		return nil, fmt.Errorf("nothing has been read yet: wait for the first readings")
	}
	now := c.opt.Now()
	p := &Plan{Schema: PlanSchema, Verb: in.Verb, Of: ability.Spec.Of, Title: ability.Spec.Title, Effect: ability.Spec.Effect, Cost: ability.Spec.Cost,
		Undo: cmp.Or(ability.Part.Undo, ability.Spec.Undo), Source: in.Source, SourceKind: ability.SourceKind, Environment: c.opt.Environment,
		Production: c.opt.Production, Made: now.UTC().Truncate(time.Millisecond), Who: in.Who, Reason: in.Reason, Params: in.Params,
		DryRun: in.DryRun, Headless: in.Headless, PerMinute: ability.Spec.perMinute(), Excluded: excluded,
		Overrides: slices.Clone(in.Overrides)}
	if p.Verb == Clean && p.Params.PurgeNow { // otherwise the plan would promise a grace and an undo
		p.Effect, p.Undo = "the directory is removed for good, at once", ""
	}
	if !in.NotNow.IsEmpty() {
		p.Advice = append(p.Advice, backend.Textf("not now: %s", in.NotNow))
	}
	candidates, err := c.look(ctx, ability.Part.Targets, Question{Keys: keys, State: snap.State, Now: now, Params: in.Params, Suspects: snap.suspects()})
	if err != nil {
		return nil, fmt.Errorf("the targets cannot be read: %w", err)
	}
	c.sort(p, keys, candidates, snap)
	named(p, snap.State)
	c.mentionDamage(ctx, p)
	c.mentionUnsaved(ctx, p, snap.State)
	p.Gesture = gestureOf(p, ability.Spec)
	p.Short = c.short(p, snap.State)
	if p.Gesture == GestureName && p.Short == "" {
		p.Gesture = GestureCount
	}
	p.Warnings = append(p.Warnings, warnings(p, now)...)
	p.Refusals = c.refusals(ctx, p, ability.Spec, snap)
	p.seal()
	return p, nil
}

// Again makes a new plan from the intent of a plan and says what is different.
func (o *Operator) Again(ctx context.Context, old *Plan, in Intent) (*Plan, []backend.Safe, error) {
	p, err := o.Plan(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	return p, differences(old, p), nil
}

// mentionDamage says at the top of the plan that the journal of earlier actions is damaged. It does not refuse the plan: a
// person may have to act all the same, and what is done from now on is still recorded.
func (c *Control) mentionDamage(ctx context.Context, p *Plan) {
	if err := c.damage(ctx); err != nil {
		p.Advice = append(p.Advice, backend.Clean(err.Error(), 500))
	}
}

// Damage says what is wrong with the journal of earlier actions; nil: nothing that can be seen.
func (o *Operator) Damage(ctx context.Context) error { return o.control.damage(ctx) }

func (c *Control) damage(ctx context.Context) error {
	if j, ok := c.opt.Journal.(interface{ Damage(context.Context) error }); ok {
		return j.Damage(ctx)
	}
	return nil
}

// chosen are the keys that an intent may act on, without doubles, and those that it leaves out by itself.
func chosen(in Intent, spec Spec) ([]backend.Key, []Exclusion, error) {
	if len(in.Keys)+len(in.Hidden) > mostChosen {
		return nil, nil, fmt.Errorf("%d were chosen; a plan has at most %d, so that it can be read: choose fewer", len(in.Keys)+len(in.Hidden), mostChosen)
	}
	var keys []backend.Key
	var out []Exclusion
	seen := make(map[backend.Key]bool, len(in.Keys))
	for i, k := range slices.Concat(in.Keys, in.Hidden) {
		why, hidden := backend.Safe{}, false
		switch {
		case seen[k]:
			continue
		case i >= len(in.Keys) && k.Kind == spec.Of && k.Source == in.Source:
			hidden = !slices.Contains(in.Named, k)
			if hidden {
				why = backend.Text("marked, but hidden by the filter")
			}
		case k.Kind != spec.Of:
			why = backend.Textf("%s acts on %s, and this is a %s", backend.Clean(string(spec.Verb), 40), backend.Clean(string(spec.Of), 40), backend.Clean(string(k.Kind), 40))
		case k.Source != in.Source:
			why = backend.Textf("it belongs to %s; a plan acts on one source", backend.Clean(k.Source, 80))
		case in.Headless && !utf8.ValidString(k.Parent.Raw()+k.ID.Raw()):
			why = backend.Text("its id is no UTF-8 text, which a plan that waits for its confirmation cannot hold; the console acts on it")
		}
		seen[k] = true
		if why.String() != "" {
			out = append(out, Exclusion{Key: k, Label: k.Safe(), Why: why, Hidden: hidden})
			continue
		}
		keys = append(keys, k)
	}
	return keys, out, nil
}

// sort makes targets of the eligible candidates and exclusions of the others. A TargetReader that answers less than it was
// asked leaves the rest unknown, and what is unknown is left out.
func (c *Control) sort(p *Plan, keys []backend.Key, cs []Candidate, snap Snapshot) {
	byKey := make(map[backend.Key]*Candidate, len(cs))
	for i := range cs { // one that is answered twice is believed where it excludes
		if was := byKey[cs[i].Key]; was == nil || was.Why.IsEmpty() {
			byKey[cs[i].Key] = &cs[i]
		}
	}
	seen := c.causes(p, snap.State)
	for _, k := range keys {
		x := byKey[k]
		switch {
		case x == nil:
			p.Excluded = append(p.Excluded, Exclusion{Key: k, Label: k.Safe(), Why: backend.Text("it was not found when it was read again")})
			continue
		case x.Advice.String() != "" && !slices.Contains(p.Advice, x.Advice):
			p.Advice = append(p.Advice, x.Advice)
		}
		label := x.Label
		if label.IsEmpty() {
			label = k.Safe()
		}
		if !x.Why.IsEmpty() {
			p.Excluded = append(p.Excluded, Exclusion{Key: k, Label: label, Why: x.Why, Undecided: x.Undecided})
			if len(keys) == 1 {
				p.Choices = x.Choices
			}
			continue
		}
		t := Target{Key: k, Label: label, Name: x.Name, Identity: x.Identity, Loses: x.Loses, Owner: x.Owner, Notes: x.Notes,
			Useless: x.Useless, Bytes: x.Bytes, CauseSeen: x.CauseSeen, Cause: c.cause(snap.State, k)}
		if t.Name == "" {
			t.Name = k.Path().Raw()
		}
		if at := seen[t.Cause]; t.Cause != "" && at.After(t.CauseSeen) {
			t.CauseSeen = at
		}
		p.Targets = append(p.Targets, t)
	}
}

// cause is the fingerprint of a workspace's last error, empty for everything else.
func (c *Control) cause(s *fleet.State, k backend.Key) string {
	w := s.Workspace(k)
	if w == nil || w.LastError.IsEmpty() || c.opt.Fingerprint == nil {
		return ""
	}
	return c.opt.Fingerprint(w.LastError)
}

// causes says for each cause on the plan's source when an attempt last met it.
func (c *Control) causes(p *Plan, s *fleet.State) map[string]time.Time {
	seen := map[string]time.Time{}
	if p.Of != backend.KindWorkspace || c.opt.Fingerprint == nil {
		return seen
	}
	for w := range s.Workspaces.All() {
		if w.Key.Source != p.Source || w.LastError.IsEmpty() || w.Class != backend.ClassFailed && w.Class != backend.ClassEvicted {
			continue
		}
		if at, ok := w.LastAttemptAt.Get(); ok {
			f := c.opt.Fingerprint(w.LastError)
			if at.After(seen[f]) {
				seen[f] = at
			}
		}
	}
	return seen
}

// causeFresh is how recently a cause must have been seen to warn of it.
const causeFresh = time.Minute

// warnings are what the plan says beside its targets.
func warnings(p *Plan, now time.Time) []backend.Safe {
	var out []backend.Safe
	fresh := 0
	var newest time.Time
	for _, t := range p.Targets {
		if !t.CauseSeen.IsZero() && now.Sub(t.CauseSeen) <= causeFresh {
			fresh++
		}
		if t.CauseSeen.After(newest) {
			newest = t.CauseSeen
		}
	}
	switch {
	case p.Verb == Reset && fresh > 0:
		out = append(out, backend.Textf("the cause was still seen %s ago (%d of %d): a reset now would probably fail again",
			backend.Age(now.Sub(newest)), fresh, len(p.Targets)))
	case p.Verb == Reset && len(p.Targets) > 0 && newest.IsZero():
		out = append(out, backend.Text("it is unknown when the cause was last seen"))
	case p.Verb == Reset && len(p.Targets) > 0:
		out = append(out, backend.Textf("the cause was last seen %s ago; whether it is over is not known", backend.Age(now.Sub(newest))))
	}
	if p.Undo == "" && p.Verb != Reset && p.Verb != Probe && len(p.Targets) > 0 {
		out = append(out, backend.Text("this cannot be undone"))
	}
	return out
}

// gestureOf is how the plan is confirmed: never more lightly than its verb asks.
func gestureOf(p *Plan, spec Spec) Gesture {
	if p.Production || len(p.Targets) != 1 || p.Of == backend.KindTmpdir && p.Verb != Undo {
		return GestureCount
	}
	if spec.Gesture == GestureTwice && len(p.Hidden()) > 0 {
		return GestureYes // the names of what is hidden can be typed here
	}
	return spec.Gesture
}

// named gives what the filter hides the names that people know.
func named(p *Plan, s *fleet.State) {
	for i := range p.Excluded {
		x := &p.Excluded[i]
		if box := s.Sandbox(x.Key); x.Hidden && box != nil && !box.Name.IsEmpty() {
			x.Label = box.Name
		}
	}
}

// leastShort is the shortest prefix of a name that confirms anything.
const leastShort = 8

// short is the shortest prefix of the only target's name, of at least 8 characters, that no other subject of its kind
// and source begins with; empty when people cannot type it.
func (c *Control) short(p *Plan, s *fleet.State) string {
	if len(p.Targets) != 1 {
		return ""
	}
	name := p.Targets[0].Name
	if !typable(name) {
		return ""
	}
	n := min(leastShort, len(name))
	for other := range similarNames(s, p.Targets[0].Key) {
		common := 0
		for common < len(other) && common < len(name) && other[common] == name[common] {
			common++
		}
		n = max(n, min(common+1, len(name)))
	}
	return name[:n]
}

// typable reports whether a name consists of printable ASCII without spaces.
func typable(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' })
}

// namesLike yields the names of the other subjects of the key's kind and source. Directories are always typed whole.
func similarNames(s *fleet.State, k backend.Key) func(func(string) bool) {
	return func(yield func(string) bool) {
		if k.Kind == backend.KindTmpdir {
			return
		}
		rows := s.Rows(k.Kind)
		for i := range rows.Len() {
			e := rows.Entity(i)
			x := e.EntityMeta().Key
			if x.Source != k.Source || x == k {
				continue
			}
			if !yield(backend.Alias(e)) || !yield(x.Path().Raw()) {
				return
			}
		}
	}
}
