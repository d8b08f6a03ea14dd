package rules

import (
	"cmp"
	"slices"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
)

// RestartOptions are the keys of `[rules.restart-storm]`.
type RestartOptions struct {
	Common
	Opens      int              `toml:"opens" doc:"workspaces that opened again since the change"`
	Sessions   int              `toml:"sessions" doc:"… and in how many sessions"`
	Share      float64          `toml:"share" doc:"… and their share of the source's workspaces (0 to 1)"`
	Unfinished float64          `toml:"unfinished" doc:"share of these opens that do not work yet (0 to 1)"`
	Within     backend.Duration `toml:"within" doc:"how long after a change opens count"`
}

func restartDefaults() *RestartOptions {
	o := &RestartOptions{Common: common(alerts.SeverityWarning), Opens: 10, Sessions: 3, Share: 0.3, Unfinished: 0.25, Within: backend.Duration(10 * time.Minute)}
	o.For = backend.Duration(time.Minute) // how long an open may take
	return o
}

func (o *RestartOptions) build() (alerts.Rule, error) {
	r := &restartStorm{base: o.base("restart-storm", "", backend.InputRegistry, backend.InputRegistry), opens: o.Opens, share: o.Share, unfinished: o.Unfinished, within: o.Within.Std(), sessions: o.Sessions}
	r.meta.OwnFor = true
	return r, cmp.Or(
		atLeast("sessions", o.Sessions, 1),
		refuse(o.Opens < 2, "opens", "must be at least 2: one open is not a storm"),
		refuse(o.Share <= 0 || o.Share > 1, "share", "must be more than 0 and at most 1"),
		refuse(o.Unfinished <= 0 || o.Unfinished > 1, "unfinished", "must be more than 0 and at most 1"),
		positive("within", o.Within),
	)
}

// changeNote is the newest change of a source.
type changeNote struct {
	At    time.Time    `json:"seen,omitzero"`
	Cause backend.Safe `json:"cause,omitzero"`
	Batch bool         `json:"batch,omitempty"`  // no change is known: sessions started together
	Peak  []point      `json:"points,omitempty"` // at most one, the largest counts since: opens, workspaces, unfinished
}

type restartStorm struct {
	base
	remembers[changeNote]
	opens, sessions   int
	share, unfinished float64
	within            time.Duration
}

// JudgeFleet keeps the newest change of each source in its note.
func (r *restartStorm) JudgeFleet(env *alerts.Env, known alerts.Known) []alerts.Found {
	var out []alerts.Found
	for _, h := range env.State.Sources {
		note := alerts.NoteAs[changeNote](known.Note(h.Key))
		if !h.Delivers(backend.InputRegistry) && note == nil {
			continue
		}
		if n := r.marker(env, h, note); n != nil {
			out = append(out, alerts.Found{Key: h.Key, Verdict: r.judge(env, h, n, known.Finding(h.Key) == alerts.StateFiring || known.Finding(h.Key) == alerts.StateHeld)})
		} else if note != nil {
			out = append(out, alerts.Found{Key: h.Key, Verdict: alerts.Verdict{Outcome: alerts.False}})
		}
	}
	return out
}

// marker is the note of the newest change that is not over, nil when there is none.
func (r *restartStorm) marker(env *alerts.Env, h *fleet.SourceHealth, note *changeNote) *changeNote {
	for i := range env.State.Events {
		e := &env.State.Events[i]
		if !e.MayRestart() || e.Source != "" && !speaksAbout(env, e.Source, h.Key.Source) {
			continue
		}
		at := env.Ours(e.At)
		if note == nil || at.After(note.At) {
			text := e.Text
			if text.IsEmpty() {
				text = backend.Clean(e.Name, 80)
			}
			note = &changeNote{At: at, Cause: alerts.CauseText(text)}
		}
	}
	if note == nil && env.Now.Sub(env.Watching) <= time.Minute {
		note = r.common(env, h.Key.Source)
	}
	if note == nil || env.Now.Sub(note.At) > r.within {
		return nil
	}
	return note
}

