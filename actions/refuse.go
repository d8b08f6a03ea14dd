package actions

import (
	"context"
	"slices"
	"strings"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// The words that set a judgement aside. Each is typed in full.
const (
	WordCauseFixed    = "cause fixed"
	WordAddsOpens     = "adds opens"
	WordEvidenceSaved = "evidence saved"
)

// refusals are the reasons not to carry the plan out.
func (c *Control) refusals(ctx context.Context, p *Plan, spec Spec, snap Snapshot) []Refusal {
	var out []Refusal
	if len(p.Targets) == 0 {
		next := backend.Text("see what was left out, and why")
		if len(p.Excluded) == 0 {
			next = backend.Text("put the cursor on something, or mark rows")
		}
		return []Refusal{{Why: backend.Text("there is nothing to act on"), Next: next}}
	}
	out = append(out, capRefusals(p, spec, snap.State)...)
	out = append(out, regionRefusals(p, snap)...)
	if p.Verb == Reset {
		out = append(out, resetRefusals(p, snap)...)
	}
	if p.Verb == Reset || p.Verb == Destroy || p.Verb == Clean || p.Verb == Purge {
		out = append(out, c.leakRefusals(ctx, p, snap)...)
	}
	return out
}

// capRefusals hold the number of targets. There is no word for them: choose fewer, and see what the first ones do.
func capRefusals(p *Plan, spec Spec, s *fleet.State) []Refusal {
	useful := 0
	for _, t := range p.Targets {
		if !t.Useless && !brokenSession(s, t.Key) {
			useful++
		}
	}
	if n := len(p.Targets); n > spec.most() {
		return []Refusal{{Why: backend.Textf("%d targets are more than one plan may have (%d)", n, spec.most()),
			Next: backend.Text("choose fewer, and plan again when they are done")}}
	}
	if spec.Cap != CapShare || useful == 0 {
		return nil
	}
	all := inUse(s, p.Source, p.Of)
	if limit := max(1, all/4); useful > limit {
		return []Refusal{{Why: backend.Textf("%d of the targets may be in use; that is more than a quarter of the %d of %s that work or of which nothing is known",
			useful, all, backend.Clean(p.Source, 80)), Next: backend.Textf("choose at most %d of them", limit)}}
	}
	return nil
}

// regionRefusals switch plans of several targets off where one of them is in a region with an incident: what fails is not in
// the sandboxes. There is no word for it.
func regionRefusals(p *Plan, snap Snapshot) []Refusal {
	if len(p.Targets) < 2 {
		return nil
	}
	of := map[backend.Safe]int{}
	for _, t := range p.Targets {
		k := t.Key
		if s := snap.State.Session(k); s != nil && s.Hub != nil {
			k = backend.Key{Kind: backend.KindSandbox, Source: k.Source, ID: s.Hub.Sandbox}
		}
		if b := snap.State.Sandbox(k); b != nil && !b.Region.IsEmpty() {
			of[b.Region]++
		}
	}
	var out []Refusal
	for i := range snap.Concerns {
		x := &snap.Concerns[i]
		rest, is := strings.CutPrefix(x.Cause.String(), "region ")
		if name, _, told := strings.Cut(rest, ": "); is && told && x.Rule == "contradiction" && x.Firing && x.Source == p.Source && of[backend.Clean(name, 60)] > 0 {
			out = append(out, Refusal{Why: backend.Textf("bulk actions are off in an incident of the region: %s", x.Cause),
				Next: backend.Text("act on one sandbox at a time, or wait until the incident is over")})
		}
	}
	if h := snap.State.Source(p.Source); h != nil && h.Status == fleet.StatusDegraded { // a share of server errors
		rest, is := strings.CutPrefix(h.Error.String(), "region ")
		if name, what, told := strings.Cut(rest, ": "); is && told && strings.Contains(what, "server errors") && of[backend.Clean(name, 60)] > 0 {
			out = append(out, Refusal{Why: backend.Textf("bulk actions are off in an incident of the region: %s", h.Error),
				Next: backend.Text("act on one sandbox at a time, or wait until the incident is over")})
		}
	}
	return distinct(out)
}

// inUse counts the subjects of a source that work, or of which nothing is known.
func inUse(s *fleet.State, source string, of backend.Kind) int {
	n, inUse, rows := 0, of.Spec().InUse, s.Rows(of)
	for i := range rows.Len() {
		e := rows.Entity(i)
		k := e.EntityMeta().Key
		if inUse != nil && k.Source == source && inUse(e) && !brokenSession(s, k) {
			n++
		}
	}
	return n
}

// brokenSession reports whether none of a session's workspaces works: bounding the opens of all that storm is the way out
// of a storm, and must not be held by a share of what works.
func brokenSession(s *fleet.State, k backend.Key) bool {
	if k.Kind != backend.KindSession {
		return false
	}
	broken := false
	for w := range s.Workspaces.Of(backend.KindWorkspace, k.Source, k.ID) {
		if w.Class == backend.ClassFailed || w.Class == backend.ClassEvicted {
			broken = true
		} else if w.Class != backend.ClassClosed {
			return false
		}
	}
	return broken
}

// resetRefusals tell when a reset would only fail again or make an outage worse.
func resetRefusals(p *Plan, snap Snapshot) []Refusal {
	var out []Refusal
	for i := range snap.Concerns {
		x := &snap.Concerns[i]
		if !x.Firing || x.Source != p.Source {
			continue
		}
		switch x.Rule {
		case "capability-mismatch", "ref-mismatch":
			if slices.ContainsFunc(p.Targets, func(t Target) bool { return x.names(t.Key) }) {
				cause, next := backend.Literal("the configuration"), backend.Literal("correct the configuration first")
				switch {
				case x.Rule == "ref-mismatch" && backend.NoContainer(x.Cause.String()):
					cause, next = "the container that is gone", "start a fresh session"
				case x.Rule == "ref-mismatch":
					cause, next = "the release, which cannot read the reference", "roll forward first"
				}
				out = append(out, Refusal{Word: WordCauseFixed,
					Why:  backend.Textf("a reset does not help, the cause is %s: %s", backend.Text(cause), x.Cause),
					Next: backend.Textf("%s; when that is done, type: %s", backend.Text(next), WordCauseFixed)})
			}
		case "eviction-storm", "restart-storm", "capacity":
			if x.Rule != "restart-storm" && otherProviders(p, x, snap.State) {
				continue
			}
			out = append(out, Refusal{Word: WordAddsOpens,
				Why:  backend.Textf("%s fires on %s: each reset adds an open and fails again: %s", backend.Clean(x.Rule, 60), backend.Clean(p.Source, 80), x.Cause),
				Next: backend.Textf("wait until it is over, or bound the opens first. To go on, type: %s", WordAddsOpens)})
		}
	}
	return distinct(out)
}

// otherProviders reports whether a concern is known to be about providers that no target of the plan has.
func otherProviders(p *Plan, x *Concern, s *fleet.State) bool {
	if x.Cut || len(x.Subjects) == 0 {
		return false
	}
	theirs := map[backend.Safe]bool{}
	for _, k := range x.Subjects {
		w := s.Workspace(k)
		if w == nil || w.Provider.IsEmpty() {
			return false
		}
		theirs[w.Provider] = true
	}
	return !slices.ContainsFunc(p.Targets, func(t Target) bool {
		w := s.Workspace(t.Key)
		return w == nil || w.Provider.IsEmpty() || theirs[w.Provider]
	})
}

// leakRefusals keep the evidence of a possible leak: what shows it would be gone.
func (c *Control) leakRefusals(ctx context.Context, p *Plan, snap Snapshot) []Refusal {
	for i := range snap.Concerns {
		x := &snap.Concerns[i]
		if x.Rule != "possible-leak" || !x.Firing {
			continue
		}
		var touched []backend.Key
		for _, t := range p.Targets {
			if x.names(t.Key) || x.namesSession(snap.State, t.Key) {
				touched = append(touched, t.Key)
			}
		}
		if len(touched) == 0 {
			continue
		}
		r := Refusal{Why: backend.Textf("possible-leak fires about %d of the targets: %s destroys what could show who read what",
			len(touched), backend.Clean(string(p.Verb), 40))}
		if c.opt.EvidenceSaved != nil && c.opt.EvidenceSaved(ctx, x.Since, touched) {
			r.Word, r.Next = WordEvidenceSaved, backend.Textf("a bundle was written; if it holds what you need, type: %s", WordEvidenceSaved)
		} else {
			r.Next = backend.Text("write a bundle first: E, or sandglass bundle ID")
		}
		return []Refusal{r}
	}
	return nil
}

// distinct keeps one refusal of each text, those of one word behind one another: what is next is the same for all of them.
func distinct(rs []Refusal) []Refusal {
	var out []Refusal
	for _, r := range rs {
		if slices.ContainsFunc(out, func(x Refusal) bool { return x.Why == r.Why }) {
			continue
		}
		at := len(out)
		for i := range out {
			if out[i].Word == r.Word {
				at = i + 1
			}
		}
		out = slices.Insert(out, at, r)
	}
	return out
}
