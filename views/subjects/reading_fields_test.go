package subjects

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/theme"
)

// folded folds readings of one workspace, one a minute, and returns a frame of the last State.
func folded(t *testing.T, rows int, readings ...*backend.Workspace) *views.Frame {
	t.Helper()
	f := fleet.NewFolder(time.Hour)
	var st *fleet.State
	start := noon.Add(-time.Duration(len(readings)) * time.Minute)
	for i, w := range readings {
		at := start.Add(time.Duration(i+1) * time.Minute)
		all := []*backend.Workspace{w}
		for n := range rows {
			all = append(all, &backend.Workspace{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindWorkspace, Source: "helix", Parent: backend.MustID("other"), ID: backend.MustID(strings.Repeat("x", n+1))}}})
		}
		a := backend.Answer{Source: "helix", Started: backend.Instant{Wall: at}, Ended: backend.Instant{Wall: at}, Reading: &backend.Reading{Source: "helix", Kind: "helix", Schema: backend.ReadingSchema, At: at, Workspaces: all}}
		if i == 0 {
			a.Config = &backend.SourceConfig{}
		}
		st = f.Fold([]backend.Answer{a}, backend.Instant{Wall: at})
	}
	return &views.Frame{Snapshot: views.NewSnapshot(noon, st, &alerts.Board{}), Theme: theme.New(theme.NoColours, theme.ASCII)}
}

// One subject is compared field by field: with the reading of 30 minutes before, and with the one before the newest.
func TestTwoReadingsOfASubject(t *testing.T) {
	key := backend.Key{Kind: backend.KindWorkspace, Source: "helix", Parent: backend.MustID("s-1"), ID: backend.MustID("repo")}
	ws := func(state, failed string) *backend.Workspace {
		return &backend.Workspace{Meta: backend.Meta{Key: key}, Reported: backend.Clean(state, 20), LastError: backend.Clean(failed, 20)}
	}
	var readings []*backend.Workspace
	for i := range 40 {
		readings = append(readings, ws("docker", map[bool]string{true: "disk full", false: "no route"}[i%2 == 0]))
	}
	readings = append(readings, ws("e2b", "disk full"))
	doc, _ := Differs(key, folded(t, 0, readings...))
	text := plainText(doc)
	for _, want := range []string{"reported  docker > e2b", "Differs from the reading of 11:59:00Z, 1m ago", "last error  no route > disk full"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not told:\n%s", want, text)
		}
	}
	if n := strings.Count(text, "Differs from the reading of"); n != 2 {
		t.Errorf("%d readings are compared, want that of half an hour before and the last:\n%s", n, text)
	}
	for _, not := range []string{"read_at", "rev ", "history"} {
		if strings.Contains(text, not) {
			t.Errorf("%q is told:\n%s", not, text)
		}
	}
	doc, _ = Differs(key, folded(t, 0, ws("docker", ""), ws("docker", "")))
	if text := plainText(doc); !strings.Contains(text, "says the same") || strings.Contains(text, "Differs from") {
		t.Errorf("equal readings:\n%s", text)
	}
	doc, _ = Differs(key, folded(t, fleet.MostEarlier, ws("docker", ""), ws("e2b", "")))
	if text := plainText(doc); !strings.Contains(text, "of up to 2,000 workspaces; here are 2,001") || strings.Contains(text, "Differs from") {
		t.Errorf("a large fleet:\n%s", text)
	}
}

// What differs at each reading hides nothing: times, live figures and texts with another id are named after the rest, without values.
func TestWhatPassesComesLast(t *testing.T) {
	key := backend.Key{Kind: backend.KindWorkspace, Source: "helix", Parent: backend.MustID("s-1"), ID: backend.MustID("repo")}
	ws := func(state, failed string, m int) *backend.Workspace {
		return &backend.Workspace{Meta: backend.Meta{Key: key}, Reported: backend.Clean(state, 20), LastError: backend.Clean(failed, 80), LastAttemptAt: backend.Known(noon.Add(time.Duration(m) * time.Minute))}
	}
	for _, c := range []struct {
		was, now  *backend.Workspace
		told, not []string
	}{
		{ws("docker", "bucket backup-0a1b2c3d is missing", -9), ws("e2b", "bucket backup-99ffee01 is missing", -1),
			[]string{"reported  docker > e2b", "and in times, live figures or ids: last attempt at, last error"}, []string{"0a1b2c3d", "last_attempt_at", "11:51"}},
		{ws("agent 0.9.1", "no route", -9), ws("agent 0.9.2", "disk full", -9), []string{"reported  agent 0.9.1 > agent 0.9.2", "last error  no route > disk full"}, []string{"live figures"}},
	} {
		doc, _ := Differs(key, folded(t, 0, c.was, c.now))
		text := plainText(doc)
		for _, want := range c.told {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not told:\n%s", want, text)
			}
		}
		for _, not := range c.not {
			if strings.Contains(text, not) {
				t.Errorf("%q is told:\n%s", not, text)
			}
		}
	}
}

func TestLeavesGoByTheNameOfAnElement(t *testing.T) {
	was := leaves([]byte(`{"labels":[{"name":"a","value":"1"}],"n":1,"x":null,"cpu":0.0123456,"read_at":"y","o":{"at":"t","b":true}}`), "read_at")
	now := leaves([]byte(`{"labels":[{"name":"b","value":"2"},{"name":"a","value":"1"}],"n":2,"cpu":0.01236,"x":null,"o":{"at":"u","b":true}}`))
	got := (&writer{f: &views.Frame{Snapshot: &views.Snapshot{Now: noon}}}).fieldsThatDiffer(was, now)
	want := []fieldDifference{{"cpu", "0.01235", "0.01236", false}, {"n", "1", "2", false}, {"labels.b.value", absentField, "2", false}}
	if len(got) != len(want) {
		t.Fatalf("got %v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %v, want %v", got[i], want[i])
		}
	}
}