// common replaces a missing marker on a cold start by sessions that started together. It walks everything, and so only when
// something changed that can be one more of them.
func (r *restartStorm) common(env *alerts.Env, home string) *changeNote {
	if !r.news(env, home) {
		return nil
	}
	var starts []time.Time
	for s := range env.State.Sessions.All() {
		if at := r.started(env, s, home); !at.IsZero() {
			starts = append(starts, at)
		}
	}
	var last backend.ID
	for w := range env.State.Workspaces.All() { // where nobody tells when sessions started, the first attempts do
		if at := r.tried(env, w, home); !at.IsZero() && w.Key.Parent != last {
			last = w.Key.Parent // in the order of their sessions: one that opens many started once
			starts = append(starts, at)
		}
	}
	if len(starts) < r.opens {
		return nil
	}
	stable.Sort(starts, time.Time.Compare)
	best, from := 0, 0
	for i, at := range starts {
		for at.Sub(starts[from]) > alerts.StartedTogether {
			from++
		}
		if n := i - from + 1; n > best {
			best = n
			if n >= r.opens {
				return &changeNote{At: starts[from], Cause: backend.Text("many sessions started together"), Batch: true}
			}
		}
	}
	return nil
}

// news reports whether a session or workspace changed that common may count.
func (r *restartStorm) news(env *alerts.Env, home string) bool {
	sessions, all := env.Changed(backend.KindSession)
	workspaces, _ := env.Changed(backend.KindWorkspace)
	return all || slices.ContainsFunc(sessions, func(e backend.Entity) bool {
		s, is := e.(*backend.Session)
		return is && !r.started(env, s, home).IsZero()
	}) || slices.ContainsFunc(workspaces, func(e backend.Entity) bool {
		w, is := e.(*backend.Workspace)
		return is && !r.tried(env, w, home).IsZero()
	})
}

// started is when a session of the source started, zero when that is too long ago or not known.
func (r *restartStorm) started(env *alerts.Env, s *backend.Session, home string) time.Time {
	if at := env.Time(&s.Meta, s.StartedAt); s.Key.Source == home && !at.IsZero() && !at.After(env.Now) && env.Now.Sub(at) <= r.within {
		return at
	}
	return time.Time{}
}

// tried is when a workspace of the source that never succeeded was last tried, zero when that is too long ago or its
// session tells when it started. Most have succeeded; the other questions cost more.
func (r *restartStorm) tried(env *alerts.Env, w *backend.Workspace, home string) time.Time {
	if w.Key.Source != home || !env.Time(&w.Meta, w.LastSuccessAt).IsZero() {
		return time.Time{}
	}
	at := env.Time(&w.Meta, w.LastAttemptAt)
	if at.IsZero() || at.After(env.Now) || env.Now.Sub(at) > r.within {
		return time.Time{}
	}
	if s := env.SessionOf(w); s != nil && s.StartedAt.IsKnown() {
		return time.Time{}
	}
	return at
}

