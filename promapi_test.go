package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/promapi"
	"sandglass/config"
	"sandglass/internal/skip"
)

// realPrometheus starts a Prometheus server that scrapes a target every second, and returns its address.
func realPrometheus(t *testing.T, target string) string {
	t.Helper()
	binary, err := exec.LookPath("prometheus")
	if err != nil {
		skip.Without(t, "prometheus", err.Error())
	}
	dir := t.TempDir()
	cfg := fmt.Sprintf("global:\n  scrape_interval: 1s\nscrape_configs:\n  - job_name: demo\n    static_configs:\n      - targets: [%q]\n", target)
	if err := os.WriteFile(filepath.Join(dir, "p.yml"), []byte(cfg), 0o600); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, binary, "--config.file="+filepath.Join(dir, "p.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+address, "--log.level=error")
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	return address
}

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
	c, err := config.Parse(fmt.Appendf(nil, "[[source]]\nid = \"prom\"\nkind = \"prometheus-api\"\nurl = \"http://%s\"\nlookback = \"60s\"\nmatchers = { job = \"demo\" }\n", address),
		"test", config.Known{Kinds: []backend.SourceKind{promapi.Kind()}})
	if err != nil {
		t.Fatal(err)
	}
	src, err := promapi.Kind().New(c.Sources[0].Options, backend.Deps{ID: "prom", Interval: 5 * time.Second, Deadline: 10 * time.Second,
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
// server scrapes. The server lags by a scrape, so the page is read some time before and right after each poll.
func TestPrometheusAPIAgreesWithTheDemo(t *testing.T) {
	if _, err := exec.LookPath("prometheus"); err != nil {
		skip.Without(t, "prometheus", err.Error())
	}
	page := demoMetrics(t)
	address := realPrometheus(t, strings.TrimSuffix(strings.TrimPrefix(page, "http://"), "/metrics"))
	const evictions, lag = "helix_workspace_evictions_total", 2500 * time.Millisecond
	until := func(what string, done func() bool) {
		t.Helper()
		for end := time.Now().Add(40 * time.Second); !done(); time.Sleep(200 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("waited 40s in vain: %s", what)
			}
		}
	}
	until("Prometheus has scraped the demo", func() bool { n, err := seriesOf(address, evictions); return err == nil && n > 0 })
	time.Sleep(lag)
	first := onPage(t, page, evictions)
	until("the demo evicts", func() bool { return onPage(t, page, evictions) >= first+10 })

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
	time.Sleep(lag)
	r := poll()
	after := onPage(t, page, evictions)
	past, present := counted(r, backend.MetricEvictions)
	if total := past + present; total < before-first || total > after {
		t.Errorf("the past has %v evictions; the page had %v, then %v to %v", total, first, before, after)
	}

	until("the demo evicts more", func() bool { return onPage(t, page, evictions) >= after+10 })
	grown := onPage(t, page, evictions)
	time.Sleep(lag)
	_, got := counted(poll(), backend.MetricEvictions)
	if end := onPage(t, page, evictions); got < grown-after || got > end-before {
		t.Errorf("%v evictions between two polls; the page grew from %v..%v to %v..%v", got, before, after, grown, end)
	}
}
