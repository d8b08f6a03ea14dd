package scenario

import (
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// CloudFacts are what a cloud platform tells of a sandbox. Without a region nothing of it is told.
type CloudFacts struct {
	Region string `toml:"region"`
	// Known is how long before the first step its first state was first seen.
	Known backend.Duration `toml:"known"`
	// Platform are words: whether its events, executions and jobs are read or unread; the last one stays.
	Platform  Words       `toml:"platform"`
	Lifecycle []Lifecycle `toml:"lifecycle"`
	// Reaped is how long after the first step the platform removes it if it sleeps then; zero: not told.
	Reaped backend.Duration `toml:"reaped"`
}

// Lifecycle is one event of a sandbox: at a step, or some time before the first one.
type Lifecycle struct {
	Kind       backend.LifecycleKind `toml:"kind"`
	At         backend.Duration      `toml:"at"`
	Ago        backend.Duration      `toml:"ago"`
	Deferred   *bool                 `toml:"deferred"`
	Previous   string                `toml:"previous"`
	Checkpoint string                `toml:"checkpoint"`
}

// HubFacts are what a hub tells of a session. Without a sandbox it is no hub's session.
type HubFacts struct {
	Sandbox string `toml:"sandbox"`
	Driver  Words  `toml:"driver"` // words: lead, none, unread; the last one stays
	// NoDriver is how long before the first step its driver was first missed.
	NoDriver backend.Duration `toml:"no_driver"`
	Error    string           `toml:"error"` // that the hub keeps once its state is error
}

// Report is a log line of a hub.
type Report struct {
	At      backend.Duration `toml:"at"`
	Source  string           `toml:"source"`
	Session string           `toml:"session"`
	Sandbox string           `toml:"sandbox"`
	Text    string           `toml:"text"`
}

// Words of what is told of a platform and of a hub.
const (
	wordRead   = "read"
	wordUnread = "unread"
	wordLead   = "lead"
	wordNo     = "none"
)

type reportPlan struct {
	Report
	step int
	says backend.Report
}

// readCloud checks what only cloud platforms and hubs tell.
func (p *plan) readCloud(f *errorList) {
	for i := range p.sandbox {
		x := &p.sandbox[i]
		what := "sandbox " + x.ID
		x.platform = x.Platform.or(wordRead)
		p.oneOf(f, what+": platform", x.platform, []string{wordRead, wordUnread, wordMissing})
		if x.Region == "" && (x.Known != 0 || x.Reaped != 0 || len(x.Platform.list) > 0 || len(x.Lifecycle) > 0) {
			f.add("%s: only a cloud platform tells this: give its region", what)
		}
		for _, e := range x.Lifecycle {
			p.step(f, what+": lifecycle "+string(e.Kind), e.At)
			if e.At != 0 && e.Ago != 0 {
				f.add("%s: lifecycle %s: give either at or ago", what, e.Kind)
			}
			switch e.Kind {
			case backend.LifecycleCreated, backend.LifecycleStarted, backend.LifecycleSuspended, backend.LifecycleResumed, backend.LifecycleEvacuated,
				backend.LifecycleCheckpointed, backend.LifecycleReconciled, backend.LifecycleDestroyed, backend.LifecycleOther:
			default:
				f.add("%s: lifecycle: %q is no kind of event", what, e.Kind)
			}
		}
	}
	for i := range p.session {
		x := &p.session[i]
		what := "session " + x.ID
		x.driver = x.Driver.or(wordUnread)
		p.oneOf(f, what+": driver", x.driver, []string{wordLead, wordNo, wordUnread, wordMissing})
		switch {
		case x.HubFacts.Sandbox != "":
			p.id(f, what, x.HubFacts.Sandbox)
		case x.Error != "" || x.NoDriver != 0 || len(x.Driver.list) > 0:
			f.add("%s: only a hub tells this: give its sandbox", what)
		}
	}
	for _, r := range p.Reports {
		what := "report at " + text(r.At.Std())
		x := reportPlan{Report: r, step: p.step(f, what, r.At)}
		x.Source = p.home(f, what, r.Source)
		var ok bool
		if x.says, ok = backend.HubText(r.Text); !ok {
			f.add("%s: a hub does not write such a line", what)
		}
		x.says.Source, x.says.Text = x.Source, backend.Clean(r.Text, 400)
		if r.Session != "" {
			x.says.Session = p.id(f, what, r.Session)
		}
		if r.Sandbox != "" {
			x.says.Sandbox = p.id(f, what, r.Sandbox)
		}
		if x.says.Session.IsZero() && x.says.Sandbox.IsZero() {
			f.add("%s: it names neither a session nor a sandbox", what)
		}
		p.report = append(p.report, x)
	}
}

// since is the first step at which a word stands up to now; steps without one do not end it.
func since(words []string, step int) int {
	first, now := step, at(words, step)
	for i := step - 1; i >= 0 && (at(words, i) == now || at(words, i) == wordMissing); i-- {
		if at(words, i) == now {
			first = i
		}
	}
	return first
}

// putCloud adds what a cloud platform tells of a sandbox at a step.
func (x *sandboxPlan) putCloud(e *backend.Sandbox, p *plan, step int, now time.Time) {
	if x.Region == "" {
		return
	}
	e.Region = backend.Clean(x.Region, 60)
	e.KnownSince = p.Start.Add(time.Duration(since(x.states, step)) * p.interval)
	if e.KnownSince.Equal(p.Start) {
		e.KnownSince = p.Start.Add(-x.Known.Std())
	}
	if at(x.platform, step) != wordRead {
		return
	}
	e.WorkAt, e.LifecycleAt = now, now
	for _, l := range x.Lifecycle {
		v := backend.LifecycleEvent{Kind: l.Kind, Type: backend.Clean(string(l.Kind), 60), At: p.Start.Add(l.At.Std() - l.Ago.Std()), Deferred: told(l.Deferred),
			Previous: backend.Clean(l.Previous, 60), Checkpoint: backend.Clean(l.Checkpoint, 60)}
		if !v.At.After(now) {
			e.Lifecycle = append(e.Lifecycle, v)
		}
	}
	stable.Sort(e.Lifecycle, func(a, b backend.LifecycleEvent) int { return a.At.Compare(b.At) })
	if x.Reaped != 0 && e.Class == backend.SandboxAsleep {
		e.ReapedAt = p.Start.Add(x.Reaped.Std())
	}
}

// putHub adds what a hub tells of a session at a step.
func (s *sessionPlan) putHub(e *backend.Session, p *plan, step int) {
	if s.HubFacts.Sandbox == "" {
		return
	}
	now := p.Start.Add(time.Duration(step) * p.interval)
	h := &backend.HubSession{Sandbox: backend.MustID(s.HubFacts.Sandbox)}
	if at(s.states, step) == "error" {
		h.Error = backend.Clean(s.Error, 400)
	}
	switch at(s.driver, step) {
	case wordLead:
		h.Driver, h.DriverAt = backend.Known(true), now
		h.Participants = []backend.Participant{{Role: backend.Text(backend.RoleLead)}}
	case wordNo:
		h.Driver, h.DriverAt = backend.Known(false), now
		if h.NoDriverSince = p.Start.Add(time.Duration(since(s.driver, step)) * p.interval); h.NoDriverSince.Equal(p.Start) {
			h.NoDriverSince = p.Start.Add(-s.NoDriver.Std())
		}
	}
	e.Hub = h
}

// reportsAt are the lines that a log holds at a step.
func (p *plan) reportsAt(source string, step int, now time.Time) (out []backend.Report) {
	for _, x := range p.report {
		if x.Source == source && x.step == step {
			says := x.says
			says.At = now
			out = append(out, says)
		}
	}
	return out
}
