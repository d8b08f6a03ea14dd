package fleet

import "sandglass/backend"

// lostRegistry is what one answer left out of the registry of a running session.
type lostRegistry struct {
	session  backend.Key
	keys     []backend.Key
	before   int
	troubled bool // one of them failed or was evicted when it was last read
	listed   bool // it is known to run
}

// emptied reports whether what is left is suspiciously little. A session that closes one of several workspaces, or its only
// one while all is well, is an ordinary one.
func (l *lostRegistry) emptied() bool {
	lost := len(l.keys)
	several := lost >= 2 && (l.listed && lost == l.before || l.troubled && 2*lost >= l.before)
	return several || l.troubled && lost == l.before || backend.LostAtOnce(l.before, lost)
}

// spareEmptied looks at the workspaces that the registries of running sessions do not name any more. An answer without them is
// no proof that they ended while their session goes on.
func (s *store) spareEmptied(r *backend.Reading, spared map[backend.Key]bool) {
	s.releaseOpened(r)
	var lost []*lostRegistry
	for _, c := range r.Scopes {
		if c.Kind == backend.KindWorkspace && c.Complete {
			lost = s.lostRegistries(r, c, spared, lost)
		}
	}
	total, running := 0, 0
	for _, l := range lost {
		total += len(l.keys)
		if l.listed {
			running += len(l.keys)
		}
	}
	all := running == total && backend.LostAtOnce(len(r.Workspaces)+total, total)
	for _, l := range lost {
		if all || l.emptied() {
			why := backend.Textf("the registry of its session lost %d of %d workspaces at once while the session runs: whether it ended is not known", len(l.keys), l.before)
			s.hold(r, l.keys, l.before, l.before-len(l.keys), why)
		}
	}
}

func (s *store) lostRegistries(r *backend.Reading, c backend.Scope, spared map[backend.Key]bool, out []*lostRegistry) []*lostRegistry {
	t := s.of(backend.KindWorkspace)
	var l *lostRegistry
	var owner backend.Key
	for e := range t.lacks(r, c) {
		w := e.(*backend.Workspace)
		if k := (backend.Key{Kind: backend.KindSession, Source: r.Source, ID: w.Key.Parent}); k != owner {
			owner, l = k, s.runningRegistry(k, spared)
			if l != nil {
				out = append(out, l)
			}
		}
		missed, gone := t.leaving(w.Key)
		if _, held := s.held[w.Key]; l == nil || held || missed || gone || spared[w.Key] {
			continue
		}
		l.keys = append(l.keys, w.Key)
		l.troubled = l.troubled || troubled(r, w)
	}
	return out
}

// runningRegistry counts what is known of the registry of a session that may run; nil for others.
func (s *store) runningRegistry(k backend.Key, spared map[backend.Key]bool) *lostRegistry {
	x := s.sessions.get(k)
	_, held := s.held[k]
	missed, _ := s.sessions.leaving(k)
	if x == nil || held || missed || spared[k] || !x.MayRun() || x.Answer == backend.AnswerIdle {
		return nil
	}
	l := &lostRegistry{session: k, listed: x.ListedRunning.Or(false) || x.Running.Or(false)}
	t := s.of(backend.KindWorkspace)
	for _, w := range t.partsOf(k) {
		missed, gone := t.leaving(w)
		if _, held := s.held[w]; !held && !missed && !gone {
			l.before++
		}
	}
	return l
}

// troubled reports whether a workspace was failed, evicted or in error, and its declared automatic reset does not explain that
// it left.
func troubled(r *backend.Reading, w *backend.Workspace) bool {
	if w.Class != backend.ClassFailed && w.Class != backend.ClassEvicted && w.LastError.IsEmpty() {
		return false
	}
	after, declared := w.ResetAfter.Get()
	tried, known := w.LastAttemptAt.Get()
	return !declared || after <= 0 || !known || r.At.Before(tried.Add(after))
}

// releaseOpened lets go of held workspaces whose registry names more than it did when it lost them: it is read again, and does
// not name them.
func (s *store) releaseOpened(r *backend.Reading) {
	if len(s.held) == 0 {
		return
	}
	named := map[backend.ID]int{}
	for _, w := range r.Workspaces {
		named[w.Key.Parent]++
	}
	for k, h := range s.held {
		if k.Kind == backend.KindWorkspace && k.Source == r.Source && named[k.Parent] > h.left {
			delete(s.held, k)
		}
	}
}

// workspaceOver is what says that a held workspace ended; empty: nothing does.
func (s *store) workspaceOver(k backend.Key, h heldEntity) backend.Safe {
	owner := backend.Key{Kind: backend.KindSession, Source: k.Source, ID: k.Parent}
	x := s.sessions.get(owner)
	switch {
	case x == nil:
		return backend.Text("its session ended")
	case !x.MayRun():
		return backend.Text("its session does not run any more")
	case x.Answer == backend.AnswerIdle && !x.ListedRunning.Or(false) && !s.blind[k.Source]:
		return backend.Text("its session is idle")
	case s.elsewhereOver(owner):
		return backend.Text("another source says that its session ended")
	case h.machine && !s.runs(k.Parent):
		return backend.Text("its session's sandboxes ended after its registry left it out")
	}
	return backend.Safe{}
}
