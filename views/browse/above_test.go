package browse

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// Lines above rows are drawn where rows are in their own order, are no rows, and never push the cursor out of sight.
func TestLinesAboveRows(t *testing.T) {
	f := &views.Frame{Snapshot: views.NewSnapshot(time.Unix(1, 0), nil, nil), Theme: theme.New(theme.NoColours, theme.ASCII)}
	var all []entry
	for i := range 12 {
		all = append(all, entry{fmt.Sprintf("row%02d", i), fmt.Sprintf("state%d", i)})
	}
	l := entries(all...)
	l.cfg.Above = func(_ *views.Snapshot, e entry) (lines [][]kit.Span) {
		if e.id == "row03" || e.id == "row04" {
			lines = append(lines, []kit.Span{{Text: "deploy before " + e.id}}, []kit.Span{{Text: "restart before " + e.id}})
		}
		return lines
	}
	if got := l.Need(120, f); got != 1+12+4 {
		t.Errorf("needs %d lines", got)
	}
	lines := grouped(l, f, 20)
	at := slices.Index(lines, "   deploy before row03")
	if at < 0 || lines[at+1] != "   restart before row03" || !strings.Contains(lines[at+2], "row03") || l.Click(5, at, f) || !l.Click(5, at+2, f) {
		t.Errorf("%s", strings.Join(lines, "\n"))
	}
	for h := 2; h < 20; h += 3 {
		l.Update(keys.Intent{Action: keys.Top}, f)
		for i := range all {
			lines := grouped(l, f, h)
			row := slices.IndexFunc(lines, func(s string) bool { return strings.HasPrefix(s, " >") })
			if at := l.Cursor(f); row < 0 || len(lines) != h || !l.Click(5, row, f) || l.Cursor(f) != at || at == (backend.Key{}) {
				t.Fatalf("height %d: the cursor's row %d is not in sight:\n%s", h, i, strings.Join(lines, "\n"))
			}
			l.Update(keys.Intent{Action: keys.Down}, f)
		}
	}
	l.Update(keys.Intent{Action: keys.Sort, Text: "id"}, f)
	if got := strings.Join(grouped(l, f, 20), "\n"); strings.Contains(got, "deploy") {
		t.Errorf("sorted:\n%s", got)
	}
}
