package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// shape is what a value looks like in the file, in the words of error messages.
type shape string

const (
	shapeTable  shape = "a table"
	shapeTables shape = "a list of tables"
	shapeList   shape = "a list"
	shapeText   shape = "text"
	shapeWhole  shape = "a whole number"
	shapeNumber shape = "a number"
	shapeBool   shape = "true or false"
	shapeDate   shape = "a date or time"
)

// node is one key or list element of the file. The library's decoder forgets where values stood; this tree keeps it,
// so that adapters can refuse a value by its place long after decoding.
type node struct {
	shape shape
	key   string
	at    int    // offset of the key, or of the element in a list
	value int    // offset of the value; of a table the offset of its header
	raw   []byte // the value as written; of leaves and inline values only
	text  string // the decoded scalar
	kids  []*node
	line  int // of the key, for messages about repetition
	// open tables may still get keys: header tables that only their children named so far.
	open bool
	// sealed tables cannot be reopened by a header: inline and dotted ones.
	sealed bool
	// element nodes stand in a list.
	element bool
}

// maxNesting bounds lists within lists; nothing real needs more.
const maxNesting = 32

func (n *node) child(key string) *node {
	for _, k := range n.kids {
		if k.key == key {
			return k
		}
	}
	return nil
}

// builder turns the parser's expressions into a tree and collects what is wrong.
type builder struct {
	file   *file
	parser unstable.Parser
	errs   Errors
	root   *node
	seen   map[*node]map[string]*node // children by key, so that long tables stay linear
}

// parseTree reads the whole file. The tree is usable as far as it goes even when there are errors.
func parseTree(f *file) (*node, Errors) {
	b := &builder{file: f, root: &node{shape: shapeTable, open: true}, seen: make(map[*node]map[string]*node)}
	b.parser.Reset(f.data)
	current := b.root
	for b.parser.NextExpression() {
		e := b.parser.Expression()
		switch e.Kind {
		case unstable.Table:
			current = b.header(e, false)
		case unstable.ArrayTable:
			current = b.header(e, true)
		case unstable.KeyValue:
			if current != nil {
				b.keyValue(current, e, 0)
			}
		default: // comments are not kept, and nothing else stands at the top level
		}
	}
	if err := b.parser.Error(); err != nil {
		at := len(f.data)
		var pe *unstable.ParserError
		if errors.As(err, &pe) {
			at = int(b.parser.Range(pe.Highlight).Offset)
		}
		wrong := f.errorf(at, "this is not valid TOML: %s", strings.TrimPrefix(err.Error(), "toml: "))
		if quote, where := f.foreign(at); quote != "" {
			wrong = f.errorf(where, "this is not valid TOML: %s", quote)
		}
		wrong.syntax = true
		b.errs = append(b.errs, wrong)
	}
	return b.root, b.errs
}

// foreigners are the characters that word processors and chats put in the place of those that TOML knows.
var foreigners = map[rune]string{
	'“': `a left double quotation mark (U+201C); write "`, '”': `a right double quotation mark (U+201D); write "`,
	'„': `a low double quotation mark (U+201E); write "`, '«': `a left guillemet (U+00AB); write "`, '»': `a right guillemet (U+00BB); write "`,
	'‘': `a left single quotation mark (U+2018); write "`, '’': `a right single quotation mark (U+2019); write "`,
	'″': `a double prime (U+2033); write "`, '＂': `a full-width quotation mark (U+FF02); write "`, '`': "a backquote (U+0060); write \"",
	'\u00a0': "a no-break space (U+00A0); write an ordinary space", '\u200b': "a zero-width space (U+200B); remove it", '\ufeff': "a byte order mark (U+FEFF); remove it",
	'＝': "a full-width equals sign (U+FF1D); write =", '–': "an en dash (U+2013); write -", '—': "an em dash (U+2014); write -",
}

// foreign names the first such character in the line of a syntax error, and its offset; empty: there is none.
func (f *file) foreign(at int) (what string, offset int) {
	at = min(at, len(f.data))
	start := bytes.LastIndexByte(f.data[:at], '\n') + 1
	line, _, _ := bytes.Cut(f.data[start:], []byte("\n"))
	for i, r := range string(line) {
		if r == '#' {
			break
		}
		if what := foreigners[r]; what != "" {
			return fmt.Sprintf("%q is %s", r, what), start + i
		}
	}
	return "", 0
}

func (b *builder) errorf(at int, format string, args ...any) {
	b.errs = append(b.errs, b.file.errorf(at, format, args...))
}

