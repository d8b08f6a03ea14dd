package backendtest

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// Fill sets everything below a pointer to something random, so that a new field takes part in every test that uses it. A
// type that it does not know, or a field that other packages cannot see, fails the test.
func Fill(t testing.TB, r *rand.Rand, pointer any) {
	t.Helper()
	fill(t, r, reflect.ValueOf(pointer).Elem())
}

// Ran is the observation of a command that was run in a sandbox, whose working directory is missing if it failed.
func Ran(ok bool, what backend.Safe, at time.Time) backend.Observation {
	v := backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, What: what, At: at}
	if !ok {
		v.Outcome, v.Kind = backend.OutcomeFailed, backend.FailWorkDirMissing
	}
	return backend.Observation{Verdicts: []backend.Verdict{v}}
}

// Text is random text with everything that backends have been seen or imagined to write.
func Text(r *rand.Rand) string {
	parts := []string{"agent", "a/b", " ", "", "\x1b]0;x\a", "\xff\xfe", "\u202e", "é", "e\u0301\u0301\u0301", "\u200b", `"\`, "\n", "\x00", "𝕏", "\ufffd", "<U+202E>", "[\"/w==\"]", "null"}
	var b strings.Builder
	for range r.IntN(4) {
		b.WriteString(parts[r.IntN(len(parts))])
	}
	if r.IntN(20) == 0 {
		return strings.Repeat(b.String()+"\u202ex", 600)
	}
	return b.String()
}

func fill(t testing.TB, r *rand.Rand, v reflect.Value) {
	t.Helper()
	switch x := v.Addr().Interface().(type) {
	case *backend.ID:
		*x = randomID(r)
		return
	case *backend.Safe:
		*x = backend.Clean(Text(r), backend.MaxTextRunes)
		return
	case *time.Time:
		*x = time.Time{}
		if r.IntN(4) > 0 {
			*x = time.Unix(1_770_000_000+r.Int64N(1e7), r.Int64N(1e9)).UTC()
		}
		return
	case *backend.Plane:
		*x = backend.Planes()[r.IntN(len(backend.Planes()))]
		return
	case *backend.Outcome:
		*x = []backend.Outcome{backend.OutcomeOK, backend.OutcomeFailed, backend.OutcomeUnknown, backend.OutcomeNotTried}[r.IntN(4)]
		return
	case *backend.Entity:
		t.Fatal("an Entity is no plain value")
	}
	if fillValue(t, r, v) {
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.String:
		v.SetString(Text(r))
	case reflect.Int, reflect.Int64:
		v.SetInt(r.Int64() - math.MaxInt64/2)
	case reflect.Uint64:
		v.SetUint(r.Uint64())
	case reflect.Float64:
		v.SetFloat([]float64{0, math.Copysign(0, -1), 0.1, -3e300, math.Inf(1), r.NormFloat64()}[r.IntN(6)])
	case reflect.Pointer:
		if v.SetZero(); r.IntN(4) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, r, v.Elem())
		}
	case reflect.Slice:
		fillList(t, r, v)
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Field(i).CanSet() {
				t.Fatalf("%s.%s is private: other processes would not learn it", v.Type(), v.Type().Field(i).Name)
			}
			fill(t, r, v.Field(i))
		}
	default:
		t.Fatalf("Fill does not know %s", v.Type())
	}
}

func fillList(t testing.TB, r *rand.Rand, v reflect.Value) {
	t.Helper()
	v.SetZero()
	n := r.IntN(4)
	if n == 3 {
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), n, n))
	for i := range n {
		x := v.Index(i)
		if x.Kind() == reflect.Pointer { // lists of entities hold no nil
			x.Set(reflect.New(x.Type().Elem()))
			x = x.Elem()
		}
		fill(t, r, x)
	}
}

func randomID(r *rand.Rand) backend.ID {
	id, err := backend.NewID(Text(r))
	if err != nil {
		return backend.ID{}
	}
	return id
}

// fillValue fills a backend.Value with one of its outcomes; false when v is none.
func fillValue(t testing.TB, r *rand.Rand, v reflect.Value) bool {
	t.Helper()
	switch x := v.Addr().Interface().(type) {
	case *backend.Value[bool]:
		outcome(t, r, x)
	case *backend.Value[int]:
		outcome(t, r, x)
	case *backend.Value[int64]:
		outcome(t, r, x)
	case *backend.Value[float64]:
		outcome(t, r, x)
	case *backend.Value[time.Time]:
		outcome(t, r, x)
	case *backend.Value[time.Duration]:
		outcome(t, r, x)
	case *backend.Value[backend.Safe]:
		outcome(t, r, x)
	case *backend.Value[backend.Usage]:
		outcome(t, r, x)
	case *backend.Value[backend.Observation]:
		outcome(t, r, x)
	case *backend.Value[backend.LogTail]:
		outcome(t, r, x)
	case *backend.Value[backend.HealthChecks]:
		outcome(t, r, x)
	case *backend.Value[[]backend.Holder]:
		outcome(t, r, x)
	default:
		return false
	}
	return true
}

func outcome[T any](t testing.TB, r *rand.Rand, v *backend.Value[T]) {
	t.Helper()
	switch r.IntN(4) {
	case 0:
		*v = backend.Unknown[T]()
	case 1:
		*v = backend.NotApplicable[T]()
	default:
		var x T
		fill(t, r, reflect.ValueOf(&x).Elem())
		*v = backend.Known(x)
	}
}
