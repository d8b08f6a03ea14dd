package runbook

import (
	"slices"
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
)

// The beginnings of the causes that say what an agent takes its sandbox for.
const (
	takesFor     = "its agent takes it for "
	takesForDown = takesFor + "not running"
	notListed    = "but it is not listed by "
)

func saysBelief(a *alerts.Alert) bool {
	return a.Rule == "contradiction" && strings.HasPrefix(a.Cause.String(), takesFor)
}

// believed asks whether the agent of a sandbox takes it for something else than it is.
func (s *subjectView) believed() Check {
	q := question{"believed", "Does its agent believe something else of it than is observed?", "the agent's log beside the platform's list"}
	for _, a := range s.led {
		if saysBelief(a) {
			return q.yes(origin{a.Source, a.Confirmed}, "%s", a.Cause)
		}
	}
	return q.unsure("no alert tells it")
}

// The words of the causes that say that nothing in the sandbox of a running session can be used.
const (
	setAside   = "its session runs, but it is "
	unanswered = "nothing in it answered a probe"
)

// unusable asks whether anything in it can be used.
func (s *subjectView) unusable() Check {
	q := question{"unusable", "Does its session run while nothing in it can be used?", "the platform's list and the newest probe"}
	for _, a := range s.led {
		if c := a.Cause.String(); a.Rule == "contradiction" && (strings.HasPrefix(c, setAside) || strings.Contains(c, unanswered)) {
			return q.yes(origin{a.Source, a.Confirmed}, "%s", a.Cause)
		}
	}
	return q.unsure("no alert tells it")
}

// endUnusable ends the page about a sandbox that its platform set aside under a running session, or that answered no probe.
func endUnusable(d *Diagnosis, name backend.Safe) {
	for _, c := range d.Checks {
		switch {
		case c.Name != "unusable":
		case strings.Contains(c.Fact.String(), backend.NoInstance):
			d.conclude("Its platform knows it, and none of it is ready. Its agent's check fails too.")
			d.dont("Don't destroy it while its files may be needed.")
			d.do("Probe it once more: sandglass probe %s. If it answers, it woke slowly.", name)
			d.do("If not, ask the vendor, with its name and the time. The code is WORKLOAD_UNAVAILABLE.")
			d.do("Stop the agent's run until it answers. Each call into it fails, and a read says not found.")
		case strings.Contains(c.Fact.String(), unanswered):
			d.conclude("It is reported to run, and nothing in it answers. Its agent's check fails too, or waits.")
			d.dont("Don't destroy it while its files may be needed.")
			d.do("Probe it once more: sandglass probe %s. Another answer shows that it was slow, or our way to it.", name)
			d.do("Probe another sandbox of its region. If that answers, this one hangs: ask the vendor, with its name and the time.")
		default:
			d.conclude("Its platform took it out of use under a running session. Its files are kept.")
			d.dont("Don't destroy it: its files are in it.")
			d.do("Stop the agent's run until it is back. Each call into it fails or waits.")
			d.do("Bring it back with the vendor's console. Sandglass has no action for that.")
			d.do("See when it is back: sandglass why %s", name)
		}
	}
}

// looked reports whether a probe looked into the sandbox of a page in its present life.
func (s *subjectView) looked(d *Diagnosis) bool {
	b := s.observedOne(d)
	if b == nil {
		return false
	}
	_, read := b.Inside()
	return read
}

// endBelief ends the page about a sandbox that its agent takes for something else than it is.
func (s *subjectView) endBelief(d *Diagnosis, name backend.Safe) {
	for _, c := range d.Checks {
		if c.Name != "believed" {
			continue
		}
		if strings.HasPrefix(c.Fact.String(), takesForDown) {
			d.conclude("Its agent gave it up, and it is there.")
			d.dont("Don't destroy it: its files are in it.")
			if !s.looked(d) {
				d.do("Probe it: sandglass probe %s. That wakes it and is billed. A sandbox that only woke too slowly answers then.", name)
			}
			d.do("Let the agent resume its session. It checks the sandbox again.")
			return
		}
		d.conclude("It is gone, and its agent does not know.")
		if _, list, only := strings.Cut(c.Fact.String(), notListed); only { // of one list no more is known
			d.conclude("It is not listed by %s, and its agent does not know.", backend.Clean(list, 200))
		}
		d.dont("Don't let the agent go on. Each command fails, and a resume makes an empty sandbox of the same name.")
		d.do("Stop the agent's run where it was started.")
		d.do("Look for what is left: sandglass why %s. It names snapshots and the saved state.", name)
	}
}

