package bridge

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"time"
)

// Deadlines of calls. The first one that touches a sandbox may wait for its container: the SDK itself waits up to 150 s.
const (
	HealthWithin = 3 * time.Second
	ReadWithin   = 10 * time.Second
	FirstWithin  = 160 * time.Second
	NextWithin   = 15 * time.Second
)

// Root is the directory in which commands without a session begin.
const Root = "/workspace"

// maxFile is what the bridge takes of a file.
const maxFile = 32 << 20

// Call is one request to a bridge.
type Call struct {
	Method string
	Path   string // below the address of the Worker, escaped
	Header http.Header
	Body   []byte
	// Passive says that it starts no container and changes nothing.
	Passive bool
}

var (
	sandboxID = regexp.MustCompile(`^[a-z2-7]{1,128}$`)
	sessionID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)
)

// Errors of calls that are not sent.
var (
	errSandboxID    = errors.New("a bridge knows sandboxes by ids of a to z and 2 to 7, at most 128 characters")
	errSessionID    = errors.New("a session id has letters, digits, dots, dashes and underscores, at most 128")
	errDirInSession = errors.New("a working directory is never sent with a session: in a directory that is missing such a command never ends")
	errNoCommand    = errors.New("no command")
	errPath         = errors.New("a bridge reads and writes files below " + Root + " only")
	errTooLarge     = errors.New("a bridge takes files of at most 32 MiB")
)

// IsID reports whether a bridge takes the text as the id of a sandbox.
func IsID(raw string) bool { return sandboxID.MatchString(raw) }

// Health asks whether the Worker has its bindings. It says nothing about containers, and needs no key.
func Health() Call { return Call{Method: http.MethodGet, Path: "/health", Passive: true} }

// Stats asks for the counts of the pool.
func Stats() Call { return Call{Method: http.MethodGet, Path: "/v1/pool/stats", Passive: true} }

// Schema asks for the document that tells which routes there are.
func Schema() Call { return Call{Method: http.MethodGet, Path: "/v1/openapi.json", Passive: true} }

// Create asks for a new id. It starts nothing.
func Create() Call { return Call{Method: http.MethodPost, Path: "/v1/sandbox"} }

// Order is a command.
type Order struct {
	Argv []string
	// Session is the session in which it runs; empty: none, in Root.
	Session string
	// Dir is another working directory, never with a session.
	Dir string
	// Within ends it; 0: nothing does. Transports of old versions ignore it: the caller waits with a deadline of its own.
	Within time.Duration
}

// Exec runs a command.
func Exec(id string, o Order) (Call, error) {
	switch {
	case len(o.Argv) == 0:
		return Call{}, errNoCommand
	case o.Session != "" && !sessionID.MatchString(o.Session):
		return Call{}, errSessionID
	case o.Session != "" && o.Dir != "":
		return Call{}, errDirInSession
	}
	body, err := json.Marshal(struct {
		Argv    []string `json:"argv"`
		Timeout int64    `json:"timeout_ms,omitempty"`
		Dir     string   `json:"cwd,omitempty"`
	}{o.Argv, o.Within.Milliseconds(), o.Dir})
	if err != nil {
		return Call{}, err
	}
	c, err := below(http.MethodPost, id, "/exec")
	c.Body = body
	if o.Session != "" {
		c.Header.Set("Session-Id", o.Session)
	}
	return c, err
}

// Running asks whether the command true runs: no more than that is what its answer says, and it starts a container.
func Running(id string) (Call, error) { return below(http.MethodGet, id, "/running") }

// Processes asks the 1.0 preview what runs in a sandbox, and Terminals which terminals it has: nothing says that they start no container.
func Processes(id string) (Call, error) { return below(http.MethodGet, id, "/processes") }

// Terminals: see Processes.
func Terminals(id string) (Call, error) { return below(http.MethodGet, id, "/terminals") }

// ReadFile reads a file below Root.
func ReadFile(id, name string) (Call, error) { return file(http.MethodGet, id, name, nil) }

// WriteFile writes a file below Root, and makes the directories above it.
func WriteFile(id, name string, content []byte) (Call, error) {
	if len(content) > maxFile {
		return Call{}, errTooLarge
	}
	c, err := file(http.MethodPut, id, name, content)
	c.Header.Set("Content-Type", "application/octet-stream")
	return c, err
}

// DeleteSession ends a session.
func DeleteSession(id, session string) (Call, error) {
	if !sessionID.MatchString(session) {
		return Call{}, errSessionID
	}
	return below(http.MethodDelete, id, "/session/"+url.PathEscape(session))
}

// Destroy removes a sandbox. The answer tells nothing: what failed is answered 204 as well.
func Destroy(id string) (Call, error) { return below(http.MethodDelete, id, "") }

func below(method, id, rest string) (Call, error) {
	c := Call{Method: method, Path: "/v1/sandbox/" + id + rest, Header: http.Header{"Content-Type": {"application/json"}}}
	if !IsID(id) {
		return Call{Header: http.Header{}}, errSandboxID
	}
	return c, nil
}

func file(method, id, name string, content []byte) (Call, error) {
	if clean := path.Clean(name); clean != name || !strings.HasPrefix(clean, Root+"/") {
		return Call{Header: http.Header{}}, errPath
	}
	parts := strings.Split(strings.TrimPrefix(name, "/"), "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	c, err := below(method, id, "/file/"+strings.Join(parts, "/"))
	c.Body = content
	return c, err
}
