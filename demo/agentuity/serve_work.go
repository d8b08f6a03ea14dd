package agentuity

import (
	"net/http"
	"slices"
	"time"
)

// pausedFor is how long a sandbox may sleep before it is terminated.
const pausedFor = 24 * time.Hour

func (s server) workRoutes() {
	s.on("POST /sandbox/{id}/execute", anyKey, s.execute)
	s.on("GET /sandbox/execution/{id}", anyKey, s.execution)
	s.on("GET /sandbox/sandboxes/{id}/executions", anyKey, s.executions)
	s.on("GET /sandbox/sandboxes/{id}/jobs", anyKey, s.jobs)
	s.on("POST /sandbox/sandboxes/{id}/jobs", anyKey, s.createJob)
	s.on("GET /sandbox/sandboxes/{id}/jobs/{job}", anyKey, s.job)
	s.on("DELETE /sandbox/sandboxes/{id}/jobs/{job}", anyKey, s.stopJob)
	s.on("GET /streams/{id}", noKey, s.stream)
}

// create makes a sandbox that is there after a moment.
func (s server) create(r *http.Request) (answer, *refusal) {
	in, no := body[struct {
		Name      string         `json:"name"`
		Runtime   string         `json:"runtime"`
		RuntimeID string         `json:"runtimeId"`
		Snapshot  string         `json:"snapshot"`
		Metadata  map[string]any `json:"metadata"`
		Env       map[string]string
		Timeout   wireTimeout `json:"timeout"`
		Network   struct {
			Port int `json:"port"`
		} `json:"network"`
		Files []struct {
			Path    string `json:"path"`
			Content []byte `json:"content"`
		} `json:"files"`
		Command struct {
			Exec []string `json:"exec"`
			Mode string   `json:"mode"`
		} `json:"command"`
	}](r)
	w := s.w
	of, fits := kind(in.Runtime, in.RuntimeID)
	from := w.snapshot(in.Snapshot)
	switch {
	case no != nil:
		return answer{}, no
	case in.Snapshot != "" && (in.Runtime != "" || in.RuntimeID != ""):
		return refuse(http.StatusBadRequest, "cannot specify both snapshot and runtime; snapshot includes its own runtime", "")
	case in.Snapshot != "" && from == nil:
		return refuse(http.StatusNotFound, "snapshot not found", "SNAPSHOT_NOT_FOUND")
	case !fits:
		return refuse(http.StatusBadRequest, "unknown runtime", "")
	}
	x := w.add(in.Name, s.region, w.t)
	x.events = x.events[:1]
	x.status, x.runtime, x.metadata, x.exposed = creating, of, in.Metadata, in.Network.Port > 0
	if from != nil {
		x.files = copyFiles(from.files)
	}
	for name, v := range in.Env {
		x.env[name] = v
	}
	for _, f := range in.Files {
		x.write(f.Path, f.Content, w.t)
	}
	w.later(createTime, func() {
		if x.status == creating {
			x.status = idle
			w.happen(x, "lifecycle:started", nil, w.t)
		}
	})
	reply := map[string]any{"sandboxId": x.id, "status": x.status, "stdoutStreamId": x.stdout, "stdoutStreamUrl": w.streamURL(x.region, x.stdout),
		"stderrStreamId": x.stdout, "stderrStreamUrl": w.streamURL(x.region, x.stdout), "auditStreamId": x.audit, "auditStreamUrl": w.streamURL(x.region, x.audit)}
	if len(in.Command.Exec) > 0 {
		first := w.enqueue(x, "exec", in.Command.Exec)
		w.start(first, createTime+queueTime, runTime)
		reply["executionId"] = first.id
		if in.Command.Mode == "oneshot" {
			x.mode = "oneshot"
		}
	}
	a, _ := data(reply)
	a.status = http.StatusCreated
	return a, nil
}

