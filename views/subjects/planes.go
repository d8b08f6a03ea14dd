package subjects

import (
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// observedFresh is how long a verdict is shown as if it held now; after that its age stands first, and it pales.
const observedFresh = 5 * time.Minute

// observedCell says what was observed of a sandbox. What is older than observedFresh has its age first and pales, and so has
// what was observed of a sandbox that cannot be read now; what was found in a former life is dimmed too.
func observedCell(b *backend.Sandbox, s *views.Snapshot) Cell {
	o, ok := b.Observed.Get()
	now := s.Now
	switch {
	case b.Observed.IsNotApplicable():
		return None()
	case !ok || !o.Tried():
		if failsAlert(b, s) != nil {
			return Cell{Text: backend.Text("log: commands fail"), Short: backend.Text("log: they fail"), Tone: theme.Warn, Mark: theme.MarkUnknown}
		}
		if said := agentSaid(b, s); !said.IsEmpty() {
			return Cell{Text: said, Short: backend.Text("log: none runs"), Tone: theme.Warn, Mark: theme.MarkUnknown}
		}
		return Cell{Text: backend.Text("not tried"), Tone: theme.Dim}
	case o.Past():
		when := backend.Text("before its restart")
		if b.Turn() == "end" {
			when = backend.Text("before it ended")
		}
		return Cell{Text: backend.Textf("%s, %s ago: %s", when, backend.Age(now.Sub(o.At())), o.What()), Short: backend.Text("not since then"), Brief: backend.Text("not since"), Tone: theme.Dim}
	}
	if b.Class == backend.SandboxAsleep && o.Outcome() == backend.OutcomeOK { // what it was while awake
		return Cell{Text: backend.Textf("%s ago, awake: %s", backend.Age(now.Sub(o.At())), o.What()), Short: backend.Text("before it slept"), Brief: backend.Text("before"), Tone: theme.Dim}
	}
	if failsAlert(b, s) != nil && o.Outcome() == backend.OutcomeOK {
		text := backend.Text("its agent's log says that commands fail; no probe ran one")
		if v, tried := o.Present().Of(backend.PlaneExec); tried && v.Outcome == backend.OutcomeOK {
			text = backend.Textf("its agent's log says that commands fail; a probe's ran %s ago, before that", backend.Age(now.Sub(v.At)))
		}
		return Cell{Text: text, Short: backend.Text("log: they fail"), Tone: theme.Warn, Mark: theme.MarkUnknown}
	}
	if said := agentSaid(b, s); !said.IsEmpty() && o.Outcome() == backend.OutcomeOK {
		return Cell{Text: besideAgent(b, s, o), Short: backend.Text("log: none runs"), Tone: theme.Warn, Mark: theme.MarkUnknown}
	}
	former := o
	o = o.Present()
	at, c := decisive(o), Cell{Text: o.What()}
	if at.IsZero() { // what failed in a former life decides
		at = newestFailed(former)
	}
	c.Tone, c.Mark = OutcomeLook(o.Outcome())
	begun := o.Outcome() == backend.OutcomeOK && !o.Begun().IsEmpty()
	if begun {
		c.Short, c.Tone, c.Mark = backend.Text("new, empty"), theme.Warn, theme.MarkUnknown
	}
	if worst, is := o.Worst(); is && worst.Outcome == backend.OutcomeFailed {
		c.Short = failureBrief(worst.Kind)
	}
	if now.Sub(at) > observedFresh || s.Stale(&b.Meta) {
		c.Text, c.Tone = backend.Textf("%s ago: %s", backend.Age(now.Sub(at)), o.What()), theme.Dim
		if o.Works() && !o.Unwell && !begun {
			c.Short, c.Brief = backend.Textf("healthy, %s ago", backend.Age(now.Sub(at))), backend.Text("healthy")
		}
		return c
	}
	switch {
	case o.Outcome() == backend.OutcomeOK && (o.Unwell || o.StatusOnly()):
		c.Tone, c.Mark = theme.Normal, theme.MarkNone
		if !o.Unwell {
			c.Short = backend.Text("status only")
		}
	case o.Works() && !begun && (len(o.NotTried()) > 0 || o.What() != backend.Text("healthy")):
		c.Short = backend.Text("healthy")
	}
	return c
}

// failsSaid is what the log of its agent says of commands that failed in a sandbox, newer than any that is known to have run: as an alert
// tells it, which counts what earlier runs read too, else as it was read now. Empty: it says nothing.
func failsSaid(b *backend.Sandbox, s *views.Snapshot) backend.Safe {
	if a := failsAlert(b, s); a != nil {
		for _, x := range a.Subjects {
			if said := alerts.FailsSaid(x.Detail.String()); said != "" && x.Key == b.Key {
				return backend.Clean(said, 400)
			}
		}
	}
	x := s.State.AgentFailuresOn(b, time.Time{})
	o, _ := b.Proved()
	if v, tried := o.Of(backend.PlaneExec); x.N == 0 || tried && v.At.After(x.At) {
		return backend.Safe{}
	}
	return x.Said(func(t time.Time) string { return Clock(t, s.Now) })
}

// failsAlert is the alert that rests on that; nil: none does.
func failsAlert(b *backend.Sandbox, s *views.Snapshot) *alerts.Alert {
	if a := s.Alert(b.Key); a != nil && alerts.AgentFails(a.Cause.String()) {
		return a
	}
	return nil
}

// failsRow writes that as the agent's word about the plane of commands, else the newest command that its log says was answered. label is
// empty below what a probe found there.
func (w *writer) failsRow(b *backend.Sandbox, label string, said backend.Safe) {
	if !said.IsEmpty() {
		w.cell(label, Cell{Text: backend.Text("fails"), Tone: theme.Warn, Mark: theme.MarkUnknown}, dim("  "+said.String()))
		return
	}
	o, _ := b.Proved()
	ran := w.f.State.RanByLog(b)
	if v, tried := o.Of(backend.PlaneExec); !ran.IsZero() && !(tried && v.At.After(ran)) {
		w.cell(label, Cell{Text: backend.Text("ok"), Mark: theme.MarkUnknown}, dim("  by its agent's log: the newest command was answered at "+Clock(ran, w.f.Now)))
	}
}

// agentSaid is what the log of its agent says of commands in a sandbox that nothing was tried in; empty: nothing.
func agentSaid(b *backend.Sandbox, s *views.Snapshot) backend.Safe {
	if a := s.Alert(b.Key); a != nil && alerts.AgentSays(a.Cause.String()) {
		return backend.Text("log: no command begins")
	}
	return backend.Safe{}
}

// besideAgent says what a probe found beside the word of an agent's log that no command begins: also where it ran none, or none since.
func besideAgent(b *backend.Sandbox, s *views.Snapshot, o backend.Observation) backend.Safe {
	v, tried := o.Present().Of(backend.PlaneExec)
	a := s.Alert(b.Key)
	switch {
	case !tried || v.Outcome != backend.OutcomeOK || a == nil:
		return backend.Text("its agent's log says that no command begins; no probe ran one")
	case v.At.Before(a.Bounds.Latest):
		return backend.Text("its agent's log says that no command begins; a probe's commands ran before that")
	}
	return backend.Text("a probe's commands run; its agent's log says that none begins")
}

// failureBrief is a kind of failure in at most 14 cells; empty for one without a name of its own.
func failureBrief(k backend.FailureKind) backend.Safe {
	return map[backend.FailureKind]backend.Safe{
		backend.FailWorkDirMissing:    backend.Text("no directory"),
		backend.FailWorkDirDangling:   backend.Text("dangling link"),
		backend.FailWorkDirNoDir:      backend.Text("no directory"),
		backend.FailMountUnlinked:     backend.Text("mount removed"),
		backend.FailMountGone:         backend.Text("mount gone"),
		backend.FailControl5xx:        backend.Text("server error"),
		backend.FailExecStuckQueued:   backend.Text("queue stuck"),
		backend.FailExecTimeout:       backend.Text("no end"),
		backend.FailServerFrozen:      backend.Text("frozen"),
		backend.FailServerDir:         backend.Text("no server dir"),
		backend.FailFilesystemMissing: backend.Text("no filesystem"),
		backend.FailGone:              backend.Text("gone"),
		backend.FailUnauthorised:      backend.Text("not permitted"),
		backend.FailProtocol:          backend.Text("versions clash"),
		backend.FailNoSpace:           backend.Text("disk full"),
		backend.FailUsageLimit:        backend.Text("usage limit"),
	}[k]
}

// decisive is the age of what decides an observation: the worst that was found, the oldest of what passed.
func decisive(o backend.Observation) time.Time {
	var at time.Time
	worst := o.Outcome()
	for _, v := range o.Verdicts {
		switch {
		case v.Outcome != worst:
		case at.IsZero(), worst == backend.OutcomeOK && v.At.Before(at), worst != backend.OutcomeOK && v.At.After(at):
			at = v.At
		}
	}
	return at
}

func newestFailed(o backend.Observation) (at time.Time) {
	for _, v := range o.Failed() {
		if v.At.After(at) {
			at = v.At
		}
	}
	return at
}

// OutcomeLook is how an outcome is drawn, of a plane or of a step.
func OutcomeLook(o backend.Outcome) (theme.Tone, theme.Mark) {
	switch o {
	case backend.OutcomeOK:
		return theme.Good, theme.MarkGood
	case backend.OutcomeFailed:
		return theme.Bad, theme.MarkBad
	case backend.OutcomeUnknown:
		return theme.Dim, theme.MarkUnknown
	case backend.OutcomeNotTried:
	}
	return theme.Dim, theme.MarkNone
}

// observed says in one line what was found out about a sandbox by trying it.
func (w *writer) observed(b *backend.Sandbox) {
	switch o, ok := b.Observed.Get(); {
	case ok && o.Tried():
		w.cell("observed", observedCell(b, w.f.Snapshot))
	case !agentSaid(b, w.f.Snapshot).IsEmpty():
		w.Field("observed", dim("nothing was tried; its agent's log says that no command begins in it"))
	case !b.Observed.IsNotApplicable():
		w.Field("observed", dim("nothing was tried"))
	}
}

// planes writes the verdict of each plane, its age and latency, when the plane worked last, and what the platform answered.
func (w *writer) planes(b *backend.Sandbox) {
	o, ok := b.Observed.Get()
	if !ok || !o.Tried() {
		w.failsRow(b, backend.PlaneExec.String(), failsSaid(b, w.f.Snapshot))
		return
	}
	head := observedCell(b, w.f.Snapshot)
	from := faultFrom(b, w.f.Snapshot)
	fails, told := failsSaid(b, w.f.Snapshot), false
	for _, v := range o.Verdicts {
		if !v.Tried() {
			continue
		}
		c := Cell{Text: v.Word()}
		c.Tone, c.Mark = OutcomeLook(v.Outcome)
		older := v.At.Before(from) && !v.Passive && v.Outcome != backend.OutcomeFailed
		if v.Past || older || w.f.Stale(&b.Meta) {
			c.Tone = theme.Dim
		}
		when := found(&v, b, w.f.Now)
		if older {
			if c.Mark = theme.MarkUnknown; v.Outcome == backend.OutcomeOK {
				c.Text = backend.Text("was ok")
			}
			proved, _ := b.Proved()
			when += "; before " + proved.Fault(from).String() + ": it tells nothing of now"
		}
		w.cell(v.Plane.String(), c, dim("  "+when))
		if strings.Contains(v.What.String(), backend.ListHangs) && !older && !v.Past {
			c.Tone = theme.Warn
		}
		if !v.What.IsEmpty() && v.What != head.Text {
			w.Field("", kit.Span{Tone: c.Tone, Text: v.What.String()})
		}
		if v.What == backend.Text(backend.EmptyRead) && from.IsZero() { // commands run
			w.Field("", dim(string(backend.EmptyReadNext)))
		}
		switch {
		case v.Outcome == backend.OutcomeOK:
		case v.LastOK.IsZero():
			w.Field("", dim("no success of it is recorded"))
		default:
			w.Field("", dim("it worked last "+backend.Age(w.f.Now.Sub(v.LastOK))+" ago, at "+Clock(v.LastOK, w.f.Now)))
		}
		for _, e := range v.Evidence {
			w.Field("", dim("answer: "+e.String()))
		}
		if v.Plane == backend.PlaneExec {
			w.failsRow(b, "", fails)
			told = true
		}
	}
	if !told {
		w.failsRow(b, backend.PlaneExec.String(), fails)
	}
	if rest := o.NotTried(); len(rest) > 0 {
		w.Field("not tried", dim(backend.PlaneNames(rest).String()))
	}
}

// found says when and how a verdict was found.
func found(v *backend.Verdict, b *backend.Sandbox, now time.Time) string {
	s := backend.Age(now.Sub(v.At)) + " ago"
	if v.Took > 0 {
		exact := 100 * time.Microsecond
		if v.Took > 10*time.Second {
			exact = time.Second
		}
		s += ", in " + v.Took.Round(exact).String()
	}
	if v.Passive {
		s += ", without running anything"
	}
	if v.Past {
		s += "; before its newest " + b.Turn()
	}
	return s
}

// faultFrom is since when commands fail in a sandbox, by its agent's first line or, behind a Worker, by the probe that found it: what was
// observed before tells nothing of now. Zero: nothing fails so.
func faultFrom(b *backend.Sandbox, s *views.Snapshot) (at time.Time) {
	if !b.OfWorker() {
		if a := failsAlert(b, s); a != nil {
			return a.Bounds.Latest
		}
		return at
	}
	if a := s.Alert(b.Key); a != nil && alerts.AgentSays(a.Cause.String()) {
		at = a.Bounds.Latest
	}
	o, _ := b.Proved()
	if failed := o.CommandsFailed(); failed.After(at) {
		at = failed
	}
	return at
}
