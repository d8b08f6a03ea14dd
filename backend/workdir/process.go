package workdir

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// maxThreads bounds how many threads of a main process are looked at; with more nothing is said.
const maxThreads = 4096

// Process is what the threads of a container's main process do. Below an init program all of its children are the main process.
type Process struct {
	Threads int
	Stopped int // by a signal: state T of proc(5)
	Waiting int // uninterruptibly: state D
	// Ran changes when a thread runs.
	Ran string
}

// Frozen reports whether no thread can go on by itself. A moment says little: a thread that reads a disk is so for a while.
func (p Process) Frozen() bool { return p.Threads > 0 && p.Stopped+p.Waiting == p.Threads }

// add counts a thread by its letter of proc(5). One that has ended counts for nothing.
func (p *Process) add(state byte, ran string) {
	switch state {
	case 'Z', 'X', 'x':
		return
	case 'T':
		p.Stopped++
	case 'D':
		p.Waiting++
	}
	p.Threads++
	p.Ran += " " + ran
}

// isInit knows the programs that start the main process of a container and wait for it.
func isInit(comm string) bool {
	return slices.Contains([]string{"docker-init", "podman-init", "tini", "tini-static", "dumb-init", "catatonit", "conmon-init"}, comm)
}

// Process looks at the main process of a container in this machine's /proc; false when it is not to be seen there. It stops
// at the first thread that is not frozen.
func (h Host) Process(c *Container) (Process, bool) {
	dir, local := h.process(c)
	if !local || !c.shared() {
		return Process{}, false
	}
	mains := []string{dir}
	if comm, err := os.ReadFile(filepath.Join(dir, "comm")); err == nil && isInit(strings.TrimSpace(string(comm))) { // #nosec G304 -- a number below /proc
		children, err := os.ReadFile(filepath.Join(dir, "task", strconv.Itoa(c.PID), "children")) // #nosec G304 -- a number below /proc
		if err != nil {
			return Process{}, false
		}
		mains = nil
		for _, pid := range strings.Fields(string(children)) {
			mains = append(mains, filepath.Join(h.Proc, pid))
		}
	}
	var out Process
	for _, main := range mains {
		var first Process // most show with their first thread that they are not frozen, and the others need not be listed
		if first.look(main, filepath.Base(main)); first.Threads > 0 && !first.Frozen() {
			return first, true
		}
		tasks, err := os.ReadDir(filepath.Join(main, "task"))
		if err != nil || len(tasks) > maxThreads {
			return Process{}, false
		}
		for _, task := range tasks {
			if out.look(main, task.Name()); out.Threads > 0 && !out.Frozen() {
				return out, true
			}
		}
	}
	return out, out.Threads > 0
}

// look adds a thread of a process; one that has just ended is none.
func (p *Process) look(main, thread string) {
	if status, err := os.ReadFile(filepath.Join(main, "task", thread, "status")); err == nil { // #nosec G304 -- a number below /proc
		state, ran := threadOf(string(status))
		p.add(state, thread+":"+ran)
	}
}

// threadOf reads a status file of proc(5): the letter of the state, and how often the thread was switched to.
func threadOf(status string) (state byte, ran string) {
	for line := range strings.Lines(status) {
		name, value, _ := strings.Cut(line, ":")
		switch value = strings.TrimSpace(value); {
		case name == "State" && value != "":
			state = value[0]
		case strings.HasSuffix(name, "voluntary_ctxt_switches"):
			ran += value + ","
		}
	}
	return state, ran
}

// PS are the arguments of ps whose answer ProcessOf reads.
const PS = "-eLo pid,ppid,lwp,stat,time,comm"

// ProcessOf reads what ps says with PS, one row a thread; false when the container's first process is not among them.
func ProcessOf(c *Container, titles []string, rows [][]string) (Process, bool) {
	column := func(row []string, title string) string {
		if i := slices.Index(titles, title); i >= 0 && i < len(row) {
			return row[i]
		}
		return ""
	}
	first, init := strconv.Itoa(c.PID), false
	for _, row := range rows {
		init = init || column(row, "PID") == first && isInit(column(row, "COMMAND"))
	}
	var out Process
	for _, row := range rows {
		of := column(row, "PID")
		if init {
			of = column(row, "PPID")
		}
		if state := column(row, "STAT"); of == first && state != "" {
			out.add(state[0], column(row, "LWP")+":"+column(row, "TIME"))
		}
	}
	return out, c.shared() && c.PID > 0 && out.Threads > 0
}
