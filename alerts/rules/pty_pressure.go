package rules

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// PTYOptions are the keys of `[rules.pty-pressure]`.
type PTYOptions struct {
	Common
	Warn int `toml:"warn" doc:"open terminals of one session that are a note"`
	Full int `toml:"full" doc:"… that are a warning: the SDK keeps 64 and closes the least used one"`
}

func ptyDefaults() *PTYOptions {
	return &PTYOptions{Common: common(alerts.SeverityWarning), Warn: 60, Full: 64}
}

func (o *PTYOptions) build() (alerts.Rule, error) {
	r := &ptyPressure{base: o.base("pty-pressure", "", backend.InputRegistry, backend.InputEvictionLogs), warn: o.Warn, full: o.Full}
	r.meta.Window = fleet.WindowSpan
	return r, cmp.Or(atLeast("warn", o.Warn, 1), refuse(o.Full < o.Warn, "full", "must not be less than warn"))
}

// ptyNote is what is remembered of the terminals of a session. Times are of the lines.
type ptyNote struct {
	seriesNote
	Count   int       `json:"count,omitempty"` // that the newest line names
	At      time.Time `json:"at,omitzero"`     // of that line
	Since   time.Time `json:"since,omitzero"`  // of the first line of this pressure
	Early   time.Time `json:"first,omitzero"`  // of a line before it, which may have told of as many
	Over    time.Time `json:"worked,omitzero"` // of the line that ended the pressure before
	Unknown int       `json:"times,omitempty"` // lines since then about a terminal that the SDK does not know any more
	Newest  time.Time `json:"last,omitzero"`   // of the newest of those
	Home    string    `json:"home,omitempty"`  // the source that listed the session when it was last listed
}

// ptyPressure is about the terminals that an agent has open. The SDK logs how many there are when it opens one from 60 on, and nothing
// when one closes: silence ends nothing.
type ptyPressure struct {
	base
	remembers[ptyNote]
	warn, full int
}

func (r *ptyPressure) Metrics() []backend.Metric {
	return []backend.Metric{backend.MetricPTYCount, backend.MetricPTYUnknown}
}

func (r *ptyPressure) SubjectOf(env *alerts.Env, s backend.Series) backend.Key {
	return namedBy(env, s)
}

// SeriesOf is the series that a note keeps.
func (r *ptyPressure) SeriesOf(note alerts.Note) []backend.Series {
	if n := alerts.NoteAs[ptyNote](note); n != nil {
		return n.Series
	}
	return nil
}

func (r *ptyPressure) JudgeSeries(env *alerts.Env, key backend.Key, series []backend.Series, known alerts.Note) alerts.Verdict {
	n := ptyNote{}
	if old := alerts.NoteAs[ptyNote](known); old != nil {
		n = *old
	}
	if len(series) == 0 { // only what was is known of it
		return alerts.Verdict{Outcome: alerts.False, Note: known}
	}
	n.Series = series
	for _, s := range series {
		if last := newestOf(env, []backend.Series{s}); s.Name == backend.MetricPTYCount && last.After(n.At) {
			if count := leadingNumber(env.Over(s, fleet.WindowSpan).Sample.String()); count > 0 {
				n.Count, n.At = count, last
			}
		}
	}
	home, keep := homeOf(env, series[0], n.Home)
	if n.Home = keep; n.Count < r.warn || ptyOver(env, backend.Key{Kind: key.Kind, Source: home, ID: key.ID}) {
		v := alerts.Verdict{Outcome: alerts.False}
		if !n.At.IsZero() {
			v.Note = alerts.NoteOf(&ptyNote{At: n.At, Over: n.At})
		}
		return v
	}
	if n.Since.IsZero() {
		r.firstLine(env, &n, series)
	}
	for _, s := range series {
		if s.Name != backend.MetricPTYUnknown {
			continue
		}
		after := cmp.Or(n.Newest, n.Since)
		for at, lines := range env.State.Windows.Counts(s) {
			if lines > 0 && at.After(after) {
				n.Unknown, n.Newest = n.Unknown+int(min(lines, 1e6)), at
			}
		}
	}
	v := alerts.Verdict{Outcome: alerts.True, Runbook: "contradiction", Fingerprint: alerts.Fingerprint("pty pressure"), Confirmed: env.Ours(n.At), Recheck: env.Now.Add(30 * time.Second),
		Cause: backend.Text("its agent has nearly as many terminals open as the SDK keeps"), Bounds: alerts.Bounds{Earliest: env.Ours(n.Early), Latest: env.Ours(n.Since)}}
	v.Source = home
	who := backend.Safe{}
	if key.Kind == backend.KindSession {
		v.Session = key.ID
		who = backend.Textf("session %s: ", key.ID.Safe())
	}
	v.Detail = backend.Textf("%d terminals open, when it last opened one", n.Count)
	if n.Count < r.full {
		v.Severity = milder(r.meta.Severity)
	} else {
		v.Detail = backend.Textf("%s: each further one closes the one that was least used, and no line says so", v.Detail)
	}
	v.Evidence = []alerts.Evidence{{Text: backend.Textf("%s%s", who, v.Detail), Value: backend.Known(float64(n.Count)), Unit: "terminals", Source: series[0].Source, At: n.At}}
	if n.Unknown > 0 {
		v.Severity = r.meta.Severity
		v.Detail = backend.Textf("%s; %s about one that is not known any more", v.Detail, plural(n.Unknown, "line"))
		v.Evidence = append(v.Evidence, alerts.Evidence{Text: backend.Textf("%sunknown PTY session, %s since: it may be one that was closed for another", who, plural(n.Unknown, "line")), Value: backend.Known(float64(n.Unknown)), Unit: "lines", Source: series[0].Source, At: n.Newest})
	}
	if nobodys := unnamedUnknown(env, key, series[0].Source, &n); nobodys > 0 {
		v.Evidence = append(v.Evidence, alerts.Evidence{Text: backend.Textf("unknown PTY session, %s since that name no session: they may be of this one", plural(nobodys, "line")), Source: series[0].Source, At: n.At})
	}
	v.Note = alerts.NoteOf(&n)
	return v
}

