package cloudflare

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// at polls at a time after the beginning.
func (w *world) at(after time.Duration) backend.Reading {
	w.t.Helper()
	w.clock.Add(zero.Add(after).Sub(w.clock.Now()))
	r, err := w.src.Poll(context.Background())
	if err != nil {
		w.t.Fatalf("poll after %v: %v", after, err)
	}
	return r
}

// TestAPollWithoutARequestIsAsOldAsItsAnswer: the account is asked every 10 s however often it is polled, and what is told in
// between is of the request before.
func TestAPollWithoutARequestIsAsOldAsItsAnswer(t *testing.T) {
	w := newWorld(t, nil)
	for _, x := range []struct {
		after, answered time.Duration
		asked           int
	}{{0, 0, 1}, {5, 0, 1}, {10, 10, 2}, {15, 10, 2}, {20, 20, 3}, {25, 20, 3}} {
		r := w.at(x.after * time.Second)
		for _, route := range []string{"/containers/applications?", "/applications/" + scheduled + "/instances-v2?per_page=1000&state=active"} {
			if n := w.requests(route); n != x.asked {
				t.Errorf("after %d s it was asked %d times for %s, want %d", x.after, n, route, x.asked)
			}
		}
		if want := zero.Add(x.answered * time.Second); !r.AnsweredAt.Equal(want) || !r.SoAt().Equal(want) {
			t.Errorf("after %d s the reading is of %v, want %v", x.after, r.AnsweredAt, want)
		}
		if r.Every != 10*time.Second || !strings.Contains(r.EveryWhy.String(), "inventory") {
			t.Errorf("it is asked every %v (%v)", r.Every, r.EveryWhy)
		}
	}
}

// TestAPageThatBreaksLateIsSeenAtTheNextRequest, and makes the reading no younger than the list that is whole.
func TestAPageThatBreaksLateIsSeenAtTheNextRequest(t *testing.T) {
	w := newWorld(t, nil)
	broken := false
	w.setFunc("/containers/applications/"+byObject+"/instances-v2", func(q url.Values) reply {
		switch {
		case q.Get("page_token") == "":
			return rows("two", instance(owned, "running", "2026-11-20T11:10:00Z", "2026-11-20T11:10:05Z", ""))
		case broken:
			return refusal(http.StatusBadGateway, 0, "oh")
		}
		return rows("", instance(ailing, "running", "2026-11-20T11:10:00Z", "2026-11-20T11:10:05Z", ""))
	})
	w.at(0)
	broken = true
	if r := w.at(5 * time.Second); !r.Degraded.IsEmpty() || !r.AnsweredAt.Equal(zero) {
		t.Errorf("nothing was asked: %v, of %v", r.Degraded, r.AnsweredAt)
	}
	if r := w.at(10 * time.Second); !strings.Contains(r.Degraded.String(), "the instances of the application boxes cannot be read") {
		t.Errorf("after 10 s: %v", r.Degraded)
	}
}

// TestAPaceIsAWholeNumberOfPolls: a list that is due between two polls is asked for at the second one.
func TestAPaceIsAWholeNumberOfPolls(t *testing.T) {
	for _, x := range []struct{ every, interval, want time.Duration }{{10, 5, 10}, {10, 7, 14}, {10, 10, 0}, {10, 30, 0}, {10, 0, 0}} {
		var r backend.Reading
		if r.Paced(x.every*time.Second, x.interval*time.Second, backend.Text("why")); r.Every != x.want*time.Second || r.EveryWhy.IsEmpty() != (x.want == 0) {
			t.Errorf("every %d s at polls each %d s: %v, %v", x.every, x.interval, r.Every, r.EveryWhy)
		}
	}
}
