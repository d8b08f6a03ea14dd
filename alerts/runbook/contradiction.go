package runbook

import (
	"path"
	"slices"
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
)

// diagnoseContradiction answers the page about sandboxes that are not what is reported of them. The headline names what was
// observed, the steps what cures exactly that.
func diagnoseContradiction(s *subjectView) Diagnosis {
	s.narrowContradiction()
	if s.ofWorkers() {
		return diagnoseWorkers(s)
	}
	if s.ofPlatform() {
		return diagnosePlatform(s)
	}
	d := Diagnosis{Checks: s.startFrom(s.fresh([]Check{
		s.manyAtOnce(), s.ofAll((*subjectView).containerGone), s.containerDown(), s.ofAll((*subjectView).unlinkedMount), s.ofAll((*subjectView).lostMount), s.ofAll((*subjectView).danglingLink), s.ofAll((*subjectView).missingDir), s.ofAll((*subjectView).occupied), s.ofAll((*subjectView).lockedDir), s.ofAll((*subjectView).frozenProcess),
		s.ofAll((*subjectView).commandsRun), s.ofAll((*subjectView).otherPlanes), s.sessionNeedsIt(),
	}))}
	s.endContradiction(&d)
	return d
}

// narrowContradiction looks at the sandboxes that the page's alerts or its subject name, and at no others of their session.
func (s *subjectView) narrowContradiction() {
	about := func(b *backend.Sandbox) bool {
		if s.Subject == b.Key {
			return true
		}
		for _, a := range s.led {
			if slices.ContainsFunc(a.Subjects, func(x alerts.Subject) bool { return x.Key == b.Key }) {
				return true
			}
		}
		return false
	}
	if slices.ContainsFunc(s.sandboxes, about) {
		s.sandboxes = slices.DeleteFunc(slices.Clone(s.sandboxes), func(b *backend.Sandbox) bool { return !about(b) })
	}
}

// failedOn asks whether a plane of one of the sandboxes failed in a way; a plane that works rules it out.
func (s *subjectView) failedOn(q question, planes []backend.Plane, is func(*backend.Verdict) bool, says func(*backend.Sandbox, *backend.Verdict) backend.Safe) Check {
	var fine *backend.Sandbox
	var fineAt backend.Verdict
	for _, b := range s.sandboxes {
		o, _ := b.Proved()
		for _, p := range planes {
			v, found := o.Of(p)
			switch {
			case !found:
			case v.Outcome == backend.OutcomeFailed && is(&v):
				c := s.agedHit(q, b, q.yes(origin{b.Key.Source, v.At}, "%s: %s", b.Name, says(b, &v)))
				c.of = b
				return c
			case v.Outcome == backend.OutcomeOK && (fine == nil || v.At.After(fineAt.At)):
				fine, fineAt = b, v
			}
		}
	}
	if fine != nil && fineAt.At.Before(s.failsSaid()) {
		return q.unsure("%s worked in %s, before commands of its agent failed, as its log says: that tells nothing of now", fineAt.Plane, fine.Name)
	}
	if fine != nil {
		return s.aged(q, fine, q.no(origin{fine.Key.Source, fineAt.At}, "%s works in %s", fineAt.Plane, fine.Name))
	}
	return q.unsure(nothingTells)
}

// nothingTells is the answer where nothing was read: beside an alert that tells it, it says nothing.
const nothingTells = "nothing was observed that tells it"

func (s *subjectView) ofKind(q question, kinds ...backend.FailureKind) Check {
	planes := []backend.Plane{backend.PlaneList, backend.PlaneExec, backend.PlaneRead}
	if slices.Contains(kinds, backend.FailServerFrozen) { // a directory that can be listed tells nothing of a process
		planes = []backend.Plane{backend.PlaneDriver, backend.PlaneExec}
	}
	return s.failedOn(q, planes, func(v *backend.Verdict) bool { return slices.Contains(kinds, v.Kind) && !v.Inferred() },
		func(_ *backend.Sandbox, v *backend.Verdict) backend.Safe { return said(v) })
}

