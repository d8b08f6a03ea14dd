package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sandglass/demo"
	"sandglass/internal/skip"
)

var metricsURL = regexp.MustCompile(`url = "(http://127\.0\.0\.1:\d+/metrics)"`)

// demoMetrics starts a demo and returns the address of its metrics page.
func demoMetrics(t *testing.T) string {
	t.Helper()
	d, err := demo.Start(t.Context(), demo.Options{Workspaces: 60, Seed: 1, Scenario: "eviction-storm"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	m := metricsURL.FindStringSubmatch(d.Config())
	if m == nil {
		t.Fatalf("the demo's configuration names no metrics page:\n%s", d.Config())
	}
	return m[1]
}

func TestPromtoolAcceptsTheDemosMetrics(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		skip.Without(t, "promtool", err.Error())
	}
	resp, err := http.Get(demoMetrics(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	cmd := exec.Command(promtool, "check", "metrics")
	cmd.Stdin = resp.Body
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}

func TestRealPrometheusScrapesTheDemo(t *testing.T) {
	binary, err := exec.LookPath("prometheus")
	if err != nil {
		skip.Without(t, "prometheus", err.Error())
	}
	target := strings.TrimSuffix(strings.TrimPrefix(demoMetrics(t), "http://"), "/metrics")
	dir := t.TempDir()
	cfg := fmt.Sprintf("global:\n  scrape_interval: 1s\nscrape_configs:\n  - job_name: demo\n    static_configs:\n      - targets: [%q]\n", target)
	if err := os.WriteFile(filepath.Join(dir, "p.yml"), []byte(cfg), 0o600); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, binary, "--config.file="+filepath.Join(dir, "p.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+address, "--log.level=error")
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	want := "helix_workspace_evictions_total"
	for end := time.Now().Add(40 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		if n, err := seriesOf(address, want); err == nil && n > 0 {
			return
		} else if time.Now().After(end) {
			t.Fatalf("Prometheus knows no series of %s: %v\n%s", want, err, log.String())
		}
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// seriesOf asks a Prometheus server how many series of a metric it has scraped from targets that are up.
func seriesOf(address, metric string) (int, error) {
	resp, err := http.Get("http://" + address + "/api/v1/query?query=" + metric)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	var doc struct {
		Status string
		Data   struct{ Result []json.RawMessage }
	}
	if err := json.NewDecoder(resp.Body).Decode(&doc); err != nil {
		return 0, err
	}
	if doc.Status != "success" {
		return 0, errors.New(doc.Status)
	}
	return len(doc.Data.Result), nil
}
