package rules

import (
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/internal/stable"
)

// Signals are planes that nothing observes: what a platform and its hub tell of a sandbox that does not fit its status. They
// only suggest, and are found anew at each look.
const (
	signalResume backend.Plane = "resume" // its newest resume is not finished, or was undone
	signalJob    backend.Plane = "job"    // a job of it does not begin
	signalHub    backend.Plane = "hub"    // its hub cannot reach the driver
	signalViews  backend.Plane = "views"  // the platform's routes differ about it
	signalAgent  backend.Plane = "agent"  // its agent's log says that no command begins in it
)

// allSignals are the signals in the order in which they are told.
func allSignals() []backend.Plane {
	return []backend.Plane{signalResume, signalJob, signalHub, signalViews, signalAgent}
}

func isSignal(p backend.Plane) bool { return slices.Contains(allSignals(), p) }

const (
	hubWaits    = 150 * time.Second // how long a failed signal counts: the Hub gives a driver 120 s
	hubGaveUp   = 15 * time.Minute  // how long its line that it gave up counts
	lookedAfter = 20 * time.Second  // an odd event has the directory listed within that time
)

// onPlatform reports whether a sandbox is one of a platform that tells what it does to it.
func onPlatform(b *backend.Sandbox) bool {
	return !onWorkers(b) && (!b.Region.IsEmpty() || !b.WorkAt.IsZero() || !b.LifecycleAt.IsZero() || b.Provider.String() == "blaxel")
}

// signals brings the signals of a sandbox up to date. It returns when they can change by themselves, zero: never.
func (r *contradiction) signals(env *alerts.Env, b *backend.Sandbox, n *contradictionNote) (next time.Time) {
	was := slices.Clone(n.Failed)
	n.Failed = slices.DeleteFunc(n.Failed, func(f failedPlane) bool { return isSignal(f.Plane) })
	if onPlatform(b) {
		next = r.platformSignals(env, b, n, was)
	}
	if at := r.agentSignal(env, b, n, was); next.IsZero() || !at.IsZero() && at.Before(next) {
		next = at
	}
	return next
}

