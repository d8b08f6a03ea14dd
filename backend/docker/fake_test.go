package docker

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"

	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/workdir"
)

// fakeEngine speaks the part of the Engine API that the adapter uses, over a Unix socket. Bodies have the shape that
// an Engine 20.10.24 gave on a test machine.
type fakeEngine struct {
	t    *testing.T
	path string
	hold chan struct{} // looks at paths are not answered until it is closed; nil: at once

	mu         sync.Mutex
	api        string
	containers map[string]*fakeContainer
	order      []string
	volumes    string   // JSON of the answer to /volumes
	requests   []string // "GET /v1.41/containers/json?all=1"
	versions   map[string]bool
	override   func(w http.ResponseWriter, r *http.Request) bool // true: answered
	streams    []chan string
	refuse     bool // events
	since      []string
}

type fakeContainer struct {
	id, name, image, state, status string
	labels                         map[string]string
	env                            []string
	mounts                         string // JSON of the Mounts array
	stateJSON                      string // more members of State, with a leading comma
	restarts                       int
	memory                         int64
	cpu                            int64 // ns
	usage                          int64
	read                           time.Time
	stats                          string // instead of the usual body
	cmd                            []string
	startError                     string
	log                            []string // lines on stderr
	policy                         string
	runtime                        string
	paths                          map[string]any // a mode, the target of a link, or the status of an error; else 404
	user                           string
	threads                        string // the states of the main process's threads
}

func newFake(t *testing.T) *fakeEngine {
	t.Helper()
	f := &fakeEngine{t: t, api: "1.41", containers: map[string]*fakeContainer{}, versions: map[string]bool{}}
	f.path, _ = backendtest.OnSocket(t, f.serve)
	t.Cleanup(f.breakStreams)
	return f
}

func (f *fakeEngine) add(c *fakeContainer) *fakeContainer {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c.state == "" {
		c.state, c.status = "running", "Up 3 seconds"
	}
	if c.image == "" {
		c.image = "agent:1"
	}
	if c.mounts == "" {
		c.mounts = "[]"
	}
	f.containers[c.id] = c
	f.order = append(f.order, c.id)
	return c
}

func (f *fakeEngine) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
}

// taken returns the requests since the last call.
func (f *fakeEngine) taken() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.requests
	f.requests = nil
	return out
}

func countOf(requests []string, part string) int {
	n := 0
	for _, r := range requests {
		if strings.Contains(r, part) {
			n++
		}
	}
	return n
}

func (f *fakeEngine) emit(line string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.streams {
		s <- line
	}
}

func event(action, id, name string, nano int64, more string) string {
	return fmt.Sprintf(`{"status":%q,"id":%q,"Type":"container","Action":%q,"Actor":{"ID":%q,"Attributes":{"image":"agent:1","name":%q%s}},"scope":"local","time":%d,"timeNano":%d}`,
		action, id, action, id, name, more, nano/1e9, nano)
}

