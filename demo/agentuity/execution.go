package agentuity

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// States of an execution and a job, besides running.
const (
	queued    = "queued"
	pending   = "pending"
	completed = "completed"
	failed    = "failed"
	cancelled = "cancelled"
)

// keptRuns is how many executions of a sandbox the platform lists at most.
const keptRuns = 100

// run is one execution.
type run struct {
	id, kind, status, fails string
	of                      *sandbox
	command                 []string
	exit                    int
	began, done             time.Time
	took                    time.Duration
	stdout, stderr          string // stream ids
	then                    func() // after it completed
}

func (r *run) ended() bool { return r.status != queued && r.status != running }

// job is one background process.
type job struct {
	id, status, fails string
	of                *sandbox
	command           []string
	exit              int
	began, done       time.Time
	nulls             bool // unset fields are null instead of absent
	stdout, stderr    string
}

// driverCommand starts the process that connects a sandbox to the Hub.
func driverCommand() []string {
	return []string{"bun", "run", homeDir + "/client/driver/rpc-driver.ts"}
}

func isDriver(command []string) bool {
	return strings.Contains(strings.Join(command, " "), "rpc-driver")
}

// enqueue records an execution.
func (w *World) enqueue(s *sandbox, kind string, command []string) *run {
	r := &run{id: w.id("exe", 60), kind: kind, status: queued, of: s, command: command}
	s.runs = append(s.runs, r)
	s.started++
	if over := len(s.runs) - keptRuns; over > 0 {
		for _, old := range s.runs[:over] {
			delete(w.runs, old.id)
			delete(w.output, old.stdout)
			delete(w.output, old.stderr)
		}
		s.runs = slices.Clone(s.runs[over:])
	}
	w.runs[r.id] = r
	return r
}

// start lets a queued execution run after a wait, for a time.
func (w *World) start(r *run, wait, lasts time.Duration) {
	w.later(wait, func() {
		s := r.of
		switch {
		case r.status != queued:
			return
		case s.fault.queueStops || w.stopped[s.region]:
			return // it stays queued for good
		case s.status != idle: // executions run one at a time, and none while the sandbox sleeps
			w.start(r, time.Second, lasts)
			return
		}
		r.status, r.began = running, w.t
		s.status = running
		if r.stdout == "" {
			r.stdout, r.stderr = w.id("stream", 24), w.id("stream", 24)
		}
		w.later(lasts, func() {
			if r.status == running {
				exit := w.perform(r)
				state := completed
				if exit != 0 {
					state = failed
				}
				w.endRun(r, state, exit)
			}
		})
	})
}

func (w *World) endRun(r *run, state string, exit int) {
	r.status, r.exit, r.done = state, exit, w.t
	if !r.began.IsZero() {
		r.took = w.t.Sub(r.began)
	}
	if state == failed {
		r.fails = "exit status " + strconv.Itoa(exit)
	}
	if r.of.status == running {
		r.of.status = idle
	}
	if r.then != nil && state == completed {
		r.then()
	}
}

func (w *World) startJob(s *sandbox, command []string, at time.Time) *job {
	j := &job{id: w.id("job", 24), status: running, of: s, command: command, began: at, stdout: w.id("stream", 24), stderr: w.id("stream", 24)}
	s.jobs = append(s.jobs, j)
	return j
}

func (w *World) endJob(j *job, state string, exit int) {
	if j.status == running || j.status == pending {
		j.status, j.exit, j.done = state, exit, w.t
	}
}

// driver is the driver job that runs, if one does.
func (s *sandbox) driver() *job {
	for _, j := range s.jobs {
		if j.status == running && isDriver(j.command) {
			return j
		}
	}
	return nil
}

// perform does what a command says, as far as the demo knows it, and returns its exit code.
func (w *World) perform(r *run) int {
	exit, out, fails := r.of.shell(r.command)
	w.output[r.stdout], w.output[r.stderr] = out, fails
	return exit
}

// shell runs one of a few commands; the rest works and says nothing.
func (s *sandbox) shell(argv []string) (exit int, out, fails string) {
	if len(argv) == 0 {
		return 0, "", ""
	}
	switch name := path.Base(argv[0]); name {
	case "sh", "bash":
		return s.script(argv[len(argv)-1])
	case "false":
		return 1, "", ""
	case "echo":
		if said, toErrors := strings.CutSuffix(strings.Join(argv[1:], " "), " >&2"); toErrors {
			return 0, "", said + "\n"
		}
		return 0, strings.Join(argv[1:], " ") + "\n", ""
	case "pwd":
		return 0, homeDir + "\n", ""
	case "exit":
		n, _ := strconv.Atoi(argv[len(argv)-1])
		return n, "", ""
	case "pkill", "kill":
		if isNudge(argv) && s.driver() == nil {
			return 1, "", ""
		}
		return 0, "", ""
	case "cat":
		f := s.files[absolute(argv[len(argv)-1])]
		if f == nil || f.dir {
			return 1, "", "cat: " + argv[len(argv)-1] + ": No such file or directory\n"
		}
		return 0, string(f.content), ""
	}
	return 0, "", ""
}

// script runs the parts of a shell line, and ends with the first that fails. After || is what to do then.
func (s *sandbox) script(line string) (exit int, out, fails string) {
	if first, otherwise, either := strings.Cut(line, "||"); either {
		if exit, out, fails = s.script(first); exit == 0 {
			return exit, out, fails
		}
		return s.script(strings.Trim(otherwise, " {};"))
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(line, "&&", ";"), ";") {
		code, said, wrong := s.shell(strings.Fields(strings.NewReplacer("'", "", `"`, "").Replace(part)))
		out, fails = out+said, fails+wrong
		if code != 0 {
			return code, out, fails
		}
	}
	return 0, out, fails
}

func isNudge(argv []string) bool {
	line := strings.Join(argv, " ")
	return strings.Contains(line, "USR1") && strings.Contains(line, "pc-driver")
}
