package operator

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// condition is what later readings must show. The texts are those of the configuration.
type condition struct {
	kind string // none, gone, success, ref, is, not
	word string // a state
}

const (
	condNone    = "none"
	condGone    = "gone"
	condSuccess = "success advances"
	condRef     = "ref == planned"
)

// parseCondition reads "none", "gone", "success advances", "ref == planned", "state == X" and "state != X".
func parseCondition(s string, of backend.Kind) (condition, error) {
	s = strings.Join(strings.Fields(s), " ")
	switch {
	case s == condNone || s == condGone:
		return condition{kind: s}, nil
	case (s == condSuccess || s == condRef) && of == backend.KindWorkspace:
		return condition{kind: s}, nil
	case s == condRef:
		return condition{}, fmt.Errorf("only workspaces have a stored reference")
	case s == condSuccess:
		return condition{}, fmt.Errorf("only workspaces report a last success")
	}
	for _, op := range []string{"==", "!="} {
		left, word, ok := strings.Cut(s, op)
		if word = strings.TrimSpace(word); ok && strings.TrimSpace(left) == "state" && word != "" {
			return condition{kind: op, word: word}, nil
		}
	}
	return condition{}, fmt.Errorf("%q is not a condition; write none, gone, success advances, ref == planned, state == WORD or state != WORD", s)
}

// verifier returns what judges the condition; nil when nothing can.
func (c condition) verifier(fingerprint func(backend.Safe) string) actions.Verifier {
	if c.kind == condNone {
		return nil
	}
	return verifier{c, fingerprint}
}

type verifier struct {
	cond        condition
	fingerprint func(backend.Safe) string
}

func accepted(why backend.Literal) actions.Verdict {
	return actions.Verdict{Result: actions.ResultAccepted, Why: backend.Text(why)}
}

// Verify judges a target by readings that are newer than the issue.
func (v verifier) Verify(t actions.Target, issued time.Time, s *fleet.State) actions.Verdict {
	if v.cond.kind == condGone {
		return actions.Gone(t, issued, s)
	}
	e := s.Entity(t.Key)
	if e == nil {
		return departed(t, issued, s)
	}
	w, isWorkspace := e.(*backend.Workspace)
	_, stale := s.StaleWhy(e.EntityMeta())
	switch {
	case !s.ReadAt(e.EntityMeta()).After(issued):
		return accepted("it was not read since")
	case stale, isWorkspace && w.Unreadable:
		return accepted("it cannot be read now")
	case v.cond.kind == condRef && isWorkspace:
		return v.restored(t, issued, w, s)
	case v.cond.kind == condSuccess && isWorkspace:
		return v.success(t, issued, w)
	case isState(e, v.cond.word) == (v.cond.kind == "=="):
		return actions.Verdict{Result: actions.ResultVerified, Why: backend.Textf("it is reported %v", spoken(e.StatusWord()))}
	}
	return actions.Verdict{Result: actions.ResultAccepted, Why: backend.Textf("it is still reported %v", spoken(e.StatusWord()))}
}

// departed judges what is not listed any more. Sources that answer no longer keep their entities listed, so this one
// came to its end.
func departed(t actions.Target, issued time.Time, s *fleet.State) actions.Verdict {
	if v := actions.Gone(t, issued, s); v.Result != actions.ResultVerified {
		return v
	}
	why := backend.Text("it ended, so the result is not known")
	if t.Key.Kind == backend.KindWorkspace {
		why = backend.Text("its session closed it or ended, so the result is not known")
	}
	return actions.Verdict{Result: actions.ResultEnded, Why: why}
}

