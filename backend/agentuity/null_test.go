package agentuity

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"sandglass/backend"
)

// A list that is null is empty, as one of no rows is; one that is missing was not read.
func TestANullListIsEmpty(t *testing.T) {
	t.Parallel()
	for body, whole := range map[string]bool{
		`{"success":true,"data":{"executions":null,"jobs":null,"events":null}}`: true,
		`{"success":true,"data":{}}`: false,
	} {
		w := newWorld(t, nil)
		for _, id := range []string{healthyID, zombieID, suspendedID} {
			for _, part := range []string{"executions", "jobs", "events"} {
				w.set("GET /sandbox/sandboxes/"+id+"/"+part, reply{status: http.StatusOK, body: body})
			}
		}
		r := w.poll()
		if got := r.Degraded.IsEmpty() && problems(r) == ""; got != whole {
			t.Errorf("%s: %s, problems %s", body, r.Degraded, problems(r))
		}
	}
	w := newWorld(t, nil)
	w.set("GET /sandbox", ok(`{"success":true,"data":{"sandboxes":null,"total":0}}`))
	if r := w.poll(); len(r.Sandboxes) != 0 || problems(r) != "" {
		t.Errorf("%d sandboxes, problems %s", len(r.Sandboxes), problems(r))
	}
	w = newWorld(t, nil)
	w.set("GET /sandbox", ok(`{"success":true,"data":{"sandboxes":null,"total":3}}`))
	if err := w.fails(); err == nil {
		t.Error("a list of three that is null was read")
	}
}

// Rows without an id are told: they may be the queue. The others are kept, and nothing that is missing has ended.
func TestWorkWithoutAnIDIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	before := w.poll()
	w.set("GET /sandbox/sandboxes/"+zombieID+"/executions", ok(`{"success":true,"data":{"executions":[{"status":"queued"},{"executionId":"exec_2","status":"queued"}]}}`))
	r := w.poll()
	if got := problems(r) + r.Degraded.String(); !strings.Contains(got, "holds no id in 1 of 2 rows of data.executions") {
		t.Errorf("problems %s", got)
	}
	if !slices.ContainsFunc(r.Executions, func(x *backend.Execution) bool { return x.Key.ID == backend.MustID("exec_2") }) || len(before.Executions) == 0 {
		t.Errorf("the row with an id is not kept: %v", r.Executions)
	}
	for _, c := range r.Scopes {
		if c.Kind == backend.KindExecution && c.Parent == backend.MustID(zombieID) && c.Complete {
			t.Error("the list counts as whole")
		}
	}
}

// Participants in a shape that is no list are told: that nobody leads the session is not known then.
func TestParticipantsOfAnotherShapeAreTold(t *testing.T) {
	t.Parallel()
	for body, whole := range map[string]bool{`{"participants":null}`: true, `{"participants":[]}`: true, `{"participants":{"a":1}}`: false, `{}`: false} {
		w := newWorld(t, nil)
		w.set("GET /api/hub/session/"+zombieHub+"/participants", ok(body))
		if got := problems(w.poll()); strings.Contains(got, "holds no list participants") == whole {
			t.Errorf("%s: problems %s", body, got)
		}
	}
}
