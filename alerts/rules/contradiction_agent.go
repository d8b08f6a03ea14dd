package rules

import (
	"slices"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// ofSDK reports whether a report is about commands of a sandbox SDK.
func ofSDK(k backend.ReportKind) bool {
	return k == backend.ReportNotStarted || k == backend.ReportCommandRan
}

// onWorkers reports whether a sandbox is a container behind a Cloudflare Worker: its platform tells of it no more than its state.
func onWorkers(b *backend.Sandbox) bool {
	p := b.Provider.String()
	return p == "cloudflare" || p == "cloudflare-sandbox"
}

// namesBox reports whether a line of the sandbox SDK is about a sandbox: it names the id that the application gave it.
func namesBox(x *backend.Report, b *backend.Sandbox) bool {
	if x.Sandbox.IsZero() || !onWorkers(b) {
		return false
	}
	return x.Sandbox == b.Key.ID || x.Sandbox == b.BridgeID || x.Sandbox.Raw() == b.Name.String()
}

// unstarted are the lines of commands that could not begin in a sandbox, since the newest thing that proves that one can: a later
// line of the same session, a start of the container, or a probe after which a fault that an action had found is gone. A probe that
// only finds commands to run proves nothing: they run as well where the directory of the control server is gone.
func unstarted(env *alerts.Env, b *backend.Sandbox) []backend.Report {
	ran := map[backend.ID]time.Time{}
	o, _ := b.Proved()
	works := env.Time(&b.Meta, b.StartedAt)
	if v, is := o.Of(backend.PlaneExec); is && mended(&v) && env.Ours(v.At).After(works) && backend.LinkedRoot(b) == "" {
		works = env.Ours(v.At) // a probe's commands begin in a linked root also where those of a session do not
	}
	var out []backend.Report
	for _, x := range reportsOf(env, b) {
		switch {
		case x.Kind == backend.ReportCommandRan:
			ran[x.Session] = x.At
		case x.Kind == backend.ReportNotStarted && env.Ours(x.At).After(works):
			out = append(out, x)
		}
	}
	return slices.DeleteFunc(out, func(x backend.Report) bool { return !x.At.After(ran[x.Session]) })
}

// agentSignal raises the lines of an agent's log that say that no command begins in its sandbox. They do not tell why: a second
// fact does, such as a command in that log which removed the working directory before. was is what failed before.
func (r *contradiction) agentSignal(env *alerts.Env, b *backend.Sandbox, n *contradictionNote, was []failedPlane) (next time.Time) {
	if b.Class.Ended() {
		return next
	}
	i := slices.IndexFunc(was, func(f failedPlane) bool { return f.Plane == signalAgent })
	lines := unstarted(env, b)
	if len(lines) == 0 {
		if i < 0 || !env.Display(env.Now).Before(was[i].Until) || ranSince(b, reportsOf(env, b), was[i].At) {
			return next
		}
		n.Failed = append(n.Failed, was[i]) // a process before this one read them
		return env.Ours(was[i].Until)
	}
	first, newest := lines[0], lines[len(lines)-1]
	until := env.Ours(newest.At).Add(backend.ReportsFor)
	f := failedPlane{Plane: signalAgent, At: newest.At, Times: 1, Until: env.Display(until), What: backend.Text("no command begins in it, its agent's log says")}
	if i >= 0 {
		f.First = was[i].First
	}
	o, _ := b.Proved()
	plain, _ := o.Of(backend.PlaneExec)
	if to := backend.LinkedRoot(b); to != "" {
		f.Named, f.What = true, backend.Textf("no command begins in it, and its working directory is a link to %s", backend.Clean(to, 120))
	} else if plainRan(b) {
		f.What = backend.Text("no command begins in it, its agent's log says, although a probe's command ran")
	}
	for _, x := range lines {
		if !x.Changed.IsEmpty() && !(plain.Outcome == backend.OutcomeOK && plain.At.After(x.ChangedAt)) { // a probe found it there since
			f.Kind = backend.FailWorkDirMissing
			f.What = backend.Textf("no command begins in it since its working directory was changed: %s", backend.Clean(x.Changed.String(), 120))
		}
	}
	if len(was) == 0 || first.At.Before(n.Began) {
		n.Began, n.Worked = first.At, first.GoodAt
	}
	n.Failed = append(n.Failed, f)
	return until
}

// ranSince reports whether a line or a probe shows a command that ran in a sandbox after a time.
func ranSince(b *backend.Sandbox, said []backend.Report, at time.Time) bool {
	o, _ := b.Proved()
	v, is := o.Of(backend.PlaneExec)
	return is && mended(&v) && v.At.After(at) && backend.LinkedRoot(b) == "" || b.StartedAt.Or(time.Time{}).After(at) ||
		slices.ContainsFunc(said, func(x backend.Report) bool { return x.Kind == backend.ReportCommandRan && x.At.After(at) })
}

// agentEvidence is what its agent's log says of commands that could not begin: how many, since when, and what came before.
func agentEvidence(env *alerts.Env, b *backend.Sandbox) []alerts.Evidence {
	lines := unstarted(env, b)
	if len(lines) == 0 {
		return nil
	}
	first, newest := lines[0], lines[len(lines)-1]
	text := backend.Textf("log: %s in session %s could not begin since %s", backend.Counted(len(lines), "command", "commands"),
		newest.Session.Safe(), env.Clock(env.Ours(first.At)))
	if !newest.Command.IsEmpty() {
		text = backend.Textf("%s, the newest: %s", text, backend.Clean(newest.Command.String(), 120))
	}
	out := []alerts.Evidence{{Text: backend.Textf("%s. None started: one cause", text), Source: newest.Source, At: newest.At}}
	o, _ := b.Proved()
	if to := backend.LinkedRoot(b); to != "" {
		v, _ := o.Of(backend.PlaneList)
		out = append(out, alerts.Evidence{Text: backend.Textf("probe: /workspace is a link to %s, which can be listed: old images begin no command of a session there", backend.Clean(to, 160)), Source: b.Key.Source, At: v.At})
	} else if v, is := o.Of(backend.PlaneExec); is && v.Outcome == backend.OutcomeOK {
		out = append(out, alerts.Evidence{Text: backend.Text("probe: a plain command ran, as it does too where the directory of the control server is gone: a probe cannot tell"), Source: b.Key.Source, At: v.At})
	}
	if !first.GoodAt.IsZero() {
		out = append(out, alerts.Evidence{Text: backend.Textf("log: the newest command that ran in it before was at %s", env.Clock(env.Ours(first.GoodAt))), Source: first.Source, At: first.GoodAt})
	}
	if i := slices.IndexFunc(lines, func(x backend.Report) bool { return !x.Changed.IsEmpty() }); i >= 0 {
		x := lines[i]
		out = append(out, alerts.Evidence{Text: backend.Textf("log: before it, at %s, the agent ran: %s", env.Clock(env.Ours(x.ChangedAt)), backend.Clean(x.Changed.String(), 160)), Source: x.Source, At: x.ChangedAt})
	}
	return out
}

// mended reports whether a plane works in which an action found a fault before.
func mended(v *backend.Verdict) bool {
	return v.Outcome == backend.OutcomeOK && !v.LastFailed.IsZero()
}

// plainRan reports whether the newest probe ran a command. It is streamed, as commands are that begin also where those of a session
// do not: it tells nothing of lines that came after it.
func plainRan(b *backend.Sandbox) bool {
	o, _ := b.Proved()
	v, is := o.Of(backend.PlaneExec)
	return is && v.Outcome == backend.OutcomeOK
}
