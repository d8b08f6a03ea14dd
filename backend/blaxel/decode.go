package blaxel

import (
	"cmp"
	"net/url"
	"regexp"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
	"sandglass/internal/stable"
)

const (
	maxName   = 200
	maxRaw    = 4000
	maxWord   = 60
	maxLabels = 100
	maxMounts = 50
)

// decoder makes entities of the control plane's JSON. What is missing, null or of another type is unknown; words are kept.
type decoder struct {
	opt    *Options
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
	return idOf(t)
}

func idOf(t string) backend.ID {
	out, err := backend.NewID(t)
	if err != nil || t == "." || t == ".." {
		return backend.ID{}
	}
	return out
}

// moment is a time of the server by our clock. Missing, null and empty are not applicable.
func (d *decoder) moment(n wire.Node) backend.Value[time.Time] {
	t, ok := n.Text()
	if !n.Exists() || n.IsNull() || ok && t == "" {
		return backend.NotApplicable[time.Time]()
	}
	at, err := time.Parse(time.RFC3339, t)
	offset, known := d.offset.Get()
	if !ok || err != nil || !known {
		return backend.Unknown[time.Time]()
	}
	return backend.Known(at.UTC().Add(-offset))
}

func number(n wire.Node) (int64, bool) {
	f, ok := n.Float()
	return int64(f), ok && f == float64(int64(f))
}

// row is one sandbox of the list or of its own route.
type row struct {
	id     backend.ID
	status string
	state  string // RUNNING or STANDBY; empty: the answer does not say
	// created is the platform's own time: corrected times move with the estimate of its clock.
	created time.Time
	entity  backend.Sandbox
	// events, errors and expiry come with its own record only.
	events []backend.LifecycleEvent
}

// sandbox reads one sandbox; ok is false when it has no name. at is when it was read.
func (d *decoder) sandbox(n wire.Node, at time.Time) (r row, ok bool) {
	meta, spec := n.Get("metadata"), n.Get("spec")
	runtime := spec.Get("runtime")
	if r.id = id(meta.Get("name")); r.id.IsZero() {
		return r, false
	}
	r.status, _ = n.Get("status").Text()
	r.state, _ = n.Get("state").Text()
	if t, is := meta.Get("createdAt").Text(); is {
		r.created, _ = time.Parse(time.RFC3339, t) // what is no time is zero
	}
	b := &r.entity
	b.Provider, b.IsSandbox, b.Name = backend.Text("blaxel"), true, d.text(meta.Get("name"), maxName)
	b.Raw = d.raw(n, spec, runtime)
	b.Image, b.Region = d.text(runtime.Get("image"), maxName), d.text(spec.Get("region"), maxWord)
	b.TTL = d.text(runtime.Get("ttl"), maxWord)
	b.Org = d.text(meta.Get("workspace"), maxName)
	b.CreatedAt, b.LastUsedAt = d.moment(meta.Get("createdAt")), d.moment(n.Get("lastUsedAt")).Or(time.Time{})
	b.StartedAt, b.FinishedAt = backend.NotApplicable[time.Time](), backend.NotApplicable[time.Time]()
	b.ExitCode, b.OOMKilled, b.RestartCount = backend.NotApplicable[int](), backend.Unknown[bool](), backend.NotApplicable[int]()
	b.Health, b.HealthChecks, b.StartPeriod = backend.NotApplicable[backend.Safe](), backend.NotApplicable[backend.HealthChecks](), backend.NotApplicable[time.Duration]()
	b.MemLimit, b.Log, b.Usage = backend.Unknown[int64](), backend.NotApplicable[backend.LogTail](), backend.NotApplicable[backend.Usage]()
	if mib, told := number(runtime.Get("memory")); told && mib > 0 && mib < 1e9 {
		b.MemLimit = backend.Known(mib << 20)
	}
	for p := range runtime.Get("ports").Elements() {
		if target, told := number(p.Get("target")); told && len(b.Ports) < maxMounts {
			b.Ports = append(b.Ports, backend.Textf("%d/%s", target, backend.Clean(strings.ToLower(cmp.Or(textOf(p.Get("protocol")), "http")), maxWord)))
		}
	}
	b.NoPorts = len(b.Ports) == 0 && runtime.Get("ports").Kind() == '['
	d.environment(b, runtime)
	d.mounts(b, spec)
	d.labels(b, meta)
	b.Address = d.address(meta.Get("url"))
	enabled, told := spec.Get("enabled").Bool()
	d.state(&r, told && !enabled)
	d.expiry(&r, n, at)
	d.failures(b, n)
	r.events = d.events(n)
	return r, true
}

func textOf(n wire.Node) string {
	t, _ := n.Text()
	return t
}

// raw is the answer without what can hold secrets: values of the environment, and headers and bodies that a proxy adds.
func (d *decoder) raw(n, spec, runtime wire.Node) backend.Safe {
	text := string(n.Raw())
	for _, secret := range []wire.Node{runtime.Get("envs"), runtime.Get("extraArgs"), spec.Get("network").Get("proxy")} {
		if secret.Exists() && !secret.IsNull() {
			text = strings.ReplaceAll(text, string(secret.Raw()), `"not shown"`)
		}
	}
	return d.clean.Clean(text, maxRaw)
}

