package browse

import (
	"iter"
	"slices"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/subjects"
	"sandglass/views/theme"
)

type entry struct{ id, state string }

func entries(rows ...entry) *List[entry] {
	col := func(name, title string, get func(entry) string) subjects.Column[entry] {
		return subjects.Column[entry]{Name: name, Title: title, Min: 6, Ideal: 8,
			Cell: func(e entry, _ *views.Snapshot) subjects.Cell { return subjects.Cell{Text: backend.Clean(get(e), 80)} },
			Sort: func(e entry, _ *views.Snapshot) subjects.SortKey { return subjects.SortKey{Text: get(e)} }}
	}
	standIn := col("narrow", "STATE", func(e entry) string { return e.state })
	standIn.Where = subjects.NarrowOnly
	return New(Config[entry]{Set: &subjects.Set[entry]{
		Rows: func(*fleet.State, *alerts.Board) iter.Seq[entry] { return slices.Values(rows) },
		Key: func(e entry) backend.Key {
			return backend.Key{Kind: backend.KindWorkspace, Source: "s", ID: backend.MustID(e.id)}
		},
		Text:    func(e entry) string { return e.id + " " + e.state },
		Columns: []subjects.Column[entry]{col("id", "ID", func(e entry) string { return e.id }), col("state", "STATE", func(e entry) string { return e.state }), standIn},
	}})
}

func TestSuggestions(t *testing.T) {
	f := &views.Frame{Snapshot: views.NewSnapshot(time.Unix(1, 0), nil, nil), Theme: theme.New(theme.NoColours, theme.ASCII)}
	for typed, want := range map[string][]string{
		"":              {"id:", "state:"},
		"st":            {"state:"},
		"!st":           {"!state:"},
		"nosuch":        nil,
		"nosuch:":       nil,
		"state:":        {"state:failed ", "state:'at rest' "},
		"x !state=F":    {"x !state=failed "},
		"state:failed":  nil,
		"state:failed ": {"state:failed id:", "state:failed state:"},
	} {
		l := entries(entry{"a", "failed"}, entry{"b", "failed"}, entry{"c", "at rest"})
		l.Update(keys.Intent{Action: keys.SetFilter, Text: typed}, f)
		var got []string
		for _, s := range l.Suggest(f) {
			got = append(got, s.Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("after %q: got %q, want %q", typed, got, want)
		}
	}
}

// A field that does not exist hides no row: the terms before it stay in force.
func TestAMistakeHidesNothing(t *testing.T) {
	f := &views.Frame{Snapshot: views.NewSnapshot(time.Unix(1, 0), nil, nil), Theme: theme.New(theme.NoColours, theme.ASCII)}
	l := entries(entry{"a", "failed"}, entry{"b", "failed"}, entry{"c", "ready"})
	for typed, want := range map[string]int{"foo": 0, "foo:bar": 3, "failed foo:bar": 2, "state:failed": 2} {
		l.Update(keys.Intent{Action: keys.SetFilter, Text: typed}, f)
		if got := l.table.Len(); got != want {
			what, _ := l.FilterProblem()
			t.Errorf("%q: %d rows, want %d (%s)", typed, got, want, what)
		}
	}
}
