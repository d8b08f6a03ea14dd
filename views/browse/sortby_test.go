package browse

import (
	"strings"
	"testing"
	"time"

	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/theme"
)

// A column is sorted by at once, also by the beginning of its name; a name that fits none or several changes nothing.
func TestSortByAColumn(t *testing.T) {
	f := &views.Frame{Snapshot: views.NewSnapshot(time.Unix(1, 0), nil, nil), Theme: theme.New(theme.NoColours, theme.ASCII)}
	for _, c := range []struct{ by, order, say string }{
		{"state", "b c a", "sorted by state"},
		{"-state", "a c b", "sorted by state"},
		{"ST", "b c a", "sorted by state"},
		{"-id", "c b a", "sorted by id"},
		{"nosuch", "a b c", `"nosuch" is not the name of one column: id, state`},
		{"narrow", "a b c", `"narrow" is not the name of one column: id, state`},
		{"-", "a b c", `"" is not the name of one column: id, state`},
	} {
		l := entries(entry{"a", "ready"}, entry{"b", "evicted"}, entry{"c", "failed"})
		out := l.Update(keys.Intent{Action: keys.Sort, Text: c.by}, f)
		var got []string
		rows, _, _ := l.table.Window(10)
		for _, r := range rows {
			got = append(got, r.Row.id)
		}
		if s := strings.Join(got, " "); s != c.order || out.Say != c.say {
			t.Errorf("%s: %s, %q; want %s, %q", c.by, s, out.Say, c.order, c.say)
		}
	}
}
