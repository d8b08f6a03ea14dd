package ui

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/views/keys"
)

// docs/keys.md is generated from the table of keys: go test ./ui -run Keys -update
func TestKeysDocumentIsCurrent(t *testing.T) {
	want := keysMarkdown(keys.Bindings(screenNames(screens())))
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

// moves are listed once for all places.
var moves = []struct {
	action keys.Action
	name   string
}{{keys.Up, "up"}, {keys.Down, "down"}, {keys.PageUp, "one page up"}, {keys.PageDown, "one page down"}, {keys.Top, "first"}, {keys.Bottom, "last"}}

func moving(b keys.Binding) bool {
	for _, m := range moves {
		if b.Intent.Action == m.action && b.Context != keys.FilterLine {
			return true
		}
	}
	return false
}

// movedBy are the keys of an action of movement, the usual ones first.
func movedBy(bindings []keys.Binding, action keys.Action) []string {
	var out []string
	for _, b := range bindings {
		for _, k := range b.Keys() {
			if moving(b) && b.Intent.Action == action && !slices.Contains(out, k) {
				out = append(out, k)
			}
		}
	}
	return out
}

// keysMarkdown is docs/keys.md. A key that does the same in several places is listed once, with all of them.
func keysMarkdown(bindings []keys.Binding) string {
	contexts := keys.Contexts()
	line := func(b keys.Binding) string {
		names := b.Keys()
		if len(names) == 0 {
			names = []string{b.Help().Key} // of the palette
		}
		return fmt.Sprintf("- `%s` %s\n", strings.Join(names, "`, `"), strings.TrimSuffix(b.Help().Desc, "; the plan is shown first"))
	}
	places := map[string][]string{}
	for _, c := range contexts {
		for _, b := range bindings {
			if b.Context == c {
				places[line(b)] = append(places[line(b)], c.Name())
			}
		}
	}
	var s strings.Builder
	s.WriteString("# Keys\n\nAfter this page you know every key. `?` shows those of the place where you are. A verb shows its plan first. `[keys.PLACE]` of the configuration changes keys; the example has every name. A test writes this page from the table in `views/keys`.\n")
	s.WriteString("\n## Moving\n\nIn dialogs and text fields some of these keys type or do something else: see `?`.\n\n")
	for _, m := range moves {
		fmt.Fprintf(&s, "- %s: `%s`\n", m.name, strings.Join(movedBy(bindings, m.action), "`, `"))
	}
	shared := map[string][]string{} // by the places
	for _, c := range contexts {
		fmt.Fprintf(&s, "\n## %s\n\n", c.Name())
		for _, b := range bindings {
			l := line(b)
			switch in := places[l]; {
			case b.Context != c || moving(b):
			case len(in) == 1:
				s.WriteString(l)
			case in[0] == c.Name():
				key := strings.Join(in, ", ")
				shared[key] = append(shared[key], l)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(shared)) {
		fmt.Fprintf(&s, "\n## Shared: %s\n\n%s", key, strings.Join(shared[key], ""))
	}
	return s.String()
}

func TestMarkdownHasEveryKey(t *testing.T) {
	table := keys.Bindings(screenNames(screens()))
	doc := keysMarkdown(table)
	for _, b := range table {
		if name := strings.Fields(b.Help().Key)[0]; !strings.Contains(doc, "`"+name+"`") {
			t.Errorf("%s is missing", name)
		}
	}
}

// A key that stands for a command does on the screen what the command does.
func TestKeysOfCommands(t *testing.T) {
	table := keys.NewMap(keys.Bindings(screenNames(screens())))
	of := CommandKeys()
	for command, want := range map[string]keys.Intent{
		"why": {Action: keys.Enter}, "bundle": {Action: keys.Bundle}, "rescue": {Action: keys.Verbs},
		"repair": {Action: keys.Act, Text: "repair"}, "get ws": {Action: keys.Screen, N: 2}, "get events": {Action: keys.Screen, N: 8}, "get sources": {Action: keys.Screen, N: 9},
	} {
		if got, is := table.Lookup(keys.List, of[command]); !is || got != want {
			t.Errorf("%s: the key %q asks for %v", command, of[command], got)
		}
	}
	if of["clean"] != "7, mark rows, then C" {
		t.Errorf("clean: %q", of["clean"])
	}
	if of["prove"] != ":prove" || len(of) < 20 {
		t.Errorf("%d keys, of prove %q", len(of), of["prove"])
	}
}
