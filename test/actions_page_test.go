package test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"sandglass/actions"
	"sandglass/actions/audit"
	"sandglass/actions/operator"
)

const (
	actionsPage = "docs/actions.md"
	verbsBegin  = "-update -->\n"
	verbsEnd    = "<!-- /verbs -->"
	// What a Spec that says nothing means, by its own documentation.
	defaultMost  = 1000
	defaultSpeed = 60
)

// verbTable lists what this program can do, as the kinds declare it.
func verbTable() string {
	var b strings.Builder
	b.WriteString("\n| Source | Verb | Of | Effect | Undo | Confirmation | Limit | A minute |\n|---|---|---|---|---|---|---|---|\n")
	for _, k := range effects() {
		for _, s := range k.Specs {
			undo, limit, speed := s.Undo, "a quarter", s.PerMinute
			if undo == "" {
				undo = "none"
			}
			if s.Cap == actions.CapAbsolute {
				if limit = fmt.Sprint(s.Most); s.Most <= 0 {
					limit = fmt.Sprint(defaultMost)
				}
			}
			if speed <= 0 {
				speed = defaultSpeed
			}
			gesture := map[actions.Gesture]string{actions.GestureTwice: "twice", actions.GestureYes: "yes", actions.GestureName: "name", actions.GestureCount: "count"}[s.Gesture]
			fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s | %s | %s | %d |\n", k.Name, s.Verb, s.Of, s.Effect, undo, gesture, limit, speed)
		}
	}
	return b.String() + "\n"
}

// TestActionsPage holds that docs/actions.md lists the verbs as they are declared, and explains every result, word and
// gesture. go test ./test -run TestActionsPage -update rewrites the table.
func TestActionsPage(t *testing.T) {
	have, err := os.ReadFile(actionsPage)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(have), verbsBegin)
	_, tail, ok2 := strings.Cut(rest, verbsEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has lost the marks of its table", actionsPage)
	}
	want := head + verbsBegin + verbTable() + verbsEnd + tail
	if *update {
		if err := os.WriteFile(actionsPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want != string(have) && !*update {
		t.Errorf("%s is stale; run go test ./test -run TestActionsPage -update", actionsPage)
	}
	for _, r := range audit.Results() {
		if !strings.Contains(want, fmt.Sprintf("\n| %s | ", r)) {
			t.Errorf("%s does not explain the result %q", actionsPage, r)
		}
	}
	for _, word := range []string{actions.WordCauseFixed, actions.WordAddsOpens, actions.WordEvidenceSaved} {
		if !strings.Contains(want, "| `"+word+"` |") {
			t.Errorf("%s does not name the word %q", actionsPage, word)
		}
	}
	for _, e := range operator.Examples() {
		if !strings.Contains(want, e.Name) {
			t.Errorf("%s does not name the example %s", actionsPage, e.Name)
		}
	}
}
