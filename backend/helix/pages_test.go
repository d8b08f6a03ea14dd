package helix

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// One session whose text is no valid JSON costs that session; the others are read.
func TestBadTextOfOneSessionCostsThatSession(t *testing.T) {
	bad := strings.Replace(full("b", "running", 1767268790000), `"open"`, `"open","lastError":"cut \ud83d"`, 1)
	body := `{"sessions":[` + full("a", "running", 1767268790000) + `,` + bad + `,{"sessionId":"\ud800"},` + full("c", "running", 1767268790000) + `]}`
	rig, p := aggregateRig(t, `{"sessions":[`+full("a", "running", 1767268790000)+`,`+full("b", "running", 1767268790000)+`]}`)
	rig.poll()
	p.set(0, body)
	r := rig.poll()
	if workspace(r, "a/box") == nil || workspace(r, "c/box") == nil || workspace(r, "b/box") != nil || !strings.Contains(staleWhy(r, "b"), "surrogate") {
		t.Errorf("workspaces %v, stale %v", r.Workspaces, r.Stale)
	}
	if len(r.Unread) != 1 || r.Unread[0].Sessions != 2 || r.Asked != 4 || r.Scopes[0].Complete {
		t.Errorf("unread %+v of %d, scopes %+v", r.Unread, r.Asked, r.Scopes)
	}
	if again := rig.poll(); workspace(again, "c/box") == nil || staleWhy(again, "b") == "" {
		t.Errorf("the next poll: %v, %v", again.Workspaces, again.Stale)
	}
	p.set(0, strings.ReplaceAll(strings.ReplaceAll(body, ` \ud83d`, ""), `,{"sessionId":"\ud800"}`, ""))
	if r = rig.poll(); workspace(r, "b/box") == nil || len(r.Unread)+len(r.Stale) != 0 {
		t.Errorf("once it is well again: %v, %v", r.Unread, r.Stale)
	}
}

func TestBadTextOfOneSessionOnAListCostsNoOther(t *testing.T) {
	list := &pages{bodies: []string{`{"sessions":[{"sessionId":"a","status":"running"},{"sessionId":"b","status":"running","tenant":"\udc00"}]}`}}
	rig := newRig(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/healthz/") {
			say(200, open)(w, r)
			return
		}
		list.serve(w, r)
	}, func(o *Options, url string) { o.ListURL, o.RequestsPerSec = url+"/operator/sessions", 1000 })
	r := rig.poll()
	if workspace(r, "a/box") == nil || workspace(r, "b/box") == nil || !strings.Contains(problemsText(r), "surrogate") {
		t.Errorf("workspaces %v, problems %s", r.Workspaces, problemsText(r))
	}
}

// Pages that never end are an error, whatever keeps them going.
func TestPagesThatNeverEndAreAnError(t *testing.T) {
	for name, c := range map[string]struct {
		next func(n int) string
		body func(n int) string
		most int // requests
		why  string
	}{
		"a cursor that comes back": {func(int) string { return "again" }, func(int) string { return `{"sessionId":"a"}` }, 3, "circle"},
		"a cursor that is ignored": {func(n int) string { return fmt.Sprint("c", n) }, func(int) string { return `{"sessionId":"a"}` }, 25, "the pages do not end"},
		"empty pages":              {func(n int) string { return fmt.Sprint("c", n) }, func(int) string { return "" }, 25, "the pages do not end"},
	} {
		for _, mode := range []string{"list", "aggregate"} {
			t.Run(name+" "+mode, func(t *testing.T) {
				n := 0
				rig := newRig(t, func(w http.ResponseWriter, r *http.Request) {
					if strings.HasPrefix(r.URL.Path, "/healthz/") {
						say(200, open)(w, r)
						return
					}
					n++
					say(200, fmt.Sprintf(`{"sessions":[%s],"next":%q}`, c.body(n), c.next(n)))(w, r)
				}, func(o *Options, url string) {
					if o.RequestsPerSec = 1000; mode == "list" {
						o.ListURL = url + "/operator/sessions"
					} else {
						o.AggregateURL, o.URL = url+"/operator/workspaces", ""
					}
				})
				r, err := rig.pollErr()
				told := problemsText(r) + r.Degraded.String()
				if err != nil {
					told += err.Error()
				}
				if !strings.Contains(told, c.why) || n > c.most {
					t.Errorf("%d requests, %s", n, told)
				}
				if err == nil && r.Degraded.IsEmpty() {
					t.Error("it counts as healthy")
				}
			})
		}
	}
}

// Pages that name new sessions for ever are never read to their end, and that is said.
func TestAListThatIsNotReadToItsEndIsNotHealth(t *testing.T) {
	n := 0
	rig := newRig(t, func(w http.ResponseWriter, r *http.Request) {
		n++
		say(200, fmt.Sprintf(`{"sessions":[{"sessionId":"s%d","status":"completed"}],"next":"c%d"}`, n, n))(w, r)
	}, func(o *Options, url string) {
		o.AggregateURL, o.URL, o.RequestsPerSec = url+"/operator/workspaces", "", 1
	})
	r := rig.poll()
	if !r.Partial {
		t.Fatalf("the first poll: %+v", r)
	}
	rig.clock.Add(time.Minute)
	if r = rig.poll(); !r.Partial || !strings.Contains(r.Degraded.String(), "was not read to its end") {
		t.Errorf("partial %v, degraded %q", r.Partial, r.Degraded)
	}
	if slicesOf := r.Scopes; len(slicesOf) == 0 || slicesOf[0].Complete {
		t.Errorf("scopes %+v", slicesOf)
	}
}