// said is a verdict with the first line of its evidence.
func said(v *backend.Verdict) backend.Safe {
	if len(v.Evidence) == 0 || strings.Contains(v.What.String(), v.Evidence[0].String()) {
		return v.Said()
	}
	return backend.Textf("%s (%s)", v.Said(), backend.Clean(v.Evidence[0].String(), 160))
}

func (s *subjectView) missingDir() Check {
	q := question{"missing", "Is its working directory missing?", "a look at its working directory, or a probe"}
	for _, b := range s.sandboxes {
		if o, _ := b.Proved(); slices.ContainsFunc(o.Failed(), func(v backend.Verdict) bool {
			return v.Plane == backend.PlaneList && v.Kind != "" && v.Kind != backend.FailWorkDirMissing
		}) {
			continue // a look tells more than the check's own words
		}
		if b.WorkDirGone() && b.Class == backend.SandboxRunning {
			c := s.agedHit(q, b, q.yes(s.from(&b.Meta), "%s: its health check cannot begin in %s", b.Name, workDir(b)))
			c.of = b
			return c
		}
	}
	return s.ofKind(q, backend.FailWorkDirMissing, backend.FailFilesystemMissing)
}

func (s *subjectView) danglingLink() Check {
	c := s.ofKind(question{"dangling", "Is its working directory a link to nothing?", "a look at its working directory"}, backend.FailWorkDirDangling)
	if b := c.of; b != nil {
		if o, _ := b.Proved(); !b.OfWorker() && !strings.Contains(c.Fact.String(), "mount") && !loops(o) { // what is mounted there nobody listed
			c.Fact = backend.Textf("%s; %s", c.Fact, mountAt(b, linkTarget(b, o)))
		}
	}
	return c
}

func (s *subjectView) unlinkedMount() Check {
	return s.ofKind(question{"unlinked", "Was the host directory mounted there removed?", "a look at the mounts of its main process, or a probe"}, backend.FailMountUnlinked)
}

func (s *subjectView) lostMount() Check {
	return s.ofKind(question{"unmounted", "Is the mount of its working directory gone?", "a look at the mounts of its main process"}, backend.FailMountGone)
}

func (s *subjectView) occupied() Check {
	return s.ofKind(question{"occupied", "Is its working directory something else than a directory?", "a look at its working directory, or a probe"}, backend.FailWorkDirNoDir)
}

func (s *subjectView) lockedDir() Check {
	return s.ofKind(question{"permission", "May its user enter its working directory?", "a look at its mode and owner, or a probe"}, backend.FailUnauthorised)
}

func (s *subjectView) frozenProcess() Check {
	return s.ofKind(question{"frozen", "Is its main process frozen?", "the state of its processes"}, backend.FailServerFrozen)
}

func (s *subjectView) commandsRun() Check {
	q := question{"commands", "Do commands fail in it?", "a probe: sandglass probe NAME"}
	if e := s.saysAgent(); e != nil {
		return q.yes(origin{e.Source, e.At}, "%s", strings.TrimPrefix(e.Text.String(), "log: "))
	}
	fails := func(s *subjectView) Check {
		return s.failedOn(q, []backend.Plane{backend.PlaneExec},
			func(*backend.Verdict) bool { return true }, func(_ *backend.Sandbox, v *backend.Verdict) backend.Safe { return said(v) })
	}
	c := fails(s)
	if c.Mark == CannotTell {
		others := *s
		others.sandboxes = s.members()
		if x := fails(&others); x.Mark == Confirmed {
			return x
		}
	}
	if len(s.sandboxes) == 1 && c.Mark == CannotTell && !s.sandboxes[0].Name.IsEmpty() {
		c.WouldTell = backend.Textf("a probe: sandglass probe %s", s.sandboxes[0].Name)
	}
	c = s.listHangs(c)
	if s.saysFails() != nil && c.Mark == CannotTell {
		c.Fact = backend.Text("its agent's log says so, which is its word; nothing else shows it")
	}
	return s.unprobed(c)
}

