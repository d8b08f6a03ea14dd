package subjects

import (
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// A source of which a part was not read in time is not ok: a check that ends early says what it did not see.
func TestASourceThatWasReadInPartIsNotOK(t *testing.T) {
	h := &fleet.SourceHealth{Key: backend.Key{Kind: backend.KindSource, Source: "h"}, Status: fleet.StatusOK, Unfinished: true,
		Notes: []backend.Safe{backend.Text("394 of 600 sessions wait for their first reading")}}
	s := NewSourceJSON(h, &alerts.Board{}, time.Time{})
	if s.Status != "degraded" || s.Error == nil || s.Error.String() != "not all of it was read in time: 394 of 600 sessions wait for their first reading" {
		t.Errorf("%s: %v", s.Status, s.Error)
	}
	refused := &fleet.SourceHealth{Key: h.Key, Status: fleet.StatusOK, Unfinished: true, Unseen: true, Notes: h.Notes, Problems: []backend.Problem{{What: backend.Text("application agents: answered 400 Bad Request")}}}
	if s = NewSourceJSON(refused, &alerts.Board{}, time.Time{}); s.Status != "degraded" || s.Error == nil || s.Error.String() != "a part of it cannot be read: application agents: answered 400 Bad Request" {
		t.Errorf("a refusal: %s: %v", s.Status, s.Error)
	}
}
