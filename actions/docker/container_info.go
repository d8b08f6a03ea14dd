package docker

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/workdir"
)

// containerInfo is one container as the engine just described it. All strings are raw, times are the engine's.
type containerInfo struct {
	workdir.Container
	name, image      string // image is an id
	state            string
	created, started string
	restarts         int
	restarting       bool // its policy starts it again
	autoRemove       bool
	stopAfter        time.Duration        // that it was made with; zero: the usual one; negative: its engine waits for ever
	written          backend.Value[int64] // bytes in its own layer
	took             time.Duration        // until the engine described it
}

// The words of the engine for what a container does.
const (
	stateCreated    = "created"
	stateRunning    = "running"
	statePaused     = "paused"
	stateRestarting = "restarting"
	stateExited     = "exited"
	stateRemoving   = "removing"
	stateDead       = "dead"
)

// usualStop is the time in seconds that both engines give a container to end when none was chosen; Podman lists it for each.
// Source: docs.docker.com/reference/cli/docker/container/stop, containers.conf(5).
const usualStop = 10

var errGone = errors.New("the engine has no such container any more")

// gone reports whether an engine answered that it has no such container. Podman answers 500 where it is removed meanwhile.
func gone(status int, err error) bool {
	return status == http.StatusNotFound || status == http.StatusInternalServerError && err != nil && strings.Contains(strings.ToLower(err.Error()), "no such container")
}

// inspect reads one container by its full id. written is known only when size is asked for, which costs the engine a
// walk through what the container wrote.
func (r *reader) inspect(ctx context.Context, id backend.ID, size bool) (*containerInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, r.deadline())
	defer cancel()
	ctx, x := watched(ctx)
	res, err := r.api.ContainerInspect(ctx, id.Raw(), client.ContainerInspectOptions{Size: size})
	x.lost(err)
	c := res.Container
	switch {
	case gone(int(x.status.Load()), err):
		return nil, errGone
	case errors.Is(err, context.DeadlineExceeded):
		return nil, errors.New("the engine did not answer in time")
	case err != nil:
		return nil, errors.New(r.words(err).String())
	case c.ID != id.Raw() || c.State == nil || c.Config == nil || c.HostConfig == nil:
		return nil, errors.New("the engine's answer is about another container, or not whole")
	}
	b := &containerInfo{Container: workdir.Of(c), name: strings.TrimPrefix(c.Name, "/"), image: c.Image, state: string(c.State.Status),
		created: c.Created, started: c.State.StartedAt, restarts: c.RestartCount, autoRemove: c.HostConfig.AutoRemove,
		restarting: !slices.Contains([]container.RestartPolicyMode{"", container.RestartPolicyDisabled}, c.HostConfig.RestartPolicy.Name)}
	if c.State.Status == workdir.Stopped {
		if b.state = stateExited; workdir.RunsAgain(c, x.clock()) {
			b.state = stateRestarting
		}
	}
	if c.Config.StopTimeout != nil && *c.Config.StopTimeout != usualStop {
		b.stopAfter = time.Duration(*c.Config.StopTimeout) * time.Second
	}
	if c.SizeRw != nil {
		b.written = backend.Known(*c.SizeRw)
	}
	return b, nil
}

// identity is what must be the same when the container is acted on. One that its policy starts again and again is
// another run at every look: there the container counts, and not its run.
func (b *containerInfo) identity(v actions.Verb) []actions.Fact {
	out := []actions.Fact{{Name: "id", Value: b.ID}, {Name: "created", Value: b.created}, {Name: "image", Value: b.image}}
	if (v == actions.Destroy || v == actions.Stop || v == actions.Restart) && b.restarting && (b.restarts > 0 || b.state == stateRestarting) {
		return append(out, actions.Fact{Name: "state", Value: "restarts by itself"})
	}
	return append(out, actions.Fact{Name: "state", Value: b.state}, actions.Fact{Name: "started", Value: b.started},
		actions.Fact{Name: "pid", Value: strconv.Itoa(b.PID)}, actions.Fact{Name: "restarts", Value: strconv.Itoa(b.restarts)})
}

// unfit is why the verb makes no sense for a container in this state; empty: it does.
func (b *containerInfo) unfit(v actions.Verb) backend.Safe {
	runs := b.state == stateRunning || b.state == statePaused || b.state == stateRestarting
	switch {
	case b.state == stateRemoving:
		return backend.Text("the engine is removing it already")
	case v == actions.Start:
		return b.unfitToStart()
	case v == actions.Restart:
		return b.unfitToRestart()
	case v == actions.Destroy, v == actions.Probe: // a probe starts nothing in one that does not run
		return backend.Safe{}
	case v == actions.Resume && b.state == stateRunning:
		return backend.Text("it runs already")
	case v == actions.Pause && b.state == statePaused:
		return backend.Text("it is paused already")
	case v == actions.Stop && !runs:
		return backend.Textf("it does not run: %s", backend.Clean(b.state, 60))
	case v == actions.Stop && b.state == statePaused && b.Podman():
		return backend.Text("it is paused, and Podman does not stop a paused container: resume it first")
	case v == actions.Stop && b.autoRemove:
		return backend.Text("the engine removes it when it ends (it was made with --rm), so a stop would destroy it: if that is meant, destroy it")
	case v == actions.Stop:
		return backend.Safe{}
	case v == actions.Resume && b.state == statePaused, v != actions.Resume && b.state == stateRunning:
		return backend.Safe{}
	case v == actions.Resume:
		return backend.Textf("it is not paused: %s", backend.Clean(b.state, 60))
	case b.state == statePaused:
		return backend.Text("it is paused, and no command runs in it until it is resumed")
	}
	return backend.Textf("it does not run: %s", backend.Clean(b.state, 60))
}

// idle reports whether nothing can run in the container.
func (b *containerInfo) idle() bool {
	return b.state == stateCreated || b.state == stateExited || b.state == stateDead
}

// grace is how long what runs in the container may take to end before the engine kills it: the longer of what the container
// was made with and stop_timeout, at most longestStop.
func (b *containerInfo) grace(o Options) time.Duration {
	if b.stopAfter < 0 {
		return longestStop
	}
	return min(max(b.stopAfter, o.StopTimeout.Std()), longestStop)
}

// killedAfter says how long it may take to end, where the container was made to take longer than others; empty: as others.
func (b *containerInfo) killedAfter(o Options) backend.Safe {
	switch got := b.grace(o); {
	case b.stopAfter < 0:
		return backend.Textf("it was made to be waited for without an end, and is killed after %d s all the same", int(got.Seconds()))
	case b.stopAfter > got:
		return backend.Textf("it was made with %s to end, and is killed after %d s all the same", backend.Age(b.stopAfter), int(got.Seconds()))
	case b.stopAfter > o.StopTimeout.Std():
		return backend.Textf("it has the %s to end that it was made with, and is killed then", backend.Age(got))
	}
	return backend.Safe{}
}
