package runbook

import (
	"slices"
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
)

// rulesOfPlatform are the rules about one fact of a cloud platform.
var rulesOfPlatform = []string{"no-checkpoint", "wake-failed", "stuck-in-transit", "reaped-soon", "sandbox-expiring", "public-preview", "preview-token-expiring", "preview-failed", "snapshot-interrupted", "runaway-process", "package-missing", "pty-pressure", "pty-failed"}

// ofPlatform reports whether the page is about sandboxes of a cloud platform, or sessions of its hub.
func (s *subjectView) ofPlatform() bool {
	for _, a := range s.led {
		if slices.Contains(rulesOfPlatform, a.Rule) || saysBelief(a) {
			return true
		}
	}
	return len(s.sandboxes) > 0 && !slices.ContainsFunc(s.sandboxes, func(b *backend.Sandbox) bool { return b.Region.IsEmpty() })
}

// diagnosePlatform answers the page about sandboxes of a cloud platform: nobody can look at their host.
func diagnosePlatform(s *subjectView) Diagnosis {
	first := append([]Check{s.manyAtOnce(), s.lostCheckpoint()}, s.lostMountOf()...)
	d := Diagnosis{Checks: s.startFrom(s.fresh(s.fullDisk(append(first, []Check{
		s.ofAll((*subjectView).missingFiles), s.ofAll((*subjectView).commandsRun), s.ofAll((*subjectView).otherPlanes), s.ofAll((*subjectView).recordedJobs), s.wake(), s.unfinished(), s.transit(), s.reaped(), s.expiring(), s.open(), s.token(), s.preview(), s.answersStill(), s.believed(), s.unusable(), s.interrupted(), s.ofAll((*subjectView).runaway), s.terminals(), s.terminalFails(), s.packageMissing(), s.sessionNeedsIt(),
	}...))))}
	s.endPlatform(&d)
	return d
}

// ofRegion is the alert about a whole region that the page is about, or that its subject is one of; nil: there is none. What it
// concludes holds for each of its sandboxes.
func (s *subjectView) ofRegion() *alerts.Alert {
	region := func(a *alerts.Alert) bool {
		return a.Rule == "contradiction" && a.State == alerts.StateFiring && a.SubjectCount > 1 && strings.HasPrefix(a.Cause.String(), "region ")
	}
	if s.alert != nil && region(s.alert) {
		return s.alert
	}
	for _, a := range s.led {
		if region(a) {
			return a
		}
	}
	return nil
}

// byRule asks what an alert of one rule says.
func (s *subjectView) byRule(q question, rule string) Check {
	for _, a := range s.led {
		if a.Rule == rule && !s.decides(a) {
			return q.unsure("its alert is pending: %s", a.Cause)
		}
		if a.Rule == rule {
			return q.yes(origin{a.Source, a.Confirmed}, "%s", a.Cause)
		}
	}
	return q.unsure("no alert tells it")
}

func (s *subjectView) lostCheckpoint() Check {
	q := question{"no-checkpoint", "Does it lack a checkpoint to resume from?", "the platform's answer to a resume"}
	for _, b := range s.sandboxes {
		o, _ := b.Observed.Get()
		for _, v := range o.Failed() {
			if v.Kind == backend.FailNoCheckpoint && b.Class == backend.SandboxAsleep {
				return s.agedHit(q, b, q.yes(origin{b.Key.Source, v.At}, "%s: %s", b.Name, said(&v)))
			}
		}
	}
	if a := s.ledBy("no-checkpoint"); a == nil && slices.ContainsFunc(s.led, func(a *alerts.Alert) bool { return a.Rule == "no-checkpoint" && a.State == alerts.StatePending }) {
		return q.unsure("a resume of it was refused, which may pass")
	}
	return s.byRule(q, "no-checkpoint")
}

// lostMountOf asks for the mount where somebody can look at it: nobody can on a platform of agents.
func (s *subjectView) lostMountOf() []Check {
	if s.platform() == agentCloud {
		return nil
	}
	return []Check{s.ofAll((*subjectView).lostMount)}
}

func (s *subjectView) lostFiles() Check {
	return s.ofKind(question{"missing", "Did most of its files go while it slept?", "a list of its directory before and after"}, backend.FailFilesystemMissing)
}

// missingFiles asks for the files of a session: where no hub lists them before and after, for their directory.
func (s *subjectView) missingFiles() Check {
	if s.platform() == agentCloud {
		return s.missingDir()
	}
	return s.lostFiles()
}

