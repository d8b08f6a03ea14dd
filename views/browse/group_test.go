package browse

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/theme"
)

func grouped(l *List[entry], f *views.Frame, h int) []string {
	lines := l.Render(120, h, f).Lines
	for i := range lines {
		lines[i] = strings.TrimRight(ansi.Strip(lines[i]), " ")
	}
	return lines
}

// Rows are listed by group with a head that counts them, sorted inside their group; the cursor stays on its row.
func TestGroups(t *testing.T) {
	f := &views.Frame{Snapshot: views.NewSnapshot(time.Unix(1, 0), nil, nil), Theme: theme.New(theme.NoColours, theme.ASCII)}
	l := entries(entry{"a", "ready"}, entry{"b", "evicted"}, entry{"c", "ready"}, entry{"d", "evicted"}, entry{"e", ""})
	say := func(text string) string { return l.Update(keys.Intent{Action: keys.Group, Text: text}, f).Say }
	ids := func() string {
		var out []string
		for _, line := range grouped(l, f, 20)[1:] {
			if fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "> ")); len(fields) > 0 {
				out = append(out, fields[0])
			}
		}
		return strings.Join(out, " ")
	}
	l.Update(keys.Intent{Action: keys.Bottom}, f)
	l.Update(keys.Intent{Action: keys.Up}, f)
	l.Update(keys.Intent{Action: keys.Up}, f)
	at := l.Cursor(f)
	if got := say("state"); got != "grouped by state; :group off ends it" || l.Cursor(f) != at {
		t.Errorf("says %q, the cursor is on %v, not %v", got, l.Cursor(f), at)
	}
	if got := ids(); got != "evicted b d ready a c no e" {
		t.Errorf("%q\n%s", got, strings.Join(grouped(l, f, 20), "\n"))
	}
	if head := grouped(l, f, 20)[1]; head != " evicted  2 rows" {
		t.Errorf("head %q", head)
	}
	l.Update(keys.Intent{Action: keys.Sort, Text: "-id"}, f)
	if got := ids(); got != "evicted d b ready c a no e" {
		t.Errorf("sorted the other way round: %q", got)
	}
	l.Update(keys.Intent{Action: keys.SetFilter, Text: "state:ready"}, f)
	if got := ids(); got != "ready c a" || grouped(l, f, 20)[1] != " ready  2 rows" {
		t.Errorf("filtered: %q", got)
	}
	l.Update(keys.Intent{Action: keys.SetFilter}, f)
	for text, want := range map[string]string{"nosuch": `"nosuch" is nothing to group by: a column, or off`, "compose": "have no labels", "label tier": "have no labels", "off": "not grouped any more"} {
		if got := say(text); !strings.Contains(got, want) {
			t.Errorf("%s: says %q, want %q", text, got, want)
		}
	}
	if got := ids(); got != "e d c b a" {
		t.Errorf("the order before comes back: %q", got)
	}
}

// The groups with the worst alerts come first, and keep their order for a while after a key.
func TestTheWorstGroupComesFirst(t *testing.T) {
	now := time.Unix(1000, 0)
	f := &views.Frame{Theme: theme.New(theme.NoColours, theme.ASCII)}
	l := entries(entry{"1", "a"}, entry{"2", "b"}, entry{"3", "c"}, entry{"4", "d"}, entry{"5", "e"}, entry{"6", ""})
	heads := func(named ...string) string { // "3critical": an alert of that severity names row 3
		board := &alerts.Board{}
		for _, x := range named {
			state := alerts.StateFiring
			if strings.HasSuffix(x, "-ended") {
				x, state = strings.TrimSuffix(x, "-ended"), alerts.StateEnded
			}
			board.Alerts = append(board.Alerts, &alerts.Alert{ID: x, Severity: alerts.Severity(x[1:]), State: state,
				Subjects: []alerts.Subject{{Key: backend.Key{Kind: backend.KindWorkspace, Source: "s", ID: backend.MustID(x[:1])}}}})
		}
		f.Snapshot = views.NewSnapshot(now, nil, board)
		var out []string
		for _, line := range grouped(l, f, 30)[1:] {
			if strings.Contains(line, "  1 row") {
				out = append(out, strings.Fields(line)[0])
			}
		}
		return strings.Join(out, " ")
	}
	heads("4critical", "3warning", "5info", "6critical", "2critical-ended")
	l.Update(keys.Intent{Action: keys.Group, Text: "state"}, f)
	if got := heads("4critical", "3warning", "5info", "6critical", "2critical-ended"); got != "d c e a b no" {
		t.Errorf("at first: %s", got)
	}
	now = now.Add(steadyFor)
	l.Update(keys.Intent{Action: keys.Down}, f)
	l.Update(keys.Intent{Action: keys.Down}, f)
	at := l.Cursor(f)
	now = f.Now.Add(steadyFor - time.Second)
	last := []string{"1critical", "4warning"}
	if got := heads(last...); got != "d c e a b no" {
		t.Errorf("a short time after a key: %s", got)
	}
	now = now.Add(time.Second)
	if got := heads(last...); got != "a d b c e no" || l.Cursor(f) != at {
		t.Errorf("after that: %s, the cursor on %v, not %v", got, l.Cursor(f), at)
	}
}

