package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/app"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// incidentSite is a whole installation on loopback and in temporary directories: a Helix server with operators' routes and
// with the health route alone, a Docker engine, a metrics page, the agents' log, their scratch directories and what they
// saved. All of it goes by the site's clock, which runs an hour ahead of the machine's: directories made now are old there.
type incidentSite struct {
	t        *testing.T
	scratch  string // root of the scratch directories
	logFile  string
	refsFile string
	server   *httptest.Server

	mu         sync.Mutex
	clock      time.Time
	sessions   []incidentSession
	containers []incidentContainer
	evictions  float64
	recoveries float64
	perPoll    [2]float64 // by how much the two counters rise at each poll
	lines      []string
	refs       []incidentSession

	tree string      // of a recorded host that the scratch directories are on; empty: this machine
	poll func(n int) // runs before each poll
	out  bool        // a source is down
}

// incidentSession is one session as the aggregate route and the saved state name it. The names are those of
// docs/helix-operator-routes.md.
type incidentSession struct {
	ID         string              `json:"sessionId"`
	Status     string              `json:"status,omitempty"`
	Tenant     string              `json:"tenant,omitempty"`
	StartedAt  int64               `json:"startedAt,omitempty"`
	Branched   string              `json:"branchedFrom,omitempty"`
	Workspaces []incidentWorkspace `json:"workspaces,omitempty"`
	Refs       []incidentRef       `json:"workspaceRefs,omitempty"`
}

type incidentWorkspace struct {
	Name      string `json:"name"`
	State     string `json:"state"`
	LastError string `json:"lastError,omitempty"`
	Attempt   int64  `json:"lastAttemptAt,omitempty"`
	Success   int64  `json:"lastSuccessAt,omitempty"`
	Provider  string `json:"provider,omitempty"`
	SandboxID string `json:"id,omitempty"`
	Destroy   *bool  `json:"destroyOnClose,omitempty"`
}

type incidentRef struct {
	Name     string            `json:"name"`
	Provider string            `json:"providerId"`
	Ref      map[string]string `json:"ref"`
	Schema   int               `json:"schemaVersion"`
}

type incidentContainer struct {
	id, session, workspace string
	killed                 bool // for lack of memory, ten minutes ago; it is no sandbox
}

const incidentAge = 40 * time.Minute

func newIncidentSite(t *testing.T) *incidentSite {
	t.Helper()
	s := &incidentSite{t: t, clock: time.Now().Add(time.Hour).Truncate(time.Second), scratch: t.TempDir()}
	files := t.TempDir()
	s.logFile, s.refsFile = filepath.Join(files, "agent.log"), filepath.Join(files, "refs.json")
	s.server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.server.Close)
	for i := range 6 { // work that goes on undisturbed beside the incident
		s.session(fmt.Sprintf("calm-%d", i), incidentWorkspace{Name: "box", State: "open", Provider: "docker", Attempt: s.ms(time.Minute), Success: s.ms(time.Minute)})
	}
	return s
}

func (s *incidentSite) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clock
}

// ms is a time before now as the framework writes it.
func (s *incidentSite) ms(ago time.Duration) int64 { return s.now().Add(-ago).UnixMilli() }

// session adds a running session.
func (s *incidentSite) session(id string, ws ...incidentWorkspace) *incidentSession {
	s.sessions = append(s.sessions, incidentSession{ID: id, Status: "running", StartedAt: s.ms(3 * time.Hour), Workspaces: ws})
	return &s.sessions[len(s.sessions)-1]
}

// log adds a line to the agents' log.
func (s *incidentSite) log(ago time.Duration, level int, session, msg string, more map[string]string) {
	line := map[string]json.RawMessage{}
	put := func(k string, v json.RawMessage) { line[k] = v }
	put("time", fmt.Appendf(nil, "%d", s.ms(ago)))
	put("level", fmt.Appendf(nil, "%d", level))
	put("msg", fmt.Appendf(nil, "%q", msg))
	if session != "" {
		put("sessionId", fmt.Appendf(nil, "%q", session))
	}
	for k, v := range more {
		put(k, json.RawMessage(v))
	}
	b, err := json.Marshal(line)
	if err != nil {
		s.t.Fatal(err)
	}
	s.lines = append(s.lines, string(b))
}

// ref saves a reference to a container.
func (s *incidentSite) ref(session, container string, schema int) {
	s.refs = append(s.refs, incidentSession{ID: session, Status: "running", Refs: []incidentRef{{Name: "box", Provider: "docker", Ref: map[string]string{"containerId": container}, Schema: schema}}})
}

