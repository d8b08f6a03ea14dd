package rules

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// SkewOptions are the keys of `[rules.clock-skew]`.
type SkewOptions struct {
	Common
	Beyond backend.Duration `toml:"beyond" doc:"least difference between a source's clock and ours"`
}

func skewDefaults() *SkewOptions {
	o := &SkewOptions{Common: common(alerts.SeverityWarning), Beyond: backend.Duration(30 * time.Second)}
	o.For = backend.Duration(time.Minute)
	return o
}

func (o *SkewOptions) build() (alerts.Rule, error) {
	r := &clockSkew{base: o.base("clock-skew", "", ""), beyond: o.Beyond.Std()}
	return r, positive("beyond", o.Beyond)
}

type clockSkew struct {
	base
	beyond time.Duration
}

func (r *clockSkew) JudgeFleet(env *alerts.Env, known alerts.Known) []alerts.Found {
	var out []alerts.Found
	for _, h := range env.State.Sources {
		offset, is := h.ClockOffset.Get()
		if known.Finding(h.Key) == "" && (!is || offset.Abs() < r.beyond) {
			continue
		}
		v := alerts.Verdict{Outcome: alerts.False, Source: h.Key.Source}
		o, why, gap := env.Gap(h.Key.Source)
		switch {
		case gap:
			v.Outcome, v.Why = o, why
		case !is:
			v.Outcome, v.Why = alerts.NoData, backend.Text("its clock cannot be read now")
		case offset.Abs() >= r.beyond:
			way := "ahead of"
			if offset < 0 {
				way = "behind"
			}
			v.Outcome, v.Runbook = alerts.True, "source"
			v.Cause = backend.Textf("its clock is %s ours", backend.Clean(way, 20))
			v.Fingerprint = alerts.Fingerprint("clock is " + way)
			v.Detail, v.Confirmed = v.Cause, env.Ours(h.LastOK)
			v.Evidence = []alerts.Evidence{{
				Text:  backend.Textf("its clock is %s %s ours (alert from %s)", span(offset.Abs()), backend.Clean(way, 20), text(r.beyond)),
				Value: backend.Known(offset.Seconds()), Unit: "s", Source: h.Key.Source, At: h.LastOK,
			}}
			if others, agree := r.alike(env, h.Key.Source, offset); others > 0 {
				means := backend.Text("this machine's clock may be the wrong one")
				if agree > 0 {
					means = backend.Textf("%s with this machine's clock, which is not the wrong one then", backend.Counted(agree, "other agrees", "others agree"))
				}
				v.Evidence = append(v.Evidence, alerts.Evidence{Text: backend.Textf("other sources that differ in the same way: %d; %s", others, means), Source: h.Key.Source, At: h.LastOK})
			}
		}
		out = append(out, alerts.Found{Key: h.Key, Verdict: v})
	}
	return out
}

// alike counts the other sources whose clocks differ in the same way, and those whose clocks agree with ours.
func (r *clockSkew) alike(env *alerts.Env, source string, offset time.Duration) (n, agree int) {
	for _, h := range env.State.Sources {
		switch o, ok := h.ClockOffset.Get(); {
		case !ok || h.Key.Source == source:
		case o.Abs() < r.beyond:
			agree++
		case (o - offset).Abs() < r.beyond:
			n++
		}
	}
	return n, agree
}
