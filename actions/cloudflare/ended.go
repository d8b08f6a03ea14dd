package cloudflare

import (
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// stillRunsAfter is how long after a request a reading that shows its container running ends the wait for its end.
const stillRunsAfter = 90 * time.Second

// ended judges an end by readings that are newer than the request: none of the lists that know the container, that of the account or
// that of the operator routes, may say that it runs. One that is asked to end may take its time; what is destroyed is killed.
type ended struct{ verb actions.Verb }

// Verify judges one target.
func (v ended) Verify(t actions.Target, issued time.Time, s *fleet.State) actions.Verdict {
	was := fact(t, actions.FactContainer)
	if was == "" {
		return unlisted(t, issued, s)
	}
	var over actions.Verdict
	for b := range s.Sandboxes.All() {
		if b.Key.Source != t.Key.Source || b.Container.Raw() != was { // under another key where nothing names its sandbox any more
			continue
		}
		if over = v.endedIn(b, issued, s); over.Result != actions.ResultVerified {
			return over
		}
	}
	if over.Result != "" {
		return over
	}
	if s.Sandbox(t.Key) == nil {
		return actions.Gone(t, issued, s)
	}
	if h := s.Source(t.Key.Source); h == nil || !h.LastOK.After(issued) || h.Status == fleet.StatusDown || h.Status == fleet.StatusStarting {
		return actions.Verdict{Result: actions.ResultAccepted, Why: backend.Text("its source was not read since")}
	}
	return actions.Verdict{Result: actions.ResultVerified, Why: backend.Text("its container is listed no more")}
}

// endedIn judges by what lists the container.
func (v ended) endedIn(b *backend.Sandbox, issued time.Time, s *fleet.State) actions.Verdict {
	waits := func(why backend.Safe) actions.Verdict {
		return actions.Verdict{Result: actions.ResultAccepted, Why: why}
	}
	who := backend.Text("the account")
	if b.Application.IsEmpty() {
		who = backend.Text("the operator routes")
	}
	read, why := b.ReadAt, backend.Safe{} // its own: a poll that reads no list confirms nothing
	started, known := b.StartedAt.Get()
	if old, stale := s.StaleWhy(&b.Meta); stale {
		return waits(backend.Textf("what is known of its container is old: %s", old))
	}
	switch {
	case !read.After(issued):
		return waits(backend.Text("it was not read since"))
	case !b.Doubt.IsEmpty():
		why = backend.Textf("the operator routes say %s", b.Reported)
	case b.Class == backend.SandboxUnknown:
		return waits(backend.Text("whether it runs is not shown by a reading"))
	case b.Class.Ended():
		word := b.RoutesSay()
		if word.IsEmpty() {
			return actions.Verdict{Result: actions.ResultVerified, Why: backend.Textf("%s lists its container as %s", who, b.Reported)}
		}
		why = backend.Textf("%s lists it as %s, the operator routes say %s", who, b.Reported, word)
	case known && started.After(issued):
		return actions.Verdict{Result: actions.ResultVerified, Why: backend.Textf("its container is gone; another one was started for it at %s", clock(started))}
	case known && b.Class == backend.SandboxRunning:
		why = backend.Textf("%s lists it as %s since %s", who, b.Reported, clock(started))
	default:
		why = backend.Textf("still %s, by %s", b.Reported, who)
	}
	switch after := read.Sub(issued); {
	case after < stillRunsAfter:
		return waits(why)
	case v.verb == actions.Destroy && known && !started.After(issued) && b.Class == backend.SandboxRunning:
		return actions.Verdict{Result: actions.ResultFailed, Why: backend.Textf("not destroyed: %s later %s", took(after), why)}
	default:
		return actions.Verdict{Result: actions.ResultUnverified, Why: backend.Textf("accepted, and %s later %s", took(after), why)}
	}
}

// took is a time to the second.
func took(d time.Duration) backend.Safe { return backend.Clean(d.Round(time.Second).String(), 20) }

func clock(at time.Time) backend.Safe { return backend.Clean(at.UTC().Format("15:04:05Z"), 20) }

// unlisted judges a sandbox of which nothing listed a container. Readings never show its end while that is so, and nothing is waited for.
func unlisted(t actions.Target, issued time.Time, s *fleet.State) actions.Verdict {
	if b := s.Sandbox(t.Key); b != nil && b.Class == backend.SandboxUnknown && b.Container.IsZero() {
		return actions.Verdict{Result: actions.ResultUnverified, Why: backend.Text("accepted; its end is not shown by a reading, as no list has a container of it: operator routes would show it")}
	}
	return actions.SandboxEnded{}.Verify(t, issued, s)
}
