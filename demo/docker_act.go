package demo

import (
	"fmt"
	"net/http"
)

// act looks at a container and does something to it, without anybody acting between. The look answers the request
// itself, and returns false, when nothing is to be done.
func (s dockerServer) act(w http.ResponseWriter, r *http.Request, kind deedKind, look func(b *box, state boxState) bool) {
	deeds := s.now().deeds
	deeds.acting.Lock()
	defer deeds.acting.Unlock()
	b, ok := s.find(w, r)
	if !ok {
		return
	}
	world := s.now()
	state := world.box(b)
	if !look(b, state) {
		return
	}
	deeds.add(deed{at: world.t, box: b, kind: kind, ran: state.up() || state.status == "restarting"})
	w.WriteHeader(http.StatusNoContent)
}

func conflict(w http.ResponseWriter, format string, b *box) bool {
	complain(w, http.StatusConflict, fmt.Sprintf(format, b.id))
	return false
}

func (s dockerServer) stop(w http.ResponseWriter, r *http.Request) {
	s.act(w, r, deedStop, func(_ *box, state boxState) bool {
		if !state.up() && state.status != "restarting" {
			w.WriteHeader(http.StatusNotModified)
			return false
		}
		return true
	})
}

func (s dockerServer) start(w http.ResponseWriter, r *http.Request) {
	s.act(w, r, deedStart, func(b *box, state boxState) bool {
		switch {
		case state.status == "paused":
			return conflict(w, "cannot start a paused container, try unpause instead: %s", b)
		case state.up() || state.status == "restarting":
			w.WriteHeader(http.StatusNotModified)
			return false
		}
		return true
	})
}

func (s dockerServer) pause(w http.ResponseWriter, r *http.Request) {
	s.act(w, r, deedPause, func(b *box, state boxState) bool {
		switch state.status {
		case "running":
			return true
		case "paused":
			return conflict(w, "Container %s is already paused", b)
		case "restarting":
			return conflict(w, "Container %s is restarting, wait until the container is running", b)
		}
		return conflict(w, "Container %s is not running", b)
	})
}

func (s dockerServer) unpause(w http.ResponseWriter, r *http.Request) {
	s.act(w, r, deedUnpause, func(b *box, state boxState) bool {
		return state.status == "paused" || conflict(w, "Container %s is not paused", b)
	})
}

func (s dockerServer) remove(w http.ResponseWriter, r *http.Request) {
	s.act(w, r, deedRemove, func(b *box, state boxState) bool {
		if truth(r.URL.Query().Get("force"), false) {
			return true
		}
		return !state.up() && state.status != "restarting" ||
			conflict(w, "You cannot remove a running container %s. Stop the container before attempting removal or force remove", b)
	})
}
