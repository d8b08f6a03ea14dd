package backend_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
)

// What an Answer holds is the same after it was written as JSON and read again, every field of it.
func TestAnAnswerLosesNothingInJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	for range 300 {
		var a, b backend.Answer
		backendtest.Fill(t, r, &a)
		raw, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &b); err != nil {
			t.Fatalf("%v: %s", err, raw)
		}
		if !reflect.DeepEqual(a, b) {
			backendtest.Same(t, "the answer that was read again", b, a)
			t.Fatalf("an empty list and no list are mixed up: %s", raw)
		}
	}
}

func TestAnAnswerKeepsZonesAndDropsMonotonicTime(t *testing.T) {
	at := time.Now().In(time.FixedZone("", 7200))
	raw, err := json.Marshal(backend.Answer{Next: at})
	if err != nil {
		t.Fatal(err)
	}
	var b backend.Answer
	if err := json.Unmarshal(raw, &b); err != nil || b.Next.Format(time.RFC3339Nano) != at.Format(time.RFC3339Nano) {
		t.Errorf("%s: read again %s, %v; want %s", raw, b.Next, err, at)
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	for _, raw := range []string{``, `[`, `{"Source"`, `{"Source":1}`, `{"Source":["?"]}`, `{"Reading":[1]}`, `{"Reading":{"Sandboxes":[{"ExitCode":["x"]}]}}`,
		`{"Next":"noon"}`, `{"More":2}`, `{"Load":{"Requests":"x"}}`, `{"Proved":{"Sandbox":{"ID":{}}}}`} {
		var a backend.Answer
		if err := a.UnmarshalJSON([]byte(raw)); err == nil {
			t.Errorf("%s was read as %+v", raw, a)
		}
	}
	var a backend.Answer
	if err := a.UnmarshalJSON([]byte(`{"Later":{"x":[1]},"Source":"s"}`)); err != nil || a.Source != "s" {
		t.Errorf("an unknown member: %v, %+v", err, a)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"Source":"s","Reading":{"Sandboxes":[{"Meta":{"Key":{"ID":["/w=="]}},"ExitCode":[],"Usage":[{"CPU":["0.5"]}]}]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var a, b backend.Answer
		if a.UnmarshalJSON(raw) != nil {
			return
		}
		again, err := a.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if err := b.UnmarshalJSON(again); err != nil {
			t.Fatalf("%v: %s", err, again)
		}
		third, _ := b.MarshalJSON()
		if string(again) != string(third) {
			t.Errorf("%s\nbecame %s", again, third)
		}
	})
}
