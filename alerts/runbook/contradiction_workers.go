package runbook

import (
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// ofWorkers reports whether the page is about containers behind a Cloudflare Worker: no command of a container engine reaches them.
func (s *subjectView) ofWorkers() bool {
	return len(s.sandboxes) > 0 && !slices.ContainsFunc(s.sandboxes, func(b *backend.Sandbox) bool { return b.Provider.String() != "cloudflare" })
}

// diagnoseWorkers answers the page about them. The faults of a working directory are those of cloudflare/sandbox-sdk#288.
func diagnoseWorkers(s *subjectView) Diagnosis {
	told := []Check{
		s.ofAll(func(s *subjectView) Check {
			return s.ofKind(question{"server-dir", "Is the directory of its control server gone?", "a probe"}, backend.FailServerDir)
		}),
		s.ofAll((*subjectView).danglingLink), s.ofAll((*subjectView).missingDir), s.ofAll((*subjectView).occupied),
		s.ofAll((*subjectView).serverFrozen),
		s.ofAll((*subjectView).commandsRun), s.ofAll((*subjectView).otherPlanes),
	}
	s.exclude(told)
	s.ofFormerLife(told)
	if c, is := s.changedByAgent(); is {
		told = append(told, c)
	}
	probe := backend.Text("a probe: sandglass probe NAME")
	if len(s.sandboxes) == 1 {
		probe = backend.Textf("a probe: sandglass probe %s", called(s.sandboxes[0]))
	}
	for i := range told {
		if !told[i].WouldTell.IsEmpty() && !slices.Contains([]string{string(applicationTells), string(commandsTell), string(imageTells), string(runsTells), string(backend.EmptyReadNext)}, told[i].WouldTell.String()) { // nothing else looks into them
			told[i].WouldTell = probe
		}
	}
	told = s.versionsFit(s.fullDisk(told))
	if s.allOver() {
		told = append([]Check{s.workersDown()}, told...)
	}
	checks := append([]Check{s.manyAtOnce()}, told...)
	if !s.sessionID.IsZero() { // no label joins one to a session
		checks = append(checks, s.sessionNeedsIt())
	}
	d := Diagnosis{Checks: s.startFrom(s.fresh(checks))}
	s.endWorkers(&d)
	if slices.ContainsFunc(s.sandboxes, func(b *backend.Sandbox) bool { return s.State.NoRoom(b, s.now) }) {
		d.makeRoom()
	}
	return d
}

// makeRoom puts before a probe what one needs that was refused for want of an instance.
func (d *Diagnosis) makeRoom() {
	i := slices.IndexFunc(d.Do, func(step backend.Safe) bool { return strings.Contains(step.String(), "sandglass probe ") })
	if i >= 0 {
		d.Do = slices.Insert(d.Do, i, backend.Text("Make room first: the newest command in it was refused, for no instance was free. The alert capacity says how."))
	}
}

// runsTells is what shows whether a sandbox behind a Worker runs, where nothing lists it.
const runsTells backend.Literal = "operator routes, which tell whether its container runs"

// serverFrozen asks about the control server. Where no command ended and nothing tells that a container runs, two causes fit.
func (s *subjectView) serverFrozen() Check {
	q := question{"frozen", "Does its control server answer nothing?", "a probe"}
	c := s.ofKind(q, backend.FailServerFrozen)
	if c.Mark != CannotTell {
		return c
	}
	hangs := s.ofKind(q, backend.FailExecTimeout, backend.FailServerFrozen)
	if hangs.Mark != Confirmed {
		return c
	}
	c = q.unsure("no command of a probe ended: that fits, and a container that does not start")
	c.WouldTell = backend.Text(runsTells)
	return c
}

// applicationTells is what shows that the directory of a control server is gone, where a probe does not.
const applicationTells backend.Literal = "errors of its application: " + backend.MarkNotStarted + " in file calls too"

// What tells what a probe that was made does not.
const (
	commandsTell backend.Literal = "a probe, once commands begin again"
	imageTells   backend.Literal = "the SDK that its image really has"
)

// exclude rules out what a probe excluded that found out what stands in the place of the working directory: a new session answered
// it. Commands of a new session begin also where the directory of the control server is gone and those of an agent do not.
func (s *subjectView) exclude(told []Check) {
	var found *Check
	for i := range told {
		if c := &told[i]; c.Mark == Confirmed && c.of != nil && slices.Contains([]string{"dangling", "missing", "occupied"}, c.Name) {
			if o, _ := c.of.Proved(); slices.ContainsFunc(o.Failed(), func(v backend.Verdict) bool { return v.Plane == backend.PlaneList && !v.Passive }) {
				found = c
			}
		}
	}
	changed, entered, file, from := s.changedAt(), s.entered(), s.saysFile(), s.faultFrom()
	gone := slices.ContainsFunc(told, func(c Check) bool { return c.Name == "server-dir" && c.Mark == Confirmed && c.of != nil })
	hangs := slices.ContainsFunc(told, func(c Check) bool { return c.Name == "frozen" && c.Mark == Confirmed && c.of != nil })
	neither := s.beganNeither()
	for i := range told {
		c := &told[i]
		switch {
		case neither && c.Mark == CannotTell && c.Fact.String() == nothingTells:
			c.Fact, c.WouldTell = backend.Text("no command that would look at it begins"), backend.Text(commandsTell)
		case hangs && c.Mark == CannotTell:
			c.Fact, c.WouldTell = backend.Text("no command that would look at it ends"), backend.Text(commandsTell)
		case c.Name == "server-dir" && file != nil && c.Mark != Confirmed:
			c.Fact, c.Source, c.At = backend.Clean(strings.TrimPrefix(file.Text.String(), "log: "), 400), file.Source, file.At
			if c.Mark, c.WouldTell = CannotTell, backend.Text("a probe"); slices.ContainsFunc(s.led, func(a *alerts.Alert) bool {
				return strings.Contains(a.Cause.String(), "directory of its control server is gone")
			}) {
				c.Mark, c.WouldTell = Confirmed, backend.Safe{}
			} else if s.plainRan() {
				c.WouldTell = backend.Text(imageTells)
			}
		case gone && c.Mark == CannotTell && c.Name == "frozen":
			c.Mark, c.Fact, c.WouldTell = RuledOut, backend.Text("it answered a probe, with errors"), backend.Safe{}
			c.Source, c.At = told[0].Source, told[0].At
		case gone && c.Mark == CannotTell:
			c.Fact, c.WouldTell = backend.Text("no command that would look at it begins"), backend.Text(commandsTell)
		case entered != nil && c.Mark == CannotTell && slices.Contains([]string{"dangling", "missing", "occupied", "frozen"}, c.Name):
			c.Mark, c.Fact, c.WouldTell = RuledOut, backend.Text("a new session of a probe began in /workspace"), backend.Safe{}
			c.Source, c.At = entered.Key.Source, execAt(entered)
		case entered != nil && c.Name == "server-dir" && c.Mark == CannotTell:
			c.Fact, c.WouldTell = backend.Text("a probe's commands begin also where it is gone"), backend.Text(applicationTells)
		case (entered != nil || found != nil) && c.Name == "planes" && c.Mark == CannotTell:
			c.Fact, c.WouldTell = backend.Text("the probe tried no other while commands do not begin"), backend.Text(commandsTell)
		case c.Mark == RuledOut && c.At.Before(changed):
			c.Mark, c.Fact, c.WouldTell = CannotTell, backend.Text("what was observed is older than the command that changed its working directory"), backend.Text("a probe")
		case c.Mark == RuledOut && c.At.Before(from):
			c.Mark, c.Fact, c.WouldTell = CannotTell, backend.Text("what was observed is older than the fault"), backend.Text("a probe")
			if gone || found != nil {
				c.Fact, c.WouldTell = backend.Text("no command that would look at it begins, and what was observed is older than the fault"), backend.Text(commandsTell)
			}
		case c.Name == "server-dir" && (c.Mark == RuledOut || c.Mark == CannotTell && found != nil):
			c.Mark, c.Fact, c.WouldTell = CannotTell, backend.Text("a probe's commands begin also where it is gone"), backend.Text(applicationTells)
		case found != nil && c.Mark == CannotTell && slices.Contains([]string{"dangling", "missing", "occupied", "frozen"}, c.Name):
			c.Mark, c.Fact, c.WouldTell = RuledOut, backend.Text("a probe found another fault, and a command of it ran"), backend.Safe{}
			c.Source, c.At = found.Source, found.At
		}
	}
}

// beganNeither reports whether the newest probe began a command neither without a session nor in a new one.
func (s *subjectView) beganNeither() bool {
	return slices.ContainsFunc(s.sandboxes, func(b *backend.Sandbox) bool {
		o, _ := b.Proved()
		v, _ := o.Of(backend.PlaneExec)
		return v.Outcome == backend.OutcomeFailed && strings.HasPrefix(v.What.String(), "commands begin neither")
	})
}

// entered is the sandbox in which the newest probe began a command in /workspace, by a new session, though none began without one; nil: none.
func (s *subjectView) entered() *backend.Sandbox {
	for _, b := range s.sandboxes {
		o, _ := b.Proved()
		if v, is := o.Of(backend.PlaneExec); is && strings.HasPrefix(v.What.String(), string(backend.RootEntered)) && !v.At.Before(s.changedAt()) {
			return b
		}
	}
	return nil
}

func execAt(b *backend.Sandbox) time.Time {
	o, _ := b.Proved()
	v, _ := o.Of(backend.PlaneExec)
	return v.At
}

// ledSays is the evidence of the page's alerts that has these words; nil: none has.
func (s *subjectView) ledSays(words string) *alerts.Evidence {
	for _, a := range s.led {
		if i := slices.IndexFunc(a.Evidence, func(e alerts.Evidence) bool { return strings.Contains(e.Text.String(), words) }); a.Rule == "contradiction" && i >= 0 {
			return &a.Evidence[i]
		}
	}
	return nil
}

// saysFile is what the log of an agent says of calls for files that failed as commands do; nil: nothing.
func (s *subjectView) saysFile() *alerts.Evidence {
	return s.ledSays("a file call failed with these words")
}

// ranThemselves is what the agents of most of many sandboxes ran that changed their working directories; empty: no log says so.
func (s *subjectView) ranThemselves() backend.Safe {
	if e := s.ledSays("its own agent ran what changed its working directory"); e != nil && !strings.Contains(e.Text.String(), ", not in most,") {
		return backend.Clean(strings.TrimPrefix(e.Text.String(), "log: "), 300)
	}
	return backend.Safe{}
}

// movedTo is where the agent moved the working directory, as its alert tells; empty: it does not.
func (s *subjectView) movedTo() backend.Safe {
	if x := s.rootChange(); x != nil {
		return backend.Clean(backend.RootMovedTo(x.command, backend.SandboxRoot), 160)
	}
	return backend.Safe{}
}

// called is what a person calls a sandbox.
func called(b *backend.Sandbox) backend.Safe {
	if b.Name.IsEmpty() {
		return b.Key.Safe()
	}
	return b.Name
}

// linkedRoot is where the working directory leads, where a probe found it to be a link to a directory.
func (s *subjectView) linkedRoot() string {
	for _, b := range s.sandboxes {
		if to := backend.LinkedRoot(b); to != "" {
			return to
		}
	}
	return ""
}

// saidFirst is when the first line was written by which its agent's log says that no command begins; zero: it does not say so.
func (s *subjectView) saidFirst() (at time.Time) {
	for _, a := range s.led {
		if a.Rule == "contradiction" && alerts.AgentSays(a.Cause.String()) && a.Bounds.Latest.After(at) {
			at = a.Bounds.Latest
		}
	}
	return at
}

// faultFrom is when the fault was there: since its agent's first line, or since the probe that found commands to fail. What worked
// before it tells nothing of now.
func (s *subjectView) faultFrom() time.Time {
	at := s.saidFirst()
	for _, b := range s.sandboxes {
		o, _ := b.Proved()
		if failed := o.CommandsFailed(); failed.After(at) {
			at = failed
		}
	}
	return at
}

// plainRan reports whether the newest probe ran a command since its agent's log says that none begins, and nothing changed the working
// directory since.
func (s *subjectView) plainRan() bool {
	changed := s.changedAt()
	if first := s.saidFirst(); first.After(changed) {
		changed = first
	}
	return slices.ContainsFunc(s.sandboxes, func(b *backend.Sandbox) bool {
		o, _ := b.Proved()
		v, is := o.Of(backend.PlaneExec)
		return is && v.Outcome == backend.OutcomeOK && !v.At.Before(changed)
	})
}

// pinned reports whether the image of each sandbox is one of a newer SDK, as its tag says.
func (s *subjectView) pinned() bool {
	return len(s.sandboxes) > 0 && !slices.ContainsFunc(s.sandboxes, func(b *backend.Sandbox) bool { return !backend.SDKPinned(b.Image.String()) })
}

// ranSinceRepair reports whether its agent's log shows a command that ran after the newest repair, and before none began.
func (s *subjectView) ranSinceRepair() bool {
	return slices.ContainsFunc(s.led, func(a *alerts.Alert) bool {
		return alerts.AgentSays(a.Cause.String()) && slices.ContainsFunc(s.sandboxes, func(b *backend.Sandbox) bool {
			o, _ := b.Proved()
			v, _ := o.Of(backend.PlaneExec)
			return a.Bounds.Earliest.After(v.Repaired)
		})
	})
}

// repaired reports whether a repair proved that commands run, and no action found otherwise since.
func (s *subjectView) repaired() bool {
	return slices.ContainsFunc(s.sandboxes, func(b *backend.Sandbox) bool {
		o, _ := b.Proved()
		v, _ := o.Of(backend.PlaneExec)
		return v.Repaired.After(v.LastFailed)
	})
}

// linked reports whether a link stands, or stood, in place of the working directory.
func (s *subjectView) linked(d *Diagnosis) bool {
	if d.is("dangling") {
		return true
	}
	if x := s.rootChange(); x != nil && strings.Contains(x.command, "ln -s") {
		return true
	}
	for _, a := range s.led {
		if slices.ContainsFunc(a.Evidence, func(e alerts.Evidence) bool { return strings.Contains(e.Text.String(), "is a link") }) {
			return true
		}
	}
	return false
}

// unanswered reports whether no command of a probe ended, of a sandbox that nothing showed to run.
func (s *subjectView) unanswered() bool {
	return slices.ContainsFunc(s.sandboxes, func(b *backend.Sandbox) bool {
		o, _ := b.Proved()
		v, _ := o.Of(backend.PlaneExec)
		return v.Outcome == backend.OutcomeFailed && v.Kind == backend.FailExecTimeout
	})
}

// refused reports whether the bridge refused each command of the newest probe, as an answer that no wait ends.
func (s *subjectView) refused() bool {
	return slices.ContainsFunc(s.sandboxes, func(b *backend.Sandbox) bool {
		o, _ := b.Proved()
		v, _ := o.Of(backend.PlaneExec)
		return v.Outcome == backend.OutcomeFailed && v.Kind == backend.FailControl5xx
	})
}

// InsteadOfLink is what to do where the working directory of a sandbox is a link to a mount, and what that costs.
const InsteadOfLink = backend.Literal("Instead of the link, copy from the mount at start. Costs: slower cold starts, manual sync, no transparent persistence.")

// endWorkers concludes, and names what cures that: only the directory of commands can be made again.
func (s *subjectView) endWorkers(d *Diagnosis) {
	name := backend.Text("NAME")
	if b := s.observedOne(d); b != nil {
		name = called(b)
	}
	d.NoReset = backend.Text("a reset opens the same broken sandbox again")
	destroy := func() {
		d.do("Destroy it: sandglass destroy %s. Its next use starts a fresh one, without its files.", name)
	}
	link := func() {
		if s.linked(d) {
			d.do(InsteadOfLink)
		}
	}
	begins := backend.Text("no command begins in it")
	if e := s.saysAgent(); e != nil && strings.Contains(e.Text.String(), "file call") && !strings.Contains(e.Text.String(), "command") {
		begins = backend.Text("no file call begins in it")
	}
	moved := s.movedTo()
	switch {
	case d.is("many") && (s.alert != nil && s.alert.SubjectCount > 1 || s.partOfMany()) && !s.ranThemselves().IsEmpty():
		d.conclude("Many sandboxes fail alike, by what their agents ran. Log: %s.", s.ranThemselves())
		d.dont("Don't take a rollout for the cause. See first why agents run that.")
		d.do("Find what makes the agents run it. See their instructions, tools and image.")
		d.do("Probe each, to see what is there now: sandglass probe %s", name)
		link()
	case d.is("many") && (s.alert != nil && s.alert.SubjectCount > 1 || s.partOfMany()):
		d.conclude("Many sandboxes fail alike: one cause outside is likely. %s.", d.fact("many"))
		d.dont("Don't repair them one by one before the cause is found.")
		d.do("Look at the last rollout: sandglass get events. Look at the image and the agent's last change too.")
		link()
	case s.allOver():
		s.endOver(d)
	case s.formerOnly(d):
		s.endFormer(d, name)
	case d.is("versions"), s.mismatched():
		s.endMisfit(d, name)
	case d.is("server-dir"):
		d.conclude("The directory of its control server is gone. A repair does not help.")
		d.dont("Don't repair it: making /workspace again changes nothing.")
		d.do("Copy out what is needed. Streamed commands of your application may still run.")
		destroy()
		if s.pinned() {
			d.do("Correct the image: set its WORKDIR elsewhere.")
		} else {
			d.do("Correct the image. Set its WORKDIR elsewhere, or base it on SDK 0.9.0 or newer.")
		}
		s.again(d)
		link()
	case d.is("disk"):
		s.endFullDisk(d, name)
		destroy()
	case !s.notRepaired().IsZero() && (d.is("dangling") || d.is("missing")):
		s.endNotRepaired(d, name)
		destroy()
	case d.is("dangling"):
		d.conclude("Its working directory is a link to nothing. %s.", d.fact("dangling"))
		d.dont("Don't destroy it: that loses its other files.")
		d.do("Remove the link: sandglass repair %s. It makes the directory, empty.", name)
		s.again(d)
		link()
	case d.is("occupied"):
		d.conclude("Something else is where its working directory should be. %s.", d.fact("occupied"))
		d.dont("Don't repair it: a repair removes nothing but a link to nothing.")
		d.do("Look into it in a new session. Move aside what is there, then make /workspace again.")
		s.again(d)
	case d.is("missing"):
		d.conclude("Its working directory is missing. %s.", d.fact("missing"))
		d.dont("Don't destroy it: that loses its other files.")
		if moved.IsEmpty() {
			d.do("Make it again, empty: sandglass repair %s. What was in it is gone.", name)
		} else {
			d.do("Its agent moved it: its files may be in %s. Move them back, in a new session of your application: mv %s /workspace", moved, moved)
			d.do("Not there? Make it again, empty: sandglass repair %s", name)
		}
		d.do("Open new sessions. Old ones stay in the removed directory until they change to /workspace.")
		s.again(d)
		link()
	case d.is("frozen"):
		d.conclude("Its control server answers nothing. %s.", d.fact("frozen"))
		d.dont("Don't send more commands: they wait for ever.")
		destroy()
	case d.is("commands") && s.saysAgent() != nil && s.linkedRoot() != "" && !s.pinned():
		d.conclude("Its working directory is a link, to %s. No command of its agent begins there, which is so where the SDK of its image is old. What its image has is not known.", backend.Clean(s.linkedRoot(), 200))
		d.dont("Don't repair it: the link leads somewhere.")
		d.do("See which SDK its image has. Give it a newer one if it is old. Or replace the link by a directory.")
		link()
	case d.is("commands") && s.saysAgent() != nil && s.plainRan() && s.repaired() && !s.ranSinceRepair():
		d.conclude("Plain commands run in it since its repair. Those of its agent do not begin all the same: the missing directory was not all that is wrong.")
		d.dont("Don't repair it again: that changes nothing.")
		d.do("Copy out what is needed. Streamed commands of your application may still run.")
		destroy()
		if !s.pinned() {
			d.do("Correct the image. Set its WORKDIR elsewhere, or base it on SDK 0.9.0 or newer.")
		}
	case d.is("commands") && s.saysAgent() != nil && s.plainRan():
		d.conclude("Its agent's log says that %s. A probe's command ran all the same: the line does not tell why.", begins)
		d.dont("Don't take the probe for health: its commands are streamed.")
		if s.saysFile() == nil {
			d.do("Read the errors of the application: " + backend.MarkNotStarted + " in file calls too means that the directory of its control server is gone.")
		} else {
			d.do("See what its image really runs. File calls fail so where the directory of its control server is gone, which an image with its tag should outlive.")
		}
		d.do("Destroy it only then: sandglass destroy %s. Its next use starts a fresh one, without its files.", name)
	case d.is("commands") && s.saysAgent() != nil && s.ledSays("names a directory that is missing") != nil:
		d.conclude("Its agent's log names its directory as missing. What is there now only a probe tells.")
		d.dont("Don't destroy it before a probe: a repair may be enough.")
		d.do("Find out which case it is: sandglass probe %s", name)
		s.again(d)
		link()
	case d.is("commands") && s.saysAgent() != nil && !s.changedAt().IsZero():
		d.conclude("Its agent's log names what changed its working directory. What is there now only a probe tells.")
		d.dont("Don't destroy it before a probe: a repair may be enough.")
		d.do("Find out which case it is: sandglass probe %s", name)
		s.again(d)
		link()
	case d.is("commands") && s.saysAgent() != nil:
		d.conclude("Its agent's log says that %s. The line does not tell why.", begins)
		d.dont("Don't call it broken or well before a probe.")
		d.do("Find out which case it is: sandglass probe %s", name)
		d.do("Read the log before the first such line. What removed, moved or linked its working directory?")
		link()
	case s.unanswered():
		d.conclude("No command in it ended. Its control server hangs, or its container does not start: nothing that was read tells which.")
		d.dont("Don't destroy it yet: it may only start slowly.")
		d.do("See whether its container runs: sandglass get sandboxes. Operator routes tell it by its id.")
		d.do("Probe it once more: sandglass probe %s. The first request waits for a container.", name)
	case d.is("commands") && s.entered() != nil:
		d.conclude("Its working directory is there. Commands without a session do not begin all the same. %s.", d.fact("commands"))
		d.dont("Don't repair it: its working directory is there.")
		d.do("Look at its disk, memory and limits. Run df and free in a new session of your application.")
		d.do("When they are well, probe it once more: sandglass probe %s", name)
		destroy()
	case d.is("commands") && s.refused():
		d.conclude("Its bridge refuses each command. %s.", d.fact("commands"))
		d.dont("Don't send more commands: waiting does not help.")
		d.do("Look at the last deployment: sandglass get events. Correct its image, memory or configuration.")
		d.do("Probe it when that is done: sandglass probe %s", name)
		destroy()
	case d.is("commands") && !s.trueEnded().IsEmpty():
		d.conclude("Commands begin in it, and fail: %s. Its directory is there and its control server answers.", d.fact("commands"))
		d.dont("Don't repair or probe it again for that: the answer is known.")
		d.do("%s", s.trueEnded())
		destroy()
	case d.is("commands"), d.is("planes"):
		check := "commands"
		if !d.is(check) {
			check = "planes"
		}
		d.conclude("What was tried in it fails. %s.", d.fact(check))
		d.dont("Don't destroy it at once: that loses its files.")
		d.do("Probe it once more: sandglass probe %s", name)
		destroy()
	default:
		d.NoReset = backend.Safe{}
		d.deny("Nothing observed contradicts what is reported.")
		d.dont("Don't take that for health: see what was not tried.")
		d.do("Probe it: sandglass probe %s. A request starts a container where none runs.", name)
	}
}
