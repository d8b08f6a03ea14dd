package fleet

import (
	"maps"

	"sandglass/backend"
)

// providerOf is one provider as the workspaces of one source name it; empty: they name none.
type providerOf struct {
	source   string
	provider backend.Safe
}

// providerCounts counts the workspaces of each provider. It is updated from changes.
type providerCounts struct {
	counts    map[providerOf]int
	published map[providerOf]int // a copy, nil when it is not up to date
}

func newProviderCounts() *providerCounts { return &providerCounts{counts: map[providerOf]int{}} }

// update counts the change of one workspace; before is nil for a new one, after for one that is gone.
func (p *providerCounts) update(before, after *backend.Workspace) {
	if before != nil && after != nil && before.Provider == after.Provider {
		return
	}
	p.published = nil
	if before != nil {
		of := providerOf{before.Key.Source, before.Provider}
		if p.counts[of]--; p.counts[of] == 0 {
			delete(p.counts, of)
		}
	}
	if after != nil {
		p.counts[providerOf{after.Key.Source, after.Provider}]++
	}
}

func (p *providerCounts) publish() map[providerOf]int {
	if p.published == nil {
		p.published = maps.Clone(p.counts)
	}
	return p.published
}

// OfProvider counts the workspaces of a source that name a provider; empty: those that name none.
func (s *State) OfProvider(source string, provider backend.Safe) int {
	if s.providers != nil {
		return s.providers[providerOf{source, provider}]
	}
	n := 0
	for w := range s.Workspaces.All() {
		if w.Key.Source == source && w.Provider == provider {
			n++
		}
	}
	return n
}

// Followed returns a copy of the State with the indexes that a fleet updates from changes, so that queries need not walk
// all entities. It serves benchmarks and readers of recordings.
func (s *State) Followed() *State {
	n, p := newPlaceIndex(), newProviderCounts()
	for w := range s.Workspaces.All() {
		n.update(w.Key, placesOfWorkspace(nil), placesOfWorkspace(w))
		p.update(nil, w)
	}
	for r := range s.Refs.All() {
		n.update(r.Key, placesOfRef(nil), placesOfRef(r))
	}
	c := *s
	c.byName = indexByName(s.Sandboxes)
	c.agents = indexAgents(&c)
	c.sharing, c.elsewhere, c.registry, c.providers = n.publish(), n.elsewhere(c.byName), n.joins(&c), p.publish()
	return &c
}
