package runbook

import (
	"strings"

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
			if x := &told[i]; x.Mark == CannotTell && x.Fact.String() == nothingTells {
				x.Fact, x.WouldTell = backend.Text("no command that would look at it begins"), backend.Text("a probe, once its disk has room")
			}
		}
		return append([]Check{c}, told...)
	}
	return told
}

// noSpaceLeft is what the newest command or repair in a sandbox says of a disk that has no space left; empty: nothing.
func noSpaceLeft(b *backend.Sandbox) (v backend.Verdict, fact backend.Safe) {
	o, _ := b.Proved()
	v, _ = o.Of(backend.PlaneExec)
	if v.Outcome != backend.OutcomeFailed {
		return v, fact
	}
	if v.Kind == backend.FailNoSpace {
		return v, v.Said()
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
