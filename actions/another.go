package actions

import (
	"slices"
	"time"

	"sandglass/backend"
)

// The facts of an identity that tell a target from another one with its id: the platform's id of its container, the platform's own time of
// its start, and that of the making of a sandbox whose name can be given again.
const (
	FactContainer = "container"
	FactStarted   = "started"
	FactCreated   = "created"
)

// factSession is a session that runs on a sandbox, factCandidate one that runs and may be on it. One that begins after the plan stops the
// action, one that ends does not.
const (
	factSession   = "running session"
	factCandidate = "running session of its name"
)

// ofSession reports whether a fact is of a session that runs.
func ofSession(f Fact) bool { return f.Name == factSession || f.Name == factCandidate }

// over reports whether all that changed since the plan is that a session on the sandbox ended.
func over(was, is []Fact) bool {
	rest := slices.DeleteFunc(slices.Clone(was), func(f Fact) bool { return ofSession(f) && !slices.Contains(is, f) })
	return len(rest) < len(was) && slices.Equal(rest, is)
}

// Born is the value of FactStarted and FactCreated; empty: the time is not known.
func Born(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339Nano)
}

// another says that what has the target's id now is another one than the plan saw; empty: these facts do not tell.
func another(was, is []Fact) backend.Safe {
	of := func(list []Fact, name string) string {
		if i := slices.IndexFunc(list, func(f Fact) bool { return f.Name == name }); i >= 0 {
			return list[i].Value
		}
		return ""
	}
	started := backend.Safe{}
	if at := of(is, FactStarted); at != "" {
		started = backend.Textf(", started at %s", backend.Clean(at, 40))
	}
	switch before, now := of(was, FactContainer), of(is, FactContainer); {
	case before == "" && now != "":
		return backend.Textf("it has a container now%s", started)
	case now != "" && before != now, now != "" && !started.IsEmpty() && of(was, FactStarted) != of(is, FactStarted):
		return backend.Textf("its container is another one%s", started)
	}
	for _, f := range is {
		if f.Name == factSession && !slices.Contains(was, f) {
			return backend.Textf("session %s runs on it now", backend.Clean(f.Value, 200))
		}
		if f.Name == factCandidate && !slices.Contains(was, f) {
			return backend.Textf("session %s runs now and may sit on it", backend.Clean(f.Value, 200))
		}
	}
	if made := of(is, FactCreated); made != "" && made != of(was, FactCreated) {
		return backend.Textf("it is another one of the same name, created at %s", backend.Clean(made, 40))
	}
	return backend.Safe{}
}
