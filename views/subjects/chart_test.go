package subjects

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// chartRows are the rows of a document that hold a chart, without padding.
func chartRows(d *kit.Doc, width int) []string {
	var out []string
	for _, l := range d.Layout(theme.New(theme.NoColours, theme.ASCII), width) {
		if strings.Contains(l, " in 1h") || strings.Contains(l, " in 24h") {
			l = strings.NewReplacer("\x1b[1m", "", "\x1b[2m", "", "\x1b[m", "").Replace(l)
			out = append(out, strings.Join(strings.Fields(l), " "))
		}
	}
	return out
}

func frameWith(counts ...backend.Count) *views.Frame {
	source := func(id string) *fleet.SourceHealth {
		return &fleet.SourceHealth{Key: backend.Key{Kind: backend.KindSource, Source: id, ID: backend.MustID(id)}, Status: fleet.StatusOK, LastOK: noon}
	}
	st := &fleet.State{Wall: noon, Sources: []*fleet.SourceHealth{source("helix"), source("prom")}, Day: fleet.NewDay(noon, counts...)}
	return &views.Frame{Snapshot: views.NewSnapshot(noon, st, &alerts.Board{}), Theme: theme.New(theme.NoColours, theme.ASCII)}
}

func every(step, span time.Duration, source string, name string, n float64) []backend.Count {
	var out []backend.Count
	for ago := span; ago >= 0; ago -= step {
		out = append(out, backend.Count{Series: backend.Series{Source: source, Name: backend.Metric(name)}, At: noon.Add(-ago), N: n})
	}
	return out
}

func same(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("%s: got\n%s\nwant\n%s", what, g, w)
	}
}

func TestASourcesHistory(t *testing.T) {
	counts := every(time.Minute, 59*time.Minute, "prom", string(backend.MetricEvictions), 2)
	counts = append(counts, every(time.Minute, 3*time.Hour, "prom", string(fleet.LineLatency), 0.25)...)
	counts = append(counts, every(time.Minute, 3*time.Hour, "prom", string(backend.MetricEvictionRetries), 0)...)
	counts = append(counts, every(time.Minute, time.Hour, "prom", string(backend.MetricNamed), 3)...)
	f := frameWith(counts...)
	d := SourcePane(f.State.Source("prom"), f, false, true)
	same(t, "80 columns", chartRows(d, 80), "evictions "+strings.Repeat("#", 30)+" 120 in 1h",
		"request latency "+strings.Repeat("#", 30)+" at most 250ms in 1h", strings.Repeat("?", 20)+"#### at most 250ms in 24h, read for 3h")
	same(t, "160 columns", chartRows(d, 160), "evictions "+strings.Repeat("#", 60)+" 120 in 1h",
		"request latency "+strings.Repeat("#", 60)+" at most 250ms in 1h", strings.Repeat("?", 83)+strings.Repeat("#", 13)+" at most 250ms in 24h, read for 3h")
	d = SourcePane(f.State.Source("helix"), f, false, true)
	same(t, "a source of which nothing was read", chartRows(d, 160))
}

func TestAnAlertsDay(t *testing.T) {
	f := frameWith(append(every(10*time.Minute, 30*time.Hour, "prom", string(backend.MetricEvictions), 1),
		every(time.Minute, 2*time.Hour, "helix", string(fleet.LineBroken), 4)...)...)
	workspace := alerts.Subject{Key: backend.Key{Kind: backend.KindWorkspace, Source: "helix", Parent: backend.MustID("s"), ID: backend.MustID("w")}}
	for _, c := range []struct {
		a    alerts.Alert
		want string
	}{
		{alerts.Alert{Rule: "eviction-storm", Source: "helix"}, "144 in 24h"},
		{alerts.Alert{Rule: "failed-too-long", Source: "helix", Subjects: []alerts.Subject{workspace}}, "at most 4 in 24h, read for 2h"},
		{alerts.Alert{Rule: "source-down", Source: "helix"}, ""},
		{alerts.Alert{Rule: "failed-too-long", Source: "prom", Subjects: []alerts.Subject{workspace}}, ""},
	} {
		rows := chartRows(AlertPane(&c.a, f, 0), 120)
		if len(rows) > 1 || (len(rows) == 1) != (c.want != "") || c.want != "" && !strings.HasSuffix(rows[0], c.want) {
			t.Errorf("%s on %s: %q, want %q", c.a.Rule, c.a.Source, rows, c.want)
		}
	}
}
