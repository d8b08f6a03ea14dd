package rules

import (
	"cmp"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TerminateOptions are the keys of `[rules.wont-terminate]`.
type TerminateOptions struct {
	Common
	Grace       backend.Duration `toml:"grace" doc:"how long a sandbox may run after its session's end; the close timeout where that is longer"`
	Cold        backend.Duration `toml:"cold" doc:"the same if the session was over when Sandglass started"`
	Gone        backend.Duration `toml:"gone" doc:"how long a sandbox may run whose session is in no list"`
	Kept        backend.Duration `toml:"kept" doc:"how long a sandbox that its saved state keeps may run after its session's end, where its platform puts what rests to sleep"`
	CostPerHour float64          `toml:"cost_per_hour" doc:"cost of one running sandbox per hour, in your currency; 0: not shown"`
}

func terminateDefaults() *TerminateOptions {
	return &TerminateOptions{Common: common(alerts.SeverityWarning), Grace: backend.Duration(2 * time.Minute), Cold: backend.Duration(30 * time.Second), Gone: backend.Duration(10 * time.Minute), Kept: backend.Duration(time.Hour)}
}

func (o *TerminateOptions) build() (alerts.Rule, error) {
	r := &wontTerminate{base: o.base("wont-terminate", backend.KindSandbox, backend.InputContainers, backend.InputContainers), grace: o.Grace.Std(), cold: o.Cold.Std(), gone: o.Gone.Std(), kept: o.Kept.Std(), cost: o.CostPerHour}
	r.meta.Window = fleet.WindowSpan
	return r, cmp.Or(
		positive("gone", o.Gone), positive("kept", o.Kept),
		refuse(o.CostPerHour < 0, "cost_per_hour", "must not be negative"),
	)
}

// terminateNote is what is remembered of the end of a sandbox's session.
type terminateNote struct {
	Ran     time.Time `json:"last,omitzero"` // when the session was last known to run
	Over    time.Time `json:"seen,omitzero"` // when it was first known to be over
	Closing *closing  `json:"closing,omitempty"`
	// Unlisted says that no list named its session when it was last judged.
	Unlisted bool `json:"unlisted,omitempty"`
	// Silent is when its session, in no list any more, last did not answer at its own route either.
	Silent time.Time `json:"silent,omitzero"`
	// Deleted is when its deletion failed at the end of its session, as the log of its agent said.
	Deleted time.Time `json:"deleted,omitzero"`
	// Done is when the log of its agent said that its session ended.
	Done time.Time `json:"done,omitzero"`
}

// silentFor is how long an end stays unknown after the session's own route did not tell of it.
const silentFor = 24 * time.Hour

type wontTerminate struct {
	base
	remembers[terminateNote]
	grace, cold, gone, kept time.Duration
	cost                    float64
}

// Blind says for which containers nothing tells whether they are to end with their sessions.
func (r *wontTerminate) Blind(st *fleet.State, h *fleet.SourceHealth) (backend.Safe, bool) {
	homes := false
	if len(st.SessionSourcesOf(h.Key.Source)) == 0 && st.Sandboxes.Len() > 0 {
		if why, blind := noSessionList(h); blind {
			return why, blind
		}
	}
	for _, x := range st.Sources {
		if !h.ReportsOn(x.Key.Source) {
			continue
		}
		homes = homes || x.Delivers(backend.InputSessions) || x.Delivers(backend.InputRegistry)
		if x.Delivers(backend.InputEvictionLogs) {
			return backend.Safe{}, false // its lines tell which closes ran into their deadline
		}
	}
	if !homes || st.Sandboxes.Len() == 0 {
		return backend.Safe{}, false
	}
	for x := range st.Refs.All() {
		if x.Agent != nil && x.Agent.PauseOnExit.IsKnown() {
			return backend.Safe{}, false
		}
	}
	looked := 0
	for w := range st.Workspaces.All() {
		if w.DestroyOnClose.IsKnown() || w.SleepAfter.IsKnown() || w.ShareAcrossSessions.IsKnown() {
			return backend.Safe{}, false
		}
		if looked++; looked == leakSample {
			break
		}
	}
	return backend.Textf("nothing says whether the sandboxes of %s end with their sessions: give destroyOnClose or sleepAfter in the aggregate route or in a declaration, or read the agents' log",
		backend.Clean(h.Key.Source, 80)), true
}

func (r *wontTerminate) Judge(env *alerts.Env, e backend.Entity, known alerts.Note) alerts.Verdict {
	note := alerts.NoteAs[terminateNote](known)
	b, ok := e.(*backend.Sandbox)
	if !ok || !b.IsSandbox {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	pause := pauseOf(env, b)
	if b.Session.IsZero() {
		session := env.State.SessionOn(b)
		switch {
		case session.IsZero() && onPlatform(b): // a saved state may name it later
			return alerts.Verdict{Outcome: alerts.False, Note: alerts.NoteOf(&terminateNote{}), Recheck: recheckOf(env, b.Key)}
		case session.IsZero():
			return alerts.Verdict{Outcome: alerts.NotApplicable}
		}
		c := *b
		c.Session, b = session, &c
	}
	homes := env.HomesOf(b.Key.Source)
	if v, is := r.toldLeak(env, homes, b, pause, note); is {
		return v
	}
	if len(homes) == 0 {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	switch b.Class {
	case backend.SandboxRunning, backend.SandboxRestarting, backend.SandboxDead:
	case backend.SandboxRemoving:
		if onPlatform(b) { // it is being deleted; stuck-in-transit tells of a deletion that does not go on
			return alerts.Verdict{Outcome: alerts.False}
		}
	case backend.SandboxUnknown:
		return alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("its state has no known meaning"), Note: known}
	case backend.SandboxAsleep:
		if !pause.IsKnown() || pause.Or(true) {
			return alerts.Verdict{Outcome: alerts.False}
		} // the end of its session should have deleted it
	case backend.SandboxCreated, backend.SandboxPaused, backend.SandboxExited:
		return alerts.Verdict{Outcome: alerts.False}
	}
	again := recheckOf(env, b.Key)
	n := terminateNote{} // a new one, so that it is looked at again
	if note != nil {
		n = *note
	}
	end, v := r.session(env, homes, b)
	if v == nil {
		v = silent(env, homes, b.Session, &n)
	}
	if v != nil {
		v.Note, v.Recheck = alerts.NoteOf(&n), again
		return *v
	}
	if end.runs {
		n = terminateNote{Ran: env.Now, Closing: closingOf(env, end.session, b.Workspace)}
		return alerts.Verdict{Outcome: alerts.False, Note: alerts.NoteOf(&n), Recheck: again}
	}
	if n.Over.IsZero() {
		n.Over = env.Now
		if end.session != nil {
			n.Over = env.ReadAt(&end.session.Meta)
		}
	}
	if at := closeTimedOut(env, b); at.After(n.Ran) && at.Before(n.Over) && (end.session == nil || at.After(env.Time(&end.session.Meta, end.session.StartedAt))) {
		n.Over = at // what closed was over by then: a console that starts later need not wait for it once more
	}
	return r.over(env, b, end, pause, &n, again)
}

// sessionEnd is what is known of the session behind a sandbox.
type sessionEnd struct {
	session *backend.Session // nil when it is in no list
	runs    bool
}

// session looks the sandbox's session up. A verdict means that nothing can be said of it.
func (r *wontTerminate) session(env *alerts.Env, homes []*fleet.SourceHealth, b *backend.Sandbox) (sessionEnd, *alerts.Verdict) {
	for _, h := range homes {
		s := env.State.Session(backend.Key{Kind: backend.KindSession, Source: h.Key.Source, ID: b.Session})
		if s == nil {
			continue
		}
		if o, why, gap := env.Gap(h.Key.Source); gap {
			return sessionEnd{}, &alerts.Verdict{Outcome: o, Why: why}
		}
		if s.Stale {
			return sessionEnd{}, &alerts.Verdict{Outcome: alerts.SourceError, Why: backend.Textf("its session could not be read: %s", s.StaleWhy)}
		}
		return sessionEnd{session: s, runs: alerts.Runs(s)}, nil
	}
	for _, h := range homes {
		if o, why, gap := env.Gap(h.Key.Source); gap {
			return sessionEnd{}, &alerts.Verdict{Outcome: o, Why: why}
		}
		if lost, of, is := env.LostSince(h.Key.Source); is {
			return sessionEnd{}, &alerts.Verdict{Outcome: alerts.SourceError, Why: backend.Textf("the list of %s lost %d of %d sessions since the last run", backend.Clean(h.Key.Source, 80), lost, of)}
		}
		if env.State.Forgotten(backend.Key{Kind: backend.KindSession, Source: h.Key.Source, ID: b.Session}) {
			return sessionEnd{}, &alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("nothing ever said that its session ended")}
		}
		listed := env.State.LastCompleteList(h.Key.Source, backend.KindSession)
		if started, known := b.StartedAt.Get(); listed.IsZero() || known && listed.Before(started.Add(30*time.Second)) {
			return sessionEnd{}, &alerts.Verdict{Outcome: alerts.NoData, Why: backend.Textf("%s has not listed all of its sessions since", backend.Clean(h.Key.Source, 80))}
		}
	}
	return sessionEnd{}, nil
}

// silent says that nothing tells whether a session in no list ended: its own route does not tell, or did not when it was
// last asked.
func silent(env *alerts.Env, homes []*fleet.SourceHealth, session backend.ID, n *terminateNote) *alerts.Verdict {
	for _, h := range homes {
		k := backend.Key{Kind: backend.KindSession, Source: h.Key.Source, ID: session}
		if env.State.Session(k) != nil || env.State.SaidToHaveEnded(k) {
			n.Silent = time.Time{}
			return nil
		}
		if why, is := h.Silent(session); is {
			n.Silent = env.Now
			return &alerts.Verdict{Outcome: alerts.SourceError, Why: backend.Textf("its session left the list, and its own route cannot be read: %s", why)}
		}
	}
	if n.Silent.IsZero() || env.Now.Sub(n.Silent) >= silentFor {
		return nil
	}
	return &alerts.Verdict{Outcome: alerts.SourceError, Why: backend.Text("its session left the list, and nothing ever said that it ended")}
}

// over judges a sandbox whose session does not run.
func (r *wontTerminate) over(env *alerts.Env, b *backend.Sandbox, end sessionEnd, pause backend.Value[bool], n *terminateNote, again time.Time) alerts.Verdict {
	unlisted := n.Unlisted
	n.Unlisted = end.session == nil
	c := n.Closing
	if c == nil {
		c = declaredClosing(end.session, b.Workspace)
	}
	completed := end.session != nil && end.session.Completed()
	if n.Closing == nil && completed {
		for range env.State.Workspaces.Of(backend.KindWorkspace, end.session.Key.Source, end.session.Key.ID) { // its registry is listed still
			c = closingOf(env, end.session, b.Workspace)
			break
		}
	}
	by, _ := alerts.KeptAwake(env.State, b)
	awake := c.Awake || by != nil
	v := alerts.Verdict{Outcome: alerts.True, Note: alerts.NoteOf(n), Runbook: "4", Session: b.Session, Provider: b.Provider, Recheck: again,
		Bounds: alerts.Bounds{Earliest: ranUntil(env, b, end.session, n), Latest: n.Over}}
	if end.session != nil {
		v.Tenant = end.session.Tenant
	}
	sleep, sleeps := c.SleepAfter.Get()
	used := latestOf(c.Used, v.Bounds.Earliest) // the page counts from there too
	if used.IsZero() {
		used = n.Over
	}
	asleep, late := used.Add(sleep), used.Add(sleep)
	if !n.Ran.IsZero() { // its session may have run until it was known to be over
		late = latestOf(used, n.Over).Add(sleep + r.grace)
	}
	grace := r.grace
	if n.Ran.IsZero() {
		grace = r.cold
	}
	due := n.Over.Add(max(grace, c.Timeout.Or(0)))
	switch {
	case pause.Or(false) && !b.Power.IsEmpty() && b.Class == backend.SandboxRunning:
		if due = n.Over.Add(r.kept); env.Now.Before(due) {
			return alerts.Verdict{Outcome: alerts.False, Note: alerts.NoteOf(n), Recheck: sooner(again, due)}
		}
		v.Cause, v.Severity = backend.Text("it is kept after its session, and something keeps it from falling asleep"), alerts.SeverityInfo
	case pause.IsKnown() && !pause.Or(true) && (end.session != nil || !n.Ran.IsZero()):
		v.Cause = backend.Text("it leaked: the end of its session deletes it, its saved state says")
	case c.Shared.Or(false) || keptOnPurpose(env, b):
		return alerts.Verdict{Outcome: alerts.False, Note: alerts.NoteOf(n), Recheck: again}
	case awake && !completed && end.session != nil: // it may go on in it
		return alerts.Verdict{Outcome: alerts.False, Note: alerts.NoteOf(n), Recheck: again}
	case c.Destroys.Or(false):
		v.Cause = backend.Text("it should have been destroyed when its session ended")
	case !closeTimedOut(env, b).IsZero():
		v.Cause = backend.Text("closing it ran into its deadline and was abandoned")
	case awake && (completed || end.session == nil && !n.Ran.IsZero()):
		v.Cause = backend.Text("it is kept alive, so that it never falls asleep: only a destroy ends it")
	case sleeps && (asleep.After(env.Now) || late.After(env.Now)):
		v.Cause, v.Severity = backend.Text(alerts.WaitsToSleep), alerts.SeverityInfo
		v.Detail, due = backend.Textf("asleep at %s, in %s", env.Clock(asleep), timeLeft(asleep.Sub(env.Now))), time.Time{}
		if v.Recheck = earlierOf(again, asleep); !asleep.After(env.Now) {
			v.Detail, v.Recheck = backend.Textf("asleep by %s at the latest, in %s", env.Clock(late), timeLeft(late.Sub(env.Now))), earlierOf(again, late)
		}
	case sleeps:
		v.Cause, due = backend.Text("it did not fall asleep when it was due"), asleep.Add(r.grace)
	case end.session == nil && n.Ran.IsZero():
		v.Cause, v.Severity, due = backend.Text("no list names its session"), alerts.SeverityInfo, n.Over.Add(grace)
		v.Detail = backend.Textf("no list ever named session %s: whether it is over is not known", b.Session.Safe())
	case end.session == nil:
		v.Cause, due = backend.Text("its session is in no list any more"), n.Over.Add(r.gone)
		v.Detail = backend.Textf("its session left its list, by %s at least", env.Clock(n.Over))
	case n.Ran.IsZero() && completed:
		v.Cause, v.Severity = backend.Text("its session is over, and nothing says whether it ends with it"), alerts.SeverityInfo
	case unlisted: // a list names it again: what was said of it is disproved
		return alerts.Verdict{Outcome: alerts.False, Note: alerts.NoteOf(n), Recheck: again}
	default:
		return alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("nothing says whether it ends with its session"), Note: alerts.NoteOf(n), Recheck: again}
	}
	v.Fingerprint = alerts.Fingerprint(v.Cause.String())
	if v.Detail.IsEmpty() {
		v.Detail = backend.Textf("its session is over since %s at least", env.Clock(n.Over))
	}
	if env.Now.Before(due) {
		v.Suspected, v.Why = true, backend.Textf("fires when it still runs at %s", env.Clock(due))
		v.Recheck = earlierOf(again, due)
	}
	return v
}

