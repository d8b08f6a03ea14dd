package views

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// Alerts of one outage follow each other, the cause first where they began together, and what is suspected last; what has another
// cause keeps its place by severity.
func TestAlertsOfOneOutageStandTogether(t *testing.T) {
	subjects := func(names string) (out []alerts.Subject) {
		for _, n := range strings.Fields(names) {
			out = append(out, alerts.Subject{Key: backend.Key{Kind: backend.KindWorkspace, Source: "eu", Parent: backend.MustID("s"), ID: backend.MustID(n)}})
		}
		return out
	}
	alert := func(rule, fingerprint string, s alerts.Severity, state alerts.AlertState, names string) *alerts.Alert {
		return &alerts.Alert{ID: rule + fingerprint + names, Rule: rule, Fingerprint: fingerprint, Severity: s, State: state, Subjects: subjects(names)}
	}
	const critical, warning, firing, pending = alerts.SeverityCritical, alerts.SeverityWarning, alerts.StateFiring, alerts.StatePending
	folded := alert("failed-too-long", "4", critical, firing, "z")
	board := &alerts.Board{Alerts: []*alerts.Alert{
		alert("eviction-storm", "1", critical, firing, "a b c d"),
		alert("ref-mismatch", "2", critical, firing, "x"),
		alert("capacity", "3", critical, firing, "b c d e"),
		folded,
		alert("eviction-storm", "1", critical, pending, "p"),
		alert("wont-terminate", "5", warning, firing, "y"),
		alert("hammered-and-failing", "6", warning, firing, "e d"),
		alert("hammered-and-failing", "7", warning, firing, "a u w v"),
	}}
	folded.InhibitedBy = board.Alerts[1].ID
	c := NewSnapshot(board.At, nil, board)
	var got []string
	for _, a := range c.InOutages() {
		sign := ""
		if c.Follows(a) {
			sign = ">"
		}
		got = append(got, sign+a.Rule+a.Fingerprint)
	}
	const want = "capacity3 >eviction-storm1 >hammered-and-failing6 >eviction-storm1 ref-mismatch2 wont-terminate5 hammered-and-failing7"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("%s\nwant %s", s, want)
	}
}

// An alert about more than the one before it, and one whose subject is a source, stand by themselves.
func TestTheLargerAlertDoesNotStandUnderTheSmaller(t *testing.T) {
	of := func(id, rule, print string, s alerts.Severity, keys ...backend.Key) *alerts.Alert {
		a := &alerts.Alert{ID: id, Rule: rule, Fingerprint: print, Severity: s, State: alerts.StateFiring, SubjectCount: len(keys)}
		for _, k := range keys {
			a.Subjects = append(a.Subjects, alerts.Subject{Key: k})
		}
		return a
	}
	box := func(n string) backend.Key {
		return backend.Key{Kind: backend.KindSandbox, Source: "eu", ID: backend.MustID(n)}
	}
	one := of("1", "contradiction", "a", alerts.SeverityCritical, box("x"))
	three := of("2", "sandbox-unhealthy", "b", alerts.SeverityWarning, box("x"), box("y"), box("z"))
	part := of("3", "sandbox-crash-loop", "c", alerts.SeverityWarning, box("x"))
	storm := of("4", "eviction-storm", "d", alerts.SeverityCritical, box("p"))
	metrics := of("5", "eviction-storm", "d", alerts.SeverityCritical, backend.Key{Kind: backend.KindSource, Source: "us", ID: backend.MustID("us")})
	c := NewSnapshot(time.Time{}, nil, &alerts.Board{Alerts: []*alerts.Alert{one, storm, metrics, three, part}})
	var got []string
	for _, a := range c.InOutages() {
		sign := ""
		if c.Follows(a) {
			sign = ">"
		}
		got = append(got, sign+a.ID)
	}
	if s := strings.Join(got, " "); s != "1 >3 4 5 2" {
		t.Errorf("%s", s)
	}
}

// Alerts of one rule with the same words for their cause follow each other, and what names the shortage of the only full provider
// is under the line of that shortage.
func TestAlertsWithOneCauseStandTogether(t *testing.T) {
	of := func(id, rule, cause string, s alerts.Severity) *alerts.Alert {
		return &alerts.Alert{ID: id, Rule: rule, Fingerprint: id, Cause: backend.Clean(cause, 200), Severity: s, State: alerts.StateFiring, SubjectCount: 1,
			Subjects: []alerts.Subject{{Key: backend.Key{Kind: backend.KindWorkspace, Source: "eu", ID: backend.MustID(id)}}}}
	}
	c := NewSnapshot(time.Time{}, nil, &alerts.Board{Alerts: []*alerts.Alert{
		of("1", "contradiction", "reported running, but its working directory is missing", alerts.SeverityCritical),
		of("2", "contradiction", "reported running, but its main process is frozen", alerts.SeverityCritical),
		of("3", "contradiction", "reported running, but its working directory is missing", alerts.SeverityCritical),
		of("4", "capacity", "cloudflare-sandbox has no instance left", alerts.SeverityCritical),
		of("5", "failed-too-long", "disk quota exceeded", alerts.SeverityCritical),
		of("6", "hammered-and-failing", "max_instances reached (60/60)", alerts.SeverityWarning),
	}})
	got := ""
	for _, a := range c.InOutages() {
		if c.Follows(a) {
			got += ">"
		}
		got += a.ID + " "
	}
	if got != "1 >3 2 4 >6 5 " {
		t.Error(got)
	}
}