// success waits for a new success: a state word alone proves nothing. A new attempt that fails with the cause of before
// is failed again.
func (v verifier) success(t actions.Target, issued time.Time, w *backend.Workspace) actions.Verdict {
	if at, ok := w.LastSuccessAt.Get(); ok && succeededSince(at, issued, t) {
		return actions.Verdict{Result: actions.ResultVerified, Why: backend.Text("it succeeded since")}
	}
	if w.Class != backend.ClassFailed {
		return actions.Verdict{Result: actions.ResultAccepted,
			Why: backend.Textf("it is reported %v now, but nothing has succeeded since", spoken(w.Reported))}
	}
	attempt, tried := w.LastAttemptAt.Get()
	switch {
	case !tried:
		return accepted("it is still failed; whether it was tried again is not known")
	case attempt.Before(issued.Truncate(registryTick)) || !attempt.After(t.CauseSeen):
		return accepted("it is still failed and was not tried again yet")
	case v.cause(w) == t.Cause:
		return actions.Verdict{Result: actions.ResultFailedAgain, Why: backend.Textf("the same cause: %v", said(w))}
	}
	return actions.Verdict{Result: actions.ResultFailed, Why: backend.Textf("with another cause: %v", said(w))}
}

// restored waits for a success on the sandbox that the plan's reference names. A success on another one is no restore.
func (v verifier) restored(t actions.Target, issued time.Time, w *backend.Workspace, s *fleet.State) actions.Verdict {
	i := slices.IndexFunc(t.Identity, func(f actions.Fact) bool { return f.Name == factRef })
	if i < 0 {
		return accepted("the plan named no reference")
	}
	out := v.success(t, issued, w)
	if out.Result != actions.ResultVerified {
		return out
	}
	planned, is := backend.MustID(t.Identity[i].Value), w.ProviderID
	var refs []*backend.Ref
	for r := range s.Refs.All() {
		if r.Session == w.Key.Parent && s.ReadAt(&r.Meta).After(issued) {
			refs = append(refs, r)
		}
	}
	switch ref := storedRef(w, refs); {
	case is.IsZero():
		return accepted("it succeeded since; its registry does not say on which sandbox")
	case is != planned:
		return actions.Verdict{Result: actions.ResultFailed, Why: backend.Textf("it runs on %s; the plan named %s", is.Safe(), planned.Safe())}
	case !ref.IsZero() && ref != planned:
		return actions.Verdict{Result: actions.ResultFailed, Why: backend.Textf("its stored reference names %s; the plan named %s", ref.Safe(), planned.Safe())}
	}
	return actions.Verdict{Result: actions.ResultVerified, Why: backend.Textf("it succeeded since on %s, which the plan named", planned.Safe())}
}

// registryTick is how finely registries write times: what happened just after the issue carries the millisecond it began in.
const registryTick = time.Millisecond

// clockSlack is how far a registry's clock may be behind ours without being corrected (wire.Clock cannot measure less).
const clockSlack = 5 * time.Second

// succeededSince says whether a success is one that followed the issue. Where the target's own last success is known it
// has to be a later one, and the two clocks need not agree to the second; otherwise only the clocks can tell.
func succeededSince(at, issued time.Time, t actions.Target) bool {
	i := slices.IndexFunc(t.Identity, func(f actions.Fact) bool { return f.Name == factSuccess })
	if i < 0 || t.Identity[i].Value == unknownMoment {
		return !at.Before(issued.Truncate(registryTick))
	}
	old, err := time.Parse(time.RFC3339Nano, t.Identity[i].Value)
	later := at.After(old) || err != nil && t.Identity[i].Value == neverMoment
	return later && at.After(issued.Add(-clockSlack))
}

// cause is the fingerprint of a failure, as plans have it.
func (v verifier) cause(w *backend.Workspace) string {
	if w.LastError.IsEmpty() || v.fingerprint == nil {
		return ""
	}
	return v.fingerprint(w.LastError)
}

func said(w *backend.Workspace) backend.Safe {
	if w.LastError.IsEmpty() {
		return backend.Text("the registry gives none")
	}
	return backend.Clean(w.LastError.String(), 160)
}
