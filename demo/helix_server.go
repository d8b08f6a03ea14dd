package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// now returns the fleet at this moment; servers ask it once per request.
type now func() world

// helixServer is one Helix deployment: the health route that the framework's
// runbook describes and the routes its operator added.
type helixServer struct {
	now    now
	where  instance
	acting actingRoutes
}

func (s helixServer) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz/{session}", s.health)
	mux.HandleFunc("GET /operator/sessions", s.list)
	mux.HandleFunc("GET /operator/workspaces", s.aggregate)
	mux.HandleFunc("GET /operator/sessions/{session}", s.describe)
	mux.HandleFunc("POST /operator/sessions/{session}/workspaces/{workspace}/reset", s.reset)
	mux.HandleFunc("GET /healthz", s.alive)
	return mux
}

// alive is the generic health route of a web service; it knows no workspaces.
func (s helixServer) alive(w http.ResponseWriter, _ *http.Request) {
	answerJSON(w, http.StatusOK, struct {
		OK bool `json:"ok"`
	}{true})
}

func (s helixServer) health(w http.ResponseWriter, r *http.Request) {
	world := s.now()
	slot, ok := world.findSession(r.PathValue("session"))
	if !ok || world.sessions[slot].where != s.where || world.sessions[slot].count == 0 {
		answerJSON(w, http.StatusNotFound, wireError{Error: "no active session"})
		return
	}
	if int32(slot) == world.broken {
		answerJSON(w, http.StatusInternalServerError, wireError{Error: "TypeError: Cannot read properties of undefined (reading 'describe')"})
		return
	}
	sess := &world.sessions[slot]
	if world.unnamed[s.where] == int32(slot) {
		answerJSON(w, http.StatusOK, wireHealthOne{Workspace: world.wireEntry(sess.first)})
		return
	}
	body := wireHealth{Workspaces: make([]wireEntry, 0, sess.count)}
	for k := range sess.count {
		body.Workspaces = append(body.Workspaces, world.wireEntry(sess.first+k))
	}
	answerJSON(w, http.StatusOK, body)
}

func (s helixServer) list(w http.ResponseWriter, r *http.Request)      { s.page(w, r, false) }
func (s helixServer) aggregate(w http.ResponseWriter, r *http.Request) { s.page(w, r, true) }

func (s helixServer) page(w http.ResponseWriter, r *http.Request, full bool) {
	world := s.now()
	p, err := world.parseCursor(s.where, r.URL.Query().Get("cursor"), full)
	if err != nil {
		answerJSON(w, http.StatusBadRequest, wireError{Error: err.Error()})
		return
	}
	tag := world.tag(p)
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "no-cache")
	if matches(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	answerJSON(w, http.StatusOK, world.wirePage(p))
}

func (s helixServer) describe(w http.ResponseWriter, r *http.Request) {
	world := s.now()
	slot, ok := world.findSession(r.PathValue("session"))
	if !ok || world.sessions[slot].where != s.where {
		answerJSON(w, http.StatusNotFound, wireError{Error: "no such session"})
		return
	}
	answerJSON(w, http.StatusOK, world.fullSession(slot))
}

// matches compares a tag with an If-None-Match header (RFC 9110, section
// 13.1.2: weak comparison).
func matches(header, tag string) bool {
	for part := range strings.SplitSeq(header, ",") {
		part = strings.TrimSpace(part)
		if part == "*" || strings.TrimPrefix(part, "W/") == tag {
			return true
		}
	}
	return false
}

// answerJSON writes a body of one of the wire types. They cannot fail to
// encode; a client that went away is not our concern.
func answerJSON[T any](w http.ResponseWriter, status int, body T) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		http.Error(w, fmt.Sprintf("demo: encode answer: %v", err), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(buf.Len()))
	w.WriteHeader(status)
	// A failed write means that the client is gone: there is nothing to do.
	_, _ = w.Write(buf.Bytes())
}
