package cloudflare

import (
	"cmp"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

const (
	maxName = 200
	maxRaw  = 4000
	maxWord = 60
)

// decoder makes entities of the account API's JSON. What is missing, null or of another type is unknown; words are kept.
type decoder struct {
	source string
	clean  *backend.Cleaner
	offset backend.Value[time.Duration] // the server's clock minus ours
}

func (d *decoder) text(n wire.Node, limit int) backend.Safe {
	t, ok := n.Text()
	if !ok {
		return backend.Safe{}
	}
	return d.clean.Clean(t, limit)
}

// id is a raw identifier, zero when there is none. One that would be a step in the path of a request is none.
func id(n wire.Node) backend.ID {
	t, _ := n.Text()
	out, err := backend.NewID(t)
	if err != nil || t == "." || t == ".." {
		return backend.ID{}
	}
	return out
}

// sameID is an id of an application or namespace in one spelling: a UUID may be written with or without dashes.
func sameID(raw string) string { return strings.ToLower(strings.ReplaceAll(raw, "-", "")) }

// moment is a time of the server by our clock. Missing and null are not applicable.
func (d *decoder) moment(n wire.Node) backend.Value[time.Time] {
	if !n.Exists() || n.IsNull() {
		return backend.NotApplicable[time.Time]()
	}
	t, ok := n.Text()
	at, err := time.Parse(time.RFC3339, t)
	offset, known := d.offset.Get()
	if !ok || err != nil || !known {
		return backend.Unknown[time.Time]()
	}
	return backend.Known(at.UTC().Add(-offset))
}

func count(n wire.Node) backend.Value[int] {
	if i, ok := number(n); ok && i >= 0 {
		return backend.Known(i)
	}
	return backend.Unknown[int]()
}

// application is one container application.
type application struct {
	id        backend.ID
	key       string // id in one spelling
	name      backend.Safe
	rawName   string
	image     backend.Safe
	policy    backend.Safe
	byObject  bool // a Durable Object manages it: no limit, no rollouts
	namespace string
	version   string
	rollout   string
	limit     backend.Value[int] // max_instances
	live      backend.Value[int] // what runs now, as health counts
	starting  backend.Value[int]
	failed    backend.Value[int]
	health    backend.Safe
}

// application reads a row of the list; ok is false when it has no id.
func (d *decoder) application(n wire.Node) (a application, ok bool) {
	a.id = id(n.Get("id"))
	if a.id.IsZero() {
		return a, false
	}
	a.key = sameID(a.id.Raw())
	a.rawName, _ = n.Get("name").Text()
	a.name = cmp.Or(d.text(n.Get("name"), maxName), a.id.Safe())
	a.image = d.text(n.Get("configuration").Get("image"), maxName)
	a.policy = d.text(n.Get("scheduling_policy"), maxWord)
	a.byObject = a.policy.String() == "durable_object"
	if t, is := n.Get("durable_objects").Get("namespace_id").Text(); is {
		a.namespace = sameID(t)
	} else if a.byObject {
		a.namespace = a.key
	}
	a.version = word(n.Get("version"))
	a.rollout = word(n.Get("active_rollout_id"))
	health := n.Get("health").Get("instances")
	a.live, a.starting, a.failed = count(health.Get("active")), count(health.Get("starting")), count(health.Get("failed"))
	a.health = d.text(n.Get("health").Get("summary"), maxWord)
	a.limit = backend.NotApplicable[int]()
	if !a.byObject {
		a.limit = count(n.Get("max_instances"))
		// Of scheduled applications active and assigned together approximate what runs.
		if assigned, told := count(health.Get("assigned")).Get(); told && a.live.IsKnown() {
			a.live = backend.Known(a.live.Or(0) + assigned)
		}
	}
	return a, true
}

// word is a text or a number as it is written.
func word(n wire.Node) string {
	if t, ok := n.Text(); ok {
		return t
	}
	if n.Kind() == '0' {
		return string(n.Raw())
	}
	return ""
}

// row is one instance of a list or of its own route.
type row struct {
	id    backend.ID
	name  string
	state string
	at    time.Time // when its state was updated, by our clock; zero: not told
	// started is the platform's own time of its start: corrected times move with the estimate of its clock.
	started time.Time
	vcpu    backend.Value[float64]
	entity  backend.Sandbox
}

// instance reads one instance; ok is false when it has no id.
func (d *decoder) instance(n wire.Node) (r row, ok bool) {
	if r.id = id(n.Get("id")); r.id.IsZero() {
		return r, false
	}
	r.name, _ = n.Get("name").Text()
	status := n.Get("status")
	r.state, _ = status.Get("state").Text()
	r.at = d.moment(status.Get("updated_at")).Or(time.Time{})
	if t, is := n.Get("started_at").Text(); is {
		r.started, _ = time.Parse(time.RFC3339, t) // what is no time is zero
	}
	b := &r.entity
	b.Raw, b.Provider, b.IsSandbox = d.clean.Clean(string(n.Raw()), maxRaw), backend.Text("cloudflare"), true
	b.Name = d.text(n.Get("name"), maxName)
	b.Image = d.text(n.Get("image"), maxName)
	b.Region = cmp.Or(d.text(n.Get("location").Get("region"), maxWord), d.text(n.Get("location").Get("name"), maxWord))
	b.Container = r.id
	b.CreatedAt, b.StartedAt, b.FinishedAt = backend.NotApplicable[time.Time](), d.moment(n.Get("started_at")), backend.NotApplicable[time.Time]()
	b.OOMKilled, b.RestartCount = backend.Unknown[bool](), backend.NotApplicable[int]()
	b.Health, b.HealthChecks, b.StartPeriod = backend.NotApplicable[backend.Safe](), backend.NotApplicable[backend.HealthChecks](), backend.NotApplicable[time.Duration]()
	b.MemLimit, b.Log, b.Usage = backend.NotApplicable[int64](), backend.NotApplicable[backend.LogTail](), backend.NotApplicable[backend.Usage]()
	if mib, told := n.Get("configuration").Get("memory").Float(); told && mib > 0 && mib < 1e9 {
		b.MemLimit = backend.Known(int64(mib * (1 << 20)))
	}
	if cores, told := n.Get("configuration").Get("vcpu").Float(); told && cores > 0 && cores < 1e4 {
		r.vcpu = backend.Known(cores)
	}
	b.ExitCode = backend.NotApplicable[int]()
	d.state(b, r.state, r.at)
	if code, told := number(status.Get("exit_code")); told && b.Class.Ended() {
		b.ExitCode = backend.Known(code)
	}
	return r, true
}

// state sets the reported word and what it means. A word that is not known means nothing.
func (d *decoder) state(b *backend.Sandbox, word string, at time.Time) {
	b.Reported, b.Class = d.clean.Clean(word, maxWord), classOf(word)
	if word == "unhealthy" {
		b.Health = backend.Known(backend.Text("unhealthy"))
	}
	if b.Class.Ended() {
		b.FinishedAt = backend.Unknown[time.Time]()
		if !at.IsZero() {
			b.FinishedAt = backend.Known(at)
		}
	}
}

// classOf is the meaning of a state of an instance.
func classOf(word string) backend.SandboxClass {
	switch word {
	case "provisioning":
		return backend.SandboxCreated
	case "running", "unhealthy":
		return backend.SandboxRunning
	case "stopping":
		return backend.SandboxRemoving
	case "stopped", "inactive":
		return backend.SandboxExited
	case "failed":
		return backend.SandboxDead
	}
	return backend.SandboxUnknown
}

// namespace is one Durable Object namespace.
type namespace struct{ class, script backend.Safe }
