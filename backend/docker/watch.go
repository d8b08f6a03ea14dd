package docker

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
)

// join is how long events are gathered before a poll is asked for: a container that starts sends several at once.
const join = 250 * time.Millisecond

// Bounds on what a flood of events may hold in memory between two polls; beyond them a list tells the state, and
// only lines of the timeline are lost, which is said.
const (
	maxPending = 4096
	maxSeen    = 256 // the engine replays at most so many
)

// pendingEvents are the events of the stream since the last poll.
type pendingEvents struct {
	events  []lifecycle
	lost    int  // events beyond maxPending
	gap     bool // the list must be asked for
	missed  bool // something may have happened unseen, so that running containers are inspected again
	open    bool // the stream is open
	opened  int  // how often it was opened
	failure error
	first   time.Time   // engine time just before the first list, zero: not known
	last    time.Time   // engine time of the newest event
	seen    []lifecycle // the newest events, to know a replayed one
}

// Watch follows the engine's events and calls changed within 250 ms of the first of a burst. It resumes where the
// last watch ended; because the engine remembers only its last 256 events, every gap is closed by a list as well.
func (s *Source) Watch(ctx context.Context, changed func()) error {
	s.mu.Lock()
	eng, since := s.eng, s.pend.last
	if eng != nil {
		s.changed = changed
	}
	if since.IsZero() { // so that nothing between the first poll's list and now is missed
		since = s.pend.first
	}
	s.mu.Unlock()
	if eng == nil { // a watch follows a successful poll; this is for one that comes before
		return errors.New("not connected yet")
	}
	var opened time.Time
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	signal := make(chan struct{}, 1)
	s.deps.Spawn.Go("join events of "+s.deps.ID, func() { joinEvents(ctx, signal, changed) })
	notify := func() {
		select {
		case signal <- struct{}{}:
		default:
		}
	}
	err := eng.events(ctx, since, func() {
		opened = s.deps.Now()
		if s.streamOpened(since.IsZero()) {
			notify()
		}
	}, func(e lifecycle) {
		if s.take(e) {
			notify()
		}
	})
	s.mu.Lock()
	s.pend.open, s.pend.gap, s.pend.failure, s.changed = false, true, err, nil
	s.mu.Unlock()
	if ctx.Err() == nil && !opened.IsZero() && s.deps.Now().Sub(opened) >= s.interval() {
		changed() // a poll finds out whether the engine itself is gone; streams that break at once wait for their turn
	}
	return err
}

// joinEvents calls changed 250 ms after the first signal of a burst.
func joinEvents(ctx context.Context, signal <-chan struct{}, changed func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-signal:
		}
		t := time.NewTimer(join)
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-t.C:
		}
		select { // what came during the wait is joined
		case <-signal:
		default:
		}
		changed()
	}
}

// streamOpened notes that the stream is open; true when there was a gap that a poll must close. blind says that it does
// not go back to the list.
func (s *Source) streamOpened(blind bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &s.pend
	again := p.opened > 0
	p.open, p.failure = true, nil
	p.opened++
	p.missed = p.missed || again
	p.gap = p.gap || again || blind
	return p.gap
}

// take keeps one event; false when it does not matter or is known.
func (s *Source) take(e lifecycle) bool {
	if !isLifecycle(e.action) || e.id == "" {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &s.pend
	if slices.ContainsFunc(p.seen, func(o lifecycle) bool { return o.id == e.id && o.action == e.action && o.at.Equal(e.at) }) {
		return false
	}
	if len(p.seen) >= maxSeen {
		p.seen = slices.Delete(p.seen, 0, 1)
	}
	p.seen = append(p.seen, lifecycle{id: e.id, action: e.action, at: e.at})
	if e.at.After(p.last) {
		p.last = e.at
	}
	if len(p.events) >= maxPending {
		p.lost++
		p.gap, p.missed = true, true
		return true
	}
	p.events = append(p.events, e)
	return true
}

// cleanup is Podman's event after which a container that ended gets its last state. It is no line of the Timeline.
const cleanup = "cleanup"

// isLifecycle knows the actions that change what is shown. Actions may carry more text behind a colon.
func isLifecycle(action string) bool {
	word, _, _ := strings.Cut(action, ":")
	return slices.Contains(lifecycleActions[:], word) || word == cleanup
}

// takePending hands what the stream brought to a poll.
func (s *Source) takePending() pendingEvents {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pend
	s.pend.events, s.pend.lost, s.pend.gap, s.pend.missed = nil, 0, false, false
	return p
}

// putBack returns what a failed poll could not use.
func (s *Source) putBack(p pendingEvents) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pend.events = append(p.events, s.pend.events...)
	s.pend.lost += p.lost
	s.pend.gap, s.pend.missed = true, s.pend.missed || p.missed
	if over := len(s.pend.events) - maxPending; over > 0 {
		s.pend.events = s.pend.events[over:]
		s.pend.lost += over
	}
}

// tell makes a line of the timeline of an event about a sandbox.
func (s *Source) tell(e lifecycle, id backend.ID, offset time.Duration) backend.Event {
	word, rest, _ := strings.Cut(e.action, ":")
	name, image := s.clean(e.name, 200), s.clean(e.image, 200)
	out := backend.Event{Kind: backend.EventPlatform, At: e.at.Add(-offset), SourceAt: e.at, Source: s.deps.ID, Subject: s.key(id), Name: word}
	switch word {
	case "start":
		out.Kind, out.Leaves = backend.EventChange, backend.SandboxRunning
		out.Text = backend.Textf("container %s started from image %s", name, image)
	case "die":
		out.Leaves = backend.SandboxExited
		out.Text = backend.Textf("container %s ended", name)
		if e.exitCode != "" {
			out.Text = backend.Textf("container %s ended with exit code %s", name, s.clean(e.exitCode, 20))
		}
	case "oom":
		out.Text = backend.Textf("container %s ran out of memory: the kernel killed a process in it", name)
	case "health_status":
		out.Text = backend.Textf("container %s is %s by its health check", name, s.clean(strings.TrimSpace(rest), 100))
	case "rename":
		out.Text = backend.Textf("container %s was renamed; it was %s", name, s.clean(strings.TrimPrefix(e.labels["oldName"], "/"), 200))
	case "create":
		out.Leaves = backend.SandboxCreated
		out.Text = backend.Textf("container %s was created from image %s", name, image)
	case "destroy":
		out.Leaves = backend.SandboxExited
		out.Text = backend.Textf("container %s was removed", name)
	case "pause":
		out.Leaves = backend.SandboxPaused
		out.Text = backend.Textf("container %s was paused", name)
	case "unpause":
		out.Leaves = backend.SandboxRunning
		out.Text = backend.Textf("container %s goes on after a pause", name)
	}
	return out
}
