package agentuity

import (
	"slices"
	"testing"

	"sandglass/backend"
)

// TestAJoinThatALogToldLasts: the next process knows which sandbox a session has, asks for its participants where a line accuses it,
// and says where the join comes from.
func TestAJoinThatALogToldLasts(t *testing.T) {
	w := newWorld(t, nil)
	list := ok(`{"sessions":{"websocket":[{"sessionId":"` + zombieHub + `","status":"active","mode":"sandbox"}],"sandbox":[]},"total":1}`)
	w.set("GET /api/hub/sessions", list)
	said := backend.Report{Source: "hub-log", Kind: backend.ReportJoin, At: w.clock.Now(), Session: backend.MustID(zombieHub), Sandbox: backend.MustID(zombieID)}
	w.src.Listen([]backend.Report{said})
	marks := w.poll().Bookmarks
	w.src = w.source(nil)
	w.src.Resume(marks)
	w.forget()
	w.src.Listen([]backend.Report{{Source: "hub-log", Kind: backend.ReportUnknownSession, At: w.clock.Now(), Session: backend.MustID(zombieHub), Text: backend.Text("unknown")}})
	r := w.poll()
	i := slices.IndexFunc(r.Sandboxes, func(b *backend.Sandbox) bool { return b.Key.ID.Raw() == zombieID })
	if i < 0 || r.Sandboxes[i].Session.Raw() != zombieHub || r.Sandboxes[i].JoinedBy.String() != "a log line of hub-log" {
		t.Fatalf("joined: %+v", r.Sandboxes)
	}
	if len(w.requests("/api/hub/session/"+zombieHub+"/participants")) == 0 {
		t.Error("its participants are not asked for")
	}
	if got := w.requests("/fs/list/" + zombieID); len(got) != 1 {
		t.Errorf("its directory is listed: %v", got)
	}
}
