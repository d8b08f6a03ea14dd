package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// recorded is one exchange with the real server.
type recorded struct {
	Request struct {
		Method, Path string
		Headers      map[string]string
		Body         json.RawMessage
		RawBody      string `json:"raw_body"`
	}
	Response struct {
		Status      int
		ContentType string `json:"content_type"`
		Body        json.RawMessage
	}
}

func load(t *testing.T, name string) *recorded {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	x := &recorded{}
	if err := json.Unmarshal(raw, x); err != nil {
		t.Fatal(err)
	}
	return x
}

// body is the answer as it came: a stream, a page or a plain text was kept as a JSON string.
func (x *recorded) body() []byte {
	var text string
	if json.Unmarshal(x.Response.Body, &text) == nil {
		return []byte(text)
	}
	return x.Response.Body
}

func (x *recorded) refusal() Refusal {
	return ReadRefusal(x.Response.Status, http.Header{"Content-Type": {x.Response.ContentType}}, x.body())
}

func must(c Call, err error) *Call {
	if err != nil {
		panic(err)
	}
	return &c
}

// told is what our readers make of a sample.
func told(t *testing.T, name string) string {
	t.Helper()
	x := load(t, name)
	line := func(p Process) string {
		code, known := p.ExitCode.Get()
		exit := "unknown"
		if known {
			exit = fmt.Sprint(code)
		} else if p.ExitCode.IsNotApplicable() {
			exit = "none"
		}
		return fmt.Sprintf("%s %s %s %s over %t exit %s in %q restarts %d out %q err %q", p.PID, p.Name, p.Status, p.Class(), p.Over(), exit, p.Dir, p.Restarts, p.Stdout, p.Stderr)
	}
	if x.Response.Status != http.StatusOK {
		r := x.refusal()
		return fmt.Sprintf("%d %s: %s: %s", r.Status, r.Origin, r.Meaning(), r.Message)
	}
	switch path, _, _ := strings.Cut(x.Request.Path, "?"); {
	case x.Request.Method == http.MethodHead, strings.HasPrefix(path, "/watch/"), strings.HasPrefix(path, "/terminal/"), path == "/":
		return "never asked"
	case strings.HasPrefix(path, "/filesystem-"), strings.HasPrefix(path, "/network/"), x.Request.Method == http.MethodPut:
		return "never asked"
	case path == "/health":
		s, err := ReadHealth(x.body())
		return fmt.Sprintf("%s %s since %s upgrades %d %v", s.Status, s.Version, s.Started.Format(time.RFC3339), s.Upgrades, err)
	case path == "/drives/mount":
		m, err := ReadMounts(x.body())
		return fmt.Sprintf("%d mounts %v", len(m), err)
	case path == "/process" && x.Request.Method == http.MethodPost:
		p, err := ReadAnswered(x.body())
		if err != nil {
			return err.Error()
		}
		return line(p)
	case path == "/process":
		all, left, err := ReadProcesses(x.body())
		var names []string
		for _, p := range all {
			names = append(names, p.PID+" "+p.Status)
		}
		return fmt.Sprintf("%s, %d left, %v", strings.Join(names, "; "), left, err)
	case strings.HasSuffix(path, "/logs"):
		out, err := ReadLogs(x.body())
		return fmt.Sprintf("%q %q %v", out.Stdout, out.Stderr, err)
	case strings.HasSuffix(path, "/logs/stream"):
		out, refused := ReadFollowed(x.body())
		return fmt.Sprintf("%q %q %q", out.Stdout, out.Stderr, refused)
	case x.Request.Method == http.MethodDelete:
		return "accepted"
	case strings.HasPrefix(path, "/process/"):
		p, err := ReadProcess(x.body())
		if err != nil {
			return err.Error()
		}
		return line(p)
	}
	if e, content, err := ReadFile(x.body()); err == nil {
		return fmt.Sprintf("file %s of %s mode %s %d bytes %q", e.Name, e.Owner, e.Mode, e.Size, content)
	}
	d, err := ReadDirectory(x.body())
	var names []string
	for _, e := range d.Entries {
		switch {
		case e.Dir:
			e.Name += "/"
		case e.Link:
			e.Name += "@"
		}
		names = append(names, e.Name)
	}
	return fmt.Sprintf("%s: %s, %d left, %v", d.Path, strings.Join(names, " "), d.Left, err)
}