// recordedJobs asks whether a job runs only in the platform's record, which proves nothing.
func (s *subjectView) recordedJobs() Check {
	q := question{"jobs", "Does a job run only in the platform's record?", "a driver that leads the session, or the job's output"}
	for _, b := range s.sandboxes {
		o, _ := b.Proved()
		driver, _ := o.Of(backend.PlaneDriver)
		list, _ := o.Of(backend.PlaneList)
		for j := range s.State.Jobs.Of(backend.KindJob, b.Key.Source, b.Key.ID) {
			from := s.from(&j.Meta)
			switch {
			case j.Class != backend.WorkRunning:
			case driver.Outcome == backend.OutcomeFailed && j.Driver:
				return q.yes(from, "job %s is reported running, but no driver leads its session", j.Key.ID.Safe())
			case list.Outcome == backend.OutcomeFailed:
				return q.yes(from, "job %s is reported running, but %s", j.Key.ID.Safe(), list.Said())
			case driver.Outcome == backend.OutcomeOK && j.Driver:
				return q.no(from, "job %s is reported running, and a driver leads its session", j.Key.ID.Safe())
			default:
				return q.unsure("job %s is reported running: the record alone proves nothing", j.Key.ID.Safe())
			}
		}
	}
	return q.unsure("no job of it is reported running")
}

func (s *subjectView) wake() Check {
	return s.byRule(question{"wake", "Did a wake of its session fail?", "the hub's session and its participants"}, "wake-failed")
}

// manyWakes reports whether the page is that of failed wakes of several sessions: what is observed in the sandbox of one tells
// nothing of the others.
func (s *subjectView) manyWakes() bool {
	return s.alert != nil && s.alert.Rule == "wake-failed" && s.alert.SubjectCount > 1
}

// unfinished asks what is missing among the facts of an alert.
func (s *subjectView) unfinished() Check {
	q := question{"resume", "Is its newest resume unfinished?", "a job or an event after the resume"}
	for _, a := range s.led {
		for i := range a.Evidence {
			e := &a.Evidence[i]
			if text, is := strings.CutPrefix(e.Text.String(), "missing: "); is {
				return q.yes(origin{e.Source, e.At}, "%s", text)
			}
		}
	}
	return q.unsure("nothing tells it")
}

func (s *subjectView) transit() Check {
	return s.byRule(question{"transit", "Is it stuck while it is created or stopped?", "its status"}, "stuck-in-transit")
}

func (s *subjectView) reaped() Check {
	return s.byRule(question{"reaped", "Does its platform remove it soon?", "its paused timeout"}, "reaped-soon")
}

func (s *subjectView) expiring() Check {
	return s.byRule(question{"expiring", "Does its platform remove it under a running session?", "its time to live"}, "sandbox-expiring")
}

// endsBy reports whether what soon removes sandboxes under running sessions is a limit that its alert tells with these words.
func (s *subjectView) endsBy(limit string) bool {
	a := s.ledBy("sandbox-expiring")
	return a != nil && !slices.ContainsFunc(a.Subjects, func(x alerts.Subject) bool {
		on := len(s.sandboxes) != 1 || x.Key == s.sandboxes[0].Key // an alert may be about others too
		return on && !strings.Contains(x.Detail.String(), limit)
	})
}

func (s *subjectView) open() Check {
	return s.byRule(question{"open", "Is an address of it open to the internet?", "its previews"}, "public-preview")
}

func (s *subjectView) token() Check {
	return s.byRule(question{"token", "Does a token of its private addresses end or lack?", "the tokens of its previews"}, "preview-token-expiring")
}

func (s *subjectView) preview() Check {
	return s.byRule(question{"preview", "Could an address of a port not be made?", "the agent's log"}, "preview-failed")
}

func (s *subjectView) interrupted() Check {
	return s.byRule(question{"interrupted", "Was a save or restore of its files cut off, or is a drive missing?", "its /tmp and its mounts"}, "snapshot-interrupted")
}

// listedSince are words of the cause of a sandbox that answers although it is reported to have ended.
const listedSince = "of it was listed since"

func (s *subjectView) answersStill() Check {
	q := question{"answers", "Does it answer although it is reported to be gone or going?", "its own answer, and its status after it"}
	for _, a := range s.led {
		if a.Rule == "contradiction" && strings.Contains(a.Cause.String(), listedSince) {
			return q.yes(origin{a.Source, a.Confirmed}, "%s", a.Cause)
		}
	}
	return q.unsure("no alert tells it")
}

