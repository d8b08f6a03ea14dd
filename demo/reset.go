package demo

import (
	"crypto/sha256"
	"crypto/subtle"
	"maps"
	"net/http"
	"sync"
	"time"
)

// resetRequests is what operators did to registries, which the time alone does not
// determine.
type resetRequests struct {
	mu     sync.Mutex
	resets map[int32]time.Duration // workspace to its newest reset; replaced, never changed
}

// on returns the world with what was done to it.
func (d *resetRequests) on(w world) world {
	d.mu.Lock()
	defer d.mu.Unlock()
	w.resets = d.resets
	return w
}

func (d *resetRequests) reset(i int32, t time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	next := maps.Clone(d.resets)
	if next == nil {
		next = map[int32]time.Duration{}
	}
	next[i] = t
	d.resets = next
}

// goneAt is when the cause of a failure ended. A reset before that fails again.
// The entry stays failed all the same until it is reset.
func (c cause) goneAt() (time.Duration, bool) {
	switch c {
	case causeColdStart: // one slow start and nothing since
		return 0, true
	case causeBackupBucket: // the binding was added
		return time.Minute, true
	case causeNoSpace: // the disk was cleared
		return 3 * time.Minute, true
	default:
		return 0, false
	}
}

// healed reports whether a reset brought the workspace back.
func (w world) healed(i int32) bool {
	at, done := w.resets[i]
	n := w.workspaces[i].trouble
	if !done || n == noIndex || w.t < at+openTime {
		return false
	}
	gone, ends := w.troubles[n].cause.goneAt()
	return ends && at >= gone
}

// reset is the state of a failed workspace after its newest reset at the given
// time: it opens again, and works or fails for the same cause.
func (w world) reset(i int32, tr *trouble, at time.Duration) entry {
	if w.healed(i) {
		e := w.undisturbed(&w.workspaces[i])
		e.attempt, e.success = known(max(e.attempt.at, at)), known(max(e.success.at, at+openTime))
		return e
	}
	e := w.troubled(i, tr)
	if w.t < at+openTime {
		return entry{state: reportedOpening, attempt: known(at), success: e.success}
	}
	e.attempt = known(max(e.attempt.at, at+openTime))
	return e
}

// actingRoutes are the routes of an operator that change something. They are
// closed without a token.
type actingRoutes struct {
	resets *resetRequests
	token  string
}

func (a actingRoutes) admits(r *http.Request) bool {
	given, wanted := sha256.Sum256([]byte(r.Header.Get("Authorization"))), sha256.Sum256([]byte("Bearer "+a.token))
	return a.resets != nil && a.token != "" && subtle.ConstantTimeCompare(given[:], wanted[:]) == 1
}

type wireAccepted struct {
	Accepted bool `json:"accepted"`
}

// reset is the route that brings a failed workspace back.
func (s helixServer) reset(w http.ResponseWriter, r *http.Request) {
	if !s.acting.admits(r) {
		answerJSON(w, http.StatusUnauthorized, wireError{Error: "not with this token"})
		return
	}
	world := s.now()
	slot, ok := world.findSession(r.PathValue("session"))
	if !ok || world.sessions[slot].where != s.where || world.sessions[slot].count == 0 {
		answerJSON(w, http.StatusNotFound, wireError{Error: "no active session"})
		return
	}
	i, ok := world.findWorkspace(slot, r.PathValue("workspace"))
	if !ok {
		answerJSON(w, http.StatusNotFound, wireError{Error: "no such workspace"})
		return
	}
	if e := world.entry(i); e.state != reportedFailed {
		answerJSON(w, http.StatusConflict, wireError{Error: "its state is " + e.state.spell(s.where) + ", not failed"})
		return
	}
	s.acting.resets.reset(i, world.t)
	answerJSON(w, http.StatusAccepted, wireAccepted{Accepted: true})
}

// findWorkspace finds an entry by the name that its session gives it; the only
// one of an edition without names is called workspace.
func (w world) findWorkspace(slot int, name string) (int32, bool) {
	s := &w.sessions[slot]
	for i := s.first; i < s.first+s.count; i++ {
		own := w.workspaceName(i)
		if w.workspaces[i].marks&markUnnamed != 0 {
			own = "workspace"
		}
		if own == name {
			return i, true
		}
	}
	return 0, false
}