func (d *decoder) environment(b *backend.Sandbox, runtime wire.Node) {
	seen := map[string]bool{}
	for e := range runtime.Get("envs").Elements() {
		if name := textOf(e.Get("name")); name != "" && !seen[name] && len(seen) < backend.MaxVariables {
			seen[name] = true
			b.EnvNames = append(b.EnvNames, d.clean.Clean(name, backend.MaxVariableName))
		}
	}
	b.NoEnv = len(b.EnvNames) == 0 && runtime.Get("envs").Kind() == '['
	stable.Sort(b.EnvNames, func(x, y backend.Safe) int { return strings.Compare(x.String(), y.String()) })
}

func (d *decoder) mounts(b *backend.Sandbox, spec wire.Node) {
	for v := range spec.Get("volumes").Elements() {
		if len(b.Mounts) == maxMounts {
			b.MountsCut = true
			return
		}
		readOnly, _ := v.Get("readOnly").Bool()
		b.Mounts = append(b.Mounts, backend.Mount{Type: cmp.Or(d.text(v.Get("type"), maxWord), backend.Text("volume")), Source: d.text(v.Get("name"), maxName),
			Destination: d.text(v.Get("mountPath"), maxName), ReadOnly: readOnly})
	}
}

// labels takes the labels, and the session and workspace that two of them name.
func (d *decoder) labels(b *backend.Sandbox, meta wire.Node) {
	for name, v := range meta.Get("labels").Members() {
		value := textOf(v)
		switch string(name) {
		case "":
		case d.opt.SessionLabel:
			b.Session = idOf(value)
		case d.opt.WorkspaceLabel:
			b.Workspace = idOf(value)
		}
		if len(b.Labels) < maxLabels {
			b.Labels = append(b.Labels, backend.Field{Name: d.clean.Clean(string(name), maxName), Value: d.clean.CleanNamed(string(name), value, maxName)})
		}
	}
	stable.Sort(b.Labels, func(x, y backend.Field) int { return strings.Compare(x.Name.String(), y.Name.String()) })
	if !b.Session.IsZero() {
		b.JoinedBy = backend.Textf("label %s", backend.Clean(d.opt.SessionLabel, maxWord))
	}
}

