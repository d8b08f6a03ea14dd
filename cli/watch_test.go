package cli

import (
	"strings"
	"testing"
)

// A watched table that is longer than the screen shows its header and first rows, and how many are below.
func TestAWatchedTableShowsItsTop(t *testing.T) {
	table := "ID\n" + strings.Repeat("row\n", 30)
	for _, x := range []struct {
		height, lines int
		says          string
	}{{24, 24, "8 more lines below; "}, {31, 31, "1 more line below; "}, {32, 32, ""}, {100, 32, ""}, {0, 32, ""}, {3, 32, ""}} {
		got := topOf(table, x.height)
		lines := strings.Split(got, "\n")
		if len(lines) != x.lines || lines[0] != "ID" || !strings.HasPrefix(lines[len(lines)-1], x.says) {
			t.Errorf("%d lines high: %d lines, and at the end %q", x.height, len(lines), lines[len(lines)-1])
		}
	}
}
