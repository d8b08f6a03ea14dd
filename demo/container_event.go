package demo

import (
	"cmp"
	"strconv"
	"time"

	"sandglass/internal/stable"
)

// containerEvent is one thing the engine reports about a container.
type containerEvent struct {
	at        time.Duration
	container *fakeContainer
	action    string
	exit      string // attribute exitCode, empty when the action has none
}

// scriptEvents lists what the script makes happen.
func (w world) scriptEvents(from time.Duration) []containerEvent {
	var out []containerEvent
	for i := range w.containers {
		b := &w.containers[i]
		out = append(out, w.lifeEvents(b, from)...)
		out = append(out, w.checkEvents(b, from)...)
	}
	stable.Sort(out, func(a, b containerEvent) int { return cmp.Compare(a.at, b.at) })
	return out
}

// each calls do for every first + k·period within (from, to], k not negative.
func each(first, period, from, to time.Duration, do func(at time.Duration)) {
	k := max(0, floorDiv(from-first, period)+1)
	for at := first + time.Duration(k)*period; at <= to; at += period {
		do(at)
	}
}

func (w world) lifeEvents(b *fakeContainer, from time.Duration) []containerEvent {
	var out []containerEvent
	taken := w.takenOver(b)
	say := func(at time.Duration, action, exit string) {
		if at > from && at <= w.t && !(taken.known && at >= taken.at) {
			out = append(out, containerEvent{at: at, container: b, action: action, exit: exit})
		}
	}
	// One period earlier, so that the end of a span that began before is seen.
	switch b.kind {
	case containerPaused:
		say(b.since, "pause", "")
	case containerPausing:
		each(b.since, pauseGap, from-pauseGap, w.t, func(at time.Duration) {
			say(at, "pause", "")
			say(at+pauseLasts, "unpause", "")
		})
	case containerDone:
		say(b.since, "die", "0")
	case containerCrashed:
		say(b.since, "die", "1")
	case containerRemoved:
		say(b.since-2*time.Millisecond, "kill", "")
		say(b.since-time.Millisecond, "die", "137")
		say(b.since, "destroy", "")
	case containerKilled:
		say(b.since-time.Millisecond, "oom", "")
		say(b.since, "die", "137")
	case containerOOMLoop:
		each(b.since, oomGap, from-oomGap, w.t, func(at time.Duration) {
			say(at-time.Millisecond, "oom", "")
			say(at, "die", "137")
			say(at+oomDown, "start", "")
		})
	case containerLooping:
		each(b.since, loopGap, from-loopGap, w.t, func(at time.Duration) {
			say(at, "die", "1")
			say(at+loopDown, "start", "")
		})
	case containerUnhealthy:
		say(b.since, "health_status: unhealthy", "")
		w.rolloutEvents(b, from, say)
	case containerSteady, containerStopped, containerStuck:
		w.rolloutEvents(b, from, say)
	case containerCreated, containerRefused:
		say(b.created, "create", "")
	}
	return out
}

func (w world) rolloutEvents(b *fakeContainer, from time.Duration, say func(time.Duration, string, string)) {
	if b.slot == noIndex || !w.incidents.rollout || int(b.slot) >= w.hot || w.sessions[b.slot].where != eu {
		return
	}
	first := 2*time.Minute + time.Duration(int(b.slot)%rolloutPods)*rolloutStep
	each(first, rolloutGap, from-rolloutGap, w.t, func(at time.Duration) {
		say(at-time.Millisecond, "kill", "")
		say(at, "die", "143")
		say(at+time.Millisecond, "stop", "")
		say(at+containerRestart, "start", "")
		say(at+containerRestart+time.Millisecond, "restart", "")
		if b.checked {
			say(at+containerRestart+checkGap, "health_status: healthy", "")
		}
	})
}

// checkEvents is the noise that health checks make: three exec events each.
func (w world) checkEvents(b *fakeContainer, from time.Duration) []containerEvent {
	if !b.checked {
		return nil
	}
	const probe = "/bin/sh -c test -d /workspace"
	var out []containerEvent
	each(b.phase-24*time.Hour, checkGap, from, w.t, func(at time.Duration) {
		s := w.At(at).containerState(b)
		if s.status != "running" {
			return
		}
		exit := 0
		if s.streak > 0 {
			exit = 1
		}
		out = append(out,
			containerEvent{at: at, container: b, action: "exec_create: " + probe},
			containerEvent{at: at, container: b, action: "exec_start: " + probe},
			containerEvent{at: at, container: b, action: "exec_die", exit: strconv.Itoa(exit)})
	})
	return out
}
