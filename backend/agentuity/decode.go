package agentuity

import (
	"cmp"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
	"sandglass/internal/stable"
)

const (
	maxName  = 200
	maxText  = 600
	maxRaw   = 4000
	maxTags  = 40
	maxTrace = 80
)

// decoder makes entities of the vendor's JSON. What is missing, null or of another type is unknown; a status word is kept.
type decoder struct {
	source string
	clean  *backend.Cleaner
	offset backend.Value[time.Duration] // the server's clock minus ours
}

const maskedURL = "‹masked›"

func (d *decoder) cut(raw string, limit int) backend.Safe {
	return d.clean.Clean(raw, limit)
}

func (d *decoder) text(n wire.Node, limit int) backend.Safe {
	t, ok := n.Text()
	if !ok {
		return backend.Safe{}
	}
	return d.cut(t, limit)
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

// moment is a time of the server by our clock. Missing and null are not applicable where it may be missing.
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

func number(n wire.Node) (int, bool) {
	f, ok := n.Float()
	return int(f), ok && f == float64(int(f))
}

// duration reads "10m0s".
func duration(n wire.Node) (time.Duration, bool) {
	t, _ := n.Text()
	d, err := time.ParseDuration(t)
	return d, err == nil && d > 0
}

// hidden are the members that never reach a screen: addresses that are secrets, what they are made of, and values of variables.
func hidden(name string) bool {
	low := strings.ToLower(name)
	return strings.HasSuffix(low, "url") || strings.HasSuffix(low, "streamid") || low == "env" || strings.HasPrefix(low, "api_key")
}

// raw is an object for the details view, without what is secret.
func (d *decoder) raw(n wire.Node) backend.Safe {
	var b strings.Builder
	b.WriteByte('{')
	for name, v := range n.Members() {
		if b.Len() > 1 {
			b.WriteString(", ")
		}
		b.WriteString(backend.QuoteJSON(string(name)))
		b.WriteString(": ")
		if hidden(string(name)) && !v.IsNull() {
			b.WriteString(`"` + maskedURL + `"`)
		} else {
			b.Write(v.Raw())
		}
	}
	b.WriteByte('}')
	return d.cut(b.String(), maxRaw)
}

// row is one sandbox of a list or of its own route.
type row struct {
	id, session backend.ID
	status      string
	executions  int // as the list counts them, -1: not told
	paused      time.Duration
	entity      backend.Sandbox
}

// sandbox reads a sandbox of the regional routes; ok is false when it has no id.
func (d *decoder) sandbox(n wire.Node, region string) (r row, ok bool) {
	r.id, r.executions = id(n.Get("sandboxId")), -1
	if r.id.IsZero() {
		return r, false
	}
	r.status, _ = n.Get("status").Text()
	b := &r.entity
	b.Key = backend.Key{Kind: backend.KindSandbox, Source: d.source, ID: r.id}
	b.Raw, b.Provider, b.IsSandbox = d.raw(n), backend.Text("agentuity"), true
	b.Name = cmp.Or(d.text(n.Get("name"), maxName), d.text(n.Get("identifier"), maxName), r.id.Safe())
	b.Region = cmp.Or(d.text(n.Get("region"), 60), backend.Clean(region, 60))
	b.Org = d.text(n.Get("org").Get("id"), maxName)
	b.Runtime = d.runtime(n.Get("runtime"))
	b.Image = cmp.Or(d.text(n.Get("runtime").Get("name"), maxName), d.text(n.Get("runtime").Get("id"), maxName))
	b.Command = d.cut(commandLine(n.Get("command")), maxText)
	b.CreatedAt = d.moment(n.Get("createdAt"))
	b.StartedAt, b.FinishedAt = backend.NotApplicable[time.Time](), backend.NotApplicable[time.Time]()
	b.OOMKilled, b.RestartCount = backend.Unknown[bool](), backend.NotApplicable[int]()
	b.Health, b.HealthChecks, b.StartPeriod = backend.NotApplicable[backend.Safe](), backend.NotApplicable[backend.HealthChecks](), backend.NotApplicable[time.Duration]()
	b.MemLimit, b.Log, b.Usage = backend.NotApplicable[int64](), backend.NotApplicable[backend.LogTail](), backend.NotApplicable[backend.Usage]()
	b.ExitCode = backend.NotApplicable[int]()
	d.status(b, r.status)
	if code, ok := number(n.Get("exitCode")); ok && b.Class == backend.SandboxDead {
		b.ExitCode = backend.Known(code)
	}
	if count, ok := number(n.Get("executions")); ok {
		r.executions = count
	}
	if port, ok := number(n.Get("networkPort")); ok && port > 0 {
		b.Ports = []backend.Safe{backend.Textf("%d/tcp", port)}
	}
	r.paused, _ = duration(n.Get("timeout").Get("paused"))
	r.session = id(n.Get("metadata").Get("sessionId"))
	b.Labels = d.labels(n)
	return r, true
}

// status sets the reported word and what it means. A word that is not known means nothing.
func (d *decoder) status(b *backend.Sandbox, word string) {
	b.Reported, b.Class = d.cut(word, 60), classOf(word)
}

// classOf is the meaning of a status word. idle says that no execution is active: the sandbox is live.
func classOf(word string) backend.SandboxClass {
	switch word {
	case "creating":
		return backend.SandboxCreated
	case "idle", "running":
		return backend.SandboxRunning
	case "paused", "suspended":
		return backend.SandboxAsleep
	case "stopping":
		return backend.SandboxRemoving
	case "terminated", "deleted":
		return backend.SandboxExited
	case "failed":
		return backend.SandboxDead
	}
	return backend.SandboxUnknown
}

// live reports whether a sandbox of a status may be looked into: it neither starts, sleeps nor ends.
func live(status string) bool { return status == "idle" || status == "running" }

// over reports whether a sandbox of a status is no more.
func over(status string) bool {
	return status == "terminated" || status == "deleted" || status == "failed"
}

func (d *decoder) runtime(n wire.Node) backend.Safe {
	name, key := d.text(n.Get("name"), maxName), d.text(n.Get("id"), maxName)
	if name.IsEmpty() || key.IsEmpty() {
		return cmp.Or(name, key)
	}
	return backend.Textf("%s (%s)", name, key)
}

// labels are the metadata of a sandbox, and where it belongs.
func (d *decoder) labels(n wire.Node) []backend.Field {
	var out []backend.Field
	add := func(name string, v backend.Safe) {
		if !v.IsEmpty() && len(out) < maxTags {
			out = append(out, backend.Field{Name: d.cut(name, 100), Value: v})
		}
	}
	add("mode", d.text(n.Get("mode"), 60))
	add("project", cmp.Or(d.text(n.Get("project").Get("name"), maxName), d.text(n.Get("projectId"), maxName)))
	add("snapshot", cmp.Or(d.text(n.Get("snapshot").Get("tag"), maxName), d.text(n.Get("snapshot").Get("id"), maxName)))
	for name, v := range n.Get("metadata").Members() {
		if hidden(string(name)) {
			continue
		}
		// The name goes through the masking too, which knows secrets by the names of their values.
		if t, ok := v.Text(); ok {
			_, value, _ := strings.Cut(d.cut(string(name)+"="+t, 2*maxName).String(), "=")
			add("metadata."+string(name), backend.Clean(value, maxName))
		}
	}
	stable.Sort(out, func(a, b backend.Field) int { return strings.Compare(a.Name.String(), b.Name.String()) })
	return out
}

// commandLine is a command as one text, or as a list of arguments.
func commandLine(n wire.Node) string {
	if t, ok := n.Text(); ok {
		return t
	}
	if exec := n.Get("exec"); exec.Exists() {
		return commandLine(exec)
	}
	var args []string
	for a := range n.Elements() {
		if t, ok := a.Text(); ok {
			args = append(args, t)
		}
	}
	return strings.Join(args, " ")
}
