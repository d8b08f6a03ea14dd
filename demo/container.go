package demo

import (
	"fmt"
	"time"
)

// containerKind says what happens to a container over time.
type containerKind uint8

const (
	containerSteady    containerKind = iota
	containerPaused                  // paused half an hour ago
	containerPausing                 // paused and unpaused every two minutes
	containerDone                    // ended with exit code 0, as its session did
	containerCreated                 // never started
	containerKilled                  // out of memory, stays down
	containerOOMLoop                 // out of memory every six minutes, comes back after two seconds
	containerLooping                 // crashes at once, the engine restarts it with back-off
	containerUnhealthy               // its health check fails from since on
	containerCrashed                 // ended with an error, stays down
	containerRefused                 // the engine could not start it
	containerRemoved                 // removed behind the registry's back
	containerStopped                 // its main process got SIGSTOP
	containerStuck                   // its main process waits for a disk, and so does every command
)

// fakeContainer is one container of the demo's engine.
type fakeContainer struct {
	kind      containerKind
	id        string // 64 hexadecimal digits
	name      string
	image     string
	workspace int32  // the workspace behind it, or noIndex
	slot      int32  // the session that owns it, or noIndex
	owner     string // label value when no session of the roster owns it
	label     string // workspace label; empty: not a sandbox
	dir       string // host directory mounted at /workspace; empty: none
	created   time.Duration
	since     time.Duration  // when its trouble or pause began
	checked   bool           // has a health check
	phase     time.Duration  // of its health check
	root      rootKind       // state of its working directory from since on
	made      *madeContainer // what a client made it of; nil: it is part of the script
}

const (
	checkGap         = 30 * time.Second
	sickAfter        = 3 // failed checks until the engine calls it unhealthy
	pauseGap         = 4 * time.Minute
	pauseLasts       = 2 * time.Minute
	oomGap           = 6 * time.Minute
	oomDown          = 2 * time.Second
	loopGap          = 45 * time.Second
	loopDown         = 20 * time.Second // back-off of the engine
	containerRestart = 2 * time.Second  // downtime in a rollout
)

// containerState is a container at one moment.
type containerState struct {
	status   string // as the engine spells it
	started  moment
	finished moment
	exit     int
	oom      bool
	restarts int
	health   string // empty without a health check
	streak   int    // failed checks in a row
	gone     bool   // it was removed
	failure  string // why the engine could not start it
}

func (s containerState) up() bool { return s.status == "running" || s.status == "paused" }

// containerState is what the engine says about a container.
func (w world) containerState(b *fakeContainer) containerState {
	return w.withHealth(b, w.handled(b, w.scripted(b)))
}

// scripted is the state of a container without any client action.
func (w world) scripted(b *fakeContainer) containerState {
	s := containerState{status: "running", started: known(b.created + time.Second)}
	switch b.kind {
	case containerCreated:
		return containerState{status: "created"}
	case containerPaused:
		s.status = "paused"
	case containerPausing:
		if w.t >= b.since && (w.t-b.since)%pauseGap < pauseLasts {
			s.status = "paused"
		}
	case containerRefused:
		return containerState{status: "created", exit: 127, failure: startFailure}
	case containerRemoved:
		if w.t >= b.since {
			s.status, s.finished, s.exit, s.gone = "exited", known(b.since), killedExit, true
		}
	case containerDone, containerKilled, containerCrashed:
		s = w.endedContainer(b, s)
	case containerLooping:
		s = w.loopingContainer(b, s)
	case containerOOMLoop:
		s = w.oomContainer(b, s)
	case containerSteady, containerUnhealthy, containerStopped, containerStuck:
		s = w.rolledContainer(b, s)
	}
	return s
}

func (w world) endedContainer(b *fakeContainer, s containerState) containerState {
	if w.t < b.since {
		return s
	}
	s.status, s.finished = "exited", known(b.since)
	if b.kind == containerKilled {
		s.exit, s.oom = 137, true
	} else if b.kind == containerCrashed {
		s.exit = 1
	}
	return s
}

