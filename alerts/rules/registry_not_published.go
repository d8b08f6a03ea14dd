package rules

import (
	"cmp"
	"slices"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// RegistryOptions are the keys of `[rules.registry-not-published]`.
type RegistryOptions struct {
	Common
	Named backend.Duration `toml:"named" doc:"a log line this recent shows that its session runs"`
	Lost  int              `toml:"lost" doc:"running sessions with an earlier registry or references that answer 404 for 2 minutes"`
	Share float64          `toml:"share" doc:"… and their share of the source's running sessions (0 to 1)"`
}

func registryDefaults() *RegistryOptions {
	return &RegistryOptions{Common: common(alerts.SeverityWarning), Named: backend.Duration(5 * time.Minute), Lost: 3, Share: 0.1}
}

func (o *RegistryOptions) build() (alerts.Rule, error) {
	r := &registryNotPublished{base: o.base("registry-not-published", backend.KindSession, backend.InputRegistry, backend.InputSessions, backend.InputContainers, backend.InputRejections, backend.InputEvictionLogs), named: o.Named.Std(), lost: o.Lost, share: o.Share}
	r.meta.Window = r.named
	return r, cmp.Or(
		positive("named", o.Named),
		atLeast("lost", o.Lost, 1),
		share("share", o.Share),
		refuse(o.Named.Std() > fleet.WindowSpan, "named", "counts are kept for an hour only"),
	)
}

type registryNotPublished struct {
	base
	remembers[lostRegistryNote]
	named time.Duration
	lost  int
	share float64
}

func (r *registryNotPublished) JudgeFleet(env *alerts.Env, known alerts.Known) []alerts.Found {
	var out []alerts.Found
	for _, h := range env.State.Sources {
		if h.Registry == backend.RegistryNone && known.Finding(h.Key) == "" {
			continue
		}
		out = append(out, alerts.Found{Key: h.Key, Verdict: r.judge(env, h, known)})
	}
	return out
}

func (r *registryNotPublished) judge(env *alerts.Env, h *fleet.SourceHealth, known alerts.Known) alerts.Verdict {
	if o, why, gap := env.Gap(h.Key.Source); gap {
		return alerts.Verdict{Outcome: o, Why: why}
	}
	var cause backend.Safe
	if h.Registry != backend.RegistryNone {
		if v := r.judgeLost(env, h, known); v.Outcome == alerts.True {
			return v
		}
	}
	switch h.Registry {
	case backend.RegistryAllIdle:
		cause = backend.Text("running sessions answer 404: no registry is published")
	case backend.RegistryNoRoute:
		cause = backend.Text("running sessions answer 404: the health route is not there")
	case backend.RegistryNone:
		return alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("no health route has been asked yet")}
	case backend.RegistryAnswers, backend.RegistryWrongPath:
		return alerts.Verdict{Outcome: alerts.False}
	}
	listed, joined, named, unsure := r.running(env, h.Key.Source)
	sum := len(listed) + len(joined) + len(named)
	switch {
	case sum == 0 && unsure:
		return alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("another source that could list what runs has not been read yet")}
	case sum == 0:
		return alerts.Verdict{Outcome: alerts.False}
	}
	v := alerts.Verdict{
		Outcome: alerts.True, Source: h.Key.Source, Cause: cause, Fingerprint: alerts.Fingerprint("registry not published"), Runbook: "source",
		Bounds:    alerts.Bounds{Latest: env.Ours(h.RegistrySince)},
		Confirmed: env.Ours(h.LastOK), Detail: cause, Listing: sessionsOf(env, h.Key.Source, listed, joined, named),
	}
	if n := alerts.NoteAs[lostRegistryNote](known.Note(h.Key)); n != nil {
		v.Note, v.Bounds.Latest = alerts.NoteOf(n), n.Since
	} else {
		v.Note = alerts.NoteOf(&lostRegistryNote{Since: v.Bounds.Latest})
		if !h.LastOK.After(h.RegistrySince) && hadRegistries(env, listed, h.Key.Source) {
			v.Suspected, v.Why = true, backend.Text("fires when the next poll finds no registry either: the one before did")
		}
	}
	now := env.Display(env.Now)
	for _, x := range []struct {
		n    int
		text string
	}{
		{len(listed), "the list route calls %s running"}, {len(joined), "%s joined to a running container"}, {len(named), "%s named by a log line of the last " + text(r.named)},
	} {
		if x.n > 0 {
			v.Evidence = append(v.Evidence, alerts.Evidence{
				Text: backend.Textf(backend.Literal(x.text), plural(x.n, "session")), Value: backend.Known(float64(x.n)), Unit: "sessions", Source: h.Key.Source, At: now,
			})
		}
	}
	v.Evidence = append(v.Evidence, alerts.Evidence{
		Text: backend.Textf("no session answered with a registry since %s", env.Clock(env.Ours(h.RegistrySince))), Source: h.Key.Source, At: h.RegistrySince,
	})
	return v
}

// hadRegistries reports whether some of these sessions had a registry when they were read before.
func hadRegistries(env *alerts.Env, sessions []backend.ID, source string) bool {
	return slices.ContainsFunc(sessions, func(id backend.ID) bool {
		s := env.State.Session(backend.Key{Kind: backend.KindSession, Source: source, ID: id})
		return s != nil && hadRegistry(env, s)
	})
}

// running finds the sessions of a source that are known to run, each once, by the best proof there is. It looks at all
// sessions and is called only while no health route answers. unsure says that of some it is not known whose they are.
func (r *registryNotPublished) running(env *alerts.Env, source string) (listed, joined, named []backend.ID, unsure bool) {
	seen := map[backend.ID]bool{}
	concerns := func(other string, session backend.ID) bool {
		home := env.HomeOf(backend.Series{Source: other, Session: session})
		unsure = unsure || home == ""
		return home == source
	}
	for s := range env.State.Sessions.All() {
		if s.Key.Source == source && !s.ListedRunning.Or(true) {
			seen[s.Key.ID] = true // its list says that it does not run: what it left behind proves nothing
		}
		if s.Key.Source == source && s.ListedRunning.Or(false) && s.Answer != backend.AnswerNone { // one that was not asked yet proves nothing
			seen[s.Key.ID] = true
			listed = append(listed, s.Key.ID)
		}
	}
	for b := range env.State.Sandboxes.All() {
		if b.IsSandbox && b.Class == backend.SandboxRunning && !b.Session.IsZero() && !seen[b.Session] && concerns(b.Key.Source, b.Session) {
			seen[b.Session] = true
			joined = append(joined, b.Session)
		}
	}
	for s := range env.State.Windows.All(backend.MetricNamed) {
		if !s.Session.IsZero() && !seen[s.Session] && concerns(s.Source, s.Session) && env.Over(s, r.named).N > 0 {
			seen[s.Session] = true
			named = append(named, s.Session)
		}
	}
	return listed, joined, named, unsure
}

func sessionsOf(env *alerts.Env, source string, lists ...[]backend.ID) *alerts.Listing {
	l := &alerts.Listing{}
	for _, ids := range lists {
		for _, id := range ids {
			l.Count++
			if len(l.Subjects) < alerts.MaxSubjects {
				k := backend.Key{Kind: backend.KindSession, Source: source, ID: id}
				l.Subjects = append(l.Subjects, alerts.Subject{Key: k, Label: k.Safe(), Since: env.Now})
			}
		}
	}
	l.Sessions = l.Count
	return l
}
