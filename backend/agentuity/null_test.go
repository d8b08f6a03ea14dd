package agentuity

import (
	"net/http"
	"testing"
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