// What is held by the line of a source counts in the header: fewer alerts would read like recovery.
func TestHeldAlertsAreCounted(t *testing.T) {
	c := NewSnapshot(time.Time{}, nil, &alerts.Board{Alerts: []*alerts.Alert{
		{ID: "down", Rule: "source-down", Severity: alerts.SeverityWarning, State: alerts.StateFiring, Folds: 2},
		{ID: "a", Severity: alerts.SeverityCritical, State: alerts.StateHeld, FoldedUnder: "down"},
		{ID: "b", Severity: alerts.SeverityWarning, State: alerts.StateHeld, FoldedUnder: "down"},
		{ID: "c", Severity: alerts.SeverityWarning, State: alerts.StateHeld, FoldedUnder: "down", Silenced: &alerts.Silence{}},
	}})
	if s := Summarise(c); s.Held != 2 || s.Warning != 1 || s.Critical != 0 {
		t.Errorf("%+v", s)
	}
}

// The alert that began first leads its outage, whatever its severity; the outage has the place of its worst alert. What changed is
// told above what began after it.
func TestTheFirstDominoLeads(t *testing.T) {
	at := time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC)
	of := func(rule string, s alerts.Severity, state alerts.AlertState, ago time.Duration, names string) *alerts.Alert {
		a := &alerts.Alert{ID: rule, Rule: rule, Fingerprint: rule, Severity: s, State: state}
		a.Bounds.Latest = at.Add(-ago)
		for _, n := range strings.Fields(names) {
			a.Subjects = append(a.Subjects, alerts.Subject{Key: backend.Key{Kind: backend.KindWorkspace, Source: "eu", ID: backend.MustID(n)}})
		}
		a.SubjectCount = len(a.Subjects)
		return a
	}
	const critical, warning, firing = alerts.SeverityCritical, alerts.SeverityWarning, alerts.StateFiring
	list := []*alerts.Alert{
		of("sandbox-gone", critical, firing, 30*time.Minute, "z"),
		of("failed-too-long", critical, firing, 4*time.Minute, "a b c d"),
		of("wont-terminate", critical, alerts.StatePending, 50*time.Minute, "d"),
		of("ref-mismatch", critical, firing, 4*time.Minute+20*time.Second, "b c d"),
		of("hammered-and-failing", warning, firing, 9*time.Minute, "a b"),
		of("capacity", warning, firing, 20*time.Minute, "q"),
	}
	deploys := []alerts.Change{{At: at.Add(-12 * time.Minute), Source: "before"}, {At: at.Add(-6 * time.Minute), Source: "between"}, {At: at.Add(-5 * time.Minute), Source: "again"}}
	o := group(list, begins(list), func(from, to time.Time) []alerts.Change {
		if !from.Equal(at.Add(-24*time.Minute)) || !to.Equal(at.Add(-4*time.Minute)) {
			t.Errorf("asked for changes from %v to %v", from, to)
		}
		return deploys
	})
	got := ""
	for _, a := range o.rows {
		for _, c := range o.since[a] {
			got += "(" + c.Source + ") "
		}
		got += a.Rule + " "
	}
	const want = "sandbox-gone (before) hammered-and-failing (between) (again) ref-mismatch failed-too-long wont-terminate capacity "
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// A cause is no younger than what it explains.
func TestACauseBeganNoLaterThanItsEffects(t *testing.T) {
	at := time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC)
	full := &alerts.Alert{ID: "full", Rule: "capacity", Source: "eu", Since: at}
	storm := &alerts.Alert{ID: "storm", Rule: "eviction-storm", Source: "eu", Since: at.Add(-5 * time.Minute)}
	hidden := &alerts.Alert{ID: "x", Rule: "failed-too-long", Source: "eu", Since: at.Add(-9 * time.Minute), InhibitedBy: "storm"}
	began := begins([]*alerts.Alert{full, storm, hidden})
	if !began[full].Equal(storm.Since) || !began[storm].Equal(hidden.Since) {
		t.Error(began)
	}
}
