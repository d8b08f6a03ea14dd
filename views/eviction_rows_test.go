package views

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

var evictedAt = time.Date(2026, 4, 4, 12, 0, 0, 0, time.UTC)

// evictionTable writes the rows of a State: provider, rate, recovered, exhausted, direction and storm.
func evictionTable(c *Snapshot) string {
	word := func(v backend.Value[float64]) string {
		switch n, known := v.Get(); {
		case known:
			return fmt.Sprintf("%.2f", n)
		case v.IsNotApplicable():
			return "-"
		}
		return "?"
	}
	var out []string
	for x := range EvictionRows(c) {
		out = append(out, fmt.Sprintf("%s/%s %s %s %s %s%s", x.Source, x.Provider, word(x.Rate), word(x.Recovered), word(x.Exhausted), x.Direction, x.Storm))
	}
	return strings.Join(out, "\n")
}

func evictions(source, provider string, m backend.Metric, ago time.Duration, n float64) backend.Count {
	return backend.Count{Series: backend.Series{Source: source, Name: m, Provider: provider}, At: evictedAt.Add(-ago), N: n}
}

func countedBy(id string, in ...backend.Input) *fleet.SourceHealth {
	return &fleet.SourceHealth{Key: backend.Key{Kind: backend.KindSource, Source: id, ID: backend.MustID(id)}, Status: fleet.StatusOK, Inputs: in,
		Interval: time.Minute, LastOK: evictedAt}
}

func evictionSnapshot(counts []backend.Count, board *alerts.Board, sources ...*fleet.SourceHealth) *Snapshot {
	return NewSnapshot(evictedAt, &fleet.State{Sources: sources, Day: fleet.NewDay(evictedAt, counts...), Windows: fleet.NewWindows(counts...)}, board)
}

func TestEvictionRows(t *testing.T) {
	var counts []backend.Count
	for m := range 40 {
		ago := time.Duration(m) * time.Minute
		counts = append(counts, evictions("m", "e2b", backend.MetricEvictions, ago, 12), evictions("m", "e2b", backend.MetricEvictionRetries, ago, 3),
			evictions("m", "blaxel", backend.MetricEvictions, ago, 0))
	}
	got := evictionTable(evictionSnapshot(counts, nil, countedBy("m", backend.InputEvictions), countedBy("dir", backend.InputTmpdirs)))
	if want := "m/blaxel 0.00 - - none\nm/e2b 0.20 0.25 - steady"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What was not read is not zero: one reading gives no rate, a metric that nothing counts gives no share.
func TestEvictionsThatAreNotKnown(t *testing.T) {
	for name, c := range map[string]struct {
		counts []backend.Count
		want   string
	}{
		"nothing read":     {nil, "m/ ? ? - unknown"},
		"read once":        {[]backend.Count{evictions("m", "", backend.MetricEvictions, 0, 0)}, "m/ ? ? - none"},
		"no retries":       {[]backend.Count{evictions("m", "", backend.MetricEvictions, time.Minute, 6), evictions("m", "", backend.MetricEvictions, 0, 6)}, "m/ 0.10 ? - unknown"},
		"read an hour ago": {[]backend.Count{evictions("m", "e2b", backend.MetricEvictions, 50*time.Minute, 6), evictions("m", "e2b", backend.MetricEvictions, 49*time.Minute, 6)}, "m/e2b ? ? - unknown"},
	} {
		if got := evictionTable(evictionSnapshot(c.counts, nil, countedBy("m", backend.InputEvictions))); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// Log lines name a session; the provider is its workspace's.
func TestEvictionLinesBelongToTheProviderOfTheirSession(t *testing.T) {
	session := backend.MustID("s-1")
	w := &backend.Workspace{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindWorkspace, Source: "helix", Parent: session, ID: backend.MustID("box")}}}
	w.Provider = backend.Text("e2b")
	line := backend.Count{Series: backend.Series{Source: "log", Name: backend.MetricEvictionExhausted, Session: session}, At: evictedAt, N: 7}
	c := evictionSnapshot([]backend.Count{line, evictions("log", "", backend.MetricEvictionExhausted, 0, 0)}, nil,
		countedBy("helix", backend.InputRegistry), countedBy("log", backend.InputEvictionLogs))
	c.State.Workspaces = fleet.NewTable(w)
	if got, want := evictionTable(c), "log/e2b - - 7.00 unknown"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A storm marks the provider that its alert is about, and no other.
func TestAStormMarksItsProvider(t *testing.T) {
	counts := []backend.Count{evictions("m", "e2b", backend.MetricEvictions, 0, 9), evictions("m", "blaxel", backend.MetricEvictions, 0, 9)}
	site := backend.Key{Kind: backend.KindSource, Source: "helix", ID: backend.MustID("helix/e2b")}
	storm := &alerts.Alert{ID: "a1", Rule: "eviction-storm", Source: "helix", State: alerts.StateFiring, Subjects: []alerts.Subject{{Key: site}}}
	c := evictionSnapshot(counts, &alerts.Board{Alerts: []*alerts.Alert{storm}}, countedBy("m", backend.InputEvictions))
	for x := range EvictionRows(c) {
		if (x.Storm == "a1") != (x.Provider.String() == "e2b") {
			t.Errorf("%s: storm %q", x.Provider, x.Storm)
		}
	}
	c.State.Sources[0].About = []string{"another"}
	for x := range EvictionRows(c) {
		if x.Storm != "" {
			t.Errorf("%s: a source that reports on another server is marked", x.Provider)
		}
	}
}

func TestRejectionsAreRatedAndCounted(t *testing.T) {
	row := func(word, meta string, lines, suppressed float64, span time.Duration) *backend.Rejection {
		return &backend.Rejection{Session: backend.MustID("s"), Word: backend.Clean(word, 9), Metacharacter: backend.Clean(meta, 9), Lines: lines, Suppressed: suppressed,
			FirstSeen: evictedAt.Add(-span), LastSeen: evictedAt}
	}
	h := countedBy("log", backend.InputRejections)
	h.Rejections = []*backend.Rejection{row("ls", ";", 40, 560, 5*time.Minute), row("ls", "|", 1, 0, 0), row("rm", "", 3, 0, time.Minute)}
	var got []string
	for r := range RejectionRows(&fleet.State{Sources: []*fleet.SourceHealth{h}}) {
		got = append(got, fmt.Sprintf("%s%s %.3f %.2f %d", r.Word, r.Metacharacter, r.Rate(), r.RollupShare(), r.Distinct))
		if x, ok := FindRejection(&fleet.State{Sources: []*fleet.SourceHealth{h}}, r.Key); !ok || x.Rejection != r.Rejection {
			t.Errorf("%v is not found", r.Key)
		}
	}
	if s, want := strings.Join(got, ", "), "ls; 2.000 0.93 2, ls| 0.017 0.00 2, rm 0.050 0.00 2"; s != want {
		t.Errorf("got %s, want %s", s, want)
	}
}
