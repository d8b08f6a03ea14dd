package ui

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"sandglass/views/keys"
)

// docs/keys.md is generated from the table of keys: go test ./ui -run Keys -update
func TestKeysDocumentIsCurrent(t *testing.T) {
	want := keys.Markdown(keys.Bindings(screenNames(screens())))
	const path = "../docs/keys.md"
	if u := flag.Lookup("update"); u != nil && u.Value.String() == "true" {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s is stale (%v); go test ./ui -run Keys -update writes it", path, err)
	}
}

// Every screen has its number key, and numbers of screens that do not exist are not bound.
func TestScreenNumbers(t *testing.T) {
	m := New(Viewer{Now: time.Now}, newFeed(nil, nil))
	defer m.Close()
	have := map[string]bool{}
	for _, s := range m.screens {
		have[fmt.Sprint(s.Number())] = true
	}
	for n := range 10 {
		if in, ok := m.keymap.Lookup(keys.List, fmt.Sprint(n)); ok != have[fmt.Sprint(n)] {
			t.Errorf("%d is bound to %v", n, in)
		}
	}
	for _, s := range m.screens {
		m.open(s.Number())
		if m.screen().Number() != s.Number() {
			t.Errorf("%d does not open %s", s.Number(), s.Name())
		}
	}
}
