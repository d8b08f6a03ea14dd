package subjects

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// sinceLine is the line since of an alert.
func sinceLine(a *alerts.Alert, board *alerts.Board) string {
	w := &writer{Doc: &kit.Doc{}, f: &views.Frame{Snapshot: views.NewSnapshot(noon, &fleet.State{}, board)}}
	w.since(a)
	line := ansi.Strip(strings.Join(w.Layout(theme.New(theme.NoColours, theme.ASCII), 200), ""))
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "since"))
}

// Alerts about one subject each that are alike are told as a group: when the first and the newest began, and when this one.
func TestAlertsAlikeHaveOneLineSince(t *testing.T) {
	one := func(id string, ago time.Duration) *alerts.Alert {
		return &alerts.Alert{ID: id, Rule: "contradiction", Source: "a", State: alerts.StateFiring, Cause: backend.Text("its mount is gone"), SubjectCount: 1,
			Bounds:   alerts.Bounds{Earliest: noon.Add(-ago), Latest: noon.Add(-ago)},
			Subjects: []alerts.Subject{{Key: backend.Key{Kind: backend.KindSandbox, Source: "a", ID: backend.MustID(id)}}}}
	}
	x, y, z := one("x", 8*time.Minute), one("y", 15*time.Minute), one("z", 14*time.Second)
	board := &alerts.Board{Alerts: []*alerts.Alert{x, y, z}}
	if got, want := sinceLine(x, board), "first 15m ago, newest 14s ago; this one 8m ago (11:52:00Z)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := scope(x, views.NewSnapshot(noon, &fleet.State{}, board)); !strings.HasSuffix(got, "; 2 others alike") {
		t.Error(got)
	}
	if got, want := sinceLine(x, &alerts.Board{Alerts: []*alerts.Alert{x, one("v", 8*time.Minute)}}), "8m ago (11:52:00Z)"; got != want {
		t.Errorf("together: %q, want %q", got, want)
	}
}

// Of several subjects the line says whether all began at one time, and nothing of that where it is not known of each.
func TestSinceOfSeveralSubjects(t *testing.T) {
	for want, latest := range map[string][]time.Duration{
		"first 13m ago (11:47:00Z), newest 2m ago": {13 * time.Minute, 2 * time.Minute},
		"all 13m ago (11:47:00Z)":                  {13 * time.Minute, 13 * time.Minute},
		"13m ago (11:47:00Z)":                      {13 * time.Minute, 0},
	} {
		a := &alerts.Alert{Rule: "failed-too-long", State: alerts.StateFiring, SubjectCount: 2, Bounds: alerts.Bounds{Earliest: noon.Add(-latest[0]), Latest: noon.Add(-latest[0])}}
		for _, ago := range latest {
			s := alerts.Subject{}
			if ago > 0 {
				s.Bounds = alerts.Bounds{Latest: noon.Add(-ago)}
			}
			a.Subjects = append(a.Subjects, s)
		}
		if got := sinceLine(a, &alerts.Board{Alerts: []*alerts.Alert{a}}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Beside exact times an upper limit of some hours has its minutes.
func TestRangesOfHoursHaveMinutes(t *testing.T) {
	utc := func(at time.Time) string { return at.Format("15:04:05Z") }
	got := Began(noon.Add(-3*time.Hour-25*time.Minute-10*time.Second), noon.Add(-time.Minute), noon, utc)
	if want := "1m to 3h 26m ago (between 08:34:50Z and 11:59:00Z)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := Began(noon.Add(-3*time.Hour), noon.Add(-time.Minute), noon, utc), "1m to 3h ago (between 09:00:00Z and 11:59:00Z)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Two bounds are told as two, also where they are near each other or their ages are alike when they are rounded: what happened at the
// later one is not what began it.
func TestBoundsThatRoundToOneAgeAreTold(t *testing.T) {
	utc := func(at time.Time) string { return at.Format("15:04:05Z") }
	for want, c := range map[string][2]time.Duration{
		"1m to 2m ago (between 11:58:10Z and 11:58:58Z)":     {110 * time.Second, 62 * time.Second},
		"4h to 4h 50m ago (between 07:10:00Z and 07:55:00Z)": {4*time.Hour + 50*time.Minute, 4*time.Hour + 5*time.Minute},
		"1m ago (between 11:58:30Z and 11:58:50Z)":           {90 * time.Second, 70 * time.Second},
		"11s ago (between 11:59:48Z and 11:59:49Z)":          {12 * time.Second, 11 * time.Second},
		"1m ago (11:58:49Z)":                                 {70*time.Second + 400*time.Millisecond, 70*time.Second + 100*time.Millisecond},
	} {
		if got := Began(noon.Add(-c[0]), noon.Add(-c[1]), noon, utc); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The scope names the sources that the rule cannot judge; one that is down has an alert of its own.
func TestTheScopeNamesWhereItsRuleIsNotEvaluated(t *testing.T) {
	ws := func(source string) *backend.Workspace {
		return &backend.Workspace{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindWorkspace, Source: source, Parent: backend.MustID("s"), ID: backend.MustID("box")}}}
	}
	a := &alerts.Alert{Rule: "possible-leak", Source: "eu", State: alerts.StateFiring, SubjectCount: 1, Subjects: []alerts.Subject{{Key: ws("eu").Key}}}
	for status, want := range map[fleet.SourceStatus]string{fleet.StatusOK: "; us not evaluated", fleet.StatusDown: ""} {
		st := &fleet.State{Workspaces: fleet.NewTable(ws("eu"), ws("us"))}
		for _, id := range []string{"eu", "us", "docker"} {
			st.Sources = append(st.Sources, &fleet.SourceHealth{Key: backend.Key{Kind: backend.KindSource, Source: id, ID: backend.MustID(id)}, Status: status})
		}
		board := &alerts.Board{Alerts: []*alerts.Alert{a}, Blind: []alerts.Blindness{{Rule: "possible-leak", Source: "us"}, {Rule: "possible-leak", Source: "docker"}, {Rule: "capacity", Source: "us"}}}
		if got := unevaluated(a, views.NewSnapshot(noon, st, board)); got != want {
			t.Errorf("%v: %q, want %q", status, got, want)
		}
	}
}

// TestAnAlertThatNeverFiredIsNotJustGone: its page says that it was pending, as far as that is known.
func TestAnAlertThatNeverFiredIsNotJustGone(t *testing.T) {
	t.Parallel()
	s := views.NewSnapshot(noon, &fleet.State{Wall: noon}, &alerts.Board{})
	for kind, pending := range map[backend.Kind]bool{views.KindAlert: true, backend.KindSandbox: false} {
		text := GoneSince(backend.Key{Kind: kind, Source: "src", ID: backend.MustID("a1")}, s)
		if !strings.HasPrefix(text, "It is no longer there") || strings.Contains(text, "it was pending") != pending {
			t.Errorf("%s: %s", kind, text)
		}
	}
}
