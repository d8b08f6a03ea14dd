package config

import (
	"encoding"
	"fmt"
	"reflect"
	"sandglass/backend"
	"slices"
	"strconv"
	"strings"
)

// writer prints option structs as TOML.
type writer struct {
	b strings.Builder
	// docs puts the one line of why above every key.
	docs bool
	// off comments everything out: a table that would do something if it were not.
	off bool
	// mask hides secrets in a value before it is printed; nil: nothing is hidden.
	mask func(key, value string) string
	// base makes it brief: options of its type are printed only where they differ from it. Invalid: all are.
	base reflect.Value
	// shared are values that keys have unless they are printed.
	shared map[string]string
}

func (w *writer) line(format string, args ...any) {
	if w.off {
		w.b.WriteByte('#')
	}
	fmt.Fprintf(&w.b, format, args...)
	w.b.WriteByte('\n')
}

func (w *writer) comment(format string, args ...any) {
	fmt.Fprintf(&w.b, "# "+format+"\n", args...)
}

func (w *writer) blankLine() { w.b.WriteByte('\n') }

// table prints the keys of structs that share a table, the plain ones first, since whatever follows a header belongs to
// it. The keys in extra get that text.
func (w *writer) table(path string, extra map[string]string, structs ...reflect.Value) {
	for _, v := range structs {
		w.plain(v, extra)
	}
	for _, v := range structs {
		for _, f := range fieldsOf(v.Type()) {
			if nested(f.typ) && !w.isDefault(f, v) {
				w.nested(path, f, v.FieldByIndex(f.index))
			}
		}
	}
}

func (w *writer) plain(v reflect.Value, extra map[string]string) {
	for _, f := range fieldsOf(v.Type()) {
		if nested(f.typ) || w.isDefault(f, v) {
			continue
		}
		if text, is := w.shared[f.key]; is && text == w.value(f.key, indirect(v.FieldByIndex(f.index))) {
			continue
		}
		if w.docs && f.doc != "" {
			w.comment("%s", f.doc)
		}
		fv := v.FieldByIndex(f.index)
		text, given := extra[f.key]
		if !given {
			text = w.value(f.key, indirect(fv))
		}
		was := w.off
		w.off = was || fv.Kind() == reflect.Pointer && fv.IsNil()
		if w.docs || w.off == was {
			w.line("%s = %s", bareKey(f.key), text)
		}
		w.off = was
	}
}

// isDefault reports whether an option is left out because it says what silence says too.
func (w *writer) isDefault(f field, v reflect.Value) bool {
	return w.base.IsValid() && w.base.Type() == v.Type() &&
		reflect.DeepEqual(v.FieldByIndex(f.index).Interface(), w.base.FieldByIndex(f.index).Interface())
}

// nested prints a table below a table; one that sets nothing is commented out, or left out where there are no docs.
func (w *writer) nested(path string, f field, v reflect.Value) {
	path = strings.TrimPrefix(path+"."+bareKey(f.key), ".")
	header, rows := "["+path+"]", []reflect.Value{indirect(v)}
	if f.typ.Kind() == reflect.Slice {
		header, rows = "["+header+"]", nil
		for i := range v.Len() {
			rows = append(rows, v.Index(i))
		}
	}
	was := w.off
	if v.IsZero() || len(rows) == 0 {
		if !w.docs {
			return
		}
		w.off = true
		if len(rows) == 0 {
			rows = []reflect.Value{reflect.New(f.typ.Elem()).Elem()}
		}
	}
	for _, row := range rows {
		w.blankLine()
		if w.docs && f.doc != "" {
			w.comment("%s", f.doc)
		}
		w.line("%s", header)
		w.table(path, nil, row)
	}
	w.off = was
}

// nested reports whether a type is printed under a header of its own.
func nested(t reflect.Type) bool {
	t = deref(t)
	if t.Kind() == reflect.Slice {
		t = deref(t.Elem())
	}
	return t.Kind() == reflect.Struct && asText(t) == nil
}

func indirect(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return reflect.New(v.Type().Elem()).Elem()
		}
		v = v.Elem()
	}
	return v
}

func (w *writer) value(key string, v reflect.Value) string {
	if m, ok := v.Interface().(encoding.TextMarshaler); ok {
		if text, err := m.MarshalText(); err == nil {
			return w.text(key, string(text))
		}
	}
	switch v.Kind() {
	case reflect.String:
		return w.text(key, v.String())
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Float32, reflect.Float64:
		s := strconv.FormatFloat(v.Float(), 'g', -1, 64)
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		return s
	case reflect.Slice, reflect.Array:
		return w.list(key, v)
	case reflect.Map:
		return w.inlineMap(v)
	default:
		return fmt.Sprint(v.Interface()) // whole numbers of every width
	}
}

func (w *writer) list(key string, v reflect.Value) string {
	parts := make([]string, v.Len())
	if argv, is := v.Interface().([]string); is && w.mask != nil && strings.HasSuffix(key, "command") {
		v = reflect.ValueOf(backend.MaskArgs(argv))
	}
	for i := range parts {
		name := key
		if i > 0 && v.Index(i-1).Kind() == reflect.String && secretFlag.MatchString(v.Index(i-1).String()) {
			name = v.Index(i - 1).String() // the argument behind --token
		}
		parts[i] = w.value(name, v.Index(i))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func (w *writer) inlineMap(v reflect.Value) string {
	if v.Len() == 0 {
		return "{}"
	}
	var parts []string
	for it := v.MapRange(); it.Next(); {
		parts = append(parts, bareKey(it.Key().String())+" = "+w.value(it.Key().String(), indirect(it.Value())))
	}
	slices.Sort(parts)
	return "{ " + strings.Join(parts, ", ") + " }"
}

func (w *writer) text(key, s string) string {
	if w.mask != nil {
		s = w.mask(key, s)
	}
	return quoteKey(s)
}

func bareKey(s string) string {
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' {
			return quoteKey(s)
		}
	}
	if s == "" {
		return `""`
	}
	return s
}

func valueOf[T any](p *T) reflect.Value { return reflect.ValueOf(p).Elem() }

// structOf is the struct that options point to.
func structOf(options any) reflect.Value { return reflect.ValueOf(options).Elem() }
