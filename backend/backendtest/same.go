package backendtest

import (
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"
	"unsafe"
)

// Same fails the test at the first part in which two values differ, private fields included. No list is as good as an
// empty one, a time is the same in another zone, and zero has no sign.
func Same(t testing.TB, what string, got, want any) {
	t.Helper()
	NewComparison().Same(t, what, got, want)
}

// Comparison compares values that share parts, and compares each pair of parts once. Nothing of them may change meanwhile.
type Comparison struct {
	equal map[parts]bool
	kept  []any // no other value gets the address of one that was compared
}

// parts are two values of one type behind a pointer, or two lists of one length.
type parts struct {
	a, b unsafe.Pointer
	n    int
	t    reflect.Type
}

// NewComparison makes a Comparison that knows no parts.
func NewComparison() *Comparison { return &Comparison{equal: map[parts]bool{}} }

// Same is the function of this name, with what was compared before.
func (c *Comparison) Same(t testing.TB, what string, got, want any) {
	t.Helper()
	c.kept = append(c.kept, got, want)
	if path, differ := c.different(open(reflect.ValueOf(got)), open(reflect.ValueOf(want))); differ {
		t.Fatalf("%s differs at %s", what, path)
	}
}

// known tells whether two parts are one, or are compared already; from now on they are.
func (c *Comparison) known(a, b reflect.Value, n int) bool {
	p := parts{a.UnsafePointer(), b.UnsafePointer(), n, a.Type()}
	if p.a == p.b || c.equal[p] {
		return true
	}
	c.equal[p] = true
	return false
}

// different tells where two values differ.
func (c *Comparison) different(a, b reflect.Value) (path string, differ bool) {
	if a.IsValid() != b.IsValid() || a.IsValid() && a.Type() != b.Type() {
		return fmt.Sprintf(": %v, want %v", a, b), true
	}
	if !a.IsValid() {
		return "", false
	}
	switch a.Kind() {
	case reflect.Pointer:
		if c.known(a, b, 1) {
			return "", false
		}
		return c.different(a.Elem(), b.Elem())
	case reflect.Interface:
		return c.different(open(open(a).Elem()), open(open(b).Elem()))
	case reflect.Struct:
		if a.Type() == reflect.TypeFor[time.Time]() {
			at, want := open(a).Interface().(time.Time), open(b).Interface().(time.Time)
			if !at.Equal(want) {
				return fmt.Sprintf(": %s, want %s", at, want), true
			}
			return "", false
		}
		for i := range a.NumField() {
			if path, differ := c.different(a.Field(i), b.Field(i)); differ {
				return "." + a.Type().Field(i).Name + path, true
			}
		}
		return "", false
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() {
			return fmt.Sprintf(": %d items, want %d", a.Len(), b.Len()), true
		}
		if a.Kind() == reflect.Slice && c.known(a, b, a.Len()) {
			return "", false
		}
		for i := range a.Len() {
			if path, differ := c.different(a.Index(i), b.Index(i)); differ {
				return fmt.Sprintf("[%d]%s", i, path), true
			}
		}
		return "", false
	case reflect.Map:
		if a.Len() != b.Len() {
			return fmt.Sprintf(": %d entries, want %d", a.Len(), b.Len()), true
		}
		a, b = open(a), open(b)
		for it := a.MapRange(); it.Next(); {
			if path, differ := c.different(open(it.Value()), open(b.MapIndex(it.Key()))); differ {
				return fmt.Sprintf("[%v]%s", it.Key(), path), true
			}
		}
		return "", false
	case reflect.Func, reflect.Chan:
		return "", false
	case reflect.Float64:
		differ = a.Float() != b.Float() && !(math.IsNaN(a.Float()) && math.IsNaN(b.Float()))
	default:
		differ = !a.Equal(b)
	}
	if !differ {
		return "", false
	}
	return fmt.Sprintf(": %v, want %v", a, b), true
}

// open makes a value addressable, and one of a private field readable.
func open(v reflect.Value) reflect.Value {
	switch {
	case !v.IsValid():
		return v
	case v.CanAddr():
		return reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
	}
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	return c
}