func (w world) loopingContainer(b *fakeContainer, s containerState) containerState {
	if w.t < b.since {
		return s
	}
	k := floorDiv(w.t-b.since, loopGap)
	died := b.since + time.Duration(k)*loopGap
	s.finished, s.exit, s.restarts = known(died), 1, int(k)
	if w.t < died+loopDown {
		s.status = "restarting"
		if k > 0 {
			s.started = known(died - loopGap + loopDown)
		}
		return s
	}
	s.started, s.restarts, s.exit = known(died+loopDown), int(k)+1, 0
	return s
}

func (w world) oomContainer(b *fakeContainer, s containerState) containerState {
	if w.t < b.since {
		return s
	}
	k := floorDiv(w.t-b.since, oomGap)
	died := b.since + time.Duration(k)*oomGap
	s.finished = known(died)
	if w.t < died+oomDown {
		s.status, s.exit, s.oom, s.restarts = "restarting", 137, true, int(k)
		if k > 0 {
			s.started = known(died - oomGap + oomDown)
		}
		return s
	}
	s.started, s.restarts = known(died+oomDown), int(k)+1
	return s
}

// rolledContainer adds the newest restart of the agent process, which restarts its
// containers.
func (w world) rolledContainer(b *fakeContainer, s containerState) containerState {
	if b.slot == noIndex {
		return s
	}
	at, rolled := w.rollout(int(b.slot))
	if !rolled {
		return s
	}
	s.finished = known(at)
	if w.t < at+containerRestart {
		if before, again := w.At(at - 1).rollout(int(b.slot)); again {
			s.started = known(before + containerRestart)
		}
		s.status, s.exit = "exited", 143
		return s
	}
	s.started = known(at + containerRestart)
	return s
}

func (w world) withHealth(b *fakeContainer, s containerState) containerState {
	if !b.checked || !s.up() {
		return s
	}
	s.health = "healthy"
	if w.t-s.started.at < checkGap {
		s.health = "starting"
	}
	if !w.checkFails(b, w.t) {
		return s
	}
	if s.streak = sickAfter + int(floorDiv(w.t-b.since, checkGap)); s.streak >= sickAfter {
		s.health = "unhealthy"
	}
	return s
}

// sickFrom is when the first check of a sick container fails: after some more the engine calls it unhealthy.
func (b *fakeContainer) sickFrom() time.Duration { return b.since - (sickAfter-1)*checkGap }

// checkFails says whether the health check of a container that is made at a time fails.
func (w world) checkFails(b *fakeContainer, at time.Duration) bool {
	if b.kind != containerUnhealthy || at < b.sickFrom() {
		return false
	}
	_, mended := w.rootAt(b)
	return !mended.known || at < mended.at+checkGap
}

// ownerLabel is the session id a container carries.
func (w world) ownerLabel(b *fakeContainer) string {
	if b.slot == noIndex {
		return b.owner
	}
	return w.sessionID(int(b.slot))
}

// labels are those of a container; nil for one that is not a sandbox.
func (w world) labels(b *fakeContainer) map[string]string {
	if b.made != nil {
		return b.made.config.Labels
	}
	if b.label == "" {
		return map[string]string{"com.docker.compose.project": "agents", "com.docker.compose.service": b.name}
	}
	return map[string]string{
		"sandglass.session":   w.ownerLabel(b),
		"sandglass.workspace": b.label,
	}
}

// sessionID names the present run in a slot.
func (w world) sessionID(slot int) string {
	if a := w.sessions[slot].alias; a != "" {
		return a
	}
	return w.names.id(slot, w.cycle(slot))
}

func containerID(d seededHash, n int) string {
	return fmt.Sprintf("%016x%016x%016x%016x",
		d.value(saltBoxID, n, 0), d.value(saltBoxID, n, 1), d.value(saltBoxID, n, 2), d.value(saltBoxID, n, 3))
}
