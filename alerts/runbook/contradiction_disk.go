package runbook

import (
	"slices"
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
)

// fullDisk adds, where a probe or a repair met it, that a disk has no space left: then nothing that writes helps before there is room.
func (s *subjectView) fullDisk(told []Check) []Check {
	q := question{"disk", "Is its disk full?", ""}
	for _, b := range s.sandboxes {
		v, fact := noSpaceLeft(b)
		if fact.IsEmpty() {
			continue
		}
		c := q.yes(origin{b.Key.Source, v.At}, "%s", fact)
		c.of = b
		for i := range told {
			if x := &told[i]; b.OfWorker() && x.Mark == CannotTell && x.Fact.String() == nothingTells {
				x.Fact, x.WouldTell = backend.Text("no command that would look at it begins"), backend.Text("a probe, once its disk has room")
			}
		}
		return append([]Check{c}, told...)
	}
	if s.diskSaid() {
		q.needs = "a probe, or a df that the agent runs"
		return append([]Check{q.unsure("its agent's log says so, which is its word; nothing else shows it")}, told...)
	}
	return told
}

// diskSaid reports whether only the log of its agent says that a disk has no space left.
func (s *subjectView) diskSaid() bool {
	return slices.ContainsFunc(s.led, func(a *alerts.Alert) bool {
		return a.Rule == "contradiction" && a.State == alerts.StatePending && strings.HasSuffix(a.Cause.String(), "its disk has no space left, its agent's log says")
	})
}

// endDiskSaid concludes about a disk of which only that is known.
func (s *subjectView) endDiskSaid(d *Diagnosis, name backend.Safe) {
	d.conclude("Its agent's log says that its disk has no space left. Nothing else shows it yet.")
	d.dont("Don't end it, and count on no save before that is known.")
	d.do("Probe it: sandglass probe %s. It wakes the sandbox.", name)
	d.do("Let the agent run df -h in it. A probe after that reads the output.")
	d.do("Save its files: sandglass rescue %s. It only reads.", name)
}

// noSpaceLeft is what the newest command or repair in a sandbox says of a disk that has no space left; empty: nothing.
func noSpaceLeft(b *backend.Sandbox) (v backend.Verdict, fact backend.Safe) {
	o, _ := b.Proved()
	if i := slices.IndexFunc(o.Verdicts, func(v backend.Verdict) bool {
		return v.Kind == backend.FailNoSpace && v.Outcome == backend.OutcomeFailed
	}); i >= 0 {
		return o.Verdicts[i], o.Verdicts[i].Said()
	}
	v, _ = o.Of(backend.PlaneExec)
	if v.Outcome != backend.OutcomeFailed {
		return v, fact
	}
	for _, e := range v.Evidence {
		if strings.HasPrefix(e.String(), string(backend.RepairFull)) {
			return v, e
		}
	}
	return v, fact
}

// endFullDisk concludes about a disk that has no space left. Whether commands of a session begin tells what can be run to look at it.
func (s *subjectView) endFullDisk(d *Diagnosis, name backend.Safe) {
	d.conclude("Its disk has no space left. %s.", d.fact("disk"))
	d.dont("Don't repair or probe it before it has room: both write, and fail.")
	runs := s.entered() != nil || d.is("missing") || d.is("dangling") // a new session answered
	if runs {
		d.do("Make room on its disk. In a new session of your application see what fills it: df -h, then du -xh / | sort -h | tail -20")
	} else {
		d.do("Make room on its disk, by your application. Its streamed commands may still run: df -h, then du -xh / | sort -h | tail -20. So may its file calls, such as deleteFile.")
	}
	d.do("Remove caches of packages, build output, logs, /tmp. Copy out first what cannot be made again.")
	if d.is("missing") || d.is("dangling") {
		d.do("When it has room, repair it: sandglass repair %s. That makes /workspace again, empty.", name)
	} else {
		d.do("When it has room, probe it: sandglass probe %s", name)
	}
	d.do("Does it fill again? Give it a larger instance_type, whose disk is larger.")
}

// noRoom is what a probe found of a disk without space in the page's only sandbox of an agent's cloud; empty: nothing.
func (s *subjectView) noRoom() backend.Safe {
	if len(s.sandboxes) != 1 || s.platform() != agentCloud {
		return backend.Safe{}
	}
	_, fact := noSpaceLeft(s.sandboxes[0])
	return fact
}

// endAgentDisk concludes about the disk of a sandbox of an agent's cloud, which only what runs in it can empty.
func (s *subjectView) endAgentDisk(d *Diagnosis, name backend.Safe) {
	d.conclude("Its disk has no space left: %s.", d.fact("disk"))
	d.dont("Don't end it, and save or restore nothing before it has room.")
	d.do("Save its files first: sandglass rescue %s. It only reads.", name)
	if left := s.leftArchives(); !left.IsEmpty() {
		d.do("Remove by the agent what a save or restore left. Not while one runs: %s", left)
	}
	d.do("Make room on its disk. By a command of the agent see what fills it: df -h, then du -xh / | sort -h | tail -20")
	d.do("Remove caches, build output, logs, /tmp. Copy out first what cannot be made again.")
	for _, a := range s.led {
		if a.Rule == "persist-failed" || a.Rule == "hydrate-failed" {
			d.do("Save or restore again when it has room. %s has the same cause.", backend.Clean(a.Rule, 40))
			break
		}
	}
	d.do("When it has room, probe it: sandglass probe %s", name)
}

// leftArchives names the archives in /tmp that a probe listed, each with its size.
func (s *subjectView) leftArchives() backend.Safe {
	var out []backend.Safe
	for _, b := range s.sandboxes {
		in, is := b.Inside()
		if !is {
			continue
		}
		for _, x := range in.Archives {
			out = append(out, backend.Textf("%s (%s)", x.Path, backend.Bytes(x.Size)))
		}
	}
	return backend.Join(out[:min(len(out), 3)], ", ")
}

// ownFault is what the server in a sandbox of an agent's cloud answered with an error of its own; nil: it did not.
func (s *subjectView) ownFault() *backend.Verdict {
	if s.platform() != agentCloud {
		return nil
	}
	for _, b := range s.sandboxes {
		o, _ := b.Proved()
		for _, v := range o.Failed() {
			if v.Kind == "" && v.Plane == backend.PlaneList && strings.Contains(v.What.String(), "cannot be listed") {
				return &v
			}
		}
	}
	return nil
}