// Rows are grouped by a label that some of them have; else it is said which labels there are.
func TestGroupsByLabel(t *testing.T) {
	f := &views.Frame{Snapshot: views.NewSnapshot(time.Unix(1, 0), nil, nil), Theme: theme.New(theme.NoColours, theme.ASCII)}
	l := entries(entry{"a", "blue"}, entry{"b", ""}, entry{"c", "blue"})
	l.cfg.Set.Labels = func(e entry, _ *views.Snapshot) []backend.Field {
		if e.state == "" {
			return nil
		}
		return []backend.Field{{Name: backend.Text("team"), Value: backend.Clean(e.state, 80)}, {Name: backend.Text("app"), Value: backend.Text("x")}}
	}
	l.Render(120, 20, f)
	say := func(text string) string { return l.Update(keys.Intent{Action: keys.Group, Text: text}, f).Say }
	for text, want := range map[string]string{
		"label tier": "no row has the label tier: there is app, team",
		"compose":    "no row has a compose project: there is app, team",
		"label ":     "write the label's name: label NAME",
	} {
		if got := say(text); got != want || l.groups.by != "" {
			t.Errorf("%s: says %q, not %q; grouped by %q", text, got, want, l.groups.by)
		}
	}
	if got := say("label team"); got != "grouped by label team; :group off ends it" {
		t.Errorf("says %q", got)
	}
	if lines := grouped(l, f, 20); lines[1] != " blue  2 rows" || lines[4] != " no label team  1 row" {
		t.Errorf("%s", strings.Join(lines, "\n"))
	}
}

// Whatever the height, the row under the cursor is in sight below the head of its group, and a click finds it.
func TestGroupsInFewLines(t *testing.T) {
	f := &views.Frame{Snapshot: views.NewSnapshot(time.Unix(1, 0), nil, nil), Theme: theme.New(theme.NoColours, theme.ASCII)}
	var all []entry
	for i := range 30 {
		all = append(all, entry{fmt.Sprintf("row%02d", i), fmt.Sprintf("state%d", i%7)})
	}
	l := entries(all...)
	l.Update(keys.Intent{Action: keys.Group, Text: "state"}, f)
	for h := 3; h < 24; h += 4 {
		l.Update(keys.Intent{Action: keys.Top}, f)
		for i := range all {
			lines := grouped(l, f, h)
			row, head := -1, ""
			for y, line := range lines {
				if strings.HasPrefix(line, " state") {
					head = strings.Fields(line)[0]
				}
				if strings.HasPrefix(line, " >") {
					row = y
					if !strings.HasSuffix(line, head) || head == "" {
						t.Errorf("height %d, row %d is below %q:\n%s", h, i, head, strings.Join(lines, "\n"))
					}
				}
			}
			if at := l.Cursor(f); row < 0 || len(lines) != h || !l.Click(5, row, f) || l.Cursor(f) != at || at == (backend.Key{}) {
				t.Fatalf("height %d: the cursor's row %d is not in sight, or a click misses it:\n%s", h, i, strings.Join(lines, "\n"))
			}
			l.Update(keys.Intent{Action: keys.Down}, f)
		}
	}
}

func stripped(s string) string { return ansi.Strip(s) }
