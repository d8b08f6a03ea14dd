package agentuity

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// manyBoxes is a world with so many idle sandboxes, of which nothing can be told but their lists.
func manyBoxes(t *testing.T, n int) (w *world, ids []string) {
	w = newWorld(t, func(o *Options) { o.Hub = false })
	var rows []string
	for i := range n {
		id := fmt.Sprintf("sbx_%03d", i)
		ids = append(ids, id)
		rows = append(rows, fmt.Sprintf(`{"sandboxId":"%s","name":"box-%03d","status":"idle","mode":"interactive","createdAt":"2026-04-04T00:00:00Z","region":"usc","executions":1}`, id, i))
		for _, what := range []string{"executions", "jobs", "events"} {
			w.set("GET /sandbox/sandboxes/"+id+"/"+what, ok(`{"success":true,"data":{"`+what+`":[]}}`))
		}
		w.set("GET /sandbox/status/"+id, ok(`{"success":true,"data":{"sandboxId":"`+id+`","status":"idle"}}`))
	}
	w.set("GET /sandbox", ok(fmt.Sprintf(`{"success":true,"data":{"sandboxes":[%s],"total":%d}}`, strings.Join(rows, ","), n)))
	return w, ids
}

// slowly lets the source read one sandbox in two and a half seconds, as a budget of two requests a second does.
func (w *world) slowly() {
	w.src.sweep = wire.NewSweep(wire.SweepLimits{Every: w.src.opt.Sweep.Std(), Gap: w.src.deps.Interval * 9 / 10, Period: w.src.deps.Interval, PerSecond: 0.4, Hold: firstSweep, AtOnce: inFlight},
		w.clock.Now, func() float64 { return 0.5 })
}

// asOneCommand polls as a command that reads once: until there is no more to read at once.
func (w *world) asOneCommand() (r backend.Reading) {
	w.t.Helper()
	for r = w.poll(); r.Partial; r = w.poll() {
	}
	return r
}

func (w *world) readEvents() (out []string) {
	for _, path := range w.requests("/sandbox/sandboxes/") {
		if id, _, is := strings.Cut(strings.TrimPrefix(path, "GET /sandbox/sandboxes/"), "/events?"); is {
			out = append(out, id)
		}
	}
	return out
}

// TestACommandGoesOnWhereTheLastEnded: commands that read once read the sandboxes in turn, the one that is asked about first, and say
// how many no process has read lately.
func TestACommandGoesOnWhereTheLastEnded(t *testing.T) {
	const boxes = 60
	w, ids := manyBoxes(t, boxes)
	seen := map[string]bool{}
	var marks []backend.Bookmark
	for run := range 4 {
		w.src = w.source(func(o *Options) { o.Hub = false })
		w.slowly()
		w.src.Resume(marks)
		w.forget()
		asked := ids[boxes-1-run]
		w.src.Attend(backend.Attention{Asked: strings.Replace(asked, "sbx_", "box-", 1)})
		w.poll()
		if first := w.readEvents(); !slices.Contains(first, asked) || len(first) > boxes/4 {
			t.Fatalf("run %d: %s is not among the first that are read: %v", run, asked, first)
		}
		r := w.asOneCommand()
		marks = r.Bookmarks
		got := w.readEvents()
		if len(got) == boxes {
			t.Fatalf("run %d reads all at once", run)
		}
		for _, id := range got {
			seen[id] = true
		}
		left := boxes - len(seen)
		says := slices.ContainsFunc(r.Notes, func(n backend.Safe) bool {
			return n.String() == fmt.Sprintf("executions, jobs and events of %d of %d sandboxes were not read yet", left, boxes)
		})
		if r.Unseen != (left > 0) || says != (left > 0) {
			t.Errorf("run %d: %d are left, unseen %v: %v", run, left, r.Unseen, r.Notes)
		}
	}
	if len(seen) != boxes {
		t.Errorf("four runs read %d of %d", len(seen), boxes)
	}
}

// TestASmallFleetIsReadWhole by one command, whatever the interval.
func TestASmallFleetIsReadWhole(t *testing.T) {
	w, ids := manyBoxes(t, 20)
	began := w.clock.Now()
	w.slowly()
	if r := w.asOneCommand(); r.Unseen || len(w.readEvents()) != len(ids) {
		t.Errorf("unseen %v, %d read", r.Unseen, len(w.readEvents()))
	}
	if took := w.clock.Now().Sub(began); took > 2*firstSweep {
		t.Errorf("it took %s", took)
	}
}

// TestAPollWithoutAListIsAsOldAsTheListBefore: a source that is polled every second lists its live sandboxes every 5 s.
func TestAPollWithoutAListIsAsOldAsTheListBefore(t *testing.T) {
	w := newWorld(t, nil)
	w.src.deps.Interval = time.Second
	first := w.poll()
	w.clock.Add(2 * time.Second)
	w.forget()
	r, err := w.src.Poll(t.Context())
	if err != nil || len(w.requests("live=true")) != 0 || !r.AnsweredAt.Equal(first.AnsweredAt) || !r.AnsweredAt.Equal(w.clock.Now().Add(-2*time.Second)) || r.Every != 5*time.Second {
		t.Errorf("asked %q; of %v, before of %v; every %v, %v", w.requests("live=true"), r.AnsweredAt, first.AnsweredAt, r.Every, err)
	}
}
