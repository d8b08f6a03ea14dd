package runbook

import (
	"strings"

	"sandglass/backend"
)

// endInterrupted concludes about what a save or restore of a session's files left behind.
func (s *subjectView) endInterrupted(d *Diagnosis, name backend.Safe) {
	fact := d.fact("interrupted").String()
	d.NoReset = backend.Safe{}
	switch {
	case strings.Contains(fact, "a drive"):
		d.conclude("A drive of its session is not mounted: %s.", s.drivesLost())
		d.dont("Don't let the agent write there: that is not on the drive.")
		d.do("Rescue what was written at its path: sandglass rescue %s. It wakes the sandbox.", name)
		d.do("Mount it again: by a new session, or the vendor's SDK.")
	case strings.Contains(fact, "another session"):
		d.conclude("Its /tmp holds an archive of another session. Nothing is told of its own snapshots.")
		d.dont("Don't read it as a save of this session.")
		d.do("Read whose it is: sandglass why %s. The digits in its name begin the id of its session.", name)
		d.do("Remove it by hand once no agent needs it: it takes space.")
	case strings.Contains(fact, "a restore"):
		d.conclude("A restore did not end well: %s.", d.fact("interrupted"))
		d.dont("Don't take its files for whole: a save would keep only that.")
		d.do("Rescue what was written since: sandglass rescue %s. It wakes the sandbox.", name)
		d.do("Restore into a new sandbox. A restore adds files and never removes any.")
		d.do("Remove the archive that is left by hand then.")
	default:
		d.conclude("A snapshot did not end well: %s. Whether a later one did is not known.", d.fact("interrupted"))
		d.dont("Don't count on the newest snapshot: it may be older.")
		d.do("Rescue the files first: sandglass rescue %s. It wakes the sandbox.", name)
		if fails := s.saveFails(); !fails.IsEmpty() {
			d.do("Don't count on its next save. %s", fails)
		} else {
			d.do("Let the agent save again.")
		}
		d.do("Remove the archive that is left by hand then.")
	}
	s.inNoSnapshot(d)
	d.do("Probe again: sandglass probe %s", name)
}

// drivesLost are where drives of a session are not mounted, as a probe of its sandbox found.
func (s *subjectView) drivesLost() backend.Safe {
	for _, b := range s.sandboxes {
		if x, read := b.Inside(); read {
			if all := s.State.DrivesLost(b, x); len(all) > 0 {
				at := backend.Join(all, ", ")
				if under := s.State.Saving(b, x); !under.IsEmpty() {
					return backend.Textf("%s, but %s", at, under)
				}
				return at
			}
		}
	}
	return backend.Text("its page names the place")
}
