package agentuity

import (
	"maps"
	"time"

	"sandglass/internal/stable"
)

// What a sandbox reports.
const (
	creating   = "creating"
	idle       = "idle"
	running    = "running"
	suspended  = "suspended"
	terminated = "terminated"
	deleted    = "deleted"
)

// How long the platform needs, where nothing is wrong.
const (
	createTime = 2 * time.Second
	resumeTime = 1500 * time.Millisecond
)

// fault is what is wrong with a sandbox behind its reported status.
type fault struct {
	mountGone  bool // no file can be listed or read
	execFails  bool // execute answers 500 and leaves a queued record
	jobFails   bool // the same for jobs
	queueStops bool // executions are taken and never start
	reconciled bool // a resume leaves only the trace of a sweeper
	checkpoint checkpointFault
}

// checkpointFault says why a resume is refused.
type checkpointFault uint8

const (
	checkpointFine checkpointFault = iota
	checkpointLate                 // until it is stored
	checkpointLost                 // for ever
)

type sandbox struct {
	id, name, status, region, mode string
	runtime                        runtime
	created, asleep                time.Time // asleep is the start of the newest suspend
	stored                         time.Time // when a late checkpoint is stored
	exposed                        bool
	metadata                       map[string]any
	idleTimeout, runTimeout, pause string
	runs                           []*run // newest last
	started                        int    // all executions ever, also those no longer listed
	jobs                           []*job
	events                         []event
	files                          map[string]*file
	env                            map[string]string
	checkpoints                    []checkpoint
	fault                          fault
	stdout, audit                  string // stream ids
}

type event struct {
	id, kind string
	payload  map[string]any
	at       time.Time
}

type checkpoint struct {
	id, name, parent string
	at               time.Time
	files            map[string]*file
}

type snapshot struct {
	id, name, tag, runtime string
	of                     *sandbox
	at                     time.Time
	size                   int64
	files                  map[string]*file
}

type runtime struct{ id, name, text string }

func runtimes() []runtime {
	return []runtime{
		{"srt_64ed21b0748992fdd251dae0", "bun:1", "Bun 1 on Debian"},
		{"srt_a1f4e3b2c5d697887766aabb", "node:lts", "Node.js LTS on Debian"},
		{"srt_0c9b8a7d6e5f40312213feed", "python:3.14", "Python 3.14 on Debian"},
	}
}

// add makes a sandbox that is idle and was created at a time.
func (w *World) add(name, region string, at time.Time) *sandbox {
	s := &sandbox{
		id: w.id("sbx", 60), name: name, status: idle, region: region, mode: "interactive", runtime: runtimes()[0], created: at,
		idleTimeout: "10m0s", runTimeout: "5m0s", pause: "24h0m0s", env: map[string]string{}, files: newHome(at),
		stdout: w.id("stream", 24), audit: w.id("stream", 24),
	}
	w.sandboxes = append(w.sandboxes, s)
	w.byID[s.id] = s
	w.happen(s, "create", nil, at)
	w.happen(s, "lifecycle:started", nil, at.Add(createTime))
	return s
}

// happen writes a platform event, in the order of time.
func (w *World) happen(s *sandbox, kind string, payload map[string]any, at time.Time) {
	if payload == nil {
		payload = map[string]any{}
	}
	s.events = append(s.events, event{w.id("evt", 24), kind, payload, at})
	stable.Sort(s.events, func(a, b event) int { return a.at.Compare(b.at) })
}

// suspend puts a sandbox to sleep at a time. A suspend without a checkpoint has no id of one.
func (w *World) suspend(s *sandbox, at time.Time, checkpoint bool) string {
	id := ""
	payload := map[string]any{}
	if checkpoint {
		id = w.id("ckpt", 16)
		payload["checkpoint_id"] = id
	}
	w.happen(s, "suspend", payload, at)
	s.status, s.asleep = suspended, at
	return id
}

// resumeRefused is why a sandbox cannot be resumed now; empty where it can.
func (w *World) resumeRefused(s *sandbox) string {
	switch {
	case s.status != suspended:
		return "sandbox is not suspended"
	case s.fault.checkpoint == checkpointLost:
		return "Cannot resume sandbox: it is suspended but has no checkpoint data"
	case s.fault.checkpoint == checkpointLate && w.t.Before(s.stored):
		return "A conflict occurred"
	}
	return ""
}

// resume wakes a sandbox: accepted at once, there a moment later.
func (w *World) resume(s *sandbox) (refused string) {
	if why := w.resumeRefused(s); why != "" {
		return why
	}
	w.later(resumeTime, func() {
		if s.status != suspended {
			return
		}
		s.status = idle
		if s.fault.reconciled {
			w.happen(s, "lifecycle:reconcile", map[string]any{"previous_status": suspended}, w.t)
			return
		}
		w.happen(s, "lifecycle:resumed", map[string]any{"deferred": false}, w.t)
	})
	return ""
}

// destroy ends a sandbox. Its record stays for those who ask for deleted ones.
func (w *World) destroy(s *sandbox) {
	s.status, s.files = deleted, nil
	w.happen(s, "destroy", nil, w.t)
	for _, j := range s.jobs {
		w.endJob(j, "cancelled", -1)
	}
	for _, r := range s.runs {
		if !r.ended() {
			w.endRun(r, "cancelled", -1)
		}
	}
}

func (s *sandbox) asleepNow() bool { return s.status == suspended || s.status == "paused" }

// gone reports whether nothing can be done with a sandbox any more.
func (s *sandbox) gone() bool {
	return s.status == deleted || s.status == terminated || s.status == "failed"
}

// busy is the execution that runs, if one does.
func (s *sandbox) busy() *run {
	for _, r := range s.runs {
		if r.status == running {
			return r
		}
	}
	return nil
}

func copyFiles(files map[string]*file) map[string]*file {
	out := maps.Clone(files)
	for path, f := range out {
		same := *f
		out[path] = &same
	}
	return out
}
