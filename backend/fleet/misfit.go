package fleet

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// Misfit is the newest word by which a sandbox and its Cloudflare Worker have versions that do not understand each other.
type Misfit struct {
	Said    backend.Safe
	Source  string
	At      time.Time
	Rollout backend.Safe // of its application, which goes on: "rollout r9 of agents"; empty: none is listed
	Calm    backend.Safe // the application, where its list shows that no rollout goes on; empty: it does not tell
}

// GoesOn is what it says beside the rollout that goes on; empty: none is listed.
func (m *Misfit) GoesOn() backend.Safe {
	if m.Rollout.IsEmpty() {
		return backend.Safe{}
	}
	return backend.Textf("; %s goes on", m.Rollout)
}

// Misfit is what a probe or the log of an agent says of such versions. It is false where neither does, or where a command ran, another
// answer came or the container was started since.
func (s *State) Misfit(b *backend.Sandbox) (m Misfit, is bool) {
	if !b.OfWorker() {
		return m, false
	}
	o, _ := b.Proved()
	v, tried := o.Of(backend.PlaneExec)
	if tried && v.Kind == backend.FailProtocol {
		m = Misfit{Said: v.What, Source: b.Key.Source, At: v.At}
	}
	bad, good := s.VersionsSaid(b)
	if !bad.At.IsZero() && bad.At.After(good.At) && bad.At.After(v.At) && !bad.At.Before(b.StartedAt.Or(time.Time{})) {
		m = Misfit{Said: backend.Text("its agent's log names versions that do not understand each other"), Source: bad.Source, At: bad.At}
	}
	if m.At.IsZero() || good.At.After(m.At) {
		return m, false
	}
	m.rollouts(s.Source(b.Key.Source), b.Application)
	return m, true
}

// rollouts takes over what its platform lists of the rollouts of an application. One that a Durable Object manages has none that is listed.
func (m *Misfit) rollouts(h *SourceHealth, application backend.Safe) {
	if h == nil {
		return
	}
	i := slices.IndexFunc(h.Pools, func(p backend.Pool) bool { return p.Name == application && !p.Policy.IsEmpty() })
	switch {
	case i < 0:
	case !h.Pools[i].Rollout.IsEmpty():
		m.Rollout = backend.Textf("rollout %s of %s", h.Pools[i].Rollout, application)
	case h.Pools[i].Policy.String() != "durable_object":
		m.Calm = application
	}
}

// VersionsSaid are the newest lines of agents about a sandbox of a Cloudflare Worker: one of versions that do not understand each other,
// and one of a command that ran. Zero: there is none.
func (s *State) VersionsSaid(b *backend.Sandbox) (bad, good backend.Report) {
	for _, h := range s.Sources {
		if !b.OfWorker() || len(h.Reports) == 0 || !h.ReportsOn(b.Key.Source) {
			continue
		}
		for i := range h.Reports {
			switch x := &h.Reports[i]; {
			case !x.NamesBox(b):
			case x.Kind == backend.ReportProtocol && x.At.After(bad.At):
				bad = *x
			case (x.Kind == backend.ReportCommandGood || x.Kind == backend.ReportCommandRan) && x.At.After(good.At):
				good = *x
			}
		}
	}
	return bad, good
}

// misfitEvents tells the misfits of this step as one change of each source. A process that reads them again tells no other one, for its
// time and its words are the same.
func (o *observations) misfitEvents() (out []backend.Event) {
	stable.Sort(o.misfits, bySource)
	for len(o.misfits) > 0 {
		source := o.misfits[0].key.Source
		n := slices.IndexFunc(o.misfits, func(c verdictChange) bool { return c.key.Source != source })
		if n < 0 {
			n = len(o.misfits)
		}
		e := backend.Event{Kind: backend.EventChange, Source: source, Name: backend.ChangeProtocol}
		for _, c := range o.misfits[:n] {
			if e.At.IsZero() || c.v.At.Before(e.At) {
				e.At, e.SourceAt = c.v.At, c.v.At
			}
			if len(e.About) < 100 {
				e.About = append(e.About, c.key)
			}
		}
		whom := o.misfits[0].name
		if n > 1 {
			whom = backend.Textf("%s", backend.Counted(n, "sandbox", "sandboxes"))
		}
		e.Text = backend.Textf("Worker and containers have versions that do not understand each other, a probe of %s was told", whom)
		out, o.misfits = append(out, e), o.misfits[n:]
	}
	o.misfits = nil
	return out
}

func bySource(a, b verdictChange) int {
	return cmp.Or(strings.Compare(a.key.Source, b.key.Source), a.key.Compare(b.key))
}
