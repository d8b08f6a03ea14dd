package config

import (
	"encoding"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

// field is one option of a struct as the configuration file spells it.
type field struct {
	key   string
	doc   string
	index []int
	typ   reflect.Type
	path  string // what its text names: a pathFile or a pathProgram; empty: no path
}

// What an option's text can name, by the tag "path".
const (
	pathFile    = "file"
	pathProgram = "program" // the first word of a command
)

// fieldsOf lists a struct's options in their order; embedded structs without a key of their own are flattened.
func fieldsOf(t reflect.Type) []field {
	var all []field
	for i := range t.NumField() {
		sf := t.Field(i)
		key, _, _ := strings.Cut(sf.Tag.Get("toml"), ",")
		switch {
		case key == "-":
		case key == "" && sf.Anonymous && deref(sf.Type).Kind() == reflect.Struct:
			for _, f := range fieldsOf(deref(sf.Type)) {
				f.index = append([]int{i}, f.index...)
				all = append(all, f)
			}
		case sf.IsExported():
			if key == "" {
				key = strings.ToLower(sf.Name)
			}
			all = append(all, field{key: key, doc: sf.Tag.Get("doc"), path: sf.Tag.Get("path"), index: []int{i}, typ: sf.Type})
		}
	}
	return all
}

func keysOf(t reflect.Type) []string {
	var keys []string
	for _, f := range fieldsOf(t) {
		keys = append(keys, f.key)
	}
	return keys
}

func deref(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// asText returns a fresh value that reads text, nil for types that read none.
func asText(t reflect.Type) encoding.TextUnmarshaler {
	u, _ := reflect.New(t).Interface().(encoding.TextUnmarshaler)
	return u
}

// checker compares a file with the struct that it will be decoded into. It finds all errors at once and names them in the
// words of the file. The library stops at the first wrong value and names Go types.
type checker struct {
	file *file
	errs Errors

	where     string            // the table at the top
	elsewhere map[string]string // keys that belong to other kinds, and to which
}

func (c *checker) errorf(at int, format string, args ...any) {
	c.errs = append(c.errs, c.file.errorf(at, format, args...))
}

// table checks the keys of n. also are known keys that other code reads.
func (c *checker) table(n *node, t reflect.Type, where string, also []string) {
	fields := fieldsOf(t)
next:
	for _, k := range n.kids {
		for _, a := range also {
			if k.key == a {
				continue next
			}
		}
		for _, f := range fields {
			if f.key == k.key {
				c.value(k, f.typ, fmt.Sprintf("%q in %s", k.key, where), where)
				c.paths(k, f.path, fmt.Sprintf("%q in %s", k.key, where))
				continue next
			}
		}
		if of := c.elsewhere[k.key]; of != "" && where == c.where {
			c.errorf(k.at, "unknown key %q in %s: %s", k.key, where, of)
			continue
		}
		c.errorf(k.at, "unknown key %q in %s%s", k.key, where, suggest(k.key, append(keysOf(t), also...)))
	}
}

// paths refuses relative paths: a console and a job of cron would mean different files by them.
func (c *checker) paths(n *node, kind, what string) {
	all := n.kids
	if n.shape == shapeText {
		all = []*node{n}
	}
	for i, k := range all {
		relative := k.shape == shapeText && k.text != "" && !filepath.IsAbs(k.text) && !strings.HasPrefix(k.text, "~/")
		switch {
		case !relative:
		case kind == pathFile:
			c.errorf(k.value, "%s: %q is a relative path; write it from / on, since Sandglass runs in different directories", what, k.text)
		case kind == pathProgram && i == 0 && strings.Contains(k.text, "/"):
			c.errorf(k.value, "%s: %q is a relative path of a program; write it from / on, or only its name", what, k.text)
		}
	}
}

// value checks one value. what names it in messages, where names its table.
func (c *checker) value(n *node, t reflect.Type, what, where string) {
	t = deref(t)
	if u := asText(t); u != nil {
		c.textual(n, t, u, what)
		return
	}
	switch t.Kind() {
	case reflect.String:
		c.expect(n, what, shapeText)
	case reflect.Bool:
		c.expect(n, what, shapeBool)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if c.expect(n, what, shapeWhole) {
			c.integer(n, t, what)
		}
	case reflect.Float32, reflect.Float64:
		if n.shape == shapeWhole || c.expect(n, what, shapeNumber) {
			c.number(n, what)
		}
	case reflect.Slice, reflect.Array:
		if n.shape == shapeTables || c.expect(n, what, shapeList) {
			for _, k := range n.kids {
				c.value(k, t.Elem(), "an element of "+what, where+" [["+n.key+"]]")
			}
		}
	case reflect.Map:
		if c.expect(n, what, shapeTable) {
			for _, k := range n.kids {
				c.value(k, t.Elem(), fmt.Sprintf("%q of %s", k.key, what), where+" ["+n.key+"]")
			}
		}
	case reflect.Struct:
		if c.expect(n, what, shapeTable) {
			if !n.element {
				where += " [" + n.key + "]"
			}
			c.table(n, t, where, nil)
		}
	default: // nothing in the file is compared with other types; the decoder judges them
	}
}

func (c *checker) expect(n *node, what string, s shape) bool {
	if n.shape == s {
		return true
	}
	c.errorf(n.value, "%s must be %s, not %s", what, s, n.shape)
	return false
}

// textual checks durations, sizes and the like, which check their text themselves.
func (c *checker) textual(n *node, t reflect.Type, u encoding.TextUnmarshaler, what string) {
	isNumber := n.shape == shapeWhole || n.shape == shapeNumber
	if n.shape != shapeText && (!isNumber || t.Kind() == reflect.String) {
		c.errorf(n.value, "%s must be %s, not %s", what, shapeText, n.shape)
		return
	}
	if err := u.UnmarshalText([]byte(n.text)); err != nil {
		c.errorf(n.value, "%s: %v", what, err)
	}
}

func (c *checker) integer(n *node, t reflect.Type, what string) {
	v, err := strconv.ParseInt(n.text, 0, 64)
	switch {
	case err != nil && n.text[0] != '+' && n.text[0] != '-':
		c.errorf(n.value, "%s is out of range", what)
	case strings.HasPrefix(n.text, "-") && v != 0:
		c.errorf(n.value, "%s must not be negative", what)
	case err == nil && reflect.New(t).Elem().CanInt() && reflect.Zero(t).OverflowInt(v):
		c.errorf(n.value, "%s is out of range", what)
	case err == nil && reflect.New(t).Elem().CanUint() && reflect.Zero(t).OverflowUint(uint64(v)):
		c.errorf(n.value, "%s is out of range", what)
	}
}

func (c *checker) number(n *node, what string) {
	v, err := strconv.ParseFloat(strings.ReplaceAll(n.text, "_", ""), 64)
	switch {
	case n.shape == shapeWhole && strings.HasPrefix(n.text, "0") && len(n.text) > 1:
		return // 0x, 0o and 0b are never negative, and the decoder reads them
	case err != nil || math.IsInf(v, 0) || math.IsNaN(v):
		c.errorf(n.value, "%s must be a finite number", what)
	case v < 0:
		c.errorf(n.value, "%s must not be negative", what)
	}
}
