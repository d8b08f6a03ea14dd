package rules

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// AuditOptions are the keys of `[rules.audit-saturation]`.
type AuditOptions struct {
	Common
	Rejections float64          `toml:"rejections" doc:"rejected commands a second of one session"`
	Bytes      backend.Size     `toml:"bytes" doc:"log bytes a second of one session"`
	Over       backend.Duration `toml:"over" doc:"the window of both rates"`
	Probing    int              `toml:"probing" doc:"different first words of rejected commands in 10 minutes that are probing"`
	Leave      float64          `toml:"leave" doc:"the alert ends below this share of the threshold"`
}

func auditDefaults() *AuditOptions {
	return &AuditOptions{
		Common: common(alerts.SeverityWarning), Rejections: 5, Bytes: 100_000, Over: backend.Duration(time.Minute), Probing: 8, Leave: 0.8,
	}
}

func (o *AuditOptions) build() (alerts.Rule, error) {
	r := &auditSaturation{base: o.base("audit-saturation", "", backend.InputRegistry, backend.InputRejections), rejections: o.Rejections, bytes: float64(o.Bytes), over: o.Over.Std(), probing: float64(o.Probing), leave: o.Leave}
	r.meta.Window = r.over
	r.meta.Thresholds = alerts.Thresholds{"probing_over": probingOver.Seconds(), "loop": mostRepeated}
	return r, cmp.Or(
		refuse(o.Rejections <= 0, "rejections", "must be more than 0"),
		refuse(o.Bytes <= 0, "bytes", "must be more than 0B"),
		refuse(o.Leave <= 0 || o.Leave > 1, "leave", "must be more than 0 and at most 1"),
		window("over", o.Over),
		atLeast("probing", o.Probing, 3),
	)
}

func window(key string, d backend.Duration) error {
	if err := positive(key, d); err != nil {
		return err
	}
	if d.Std() > fleet.WindowSpan {
		return &KeyError{key, "counts are kept for an hour only"}
	}
	return nil
}

// floodNote is what is remembered of a flood.
type floodNote struct {
	onsetNote
	seriesNote
	Probing     bool         `json:"was_failed,omitempty"`  // it was probing at some time
	Cause       backend.Safe `json:"cause,omitzero"`        // the one it began with
	Fingerprint string       `json:"fingerprint,omitempty"` // empty: no flood
	First       backend.Safe `json:"first,omitzero"`        // the first line that was written in full
	FirstAt     time.Time    `json:"first_at,omitzero"`
	Line        time.Time    `json:"line,omitzero"` // its newest line; zero: it was suspected at most
}

type auditSaturation struct {
	base
	remembers[floodNote]
	rejections, bytes float64
	leave, probing    float64
	over              time.Duration
}

func (r *auditSaturation) Metrics() []backend.Metric {
	return []backend.Metric{backend.MetricRejections, backend.MetricRollups, backend.MetricLogBytes, backend.MetricRejectedWords}
}

func (r *auditSaturation) SubjectOf(env *alerts.Env, s backend.Series) backend.Key {
	if s.Session.IsZero() {
		if h := env.State.Source(s.Source); h != nil {
			return h.Key
		}
		return backend.Key{Kind: backend.KindSource, Source: s.Source, ID: backend.MustID(s.Source)}
	}
	return backend.Key{Kind: backend.KindSession, Source: env.HomeOf(s), ID: s.Session}
}

// SeriesOf is the series that a note keeps.
func (r *auditSaturation) SeriesOf(note alerts.Note) []backend.Series {
	if n := alerts.NoteAs[floodNote](note); n != nil {
		return n.Series
	}
	return nil
}

