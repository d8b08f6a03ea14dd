package wire_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sandglass/backend"
	"sandglass/backend/wire"
)

func TestParseRefuses(t *testing.T) {
	for body, want := range map[string]string{
		``:                                "whole body (byte 0)",
		`   `:                             "empty",
		`{"a":1`:                          "cut off",
		`{"a":1} x`:                       "data after",
		`{"a":1}{"a":1}`:                  "data after",
		`{"w":[{"a":1,"a":2}]}`:           "/w/0/a (byte 13)",
		"{\"a\":\"\xff\"}":                "/a",
		`{"a":01}`:                        "(byte 6)",
		`<html>`:                          "byte 0",
		"{\"x\":\"\u202e\", \"\u202e\":}": "<U+202E>",
	} {
		_, err := wire.Parse([]byte(body))
		if backend.KindOf(err) != backend.ErrInvalid || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%q: got %v, want %q", body, err, want)
		}
	}
}

func TestNodes(t *testing.T) {
	doc, err := wire.Parse([]byte(` { "s" : "a\u00e9\"b" , "n":-1.5e3,"t":true,"z":null,"e":[],"o":{},"a":[ 1 ,[2,{"k":"]}"}], "x" ],"q~/\"":{"State":1} } `))
	if err != nil {
		t.Fatal(err)
	}
	root := doc.Root()
	var names []string
	for name := range root.Members() {
		names = append(names, string(name))
	}
	if want := []string{"s", "n", "t", "z", "e", "o", "a", `q~/"`}; !slices.Equal(names, want) {
		t.Errorf("names %q", names)
	}
	if s, ok := root.Get("s").Text(); !ok || s != `aé"b` {
		t.Errorf("text %q %v", s, ok)
	}
	if f, ok := root.Get("n").Float(); !ok || f != -1500 {
		t.Errorf("number %v %v", f, ok)
	}
	if b, ok := root.Get("t").Bool(); !b || !ok {
		t.Error("bool")
	}
	if !root.Get("z").IsNull() || root.Get("none").Exists() || root.Get("e").Kind() != '[' {
		t.Error("kinds")
	}
	if n := len(slices.Collect(root.Get("a").Elements())); n != 3 {
		t.Errorf("%d elements", n)
	}
	for pointer, want := range map[string]string{
		"/a/1/1/k": `"]}"`, "/a/0": "1", `/q~0~1"`: `{"State":1}`, "/none": "", "/a/9": "", "/s/x": "",
	} {
		n, ok := doc.Find(pointer)
		if ok != (want != "") || ok && string(n.Raw()) != want {
			t.Errorf("%s: got %q %v", pointer, n.Raw(), ok)
		}
	}
	n, _ := doc.Find(`/q~0~1"`)
	if err := n.Expect("state"); err == nil || !strings.Contains(err.Error(), `/q~0~1"/State (byte 115)`) {
		t.Errorf("got %v", err)
	}
	n, _ = doc.Find("/a/1/1/k")
	if err := n.Invalid("odd"); !strings.Contains(err.Error(), "/a/1/1/k (byte ") {
		t.Errorf("got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":"\""}]}`, `[]`, `"x"`, ` null `, `{"a":1}x`, `[[[[{}]]]]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		doc, err := wire.Parse(body)
		if err != nil {
			if backend.KindOf(err) != backend.ErrInvalid {
				t.Fatalf("kind of %v", err)
			}
			return
		}
		walk(t, doc.Root())
	})
}

// walk checks that every part of a valid document is itself valid, so the unchecked scanner cuts at the right places.
func walk(t *testing.T, n wire.Node) {
	if _, err := wire.Parse(n.Raw()); err != nil {
		t.Fatalf("part %q: %v", n.Raw(), err)
	}
	for _, v := range n.Members() {
		walk(t, v)
	}
	for v := range n.Elements() {
		walk(t, v)
	}
}
