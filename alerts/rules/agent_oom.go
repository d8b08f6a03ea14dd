package rules

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
)

// AgentOOMOptions are the keys of `[rules.agent-oom]`.
type AgentOOMOptions struct {
	Common
	Over     backend.Duration `toml:"over" doc:"the window of all counts, and how long the alert lasts after the newest event"`
	Restarts int              `toml:"restarts" doc:"process starts within the window that are pending if nothing names memory"`
	Opens    int              `toml:"opens" doc:"workspaces of one session tried at one moment that count as eager opens"`
	File     backend.Size     `toml:"file" doc:"a permitted file size from this counts as large writes"`
}

func agentOOMDefaults() *AgentOOMOptions {
	return &AgentOOMOptions{Common: common(alerts.SeverityCritical), Over: backend.Duration(15 * time.Minute), Restarts: 3, Opens: 3, File: 10_000_000}
}

func (o *AgentOOMOptions) build() (alerts.Rule, error) {
	r := &agentOOM{base: o.base("agent-oom", "", backend.InputRegistry, backend.InputEvictionLogs), over: o.Over.Std(), restarts: o.Restarts, opens: o.Opens, file: int64(o.File)}
	r.meta.Window = r.over
	return r, cmp.Or(
		window("over", o.Over),
		atLeast("restarts", o.Restarts, 2),
		atLeast("opens", o.Opens, 2),
		refuse(o.File <= 0, "file", "must be more than 0B"),
	)
}

// agentOOMNote is what is remembered of a source, of a finding or, where the finding is about the source, of both.
type agentOOMNote struct {
	Signs       []point              `json:"points,omitempty"` // of a source: process starts, kills by the kernel
	Hosts       map[string]killCount `json:"hosts,omitempty"`  // of a source: its kernels' counters
	onsetNote                        // of a finding
	Cause       backend.Safe         `json:"cause,omitzero"`
	Fingerprint string               `json:"fingerprint,omitempty"`
	Home        string               `json:"home,omitempty"` // the source that listed the session when it was last listed
	Before      []alerts.Evidence    `json:"kept,omitempty"` // what was true at the onset and is gone since
}

type agentOOM struct {
	base
	remembers[agentOOMNote]
	over            time.Duration
	restarts, opens int
	file            int64
}

func (r *agentOOM) JudgeFleet(env *alerts.Env, known alerts.Known) []alerts.Found {
	named := map[backend.Key][]backend.Series{}
	for _, m := range []backend.Metric{backend.MetricAgentOOM, backend.MetricAgentOOM.Said()} {
		for s := range env.State.Windows.All(m) {
			key := namedBy(env, s)
			key.ID = sessionMeant(env, s.Session, key.ID)
			if s.Session.IsZero() {
				key = sourceKey(env.State, cmp.Or(env.HomeOf(s), s.Source))
			}
			named[key] = append(named[key], s)
		}
	}
	for _, h := range env.State.Sources {
		if h.Delivers(backend.InputRegistry) {
			if _, ok := named[h.Key]; !ok {
				named[h.Key] = nil
			}
		}
	}
	for key := range known.Findings {
		if _, ok := named[key]; !ok {
			named[key] = nil
		}
	}
	out := make([]alerts.Found, 0, len(named))
	for key, series := range named {
		v := r.judge(env, key, series, alerts.NoteAs[agentOOMNote](known.Note(key)))
		if v.Outcome != alerts.True && v.Note.IsZero() && known.Finding(key) == "" {
			continue
		}
		out = append(out, alerts.Found{Key: key, Verdict: v})
	}
	return out
}