// endAgentCloud begins the end of the page about a sandbox in which commands or files fail, on a platform without a hub.
func (s *subjectView) endAgentCloud(d *Diagnosis, name backend.Safe) {
	if d.is("missing") {
		d.conclude("Its working directory is missing. No command of its agent begins there.")
		d.dont("Don't make it by hand: it would be empty.")
		if s.probedInside() == nil {
			d.do("See what removed it: sandglass probe %s. It lists the processes.", name)
		} else {
			d.do("See what removed it: sandglass why %s. It has the processes that the probe read. Its agent's log may tell too.", name)
		}
		d.do("Let the agent resume its session. It makes the directory, and restores a snapshot where there is one.")
		return
	}
	if s.gatewayDenies() {
		d.conclude("Its record is there, and it is gone.")
		d.dont("Don't trust its record: nothing answers for it.")
		d.do("Ask the vendor, with its name and the time.")
		d.do("Look for what is left: sandglass why %s. It names snapshots and the saved state.", name)
		return
	}
	if v := s.ownFault(); v != nil {
		d.conclude("Its own server answers, and fails: %s.", v.Said())
		d.dont("Don't destroy it while its files may be needed.")
		d.do("Probe once more: sandglass probe %s. An error of its disk may pass.", name)
		d.do("Ask the vendor, with its name and the time.")
		return
	}
	d.conclude("Work does not begin in it.")
	if s.timedOut() {
		d.dont("Don't repeat a command that timed out: it may still run.")
	} else {
		d.dont("Don't destroy it while its files may be needed.")
	}
	switch x := s.probedInside(); {
	case x == nil || !x.Read(backend.PartProcesses):
		d.do("Read what runs in it: sandglass probe %s. That wakes it and is billed.", name)
	case len(x.Processes) > 0:
		d.do("Read what runs in it: sandglass why %s", name)
	case alerts.NamesIn(d.fact("commands").String())&alerts.NamesSpace != 0:
		d.do("Let its agent remove files that are not needed. The probe saw no process that could fill its disk.")
	default:
		d.do("The probe saw no process in it. Let its agent try again, and look at the answer of the next command.")
	}
}

// probedInside is what the newest probe read in the one sandbox; nil: none did.
func (s *subjectView) probedInside() *backend.Inside {
	if len(s.sandboxes) != 1 {
		return nil
	}
	x, read := s.sandboxes[0].Inside()
	if !read {
		return nil
	}
	return x
}

// timedOut reports whether a command was seen to time out.
func (s *subjectView) timedOut() bool {
	return slices.ContainsFunc(s.sandboxes, func(b *backend.Sandbox) bool {
		o, _ := b.Proved()
		return slices.ContainsFunc(o.Failed(), func(v backend.Verdict) bool {
			return v.Kind == backend.FailExecTimeout || v.Kind == backend.FailExecStuckQueued
		})
	})
}

// ownPage takes commands away that print the page which one reads.
func (s *subjectView) ownPage(d *Diagnosis) {
	if s.alert != nil || s.Subject.Kind != backend.KindSandbox || len(s.sandboxes) != 1 {
		return
	}
	own := ": sandglass why " + called(s.sandboxes[0]).String()
	d.Do = slices.Clone(d.Do)
	for i, x := range d.Do {
		if before, after, found := strings.Cut(x.String(), own); found && (after == "" || after[0] == '.') && !strings.HasSuffix(before, "again") {
			d.Do[i] = backend.Clean(before+", on this page"+after, backend.MaxTextRunes)
		}
	}
}

// gatewayDenies reports whether the gateway before a sandbox said that there is none.
func (s *subjectView) gatewayDenies() bool {
	return len(s.sandboxes) == 1 && slices.ContainsFunc(s.sandboxes, func(b *backend.Sandbox) bool {
		o, _ := b.Proved()
		return slices.ContainsFunc(o.Failed(), func(v backend.Verdict) bool { return v.Kind == backend.FailGone })
	})
}
