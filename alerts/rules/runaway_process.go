package rules

import (
	"cmp"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
)

// RunawayOptions are the keys of `[rules.runaway-process]`.
type RunawayOptions struct{ Common }

func runawayDefaults() *RunawayOptions {
	return &RunawayOptions{common(alerts.SeverityWarning)}
}

func (o *RunawayOptions) build() (alerts.Rule, error) {
	return &runawayProcess{base: dueBase(&o.Common, "runaway-process").base}, nil
}

// runawayNote is what is remembered of the processes in a sandbox. Times are steady.
type runawayNote struct {
	Found bool                 `json:"found,omitempty"` // a probe found one, and none since found it gone
	Over  time.Time            `json:"over,omitzero"`   // when its session was first known to be over
	Told  map[string]time.Time `json:"told,omitempty"`  // by process: when the log of its agent has the error of that command
}

// runawayProcess is about what runs on in a sandbox without anybody who waits for it: its agent gave it up, or its session ended. The
// timeout of an agent's SDK ends its own wait only.
type runawayProcess struct {
	base
	remembers[runawayNote]
}

// The kinds of runaways, the worst first.
type runawayKind uint8

const (
	runawayTold     runawayKind = iota // its agent's log has the error of a command at that time
	runawayWaited                      // a command of the agent's SDK, past the time for which that waits
	runawaySnapshot                    // a save or restore, past that time
	runawayOutlived                    // its session ended before it was read
	runawayStart                       // the command that makes the root of a session, late: whether its agent waits is not known
	runawayNamed                       // somebody gave it a name: whether an agent waited for it is not known
	runawayEnding                      // its session ended just before it was read: it may end yet
)

// runaway is one process that a probe found.
type runaway struct {
	kind   runawayKind
	p      backend.SandboxProcess
	role   fleet.ProcessRole
	since  time.Time // steady: when nobody waited for it any more
	over   time.Time // when its session was over, where that was read after it; zero: it was not
	shared bool      // the log tells of fewer commands than processes that it may mean
}

