package backendtest

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// Dump writes everything that a value holds, private fields too, one line for each part, so that equal values give equal
// text. An empty list is written as none; a time without its zone.
func Dump(v any) string {
	var b strings.Builder
	dumper{&b, map[uintptr]bool{}}.dump("", reflect.ValueOf(v))
	return b.String()
}

// SameDump fails the test at the first part in which two values differ.
func SameDump(t testing.TB, what string, got, want any) {
	t.Helper()
	g, w := Dump(got), Dump(want)
	if g == w {
		return
	}
	gl, wl := strings.Split(g, "\n"), strings.Split(w, "\n")
	for i := range min(len(gl), len(wl)) {
		if gl[i] != wl[i] {
			t.Fatalf("%s differs:\n got %s\nwant %s", what, gl[i], wl[i])
		}
	}
	t.Fatalf("%s: %d parts, want %d", what, len(gl), len(wl))
}

type dumper struct {
	w     io.Writer
	above map[uintptr]bool // pointers that are being written
}

func (d dumper) dump(path string, v reflect.Value) {
	if !v.IsValid() || v.Kind() != reflect.Struct && v.IsZero() {
		fmt.Fprintf(d.w, "%s: zero\n", path)
		return
	}
	v = open(v)
	if at, ok := v.Interface().(time.Time); ok {
		fmt.Fprintf(d.w, "%s: %s\n", path, at.UTC().Format(time.RFC3339Nano))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if d.above[v.Pointer()] {
			fmt.Fprintf(d.w, "%s: itself\n", path)
			return
		}
		d.above[v.Pointer()] = true
		d.dump(path, v.Elem())
		delete(d.above, v.Pointer())
	case reflect.Interface:
		d.dump(path+"("+v.Elem().Type().String()+")", v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			d.dump(path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		if v.Len() == 0 {
			fmt.Fprintf(d.w, "%s: zero\n", path)
		}
		for i := range v.Len() {
			d.dump(fmt.Sprintf("%s[%d]", path, i), v.Index(i))
		}
	case reflect.Map:
		d.dumpMap(path, v)
	case reflect.Func, reflect.Chan:
		fmt.Fprintf(d.w, "%s: %s\n", path, v.Kind())
	default:
		fmt.Fprintf(d.w, "%s: %q\n", path, fmt.Sprint(v))
	}
}

func (d dumper) dumpMap(path string, v reflect.Value) {
	var parts []string
	for it := v.MapRange(); it.Next(); {
		var k, x strings.Builder
		dumper{&k, d.above}.dump("", it.Key())
		dumper{&x, d.above}.dump(path+"{"+strings.ReplaceAll(k.String(), "\n", " ")+"}", it.Value())
		parts = append(parts, x.String())
	}
	slices.Sort(parts)
	fmt.Fprintf(d.w, "%s: %d\n%s", path, v.Len(), strings.Join(parts, ""))
}

// open makes a value addressable, and one of a private field readable.
func open(v reflect.Value) reflect.Value {
	if !v.CanAddr() {
		c := reflect.New(v.Type()).Elem()
		c.Set(v)
		return c
	}
	return reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
}
