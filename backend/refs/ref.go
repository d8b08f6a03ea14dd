package refs

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"sandglass/backend"
	"sandglass/backend/wire"
	"sandglass/internal/stable"
)

const (
	maxExtra        = 32 // facts of one ref that are not known by name
	maxCapabilities = 64
	nameRunes       = 200
	opaqueRunes     = 500
	rawRunes        = 1500
)

// unnamed is the id of a ref whose workspace has no name, as for workspaces themselves.
const unnamed = "workspace"

// ref takes one ref; key is its name in an object of refs, index its place in an array.
func (d *decoder) ref(x *savedSession, n wire.Node, key string, index int) {
	if len(d.out.refs) >= d.s.opts.MaxRefs {
		d.out.cut = true
		return
	}
	whole := n
	if inner, err := unfold(n); err == nil {
		n = inner
	}
	if n.IsNull() {
		return
	}
	if k := n.Kind(); k != '{' && k != '"' {
		d.refuse(whole.Invalid("want a ref as an object or a string"))
		return
	}
	x.refs++
	if err := n.Expect(d.names...); err != nil {
		d.refuse(err)
		return
	}
	name, named, err := d.workspace(x, n, key, index)
	if err != nil {
		d.refuse(err)
		return
	}
	ref := &backend.Ref{Session: x.session, Origin: d.s.deps.Cleaner.Clean(d.origin(), 300)}
	ref.Key = backend.Key{Kind: backend.KindRef, Source: d.s.deps.ID, Parent: x.session, ID: name}
	if named {
		ref.Workspace = name
	}
	if d.seen[ref.Key] {
		d.refuse(whole.Invalid("the session has two refs of this workspace; the first counts"))
		return
	}
	if d.s.opts.Layout == layoutSDK && n.Kind() == '{' {
		id, _ := first(n, d.s.opts.Pointers.Sandbox)
		box, is := scalar(id)
		if ref.Agent, err = d.agentState(n, is && box != ""); err != nil {
			d.refuse(err)
			if len(d.out.problems) > 0 && d.out.hidden == 0 {
				d.out.problems[len(d.out.problems)-1].Subject = ref.Key
			}
			return
		}
	}
	d.seen[ref.Key] = true
	d.facts(ref, x, n)
	d.out.refs = append(d.out.refs, ref)
}

// workspace is the name under which a ref is kept.
func (d *decoder) workspace(x *savedSession, n wire.Node, key string, index int) (name backend.ID, named bool, err error) {
	p := &d.s.opts.Pointers
	text := key
	v, ok := first(n, p.Workspace)
	if (!ok || v.IsNull()) && key == "" {
		v, ok = first(x.node, p.SessionName)
	}
	if ok && !v.IsNull() {
		if text, ok = scalar(v); !ok {
			return name, false, v.Invalid("want the name of a workspace as a string")
		}
	}
	if text != "" {
		if name, err = backend.NewID(text); err != nil {
			return name, false, n.Invalid("%v", err)
		}
		return name, true, nil
	}
	if index == 0 {
		return backend.MustID(unnamed), false, nil
	}
	return backend.MustID(fmt.Sprintf("%s-%d", unnamed, index+1)), false, nil
}

// facts fills in what is known by name, and everything else generically.
func (d *decoder) facts(ref *backend.Ref, x *savedSession, n wire.Node) {
	p, clean := &d.s.opts.Pointers, d.s.deps.Cleaner
	text := func(from wire.Node, pointers []string, limit int) backend.Safe {
		v, _ := first(from, pointers)
		s, ok := scalar(v)
		if !ok {
			return backend.Safe{}
		}
		return clean.Clean(s, limit)
	}
	ref.Provider = text(n, p.Provider, nameRunes)
	ref.Status = text(x.node, p.Status, nameRunes)
	ref.Sandbox = d.id(n, p.Sandbox)
	ref.Namespace = d.id(n, p.Namespace)
	ref.SchemaVersion = d.version(n)
	ref.Capabilities = d.capabilities(n)
	ref.SavedAt = d.savedAt(x.node)
	opaque, ok := first(n, p.Ref)
	if n.Kind() == '"' && !ok {
		opaque, ok = n, true // nothing but the provider's own part was saved
	}
	if ok && !opaque.IsNull() {
		ref.Opaque = d.draw.text(opaque, opaqueRunes)
		ref.RawOpaque = rawOpaque(opaque)
	}
	for name, v := range n.Members() {
		if slices.Contains(d.names, string(name)) || ref.Agent != nil && slices.Contains(agentMembers, string(name)) {
			continue
		}
		if len(ref.Extra) == maxExtra {
			break
		}
		ref.Extra = append(ref.Extra, backend.Field{Name: clean.Clean(string(name), 80), Value: d.draw.member(string(name), v, nameRunes)})
	}
	ref.Raw = d.draw.text(n, rawRunes)
}

