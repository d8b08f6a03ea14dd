package demo

import (
	"sync"
	"time"
)

// deedKind is something that a client did to a container through the engine.
type deedKind uint8

const (
	deedStop deedKind = iota
	deedStart
	deedPause
	deedUnpause
	deedRemove
	deedExec // a command ran
	deedMend // a command made the missing working directory again
)

// takesOver says whether the script lets go of a container after the deed.
func (k deedKind) takesOver() bool { return k < deedExec }

// deed is one thing that was done.
type deed struct {
	at      time.Duration
	box     *box
	kind    deedKind
	command string // of deedExec
	exit    int
	ran     bool // a container that was removed or stopped ran before
}

// boxDeeds is all that clients did to the containers. Together with the script it decides what the engine says.
type boxDeeds struct {
	acting sync.Mutex // held from the look at a container to its deed

	mu    sync.RWMutex
	all   []deed // in the order in which they were done
	byBox map[*box][]deed
	execs map[string]*execution
}

func (d *boxDeeds) add(x deed) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, x)
	d.byBox[x.box] = append(d.byBox[x.box], x)
}

// of lists what was done to a container; the list only grows.
func (d *boxDeeds) of(b *box) []deed {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.byBox[b]
}

// from lists all deeds after the first n.
func (d *boxDeeds) from(n int) []deed {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.all[min(n, len(d.all)):]
}

// handled applies what was done to a container. From the first deed that changes its state on, the script does not.
func (w world) handled(b *box, s boxState) boxState {
	held := false
	for _, d := range w.deeds.of(b) {
		if d.at > w.t {
			break
		}
		if !d.kind.takesOver() {
			continue
		}
		if !held {
			held, s = true, w.At(d.at).scripted(b)
		}
		switch d.kind {
		case deedPause:
			s.status = "paused"
		case deedUnpause:
			s.status = "running"
		case deedStop:
			s.status, s.finished, s.exit, s.oom = "exited", known(d.at), killedExit, false
		case deedStart:
			s.status, s.started, s.exit, s.oom = "running", known(d.at), 0, false
		case deedRemove:
			s = boxState{status: "removing", gone: true}
		case deedExec, deedMend:
		}
	}
	return s
}

// killedExit is how a program ends that does not listen to the first signal.
const killedExit = 137

// taken is when clients took a container over from the script.
func (w world) taken(b *box) moment {
	for _, d := range w.deeds.of(b) {
		if d.kind.takesOver() {
			return known(d.at)
		}
	}
	return moment{}
}

// rootKind is what became of a container's working directory.
type rootKind uint8

const (
	rootFine rootKind = iota
	rootMissing
	rootDangling // a link to linkedRoot, which is missing
)

const (
	workRoot   = "/workspace"
	linkedRoot = "/srv/workspace"
)

// rootAt tells what a container's working directory is, and since when it was mended.
func (w world) rootAt(b *box) (rootKind, moment) {
	if b.root == rootFine || w.t < b.sickFrom() {
		return rootFine, moment{}
	}
	for _, d := range w.deeds.of(b) {
		if d.kind == deedMend && d.at <= w.t {
			return rootFine, known(d.at)
		}
	}
	return b.root, moment{}
}

// holds says whether what an event of a deed says is so: a mended container may be gone before its next health check.
func (w world) holds(e boxEvent) bool {
	return e.action != saidHealthy || w.At(e.at).box(e.box).health == "healthy"
}

const saidHealthy = "health_status: healthy"

// deedEvents is what the engine reports about a deed.
func deedEvents(d deed) []boxEvent {
	say := func(action, exit string) boxEvent { return boxEvent{at: d.at, box: d.box, action: action, exit: exit} }
	const killed = "137"
	switch d.kind {
	case deedPause:
		return []boxEvent{say("pause", "")}
	case deedUnpause:
		return []boxEvent{say("unpause", "")}
	case deedStart:
		return []boxEvent{say("start", "")}
	case deedStop:
		return []boxEvent{say("kill", ""), say("die", killed), say("stop", "")}
	case deedRemove:
		if d.ran {
			return []boxEvent{say("kill", ""), say("die", killed), say("destroy", "")}
		}
		return []boxEvent{say("destroy", "")}
	case deedExec:
		return execEvents(d)
	case deedMend:
		if d.box.kind == boxSick {
			return []boxEvent{{at: d.at + checkGap, box: d.box, action: saidHealthy}}
		}
	}
	return nil
}