// address is a URL without its query, which can be a token, and without a user.
func (d *decoder) address(n wire.Node) backend.Safe {
	u, err := url.Parse(textOf(n))
	if err != nil || u.Host == "" {
		return backend.Safe{}
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return d.clean.Clean(u.String(), 300)
}

// state sets the reported words and what they mean. A word that is not known means nothing.
func (d *decoder) state(r *row, disabled bool) {
	b := &r.entity
	b.Power = d.clean.Clean(r.state, maxWord)
	b.Reported, b.Class = d.clean.Clean(r.status, maxWord), classOf(r.status, r.state)
	switch {
	case disabled && (b.Class == backend.SandboxRunning || b.Class == backend.SandboxAsleep || b.Class == backend.SandboxUnknown && r.status == "DEPLOYED"):
		b.Reported, b.Class = backend.Textf("%s, disabled", b.Reported), backend.SandboxPaused
	case r.state != "":
		b.Reported = backend.Textf("%s %s", b.Reported, b.Power)
	}
	if b.Class.Ended() {
		b.FinishedAt = backend.Unknown[time.Time]()
	}
}

// classOf is the meaning of the two words of a sandbox: whether it is deployed, and whether it runs or sleeps. A sandbox that
// is deployed with neither may be either.
func classOf(status, state string) backend.SandboxClass {
	switch status {
	case "UPLOADING", "BUILDING", "BUILT", "DEPLOYING", "UNARCHIVING":
		return backend.SandboxCreated
	case "DEPLOYED":
		switch state {
		case "RUNNING":
			return backend.SandboxRunning
		case "STANDBY":
			return backend.SandboxAsleep
		}
	case "DEACTIVATING", "DEACTIVATED", "ARCHIVING", "ARCHIVED": // its disk is kept, nothing runs until somebody asks for it
		return backend.SandboxPaused
	case "DELETING", "TERMINATING":
		return backend.SandboxRemoving
	case "TERMINATED":
		return backend.SandboxExited
	case "FAILED":
		return backend.SandboxDead
	}
	return backend.SandboxUnknown
}

// failures takes why it is not there: the last fatal error, else the last one that does not say that it is not fatal.
func (d *decoder) failures(b *backend.Sandbox, n wire.Node) {
	if b.Class != backend.SandboxDead {
		return
	}
	var last, fatal string
	var at wire.Node
	for e := range n.Get("errors").Elements() {
		text := strings.TrimSpace(textOf(e.Get("message")))
		if code := textOf(e.Get("code")); code != "" {
			text = strings.TrimSpace(text + " (" + code + ")")
		}
		if text == "" {
			continue
		}
		switch is, told := e.Get("fatal").Bool(); {
		case is:
			fatal, at = text, e.Get("time")
		case !told:
			last = text
		}
	}
	b.StartError = d.clean.Clean(cmp.Or(fatal, last), 300)
	if when := d.moment(at); when.IsKnown() {
		b.FinishedAt = when
	}
}

// events are the events of its own record, the oldest first.
func (d *decoder) events(n wire.Node) (out []backend.LifecycleEvent) {
	for e := range n.Get("events").Elements() {
		at, known := d.moment(e.Get("time")).Get()
		if !known {
			continue
		}
		status := textOf(e.Get("status"))
		x := backend.LifecycleEvent{Kind: backend.LifecycleOther, At: at}
		switch status {
		case "TERMINATED":
			x.Kind = backend.LifecycleDestroyed
		case "DEPLOYED":
			x.Kind = backend.LifecycleStarted
		}
		said := strings.TrimSpace(textOf(e.Get("type")) + " " + status)
		if message := textOf(e.Get("message")); message != "" {
			said += ": " + message
		}
		x.Type = d.clean.Clean(said, maxName)
		out = append(out, x)
	}
	stable.Sort(out, func(a, b backend.LifecycleEvent) int { return a.At.Compare(b.At) })
	return out[max(0, len(out)-backend.MaxLifecycle):]
}

// sessionPreview is how the vendor's SDK names the credentials that it calls sessions: previews of the sandbox's own API.
var sessionPreview = regexp.MustCompile(`^session-\d+$`)

// preview reads a row of the list of previews; ok is false when it has no name.
func (d *decoder) preview(n wire.Node) (p backend.Preview, name backend.ID, ok bool) {
	if name = id(n.Get("metadata").Get("name")); name.IsZero() {
		return p, name, false
	}
	spec := n.Get("spec")
	p.Name, p.Status = d.text(n.Get("metadata").Get("name"), maxName), d.text(n.Get("status"), maxWord)
	p.Port, p.Public = backend.Unknown[int](), backend.Unknown[bool]()
	if port, told := number(spec.Get("port")); told && port > 0 && port < 1<<16 {
		p.Port = backend.Known(int(port))
	}
	if public, told := spec.Get("public").Bool(); told {
		p.Public = backend.Known(public)
	}
	p.URL = d.address(spec.Get("url"))
	p.Expires, p.CreatedAt = d.moment(spec.Get("expires")), d.moment(n.Get("metadata").Get("createdAt"))
	if changed, known := d.moment(n.Get("metadata").Get("updatedAt")).Get(); known && changed.Sub(p.CreatedAt.Or(changed)) >= time.Minute { // it is written to once or twice while it is made
		p.ChangedAt = changed
	}
	ttl := spec.Get("ttl")
	if p.TTL = d.text(ttl, maxWord); p.TTL.IsEmpty() && ttl.Exists() && !ttl.IsNull() && string(ttl.Raw()) != `""` {
		p.TTL = d.clean.Clean(string(ttl.Raw()), maxWord)
	}
	if life := textOf(ttl); !p.TTL.IsEmpty() && p.Expires.IsNotApplicable() { // it has an end, which only its making tells
		p.Expires = backend.Unknown[time.Time]()
		made, known := p.CreatedAt.Get()
		if after, is := backend.Lifespan(life); is && known {
			p.Expires = backend.Known(made.Add(after))
		}
	}
	p.Control = p.Port.Or(0) == 443 || p.Port.Or(0) == 8080 || !p.Port.IsKnown() && sessionPreview.MatchString(name.Raw())
	return p, name, true
}

// token reads a row of the list of tokens of a preview: never its value.
func (d *decoder) token(n wire.Node) (t backend.PreviewToken, ok bool) {
	if id(n.Get("metadata").Get("name")).IsZero() {
		return t, false
	}
	t.Name, t.Expires, t.Expired = d.text(n.Get("metadata").Get("name"), maxName), d.moment(n.Get("spec").Get("expiresAt")), backend.Unknown[bool]()
	if over, told := n.Get("spec").Get("expired").Bool(); told {
		t.Expired = backend.Known(over)
	}
	return t, true
}

// snapshot reads a row of the workspace's list of snapshots, and the sandbox that it was taken of.
func (d *decoder) snapshot(n wire.Node) (s backend.Snapshot, of string, ok bool) {
	if s.ID = id(n.Get("id")); s.ID.IsZero() {
		return s, "", false
	}
	s.Name, s.Status, s.CreatedAt = d.text(n.Get("name"), maxName), d.text(n.Get("status"), maxWord), d.moment(n.Get("createdAt"))
	source := n.Get("source")
	if kind := textOf(source.Get("kind")); kind == "" || strings.EqualFold(kind, "sandbox") {
		of = textOf(source.Get("name"))
	}
	return s, cmp.Or(textOf(n.Get("sandboxName")), of), true
}