// TestEverySample replays each recorded exchange: the request is the one that we would send where we send such a one, and the
// answer is read as what it means.
func TestEverySample(t *testing.T) {
	const wait = 10 * time.Second
	const loop = "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do echo tick $i; sleep 1; done"
	ticks := `out "tick 1\ntick 2\ntick 3\ntick 4\ntick 5\ntick 6\n" err ""`
	health, list, mounts := Health(), Processes(), Mounts()
	samples := map[string]struct {
		call *Call // nil: the console sends no such request
		want string
	}{
		"drives_list":                     {&mounts, "0 mounts <nil>"},
		"exec_background":                 {nil, `38 agent-loop running running over false exit none in "/workspace" restarts 0 out "" err ""`},
		"exec_bad_json":                   {nil, "400 sandbox: request: invalid request body: invalid character 'n' looking for beginning of object key string"},
		"exec_command_not_found":          {must(Exec(Order{"no-such-binary --x", Root, wait})), `31 proc-ysrbqghe failed failed over true exit 127 in "/workspace" restarts 0 out "" err "/bin/sh: 1: no-such-binary: not found\n"`},
		"exec_duplicate_running_name":     {nil, "400 sandbox: request: process with name 'agent-loop' already exists and is running"},
		"exec_empty_body":                 {nil, "400 sandbox: request: invalid request body: Key: 'ProcessRequest.Command' Error:Field validation for 'Command' failed on the 'required' tag"},
		"exec_missing_working_dir":        {must(Exec(Order{"echo hi", "/no/such/dir", wait})), "422 sandbox: no directory: failed to start process: could not execute command 'echo hi' because folder '/no/such/dir' does not exist"},
		"exec_no_working_dir":             {must(Exec(Order{"pwd", "", wait})), `32 proc-xihrxnpo completed succeeded over true exit 0 in "" restarts 0 out "/\n" err ""`},
		"exec_nonzero_exit":               {must(Exec(Order{"echo partial; exit 3", Root, wait})), `30 proc-7eaywk3g failed failed over true exit 3 in "/workspace" restarts 0 out "partial\n" err ""`},
		"exec_ok":                         {must(Exec(Order{"echo hello; echo oops >&2", Root, wait})), `29 proc-pm041ygi completed succeeded over true exit 0 in "/workspace" restarts 0 out "hello\n" err "oops\n"`},
		"exec_stream_ndjson":              {nil, `46 proc-xousayse failed failed over true exit 2 in "/workspace" restarts 0 out "a\n" err "b\n"`},
		"exec_timeout":                    {nil, "422 sandbox: goes on: process timed out after 1 seconds"},
		"exec_wait_ports_timeout":         {nil, "422 sandbox: goes on: process timed out waiting for ports after 1 seconds"},
		"fs_content_search":               {nil, "never asked"},
		"fs_delete_dir_nonrecursive":      {must(Delete("/workspace/d1")), "422 sandbox: request: error deleting directory: remove /workspace/d1: directory not empty"},
		"fs_delete_missing":               {must(Delete("/workspace/nope.txt")), "404 sandbox: missing: file or directory not found"},
		"fs_find":                         {nil, "never asked"},
		"fs_list_missing":                 {must(List("/no/such/dir")), "404 sandbox: missing: stat /no/such/dir: no such file or directory"},
		"fs_list_root":                    {must(List("/")), "/: bin@ lib@ lib64@ dev/ etc/ opt/ proc/ root/ tmp/ usr/ var/ workspace/, 0 left, <nil>"},
		"fs_list_workspace":               {must(List(Root)), "/workspace: hello.txt src/, 0 left, <nil>"},
		"fs_mkdir":                        {nil, "never asked"},
		"fs_read_file_json":               {must(Read("/workspace/hello.txt")), `file hello.txt of root mode 644 6 bytes "hello\n"`},
		"fs_tree":                         {nil, "/workspace: hello.txt src/, 0 left, <nil>"},
		"fs_write_file":                   {nil, "never asked"},
		"head_process":                    {nil, "never asked"},
		"health":                          {&health, "ok dev since 2026-11-21T07:11:35Z upgrades 0 <nil>"},
		"method_not_allowed":              {nil, "404 no route: no route: 404 page not found"},
		"network_ports":                   {nil, "never asked"},
		"process_get_after_timeout":       {must(ProcessOf("slow-one")), `33 slow-one running running over false exit none in "/workspace" restarts 0 out "" err ""`},
		"process_get_just_killed":         {must(ProcessOf("38")), `38 agent-loop killed unknown over false exit none in "/workspace" restarts 0 ` + ticks},
		"process_get_keepalive_timeout":   {must(ProcessOf("ka")), `48 ka killed cancelled over true exit -1 in "" restarts 0 out "" err ""`},
		"process_get_killed":              {must(ProcessOf("38")), `38 agent-loop killed cancelled over true exit -1 in "/workspace" restarts 0 ` + ticks},
		"process_get_missing":             {must(ProcessOf("nope")), "404 sandbox: no process: process not found"},
		"process_get_restarted":           {must(ProcessOf("flaky")), `62 flaky failed failed over true exit 1 in "" restarts 2 out "boom\n\n[Process failed with exit code 1. Attempting restart 1/2...]\nboom\n\n[Process failed with exit code 1. Attempting restart 2/2...]\nboom\n" err ""`},
		"process_get_running":             {must(ProcessOf("agent-loop")), `38 agent-loop running running over false exit none in "/workspace" restarts 0 out "tick 1\ntick 2\n" err ""`},
		"process_get_stopped":             {must(ProcessOf("slow-one")), `33 slow-one stopped cancelled over true exit -1 in "/workspace" restarts 0 out "" err ""`},
		"process_get_stopped_but_alive":   {must(ProcessOf("stubborn")), `50 stubborn stopped running over false exit none in "" restarts 0 out "" err ""`},
		"process_kill":                    {must(Kill("38")), "accepted"},
		"process_kill_again":              {must(Kill("38")), "accepted"}, // of one that is over: it proves nothing
		"process_kill_completed":          {must(Kill("29")), "404 sandbox: no signal: failed to kill process with Identifier 29: no such process"},
		"process_kill_stubborn":           {must(Kill("stubborn")), "accepted"},
		"process_list":                    {&list, "38 running; 37 completed; 33 running; 32 completed; 31 failed; 30 failed; 29 completed, 0 left, <nil>"},
		"process_list_empty":              {&list, ", 0 left, <nil>"},
		"process_logs":                    {must(Logs("agent-loop")), `"tick 1\ntick 2\n" "" <nil>`},
		"process_logs_missing":            {must(Logs("nope")), "404 sandbox: no process: process with PID nope not found"},
		"process_logs_stream":             {must(Follow("agent-loop")), `"tick 1\ntick 2\ntick 3\ntick 4\ntick 5\ntick 6\n" "" ""`},
		"process_logs_stream_missing":     {must(Follow("nope")), `"" "" "process with Identifier nope not found"`},
		"process_stop":                    {must(Stop("slow-one")), "accepted"},
		"process_stop_missing":            {must(Stop("nope")), "404 sandbox: no process: process with Identifier nope not found"},
		"process_stop_not_running":        {must(Stop("38")), "404 sandbox: not running: process with Identifier 38 is not running"},
		"process_stop_stubborn":           {must(Stop("stubborn")), "accepted"},
		"process_stop_stubborn_again":     {must(Stop("stubborn")), "404 sandbox: not running: process with Identifier stubborn is not running"},
		"root_welcome":                    {nil, "never asked"},
		"terminal_ws":                     {nil, ""},
		"terminal_ws_missing_working_dir": {nil, ""},
		"unknown_route":                   {nil, "404 no route: no route: 404 page not found"},
		"watch_filesystem":                {nil, "never asked"},
	}
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) != len(samples) {
		t.Errorf("%d files, %d are asserted (%v)", len(files), len(samples), err)
	}
	for name, x := range samples {
		r := load(t, name)
		if strings.HasPrefix(name, "terminal") { // attaching starts a shell
			if !strings.HasPrefix(r.Request.Path, "/terminal/ws") || r.Response.Status != 0 {
				t.Errorf("%s is no terminal", name)
			}
			continue
		}
		if got := told(t, name); got != x.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, x.want)
		}
		if x.call == nil {
			continue
		}
		if x.call.Method != r.Request.Method || x.call.Path != r.Request.Path {
			t.Errorf("%s: we would ask %s %s, recorded is %s %s", name, x.call.Method, x.call.Path, r.Request.Method, r.Request.Path)
		}
		var sent, was any
		if x.call.Body != nil && (json.Unmarshal(x.call.Body, &sent) != nil || json.Unmarshal(r.Request.Body, &was) != nil || !reflect.DeepEqual(sent, was)) {
			t.Errorf("%s: we would send %s, recorded is %s", name, x.call.Body, r.Request.Body)
		}
	}
	if got, _, _ := ReadProcesses(load(t, "process_list").body()); len(got) == 6 && got[0].Command != loop {
		t.Errorf("the command of the newest process: %q", got[0].Command)
	}
}

