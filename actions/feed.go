package actions

import (
	"slices"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// Concern is an alert, as far as actions care about it.
type Concern struct {
	ID       string
	Rule     string
	Source   string
	Cause    backend.Safe
	Firing   bool // firing or held: what is not known to be over
	Critical bool
	Since    time.Time // when it took its state
	Subjects []backend.Key
	// Cut says that Subjects does not hold all of them: then any subject of the source may be one.
	Cut bool
}

// names reports whether the concern is about the key.
func (c *Concern) names(k backend.Key) bool {
	if c.Cut && k.Source == c.Source {
		return true
	}
	for _, s := range c.Subjects {
		if s == k || s.Source == k.Source && s.Kind == backend.KindSession && s.ID == k.Parent && !k.Parent.IsZero() {
			return true
		}
	}
	return false
}

// Snapshot is what the program knows at one moment.
type Snapshot struct {
	State    *fleet.State
	Concerns []Concern
	// NoneBegins are the sandboxes of which an alert, fired or pending, says that no command begins by the log of their agent.
	NoneBegins []backend.Key
}

// suspects are the sandboxes that an alert calls broken while it fires, the worst alert first.
func (s *Snapshot) suspects() (out []backend.Key) {
	for i := range s.Concerns {
		if c := &s.Concerns[i]; c.Firing && (c.Rule == "contradiction" || c.Rule == "no-checkpoint") {
			for _, k := range c.Subjects {
				if k.Kind == backend.KindSandbox {
					out = append(out, k)
				}
			}
		}
	}
	return out
}

// namesSession reports whether the concern is about the session that a sandbox belongs to, or about one of those that share it, on
// whatever source.
func (c *Concern) namesSession(s *fleet.State, k backend.Key) bool {
	box := s.Sandbox(k)
	if box == nil {
		return false
	}
	sessions := s.SharersOf(box)
	if on := s.SessionOn(box); !on.IsZero() {
		sessions = []backend.ID{on}
	}
	return slices.ContainsFunc(c.Subjects, func(x backend.Key) bool {
		return slices.Contains(sessions, x.Parent) || x.Kind == backend.KindSession && slices.Contains(sessions, x.ID)
	})
}

// Observer is a Feed that takes what an effect observed of a sandbox, so that it is shown.
type Observer interface {
	Observe(backend.Key, []backend.Verdict)
}

// Feed is where a Control learns what there is. The wiring joins it with the fleet and the alerts.
type Feed interface {
	Snapshot() Snapshot
	// Subscribe returns a channel of one slot that is filled when there is a newer Snapshot.
	Subscribe() (changed <-chan struct{}, stop func())
	// Wake asks for a poll of the source now.
	Wake(source string)
	// Reread asks for a poll of the target's source now that reads the target itself.
	Reread(k backend.Key)
	// Attend names the targets of the plan that is being carried out, which readings are to look at first; nil: none.
	Attend(keys []backend.Key)
}