func (r *agentOOM) judge(env *alerts.Env, key backend.Key, series []backend.Series, note *agentOOMNote) alerts.Verdict {
	all := series
	series, said := saidOf(series)
	m, words := env.Rate(series, r.over), env.Rate(said, r.over)
	m.Samples += words.Samples // who counts one counts the other
	n := note
	if h := env.State.Source(key.Source); h != nil && h.Key == key {
		n = r.signs(env, h, note)
	}
	v := alerts.Verdict{Outcome: alerts.False, Source: key.Source, Note: alerts.NoteOf(n), Runbook: "3"}
	if len(all) > 0 {
		v.Via = all[0].Source
	}
	starts, kills, together := weigh(env, n)
	full := r.startedFull(env, v.Source, n)
	if !together && !full { // a log that cannot be read disproves nothing that others show
		if o, why, is := r.unread(env, v.Via, all); is {
			v.Outcome, v.Why = o, why
			return v
		}
	}
	switch {
	case m.N > 0:
		v.Outcome, v.Confirmed = alerts.True, env.Ours(m.Last)
		v.Cause = backend.Text("the agent ran out of memory")
	case together:
		v.Outcome = alerts.True
		v.Cause = backend.Text("the agent restarted when the kernel killed for lack of memory")
	case full:
		v.Outcome, v.Severity = alerts.True, milder(r.meta.Severity) // it may have been restarted on purpose
		v.Cause = backend.Text("the agent restarted with its memory nearly full and growing")
	case starts >= r.restarts:
		v.Outcome, v.Suspected = alerts.True, true
		v.Cause = backend.Text("the agent starts over and over")
		v.Why = backend.Textf("%s within %s; fires when a log line or the kernel names memory", plural(starts, "start"), text(r.over))
	case words.N > 0:
		v.Outcome, v.Suspected, v.Confirmed, v.Session = alerts.True, true, env.Ours(words.Last), sessionMeant(env, said[0].Session, said[0].Session)
		v.Cause, v.Why, v.Fingerprint, v.Detail = saidCause, saidWhy, alerts.Fingerprint(saidCause.String()), saidCause
		v.Evidence = []alerts.Evidence{{Text: backend.Textf("newest: %s", backend.Clean(words.Sample.String(), 300)), Source: said[0].Source, At: words.Last}}
		return v
	default:
		if n != nil {
			c := *n
			c.Cause, c.Fingerprint, c.onsetNote, c.Before = backend.Safe{}, "", onsetNote{}, nil
			v.Note = alerts.NoteOf(&c)
			if len(c.Signs) == 0 && len(c.Hosts) == 0 {
				v.Note = alerts.Note{}
			}
		}
		return r.gap(env, key, v.Via, m, v)
	}
	r.tell(env, series, m, kills, starts, n, &v)
	return v
}

// unread says why the log that counted lines, or what it speaks about, cannot be judged now.
func (r *agentOOM) unread(env *alerts.Env, via string, all []backend.Series) (o alerts.Outcome, why backend.Safe, is bool) {
	if o, why, is = env.Gap(via); is && via != "" {
		return o, why, true
	}
	if why, is = env.Silent(via, backend.InputEvictionLogs); is {
		return alerts.SourceError, why, true
	}
	if slices.ContainsFunc(all, func(s backend.Series) bool { return env.HomeOf(s) == "" }) {
		return alerts.NoData, backend.Text("the registries that it speaks about have not been read yet"), true
	}
	return o, why, false
}

// gap turns "not true" into "not known" where what would say so is silent.
func (r *agentOOM) gap(env *alerts.Env, key backend.Key, via string, m alerts.Measure, v alerts.Verdict) alerts.Verdict {
	for _, s := range []string{via, key.Source} {
		if o, why, gap := env.Gap(s); gap && s != "" {
			v.Outcome, v.Why = o, why
			return v
		}
	}
	if via != "" && m.Samples == 0 {
		v.Outcome, v.Why = alerts.NoData, backend.Textf("nothing was counted in the last %s", text(r.over))
	}
	return v
}

// signs brings the note of a source up to date with process starts and kills by kernels.
func (r *agentOOM) signs(env *alerts.Env, h *fleet.SourceHealth, note *agentOOMNote) *agentOOMNote {
	var started []point
	for i := range env.State.Events {
		e := &env.State.Events[i]
		if e.Name != "process-restarted" || !speaksAbout(env, e.Source, h.Key.Source) {
			continue
		}
		at := env.Ours(e.At) // a server that is asked for the past tells of old starts too
		if at.After(env.Now) {
			at = env.Now
		}
		if env.Now.Sub(at) <= r.over {
			started = append(started, point{At: at, N: [3]float64{1}})
		}
	}
	hosts, changed := r.kernels(env, h.Key.Source, note, &started)
	over := func(p point) bool { // what killed a sandbox at its own limit killed no agent
		return env.Now.Sub(p.At) > r.over || p.N[1] > 0 && killedAtLimit(env, p.At.Add(-time.Duration(p.N[2]*float64(time.Second))), p.At, true)
	}
	if !changed && len(started) == 0 && (note == nil || !slices.ContainsFunc(note.Signs, over)) {
		return note
	}
	n := agentOOMNote{}
	if note != nil {
		n = *note
	}
	n.Hosts = hosts
	n.Signs = slices.DeleteFunc(slices.Clone(n.Signs), over)
	n.Signs = append(n.Signs, started[:min(len(started), max(maxPoints-len(n.Signs), 0))]...)
	stable.Sort(n.Signs, func(a, b point) int { return a.At.Compare(b.At) })
	return &n
}

