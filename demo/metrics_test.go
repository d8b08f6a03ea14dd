package demo

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// familyRead is what a test needs of a metric; values are keyed by labels.
type familyRead struct {
	help, kind string
	values     map[string]float64
}

func parseMetrics(t testing.TB, text []byte) map[string]familyRead {
	t.Helper()
	p := expfmt.NewTextParser(model.UTF8Validation)
	families, err := p.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	out := map[string]familyRead{}
	for name, f := range families {
		got := familyRead{help: f.GetHelp(), kind: f.GetType().String(), values: map[string]float64{}}
		for _, m := range f.GetMetric() {
			labels := ""
			for _, l := range m.GetLabel() {
				labels += l.GetName() + "=" + l.GetValue() + ";"
			}
			got.values[labels] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
		out[name] = got
	}
	return out
}

func TestMetricsPageIsValidAndCountersNeverFall(t *testing.T) {
	f := testFleet(t, "all", defaultWorkspaces, 1)
	before := map[string]float64{}
	for at := time.Duration(0); at < 20*time.Minute; at += 7 * time.Second {
		for name, family := range parseMetrics(t, f.At(at).metrics()) {
			if family.help == "" {
				t.Errorf("%s has no help", name)
			}
			if family.kind != "COUNTER" {
				continue
			}
			for labels, v := range family.values {
				if v < before[name+labels] {
					t.Fatalf("%s %s falls from %v to %v at %s", name, labels, before[name+labels], v, at)
				}
				before[name+labels] = v
			}
		}
	}
	if len(before) < 8 {
		t.Errorf("only %d counters: %v", len(before), before)
	}
}

func TestMetricsOfAStorm(t *testing.T) {
	f := testFleet(t, "eviction-storm", defaultWorkspaces, 1)
	sum := func(at time.Duration, name string) (v float64) {
		for labels, n := range parseMetrics(t, f.At(at).metrics())[name].values {
			if strings.Contains(labels, "cloudflare-sandbox") {
				v += n
			}
		}
		return v
	}
	const evictions, retries = "helix_workspace_evictions_total", "helix_workspace_eviction_retries_total"
	rate := (sum(6*time.Minute, evictions) - sum(5*time.Minute, evictions)) / 60
	saved := (sum(6*time.Minute, retries) - sum(5*time.Minute, retries)) / 60
	if rate < 40 || rate > 42 || saved > 1.5 {
		t.Errorf("%v evictions a second, %v recover", rate, saved)
	}
}

func TestRolloutStartsCountersAgain(t *testing.T) {
	f := testFleet(t, "calm", defaultWorkspaces, 1)
	start := func(at time.Duration) float64 {
		return parseMetrics(t, f.At(at).metrics())["process_start_time_seconds"].values[""]
	}
	if a, b := start(time.Minute), start(3*time.Minute); a >= b || b != float64(testStart.Add(2*time.Minute).Unix()) {
		t.Errorf("process started at %v, then at %v", a, b)
	}
	if _, ok := parseMetrics(t, f.At(125*time.Second).metrics())["helix_workspace_evictions_total"]; ok {
		t.Error("counters survive the restart of their process")
	}
}

func TestMetricsPageIsBusyDuringTheOutage(t *testing.T) {
	clock := &at{f: testFleet(t, "source-outage", 100, 1)}
	h := metricsServer{clock.now}.handler()
	for moment, want := range map[time.Duration]int{0: http.StatusOK, 150 * time.Second: http.StatusServiceUnavailable, 5 * time.Minute: http.StatusOK} {
		clock.t = moment
		resp := ask(t, h, "/metrics")
		if resp.StatusCode != want {
			t.Errorf("at %s the page answers %d", moment, resp.StatusCode)
		}
	}
}
