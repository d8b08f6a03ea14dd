package helix

import (
	"bytes"
	"errors"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

const (
	maxErrorText = 2000 // characters of lastError
	maxExtra     = 16   // unrecognised keys of one entry
	maxEntries   = 10_000
	unnamedID    = "workspace"
)

// errOtherShape says that an answer is valid JSON and not a registry snapshot: the wrong path.
var errOtherShape = errors.New("is not a registry snapshot")

// decoder turns JSON into entities. It belongs to one source and is used by one goroutine at a time.
type decoder struct {
	source  string
	classes map[string]backend.StateClass
	clean   *backend.Cleaner
	clock   clockCorrection
	now     time.Time
	newest  *newest
	undated int // times met so far that are no times, or lie in the future, and are not used
	declare []declaration
	words   map[string]backend.Safe // interned short words: states, providers
}

// entry is one registry entry before it is read: where it stands and how it is called.
type entry struct {
	node  wire.Node
	id    backend.ID
	named bool
}

// snapshot finds the entries of a health answer in any of its shapes. pointer leads to the usual place.
func snapshot(root wire.Node, pointer string) ([]entry, error) {
	switch root.Kind() {
	case '[':
		return bareArray(root)
	case '{':
	default:
		return nil, errOtherShape
	}
	if pointer == "/workspaces" {
		if err := root.Expect("workspaces", "workspace"); err != nil {
			return nil, err
		}
	}
	many, hasMany := root.Find(pointer)
	one := root.Get("workspace")
	switch {
	case hasMany && one.Exists():
		return nil, one.Invalid("is beside %s: which of them is the registry?", pointer)
	case hasMany:
		return entriesOf(many)
	case one.Kind() == '{':
		return single(one)
	case one.IsNull():
		return nil, nil
	case one.Exists():
		return nil, errOtherShape
	}
	if err := root.Expect("state"); err != nil {
		return nil, err
	}
	if root.Get("state").Kind() != '"' { // the bare object; without a state it is somebody else's answer
		return nil, errOtherShape
	}
	return single(root)
}

// entriesOf reads the value behind "workspaces": an array, a map by name, or null for none.
func entriesOf(n wire.Node) ([]entry, error) {
	var out []entry
	switch n.Kind() {
	case 'n':
		return nil, nil
	case '[':
		for e := range n.Elements() {
			if e.Kind() != '{' {
				return nil, e.Invalid("want a registry entry (an object)")
			}
			if err := addNamed(&out, e); err != nil {
				return nil, err
			}
		}
	case '{':
		for name, e := range n.Members() {
			if e.Kind() != '{' {
				return nil, e.Invalid("want a registry entry (an object)")
			}
			id, err := backend.NewID(string(name))
			if err != nil {
				return nil, e.Invalid("%v", err)
			}
			out = append(out, entry{node: e, id: id, named: true})
		}
	default:
		return nil, errOtherShape
	}
	return distinct(out)
}

func bareArray(root wire.Node) ([]entry, error) {
	for e := range root.Elements() {
		if e.Kind() != '{' {
			return nil, errOtherShape
		}
		if err := e.Expect("state"); err != nil {
			return nil, err
		}
		if e.Get("state").Kind() != '"' {
			return nil, errOtherShape
		}
	}
	return entriesOf(root)
}

func single(n wire.Node) ([]entry, error) {
	var out []entry
	err := addNamed(&out, n)
	return out, err
}

// addNamed takes the name from the entry itself; an entry without one is the single workspace of its session.
func addNamed(out *[]entry, n wire.Node) error {
	name := n.Get("name")
	text, ok := name.Text()
	switch {
	case name.Exists() && !name.IsNull() && !ok:
		return name.Invalid("want the name as a string")
	case text == "":
		*out = append(*out, entry{node: n, id: backend.MustID(unnamedID)})
		return nil
	}
	id, err := backend.NewID(text)
	if err != nil {
		return name.Invalid("%v", err)
	}
	*out = append(*out, entry{node: n, id: id, named: true})
	return nil
}

// distinct refuses two entries under one name, which could not be distinguished.
func distinct(in []entry) ([]entry, error) {
	if len(in) > maxEntries {
		return nil, in[maxEntries].node.Invalid("more than %d entries in one session", maxEntries)
	}
	if len(in) <= 8 {
		for i := range in {
			for j := range i {
				if in[i].id == in[j].id {
					return nil, in[i].node.Invalid("a second entry is called %v", in[i].id)
				}
			}
		}
		return in, nil
	}
	seen := make(map[backend.ID]bool, len(in))
	for _, e := range in {
		if seen[e.id] {
			return nil, e.node.Invalid("a second entry is called %v", e.id)
		}
		seen[e.id] = true
	}
	return in, nil
}

// workspace reads one entry. An error names the place; the rest of the session's snapshot is then not trusted either.
func (d *decoder) workspace(e entry, session backend.ID, at time.Time) (*backend.Workspace, error) {
	w := &backend.Workspace{
		Meta: backend.Meta{Key: backend.Key{Kind: backend.KindWorkspace, Source: d.source, Parent: session, ID: e.id}, ReadAt: at},
		// Absent keys are not applicable; what is there overwrites this.
		Named: e.named, Class: backend.ClassUnknown,
		LastAttemptAt: backend.NotApplicable[time.Time](), LastSuccessAt: backend.NotApplicable[time.Time](),
		LastOpAt: backend.NotApplicable[time.Time](),
	}
	known := 0
	for name, v := range e.node.Members() {
		isKnown, err := d.member(w, name, v, e)
		if err != nil {
			return nil, err
		}
		if isKnown {
			known++
		}
	}
	if known == 0 {
		return nil, e.node.Invalid("holds none of state, lastError, lastAttemptAt, lastSuccessAt: not a registry entry")
	}
	d.declareWorkspace(w)
	w.Raw = d.raw(e.node)
	return w, nil
}

// member reads one key of an entry; it reports whether the key marks a registry entry.
func (d *decoder) member(w *backend.Workspace, name []byte, v wire.Node, e entry) (bool, error) {
	switch string(name) {
	case "state":
		if v.IsNull() {
			return true, nil
		}
		if v.Kind() != '"' {
			return false, v.Invalid("want the state as a string")
		}
		text, _ := v.TextBytes()
		w.Reported, w.Class = d.word(text), d.class(text)
		return true, nil
	case "lastError":
		w.LastError = d.lastError(v)
		return true, nil
	case "lastAttemptAt":
		d.time(w, &w.LastAttemptAt, name, v)
		return true, nil
	case "lastSuccessAt":
		d.time(w, &w.LastSuccessAt, name, v)
		return true, nil
	case "lastOpAt":
		d.time(w, &w.LastOpAt, name, v)
		return true, nil
	case "name":
		if text, ok := v.TextBytes(); ok && string(text) != e.id.Raw() && e.named {
			d.extra(&w.Extra, name, v) // a map form whose key and name differ
		}
		return false, nil
	}
	if d.fact(w, name, v) {
		return false, nil
	}
	if k := wrongCase(name); k != "" {
		return false, v.Invalid("the name %q is %q in the wrong case", name, k)
	}
	d.extra(&w.Extra, name, v)
	return false, nil
}

func (d *decoder) time(w *backend.Workspace, into *backend.Value[time.Time], name []byte, v wire.Node) {
	var readable bool
	if *into, readable = d.moment(v); !readable {
		d.extra(&w.Extra, name, v)
	}
}

func (d *decoder) class(word []byte) backend.StateClass {
	if c, ok := d.classes[string(word)]; ok {
		return c
	}
	return backend.ClassUnknown
}

// word makes a short text drawable and keeps it, since states and providers repeat. The store is bounded: a server
// may make words up.
func (d *decoder) word(raw []byte) backend.Safe {
	if s, ok := d.words[string(raw)]; ok {
		return s
	}
	s := d.clean.Clean(string(raw), 200)
	if len(d.words) < 256 && len(raw) <= 64 {
		d.words[string(raw)] = s
	}
	return s
}

// lastError is a string, or an object with a message; anything else is shown as it is.
func (d *decoder) lastError(v wire.Node) backend.Safe {
	switch v.Kind() {
	case 'n', 0:
		return backend.Safe{}
	case '"':
		text, _ := v.Text()
		if strings.TrimSpace(text) == "" {
			return backend.Safe{}
		}
		return d.clean.Clean(text, maxErrorText)
	case '{':
		message, ok := v.Get("message").Text()
		if !ok {
			break
		}
		if name, ok := v.Get("name").Text(); ok && name != "" && !strings.HasPrefix(message, name) {
			message = name + ": " + message
		}
		return d.clean.Clean(message, maxErrorText)
	}
	return d.clean.Clean(bounded(v.Raw(), 8*maxErrorText), maxErrorText)
}

func (d *decoder) extra(into *[]backend.Field, name []byte, v wire.Node) {
	if len(*into) >= maxExtra {
		return
	}
	text, ok := v.Text()
	if !ok {
		text = bounded(v.Raw(), 4096)
	}
	*into = append(*into, backend.Field{Name: d.clean.Clean(string(name), 80), Value: d.named(string(name), text)})
}

// named cleans the value of a key whose name may say that it is a secret: masking looks at both together.
func (d *decoder) named(name, text string) backend.Safe {
	const limit = 200
	prefix := name + "="
	if d.clean.Mask(prefix+"xxxxxxxx") != prefix+"xxxxxxxx" {
		return d.clean.Clean("‹masked›", limit)
	}
	return d.clean.Clean(text, limit)
}

// raw is the entry as the server wrote it, for the details view.
func (d *decoder) raw(n wire.Node) backend.Safe {
	return d.clean.Clean(bounded(n.Raw(), 2*backend.MaxTextRunes), backend.MaxTextRunes)
}

func bounded(b []byte, limit int) string {
	if len(b) > limit {
		b = b[:limit]
	}
	return string(b)
}

// wrongCase returns the known key that name spells in another case, empty when there is none.
func wrongCase(name []byte) string {
	for _, k := range entryKeys {
		if len(name) == len(k) && bytes.EqualFold(name, []byte(k)) && string(name) != k {
			return k
		}
	}
	return ""
}

var entryKeys = [...]string{"state", "lastError", "lastAttemptAt", "lastSuccessAt", "lastOpAt", "name", "provider", "id",
	"namespace", "shareAcrossSessions", "inheritWorkspaces", "destroyOnClose", "sleepAfter", "closeTimeoutMs", "concurrency",
	"maxFileSizeMb", "maxFileSize", "transientRetryAttempts", "retryAttempts", "resetAfterMs"}