func (r *restartStorm) judge(env *alerts.Env, h *fleet.SourceHealth, n *changeNote, fires bool) alerts.Verdict {
	if o, why, gap := env.Gap(h.Key.Source); gap {
		return alerts.Verdict{Outcome: o, Why: why, Note: alerts.NoteOf(n)}
	}
	lasts := env.Now.Sub
	if !fires { // what it was seen to last
		lasts = func(since time.Time) time.Duration { return env.Watched(h.Key.Source, since) }
	}
	now, sessions := r.count(env, h, n, lasts)
	peak := [3]float64{}
	if len(n.Peak) > 0 {
		peak = n.Peak[0].N
	}
	if now[0] > peak[0] || len(n.Peak) == 0 { // a restart of the console forgets when workspaces were first read
		c := *n
		c.Peak = []point{{At: env.Now, N: now}}
		n, peak = &c, now
	}
	v := alerts.Verdict{Outcome: alerts.False, Note: alerts.NoteOf(n), Source: h.Key.Source}
	if sessions < r.sessions || peak[0] < float64(r.opens) || !atShare(peak[0], r.share, peak[1]) || !atShare(now[2], r.unfinished, peak[0]) {
		return v
	}
	at := env.Display(env.Now)
	v.Outcome, v.Runbook, v.Cause, v.Detail = alerts.True, "7", backend.Textf("many opens after: %s", n.Cause), backend.Textf("many opens after: %s", n.Cause)
	v.Fingerprint = alerts.Fingerprint("many opens after a change")
	v.Bounds, v.Confirmed = alerts.Bounds{Earliest: n.At, Latest: n.Peak[0].At}, env.Ours(h.LastOK)
	v.Evidence = []alerts.Evidence{
		{Text: backend.Textf("%s, at %s", n.Cause, env.Clock(n.At)), Source: h.Key.Source, At: env.Display(n.At)},
		{
			Text:  backend.Textf("%s of %s workspaces opened again since (alert from %d and %s %%)", number(peak[0]), number(peak[1]), r.opens, number(100*r.share)),
			Value: backend.Known(peak[0]), Unit: "workspaces", Source: h.Key.Source, At: env.Display(n.Peak[0].At),
		},
		{
			Text:  backend.Textf("%s of them do not work now: failed, evicted or still opening", number(now[2])),
			Value: backend.Known(now[2]), Unit: "workspaces", Source: h.Key.Source, At: at,
		},
	}
	return v
}

// count adds up a source's workspaces: opened since the change, all, and opened since but not working; and the sessions
// of those that were opened; lasts is how long something lasts. It walks them all, and is called only in the minutes after a change.
func (r *restartStorm) count(env *alerts.Env, h *fleet.SourceHealth, note *changeNote, lasts func(since time.Time) time.Duration) (n [3]float64, sessions int) {
	change := note.At
	// What is read first just after the console's own start was there before.
	news := env.State.Wall.Add(-env.State.Mono).Add(max(time.Minute, 3*h.Interval))
	forgot := news.After(env.Display(change))
	var last backend.ID
	for w := range env.State.Workspaces.All() {
		if w.Key.Source != h.Key.Source {
			continue
		}
		n[1]++
		f := factsOf(env, w)
		at, opened := r.openedAt(env, w, f, change, news, forgot)
		fails := !working(w, f) && lasts(latestOf(at, latestOf(f.success, f.worked))) >= r.meta.For // else it is on its way
		fails = fails && !(note.Batch && busy(env, w, f))
		if forgot && fails && (f.success.IsZero() || f.success.After(change)) {
			n[2]++ // a fresh registry knows no success from before the change
		}
		if !opened {
			continue
		}
		n[0]++
		if last != w.Key.Parent { // in the order of their sessions
			last = w.Key.Parent
			sessions++
		}
		if !forgot && fails {
			n[2]++
		}
	}
	return n, sessions
}

// busy reports whether the one attempt of a workspace that never worked goes on, and not for too long yet: a batch of sessions
// that start together is no change, and their opens may take as long as others.
func busy(env *alerts.Env, w *backend.Workspace, f facts) bool {
	return w.LastError.IsEmpty() && f.success.IsZero() && env.Now.Sub(f.attempt) < env.State.LongestOperation
}

func working(w *backend.Workspace, f facts) bool {
	return w.Class != backend.ClassFailed && w.Class != backend.ClassEvicted && w.Class != backend.ClassOpening && !f.failing()
}

// openedAt is when a workspace was opened, and whether that was after the change. What was not opened since has failed
// since the change at most.
func (r *restartStorm) openedAt(env *alerts.Env, w *backend.Workspace, f facts, change, news time.Time, forgot bool) (time.Time, bool) {
	if seen := env.Ours(w.FirstSeen); w.FirstSeen.After(news) && !seen.Before(change) {
		return seen, true
	}
	if s := env.SessionOf(w); s != nil {
		if at := env.Time(&s.Meta, s.StartedAt); !at.IsZero() && !at.Before(change) {
			return at, true
		}
	}
	// A registry that knows no success and tried after the change was made by it.
	if forgot && f.success.IsZero() && !f.attempt.IsZero() && !f.attempt.Before(change) {
		return f.attempt, true
	}
	return change, false
}
