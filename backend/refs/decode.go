package refs

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// maxNested bounds JSON inside of strings inside of JSON.
const maxNested = 4

// content is what one body held.
type content struct {
	read     bool // it was JSON, at least in part
	refs     []*backend.Ref
	sessions int // records
	without  int // of them without refs
	cut      bool
	problems []backend.Problem
	hidden   int
}

// sound reports whether all of the body was understood.
func (c *content) sound() bool { return c.read && len(c.problems) == 0 && !c.cut }

// decoder turns one body into refs.
type decoder struct {
	s     *source
	place *refFile
	names []string // members of a ref, for catching them in the wrong case
	draw  formatter
	out   content
	line  int // of JSON lines; 0 elsewhere
	named backend.ID
	// runState is the version of the run state that is read; empty: it carries none.
	runState backend.Safe
	seen     map[backend.Key]bool
}

func (s *source) decode(f *refFile, body []byte) content {
	d := &decoder{s: s, place: f, names: s.opts.Pointers.names(), draw: formatter{s.deps.Cleaner}, seen: map[backend.Key]bool{}}
	if s.names != nil {
		if m := s.names.FindStringSubmatch(filepath.Base(f.path)); m != nil {
			d.named, _ = backend.NewID(m[s.names.SubexpIndex("session")]) // a name without a session is no session's
		}
	}
	switch s.opts.Format {
	case formatJSON:
		d.whole(body)
	case formatLines:
		d.lines(body)
	default:
		if manyLines(body) {
			d.lines(body)
		} else {
			d.whole(body)
		}
	}
	return d.out
}

// manyLines reports whether the body is JSON lines: the first line is a document, and another follows.
func manyLines(body []byte) bool {
	first, rest, more := bytes.Cut(bytes.TrimSpace(body), []byte("\n"))
	if !more || len(bytes.TrimSpace(rest)) == 0 {
		return false
	}
	_, err := wire.Parse(first)
	return err == nil
}

func (d *decoder) whole(body []byte) {
	doc, err := wire.Parse(body)
	if err != nil {
		d.refuse(err)
		return
	}
	d.out.read = true
	d.document(doc.Root())
}

func (d *decoder) lines(body []byte) {
	for line := range bytes.Lines(body) {
		d.line++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		doc, err := wire.Parse(line)
		if err != nil {
			d.refuse(err)
			continue
		}
		d.out.read = true
		d.document(doc.Root())
	}
	if d.line == 0 || !d.out.read && len(d.out.problems) == 0 {
		d.refuse(errors.New("there is nothing in it"))
	}
}

// document finds the sessions of one document.
func (d *decoder) document(root wire.Node) {
	d.runState = backend.Safe{}
	if v, ok := scalar(root.Get("$schemaVersion")); ok {
		d.runState = d.s.deps.Cleaner.Clean(v, nameRunes)
	}
	p := &d.s.opts.Pointers
	list, ok := d.sessionsIn(root)
	if !ok {
		d.refuse(root.Invalid("no sessions at %s; check pointers.sessions", strings.Join(p.Sessions, " or ")))
		return
	}
	list, err := unfold(list)
	switch kind := list.Kind(); {
	case err != nil:
		d.refuse(err)
	case kind == 'n':
	case kind == '[':
		for e := range list.Elements() {
			d.session(e, "")
		}
	case kind == '{' && (!d.named.IsZero() || d.isSession(list)): // a file that is named after a session holds one
		d.session(list, "")
	case kind == '{':
		for name, e := range list.Members() {
			d.session(e, string(name))
		}
	default:
		d.refuse(list.Invalid("want sessions as an array or an object; check pointers.sessions"))
	}
}

// sessionsIn finds the sessions of a document. Where the first place holds none, a later one may hold a single session: an SDK writes
// both.
func (d *decoder) sessionsIn(root wire.Node) (wire.Node, bool) {
	p := &d.s.opts.Pointers
	list, ok := first(root, p.Sessions)
	if !ok || !holdsNone(list) {
		return list, ok
	}
	for _, at := range p.Sessions {
		if one, is := find(root, at); is && one.Kind() == '{' && d.isSession(one) {
			return one, true
		}
	}
	return list, true
}

// holdsNone reports whether a value is null or has no member.
func holdsNone(n wire.Node) bool {
	for range n.Members() {
		return false
	}
	for range n.Elements() {
		return false
	}
	return n.IsNull() || n.Kind() == '{' || n.Kind() == '['
}

// isSession tells one session from an object of sessions by id: some fact of a session stands in it.
func (d *decoder) isSession(n wire.Node) bool {
	p := &d.s.opts.Pointers
	return any1(n, p.Session) || any1(n, p.Refs) || hasSelf(p.Refs) && d.isRef(n)
}

