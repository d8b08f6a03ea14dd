package demo

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/moby/moby/api/types/container"
)

// top serves GET /containers/{id}/top: what ps prints of its processes. The columns are those that ps_args names after o.
func (s dockerServer) top(w http.ResponseWriter, r *http.Request) {
	b, ok := s.find(w, r)
	if !ok {
		return
	}
	world := s.now()
	if state := world.containerState(b); !state.up() {
		conflict(w, "container %s is not running", b)
		return
	}
	process := world.inspected(b).State.Pid
	out := container.TopResponse{}
	row := []string{}
	for _, column := range psColumns(r.URL.Query().Get("ps_args")) {
		title, value := world.psField(b, column, process)
		out.Titles, row = append(out.Titles, title), append(row, value)
	}
	out.Processes = [][]string{row}
	answerJSON(w, http.StatusOK, out)
}

// psColumns are the columns that arguments of ps ask for; without any those of ps -ef, as the engine's default is.
func psColumns(args string) []string {
	var columns []string
	words := strings.Fields(args)
	for i, word := range words {
		at := strings.IndexByte(word, 'o')
		if at < 0 || strings.Contains(word[:at], ",") || len(columns) > 0 {
			continue
		}
		list := strings.TrimPrefix(word[at+1:], "=")
		if list == "" && i+1 < len(words) {
			list = words[i+1]
		}
		columns = strings.Split(list, ",")
	}
	if len(columns) == 0 {
		columns = []string{"uid", "pid", "ppid", "c", "stime", "tty", "time", "cmd"}
		if strings.Contains(args, "u") {
			columns = []string{"user", "pid", "%cpu", "%mem", "stat", "time", "command"}
		}
	}
	return columns
}

// psField is a column of ps about the main process of a container.
func (w world) psField(b *fakeContainer, column string, process int) (title, value string) {
	name, header, titled := strings.Cut(column, "=")
	state, wchan := "S", "hrtimer_nanosleep"
	switch {
	case w.stuck(b):
		state, wchan = "D", "rpc_wait_bit_killable"
	case w.stands(b):
		state, wchan = "T", "do_signal_stop"
	case w.containerState(b).status == "paused":
		state, wchan = "D", "__refrigerator"
	}
	fields := map[string][2]string{
		"pid": {"PID", strconv.Itoa(process)}, "ppid": {"PPID", "1"}, "lwp": {"LWP", strconv.Itoa(process)}, "tid": {"TID", strconv.Itoa(process)},
		"spid": {"SPID", strconv.Itoa(process)}, "tgid": {"TGID", strconv.Itoa(process)}, "nlwp": {"NLWP", "1"},
		"stat": {"STAT", state + "s"}, "s": {"S", state}, "state": {"S", state}, "wchan": {"WCHAN", wchan},
		"comm": {"COMMAND", "sleep"}, "cmd": {"CMD", "sleep infinity"}, "args": {"COMMAND", "sleep infinity"}, "command": {"COMMAND", "sleep infinity"},
		"user": {"USER", "root"}, "uid": {"UID", "0"}, "time": {"TIME", "00:00:00"}, "etimes": {"ELAPSED", strconv.Itoa(int((w.t - b.created).Seconds()))},
		"%cpu": {"%CPU", "0.0"}, "%mem": {"%MEM", "0.1"}, "pcpu": {"%CPU", "0.0"},
	}
	x, known := fields[name]
	if !known {
		x = [2]string{strings.ToUpper(name), "-"}
	}
	if titled && header != "" {
		x[0] = header
	}
	return x[0], x[1]
}

// hang answers a command that never ends: its stream stays open until the client closes it or the demo ends.
func (s dockerServer) hang(w http.ResponseWriter, r *http.Request, e *execution) {
	d := s.now().actions
	d.mu.Lock()
	e.started, e.hangs = true, true
	d.mu.Unlock()
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		complain(w, http.StatusInternalServerError, err.Error())
		return
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write([]byte(execHead(r))); err != nil {
		return // the client is gone
	}
	stop := context.AfterFunc(r.Context(), func() { _ = conn.Close() })
	defer stop()
	_, _ = conn.Read(make([]byte, 1)) // it ends when the client closes the connection
}
