package subjects

import (
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
)

func TestAgesStayNarrow(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 0: "0s", 59 * time.Second: "59s", time.Minute: "1m", 59*time.Minute + 59*time.Second: "59m",
		time.Hour: "1h", 47 * time.Hour: "47h", 48 * time.Hour: "2d", 999 * 24 * time.Hour: "999d",
		1000 * 24 * time.Hour: "2y", 1 << 62: "146y",
	} {
		if got := backend.Age(d); got != want || len(got) > 4 {
			t.Errorf("backend.Age(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for got, want := range map[string]string{
		backend.Bytes(0): "0 B", backend.Bytes(999): "999 B", backend.Bytes(1000): "1.0 kB", backend.Bytes(999_499): "999 kB", backend.Bytes(999_600): "1.0 MB",
		backend.Bytes(118e6): "118 MB", backend.Bytes(-5): "-5 B", backend.Bytes(1 << 62): "4.6 EB", backend.Bytes(-1 << 63): "-9.2 EB",
		kit.Number(0): "0", kit.Number(1284): "1,284", kit.Number(-1000): "-1,000", kit.Number(100000): "100,000",
		kit.Rate(0): "0", kit.Rate(0.01): "<0.1", kit.Rate(41.2): "41", kit.Rate(1900): "1.9k", kit.Rate(999.9): "1.0k",
		kit.Percent(0): "0 %", kit.Percent(0.001): "<1 %", kit.Percent(0.42): "42 %",
		kit.Latency(0): "–", kit.Latency(340 * time.Microsecond): "<1ms", kit.Latency(12 * time.Millisecond): "12ms", kit.Latency(1200 * time.Millisecond): "1.2s",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A row of which nothing is known must show that everywhere: no zero, no healthy word, no panic.
func TestNothingKnownIsNeverZeroOrHealthy(t *testing.T) {
	key := func(k backend.Kind) backend.Key { return backend.Key{Kind: k, Source: "src", ID: backend.MustID("x")} }
	state := &fleet.State{
		Workspaces: fleet.NewTable(&backend.Workspace{Meta: backend.Meta{Key: key(backend.KindWorkspace)}}),
		Sandboxes:  fleet.NewTable(&backend.Sandbox{Meta: backend.Meta{Key: key(backend.KindSandbox)}}),
		Sessions:   fleet.NewTable(&backend.Session{Meta: backend.Meta{Key: key(backend.KindSession)}}),
		Executions: fleet.NewTable(&backend.Execution{Meta: backend.Meta{Key: key(backend.KindExecution)}}),
		Jobs:       fleet.NewTable(&backend.Job{Meta: backend.Meta{Key: key(backend.KindJob)}}),
		Refs:       fleet.NewTable(&backend.Ref{Meta: backend.Meta{Key: key(backend.KindRef)}}),
		Tmpdirs:    fleet.NewTable(&backend.Tmpdir{Meta: backend.Meta{Key: key(backend.KindTmpdir)}}),
		Sources:    []*fleet.SourceHealth{{Key: key(backend.KindSource), Inputs: []backend.Input{backend.InputEvictions, backend.InputEvictionLogs}, Rejections: []*backend.Rejection{{}}}},
	}
	board := &alerts.Board{Alerts: []*alerts.Alert{{}}}
	ctx := views.NewSnapshot(noon, state, board)
	ctx.Events = []backend.Event{{}}
	for _, l := range Listings() {
		rows := 0
		for r := range l.Each(ctx) {
			rows++
			for i, h := range l.Heads {
				cell, _ := r.Cell(i), r.SortKey(i)
				counted := h.Name == "failures" || h.Name == "blind" || h.Name == "subjects" || h.Name == "interval" || l.Kind == "rejections"
				switch cell.Text.String() {
				case "0", "0 B", "0s", "0.0 %", "ok", "healthy", "running", "working", "nobody":
					if !counted {
						t.Errorf("%s.%s of a row of which nothing is known reads %q", l.Kind, h.Name, cell.Text)
					}
				}
				if s, ok := r.Field(h.Name); !ok || s != cell.Text.String() {
					t.Errorf("%s: filter field %s reads %q, %v", l.Kind, h.Name, s, ok)
				}
			}
			_ = r.Text()
		}
		want := 1
		if l.Kind == "sharing" {
			want = 0 // what has no known id shares nothing
		}
		if rows != want {
			t.Errorf("%s: %d rows, want %d", l.Kind, rows, want)
		}
	}
}

func TestColumnsAreWellDefined(t *testing.T) {
	for _, l := range Listings() {
		seen := map[string]bool{}
		for _, h := range l.Heads {
			if seen[h.Name] || h.Name == "" || h.Title == "" || h.Help == "" || h.Min < 1 || h.Ideal < h.Min {
				t.Errorf("%s: column %+v", l.Kind, h)
			}
			seen[h.Name] = true
		}
		if l.DefaultSort != "" && !seen[l.DefaultSort] {
			t.Errorf("%s sorts by %q, which is no column", l.Kind, l.DefaultSort)
		}
	}
}

func TestStaleRowsSaySo(t *testing.T) {
	w := &backend.Workspace{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindWorkspace, Source: "s", ID: backend.MustID("w")},
		ReadAt: noon.Add(-4 * time.Minute), Stale: true}}
	set := Workspaces()
	cell := set.Columns[set.Column("read")].Cell(w, views.NewSnapshot(noon, nil, nil))
	if cell.Text.String() != "stale 4m" {
		t.Errorf("stale row reads %q", cell.Text)
	}
}

func TestUnknownSortsLast(t *testing.T) {
	if (SortKey{Unknown: true}).Compare(SortKey{Num: 9}) <= 0 || (SortKey{Num: 1}).Compare(SortKey{Num: 2}) >= 0 ||
		(SortKey{Text: "a"}).Compare(SortKey{Text: "b"}) >= 0 {
		t.Error("wrong order")
	}
}

func TestOnsetSaysWhatIsProved(t *testing.T) {
	ago := func(d time.Duration) time.Time { return noon.Add(-d) }
	for want, a := range map[string]alerts.Alert{
		"40m":   {State: alerts.StateFiring, Bounds: alerts.Bounds{Earliest: ago(41 * time.Minute), Latest: ago(40 * time.Minute)}},
		"≤ 2h":  {State: alerts.StateFiring, Bounds: alerts.Bounds{Earliest: ago(92 * time.Minute), Latest: ago(40 * time.Minute)}},
		"≤ 43m": {State: alerts.StateFiring, Bounds: alerts.Bounds{Earliest: ago(43 * time.Minute), Latest: ago(2 * time.Minute)}},
		"≤ 3d":  {State: alerts.StatePending, Bounds: alerts.Bounds{Earliest: ago(72 * time.Hour)}},
		"≥ 5m":  {State: alerts.StateFiring, Bounds: alerts.Bounds{Latest: ago(5 * time.Minute)}},
		"7m":    {State: alerts.StateFiring, Since: ago(7 * time.Minute)},
		"4m":    {State: alerts.StateHeld, Since: ago(4 * time.Minute), Bounds: alerts.Bounds{Earliest: ago(time.Hour)}},
	} {
		if got := Onset(&a, noon); got != want {
			t.Errorf("%+v: %q, want %q", a.Bounds, got, want)
		}
	}
}

func TestWhatAnAlertIsPartOf(t *testing.T) {
	storm, part, lost := &alerts.Alert{ID: "9b1c", Rule: "eviction-storm"}, &alerts.Alert{ID: "1", InhibitedBy: "9b1c"}, &alerts.Alert{ID: "2", InhibitedBy: "77aa"}
	set, ctx := Alerts(), views.NewSnapshot(noon, nil, &alerts.Board{Alerts: []*alerts.Alert{storm, part, lost}})
	for a, want := range map[*alerts.Alert]string{storm: "–", part: "eviction-storm 9b1c", lost: "77aa"} {
		if got := set.Columns[set.Column("inhibited_by")].Cell(a, ctx).Text.String(); got != want {
			t.Errorf("alert %s is part of %q, want %q", a.ID, got, want)
		}
	}
}

func TestFailingSaysForHowLongAHealthCheckFails(t *testing.T) {
	now := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for _, c := range []struct {
		checks backend.Value[backend.HealthChecks]
		want   string
	}{
		{backend.Known(backend.HealthChecks{Failed: 80, FailingBy: ago(40 * time.Minute)}), "≥ 40m"},
		{backend.Known(backend.HealthChecks{Failed: 3, FailingBy: ago(40 * time.Minute), Passed: ago(41 * time.Minute)}), "40m"},
		{backend.Known(backend.HealthChecks{Passed: ago(time.Minute)}), None().Text.String()},
		{backend.Unknown[backend.HealthChecks](), Unknown().Text.String()},
	} {
		b := &backend.Sandbox{Health: backend.Known(backend.Text("unhealthy")), HealthChecks: c.checks, StartedAt: backend.Known(ago(3 * time.Hour))}
		if got := failingCell(b, &views.Snapshot{Now: now}).Text.String(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.checks, got, c.want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 rows are", 1: "1 row is", 1284: "1,284 rows are"} {
		if got := kit.Count(n, "row is", "rows are"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
