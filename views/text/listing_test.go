package text_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/filter"
	"sandglass/views/kit"
	"sandglass/views/subjects"
	"sandglass/views/text"
	"sandglass/views/theme"
)

func workspaces(n int) (subjects.Listing, *views.Snapshot) {
	var rows []*backend.Workspace
	for i := range n {
		w := &backend.Workspace{Named: true, Reported: backend.Text("ready"), LastError: backend.Text("a long error that is cut where there is no room for it, 世界世界世界"),
			LastAttemptAt: backend.Known(noon.Add(-time.Hour)), LastSuccessAt: backend.Known(noon.Add(-time.Hour))}
		w.Key = backend.Key{Kind: backend.KindWorkspace, Source: "a", Parent: backend.MustID("session"), ID: backend.MustID(fmt.Sprintf("w%06d", i))}
		w.ReadAt = noon
		rows = append(rows, w)
	}
	st := state(fleet.StatusOK)
	st.Workspaces = fleet.NewTable(rows...)
	return subjects.Workspaces().Listing(), views.NewSnapshot(noon, st, nil)
}

// TestTableFitsTheTerminal holds that no line is wider than the terminal at any width, and that without a terminal
// nothing is cut.
func TestTableFitsTheTerminal(t *testing.T) {
	l, ctx := workspaces(3)
	for width := 10; width <= 220; width++ {
		for _, wide := range []bool{false, true} {
			var out bytes.Buffer
			o := text.TableOptions{Width: width, Wide: wide, Colour: true, Theme: theme.New(theme.Sixteen, theme.Unicode)}
			if err := text.WriteTable(&out, l, ctx, filter.Filter{}, o); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
			if len(lines) != 4 {
				t.Fatalf("%d lines at width %d", len(lines), width)
			}
			for _, line := range lines {
				if kit.Width(line) > width {
					t.Fatalf("%d cells at width %d: %q", kit.Width(line), width, line)
				}
			}
		}
	}
	var out bytes.Buffer
	if err := text.WriteTable(&out, l, ctx, filter.Filter{}, text.TableOptions{}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "…") || strings.Contains(out.String(), "\x1b") || !strings.Contains(out.String(), "世界世界世界") {
		t.Errorf("without a terminal:\n%s", out.String())
	}
	for w := range ctx.State.Workspaces.All() {
		w.LastError = backend.Clean(strings.Repeat("a long line ", 50)+"its end", 1000)
	}
	out.Reset()
	if err := text.WriteTable(&out, l, ctx, filter.Filter{}, text.TableOptions{Wide: true}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "…") || !strings.Contains(out.String(), "its end") {
		t.Errorf("wide without a terminal:\n%s", out.String())
	}
}

func TestCSVHasEveryColumn(t *testing.T) {
	l, ctx := workspaces(2)
	var out bytes.Buffer
	if err := text.WriteCSV(&out, l, ctx, filter.Filter{}); err != nil {
		t.Fatal(err)
	}
	header, _, _ := strings.Cut(out.String(), "\n")
	for _, h := range l.Heads {
		if got := strings.Contains(","+header+",", ","+h.Name+","); got != (h.Where != subjects.NarrowOnly && h.Where != subjects.WideScreens && h.Where != subjects.Screens) {
			t.Errorf("column %s: in the header is %v", h.Name, got)
		}
	}
}

// TestEveryRowHasJSON holds that what the tables show has a JSON form.
func TestEveryRowHasJSON(t *testing.T) {
	l, ctx := workspaces(5)
	n := 0
	err := text.Matching(l, ctx, filter.Filter{}, func(r subjects.Record) error {
		n++
		row, err := r.JSON()
		if !json.Valid(row) || !strings.Contains(string(row), `"condition":`) {
			t.Errorf("%v: %s", r.Key(), row)
		}
		return err
	})
	if err != nil || n != 5 {
		t.Errorf("%d rows, %v", n, err)
	}
}

func BenchmarkTable100k(b *testing.B) {
	l, ctx := workspaces(100_000)
	b.ReportAllocs()
	for b.Loop() {
		if err := text.WriteTable(io.Discard, l, ctx, filter.Filter{}, text.TableOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
