package helix

import (
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
		text, ok := v.Text()
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
	facts   backend.SessionFacts
	raw     backend.Safe
}

// session reads one session of a list or aggregate route. A bare string is a session id.
func (d *decoder) session(n wire.Node, p Pointers, running map[string]bool) (listed, error) {
	var out listed
	if text, ok := n.Text(); ok {
		id, err := backend.NewID(text)
		if err != nil {
			return out, n.Invalid("%v", err)
		}
		out.id = id
		return out, nil
	}
	if n.Kind() != '{' {
		return out, n.Invalid("want a session (an object or an id)")
	}
	if err := n.Expect(sessionKeys...); err != nil {
		return out, err
	}
	id, ok := n.Find(p.SessionID)
	if !ok || !setID(&out.id, id) {
		return out, n.Invalid("has no session id at %s", p.SessionID)
	}
	if status, ok := n.Find(p.Status); ok && !status.IsNull() {
		text, isText := status.Text()
		if !isText {
			return out, status.Invalid("want the status as a string")
		}
		out.status, out.running = d.word(text), backend.Known(running[text])
	}
	d.sessionFacts(&out.facts, n)
	return out, nil
}

var sessionKeys = []string{"sessionId", "status", "branchedFrom", "tenant", "runtime", "frameworkVersion", "workspaceRefs",
	"startedAt", "workspaces", "workspace"}

func (d *decoder) sessionFacts(f *backend.SessionFacts, n wire.Node) {
	for name, v := range n.Members() {
		switch string(name) {
		case "branchedFrom":
			setID(&f.BranchedFrom, v)
		case "tenant":
			f.Tenant = d.text(v)
		case "runtime":
			f.Runtime = d.text(v)
		case "frameworkVersion":
			f.FrameworkVersion = d.text(v)
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
		}
	}
}

func (d *decoder) text(v wire.Node) backend.Safe {
	if text, ok := v.Text(); ok {
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
