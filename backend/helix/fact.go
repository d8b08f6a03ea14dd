package helix

import (
	"bytes"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

const (
	maxRefs  = 64
	megabyte = 1 << 20 // maxFileSizeMb counts these
)

// fact reads an optional fact of an entry. It reports false for keys that are none, and for values of another type,
// which are then shown as they are: a fact is never a reason to distrust the entry.
func (d *decoder) fact(w *backend.Workspace, name []byte, v wire.Node) bool {
	if v.IsNull() {
		return wrongCase(name) == "" && isFact(name)
	}
	switch string(name) {
	case "provider":
		text, ok := v.TextBytes()
		w.Provider = d.word(text)
		return ok
	case "id":
		return setID(&w.ProviderID, v)
	case "namespace":
		return setID(&w.Namespace, v)
	case "shareAcrossSessions":
		return setBool(&w.ShareAcrossSessions, v)
	case "inheritWorkspaces":
		return setBool(&w.InheritWorkspaces, v)
	case "destroyOnClose":
		return setBool(&w.DestroyOnClose, v)
	case "sleepAfter":
		return setSpan(&w.SleepAfter, v, time.Second)
	case "closeTimeoutMs":
		return setSpan(&w.CloseTimeout, v, time.Millisecond)
	case "resetAfterMs":
		return setSpan(&w.ResetAfter, v, time.Millisecond)
	case "concurrency":
		return setInt(&w.Concurrency, v)
	case "transientRetryAttempts", "retryAttempts":
		return setInt(&w.RetryAttempts, v)
	case "maxFileSizeMb":
		return setSize(&w.MaxFileSize, v, megabyte)
	case "maxFileSize":
		return setSize(&w.MaxFileSize, v, 1)
	}
	return false
}

func isFact(name []byte) bool {
	for _, k := range entryKeys {
		if string(name) == k {
			return true
		}
	}
	return false
}

func setID(into *backend.ID, v wire.Node) bool {
	text, ok := v.Text()
	if !ok && v.Kind() == '0' {
		text, ok = string(v.Raw()), true
	}
	id, err := backend.NewID(text)
	if !ok || err != nil {
		return false
	}
	*into = id
	return true
}

func setBool(into *backend.Value[bool], v wire.Node) bool {
	b, ok := v.Bool()
	if ok {
		*into = backend.Known(b)
	}
	return ok
}

func setInt(into *backend.Value[int], v wire.Node) bool {
	f, ok := v.Float()
	if ok = ok && f >= 0 && f < 1e9 && f == float64(int(f)); ok {
		*into = backend.Known(int(f))
	}
	return ok
}

func setSize(into *backend.Value[int64], v wire.Node, unit float64) bool {
	f, ok := v.Float()
	if ok = ok && f >= 0 && f*unit < 1<<53; ok {
		*into = backend.Known(int64(f * unit))
	}
	return ok
}

// setSpan reads a number of units, or a text such as "10m".
func setSpan(into *backend.Value[time.Duration], v wire.Node, unit time.Duration) bool {
	if f, ok := v.Float(); ok && f >= 0 && f*float64(unit) < 1<<62 {
		*into = backend.Known(time.Duration(f * float64(unit)))
		return true
	}
	text, ok := v.Text()
	var span backend.Duration
	if !ok || span.UnmarshalText([]byte(text)) != nil {
		return false
	}
	*into = backend.Known(span.Std())
	return true
}

// listed is what a list or aggregate route says about one session.
type listed struct {
	id      backend.ID
	status  backend.Safe
	running backend.Value[bool]
	ended   time.Time // when it ended, as the route says; zero: it does not
	facts   backend.SessionFacts
	work    *work // nil: the route lists none
	raw     backend.Safe
	problem error // its text cannot be read; nothing but its id is known
}

// registryPart is where a session of the aggregate route carries its snapshot; the node is absent when it has none.
type registryPart struct {
	node   wire.Node
	single bool // under "workspace": one entry, not a collection
}

// session reads one session of a list or aggregate route in one walk. A bare string is a session id.
func (d *decoder) session(n wire.Node, p Pointers, running map[string]bool) (out listed, registry registryPart, err error) {
	if n.Kind() == '"' {
		if !setID(&out.id, n) {
			err = n.Invalid("want a session id")
		}
		return out, registry, err
	}
	if n.Kind() != '{' {
		return out, registry, n.Invalid("want a session (an object or an id)")
	}
	var id, status wire.Node
	for name, v := range n.Members() {
		switch {
		case leadsTo(p.SessionID, name):
			id = v
		case leadsTo(p.Status, name):
			status = v
		case leadsTo(p.Workspaces, name):
			registry = registryPart{node: v}
		case string(name) == "workspace":
			if v.Kind() == '{' && !registry.node.Exists() {
				registry = registryPart{node: v, single: true}
			}
		case string(name) == "endedAt":
			if t, _ := d.moment(v); t.IsKnown() {
				out.ended = t.Or(time.Time{})
			}
		case string(name) == "executions", string(name) == "jobs":
			if out.work == nil {
				out.work = &work{}
			}
			out.work.add(d, name, v)
		case !d.sessionFact(&out.facts, name, v):
			for _, k := range sessionKeys {
				if bytes.EqualFold(name, []byte(k)) && string(name) != k {
					return out, registry, v.Invalid("the name %q is %q in the wrong case", name, k)
				}
			}
		}
	}
	locate(&id, n, p.SessionID)
	locate(&status, n, p.Status)
	locate(&registry.node, n, p.Workspaces)
	if !setID(&out.id, id) {
		return out, registry, n.Invalid("has no session id at %s", p.SessionID)
	}
	if status.Exists() && !status.IsNull() {
		text, isText := status.TextBytes()
		if !isText {
			return out, registry, status.Invalid("want the status as a string")
		}
		out.status, out.running = d.word(text), backend.Known(running[string(text)])
	}
	return out, registry, nil
}

// leadsTo reports whether a pointer is just this one name.
func leadsTo(pointer string, name []byte) bool {
	return len(pointer) == len(name)+1 && pointer[1:] == string(name) && !strings.ContainsAny(pointer[1:], "/~")
}

// locate follows a pointer of more than one name.
func locate(into *wire.Node, n wire.Node, pointer string) {
	if !into.Exists() && len(pointer) > 0 && strings.ContainsAny(pointer[1:], "/~") {
		*into, _ = n.Find(pointer)
	}
}

var sessionKeys = [...]string{"sessionId", "status", "branchedFrom", "tenant", "runtime", "frameworkVersion", "sdkVersion", "workspaceRefs",
	"startedAt", "workspaces", "workspace", "executions", "jobs"}

// sessionFact reads an optional fact of a session; false for keys that are none.
func (d *decoder) sessionFact(f *backend.SessionFacts, name []byte, v wire.Node) bool {
	switch string(name) {
	case "branchedFrom":
		setID(&f.BranchedFrom, v)
	case "tenant":
		f.Tenant = d.text(v)
	case "runtime":
		f.Runtime = d.text(v)
	case "frameworkVersion":
		f.FrameworkVersion = d.text(v)
	case "sdkVersion":
		f.SDKVersion = d.text(v)
	case "startedAt":
		if t, _ := d.moment(v); t.IsKnown() {
			f.StartedAt = t
		}
	case "workspaceRefs":
		for ref := range v.Elements() {
			if len(f.WorkspaceRefs) < maxRefs {
				f.WorkspaceRefs = append(f.WorkspaceRefs, d.ref(ref))
			}
		}
	default:
		return false
	}
	return true
}

func (d *decoder) text(v wire.Node) backend.Safe {
	if text, ok := v.TextBytes(); ok {
		return d.word(text)
	}
	if v.IsNull() {
		return backend.Safe{}
	}
	return d.clean.Clean(bounded(v.Raw(), 1000), 200)
}

// ref shows a persisted workspace reference: its name, provider, opaque part and schema version.
func (d *decoder) ref(v wire.Node) backend.Safe {
	if v.Kind() != '{' {
		return d.text(v)
	}
	var parts []string
	for _, key := range []string{"name", "providerId", "ref"} {
		if text, ok := v.Get(key).Text(); ok && text != "" {
			parts = append(parts, text)
		}
	}
	if version := v.Get("schemaVersion"); version.Kind() == '0' {
		parts = append(parts, "schemaVersion="+string(version.Raw()))
	}
	if len(parts) == 0 {
		return d.clean.Clean(bounded(v.Raw(), 1000), 200)
	}
	return d.clean.Clean(strings.Join(parts, " "), 200)
}
