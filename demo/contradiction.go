package demo

import "time"

// startFailure is what the engine says of a container whose program is not there.
const startFailure = "failed to create task for container: failed to create shim task: OCI runtime create failed: runc create failed: " +
	"unable to start container process: exec: \"/usr/local/bin/agent\": stat /usr/local/bin/agent: no such file or directory: unknown"

// contradict makes containers that are not what is reported of them. Their registry entries stay open: the agents wait for
// their next turn, and nothing uses the container meanwhile.
func (f *fleet) contradict() {
	fits := func(b *fakeContainer, since time.Duration, strict bool) bool {
		if b.kind != containerSteady || b.root != rootFine || b.workspace == noIndex || b.dir != "" {
			return false
		}
		w := &f.workspaces[b.workspace]
		if strict {
			return b.created <= -30*time.Minute && w.trouble == noIndex && w.behaviour == steady
		}
		return b.created < since-time.Minute && w.trouble == noIndex
	}
	give := func(kind containerKind, root rootKind, since time.Duration, also func(*fakeContainer)) {
		for _, strict := range []bool{true, false} { // a small fleet has few that fit best
			for i := range f.containers {
				b := &f.containers[i]
				if !fits(b, since, strict) {
					continue
				}
				b.kind, b.root, b.since, b.checked = kind, root, since, false
				if also != nil {
					also(b)
				}
				return
			}
		}
	}
	if f.incidents.emptied {
		give(containerSteady, rootMissing, -12*time.Minute, nil)
		give(containerSteady, rootDangling, -6*time.Minute, nil)
		give(containerUnhealthy, rootMissing, -4*time.Minute, func(b *fakeContainer) { b.checked = true })
		give(containerSteady, rootMissing, time.Minute+2*checkGap, nil)
	}
	if f.incidents.parted {
		give(containerRemoved, rootFine, -20*time.Minute, nil)
		give(containerCrashed, rootFine, -9*time.Minute, nil)
		give(containerRefused, rootFine, -25*time.Minute, nil)
		give(containerRemoved, rootFine, 50*time.Second, nil)
	}
	if f.incidents.frozen {
		give(containerStopped, rootFine, -11*time.Minute, nil)
		give(containerStuck, rootFine, -7*time.Minute, nil)
		give(containerStopped, rootFine, time.Minute, nil)
	}
}

// cutOff is since when a container serves no command, if it does not now.
func (w world) cutOff(b *fakeContainer) (at time.Duration, cut bool) {
	if w.t < b.since {
		return 0, false
	}
	switch b.kind {
	case containerRemoved, containerRefused, containerCrashed:
		return b.since, !w.containerState(b).up()
	case containerStopped, containerStuck:
		return b.since, w.stands(b)
	case containerSteady:
		root, _ := w.rootAt(b)
		return b.since, w.incidents.emptied && root != rootFine
	case containerUnhealthy:
		root, _ := w.rootAt(b)
		return b.sickFrom(), w.incidents.emptied && root != rootFine
	case containerPaused, containerPausing, containerDone, containerCreated, containerKilled, containerOOMLoop, containerLooping:
	}
	return 0, false
}

// stands reports whether the main process of a container does nothing: it is stopped, or waits for a disk.
func (w world) stands(b *fakeContainer) bool {
	if b.kind != containerStopped && b.kind != containerStuck || w.t < b.since {
		return false
	}
	for _, d := range w.actions.of(b) {
		goes := d.kind == actionStart || d.kind == actionRestart || d.kind == actionContinue && b.kind == containerStopped
		if goes && d.at >= b.since && d.at <= w.t {
			return false
		}
	}
	return true
}

// stuck reports whether commands in a container never end.
func (w world) stuck(b *fakeContainer) bool { return b.kind == containerStuck && w.stands(b) }
