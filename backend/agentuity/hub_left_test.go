package agentuity

import (
	"strings"
	"testing"

	"sandglass/backend"
)

// TestASessionThatTheHubForgot: a session that was deleted at the Hub ends, and no driver of its sandbox is missed any more, also
// by a later process.
func TestASessionThatTheHubForgot(t *testing.T) {
	for _, later := range []bool{false, true} {
		w := newWorld(t, nil)
		first := w.poll()
		if v := verdictOf(t, sandboxOf(t, first, zombieID), backend.PlaneDriver); v.Outcome != backend.OutcomeFailed {
			t.Fatalf("driver: %+v", v)
		}
		broken := sessionOf(t, first, zombieHub).Key
		if later {
			w.src = w.source(nil)
			w.src.Resume(first.Bookmarks)
		}
		w.src.Attend(backend.Attention{Alerting: []backend.Key{broken}})
		w.set("GET /api/hub/sessions", ok(`{"sessions":{"websocket":[{"sessionId":"`+healthyHub+`","status":"active","bucket":"running"}],
			"sandbox":[{"sessionId":"`+healthyHub+`","sandboxId":"`+healthyID+`","status":"active","wsConnected":true}]},"total":1}`))
		ended := 0
		var last backend.Reading
		for range 4 {
			last = w.poll()
			for _, k := range last.Ended {
				if k == broken {
					ended++
				}
			}
		}
		v := verdictOf(t, sandboxOf(t, last, zombieID), backend.PlaneDriver)
		if v.Outcome != backend.OutcomeUnknown || !strings.Contains(v.What.String(), "lists no session") {
			t.Errorf("later %v: driver: %+v", later, v)
		}
		if ended != 1 {
			t.Errorf("later %v: ended %d times", later, ended)
		}
		for _, m := range last.Bookmarks {
			if strings.Contains(m.File, zombieHub) {
				t.Errorf("later %v: still known: %s", later, m.File)
			}
		}
	}
}
