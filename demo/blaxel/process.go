package blaxel

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// process is a command that was started. What it does is read from its text: a few words of a shell.
type process struct {
	pid                 int
	name, command, dir  string
	started             time.Time
	ends                time.Time // by itself
	exit                int       // then
	over                time.Time // ended by a signal
	word                string    // stopped or killed
	deaf                bool      // it ignores SIGTERM
	lines               []line
	keepAlive, restarts bool
	most                int
}

// line is something that a process writes some time after its start.
type line struct {
	after time.Duration
	text  string
	error bool
}

func sorted[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

const forever = 1000 * time.Hour

// run reads what a command does.
func (p *process) run(command string) {
	at := time.Duration(0)
	say := func(text string, err bool) { p.lines = append(p.lines, line{at, text, err}) }
	if rest, loops := strings.CutPrefix(command, "for i in "); loops {
		words, _, _ := strings.Cut(rest, ";")
		for _, w := range strings.Fields(words) {
			say("tick "+w+"\n", false)
			at += time.Second
		}
		p.ends = p.started.Add(at)
		return
	}
	for part := range strings.SplitSeq(command, ";") {
		word, rest, _ := strings.Cut(strings.TrimSpace(part), " ")
		switch word {
		case "true", "trap":
			p.deaf = p.deaf || word == "trap"
		case "pwd":
			dir := p.dir
			if dir == "" {
				dir = "/"
			}
			say(dir+"\n", false)
		case "echo":
			text, toErr := strings.CutSuffix(rest, " >&2")
			say(text+"\n", toErr)
		case "sleep":
			n, err := strconv.ParseFloat(rest, 64)
			if err == nil {
				at += time.Duration(n * float64(time.Second))
			}
		case "exit":
			p.exit, _ = strconv.Atoi(rest)
		case "while", "tail", "node", "npm", "python", "pytest", "env":
			at += forever
		case "tar":
			at += forever
		case "do", "done":
		default:
			p.exit = 127
			say(fmt.Sprintf("/bin/sh: 1: %s: not found\n", word), true)
		}
	}
	p.ends = p.started.Add(at)
}

// end is when it was over, zero: it is not.
func (p *process) end(now time.Time) time.Time {
	switch {
	case !p.over.IsZero() && !now.Before(p.over):
		return p.over
	case p.over.IsZero() && !now.Before(p.ends):
		return p.ends
	}
	return time.Time{}
}

func (p *process) status(now time.Time) string {
	switch {
	case p.word != "":
		return p.word
	case p.end(now).IsZero():
		return "running"
	case p.exit != 0:
		return "failed"
	}
	return "completed"
}

func (p *process) output(now time.Time) (stdout, stderr string) {
	until := p.end(now)
	if until.IsZero() {
		until = now
	}
	for _, l := range p.lines {
		switch {
		case p.started.Add(l.after).After(until):
		case l.error:
			stderr += l.text
		default:
			stdout += l.text
		}
	}
	return stdout, stderr
}

// told is the process as JSON: what is not over has no end, which is null in lists and empty elsewhere.
func (s *Server) told(p *process, inList bool) map[string]any {
	now := s.now()
	stdout, stderr := p.output(now)
	stamp := func(t time.Time) any {
		if t.IsZero() {
			if inList {
				return nil
			}
			return ""
		}
		return t.UTC().Add(s.Zone).Format("Mon, 02 Jan 2006 15:04:05 GMT")
	}
	end, exit := p.end(now), p.exit
	if end.IsZero() {
		exit = 0
	} else if p.word != "" {
		exit = -1
	}
	restarts := 0
	if p.restarts && !end.IsZero() && p.exit != 0 {
		restarts = p.most
		one := stdout
		for n := 1; n <= p.most; n++ {
			stdout += fmt.Sprintf("\n[Process failed with exit code %d. Attempting restart %d/%d...]\n%s", p.exit, n, p.most, one)
		}
	}
	return map[string]any{"pid": strconv.Itoa(p.pid), "name": p.name, "command": p.command, "status": p.status(now), "startedAt": stamp(p.started), "completedAt": stamp(end), "exitCode": exit,
		"workingDir": p.dir, "logs": stdout + stderr, "stdout": stdout, "stderr": stderr, "restartOnFailure": p.restarts, "maxRestarts": p.most, "restartCount": restarts, "keepAlive": p.keepAlive}
}

func (s *Server) processes(w http.ResponseWriter, r *http.Request, rest string) {
	raw, verb, _ := strings.Cut(rest, "/")
	id, err := url.PathUnescape(raw)
	p := s.find(id)
	switch {
	case err != nil:
		fails(w, http.StatusBadRequest, "invalid identifier")
	case rest == "" && r.Method == http.MethodPost:
		s.start(w, r)
	case rest == "" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		s.listed(w)
	case verb == "" && r.Method == http.MethodGet && p == nil:
		fails(w, http.StatusNotFound, "process not found")
	case verb == "" && r.Method == http.MethodGet:
		says(w, 200, s.told(p, false))
	case verb == "logs" && r.Method == http.MethodGet && p == nil:
		fails(w, http.StatusNotFound, "process with PID %s not found", id)
	case verb == "logs" && r.Method == http.MethodGet:
		stdout, stderr := p.output(s.now())
		says(w, 200, map[string]string{"stdout": stdout, "stderr": stderr, "logs": stdout + stderr})
	case verb == "logs/stream" && r.Method == http.MethodGet:
		s.stream(w, p, id)
	case verb == "" && r.Method == http.MethodDelete:
		s.stop(w, p, id)
	case verb == "kill" && r.Method == http.MethodDelete:
		s.kill(w, p, id)
	default:
		noRoute(w)
	}
}

// listed lists all processes, in another order each time.
func (s *Server) listed(w http.ResponseWriter) {
	out := []any{}
	from := int(s.now().UnixNano()/1e6) % max(len(s.all), 1)
	for i := range s.all {
		out = append(out, s.told(s.all[(i+from)%len(s.all)], true))
	}
	says(w, 200, out)
}

func (s *Server) stream(w http.ResponseWriter, p *process, id string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if p == nil {
		_, _ = fmt.Fprintf(w, `{"error":"process with Identifier %s not found"}`, id)
		return
	}
	for _, l := range p.lines {
		if !p.started.Add(l.after).After(s.now()) {
			_, _ = io.WriteString(w, map[bool]string{true: "stderr:", false: "stdout:"}[l.error]+l.text)
		}
	}
}

func (s *Server) stop(w http.ResponseWriter, p *process, id string) {
	switch now := s.now(); {
	case p == nil:
		fails(w, http.StatusNotFound, "process with Identifier %s not found", id)
	case p.status(now) != "running":
		fails(w, http.StatusNotFound, "process with Identifier %s is not running", id)
	default:
		p.word = "stopped"
		if !p.deaf {
			p.over = now
		}
		says(w, 200, map[string]string{"message": "Process stopped successfully"})
	}
}

// deathTakes is how long the server still has no end of a process after it was killed.
const deathTakes = 100 * time.Millisecond

func (s *Server) kill(w http.ResponseWriter, p *process, id string) {
	switch now := s.now(); {
	case p == nil:
		fails(w, http.StatusNotFound, "process with Identifier %s not found", id)
	case !p.end(now).IsZero() && p.word != "killed":
		fails(w, http.StatusNotFound, "failed to kill process with Identifier %s: no such process", id)
	default:
		if p.word != "killed" { // a second signal reaches what is left of its group
			p.word, p.over = "killed", now.Add(deathTakes)
		}
		says(w, 200, map[string]string{"message": "Process killed successfully"})
	}
}

// Start starts a command at some time, as an agent did.
func (s *Server) Start(name, command, dir string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin(&process{name: name, command: command, dir: dir, started: at})
}

func (s *Server) begin(p *process) {
	p.pid, s.next = s.next, s.next+1
	if p.name == "" {
		p.name = fmt.Sprintf("proc-%08d", p.pid)
	}
	p.run(p.command)
	s.all = append(s.all, p)
}

func (s *Server) start(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Command, Name, WorkingDir                      string
		WaitForCompletion, KeepAlive, RestartOnFailure bool
		Timeout, MaxRestarts                           int
		WaitForPorts                                   []int
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&ask); err != nil {
		fails(w, http.StatusBadRequest, "invalid request body: %v", err)
		return
	}
	old := s.find(ask.Name)
	switch {
	case ask.Command == "":
		fails(w, http.StatusBadRequest, "invalid request body: Key: 'ProcessRequest.Command' Error:Field validation for 'Command' failed on the 'required' tag")
		return
	case ask.Name != "" && old != nil && old.status(s.now()) == "running":
		fails(w, http.StatusBadRequest, "process with name '%s' already exists and is running", ask.Name)
		return
	case ask.WorkingDir != "" && (s.file[ask.WorkingDir] == nil || !s.file[ask.WorkingDir].dir):
		fails(w, http.StatusUnprocessableEntity, "failed to start process: could not execute command '%s' because folder '%s' does not exist", ask.Command, ask.WorkingDir)
		return
	}
	p := &process{name: ask.Name, command: ask.Command, dir: ask.WorkingDir, started: s.now(), keepAlive: ask.KeepAlive, restarts: ask.RestartOnFailure, most: ask.MaxRestarts}
	s.begin(p)
	limit, lasts := time.Duration(ask.Timeout)*time.Second, p.ends.Sub(p.started)
	switch {
	case len(ask.WaitForPorts) > 0: // nothing here listens
		s.waits(limit)
		fails(w, http.StatusUnprocessableEntity, "process timed out waiting for ports after %d seconds", ask.Timeout)
	case !ask.WaitForCompletion && strings.Contains(r.Header.Get("Accept"), "event-stream"):
		s.waits(lasts)
		s.events(w, p)
	case !ask.WaitForCompletion:
		told := s.told(p, false)
		told["logs"], told["stdout"], told["stderr"] = nil, "", ""
		says(w, 200, told)
	case limit > 0 && lasts > limit:
		s.waits(limit)
		fails(w, http.StatusUnprocessableEntity, "process timed out after %d seconds", ask.Timeout)
	default:
		s.waits(lasts)
		says(w, 200, s.told(p, false))
	}
}

// waits lets time pass without holding other requests up.
func (s *Server) waits(d time.Duration) {
	s.mu.Unlock()
	defer s.mu.Lock()
	s.wait(d)
}

// events writes a process as lines: its output, a sign of life every 5 s, and its end.
func (s *Server) events(w http.ResponseWriter, p *process) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	event := func(kind string, data string) {
		e := map[string]string{"type": kind}
		if data != "" {
			e["data"] = data
		}
		b, err := json.Marshal(e)
		if err != nil {
			panic(err) // texts
		}
		_, _ = w.Write(append(b, '\n'))
	}
	alive := 5 * time.Second
	for _, l := range p.lines {
		for ; alive < l.after; alive += 5 * time.Second {
			event("keepalive", "")
		}
		event(map[bool]string{true: "stderr", false: "stdout"}[l.error], l.text)
	}
	result, err := json.Marshal(s.told(p, false))
	if err != nil {
		panic(err)
	}
	event("result", string(result))
}

// busy reports whether a process that holds the sandbox awake runs.
func (s *Server) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.all, func(p *process) bool { return p.keepAlive && p.end(s.now()).IsZero() })
}
