package rules

import (
	"cmp"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// HostOOMOptions are the keys of `[rules.host-oom]`.
type HostOOMOptions struct {
	Common
	Recent    backend.Duration `toml:"recent" doc:"how long a kill by the kernel stays an alert"`
	Available float64          `toml:"available" doc:"share of memory below which the host counts as nearly out of it (0 to 1)"`
	Pressure  float64          `toml:"pressure" doc:"share of the time that some task waits for memory, above which diagnoses call memory short; it raises no alert (0 to 1)"`
	LowFor    backend.Duration `toml:"low_for" doc:"how long so little memory must be available"`
}

func hostOOMDefaults() *HostOOMOptions {
	return &HostOOMOptions{Common: common(alerts.SeverityCritical), Recent: backend.Duration(15 * time.Minute), Available: 0.03, Pressure: 0.2, LowFor: backend.Duration(time.Minute)}
}

func (o *HostOOMOptions) build() (alerts.Rule, error) {
	r := &hostOOM{base: o.base("host-oom", backend.KindHost, backend.InputHost, backend.InputHost), recent: o.Recent.Std(), available: o.Available, lowFor: o.LowFor.Std()}
	return r, cmp.Or(
		positive("recent", o.Recent),
		share("available", o.Available),
		share("pressure", o.Pressure),
	)
}

// hostOOMNote is what is remembered of a host's kills and memory.
type hostOOMNote struct {
	Kills      int32     `json:"count,omitempty"`  // the kernel's counter
	ReadAt     time.Time `json:"last,omitzero"`    // when it was read
	Increments []point   `json:"points,omitempty"` // N[0]: kills seen since
	Before     time.Time `json:"first,omitzero"`   // when the counter was read before the first of them
	LowSince   time.Time `json:"seen,omitzero"`    // since when memory is low
}

type hostOOM struct {
	base
	remembers[hostOOMNote]
	recent, lowFor time.Duration
	available      float64
}

func (r *hostOOM) Judge(env *alerts.Env, e backend.Entity, known alerts.Note) alerts.Verdict {
	note := alerts.NoteAs[hostOOMNote](known)
	h, ok := e.(*backend.Host)
	if !ok {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	n := r.noted(env, h, note)
	low, lowKnown := r.lowMemory(h)
	if !lowKnown && !h.OOMKills.IsKnown() {
		return alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("neither memory nor kills can be read on this host"), Note: known}
	}
	v := alerts.Verdict{Outcome: alerts.True, Note: alerts.NoteOf(n), Runbook: "3"}
	kills := 0.0
	for _, p := range n.Increments {
		kills += p.N[0]
	}
	switch {
	case kills > 0:
		first, last := n.Increments[0], n.Increments[len(n.Increments)-1]
		v.Cause = backend.Text("the kernel killed processes for lack of memory")
		v.Bounds = alerts.Bounds{Earliest: n.Before, Latest: first.At}
		v.Recheck = last.At.Add(r.recent + 1)
		v.Detail = backend.Textf("%s killed for lack of memory", plural(int(kills), "process"))
	case low:
		if n.LowSince.IsZero() {
			n.LowSince = env.ReadAt(&h.Meta)
		}
		v.Cause = backend.Text("memory is nearly exhausted")
		v.Bounds = alerts.Bounds{Latest: n.LowSince}
		v.Detail = v.Cause
		if env.Now.Sub(n.LowSince) < r.lowFor {
			v.Suspected, v.Recheck = true, n.LowSince.Add(r.lowFor)
			v.Why = backend.Textf("fires when it lasts until %s", env.Clock(v.Recheck))
		}
	default:
		n.LowSince = time.Time{}
		v.Outcome = alerts.False
		return v
	}
	v.Fingerprint = alerts.Fingerprint(v.Cause.String())
	return v
}

// noted brings the note up to date with the counter of kills.
func (r *hostOOM) noted(env *alerts.Env, h *backend.Host, note *hostOOMNote) *hostOOMNote {
	read, boot := env.ReadAt(&h.Meta), env.Time(&h.Meta, h.BootedAt)
	n := &hostOOMNote{ReadAt: read}
	more := 0.0
	kills, known := h.OOMKills.Get()
	switch {
	case note != nil:
		*n = *note
		n.Increments = nil
		for _, p := range note.Increments {
			if env.Now.Sub(p.At) <= r.recent {
				n.Increments = append(n.Increments, p)
			}
		}
		if known {
			more = float64(kills) - float64(note.Kills)
			if more < 0 { // booted anew
				more = float64(kills)
			}
		}
	case known && !boot.IsZero() && env.Now.Sub(boot) <= r.recent:
		more, n.ReadAt = float64(kills), boot
	}
	if more > 0 {
		if len(n.Increments) == 0 {
			n.Before = n.ReadAt
		}
		n.Increments = append(n.Increments, point{At: read, N: [3]float64{more}})
		if len(n.Increments) > maxPoints {
			n.Increments[1].N[0] += n.Increments[0].N[0]
			n.Increments = n.Increments[1:]
		}
	}
	if known {
		n.Kills, n.ReadAt = int32(kills), read
	}
	return n
}

// maxPoints bounds what a note remembers of measurements.
const maxPoints = 64

// lowMemory reports whether too little of a host's memory is available.
func (r *hostOOM) lowMemory(h *backend.Host) (low, known bool) {
	total, ok := h.MemTotal.Get()
	free, ok2 := h.MemAvailable.Get()
	if !ok || !ok2 || total <= 0 {
		return false, false
	}
	return float64(free) < r.available*float64(total), true
}

func (r *hostOOM) Evidence(env *alerts.Env, a *alerts.Alert, oldest backend.Entity) []alerts.Evidence {
	h, ok := oldest.(*backend.Host)
	if !ok {
		return nil
	}
	src, at := h.Key.Source, env.Display(env.ReadAt(&h.Meta))
	var out []alerts.Evidence
	for _, s := range a.Subjects {
		out = append(out, alerts.Evidence{Text: backend.Textf("%s: %s", s.Label, s.Detail), Source: src, At: at})
		if len(out) == maxListed {
			break
		}
	}
	if k, ok := h.OOMKills.Get(); ok {
		out = append(out, alerts.Evidence{Text: backend.Textf("%s killed since %s booted", plural(int(k), "process"), h.Name), Value: backend.Known(float64(k)), Unit: "processes", Source: src, At: at})
	}
	return append(out, memoryEvidence(h, src, at)...)
}

// maxListed bounds the lines of evidence that name single subjects.
const maxListed = 5

func memoryEvidence(h *backend.Host, src string, at time.Time) []alerts.Evidence {
	var out []alerts.Evidence
	free, ok := h.MemAvailable.Get()
	if total, known := h.MemTotal.Get(); ok && known {
		out = append(out, alerts.Evidence{Text: backend.Textf("%s of %s memory available", bytesText(free), bytesText(total)), Value: backend.Known(float64(free)), Unit: "B", Source: src, At: at})
	}
	if p, ok := h.MemPressure.Get(); ok && p >= 0.01 {
		out = append(out, alerts.Evidence{Text: backend.Textf("in %s %% of the last 10 s some task waited for memory", number(100*p)), Value: backend.Known(p), Unit: "share", Source: src, At: at})
	}
	return out
}
