package fleet

import (
	"slices"

	"sandglass/backend"
)

// mostLined bounds the sandboxes of which lines are remembered.
const mostLined = 1000

// linedIDs joins two facts that name a sandbox together and each alone do not: its id is that of a workspace of a registry, and a line of
// an agent's log says that a command could not begin in it.
type linedIDs struct {
	lines map[backend.ID]bool                     // sandboxes that such lines name
	works map[string]map[backend.Key]*backend.Ref // by registry: its workspaces that name a sandbox of a Worker
	told  map[string]bool                         // registries of which some was handed on
}

// take takes over what a reading tells, and returns by registry what both name now.
func (l *linedIDs) take(r *backend.Reading) map[string][]*backend.Ref {
	news := l.takeLines(r.Reports)
	if l.takeWorks(r) {
		news = true
	}
	if !news {
		return nil
	}
	out := map[string][]*backend.Ref{}
	for home, works := range l.works {
		var both []*backend.Ref
		for _, x := range works {
			if l.lines[x.Sandbox] {
				both = append(both, x)
			}
		}
		if len(both) > 0 || l.told[home] {
			out[home], l.told[home] = both, true
		}
	}
	return out
}

func (l *linedIDs) takeLines(all []backend.Report) (news bool) {
	for i := range all {
		x := &all[i]
		if x.Kind != backend.ReportNotStarted || x.Sandbox.IsZero() || l.lines[x.Sandbox] {
			continue
		}
		if l.lines == nil || len(l.lines) >= mostLined {
			l.lines = map[backend.ID]bool{}
		}
		l.lines[x.Sandbox], news = true, true
	}
	return news
}

func (l *linedIDs) takeWorks(r *backend.Reading) (news bool) {
	whole := r.Whole(backend.KindWorkspace)
	if len(r.Workspaces) == 0 && !whole {
		return false
	}
	if l.works == nil {
		l.works, l.told = map[string]map[backend.Key]*backend.Ref{}, map[string]bool{}
	}
	is := l.works[r.Source]
	if is == nil || whole {
		is = map[backend.Key]*backend.Ref{}
	}
	for _, w := range r.Workspaces {
		delete(is, w.Key)
		if !w.ProviderID.IsZero() && backend.NamesWorkerBox(w.Provider) {
			is[w.Key] = &backend.Ref{Meta: backend.Meta{Key: w.Key}, Session: w.Key.Parent, Workspace: w.Key.ID, Provider: w.Provider, Sandbox: w.ProviderID}
		}
	}
	l.works[r.Source] = is
	return true
}

// referWorkspaces hands on which sandboxes workspaces and lines of agents name together.
func (f *Fleet) referWorkspaces(r *backend.Reading) {
	f.mu.Lock()
	both := f.lined.take(r)
	f.mu.Unlock()
	for home, refs := range both {
		f.refer(home, refs, true)
	}
}

// refer hands references to the sources whose subjects only they may name, and has those polled that learned of one. Where the source
// of the references says which of them it speaks about, the others of that kind get none.
func (f *Fleet) refer(from string, refs []*backend.Ref, whole bool) {
	var about []string
	all, meant := map[string][]*poller{}, map[string][]*poller{} // by kind: a reference is of one platform
	for _, p := range f.pollers {
		if p.src.ID() == from {
			about = p.cfg.About
		} else if s, ok := p.src.(backend.Referred); ok && s.TakesRefs() {
			all[p.cfg.Kind] = append(all[p.cfg.Kind], p)
		}
	}
	for kind, takers := range all {
		for _, p := range takers {
			if slices.Contains(about, p.src.ID()) {
				meant[kind] = append(meant[kind], p)
			}
		}
		if len(meant[kind]) > 0 {
			takers = meant[kind]
		}
		for _, p := range takers {
			if p.src.(backend.Referred).Refer(from, refs, whole, len(takers) == 1) {
				p.told.Store(true)
				p.wake()
			}
		}
	}
}
