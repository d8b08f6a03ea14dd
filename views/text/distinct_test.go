package text_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/filter"
	"sandglass/views/subjects"
	"sandglass/views/text"
	"sandglass/views/theme"
)

// TestIdsOfATableAreToldApart: ids that begin alike are not cut alike on a terminal, and no cell is cut in a pipe.
func TestIdsOfATableAreToldApart(t *testing.T) {
	var rows []*backend.Session
	for i := range 12 {
		id := fmt.Sprintf("prod-europe-west-4-agents-of-the-night-%02d-with-a-tail-that-all-share", i)
		rows = append(rows, &backend.Session{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSession, Source: "a", ID: backend.MustID(id)}, ReadAt: noon},
			AnswerText: backend.Text(backend.Literal(strings.Repeat("a long answer ", 30)))})
	}
	st := state(fleet.StatusOK)
	st.Sessions = fleet.NewTable(rows...)
	print := func(width int) []string {
		var out bytes.Buffer
		o := text.TableOptions{Width: width, Theme: theme.New(theme.NoColours, theme.Unicode)}
		if err := text.WriteTable(&out, subjects.Sessions().Listing(), views.NewSnapshot(noon, st, nil), filter.Filter{}, o); err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(out.String()), "\n")[1:]
	}
	seen := map[string]bool{}
	for _, line := range print(80) {
		seen[strings.Fields(line)[0]] = true
	}
	if len(seen) != len(rows) {
		t.Errorf("%d sessions show %d ids:\n%s", len(rows), len(seen), strings.Join(print(80), "\n"))
	}
	for _, line := range print(0) {
		if strings.Contains(line, "…") {
			t.Errorf("a pipe gets %q", line)
		}
	}
}