// TestTheOrderOfProcessesIsOurs: the server gives them in another one each time.
func TestTheOrderOfProcessesIsOurs(t *testing.T) {
	var rows []json.RawMessage
	if err := json.Unmarshal(load(t, "process_list").Response.Body, &rows); err != nil {
		t.Fatal(err)
	}
	first, _, _ := ReadProcesses(load(t, "process_list").body())
	for range 6 {
		rows = append(rows[1:], rows[0])
		slices.Reverse(rows[:4])
		body, err := json.Marshal(rows)
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err := ReadProcesses(body); err != nil || !reflect.DeepEqual(got, first) {
			t.Errorf("another order: %v %v", got, err)
		}
	}
}

// TestWhatARefusalMeans is the classification: each status alone would say something else.
func TestWhatARefusalMeans(t *testing.T) {
	html := http.Header{"Content-Type": {"text/html"}}
	platform := http.Header{"X-Blaxel-Source": {"platform"}, "X-Blaxel-Error-Code": {CodeUnavailable}}
	for _, x := range []struct {
		status int
		h      http.Header
		body   string
		want   Meaning
		again  bool
		took   time.Duration
	}{
		{422, nil, `{"error":"process timed out after 30 seconds"}`, MeansGoesOn, false, 0},
		{422, nil, `{"error":"write /workspace/a: no space left on device"}`, MeansFull, false, 0},
		{422, nil, `{"error":"failed to start process: could not execute command 'x' because folder '/workspace' does not exist"}`, MeansNoDir, false, 0},
		{422, nil, `{"error":"failed to start process: fork/exec /bin/sh: resource temporarily unavailable"}`, MeansNotStarted, false, 0},
		{504, html, `<html>504</html>`, MeansEdgeLimit, false, 59 * time.Second},
		{408, nil, ``, MeansEdgeLimit, false, time.Minute},
		{504, html, `<html>504</html>`, MeansTransient, true, time.Millisecond},
		{408, nil, ``, MeansTransient, true, 20 * time.Second},
		{500, nil, `{"error":"stat: input/output error"}`, MeansBroken, false, 0},
		{500, platform, `{"error":"stat: input/output error"}`, MeansTransient, true, 0},
		{500, nil, ``, MeansTransient, true, 0},
		{502, html, `<html>`, MeansTransient, true, 0},
		{503, nil, ``, MeansTransient, true, 0},
		{404, platform, ``, MeansWaking, true, 0},
		{404, nil, `{"error":{"code":"WORKLOAD_UNAVAILABLE","message":"m","retryable":true}}`, MeansWaking, true, 0},
		{404, nil, `{"error":{"code":"WORKLOAD_NOT_FOUND","message":"m"}}`, MeansGone, false, 0},
		{404, nil, `{"error":{"code":"ROUTE_NOT_FOUND","message":"m"}}`, MeansNoRoute, false, 0},
		{404, nil, `{"error":"stat /workspace: no such file or directory"}`, MeansMissing, false, 0},
		{404, nil, `{"error":"something else"}`, MeansUnknown, false, 0},
		{404, nil, ``, MeansUnknown, false, 0},
		{401, nil, `{"error":{"code":"AUTHENTICATION_FAILED","message":"m"}}`, MeansKey, false, 0},
		{402, nil, `{"error":{"code":"USAGE_LIMIT_EXCEEDED","message":"m"}}`, MeansLimit, false, 0},
		{429, nil, ``, MeansLimit, false, 0},
		{400, nil, `{"error":"bad"}`, MeansRequest, false, 0},
		{409, nil, `{"code":409,"error":"conflict"}`, MeansUnknown, false, 0},
	} {
		r := ReadRefusal(x.status, x.h, []byte(x.body))
		r.Took = x.took
		if got := r.Meaning(); got != x.want || got.Again() != x.again {
			t.Errorf("%d %s: %s again %t, want %s", x.status, x.body, got, got.Again(), x.want)
		}
	}
}

