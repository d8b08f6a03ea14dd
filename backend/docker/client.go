package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/events"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"

	"sandglass/backend"
	"sandglass/backend/workdir"
)

// inFlight is the largest number of requests that the engine has to serve for us at once, the event stream aside.
const inFlight = 10

// settle is how long a new event stream may still turn out to be refused.
const settle = 50 * time.Millisecond

// lifecycleActions are the events asked for; Docker matches them as prefixes. exec_* is not among them: every
// health check is an exec, and a hundred of them would be a storm.
var lifecycleActions = [...]string{"create", "start", "die", "oom", "pause", "unpause", "rename", "destroy", "health_status"}

// podmanActions are Podman's words for what Docker calls die and destroy, and cleanup, after which a container that ended
// gets its last state. Podman filters by its own words and only in part sends Docker's.
var podmanActions = [...]string{"died", "remove", "cleanup"}

// moby maps the client library to engine.
type moby struct {
	api   *client.Client
	idle  func() // closes idle connections
	meter *readOnlyTransport
	at    string // the address, for errors

	mu      sync.Mutex
	dialErr error // of the newest attempt to connect
}

// newMoby makes a client for one address. It opens no connection.
func newMoby(a address, deps backend.Deps) (*moby, error) {
	m := &moby{at: a.url}
	transport, err := newTransport(a, func(ctx context.Context) (net.Conn, error) { return m.dial(ctx, a, deps) })
	if err != nil {
		return nil, err
	}
	scheme := "http"
	if transport.TLSClientConfig != nil {
		scheme = "https"
	}
	m.idle, m.meter = transport.CloseIdleConnections, &readOnlyTransport{base: deps.Recorded(transport, false), now: deps.Now, limit: maxBody}
	if deps.Tap != nil {
		m.meter.base = deps.Tap(m.meter.base)
	}
	// The order matters: WithHost sets up the client's own transport, which is then replaced by ours.
	m.api, err = client.New(client.WithHost(a.url),
		client.WithHTTPClient(&http.Client{Transport: m.meter, CheckRedirect: client.CheckRedirect}),
		client.WithScheme(scheme), client.WithUserAgent("sandglass"))
	if err != nil {
		return nil, &backend.Error{Kind: backend.ErrInvalid, Where: a.url, Err: err}
	}
	return m, nil
}

// newTransport is how any client reaches an address, by the dialer and the certificates of its source.
func newTransport(a address, dial func(context.Context) (net.Conn, error)) (*http.Transport, error) {
	tlsConfig, err := a.tls.load()
	if err != nil {
		return nil, &backend.Error{Kind: backend.ErrInvalid, Where: a.url, Err: err}
	}
	return &http.Transport{
		DialContext:         func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		TLSClientConfig:     tlsConfig,
		DisableCompression:  a.network == "unix",
		MaxIdleConnsPerHost: inFlight,
		IdleConnTimeout:     90 * time.Second,
	}, nil
}

// dial connects and remembers why it could not: the client library keeps only the text of some causes.
func (m *moby) dial(ctx context.Context, a address, deps backend.Deps) (net.Conn, error) {
	conn, err := deps.Dial(ctx, a.network, a.dial)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dialErr = err
	return conn, err
}

func (m *moby) takeLoad() backend.Load { return m.meter.takeLoad() }

func (m *moby) podman() bool { return m.meter.isPodman() }

func (m *moby) clock() (backend.Value[time.Duration], time.Time) { return m.meter.clock() }

func (m *moby) close() { m.idle() }

func (m *moby) ping(ctx context.Context) (string, error) {
	p, err := m.api.Ping(ctx, client.PingOptions{NegotiateAPIVersion: true})
	if err != nil && p.APIVersion != "" && m.api.ClientVersion() == client.MaxAPIVersion && errdefs.IsInvalidArgument(err) {
		return p.APIVersion, &backend.Error{Kind: backend.ErrInvalid, Where: m.at,
			Err: fmt.Errorf("the engine speaks API %s; %s (Docker Engine 19.03) is the oldest that can be read: %w", p.APIVersion, client.MinAPIVersion, err)}
	}
	if err != nil {
		return "", m.fail("/_ping", err)
	}
	return m.api.ClientVersion(), nil
}

