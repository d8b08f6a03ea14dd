package backendtest

import (
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"
)

// Same fails the test at the first part in which two values differ, private fields included. No list is as good as an
// empty one, a time is the same in another zone, and zero has no sign.
func Same(t testing.TB, what string, got, want any) {
	t.Helper()
	if path, differ := different(reflect.ValueOf(got), reflect.ValueOf(want), map[[2]uintptr]bool{}); differ {
		t.Fatalf("%s differs at %s", what, path)
	}
}

// different tells where two values differ; seen are pairs of pointers that are compared already.
func different(a, b reflect.Value, seen map[[2]uintptr]bool) (path string, differ bool) {
	if a.IsValid() != b.IsValid() || a.IsValid() && a.Type() != b.Type() {
		return fmt.Sprintf(": %v, want %v", a, b), true
	}
	if !a.IsValid() {
		return "", false
	}
	a, b = open(a), open(b)
	if at, ok := a.Interface().(time.Time); ok {
		if want := b.Interface().(time.Time); !at.Equal(want) {
			return fmt.Sprintf(": %s, want %s", at, want), true
		}
		return "", false
	}
	switch a.Kind() {
	case reflect.Pointer:
		pair := [2]uintptr{a.Pointer(), b.Pointer()}
		if pair[0] == pair[1] || seen[pair] {
			return "", false
		}
		seen[pair] = true
		return different(a.Elem(), b.Elem(), seen)
	case reflect.Interface:
		return different(a.Elem(), b.Elem(), seen)
	case reflect.Struct:
		for i := range a.NumField() {
			if path, differ := different(a.Field(i), b.Field(i), seen); differ {
				return "." + a.Type().Field(i).Name + path, true
			}
		}
		return "", false
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() {
			return fmt.Sprintf(": %d items, want %d", a.Len(), b.Len()), true
		}
		for i := range a.Len() {
			if path, differ := different(a.Index(i), b.Index(i), seen); differ {
				return fmt.Sprintf("[%d]%s", i, path), true
			}
		}
		return "", false
	case reflect.Map:
		if a.Len() != b.Len() {
			return fmt.Sprintf(": %d entries, want %d", a.Len(), b.Len()), true
		}
		for it := a.MapRange(); it.Next(); {
			if path, differ := different(it.Value(), b.MapIndex(it.Key()), seen); differ {
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
	if !v.CanAddr() {
		c := reflect.New(v.Type()).Elem()
		c.Set(v)
		return c
	}
	return reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
}
