package backend

import (
	"errors"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"sandglass/internal/stable"
)

// How many of the newest requests and commands are kept: those that read, and, apart so that polls never push them out, those
// that act.
const (
	keptReads   = 400
	keptActs    = 200
	longestSent = 1000 // bytes of an address or an argument vector
)

// Sent is one request or command that this process sent.
type Sent struct {
	N      int64 // counts from 1
	At     time.Time
	Source string // id
	Method string // of HTTP, or run: a command
	What   Safe   // the address, or the argument vector
	Acts   bool   // it was part of an action
	Status int    // of HTTP, or an exit code; -1: none
	Took   time.Duration
	Bytes  int64 // that came back
	Cause  Safe  // why there is no answer, or not the whole of it
	Over   bool  // nothing more comes
}

// SentLog keeps the requests and commands that this process sent last. A nil one keeps nothing. It is safe for concurrent use.
type SentLog struct {
	mu    sync.Mutex
	n     int64
	reads ring
	acts  ring
	tell  func(Sent)
}

// Tell calls f with each one that is over from now on, one at a time.
func (l *SentLog) Tell(f func(Sent)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tell = f
}

// Newest lists what is kept, the newest first.
func (l *SentLog) Newest() []Sent {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Sent
	for _, s := range slices.Concat(l.reads.kept, l.acts.kept) {
		out = append(out, s.safe())
	}
	stable.Sort(out, func(a, b Sent) int { return int(b.N - a.N) })
	return out
}

// ring keeps the newest; at is where the next one goes once it is full.
type ring struct {
	kept []*Sending
	at   int
}

func (r *ring) add(s *Sending, most int) {
	if len(r.kept) < most {
		r.kept = append(r.kept, s)
		return
	}
	r.kept[r.at] = s
	r.at = (r.at + 1) % most
}

// Sending is a request or command that is under way. A nil one notes nothing.
type Sending struct {
	log   *SentLog
	deps  *Deps
	what  string
	cause string
	is    Sent
}

// Sending notes that something is sent. acts says that it is part of an action. What is masked by the Cleaner when it is shown.
func (d *Deps) Sending(acts bool, method, what string) *Sending {
	l := d.Sent
	if l == nil {
		return nil
	}
	s := &Sending{log: l, deps: d, what: what[:min(len(what), longestSent)], is: Sent{Source: d.ID, Method: method, Acts: acts, Status: -1, At: d.Now()}}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n++
	s.is.N = l.n
	if acts {
		l.acts.add(s, keptActs)
	} else {
		l.reads.add(s, keptReads)
	}
	return s
}

// safe is what can be shown of it. The log is locked.
func (s *Sending) safe() Sent {
	out, clean := s.is, s.deps.Cleaner
	if clean == nil {
		clean = NewCleaner()
	}
	out.What, out.Cause = clean.Clean(s.what, 400), clean.Clean(s.cause, 200)
	return out
}

// Answered notes the status of an answer whose body follows.
func (s *Sending) Answered(status int) {
	if s == nil {
		return
	}
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	s.is.Status, s.is.Took = status, s.deps.Now().Sub(s.is.At)
}

// Received notes bytes that came back.
func (s *Sending) Received(n int) {
	if s == nil {
		return
	}
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	s.is.Bytes += int64(n)
}

// End notes that nothing more comes, and why where that is a failure. Only the first call counts.
func (s *Sending) End(err error) {
	if s == nil {
		return
	}
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	if s.is.Over {
		return
	}
	s.is.Over, s.is.Took = true, s.deps.Now().Sub(s.is.At)
	if err != nil {
		text := err.Error()
		s.cause = text[:min(len(text), longestSent)]
	}
	if s.log.tell != nil {
		s.log.tell(s.safe())
	}
}

// SendingCommand notes that a command is run.
func (d *Deps) SendingCommand(acts bool, argv []string) *Sending {
	return d.Sending(acts, "run", strings.Join(argv, " "))
}

// Exited notes how a command ended, and how much it printed.
func (s *Sending) Exited(cmd *exec.Cmd, printed int, err error) {
	if s == nil {
		return
	}
	if cmd.ProcessState != nil {
		s.Answered(cmd.ProcessState.ExitCode())
	}
	s.Received(printed)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Exited() {
		err = nil // the exit code says it
	}
	s.End(err)
}

// Recorded puts the log of what is sent before a transport.
func (d *Deps) Recorded(base http.RoundTripper, acts bool) http.RoundTripper {
	if d.Sent == nil {
		return base
	}
	return recorded{base, d, acts}
}

type recorded struct {
	base http.RoundTripper
	deps *Deps
	acts bool
}

// RoundTrip performs one request.
func (r recorded) RoundTrip(req *http.Request) (*http.Response, error) {
	s := r.deps.SendingRequest(r.acts, req)
	resp, err := r.base.RoundTrip(req)
	if err != nil {
		s.End(err)
		return nil, err
	}
	s.Response(resp)
	return resp, nil
}

// SendingRequest notes that a request is sent.
func (d *Deps) SendingRequest(acts bool, req *http.Request) *Sending {
	if d.Sent == nil {
		return nil
	}
	u := *req.URL
	u.User = nil
	what := u.String()
	if strings.HasPrefix(u.Host, "/") { // a socket
		what = "unix://" + u.Host + u.RequestURI()
	}
	return d.Sending(acts, req.Method, what)
}

// Response notes an answer and counts its body, whose end is the end of the request. A connection that changes its protocol is
// somebody else's from then on.
func (s *Sending) Response(resp *http.Response) {
	if s == nil {
		return
	}
	s.Answered(resp.StatusCode)
	if resp.StatusCode == http.StatusSwitchingProtocols || resp.Body == nil || resp.Body == http.NoBody {
		s.End(nil)
		return
	}
	resp.Body = &countedBody{resp.Body, s}
}

// countedBody tells how much of a body was read, and when it ended.
type countedBody struct {
	body io.ReadCloser
	s    *Sending
}

// Read reads and counts.
func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	b.s.Received(n)
	switch {
	case err == io.EOF:
		b.s.End(nil)
	case err != nil:
		b.s.End(err)
	}
	return n, err
}

// Close closes the body.
func (b *countedBody) Close() error {
	b.s.End(nil)
	return b.body.Close()
}