// Judge looks at the processes that a probe read: nothing is asked for it, and only a later reading ends what it found.
func (r *runawayProcess) Judge(env *alerts.Env, e backend.Entity, known alerts.Note) alerts.Verdict {
	b, ok := e.(*backend.Sandbox)
	if !ok || !b.Judged() || !onPlatform(b) {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	if b.Class.Ended() || b.Class == backend.SandboxRemoving {
		return alerts.Verdict{Outcome: alerts.False}
	}
	n := runawayNote{}
	if old := alerts.NoteAs[runawayNote](known); old != nil {
		n = *old
	}
	end, over := env.State.EndOn(b)
	n.over(env, b, &end, over)
	again := time.Time{}
	if !env.State.SessionOn(b).IsZero() {
		again = recheckOf(env, b.Key) // its session may end without a change of it
	}
	x, read := b.Inside()
	if newLife(b) { // what ran in its former life went with that
		read, n.Found, n.Told = false, false, nil
	}
	if !read || !x.Read(backend.PartProcesses) {
		v := alerts.Verdict{Outcome: alerts.False, Note: alerts.NoteOf(&n), Recheck: again}
		if n.Found || read {
			v.Outcome, v.Why = alerts.NoData, backend.Text("not evaluated: its processes are not read. A probe reads them")
		}
		return v
	}
	grace := stateOf(env, b).Timeout(backend.AgentCleanup)
	found := r.find(env, b, x, &n, grace)
	if n.Found = len(found) > 0; !n.Found {
		return alerts.Verdict{Outcome: alerts.False, Note: alerts.NoteOf(&n), Recheck: again}
	}
	worst := &found[0]
	says := worst.says()
	v := alerts.Verdict{Outcome: alerts.True, Runbook: "contradiction", Source: b.Key.Source, Session: env.State.SessionOn(b), Provider: b.Provider, Cause: says, Fingerprint: worst.fingerprint(),
		Confirmed: env.Ours(x.At), Bounds: alerts.Bounds{Latest: worst.since}, Note: alerts.NoteOf(&n), Recheck: again}
	switch worst.kind {
	case runawayEnding:
		v.Suspected, v.Why = true, backend.Textf("fires where a probe after %s finds it again", env.Clock(worst.since.Add(grace)))
	case runawayNamed:
		v.Severity = alerts.SeverityInfo
	case runawayTold, runawayWaited, runawaySnapshot, runawayOutlived, runawayStart:
	}
	parts := make([]backend.Safe, 0, maxListed)
	for i := range found[:min(len(found), maxListed)] {
		parts = append(parts, found[i].told(env))
	}
	v.Detail = backend.Join(parts, "; ")
	if more := len(found) - len(parts); more > 0 {
		v.Detail = backend.Textf("%s; and %d more", v.Detail, more)
	}
	return v
}

// Blind says where no probe read the processes yet.
func (r *runawayProcess) Blind(st *fleet.State, h *fleet.SourceHealth) (backend.Safe, bool) {
	return notProbed(st, h, backend.PartProcesses, "the processes")
}

// newLife reports whether a sandbox was made, or began on an empty disk, after the newest probe of it.
func newLife(b *backend.Sandbox) bool {
	o, _ := b.Observed.Get()
	v, is := o.Of(backend.PlaneControl)
	return is && v.Inside != nil && (v.Inside.At.Before(b.CreatedAt.Or(time.Time{})) || v.Inside.At.Before(b.FreshAt))
}

// over notes since when the session of a sandbox is known to be over.
func (n *runawayNote) over(env *alerts.Env, b *backend.Sandbox, end *fleet.SessionEnd, is bool) {
	switch {
	case !is && env.State.LiveOn(b).IsEmpty(): // what said it may be forgotten
	case !is:
		n.Over = time.Time{}
	case !end.At.IsZero():
		n.Over = env.Ours(end.At)
	case n.Over.IsZero():
		n.Over = env.Now
	}
}

// find are the runaways among the processes of a probe, the worst first, of one kind the one that was given up first.
func (r *runawayProcess) find(env *alerts.Env, b *backend.Sandbox, x *backend.Inside, n *runawayNote, grace time.Duration) (out []runaway) {
	told := map[string]time.Time{}
	session, named := env.State.SessionOn(b), toldProcesses(env, b, x)
	for _, p := range x.Processes {
		if p.Class != backend.WorkRunning {
			continue
		}
		f := runaway{p: p, role: env.State.RoleOf(b, &p, x.At)}
		id := p.PID.String() + " " + p.StartedAt.UTC().Format(time.RFC3339)
		if at := f.role.Told; !at.IsZero() && named[lineOf(&p, &f.role)] > env.State.CommandErrors(session, &p, &f.role) {
			f.role.Told, f.role.GaveUp, f.role.Sure, f.shared = time.Time{}, f.role.Due, false, true
		} else if !at.IsZero() {
			told[id] = at
		} else if at, was := n.Told[id]; was { // lines are kept for an hour
			f.role.Told, told[id] = at, at
			if f.role.Due.IsZero() || at.Before(f.role.Due.Add(-time.Minute)) {
				f.role.GaveUp, f.role.Sure = at, true // only a line that named it stood so
			}
		}
		if f.judge(env, x.At, n.Over, grace) {
			out = append(out, f)
		}
	}
	if n.Told = told; len(told) == 0 {
		n.Told = nil
	}
	stable.Sort(out, func(a, b runaway) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), a.since.Compare(b.since), cmp.Compare(a.p.PID.String(), b.p.PID.String()))
	})
	return out
}

// toldLine is a line of a log that may tell of processes; no command: it names none.
type toldLine struct {
	at      time.Time
	command string
}

func lineOf(p *backend.SandboxProcess, r *fleet.ProcessRole) toldLine {
	if !r.Sure {
		return toldLine{at: r.Told}
	}
	return toldLine{r.Told, backend.CommandOf(p.Command.String())}
}

// toldProcesses counts by the line of a log which may tell of them the processes that run.
func toldProcesses(env *alerts.Env, b *backend.Sandbox, x *backend.Inside) map[toldLine]int {
	out := map[toldLine]int{}
	for _, p := range x.Processes {
		if r := env.State.RoleOf(b, &p, x.At); !r.Told.IsZero() {
			out[lineOf(&p, &r)]++
		}
	}
	return out
}

// judge says of what kind a process is that ran when it was read; false: it is no runaway.
func (f *runaway) judge(env *alerts.Env, read, over time.Time, grace time.Duration) bool {
	f.since = env.Ours(f.role.GaveUp)
	left := !over.IsZero() && !env.Ours(read).Before(over) && (f.p.StartedAt.IsZero() || env.Ours(f.p.StartedAt).Before(over))
	outlived := left && env.Ours(read).Sub(over) > grace
	if left {
		f.over = over
	}
	switch {
	case !f.role.Starts.IsZero() && !outlived:
		f.kind, f.since = runawayStart, env.Ours(f.role.Starts)
	case f.role.GaveUp.IsZero() && !left:
		return false
	case f.role.GaveUp.IsZero() && !outlived:
		f.kind, f.since = runawayEnding, over
	case f.role.GaveUp.IsZero():
		f.kind, f.since = runawayOutlived, over
	case f.role.Snapshot:
		f.kind = runawaySnapshot
	case !f.role.Told.IsZero():
		f.kind = runawayTold
	case !f.role.Named:
		f.kind = runawayWaited
	case outlived:
		f.kind, f.since = runawayOutlived, over
	case left:
		f.kind, f.since = runawayEnding, over
	default:
		f.kind = runawayNamed
	}
	return true
}

