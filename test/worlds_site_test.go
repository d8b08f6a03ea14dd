package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// worldStart is when every world begins. It lies ahead of the machine's clock, which no world goes by.
var worldStart = time.Date(2040, 3, 24, 23, 30, 0, 0, time.UTC)

// worldSite is an installation on loopback and in temporary directories: an agent server with its registry, list, health
// and metrics routes, a Docker engine, the agents' log, scratch directories, saved references and one host.
type worldSite struct {
	t      *testing.T
	dir    string
	server *httptest.Server
	plan   []worldStep

	mu       sync.Mutex
	clock    time.Time
	began    time.Time // of the world
	sessions []*worldSession
	boxes    []*worldContainer
	killed   []worldKill // containers that reached their limit and are gone
	refs     []worldRef
	counters map[string]float64 // a whole series with its labels, and its value
	host     worldHost
	lines    []string // of the log, not written yet
	saved    string   // what the file of references holds
	log      *os.File

	noDate     bool
	date       time.Time // the Date of all answers; zero: the present
	age        string    // header Age
	answers    map[string]worldAnswer
	docker     http.HandlerFunc // in the place of the engine, nil: nothing is
	refuse     int              // status of every answer of the agent server, 0: none
	skew       time.Duration
	set, slept time.Duration // by how much the console's wall clock was set, and how long its machine slept
	runs       time.Time     // its clock goes on by itself since then; zero: it does not
	told       int           // answers so far that took the place of a route's
}

// worldAnswer takes the place of what a route would answer. Delay holds it back, in the machine's time.
type worldAnswer struct {
	status int
	body   string
	delay  time.Duration
}

// worldStep happens once when it is due, or again and again.
type worldStep struct {
	from, to, every time.Duration
	do              func()
	next            time.Duration
}

// worldSession is one session. Without a registry its health route answers 404 and the aggregate route leaves the key out.
type worldSession struct {
	ID          string            `json:"sessionId"`
	Status      string            `json:"status,omitempty"`
	Tenant      string            `json:"tenant,omitempty"`
	StartedAt   int64             `json:"startedAt,omitempty"`
	Branched    string            `json:"branchedFrom,omitempty"`
	Workspaces  []*worldWorkspace `json:"workspaces,omitempty"`
	unpublished bool
	unlisted    bool
	unnamed     bool
}