// TestTimesOfASandbox: the server writes its local time as GMT.
func TestTimesOfASandbox(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 3, 0, time.UTC)
	for text, want := range map[string]struct {
		ahead time.Duration
		off   bool
	}{
		"Sat, 21 Nov 2026 12:00:00 GMT": {},
		"Sat, 21 Nov 2026 07:00:01 GMT": {ahead: -5 * time.Hour},
		"Sat, 21 Nov 2026 17:45:02 GMT": {ahead: 5*time.Hour + 45*time.Minute},
		"Sat, 21 Nov 2026 11:48:43 GMT": {-680 * time.Second, true}, // near no zone: its clock is off
		"Sat, 21 Nov 2026 12:11:23 GMT": {680 * time.Second, true},
		"":                              {},
	} {
		p, err := ReadProcess(fmt.Appendf(nil, `{"pid":"1","status":"running","startedAt":%q}`, text))
		if ahead, off := TimeOffset(p.Started, now); err != nil || ahead != want.ahead || off != want.off {
			t.Errorf("%s: %v %t %v", text, ahead, off, err)
		}
	}
}

// TestArchivesOfTheAgent: the two names that its SDK gives, with the session in them.
func TestArchivesOfTheAgent(t *testing.T) {
	d, err := ReadDirectory([]byte(`{"path":"/tmp","name":"tmp","files":[
		{"path":"/tmp/bl-persist-0a1b2c3d4e5f4a6b8c7d9e0f1a2b3c4d.tar","name":"bl-persist-0a1b2c3d4e5f4a6b8c7d9e0f1a2b3c4d.tar","permissions":"644","size":10240,"lastModified":"2026-11-21T07:00:00Z","owner":"root"},
		{"path":"/tmp/bl-hydrate-0a1b2c3d4e5f4a6b8c7d9e0f1a2b3c4d.tar","name":"","permissions":"644","size":7},
		{"path":"/tmp/bl-persist-x.tar","name":"bl-persist-x.tar"},{"path":"/tmp/a","name":"../a"},7],"subdirectories":null}`))
	got := d.Archives()
	if err != nil || len(got) != 2 || got[0].Restore || got[0].Size != 10240 || !got[1].Restore || got[1].Session != "0a1b2c3d4e5f4a6b8c7d9e0f1a2b3c4d" || d.Left != 2 {
		t.Errorf("%+v left %d %v", got, d.Left, err)
	}
	for body, left := range map[string]int{`{"path":"/","files":null,"subdirectories":null}`: 0, `{"path":"/w","files":[{"path":"/w/..","name":".."}],"subdirectories":[{"path":"/w/../..","name":".."},{"path":"/w/.","name":"."}]}`: 3} {
		if d, err := ReadDirectory([]byte(body)); err != nil || len(d.Entries) != 0 || d.Left != left {
			t.Errorf("%s: %+v %v", body, d, err)
		}
	}
	if _, err := ReadDirectory([]byte(`{"path":"/"}`)); err == nil {
		t.Error("no list is a list")
	}
	if _, err := ReadDirectory(load(t, "fs_read_file_json").body()); !errors.Is(err, ErrIsFile) {
		t.Errorf("a file: %v", err)
	}
}

