package agentuity

import (
	"errors"

	"sandglass/backend"
)

// SandboxBase is the base of the region that has a sandbox, and the organisation that is asked for. It is for what acts.
func (s *Source) SandboxBase(id backend.ID) (base, org string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.regions[0]
	if in := s.where[id]; in != nil {
		r = in
	}
	return r.place.base, s.opt.Org
}

// RegionBases are the bases of all regions, in the order of the configuration.
func (s *Source) RegionBases() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]string, len(s.regions))
	for i, r := range s.regions {
		out[i] = r.place.base
	}
	return out
}

// HubBase is the base of the Hub, once it is known.
func (s *Source) HubBase() (base, org string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hubAt == "" {
		return "", "", errors.New("the Coder Hub is not known: the region has not named it yet, or hub = false")
	}
	return s.hubAt, s.opt.Org, nil
}

// Directory is the directory that is listed to see whether a filesystem is there.
func (s *Source) Directory() string { return s.opt.Directory }

// noteAddresses notes where sandboxes and the Hub are, for what acts meanwhile.
func (p *poll) noteAddresses() {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hub.place != nil {
		s.hubAt = s.hub.place.base
	}
	if len(s.regions) == 1 {
		return
	}
	s.where = make(map[backend.ID]*region, len(s.boxes))
	for id, b := range s.boxes {
		s.where[id] = b.region
		if in := s.moved[id]; in != nil {
			s.where[id] = in
		}
	}
}

// regionOf is the region that answers for a sandbox: the one that another one named, else the one of its list.
func (s *Source) regionOf(b *box) *region {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in := s.moved[b.id]; in != nil {
		return in
	}
	return b.region
}

// found notes that a region answers for a sandbox that another one lists.
func (s *Source) found(id backend.ID, in *region) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moved[id] = in
}
