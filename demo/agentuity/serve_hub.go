package agentuity

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"sandglass/internal/stable"
)

func (s server) hubRoutes() {
	s.on("GET /api/hub/sessions", anyKey, s.sessions)
	s.on("GET /api/hub/session/{session}", anyKey, s.hub(s.session))
	s.on("GET /api/hub/session/{session}/participants", anyKey, s.hub(s.participants))
	s.on("GET /api/hub/session/{session}/events/history", anyKey, s.hub(s.history))
	s.on("GET /api/hub/session/{session}/replay", anyKey, s.hub(s.history))
	s.on("POST /api/hub/session/{session}/resume", anyKey, s.hub(s.wake))
	s.on("POST /api/hub/session/{session}/archive", anyKey, s.hub(s.archive))
	s.on("DELETE /api/hub/session/{session}", anyKey, s.hub(s.forget))
}

// hub finds the session of a request.
func (s server) hub(do func(r *http.Request, x *session) (answer, *refusal)) route {
	return func(r *http.Request) (answer, *refusal) {
		for _, x := range s.w.sessions {
			if x.id == r.PathValue("session") {
				return do(r, x)
			}
		}
		return refuse(http.StatusNotFound, "session not found", "CODER_SESSION_NOT_FOUND")
	}
}

func (x *session) wire() wireSession {
	out := wireSession{
		SessionID: x.id, Label: x.label, Status: x.status, Mode: "sandbox", Visibility: "private", WorkflowMode: "standard",
		CreatedAt: zoned(x.created), LastActivityAt: zoned(x.active), TaskCount: 2, SubAgentCount: 1,
		Tags: []string{}, Skills: []string{}, EnabledAgents: []string{},
	}
	switch x.status {
	case "active":
		out.Bucket, out.RuntimeAvailable, out.ControlAvailable, out.LiveExpected = "running", true, true, true
	case "creating", "resuming":
		out.Bucket, out.LiveExpected = "provisioning", true
	case "archived":
		out.Bucket, out.HistoryOnly = "history", true
	default:
		out.Bucket, out.WakeAvailable = "paused", true
	}
	if !x.lead.IsZero() {
		out.ParticipantCount = 1
	}
	return out
}

func (s server) sessions(r *http.Request) (answer, *refusal) {
	q := r.URL.Query()
	var all []*session
	for _, x := range s.w.sessions {
		if (x.status != "archived" || q.Get("includeArchived") == "true") && strings.Contains(strings.ToLower(x.label), strings.ToLower(q.Get("search"))) {
			all = append(all, x)
		}
	}
	stable.Sort(all, func(a, b *session) int { return b.active.Compare(a.active) })
	rows, joins := []wireSession{}, []wireJoin{}
	for _, x := range page(r, all) {
		rows = append(rows, x.wire())
		joins = append(joins, wireJoin{x.id, x.of.id, x.status, !x.lead.IsZero()})
	}
	return answer{body: map[string]any{"sessions": map[string]any{"websocket": rows, "sandbox": joins}, "total": len(all)}}, nil
}

func (s server) session(_ *http.Request, x *session) (answer, *refusal) {
	out := x.wire()
	out.Error = x.fails
	return answer{body: out}, nil
}

func (s server) participants(_ *http.Request, x *session) (answer, *refusal) {
	rows := []wireParticipant{}
	if !x.lead.IsZero() {
		rows = append(rows, wireParticipant{"conn_" + s.w.digits("conn "+x.id, x.woken, 12), "lead", "ws", zoned(x.lead), zoned(s.w.t.Add(-3 * time.Second))})
	}
	return answer{body: map[string]any{"sessionId": x.id, "participants": rows}}, nil
}

func (s server) history(_ *http.Request, x *session) (answer, *refusal) {
	type row struct {
		ID         int    `json:"id"`
		Event      string `json:"event"`
		OccurredAt string `json:"occurredAt"`
	}
	rows := []row{}
	for i, e := range x.history {
		rows = append(rows, row{i + 1, e.name, zoned(e.at)})
	}
	return answer{body: map[string]any{"sessionId": x.id, "events": rows}}, nil
}

type wireLifecycle struct {
	SessionID string `json:"sessionId"`
	Status    string `json:"status"`
}

func (s server) wake(_ *http.Request, x *session) (answer, *refusal) {
	switch x.status {
	case "archived":
		return refuse(http.StatusConflict, "session is archived", "CODER_SESSION_ARCHIVED")
	case "active", "resuming", "creating":
		return refuse(http.StatusConflict, "session is "+x.status, "CODER_SESSION_CONFLICT")
	}
	s.w.wake(x)
	return answer{body: wireLifecycle{x.id, "resuming"}}, nil
}

func (s server) archive(_ *http.Request, x *session) (answer, *refusal) {
	x.status, x.lead = "archived", time.Time{}
	x.woken++
	return answer{body: wireLifecycle{x.id, x.status}}, nil
}

func (s server) forget(_ *http.Request, x *session) (answer, *refusal) {
	x.woken++
	s.w.sessions = slices.DeleteFunc(s.w.sessions, func(y *session) bool { return x == y })
	return done()
}