// saysAgent is what the log of an agent says of commands that could not begin, where an alert rests on it; nil: none does.
func (s *subjectView) saysAgent() *alerts.Evidence {
	for _, a := range s.led {
		if a.Rule != "contradiction" || !alerts.AgentSays(a.Cause.String()) {
			continue
		}
		for _, x := range append([]*alerts.Alert{a}, s.ofMembers(a)...) {
			for i := range x.Evidence {
				if strings.Contains(x.Evidence[i].Text.String(), "could not begin since") {
					return &x.Evidence[i]
				}
			}
		}
	}
	return nil
}

func (s *subjectView) otherPlanes() Check {
	q := question{"planes", "Does another plane of it fail?", "a probe"}
	c := s.failedOn(q, []backend.Plane{backend.PlaneList, backend.PlaneRead, backend.PlaneQueue, backend.PlaneDriver},
		func(v *backend.Verdict) bool { return !v.Inferred() }, func(_ *backend.Sandbox, v *backend.Verdict) backend.Safe {
			return backend.Textf("%s: %s", v.Plane, said(v))
		})
	if c.Mark == RuledOut {
		c = s.unlessUnread(q, c)
	}
	return s.unprobed(c)
}

// unlessUnread rules nothing out while a plane of one of the sandboxes is not known to work: that another one works tells nothing of it.
func (s *subjectView) unlessUnread(q question, c Check) Check {
	for _, b := range s.sandboxes {
		o, _ := b.Proved()
		for _, p := range backend.Planes() {
			v, found := o.Of(p)
			files := p == backend.PlaneList || p == backend.PlaneRead
			switch {
			case p == backend.PlaneControl, p == backend.PlaneExec, !found && !files, v.Outcome == backend.OutcomeOK:
				continue
			case !found || !v.Tried():
				return q.unsure("%s, but %s was not tried there", c.Fact, backend.PlaneNames([]backend.Plane{p}))
			}
			x := q.unsure("%s, but %s is not known: %s", c.Fact, backend.PlaneNames([]backend.Plane{p}), v.Said())
			if v.What == backend.Text(backend.EmptyRead) {
				x.WouldTell = backend.Text(backend.EmptyReadNext)
			}
			return x
		}
	}
	return c
}

// unprobed advises no probe in a cloud sandbox that sleeps, whose mount is gone, or that an alert calls broken: its command would
// wake it, or leave one more queued record.
func (s *subjectView) unprobed(c Check) Check {
	if s.platform() == agentCloud { // nothing is queued there, and the plan of a probe says that it wakes it
		return c
	}
	unfit := func(b *backend.Sandbox) bool {
		o, _ := b.Proved()
		v, _ := o.Of(backend.PlaneList)
		return b.Class != backend.SandboxRunning || v.Outcome == backend.OutcomeFailed && v.Kind == backend.FailMountGone
	}
	if c.Mark == CannotTell && s.ofPlatform() && (s.ledBy("contradiction") != nil || slices.ContainsFunc(s.sandboxes, unfit)) {
		c.WouldTell = backend.Text("what is queued in it: sandglass get executions. Run no command in it.")
	}
	return c
}

func (s *subjectView) containerDown() Check {
	q := question{"down", "Is its container down while its session runs?", "the state of the container"}
	return s.container(q, func(b *backend.Sandbox) (backend.Safe, bool) {
		switch {
		case !b.StartError.IsEmpty():
			return backend.Textf("could not start: %s", b.StartReason()), b.Class != backend.SandboxRunning
		case b.Class == backend.SandboxCreated:
			return backend.Text("was never started"), s.leads("contradiction", b.Key)
		case b.OOMKilled.Or(false):
			return backend.Text("was killed at its memory limit"), b.Class.Ended()
		}
		return endText(b), b.FailedEnd()
	}, func(b *backend.Sandbox) (Mark, backend.Safe) {
		return RuledOut, backend.Textf("is %s", b.Reported)
	})
}