// leastLogged is from how many terminals on the SDK logs them: each line tells of as many.
const leastLogged = 60

// firstLine finds the first line of a pressure. Of lines before the newest it is known that there were so many, not how many more.
func (r *ptyPressure) firstLine(env *alerts.Env, n *ptyNote, series []backend.Series) {
	first := n.At
	for _, s := range series {
		if s.Name != backend.MetricPTYCount {
			continue
		}
		for at, lines := range env.State.Windows.Counts(s) {
			if lines > 0 && at.After(n.Over) && at.Before(first) {
				first = at
			}
		}
	}
	if n.Since = first; r.warn > leastLogged && first.Before(n.At) {
		n.Early, n.Since = first, n.At
	}
}

// unnamedUnknown counts the lines since the first of a pressure about terminals that the SDK does not know any more, in the same log and
// without a session.
func unnamedUnknown(env *alerts.Env, key backend.Key, source string, n *ptyNote) (count int) {
	if key.Kind != backend.KindSession {
		return 0
	}
	for at, lines := range env.State.Windows.Counts(backend.Series{Source: source, Name: backend.MetricPTYUnknown}) {
		if lines > 0 && at.After(n.Since) {
			count += int(min(lines, 1e6))
		}
	}
	return count
}

// leadingNumber is the number with which a text begins, 0 where it begins with none.
func leadingNumber(text string) int {
	word, _, _ := strings.Cut(text, " ")
	n, err := strconv.Atoi(word)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// ptyOver reports whether something tells that the session ended since the newest line: the source that lists it, whose the key is, or its
// sandbox, in which the terminals were.
func ptyOver(env *alerts.Env, k backend.Key) bool {
	if k.Kind != backend.KindSession {
		return false
	}
	if s := env.State.Session(k); s != nil {
		return !s.Stale && !alerts.Runs(s)
	}
	if env.State.SaidToHaveEnded(k) {
		return true
	}
	for ref := range env.State.Refs.All() {
		if ref.Agent == nil || ref.Session != k.ID {
			continue
		}
		m := env.State.MatchOf(ref)
		b := env.State.Sandbox(m.Sandbox)
		return m.Result == fleet.RefGone || b != nil && (b.Class.Ended() || b.Class == backend.SandboxRemoving)
	}
	return false
}

// ptyFailedDefaults are the keys of `[rules.pty-failed]`: one terminal that does not start is no trouble yet.
func ptyFailedDefaults() *LineOptions {
	return &LineOptions{Common: common(alerts.SeverityWarning), Lines: 3, Over: backend.Duration(30 * time.Minute), name: "pty-failed",
		rule: lineRule{metric: backend.MetricPTYFailed, without: "a terminal could not be used", runbook: "contradiction"}}
}
