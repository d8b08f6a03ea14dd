package runbook

import (
	"slices"
	"time"

	"sandglass/backend"
)

// sleepsAfter is how long the container of a workspace rests before it sleeps: as its registry or a declaration says, or else as the
// operator routes of its sandbox do. It is false where neither tells.
func (s *subjectView) sleepsAfter(w *backend.Workspace) (time.Duration, bool) {
	if after, is := w.SleepAfter.Get(); is {
		return after, true
	}
	for _, b := range s.sandboxes {
		if b.Session != w.Key.Parent || !b.Workspace.IsZero() && b.Workspace != w.Key.ID {
			continue
		}
		i := slices.IndexFunc(b.Labels, func(f backend.Field) bool { return f.Name == backend.Text(backend.SleepAfterLabel) })
		var after backend.Duration
		if i >= 0 && after.UnmarshalText([]byte(b.Labels[i].Value.String())) == nil {
			return after.Std(), true
		}
	}
	return 0, false
}

// stoppedBox is the container of a workspace that stopped and did not start again, which took its files along.
func (s *subjectView) stoppedBox() (*backend.Sandbox, *backend.Workspace) {
	for _, w := range s.workspaces {
		if p := w.Provider.String(); p != "" && p != "cloudflare-sandbox" {
			continue
		}
		for _, b := range s.sandboxes {
			if !b.StoppedAt().IsZero() && !b.Stale && b.Session == w.Key.Parent && (b.Workspace.IsZero() || b.Workspace == w.Key.ID) {
				return b, w
			}
		}
	}
	return nil, nil
}

// stopped tells of a container that took its files along when it stopped. It is asked where one did.
func (s *subjectView) stopped() []Check {
	b, w := s.stoppedBox()
	if b == nil {
		return nil
	}
	q := question{"stopped", "Did its container stop, and none start since?", "the platform's state of the container"}
	last, used := w.LastSuccessAt.Get()
	switch why := b.MayStillHold(); {
	case !why.IsEmpty():
		return []Check{q.unsure("%s is %s since %s, but %s", b.Name, b.Reported, hourOf(b.StoppedAt()), why)}
	case used && last.After(b.StoppedAt().Add(time.Minute)):
		return []Check{q.unsure("%s is %s since %s, but %s was used at %s", b.Name, b.Reported, hourOf(b.StoppedAt()), w.Key.Safe(), hourOf(last))}
	}
	return []Check{q.yes(s.from(&b.Meta), "%s is %s since %s: its files are gone with its disk, but for those on a mount, and its next start has an empty one", b.Name, b.Reported, hourOf(b.StoppedAt()))}
}

// mayHaveSlept says what is known of a container of which nothing tells whether it slept: its state, since when, and how long it may rest.
func (s *subjectView) mayHaveSlept(q question) Check {
	var after time.Duration
	told := false
	for _, w := range s.workspaces {
		if x, is := s.sleepsAfter(w); is {
			after, told = x, true
		}
	}
	for _, b := range s.sandboxes {
		if !b.OfWorker() || b.Reported.IsEmpty() {
			continue
		}
		state := backend.Textf("%s is %s", b.Name, b.Reported)
		if at, known := b.StartedAt.Get(); known && b.Class == backend.SandboxRunning {
			state = backend.Textf("%s since %s, which tells nothing of the time before", state, secondOf(at))
		}
		if told {
			return q.unsure("%s. It sleeps after %s; when it was last used is not known", state, spanText(after))
		}
		c := q.unsure("%s. Its sleepAfter is not known", state)
		c.WouldTell = backend.Text("sleepAfter in the aggregate route, a declaration or the operator routes")
		return c
	}
	if told {
		return q.unsure("it sleeps after %s; neither the container's state nor its last use is known", spanText(after))
	}
	return q.unsure("neither the container's state nor its sleepAfter is known")
}
