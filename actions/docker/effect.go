package docker

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/moby/moby/client"

	"sandglass/actions"
	"sandglass/backend"
)

// operation performs a verb on a container that was just found to be the one of the plan.
type operation func(ctx context.Context, b *containerInfo, t actions.Target) (actions.Done, error)

// effect performs one verb during one run.
type effect struct {
	client    *mutatingClient
	verb      actions.Verb
	operation operation
}

// Do reads the container once more, compares it with the plan, and acts on its full id, which the engine never gives to
// another container.
func (e *effect) Do(ctx context.Context, t actions.Target, _ actions.Params) (actions.Done, error) {
	asked := e.client.factory.deps.Now()
	b, err := e.client.inspect(ctx, t.Key.ID, false)
	read := e.client.factory.deps.Now()
	if err == errGone {
		done := actions.Done{}
		if e.verb == actions.Probe {
			done.Observed = []backend.Verdict{{Plane: backend.PlaneControl, Outcome: backend.OutcomeFailed, Kind: backend.FailGone,
				What: backend.Text("the engine has no such container any more"), Took: read.Sub(asked), At: read, Passive: true}}
		}
		return done, &actions.ChangedError{What: backend.Text("the engine has no such container any more")}
	}
	if err != nil {
		return actions.Done{}, err
	}
	b.took = read.Sub(asked)
	if why := b.unfit(e.verb); !why.IsEmpty() {
		return actions.Done{}, &actions.ChangedError{What: why}
	}
	for _, f := range b.identity(e.verb) {
		if !slices.Contains(t.Identity, f) {
			return actions.Done{}, &actions.ChangedError{What: backend.Textf("%s is %s now", backend.Clean(f.Name, 40), backend.Clean(f.Value, 80))}
		}
	}
	return e.operation(ctx, b, t)
}

// Close ends the connections.
func (e *effect) Close() error { return e.client.close() }

func (m *mutatingClient) destroy(ctx context.Context, b *containerInfo, t actions.Target) (actions.Done, error) {
	once := func() (int, error) {
		return m.order(ctx, 3*m.deadline(), func(ctx context.Context) error {
			_, err := m.api.ContainerRemove(ctx, b.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
			return err
		})
	}
	status, err := once()
	// Podman does not remove a container whose run ends or begins just then.
	status, err = m.inLoop(ctx, b, status, err, func(status int) bool {
		return status == http.StatusInternalServerError || status == http.StatusConflict && m.stays(ctx, t.Key.ID)
	}, once)
	if status == http.StatusConflict {
		return actions.Done{}, &actions.ChangedError{What: backend.Text("the engine is removing it already")}
	}
	if err != nil {
		return actions.Done{}, err
	}
	done := actions.Done{Text: backend.Text("the engine removed it")}
	if _, err := m.inspect(ctx, t.Key.ID, false); err == errGone {
		done.Proved, done.Text = true, backend.Text("the engine removed it and knows it no longer")
	}
	return done, nil
}

func (m *mutatingClient) stop(ctx context.Context, b *containerInfo, t actions.Target) (actions.Done, error) {
	grace := b.grace(m.factory.opt)
	wait := int(grace.Seconds())
	once := func() (int, error) {
		return m.order(ctx, grace+2*m.deadline(), func(ctx context.Context) error {
			_, err := m.api.ContainerStop(ctx, b.ID, client.ContainerStopOptions{Timeout: &wait})
			return err
		})
	}
	status, err := once()
	// Podman stops a container only while it runs; between two runs of a crash loop it says that there is nothing to do.
	status, err = m.inLoop(ctx, b, status, err, func(status int) bool { return status == http.StatusNotModified }, once)
	if status == http.StatusNotModified {
		return actions.Done{}, &actions.ChangedError{What: backend.Text("it had ended by itself")}
	}
	if b.loops() {
		return m.stopLoop(ctx, b, t, status, err, once)
	}
	return m.after(ctx, t, err, stateExited)
}

func (m *mutatingClient) pause(ctx context.Context, b *containerInfo, t actions.Target) (actions.Done, error) {
	status, err := m.order(ctx, m.deadline(), func(ctx context.Context) error {
		_, err := m.api.ContainerPause(ctx, b.ID, client.ContainerPauseOptions{})
		return err
	})
	return m.after(ctx, t, m.conflict(ctx, t, status, err), statePaused)
}

func (m *mutatingClient) resume(ctx context.Context, b *containerInfo, t actions.Target) (actions.Done, error) {
	status, err := m.order(ctx, m.deadline(), func(ctx context.Context) error {
		_, err := m.api.ContainerUnpause(ctx, b.ID, client.ContainerUnpauseOptions{})
		return err
	})
	done, err := m.after(ctx, t, m.conflict(ctx, t, status, err), stateRunning)
	if err != nil || !done.Proved {
		return done, err
	}
	return m.verified(ctx, b, done, nil)
}

// conflict reads the state of a container that made the engine refuse: 409, and 500 from engines before 23, mean that
// another client changed it first.
func (m *mutatingClient) conflict(ctx context.Context, t actions.Target, status int, err error) error {
	if err == nil || status != http.StatusConflict && status != http.StatusInternalServerError {
		return err
	}
	b, read := m.inspect(ctx, t.Key.ID, false)
	if read != nil || slices.Contains(t.Identity, actions.Fact{Name: "state", Value: b.state}) {
		return err
	}
	return &actions.ChangedError{What: backend.Textf("it is %s now", backend.Clean(b.state, 60))}
}

// endWithin bounds the wait for Podman's word about a container that it has stopped.
const endWithin = 8 * time.Second

// ended reads a container after an accepted stop. Podman calls it "stopped" for a moment, or for ever: then time tells that
// no run follows.
func (m *mutatingClient) ended(ctx context.Context, id backend.ID) (*containerInfo, error) {
	b, err := m.inspect(ctx, id, false)
	tick := time.NewTicker(4 * loopPause)
	defer tick.Stop()
	for tries := endWithin / (4 * loopPause); err == nil && b.state == stateRestarting && b.Podman() && tries > 0; tries-- {
		select {
		case <-tick.C:
			b, err = m.inspect(ctx, id, false)
		case <-ctx.Done():
			return b, nil
		}
	}
	return b, err
}

// after reads what a container is after an order that succeeded.
func (m *mutatingClient) after(ctx context.Context, t actions.Target, err error, wanted string) (actions.Done, error) {
	if err != nil {
		return actions.Done{}, err
	}
	read := func() (*containerInfo, error) { return m.inspect(ctx, t.Key.ID, false) }
	if wanted == stateExited {
		read = func() (*containerInfo, error) { return m.ended(ctx, t.Key.ID) }
	}
	b, err := read()
	switch {
	case errors.Is(err, errGone):
		return actions.Done{Text: backend.Text("the engine accepted it, and removed the container since")}, nil
	case err != nil:
		return actions.Done{Text: backend.Text("the engine accepted it; it could not be read afterwards")}, nil
	}
	return actions.Done{Text: backend.Textf("the engine calls it %s", backend.Clean(b.state, 60)), Proved: b.state == wanted}, nil
}
