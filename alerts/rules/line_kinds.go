package rules

import (
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
)

// kinds are the lines of each kind where they are counted apart: how many, and the newest.
func (r *lineRule) kinds(env *alerts.Env, all alerts.Measure, src, who string, session backend.ID) (out []alerts.Evidence) {
	if r.metric != backend.MetricPreviewFailed {
		return nil
	}
	rest := all.N
	for _, detail := range backend.PreviewFailures() {
		s := backend.Series{Source: src, Name: backend.PreviewFailedBy(detail), Session: session}
		in := env.Over(s, r.over)
		if in.N == 0 {
			continue
		}
		rest -= in.N
		out = append(out, alerts.Evidence{
			Text:  backend.Textf("%s%s, as %s: %s", backend.Clean(who, 120), plural(int(in.N), "line"), backend.PreviewFailureMeans(detail), backend.Clean(in.Sample.String(), 300)),
			Value: backend.Known(in.N), Unit: "lines", Source: src, At: newestOf(env, []backend.Series{s}),
		})
	}
	if rest > 0 && len(out) > 0 {
		out = append(out, alerts.Evidence{Text: backend.Textf("%s%s of no kind that is known", backend.Clean(who, 120), plural(int(rest), "line")), Value: backend.Known(rest), Unit: "lines", Source: src, At: all.Last})
	}
	return out
}

// kindFirst puts the kind of a failure before the rest of its text, which may be cut.
func kindFirst(sample backend.Safe) backend.Safe {
	for _, detail := range backend.PreviewFailures() {
		if before, after, is := strings.Cut(sample.String(), ": detail: "+detail); is {
			return backend.Clean(detail+": "+before+after, backend.MaxTextRunes)
		}
	}
	return sample
}

// Each is what is told of every session of an alert: the kinds of its lines.
func (r *lineRule) Each(said []alerts.Evidence) []alerts.Evidence {
	if r.metric != backend.MetricPreviewFailed {
		return nil
	}
	return countedBeyond(said)
}

// Each is what is told of every session of an alert: the terminals that are not known any more.
func (r *ptyPressure) Each(said []alerts.Evidence) []alerts.Evidence { return countedBeyond(said) }

// countedBeyond are the pieces of evidence after the first that count lines.
func countedBeyond(said []alerts.Evidence) (out []alerts.Evidence) {
	for i, e := range said {
		if i > 0 && e.Unit == "lines" {
			out = append(out, e)
		}
	}
	return out
}