// isRef tells one ref from an object of refs by name.
func (d *decoder) isRef(n wire.Node) bool {
	p := &d.s.opts.Pointers
	return any1(n, p.Provider) || any1(n, p.Ref) || any1(n, p.Sandbox)
}

// session takes one saved session; key is its name in an object of sessions.
func (d *decoder) session(n wire.Node, key string) {
	d.out.sessions++
	n, err := unfold(n)
	if err != nil {
		d.refuse(err)
		return
	}
	if n.Kind() != '{' {
		d.refuse(n.Invalid("want a saved session as an object"))
		return
	}
	p := &d.s.opts.Pointers
	list, ok := first(n, p.Refs)
	if ok {
		list, err = unfold(list)
	}
	switch {
	case err != nil:
		d.refuse(err)
		return
	case !ok, list.IsNull():
		d.out.without++
		return
	}
	owner, err := d.owner(n, key)
	if err != nil {
		d.refuse(err)
		return
	}
	x := &savedSession{session: owner, node: n}
	switch kind := list.Kind(); {
	case kind == '[':
		i := 0
		for e := range list.Elements() {
			d.ref(x, e, "", i)
			i++
		}
	case kind == '{' && d.isRef(list):
		d.ref(x, list, "", 0)
	case kind == '{':
		for name, e := range list.Members() {
			d.ref(x, e, string(name), 0)
		}
	default:
		d.refuse(list.Invalid("want refs as an array or an object; check pointers.refs"))
		return
	}
	if x.refs == 0 {
		d.out.without++
	}
}

// savedSession is one saved session while its refs are taken.
type savedSession struct {
	session backend.ID
	node    wire.Node
	refs    int
}

// owner is the session's id: what it says itself, else its name in the object, else the file's name.
func (d *decoder) owner(n wire.Node, key string) (backend.ID, error) {
	if v, ok := first(n, d.s.opts.Pointers.Session); ok && !v.IsNull() {
		text, ok := scalar(v)
		if !ok {
			return backend.ID{}, v.Invalid("want the id of a session as a string or a number")
		}
		id, err := backend.NewID(text)
		if err != nil {
			return backend.ID{}, v.Invalid("%v", err)
		}
		return id, nil
	}
	if key != "" {
		id, err := backend.NewID(key)
		if err != nil {
			return backend.ID{}, n.Invalid("%v", err)
		}
		return id, nil
	}
	if d.named.IsZero() {
		return backend.ID{}, n.Invalid("nothing says which session this is; check pointers.session, or set name_pattern")
	}
	return d.named, nil
}

// refuse notes what was not understood.
func (d *decoder) refuse(err error) {
	if len(d.out.problems) >= maxProblems {
		d.out.hidden++
		return
	}
	where, kind := d.origin(), backend.ErrInvalid
	var e *backend.Error
	if errors.As(err, &e) {
		kind, err = e.Kind, e.Err
		where += ", " + e.Where
	}
	d.out.problems = append(d.out.problems, d.s.newProblem(kind, where, err.Error()))
}

func (d *decoder) origin() string {
	if d.line > 0 {
		return fmt.Sprintf("%s, line %d", d.place.path, d.line)
	}
	return d.place.path
}

// first is the value at the first pointer that leads somewhere, through JSON in strings too.
func first(n wire.Node, pointers []string) (wire.Node, bool) {
	for _, p := range pointers {
		if v, ok := find(n, p); ok {
			return v, true
		}
	}
	return wire.Node{}, false
}

func find(n wire.Node, pointer string) (wire.Node, bool) {
	if v, ok := n.Find(pointer); ok || pointer == "" {
		return v, ok
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		inner, err := unfold(n)
		if err != nil {
			return wire.Node{}, false
		}
		var ok bool
		if n, ok = inner.Find("/" + token); !ok {
			return wire.Node{}, false
		}
	}
	return n, true
}

// any1 reports whether some pointer other than "" leads somewhere.
func any1(n wire.Node, pointers []string) bool {
	for _, p := range pointers {
		if p == "" {
			continue
		}
		if v, ok := find(n, p); ok && !v.IsNull() {
			return true
		}
	}
	return false
}

func hasSelf(pointers []string) bool {
	for _, p := range pointers {
		if p == "" {
			return true
		}
	}
	return false
}

// unfold takes JSON out of strings: stores often keep a value as text. Other values are returned as they are.
func unfold(n wire.Node) (wire.Node, error) {
	for range maxNested {
		text, ok := n.Text()
		if !ok || !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
			return n, nil
		}
		doc, err := wire.Parse([]byte(text))
		if err != nil {
			return n, n.Invalid("the JSON in this string is refused: %v", err)
		}
		n = doc.Root()
	}
	return n, nil
}

// scalar is the text of a string or a number as it is written.
func scalar(n wire.Node) (string, bool) {
	if text, ok := n.Text(); ok {
		return text, true
	}
	return string(n.Raw()), n.Kind() == '0'
}
