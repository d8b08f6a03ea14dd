package test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/common/model"

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

var listensOn = regexp.MustCompile(`msg="Listening on".* address=(127\.0\.0\.1:\d+)`)

// realPrometheus starts a Prometheus server that scrapes a target every second, and returns its address: the system chooses
// the port, and the server's log names it.
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
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, binary, "--config.file="+filepath.Join(dir, "p.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address=127.0.0.1:0", "--log.level=info")
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	log, read := io.TeeReader(pipe, t.Output()), make(chan struct{})
	t.Cleanup(func() { cancel(); <-read; _ = cmd.Wait() })
	for lines := bufio.NewScanner(log); lines.Scan(); {
		if m := listensOn.FindStringSubmatch(lines.Text()); m != nil {
			go func() { defer close(read); _, _ = io.Copy(io.Discard, log) }()
			return m[1]
		}
	}
	close(read)
	t.Fatal("Prometheus ended, and its log names no address")
	return ""
}

func TestRealPrometheusScrapesTheDemo(t *testing.T) {
	t.Parallel()
	address := realPrometheus(t, strings.TrimSuffix(strings.TrimPrefix(demoMetrics(t), "http://"), "/metrics"))
	until(t, "Prometheus has scraped the demo", func() bool {
		n, _, err := atPrometheus(address, "helix_workspace_evictions_total")
		return err == nil && n > 0
	})
}

// atPrometheus asks a Prometheus server for the present values of a query: how many series there are, and their sum.
func atPrometheus(address, query string) (series int, sum float64, err error) {
	resp, err := http.Get("http://" + address + "/api/v1/query?query=" + url.QueryEscape(query))
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	var doc struct {
		Status string
		Data   struct{ Result model.Vector }
	}
	if err := json.NewDecoder(resp.Body).Decode(&doc); err != nil {
		return 0, 0, err
	}
	if doc.Status != "success" {
		return 0, 0, errors.New(doc.Status)
	}
	for _, x := range doc.Data.Result {
		sum += float64(x.Value)
	}
	return len(doc.Data.Result), sum, nil
}
