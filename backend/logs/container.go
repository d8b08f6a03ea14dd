package logs

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"sandglass/backend"
	"sandglass/backend/loglines"
)

// engine is the part of a container engine's API that reading a log takes.
type engine interface {
	ContainerInspect(ctx context.Context, id string, o client.ContainerInspectOptions) (client.ContainerInspectResult, error)
	ContainerLogs(ctx context.Context, id string, o client.ContainerLogsOptions) (client.ContainerLogsResult, error)
	Close() error
}

// container reads what a container writes, past first.
type container struct {
	engine engine
	name   string
	host   string
}

const defaultEngine = "unix:///var/run/docker.sock"

func newContainer(opts *Options, deps backend.Deps) (*container, error) {
	host := opts.Host
	if host == "" {
		host = deps.Getenv("DOCKER_HOST")
	}
	if host == "" {
		host = defaultEngine
	}
	at, err := client.ParseHostURL(host)
	if err != nil {
		return nil, err
	}
	network, address := at.Scheme, at.Host
	if network == "http" {
		network = "tcp"
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return deps.Dial(ctx, network, address) }
	// The dialler comes after the host: setting the host replaces it.
	c, err := client.New(client.WithHost(host), client.WithDialContext(dial))
	if err != nil {
		return nil, err
	}
	return &container{engine: c, name: opts.Container, host: host}, nil
}

func (c *container) routes() []backend.Route {
	return []backend.Route{
		{Verb: "GET", Target: c.host + "/containers/" + c.name + "/json", Why: "whether the container has a terminal, which decides the stream's form"},
		{Verb: "GET", Target: c.host + "/containers/" + c.name + "/logs", Why: "its output is the log"},
	}
}

func (c *container) run(ctx context.Context, since time.Time, in *intake) error {
	info, err := c.engine.ContainerInspect(ctx, c.name, client.ContainerInspectOptions{})
	if err != nil {
		return c.failed(err)
	}
	tty := info.Container.Config != nil && info.Container.Config.Tty
	in.opened()
	in.resume()
	if err := c.copy(ctx, client.ContainerLogsOptions{Since: stampOf(since)}, tty, true, in); err != nil {
		return c.failed(err)
	}
	in.settled()
	from := since
	if last := in.resume(); last.After(from) {
		from = last
	}
	// What was written between the two requests arrives with the second one, as does the last line again.
	if err := c.copy(ctx, client.ContainerLogsOptions{Since: stampOf(from), Follow: true}, tty, false, in); err != nil {
		return c.failed(err)
	}
	return backend.Errorf(backend.ErrGone, c.host, "container %q ended its log: it stopped", c.name)
}

func stampOf(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func (c *container) copy(ctx context.Context, o client.ContainerLogsOptions, tty, past bool, in *intake) error {
	o.ShowStdout, o.ShowStderr, o.Timestamps = true, true, true
	body, err := c.engine.ContainerLogs(ctx, c.name, o)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	if tty {
		err = loglines.Plain(body, func(b []byte) { in.take(b, 0, true, past) })
	} else {
		err = loglines.Demultiplex(body, func(b []byte, which int) { in.take(b, which, true, past) })
	}
	in.ended(true, past)
	return err
}

func (c *container) failed(err error) error {
	kind := backend.ErrUnreachable
	var known *backend.Error
	switch {
	case errors.As(err, &known):
		return err
	case errdefs.IsNotFound(err):
		kind = backend.ErrGone
	case errdefs.IsPermissionDenied(err), errdefs.IsUnauthorized(err):
		kind = backend.ErrUnauthorised
	case errors.Is(err, context.DeadlineExceeded):
		kind = backend.ErrTimeout
	case errors.Is(err, loglines.ErrBadFrame):
		kind = backend.ErrInvalid
	}
	return backend.Errorf(kind, c.host, "log of container %q: %w", c.name, err)
}
