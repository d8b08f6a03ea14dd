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

// TestWhatACredentialDoesNotPermitIsTold: each part, beside a source that is well too, and none that its error tells already.
func TestWhatACredentialDoesNotPermitIsTold(t *testing.T) {
	part := func(what backend.Literal, kind backend.ErrorKind) backend.Problem {
		return backend.Problem{Kind: kind, What: backend.Text(what)}
	}
	h := &fleet.SourceHealth{Key: backend.Key{Kind: backend.KindSource, Source: "cf"}, Status: fleet.StatusDegraded, Error: backend.Text("class and script are not known: answered 403; give it the permission A"),
		Problems: []backend.Problem{part("class and script: answered 403; give it the permission A", backend.ErrUnauthorised), part("analytics: refused; give it the permission B", backend.ErrUnauthorised), part("a row: cut; x", backend.ErrInvalid)}}
	if s := NewSourceJSON(h, &alerts.Board{}, time.Time{}); len(s.Denied) != 1 || s.Denied[0].String() != "analytics: refused; give it the permission B" {
		t.Errorf("degraded: %v", s.Denied)
	}
	h.Status, h.Error = fleet.StatusOK, backend.Safe{}
	if s := NewSourceJSON(h, &alerts.Board{}, time.Time{}); len(s.Denied) != 2 || s.Status != "ok" {
		t.Errorf("well: %s %v", s.Status, s.Denied)
	}
	h.Status = fleet.StatusDown
	if s := NewSourceJSON(h, &alerts.Board{}, time.Time{}); len(s.Denied) > 0 {
		t.Errorf("down: %v", s.Denied)
	}
}
