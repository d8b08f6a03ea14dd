package agentuity

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// TestTheNewestEndedWorkIsKept: of what ended ten of each kind stay, those that ended last, in whatever order the platform gives them; what
// has not ended stays whatever its age.
func TestTheNewestEndedWorkIsKept(t *testing.T) {
	w := newWorld(t, nil)
	end := func(i int) string { return w.clock.Now().Add(time.Duration(i-60) * time.Minute).Format(time.RFC3339) }
	rows := func(id string, states ...string) (all []string) {
		for i := range 40 {
			status := states[i%len(states)]
			all = append(all, fmt.Sprintf(`{"%s":"%s_%02d","sandboxId":"%s","status":"%s","command":["true"],"exitCode":0,"startedAt":"%s","completedAt":"%s"}`, id, id, i, healthyID, status, end(0), end(i)))
		}
		for _, status := range []string{"queued", "pending", "running"} {
			all = append(all, fmt.Sprintf(`{"%s":"%s_%s","sandboxId":"%s","status":"%s","command":["true"]}`, id, id, status, healthyID, status))
		}
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] }) // #nosec G404 -- an order
		return all
	}
	for what, x := range map[string][]string{"executions": rows("executionId", "completed", "failed", "timeout", "cancelled"), "jobs": rows("jobId", "completed", "failed", "cancelled")} {
		w.set("GET /sandbox/sandboxes/"+healthyID+"/"+what, ok(`{"success":true,"data":{"`+what+`":[`+strings.Join(x, ",")+`]}}`))
	}
	r := w.poll()
	var have []string
	for _, x := range r.Executions {
		if x.Key.Parent.Raw() == healthyID && x.Class.Ended() {
			have = append(have, x.Key.ID.Raw())
		}
	}
	for _, x := range r.Jobs {
		if x.Key.Parent.Raw() == healthyID && x.Class.Ended() {
			have = append(have, x.Key.ID.Raw())
		}
	}
	var want []string
	for _, id := range []string{"executionId", "jobId"} {
		for i := 30; i < 40; i++ {
			want = append(want, fmt.Sprintf("%s_%02d", id, i))
		}
	}
	if slices.Sort(have); !slices.Equal(have, want) {
		t.Errorf("kept %v, want %v", have, want)
	}
	all := append(make([]string, 0), keysOf(r.Executions)...)
	for _, id := range []string{"executionId_queued", "executionId_running"} {
		if !slices.Contains(all, id) {
			t.Errorf("%s is not kept: %v", id, all)
		}
	}
}

func keysOf[E backend.Entity](all []E) (out []string) {
	for _, e := range all {
		out = append(out, e.EntityMeta().Key.ID.Raw())
	}
	return out
}

// TestTheCreationIsTheTextOfTheSample: each sandbox was created when the raw text of the list says.
func TestTheCreationIsTheTextOfTheSample(t *testing.T) {
	var list struct {
		Data struct {
			Sandboxes []struct{ SandboxID, CreatedAt string }
		}
	}
	if err := json.Unmarshal(readSample(t, "sandbox_list").Response.Body, &list); err != nil || len(list.Data.Sandboxes) < 3 {
		t.Fatalf("%v %+v", err, list)
	}
	r := newWorld(t, nil).poll()
	for _, x := range list.Data.Sandboxes {
		at, known := sandboxOf(t, r, x.SandboxID).CreatedAt.Get()
		if want, err := time.Parse(time.RFC3339, x.CreatedAt); err != nil || !known || at.Sub(want).Abs() > time.Second {
			t.Errorf("%s: created %v, the text says %q", x.SandboxID, at, x.CreatedAt)
		}
	}
}

// TestATimeThatCannotBeReadIsUnknown: no other form is guessed, none is taken for the beginning of time, and one that is missing is no
// fault.
func TestATimeThatCannotBeReadIsUnknown(t *testing.T) {
	want := time.Date(2026, 4, 3, 15, 2, 11, 0, time.UTC)
	for text, is := range map[string]string{
		`"2026-04-03T15:02:11Z"`: "known", `"2026-04-03T15:02:11.000Z"`: "known", `"2026-04-03T17:02:11+02:00"`: "known",
		`null`: "none", `""`: "unknown", `"yesterday"`: "unknown", `1775228531000`: "unknown", `{}`: "unknown", `"2026-04-03"`: "unknown",
	} {
		w := newWorld(t, func(o *Options) { o.Hub = false })
		w.set("GET /sandbox", ok(`{"success":true,"data":{"sandboxes":[{"sandboxId":"sbx_1","status":"suspended","createdAt":`+text+`}],"total":1}}`))
		at := sandboxOf(t, w.poll(), "sbx_1").CreatedAt
		got := "unknown"
		if v, known := at.Get(); known {
			if got = "known"; v.Sub(want).Abs() > time.Second {
				t.Errorf("%s: %s", text, v)
			}
		} else if at.IsNotApplicable() {
			got = "none"
		}
		if got != is {
			t.Errorf("%s: %s, want %s", text, got, is)
		}
	}
}