// container adds a running container of a session.
func (s *incidentSite) container(id, session string) {
	s.containers = append(s.containers, incidentContainer{id: strings.Repeat(id, 64/len(id)), session: session, workspace: "box"})
}

func (s *incidentSite) write() {
	s.t.Helper()
	saved, err := json.Marshal(map[string][]incidentSession{"sessions": s.refs})
	if err != nil {
		s.t.Fatal(err)
	}
	for file, text := range map[string]string{s.logFile: strings.Join(s.lines, "\n") + "\n", s.refsFile: string(saved)} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
}

// everything configures all sources, with the optional facts.
func (s *incidentSite) everything() string {
	address := strings.TrimPrefix(s.server.URL, "http://")
	return fmt.Sprintf(`environment = "incidents"
[[source]]
id = "helix"
kind = "helix"
aggregate_url = "%[1]s/operator/workspaces"
[[source]]
id = "docker"
kind = "docker"
host = "tcp://%[2]s"
[[source]]
id = "tmpdir"
kind = "tmpdir"
roots = [%[3]q]
host_tree = %[6]q
[[source]]
id = "metrics"
kind = "prometheus"
url = "%[1]s/metrics"
[[source]]
id = "logs"
kind = "logs"
files = [%[4]q]
lookback = "1h"
[[source]]
id = "refs"
kind = "refs"
files = [%[5]q]
pointers = { sandbox = ["/ref/containerId"] }
`, s.server.URL, address, s.scratch, s.logFile, s.refsFile, s.tree)
}

// less configures what shows the host and the containers, and nothing that has to be switched on in the framework.
func (s *incidentSite) less() string {
	return fmt.Sprintf("%s[[source]]\nid = \"docker\"\nkind = \"docker\"\nhost = \"tcp://%s\"\n[[source]]\nid = \"tmpdir\"\nkind = \"tmpdir\"\nroots = [%q]\n",
		s.bare(), strings.TrimPrefix(s.server.URL, "http://"), s.scratch)
}

// bare configures the health route of the framework's runbook and nothing else.
func (s *incidentSite) bare() string {
	var ids []string
	for _, x := range s.sessions {
		ids = append(ids, fmt.Sprintf("%q", x.ID))
	}
	return fmt.Sprintf("environment = \"incidents\"\n[[source]]\nid = \"helix\"\nkind = \"helix\"\nurl = \"%s/healthz/{session}\"\nsessions = [%s]\nrequests_per_second = 1000.0\n",
		s.server.URL, strings.Join(ids, ", "))
}

func (s *incidentSite) serve(w http.ResponseWriter, r *http.Request) {
	now := s.now()
	w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
	answer := func(v []byte) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(v)
	}
	id, health := strings.CutPrefix(r.URL.Path, "/healthz/")
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		s.t.Errorf("%s %s would change something", r.Method, r.URL)
	case health:
		status, body := s.health(id)
		w.WriteHeader(status)
		answer(body)
	case r.URL.Path == "/operator/workspaces":
		answer(encoded(s.t, map[string][]incidentSession{"sessions": s.sessions}))
	case r.URL.Path == "/metrics":
		s.mu.Lock()
		defer s.mu.Unlock()
		s.evictions, s.recoveries = s.evictions+s.perPoll[0], s.recoveries+s.perPoll[1]
		fmt.Fprintf(w, "# TYPE helix_workspace_evictions_total counter\nhelix_workspace_evictions_total{provider=\"docker\"} %g\n"+
			"# TYPE helix_workspace_eviction_retries_total counter\nhelix_workspace_eviction_retries_total{provider=\"docker\"} %g\n", s.evictions, s.recoveries)
	default:
		s.engine(w, r, answer)
	}
}

// health answers one session as the framework's runbook writes it: no optional fact, and 404 without a run loop.
func (s *incidentSite) health(id string) (int, []byte) {
	for _, x := range s.sessions {
		if x.ID != id || x.Status != "running" {
			continue
		}
		plain := []incidentWorkspace{}
		for _, w := range x.Workspaces {
			plain = append(plain, incidentWorkspace{Name: w.Name, State: w.State, LastError: w.LastError, Attempt: w.Attempt, Success: w.Success})
		}
		return http.StatusOK, encoded(s.t, map[string][]incidentWorkspace{"workspaces": plain})
	}
	return http.StatusNotFound, []byte(`{"error":"no active session"}`)
}