func (m *moby) list(ctx context.Context) ([]summary, error) {
	res, err := m.api.ContainerList(ctx, client.ContainerListOptions{All: true})
	if errdefs.IsInternal(err) { // Podman fails when a container ends while it lists
		res, err = m.api.ContainerList(ctx, client.ContainerListOptions{All: true})
	}
	if err != nil {
		return nil, m.fail("/containers/json", err)
	}
	out := make([]summary, len(res.Items))
	for i, c := range res.Items {
		out[i] = summary{id: c.ID, name: mainName(c.Names), image: c.Image, state: string(c.State), status: c.Status,
			labels: c.Labels, mounts: mountsOf(c.Mounts)}
		if c.Created > 0 {
			out[i].created = time.Unix(c.Created, 0)
		}
	}
	return out, nil
}

// mainName is the container's own name; the others are those that links of other containers gave it, "/other/alias".
func mainName(names []string) string {
	for _, n := range names {
		if n = strings.TrimPrefix(n, "/"); !strings.Contains(n, "/") {
			return n
		}
	}
	return ""
}

func mountsOf(points []container.MountPoint) []mount {
	out := make([]mount, len(points))
	for i, p := range points {
		out[i] = mount{kind: string(p.Type), source: p.Source, destination: p.Destination, readOnly: !p.RW}
	}
	return out
}

func (m *moby) volumes(ctx context.Context) ([]volume, error) {
	res, err := m.api.VolumeList(ctx, client.VolumeListOptions{Filters: make(client.Filters).Add("driver", "local")})
	if err != nil {
		return nil, m.fail("/volumes", err)
	}
	if len(res.Warnings) > 0 {
		return nil, &backend.Error{Kind: backend.ErrInvalid, Where: m.at + "/volumes", Err: fmt.Errorf("the engine says that the list may not be complete: %s", res.Warnings[0])}
	}
	out := make([]volume, len(res.Items))
	for i, v := range res.Items {
		out[i] = volume{v.Name, v.Options}
	}
	return out, nil
}

func (m *moby) inspect(ctx context.Context, id string) (*inspection, error) {
	where := "/containers/" + id + "/json"
	res, err := m.api.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if err != nil {
		return nil, m.fail(where, err)
	}
	c := res.Container
	if c.ID != id || c.State == nil || c.Config == nil || c.HostConfig == nil {
		return nil, &backend.Error{Kind: backend.ErrInvalid, Where: where, Err: errors.New("the answer lacks Id, State, Config or HostConfig")}
	}
	out := &inspection{
		id: c.ID, name: strings.TrimPrefix(c.Name, "/"), image: c.Config.Image, state: string(c.State.Status),
		created: parseTime(c.Created), started: parseTime(c.State.StartedAt), finished: parseTime(c.State.FinishedAt),
		exit: c.State.ExitCode, oomKilled: c.State.OOMKilled, restarts: c.RestartCount,
		labels: c.Config.Labels, mounts: mountsOf(c.Mounts), workDir: c.Config.WorkingDir, memLimit: c.HostConfig.Memory,
		startError: c.State.Error, restartPolicy: policyOf(c.HostConfig.RestartPolicy), command: strings.Join(append([]string{c.Path}, c.Args...), " "), tty: c.Config.Tty, place: workdir.Of(c), raw: documentOf(c),
	}
	_, told := m.clock()
	out.again = workdir.RunsAgain(c, told)
	if n := c.NetworkSettings; n != nil {
		out.ports = portsOf(n.Ports)
	}
	if h := c.Config.Healthcheck; h != nil {
		out.startPeriod = h.StartPeriod
	}
	if h := c.State.Health; h != nil && h.Status != "" && h.Status != container.NoHealthcheck {
		out.health = string(h.Status)
		out.checks, out.healthOutput = checksOf(h, checkInterval(c.Config.Healthcheck), out.started.Or(time.Time{}))
	}
	return out, nil
}

// maxPorts bounds the published ports of one container.
const maxPorts = 16