func (s *subjectView) containerGone() Check {
	q := question{"gone", "Is its container gone?", "the list of containers"}
	for _, a := range s.led {
		if a.Rule != "contradiction" || !strings.Contains(a.Cause.String(), "container is gone") {
			continue
		}
		for _, e := range a.Evidence {
			if fact, observed := strings.CutPrefix(e.Text.String(), "observed: "); observed {
				return q.yes(origin{e.Source, e.At}, "%s", fact)
			}
		}
	}
	for _, b := range s.sandboxes {
		if s.State.Sandbox(b.Key) != nil {
			return q.no(s.from(&b.Meta), "%s is listed", b.Name)
		}
	}
	return q.unsure("no container of this subject is listed, and nothing names it")
}

// missingProgram is the program that an engine could not start because the container has none; empty for other errors.
func missingProgram(err string) string {
	_, rest, is := strings.Cut(err, `exec: "`)
	if program, why, more := strings.Cut(rest, `": `); is && more && (strings.Contains(why, "executable file not found") || strings.Contains(why, "stat "+program+": no such file")) {
		return program
	}
	return ""
}

func workDir(b *backend.Sandbox) backend.Safe {
	if b.WorkDir.IsEmpty() {
		return backend.Text("its working directory")
	}
	return b.WorkDir
}

// listEvidence is what was answered about the working directory of a sandbox.
func listEvidence(b *backend.Sandbox) []backend.Safe {
	if b == nil {
		return nil
	}
	o, _ := b.Proved()
	v, _ := o.Of(backend.PlaneList)
	return v.Evidence
}

// unmakeable reports whether the user of a sandbox may not make its working directory again, so that a repair does not cure.
func unmakeable(b *backend.Sandbox) bool {
	return slices.ContainsFunc(listEvidence(b), func(e backend.Safe) bool { return strings.Contains(e.String(), "may not make it") })
}

// closedDir is the directory that the user of a sandbox may not enter: its working directory or one above it.
func closedDir(b *backend.Sandbox, dir backend.Safe) backend.Safe {
	for _, e := range listEvidence(b) {
		if at, _, is := strings.Cut(e.String(), " has mode "); is && path.IsAbs(at) {
			return backend.Clean(at, 200)
		}
	}
	return dir
}

// linkTarget is where the link in place of the working directory leads, as its verdict tells; empty where it does not.
func linkTarget(b *backend.Sandbox, o backend.Observation) string {
	v, _ := o.Of(backend.PlaneList)
	for _, text := range append([]backend.Safe{v.What}, v.Evidence...) {
		if strings.HasPrefix(text.String(), "as this machine") { // where it was seen
			continue
		}
		for _, word := range strings.FieldsFunc(text.String(), func(r rune) bool { return strings.ContainsRune(" \"',;()", r) }) {
			if path.IsAbs(word) && word != b.WorkDir.String() {
				return strings.TrimRight(word, ".:")
			}
		}
	}
	return ""
}