// engine speaks the part of the Docker Engine API that the adapter reads.
func (s *incidentSite) engine(w http.ResponseWriter, r *http.Request, answer func([]byte)) {
	w.Header().Set("Api-Version", "1.41")
	w.Header().Set("Ostype", "linux")
	_, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v"), "/")
	part := strings.Split(path, "/")
	started := s.now().Add(-3 * time.Hour).UTC().Format(time.RFC3339Nano)
	switch {
	case r.URL.Path == "/_ping":
	case path == "containers/json":
		rows := []string{}
		for _, c := range s.containers {
			state := `"State":"running","Status":"Up 3 hours"`
			if c.killed {
				state = `"State":"exited","Status":"Exited (137) 10 minutes ago"`
			}
			rows = append(rows, fmt.Sprintf(`{"Id":%q,"Names":["/%s"],"Image":"agent:1","Labels":%s,%s,"Mounts":[]}`, c.id, c.name(), c.labels(), state))
		}
		answer([]byte("[" + strings.Join(rows, ",") + "]"))
	case len(part) == 3 && part[2] == "json":
		for _, c := range s.containers {
			if c.id == part[1] {
				state, memory := fmt.Sprintf(`{"Status":"running","Running":true,"StartedAt":%q,"FinishedAt":"0001-01-01T00:00:00Z"}`, started), 0
				if c.killed {
					state, memory = fmt.Sprintf(`{"Status":"exited","OOMKilled":true,"ExitCode":137,"StartedAt":%q,"FinishedAt":%q}`,
						started, s.now().Add(-10*time.Minute).UTC().Truncate(time.Minute).Format(time.RFC3339Nano)), 512<<20
				}
				answer(fmt.Appendf(nil, `{"Id":%q,"Created":%q,"State":%s,"Name":"/%s",`+
					`"HostConfig":{"Memory":%d},"Mounts":[],"Config":{"Image":"agent:1","Labels":%s}}`, c.id, started, state, c.name(), memory, c.labels()))
				return
			}
		}
		http.NotFound(w, r)
	case len(part) == 3 && part[2] == "stats":
		answer(fmt.Appendf(nil, `{"read":%q,"cpu_stats":{"cpu_usage":{"total_usage":1},"system_cpu_usage":9,"online_cpus":2},"memory_stats":{"usage":1000000,"limit":25276510208},"id":%q}`,
			s.now().UTC().Format(time.RFC3339Nano), part[1]))
	default:
		http.NotFound(w, r)
	}
}

func (c incidentContainer) name() string { return c.session + "-" + c.workspace }

func (c incidentContainer) labels() string {
	if c.killed {
		return "{}"
	}
	return fmt.Sprintf(`{"sandglass.session":%q,"sandglass.workspace":%q}`, c.session, c.workspace)
}

func encoded[T any](t *testing.T, v T) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		t.Error(err)
	}
	return b
}

// incidentView is what a console concludes that was started now.
type incidentView struct {
	state  *fleet.State
	board  *alerts.Board
	events []backend.Event
}

// watch starts a console with a configuration and polls a number of times, at the interval.
func (s *incidentSite) watch(config string, polls int) incidentView {
	s.t.Helper()
	p := testProgram(s.now)
	began := s.now()
	p.Mono = func() time.Duration { return s.now().Sub(began) }
	sources, rules := buildConfig(s.t, p, config)
	engine := alerts.NewEngine(rules, "incidents")
	var v incidentView
	f := fleet.New(fleet.Options{Now: p.Now, Mono: p.Mono, Spawn: p.Spawn, LongestOperation: 5 * time.Minute, OnState: func(st *fleet.State) {
		v.state = st
		board, told := engine.Next(v.board, st)
		v.board, v.events = board, slices.Concat(v.events, st.Events, told)
	}})
	app.AddTo(f, sources)
	s.t.Cleanup(f.Close)
	for i := range polls {
		if i > 0 {
			s.mu.Lock()
			s.clock = s.clock.Add(5 * time.Second)
			s.mu.Unlock()
		}
		if s.poll != nil {
			s.poll(i)
		}
		f.PollOnce(s.t.Context())
	}
	if s.out {
		return v
	}
	for _, h := range v.state.Sources {
		if h.Status != fleet.StatusOK {
			s.t.Errorf("source %s is %s: %s %v", h.Key.Source, h.Status, h.Error, h.Problems)
		}
	}
	return v
}
