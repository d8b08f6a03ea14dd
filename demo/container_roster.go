package demo

import (
	"fmt"
	"time"
)

// restingCount limits how many containers of resting sessions exist beside those of
// live ones.
type restingCount struct{ paused, pausing, done, created int }

// placeContainers creates the containers behind docker workspaces, those of resting
// sessions, some without a session, and some that are not sandboxes.
func (f *fleet) placeContainers() {
	dirs := f.mountable()
	for i := range f.workspaces {
		w := &f.workspaces[i]
		if w.provider != dockerHost || f.plays(w, causeImage) {
			continue // without its image there is no container
		}
		b := f.newContainer(f.workspaceName(int32(i)))
		b.workspace, b.slot = int32(i), w.session
		b.created = f.At(0).startOf(int(w.session)) + 2*time.Second
		f.applyTrouble(&b, w)
		if b.kind == containerSteady && len(dirs) > 0 {
			b.dir, dirs = dirs[0], dirs[1:]
		}
		f.containerOf[int32(i)] = int32(len(f.containers))
		f.containers = append(f.containers, b)
	}
	f.placeResting(restingCount{paused: 3, pausing: 1, done: 4, created: 1})
	if f.incidents.broken {
		f.breakContainers()
	}
	f.contradict()
	if f.incidents.leak || f.incidents.parted {
		f.placeOrphans()
	}
	f.placeOthers()
}

func (f *fleet) newContainer(label string) fakeContainer {
	n := len(f.containers)
	h := f.random.value(saltBox, n, 0)
	return fakeContainer{
		id: containerID(f.random, n), name: fmt.Sprintf("helix-%s-%06x", safeName(label), (uint64(n)*0x5bd1e9+uint64(f.random))&0xffffff), image: "helix/workspace-box:2026.11",
		workspace: noIndex, slot: noIndex, label: label,
		checked: h%10 == 0, phase: between(h>>8, 0, checkGap),
	}
}

// plays reports whether a workspace has trouble of this cause.
func (f *fleet) plays(w *workspace, c cause) bool {
	return w.trouble != noIndex && f.troubles[w.trouble].cause == c
}

// safeName keeps a container's name within what the engine allows.
func safeName(label string) string {
	for _, r := range label {
		if r < 'a' || r > 'z' {
			return "odd"
		}
	}
	return label
}

func (f *fleet) applyTrouble(b *fakeContainer, w *workspace) {
	if w.trouble == noIndex {
		return
	}
	tr := &f.troubles[w.trouble]
	switch tr.cause {
	case causeContainerKilled:
		b.kind, b.since, b.checked = containerKilled, tr.success.at+5*time.Second, false
	case causeContainerLoop:
		b.kind, b.since, b.checked = containerLooping, tr.success.at+5*time.Second, false
	default:
	}
}

func (f *fleet) placeResting(n restingCount) {
	for _, slot := range f.order[eu] {
		if s := &f.sessions[slot]; s.kind != resting || s.runtime != jsRuntime || int(slot) >= f.hot {
			continue
		}
		b := f.newContainer("box")
		b.slot, b.checked = slot, false
		b.created = f.sessions[slot].started
		b.since = max(b.created+time.Minute, -30*time.Minute)
		over := f.At(0).status(int(slot)) == statusCompleted
		switch {
		case over && n.done > 0:
			n.done--
			b.kind = containerDone
		case over:
			continue // its container ended with it and is removed
		case n.paused > 0:
			n.paused--
			b.kind = containerPaused
		case n.pausing > 0:
			n.pausing--
			b.kind, b.since = containerPausing, b.created+time.Minute
		case n.created > 0:
			n.created--
			b.kind = containerCreated
		default:
			continue
		}
		f.containers = append(f.containers, b)
	}
}

// breakContainers turns three steady containers unhealthy, one of them only after
// 75 seconds, and lets one run out of memory again and again. Two of the
// unhealthy ones have lost their working directory.
func (f *fleet) breakContainers() {
	since := []time.Duration{-10 * time.Minute, -3 * time.Minute, 75 * time.Second}
	roots := []rootKind{rootMissing, rootDangling}
	oom := true
	for i := range f.containers {
		b := &f.containers[i]
		if b.kind != containerSteady || b.workspace == noIndex || f.workspaces[b.workspace].trouble != noIndex {
			continue
		}
		if b.created > -15*time.Minute {
			continue
		}
		switch {
		case oom:
			b.kind, b.since, b.checked, oom = containerOOMLoop, 70*time.Second, false, false
		case len(since) > 0:
			b.kind, b.since, b.checked = containerUnhealthy, since[0], true
			if b.dir == "" && len(roots) > 0 {
				b.root, roots = roots[0], roots[1:]
			}
			since = since[1:]
		default:
			return
		}
	}
}

// placeOrphans leaves two containers behind whose sessions are over.
func (f *fleet) placeOrphans() {
	for k := range 2 {
		b := f.newContainer("box")
		b.owner = f.names.id(len(f.sessions)+k, 0)
		b.created = -26*time.Hour - time.Duration(k)*time.Hour
		f.containers = append(f.containers, b)
	}
}

// agentContainer is the container whose log stream carries the agent's log.
const agentContainer = "helix-agent"

func (f *fleet) placeOthers() {
	others := []struct{ name, image string }{
		{agentContainer, "helix/agent-server:6.4.1"}, {"postgres", "postgres:17"}, {"redis", "redis:7"},
		{"minio", "minio/minio:latest"}, {"grafana", "grafana/grafana:11.3.0"}, {"buildkitd", "moby/buildkit:v0.17.0"},
	}
	for _, o := range others {
		b := f.newContainer("")
		b.name, b.image, b.checked = o.name, o.image, false
		b.created = -9 * 24 * time.Hour
		f.containers = append(f.containers, b)
	}
}

// mountable lists scratch directories that containers bind-mount.
func (f *fleet) mountable() []string {
	var out []string
	for i := range f.dirs {
		if f.dirs[i].mounted {
			out = append(out, f.scratchPath(&f.dirs[i]))
		}
	}
	return out
}
