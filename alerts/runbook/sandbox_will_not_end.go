package runbook

import (
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// Defaults of the framework, see page.go for the source.
const (
	defaultCloseTimeout = 30 * time.Second
	defaultSleepAfter   = 10 * time.Minute
)

// diagnoseSandboxWillNotEnd is for a sandbox that runs on after its session.
func diagnoseSandboxWillNotEnd(s *subjectView) Diagnosis {
	if s.platform() == agentCloud && len(s.sandboxes) == 1 {
		return s.agentLeak()
	}
	if all, of := s.leakedOf(); s.platform() == agentCloud && len(all) > 1 {
		return s.agentLeaks(all, of)
	}
	d := Diagnosis{Checks: s.answers(
		s.sessionOver(),
		s.stillUp(),
		s.destroysOnClose(),
		s.byLines(question{"close-timeout", "Did a close run into its deadline?", "a log source that reads the agent's log, with close_timeout_texts set to its words"}, backend.MetricCloseTimeout, "closes over their deadline"),
		s.awaitsSleep(),
		s.kept(),
		s.otherUsers(),
		s.destroyFails(),
		s.imageOf(),
		s.ofAll((*subjectView).restartPolicy),
	)}
	if c, is := s.keptAlive(); is {
		d.Checks = append(d.Checks, c)
	}
	if s.wide && len(s.sandboxes) != 1 {
		s.adviseSandboxes(&d)
		return d
	}
	s.adviseSandboxWillNotEnd(&d)
	return d
}

// adviseSandboxes answers for all sandboxes of a source. What is true of one of them is no answer about the others, so that
// the questions about a single one stay open; the alerts tell which ones run on.
func (s *subjectView) adviseSandboxes(d *Diagnosis) {
	single := []string{"over", "up", "destroy-on-close", "awaiting-sleep", "kept", "other-users"}
	for i := range d.Checks {
		if c := &d.Checks[i]; slices.Contains(single, c.Name) {
			*c = Check{Name: c.Name, Question: c.Question, Mark: CannotTell, Fact: backend.Textf("there are %s here, and this is asked of one", plural(len(s.sandboxes), "sandbox")),
				WouldTell: backend.Text("the same question about one of them, by its id")}
		}
	}
	x := s.firing("wont-terminate")
	if x != nil && len(runsOn(x.Cause.String())) == 0 {
		d.conclude("No list ever named the sessions of %s. Whether they are over is not known.", plural(x.SubjectCount, "sandbox"))
		d.do("Find the owner of each session. Search the agents' log for its id.")
		d.dont("Don't destroy a sandbox whose session is not known.")
		return
	}
	if x == nil {
		d.deny("No sandbox is known to run on after its session. Ask about one of them by its id.")
		d.dont("Don't destroy by age: a long session is no leak.")
		return
	}
	for i := range d.Checks {
		if c := &d.Checks[i]; c.Name == "over" {
			*c = Check{Name: c.Name, Question: c.Question, Mark: Confirmed, Fact: backend.Textf("the alert fires for %s: %s", plural(x.SubjectCount, "sandbox"), x.Cause),
				Source: x.Source, At: x.Confirmed}
		}
	}
	d.conclude("%s, on which no session is listed as running: %s.", plural(x.SubjectCount, "sandbox"), x.Cause)
	d.do("Ask about each sandbox before you destroy it. Why it stays may differ.")
	d.dont("Don't destroy by age; go by the session.")
}

func (s *subjectView) sessionOver() Check {
	q := question{"over", "Is its session over?", "a label that joins the sandbox to a session, and a session list"}
	switch l := s.over(); l.mark {
	case Confirmed:
		return q.yes(l.from, "%s", l.fact)
	case RuledOut:
		return q.no(l.from, "%s: the sandbox is in use", l.fact)
	case CannotTell:
		return q.unsure("%s", l.fact)
	}
	return q.unsure("nothing is known of its session")
}

// stillUp asks whether the machine itself still runs.
func (s *subjectView) stillUp() Check {
	q := question{"up", "Is the sandbox still up?", "a container source, or the platform's list of instances"}
	var ended *backend.Sandbox
	for _, sb := range s.sandboxes {
		switch sb.Class {
		case backend.SandboxRunning, backend.SandboxPaused, backend.SandboxRestarting, backend.SandboxRemoving:
			up := ""
			if at, ok := sb.StartedAt.Get(); ok {
				up = " since " + backend.Age(s.now.Sub(at)) + " ago"
			}
			return s.aged(q, sb, q.yes(s.from(&sb.Meta), "%s is %s%s", sb.Name, sb.Reported, backend.Clean(up, 40)))
		case backend.SandboxAsleep, backend.SandboxExited, backend.SandboxCreated, backend.SandboxDead:
			ended = sb
		case backend.SandboxUnknown:
		}
	}
	if ended != nil {
		return s.aged(q, ended, q.no(s.from(&ended.Meta), "%s is %s", ended.Name, ended.Reported))
	}
	return q.unsure("no sandbox of this subject is listed with a known state")
}

// aged turns an answer about a sandbox whose values are old into "cannot tell".
func (s *subjectView) aged(q question, sb *backend.Sandbox, c Check) Check {
	if why, old := s.State.StaleWhy(&sb.Meta); old {
		return q.unsure("%s, when last read: %s", c.Fact, why)
	}
	return c
}

func (s *subjectView) destroysOnClose() Check {
	q := question{"destroy-on-close", "Should closing have ended it?", "destroyOnClose in the aggregate route or in a declaration"}
	for _, w := range s.workspaces {
		if v, ok := w.DestroyOnClose.Get(); ok && v {
			return q.yes(s.from(&w.Meta), "destroyOnClose is on for %s", w.Key.Safe())
		} else if ok {
			return q.no(s.from(&w.Meta), "destroyOnClose is off for %s: it is meant to stay until it sleeps", w.Key.Safe())
		}
	}
	for _, sb := range s.sandboxes {
		if x := s.State.StateOn(sb); x != nil {
			if pause, known := x.Agent.PauseOnExit.Get(); known && !pause {
				return q.yes(s.from(&x.Meta), "pause_on_exit is not true in its saved state %s: the end of its session deletes it", x.Key.Safe())
			} else if known {
				return q.no(s.from(&x.Meta), "its saved state %s says pause_on_exit: it is kept", x.Key.Safe())
			}
		}
	}
	return q.unsure("destroyOnClose is not declared; the framework's default is off")
}

// awaitsSleep asks whether it merely waits for its idle time to pass.
func (s *subjectView) awaitsSleep() Check {
	q := question{"awaiting-sleep", "Does it only wait to fall asleep?", "sleepAfter and the time of the last use"}
	for _, sb := range s.sandboxes {
		if sb.Class == backend.SandboxAsleep {
			return q.yes(s.from(&sb.Meta), "%s sleeps already, which costs far less than running", sb.Name)
		}
	}
	if c, is := s.keptAlive(); is {
		return q.no(origin{c.Source, c.At}, "it is kept alive: its idle time passes without effect")
	}
	if p := s.provider(); len(s.sandboxes) > 0 && s.sandboxes[0].Provider.String() == "docker" && p != "cloudflare-sandbox" && !s.sleepDeclared() {
		return q.no(s.from(&s.sandboxes[0].Meta), "it is a container of an engine, which puts nothing to sleep")
	}
	if p := s.provider(); p != "" && p != "cloudflare-sandbox" && !s.sleepDeclared() {
		return q.no(s.newest(), "provider %s puts nothing to sleep", backend.Clean(p, 60))
	}
	var last time.Time
	var of *backend.Workspace
	for _, w := range s.workspaces {
		for _, at := range []backend.Value[time.Time]{w.LastAttemptAt, w.LastSuccessAt} {
			if t, ok := at.Get(); ok && t.After(last) {
				last, of = t, w
			}
		}
	}
	if of == nil {
		return q.unsure("when it was last used is not known")
	}
	after, declared := of.SleepAfter.Get()
	base := backend.Literal("idle for %s")
	if ran := s.ranUntil(); ran.After(last) {
		last, base = ran, "its session ran until %s ago"
	}
	idle := s.now.Sub(last)
	unused := backend.Textf(base, backend.Age(idle))
	late, judged := s.span(sandboxGone)
	switch {
	case !declared && of.Provider.String() != "cloudflare-sandbox":
		return q.unsure("%s; sleepAfter is not declared", unused)
	case !declared && judged && idle > defaultSleepAfter+late:
		return q.no(s.from(&of.Meta), "%s, much longer than the default of about %s", unused, backend.Age(defaultSleepAfter))
	case !declared:
		return q.unsure("%s; sleepAfter is not declared, its default is about %s", unused, backend.Age(defaultSleepAfter))
	case idle < after:
		return q.yes(s.from(&of.Meta), "%s, asleep in %s", unused, backend.Age(after-idle))
	}
	if s.mayStillSleep() {
		return q.yes(s.from(&of.Meta), "%s, sleepAfter is %s: it may sleep a little late", unused, known(of.SleepAfter, spanText))
	}
	return q.no(s.from(&of.Meta), "%s, longer than sleepAfter (%s)", unused, known(of.SleepAfter, spanText))
}

// mayStillSleep reports whether the alert about a sandbox of the subject gives it time: when its session ended is known within bounds, and
// lists lag.
func (s *subjectView) mayStillSleep() bool {
	return s.Board != nil && slices.ContainsFunc(s.Board.Alerts, func(a *alerts.Alert) bool {
		return a.Rule == "wont-terminate" && a.Cause == backend.Text(alerts.WaitsToSleep) && slices.ContainsFunc(a.Subjects, func(x alerts.Subject) bool {
			return x.State != alerts.StateEnded && slices.ContainsFunc(s.sandboxes, func(b *backend.Sandbox) bool { return b.Key == x.Key })
		})
	})
}

// ranUntil is until when the alert about a sandbox of the subject counts it as in use, zero where there is none.
func (s *subjectView) ranUntil() (last time.Time) {
	if s.Board == nil {
		return last
	}
	for _, a := range s.Board.Alerts {
		if a.Rule != "wont-terminate" {
			continue
		}
		for i := range a.Subjects {
			x := &a.Subjects[i]
			if x.State != alerts.StateEnded && x.Bounds.Earliest.After(last) && slices.ContainsFunc(s.sandboxes, func(b *backend.Sandbox) bool { return b.Key == x.Key }) {
				last = x.Bounds.Earliest
			}
		}
	}
	return last
}

// sleepDeclared reports whether a workspace declares when it sleeps and its provider may do so.
func (s *subjectView) sleepDeclared() bool {
	return slices.ContainsFunc(s.workspaces, func(w *backend.Workspace) bool { return w.SleepAfter.IsKnown() && w.Provider.String() != "docker" })
}

// keptAlive asks whether only a destroy ends the sandbox; false: nothing says that it is kept alive.
func (s *subjectView) keptAlive() (Check, bool) {
	q := question{"kept-alive", "Is it kept alive, so that only a destroy ends it?", "keepAlive in the aggregate route or in a stored reference"}
	for _, sb := range s.sandboxes {
		if by, f := alerts.KeptAwake(s.State, sb); by != nil {
			return q.yes(s.from(by), "%s says %s=%s: it never falls asleep, and the end of its session does not end it", by.Key.Safe(), f.Name, f.Value), true
		}
	}
	for _, a := range s.led { // its registry went with its session
		if a.Rule == "wont-terminate" && strings.Contains(a.Cause.String(), keptAlive) {
			return q.yes(origin{a.Source, a.Confirmed}, "its registry said so while its session ran: it never falls asleep, and the end of its session does not end it"), true
		}
	}
	return Check{}, false
}

// kept asks whether the sandbox is kept on purpose.
func (s *subjectView) kept() Check {
	q := question{"kept", "Is it kept on purpose?", "shareAcrossSessions in a declaration, keepAlive or pause_on_exit in a stored reference, or a keep-alive label"}
	for _, sb := range s.sandboxes {
		if sb.Class == backend.SandboxPaused {
			return q.yes(s.from(&sb.Meta), "%s is paused by hand", sb.Name)
		}
		switch by, f := alerts.KeptOnPurpose(s.State, sb); by {
		case nil:
		case &sb.Meta:
			return q.yes(s.from(by), "%s carries the label %s=%s", sb.Name, f.Name, f.Value)
		default:
			return q.yes(s.from(by), "the stored reference of %s says %s=%s", by.Key.Safe(), f.Name, f.Value)
		}
	}
	declared := 0
	for _, sb := range s.sandboxes {
		if x := s.State.StateOn(sb); x != nil && x.Agent.PauseOnExit.IsKnown() {
			return q.no(s.from(&x.Meta), "pause_on_exit is not true in its saved state %s", x.Key.Safe())
		}
	}
	for _, w := range s.workspaces {
		if v, ok := w.ShareAcrossSessions.Get(); ok && v {
			return q.yes(s.from(&w.Meta), "%s is shared across sessions", w.Key.Safe())
		} else if ok {
			declared++
		}
	}
	if declared > 0 {
		return q.no(s.newest(), "it is declared as not shared, and nothing paused it")
	}
	return q.unsure("whether it is shared or kept alive is not declared")
}

// otherUsers asks whether another session uses the same machine.
func (s *subjectView) otherUsers() Check {
	q := question{"other-users", "Does another session use it?", "the sandbox id of each workspace, in the aggregate route or in a declaration"}
	ids := s.resourceIDs()
	if len(ids) == 0 {
		return q.unsure("no workspace names its id")
	}
	for w := range s.State.Workspaces.All() {
		if ids[w.ProviderID] && w.Key.Parent != s.sessionID {
			return q.yes(s.from(&w.Meta), "%s uses the same sandbox", w.Key.Safe())
		}
	}
	return s.settle(q.no(s.newest(), "no other session names this sandbox"), q)
}

// resourceIDs are the sandbox ids that the subject's workspaces were given.
func (s *subjectView) resourceIDs() map[backend.ID]bool {
	ids := map[backend.ID]bool{}
	for _, w := range s.workspaces {
		if !w.ProviderID.IsZero() {
			ids[w.ProviderID] = true
		}
	}
	return ids
}

func (s *subjectView) destroyFails() Check {
	q := question{"destroy", "Does destroying it fail?", "the agent's log around the close, and the platform's own state of the instance"}
	for _, sb := range s.sandboxes {
		if sb.Class == backend.SandboxRemoving || sb.Class == backend.SandboxDead {
			return q.yes(s.from(&sb.Meta), "%s hangs in %s: the engine could not remove it", sb.Name, sb.Reported)
		}
	}
	if c := s.byErrors(q, alerts.NamesDestroy); c.Mark == Confirmed {
		return c
	}
	for _, sb := range s.sandboxes {
		for _, x := range s.State.SDKErrorsOn(sb) {
			if x.Metric == backend.MetricSDKDelete {
				return q.yes(origin{x.Source, x.At}, "the log of its agent says so: %s; %s", x.Newest, x.Means)
			}
		}
	}
	return q.unsure("no error of this subject names destroy")
}

// imageOf names the image of a sandbox that runs on, for the release notes of its SDK.
func (s *subjectView) imageOf() Check {
	q := question{"image-version", "Which image does the stuck sandbox run?", "a container source, or the platform's list of instances"}
	for _, sb := range s.sandboxes {
		if sb.Image.IsEmpty() {
			continue
		}
		sdk := backend.Safe{}
		if s.session != nil && !s.session.SDKVersion.IsEmpty() {
			sdk = backend.Textf("; its session declares sandbox SDK %s", s.session.SDKVersion)
		}
		return q.yes(s.from(&sb.Meta), "%s runs image %s%s", sb.Name, sb.Image, sdk)
	}
	return q.unsure("no image of this subject's sandboxes is read")
}

func (s *subjectView) restartPolicy() Check {
	q := question{"restarts", "Does the platform start it again each time it ends?", "a container source"}
	var seen *backend.Sandbox
	for _, sb := range s.sandboxes {
		n, ok := sb.RestartCount.Get()
		if ok && n > 0 {
			return q.yes(s.from(&sb.Meta), "%s was restarted %d times: its restart policy brings it back", sb.Name, n)
		}
		if ok {
			seen = sb
		}
	}
	if seen != nil {
		return q.no(s.from(&seen.Meta), "%s was never restarted", seen.Name)
	}
	if len(s.sandboxes) > 0 {
		q.needs = "its start at two readings"
		return q.unsure("its source counts no restarts")
	}
	return q.unsure("no container source lists it")
}

// destroyStep advises a destroy. Where it is not known who else uses the sandbox, that comes first.
func (s *subjectView) destroyStep(d *Diagnosis) {
	if d.Mark("other-users") == CannotTell {
		d.do("See who else uses it: sandglass get sharing.")
	}
	if len(s.sandboxes) == 1 {
		d.do("Look at what is in it. Then destroy it: x, or %s", backend.Textf("sandglass destroy %s", backend.ShellWord(s.sandboxes[0].Key.ID.Raw())))
		return
	}
	d.do("Look at what is in it. Then destroy it: x, or sandglass destroy.")
}

// waitFirst puts waiting before every other step while the alert is pending: the sandbox may end by itself.
func (s *subjectView) waitFirst(d *Diagnosis) {
	if d.denies || len(s.led) == 0 || s.led[0].State != alerts.StatePending || s.led[0].Why.IsEmpty() {
		return
	}
	first := backend.Textf("Wait: it may end by itself. The alert %s.", s.led[0].Why)
	if d.is("destroy") || d.is("kept-alive") { // then nothing ends it
		first = backend.Textf("It does not end by itself. The alert %s.", s.led[0].Why)
	} else {
		d.Dont = slices.Clone(d.Dont)
		for i, x := range d.Dont {
			if strings.HasPrefix(x.String(), "Don't wait ") {
				d.Dont[i] = backend.Text("Don't destroy it before that: it may be ending.")
			}
		}
	}
	d.Do = append([]backend.Safe{first}, d.Do...)
	if d.NoDestroy.IsEmpty() {
		d.NoDestroy = backend.Textf("the alert is pending, %s", s.led[0].Why)
	}
}

func (s *subjectView) adviseSandboxWillNotEnd(d *Diagnosis) {
	switch {
	case d.Mark("over") == RuledOut:
		d.deny("It is in use: its session runs.")
		d.dont("Don't destroy it: the session would lose its files and be evicted.")
	case d.Mark("up") == RuledOut:
		d.deny("It has ended or sleeps; nothing is left running.")
		d.dont("Don't probe a sleeping sandbox. That wakes it and starts the bill again.")
	case d.is("other-users"):
		d.conclude("Another session uses it: it is shared, not leaked.")
		d.dont("Don't destroy it for one session's sake.")
	case d.is("kept"):
		d.conclude("It is kept on purpose.")
		d.do("Ask the session's owner if it is still needed. If not, end it by hand.")
		d.dont("Don't call it a leak: nothing failed.")
	case d.is("over") && d.is("kept-alive"):
		d.conclude("Its session is over. It is kept alive: only a destroy ends it.")
		s.destroyStep(d)
		d.do("Leave keepAlive off for runs that are not resumed.")
		d.dont("Don't wait for it to fall asleep: it never does.")
	case d.is("awaiting-sleep"):
		d.conclude("It waits to fall asleep. That ends most of the cost by itself.")
		d.do("Lower sleepAfter if that wait costs too much.")
		d.dont("Don't touch it meanwhile: every request restarts the wait.")
	case d.is("close-timeout"):
		d.conclude("Its close timed out: it is leaked. The deadline is %s unless set.", spanText(defaultCloseTimeout))
		s.destroyStep(d)
		d.do("Find out why destroy takes longer than closeTimeoutMs.")
		d.dont("Don't only raise closeTimeoutMs. Sessions then take as long to end.")
	case d.is("destroy"):
		d.conclude("Destroying it fails.")
		d.do("Remove it with the platform's own tool. Keep its error for the report.")
		d.dont("Don't repeat destroy in a loop.")
	case d.is("restarts") && d.is("over"):
		d.conclude("A restart policy brings it back.")
		d.do("Take the restart policy away, then end it.")
		d.dont("Don't kill it again: it comes back.")
	case d.is("over") && d.is("destroy-on-close"):
		d.conclude("Its session is over: it is leaked. Closing should have ended it.")
		s.destroyStep(d)
		d.dont("Don't destroy by age alone; go by the session.")
	case d.is("over") && d.is("up") && s.session == nil:
		d.conclude("Its session is in no list any more.")
		d.NoDestroy = backend.Text("no list names its session, and nothing says that it ended; ask its owner first")
		d.do("Ask the session's owner if its files are still needed. Only then destroy it: x, or sandglass destroy.")
		d.dont("Don't destroy it while its files may be needed.")
	case d.is("over") && d.is("up") && d.Mark("awaiting-sleep") == CannotTell:
		d.conclude("Its session is over. Whether it only waits to fall asleep is not known.")
		d.do("Look again when its idle time has passed. Declare sleepAfter and destroyOnClose, so that the next answer is shorter.")
		d.dont("Don't destroy it before that if its files are still needed.")
	case d.is("over") && d.is("up"):
		d.conclude("Its session is over, and destroyOnClose is off. It is meant to stay.")
		if d.Mark("destroy-on-close") == CannotTell {
			d.conclude("Its session is over. Whether it should end with the session is not declared.")
			d.NoDestroy = backend.Text("whether it should end with its session is not declared; ask its owner first")
			d.do("Ask the session's owner if its files are still needed. Only then destroy it: x, or sandglass destroy.")
		} else {
			d.do("Ask the session's owner if it is still needed. If not, destroy it: x, or sandglass destroy.")
		}
		d.do("Set destroyOnClose for runs that are not resumed.")
		d.dont("Don't destroy it while its files may be needed.")
	case d.is("up") && !s.sessionID.IsZero() && s.session == nil:
		d.conclude("No list ever named session %s. Its owner is not known.", s.sessionID.Safe())
		d.do("Find the owner of session %s. Search the agents' log for it, or look in Helix.", s.sessionID.Safe())
		d.do("Read a list that names all sessions. It is the key list of the helix source.")
		d.dont("Don't destroy it while its owner is not known. An agent may still work in it.")
		d.NoDestroy = backend.Text("no list ever named its session; whether it is over is not known")
	default:
		d.deny("Cannot tell whether it is leaked.")
		d.do("Join sandboxes to sessions by a label. Read a session list too.")
		d.dont("Don't destroy a sandbox whose session is not known.")
	}
	s.waitFirst(d)
	if d.is("image-version") && (d.is("close-timeout") || d.is("destroy") || d.is("over")) {
		d.do("Read the SDK's release notes about destroy. See: %s.", sentence(d.fact("image-version")))
	}
}
