package rules

import (
	"cmp"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// LineOptions are the keys of a rule that counts one class of log lines.
type LineOptions struct {
	Common
	Lines int              `toml:"lines" doc:"such lines of one session within the window"`
	Over  backend.Duration `toml:"over" doc:"window; the alert lasts so long after the newest line"`

	name string
	rule lineRule // what no key changes
}

// failedSaves is how many archives must fail without a success between: the SDK tries again, also after a line that says so. A snapshot
// that it gave up is told at once.
const failedSaves = 3

// persistDefaults are the keys of `[rules.persist-failed]`.
func persistDefaults() *LineOptions {
	return &LineOptions{Common: common(alerts.SeverityCritical), Lines: 1, Over: backend.Duration(30 * time.Minute), name: "persist-failed",
		rule: lineRule{metric: backend.MetricPersistFailed, done: backend.MetricPersistDone, without: "the snapshot was not saved", runbook: "2", phases: true}}
}

// hydrateDefaults are the keys of `[rules.hydrate-failed]`.
func hydrateDefaults() *LineOptions {
	return &LineOptions{Common: common(alerts.SeverityCritical), Lines: 1, Over: backend.Duration(30 * time.Minute), name: "hydrate-failed",
		rule: lineRule{metric: backend.MetricHydrateFailed, without: "the snapshot was not restored", runbook: "2", phases: true}}
}

// counting is the rule of a name about the lines of one class. without is the cause where a line gives none.
func counting(name string, severity alerts.Severity, metric backend.Metric, without backend.Literal, runbook string) Kind {
	return kind(name, func() *LineOptions {
		return &LineOptions{Common: common(severity), Lines: 1, Over: backend.Duration(30 * time.Minute),
			name: name, rule: lineRule{metric: metric, without: without, runbook: runbook}}
	})
}

func (o *LineOptions) build() (alerts.Rule, error) {
	r := o.rule
	r.base, r.lines, r.over = o.base(o.name, "", backend.InputRegistry, backend.InputEvictionLogs), float64(o.Lines), o.Over.Std()
	r.meta.Window = r.over
	return &r, cmp.Or(atLeast("lines", o.Lines, 1), window("over", o.Over))
}

// lineNote is what is remembered of the lines about one session.
type lineNote struct {
	onsetNote
	seriesNote
	Cause       backend.Safe `json:"cause,omitzero"` // the one the alert began with
	Fingerprint string       `json:"fingerprint,omitempty"`
	Line        time.Time    `json:"line,omitzero"`  // when the newest of a flood of them was written
	Home        string       `json:"home,omitempty"` // the source that listed the session when it was last listed
}

// lineRule is true while log lines of one class name a session. Its subject is the session as the log names it, which
// outlives the session itself: what such a line reports stays true after the close.
type lineRule struct {
	base
	remembers[lineNote]
	metric  backend.Metric
	lines   float64
	over    time.Duration
	without backend.Literal // the cause where the line gives none
	runbook string
	done    backend.Metric // lines that say that it went well: what failed before is over
	phases  bool           // its lines tell the phase of a snapshot
}

func (r *lineRule) Metrics() []backend.Metric {
	if r.done != "" {
		return []backend.Metric{r.metric, r.metric.Said(), r.done}
	}
	return []backend.Metric{r.metric, r.metric.Said()}
}

func (r *lineRule) SubjectOf(env *alerts.Env, s backend.Series) backend.Key { return namedBy(env, s) }

// SeriesOf is the series that a note keeps.
func (r *lineRule) SeriesOf(note alerts.Note) []backend.Series {
	if n := alerts.NoteAs[lineNote](note); n != nil {
		return n.Series
	}
	return nil
}

func (r *lineRule) JudgeSeries(env *alerts.Env, key backend.Key, series []backend.Series, known alerts.Note) alerts.Verdict {
	all := series
	series, well := r.parted(series)
	series, said := saidOf(series)
	m, words := env.Rate(series, r.over), env.Rate(said, r.over)
	v := alerts.Verdict{Outcome: alerts.False}
	success := newestOf(env, well)
	if !success.IsZero() && m.N > 0 {
		m.N = countedAfter(env, series, latestOf(success, env.Display(env.Now.Add(-r.over))))
	}
	switch {
	case m.N >= r.lines:
	case words.N > 0:
		return r.agents(env, key, words, all, said)
	case len(series)+len(said) == 0: // only what went well
		return v
	case m.Samples+words.Samples == 0:
		v.Outcome, v.Why = alerts.NoData, backend.Textf("nothing was counted in the last %s", text(r.over))
		return v
	case r.stopped(env, series, known, &v):
		return v
	case m.N == 0 && len(well) == 0:
		return v
	default:
		v.Note, v.Recheck = alerts.NoteOf(&lineNote{seriesNote: seriesNote{all}}), env.Now.Add(r.over)
		return v
	}
	n := lineNote{}
	if note := alerts.NoteAs[lineNote](known); note != nil {
		n = *note
	}
	n.Series = all
	if n.Fingerprint == "" { // the alert keeps the cause that it began with; the newest line is evidence
		n.Cause, n.Fingerprint = r.cause(env, m.Sample)
	}
	if m.N >= floodOfLines {
		n.Line = newestLine(env, series, n.Line)
	}
	v.Bounds = onset(env, &n.onsetNote, func() alerts.Bounds {
		return heldSince(env, r.over, func(sums []float64) bool { return sums[0] >= r.lines }, series)
	})
	if !success.IsZero() && v.Bounds.Latest.Before(env.Ours(success)) { // what failed before it is over
		v.Bounds = alerts.Bounds{Earliest: env.Ours(success), Latest: env.Ours(m.Last)}
	}
	v.Source, n.Home = homeOf(env, series[0], n.Home)
	v.Outcome, v.Note, v.Cause, v.Fingerprint, v.Runbook = alerts.True, alerts.NoteOf(&n), n.Cause, n.Fingerprint, r.runbook
	v.Confirmed, v.Recheck = env.Ours(m.Last), env.Now.Add(30*time.Second)
	v.Detail = n.Cause
	if r.done != "" && m.N < failedSaves && backend.SignedPhase(m.Sample) != "" && backend.SignedPhase(n.Cause) != "" {
		v.Suspected, v.Why = true, backend.Textf("fires with the failure number %d without a success between, or when the SDK gives the snapshot up", failedSaves)
	}
	if key.Kind == backend.KindSession {
		v.Session = key.ID
		if x := env.State.Session(backend.Key{Kind: backend.KindSession, Source: v.Source, ID: key.ID}); x != nil {
			v.Tenant = x.Tenant
		}
	}
	r.tell(env, m, series[0].Source, &v)
	return v
}

// parted parts the series of lines that say that it went well from the others.
func (r *lineRule) parted(series []backend.Series) (others, well []backend.Series) {
	if r.done == "" {
		return series, nil
	}
	for _, s := range series {
		if s.Name == r.done {
			well = append(well, s)
		} else {
			others = append(others, s)
		}
	}
	return others, well
}

// newestOf is when something of these series was last counted, as it was read; zero: not in the last hour.
func newestOf(env *alerts.Env, series []backend.Series) (at time.Time) {
	for _, s := range series {
		for t, n := range env.State.Windows.Counts(s) {
			if n > 0 && t.After(at) {
				at = t
			}
		}
	}
	return at
}

// countedAfter is how much these series counted after a time.
func countedAfter(env *alerts.Env, series []backend.Series, at time.Time) (sum float64) {
	for _, s := range series {
		for t, n := range env.State.Windows.Counts(s) {
			if t.After(at) {
				sum += n
			}
		}
	}
	return sum
}

// floodOfLines is how many lines of one class within the window are a flood: that they end is told by the log, not by its
// silence.
const floodOfLines = 10

// stopped holds an alert whose log has not grown since a flood of such lines.
func (r *lineRule) stopped(env *alerts.Env, series []backend.Series, known alerts.Note, v *alerts.Verdict) bool {
	note := alerts.NoteAs[lineNote](known)
	if note == nil || note.Line.IsZero() || len(series) == 0 {
		return false
	}
	home, _ := homeOf(env, series[0], note.Home)
	why, is := logStopped(env, home, series, newestLine(env, series, note.Line))
	if is {
		v.Outcome, v.Why, v.Stopped, v.Note, v.Recheck = alerts.NoData, why, true, known, env.Now.Add(30*time.Second)
	}
	return is
}

// agents judges lines whose words an agent wrote: they are suspected at most, since agents can forge them.
func (r *lineRule) agents(env *alerts.Env, key backend.Key, m alerts.Measure, all, said []backend.Series) alerts.Verdict {
	v := alerts.Verdict{Outcome: alerts.True, Suspected: true, Runbook: r.runbook, Note: alerts.NoteOf(&lineNote{seriesNote: seriesNote{all}}), Recheck: env.Now.Add(30 * time.Second),
		Confirmed: env.Ours(m.Last), Cause: saidCause, Why: saidWhy, Fingerprint: alerts.Fingerprint(saidCause.String())}
	v.Source, _ = homeOf(env, said[0], "")
	v.Detail = v.Cause
	if key.Kind == backend.KindSession {
		v.Session = key.ID
	}
	r.tell(env, m, said[0].Source, &v)
	return v
}

// What is told of words that an agent, or a command or tool that it ran, wrote.
var (
	saidCause = backend.Text("said by the agent")
	saidWhy   = backend.Text("the words are in quotes or in the output of a command or tool: fires when the server's own log says so")
)

// saidOf parts the series of what a server wrote from those of what agents said.
func saidOf(series []backend.Series) (server, said []backend.Series) {
	for _, s := range series {
		if _, is := s.Name.Unsaid(); is {
			said = append(said, s)
		} else {
			server = append(server, s)
		}
	}
	return server, said
}

func (r *lineRule) cause(env *alerts.Env, sample backend.Safe) (backend.Safe, string) {
	if sample.IsEmpty() {
		sample = backend.Text(r.without)
	}
	if r.metric == backend.MetricPreviewFailed {
		sample = kindFirst(sample)
	}
	return env.Cause(sample)
}

func (r *lineRule) tell(env *alerts.Env, m alerts.Measure, src string, v *alerts.Verdict) {
	who := ""
	if !v.Session.IsZero() {
		who = "session " + v.Session.Safe().String() + ": "
	}
	v.Evidence = []alerts.Evidence{{
		Text:  backend.Textf("%s%s in %s", backend.Clean(who, 120), plural(int(m.N), "such line"), text(r.over)),
		Value: backend.Known(m.N), Unit: "lines", Source: src, At: m.Last,
	}}
	if kinds := r.kinds(env, m, src, who, v.Session); len(kinds) > 0 {
		v.Evidence = append(v.Evidence, kinds...)
	} else if !m.Sample.IsEmpty() {
		v.Evidence = append(v.Evidence, alerts.Evidence{Text: backend.Textf("newest: %s", backend.Clean(m.Sample.String(), 300)), Source: src, At: m.Last})
		if r.metric == backend.MetricPTYFailed {
			if limit := env.State.TerminalLimit(v.Session, m.Sample); !limit.IsEmpty() {
				v.Evidence = append(v.Evidence, alerts.Evidence{Text: backend.Textf("limit: %s", limit), Source: src, At: m.Last})
			}
		}
		if r.phases {
			v.Evidence = append(v.Evidence, alerts.Evidence{Text: backend.SignedPhase(m.Sample).Means(), Source: src, At: m.Last})
		}
	}
}

// namedBy is the subject of a line: the session as the log that wrote it names it, or that log when it names none. It
// does not depend on which registries have answered yet.
func namedBy(env *alerts.Env, s backend.Series) backend.Key {
	if s.Session.IsZero() {
		return sourceKey(env.State, s.Source)
	}
	return backend.Key{Kind: backend.KindSession, Source: s.Source, ID: s.Session}
}

// sessionMeant is the session that lines are about where they give the name that an SDK makes for the session of a sandbox: the one that
// works in the sandbox. It is otherwise where the lines name another session, or nothing joins that sandbox to one.
func sessionMeant(env *alerts.Env, named, otherwise backend.ID) backend.ID {
	box, is := backend.SandboxOfSession(named.Raw())
	if !is {
		return otherwise
	}
	b := env.State.SandboxNamed(box, backend.Text("cloudflare"))
	if b == nil || !onWorkers(b) {
		return otherwise
	}
	if session := env.State.SessionOn(b); !session.IsZero() {
		return session
	}
	return otherwise
}

// homeOf is the source that lines are about: the one that lists their session, or did when they were new, which is known
// as before; keep is what to know of that from now on.
func homeOf(env *alerts.Env, s backend.Series, before string) (home, keep string) {
	home = env.HomeOf(s)
	if !s.Session.IsZero() && env.State.Session(backend.Key{Kind: backend.KindSession, Source: home, ID: s.Session}) != nil {
		return home, home
	}
	if before != "" {
		return before, before
	}
	return home, ""
}
