package agentuity

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"sandglass/actions"
	"sandglass/backend"
)

const (
	wakeWithin = 40 * time.Second // how long a resumed sandbox may take to be reported live
	askAgain   = 2 * time.Second
)

// verified looks at a sandbox plane by plane after an order that was accepted: status, filesystem, queue. Accepted is not healthy.
func (c *client) verified(ctx context.Context, t actions.Target, accepted backend.Literal) (actions.Done, error) {
	done := actions.Done{Text: backend.Text(accepted)}
	status := c.control(ctx, t.Key.ID, wakeWithin)
	done.Observed = append(done.Observed, status)
	if status.Outcome == backend.OutcomeOK {
		list := c.list(ctx, t.Key.ID, func(time.Time) bool { return true })
		done.Observed = append(done.Observed, list, c.queue(ctx, t.Key.ID))
		if list.Outcome == backend.OutcomeOK {
			done.Proved = true
			done.Text = backend.Textf("%s; %s; %s", done.Text, status.What, list.What)
		}
	}
	done.Steps = steps(done.Observed, backend.Planes()...)
	for _, v := range done.Observed {
		if v.Outcome == backend.OutcomeFailed {
			return done, fmt.Errorf("%s; but %s fails: %s", done.Text, v.Plane, v.What)
		}
	}
	if !done.Proved {
		done.Text = backend.Textf("%s; whether it works is not known yet", done.Text)
	}
	return done, nil
}

// steps are verdicts as the steps of a result.
func steps(found []backend.Verdict, planes ...backend.Plane) []actions.Step {
	return actions.StepsOf(found, planes, func(p backend.Plane) backend.Safe {
		return map[backend.Plane]backend.Safe{
			backend.PlaneExec:   backend.Text("the platform records each command; a probe runs one"),
			backend.PlaneRead:   backend.Text("the platform records each read of a file"),
			backend.PlaneDriver: backend.Text("the Hub tells it: each poll reads it"),
		}[p]
	})
}

// control asks for the status of a sandbox until it is live, at most for some time.
func (c *client) control(ctx context.Context, id backend.ID, within time.Duration) backend.Verdict {
	began := c.now()
	v := backend.Verdict{Plane: backend.PlaneControl, Outcome: backend.OutcomeUnknown, Passive: true}
	for {
		r, err := c.send(ctx, http.MethodGet, "/sandbox/status/"+segment(id), nil, nil)
		v.At = c.now()
		v.Took = v.At.Sub(began)
		switch {
		case err != nil:
			v.What = c.clean(err.Error(), 300)
		case r.Status >= 500:
			v.Outcome, v.Kind, v.What = backend.OutcomeFailed, backend.FailControl5xx, backend.Textf("its status route answers %d", r.Status)
			v.Evidence = []backend.Safe{backend.Clean(c.said(r), 400)}
			return v
		case !r.ok():
			v.What = backend.Clean(c.refusal(r).Error(), 400)
			return v
		case slices.Contains([]string{"idle", "running"}, r.text("status")):
			v.Outcome, v.What = backend.OutcomeOK, backend.Textf("it is reported %s", c.clean(r.text("status"), 60))
			return v
		default:
			v.Kind, v.What = backend.FailWaking, backend.Textf("it is still reported %s", c.clean(r.text("status"), 60))
		}
		if c.now().Sub(began) >= within || !wait(ctx, askAgain) {
			return v
		}
	}
}

func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// list lists one directory of a live sandbox. slept tells whether it slept since a time: that most of its files are gone is a failure
// only then.
func (c *client) list(ctx context.Context, id backend.ID, slept func(since time.Time) bool) backend.Verdict {
	began := c.now()
	dir := c.factory.source.Directory()
	v := backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeUnknown}
	r, err := c.send(ctx, http.MethodGet, "/fs/list/"+segment(id), url.Values{"path": {dir}}, nil)
	v.At = c.now()
	v.Took = v.At.Sub(began)
	if err != nil {
		v.What = c.clean(err.Error(), 300)
		return v
	}
	if r.ok() && r.data.Get("files").Kind() == '[' {
		n := 0
		for range r.data.Get("files").Elements() {
			n++
		}
		v.Outcome, v.What = backend.OutcomeOK, backend.Textf("%s has %s", c.clean(dir, 200), backend.Counted(n, "entry", "entries"))
		if had, since, lost := c.factory.source.SawFiles(id, n, v.At); lost && slept(since) {
			v.Outcome, v.Kind, v.What = backend.OutcomeFailed, backend.FailFilesystemMissing, backend.Textf("%s, and had %d before it slept", v.What, had)
		}
		return v
	}
	v.Evidence = []backend.Safe{backend.Clean(c.said(r), 400)}
	if mountGone(r.message) {
		v.Outcome, v.Kind, v.What = backend.OutcomeFailed, backend.FailMountGone, backend.Textf("its mount is gone: %s", c.clean(r.message, 200))
		return v
	}
	v.What = backend.Textf("whether %s can be listed is not known: the platform answered %d", c.clean(dir, 200), r.Status)
	return v
}

