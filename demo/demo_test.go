package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/moby/moby/client"
	"github.com/pelletier/go-toml/v2"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type configRead struct {
	Environment string
	StateDir    string `toml:"state_dir"`
	Source      []sourceRead
	Rules       map[string]map[string]string
}

type sourceRead struct {
	ID, Kind, URL, Host string
	Client              string
	ListURL             string `toml:"list_url"`
	AggregateURL        string `toml:"aggregate_url"`
	Interval            string
	About               []string
	Files               []string
	Roots               []string
	Pattern             string
	TmpdirPattern       string `toml:"tmpdir_pattern"`
	FrozenLooks         int    `toml:"frozen_looks"`
	WalkInterval        string `toml:"walk_interval"`
	RequestsPerSecond   int    `toml:"requests_per_second"`
	Actions             []string
	SessionLifetime     string   `toml:"session_lifetime"`
	CleanOlderThan      string   `toml:"clean_older_than"`
	HostTree            string   `toml:"host_tree"`
	EngineSockets       []string `toml:"engine_sockets"`
	MemoryLimit         string   `toml:"memory_limit"`
	Regions             []string
	Org                 string
	AccountID           string `toml:"account_id"`
	BridgeURL           string `toml:"bridge_url"`
	OpsPrefix           string `toml:"ops_prefix"`
	Sandboxes           []string
	Workspace           string
	SessionLabel        string `toml:"session_label"`
	Layout              string
	Lookback            string
	Bridge              struct{ File string }
	APIURL              string `toml:"api_url"`
	HubURL              string `toml:"hub_url"`
	Read                struct{ File string }
	Act                 struct{ File string }
	Reset               struct{ URL string }
}

func readConfig(t *testing.T, text string) map[string]sourceRead {
	t.Helper()
	var c configRead
	d := toml.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if c.Environment != "demo" || !strings.HasPrefix(text, "# demo: ") || c.StateDir == "" {
		t.Errorf("config begins %.80q, environment %q, state directory %q", text, c.Environment, c.StateDir)
	}
	out := map[string]sourceRead{}
	for _, s := range c.Source {
		out[s.ID] = s
	}
	return out
}

func get(t *testing.T, url string) int {
	t.Helper()
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Get(url)
	if err != nil {
		return 0
	}
	_, err = io.Copy(io.Discard, resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		t.Error(err)
	}
	return resp.StatusCode
}

func TestDemoStartsAnswersAndCleansUp(t *testing.T) {
	d, err := Start(t.Context(), Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	sources := readConfig(t, d.Config())
	eu, us := sources["helix-eu"], sources["helix-us"]
	for _, url := range []string{eu.ListURL, eu.AggregateURL, us.ListURL, sources["metrics"].URL, strings.TrimSuffix(eu.URL, "/{session}")} {
		if got := get(t, url); got != http.StatusOK {
			t.Errorf("%s answers %d", url, got)
		}
	}
	if got := get(t, strings.ReplaceAll(us.URL, "{session}", "none")); got != http.StatusNotFound || us.AggregateURL != "" {
		t.Errorf("%s answers %d, aggregate route %q", us.URL, got, us.AggregateURL)
	}
	for _, f := range sources["agent-log"].Files {
		if info, err := os.Stat(f); err != nil || info.Size() < 1000 {
			t.Errorf("log %s: %v", f, err)
		}
	}
	dirs, err := filepath.Glob(filepath.Join(sources["scratch"].Roots[0], sources["scratch"].Pattern))
	if err != nil || len(dirs) < scratchDirs || sources["docker-demo"].TmpdirPattern != filepath.Join(sources["scratch"].Roots[0], "helix-ws-*") {
		t.Errorf("%d scratch directories, %v", len(dirs), err)
	}
	listContainers(t, sources["docker-demo"].Host)
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(d.dir); !os.IsNotExist(err) {
		t.Errorf("the directory is still there: %v", err)
	}
	if err := d.Wait(); err != nil {
		t.Errorf("a demo that was closed failed: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
}

func listContainers(t *testing.T, host string) {
	t.Helper()
	c, err := client.New(client.WithHost(host))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	list, err := c.ContainerList(t.Context(), client.ContainerListOptions{All: true})
	if err != nil || len(list.Items) < 195 {
		t.Errorf("%d containers, %v", len(list.Items), err)
	}
}

func TestDemoEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	d, err := Start(ctx, Options{Workspaces: 50, Scenario: "calm"})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := d.Wait(); err != nil {
		t.Errorf("a demo whose context ended failed: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func TestDemoRefusesWrongOptions(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]Options{
		"no scenario":  {Scenario: "clam"},
		"1 to 100000":  {Workspaces: maxWorkspaces + 1},
		"not empty":    {Dir: full},
		"shorter dire": {Dir: filepath.Join(os.TempDir(), strings.Repeat("x", 120))},
	} {
		d, err := Start(t.Context(), o)
		if err == nil {
			t.Errorf("%+v is accepted: %v", o, d.Close())
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := os.Stat(filepath.Join(full, "mine")); err != nil {
		t.Errorf("somebody's file is gone: %v", err)
	}
}

func TestSourceDiesAndComesBack(t *testing.T) {
	var now atomic.Int64
	d, err := start(t.Context(), Options{Workspaces: 60, Scenario: "source-outage", Start: testStart}, func() time.Duration { return time.Duration(now.Load()) })
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	url := readConfig(t, d.Config())["helix-us"].ListURL
	for _, step := range []struct {
		at   time.Duration
		want int
	}{{0, http.StatusOK}, {46 * time.Second, 0}, {10 * time.Minute, http.StatusOK}} {
		now.Store(int64(step.at))
		// The director looks every 250 ms; the answer changes with its next look.
		for deadline := time.Now().Add(10 * time.Second); get(t, url) != step.want; {
			if time.Now().After(deadline) {
				t.Fatalf("at %s the list route does not answer %d", step.at, step.want)
			}
		}
	}
}

func TestFailureOfAWriterEndsTheDemo(t *testing.T) {
	var now atomic.Int64
	d, err := start(t.Context(), Options{Workspaces: 60, Scenario: "tmp-leak", Start: testStart}, func() time.Duration { return time.Duration(now.Load()) })
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(d.dir, "tmp")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.dir, "tmp"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	now.Store(int64(time.Minute))
	if err := d.Wait(); err == nil || !strings.Contains(err.Error(), "scratch directory") {
		t.Errorf("the demo ended with %v", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func TestPanicInAServerIsAFailure(t *testing.T) {
	c := newTaskGroup(t.Context())
	g := &gate{name: "boom", network: "tcp", addr: "127.0.0.1:0", group: c, handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("boom") })}
	if err := g.open(); err != nil {
		t.Fatal(err)
	}
	if err := g.answers(t.Context(), "/"); err == nil {
		t.Error("a panic is an answer")
	}
	if err := c.wait(); err == nil || !strings.Contains(err.Error(), "panic: boom") {
		t.Errorf("ended with %v", err)
	}
	g.shut()
	c.end()
}

func TestQuoteIsTOML(t *testing.T) {
	const odd = "a\"b\\c\x01\x7f\té\n"
	var got struct{ V string }
	if err := toml.Unmarshal([]byte(fmt.Sprintf("V = %s", quote(odd))), &got); err != nil || got.V != odd {
		t.Errorf("%q becomes %q, %v", odd, got.V, err)
	}
}