func (s *subjectView) terminals() Check {
	return s.byRule(question{"terminals", "Has its agent nearly as many terminals open as the SDK keeps?", "the agent's log"}, "pty-pressure")
}

func (s *subjectView) terminalFails() Check {
	return s.byRule(question{"terminal-fails", "Do terminals of its agent fail?", "the agent's log"}, "pty-failed")
}

func (s *subjectView) packageMissing() Check {
	return s.byRule(question{"package", "Does its agent lack a package for its sandboxes?", "the agent's log"}, "package-missing")
}

// driverAlone reports whether the sandbox that the page is about fails on no plane but that of its driver.
func (s *subjectView) driverAlone(d *Diagnosis) bool {
	b := s.observedOne(d)
	if b == nil {
		return false
	}
	o, _ := b.Proved()
	failed := o.Failed()
	return len(failed) > 0 && !slices.ContainsFunc(failed, func(v backend.Verdict) bool { return v.Plane != backend.PlaneDriver })
}

// endPlatform concludes, and names the remedies: those that change least first. None in place is known for a mount or a
// checkpoint that is gone.
func (s *subjectView) endPlatform(d *Diagnosis) {
	name, session := backend.Text("NAME"), backend.Text("SESSION")
	prove := func() {}
	if b := s.observedOne(d); b != nil {
		prove = func() {
			d.do("Test the platform: sandglass prove %s --beside %s. It makes a sandbox of the same organisation and runtime, and destroys it.", backend.Clean(b.Key.Source, 80), name)
		}
		name = b.Key.Safe()
		if !b.Name.IsEmpty() {
			name = b.Name
		}
		if on := s.State.SessionOn(b); !on.IsZero() {
			session = on.Safe()
		}
	}
	for _, a := range s.led {
		if a.Rule == "wake-failed" && len(a.Subjects) > 0 && (a == s.alert || !s.manyWakes()) {
			session = a.Subjects[0].Key.Safe()
		}
	}
	if b := s.observedOne(d); b == nil && session.String() != "SESSION" {
		name = session
	}
	d.NoReset = backend.Text("a reset opens the same broken sandbox again")
	save := func() {
		d.saves = len(d.Do) == 0
		d.do("Save the evidence: sandglass bundle %s. The vendor's support needs its trace ids.", name)
	}
	rescue := func() {
		d.do("Rescue what can be read: sandglass rescue %s. It fails while the mount is gone.", name)
	}
	pause := func() {
		d.do("Last try: sandglass pause %s, then resume. It may overwrite the last good checkpoint or end the sandbox.", name)
	}
	replace := func() {
		d.do("Replace it: sandglass replace %s. New id; memory, env values and unsaved files are lost. Keep the old one for support.", name)
	}
	destroy := func() { d.do("Destroy it last: sandglass destroy %s (cannot be undone)", name) }
	wake := func() {
		d.do("Wake it when its files can be listed: sandglass wake %s. The hub waits 120 s for the driver.", session)
	}
	driver := func() {
		rescue()
		wake()
		d.do("Or restart its driver job by hand, if commands run. The vendor's command line stops the job and creates it again. Sandglass does not: the agent's work ends, and a recorded command runs again.")
		replace()
	}
	if s.platform() == agentCloud { // it has no such verbs
		prove, pause, replace, wake, driver = func() {}, func() {}, func() {}, func() {}, func() {}
		save = func() {
			d.saves = len(d.Do) == 0
			d.do("Save the evidence: sandglass bundle %s", name)
		}
		rescue = func() { d.do("Rescue what can be read: sandglass rescue %s. It wakes the sandbox.", name) }
	}
	region := s.ofRegion()
	switch {
	case region != nil:
		d.conclude("Many sandboxes of one region fail alike. One cause outside them is likely. No remedy in one of them repairs that.")
		d.dont("Don't act on them in bulk: bulk actions are off.")
		d.NoBulk = backend.Text("many sandboxes of its region fail alike: act on one at a time, or wait until the incident is over")
		d.saves = true
		d.do("Save the evidence: sandglass bundle %s. The vendor's support needs its trace ids.", backend.Clean(region.ID, 40))
		d.do("Ask the vendor: status page and support.")
		d.do("Wait, and read again. Queued work may begin when the region works.")
	case d.is("disk"):
		s.endAgentDisk(d, name)
		save()
	case s.manyWakes():
		d.conclude("Their wakes failed: no driver leads the sessions. Their sandboxes may have different causes.")
		d.dont("Don't nudge them, and don't replace one for what another shows.")
		d.saves = true
		d.do("Save the evidence: sandglass bundle %s. The vendor's support needs its trace ids.", backend.Clean(s.alert.ID, 40))
		d.do("Look at each of the %d, such as the first: sandglass why %s", s.alert.SubjectCount, session)
		d.do("Wake it when its files can be listed: sandglass wake %s. The hub waits 120 s for the driver.", session)
	case d.is("no-checkpoint"):
		d.conclude("It has no checkpoint: a resume cannot succeed. No remedy brings it back: replace it.")
		d.dont("Don't resume it again: the answer stays the same.")
		d.NoResume = backend.Text("it has no checkpoint: the answer stays the same")
		save()
		replace()
		destroy()
	case d.is("answers"):
		if slices.ContainsFunc(s.sandboxes, func(b *backend.Sandbox) bool { return b.Class == backend.SandboxRemoving }) {
			d.conclude("It answers still: %s. It is being removed.", d.fact("answers"))
		} else {
			d.conclude("It answers, although it is reported to have ended.")
		}
		d.dont("Don't count it as gone: it may be billed.")
		if s.platform() == agentCloud {
			d.do("Save its files now: sandglass rescue %s. Nothing says for how long it answers.", name)
		} else {
			d.do("Copy what matters with the vendor's command line.")
		}
		save()
		d.do("Ask the vendor, with its name and the two times.")
	case d.is("believed"):
		s.endBelief(d, name)
		save()
	case d.is("unusable"):
		endUnusable(d, name)
		save()
	case d.is("unmounted"):
		d.conclude("Its mount is gone: nothing in it can be used. No known remedy repairs it in place: replace it.")
		d.dont("Don't nudge it or run commands in it. Each try leaves a queued record.")
		save()
		prove()
		rescue()
		pause()
		replace()
		destroy()
	case s.platform() == agentCloud && (d.is("missing") || d.is("commands") || d.is("planes")):
		s.endAgentCloud(d, name)
		if save(); !s.gatewayDenies() {
			rescue()
			destroy()
		}
	case d.is("missing"):
		d.conclude("Most of its files are gone. %s.", d.fact("missing"))
		d.dont("Don't pause it: that overwrites the last good checkpoint.")
		save()
		d.do("Restore a named checkpoint by hand, if there is one. The vendor's command line does it. Sandglass does not: it overwrites what is left, and it is not proved that it cures.")
		rescue()
		replace()
	case d.is("planes") && !d.is("commands") && !d.is("wake") && s.driverAlone(d):
		d.conclude("No driver leads its session. On no other plane is it seen to fail.")
		d.dont("Don't nudge it: a nudge is a command in the sandbox.")
		save()
		driver()
	case d.is("commands"), d.is("planes") && !d.is("wake"):
		d.conclude("Work does not begin in it.")
		d.dont("Don't send more commands or nudges. Each may leave a queued record.")
		save()
		prove()
		d.do("Wait, and read again: sandglass why %s", name)
		rescue()
		wake()
		pause()
		replace()
		destroy()
	case d.is("wake"):
		d.conclude("Its wake failed: no driver leads the session. Its files may still be there.")
		d.dont("Don't nudge it: a nudge is a command in the sandbox.")
		save()
		driver()
	case d.is("transit"):
		d.conclude("Its status does not go on: %s.", d.fact("transit"))
		d.dont("Don't run commands in it.")
		save()
		replace()
	case d.is("expiring"):
		d.NoReset = backend.Safe{}
		runs := backend.Text("runs")
		if strings.HasPrefix(d.fact("expiring").String(), "a session may run on it") {
			runs = backend.Text("may run")
		}
		d.conclude("Its platform removes it soon%s. A session %s on it, and its files go with it.", s.endsFirst(), runs)
		if s.endsBy("paused timeout") {
			d.dont("Don't let it sleep on if its files are needed.")
			d.do("Resume it: sandglass resume %s (bills it from then on)", name)
			d.do("Rescue its files then: sandglass rescue %s", name)
			break
		}
		if s.endsBy("without use") {
			d.dont("Don't count on the next use of it: nothing says when that is.")
			d.do("Save its files: sandglass rescue %s. That is a use of it too, and is billed.", name)
			break
		}
		d.dont("Don't count on use to keep it: most limits count from creation.")
		if fails := s.saveFails(); !fails.IsEmpty() {
			d.do("Save its files: sandglass rescue %s. %s", name, fails)
		} else {
			d.do("Save its files: sandglass rescue %s. Or let the agent save its workspace.", name)
		}
		d.do("Or make its life longer by hand. The vendor's command line can, where the platform allows it.")
	case d.is("reaped") && s.platform() == agentCloud:
		d.NoReset = backend.Safe{}
		s.concludeReaped(d)
		d.dont("Don't let it sleep on if its files are needed.")
		d.do("Save its files: sandglass rescue %s. That wakes it and is billed; its limit counts from then.", name)
	case d.is("reaped"):
		d.NoReset = backend.Safe{}
		s.concludeReaped(d)
		d.dont("Don't let it sleep on if its files are needed.")
		d.do("Resume it: sandglass resume %s (bills it from then on)", name)
		d.do("Rescue its files then: sandglass rescue %s", name)
	case d.is("interrupted"):
		s.endInterrupted(d, name)
	case d.is("package"):
		d.NoReset = backend.Safe{}
		d.conclude("Its agent lacks a package for its sandboxes: %s.", d.fact("package"))
		d.dont("Don't install it in the sandbox: the agent's own Python needs it.")
		d.do("Install it where the agent runs. The command is above: use the agent's own Python.")
		d.do("Start the agent again.")
	case d.is("runaway"):
		s.endRunaway(d, name)
	case d.is("terminal-fails"):
		d.NoReset = backend.Safe{}
		d.conclude("Terminals of its agent fail. Plain commands may work.")
		d.dont("Don't open a terminal in it: that starts a shell.")
		d.do("Read what a terminal needs: sandglass why %s", name)
		d.do("Install a missing library where the agent runs. It is not needed in the sandbox.")
		d.do("Test plain commands: sandglass probe %s. It wakes the sandbox.", name)
	case d.is("terminals"):
		d.NoReset = backend.Safe{}
		d.conclude("Its agent keeps too many terminals open.")
		d.dont("Don't take silence for the end: no line is written.")
		d.do("Let the agent end what it does not need. The SDK closes the one that was least used, and an error about an unknown session follows.")
		d.do("The end of the session closes all of them.")
	case d.is("token"):
		d.NoReset = backend.Safe{}
		d.conclude("A private address of it cannot be opened soon, or now.")
		d.dont("Don't make the address public to cure it.")
		d.do("Let the agent ask for the address again. It makes a new token.")
		d.do("Read which address it is: sandglass why %s", name)
	case d.is("preview"):
		d.NoReset = backend.Safe{}
		d.conclude("Its agent could not get the address of a port. %s.", d.fact("preview"))
		d.dont("Don't make a preview by hand: the agent finds its own by name.")
		s.doPreview(d)
	case d.is("open"):
		d.NoReset = backend.Safe{}
		d.dont("Don't send the address on: it is the only secret.")
		s.doOpen(d, name)
	case s.diskSaid():
		s.endDiskSaid(d, name)
	case s.saysFails() != nil:
		s.endFailsSaid(d, name)
	case d.is("resume"):
		d.conclude("Its newest resume may be unfinished. %s.", d.fact("resume"))
		d.dont("Don't take its status for health.")
		d.do("Wait, and read again: sandglass why %s", name)
		save()
		rescue()
		pause()
		replace()
	default:
		d.NoReset = backend.Safe{}
		d.deny("Nothing observed contradicts what is reported.")
		d.dont("Don't take that for health: see what was not tried.")
		d.do("Read what is known: sandglass why %s", name)
	}
}

// ruleOfPlatform are the checks that the alerts of a platform's own rules answer with yes.
func ruleOfPlatform(a *alerts.Alert) []string {
	switch a.Rule {
	case "no-checkpoint":
		return []string{"no-checkpoint"}
	case "wake-failed":
		return []string{"wake"}
	case "stuck-in-transit":
		return []string{"transit"}
	case "reaped-soon":
		return []string{"reaped"}
	case "sandbox-expiring":
		return []string{"expiring"}
	case "public-preview":
		return []string{"open"}
	case "preview-failed":
		return []string{"preview"}
	case "snapshot-interrupted":
		return []string{"interrupted"}
	case "package-missing":
		return []string{"package"}
	case "runaway-process":
		return []string{"runaway"}
	case "pty-pressure":
		return []string{"terminals"}
	case "pty-failed":
		return []string{"terminal-fails"}
	case "preview-token-expiring":
		return []string{"token"}
	}
	return nil
}