// endContradiction concludes from what was observed, and names what cures that.
func (s *subjectView) endContradiction(d *Diagnosis) {
	name, dir, host := backend.Text("NAME"), backend.Text("its working directory"), backend.Text("the host directory")
	b := s.observedOne(d)
	if b != nil {
		dir = workDir(b)
		if !b.Name.IsEmpty() {
			name = b.Name
		}
		for _, m := range b.Mounts {
			if m.Destination == b.WorkDir {
				host = m.Source
			}
		}
	}
	d.NoReset = backend.Text("a reset opens the same broken sandbox again")
	elsewhere := func() {
		d.do("If that fails, enter it in /: docker exec -it -w / %s sh", name)
	}
	if d.is("many") && (s.alert != nil && s.alert.SubjectCount > 1 || s.partOfMany()) {
		d.conclude("Many sandboxes fail alike: one cause outside is likely. %s.", d.fact("many"))
		d.dont("Don't repair them one by one before the cause is found.")
		d.do("Look at their engine, host and mounts. Look at the last change.")
		if s.partOfMany() {
			d.do("Probe this one when that is found: sandglass probe %s", name)
		}
		return
	}
	switch {
	case d.is("gone"):
		d.conclude("Its container is gone. %s.", d.fact("gone"))
		d.dont("Don't reset it: the next open names the same container.")
		d.do("Restore a checkpoint or start a new session.")
		d.do("Find out who removed it: sandglass get events")
	case d.is("down") && b != nil && !b.StartError.IsEmpty():
		d.conclude("Its container could not start. %s.", d.fact("down"))
		d.dont("Don't start it again before that: it fails the same way.")
		if program := missingProgram(b.StartReason().String()); program != "" {
			image := backend.Text("Its image")
			if !b.Image.IsEmpty() {
				image = backend.Textf("The image %s", b.Image)
			}
			d.do("%s has no %s. Correct the command or the image where they are set.", image, backend.Clean(program, 160))
		} else {
			d.do("Correct what the error names: image, command or mount.")
		}
		d.do("Let the session open a new one. Or create it again.")
	case d.is("down") && b != nil && b.Class == backend.SandboxCreated:
		d.conclude("Its container was never started. %s.", d.fact("down"))
		d.dont("Don't probe or reset it: nothing runs in it.")
		d.do("Start it. Its engine says why it cannot: docker start %s", name)
		d.do("Correct what it names: image, command or mount. Else let the session open a new one.")
	case d.is("down"):
		d.conclude("Its container is down. %s.", d.fact("down"))
		d.dont("Don't remove it before its log is saved.")
		d.do("Read why: docker logs --tail 50 %s", name)
		d.do("Correct it and start it: docker start %s", name)
	case b != nil && (b.Class == backend.SandboxExited || b.Class == backend.SandboxDead) && s.leads("contradiction", b.Key):
		d.conclude("It ended before what failed in it was verified.")
		d.dont("Don't take its end for a repair.")
		d.do("Start it: docker start %s. Then probe it: sandglass probe %s", name, name)
		d.do("Or let the session open a new one.")
	case d.is("unlinked"):
		d.conclude("The host directory mounted there was removed. %s.", d.fact("unlinked"))
		d.dont("Don't run mkdir inside: it changes nothing.")
		d.do("Make it on the host: mkdir -p %s. Then restart it: docker restart %s. Or recreate it.", host, name)
		elsewhere()
	case d.is("unmounted"):
		d.conclude("The mount of its working directory is gone. %s.", d.fact("unmounted"))
		d.dont("Don't write there: those files go with the container.")
		d.do("Copy what was written there since. Then restart it: docker restart %s (mounts it again)", name)
		d.do("Look for what unmounted it.")
	case d.is("occupied"):
		d.conclude("Its working directory is not a directory. %s.", d.fact("occupied"))
		d.dont("Don't repair it: a repair replaces nothing.")
		d.do("See what is there: docker exec -w / %s ls -ld %s", name, dir)
		d.do("Move it away: docker exec -w / %s mv %s %s.old. Then repair: sandglass repair %s", name, dir, dir, name)
	case d.is("dangling"):
		d.conclude("Its working directory is a link to nothing. %s.", d.fact("dangling"))
		d.dont("Don't reset or recreate it: that loses its other files.")
		s.cureLink(d, b, name, dir)
		elsewhere()
	case d.is("missing"):
		d.conclude("Its working directory is missing. %s.", d.fact("missing"))
		d.dont("Don't reset or recreate it: that loses its other files.")
		if at, is := onReadOnly(b); is {
			d.do("Make it on the host, its mount is read-only: mkdir -p %s", at)
		} else if unmakeable(b) {
			d.do("Make it as root, because its user may not. Run: docker exec -u 0 -w / %s mkdir -p -m 777 %s", name, dir)
		} else if b != nil && !b.IsSandbox { // which no action touches
			d.do("%sRun: docker exec -w / %s mkdir -p %s. It is empty then.", s.removedTogether(), name, dir)
		} else {
			d.do("%sMake %s again, empty: sandglass repair %s", s.removedTogether(), dir, name)
		}
		elsewhere()
	case d.is("permission"):
		d.conclude("Its user may not enter its working directory. %s.", d.fact("permission"))
		d.dont("Don't repair or recreate it: the directory is there.")
		d.do("Let its user in. Run: docker exec -u 0 -w / %s chmod a+rx %s", name, closedDir(b, dir))
		elsewhere()
	case d.is("frozen"):
		d.conclude("Its main process is frozen. %s.", d.fact("frozen"))
		if waits(b) { // a signal reaches no such thread
			d.dont("Don't restart, kill or pause it: a signal may not reach it.")
			d.do("%sSee why it waits: docker top %s -o pid,stat,wchan,comm. Repair that disk or mount: then it goes on by itself.", s.waitTogether(), name)
			d.do("A freezer outside the engine stops it too. Only if the cause is gone and it still waits, restart it: docker restart %s", name)
			break
		}
		d.dont("Don't pause and resume it: its process stays frozen.")
		d.do("Let it go on: docker kill -s CONT %s. If it waits for a disk, restart it: docker restart %s.", name, name)
		d.do("Look for what stopped it. A debugger, or a mount that hangs.")
	case formerFailure(b) != nil:
		v := formerFailure(b)
		d.conclude("It failed before its newest %s and was not tried since. %s: %s.", backend.Clean(b.Turn(), 20), v.Plane, v.Said())
		d.dont("Don't take its restart for a repair.")
		d.do("Probe it: sandglass probe %s", name)
		if v.Kind == backend.FailWorkDirMissing {
			d.do("Its files from before are gone. Restore a checkpoint, or tell its user.")
		}
	case d.is("commands") && s.saysAgent() != nil:
		d.conclude("Its agent's log says that no command begins in it. The line does not tell why.")
		d.dont("Don't send more commands: none of them starts.")
		d.do("Find out which case it is: sandglass probe %s", name)
		d.do("Read the log before the first such line. What removed, moved or linked its working directory?")
	case d.is("commands"), d.is("planes"):
		check := "commands"
		if !d.is(check) {
			check = "planes"
		}
		d.conclude("What was tried in it fails. %s.", d.fact(check))
		d.dont("Don't reset it: the registry opens the same sandbox again.")
		if v := hung(b); v != nil && s.fires() {
			d.do("See what hangs in it: docker top %s", name)
			d.do("Restart it: docker restart %s. Then probe it: sandglass probe %s", name, name)
			break
		}
		d.do("Probe it once more: sandglass probe %s", name)
		d.do("If it fails again, restart it: docker restart %s", name)
	default:
		d.NoReset = backend.Safe{}
		d.deny("Nothing observed contradicts what is reported.")
		d.dont("Don't take that for health: see what was not tried.")
		d.do("Probe it: sandglass probe %s", name)
	}
}

// observedOne is the sandbox that the first confirmed check is about, or the only one.
func (s *subjectView) observedOne(d *Diagnosis) *backend.Sandbox {
	for i := range d.Checks {
		if c := &d.Checks[i]; c.Mark == Confirmed && c.of != nil {
			return c.of
		}
	}
	if len(s.sandboxes) == 1 {
		return s.sandboxes[0]
	}
	return nil
}