func (r *auditSaturation) JudgeSeries(env *alerts.Env, key backend.Key, series []backend.Series, known alerts.Note) alerts.Verdict {
	note := floodNote{}
	if n := alerts.NoteAs[floodNote](known); n != nil {
		note = *n
	}
	note.Series = series
	by := map[backend.Metric][]backend.Series{}
	for _, s := range series {
		by[s.Name] = append(by[s.Name], s)
	}
	rejections, bytes := env.Rate(by[backend.MetricRejections], r.over), env.Rate(by[backend.MetricLogBytes], r.over)
	rollups := env.Rate(by[backend.MetricRollups], r.over)
	factor := 1.0
	if note.Fingerprint != "" {
		factor = r.leave // it is true already: it ends only well below the threshold
	}
	byCount, maybeCount := rejections.Reaches(r.rejections * factor)
	byBytes, maybeBytes := bytes.Reaches(r.bytes * factor)
	v := alerts.Verdict{Source: key.Source, Recheck: env.Now.Add(10 * time.Second), Note: alerts.NoteOf(&note)}
	switch {
	case byCount == alerts.True || byBytes == alerts.True:
		v.Outcome = alerts.True
		v.Suspected = !(byCount == alerts.True && !maybeCount || byBytes == alerts.True && !maybeBytes)
	case byCount == alerts.NoData && len(by[backend.MetricRejections]) > 0, byBytes == alerts.NoData && len(by[backend.MetricLogBytes]) > 0:
		v.Outcome, v.Why = alerts.NoData, backend.Textf("too little of the last %s was read", text(r.over))
		if rejections.Samples+bytes.Samples+rollups.Samples == 0 {
			if why, is := logStopped(env, key.Source, series, note.Line); is { // a file that was rotated is not read any more
				v.Why, v.Stopped = why, true
				return v
			}
			v.Note, v.Recheck = alerts.Note{}, time.Time{} // nothing is left in the windows
			v.Why = backend.Textf("nothing was counted in the last %s", text(r.over))
		}
		return v
	default:
		v.Outcome = alerts.False
		if !note.Line.IsZero() {
			note.Line = newestLine(env, by[backend.MetricRejections], note.Line)
			if why, is := logStopped(env, key.Source, series, note.Line); is {
				v.Outcome, v.Why, v.Stopped = alerts.NoData, why, true
				return v
			}
		}
		if rejections.N+bytes.N == 0 {
			return alerts.Verdict{Outcome: alerts.False}
		}
		v.Note = alerts.NoteOf(&floodNote{seriesNote: note.seriesNote})
		return v
	}
	r.tell(env, key, byCount == alerts.True, rejections, bytes, rollups, &note, &v)
	return v
}

// tell fills in cause and evidence of a flood.
func (r *auditSaturation) tell(env *alerts.Env, key backend.Key, counted bool, rejections, bytes, rollups alerts.Measure, n *floodNote, v *alerts.Verdict) {
	how, words := r.pattern(env, rejections, n)
	if n.Fingerprint == "" { // the newest sample changes all the time; the cause is the one it began with
		n.Cause, n.Fingerprint = env.Cause(rejectionKind(counted, rejections.Sample))
	}
	if !v.Suspected {
		v.Bounds = r.began(env, n)
		flood := n.Series
		if counted { // another line of the session shows that its log goes on
			flood = slices.DeleteFunc(slices.Clone(flood), func(s backend.Series) bool { return s.Name != backend.MetricRejections })
		}
		n.Line = newestLine(env, flood, n.Line)
	}
	v.Cause, v.Fingerprint, v.Runbook = n.Cause, n.Fingerprint, "9"
	if n.Probing {
		v.Cause, v.Severity = backend.Text("probing: many different commands rejected"), worse(r.meta.Severity)
		v.Fingerprint = alerts.Fingerprint(v.Cause.String())
	}
	if key.Kind == backend.KindSession {
		v.Session = key.ID
		if s := env.State.Session(key); s != nil {
			v.Tenant = s.Tenant
		}
	}
	if v.Suspected {
		v.Why = backend.Textf("fires when the rate holds for %s, %s of it were read", text(r.over), text(rejections.Covered.Round(time.Second)))
	}
	v.Detail = v.Cause
	v.Confirmed = env.Ours(rejections.Last)
	if v.Confirmed.IsZero() {
		v.Confirmed = env.Ours(bytes.Last)
	}
	logs := n.Series[0].Source
	who := key.Safe()
	if rejections.N > 0 {
		least := ""
		if rejections.LowerBound {
			least = "at least "
		}
		v.Evidence = append(v.Evidence, alerts.Evidence{
			Text:  backend.Textf("%s: %s%s rejected commands/s over %s (alert from %s)", who, least, number(rejections.PerSecond), text(r.over), number(r.rejections)),
			Value: backend.Known(rejections.PerSecond), Unit: "1/s", Source: logs, At: rejections.Last,
		})
	}
	if counted {
		v.Evidence = append(v.Evidence, alerts.Evidence{Text: how, Value: words, Unit: "words", Source: logs, At: rejections.Last})
	}
	if rollups.N > 0 {
		v.Evidence = append(v.Evidence, alerts.Evidence{
			Text:  backend.Textf("the rate is rebuilt from %s", plural(int(rollups.N), "rollup line")),
			Value: backend.Known(rollups.N), Unit: "lines", Source: logs, At: rollups.Last,
		})
	}
	if bytes.N > 0 {
		v.Evidence = append(v.Evidence, alerts.Evidence{
			Text:  backend.Textf("%s: %s kB/s of log over %s (alert from %s kB/s)", who, number(bytes.PerSecond/1000), text(r.over), number(r.bytes/1000)),
			Value: backend.Known(bytes.PerSecond), Unit: "B/s", Source: logs, At: bytes.Last,
		})
	}
	if n.First.IsEmpty() && counted {
		n.First, n.FirstAt = firstRejection(env, n.Series)
	}
	if !n.First.IsEmpty() {
		v.Evidence = append(v.Evidence, alerts.Evidence{Text: backend.Textf("first: %s", n.First.LogLine(300)), Source: logs, At: n.FirstAt})
	}
	if !rejections.Sample.IsEmpty() {
		v.Evidence = append(v.Evidence, alerts.Evidence{Text: backend.Textf("newest: %s", backend.Clean(rejections.Sample.String(), 300)), Source: logs, At: rejections.Last})
	}
}

