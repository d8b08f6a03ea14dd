package rules

import (
	"cmp"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// youngTrouble is how long a failure that is over stays an alert.
const youngTrouble = 24 * time.Hour

// evidenceOf is of how many containers of one alert the evidence tells more than a line.
const evidenceOf = 3

// evidenceLines is how many of the last lines of a log stand in the evidence.
const evidenceLines = 5

// sandboxTrouble is what the rules about one failing container have in common.
type sandboxTrouble struct{ base }

// troubleBase is a rule about containers; its page is Sandglass's own.
func troubleBase(c *Common, name string) sandboxTrouble {
	return sandboxTrouble{c.base(name, backend.KindSandbox, backend.InputContainers, backend.InputContainers)}
}

// failing is the verdict about a container that fails.
func failing(b *backend.Sandbox, cause backend.Safe, bounds alerts.Bounds, detail backend.Safe) alerts.Verdict {
	return alerts.Verdict{Outcome: alerts.True, Runbook: "container", Session: b.Session, Provider: b.Provider, Bounds: bounds, Detail: detail,
		Cause: cause, Fingerprint: alerts.Fingerprint(cause.String())}
}

// until makes a verdict false once the failure is older than a day.
func until(env *alerts.Env, v alerts.Verdict, at time.Time) alerts.Verdict {
	if env.Now.Sub(at) > youngTrouble {
		return alerts.Verdict{Outcome: alerts.False, Note: v.Note}
	}
	v.Recheck = at.Add(youngTrouble + time.Second)
	return v
}

// endedAt is when the newest run of a container was over. A run that ends at once is written down as ended before it
// began, so the later of both counts; it is zero when neither is known.
func endedAt(env *alerts.Env, b *backend.Sandbox) time.Time {
	return latestOf(env.Time(&b.Meta, b.StartedAt), env.Time(&b.Meta, b.FinishedAt))
}

// Evidence names each container with what is wrong, and of the first ones limit, policy and last lines.
func (r *sandboxTrouble) Evidence(env *alerts.Env, a *alerts.Alert, oldest backend.Entity) []alerts.Evidence {
	b, ok := oldest.(*backend.Sandbox)
	if !ok && len(a.Subjects) > 0 {
		b = env.Sandbox(a.Subjects[0].Key)
	}
	if b == nil {
		return nil
	}
	src, at := b.Key.Source, env.Display(env.ReadAt(&b.Meta))
	out := []alerts.Evidence{{
		Text: backend.Textf("%s: %s", plural(a.SubjectCount, "sandbox"), a.Cause), Value: backend.Known(float64(a.SubjectCount)), Unit: "sandboxes", Source: src, At: at,
	}}
	for _, s := range a.Subjects {
		name := s.Label
		if x := env.Sandbox(s.Key); x != nil && !x.Name.IsEmpty() {
			name = x.Name
		}
		if out = append(out, alerts.Evidence{Text: backend.Textf("%s: %s", name, s.Detail), Source: src, At: at}); len(out) > maxListed {
			break
		}
	}
	for _, s := range a.Subjects[:min(len(a.Subjects), evidenceOf)] {
		if x := env.State.Sandbox(s.Key); x != nil {
			out = append(out, routesDiffer(env, x)...)
			out = append(out, containerEvidence(env, x)...)
		}
	}
	return out
}

// containerEvidence states how a container was limited, how it ended, what starts it again, and how its log ends.
func containerEvidence(env *alerts.Env, b *backend.Sandbox) []alerts.Evidence {
	src, at := b.Key.Source, env.Display(env.ReadAt(&b.Meta))
	var out []alerts.Evidence
	add := func(text backend.Safe, value float64, unit string) {
		out = append(out, alerts.Evidence{Text: text, Value: backend.Known(value), Unit: unit, Source: src, At: at})
	}
	if limit, ok := b.MemLimit.Get(); ok {
		add(backend.Textf("the memory limit of %s is %s", b.Name, limitText(limit)), float64(limit), "bytes")
	}
	if code, ok := b.ExitCode.Get(); ok && b.Class.Ended() {
		add(backend.Textf("%s ended with exit code %d at %s", b.Name, code, env.Clock(endedAt(env, b))), float64(code), "exit code")
	}
	if n, ok := b.RestartCount.Get(); ok && n > 0 {
		policy := cmp.Or(b.RestartPolicy.String(), "its restart policy")
		add(backend.Textf("%s was restarted %s; restart policy: %s", b.Name, plural(n, "time"), backend.Clean(policy, 40)), float64(n), "restarts")
	}
	if tail, read := b.Log.Get(); read {
		text, lines := alerts.LastLines(b, evidenceLines)
		if text = backend.Textf("the log of %s ends: %s", b.Name, text); !lines {
			text = backend.Textf("the log of %s has no lines to show: %s", b.Name, tail.Why)
		}
		out = append(out, alerts.Evidence{Text: text, Source: src, At: env.Display(env.Ours(tail.At))})
	}
	return out
}

// limitText writes a limit as it was set: in MiB or GiB where that is a round number.
func limitText(n int64) string {
	switch {
	case n >= 1<<30 && n%(1<<30) == 0:
		return number(float64(n>>30)) + " GiB"
	case n >= 1<<20 && n%(1<<20) == 0:
		return number(float64(n>>20)) + " MiB"
	}
	return bytesText(n)
}
