package agentuity

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"sandglass/backend"
)

// TestAFormerProcessKnewIt: a list that leaves a sandbox out does not tell a new process that it is gone. Its own route tells.
func TestAFormerProcessKnewIt(t *testing.T) {
	rest := func(w *world) {
		body := string(readSample(t, "sandbox_list").Response.Body)
		w.setFunc("GET /sandbox", func(q url.Values) reply {
			if q.Get("status") != "" {
				return ok(`{"success":true,"data":{"sandboxes":[],"total":0}}`)
			}
			return ok(strings.Replace(body, zombieID, zombieID[:len(zombieID)-1]+"x", 1))
		})
	}
	again := func(t *testing.T, w *world, prepare func()) backend.Reading {
		first := w.poll()
		w.src = w.source(nil)
		w.src.Resume(first.Bookmarks)
		rest(w)
		prepare()
		w.forget()
		return w.poll()
	}
	t.Run("it is there", func(t *testing.T) {
		w := newWorld(t, nil)
		r := again(t, w, func() {})
		if b := sandboxOf(t, r, zombieID); b.Class != backend.SandboxRunning || !strings.Contains(verdictOf(t, b, backend.PlaneControl).What.String(), "the list leaves it out") {
			t.Errorf("%s %+v", b.Class, b.Observed)
		}
		if len(r.Ended) > 0 {
			t.Errorf("ended: %v", r.Ended)
		}
	})
	t.Run("it is gone", func(t *testing.T) {
		w := newWorld(t, nil)
		r := again(t, w, func() {
			w.set("GET /sandbox/"+zombieID, reply{status: http.StatusNotFound, body: `{"success":false,"code":"SANDBOX_NOT_FOUND"}`})
		})
		if len(r.Ended) != 1 || r.Ended[0].ID.Raw() != zombieID {
			t.Errorf("ended: %v", r.Ended)
		}
		for _, m := range r.Bookmarks {
			if strings.HasPrefix(m.File, markStatus) && strings.HasSuffix(m.File, zombieID) {
				t.Errorf("it is still known: %s", m.File)
			}
		}
	})
	t.Run("it cannot be asked", func(t *testing.T) {
		w := newWorld(t, nil)
		r := again(t, w, func() {
			refused := reply{status: http.StatusUnauthorized, body: `{"success":false,"message":"unauthorized"}`}
			w.set("GET /sandbox/"+zombieID, refused)
			w.set("GET /cli/sandbox/"+zombieID, refused)
		})
		for _, c := range r.Scopes {
			if c.Kind == backend.KindSandbox && c.Complete {
				t.Error("the list counts as whole")
			}
		}
		if !strings.Contains(r.Degraded.String(), zombieID) || len(r.Ended) > 0 {
			t.Errorf("degraded: %q, ended: %v", r.Degraded, r.Ended)
		}
		if len(w.requests("/cli/sandbox/"+zombieID)) != 1 {
			t.Error("nobody asked where it is")
		}
	})
}
