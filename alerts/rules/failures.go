package rules

import (
	"cmp"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// noteFailure takes a note of a workspace that has failed with an error, kept while it opens again. An eviction is
// left to eviction-storm. A workspace that is still being retried becomes failed within a retry cycle.
func noteFailure(env *alerts.Env, w *backend.Workspace, note *failureNote) *failureNote {
	f := factsOf(env, w)
	if h := env.State.Source(w.Key.Source); h != nil && h.ClockGuessed {
		f.attempt = time.Time{} // a guessed clock dates no attempt
	}
	if note != nil && f.advanced(note.run()) {
		note = nil
	}
	if w.Class == backend.ClassHealthy || note == nil && (w.Class != backend.ClassFailed || w.LastError.IsEmpty()) {
		return nil
	}
	if note == nil {
		n := noted[failureNote](f, nil)
		n.owner, n.Raw = ownerOf(env, w), w.LastError
		n.Cause, n.Fingerprint = env.Cause(w.LastError)
		return n
	}
	n, _, _ := causeOf(env, w, note, noted(f, note), "")
	return n
}

// failureNote is a workspace's run of failures that an alert about many lists.
type failureNote struct {
	failureRun
	owner
}

func (n *failureNote) subject() alerts.Subject {
	return alerts.Subject{Since: n.Seen, Bounds: alerts.Bounds{Earliest: n.worked(), Latest: n.proved()}, Detail: n.Cause}
}

// worked is when it last worked: where its attempts are not dated its success is not either, and an earlier reading says so.
func (n *failureNote) worked() time.Time {
	if n.FirstAttempt.IsZero() {
		return n.Worked
	}
	return n.Success
}

// onset is when it began to fail, as far as that is proved: its attempts are dated by a clock that can be used, or a
// reading before showed it working. began is the earliest moment at which that can have been; zero where one reading is
// all there is. dated is false where nothing says when.
func (n *failureNote) onset() (began, failed time.Time, dated bool) {
	if n.FirstAttempt.IsZero() {
		return n.Worked, n.Seen, !n.Worked.IsZero()
	}
	return n.earliest(), n.proved(), true
}

// failures is what the rules about many failures at once have in common: notes of the workspaces that fail, kept together
// by cause, and how many of a fleet they must be.
type failures struct {
	base
	remembers[failureNote]
	share float64
	over  time.Duration
}

func newFailures(name string, c *Common, share float64, over backend.Duration) (failures, error) {
	return failures{base: c.base(name, backend.KindWorkspace, backend.InputRegistry, backend.InputRegistry), share: share, over: over.Std()},
		cmp.Or(refuse(share < 0 || share > 1, "share", "must be between 0 and 1"), positive("over", over))
}

// Judge takes notes of workspaces that fail; a single one proves nothing.
func (r *failures) Judge(env *alerts.Env, e backend.Entity, known alerts.Note) alerts.Verdict {
	w, ok := e.(*backend.Workspace)
	if !ok {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	if w.Unreadable {
		return alerts.Verdict{Outcome: alerts.NoData, Note: known}
	}
	return alerts.Verdict{Outcome: alerts.False, Note: alerts.NoteOf(noteFailure(env, w, alerts.NoteAs[failureNote](known)))}
}

// Bucket keeps the failures of one cause at one source together.
func (r *failures) Bucket(k backend.Key, n alerts.Note) string {
	if k.Kind != backend.KindWorkspace {
		return ""
	}
	return k.Source + "\x00" + alerts.NoteAs[failureNote](n).Fingerprint
}

// few reports whether n is less than the share of a source's workspaces.
func (r *failures) few(env *alerts.Env, home string, n int) bool {
	return r.share > 0 && ofSource(env, home) > int(float64(n)/r.share)
}

// gapOf is the verdict about a source that cannot be judged now.
func gapOf(env *alerts.Env, home string) (alerts.Verdict, bool) {
	o, why, gap := env.Gap(home)
	return alerts.Verdict{Outcome: o, Why: why}, gap
}

// unmentioned judges the findings that nothing speaks for any more.
func unmentioned(env *alerts.Env, known alerts.Known, seen map[backend.Key]bool) []alerts.Found {
	var out []alerts.Found
	for key := range known.Findings {
		if seen[key] {
			continue
		}
		v, gap := gapOf(env, key.Source)
		if !gap {
			v = alerts.Verdict{Outcome: alerts.False}
		}
		out = append(out, alerts.Found{Key: key, Verdict: v})
	}
	return out
}

// variantsOf are the variants of one cause among failures.
func variantsOf(env *alerts.Env, notes alerts.Notes) alerts.Variants {
	counts := map[string]int{}
	for _, n := range each[failureNote](notes) {
		counts[env.Values(cmp.Or(n.Raw, n.Cause), "")]++
	}
	return alerts.VariantsOf(counts)
}

// listable is a pointer to a workspace's note of type N that an alert about many lists.
type listable[N any] interface {
	*N
	belongs() *owner
	subject() alerts.Subject // its key and label are left to listingOf
}

// listingOf names the workspaces behind notes; their source when there are none.
func listingOf[N any, P listable[N]](env *alerts.Env, notes alerts.Notes, home string) *alerts.Listing {
	l := &alerts.Listing{Count: notes.Len()}
	providers, tenants := map[backend.Safe]bool{}, map[backend.Safe]bool{}
	var session backend.ID
	var provider, tenant backend.Safe
	for k, note := range each[N](notes) { // in key order, so that those of one session are neighbours
		n := P(note).belongs()
		if n.Session != session {
			session = n.Session
			l.Sessions++
		}
		if n.Provider != provider && !n.Provider.IsEmpty() {
			provider = n.Provider
			providers[provider] = true
		}
		if n.Tenant != tenant && !n.Tenant.IsEmpty() {
			tenant = n.Tenant
			tenants[tenant] = true
		}
		if len(l.Subjects) < alerts.MaxSubjects {
			x := P(note).subject()
			x.Key, x.Label = k, k.Safe()
			l.Subjects = append(l.Subjects, x)
		}
	}
	l.Providers, l.Tenants = len(providers), len(tenants)
	if l.Count == 0 {
		l.Count = 1
		l.Subjects = []alerts.Subject{{Key: sourceKey(env.State, home), Label: backend.Clean(home, 80), Since: env.Now}}
	}
	return l
}