func (b *builder) find(n *node, key string) *node { return b.seen[n][key] }

func (b *builder) add(n, kid *node) *node {
	kid.line, _ = b.file.position(kid.at)
	n.kids = append(n.kids, kid)
	if n.shape == shapeTable {
		if b.seen[n] == nil {
			b.seen[n] = make(map[string]*node)
		}
		b.seen[n][kid.key] = kid
	}
	return kid
}

// header opens the table that `[a.b]` or `[[a.b]]` names; nil when it cannot, and its keys are then passed over.
func (b *builder) header(e *unstable.Node, list bool) *node {
	at := b.root
	keys := e.Key()
	for keys.Next() {
		part := keys.Node()
		name, offset := string(part.Data), int(part.Raw.Offset)
		next := b.find(at, name)
		switch last := keys.IsLast(); {
		case next == nil && last && list:
			next = b.add(at, &node{shape: shapeTables, key: name, at: offset, value: offset})
			fallthrough
		case next != nil && last && list && next.shape == shapeTables && !next.sealed:
			return b.add(next, &node{shape: shapeTable, key: name, at: offset, value: offset, element: true})
		case next == nil:
			next = b.add(at, &node{shape: shapeTable, key: name, at: offset, value: offset, open: !last})
		case next.shape == shapeTables && !last && !next.sealed:
			next = next.kids[len(next.kids)-1]
		case next.shape != shapeTable || next.sealed || last && (list || !next.open):
			b.errorf(offset, "%q is here a second time; it was first set in line %d", name, next.line)
			return nil
		case last:
			next.open = false
			next.at, next.value = offset, offset
		}
		at = next
	}
	return at
}

// keyValue adds `a.b = value` to a table.
func (b *builder) keyValue(n *node, e *unstable.Node, depth int) {
	keys := e.Key()
	for keys.Next() {
		part := keys.Node()
		name, offset := string(part.Data), int(part.Raw.Offset)
		next := b.find(n, name)
		if keys.IsLast() {
			if next != nil {
				b.errorf(offset, "%q is here a second time; it was first set in line %d", name, next.line)
				return
			}
			start := b.valueStart(int(part.Raw.Offset + part.Raw.Length))
			end := int(e.Raw.Offset + e.Raw.Length)
			kid := b.convert(e.Value(), start, depth)
			kid.key, kid.at = name, offset
			kid.raw = bytes.TrimRight(b.file.data[start:end], " \t\r\n")
			b.add(n, kid)
			return
		}
		switch {
		case next == nil:
			next = b.add(n, &node{shape: shapeTable, key: name, at: offset, value: offset, sealed: true})
		case next.shape != shapeTable || next.raw != nil:
			b.errorf(offset, "%q is here a second time; it was first set in line %d", name, next.line)
			return
		}
		n = next
	}
}

// valueStart skips the blanks and the "=" behind a key.
func (b *builder) valueStart(i int) int {
	for i < len(b.file.data) && (b.file.data[i] == ' ' || b.file.data[i] == '\t' || b.file.data[i] == '=') {
		i++
	}
	return i
}

// convert copies a value of the parser, whose nodes live only until the next expression.
func (b *builder) convert(v *unstable.Node, start, depth int) *node {
	n := &node{at: start, value: start, text: string(v.Data), sealed: true}
	if depth > maxNesting {
		b.errorf(start, "lists and tables are nested more than %d deep here", maxNesting)
		n.shape = shapeList
		return n
	}
	switch v.Kind {
	case unstable.String:
		n.shape = shapeText
	case unstable.Bool:
		n.shape = shapeBool
	case unstable.Integer:
		n.shape = shapeWhole
	case unstable.Float:
		n.shape = shapeNumber
	case unstable.InlineTable:
		n.shape = shapeTable
		for it := v.Children(); it.Next(); {
			if it.Node().Kind == unstable.KeyValue {
				b.keyValue(n, it.Node(), depth+1)
			}
		}
		n.raw = b.file.data[start:start] // not nil: an inline table, closed to dotted keys
	case unstable.Array:
		n.shape = shapeList
		for it := v.Children(); it.Next(); {
			at := start
			if r := it.Node().Raw; r.Length > 0 {
				at = int(r.Offset)
			}
			kid := b.convert(it.Node(), at, depth+1)
			kid.raw, kid.element = b.parser.Raw(it.Node().Raw), true
			b.add(n, kid)
		}
	default:
		n.shape = shapeDate
	}
	return n
}
