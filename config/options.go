package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"sandglass/backend"
)

// options are the keys of one table of the file, waiting to be decoded into a struct that this package does not know.
type options struct {
	file  *file
	block *node
	where string   // `[[source]] "helix-eu"`, for messages
	taken []string // keys that were read already

	elsewhere map[string]string // keys that belong to other kinds, and to which
}

// with is the options with a key that the file does not set, or sets otherwise.
func (o *options) with(key string, value *node) *options {
	out, block := *o, *o.block
	value.key, value.at, value.line = key, block.at, block.line
	block.kids = append(slices.DeleteFunc(slices.Clone(block.kids), func(n *node) bool { return n.key == key }), value)
	out.block = &block
	return &out
}

var _ backend.Options = (*options)(nil)

// Decode fills the struct that into points to. All unknown keys and wrong values are returned at once, as Errors.
func (o *options) Decode(into any) error {
	if err := o.check(into); err != nil {
		return err
	}
	document := o.block.document(func(key string) bool { return slices.Contains(o.taken, key) })
	clearLists(reflect.ValueOf(into).Elem(), o.block)
	if err := toml.Unmarshal(document, into); err != nil {
		return Errors{o.file.errorf(o.block.at, "%s cannot be read: %s", o.where, strings.TrimPrefix(err.Error(), "toml: "))}
	}
	return nil
}

// check finds what Decode would refuse, without decoding.
func (o *options) check(into any) error {
	c := checker{file: o.file, where: o.where, elsewhere: o.elsewhere}
	c.table(o.block, reflect.TypeOf(into).Elem(), o.where, o.taken)
	return c.errs.orNil()
}

// Refuse makes an error at the value of a key; at the table itself when the file does not have that key.
func (o *options) Refuse(key, format string, args ...any) error {
	n, exact := o.block.find(key)
	what := fmt.Sprintf(format, args...)
	if !exact && n == o.block {
		return Errors{o.file.errorf(o.block.at, "%s needs %q: %s", o.where, key, what)}
	}
	return Errors{o.file.errorf(n.value, "%q in %s: %s", key, o.where, what)}
}

// clearLists empties the lists that the file sets, so that the file's list replaces a default instead of being
// written over its first elements.
func clearLists(v reflect.Value, n *node) {
	for _, f := range fieldsOf(v.Type()) {
		k := n.child(f.key)
		if k == nil {
			continue
		}
		fv := v
		for _, i := range f.index {
			if fv = fv.Field(i); fv.Kind() == reflect.Pointer && !fv.IsNil() {
				fv = fv.Elem()
			}
		}
		switch fv.Kind() {
		case reflect.Slice:
			fv.SetZero()
		case reflect.Struct:
			if asText(fv.Type()) == nil && k.shape == shapeTable {
				clearLists(fv, k)
			}
		default: // single values are replaced anyway, and maps are meant to be added to
		}
	}
}

// quoteKey writes any key as a TOML basic string.
func quoteKey(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r >= 0x7f && r < 0xa0:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
