package demo

import (
	"fmt"
	"time"
)

// boxCount limits how many containers of resting sessions exist beside those of
// live ones.
type boxCount struct{ paused, pausing, done, created int }

// placeBoxes creates the containers behind docker workspaces, those of resting
// sessions, some that belong to nobody, and some that are no sandboxes.
func (f *fleet) placeBoxes() {
	dirs := f.mountable()
	for i := range f.workspaces {
		w := &f.workspaces[i]
		if w.provider != dockerHost {
			continue
		}
		b := f.newBox(f.workspaceName(int32(i)))
		b.space, b.slot = int32(i), w.session
		b.created = f.At(0).startOf(int(w.session)) + 2*time.Second
		f.troubleBox(&b, w)
		if b.kind == boxSteady && len(dirs) > 0 {
			b.dir, dirs = dirs[0], dirs[1:]
		}
		f.boxBySpace[int32(i)] = int32(len(f.boxes))
		f.boxes = append(f.boxes, b)
	}
	f.placeResting(boxCount{paused: 3, pausing: 1, done: 4, created: 1})
	if f.acts.broken {
		f.breakBoxes()
	}
	if f.acts.leak {
		f.placeOrphans()
	}
	f.placeOthers()
}

func (f *fleet) newBox(label string) box {
	n := len(f.boxes)
	h := f.dice.roll(saltBox, n, 0)
	return box{
		id: boxID(f.dice, n), name: fmt.Sprintf("helix-%s-%06x", safeName(label), (uint64(n)*0x5bd1e9+uint64(f.dice))&0xffffff), image: "helix/workspace-box:2026.11",
		space: nobody, slot: nobody, label: label,
		checked: h%10 == 0, phase: between(h>>8, 0, checkGap),
	}
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

func (f *fleet) troubleBox(b *box, w *workspace) {
	if w.trouble == nobody {
		return
	}
	tr := &f.troubles[w.trouble]
	switch tr.cause {
	case causeContainerKilled:
		b.kind, b.since, b.checked = boxKilled, tr.success.at+5*time.Second, false
	case causeContainerLoop:
		b.kind, b.since, b.checked = boxLooping, tr.success.at+5*time.Second, false
	default:
	}
}

func (f *fleet) placeResting(n boxCount) {
	for _, slot := range f.order[eu] {
		if f.sessions[slot].kind != resting || int(slot) >= f.hot {
			continue
		}
		b := f.newBox("box")
		b.slot, b.checked = slot, false
		b.created = f.sessions[slot].started
		b.since = max(b.created+time.Minute, -30*time.Minute)
		switch {
		case n.paused > 0:
			n.paused--
			b.kind = boxPaused
		case n.pausing > 0:
			n.pausing--
			b.kind, b.since = boxPausing, b.created+time.Minute
		case n.done > 0:
			n.done--
			b.kind = boxDone
		case n.created > 0:
			n.created--
			b.kind = boxCreated
		default:
			return
		}
		f.boxes = append(f.boxes, b)
	}
}

// breakBoxes turns three steady containers unhealthy, one of them only after
// 75 seconds, and lets one run out of memory again and again. Two of the
// unhealthy ones have lost their working directory.
func (f *fleet) breakBoxes() {
	since := []time.Duration{-10 * time.Minute, -3 * time.Minute, 75 * time.Second}
	roots := []rootKind{rootMissing, rootDangling}
	oom := true
	for i := range f.boxes {
		b := &f.boxes[i]
		if b.kind != boxSteady || b.space == nobody || f.workspaces[b.space].trouble != nobody {
			continue
		}
		if b.created > -15*time.Minute {
			continue
		}
		switch {
		case oom:
			b.kind, b.since, b.checked, oom = boxOOMLoop, 70*time.Second, false, false
		case len(since) > 0:
			b.kind, b.since, b.checked = boxSick, since[0], true
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
		b := f.newBox("box")
		b.owner = f.names.id(len(f.sessions)+k, 0)
		b.created = -26*time.Hour - time.Duration(k)*time.Hour
		f.boxes = append(f.boxes, b)
	}
}

// agentBox is the container whose log stream carries the agent's log.
const agentBox = "helix-agent"

func (f *fleet) placeOthers() {
	others := []struct{ name, image string }{
		{agentBox, "helix/agent-server:6.4.1"}, {"postgres", "postgres:17"}, {"redis", "redis:7"},
		{"minio", "minio/minio:latest"}, {"grafana", "grafana/grafana:11.3.0"}, {"buildkitd", "moby/buildkit:v0.17.0"},
	}
	for _, o := range others {
		b := f.newBox("")
		b.name, b.image, b.checked = o.name, o.image, false
		b.created = -9 * 24 * time.Hour
		f.boxes = append(f.boxes, b)
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