func kind(name, id string) (runtime, bool) {
	all := runtimes()
	if name == "" && id == "" {
		return all[0], true
	}
	i := slices.IndexFunc(all, func(x runtime) bool { return x.name == name || x.id == id })
	if i < 0 {
		return runtime{}, false
	}
	return all[i], true
}

// How long an execution of a client waits and runs.
const (
	queueTime = 300 * time.Millisecond
	runTime   = 200 * time.Millisecond
)

// execute takes a command. A sleeping sandbox is resumed for it.
func (w *World) execute(x *sandbox, command []string) (*run, *refusal) {
	switch {
	case x.gone():
		return nil, &refusal{status: http.StatusNotFound, message: "sandbox not found", code: "SANDBOX_NOT_FOUND"}
	case x.asleepNow():
		if why := w.resume(x); why != "" {
			return nil, &refusal{status: http.StatusConflict, message: why}
		}
	case x.busy() != nil:
		return nil, &refusal{status: http.StatusConflict, message: "sandbox is busy", code: "SANDBOX_BUSY"}
	}
	r := w.enqueue(x, "exec", command)
	if x.fault.execFails || w.stopped[x.region] {
		return nil, w.broken()
	}
	w.start(r, queueTime, lasts(command))
	return r, nil
}

// lasts is how long a command runs.
func lasts(command []string) time.Duration {
	if len(command) == 2 && command[0] == "sleep" {
		if d, err := time.ParseDuration(command[1] + "s"); err == nil && d > 0 {
			return d
		}
	}
	return runTime
}

// broken is the 500 that says nothing, in one of the envelopes that clients have met.
func (w *World) broken() *refusal {
	w.made["broken"]++
	return &refusal{status: http.StatusInternalServerError, message: "Internal Server Error", envelope: (w.made["broken"] - 1) % envelopes}
}

func (s server) execute(r *http.Request) (answer, *refusal) {
	x, no := s.sandbox(r)
	if no != nil {
		return answer{}, no
	}
	in, no := body[struct {
		Command []string `json:"command"`
		Files   []struct {
			Path    string `json:"path"`
			Content []byte `json:"content"`
		} `json:"files"`
	}](r)
	switch {
	case no != nil:
		return answer{}, no
	case len(in.Command) == 0:
		return refuse(http.StatusBadRequest, "command is required", "")
	}
	slept := x.asleepNow()
	made, no := s.w.execute(x, in.Command)
	if no != nil {
		return answer{}, no
	}
	for _, f := range in.Files {
		x.write(f.Path, f.Content, s.w.t)
	}
	made.stdout, made.stderr = s.w.id("stream", 24), s.w.id("stream", 24)
	type reply struct {
		ExecutionID string `json:"executionId"`
		Status      string `json:"status"`
		StdoutURL   string `json:"stdoutStreamUrl"`
		StderrURL   string `json:"stderrStreamUrl"`
	}
	return answer{body: struct {
		Success     bool  `json:"success"`
		Data        reply `json:"data"`
		AutoResumed bool  `json:"autoResumed,omitempty"`
	}{true, reply{made.id, made.status, s.w.streamURL(x.region, made.stdout), s.w.streamURL(x.region, made.stderr)}, slept}}, nil
}

func (w *World) wireRun(r *run) wireRun {
	out := wireRun{ExecutionID: r.id, SandboxID: r.of.id, Type: r.kind, Status: r.status, Command: r.command, StartedAt: zoned(r.began),
		CompletedAt: zoned(r.done), Error: r.fails}
	if r.status == completed || r.status == failed {
		exit, took := r.exit, r.took.Milliseconds()
		out.ExitCode, out.DurationMs = &exit, &took
	}
	if r.status != queued && r.stdout != "" {
		out.StdoutURL, out.StderrURL = w.streamURL(r.of.region, r.stdout), w.streamURL(r.of.region, r.stderr)
	}
	return out
}