// queue looks whether something waits in a sandbox.
func (c *client) queue(ctx context.Context, id backend.ID) backend.Verdict {
	began := c.now()
	v := backend.Verdict{Plane: backend.PlaneQueue, Outcome: backend.OutcomeUnknown, Passive: true}
	r, err := c.send(ctx, http.MethodGet, "/sandbox/sandboxes/"+segment(id)+"/executions", url.Values{"limit": {"100"}}, nil)
	v.At = c.now()
	v.Took = v.At.Sub(began)
	switch {
	case err != nil:
		v.What = c.clean(err.Error(), 300)
		return v
	case !r.ok() || r.data.Get("executions").Kind() != '[':
		v.What = backend.Clean(c.refusal(r).Error(), 400)
		return v
	}
	queued := 0
	for n := range r.data.Get("executions").Elements() {
		if word, _ := n.Get("status").Text(); backend.WorkClassOf(word) == backend.WorkQueued {
			queued++
		}
	}
	if v.What = backend.Textf("%s queued: whether they begin is not known yet", backend.Counted(queued, "execution is", "executions are")); queued == 0 {
		v.Outcome, v.What = backend.OutcomeOK, backend.Text("nothing is queued")
	}
	return v
}

// The command of a probe: it does nothing, and nothing keeps its output.
func harmless() any {
	return map[string]any{"command": []string{"true"}, "timeout": "10s", "stream": map[string]string{"stdout": "ignore", "stderr": "ignore"}}
}

// probe looks at status and directory, and runs one command, once: it is never sent again, whatever the answer. A probe in
// which nothing of the sandbox worked or failed proves nothing.
func (c *client) probe(ctx context.Context, t actions.Target, _ *reply) (actions.Done, error) {
	done := actions.Done{}
	add := func(v backend.Verdict) backend.Verdict {
		done.Observed = append(done.Observed, v)
		return v
	}
	status := add(c.control(ctx, t.Key.ID, 0))
	list := backend.Verdict{}
	if status.Outcome == backend.OutcomeOK {
		list = add(c.list(ctx, t.Key.ID, func(since time.Time) bool {
			at, known := c.suspendedAt(ctx, t)
			return known && at.After(since)
		}))
	}
	exec := backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeNotTried, What: backend.Text("not run: a step before it did not pass"), At: c.now()}
	if list.Outcome == backend.OutcomeOK {
		exec = c.exec(ctx, t.Key.ID)
	}
	add(exec)
	if exec.Outcome == backend.OutcomeOK {
		add(backend.Verdict{Plane: backend.PlaneQueue, Outcome: backend.OutcomeOK, What: backend.Text("the command started"), At: exec.At})
	}
	done.Steps = steps(done.Observed, backend.Planes()...)
	o := backend.Observation{Verdicts: backend.MergeVerdicts(done.Observed)}
	done.Text = o.What()
	if done.Proved = len(o.Failed()) > 0 || !o.StatusOnly(); !done.Proved {
		return done, fmt.Errorf("it proved nothing: %s", done.Text)
	}
	return done, nil
}

// exec runs the command and reads how it ended.
func (c *client) exec(ctx context.Context, id backend.ID) backend.Verdict {
	began := c.now()
	v := backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeUnknown}
	r, err := c.send(ctx, http.MethodPost, "/sandbox/"+segment(id)+"/execute", nil, harmless())
	end := func(o backend.Outcome, kind backend.FailureKind, what backend.Safe) backend.Verdict {
		v.Outcome, v.Kind, v.What, v.At = o, kind, what, c.now()
		v.Took = v.At.Sub(began)
		return v
	}
	switch {
	case err != nil:
		return end(backend.OutcomeUnknown, "", c.clean(err.Error(), 300))
	case r.Status == http.StatusConflict:
		return end(backend.OutcomeUnknown, "", backend.Text("another execution runs in it: commands run"))
	case r.Status >= 500:
		v.Evidence = []backend.Safe{backend.Clean(c.said(r), 400)}
		return end(backend.OutcomeFailed, backend.FailControl5xx, backend.Textf("the platform answered %d to a command", r.Status))
	case !r.ok():
		return end(backend.OutcomeUnknown, "", backend.Clean(c.refusal(r).Error(), 400))
	}
	key := r.text("executionId")
	for word := r.text("status"); ; {
		switch backend.WorkClassOf(word) {
		case backend.WorkSucceeded:
			if code, is := r.data.Get("exitCode").Float(); is && code != 0 {
				return end(backend.OutcomeFailed, "", backend.Textf("true ended with exit code %d", int(code)))
			}
			return end(backend.OutcomeOK, "", backend.Text("true ran"))
		case backend.WorkFailed, backend.WorkCancelled:
			return end(backend.OutcomeFailed, "", backend.Textf("true ended as %s", c.clean(word, 60)))
		case backend.WorkQueued, backend.WorkRunning, backend.WorkUnknown:
		}
		if c.now().Sub(began) > 20*time.Second || key == "" {
			kind := backend.FailExecTimeout
			if backend.WorkClassOf(word) == backend.WorkQueued {
				kind = backend.FailExecStuckQueued
			}
			return end(backend.OutcomeFailed, kind, backend.Textf("true is still %s after %s", c.clean(word, 60), backend.Age(c.now().Sub(began))))
		}
		if !wait(ctx, askAgain/2) {
			return end(backend.OutcomeUnknown, "", backend.Text("the run was ended while the command ran"))
		}
		now, err := c.send(ctx, http.MethodGet, "/sandbox/execution/"+url.PathEscape(key), url.Values{"wait": {"5s"}}, nil)
		if err == nil && now.ok() {
			r, word = now, now.text("status")
		}
	}
}