// pauseOf is what the saved state of an agent SDK says of the end of a sandbox's session: true keeps it, false deletes it.
func pauseOf(env *alerts.Env, b *backend.Sandbox) (pause backend.Value[bool]) {
	if x := env.State.StateOn(b); x != nil {
		return x.Agent.PauseOnExit
	}
	return pause
}

// timeLeft writes how long a sandbox still waits; the last minute has no seconds, which would change with every look.
func timeLeft(d time.Duration) backend.Safe {
	if d < time.Minute {
		return backend.Text("less than a minute")
	}
	return backend.Textf("%dm", int(d.Minutes()))
}

// ranUntil is when a sandbox was last meant to run, as far as that is known: its session was seen to run; or at a start of
// the console later, a log line named it, or one of its workspaces was used, or the sandbox or its session began.
func ranUntil(env *alerts.Env, b *backend.Sandbox, s *backend.Session, n *terminateNote) time.Time {
	if !n.Ran.IsZero() {
		return n.Ran
	}
	var last time.Time
	ran := func(at time.Time) {
		if !at.After(n.Over) {
			last = latestOf(last, at)
		}
	}
	ran(env.Time(&b.Meta, b.StartedAt))
	if s != nil {
		ran(env.Time(&s.Meta, s.StartedAt))
		for w := range env.State.Workspaces.Of(backend.KindWorkspace, s.Key.Source, s.Key.ID) {
			ran(latestOf(env.Time(&w.Meta, w.LastAttemptAt), env.Time(&w.Meta, w.LastSuccessAt)))
		}
	}
	for _, h := range env.State.Sources {
		for at, count := range env.State.Windows.Counts(backend.Series{Source: h.Key.Source, Name: backend.MetricNamed, Session: b.Session}) {
			if count > 0 {
				ran(env.Ours(at))
			}
		}
	}
	return last
}