// portsOf writes published ports as docker ps does, in a stable order.
func portsOf(bound network.PortMap) []string {
	var out []string
	for p, at := range bound {
		for _, b := range at {
			on := b.HostPort
			if b.HostIP.IsValid() {
				on = net.JoinHostPort(b.HostIP.String(), on)
			}
			out = append(out, on+"->"+p.String())
		}
	}
	slices.Sort(out)
	return out[:min(len(out), maxPorts)]
}

// policyOf writes a restart policy as docker run takes it.
func policyOf(p container.RestartPolicy) string {
	if p.MaximumRetryCount > 0 {
		return fmt.Sprintf("%s:%d", p.Name, p.MaximumRetryCount)
	}
	return string(p.Name)
}

// parseTime reads the engine's times. It writes the year 1 for what never happened.
func parseTime(s string) backend.Value[time.Time] {
	t, err := time.Parse(time.RFC3339Nano, s)
	switch {
	case s == "" || err == nil && t.Year() <= 1:
		return backend.NotApplicable[time.Time]()
	case err != nil:
		return backend.Unknown[time.Time]()
	}
	return backend.Known(t)
}

func documentOf(c container.InspectResponse) document {
	d := document{
		ID: c.ID, Name: c.Name, Image: c.Config.Image, Created: c.Created, Path: c.Path, Args: c.Args,
		RestartCount: c.RestartCount, Driver: c.Driver, Platform: c.Platform,
		State: docState{Status: string(c.State.Status), Pid: c.State.Pid, ExitCode: c.State.ExitCode, OOMKilled: c.State.OOMKilled,
			Error: c.State.Error, StartedAt: c.State.StartedAt, FinishedAt: c.State.FinishedAt},
		HostConfig: docHost{RestartPolicy: string(c.HostConfig.RestartPolicy.Name), AutoRemove: c.HostConfig.AutoRemove,
			NetworkMode: string(c.HostConfig.NetworkMode), Memory: c.HostConfig.Memory, NanoCpus: c.HostConfig.NanoCPUs,
			Privileged: c.HostConfig.Privileged, ReadonlyRootfs: c.HostConfig.ReadonlyRootfs, Runtime: c.HostConfig.Runtime},
		Config: docConfig{Hostname: c.Config.Hostname, User: c.Config.User, WorkingDir: c.Config.WorkingDir,
			Entrypoint: c.Config.Entrypoint, Cmd: c.Config.Cmd, Labels: c.Config.Labels},
	}
	if p := c.HostConfig.PidsLimit; p != nil {
		d.HostConfig.PidsLimit = *p
	}
	if h := c.Config.Healthcheck; h != nil {
		d.Config.Healthcheck = h.Test
	}
	if h := c.State.Health; h != nil {
		d.State.Health = &docHealth{Status: string(h.Status), FailingStreak: h.FailingStreak}
		for _, p := range h.Log[max(0, len(h.Log)-2):] {
			if p != nil {
				d.State.Health.Log = append(d.State.Health.Log, docProbe{p.Start, p.End, p.ExitCode, p.Output[:min(len(p.Output), 500)]})
			}
		}
	}
	for _, m := range c.Mounts {
		d.Mounts = append(d.Mounts, docMount{string(m.Type), m.Source, m.Destination, m.RW})
	}
	if c.NetworkSettings != nil {
		for name := range c.NetworkSettings.Networks {
			d.Networks = append(d.Networks, name)
		}
		slices.Sort(d.Networks)
	}
	return d
}

func (m *moby) stats(ctx context.Context, id string) (*sample, error) {
	where := "/containers/" + id + "/stats"
	res, err := m.api.ContainerStats(ctx, id, client.ContainerStatsOptions{})
	if err != nil {
		return nil, m.fail(where, err)
	}
	defer func() { _ = res.Body.Close() }()
	var s container.StatsResponse
	if err := json.NewDecoder(res.Body).Decode(&s); err != nil {
		return nil, m.fail(where, err)
	}
	return sampleOf(s), nil
}

