package rules

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// SourceDownOptions are the keys of `[rules.source-down]`.
type SourceDownOptions struct {
	Common
	FailedPolls int `toml:"failed_polls" doc:"failed polls in a row"`
}

func sourceDownDefaults() *SourceDownOptions {
	return &SourceDownOptions{Common: common(alerts.SeverityWarning), FailedPolls: 3}
}

func (o *SourceDownOptions) build() (alerts.Rule, error) {
	r := &sourceDown{base: o.base("source-down", "", ""), polls: o.FailedPolls}
	r.meta.Folds = true
	return r, atLeast("failed_polls", o.FailedPolls, 1)
}

// downNote is what is known of a source that this process never read: failed polls of the processes before it count.
type downNote struct {
	Since  time.Time `json:"since"`            // steady, the first failed poll
	Tried  time.Time `json:"tried"`            // steady, the newest
	Before int       `json:"before,omitempty"` // failed polls of former processes
	Here   int       `json:"here"`
}

type sourceDown struct {
	base
	remembers[downNote]
	polls int
}

// maxFailedPolls bounds the failed polls that are counted across processes.
const maxFailedPolls = 1_000_000

// failed counts the failed polls in a row, with those of former processes while this one has no answer.
func (r *sourceDown) failed(env *alerts.Env, h *fleet.SourceHealth, note alerts.Note) (downNote, int) {
	var n downNote
	if was := alerts.NoteAs[downNote](note); was != nil && h.LastOK.IsZero() {
		if n = *was; env.Ours(h.FirstTry).After(n.Tried) {
			n.Before += n.Here
		}
		n.Before = min(max(n.Before, 0), maxFailedPolls)
	}
	if n.Since.IsZero() {
		n.Since = env.Ours(h.DownFrom)
	}
	n.Tried, n.Here = env.Ours(h.LastTry), h.Failures
	return n, n.Before + n.Here
}

func (r *sourceDown) JudgeFleet(env *alerts.Env, known alerts.Known) []alerts.Found {
	out := make([]alerts.Found, 0, len(env.State.Sources))
	for _, h := range env.State.Sources {
		v := r.judge(env, h, known.Note(h.Key))
		if v.Outcome == alerts.False && known.Finding(h.Key) == "" {
			continue
		}
		out = append(out, alerts.Found{Key: h.Key, Verdict: v})
	}
	return out
}

func (r *sourceDown) judge(env *alerts.Env, h *fleet.SourceHealth, note alerts.Note) alerts.Verdict {
	switch {
	case h.Status == fleet.StatusStarting:
		return alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("it has not been read yet"), Note: note}
	case h.Status != fleet.StatusDown:
		return alerts.Verdict{Outcome: alerts.False}
	}
	cause := backend.Textf("%s", h.ErrorKind)
	if !h.Error.IsEmpty() {
		cause = alerts.CauseText(h.Error)
	}
	n, failed := r.failed(env, h, note)
	answered := env.LastAnswer(h)
	v := alerts.Verdict{
		Outcome: alerts.True, Note: alerts.NoteOf(&n), Source: h.Key.Source, Cause: cause, Runbook: "source",
		Fingerprint: alerts.Fingerprint("source does not answer"), // the error's words may change while it is down
		Bounds:      alerts.Bounds{Earliest: answered, Latest: n.Since},
		Confirmed:   env.Ours(h.LastTry), Detail: cause,
		Evidence: []alerts.Evidence{{
			Text:  backend.Textf("%s in a row failed", plural(failed, "poll")),
			Value: backend.Known(float64(failed)), Unit: "polls", Source: h.Key.Source, At: h.LastTry,
		}},
	}
	if answered.IsZero() {
		v.Evidence = append(v.Evidence, alerts.Evidence{Text: backend.Text("it has not answered since Sandglass started"), Source: h.Key.Source, At: h.FirstTry})
	} else {
		v.Evidence = append(v.Evidence, alerts.Evidence{Text: backend.Textf("it last answered at %s", env.Clock(answered)), Source: h.Key.Source, At: env.Display(answered)})
	}
	if failed < r.polls {
		v.Suspected = true
		v.Why = backend.Textf("fires after %s in a row, %d so far", plural(r.polls, "failed poll"), failed)
	}
	return v
}
