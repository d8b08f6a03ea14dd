package test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/promapi"
	"sandglass/config"
)

// onPage sums a counter over all its label sets on a metrics page.
func onPage(t *testing.T, page, metric string) float64 {
	t.Helper()
	resp, err := http.Get(page)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	sum := 0.0
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		name, rest, ok := strings.Cut(lines.Text(), "{")
		if !ok || name != metric {
			continue
		}
		v, err := strconv.ParseFloat(rest[strings.LastIndexByte(rest, ' ')+1:], 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += v
	}
	return sum
}

func promAPISource(t *testing.T, address string) backend.Source {
	t.Helper()
	c, err := config.Parse(fmt.Appendf(nil, "[[source]]\nid = \"prom\"\nkind = \"prometheus-api\"\nurl = \"http://%s\"\nlookback = \"3m\"\nmatchers = { job = \"demo\" }\n", address),
		"test", config.Catalog{Kinds: []backend.SourceKind{promapi.Kind()}})
	if err != nil {
		t.Fatal(err)
	}
	src, err := promapi.Kind().New(c.Sources[0].Options, backend.Deps{ID: "prom", Interval: 5 * time.Second, Deadline: time.Minute,
		Now: time.Now, Spawn: backend.NewSpawner(nil), Cleaner: backend.NewCleaner(), Dial: (&net.Dialer{}).DialContext, Getenv: os.Getenv})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = src.(backend.Closer).Close() })
	return src
}

// counted sums a metric's counts that began before the poll, and those of the poll itself.
func counted(r backend.Reading, metric backend.Metric) (past, present float64) {
	for _, c := range r.Counts {
		switch {
		case c.Series.Name != metric:
		case c.At.Before(r.Started):
			past += c.N
		default:
			present += c.N
		}
	}
	return past, present
}

// TestPrometheusAPIAgreesWithTheDemo holds what the adapter counts through a real server against the page that the
// server scrapes. The server lags by a scrape, so each poll waits until the server knows what the page had before, and the
// page is read again right after it.
func TestPrometheusAPIAgreesWithTheDemo(t *testing.T) {
	t.Parallel()
	page := demoMetrics(t)
	address := realPrometheus(t, strings.TrimSuffix(strings.TrimPrefix(page, "http://"), "/metrics"))
	const evictions = "helix_workspace_evictions_total"
	known := func(value float64) func() bool {
		return func() bool {
			_, sum, err := atPrometheus(address, "sum("+evictions+")")
			return err == nil && sum >= value
		}
	}
	// The past is read in steps of 3 s, a sixtieth of the lookback: the first one that counts lies at most that far behind
	// the first scrape.
	until(t, "Prometheus has scraped the demo for longer than a step", func() bool {
		n, _, err := atPrometheus(address, evictions+" offset 4s")
		return err == nil && n > 0
	})
	first := onPage(t, page, evictions)
	until(t, "the demo evicts", func() bool { return onPage(t, page, evictions) >= first+10 })

	src := promAPISource(t, address)
	poll := func() backend.Reading {
		t.Helper()
		r, err := src.Poll(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Inputs) != 1 || !r.Degraded.IsEmpty() || len(r.Problems) > 0 {
			t.Fatalf("inputs %v, degraded %q, problems %v", r.Inputs, r.Degraded, r.Problems)
		}
		return r
	}
	before := onPage(t, page, evictions)
	until(t, "Prometheus has scraped that", known(before))
	r := poll()
	after := onPage(t, page, evictions)
	past, present := counted(r, backend.MetricEvictions)
	if total := past + present; total < before-first || total > after {
		t.Errorf("the past has %v evictions; the page had %v, then %v to %v", total, first, before, after)
	}

	until(t, "the demo evicts more", func() bool { return onPage(t, page, evictions) >= after+10 })
	grown := onPage(t, page, evictions)
	until(t, "Prometheus has scraped those", known(grown))
	_, got := counted(poll(), backend.MetricEvictions)
	if end := onPage(t, page, evictions); got < grown-after || got > end-before {
		t.Errorf("%v evictions between two polls; the page grew from %v..%v to %v..%v", got, before, after, grown, end)
	}
}
