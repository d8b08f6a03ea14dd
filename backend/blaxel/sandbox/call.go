package sandbox

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
)

// Deadlines of calls. The agent's SDK takes a sandbox for dead that does not list its root within ReadWithin. A first request may
// wait for the sandbox to wake.
const (
	ReadWithin  = 10 * time.Second
	FirstWithin = time.Minute
	// EdgeWithin is how long the network before a sandbox waits for any answer.
	EdgeWithin = time.Minute
)

// Root is where the OpenAI Agents SDK keeps the files of a session, unless its state says otherwise.
const Root = "/workspace"

// Call is one request to the server of a sandbox.
type Call struct {
	Method string
	Path   string // below the address of the sandbox, escaped
	Header http.Header
	Body   []byte
}

// Errors of calls that are not sent.
var (
	errNoCommand = errors.New("no command")
	errWait      = errors.New("a command is waited for at least 1s and less than the 60s after which the network before a sandbox gives up")
	errProcess   = errors.New("no process is named")
	errPath      = errors.New("a path of a sandbox is absolute and clean")
)

// Health asks for the state of the server itself.
func Health() Call { return get("/health") }

// Processes asks for all processes that the server ever started, with the ends of their output.
func Processes() Call { return get("/process") }

// Mounts asks for the drives that are mounted.
func Mounts() Call { return get("/drives/mount") }

func get(path string) Call { return Call{Method: http.MethodGet, Path: path} }

// Order is a command for the shell of a sandbox.
type Order struct {
	Command string
	// Dir is its working directory; empty: that of the server.
	Dir string
	// Wait is how long the server waits for its end. A command that takes longer goes on: the server ends none.
	Wait time.Duration
}

// Exec runs a command and waits for its end.
func Exec(o Order) (Call, error) {
	switch {
	case o.Command == "":
		return Call{}, errNoCommand
	case o.Wait < time.Second || o.Wait >= EdgeWithin:
		return Call{}, errWait
	}
	body, err := json.Marshal(struct {
		Command string `json:"command"`
		Dir     string `json:"workingDir,omitempty"`
		Wait    bool   `json:"waitForCompletion"`
		Timeout int    `json:"timeout"` // seconds
	}{o.Command, o.Dir, true, int(o.Wait.Seconds())})
	return Call{http.MethodPost, "/process", http.Header{"Content-Type": {"application/json"}}, body}, err
}

// ProcessOf asks for one process: by its pid, or by its name, of which the newest counts.
func ProcessOf(id string) (Call, error) { return ofProcess(http.MethodGet, id, "") }

// Logs asks for the output of a process: at most 4 MiB of each stream.
func Logs(id string) (Call, error) { return ofProcess(http.MethodGet, id, "/logs") }

// Follow asks for the output of a process in its order, until the process ends.
func Follow(id string) (Call, error) { return ofProcess(http.MethodGet, id, "/logs/stream") }

// Stop asks a process to end (SIGTERM).
func Stop(id string) (Call, error) { return ofProcess(http.MethodDelete, id, "") }

// Kill ends a process (SIGKILL). The server signals its old number also when it ended long ago: only a process that was just
// read and is not over may be killed.
func Kill(id string) (Call, error) { return ofProcess(http.MethodDelete, id, "/kill") }

func ofProcess(method, id, rest string) (Call, error) {
	if id == "" || id == "." || id == ".." {
		return Call{}, errProcess
	}
	return Call{Method: method, Path: "/process/" + url.PathEscape(id) + rest}, nil
}

// List asks what a directory holds.
func List(dir string) (Call, error) { return file(http.MethodGet, dir, "application/json") }

// Read asks for a file with its owner and permissions.
func Read(name string) (Call, error) { return file(http.MethodGet, name, "application/json") }

// Download asks for the bytes of a file.
func Download(name string) (Call, error) {
	c, err := file(http.MethodGet, name, "application/octet-stream")
	c.Path += "?download=true"
	return c, err
}

// Delete removes a file, or a directory that is empty.
func Delete(name string) (Call, error) { return file(http.MethodDelete, name, "application/json") }

// file is a request for an absolute path, which is one escaped segment: any other form is relative to the server's directory.
func file(method, name, accept string) (Call, error) {
	if !strings.HasPrefix(name, "/") || path.Clean(name) != name || strings.ContainsRune(name, 0) {
		return Call{}, errPath
	}
	return Call{Method: method, Path: "/filesystem/" + url.PathEscape(name), Header: http.Header{"Accept": {accept}}}, nil
}