// worldWorkspace is one entry of a registry. Does moves it on before each poll.
type worldWorkspace struct {
	Name      string `json:"name,omitempty"`
	State     string `json:"state,omitempty"`
	LastError string `json:"lastError,omitempty"`
	Attempt   int64  `json:"lastAttemptAt,omitempty"`
	Success   int64  `json:"lastSuccessAt,omitempty"`
	Op        int64  `json:"lastOpAt,omitempty"`
	Provider  string `json:"provider,omitempty"`
	Sandbox   string `json:"id,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Share     *bool  `json:"shareAcrossSessions,omitempty"`
	Destroy   *bool  `json:"destroyOnClose,omitempty"`
	does      func(*worldWorkspace)
	salt      int
}

// worldRef is a saved reference to a container.
type worldRef struct {
	Session string
	Status  string
	Name    string
	Sandbox string
	Schema  int
	Saved   time.Time
}

func newWorldSite(t *testing.T) *worldSite {
	t.Helper()
	s := &worldSite{t: t, dir: t.TempDir(), clock: worldStart, began: worldStart, counters: map[string]float64{}, answers: map[string]worldAnswer{},
		host: worldHost{booted: worldStart.Add(-30 * 24 * time.Hour), total: 32 << 30, available: 0.6, free: 0.5, size: 400 << 30}}
	if err := os.Mkdir(s.scratch(), 0o700); err != nil {
		t.Fatal(err)
	}
	s.writeMachine()
	s.openLog()
	s.save("[]")
	s.server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() { s.server.Close(); _ = s.log.Close() })
	return s
}

func (s *worldSite) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runs.IsZero() {
		return s.clock.Add(s.set)
	}
	return s.clock.Add(s.set + time.Since(s.runs))
}

// ms is a moment before now, as the framework writes it by the server's clock.
func (s *worldSite) ms(ago time.Duration) int64 { return s.clock.Add(s.skew - ago).UnixMilli() }

// at, every and while lay out what happens, by the time since the console was first started.
func (s *worldSite) at(when time.Duration, do func()) { s.every(when, when, time.Hour, do) }

func (s *worldSite) every(from, to, each time.Duration, do func()) {
	s.plan = append(s.plan, worldStep{from: from, to: to, every: each, do: do, next: from})
}

// advance moves the clock on and lets happen what is due.
func (s *worldSite) advance(by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock = s.clock.Add(by)
	since := s.clock.Sub(s.began)
	for i := range s.plan {
		for p := &s.plan[i]; p.next <= since && p.next <= p.to; p.next += p.every {
			p.do()
		}
	}
	for _, x := range s.sessions {
		for _, w := range x.Workspaces {
			if w.does != nil {
				w.does(w)
			}
		}
	}
	s.flush()
}

// session adds a running session with workspaces of the given kind.
func (s *worldSite) session(id string, ws ...*worldWorkspace) *worldSession {
	x := &worldSession{ID: id, Status: "running", StartedAt: s.ms(3 * time.Hour), Workspaces: ws}
	for i, w := range ws {
		w.salt = len(s.sessions)*7 + i
		if w.does != nil {
			w.does(w)
		}
	}
	s.sessions = append(s.sessions, x)
	return x
}

// fleet adds n running sessions with one workspace each, at work.
func (s *worldSite) fleet(n int, name string) []*worldSession {
	var out []*worldSession
	for i := range n {
		out = append(out, s.session(fmt.Sprintf("%s-%d", name, i), s.box()))
	}
	return out
}

// box is a healthy workspace at work: a use every half minute, which succeeds.
func (s *worldSite) box() *worldWorkspace {
	return &worldWorkspace{Name: "box", State: "open", Provider: "docker", does: s.works}
}

func (s *worldSite) works(w *worldWorkspace) {
	if t := s.ms(0) - int64(w.salt*1777%30000); t-w.Attempt >= 30000 || w.State != "open" {
		w.State, w.LastError, w.Attempt, w.Success = "open", "", t, t+300
	}
}

// rests does nothing: nobody uses the workspace.
func rests(*worldWorkspace) {}

// fails lets every attempt fail, one every half minute; the state is failed.
func (s *worldSite) fails(text string) func(*worldWorkspace) {
	return s.tries("failed", text, 30*time.Second)
}

// evicted lets every attempt meet an eviction.
func (s *worldSite) evicted(w *worldWorkspace) {
	s.tries("evicted", "WorkspaceEvictedError: sandbox instance is gone", 30*time.Second)(w)
}

func (s *worldSite) tries(state, text string, each time.Duration) func(*worldWorkspace) {
	return func(w *worldWorkspace) {
		if w.State != state || s.ms(0)-w.Attempt >= each.Milliseconds() {
			w.State, w.LastError, w.Attempt = state, text, s.ms(time.Duration(w.salt%5)*100*time.Millisecond)
		}
	}
}

// old is a workspace that nobody has used since then; with a text it failed then.
func (s *worldSite) old(ago time.Duration, state, text string) *worldWorkspace {
	w := &worldWorkspace{Name: "box", State: state, Provider: "docker", LastError: text, Attempt: s.ms(ago), Success: s.ms(ago)}
	if text != "" {
		w.Success = s.ms(ago + time.Minute)
	}
	return w
}

// all lets every workspace of these sessions do something else from now on.
func all(of []*worldSession, do func(*worldWorkspace)) {
	for _, x := range of {
		for _, w := range x.Workspaces {
			w.does = do
			if do != nil {
				do(w)
			}
		}
	}
}

// ends ends sessions: their registries close, and the list calls them completed.
func ends(of ...*worldSession) {
	for _, x := range of {
		x.Status, x.Workspaces, x.unpublished = "completed", nil, true
	}
}

// unlist takes sessions out of the list; their own routes answer as before.
func unlist(of ...*worldSession) {
	for _, x := range of {
		x.unnamed = true
	}
}

// vanish takes sessions out of every list, and closes their registries.
func vanish(of ...*worldSession) {
	for _, x := range of {
		x.unlisted = true
	}
}

func (s *worldSite) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		s.t.Errorf("%s %s would change something", r.Method, r.URL)
	}
	s.mu.Lock()
	a, told := s.answers[r.URL.Path]
	refuse := s.refuse
	s.mu.Unlock()
	if s.docker != nil && engineRoute(r) {
		s.docker(w, r)
		return
	}
	if told && a.delay > 0 {
		select {
		case <-time.After(a.delay):
		case <-r.Context().Done():
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.headers(w)
	switch id, health := strings.CutPrefix(r.URL.Path, "/healthz/"); {
	case told:
		w.WriteHeader(a.status)
		fmt.Fprint(w, strings.ReplaceAll(a.body, "%d", strconv.Itoa(s.told)))
		s.told++
	case engineRoute(r):
		s.engine(w, r)
	case refuse != 0:
		w.WriteHeader(refuse)
		fmt.Fprint(w, `{"error":"not now"}`)
	case health:
		s.health(w, id)
	case r.URL.Path == "/operator/sessions":
		s.list(w, false)
	case r.URL.Path == "/operator/workspaces":
		s.list(w, true)
	case r.URL.Path == "/metrics":
		for series, v := range s.counters {
			fmt.Fprintf(w, "%s %g\n", series, v)
		}
	default:
		http.NotFound(w, r)
	}
}

func engineRoute(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/v1.") || r.URL.Path == "/_ping"
}

func (s *worldSite) headers(w http.ResponseWriter) {
	switch {
	case s.noDate:
		w.Header()["Date"] = nil
	case !s.date.IsZero():
		w.Header().Set("Date", s.date.UTC().Format(http.TimeFormat))
	default:
		w.Header().Set("Date", s.clock.Add(s.skew).UTC().Format(http.TimeFormat))
	}
	if s.age != "" {
		w.Header().Set("Age", s.age)
	}
}

func (s *worldSite) health(w http.ResponseWriter, id string) {
	for _, x := range s.sessions {
		if x.ID == id && !x.unpublished && !x.unlisted {
			s.answer(w, map[string][]*worldWorkspace{"workspaces": x.Workspaces})
			return
		}
	}
	w.WriteHeader(http.StatusNotFound)
	fmt.Fprint(w, `{"error":"no active session"}`)
}

func (s *worldSite) list(w http.ResponseWriter, workspaces bool) {
	rows := []worldSession{}
	for _, x := range s.sessions {
		if x.unlisted || x.unnamed {
			continue
		}
		row := *x
		if !workspaces || x.unpublished {
			row.Workspaces = nil
		}
		rows = append(rows, row)
	}
	s.answer(w, map[string][]worldSession{"sessions": rows})
}

func (s *worldSite) answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		s.t.Error(err)
	}
}
