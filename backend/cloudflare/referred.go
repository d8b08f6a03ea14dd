package cloudflare

import (
	"cmp"
	"net/url"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

const (
	maxReferred = 500       // sandboxes that references alone name
	referredFor = time.Hour // how long such a one is known after its last reference
)

// mention is the reference of another source that names a sandbox.
type mention struct {
	ref  *backend.Ref
	over time.Time // when it was no longer there; zero: it is
}

// newest is the order in which mentions are kept: those that are there first.
func (m mention) newest(o mention) int {
	if m.over.IsZero() != o.over.IsZero() {
		if m.over.IsZero() {
			return -1
		}
		return 1
	}
	return cmp.Or(o.over.Compare(m.over), o.ref.SavedAt.Or(time.Time{}).Compare(m.ref.SavedAt.Or(time.Time{})), m.ref.Key.Compare(o.ref.Key))
}

// TakesRefs reports whether there is a bridge, whose sandboxes only others name.
func (s *Source) TakesRefs() bool { return s.bridge != nil }

// Refer takes which sandboxes the references of another source name. They are asked nothing: they need not exist.
func (s *Source) Refer(from string, refs []*backend.Ref, whole, alone bool) (news bool) {
	now := s.deps.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mentions == nil {
		s.mentions = map[string]map[string]mention{}
	}
	was, is := s.mentions[from], map[string]mention{}
	for _, r := range refs {
		id := r.Sandbox.Raw()
		if !s.ours(r, alone) {
			continue
		}
		if m := (mention{ref: r}); is[id].ref == nil || m.newest(is[id]) < 0 {
			is[id] = m
		}
		if _, known := was[id]; !known {
			news = true
		}
	}
	gone := 0
	for id, m := range was {
		if is[id].ref != nil {
			continue
		}
		if whole && m.over.IsZero() {
			m.over = now
		}
		if !m.over.IsZero() {
			if gone++; gone > maxReferred || now.Sub(m.over) >= referredFor {
				continue
			}
		}
		is[id] = m
	}
	s.mentions[from] = is
	return news
}

// ours reports whether a reference names a sandbox of this bridge: by its address, else where no other bridge is known.
func (s *Source) ours(r *backend.Ref, alone bool) bool {
	if !backend.NamesWorkerBox(r.Provider) || !sandboxID.MatchString(r.Sandbox.Raw()) {
		return false
	}
	if r.Agent == nil || r.Agent.Address.IsEmpty() {
		return alone
	}
	at, err := url.Parse(r.Agent.Address.String())
	own, errOwn := url.Parse(s.opt.BridgeURL)
	return err == nil && errOwn == nil && strings.EqualFold(at.Host, own.Host)
}

// readMentions takes over what references name now and the operator routes do not list: they list what has a container, so that an id
// which they leave out need not be gone.
func (p *poll) readMentions() {
	s := p.s
	s.named = nil
	if s.bridge == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]mention{}
	for _, of := range s.mentions {
		for id, m := range of {
			if _, listed := s.bridge.boxes[id]; listed {
				continue
			}
			if (m.over.IsZero() || p.now.Sub(m.over) < referredFor) && (all[id].ref == nil || m.newest(all[id]) < 0) {
				all[id] = m
			}
		}
	}
	ids := make([]string, 0, len(all))
	for id := range all {
		ids = append(ids, id)
	}
	stable.Sort(ids, func(a, b string) int { return cmp.Or(all[a].newest(all[b]), strings.Compare(a, b)) })
	if n := len(ids) - maxReferred; n > 0 {
		p.note("references name %s that are not shown: %d are, of the newest references", backend.Counted(n, "more sandbox", "more sandboxes"), maxReferred)
		for _, id := range ids[maxReferred:] {
			delete(all, id)
		}
	}
	s.named = all
}

// recallNamed takes over that a reference named a sandbox for a former process, until a time. References are read later than the account
// after a start: what they name is not gone for that.
func (s *Source) recallNamed(id string, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mentions == nil {
		s.mentions = map[string]map[string]mention{}
	}
	if s.mentions[""] == nil { // no source is called so
		s.mentions[""] = map[string]mention{}
	}
	s.mentions[""][id] = mention{ref: &backend.Ref{}, over: until}
}

// label says which reference names a sandbox.
func (m mention) label() backend.Field {
	if m.ref.Key.Kind == "" {
		return backend.Field{Name: backend.Text("known by"), Value: backend.Text("reference, which this run has not read yet")}
	}
	what := backend.Literal("reference")
	if m.ref.Key.Kind == backend.KindWorkspace {
		what = "lines of an agent's log, and workspace"
	}
	f := backend.Field{Name: backend.Text("known by"), Value: backend.Textf("%s %s of %s", backend.Text(what), m.ref.Key.Safe(), backend.Clean(m.ref.Key.Source, 80))}
	if !m.over.IsZero() {
		f.Value = backend.Textf("%s, which is gone", f.Value)
	}
	return f
}

// forgetNamed ends what nothing names any more.
func (p *poll) forgetNamed() {
	now := map[backend.Key]bool{}
	for _, b := range p.r.Sandboxes {
		if b.NamedBy == backend.NamedByRef && b.Unlisted {
			now[b.Key] = true
		}
		delete(p.s.alone, b.Key)
	}
	for k := range p.s.alone {
		p.r.Ended = append(p.r.Ended, k)
	}
	stable.Sort(p.r.Ended, backend.Key.Compare)
	p.s.alone = now
}
