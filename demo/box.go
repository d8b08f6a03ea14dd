package demo

import (
	"fmt"
	"time"
)

// boxKind is the life a container leads.
type boxKind uint8

const (
	boxSteady  boxKind = iota
	boxPaused          // paused half an hour ago
	boxPausing         // paused and unpaused every two minutes
	boxDone            // ended with exit code 0: its session hibernates
	boxCreated         // never started
	boxKilled          // out of memory, stays down
	boxOOMLoop         // out of memory every six minutes, comes back after two seconds
	boxLooping         // crashes at once, the engine restarts it with back-off
	boxSick            // its health check fails from since on
)

// box is one container.
type box struct {
	kind    boxKind
	id      string // 64 hexadecimal digits
	name    string
	image   string
	space   int32  // the workspace behind it, or nobody
	slot    int32  // the session that owns it, or nobody
	owner   string // label value when no session of the roster owns it
	label   string // workspace label; empty: not a sandbox
	dir     string // host directory mounted at /workspace; empty: none
	created time.Duration
	since   time.Duration // when its trouble or pause began
	checked bool          // has a health check
	phase   time.Duration // of its health check
	root    rootKind      // what became of its working directory at since
}

const (
	checkGap   = 30 * time.Second
	sickAfter  = 3 // failed checks until the engine calls it unhealthy
	pauseGap   = 4 * time.Minute
	pauseLasts = 2 * time.Minute
	oomGap     = 6 * time.Minute
	oomDown    = 2 * time.Second
	loopGap    = 45 * time.Second
	loopDown   = 20 * time.Second // back-off of the engine
	boxRestart = 2 * time.Second  // downtime in a rollout
)

// boxState is a container at one moment.
type boxState struct {
	status   string // as the engine spells it
	started  moment
	finished moment
	exit     int
	oom      bool
	restarts int
	health   string // empty without a health check
	streak   int    // failed checks in a row
	gone     bool   // a client removed it
}

func (s boxState) up() bool { return s.status == "running" || s.status == "paused" }

// box tells what the engine says about a container.
func (w world) box(b *box) boxState {
	return w.withHealth(b, w.handled(b, w.scripted(b)))
}

// scripted tells what would become of a container if nobody touched it.
func (w world) scripted(b *box) boxState {
	s := boxState{status: "running", started: known(b.created + time.Second)}
	switch b.kind {
	case boxCreated:
		return boxState{status: "created"}
	case boxPaused:
		s.status = "paused"
	case boxPausing:
		if w.t >= b.since && (w.t-b.since)%pauseGap < pauseLasts {
			s.status = "paused"
		}
	case boxDone, boxKilled:
		s = endedBox(b, s)
	case boxLooping:
		s = w.loopingBox(b, s)
	case boxOOMLoop:
		s = w.oomBox(b, s)
	case boxSteady, boxSick:
		s = w.rolledBox(b, s)
	}
	return s
}

func endedBox(b *box, s boxState) boxState {
	s.status, s.finished = "exited", known(b.since)
	if b.kind == boxKilled {
		s.exit, s.oom = 137, true
	}
	return s
}

func (w world) loopingBox(b *box, s boxState) boxState {
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

func (w world) oomBox(b *box, s boxState) boxState {
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

// rolledBox adds the newest restart of the agent process, which restarts its
// containers.
func (w world) rolledBox(b *box, s boxState) boxState {
	if b.slot == nobody {
		return s
	}
	at, rolled := w.rollout(int(b.slot))
	if !rolled {
		return s
	}
	s.finished = known(at)
	if w.t < at+boxRestart {
		if before, again := w.At(at - 1).rollout(int(b.slot)); again {
			s.started = known(before + boxRestart)
		}
		s.status, s.exit = "exited", 143
		return s
	}
	s.started = known(at + boxRestart)
	return s
}

func (w world) withHealth(b *box, s boxState) boxState {
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
func (b *box) sickFrom() time.Duration { return b.since - (sickAfter-1)*checkGap }

// checkFails says whether the health check of a container that is made at a time fails.
func (w world) checkFails(b *box, at time.Duration) bool {
	if b.kind != boxSick || at < b.sickFrom() {
		return false
	}
	_, mended := w.rootAt(b)
	return !mended.known || at < mended.at+checkGap
}

// ownerLabel is the session id a container carries.
func (w world) ownerLabel(b *box) string {
	if b.slot == nobody {
		return b.owner
	}
	return w.sessionID(int(b.slot))
}

// labels of a container; nil for one that is not a sandbox.
func (w world) labels(b *box) map[string]string {
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

func boxID(d dice, n int) string {
	return fmt.Sprintf("%016x%016x%016x%016x",
		d.roll(saltBoxID, n, 0), d.roll(saltBoxID, n, 1), d.roll(saltBoxID, n, 2), d.roll(saltBoxID, n, 3))
}
