package prometheus

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"sandglass/backend"
)

// another is a new process that goes on from a reading of the one before, as kept in a file.
func (r *rig) another(from backend.Reading) {
	r.t.Helper()
	data, err := json.Marshal(from.Bookmarks)
	if err != nil {
		r.t.Fatal(err)
	}
	var marks []backend.Bookmark
	if err := json.Unmarshal(data, &marks); err != nil {
		r.t.Fatal(err)
	}
	s, err := newSource(r.src.(*source).opts, r.src.(*source).deps)
	if err != nil {
		r.t.Fatal(err)
	}
	_ = r.src.(*source).Close()
	r.src = s
	s.Resume(marks)
}

func page(evictions, started int, rss int64) string {
	return fmt.Sprintf("# TYPE helix_workspace_evictions_total counter\nhelix_workspace_evictions_total{provider=\"x\"} %d\n"+
		"# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds %d\n# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes %d\n", evictions, started, rss)
}

// TestProcessesWatchCountersTogether: each looks once. What rose between two looks is counted by the second, what was counted
// before is told again, and a restart between two looks is one.
func TestProcessesWatchCountersTogether(t *testing.T) {
	r := newRig(t, nil)
	started := int(t0.Unix()) - 3600
	sum := func(x backend.Reading) (n float64) {
		for _, c := range x.Counts {
			if c.Series.Name == backend.MetricEvictions {
				n += c.N
			}
		}
		return n
	}
	x := r.poll(page(100, started, 1))
	for i := 1; i <= 4; i++ {
		r.another(x)
		x = r.poll(page(100+15*i, started, int64(i)))
		if got := sum(x); got != float64(15*i) {
			t.Errorf("look %d tells %v", i+1, got)
		}
		if len(x.Memory) != i+1 {
			t.Errorf("look %d tells %d readings of memory", i+1, len(x.Memory))
		}
	}
	if got := sum(r.poll(page(161, started, 5))); got != 1 {
		t.Errorf("the second look of a process tells %v", got)
	}
	r.another(x)
	x = r.poll(page(3, int(r.now.Unix())+10, 5))
	if got := sum(x); got != 63 || len(x.Events) != 1 || x.Events[0].Name != "process-restarted" {
		t.Errorf("after a restart %v, %v", got, x.Events)
	}
	r.another(x)
	r.now = r.now.Add(10 * time.Minute)
	if x = r.poll(page(500, int(r.now.Unix())-615, 5)); sum(x) != 63 || len(x.Notes) == 0 {
		t.Errorf("after a gap %v, %v", sum(x), x.Notes)
	}
	r.src.(*source).opts.URL += "?other"
	r.another(x)
	if x = r.poll(page(900, started, 5)); sum(x) != 0 {
		t.Errorf("another page goes on with %v", sum(x))
	}
}

// TestReadingsStayAsTheyAre: a reading's bookmarks are saved while the source polls again, and do not follow its wobbling start time.
func TestReadingsStayAsTheyAre(t *testing.T) {
	r := newRig(t, nil)
	started := int(t0.Unix()) - 3600
	first := r.poll(page(100, started, 1))
	r.poll(page(100, started+1, 1))
	if got := first.Bookmarks[0].Counters.Starts; len(got) != 1 || got[0] != float64(started) {
		t.Errorf("the first reading says %v now, not %d", got, started)
	}
}

// TestWhatIsKeptIsBounded: long silence is two counts of a series.
func TestWhatIsKeptIsBounded(t *testing.T) {
	r := newRig(t, nil)
	var x backend.Reading
	for range 300 {
		x = r.poll(page(7, 1000, 5))
	}
	if c := x.Bookmarks[0].Counters; len(c.Counts) != 2 || len(c.Memory) > 241 || len(c.Metrics[0].Values) != 1 {
		t.Errorf("%d counts, %d of memory", len(c.Counts), len(c.Memory))
	}
}

// TestGrowthWhileNobodyLookedIsSpread: what rose while a console was away is of all that time, not of its last interval.
func TestGrowthWhileNobodyLookedIsSpread(t *testing.T) {
	r := newRig(t, nil)
	started := int(t0.Unix()) - 3600
	r.poll(page(100, started, 1))
	before := r.poll(page(190, started, 1))
	r.another(before)
	r.now = r.now.Add(3 * time.Minute)
	x := r.poll(page(1360, started, 1))
	var all float64
	last := before.At
	for _, c := range x.Counts {
		if c.Series.Name != backend.MetricEvictions || !c.At.After(before.At) {
			continue
		}
		if c.N != 90 || c.At.Sub(last) != 15*time.Second {
			t.Errorf("%v counted at %s, after %s", c.N, c.At, last)
		}
		all, last = all+c.N, c.At
	}
	if all != 1170 || last != x.At {
		t.Errorf("%v counted until %s", all, last)
	}
}
