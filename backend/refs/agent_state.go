package refs

import (
	"math"
	"net/url"
	"path"
	"strconv"
	"strings"

	"sandglass/backend"
	"sandglass/backend/wire"
	"sandglass/internal/stable"
)

// agentBackend is what is known of the session state of one kind of sandbox of the OpenAI Agents SDK (src/agents/sandbox/sandboxes
// and src/agents/extensions/sandbox of github.com/openai/openai-agents-python).
type agentBackend struct {
	id       string // the member that names the sandbox; empty: the kind has none
	loses    bool   // the SDK takes the id out of a state when it takes out the credentials of a mount
	pauses   bool   // it can be kept at the end of its session; false where the state does not say
	timeouts bool   // it has the timeouts below
	previews bool   // its exposed ports are public or private
}

var agentBackends = map[string]agentBackend{
	localKind:    {},
	"docker":     {id: "container_id", loses: true},
	"blaxel":     {id: "sandbox_name", pauses: true, timeouts: true, previews: true},
	"e2b":        {id: "sandbox_id"},
	"modal":      {id: "sandbox_id", loses: true},
	"daytona":    {id: "sandbox_id"},
	"runloop":    {id: "devbox_id"},
	"cloudflare": {id: "sandbox_id", loses: true},
	"vercel":     {id: "sandbox_id", loses: true},
}

const (
	// localKind works in a directory of the agent's own host.
	localKind = "unix_local"

	// agentRoot is where the SDK works when the manifest does not say.
	agentRoot = "/workspace"

	maxLabels = 100
	maxPorts  = 100

	maxDrives     = 50
	maxEntryDepth = 40
)

// agentMembers are those of a state that agentState reads.
var agentMembers = []string{"manifest", "image", "memory", "region", "base_env_vars", "base_envs", "envs", "env", "labels", "ttl", "pause_on_exit", "exposed_port_public", "exposed_port_url_ttl_s", "timeouts", "exposed_ports", "snapshot", "sandbox_url", "worker_url"}

