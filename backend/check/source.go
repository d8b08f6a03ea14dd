package check

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/run"
	"sandglass/backend/wire"
)

// source asks one question.
type source struct {
	opts   Options
	deps   backend.Deps
	client *wire.Client // nil: a command
	expect *regexp.Regexp
	last   backend.Fact // the zero Fact: nothing was found out yet
}

func newSource(opts Options, deps backend.Deps) (*source, error) {
	s := &source{opts: opts, deps: deps, expect: regexp.MustCompile(opts.Expect)}
	if opts.URL == "" {
		return s, nil
	}
	c, err := wire.New(wire.Config{Origins: []string{opts.URL}, Credential: opts.Read, MaxBody: int64(opts.MaxBody)}, deps)
	s.client = c
	return s, err
}

// ID returns the source's id.
func (s *source) ID() string { return s.deps.ID }

// Routes names the URL or the command.
func (s *source) Routes() []backend.Route {
	why := "whether " + s.opts.Fact + " holds"
	if s.client == nil {
		return []backend.Route{{Verb: "run", Target: strings.Join(s.opts.Command, " "), Why: why + "; it runs once a poll"}}
	}
	address, _, query := strings.Cut(s.opts.URL, "?")
	if query {
		address += "?…"
	}
	return []backend.Route{{Verb: "GET", Target: address, Why: why}}
}

// Close ends idle connections.
func (s *source) Close() error {
	if s.client == nil {
		return nil
	}
	return s.client.Close()
}

// finding is an answer to the question.
type finding struct {
	holds bool
	text  backend.Safe
}

// Poll asks once. An error says that the question could not be answered.
func (s *source) Poll(ctx context.Context) (backend.Reading, error) {
	r := backend.Reading{Schema: backend.ReadingSchema, Source: s.deps.ID, Kind: "check", Started: s.deps.Now(),
		Scopes: []backend.Scope{}, Inputs: []backend.Input{}}
	var f finding
	var err error
	if s.client == nil {
		f, err = s.execute(ctx, &r)
	} else {
		f, err = s.ask(ctx)
		r.Load = s.client.TakeLoad()
	}
	r.At = s.deps.Now()
	if err != nil {
		return r, err
	}
	s.state(&r, f)
	return r, nil
}

// state puts the finding into the reading, and a change of it on the timeline.
func (s *source) state(r *backend.Reading, f finding) {
	fact := backend.Fact{Name: s.opts.Fact, Holds: f.holds, Text: f.text, At: r.At, Since: r.At,
		RulesOut: s.opts.RulesOut, Confirms: s.opts.Confirms}
	switch {
	case s.last.Name == "":
	case s.last.Holds == f.holds:
		fact.Since = s.last.Since
	default:
		r.Events = append(r.Events, backend.Event{Kind: backend.EventChange, At: r.At, Source: s.deps.ID, Name: backend.ChangeCheck,
			Text:    backend.Textf("%s is now %s: %s", backend.Clean(fact.Name, 60), yesNo(f.holds), f.text),
			Subject: backend.Key{Kind: backend.KindSource, Source: s.deps.ID, ID: backend.MustID(s.deps.ID)}})
	}
	s.last = fact
	r.Facts = []backend.Fact{fact}
	r.Notes = []backend.Safe{backend.Textf("%s: %s, %s", backend.Clean(fact.Name, 60), yesNo(f.holds), f.text)}
}

func yesNo(b bool) backend.Safe {
	if b {
		return backend.Text("true")
	}
	return backend.Text("false")
}

// ask judges what the URL answers.
func (s *source) ask(ctx context.Context) (finding, error) {
	answer, err := s.client.Get(ctx, wire.Request{URL: s.opts.URL, Accept: "*/*"})
	var refused *wire.StatusError
	switch {
	case err == nil:
		return s.judge(answer.Status, answer.Body), nil
	case errors.As(err, &refused):
		if s.accepts(refused.Status) && s.opts.Expect == "" {
			return finding{true, backend.Textf("answered %d", refused.Status)}, nil
		}
		if s.accepts(refused.Status) {
			return s.judge(refused.Status, []byte(refused.Text.String())), nil
		}
		switch refused.Status {
		case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
			return finding{}, err // it does not tell us
		}
		return finding{false, backend.Textf("answered %d", refused.Status)}, nil
	}
	return s.silence(err)
}

func (s *source) accepts(status int) bool {
	if len(s.opts.Statuses) > 0 {
		return slices.Contains(s.opts.Statuses, status)
	}
	return status/100 == 2
}

func (s *source) judge(status int, body []byte) finding {
	switch {
	case !s.accepts(status):
		return finding{false, backend.Textf("answered %d", status)}
	case !s.expect.Match(body):
		return finding{false, backend.Textf("answered %d, but not with what expect asks for", status)}
	}
	return finding{true, backend.Textf("answered %d", status)}
}

// silence is what no answer says.
func (s *source) silence(err error) (finding, error) {
	if kind := backend.KindOf(err); s.opts.NoAnswer != saysFalse || kind != backend.ErrTimeout && kind != backend.ErrUnreachable {
		return finding{}, err
	}
	var e *backend.Error
	if errors.As(err, &e) && e.Err != nil {
		err = e.Err
	}
	return finding{false, backend.Textf("no answer: %s", s.deps.Cleaner.Clean(err.Error(), 160))}, nil
}

// execute judges how the command ended and what it printed.
func (s *source) execute(ctx context.Context, r *backend.Reading) (finding, error) {
	start := s.deps.Now()
	out, err := run.Output(ctx, s.deps, s.opts.Command, int64(s.opts.MaxBody))
	r.Load = backend.Load{Requests: 1, Bytes: int64(len(out)), Latencies: []time.Duration{s.deps.Now().Sub(start)}}
	said := s.deps.Cleaner.Clean(firstLine(out), 120)
	var exit *exec.ExitError
	switch {
	case err == nil && !s.expect.Match(out):
		return finding{false, told("its output is not what expect asks for", said)}, nil
	case err == nil:
		return finding{true, told("the command ended with 0", said)}, nil
	case errors.As(err, &exit) && slices.Contains(s.opts.NoExit, exit.ExitCode()):
		if said.IsEmpty() {
			said = s.deps.Cleaner.Clean(err.Error(), 160)
		}
		return finding{false, told(backend.Literal("the command says no"), said)}, nil
	}
	e := backend.Errorf(run.Kind(err), "command "+backend.Clean(s.opts.Command[0], 200).String(), "%w", err)
	e.Source = s.deps.ID
	if run.Kind(err) == backend.ErrTimeout {
		return s.silence(e)
	}
	return finding{}, e
}

func told(what backend.Literal, said backend.Safe) backend.Safe {
	if said.IsEmpty() {
		return backend.Text(what)
	}
	return backend.Textf("%s: %s", backend.Text(what), said)
}

func firstLine(out []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(out), []byte("\n"))
	return strings.TrimSpace(string(line))
}
