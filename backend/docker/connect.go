package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/moby/moby/client"

	"sandglass/backend"
)

// usualPatience bounds the greeting at a usual socket, so that one that hangs does not keep us from the next.
const usualPatience = 2 * time.Second

// connected returns the engine, looking for it when there is none. Where it is looked for is decided anew each time:
// people change their docker context while a console is open.
func (s *Source) connected(ctx context.Context) (engine, error) {
	s.mu.Lock()
	eng := s.eng
	s.mu.Unlock()
	if eng != nil {
		return eng, nil
	}
	places, err := resolver{host: s.opt.Host, getenv: s.deps.Getenv, uid: os.Getuid()}.addresses()
	if err != nil {
		return nil, s.sign(err)
	}
	if s.answered && s.at.from == fromUsual {
		places = []address{s.at} // another engine that happens to run here is not the one whose containers are shown
	}
	var failures []attempt
	for _, a := range places {
		eng, api, err := s.greet(ctx, a)
		if err == nil {
			command := s.commandFor(a, eng.podman())
			s.mu.Lock()
			s.eng, s.at, s.api, s.command = eng, a, api, command
			s.mu.Unlock()
			s.answered = true
			return eng, nil
		}
		failures = append(failures, attempt{a, err})
	}
	return nil, s.sign(nowhere(failures, s.answered))
}

// greet makes a client for one place and agrees on the API version.
func (s *Source) greet(ctx context.Context, a address) (engine, string, error) {
	eng, err := s.dial(a, s.deps)
	if err != nil {
		return nil, "", err
	}
	patience := s.deadline(ctx)
	if a.from == fromUsual {
		patience = min(patience, usualPatience)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	api, err := eng.ping(ctx)
	if err != nil {
		eng.close()
		return nil, "", err
	}
	return eng, api, nil
}

type attempt struct {
	at  address
	err error
}

// nowhere makes one error of every place that was tried. An engine that was never there is absent, which is no
// failure, unless the configuration or DOCKER_HOST names it.
func nowhere(failures []attempt, answered bool) error {
	kind := backend.ErrAbsent
	var reasons []string
	places := map[string][]string{} // by what happened there
	var first error
	for _, f := range failures {
		reason := f.err.Error()
		var e *backend.Error
		if errors.As(f.err, &e) {
			reason = e.Err.Error()
		}
		if reason = shortReason(f.err, reason); places[reason] == nil {
			reasons = append(reasons, reason)
		}
		places[reason] = append(places[reason], fmt.Sprintf("%s (%s)", f.at.url, f.at.why))
		silent := notThere(f.err, f.at.from)
		if (!silent || f.at.from == fromOption || answered) && first == nil {
			first = f.err
			kind = backend.KindOf(f.err)
		}
	}
	tried := make([]string, 0, len(reasons))
	for _, r := range reasons {
		tried = append(tried, r+" at "+strings.Join(places[r], ", "))
	}
	if first == nil {
		return &backend.Error{Kind: backend.ErrAbsent, Err: fmt.Errorf("no container engine answers here. Start one, or set host or DOCKER_HOST. Tried: %s", strings.Join(tried, "; "))}
	}
	if kind == backend.ErrGone || kind == backend.ErrAbsent {
		kind = backend.ErrUnreachable
	}
	return &backend.Error{Kind: kind, Err: maskedError{"the engine does not answer: " + strings.Join(tried, "; "), first}}
}

// notThere tells "there is no engine" from "the engine does not answer". At a usual socket also a refusal means the
// former: a stale socket, or one that is not meant for this user.
func notThere(err error, from origin) bool {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true
	case from != fromUsual:
		return false
	}
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrPermission)
}

func shortReason(err error, reason string) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "no such socket"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied; the user needs access to the socket, for example through group docker"
	}
	return reason
}

// sign puts the source's id on an error and masks secrets in its text; the kind stays.
func (s *Source) sign(err error) error {
	out := &backend.Error{Kind: backend.KindOf(err), Source: s.deps.ID, Err: maskedError{s.clean(err.Error(), 500).String(), err}}
	var e *backend.Error
	if errors.As(err, &e) {
		out.Where, out.RetryAfter = e.Where, e.RetryAfter
		out.Err = maskedError{s.clean(e.Err.Error(), 700).String(), e.Err}
	}
	return out
}

// maskedError has a text of its own and keeps the cause for errors.Is.
type maskedError struct {
	text  string
	cause error
}

// Error is the text.
func (e maskedError) Error() string { return e.text }

// Unwrap returns the cause.
func (e maskedError) Unwrap() error { return e.cause }

// Endpoint is the engine that the newest poll spoke to: its address as the client library takes it, the API version
// that was agreed on, and an HTTP client of the caller's own that goes there with the same dialer and certificates.
// Nothing is sent. Unlike the adapter's own client it refuses no method: it is for those who act on what was read, and
// they close its idle connections. An engine that does not answer has no endpoint.
func (s *Source) Endpoint() (host, api string, c *http.Client, err error) {
	s.mu.Lock()
	eng, at, api := s.eng, s.at, s.api
	s.mu.Unlock()
	if eng == nil {
		return "", "", nil, s.silent()
	}
	transport, err := newTransport(at, func(ctx context.Context) (net.Conn, error) { return s.deps.Dial(ctx, at.network, at.dial) })
	if err != nil {
		return "", "", nil, s.sign(err)
	}
	return at.url, api, &http.Client{Transport: transport, CheckRedirect: client.CheckRedirect}, nil
}

// Address is where the engine of the newest poll answered, as the option host takes it; empty without one, and where more
// than an address leads there, such as certificates.
func (s *Source) Address() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.eng == nil || s.at.tls.on {
		return ""
	}
	return s.at.url
}

// silent is the error of what needs an engine while none answers.
func (s *Source) silent() error {
	return &backend.Error{Kind: backend.ErrUnreachable, Source: s.deps.ID, Err: errors.New("the engine does not answer")}
}

// drop forgets the connection; the next poll looks for the engine again.
func (s *Source) drop() {
	s.mu.Lock()
	eng := s.eng
	s.eng = nil
	s.mu.Unlock()
	if eng != nil {
		eng.close()
	}
}
