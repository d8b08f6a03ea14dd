package demo

import (
	"strconv"
	"time"
)

// wireWork is an execution or a job of a session, as the operator routes report
// it. A time is left out while it has not come to that.
type wireWork struct {
	ID        string   `json:"id"`
	Sandbox   string   `json:"sandbox,omitempty"`
	Type      string   `json:"type,omitempty"`
	Status    string   `json:"status"`
	Command   []string `json:"command"`
	QueuedAt  *stamp   `json:"queuedAt,omitempty"`
	StartedAt *stamp   `json:"startedAt,omitempty"`
	EndedAt   *stamp   `json:"endedAt,omitempty"`
	ExitCode  *int     `json:"exitCode,omitempty"`
	Error     string   `json:"error,omitempty"`
}

// shownExecutions is how many executions of a session the routes list.
const shownExecutions = 4

// works reports whether the routes list the executions and jobs of a session:
// its operator wrote that down for a few of the busy ones.
func (f *fleet) works(slot int) bool {
	s := &f.sessions[slot]
	return s.kind == lasting && slot < f.hot && f.workspaces[s.first].provider.hasShell() && percent(f.random.value(saltWork, slot, 0)) < 5
}

// pulse is which execution of a session is the newest, and how far it is.
func (w world) pulse(slot int) (n int64, since, period time.Duration) {
	period = between(w.random.value(saltWork, slot, 1), 40*time.Second, 3*time.Minute)
	age := w.t - w.startOf(slot)
	return int64(age / period), age % period, period
}

// steps are how long after the start of its turn an execution starts and ends.
func (w world) steps(slot int, n int64, period time.Duration) (start, end time.Duration) {
	h := w.random.value(saltWork, slot, 2+n)
	start = between(h, 200*time.Millisecond, 6*time.Second)
	return start, start + between(h>>8, time.Second, period/2)
}

// executions are the newest ones of a session, oldest first.
func (w world) executions(slot int) []wireWork {
	newest, since, period := w.pulse(slot)
	var out []wireWork
	for n := max(newest-shownExecutions+1, 0); n <= newest; n++ {
		begin := w.startOf(slot) + time.Duration(n)*period
		age := since + time.Duration(newest-n)*period
		start, end := w.steps(slot, n, period)
		h := w.random.value(saltWork, slot, 2+n) >> 16
		commands := [...][]string{{"npm", "test"}, {"git", "status", "--short"}, {"env", "NPM_TOKEN=npm_4f9c1e7aa2", "npm", "ci"}, {"python", "train.py", "--epochs", "3"}}
		x := wireWork{ID: "exe_" + strconv.FormatUint(w.random.value(saltWork, slot, 2+n)>>20, 16), Type: "exec", Status: "queued",
			Command: commands[below(h, uint64(len(commands)))], QueuedAt: w.workStamp(slot, begin)}
		if box, ok := w.containerOf[w.sessions[slot].first]; ok {
			x.Sandbox = w.containers[box].id
		}
		if age >= start {
			x.Status, x.StartedAt = "running", w.workStamp(slot, begin+start)
		}
		if age >= end {
			code := 0
			x.Status, x.EndedAt, x.ExitCode = "completed", w.workStamp(slot, begin+end), &code
			if h%9 == 0 {
				code, x.Status = 1, "failed"
			}
		}
		out = append(out, x)
	}
	return out
}

// jobs run beside the executions: one all the time, and of some sessions one
// that failed at once.
func (w world) jobs(slot int) []wireWork {
	h := w.random.value(saltWork, slot, 0)
	id := "job_" + strconv.FormatUint(h>>40, 16)
	out := []wireWork{{ID: id, Status: "running", Command: []string{"npm", "run", "dev"}, StartedAt: w.workStamp(slot, w.startOf(slot)+time.Second)}}
	if h>>8%3 == 0 {
		code := 1
		out = append(out, wireWork{ID: id + "b", Status: "failed", Command: []string{"node", "worker.js"}, StartedAt: w.workStamp(slot, w.startOf(slot)+2*time.Second),
			EndedAt: w.workStamp(slot, w.startOf(slot)+3*time.Second), ExitCode: &code, Error: "Error: listen EADDRINUSE: address already in use :::3000"})
	}
	return out
}

func (w world) workStamp(slot int, t time.Duration) *stamp {
	return &stamp{at: w.when(t), iso: w.sessions[slot].where == us}
}

// hashWork changes whenever one of the executions does.
func (w world) hashWork(h uint64, slot int) uint64 {
	if !w.works(slot) {
		return h
	}
	n, since, period := w.pulse(slot)
	h = scramble(h ^ uint64(n))
	start, end := w.steps(slot, n, period)
	for _, step := range [...]time.Duration{start, end} {
		if since >= step {
			h = scramble(h)
		}
	}
	return h
}
