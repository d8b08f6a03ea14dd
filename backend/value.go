package backend

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// Value is a reading that may be known, unknown or not applicable. The zero Value is unknown: a value that was not set is
// never healthy and never zero.
type Value[T any] struct {
	v     T
	state valueState
}

type valueState uint8

const (
	stateUnknown valueState = iota
	stateKnown
	stateNotApplicable
)

// Known wraps a value that was read.
func Known[T any](v T) Value[T] { return Value[T]{v: v, state: stateKnown} }

// Unknown is a value that could not be read.
func Unknown[T any]() Value[T] { return Value[T]{} }

// NotApplicable is a value that does not exist for its subject.
func NotApplicable[T any]() Value[T] { return Value[T]{state: stateNotApplicable} }

// Get returns the value and whether it is known.
func (v Value[T]) Get() (T, bool) { return v.v, v.state == stateKnown }

// Or returns the value, or def when it is not known.
func (v Value[T]) Or(def T) T {
	if v.state == stateKnown {
		return v.v
	}
	return def
}

// IsKnown reports whether the value was read.
func (v Value[T]) IsKnown() bool { return v.state == stateKnown }

// IsNotApplicable reports whether the subject cannot have this value.
func (v Value[T]) IsNotApplicable() bool { return v.state == stateNotApplicable }

// IsZero makes `json:",omitzero"` leave out what is not applicable; unknown is written as null.
func (v Value[T]) IsZero() bool { return v.state == stateNotApplicable }

// MarshalJSON writes the value, or null when it is unknown.
func (v Value[T]) MarshalJSON() ([]byte, error) {
	if v.state != stateKnown {
		return []byte("null"), nil
	}
	return json.Marshal(v.v)
}

// UnmarshalJSON reads null as unknown.
func (v *Value[T]) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*v = Value[T]{}
		return nil
	}
	var x T
	if err := json.Unmarshal(b, &x); err != nil {
		return err
	}
	*v = Known(x)
	return nil
}

// outcome and setOutcome serve the JSON form of an Answer, which distinguishes the three outcomes.
func (v Value[T]) outcome() (valueState, any) { return v.state, v.v }

func (v *Value[T]) setOutcome(s valueState) any {
	v.state = s
	return &v.v
}

// EpochTime reads seconds, milliseconds, microseconds or nanoseconds since 1970, distinguished by their size. A number below
// lowest is no time.
func EpochTime(s string, lowest float64) (time.Time, bool) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || f < lowest || f > 4e18 {
		return time.Time{}, false
	}
	switch {
	case f < 1e11:
		return time.UnixMicro(int64(f * 1e6)), true
	case f < 1e14:
		return time.UnixMicro(int64(f * 1e3)), true
	case f < 1e17:
		return time.UnixMicro(int64(f)), true
	}
	return time.Unix(0, int64(f)), true
}
