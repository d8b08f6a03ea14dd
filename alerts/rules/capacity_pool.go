package rules

import (
	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// pools judges how full the applications of cloud platforms are, by what the platforms count. An application without a limit,
// or of which the platform does not tell how many run, is not judged.
func (r *capacity) pools(env *alerts.Env, known alerts.Known, seen map[backend.Key]bool) []alerts.Found {
	var out []alerts.Found
	refused := r.refusals(env)
	for _, h := range env.State.Sources {
		command, is := refused[h.Key.Source]
		for i := range h.Pools {
			x := &h.Pools[i]
			key := backend.PlacesKey(h.Key.Source, x)
			if seen[key] {
				continue
			}
			v := r.pool(env, h, x)
			if is && v.Outcome == alerts.True && v.Severity != "" { // it is full
				v.Evidence, is = append(v.Evidence, command.said()), false
			}
			r.began(env, &fill{}, alerts.NoteAs[shortNote](known.Note(key)), &v)
			if v.Outcome != alerts.True && known.Finding(key) == "" {
				continue
			}
			seen[key] = true
			out = append(out, alerts.Found{Key: key, Verdict: v})
		}
		if is {
			f := r.alone(env, &command)
			was := alerts.NoteAs[shortNote](known.Note(f.Key))
			if was == nil {
				was = &shortNote{Since: env.Ours(command.v.At)}
			}
			r.began(env, &fill{}, was, &f.Verdict)
			seen[f.Key] = true
			out = append(out, f)
		}
	}
	return out
}

// pool judges one application.
func (r *capacity) pool(env *alerts.Env, h *fleet.SourceHealth, x *backend.Pool) alerts.Verdict {
	if v, gap := gapOf(env, h.Key.Source); gap {
		return v
	}
	used, counted := x.Used.Get()
	limit, limited := x.Limit.Get()
	waiting := max(x.Starting.Or(0), 0)
	taken := used + waiting // one that starts takes a place
	if !counted || !limited || limit < 1 || !atShare(float64(taken), r.warn, float64(limit)) {
		return alerts.Verdict{Outcome: alerts.False}
	}
	at := env.Ours(x.At)
	v := alerts.Verdict{
		Outcome: alerts.True, Source: h.Key.Source, Runbook: "7", Provider: backend.Clean(h.Kind, 60), Confirmed: at,
		Cause: backend.Textf("%s is nearly full", x.Name), Fingerprint: alerts.Fingerprint("nearly full") + "-" + x.Name.String(),
		Evidence: []alerts.Evidence{{Text: backend.Textf("%d of %d instances of %s run, as the platform counts (warning from %s %%)", used, limit, x.Name, number(100*r.warn)),
			Value: backend.Known(float64(taken) / float64(limit)), Unit: "share", Source: h.Key.Source, At: env.Display(at)}},
	}
	if used >= limit {
		v.Cause, v.Fingerprint = backend.Textf("%s has no instance left", x.Name), alerts.Fingerprint("no instance left")+"-"+x.Name.String()
		v.Severity = worse(r.meta.Severity)
	}
	if waiting > 0 {
		text := backend.Textf("%s of %s: starting, as the platform counts", plural(waiting, "instance"), x.Name)
		if taken <= limit {
			text = backend.Textf("%s; each has its place already", text)
		}
		v.Evidence = append(v.Evidence, alerts.Evidence{Text: text,
			Value: backend.Known(float64(waiting)), Unit: "instances", Source: h.Key.Source, At: env.Display(at)})
	}
	if !x.Rollout.IsEmpty() {
		v.Evidence = append(v.Evidence, alerts.Evidence{Text: backend.Textf("rollout %s goes on: old and new instances run side by side", x.Rollout), Source: h.Key.Source, At: env.Display(at)})
	}
	if kept := keptIn(env, h.Key.Source, x.Name); kept > 0 {
		v.Evidence = append(v.Evidence, alerts.Evidence{Text: backend.Textf("%s of %s: kept alive on purpose, never asleep until they are destroyed", plural(kept, "instance"), x.Name),
			Value: backend.Known(float64(kept)), Unit: "instances", Source: h.Key.Source, At: env.Display(env.Now)})
	}
	v.Detail = v.Cause
	return v
}

// keptIn counts the running sandboxes of an application of which something says that they are kept alive: they hold a place until
// they are destroyed.
func keptIn(env *alerts.Env, source string, application backend.Safe) (n int) {
	for b := range env.State.Sandboxes.All() {
		if b.Key.Source != source || b.Application != application || b.Class.Ended() {
			continue
		}
		by, _ := alerts.KeptOnPurpose(env.State, b)
		if awake, _ := alerts.KeptAwake(env.State, b); by != nil || awake != nil {
			n++
		}
	}
	return n
}
