package agentuity

import (
	"testing"
	"time"

	"sandglass/backend"
)

// TestAJoinThatALogToldLasts: the next process knows which sandbox a session has, asks for its participants where a line accuses it,
// and says where the join comes from.
func TestAJoinThatALogToldLasts(t *testing.T) {
	w := newWorld(t, nil)
	list := ok(`{"sessions":{"websocket":[{"sessionId":"` + zombieHub + `","status":"active","mode":"sandbox"}],"sandbox":[]},"total":1}`)
	w.set("GET /api/hub/sessions", list)
	said := backend.Report{Source: "hub-log", Kind: backend.ReportJoin, At: w.clock.Now(), Session: backend.MustID(zombieHub), Sandbox: backend.MustID(zombieID),
		Where: backend.Text("/var/log/hub.log"), Text: backend.Text("[INFO] both are bound")}
	w.src.Listen([]backend.Report{said})
	w.poll()
	w.clock.Add(time.Hour)
	again := said
	again.At, again.Text = w.clock.Now(), backend.Text("[INFO] both once more")
	w.src.Listen([]backend.Report{again})
	marks := w.poll().Bookmarks
	w.src = w.source(nil)
	w.src.Resume(marks)
	w.forget()
	w.src.Listen([]backend.Report{{Source: "hub-log", Kind: backend.ReportUnknownSession, At: w.clock.Now(), Session: backend.MustID(zombieHub), Text: backend.Text("unknown")}})
	r := w.poll()
	const by = "a log line of hub-log at 2026-04-04 01:02:00Z, in /var/log/hub.log"
	if b := sandboxOf(t, r, zombieID); b.Session.Raw() != zombieHub || b.JoinedBy.String() != by || b.JoinedLine.String() != "[INFO] both are bound" {
		t.Errorf("joined to %s by %q: %q", b.Session.Raw(), b.JoinedBy, b.JoinedLine)
	}
	if h := sessionOf(t, r, zombieHub).Hub; h.Sandbox.Raw() != zombieID || h.JoinedBy.String() != by {
		t.Errorf("the session is joined to %s by %q", h.Sandbox.Raw(), h.JoinedBy)
	}
	if len(w.requests("/api/hub/session/"+zombieHub+"/participants")) == 0 {
		t.Error("its participants are not asked for")
	}
	if got := w.requests("/fs/list/" + zombieID); len(got) != 1 {
		t.Errorf("its directory is listed: %v", got)
	}
}

// TestTheHubsListGoesBeforeALine: also in what is said of the join.
func TestTheHubsListGoesBeforeALine(t *testing.T) {
	w := newWorld(t, nil)
	w.src.Listen([]backend.Report{{Source: "hub-log", Kind: backend.ReportJoin, At: w.clock.Now(), Session: backend.MustID(zombieHub), Sandbox: backend.MustID(healthyID)}})
	w.poll()
	if h := sessionOf(t, w.poll(), zombieHub).Hub; h.Sandbox.Raw() != zombieID || h.JoinedBy.String() != "the Hub's list" {
		t.Errorf("the session is joined to %s by %q", h.Sandbox.Raw(), h.JoinedBy)
	}
}
