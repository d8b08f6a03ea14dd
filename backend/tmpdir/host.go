package tmpdir

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"sandglass/backend"
)

// hostFacts reads what /proc tells about the machine. missing says why memory is unknown, empty when it is known.
func (s *Source) hostFacts(now time.Time) (h *backend.Host, missing string) {
	name, err := s.proc.Hostname()
	if err != nil {
		if name, err = os.Hostname(); err != nil || name == "" {
			name = "localhost"
		}
	}
	id, err := backend.NewID(name)
	if err != nil {
		id = backend.MustID("localhost")
	}
	h = &backend.Host{
		Meta: backend.Meta{Key: backend.Key{Kind: backend.KindHost, Source: s.deps.ID, ID: id}, ReadAt: now},
		Name: s.deps.Cleaner.Clean(name, 100),
	}
	m, err := s.proc.Memory()
	if err != nil {
		missing = err.Error()
		if errors.Is(err, fs.ErrNotExist) {
			missing = "memory and boot facts come from /proc, which is not there on this system"
		}
	} else {
		h.MemTotal, h.MemAvailable = backend.Known(m.Total), backend.Known(m.Available)
	}
	if v, err := s.proc.MemoryPressure(); err == nil {
		h.MemPressure = backend.Known(v)
	}
	if v, err := s.proc.OOMKills(); err == nil {
		h.OOMKills = backend.Known(v)
		if n, err := s.limits.Count(v); err == nil { // after the kills that it explains
			h.LimitKills, h.LimitKillsCut = backend.Known(n), s.limits.Cut
		}
	}
	if v, err := s.proc.BootTime(); err == nil {
		h.BootedAt = backend.Known(v)
	}
	return h, missing
}

// bootEvent notices that the host has another boot id than at the last poll.
func (s *Source) bootEvent(h *backend.Host, now time.Time) []backend.Event {
	id, err := s.proc.BootID()
	if err != nil {
		return nil
	}
	before := s.bootID
	s.bootID = id
	if before == "" || before == id {
		return nil
	}
	return []backend.Event{{
		Kind: backend.EventChange, At: now, SourceAt: h.BootedAt.Or(time.Time{}), Source: s.deps.ID,
		Subject: h.Key, Name: "boot", Text: backend.Textf("host %s was restarted", h.Name),
	}}
}
