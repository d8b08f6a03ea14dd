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
	Recent    backend.Duration `toml:"recent" doc:"how long a kill stays an alert; longest gap between two readings that prove one"`
	Available float64          `toml:"available" doc:"share of available memory from which the host is nearly out of it (0 to 1)"`
	Pressure  float64          `toml:"pressure" doc:"share of time that tasks wait for memory, from which diagnoses call it short (0 to 1); no alert"`
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
	killCount
	Increments []point      `json:"points,omitempty"` // N: kills seen since, of these at limits, seconds since the reading before
	LowSince   time.Time    `json:"seen,omitzero"`    // since when memory is low, without the time in which it was not read
	LowRead    time.Time    `json:"low_read,omitzero"`
	Unwatched  backend.Safe `json:"unwatched,omitzero"`
	Untold     time.Time    `json:"untold,omitzero"` // newest kills of which nothing tells whether they were at a limit
}

// Remark is about kills of which it is not known when they were.
func (n *hostOOMNote) Remark() backend.Safe { return n.Unwatched }

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
	v := alerts.Verdict{Outcome: alerts.True, Note: alerts.NoteOf(n), Runbook: "host"}
	kills, first := r.unexplained(env, n)
	by, until := mayBeExplained(env, first.At)
	if !low {
		n.LowSince, n.LowRead = time.Time{}, time.Time{}
	} else {
		n.LowSince, n.LowRead = watchedSince(env, h.Key.Source, n.LowSince, n.LowRead, env.ReadAt(&h.Meta))
	}
	lasts := low && env.Now.Sub(n.LowSince) >= r.lowFor
	switch {
	case kills > 0 && by != nil && !lasts: // low memory that lasts is proved, whatever killed
		v.Suspected = true
		v.Why = backend.Textf("the next reading of %s tells whether a container reached its own limit; fires at %s otherwise", backend.Clean(by.Key.Source, 80), env.Clock(until))
		fallthrough
	case kills > 0 && (by == nil || !lasts):
		v.Cause = backend.Text("the kernel killed processes for lack of memory")
		if by == nil && !low && !n.Untold.Before(first.At) {
			v.Suspected, v.Cause = true, backend.Text("the kernel killed processes; whether a container's own limit did it is not known")
			v.Why = backend.Text("control groups that are gone took their counts with them (cgroup v1), and the kernel's log does not reach back; see journalctl -k")
			if !h.LimitKills.IsKnown() {
				v.Why = backend.Text("this host's control groups cannot be read; see journalctl -k")
			}
		}
		v.Bounds = alerts.Bounds{Earliest: first.At.Add(-time.Duration(first.N[2] * float64(time.Second))), Latest: first.At}
		v.Recheck = env.Now.Add(1) // a later reading of another source may explain it
		v.Detail = backend.Textf("%s killed for lack of memory", plural(int(kills), "process"))
	case low:
		v.Cause = backend.Text("memory is nearly exhausted")
		v.Bounds = alerts.Bounds{Latest: n.LowSince}
		v.Detail = v.Cause
		if !lasts {
			v.Suspected, v.Recheck = true, n.LowSince.Add(r.lowFor)
			v.Why = backend.Textf("fires when it lasts until %s", env.Clock(v.Recheck))
		}
	default:
		v.Outcome = alerts.False
		return v
	}
	v.Fingerprint = alerts.Fingerprint(v.Cause.String())
	return v
}

// noted brings the note up to date with the counter of kills.
func (r *hostOOM) noted(env *alerts.Env, h *backend.Host, note *hostOOMNote) *hostOOMNote {
	n := &hostOOMNote{}
	if note != nil {
		*n = *note
		n.Increments = nil
		for _, p := range note.Increments {
			if env.Now.Sub(p.At) <= r.recent {
				n.Increments = append(n.Increments, p)
			}
		}
	}
	switch k, known := n.count(env, h); {
	case !known || k.n <= 0:
	case k.watched(r.recent):
		if !tellsLimits(h) {
			n.Untold = k.read
		}
		n.Increments = append(n.Increments, point{At: k.read, N: [3]float64{k.n, k.atLimits, k.read.Sub(k.since).Seconds()}})
		if len(n.Increments) > maxPoints {
			n.Increments = n.Increments[1:]
		}
	case k.since.IsZero():
		n.Unwatched = backend.Textf("the kernel killed %s for lack of memory before %s; when is not known", plural(int(k.n), "process"), env.Clock(k.read))
	default:
		n.Unwatched = backend.Textf("the kernel killed %s for lack of memory between %s and %s, while this host was not read", plural(int(k.n), "process"), env.Clock(k.since), env.Clock(k.read))
	}
	return n
}

// unexplained adds up the kills that no container's own limit explains. A container that ran out of memory between two
// readings explains all kills between these: one limit can kill many processes.
func (r *hostOOM) unexplained(env *alerts.Env, n *hostOOMNote) (kills float64, first point) {
	for i := range n.Increments {
		p := &n.Increments[i]
		left := p.N[0] - p.N[1]
		if left > 0 && killedAtLimit(env, p.At.Add(-time.Duration(p.N[2]*float64(time.Second))), p.At, false) {
			p.N[1], left = p.N[0], 0 // kept: the windows forget it
		}
		if left <= 0 {
			continue
		}
		if kills == 0 {
			first = *p
		}
		kills += left
	}
	return kills, first
}

// watchedSince moves since when something holds by the time in which it was not read; last and now are two readings.
func watchedSince(env *alerts.Env, source string, since, last, now time.Time) (time.Time, time.Time) {
	switch unread := now.Sub(last); {
	case since.IsZero():
		return now, now
	case !last.IsZero() && unread > readPatience(env, source):
		since = since.Add(unread)
	}
	return since, now
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
	return within(float64(free), r.available, float64(total)), true
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