func keptOnPurpose(env *alerts.Env, b *backend.Sandbox) bool {
	by, _ := alerts.KeptOnPurpose(env.State, b)
	return by != nil
}

func (r *wontTerminate) Evidence(env *alerts.Env, a *alerts.Alert, oldest backend.Entity) []alerts.Evidence {
	b, ok := oldest.(*backend.Sandbox)
	if !ok {
		return nil
	}
	src, now := b.Key.Source, env.Display(env.Now)
	hours := 0.0
	for _, s := range a.Subjects {
		if since := s.Bounds.Latest; !since.IsZero() && s.State != alerts.StateEnded && (a.Pending == 0 || s.State != alerts.StatePending) {
			hours += max(now.Sub(since).Hours(), 0)
		}
	}
	unit := "container-hours"
	if onPlatform(b) {
		unit = "sandbox-hours"
	}
	text := backend.Textf("%s: at least %s %s so far", plural(a.SubjectCount, "sandbox"), number(hours), backend.Clean(unit, 40))
	if spent := time.Duration(hours * float64(time.Hour)); spent < time.Minute { // a share of an hour that small says nothing
		text = backend.Textf("%s: at least %s so far", plural(a.SubjectCount, "sandbox"), backend.Age(spent))
	}
	out := []alerts.Evidence{{Text: text, Value: backend.Known(hours), Unit: unit, Source: src, At: now}}
	if r.cost > 0 {
		out = append(out, alerts.Evidence{
			Text:  backend.Textf("at %s an hour: %s so far, %s for each further hour", number(r.cost), number(hours*r.cost), number(float64(a.SubjectCount)*r.cost)),
			Value: backend.Known(hours * r.cost), Unit: "cost", Source: src, At: now,
		})
	}
	for _, s := range a.Subjects[:min(len(a.Subjects), maxListed)] {
		name := s.Label
		if x := env.State.Sandbox(s.Key); x != nil && !x.Name.IsEmpty() {
			name = x.Name
		}
		out = append(out, alerts.Evidence{Text: backend.Textf("%s: %s", name, s.Detail), Source: src, At: now})
		if s.Key == b.Key {
			out = append(out, usedSince(env, b, s.Bounds.Latest)...)
		}
	}
	if at, known := b.StartedAt.Get(); known {
		out = append(out, alerts.Evidence{Text: backend.Textf("%s was started at %s", b.Name, env.Clock(env.Ours(at))), Source: src, At: at})
	}
	return append(append(out, routesDiffer(env, b)...), deletionsFailed(env, a, b)...)
}