// kernels brings the counters of the hosts that speak about a source up to date and adds the kills that are news.
func (r *agentOOM) kernels(env *alerts.Env, source string, note *agentOOMNote, signs *[]point) (hosts map[string]killCount, changed bool) {
	if note != nil {
		hosts = note.Hosts
	}
	for x := range env.State.Hosts.All() {
		if !speaksAbout(env, x.Key.Source, source) {
			continue
		}
		id := x.Key.Source + "/" + x.Key.ID.Raw()
		c := hosts[id]
		k, known := c.count(env, x)
		if !known || !k.read.After(k.since) {
			continue
		}
		if !changed {
			hosts, changed = maps.Clone(hosts), true
		}
		if hosts == nil {
			hosts = map[string]killCount{}
		}
		hosts[id] = c
		if k.n > 0 && k.watched(r.over) {
			*signs = append(*signs, point{At: k.read, N: [3]float64{0, k.n, k.read.Sub(k.since).Seconds()}})
		}
	}
	return hosts, changed
}

// began is since when signs follow each other within the window: lines where there are any, else starts and kills.
func (r *agentOOM) began(env *alerts.Env, series []backend.Series, n *agentOOMNote) alerts.Bounds {
	if b := heldSince(env, r.over, func(sums []float64) bool { return sums[0] > 0 }, series); !b.Latest.IsZero() {
		return b
	}
	if len(n.Signs) > 0 {
		return alerts.Bounds{Latest: n.Signs[0].At}
	}
	return alerts.Bounds{}
}

// speaksAbout reports whether a source is known whose readings concern the source about.
func speaksAbout(env *alerts.Env, source, about string) bool {
	h := env.State.Source(source)
	return h != nil && h.ReportsOn(about)
}

// weigh counts starts and kills, and reports whether a start and a kill lie close together. A kill counts once the sources
// that could explain it have been read since.
func weigh(env *alerts.Env, n *agentOOMNote) (starts, kills int, together bool) {
	if n == nil {
		return 0, 0, false
	}
	signs := slices.DeleteFunc(slices.Clone(n.Signs), func(p point) bool {
		by, _ := mayBeExplained(env, p.At)
		return p.N[1] > 0 && by != nil
	})
	for _, p := range signs {
		starts += int(p.N[0])
		kills += int(p.N[1])
		for _, q := range signs {
			together = together || p.N[0] > 0 && q.N[1] > 0 && p.At.Sub(q.At).Abs() <= 2*time.Minute
		}
	}
	return starts, kills, together
}