// agentState reads the session state of an agent SDK. An error names the member that makes it invalid for the SDK too.
func (d *decoder) agentState(n wire.Node, named bool) (*backend.AgentState, error) {
	if err := n.Expect(agentMembers...); err != nil {
		return nil, err
	}
	clean := d.s.deps.Cleaner
	text := func(pointer string) backend.Safe {
		v, _ := find(n, pointer)
		s, ok := scalar(v)
		if !ok { // null
			return backend.Safe{}
		}
		return clean.Clean(s, nameRunes)
	}
	kind, _ := n.Get("type").Text()
	of, known := agentBackends[kind]
	x := &backend.AgentState{Version: d.runState, Root: text("/manifest/root"), Snapshot: text("/snapshot/type"), Image: text("/image"), Region: text("/region"), TTL: text("/ttl"),
		SnapshotID: d.maskedID(n, "/snapshot/id"), Memory: backend.NotApplicable[int](), PauseOnExit: backend.NotApplicable[bool](),
		PortsPublic: backend.NotApplicable[bool](), PortTTL: backend.NotApplicable[float64]()}
	if v := n.Get("manifest").Get("root"); v.Exists() && !v.IsNull() {
		if _, ok := v.Text(); !ok {
			return nil, v.Invalid("want the manifest's root as text")
		}
	}
	if x.Root.IsEmpty() {
		x.Root = backend.Text(agentRoot)
	}
	if raw := x.Root.String(); !backend.LooseRoot(raw) {
		x.Root = clean.Clean(path.Clean(raw), nameRunes)
	}
	x.RootDefault = x.Root.String() == agentRoot
	where := text("/sandbox_url")
	if kind == "cloudflare" { // of its bridge, which has the sandboxes of many
		where = text("/worker_url")
	}
	if u, err := url.Parse(where.String()); err == nil && u.Host != "" {
		u.User, u.RawQuery, u.Fragment = nil, "", ""
		x.Address = clean.Clean(u.String(), nameRunes)
	}
	if kind == localKind {
		x.Directory = text("/workspace_root")
	}
	if known && of.id != "" && !named {
		if !of.loses {
			return nil, n.Invalid("a state of type %s needs %s: without it its sandbox cannot be found", kind, of.id)
		}
		x.Unnamed = true
	}
	if v := n.Get("memory"); v.Exists() && !v.IsNull() {
		f, ok := v.Float()
		if !ok || f != math.Trunc(f) || f < 0 || f > math.MaxInt32 {
			return nil, v.Invalid("want memory as a whole number of MB")
		}
		x.Memory = backend.Known(int(f))
	}
	if of.pauses {
		v := n.Get("pause_on_exit")
		on, ok := v.Bool()
		if v.Exists() && !ok {
			return nil, v.Invalid("want pause_on_exit as true or false")
		}
		x.PauseOnExit, x.PauseDefault = backend.Known(on), !v.Exists() // without the key the SDK deletes the sandbox
	}
	if of.previews {
		x.PortsPublic, x.PortTTL = backend.Known(true), backend.Known(3600.0) // the SDK's own
		if v := n.Get("exposed_port_public"); v.Exists() && !v.IsNull() {
			on, ok := v.Bool()
			if !ok {
				return nil, v.Invalid("want exposed_port_public as true or false")
			}
			x.PortsPublic = backend.Known(on)
		}
		if v := n.Get("exposed_port_url_ttl_s"); v.Exists() && !v.IsNull() {
			f, ok := v.Float()
			if !ok {
				return nil, v.Invalid("want exposed_port_url_ttl_s as a number of seconds")
			}
			x.PortTTL = backend.Known(f)
		}
	}
	for v := range n.Get("exposed_ports").Elements() {
		if f, ok := v.Float(); ok && f == math.Trunc(f) && f > 0 && f < 1<<16 && len(x.Ports) < maxPorts {
			x.Ports = append(x.Ports, int(f))
		}
	}
	for name, v := range n.Get("labels").Members() {
		if len(x.Labels) < maxLabels {
			x.Labels = append(x.Labels, backend.Field{Name: clean.Clean(string(name), 80), Value: d.draw.member(string(name), v, nameRunes)})
		}
	}
	stable.Sort(x.Labels, func(a, b backend.Field) int { return strings.Compare(a.Name.String(), b.Name.String()) })
	x.Env = d.variables(n)
	x.Errors = d.errorsOf(n)
	manifest, _ := find(n, "/manifest/entries")
	x.LeftOut = backend.LeaveOut(d.entries(x, kind == "blaxel", manifest, x.Root.String(), 1), path.Clean(x.Root.String()), clean.Clean)
	for _, all := range [][]backend.Safe{x.Drives, x.OtherMounts} {
		stable.Sort(all, func(a, b backend.Safe) int { return strings.Compare(a.String(), b.String()) })
	}
	if of.timeouts {
		var err error
		if x.Timeouts, err = timeoutsOf(n.Get("timeouts")); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// entries takes where the entries of a manifest have drives of Blaxel, at the path of their mount, else as the entry; and where they have
// other mounts, with the kind of each. left are where snapshots leave them out: those marked ephemeral, as a mount is without a mark too.
func (d *decoder) entries(x *backend.AgentState, drives bool, entries wire.Node, dir string, depth int) (left []string) {
	if depth > maxEntryDepth {
		return nil
	}
	for name, e := range entries.Members() {
		at := path.Join(dir, string(name))
		kind, _ := e.Get("type").Text()
		mount := strings.HasSuffix(kind, "_mount")
		entry := at
		if kind == "dir" {
			left = append(left, d.entries(x, drives, e.Get("children"), at, depth+1)...)
		}
		for _, key := range []string{"mount_path", "drive_mount_path"} { // the last one wins
			if !mount {
				break
			}
			if text, _ := e.Get(key).Text(); path.IsAbs(text) {
				at = path.Clean(text)
			} else if text != "" {
				at = path.Join(x.Root.String(), text)
			}
		}
		if on, told := e.Get("ephemeral").Bool(); on || mount && !told {
			left = append(left, entry, at)
		}
		if !drives || !mount || len(x.Drives)+len(x.OtherMounts) >= maxDrives {
			continue
		}
		if !path.IsAbs(at) {
			kind += ", below a root that is not absolute"
		}
		where := d.s.deps.Cleaner.Clean(at, nameRunes)
		if kind == "blaxel_drive_mount" {
			x.Drives = append(x.Drives, where)
		} else {
			x.OtherMounts = append(x.OtherMounts, backend.Textf("%s (%s)", where, d.s.deps.Cleaner.Clean(kind, 90)))
		}
	}
	return left
}

// variables are the names of the environment variables of a state. One of the manifest wins over one of the options.
func (d *decoder) variables(n wire.Node) []backend.AgentVariable {
	origins := map[string]backend.Safe{}
	take := func(from wire.Node, origin backend.Literal) {
		for name := range from.Members() {
			if _, wins := origins[string(name)]; !wins && len(origins) < backend.MaxVariables {
				origins[string(name)] = backend.Text(origin)
			}
		}
	}
	manifest, _ := find(n, "/manifest/environment")
	if inner := manifest.Get("value"); inner.Kind() == '{' { // the form of the SDK's own model
		manifest = inner
	}
	take(manifest, "manifest")
	for _, key := range []string{"base_env_vars", "base_envs", "envs", "env"} { // each kind of sandbox has one of them
		take(n.Get(key), "base")
	}
	var out []backend.AgentVariable
	for name, origin := range origins {
		out = append(out, backend.AgentVariable{Name: d.s.deps.Cleaner.Clean(name, backend.MaxVariableName), Origin: origin})
	}
	stable.Sort(out, func(a, b backend.AgentVariable) int { return strings.Compare(a.Name.String(), b.Name.String()) })
	return out
}

// timeoutsOf are all timeouts, those that the state does not name with the SDK's own value. Each is 1 s at least for the SDK.
func timeoutsOf(n wire.Node) ([]backend.AgentTimeout, error) {
	if n.Exists() && n.Kind() != '{' {
		return nil, n.Invalid("want timeouts as an object")
	}
	var out []backend.AgentTimeout
	for _, x := range backend.AgentTimeouts() {
		if v := n.Get(x.Name.String()); v.Exists() {
			f, ok := v.Float()
			if text, is := v.Text(); is { // the SDK reads it too
				var err error
				f, err = strconv.ParseFloat(text, 64)
				ok = err == nil
			}
			switch {
			case !ok || math.IsNaN(f) || math.IsInf(f, 0):
				return nil, v.Invalid("want %s as a number of seconds", x.Name)
			case f < 1:
				return nil, v.Invalid("%s is below 1 s, which the SDK refuses", x.Name)
			}
			x.Seconds, x.Saved = f, true
		}
		out = append(out, x)
	}
	return out, nil
}
