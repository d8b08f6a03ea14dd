package cloudflare

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// TestALaterPageOfApplicationsThatFails: the applications of the first one are read, and those of before stay.
func TestALaterPageOfApplicationsThatFails(t *testing.T) {
	broken := true
	pages := func(q url.Values) reply {
		switch {
		case q.Get("page_token") == "":
			return rows("two", scheduledApp("3", "", 2, 10))
		case broken:
			return refusal(http.StatusBadGateway, 0, "oh")
		}
		return rows("", objectApp)
	}
	w := newWorld(t, nil)
	w.setFunc("/containers/applications", pages)
	r := w.poll()
	if len(r.Pools) != 1 || len(r.Sandboxes) != 4 || r.Whole(backend.KindSandbox) || !strings.Contains(problems(r), "the list of applications: page 2 of it: answered 502") {
		t.Errorf("cold: %d applications, %d sandboxes, scopes %v, %s", len(r.Pools), len(r.Sandboxes), r.Scopes, problems(r))
	}
	broken = false
	if r = w.poll(); len(r.Pools) != 2 || len(r.Sandboxes) != 5 || !r.Whole(backend.KindSandbox) || problems(r) != "" {
		t.Errorf("whole: %d applications, %d sandboxes, %s", len(r.Pools), len(r.Sandboxes), problems(r))
	}
	broken = true
	w.lists(byObject, []string{instance(owned, "stopping", "2026-11-20T11:10:00Z", "2026-11-20T12:00:30Z", "")}, nil, nil)
	if r = w.poll(); len(r.Pools) != 2 || len(r.Ended) > 0 || sandboxOf(t, r, owned).Reported.String() != "stopping" {
		t.Errorf("it fails again: %d applications, %d ended, %v", len(r.Pools), len(r.Ended), sandboxOf(t, r, owned).Reported)
	}
}

// TestAnApplicationThatCannotBeReadIsNotForgotten, nor are its instances.
func TestAnApplicationThatCannotBeReadIsNotForgotten(t *testing.T) {
	w := newWorld(t, nil)
	w.poll()
	w.set("/containers/applications", apps(scheduledApp("3", "", 2, 10), `{"id":7}`))
	if r := w.poll(); len(r.Pools) != 2 || len(r.Ended) > 0 || len(r.Sandboxes) != 5 || !strings.Contains(problems(r), "1 application cannot be read") {
		t.Errorf("%d applications, %d ended, %s", len(r.Pools), len(r.Ended), problems(r))
	}
}

// TestAPageThatIsRepeatedUnderNewTokensEnds: each answer names another next page, and holds the rows of the first.
func TestAPageThatIsRepeatedUnderNewTokensEnds(t *testing.T) {
	w := newWorld(t, nil)
	n := 0
	w.setFunc("/containers/applications/"+scheduled+"/instances-v2", func(q url.Values) reply {
		n++
		return rows(fmt.Sprintf("token-%d", n), instance(runs, "running", "2026-11-20T11:00:00Z", "2026-11-20T11:00:05Z", ""))
	})
	r := w.poll()
	sandboxOf(t, r, runs)
	if n != 6 || r.Whole(backend.KindSandbox) || !strings.Contains(problems(r), "application agents: the platform gave the same page twice") {
		t.Errorf("%d pages of three lists, scopes %v, %s", n, r.Scopes, problems(r))
	}
	w = newWorld(t, nil)
	m := 0
	w.setFunc("/containers/applications", func(url.Values) reply {
		m++
		return rows(fmt.Sprintf("token-%d", m), scheduledApp("3", "", 2, 10), objectApp)
	})
	if r = w.poll(); m != 2 || len(r.Pools) != 2 || r.Whole(backend.KindSandbox) || !strings.Contains(problems(r), "the list of applications: the platform gave the same page twice") {
		t.Errorf("%d pages, %d applications, %s", m, len(r.Pools), problems(r))
	}
}

// namespacePage is a page of namespaces as the platform numbers them, whatever size was asked for.
func namespacePage(size, total, page int, all ...string) reply {
	return ok(fmt.Sprintf(`{"success":true,"result":[%s],"result_info":{"page":%d,"per_page":%d,"count":%d,"total_count":%d}}`, strings.Join(all, ","), page, size, len(all), total))
}

// TestNamespacesOfSmallPages: a page that is smaller than asked for is not the last one, a total that is wrong ends, and what one
// answer leaves out is kept.
func TestNamespacesOfSmallPages(t *testing.T) {
	one, two := `{"id":"`+nsOther+`","class":"Agent","script":"agents-worker"}`, `{"id":"`+byObject+`","class":"Sandbox","script":"bridge-worker"}`
	total, repeat := 2, false
	w := newWorld(t, nil)
	w.setFunc("/workers/durable_objects/namespaces", func(q url.Values) reply {
		if q.Get("page") == "2" && !repeat {
			return namespacePage(1, total, 2, two)
		}
		return namespacePage(1, total, 1, one)
	})
	r := w.poll()
	if sandboxOf(t, r, runs).Script.String() != "agents-worker" || sandboxOf(t, r, owned).Script.String() != "bridge-worker" || w.requests("namespaces") != 2 {
		t.Errorf("scripts %v and %v, %d pages", sandboxOf(t, r, runs).Script, sandboxOf(t, r, owned).Script, w.requests("namespaces"))
	}
	total, repeat = 90, true
	w.clock.Add(6 * time.Minute)
	if r = w.poll(); w.requests("namespaces") != 4 || sandboxOf(t, r, owned).Script.String() != "bridge-worker" {
		t.Errorf("a repeated page: %d pages, script %v", w.requests("namespaces"), sandboxOf(t, r, owned).Script)
	}
}

// TestTooManyRequestsWithoutATimeToWait: the source is throttled, and asks less by itself.
func TestTooManyRequestsWithoutATimeToWait(t *testing.T) {
	w := newWorld(t, nil)
	w.poll()
	w.set("/containers/applications", refusal(http.StatusTooManyRequests, 971, "Please wait"))
	if err := w.fails(); backend.KindOf(err) != backend.ErrThrottled || !strings.Contains(err.Error(), "Please wait (code 971); all programs of the token share") {
		t.Error(err)
	}
	if b := w.src.budget.State(); b.Current >= b.Configured {
		t.Errorf("the budget is %v of %v", b.Current, b.Configured)
	}
	w.set("/containers/applications", apps(scheduledApp("3", "", 2, 10), objectApp))
	w.clock.Add(2 * time.Minute)
	if r := w.poll(); len(r.Sandboxes) != 5 || len(r.Ended) > 0 {
		t.Errorf("%d sandboxes, %d ended", len(r.Sandboxes), len(r.Ended))
	}
}