func (m *moby) events(ctx context.Context, since time.Time, opened func(), deliver func(lifecycle)) error {
	opts := client.EventsListOptions{Filters: make(client.Filters).Add("type", string(events.ContainerEventType)).Add("event", lifecycleActions[:]...).Add("event", podmanActions[:]...)}
	if !since.IsZero() {
		opts.Since = stamp(since)
	}
	res := m.api.Events(ctx, opts)
	// The library reports a refusal just after it has returned; a stream that was not refused by then is open.
	settled := time.NewTimer(settle)
	defer settled.Stop()
	var first *events.Message
	select {
	case err := <-res.Err:
		return m.ended(ctx, err)
	case e := <-res.Messages:
		first = &e
	case <-settled.C:
	}
	opened()
	if first != nil {
		deliver(lifecycleOf(*first))
	}
	for {
		select {
		case e := <-res.Messages:
			deliver(lifecycleOf(e))
		case err := <-res.Err:
			return m.ended(ctx, err)
		}
	}
}

func (m *moby) kills(ctx context.Context, since, until time.Time) (out []lifecycle, err error) {
	res := m.api.Events(ctx, client.EventsListOptions{Since: stamp(since), Until: stamp(until),
		Filters: make(client.Filters).Add("type", string(events.ContainerEventType)).Add("event", "oom")})
	for {
		select {
		case e := <-res.Messages:
			out = append(out, lifecycleOf(e))
		case err := <-res.Err:
			if errors.Is(err, io.EOF) {
				return out, nil
			}
			return out, m.ended(ctx, err)
		}
	}
}

// stamp writes a time as the engine reads it.
func stamp(t time.Time) string { return fmt.Sprintf("%d.%09d", t.Unix(), t.Nanosecond()) }

func lifecycleOf(e events.Message) lifecycle {
	at := time.Unix(0, e.TimeNano)
	if e.TimeNano == 0 {
		at = time.Unix(e.Time, 0)
	}
	action := string(e.Action)
	switch action {
	case "died":
		action = "die"
	case "remove":
		action = "destroy"
	}
	return lifecycle{action: action, id: e.Actor.ID, name: e.Actor.Attributes["name"],
		image: e.Actor.Attributes["image"], exitCode: e.Actor.Attributes["exitCode"], labels: e.Actor.Attributes, at: at}
}

// fail gives an error of the client library its kind.
func (m *moby) fail(where string, err error) error {
	var ours *backend.Error
	var network net.Error
	if errors.As(err, &ours) {
		return &backend.Error{Kind: ours.Kind, Where: m.at + where, RetryAfter: ours.RetryAfter, Err: ours.Err}
	}
	kind := backend.ErrUnreachable
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.As(err, &network) && network.Timeout():
		kind, err = backend.ErrTimeout, errors.New("no answer within the deadline")
	case client.IsErrConnectionFailed(err):
		m.mu.Lock()
		if m.dialErr != nil {
			err = m.dialErr
		}
		m.mu.Unlock()
		if errors.Is(err, os.ErrPermission) {
			kind = backend.ErrUnauthorised
			err = fmt.Errorf("%w; the user that runs this needs access to the socket, for example through group docker", err)
		}
	case errors.Is(err, io.EOF):
		kind, err = backend.ErrInvalid, errors.New("the answer is empty")
	default:
		kind = kindOf(err)
	}
	return &backend.Error{Kind: kind, Where: m.at + where, Err: err}
}

// kindOf classifies what the engine answered.
func kindOf(err error) backend.ErrorKind {
	var syntax *json.SyntaxError
	var mistyped *json.UnmarshalTypeError
	var instant *time.ParseError
	switch {
	case errdefs.IsNotFound(err):
		return backend.ErrGone
	case errdefs.IsUnauthorized(err), errdefs.IsPermissionDenied(err):
		return backend.ErrUnauthorised
	case errors.As(err, &syntax), errors.As(err, &mistyped), errors.As(err, &instant),
		errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, errTooLarge):
		return backend.ErrInvalid
	}
	return backend.ErrUnreachable
}

// ended is why an event stream is over; it never ends without a reason that matters.
func (m *moby) ended(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil || errors.Is(err, io.EOF):
		return &backend.Error{Kind: backend.ErrUnreachable, Where: m.at + "/events", Err: errors.New("the engine ended the event stream")}
	}
	return m.fail("/events", err)
}
