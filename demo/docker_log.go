package demo

import (
	"encoding/binary"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

const (
	boxLogGap  = 7 * time.Second
	boxLogBack = 15 * time.Minute // what a container's log still holds
)

// containerLog is what a container printed after from and not after w.t. The agent's
// own container prints the agent's log.
func (w world) containerLog(b *fakeContainer, from time.Duration) []logLine {
	if b.name == agentContainer {
		return w.logLines(eu, from)
	}
	var out []logLine
	if b.kind == containerLooping {
		each(b.since, loopGap, from, w.t, func(at time.Duration) {
			out = append(out, logLine{at: at, level: levelError, message: "cannot read /etc/agent/config.json: unexpected end of JSON input"})
		})
	}
	each(-24*time.Hour+b.phase%boxLogGap, boxLogGap, from, w.t, func(at time.Duration) {
		if then := w.At(at); then.containerState(b).status != "running" || then.failsToExec(b) {
			return
		}
		h := w.random.value(saltLog, int(b.phase/time.Microsecond), int64(at))
		out = append(out, logLine{at: at, level: levelInfo, message: fmt.Sprintf("exec finished in %d ms, exit code 0", 3+h%900)})
	})
	return out
}

// failsToExec reports whether no command of the agent begins in a container: it crashes at its start or has lost its
// working directory.
func (w world) failsToExec(b *fakeContainer) bool {
	return b.kind == containerLooping && w.t >= b.since || w.checkFails(b, w.t)
}

// logs serves a container's output in the engine's framing: eight bytes with
// the stream (1 stdout, 2 stderr) and the length, then the text.
func (s dockerServer) logs(w http.ResponseWriter, r *http.Request) {
	b, ok := s.find(w, r)
	if !ok {
		return
	}
	q := r.URL.Query()
	if !truth(q.Get("stdout"), false) && !truth(q.Get("stderr"), false) {
		complain(w, http.StatusBadRequest, "Bad parameters: you must choose at least one stream")
		return
	}
	world := s.now()
	since, err := world.eventTime(q.Get("since"), known(-24*time.Hour))
	if err != nil {
		complain(w, http.StatusBadRequest, err.Error())
		return
	}
	end := world.t
	if st := world.containerState(b); !st.up() && st.finished.known {
		end = st.finished.at // what it printed last stays
	}
	from := max(since.at, end-boxLogBack)
	lines := world.containerLog(b, from)
	if n, err := strconv.Atoi(q.Get("tail")); err == nil && n >= 0 && n < len(lines) {
		lines = lines[len(lines)-n:]
	}
	w.Header().Set("Content-Type", "application/vnd.docker.multiplexed-stream")
	st := logStream{server: s, box: b, from: world.t, stamps: truth(q.Get("timestamps"), false), w: w}
	st.want[1], st.want[2] = truth(q.Get("stdout"), false), truth(q.Get("stderr"), false)
	if st.send(world, lines) && truth(q.Get("follow"), false) {
		st.follow(r)
	}
}

type logStream struct {
	server dockerServer
	box    *fakeContainer
	from   time.Duration
	stamps bool
	want   [3]bool
	w      http.ResponseWriter
}

func (st *logStream) follow(r *http.Request) {
	tick := time.NewTicker(logStep)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		case <-st.server.done:
			return
		}
		world := st.server.now()
		lines := world.containerLog(st.box, st.from)
		st.from = world.t
		if !st.send(world, lines) {
			return
		}
	}
}

// send writes lines and says whether the client is still there.
func (st *logStream) send(world world, lines []logLine) bool {
	for _, l := range lines {
		stream := byte(1)
		if l.level >= levelWarn {
			stream = 2
		}
		if !st.want[stream] {
			continue
		}
		text := world.textLine(l)
		if st.stamps {
			text = append([]byte(world.zoned(known(l.at))+" "), text...)
		}
		head := [8]byte{stream}
		binary.BigEndian.PutUint32(head[4:], uint32(len(text)))
		if _, err := st.w.Write(append(head[:], text...)); err != nil {
			return false
		}
	}
	return http.NewResponseController(st.w).Flush() == nil
}
