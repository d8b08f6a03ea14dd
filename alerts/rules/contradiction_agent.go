package rules

import (
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// ofSDK reports whether a report is about commands of a sandbox SDK.
func ofSDK(k backend.ReportKind) bool {
	return k == backend.ReportNotStarted || k == backend.ReportCommandRan || k == backend.ReportCommandLost
}

// onWorkers reports whether a sandbox is a container behind a Cloudflare Worker: its platform tells of it no more than its state.
func onWorkers(b *backend.Sandbox) bool {
	return b.OfWorker()
}

// agentOnset is what an agent's log told of the beginning of a failure: a later reading may not hold it any more. Its times are ours,
// as they were read.
type agentOnset struct {
	First     time.Time    `json:"first"`            // the first line of a command that could not begin
	Good      time.Time    `json:"good,omitzero"`    // the newest command that ran before it
	Changed   backend.Safe `json:"changed,omitzero"` // what removed, moved or linked the working directory in between, ChangedAt
	ChangedAt time.Time    `json:"changed_at,omitzero"`
	ChangedBy backend.Safe `json:"changed_by,omitzero"` // the agent that ran it, with its exit code
	Exit      int          `json:"changed_exit,omitzero"`
	Agents    backend.Safe `json:"agents,omitzero"`  // that run commands in it, as the newest of its lines tells
	Source    string       `json:"source,omitempty"` // of the newest of these
	Command   time.Time    `json:"command,omitzero"` // the newest line about a command, and the newest about a call for a file; zero: none
	File      time.Time    `json:"file,omitzero"`
	NoDir     backend.Safe `json:"no_dir,omitzero"` // the newest line, where it names a directory that is missing
}

// sameLine is how far apart two runs may date one line of a log: each measures the clock of its source anew.
const sameLine = time.Second

// join takes over what a line tells of the beginning. A line before a command that ran is of another failure, and a change of the working
// directory before one, or before its repair, explains nothing.
func (a *agentOnset) join(x *backend.Report, repair time.Time) {
	if a.First.IsZero() || x.At.Before(a.First.Add(-sameLine)) && x.At.After(a.Good) {
		a.First = x.At
	}
	if x.GoodAt.After(a.Good) && !x.GoodAt.After(a.First) {
		a.Good = x.GoodAt
	}
	if a.Good.After(a.First) { // of an older line only what it tells itself is known
		a.Good = x.GoodAt
		if x.GoodAt.After(a.First) {
			a.Good = a.First
		}
	}
	if !x.Changed.IsEmpty() && x.ChangedAt.After(latestOf(a.ChangedAt, repair)) && !x.ChangedAt.Before(x.GoodAt) {
		a.Changed, a.ChangedAt, a.ChangedBy, a.Exit = x.Changed, x.ChangedAt, x.ChangedBy, x.Exit
	}
	if !x.Agents.IsEmpty() {
		a.Agents = x.Agents
	}
	a.NoDir = backend.Safe{}
	if _, _, is := backend.NoDirectoryText(x.Text.String()); is {
		a.NoDir = x.Text
	}
	a.Source = x.Source
	newest := &a.Command
	if x.FileCall {
		newest = &a.File
	}
	*newest = latestOf(*newest, x.At)
}

// first is when its first line was written; zero: there is none.
func (a *agentOnset) first() time.Time {
	if a == nil {
		return time.Time{}
	}
	return a.First
}

// onlyFiles reports whether its lines are about calls for files, and none about a command.
func (a *agentOnset) onlyFiles() bool { return !a.File.IsZero() && a.Command.IsZero() }

// nothingBegins says what does not begin in its sandbox.
func (a *agentOnset) nothingBegins() backend.Safe {
	switch {
	case a.onlyFiles():
		return backend.Text("no file call begins in it")
	case !a.File.IsZero():
		return backend.Text("no command begins in it, and no file call does")
	}
	return backend.Text("no command begins in it")
}

// serverDirGone reports whether calls for files fail as commands do, in a sandbox whose working directory was looked at since it was
// changed and is no link: then the directory of its control server is gone, unless its image outlives that.
func (a *agentOnset) serverDirGone(b *backend.Sandbox) bool {
	o, _ := b.Proved()
	v, is := o.Of(backend.PlaneList)
	looked := is && (v.Outcome == backend.OutcomeOK || v.Outcome == backend.OutcomeFailed) && v.Kind != backend.FailWorkDirDangling && backend.LinkedRoot(b) == ""
	return looked && !a.File.IsZero() && !v.At.Before(a.ChangedAt) && !backend.SDKPinned(b.Image.String())
}

// repairOf is when commands of a sandbox were last repaired; zero: they were not.
func repairOf(b *backend.Sandbox) time.Time {
	o, _ := b.Proved()
	v, _ := o.Of(backend.PlaneExec)
	return v.Repaired
}

// mend is when a fault that an action had found was first proved to be gone.
type mend struct {
	Of time.Time `json:"of"` // when the fault was last found
	At time.Time `json:"at"`
}

// mendedAt is when commands were first proved to run after a fault that an action had found: by a repair, else by the first look
// after it. Later looks prove nothing more: a probe's commands begin where those of a session do not. Zero: there was none, or
// a probe's commands begin in a linked directory where those of a session do not.
func (n *contradictionNote) mendedAt(b *backend.Sandbox) time.Time {
	o, _ := b.Proved()
	v, is := o.Of(backend.PlaneExec)
	if !is || !mended(&v) || backend.LinkedRoot(b) != "" {
		return time.Time{}
	}
	if v.Repaired.After(v.LastFailed) {
		return v.Repaired
	}
	if n.Mend == nil || !n.Mend.Of.Equal(v.LastFailed) {
		n.Mend = &mend{v.LastFailed, v.At}
	}
	return n.Mend.At
}

// unstarted are the lines of commands that could not begin in a sandbox, since the newest thing that proves that one can: a later
// line of the same session, a start of the container, or the proof that a fault which an action had found is gone. A probe that
// only finds commands to run proves nothing: they run as well where the directory of the control server is gone.
func unstarted(env *alerts.Env, b *backend.Sandbox, gone time.Time) []backend.Report {
	o, _ := b.Observed.Get()
	works := latestOf(env.Time(&b.Meta, b.StartedAt), latestOf(latestOf(env.Ours(gone), env.Ours(o.Destroyed())), env.Ours(repairOf(b))))
	var out []backend.Report
	for _, x := range reportsOf(env, b) {
		switch {
		case x.Kind == backend.ReportCommandRan: // of two lines at one time the first read comes first
			out = slices.DeleteFunc(out, func(y backend.Report) bool { return y.Session == x.Session })
		case x.Kind == backend.ReportNotStarted && env.Ours(x.At).After(works):
			out = append(slices.DeleteFunc(out, func(y backend.Report) bool { return y.Session == x.Session && y.At.Before(x.GoodAt) }), x)
		}
	}
	plain, _ := o.Of(backend.PlaneExec)
	return slices.DeleteFunc(out, func(x backend.Report) bool {
		_, _, noDir := backend.NoDirectoryText(x.Text.String())
		return noDir && plain.Outcome == backend.OutcomeOK && plain.At.After(x.At) // it begins where that could not
	})
}

// agentSignal raises the lines of an agent's log that say that no command begins in its sandbox. They do not tell why: a second
// fact does, such as a command in that log which removed the working directory before, or a repair of it after which they go on.
// was is what failed before.
func (r *contradiction) agentSignal(env *alerts.Env, b *backend.Sandbox, n *contradictionNote, was []failedPlane) (next time.Time) {
	if b.Class.Ended() {
		return next
	}
	gone := n.mendedAt(b)
	over := func(f failedPlane) bool {
		return f.Plane == signalAgent && (ranSince(b, reportsOf(env, b), f.At, gone) || n.Agent != nil && !n.Agent.NoDir.IsEmpty() && plainRan(b, f.At))
	}
	if was = slices.DeleteFunc(was, over); !slices.ContainsFunc(was, func(f failedPlane) bool { return f.Plane == signalAgent }) {
		n.Agent = nil // what comes now is another failure
	}
	i := slices.IndexFunc(was, func(f failedPlane) bool { return f.Plane == signalAgent })
	lines := unstarted(env, b, gone)
	if len(lines) == 0 {
		if i < 0 || !env.Display(env.Now).Before(was[i].Until) {
			return next
		}
		n.Failed = append(n.Failed, was[i]) // a process before this one read them
		return env.Ours(was[i].Until)
	}
	began := agentOnset{}
	if n.Agent != nil {
		began = *n.Agent
	}
	for j := range lines {
		began.join(&lines[j], repairOf(b))
	}
	n.Agent = &began
	newest := lines[len(lines)-1]
	until := env.Ours(newest.At).Add(backend.ReportsFor)
	f := failedPlane{Plane: signalAgent, At: newest.At, Times: 1, Until: env.Display(until), What: backend.Textf("%s, its agent's log says", began.nothingBegins())}
	if i >= 0 {
		f.First = was[i].First
	}
	n.named(env, b, gone, &f)
	worked := began.Good
	worked = latestOf(worked, repairOf(b)) // what goes on after a repair did not begin before it
	n.begins(len(was) == 0, began.First, worked)
	n.Failed = append(n.Failed, f)
	return until
}

// named says what stands beside the lines of an agent, if anything does.
func (n *contradictionNote) named(env *alerts.Env, b *backend.Sandbox, gone time.Time, f *failedPlane) {
	o, _ := b.Proved()
	plain, _ := o.Of(backend.PlaneExec)
	x, none := n.Agent, n.Agent.nothingBegins()
	switch to := backend.LinkedRoot(b); {
	case to != "" && !backend.SDKPinned(b.Image.String()):
		f.Named, f.What = true, backend.Textf("no command begins in it, and its working directory is a link to %s", backend.Clean(to, 120))
	case repaired(&plain, gone) && !x.Good.After(gone):
		f.Named, f.What = true, backend.Textf("%s after its repair at %s, its agent's log says", none, env.Clock(env.Ours(gone)))
	case plainRan(b, x.First):
		f.What = backend.Textf("%s, its agent's log says, although a probe's command ran", none)
	}
	if !x.NoDir.IsEmpty() && !x.Good.IsZero() { // a command ran before, so that there is a shell
		f.Kind, f.What = backend.FailWorkDirMissing, backend.Textf("%s for want of its directory, its agent's log says", none)
	}
	if x.serverDirGone(b) {
		f.Kind, f.What = backend.FailServerDir, backend.Textf("%s: the directory of its control server is gone", none)
		return
	}
	if !x.Changed.IsEmpty() && !(plain.Outcome == backend.OutcomeOK && plain.At.After(x.ChangedAt)) { // a probe found it there since
		f.Kind = backend.FailWorkDirMissing
		by := backend.Text("its working directory was changed")
		if !x.ChangedBy.IsEmpty() {
			by = backend.Textf("the agent %s changed its working directory", x.ChangedBy)
		}
		f.What = backend.Textf("%s since %s: %s", none, by, backend.Clean(x.Changed.String(), 120))
	}
}

// begins moves the onset to a failure that began before it, or to the first one. A time at which it worked stays while it lies before.
func (n *contradictionNote) begins(first bool, at, worked time.Time) {
	switch {
	case first:
		n.Began, n.Worked = at, worked
	case at.Before(n.Began):
		if n.Worked.Before(at) && n.Worked.After(worked) {
			worked = n.Worked
		}
		n.Began, n.Worked = at, worked
	case worked.After(n.Worked) && worked.Before(n.Began):
		n.Worked = worked
	}
}

// ranBefore is what a log says of the newest command that ran before a fault. at is its line's.
func ranBefore(env *alerts.Env, at time.Time, source string) alerts.Evidence {
	return alerts.Evidence{Text: backend.Textf("log: the newest command that ran in it before was at %s", env.Clock(env.Ours(at))), Source: source, At: at}
}

// ranInLog brings the last time at which a sandbox of a Worker is known to have worked up to date with what the log of its agent shows
// to have run before the fault.
func (n *contradictionNote) ranInLog(env *alerts.Env, b *backend.Sandbox) {
	for _, h := range env.State.Sources {
		if !onWorkers(b) || len(h.Reports) == 0 || !h.ReportsOn(b.Key.Source) {
			continue
		}
		for i := range h.Reports {
			x := &h.Reports[i]
			if at := env.Ours(x.At); x.Kind == backend.ReportCommandGood && x.NamesBox(b) && at.Before(steadyOf(env, b, n.Began)) && !at.Before(env.Time(&b.Meta, b.StartedAt)) {
				if x.At.After(n.Good) {
					n.Good, n.GoodFrom = x.At, x.Source
				}
				if at.After(steadyOf(env, b, n.Worked)) {
					n.Worked = env.Display(at)
				}
			}
		}
	}
}

// ranSince reports whether a line or a look shows a command that ran in a sandbox after a time. gone is when a fault was proved to
// be gone.
func ranSince(b *backend.Sandbox, said []backend.Report, at, gone time.Time) bool {
	o, _ := b.Observed.Get()
	return gone.After(at) || o.Destroyed().After(at) || b.StartedAt.Or(time.Time{}).After(at) ||
		slices.ContainsFunc(said, func(x backend.Report) bool { return x.Kind == backend.ReportCommandRan && x.At.After(at) })
}

// agentEvidence is what its agent's log says of commands that could not begin: how many, since when, and what came before.
func agentEvidence(env *alerts.Env, b *backend.Sandbox, n *contradictionNote) []alerts.Evidence {
	note := *n // evidence changes nothing
	gone := note.mendedAt(b)
	lines := unstarted(env, b, gone)
	if n.Agent != nil { // what failed before a command that an earlier run read is of another failure
		lines = slices.DeleteFunc(lines, func(x backend.Report) bool { return x.At.Before(n.Agent.First.Add(-sameLine)) })
	}
	if len(lines) == 0 || n.Agent == nil {
		return nil
	}
	newest, began := lines[len(lines)-1], n.Agent
	count, file := counted(lines)
	if began.First.Before(lines[0].At) { // the first ones are not read any more
		count = backend.Textf("at least %s", count)
	}
	in := backend.Text("without a session")
	if !newest.Session.IsZero() {
		in = backend.Textf("in session %s", newest.Session.Safe())
	}
	text := backend.Textf("log: %s %s could not begin since %s, none started: one cause", count, in, env.Clock(env.Ours(began.First)))
	if !newest.Command.IsEmpty() && !newest.FileCall {
		text = backend.Textf("%s, the newest: %s", text, backend.Clean(newest.Command.String(), 120))
	}
	out := []alerts.Evidence{{Text: text, Source: newest.Source, At: newest.At}}
	if file != nil {
		out = append(out, alerts.Evidence{Text: backend.Textf("log: a file call failed with these words, as one does where the directory of the control server is gone: %s", backend.Clean(file.Text.String(), 200)),
			Source: file.Source, At: file.At})
	}
	if !began.NoDir.IsEmpty() {
		out = append(out, alerts.Evidence{Text: backend.Textf("log: it names a directory that is missing: %s", backend.Clean(began.NoDir.String(), 200)), Source: newest.Source, At: newest.At})
	}
	o, _ := b.Proved()
	if to := backend.LinkedRoot(b); to != "" {
		v, _ := o.Of(backend.PlaneList)
		said := backend.Textf("probe: /workspace is a link to %s, which can be listed: old images begin no command of a session there", backend.Clean(to, 160))
		if backend.SDKPinned(b.Image.String()) {
			said = backend.Textf("probe: /workspace is a link to %s, which can be listed. Its image (%s) is none of the old ones that begin no command of a session there: the link does not explain it",
				backend.Clean(to, 120), backend.Clean(b.Image.String(), 80))
		}
		out = append(out, alerts.Evidence{Text: said, Source: b.Key.Source, At: v.At})
	} else if v, _ := o.Of(backend.PlaneExec); began.ChangedAt.After(v.At) {
		// what was found before that tells nothing
	} else if repaired(&v, gone) && plainRan(b, began.First) && !began.Good.After(gone) {
		out = append(out, alerts.Evidence{Text: backend.Text("repair: plain commands run since then, and those of the agent do not begin all the same: what was repaired is not all that is wrong"), Source: b.Key.Source, At: gone})
	} else if v.Outcome == backend.OutcomeOK && v.At.Before(began.First) {
		out = append(out, alerts.Evidence{Text: backend.Textf("probe: a plain command ran at %s, before the first such line: that tells nothing of now", env.Clock(env.Ours(v.At))), Source: b.Key.Source, At: v.At})
	} else if v.Outcome == backend.OutcomeOK && !began.serverDirGone(b) {
		out = append(out, alerts.Evidence{Text: backend.Text("probe: a plain command ran, as it does too where the directory of the control server is gone: a probe cannot tell"), Source: b.Key.Source, At: v.At})
	}
	if !began.Good.IsZero() && !env.Ours(began.Good).Before(env.Time(&b.Meta, b.StartedAt)) {
		out = append(out, ranBefore(env, began.Good, began.Source))
	}
	if !began.Changed.IsEmpty() {
		out = append(out, alerts.Evidence{Text: alerts.RootChange(env.Clock(env.Ours(began.ChangedAt)), began.ChangedBy, backend.Clean(began.Changed.String(), 160), began.Exit), Source: began.Source, At: began.ChangedAt})
	}
	if strings.Contains(began.Agents.String(), ", ") {
		out = append(out, alerts.Evidence{Text: alerts.SharedBy(began.Agents), Source: began.Source, At: newest.At})
	}
	return out
}

// counted says how many commands and how many calls for files some lines are about, with the newest of the latter.
func counted(lines []backend.Report) (count backend.Safe, file *backend.Report) {
	files := 0
	for i := range lines {
		if lines[i].FileCall {
			files, file = files+1, &lines[i]
		}
	}
	calls, commands := backend.Counted(files, "file call", "file calls"), backend.Counted(len(lines)-files, "command", "commands")
	switch files {
	case 0:
		return backend.Textf("%s", commands), nil
	case len(lines):
		return backend.Textf("%s", calls), file
	}
	return backend.Textf("%s and %s", commands, calls), file
}

// sdkEvidence is what the log says that the SDK of its agent met with a sandbox, of these kinds of errors: the agent's class, beside what
// was observed.
func sdkEvidence(env *alerts.Env, b *backend.Sandbox, of ...backend.Metric) (out []alerts.Evidence) {
	for _, x := range env.State.SDKErrorsOn(b) {
		if !slices.Contains(of, x.Metric) {
			continue
		}
		out = append(out, alerts.Evidence{Text: backend.Textf("log: %s of its agent failed in %s, the newest: %s; %s", x.Of, plural(int(x.N), "line"), x.Newest, x.Means),
			Value: backend.Known(x.N), Unit: "lines", Source: x.Source, At: x.At})
	}
	return out
}

// unlisted reports whether all that fails is the list of a Worker's sandbox in which plain commands run: that is a note.
func (n *contradictionNote) unlisted(b *backend.Sandbox) bool {
	return onWorkers(b) && plainRan(b, time.Time{}) && !slices.ContainsFunc(n.Failed, func(f failedPlane) bool { return f.Plane != backend.PlaneList || f.Kind != "" })
}

// mended reports whether a plane works in which an action found a fault before.
func mended(v *backend.Verdict) bool {
	return v.Outcome == backend.OutcomeOK && !v.LastFailed.IsZero()
}

// repaired reports whether a fault is gone since a repair.
func repaired(v *backend.Verdict, gone time.Time) bool {
	return !gone.IsZero() && v.Repaired.Equal(gone)
}

// plainRan reports whether the newest probe ran a command, no earlier than since. It is streamed, as commands are that begin also where those of a session
// do not: it tells nothing of lines that came after it.
func plainRan(b *backend.Sandbox, since time.Time) bool {
	o, _ := b.Proved()
	v, is := o.Of(backend.PlaneExec)
	return is && v.Outcome == backend.OutcomeOK && !v.At.Before(since)
}

// faultFrom is when the fault of an alert about a sandbox was there: since its agent's first line, or behind a Worker since the probe that
// found commands to fail. What worked before it tells nothing of now. Zero: nothing fails so.
func faultFrom(env *alerts.Env, a *alerts.Alert, b *backend.Sandbox) (at time.Time) {
	if alerts.AgentFails(a.Cause.String()) {
		return env.Display(a.Bounds.Latest)
	}
	if !onWorkers(b) {
		return at
	}
	if alerts.AgentSays(a.Cause.String()) {
		at = env.Display(a.Bounds.Latest)
	}
	o, _ := b.Proved()
	return latestOf(at, o.CommandsFailed())
}

// ownCommands is what the agents of an incident's sandboxes ran themselves that changed their working directories. Where most did, no
// cause outside them has to be looked for first.
func ownCommands(all []backend.Key, known alerts.Known) (out []alerts.Evidence, most bool) {
	n, newest := 0, (*agentOnset)(nil)
	for _, k := range all {
		note := alerts.NoteAs[contradictionNote](known.Note(k))
		if note == nil || note.Agent == nil || note.Agent.Changed.IsEmpty() || !slices.ContainsFunc(note.Failed, func(f failedPlane) bool { return f.Plane == signalAgent }) {
			continue
		}
		if n++; newest == nil || note.Agent.ChangedAt.After(newest.ChangedAt) {
			newest = note.Agent
		}
	}
	if n == 0 {
		return nil, false
	}
	whom := backend.Textf("in %d of %d", n, len(all))
	if most = 2*n > len(all); !most {
		whom = backend.Textf("%s, not in most,", whom)
	}
	return []alerts.Evidence{{Text: backend.Textf("log: %s its own agent ran what changed its working directory, such as: %s", whom, backend.Clean(newest.Changed.String(), 160)),
		Source: newest.Source, At: newest.ChangedAt}}, most
}

// rolloutLasts is how long a rollout may leave a container with the version of before: it is asked to stop, and killed after 15 minutes.
const rolloutLasts = 20 * time.Minute

// mismatched remembers since when probes find versions that do not understand each other. During a rollout that is no failure; found
// again when one would be over, it is.
func (n *contradictionNote) mismatched(v *backend.Verdict) {
	switch {
	case v.Plane != backend.PlaneExec:
	case v.Kind != backend.FailProtocol:
		n.Mismatch = time.Time{}
	case n.Mismatch.IsZero(), v.LastOK.After(n.Mismatch):
		n.Mismatch = v.At
	case v.Outcome == backend.OutcomeFailed:
		v.Since = n.Mismatch
	case v.At.Sub(n.Mismatch) >= rolloutLasts:
		v.Outcome, v.Since = backend.OutcomeFailed, n.Mismatch
	}
}

// calmWithin is how soon after a probe a list must show that no rollout goes on, to tell that none went on during it.
const calmWithin = 2 * time.Minute

// calm makes a failure of versions that a probe found not to understand each other while no rollout of the application went on, as the
// list told that was read next: then nothing ends it by itself. That verdict stays one, whatever is listed later.
func (n *contradictionNote) calm(env *alerts.Env, b *backend.Sandbox, all []backend.Verdict) []backend.Verdict {
	i := slices.IndexFunc(all, func(v backend.Verdict) bool {
		return v.Plane == backend.PlaneExec && v.Kind == backend.FailProtocol && !v.Passive && !v.Past
	})
	if i < 0 {
		n.Calm = time.Time{}
		return all
	}
	at := all[i].At
	if m, is := env.State.Misfit(b); is && m.At.Equal(at) && !m.Calm.IsEmpty() && !b.Stale && b.ReadAt.After(at) && b.ReadAt.Sub(at) <= calmWithin {
		n.Calm = at
	}
	if !n.Calm.Equal(at) {
		return all
	}
	all = slices.Clone(all)
	all[i].Outcome = backend.OutcomeFailed
	return all
}

// protocolLines are the verdicts on a sandbox, that on its commands by its agent's log where newer lines tell of versions that do not
// understand each other, or of a command that ran since such a line.
func protocolLines(env *alerts.Env, b *backend.Sandbox, all []backend.Verdict) []backend.Verdict {
	bad, good := env.State.VersionsSaid(b)
	v := backend.Verdict{Plane: backend.PlaneExec, Passive: true, Outcome: backend.OutcomeUnknown, Kind: backend.FailProtocol, At: bad.At,
		What: backend.Text("its agent's log names versions that do not understand each other")}
	if good.At.After(bad.At) {
		v.Outcome, v.Kind, v.At = backend.OutcomeOK, "", good.At
	}
	i := slices.IndexFunc(all, func(x backend.Verdict) bool { return x.Plane == backend.PlaneExec })
	switch {
	case bad.At.IsZero(), i >= 0 && all[i].At.After(v.At), env.Ours(bad.At).Before(env.Time(&b.Meta, b.StartedAt)):
		return all
	case i >= 0:
		v.LastOK = all[i].LastOK
	}
	return append(slices.DeleteFunc(slices.Clone(all), func(x backend.Verdict) bool { return x.Plane == backend.PlaneExec }), v)
}
