package agentuity

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// onlyFullListNamesIt lets the list of live sandboxes leave out the one that sleeps, as the platform does.
func onlyFullListNamesIt(w *world) {
	w.t.Helper()
	body := string(readSample(w.t, "sandbox_list").Response.Body)
	live := strings.Replace(body, suspendedID, suspendedID+"x", 1)
	w.setFunc("GET /sandbox", func(q url.Values) reply {
		if q.Get("live") != "" {
			return ok(live)
		}
		return ok(body)
	})
}

// An action judges its target by a reading of a few seconds ago. A list names one that sleeps once a minute: it is read by its
// own route, first, and only once.
func TestASleeperIsReadAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	onlyFullListNamesIt(w)
	first := sandboxOf(t, w.poll(), suspendedID)
	w.poll()
	w.forget()
	w.src.Reread(first.Key)
	again := sandboxOf(t, w.poll(), suspendedID)
	if age := w.clock.Now().Sub(again.ReadAt); age > time.Second || !again.ReadAt.After(first.ReadAt) {
		t.Errorf("read %v ago", age)
	}
	if asked := w.requests("GET /sandbox/" + suspendedID + "?"); len(asked) != 1 {
		t.Errorf("its own route was asked: %v", asked)
	}
	w.forget()
	w.poll()
	if asked := w.requests("GET /sandbox/" + suspendedID + "?"); len(asked) != 0 {
		t.Errorf("and later: %v", asked)
	}
}

// A reading that fails makes no target younger, and one that names another sandbox is none of it.
func TestAFailedReadingMakesNothingYoung(t *testing.T) {
	t.Parallel()
	other := readSample(t, "healthy_sandbox_get")
	for name, answer := range map[string]reply{
		"server error": {status: http.StatusInternalServerError, body: `{"success":false,"message":"boom"}`},
		"another one":  other.answer(),
	} {
		w := newWorld(t, nil)
		onlyFullListNamesIt(w)
		first := sandboxOf(t, w.poll(), suspendedID)
		w.set("GET /sandbox/"+suspendedID, answer)
		w.src.Reread(first.Key)
		w.src.backlog = append(w.src.backlog, first.Key.ID) // the other routes, which are read in the same poll, work
		r := w.poll()
		if b := sandboxOf(t, r, suspendedID); !b.ReadAt.Equal(first.ReadAt) {
			t.Errorf("%s: read at %v, before %v", name, b.ReadAt, first.ReadAt)
		}
		if problems(r) == "" {
			t.Errorf("%s: nothing is said", name)
		}
	}
}

// One that its own route does not find is gone where no list names it, and kept where one does.
func TestAnOwnRouteThatFindsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	onlyFullListNamesIt(w)
	first := sandboxOf(t, w.poll(), suspendedID)
	w.set("GET /sandbox/"+suspendedID, reply{status: http.StatusNotFound, body: `{"success":false,"message":"not found","code":"SANDBOX_NOT_FOUND"}`})
	w.src.Reread(first.Key)
	if r := w.poll(); len(r.Ended) != 0 || problems(r) == "" {
		t.Errorf("ended %v, problems %s", r.Ended, problems(r))
	}
}

var _ backend.Rereader = (*Source)(nil)
