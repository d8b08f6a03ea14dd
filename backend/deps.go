package backend

import (
	"context"
	"net"
	"net/http"
	"os/exec"
	"time"
)

// Deps is what the wiring hands to every adapter: nothing in an adapter reads a clock, an environment variable or a
// global, or opens a connection by itself.
type Deps struct {
	ID       string           // the source's id
	Interval time.Duration    // how often the source is polled
	Deadline time.Duration    // limit of one request
	Now      func() time.Time // wall and monotonic clock
	Spawn    Spawner
	Cleaner  *Cleaner
	Dial     func(ctx context.Context, network, address string) (net.Conn, error)
	Command  func(ctx context.Context, argv []string) *exec.Cmd // starts nothing by itself
	Getenv   func(string) string
	// Tap is put before the transport of every HTTP client that reads, to see what is asked and answered; nil: nothing watches.
	Tap func(http.RoundTripper) http.RoundTripper
	// Sent keeps what is sent for whoever asks what that was; nil: nobody does.
	Sent    *SentLog
	Declare []Declaration // facts from [[declare]] for this source
}

// Declaration supplies facts that no route reports, for the sessions and workspaces whose raw ids match the globs
// (path.Match syntax; "*" matches everything, slashes included).
type Declaration struct {
	Session   string
	Workspace string
	SessionFacts
	WorkspaceFacts
}
