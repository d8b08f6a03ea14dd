package docker

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
)

// Bounds on what one container may put on a screen.
const (
	maxMounts = 64
	maxLabels = 64
	maxRaw    = 4096 // characters
)

// cachedContainer keeps what is known of one container between polls.
type cachedContainer struct {
	id  backend.ID
	sum *summary    // newest line of the list, nil when the inspection is newer than the list
	ins *inspection // newest inspection, nil: never
	// mark is what the list said when ins was made; another mark means that ins is old.
	mark      string
	dirty     bool // an event named it
	unlisted  bool // a suspect list left it out, or no list of this process named it: it is asked for by its id
	inspected time.Time
	readAt    time.Time // when what is shown was read

	fails   int // failed inspections in a row
	retryAt time.Time
	failed  backend.Problem

	last       *sample
	usage      backend.Value[backend.Usage]
	sampled    time.Time // last attempt
	sampleFail int
	touched    bool // something was read in this poll
	insight

	tail     *backend.LogTail // how its log ended at its newest failure that was looked into
	tailed   failure          // that failure
	tailedAt time.Time

	kills containerKills

	cached *cachedSandbox // what stays the same between two inspections; cleaning and masking cost more than all else
}

// cachedSandbox is an entity made from one inspection or one line of the list.
type cachedSandbox struct {
	ins    *inspection
	sum    *summary
	offset time.Duration
	tail   *backend.LogTail
	box    backend.Sandbox
}

// markOf is what a line of the list says about the state, without the words that change as time goes by. Health, exit
// code and pause stand in parentheses in the engine's sentence.
func markOf(c *summary) string {
	parts := []string{c.state, c.name, c.image}
	for rest := c.status; ; {
		_, after, ok := strings.Cut(rest, "(")
		if !ok {
			break
		}
		in, next, _ := strings.Cut(after, ")")
		parts = append(parts, in)
		rest = next
	}
	return strings.Join(parts, "\x00")
}

// current reports whether the inspection still holds by what the list says.
func (e *cachedContainer) current() bool {
	return e.ins != nil && (e.sum == nil || e.mark == markOf(e.sum))
}

// infraName is how Podman names the container that only holds a pod together, and that has the pod's labels and mounts.
var infraName = regexp.MustCompile(`^[0-9a-f]{12}-infra$`)

// infra reports whether the container only holds a pod together.
func (e *cachedContainer) infra() bool {
	return e.ins != nil && infraName.MatchString(e.ins.name) || e.sum != nil && infraName.MatchString(e.sum.name)
}

// judged reports whether a container's figures and trouble are looked at.
func (s *Source) judged(e *cachedContainer) bool {
	return s.sel.judged(e.labels(), e.mounts()) && !e.infra()
}

// hidesHealth reports whether the list does not tell what its health check says, as Podman's does not.
func (e *cachedContainer) hidesHealth() bool {
	return e.ins != nil && e.ins.health != "" && e.sum != nil && !strings.Contains(e.sum.status, "health")
}

// state is the engine's word for what the container does now.
func (e *cachedContainer) state() string {
	switch {
	case e.current():
		return e.ins.state
	case e.sum != nil:
		return e.sum.state
	}
	return ""
}

// class is the meaning of that word. After Podman's "stopped" a restart policy may begin the next run.
func (e *cachedContainer) class() backend.SandboxClass {
	if e.current() {
		return e.ins.class()
	}
	return classOf(e.state())
}

func (in *inspection) class() backend.SandboxClass {
	if in.again {
		return backend.SandboxRestarting
	}
	return classOf(in.state)
}

// started is when the container's present run began, as the engine wrote it.
func (e *cachedContainer) started() backend.Value[time.Time] {
	if e.ins == nil {
		return backend.Unknown[time.Time]()
	}
	return e.ins.started
}

func (e *cachedContainer) labels() map[string]string {
	if e.ins != nil {
		return e.ins.labels
	}
	return e.sum.labels
}

func (e *cachedContainer) mounts() []mount {
	if e.ins != nil {
		return e.ins.mounts
	}
	return e.sum.mounts
}

// alive reports whether the container has processes to measure.
func (e *cachedContainer) alive() bool {
	c := e.class()
	return c == backend.SandboxRunning || c == backend.SandboxPaused
}

// classOf gives the engine's word its meaning. The words are those of the Engine API, and two of Podman's.
func classOf(state string) backend.SandboxClass {
	switch state {
	case "created", "configured":
		return backend.SandboxCreated
	case "running":
		return backend.SandboxRunning
	case "paused":
		return backend.SandboxPaused
	case "restarting":
		return backend.SandboxRestarting
	case "exited", "stopped":
		return backend.SandboxExited
	case "removing":
		return backend.SandboxRemoving
	case "dead":
		return backend.SandboxDead
	}
	return backend.SandboxUnknown
}

// sandbox makes the entity: a copy of the cached one with what changes between inspections.
func (s *Source) sandbox(e *cachedContainer, offset time.Duration) *backend.Sandbox {
	out := s.cachedOf(e, offset)
	out.ReadAt = e.readAt
	if e.fails > 0 {
		out.Stale, out.StaleWhy = true, e.failed.What
	}
	out.Usage, out.Observed = e.usage, e.observed()
	if !e.alive() && out.Class != backend.SandboxUnknown {
		out.Usage = backend.NotApplicable[backend.Usage]()
	}
	return &out
}

