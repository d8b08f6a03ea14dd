package browse

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/subjects"
	"sandglass/views/theme"
)

// Sandboxes that are alike in the column stand by their names, and sessions by their ids, whatever source lists them; in the
// natural order and turned round, too.
func TestEqualsStandByWhatPeopleCallThem(t *testing.T) {
	meta := func(k backend.Kind, source, id string) backend.Meta {
		return backend.Meta{Key: backend.Key{Kind: k, Source: source, ID: backend.MustID(id)}}
	}
	box := func(source, id, name string) *backend.Sandbox {
		return &backend.Sandbox{Meta: meta(backend.KindSandbox, source, id), Name: backend.Clean(name, 80), Reported: backend.Text("running")}
	}
	st := &fleet.State{Number: 1, Sandboxes: fleet.NewTable(box("a", "1", "web-10"), box("a", "2", "web-9"), box("b", "3", "db-1"), box("b", "4", ""))}
	st.Sessions = fleet.NewTable(
		&backend.Session{Meta: meta(backend.KindSession, "a", "s-9")}, &backend.Session{Meta: meta(backend.KindSession, "b", "s-1")})
	f := &views.Frame{Snapshot: views.NewSnapshot(time.Unix(1, 0), st, nil), Theme: theme.New(theme.NoColours, theme.ASCII), Summary: &views.Summary{}}
	boxes := New(Config[*backend.Sandbox]{Set: subjects.Sandboxes(), Kinds: []backend.Kind{backend.KindSandbox}, Follows: true})
	for _, c := range []struct {
		by      string
		turn    bool
		ids     string
		natural bool
	}{
		{by: "reported", ids: "4 3 2 1"},
		{by: "-reported", ids: "4 3 2 1"},
		{natural: true, ids: "4 3 2 1"},
		{natural: true, turn: true, ids: "1 2 3 4"},
	} {
		if c.natural {
			boxes.sort, boxes.reverse = -1, c.turn
			boxes.sortRows()
		} else {
			boxes.Update(keys.Intent{Action: keys.Sort, Text: c.by}, f)
		}
		boxes.sync(f)
		if got := ids(boxes); got != c.ids {
			t.Errorf("by %q, turned %v: %s, want %s", c.by, c.turn, got, c.ids)
		}
	}
	sessions := New(Config[*backend.Session]{Set: subjects.Sessions(), Kinds: []backend.Kind{backend.KindSession}, Follows: true})
	sessions.sync(f)
	if got := ids(sessions); got != "s-1 s-9" {
		t.Errorf("sessions: %s", got)
	}
}

func ids[R any](l *List[R]) string {
	var all []string
	rows, _, _ := l.table.Window(20)
	for _, r := range rows {
		all = append(all, l.cfg.Set.Key(r.Row).ID.Raw())
	}
	return strings.Join(all, " ")
}
