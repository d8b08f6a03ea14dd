package agentuity

import (
	"net/http"
	"testing"

	"sandglass/backend"
)

// TestAStatusRouteThatFindsNothing: the answer is told by the route that gave it, and routes that differ are said to disagree.
func TestAStatusRouteThatFindsNothing(t *testing.T) {
	for code, views := range map[string]int{"SANDBOX_NOT_FOUND": 3, "": 0} {
		w := newWorld(t, nil)
		w.set("GET /sandbox/status/"+healthyID, reply{status: http.StatusNotFound, body: `{"success":false,"message":"not found","code":"` + code + `"}`})
		key := sandboxOf(t, w.poll(), healthyID).Key
		w.src.Attend(backend.Attention{Visible: []backend.Key{key}})
		var b *backend.Sandbox
		for range 4 {
			b = sandboxOf(t, w.poll(), healthyID)
		}
		want := "its own route says idle"
		if views > 0 {
			want += ", but its status route does not find it"
		}
		if v := verdictOf(t, b, backend.PlaneControl); v.What.String() != want {
			t.Errorf("%q: %s", code, v.What)
		}
		if len(b.Views) != views {
			t.Errorf("%q: views %v", code, b.Views)
		}
	}
}