// firstRejection is the first line of a session that the log sources of the series read in full, empty when they read none.
func firstRejection(env *alerts.Env, series []backend.Series) (first backend.Safe, at time.Time) {
	for _, s := range series {
		h := env.State.Source(s.Source)
		if h == nil || s.Name != backend.MetricRejections {
			continue
		}
		for _, x := range h.Rejections {
			if x.Session == s.Session && !x.First.IsEmpty() && (first.IsEmpty() || x.FirstAt.Before(at)) {
				first, at = x.First, x.FirstAt
			}
		}
	}
	return first, at
}

// began is since when it is a flood, as far as the counts reach back.
func (r *auditSaturation) began(env *alerts.Env, n *floodNote) alerts.Bounds {
	return onset(env, &n.onsetNote, func() alerts.Bounds {
		var rejections, bytes []backend.Series
		for _, s := range n.Series {
			switch s.Name {
			case backend.MetricRejections:
				rejections = append(rejections, s)
			case backend.MetricLogBytes:
				bytes = append(bytes, s)
			}
		}
		seconds := r.over.Seconds()
		return heldSince(env, r.over, func(sums []float64) bool {
			return sums[0] >= r.rejections*seconds || sums[1] >= r.bytes*seconds
		}, rejections, bytes)
	})
}

const (
	// probingOver is the time within which different commands count as one attempt to find out what is allowed.
	probingOver = 10 * time.Minute
	// mostRepeated is up to how many different commands within the hour it is a loop: a repeated one, and its variant.
	mostRepeated = 2
)

// pattern tells a loop from probing by the first words of the rejected commands. Once it was probing it stays so for as
// long as the alert lasts.
func (r *auditSaturation) pattern(env *alerts.Env, rejections alerts.Measure, n *floodNote) (backend.Safe, backend.Value[float64]) {
	var lately, hour fleet.Increase
	for _, s := range n.Series {
		if s.Name == backend.MetricRejectedWords {
			lately, hour = lately.Add(env.Over(s, probingOver)), hour.Add(env.Over(s, fleet.WindowSpan))
		}
	}
	n.Probing = n.Probing || lately.N >= r.probing
	words := backend.Known(hour.N)
	switch {
	case hour.N == 0:
		return backend.Text("whether it is a loop or probing cannot be told: the lines name no command"), backend.Unknown[float64]()
	case n.Probing:
		return backend.Textf("probing: %s different commands in %s, the newest begins with %q", number(max(lately.N, r.probing)), text(probingOver), hour.Sample.String()), words
	case hour.N <= mostRepeated:
		return backend.Textf("a loop: one rejection repeated, the command begins with %q", hour.Sample.String()), words
	}
	return backend.Textf("%s different commands within the hour, the newest begins with %q", number(hour.N), hour.Sample.String()), words
}

// rejectionKind is the cause of a flood: which guard rejects. The texts are the framework's own.
func rejectionKind(counted bool, sample backend.Safe) backend.Safe {
	if !counted {
		return backend.Text("log volume")
	}
	for _, known := range []backend.Literal{"shell metacharacter rejected", "glob/brace expansion rejected", "command not in allowlist"} {
		if strings.Contains(sample.String(), string(known)) {
			return backend.Text(known)
		}
	}
	if sample.IsEmpty() {
		return backend.Text("rejected commands")
	}
	return sample
}