func (r *contradiction) platformSignals(env *alerts.Env, b *backend.Sandbox, n *contradictionNote, was []failedPlane) (next time.Time) {
	before := len(was)
	later := func(at time.Time) {
		if at.After(env.Now) && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	raise := func(p backend.Plane, at time.Time, what backend.Safe) { // at is steady
		wall := env.Display(at)
		if before == 0 || wall.Before(n.Began) {
			n.Began, n.Worked = wall, time.Time{}
		}
		before++
		f := failedPlane{Plane: p, What: what, At: wall, Times: 1}
		if i := slices.IndexFunc(was, func(f failedPlane) bool { return f.Plane == p }); i >= 0 {
			f.First = was[i].First
		}
		n.Failed = append(n.Failed, f)
	}
	keep := func(p backend.Plane) {
		for _, f := range was {
			if f.Plane == p {
				n.Failed = append(n.Failed, f)
			}
		}
	}
	if at, what, is := oddResume(env, b); b.LifecycleAt.IsZero() && reportedLive(b) && !n.Odd.IsZero() && !worksSince(env, b, n.Odd) {
		keep(signalResume) // its events were not read since the restart
	} else if !is || !reportedLive(b) || worksSince(env, b, at) {
		n.Odd = time.Time{}
	} else {
		if n.Odd.IsZero() {
			n.Odd = env.Now
		}
		due := at.Add(r.unfinished)
		if e, _ := backend.OddResume(b.Lifecycle); e.Kind != backend.LifecycleResumed { // which alone has no directory listed
			due = latestOf(due, n.Odd.Add(lookedAfter))
		}
		if env.Now.Before(due) {
			later(due)
		} else {
			raise(signalResume, n.Odd, what)
		}
	}
	if reportedLive(b) {
		if j := pendingJob(env, b); j != nil {
			since := env.Ours(j.Queued().Latest)
			if due := since.Add(r.pendingJob); env.Now.Before(due) {
				later(due)
			} else {
				raise(signalJob, since, backend.Textf("job %s is %s since at least %s", j.Key.ID.Safe(), j.Reported, env.Clock(since)))
			}
		} else if b.WorkAt.IsZero() && !hasJobs(env, b) {
			keep(signalJob) // its jobs were not read since the restart
		}
		if x, until, is := hubLine(env, b); is {
			later(until)
			raise(signalHub, env.Ours(x.At), backend.Textf("its hub says: %s", backend.Clean(x.Text.String(), 160)))
			n.Failed[len(n.Failed)-1].Until = env.Display(until)
		} else if i := slices.IndexFunc(was, func(f failedPlane) bool { return f.Plane == signalHub }); i >= 0 && env.Display(env.Now).Before(was[i].Until) && !drivenSince(b, was[i].At) {
			later(env.Ours(was[i].Until)) // a process before this one read its line
			keep(signalHub)
		}
	}
	if len(b.Views) > 1 {
		var all []string
		for _, v := range b.Views {
			all = append(all, v.Name.String()+" "+v.Value.String())
		}
		raise(signalViews, env.Now, backend.Textf("the platform's routes disagree: %s", backend.Clean(strings.Join(all, ", "), 160)))
	}
	return next
}

// oddResume says what the platform tells of a sandbox that does not fit a resume which went well.
func oddResume(env *alerts.Env, b *backend.Sandbox) (at time.Time, what backend.Safe, is bool) {
	e, is := backend.OddResume(b.Lifecycle)
	at = env.Ours(e.At)
	clock := env.Clock(at)
	switch e.Kind {
	case backend.LifecycleResumed:
		what = backend.Textf("its resume of %s was only noted (deferred), and nothing tells that it was carried out", clock)
	case backend.LifecycleReconciled:
		what = backend.Textf("the platform corrected its record from %s at %s, without a start since", e.Previous, clock)
	case backend.LifecycleEvacuated:
		what = backend.Textf("it was moved off its host at %s, right after a resume, and no resume followed", clock)
	case backend.LifecycleSuspended:
		what = backend.Textf("it was suspended at %s, right after a resume, and no resume followed", clock)
	case backend.LifecycleCreated, backend.LifecycleStarted, backend.LifecycleCheckpointed, backend.LifecycleDestroyed, backend.LifecycleOther:
	}
	return at, what, is
}

// worksSince reports whether something proves that a sandbox worked after a steady time: a plane of it that was observed, or an
// execution that began.
func worksSince(env *alerts.Env, b *backend.Sandbox, at time.Time) bool {
	o, _ := b.Proved()
	for _, v := range o.Verdicts {
		if v.Outcome == backend.OutcomeOK && v.Plane != backend.PlaneControl && v.Plane != backend.PlaneQueue && env.Ours(v.At).After(at) {
			return true
		}
	}
	for x := range env.State.Executions.Of(backend.KindExecution, b.Key.Source, b.Key.ID) {
		if t, known := x.StartedAt.Get(); known && env.Time(&x.Meta, backend.Known(t)).After(at) {
			return true
		}
	}
	return false
}

// pendingJob is the job of a sandbox that waits longest although no later one began; nil: none does.
func pendingJob(env *alerts.Env, b *backend.Sandbox) *backend.Job {
	var oldest *backend.Job
	for j := range env.State.Jobs.Of(backend.KindJob, b.Key.Source, b.Key.ID) {
		if at := j.Queued().Latest; j.Class == backend.WorkQueued && !at.IsZero() && (oldest == nil || at.Before(oldest.Queued().Latest)) {
			oldest = j
		}
	}
	return oldest
}

func hasJobs(env *alerts.Env, b *backend.Sandbox) bool {
	for range env.State.Jobs.Of(backend.KindJob, b.Key.Source, b.Key.ID) {
		return true
	}
	return false
}

// drivenSince reports whether a driver was seen after a time, or the sandbox started.
func drivenSince(b *backend.Sandbox, at time.Time) bool {
	o, _ := b.Proved()
	driver, _ := o.Of(backend.PlaneDriver)
	return driver.Outcome == backend.OutcomeOK && driver.At.After(at) || b.StartedAt.Or(time.Time{}).After(at)
}

// reportsOf are what log lines said lately of a sandbox or its session, the oldest first.
func reportsOf(env *alerts.Env, b *backend.Sandbox) []backend.Report {
	var out []backend.Report
	for _, h := range env.State.Sources {
		if len(h.Reports) == 0 || !h.ReportsOn(b.Key.Source) {
			continue
		}
		for i := range h.Reports {
			x := &h.Reports[i]
			if x.Kind == backend.ReportJoin || x.Kind == backend.ReportCommandGood || x.Kind == backend.ReportProtocol || x.Kind.Belief() {
				continue // a fleet has many, and none says how a sandbox is
			}
			if x.Sandbox == b.Key.ID || ofSDK(x.Kind) && x.NamesBox(b) || x.Sandbox.IsZero() && !x.Session.IsZero() && x.Session == b.Session {
				out = append(out, *x)
			}
		}
	}
	stable.Sort(out, func(x, y backend.Report) int { return x.At.Compare(y.At) })
	return out
}

// hubLine is the newest log line that says that the hub cannot reach the driver of a sandbox, while nothing newer proves that
// it does; until is when it counts no more.
func hubLine(env *alerts.Env, b *backend.Sandbox) (x backend.Report, until time.Time, is bool) {
	o, _ := b.Proved()
	driver, _ := o.Of(backend.PlaneDriver)
	for _, c := range reportsOf(env, b) {
		if !c.Kind.Suspicious() {
			continue
		}
		lasts := hubWaits
		if c.Kind == backend.ReportDriverTimeout || c.Kind == backend.ReportUnknownSession {
			lasts = hubGaveUp
		}
		end := env.Ours(c.At).Add(lasts)
		back := driver.Outcome == backend.OutcomeOK && driver.At.After(c.At)
		if !back && env.Now.Before(end) && !env.Ours(c.At).Before(env.Time(&b.Meta, b.StartedAt)) {
			x, until, is = c, end, true
		}
	}
	return x, until, is
}

// proved reports whether the failures prove that the sandbox does not work: one that proves itself, or two that do not depend
// on each other. One command that did not end in time, a queue, a driver, a command that a platform refused, files that a platform lost and signals only
// suggest it. A driver that is gone and a hub that cannot reach it are one fact.
func (n *contradictionNote) proved() bool {
	queue, slow := false, false
	for _, f := range n.Failed {
		switch {
		case f.Kind == backend.FailServerFrozen, f.Kind == backend.FailGone, f.Plane == signalAgent && (f.Kind != "" || f.Named):
			return true
		case f.Plane == backend.PlaneQueue:
			queue = true
		case f.Plane == backend.PlaneDriver, isSignal(f.Plane), n.Region != "" && (f.Kind == backend.FailControl5xx || f.Kind == backend.FailFilesystemMissing):
		case f.Kind == backend.FailExecTimeout && f.Times < 2:
			slow = true
		default:
			return true
		}
	}
	return (queue || slow) && n.failures() > 1
}

// failures counts what failed; routes that disagree are no failure.
func (n *contradictionNote) failures() int {
	c := 0
	for _, f := range n.Failed {
		if f.Plane != signalViews {
			c++
		}
	}
	return c
}

// minor reports whether no more is suggested than that the driver is gone: the sandbox itself may be well.
func (n *contradictionNote) minor() bool {
	return !slices.ContainsFunc(n.Failed, func(f failedPlane) bool {
		return f.Plane != signalHub && f.Plane != signalViews && f.Plane != signalJob && (f.Plane != backend.PlaneDriver || f.Kind == backend.FailServerFrozen)
	})
}

// mostNamed bounds the ids that one fact names.
const mostNamed = 6

// platformEvidence are the facts that a platform and log lines tell of a sandbox beside what was observed, and what is missing
// among them.
func platformEvidence(env *alerts.Env, b *backend.Sandbox) []alerts.Evidence {
	var out []alerts.Evidence
	add := func(at time.Time, source string, format backend.Literal, args ...any) {
		out = append(out, alerts.Evidence{Text: backend.Textf(format, args...), Source: source, At: at})
	}
	src := b.Key.Source
	queued, signalled := []string(nil), []*backend.Execution(nil)
	nudges, read := 0, time.Time{}
	for x := range env.State.Executions.Of(backend.KindExecution, src, b.Key.ID) {
		switch {
		case x.Class == backend.WorkQueued:
			queued, read = append(queued, sinceAtLeast(x)), x.ReadAt
			if x.Nudge {
				nudges++
			}
		case x.Nudge && x.Class.Ended():
			signalled = append(signalled, x)
		}
	}
	if len(queued) > 0 {
		text := backend.Textf("reported: %s", backend.Counted(len(queued), "execution is queued", "executions are queued"))
		if nudges > 0 {
			text = backend.Textf("%s, %d of them %s of the driver", text, nudges, backend.Clean(map[bool]string{true: "a nudge", false: "nudges"}[nudges == 1], 20))
		}
		text = backend.Textf("%s: %s", text, backend.Clean(strings.Join(queued[:min(len(queued), mostNamed)], ", "), 600))
		if more := len(queued) - mostNamed; more > 0 {
			text = backend.Textf("%s and %d more", text, more)
		}
		add(read, src, "%s", text)
	}
	out = append(out, nudgeEvidence(env, signalled)...)
	driver, _ := b.Observed.Or(backend.Observation{}).Of(backend.PlaneDriver)
	var newest time.Time
	for j := range env.State.Jobs.Of(backend.KindJob, src, b.Key.ID) {
		if at := j.Started().Latest; at.After(newest) {
			newest = at
		}
		if j.Class != backend.WorkRunning {
			continue
		}
		means := backend.Text("the record alone proves nothing")
		if j.Driver && driver.Outcome == backend.OutcomeFailed {
			means = backend.Text("but no driver leads its session")
		}
		since := backend.Text("")
		if at := j.Started().Latest; !at.IsZero() {
			since = backend.Textf(" since %s", env.Clock(env.Time(&j.Meta, backend.Known(at))))
		}
		add(j.ReadAt, src, "reported: job %s is running%s; %s", j.Key.ID.Safe(), since, means)
	}
	out = append(out, reportEvidence(env, b)...)
	resume, resumed := b.Latest(backend.LifecycleResumed)
	if resumed && !b.WorkAt.IsZero() && !newest.After(resume.At) {
		add(b.WorkAt, src, "missing: no job began since the newest resume, at %s", env.Clock(env.Ours(resume.At)))
	}
	if asleep, is := b.Latest(backend.LifecycleSuspended); is && reportedLive(b) && !resume.At.After(asleep.At) {
		add(b.LifecycleAt, src, "missing: no event of a resume since the newest suspend, at %s", env.Clock(env.Ours(asleep.At)))
	}
	return out
}

// Recalled are what an agent's log says and the signals: each that counts is told, also while a new process has not read yet what they were found in.
func (r *contradiction) Recalled(env *alerts.Env, oldest backend.Entity, note alerts.Note) []alerts.Evidence {
	b, is := oldest.(*backend.Sandbox)
	n := alerts.NoteAs[contradictionNote](note)
	if !is || n == nil {
		return nil
	}
	out := agentEvidence(env, b, n)
	unread := len(out) == 0
	if unread && !n.Good.IsZero() {
		out = append(out, ranBefore(env, n.Good, n.GoodFrom))
	}
	for _, f := range n.ranked() {
		told := f.Plane == signalHub && slices.ContainsFunc(reportsOf(env, b), func(x backend.Report) bool { return x.Kind.Suspicious() })
		if f.Plane == signalAgent {
			if n.Agent != nil && unread { // a process before this one read them
				out = append(out, alerts.Evidence{Text: backend.Textf("log: a command could not begin at %s; that line is older than what is read now, which shows none that ran since", env.Clock(env.Ours(f.At))),
					Source: n.Agent.Source, At: f.At})
			}
			continue
		}
		if isSignal(f.Plane) && !told { // the line itself is evidence
			out = append(out, alerts.Evidence{Text: backend.Textf("reported: %s", f.What), Source: b.Key.Source, At: f.At})
		}
	}
	return out
}

// sinceAtLeast names a queued execution, with the time since when it is known.
func sinceAtLeast(x *backend.Execution) string {
	name := x.Key.ID.Safe().String()
	if at := x.Queued().Latest; !at.IsZero() {
		name += " since at least " + at.UTC().Format("15:04:05Z")
	}
	return name
}

// nudgeEvidence is how the newest of the nudges ended that ran: an exit code says at most that it signalled.
func nudgeEvidence(env *alerts.Env, ended []*backend.Execution) []alerts.Evidence {
	if len(ended) == 0 {
		return nil
	}
	x := slices.MaxFunc(ended, func(x, y *backend.Execution) int { return x.EndedAt.Or(time.Time{}).Compare(y.EndedAt.Or(time.Time{})) })
	how, means := backend.Textf("is %s", x.Reported), backend.Text("that cannot tell whether a driver runs")
	if code, known := x.ExitCode.Get(); known {
		if how = backend.Textf("ended with exit code %d", code); code == 0 {
			means = backend.Text("it signalled, which does not prove a driver")
		}
	}
	if r, is := backend.HubText(x.Error.String()); is && r.Kind == backend.ReportDriverNotFound {
		means = backend.Text("it ran and found no driver process")
	}
	return []alerts.Evidence{{Text: backend.Textf("reported: nudge %s %s: %s", x.Key.ID.Safe(), how, means), Source: x.Key.Source, At: env.Display(env.ReadAt(&x.Meta))}}
}

// reportEvidence is what log lines said of a sandbox: failed nudges as one fact with their number and phases, and the newest
// line of each other kind.
func reportEvidence(env *alerts.Env, b *backend.Sandbox) []alerts.Evidence {
	newest, order := map[backend.ReportKind]backend.Report{}, []backend.ReportKind(nil)
	phases, status, nudges := map[string]int{}, 0, 0
	for _, x := range reportsOf(env, b) {
		if x.Kind == backend.ReportDriverWaiting || x.Kind == backend.ReportJoin || ofSDK(x.Kind) {
			continue
		}
		if _, known := newest[x.Kind]; !known {
			order = append(order, x.Kind)
		}
		newest[x.Kind] = x
		if x.Kind == backend.ReportNudgeFailed {
			nudges++
			phases[x.Phase.String()]++
			status = max(status, x.Status)
		}
	}
	var out []alerts.Evidence
	for _, kind := range order {
		x := newest[kind]
		text := backend.Textf("log: %s", backend.Clean(x.Text.String(), 300))
		if kind == backend.ReportNudgeFailed {
			text = backend.Textf("log: %s failed", backend.Counted(nudges, "nudge", "nudges"))
			for _, phase := range []string{"right after the resume", "follow-up"} {
				if c := phases[phase]; c > 0 {
					text = backend.Textf("%s, %d %s", text, c, backend.Clean(strings.Replace(phase, "follow-up", "as a follow-up", 1), 40))
				}
			}
			if status > 0 {
				text = backend.Textf("%s; a command in it was answered %d", text, status)
			}
			text = backend.Textf("%s: %s", text, backend.Clean(x.Text.String(), 240))
		}
		out = append(out, alerts.Evidence{Text: text, Source: x.Source, At: x.At})
	}
	return out
}
