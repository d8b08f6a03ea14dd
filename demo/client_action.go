package demo

import (
	"sync"
	"time"
)

// clientActionKind says what a client did to a container through the engine.
type clientActionKind uint8

const (
	actionStop clientActionKind = iota
	actionStart
	actionPause
	actionUnpause
	actionRemove
	actionRestart
	actionExec     // a command ran
	actionContinue // its main process got SIGCONT
	actionMend     // a command made the missing working directory again
	actionCreate   // a client made it
)

// takesOver reports whether the script no longer decides about a container after the action.
func (k clientActionKind) takesOver() bool { return k < actionExec }

// clientAction is one change that a client made.
type clientAction struct {
	at        time.Duration
	container *fakeContainer
	kind      clientActionKind
	command   string // of actionExec
	exit      int
	ran       bool // a container that was removed or stopped ran before
}

// clientActions are all changes that clients made to containers. They and the script decide what the engine reports.
type clientActions struct {
	acting sync.Mutex // held from the check of a container to the action on it

	mu          sync.RWMutex
	all         []clientAction // in the order in which they were done
	byContainer map[*fakeContainer][]clientAction
	execs       map[string]*execution
	made        []*fakeContainer // by clients
}

func (d *clientActions) add(x clientAction) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, x)
	d.byContainer[x.container] = append(d.byContainer[x.container], x)
}

// of lists what was done to a container; the list only grows.
func (d *clientActions) of(b *fakeContainer) []clientAction {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.byContainer[b]
}

// from lists all actions after the first n.
func (d *clientActions) from(n int) []clientAction {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.all[min(n, len(d.all)):]
}

// handled applies the client actions on a container. After the first that changes its state, the script has no effect.
func (w world) handled(b *fakeContainer, s containerState) containerState {
	held := false
	for _, d := range w.actions.of(b) {
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
		case actionPause:
			s.status = "paused"
		case actionUnpause:
			s.status = "running"
		case actionStop:
			s.status, s.finished, s.exit, s.oom = "exited", known(d.at), killedExit, false
		case actionStart:
			s.status, s.started, s.exit, s.oom = "running", known(d.at), 0, false
		case actionRestart:
			s.status, s.started, s.finished, s.exit, s.oom = "running", known(d.at), known(d.at), 0, false
		case actionRemove:
			s = containerState{status: "removing", gone: true}
		case actionExec, actionContinue, actionMend, actionCreate:
		}
	}
	return w.ended(b, s)
}

// killedExit is the exit code of a program that ignores the first signal.
const killedExit = 137

// takenOver is when clients took a container over from the script.
func (w world) takenOver(b *fakeContainer) moment {
	for _, d := range w.actions.of(b) {
		if d.kind.takesOver() {
			return known(d.at)
		}
	}
	return moment{}
}

// rootKind is the state of a container's working directory.
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

// rootAt is the state of a container's working directory, and when it was mended.
func (w world) rootAt(b *fakeContainer) (rootKind, moment) {
	if b.root == rootFine || w.t < b.sickFrom() {
		return rootFine, moment{}
	}
	for _, d := range w.actions.of(b) {
		// The engine makes a missing working directory at each start.
		if (d.kind == actionMend || b.root == rootMissing && (d.kind == actionStart || d.kind == actionRestart)) && d.at >= b.sickFrom() && d.at <= w.t {
			return rootFine, known(d.at)
		}
	}
	return b.root, moment{}
}

// holds reports whether an event of a client action is true. A mended container may be gone before its next health check.
func (w world) holds(e containerEvent) bool {
	return e.action != saidHealthy || w.At(e.at).containerState(e.container).health == "healthy"
}

const saidHealthy = "health_status: healthy"

// actionEvents are the events that the engine reports about a client action.
func actionEvents(d clientAction) []containerEvent {
	say := func(action, exit string) containerEvent {
		return containerEvent{at: d.at, container: d.container, action: action, exit: exit}
	}
	const killed = "137"
	switch d.kind {
	case actionCreate:
		return []containerEvent{say("create", "")}
	case actionPause:
		return []containerEvent{say("pause", "")}
	case actionUnpause:
		return []containerEvent{say("unpause", "")}
	case actionStart:
		return []containerEvent{say("start", "")}
	case actionStop:
		return []containerEvent{say("kill", ""), say("die", killed), say("stop", "")}
	case actionRestart:
		return []containerEvent{say("kill", ""), say("die", killed), say("stop", ""), say("start", ""), say("restart", "")}
	case actionContinue:
		return []containerEvent{say("kill", "")}
	case actionRemove:
		if d.ran {
			return []containerEvent{say("kill", ""), say("die", killed), say("destroy", "")}
		}
		return []containerEvent{say("destroy", "")}
	case actionExec:
		return execEvents(d)
	case actionMend:
		if d.container.kind == containerUnhealthy {
			return []containerEvent{{at: d.at + checkGap, container: d.container, action: saidHealthy}}
		}
	}
	return nil
}
