package docker

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/moby/moby/client"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// start starts a container that has ended.
func (m *mutatingClient) start(ctx context.Context, _ *containerInfo, t actions.Target) (actions.Done, error) {
	status, err := m.order(ctx, 3*m.deadline(), func(ctx context.Context) error {
		_, err := m.api.ContainerStart(ctx, t.Key.ID.Raw(), client.ContainerStartOptions{})
		return err
	})
	if status == http.StatusNotModified {
		return actions.Done{}, &actions.ChangedError{What: backend.Text("another client started it already")}
	}
	return m.after(ctx, t, m.conflict(ctx, t, status, err), stateRunning)
}

// restart stops a container and starts it again, which is one order.
func (m *mutatingClient) restart(ctx context.Context, b *containerInfo, t actions.Target) (actions.Done, error) {
	grace := b.grace(m.factory.opt)
	wait := int(grace.Seconds())
	_, err := m.order(ctx, grace+3*m.deadline(), func(ctx context.Context) error {
		_, err := m.api.ContainerRestart(ctx, b.ID, client.ContainerRestartOptions{Timeout: &wait})
		return err
	})
	done, err := m.after(ctx, t, err, stateRunning)
	if err != nil || !done.Proved {
		return done, err
	}
	now, err := m.inspect(ctx, t.Key.ID, false)
	if done.Proved = err == nil && now.started != b.started; !done.Proved {
		done.Text = backend.Text("the engine accepted it; that another run began is not seen")
	}
	return done, nil
}

// unfitToStart is why a container in this state cannot be started; empty: it can.
func (b *containerInfo) unfitToStart() backend.Safe {
	switch b.state {
	case stateCreated, stateExited:
		return backend.Safe{}
	case stateRunning:
		return backend.Text("it runs already")
	case statePaused:
		return backend.Text("it is paused: resume it")
	case stateRestarting:
		return backend.Text("its restart policy starts it already")
	case stateDead:
		return backend.Text("the engine could not remove it and does not start it again: destroy it")
	}
	return backend.Textf("the engine calls it %s", backend.Clean(b.state, 60))
}

// unfitToRestart is why a container in this state cannot be restarted; empty: it can.
func (b *containerInfo) unfitToRestart() backend.Safe {
	switch {
	case b.state == stateRestarting:
		return backend.Text("it restarts by itself again and again: find why it ends, or stop it")
	case b.state == statePaused:
		return backend.Text("it is paused: resume it first")
	case b.state != stateRunning:
		return backend.Textf("it does not run (%s): start it", backend.Clean(b.state, 60))
	case b.autoRemove && b.Podman():
		return backend.Text("Podman removes it when it ends (it was made with --rm), so a restart could destroy it")
	}
	return backend.Safe{}
}

// newRunVerifier verifies a verb after which a container runs again.
type newRunVerifier struct{}

// Verify looks for a later reading in which the container runs since another time than the plan saw.
func (newRunVerifier) Verify(t actions.Target, issued time.Time, s *fleet.State) actions.Verdict {
	v := classVerifier{backend.SandboxRunning}.Verify(t, issued, s)
	if v.Result != actions.ResultVerified {
		return v
	}
	started, known := s.Sandbox(t.Key).StartedAt.Get()
	i := slices.IndexFunc(t.Identity, func(f actions.Fact) bool { return f.Name == "started" })
	switch {
	case !known:
		return actions.Verdict{Result: actions.ResultAccepted, Why: backend.Text("it runs; since when is not known")}
	case i < 0: // a crash loop: any run since then is another one
		return v
	}
	if before, err := time.Parse(time.RFC3339Nano, t.Identity[i].Value); err == nil && before.Equal(started) {
		return actions.Verdict{Result: actions.ResultAccepted, Why: backend.Text("it is still the run that the plan saw")}
	}
	return v
}
