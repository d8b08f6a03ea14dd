package bridge

import (
	"errors"
	"strings"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// Pool is what a bridge counts. A container that is assigned may have died: the pool looks every 10 s.
type Pool struct {
	Warm, Assigned, Total int
	// Most is how many may run; unknown: the bridge has not met its limit yet.
	Most backend.Value[int]
}

var errShape = errors.New("the answer has another form than the bridge's")

// ReadPool reads the counts of a pool.
func ReadPool(body []byte) (Pool, error) {
	doc, err := wire.Parse(body)
	if err != nil {
		return Pool{}, err
	}
	var p Pool
	for name, into := range map[string]*int{"warm": &p.Warm, "assigned": &p.Assigned, "total": &p.Total} {
		n, ok := doc.Root().Get(name).Float()
		if !ok || n < 0 || n > 1e9 {
			return Pool{}, errShape
		}
		*into = int(n)
	}
	if n, ok := doc.Root().Get("maxInstances").Float(); ok && n > 0 && n < 1e9 {
		p.Most = backend.Known(int(n))
	}
	return p, nil
}

// ReadRunning reads whether the command true ran. False says no more than that it did not: the container may be well.
func ReadRunning(body []byte) (ran bool, err error) {
	doc, err := wire.Parse(body)
	if err != nil {
		return false, err
	}
	ran, ok := doc.Root().Get("running").Bool()
	if !ok {
		return false, errShape
	}
	return ran, nil
}

// ReadHealth reads which bindings of the Worker are missing.
func ReadHealth(body []byte) (ok bool, missing []string, err error) {
	doc, err := wire.Parse(body)
	if err != nil {
		return false, nil, err
	}
	ok, is := doc.Root().Get("ok").Bool()
	if !is {
		return false, nil, errShape
	}
	for n := range doc.Root().Get("errors").Elements() {
		if text, is := n.Text(); is && len(missing) < backend.MaxEvidence {
			missing = append(missing, text)
		}
	}
	return ok, missing, nil
}

// ReadContent is the content of a file that was read. One that is not there is answered like an empty one: then nothing is known.
func ReadContent(body []byte) backend.Value[[]byte] {
	if len(body) == 0 {
		return backend.Unknown[[]byte]()
	}
	return backend.Known(body)
}

// Features are the routes that a bridge says it has. Its document has the version 1.0.0 in every release: only routes tell.
type Features struct {
	Exec, Sessions, Files, Running, Destroy, Pool bool
	Processes, Terminals                          bool // of the 1.0 preview
}

// Preview reports whether it is the 1.0 preview, which Sandglass reads only: only that has a route of processes or terminals.
func (f Features) Preview() bool { return f.Processes || f.Terminals }

// PreviewRefusal is why nothing that changes something is sent to the 1.0 preview.
const PreviewRefusal = backend.Literal("this bridge is the 1.0 preview (@cloudflare/sandbox@next), which Sandglass only reads: acting on it was never tested")

// Refusal is why nothing that changes something is sent to a bridge with these routes; empty: nothing speaks against it.
func (f Features) Refusal() backend.Safe {
	switch {
	case f.Preview():
		return backend.Text(PreviewRefusal)
	case !f.Exec || !f.Files || !f.Destroy:
		return backend.Text("the bridge has not all of the routes exec, file and delete: this version was never tested")
	}
	return backend.Safe{}
}

// ReadFeatures reads the document about the routes.
func ReadFeatures(body []byte) (Features, error) {
	doc, err := wire.Parse(body)
	if err != nil {
		return Features{}, err
	}
	paths := doc.Root().Get("paths")
	if paths.Kind() != '{' {
		return Features{}, errShape
	}
	var f Features
	for _, x := range [...]struct {
		has          *bool
		method, path string
	}{
		{&f.Exec, "post", "/sandbox/{id}/exec"}, {&f.Sessions, "delete", "/sandbox/{id}/session/{sid}"}, {&f.Files, "put", "/sandbox/{id}/file/{path}"},
		{&f.Running, "get", "/sandbox/{id}/running"}, {&f.Destroy, "delete", "/sandbox/{id}"}, {&f.Pool, "get", "/pool/stats"},
		{&f.Processes, "get", "/sandbox/{id}/processes"}, {&f.Terminals, "get", "/sandbox/{id}/terminals"},
	} {
		for name, n := range paths.Members() {
			if strings.HasSuffix(string(name), x.path) && n.Get(x.method).Exists() {
				*x.has = true
				break
			}
		}
	}
	return f, nil
}

// Process is what an operator route tells of a process.
type Process struct {
	ID, State, Command string
	PID                int // 0: none
	StartedAt          string
	EndedAt            string
	Exit               backend.Value[int]
}

const mostProcesses = 500

// ReadProcesses reads a list of processes: an array, or an object with one.
func ReadProcesses(body []byte) ([]Process, error) {
	doc, err := wire.Parse(body)
	if err != nil {
		return nil, err
	}
	list := doc.Root()
	if list.Kind() == '{' {
		list = list.Get("processes")
	}
	if list.Kind() != '[' {
		return nil, errShape
	}
	var out []Process
	for n := range list.Elements() {
		if len(out) == mostProcesses {
			break
		}
		out = append(out, readProcess(n))
	}
	return out, nil
}

// ReadTerminals counts the terminals of a list: an array, or an object with one.
func ReadTerminals(body []byte) (n int, err error) {
	doc, err := wire.Parse(body)
	if err != nil {
		return 0, err
	}
	list := doc.Root()
	if list.Kind() == '{' {
		list = list.Get("terminals")
	}
	if list.Kind() != '[' {
		return 0, errShape
	}
	for range list.Elements() {
		n++
	}
	return n, nil
}

func readProcess(n wire.Node) Process {
	var p Process
	p.ID, _ = n.Get("id").Text()
	for _, name := range []string{"state", "status"} {
		if p.State == "" {
			p.State, _ = n.Get(name).Text()
		}
	}
	if p.Command, _ = n.Get("command").Text(); p.Command == "" {
		var words []string
		for w := range n.Get("command").Elements() {
			if text, ok := w.Text(); ok {
				words = append(words, backend.ShellWord(text).String())
			}
		}
		p.Command = strings.Join(words, " ")
	}
	if pid, ok := n.Get("pid").Float(); ok && pid > 0 && pid < 1e9 {
		p.PID = int(pid)
	}
	for _, name := range []string{"startedAt", "startTime"} {
		if p.StartedAt == "" {
			p.StartedAt, _ = n.Get(name).Text()
		}
	}
	for _, name := range []string{"endedAt", "endTime"} {
		if p.EndedAt == "" {
			p.EndedAt, _ = n.Get(name).Text()
		}
	}
	for _, node := range []wire.Node{n.Get("exitCode"), n.Get("exit").Get("code")} {
		if code, ok := node.Float(); ok {
			p.Exit = backend.Known(int(code))
		}
	}
	return p
}
