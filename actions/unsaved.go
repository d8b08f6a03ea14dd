package actions

import (
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"sandglass/actions/audit"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// history is the part of the journal that tells what was done before.
type history interface {
	Records(ctx context.Context, f audit.Filter) iter.Seq2[audit.Record, error]
}

// mentionUnsaved says of each sandbox that a plan destroys or replaces that no rescue of it was made where one can be, or what the newest
// did not save, when that was, and where the part that was saved is. A rescue that saved all takes it back.
func (c *Control) mentionUnsaved(ctx context.Context, p *Plan, s *fleet.State) {
	j, ok := c.opt.Journal.(history)
	if !ok || p.Of != backend.KindSandbox || p.Verb != Destroy && p.Verb != Replace {
		return
	}
	newest := map[backend.Key]audit.Record{}
	for r, err := range j.Records(ctx, audit.Filter{Phases: []audit.Phase{audit.PhaseOutcome}, Verbs: []string{string(Rescue)}}) {
		if err != nil { // the plan says apart that the journal is damaged
			continue
		}
		for _, k := range r.Subjects {
			if was, known := newest[k]; savedAll(&r) || savedPart(&r) || failed(&r) && (!known || failed(&was)) {
				newest[k] = r
			}
		}
	}
	for i := range p.Targets {
		t := &p.Targets[i]
		r, tried := newest[t.Key]
		var made time.Time
		if b := s.Sandbox(t.Key); b != nil {
			made, _ = b.CreatedAt.Get()
		}
		if !tried || made.After(r.At) { // then another sandbox had that id
			if c.rescues(t.Key) {
				t.Notes = slices.Concat([]backend.Safe{backend.Text("nothing of it was rescued: the journal has no rescue of it")}, t.Notes)
			}
			continue
		}
		if savedAll(&r) {
			continue
		}
		says := backend.Literal("its rescue of %s failed, and its files are only in it: %s")
		if savedPart(&r) {
			says = "its rescue of %s is incomplete, and the rest is only in it: %s"
		}
		t.Notes = slices.Concat([]backend.Safe{backend.Textf(says, backend.Clean(r.At.UTC().Format("2006-01-02 15:04:05Z"), 40), r.Detail)}, t.Notes)
	}
}

// rescues reports whether the files of a sandbox can be copied first.
func (c *Control) rescues(k backend.Key) bool {
	return slices.ContainsFunc(c.opt.Abilities, func(a Ability) bool { return a.Spec.Verb == Rescue && a.Source == k.Source && a.For(k) })
}

func savedAll(r *audit.Record) bool { return r.Result == audit.ResultVerified }

// savedPart reports whether a rescue saved some of it: its record says what not, and where the archive is.
func savedPart(r *audit.Record) bool {
	return r.Result == audit.ResultFailed && strings.HasPrefix(r.Detail.String(), partlyDone)
}

func failed(r *audit.Record) bool {
	return !savedPart(r) && (r.Result == audit.ResultFailed || r.Result == audit.ResultUnknown)
}