// TestCallsThatAreNotSent: what would be relative to the server's directory, another route, or longer than the edge waits.
func TestCallsThatAreNotSent(t *testing.T) {
	for _, p := range []string{"", "workspace", "/workspace/", "/a/../b", "//", "/a\x00"} {
		if c, err := List(p); err == nil {
			t.Errorf("%q: %s", p, c.Path)
		}
	}
	for _, p := range []string{"", ".", ".."} {
		if _, err := Kill(p); err == nil {
			t.Errorf("process %q", p)
		}
	}
	if c, err := Stop("a/kill"); err != nil || c.Path != "/process/a%2Fkill" {
		t.Errorf("%s %v", c.Path, err)
	}
	for _, o := range []Order{{}, {Command: "true"}, {Command: "true", Wait: EdgeWithin}} {
		if _, err := Exec(o); err == nil {
			t.Errorf("%+v", o)
		}
	}
}

// FuzzAnswers: no answer breaks a reader, and a process that is not over never has an exit code.
func FuzzAnswers(f *testing.F) {
	for _, name := range []string{"process_list", "exec_stream_ndjson", "fs_list_root", "process_get_just_killed", "health"} {
		raw, err := os.ReadFile(filepath.Join("testdata", name+".json"))
		if err != nil {
			f.Fatal(err)
		}
		x := &recorded{}
		if err := json.Unmarshal(raw, x); err != nil {
			f.Fatal(err)
		}
		f.Add(x.body())
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		all, _, _ := ReadProcesses(body)
		one, err := ReadAnswered(body)
		if err == nil {
			all = append(all, one)
		}
		for _, p := range all {
			if p.Class() == backend.WorkRunning && p.ExitCode.IsKnown() {
				t.Errorf("%+v", p)
			}
		}
		if d, err := ReadDirectory(body); err == nil {
			d.Archives()
		}
		_, _, _ = ReadFile(body)
		_, _ = ReadMounts(body)
		_, _ = ReadHealth(body)
		_, _ = ReadLogs(body)
		_, _ = ReadFollowed(body)
		r := ReadRefusal(422, nil, body)
		r.Meaning()
	})
}