// cachedOf cleans and masks every string of a container, once for each thing that was read.
func (s *Source) cachedOf(e *cachedContainer, offset time.Duration) backend.Sandbox {
	f := &cachedSandbox{offset: offset, tail: e.tail}
	if e.current() {
		f.ins = e.ins
	} else {
		f.sum = e.sum
	}
	if old := e.cached; old != nil && old.ins == f.ins && old.sum == f.sum && old.offset == offset && old.tail == f.tail {
		return old.box
	}
	labels, mounts := e.labels(), e.mounts()
	out := &f.box
	out.Key, out.Provider = s.key(e.id), backend.Text("docker")
	out.Class, out.Reported = e.class(), s.clean(e.state(), 60)
	out.IsSandbox = s.sel.isSandbox(labels, mounts) && !e.infra()
	out.Watched = s.sel.all && !out.IsSandbox && !e.infra()
	out.Mounts, out.Labels = s.mounts(mounts), s.labels(labels)
	out.MountsCut = len(mounts) > maxMounts
	var name string
	if f.ins != nil {
		name = f.ins.name
		s.inspectedFacts(out, f.ins, offset)
		if out.Log = backend.NotApplicable[backend.LogTail](); e.tail != nil && !f.ins.fine() {
			out.Log = backend.Known(*e.tail)
		}
	} else {
		name = f.sum.name
		s.listedFacts(out, f.sum, offset)
	}
	out.Name = s.clean(name, 200)
	out.Session, out.Workspace = s.sel.join(name, labels)
	e.cached = f
	return f.box
}

func (s *Source) inspectedFacts(out *backend.Sandbox, in *inspection, offset time.Duration) {
	out.Image, out.WorkDir, out.Command = s.clean(in.image, 300), s.clean(in.workDir, 300), s.clean(in.command, 300)
	for _, p := range in.ports {
		out.Ports = append(out.Ports, s.clean(p, 60))
	}
	out.CreatedAt, out.StartedAt, out.FinishedAt = ours(in.created, offset), ours(in.started, offset), ours(in.finished, offset)
	out.OOMKilled, out.RestartCount = in.killedWord(), backend.Known(in.restarts)
	out.StartError, out.RestartPolicy = s.clean(in.startError, 500), s.clean(in.restartPolicy, 40)
	out.StartPeriod, out.MemLimit = backend.NotApplicable[time.Duration](), backend.NotApplicable[int64]()
	if in.memLimit > 0 {
		out.MemLimit = backend.Known(in.memLimit)
	}
	switch out.Class {
	case backend.SandboxCreated, backend.SandboxRunning, backend.SandboxPaused:
		out.ExitCode = backend.NotApplicable[int]() // the engine writes 0, which is not an exit
	case backend.SandboxExited, backend.SandboxDead, backend.SandboxRestarting, backend.SandboxRemoving, backend.SandboxUnknown, backend.SandboxAsleep:
		out.ExitCode = backend.Known(in.exit)
	}
	out.Health, out.HealthChecks = backend.NotApplicable[backend.Safe](), backend.NotApplicable[backend.HealthChecks]()
	if in.health != "" {
		out.StartPeriod = backend.Known(in.startPeriod)
		out.Health = backend.Known(s.clean(in.health, 60))
		out.HealthOutput, out.HealthChecks = s.clean(strings.TrimSpace(in.healthOutput), 500), oursChecks(in.checks, offset)
	}
	out.Raw = s.mask.document(in.raw, maxRaw)
}

// listedFacts is all that the list tells; the rest stays unknown.
func (s *Source) listedFacts(out *backend.Sandbox, sum *summary, offset time.Duration) {
	if !strings.HasPrefix(sum.image, "sha256:") { // that the name now belongs to another image does not change what runs
		out.Image = s.clean(sum.image, 300)
	}
	out.Health = backend.Unknown[backend.Safe]()
	if !sum.created.IsZero() {
		out.CreatedAt = backend.Known(sum.created.Add(-offset))
	}
}

// ours corrects a time of the engine by what its clock differs from ours.
func ours(v backend.Value[time.Time], offset time.Duration) backend.Value[time.Time] {
	if t, ok := v.Get(); ok {
		return backend.Known(t.Add(-offset))
	}
	return v
}

func (s *Source) mounts(in []mount) []backend.Mount {
	out := make([]backend.Mount, 0, min(len(in), maxMounts))
	for _, m := range in[:min(len(in), maxMounts)] {
		b := backend.Mount{Type: s.clean(m.kind, 20), Source: s.clean(m.source, 500), Destination: s.clean(m.destination, 500), ReadOnly: m.readOnly}
		b.RawSource = orZero(m.source)
		out = append(out, b)
	}
	return out
}

func (s *Source) labels(in map[string]string) []backend.Field {
	names := make([]string, 0, len(in))
	for k := range in {
		names = append(names, k)
	}
	slices.Sort(names)
	out := make([]backend.Field, 0, min(len(names), maxLabels))
	for _, k := range names[:min(len(names), maxLabels)] {
		out = append(out, backend.Field{Name: s.clean(k, 100), Value: backend.Clean(s.mask.pair(k, in[k]), 300)})
	}
	return out
}