func quote(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func (f *fakeEngine) serve(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.requests = append(f.requests, r.Method+" "+r.URL.RequestURI())
	override, api := f.override, f.api
	f.mu.Unlock()
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		f.t.Errorf("a changing request reached the engine: %s %s", r.Method, r.URL)
	}
	if override != nil && override(w, r) {
		return
	}
	w.Header().Set("Api-Version", api)
	w.Header().Set("Ostype", "linux")
	if r.URL.Path == "/_ping" {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	version, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v"), "/")
	f.mu.Lock()
	f.versions[version] = true
	f.mu.Unlock()
	id := strings.Split(path, "/")
	switch {
	case path == "containers/json":
		f.list(w)
	case path == "volumes":
		f.mu.Lock()
		fmt.Fprint(w, f.volumes)
		f.mu.Unlock()
	case path == "events":
		f.stream(w, r)
	case len(id) == 3 && id[2] == "json":
		f.inspect(w, id[1])
	case len(id) == 3 && id[2] == "archive":
		f.archive(w, r, id[1])
	case len(id) == 3 && id[2] == "top":
		f.top(w, r, id[1])
	case len(id) == 3 && id[2] == "logs":
		f.logs(w, r, id[1])
	case len(id) == 3 && id[2] == "stats":
		f.stats(w, id[1])
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"message":"page not found"}`)
	}
}

func (f *fakeEngine) list(w http.ResponseWriter) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var lines []string
	for _, id := range f.order {
		c := f.containers[id]
		if c == nil {
			continue
		}
		lines = append(lines, fmt.Sprintf(`{"Id":%q,"Names":[%s],"Image":%q,"ImageID":"sha256:1d3a","Command":"sleep 1000","Created":1795255234,"Ports":[],"Labels":%s,"State":%q,"Status":%q,"HostConfig":{"NetworkMode":"none"},"NetworkSettings":{"Networks":{}},"Mounts":%s}`,
			c.id, quote("/"+c.name), c.image, quote(c.labels), c.state, c.status, c.mounts))
	}
	fmt.Fprintf(w, "[%s]\n", strings.Join(lines, ","))
}

func (f *fakeEngine) inspect(w http.ResponseWriter, id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.containers[id]
	if c == nil {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"message":"No such container: %s"}`, id)
		return
	}
	more := c.stateJSON
	if more == "" {
		more = `,"OOMKilled":false,"ExitCode":0,"StartedAt":"2026-11-21T10:00:34.924020797Z","FinishedAt":"0001-01-01T00:00:00Z"`
	}
	fmt.Fprintf(w, `{"Id":%q,"Created":"2026-11-21T10:00:34.661913756Z","Path":"sleep","Args":["1000"],"State":{"Status":%q,"Running":%t,"Pid":12725,"Error":%s%s},"Image":"sha256:1d3a","Name":%s,"RestartCount":%d,"Driver":"vfs","Platform":"linux","ExecIDs":null,"HostConfig":{"NetworkMode":"none","RestartPolicy":{"Name":%q,"MaximumRetryCount":0},"Memory":%d,"PidsLimit":null,"Runtime":%q,"Dns":[]},"Mounts":%s,"Config":{"Hostname":"7c02186f12ff","Env":%s,"Cmd":%s,"Image":%q,"WorkingDir":"/work","User":%s,"Labels":%s},"NetworkSettings":{"Networks":{"none":{}}}}`+"\n",
		c.id, c.state, c.state == "running", quote(c.startError), more, quote("/"+c.name), c.restarts, cmp.Or(c.policy, "no"), c.memory, c.runtime, c.mounts, quote(c.env), quote(c.cmd), c.image, quote(c.user), quote(c.labels))
}

// logs answers in frames: stream 2 is stderr.
func (f *fakeEngine) logs(w http.ResponseWriter, r *http.Request, id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := strconv.Atoi(r.URL.Query().Get("tail"))
	if err != nil || f.containers[id] == nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	lines := f.containers[id].log
	for _, l := range lines[max(0, len(lines)-n):] {
		_, _ = w.Write(binary.BigEndian.AppendUint32([]byte{2, 0, 0, 0}, uint32(len(l)+1)))
		_, _ = io.WriteString(w, l+"\n")
	}
}

// archive answers HEAD as an engine does: a path that is missing and a container that is missing look the same.
func (f *fakeEngine) archive(w http.ResponseWriter, r *http.Request, id string) {
	if f.hold != nil {
		<-f.hold
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.Method != http.MethodHead {
		f.t.Errorf("%s %s", r.Method, r.URL)
	}
	c, path := f.containers[id], r.URL.Query().Get("path")
	if c == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	st := container.PathStat{Name: path, Mode: fs.ModeDir | 0o755}
	switch x := c.paths[path].(type) {
	case int:
		w.WriteHeader(x)
		return
	case fs.FileMode:
		st.Mode = x
	case string:
		st.Mode, st.LinkTarget = fs.ModeSymlink|0o777, x
	default:
		if path != "/" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
	}
	w.Header().Set("X-Docker-Container-Path-Stat", base64.StdEncoding.EncodeToString([]byte(quote(st))))
}

func (f *fakeEngine) top(w http.ResponseWriter, r *http.Request, id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if got := r.URL.Query().Get("ps_args"); got != workdir.PS {
		f.t.Errorf("ps %s", got)
	}
	var rows [][]string
	for i, s := range f.containers[id].threads {
		rows = append(rows, []string{"12725", "12700", strconv.Itoa(12725 + i), string(s) + "sl", "00:00:00", "node"})
	}
	fmt.Fprintf(w, `{"Titles":["PID","PPID","LWP","STAT","TIME","COMMAND"],"Processes":%s}`, quote(rows))
}

func (f *fakeEngine) stats(w http.ResponseWriter, id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.containers[id]
	if c == nil {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"message":"No such container: %s"}`, id)
		return
	}
	if c.stats != "" {
		fmt.Fprint(w, c.stats)
		return
	}
	read := c.read
	if read.IsZero() {
		read = time.Date(2026, 11, 21, 10, 0, 38, 0, time.UTC)
	}
	fmt.Fprintf(w, `{"read":%q,"preread":"0001-01-01T00:00:00Z","pids_stats":{"current":2},"cpu_stats":{"cpu_usage":{"total_usage":%d},"system_cpu_usage":3323130000000,"online_cpus":2},"precpu_stats":{"cpu_usage":{"total_usage":0}},"memory_stats":{"usage":%d,"stats":{"total_inactive_file":1000,"inactive_file":7},"limit":25276510208},"name":"/x","id":%q}`,
		read.Format(time.RFC3339Nano), c.cpu, c.usage, id)
}

func (f *fakeEngine) stream(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	if f.refuse {
		f.mu.Unlock()
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"message":"events are not allowed here"}`)
		return
	}
	lines := make(chan string, 10000)
	f.streams = append(f.streams, lines)
	f.since = append(f.since, r.URL.Query().Get("since"))
	f.mu.Unlock()
	w.(http.Flusher).Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case line, ok := <-lines:
			if !ok {
				return
			}
			fmt.Fprintln(w, line)
			w.(http.Flusher).Flush()
		}
	}
}