// rawOpaque is the provider's own part for comparison: a string's value, or a value's text without white space.
func rawOpaque(n wire.Node) backend.ID {
	raw, ok := n.Text()
	if !ok {
		v := jsontext.Value(slices.Clone(n.Raw()))
		if err := v.Compact(); err != nil {
			return backend.ID{} // not possible: it was parsed
		}
		raw = string(v)
	}
	id, _ := backend.NewID(raw) // too long to compare is no id
	return id
}

func (d *decoder) id(n wire.Node, pointers []string) backend.ID {
	v, ok := first(n, pointers)
	if !ok || v.IsNull() {
		return backend.ID{}
	}
	text, ok := scalar(v)
	if !ok {
		d.refuse(v.Invalid("want an id as a string"))
		return backend.ID{}
	}
	id, err := backend.NewID(text)
	if err != nil {
		d.refuse(v.Invalid("%v", err))
	}
	return id
}

// maskedID reads an id that no request is made with. One that is an address may hold secrets, which are never kept.
func (d *decoder) maskedID(n wire.Node, pointer string) backend.ID {
	id := d.id(n, []string{pointer})
	if masked := d.s.deps.Cleaner.Mask(backend.MaskURL(id.Raw())); masked != id.Raw() {
		id, _ = backend.NewID(masked)
	}
	return id
}

// version reads a whole number, or a string that is one. Refs from before the fourth round of the framework have none.
func (d *decoder) version(n wire.Node) backend.Value[int] {
	v, ok := first(n, d.s.opts.Pointers.SchemaVersion)
	if !ok || v.IsNull() {
		return backend.NotApplicable[int]()
	}
	text, _ := scalar(v)
	if i, err := strconv.Atoi(text); err == nil {
		return backend.Known(i)
	}
	if f, ok := v.Float(); ok && f == math.Trunc(f) && math.Abs(f) < 1<<31 {
		return backend.Known(int(f))
	}
	d.refuse(v.Invalid("want the schema version as a whole number"))
	return backend.Unknown[int]()
}

// capabilities takes names from an array, and from an object those whose value is not false or null.
func (d *decoder) capabilities(n wire.Node) []backend.Safe {
	v, ok := first(n, d.s.opts.Pointers.Capabilities)
	if !ok {
		return nil
	}
	var out []backend.Safe
	add := func(name string) {
		if len(out) < maxCapabilities {
			out = append(out, d.s.deps.Cleaner.Clean(name, 80))
		}
	}
	for e := range v.Elements() {
		if text, ok := scalar(e); ok {
			add(text)
		}
	}
	for name, e := range v.Members() {
		if on, isBool := e.Bool(); !e.IsNull() && (on || !isBool) {
			add(string(name))
		}
	}
	if text, ok := v.Text(); ok {
		add(text)
	}
	stable.Sort(out, func(a, b backend.Safe) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(out)
}

// savedAt is what the session says: epoch milliseconds, or seconds when below 1e11, or RFC 3339; else the file's time.
func (d *decoder) savedAt(session wire.Node) backend.Value[time.Time] {
	v, ok := first(session, d.s.opts.Pointers.SavedAt)
	if !ok || v.IsNull() {
		if d.place.state.modified.IsZero() {
			return backend.Unknown[time.Time]()
		}
		return backend.Known(d.place.state.modified.UTC())
	}
	if f, ok := v.Float(); ok && f > 0 && f < 1e14 {
		if f < 1e11 {
			f *= 1000
		}
		return backend.Known(time.UnixMicro(int64(f * 1000)).UTC())
	}
	if text, ok := v.Text(); ok {
		if t, err := time.Parse(time.RFC3339, text); err == nil {
			return backend.Known(t.UTC())
		}
	}
	d.refuse(v.Invalid("want a time as epoch milliseconds, epoch seconds or RFC 3339"))
	return backend.Unknown[time.Time]()
}