// tell fills in cause and evidence. What was seen at the onset is kept, since the reset wipes it out.
func (r *agentOOM) tell(env *alerts.Env, series []backend.Series, m alerts.Measure, kills, starts int, note *agentOOMNote, v *alerts.Verdict) {
	n := agentOOMNote{}
	if note != nil {
		n = *note
	}
	var session backend.ID
	if len(series) > 0 {
		session = sessionMeant(env, series[0].Session, series[0].Session)
	}
	v.Session = session
	v.Bounds = onset(env, &n.onsetNote, func() alerts.Bounds { return r.began(env, series, &n) })
	began := env.Display(v.Bounds.Latest)
	if !session.IsZero() {
		source, keep := homeOf(env, series[0], n.Home)
		v.Source, n.Home = source, keep
	}
	if n.Fingerprint == "" {
		var supported []backend.Safe
		kept, facts := r.before(env, v.Source, session, began)
		supported = facts
		n.Before = kept
		n.Cause = v.Cause
		if len(supported) > 0 {
			n.Cause = backend.Textf("%s; the facts support: %s", v.Cause, backend.Join(supported, ", "))
		}
		n.Fingerprint = alerts.Fingerprint(n.Cause.String())
	} else if !slices.ContainsFunc(n.Before, func(e alerts.Evidence) bool { return e.Unit == memoryUnit }) {
		// What a server tells of the past may come a poll later than the line.
		if trend, ok := memoryBefore(env, v.Source, session, began); ok {
			n.Before = slices.Concat([]alerts.Evidence{trend.Evidence()}, n.Before)
		}
	}
	v.Note, v.Cause, v.Fingerprint, v.Detail = alerts.NoteOf(&n), n.Cause, n.Fingerprint, n.Cause
	now := env.Display(env.Now)
	if m.N > 0 {
		v.Evidence = append(v.Evidence, alerts.Evidence{
			Text:  backend.Textf("log lines that name its memory in %s: %s", text(r.over), number(m.N)),
			Value: backend.Known(m.N), Unit: "lines", Source: series[0].Source, At: m.Last,
		}, alerts.Evidence{Text: backend.Textf("newest: %s", backend.Clean(m.Sample.String(), 300)), Source: series[0].Source, At: m.Last})
	}
	if kills > 0 {
		v.Evidence = append(v.Evidence, alerts.Evidence{Text: backend.Textf("the kernel killed %s for lack of memory meanwhile", plural(kills, "process")), Value: backend.Known(float64(kills)), Unit: "processes", Source: v.Source, At: now})
	}
	if starts > 0 {
		v.Evidence = append(v.Evidence, alerts.Evidence{Text: backend.Textf("the agent's process restarted %s in %s", plural(starts, "time"), text(r.over)), Value: backend.Known(float64(starts)), Unit: "starts", Source: v.Source, At: now})
	}
	v.Evidence = append(v.Evidence, n.Before...)
}

// before collects what the State shows of the session, or of the whole source, at the onset, and which causes that supports.
func (r *agentOOM) before(env *alerts.Env, home string, session backend.ID, onset time.Time) (kept []alerts.Evidence, supported []backend.Safe) {
	now := env.Display(env.Now)
	keep := func(format backend.Literal, args ...any) {
		kept = append(kept, alerts.Evidence{Text: backend.Textf(format, args...), Source: home, At: now})
	}
	trend, read := memoryBefore(env, home, session, onset)
	if read {
		kept = append(kept, trend.Evidence())
	}
	exhausted := 0.0
	for s := range env.State.Windows.All(backend.MetricEvictionExhausted) {
		if env.HomeOf(s) == home && (session.IsZero() || s.Session == session || s.Session.IsZero()) {
			exhausted += env.Over(s, r.over).N
		}
	}
	if exhausted > 0 {
		supported = append(supported, backend.Text("exhausted retries"))
		keep("before: retries were exhausted %s in %s", plural(int(exhausted), "time"), text(r.over))
	}
	o := r.opened(env, home, session)
	if o.together >= r.opens {
		supported = append(supported, backend.Text("eager opens"))
		keep("before: %d workspaces of one session were tried within %s of each other", o.together, text(alerts.OpenedTogether))
	}
	if o.largest >= r.file {
		supported = append(supported, backend.Text("large writes"))
		keep("before: files of %s may be written", bytesText(o.largest))
	} else if read && trend.Sudden() {
		supported = append(supported, backend.Text("one large write or search"))
	}
	if !session.IsZero() && o.count > 0 {
		keep("before: its session had %s, %d of them failed or evicted", plural(o.count, "workspace"), o.bad)
		kept = append(kept, r.lastState(env, home, session)...)
	}
	return kept, supported
}

// opened is what the registries show of one session, or of all of a source.
type opened struct {
	count, bad, together int
	largest              int64
}

func (r *agentOOM) opened(env *alerts.Env, home string, session backend.ID) opened {
	var o opened
	var of backend.ID
	var tried []time.Time
	flush := func() {
		n, _ := alerts.Together(tried, alerts.OpenedTogether)
		o.together, tried = max(o.together, n), tried[:0]
	}
	for w := range env.State.Workspaces.All() { // in the order of their sessions
		if w.Key.Source != home || !session.IsZero() && w.Key.Parent != session {
			continue
		}
		if w.Key.Parent != of {
			flush()
			of = w.Key.Parent
		}
		o.count++
		if w.Class == backend.ClassFailed || w.Class == backend.ClassEvicted {
			o.bad++
		}
		o.largest = max(o.largest, w.MaxFileSize.Or(0))
		if at := env.Time(&w.Meta, w.LastAttemptAt); !at.IsZero() && env.Now.Sub(at) <= r.over {
			tried = append(tried, at)
		}
	}
	flush()
	return o
}
