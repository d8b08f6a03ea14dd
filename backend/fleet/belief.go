package fleet

import (
	"strings"
	"time"

	"sandglass/backend"
)

// Belief is what the liveness check of an agent SDK would say of a sandbox, from what is known of it. The agent acts on that, right
// or wrong.
type Belief struct {
	Runs backend.Value[bool] `json:"runs"`
	Why  backend.Safe        `json:"why"`
	At   time.Time           `json:"at,omitzero"` // of what it follows from
	// Differs is what was observed otherwise; empty: nothing was.
	Differs backend.Safe `json:"differs,omitzero"`
	// Told is the line of its log that says so; nil: none does.
	Told *Told `json:"-"`
}

// wakes is how long after a probe the list may show that it woke the sandbox, or that it sleeps again.
const wakes = 2 * time.Minute

// BeliefOn is what the agent of a sandbox believes of it; false: nothing says that an agent SDK uses it, or how its check works. On
// Blaxel the check lists / and waits 10 s, and each error makes it false; with a container engine it reads the status.
func (s *State) BeliefOn(b *backend.Sandbox) (x Belief, ok bool) {
	inside, read := b.Inside()
	told, says := s.ToldOn(b)
	if s.StateOn(b) == nil && agentDigits(b.Name.String()) == "" && !read && !says || b.Stale {
		return x, false
	}
	x.At = s.ReadAt(&b.Meta)
	if end, over := s.EndOn(b); over {
		x.Why = backend.Textf("its session ended, and no agent asks: %s", end.Why)
		return x, true
	}
	says = says && (told.Runs || s.Wall.Sub(told.At) < spokeLately || !s.LiveOn(b).IsEmpty()) // who gave it up and is silent may be over
	yes, no := backend.Known(true), backend.Known(false)
	over := b.Class.Ended() || b.Class == backend.SandboxRemoving
	switch kind := b.Provider.String(); {
	case kind == "docker" && b.Class == backend.SandboxRunning:
		x.Runs, x.Why = yes, backend.Text("the engine lists it as running, and its check asks no more")
	case kind == "docker" && (over || b.Class == backend.SandboxPaused):
		x.Runs, x.Why = no, backend.Textf("the engine lists it as %s", b.Reported)
	case kind != "blaxel":
		return x, false
	case over && read && inside.AgentSees.Or(false) && !inside.At.Before(b.KnownSince):
		x.Runs, x.Why, x.At = yes, inside.AgentWhy, inside.At
	case b.Class == backend.SandboxRemoving:
		x.Why = backend.Textf("what a sandbox answers whose status is %s is not documented", b.Reported)
	case over:
		x.Runs, x.Why = no, backend.Textf("its status is %s: / cannot be listed", b.Reported)
	case b.Class == backend.SandboxPaused && strings.HasSuffix(b.Reported.String(), "disabled"):
		x.Runs, x.Why = no, backend.Textf("it is %s and refuses connections", b.Reported)
	case b.Class == backend.SandboxPaused:
		x.Why = backend.Textf("what a sandbox answers that is %s is not documented", b.Reported)
	case read && inside.AgentSees.IsKnown() && !inside.At.Before(b.KnownSince.Add(-awaited(b))):
		x.Runs, x.Why, x.At = inside.AgentSees, inside.AgentWhy, inside.At
	case b.Class == backend.SandboxAsleep:
		x.Runs, x.Why = yes, backend.Text("it sleeps, and wakes when / is listed; a read at that moment may say not found")
	default:
		x.Why = backend.Textf("no list of / in it is known since it is reported %s", b.Reported)
	}
	if after, known := toldAfterEnd(b, told.At).Get(); says && over && !known && told.Runs {
		x.Runs = backend.Unknown[bool]()
		x.Why = backend.Textf("its log said at %s that it runs; its status is %s, and whether it ended before that line is not known", told.At.UTC().Format("15:04:05Z"), b.Reported)
	} else if says && (!over || after) {
		x.Runs, x.Why, x.At, x.Told = backend.Known(told.Runs), backend.Textf("its log said so: %s", backend.Clean(told.Text.String(), 200)), told.At, &told
	}
	x.Differs = differs(b, &x)
	return x, true
}

// awaited is by how much a probe may be older than the words of a sandbox that it woke itself.
func awaited(b *backend.Sandbox) time.Duration {
	if b.Class == backend.SandboxRunning {
		return wakes
	}
	return 0
}

// differs is what was observed of a sandbox other than its agent believes.
func differs(b *backend.Sandbox, x *Belief) backend.Safe {
	runs, known := x.Runs.Get()
	o, _ := b.Proved()
	switch exec, tried := o.Of(backend.PlaneExec); {
	case !known:
	case runs && (b.Class.Ended() || b.Class == backend.SandboxRemoving):
		return backend.Textf("but its status is %s", b.Reported)
	case runs:
		for _, v := range o.Failed() {
			if v.Plane != backend.PlaneDriver && !v.Past {
				return backend.Textf("but %s", v.Said())
			}
		}
	case tried && exec.Outcome == backend.OutcomeOK && !exec.Past && !exec.At.Before(x.At.Add(-time.Minute)):
		return backend.Text("but a command ran in it")
	case x.Told != nil && (b.Class == backend.SandboxRunning || b.Class == backend.SandboxAsleep):
		return backend.Textf("but %s lists it as %s", backend.Clean(b.Key.Source, 80), b.Reported)
	}
	return backend.Safe{}
}
