package demo

import (
	"fmt"
	"net/http"
	"strings"
)

// act looks at a container and does something to it, and no other client acts in between. The look answers the request
// itself, and returns false, when nothing is to be done.
func (s dockerServer) act(w http.ResponseWriter, r *http.Request, kind clientActionKind, look func(b *fakeContainer, state containerState) bool) {
	deeds := s.now().actions
	deeds.acting.Lock()
	defer deeds.acting.Unlock()
	b, ok := s.find(w, r)
	if !ok {
		return
	}
	world := s.now()
	state := world.containerState(b)
	if !look(b, state) {
		return
	}
	deeds.add(clientAction{at: world.t, container: b, kind: kind, ran: state.up() || state.status == "restarting"})
	w.WriteHeader(http.StatusNoContent)
}

func conflict(w http.ResponseWriter, format string, b *fakeContainer) bool {
	complain(w, http.StatusConflict, fmt.Sprintf(format, b.id))
	return false
}

func (s dockerServer) stop(w http.ResponseWriter, r *http.Request) {
	s.act(w, r, actionStop, func(_ *fakeContainer, state containerState) bool {
		if !state.up() && state.status != "restarting" {
			w.WriteHeader(http.StatusNotModified)
			return false
		}
		return true
	})
}

func (s dockerServer) start(w http.ResponseWriter, r *http.Request) {
	s.act(w, r, actionStart, func(b *fakeContainer, state containerState) bool {
		switch {
		case state.status == "paused":
			return conflict(w, "cannot start a paused container, try unpause instead: %s", b)
		case state.up() || state.status == "restarting":
			w.WriteHeader(http.StatusNotModified)
			return false
		case state.failure != "":
			complain(w, http.StatusBadRequest, state.failure)
			return false
		}
		return true
	})
}

func (s dockerServer) restart(w http.ResponseWriter, r *http.Request) {
	s.act(w, r, actionRestart, func(b *fakeContainer, state containerState) bool {
		if state.failure != "" {
			complain(w, http.StatusBadRequest, state.failure)
			return false
		}
		return state.status != "paused" || conflict(w, "Container %s is paused, unpause the container first", b)
	})
}

// kill lets a stopped main process go on. Other signals are not played.
func (s dockerServer) kill(w http.ResponseWriter, r *http.Request) {
	if signal := strings.TrimPrefix(r.URL.Query().Get("signal"), "SIG"); signal != "CONT" && signal != "18" {
		refuse(w, r)
		return
	}
	s.act(w, r, actionContinue, func(b *fakeContainer, state containerState) bool {
		return state.up() || conflict(w, "cannot kill container: %s: it is not running", b)
	})
}

func (s dockerServer) pause(w http.ResponseWriter, r *http.Request) {
	s.act(w, r, actionPause, func(b *fakeContainer, state containerState) bool {
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
	s.act(w, r, actionUnpause, func(b *fakeContainer, state containerState) bool {
		return state.status == "paused" || conflict(w, "Container %s is not paused", b)
	})
}

func (s dockerServer) remove(w http.ResponseWriter, r *http.Request) {
	s.act(w, r, actionRemove, func(b *fakeContainer, state containerState) bool {
		if truth(r.URL.Query().Get("force"), false) {
			return true
		}
		return !state.up() && state.status != "restarting" ||
			conflict(w, "You cannot remove a running container %s. Stop the container before attempting removal or force remove", b)
	})
}
