package rules

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// HostRestartedOptions are the keys of `[rules.host-restarted]`.
type HostRestartedOptions struct {
	Common
	Recent backend.Duration `toml:"recent" doc:"how long a restart stays an alert"`
}

func hostRestartedDefaults() *HostRestartedOptions {
	return &HostRestartedOptions{Common: common(alerts.SeverityInfo), Recent: backend.Duration(15 * time.Minute)}
}

func (o *HostRestartedOptions) build() (alerts.Rule, error) {
	r := &hostRestarted{base: o.base("host-restarted", backend.KindHost, backend.InputHost, backend.InputHost), recent: o.Recent.Std()}
	return r, positive("recent", o.Recent)
}

// bootNote is what is remembered of a host's boots.
type bootNote struct {
	Boot   time.Time `json:"first,omitzero"`
	ReadAt time.Time `json:"last,omitzero"`
	Alert  time.Time `json:"seen,omitzero"` // the boot that is an alert, zero: none
}

type hostRestarted struct {
	base
	remembers[bootNote]
	recent time.Duration
}

func (r *hostRestarted) Judge(env *alerts.Env, e backend.Entity, known alerts.Note) alerts.Verdict {
	note := alerts.NoteAs[bootNote](known)
	h, ok := e.(*backend.Host)
	if !ok {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	boot, read := env.Time(&h.Meta, h.BootedAt), env.ReadAt(&h.Meta)
	if boot.IsZero() {
		return alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("its boot time cannot be read"), Note: known}
	}
	n := &bootNote{Boot: boot, ReadAt: read}
	switch {
	case boot.After(read.Add(bootSlack)): // the wall clock jumped
	case note == nil:
		if l := env.Live(h.Key.Source); l.Told && !l.Oldest.IsZero() && l.Oldest.Before(boot) {
			n.Alert = boot
		}
	case boot.Sub(note.Boot) > time.Minute && boot.After(note.ReadAt.Add(-bootSlack)):
		n.Alert = boot
	default:
		n.Alert = note.Alert
		n.Boot = note.Boot
	}
	if n.Alert.IsZero() || env.Now.Sub(n.Alert) > r.recent {
		return alerts.Verdict{Outcome: alerts.False, Note: alerts.NoteOf(n)}
	}
	v := alerts.Verdict{
		Outcome: alerts.True, Note: alerts.NoteOf(n), Cause: backend.Text("the host restarted"), Bounds: alerts.Bounds{Earliest: n.Alert, Latest: n.Alert},
		Fingerprint: alerts.Fingerprint("the host restarted"), Detail: backend.Textf("%s booted at %s", h.Name, env.Clock(n.Alert)), Runbook: "2",
		Recheck: n.Alert.Add(r.recent + 1),
	}
	if r.meta.Severity == alerts.SeverityInfo && len(volatile(h)) > 0 {
		v.Severity = alerts.SeverityWarning
	}
	return v
}

// bootSlack is how far the boot time of a host may lie beside the moments at which we read it.
const bootSlack = 5 * time.Second

// volatile lists the roots that a restart empties.
func volatile(h *backend.Host) []backend.Safe {
	var out []backend.Safe
	for _, root := range h.Roots {
		if root.FSType.String() == "tmpfs" || root.FSType.String() == "ramfs" {
			out = append(out, root.Path)
		}
	}
	return out
}

func (r *hostRestarted) Evidence(env *alerts.Env, _ *alerts.Alert, oldest backend.Entity) []alerts.Evidence {
	h, ok := oldest.(*backend.Host)
	if !ok {
		return nil
	}
	src, at := h.Key.Source, env.Display(env.ReadAt(&h.Meta))
	out := []alerts.Evidence{{Text: backend.Textf("%s booted at %s", h.Name, env.Clock(env.Time(&h.Meta, h.BootedAt))), Source: src, At: at}}
	if v := volatile(h); len(v) > 0 {
		out = append(out, alerts.Evidence{Text: backend.Textf("a tmpfs, emptied by it: %s", backend.Join(v, ", ")), Source: src, At: at})
	}
	if l := env.Live(src); l.Told && !l.Oldest.IsZero() && l.Oldest.Before(env.Time(&h.Meta, h.BootedAt)) {
		out = append(out, alerts.Evidence{Text: backend.Textf("sessions that run now are older: the oldest since %s", env.Clock(l.Oldest)), Source: src, At: at})
	}
	return out
}