func (s server) execution(r *http.Request) (answer, *refusal) {
	x := s.w.runs[r.PathValue("id")]
	if x == nil {
		return refuse(http.StatusNotFound, "execution not found", "EXECUTION_NOT_FOUND")
	}
	if no := s.here(x.of); no != nil {
		return answer{}, no
	}
	a, _ := data(s.w.wireRun(x))
	a.later = !x.ended()
	return a, nil
}

func (s server) executions(r *http.Request) (answer, *refusal) {
	x, no := s.sandbox(r)
	if no != nil {
		return answer{}, no
	}
	rows := []wireRun{}
	for _, e := range slices.Backward(x.runs) {
		if len(rows) == number(r, "limit", defaultPage, maxPage) {
			break
		}
		rows = append(rows, s.w.wireRun(e))
	}
	return data(map[string]any{"executions": rows})
}

func (w *World) wireJob(j *job) any {
	var exit *int
	if j.status == completed || j.status == failed || j.status == cancelled {
		exit = &j.exit
	}
	out := wireJob{JobID: j.id, SandboxID: j.of.id, Command: j.command, Status: j.status, ExitCode: exit,
		StartedAt: optional(zoned(j.began)), CompletedAt: optional(zoned(j.done)), Error: optional(j.fails)}
	if j.stdout != "" {
		out.StdoutURL, out.StderrURL = optional(w.streamURL(j.of.region, j.stdout)), optional(w.streamURL(j.of.region, j.stderr))
	}
	if j.nulls {
		return wireJobNulls(out)
	}
	return out
}

func (s server) jobs(r *http.Request) (answer, *refusal) {
	x, no := s.sandbox(r)
	if no != nil {
		return answer{}, no
	}
	rows := []any{}
	for _, j := range slices.Backward(x.jobs) {
		if len(rows) == number(r, "limit", defaultPage, maxPage) {
			break
		}
		rows = append(rows, s.w.wireJob(j))
	}
	return data(map[string]any{"jobs": rows})
}

func (s server) createJob(r *http.Request) (answer, *refusal) {
	x, no := s.sandbox(r)
	if no != nil {
		return answer{}, no
	}
	in, no := body[struct {
		Command []string `json:"command"`
	}](r)
	switch {
	case no != nil:
		return answer{}, no
	case len(in.Command) == 0:
		return refuse(http.StatusBadRequest, "command is required", "")
	case x.asleepNow() || x.gone():
		return refuse(http.StatusConflict, "sandbox is "+x.status, "")
	}
	w := s.w
	j := w.startJob(x, in.Command, w.t)
	if x.fault.jobFails || x.fault.execFails || w.stopped[x.region] {
		j.status, j.began, j.stdout, j.stderr = pending, time.Time{}, "", ""
		return answer{}, w.broken()
	}
	a, _ := data(w.wireJob(j))
	a.status = http.StatusCreated
	return a, nil
}

func (s server) findJob(r *http.Request) (*job, *refusal) {
	x, no := s.sandbox(r)
	if no != nil {
		return nil, no
	}
	for _, j := range x.jobs {
		if j.id == r.PathValue("job") {
			return j, nil
		}
	}
	return nil, &refusal{status: http.StatusNotFound, message: "job not found"}
}

func (s server) job(r *http.Request) (answer, *refusal) {
	j, no := s.findJob(r)
	if no != nil {
		return answer{}, no
	}
	return data(s.w.wireJob(j))
}

// stopJob cannot reach a process whose sandbox is cut off, but its record ends.
func (s server) stopJob(r *http.Request) (answer, *refusal) {
	j, no := s.findJob(r)
	if no != nil {
		return answer{}, no
	}
	s.w.endJob(j, cancelled, 143)
	if isDriver(j.command) {
		for _, x := range s.w.sessions {
			if x.of == j.of {
				x.lead = time.Time{}
			}
		}
	}
	return data(s.w.wireJob(j))
}

func (s server) stream(r *http.Request) (answer, *refusal) {
	return answer{raw: []byte(s.w.output[r.PathValue("id")])}, nil
}
