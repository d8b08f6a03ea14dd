package demo

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/moby/api/types/container"
)

// execution is a command that a client asked for.
type execution struct {
	id        string
	container *fakeContainer
	argv      []string
	dir       string // empty: the container's working directory
	started   bool
	hangs     bool // it never ends
	exit      int
}

// maxExecs bounds how many commands an engine remembers.
const maxExecs = 4096

func (s dockerServer) createExec(w http.ResponseWriter, r *http.Request) {
	b, ok := s.find(w, r)
	if !ok {
		return
	}
	var q container.ExecCreateRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&q); err != nil || len(q.Cmd) == 0 {
		complain(w, http.StatusBadRequest, "No exec command specified")
		return
	}
	world := s.now()
	switch state := world.containerState(b); {
	case state.status == "paused":
		conflict(w, "Container %s is paused, unpause the container before exec", b)
		return
	case state.status != "running":
		conflict(w, "Container %s is not running", b)
		return
	}
	d := world.actions
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.execs) >= maxExecs {
		clear(d.execs)
	}
	id := containerID(world.random, 1<<19+len(d.all)*maxExecs+len(d.execs)) // unlike any container's
	d.execs[id] = &execution{id: id, container: b, argv: q.Cmd, dir: q.WorkingDir}
	answerJSON(w, http.StatusCreated, container.ExecCreateResponse{ID: id})
}

// exec finds a command by its id, or answers 404 itself.
func (s dockerServer) exec(w http.ResponseWriter, r *http.Request) (*execution, bool) {
	d := s.now().actions
	d.mu.RLock()
	defer d.mu.RUnlock()
	e, ok := d.execs[r.PathValue("id")]
	if !ok {
		complain(w, http.StatusNotFound, "No such exec instance: "+r.PathValue("id"))
	}
	return e, ok
}

func (s dockerServer) inspectExec(w http.ResponseWriter, r *http.Request) {
	e, ok := s.exec(w, r)
	if !ok {
		return
	}
	d := s.now().actions
	d.mu.RLock()
	defer d.mu.RUnlock()
	out := container.ExecInspectResponse{ID: e.id, ContainerID: e.container.id}
	if out.Running = e.hangs; e.started && !e.hangs {
		out.ExitCode = &e.exit
	}
	answerJSON(w, http.StatusOK, out)
}

// startExec runs a command and sends what it prints in the engine's framing on the connection, which the client wants
// for itself.
func (s dockerServer) startExec(w http.ResponseWriter, r *http.Request) {
	e, ok := s.exec(w, r)
	if !ok {
		return
	}
	var q container.ExecStartRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&q); err != nil {
		complain(w, http.StatusBadRequest, err.Error())
		return
	}
	if s.now().stuck(e.container) {
		s.hang(w, r, e)
		return
	}
	text, failed, ok := s.runExec(e)
	switch {
	case !ok:
		conflict(w, "Container %s is not running", e.container)
		return
	case q.Detach && failed:
		complain(w, http.StatusBadRequest, text)
		return
	case q.Detach:
		w.WriteHeader(http.StatusOK)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body) // what stays unread would be a reset for the client, not an end
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		complain(w, http.StatusInternalServerError, err.Error())
		return
	}
	defer func() { _ = conn.Close() }() // the command is over, and so is the stream
	out := []byte(execHead(r))
	if text != "" {
		frame := [8]byte{1}
		binary.BigEndian.PutUint32(frame[4:], uint32(len(text)))
		out = append(append(out, frame[:]...), text...)
	}
	_, _ = conn.Write(out) // a failed write means that the client is gone
}

// execHead begins the answer to a client that takes the connection for a command's stream.
func execHead(r *http.Request) string {
	if r.Header.Get("Upgrade") != "" {
		return "HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n"
	}
	return "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.docker.raw-stream\r\n\r\n"
}

// runExec runs a command once. failed says that it could not begin; ok is false when the container does not run.
func (s dockerServer) runExec(e *execution) (text string, failed, ok bool) {
	deeds := s.now().actions
	deeds.acting.Lock()
	defer deeds.acting.Unlock()
	world := s.now()
	if world.containerState(e.container).status != "running" || e.started {
		return "", false, false
	}
	exit, text, mends := world.command(e)
	deeds.mu.Lock()
	e.started, e.exit = true, exit
	deeds.mu.Unlock()
	if mends {
		deeds.add(clientAction{at: world.t, container: e.container, kind: actionMend})
	}
	deeds.add(clientAction{at: world.t, container: e.container, kind: actionExec, command: strings.Join(e.argv, " "), exit: exit})
	return text, exit == 126 || exit == 127, true
}

// command is what one of the few programs in a container does.
func (w world) command(e *execution) (exit int, text string, mends bool) {
	const oci = "OCI runtime exec failed: exec failed: unable to start container process: "
	root, _ := w.rootAt(e.container)
	dir := e.dir
	if dir == "" {
		dir = workRoot
	}
	if root != rootFine && (dir == workRoot || strings.HasPrefix(dir, workRoot+"/")) {
		return 126, fmt.Sprintf("%schdir to cwd (%q) set in config.json failed: no such file or directory: unknown\r\n", oci, dir), false
	}
	args := slices.DeleteFunc(slices.Clone(e.argv[1:]), func(a string) bool { return a == "-p" || a == "--" })
	switch path.Base(e.argv[0]) {
	case "true", "chown":
		return 0, "", false
	case "false":
		return 1, "", false
	case "ls":
		if e.container.made != nil {
			return 0, w.listedFiles(e.container, dir), false
		}
		if e.container.root != rootFine { // made again, empty
			return 0, "", false
		}
		return 0, "notes.md\nsrc/\n", false
	case "head":
		return 0, "#", false
	case "pwd":
		return 0, dir + "\n", false
	case "readlink":
		if root == rootDangling && slices.Equal(args, []string{workRoot}) {
			return 0, linkedRoot + "\n", false
		}
		return 1, "", false
	case "mkdir":
		for _, a := range args {
			if root == rootDangling && a == workRoot {
				return 1, "mkdir: cannot create directory '" + workRoot + "': File exists\n", false
			}
			mends = mends || w.mendedBy(e.container, a)
		}
		return 0, "", mends
	}
	return 126, fmt.Sprintf("%sexec: %q: executable file not found in $PATH: unknown\r\n", oci, e.argv[0]), false
}

// mendedBy says whether making a directory gives a container its working directory back.
func (w world) mendedBy(b *fakeContainer, dir string) bool {
	root, _ := w.rootAt(b)
	dir = path.Clean(dir)
	return root == rootMissing && dir == workRoot || root == rootDangling && dir == linkedRoot
}

func execEvents(d clientAction) []containerEvent {
	return []containerEvent{
		{at: d.at, container: d.container, action: "exec_create: " + d.command},
		{at: d.at, container: d.container, action: "exec_start: " + d.command},
		{at: d.at, container: d.container, action: "exec_die", exit: strconv.Itoa(d.exit)},
	}
}
