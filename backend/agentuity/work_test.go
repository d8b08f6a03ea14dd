package agentuity

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// TestTheOldestExecutionsSayNothingOfTheQueue: where the platform gives the oldest of many executions, what waits is not known.
func TestTheOldestExecutionsSayNothingOfTheQueue(t *testing.T) {
	for _, oldest := range []bool{true, false} {
		w := newWorld(t, nil)
		list := readSample(t, "sandbox_list")
		w.set("GET /sandbox", ok(regexp.MustCompile(`"executions": \d+`).ReplaceAllString(string(list.Response.Body), `"executions": 162`)))
		var rows []string
		for i := range rowsAsked {
			at := w.clock.Now().Add(time.Duration(i-200) * time.Minute).Format(time.RFC3339)
			rows = append(rows, fmt.Sprintf(`{"executionId":"exe_%d","sandboxId":"%s","status":"completed","command":["true"],"exitCode":0,"startedAt":"%s","completedAt":"%s"}`, i, healthyID, at, at))
		}
		if !oldest {
			slices.Reverse(rows)
		}
		w.set("GET /sandbox/sandboxes/"+healthyID+"/executions", ok(`{"success":true,"data":{"executions":[`+strings.Join(rows, ",")+`]}}`))
		o, _ := sandboxOf(t, w.poll(), healthyID).Observed.Get()
		v, told := o.Of(backend.PlaneQueue)
		if oldest != (told && v.Outcome == backend.OutcomeUnknown && strings.Contains(v.What.String(), "oldest 100 of 162")) {
			t.Errorf("oldest first %v: %+v", oldest, v)
		}
	}
}
