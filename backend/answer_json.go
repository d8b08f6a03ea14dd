package backend

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// The JSON form of an Answer loses nothing, unlike the documents that commands print: it tells an unknown Value from one
// that is not applicable, an empty list from none, and keeps identifiers that are not UTF-8. Members have the names of
// the Go fields, those that are zero are left out. It may hold what a Ref saved, credentials too.

// MarshalJSON writes the Answer in one line.
func (a Answer) MarshalJSON() ([]byte, error) { return appendLossless(nil, reflect.ValueOf(a)) }

// UnmarshalJSON reads what MarshalJSON wrote. Members that it does not know are skipped.
func (a *Answer) UnmarshalJSON(b []byte) error {
	*a = Answer{}
	return readLossless(jsontext.NewDecoder(bytes.NewReader(b)), reflect.ValueOf(a).Elem())
}

func appendLossless(b []byte, v reflect.Value) ([]byte, error) {
	switch x := v.Interface().(type) {
	case ID:
		return appendText(b, x.raw), nil
	case Safe:
		return appendText(b, x.s), nil
	case time.Time:
		return appendText(b, x.Format(time.RFC3339Nano)), nil
	case interface{ outcome() (valueState, any) }:
		state, known := x.outcome()
		switch state {
		case stateUnknown:
			return append(b, "null"...), nil
		case stateNotApplicable:
			return append(b, "[]"...), nil
		case stateKnown:
		}
		b, err := appendLossless(append(b, '['), reflect.ValueOf(known))
		return append(b, ']'), err
	}
	switch v.Kind() {
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool()), nil
	case reflect.String:
		return appendText(b, v.String()), nil
	case reflect.Int, reflect.Int64:
		return strconv.AppendInt(b, v.Int(), 10), nil
	case reflect.Uint64:
		return strconv.AppendUint(b, v.Uint(), 10), nil
	case reflect.Float64: // as text, since JSON has no number that is infinite or none
		return appendText(b, strconv.FormatFloat(v.Float(), 'g', -1, 64)), nil
	case reflect.Pointer:
		if v.IsNil() {
			return append(b, "null"...), nil
		}
		return appendLossless(b, v.Elem())
	case reflect.Slice:
		return appendList(b, v)
	case reflect.Struct:
		return appendFields(b, v)
	default:
		return b, fmt.Errorf("an Answer cannot hold a %s", v.Type())
	}
}

// appendText quotes text. What is not UTF-8 is written as a list with its bytes in base64.
func appendText(b []byte, s string) []byte {
	if utf8.ValidString(s) {
		return append(b, QuoteJSON(s)...)
	}
	b = base64.StdEncoding.AppendEncode(append(b, `["`...), []byte(s))
	return append(b, `"]`...)
}

func appendList(b []byte, v reflect.Value) (_ []byte, err error) {
	if v.IsNil() {
		return append(b, "null"...), nil
	}
	b = append(b, '[')
	for i := range v.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendLossless(b, v.Index(i)); err != nil {
			return b, err
		}
	}
	return append(b, ']'), nil
}

func appendFields(b []byte, v reflect.Value) (_ []byte, err error) {
	b = append(b, '{')
	first := len(b)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			continue
		}
		if len(b) > first {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), v.Type().Field(i).Name...), `":`...)
		if b, err = appendLossless(b, v.Field(i)); err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}

func readLossless(d *jsontext.Decoder, v reflect.Value) error {
	switch x := v.Addr().Interface().(type) {
	case *ID:
		return readText(d, func(s string) error { x.raw = s; return nil })
	case *Safe:
		return readText(d, func(s string) error { *x = Clean(s, 2*MaxTextRunes); return nil })
	case *time.Time:
		return readText(d, func(s string) (err error) { *x, err = time.Parse(time.RFC3339Nano, s); return err })
	case interface{ setOutcome(valueState) any }:
		return readValue(d, x)
	}
	switch v.Kind() {
	case reflect.String:
		return readText(d, func(s string) error { v.SetString(s); return nil })
	case reflect.Float64:
		return readText(d, func(s string) error {
			n, err := strconv.ParseFloat(s, 64)
			v.SetFloat(n)
			return err
		})
	case reflect.Pointer:
		if d.PeekKind() == 'n' {
			return d.SkipValue()
		}
		v.Set(reflect.New(v.Type().Elem()))
		return readLossless(d, v.Elem())
	case reflect.Slice:
		return readList(d, v)
	case reflect.Struct:
		return readFields(d, v)
	}
	return readNumber(d, v)
}

// readNumber reads a number or a Boolean.
func readNumber(d *jsontext.Decoder, v reflect.Value) (err error) {
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	var b bool
	var i int64
	var u uint64
	switch v.Kind() {
	case reflect.Bool:
		b, err = strconv.ParseBool(string(raw))
		v.SetBool(b)
	case reflect.Int, reflect.Int64:
		i, err = strconv.ParseInt(string(raw), 10, 64)
		v.SetInt(i)
	case reflect.Uint64:
		u, err = strconv.ParseUint(string(raw), 10, 64)
		v.SetUint(u)
	default:
		err = fmt.Errorf("an Answer cannot hold a %s", v.Type())
	}
	return err
}

func readText(d *jsontext.Decoder, set func(string) error) error {
	if d.PeekKind() != '[' {
		t, err := d.ReadToken()
		if err == nil && t.Kind() != '"' {
			err = fmt.Errorf("%s where text belongs", t.Kind())
		}
		if err != nil {
			return err
		}
		return set(t.String())
	}
	return readItems(d, func() error {
		return readText(d, func(s string) error {
			raw, err := base64.StdEncoding.DecodeString(s)
			if err != nil {
				return err
			}
			return set(string(raw))
		})
	})
}

func readValue(d *jsontext.Decoder, v interface{ setOutcome(valueState) any }) error {
	if d.PeekKind() == 'n' {
		return d.SkipValue()
	}
	v.setOutcome(stateNotApplicable)
	return readItems(d, func() error { return readLossless(d, reflect.ValueOf(v.setOutcome(stateKnown)).Elem()) })
}

func readList(d *jsontext.Decoder, v reflect.Value) error {
	if d.PeekKind() == 'n' {
		return d.SkipValue()
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	return readItems(d, func() error {
		x := reflect.New(v.Type().Elem()).Elem()
		err := readLossless(d, x)
		v.Set(reflect.Append(v, x))
		return err
	})
}

func readFields(d *jsontext.Decoder, v reflect.Value) error {
	return readItems(d, func() error {
		t, err := d.ReadToken()
		if err != nil {
			return err
		}
		name := t.String()
		if f := v.FieldByName(name); f.IsValid() && f.CanSet() {
			if err := readLossless(d, f); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		}
		return d.SkipValue()
	})
}

// readItems reads an array or an object; item reads an element, or a name and its value.
func readItems(d *jsontext.Decoder, item func() error) error {
	t, err := d.ReadToken()
	if err != nil {
		return err
	}
	if t.Kind() != '[' && t.Kind() != '{' {
		return fmt.Errorf("%s where a list or an object belongs", t.Kind())
	}
	for d.PeekKind() != ']' && d.PeekKind() != '}' {
		if err := item(); err != nil {
			return err
		}
	}
	_, err = d.ReadToken()
	return err
}