// says is the cause of an alert about a kind of runaway. That the log tells it too changes no cause: lines are forgotten.
func (f *runaway) says() backend.Safe {
	switch f.kind {
	case runawaySnapshot:
		return backend.Text("the tar of a save or restore runs past its timeout: its agent gave it up, the process did not")
	case runawayOutlived, runawayEnding:
		return backend.Text("a process runs on after the end of its session")
	case runawayNamed:
		return backend.Text(backend.RunsLong)
	case runawayStart:
		return backend.Text(backend.StartRunsOn)
	case runawayTold, runawayWaited:
	}
	if f.role.Due.IsZero() {
		return backend.Text("a command runs on: its agent gave it up, the process did not")
	}
	return backend.Text(pastTimeout)
}

const pastTimeout = "a command runs past its timeout: its agent gave it up, the process did not"

// fingerprint is one for what an agent gave up, before its time was over and after it.
func (f *runaway) fingerprint() string {
	if f.kind == runawayTold || f.kind == runawayWaited {
		return alerts.Fingerprint(pastTimeout)
	}
	return alerts.Fingerprint(f.says().String())
}

// told is the process in words, and that it outlived its session.
func (f *runaway) told(env *alerts.Env) backend.Safe {
	line := f.line(env)
	if f.over.IsZero() || f.over.Equal(f.since) { // which the line says
		return line
	}
	return backend.Textf("%s; it outlived its session, over since %s at least", line, env.Clock(f.over))
}

// line says what is known of a runaway: which it is, since when it runs, and since when nobody waits for it.
func (f *runaway) line(env *alerts.Env) backend.Safe {
	text := backend.Textf("process %s", f.p.PID)
	if !f.p.Name.IsEmpty() {
		text = backend.Textf("%s %s", text, f.p.Name)
	}
	text = backend.Textf("%s (%s)", text, backend.Clean(f.p.Command.String(), 160))
	if !f.p.StartedAt.IsZero() {
		text = backend.Textf("%s, started at %s", text, env.Clock(env.Ours(f.p.StartedAt)))
	}
	since := env.Clock(f.since)
	if f.shared {
		text = backend.Textf("%s, and the log has an error of a command that may be of this one or of another", text)
	}
	switch f.kind {
	case runawayTold:
		if f.role.Sure {
			return backend.Textf("%s: the agent's wait for it ended at %s, as its log says; the process did not end", text, since)
		}
		return backend.Textf("%s: the agent gave up at %s, as its log says too; only its own wait ended", text, since)
	case runawayWaited, runawaySnapshot:
		return backend.Textf("%s: the agent gave up at %s; only its own wait ended", text, since)
	case runawayOutlived, runawayEnding:
		return backend.Textf("%s: its session is over since %s at least", text, since)
	case runawayStart:
		return backend.Textf("%s: it makes the root of a session; the SDK has no limit of its own for it, so that whether its agent still waits is not known", text)
	case runawayNamed:
	}
	return backend.Textf("%s: an agent that waited for it gave up at %s; its name is not from the agent's SDK, so that this is not known", text, since)
}

// Evidence is what the probe read of each of them, what the platform reports, and the errors of commands in the agent's log.
func (r *runawayProcess) Evidence(env *alerts.Env, a *alerts.Alert, oldest backend.Entity) []alerts.Evidence {
	b, ok := oldest.(*backend.Sandbox)
	if !ok {
		return nil
	}
	var out []alerts.Evidence
	x, read := b.Inside()
	for _, d := range details(env, a) {
		if read {
			d.At, d.Text = x.At, backend.Textf("probe: %s", d.Text)
		}
		out = append(out, d)
	}
	if end, over := env.State.EndOn(b); over {
		out = append(out, alerts.Evidence{Text: end.Why, Source: end.Source, At: cmp.Or(end.At, env.Display(env.Now))})
	}
	due := cloudDue{base: r.base}
	return append(append(out, due.Evidence(env, a, oldest)...), sdkEvidence(env, b, backend.MetricSDKExec, backend.MetricPersistFailed, backend.MetricHydrateFailed)...)
}
