package fleet

import (
	"time"

	"sandglass/backend"
)

// NoProbe is why no probe runs a command in a sandbox of a Cloudflare Worker, whatever its state; empty: nothing is known that
// forbids one. Of other platforms it says nothing.
func (s *State) NoProbe(b *backend.Sandbox) backend.Safe {
	h := s.Source(b.Key.Source)
	switch {
	case !b.OfWorker():
	case b.Unattributed:
		return backend.Text(backend.NoBridgeID)
	case h != nil:
		return h.Refuses
	}
	return backend.Safe{}
}

// noRoomFor is how long a command that was refused for want of an instance speaks of the next one.
const noRoomFor = 10 * time.Minute

// NoRoom reports whether a probe of a sandbox of a Cloudflare Worker is likely to find no instance: the newest command in it was refused
// for want of one a short time ago, and nothing says that it runs.
func (s *State) NoRoom(b *backend.Sandbox, now time.Time) bool {
	o, _ := b.Observed.Get()
	v, is := o.Of(backend.PlaneExec)
	return is && b.OfWorker() && b.Class != backend.SandboxRunning && v.Kind == backend.FailThrottled && now.Sub(v.At) < noRoomFor
}

// RootMoved is where the agent of a sandbox of a Cloudflare Worker moved its working directory, and when, as the newest line of its log
// tells that names what changed the directory; empty: it was not moved, or no log that is read says so.
func (s *State) RootMoved(b *backend.Sandbox) (to string, at time.Time) {
	for _, h := range s.Sources {
		if len(h.Reports) == 0 || !h.ReportsOn(b.Key.Source) {
			continue
		}
		for i := range h.Reports {
			if x := &h.Reports[i]; !x.Changed.IsEmpty() && x.ChangedAt.After(at) && x.NamesBox(b) {
				to, at = backend.RootMovedTo(x.Changed.String(), backend.SandboxRoot), x.ChangedAt
			}
		}
	}
	return to, at
}