// breakStreams ends every open event stream.
func (f *fakeEngine) breakStreams() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.streams {
		close(s)
	}
	f.streams = nil
}

func testDeps(t *testing.T, c *backendtest.Clock) backend.Deps {
	t.Helper()
	d := net.Dialer{}
	return backend.Deps{ID: "docker-local", Interval: 5 * time.Second, Deadline: time.Minute, Now: c.Now,
		Cleaner: backend.NewCleaner("our-own-secret"), Dial: d.DialContext, Getenv: func(string) string { return "" }}
}

// source makes a Source that reads the fake, with a clock that stands at the present moment.
func (f *fakeEngine) source(set func(*Options)) (*Source, *backendtest.Clock) {
	f.t.Helper()
	c := backendtest.NewClock(time.Now())
	src, err := Kind().New(backendtest.Options[Options](func(o *Options) {
		o.Host, o.WorkdirSweep, o.FrozenAfter = "unix://"+f.path, 0, 0
		if set != nil {
			set(o)
		}
	}), testDeps(f.t, c))
	if err != nil {
		f.t.Fatal(err)
	}
	s := src.(*Source)
	s.check.host.Proc = f.t.TempDir() // no process of any container is to be seen there
	s.check.roots.Unpaced()
	s.check.tops.Unpaced()
	f.t.Cleanup(func() { _ = s.Close() })
	return s, c
}

// mustPoll polls as a console does, and returns when what runs beside the poll has ended.
func mustPoll(t *testing.T, s *Source) backend.Reading {
	t.Helper()
	r, err := s.PollParts(t.Context(), func(backend.Reading) {})
	if err != nil {
		t.Fatalf("poll: %v", err)
	}
	eventually(t, "the samples are taken", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return !s.batch.running && !s.check.running
	})
	return r
}

// measured polls twice: the second poll merges the samples that the first asked for.
func measured(t *testing.T, s *Source) backend.Reading {
	t.Helper()
	mustPoll(t, s)
	return mustPoll(t, s)
}

func find(t *testing.T, r backend.Reading, id string) *backend.Sandbox {
	t.Helper()
	for _, b := range r.Sandboxes {
		if b.Key.ID.Raw() == id {
			return b
		}
	}
	t.Fatalf("no sandbox %q in the reading", id)
	return nil
}

// watching starts a watch and returns when the stream is open; changed receives its calls.
func watching(t *testing.T, s *Source) (changed chan struct{}, ended chan error) {
	t.Helper()
	changed, ended = make(chan struct{}, 100), make(chan error, 1)
	go func() { ended <- s.Watch(t.Context(), func() { changed <- struct{}{} }) }()
	eventually(t, "the event stream is open", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.pend.open
	})
	return changed, ended
}

// eventually waits for what another goroutine does; it fails the test after a minute.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	end := time.NewTimer(time.Minute)
	defer end.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-end.C:
			t.Fatalf("not within a minute: %s", what)
		}
	}
}
