package agentuity

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// TestNoAnswerIsAdvice: a header that cannot be a region is never repeated as a value for the configuration.
func TestNoAnswerIsAdvice(t *testing.T) {
	w := newWorld(t, nil)
	for _, named := range []string{"evil.example.com/x?", "USW", "..", "a b", strings.Repeat("u", 40), "us\x1bc"} {
		if step := w.src.RegionStep(named); !strings.Contains(step, "is no region") || strings.Contains(step, "add ") || strings.Contains(step, "\x1b") {
			t.Errorf("%q: %s", named, step)
		}
	}
	if step := w.src.RegionStep("use"); step != `it belongs to region use: add "use" to regions` {
		t.Error(step)
	}
}

// TestAnEmptyOrganisationIsSaid: a wrong organisation is answered with an empty list, which is no error; each reading says which
// organisation is empty and what to check. One that has a sandbox has no such note.
func TestAnEmptyOrganisationIsSaid(t *testing.T) {
	for org, want := range map[string]string{
		orgID: "the organisation " + orgID + " has no sandbox at all in the regions usc; if that is wrong, check org, regions and the key (environment variable KEY)",
		"":    "the organisation of the key (environment variable KEY) has no sandbox at all in the regions usc; if that is wrong, check regions and the key, or name the organisation: org",
	} {
		w := newWorld(t, func(o *Options) { o.Org = org })
		w.set("GET /sandbox", ok(`{"success":true,"data":{"sandboxes":[],"total":0}}`))
		for range 3 {
			r := w.poll()
			if notes := backend.Join(r.Notes, "\n").String(); !strings.Contains(notes, want) || !r.Degraded.IsEmpty() || len(r.Problems) > 0 {
				t.Errorf("%q: %s, degraded %q, problems %v", org, notes, r.Degraded, r.Problems)
			}
			w.clock.Add(5 * time.Second)
		}
	}
	if notes := backend.Join(newWorld(t, nil).poll().Notes, "\n").String(); strings.Contains(notes, "no sandbox at all") {
		t.Errorf("with sandboxes: %s", notes)
	}
}

// TestAListThatIsNotWholeIsNoHealth: rows that nothing is known of, and rows that do not come, may be in trouble. The source says so until
// a whole list was read.
func TestAListThatIsNotWholeIsNoHealth(t *testing.T) {
	const row = `{"sandboxId":"sbx_1","status":"suspended","createdAt":"2026-04-04T00:00:00Z"}`
	for body, want := range map[string]string{
		`[],"total":1000000000000`:     "the list of region usc is not whole: the page from row 1 on is empty, but the list counts 1000000000000 sandboxes; it is read again",
		`[` + row + `],"total":9`:      "the list of region usc is not whole: the page from row 1 on brings no new sandbox, but the list counts 9; it is read again",
		`[` + row + `,7,{}],"total":3`: "the list of region usc is not whole: 2 rows of the list have no sandboxId; they are left out",
	} {
		w := newWorld(t, func(o *Options) { o.Hub = false })
		w.setFunc("GET /sandbox", func(q url.Values) reply {
			if q.Get("status") != "" || q.Get("live") != "" {
				return ok(`{"success":true,"data":{"sandboxes":[],"total":0}}`)
			}
			return ok(`{"success":true,"data":{"sandboxes":` + body + `}}`)
		})
		w.set("GET /sandbox/sandboxes/sbx_1/events", ok(`{"success":true,"data":{"events":[]}}`))
		for range 2 {
			if r := w.poll(); !r.Unseen || !strings.HasPrefix(r.Degraded.String(), want) || strings.Contains(backend.Join(r.Notes, " ").String(), "no sandbox at all") {
				t.Errorf("%s: unseen %v, %q", body, r.Unseen, r.Degraded)
			}
			w.clock.Add(5 * time.Second)
		}
		w.set("GET /sandbox", ok(`{"success":true,"data":{"sandboxes":[`+row+`],"total":1}}`))
		w.clock.Add(time.Minute)
		if r := w.poll(); r.Unseen || !r.Degraded.IsEmpty() {
			t.Errorf("%s: after a whole list: unseen %v, %q", body, r.Unseen, r.Degraded)
		}
	}
}

// TestEventsThatWereNeverReadAreNoHealth: one reading without them is enough to say so, as with executions and jobs.
func TestEventsThatWereNeverReadAreNoHealth(t *testing.T) {
	for _, part := range []string{"executions", "jobs", "events"} {
		w := newWorld(t, func(o *Options) { o.Hub = false })
		w.set("GET /sandbox/sandboxes/"+healthyID+"/"+part, reply{status: 200, body: `{"success":true,"data":{}}`, header: map[string]string{"x-session-id": "sess_7"}})
		if r := w.poll(); !r.Unseen || !strings.Contains(r.Degraded.String(), "the answer holds no list data."+part+" (trace sess_7); it is asked again. If it stays so") {
			t.Errorf("%s: unseen %v, %q", part, r.Unseen, r.Degraded)
		}
	}
}

// TestAClosedConnectionIsSaid in words, not as the end of a file.
func TestAClosedConnectionIsSaid(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer srv.Close()
	w := newWorld(t, func(o *Options) { o.URL = srv.URL })
	if err := w.fails(); backend.KindOf(err) != backend.ErrUnreachable || !strings.Contains(err.Error(), "/sandbox?…: the connection was closed before an answer came") {
		t.Error(err)
	}
}

// TestTheHubsStepIsItsOwn: what the Hub's address answers, and a region that cannot say where the Hub is, lead to the Hub's keys.
func TestTheHubsStepIsItsOwn(t *testing.T) {
	for name, x := range map[string]struct {
		route  string
		answer reply
		texts  []string
	}{
		"not found":     {"GET /api/hub/sessions", reply{status: 404, body: `{"message":"no"}`}, []string{"answered 404 Not Found: no", "a Coder Hub? If not, set hub_url, or hub = false"}},
		"a web page":    {"GET /api/hub/sessions", ok("<html>"), []string{"a web page instead of JSON", "a Coder Hub? If not, set hub_url"}},
		"another shape": {"GET /api/hub/sessions", ok("[]"), []string{"holds no object sessions", "a Coder Hub? If not, set hub_url"}},
		"no address":    {"GET /coder", ok("<html>"), []string{"a web page instead of JSON; set hub_url, or hub = false"}},
		"no Hub named":  {"GET /coder", ok(`{"success":true,"data":{}}`), []string{"names no Hub (url); set hub_url, or hub = false"}},
	} {
		w := newWorld(t, func(o *Options) {
			if strings.HasSuffix(x.route, "/coder") {
				o.HubURL = ""
			}
		})
		w.set(x.route, x.answer)
		r := w.poll()
		for _, text := range x.texts {
			if !strings.Contains(r.Degraded.String(), text) {
				t.Errorf("%s: %q is not in %q", name, text, r.Degraded)
			}
		}
		if len(r.Sandboxes) == 0 {
			t.Errorf("%s: the sandboxes are not read", name)
		}
	}
}

// TestASandboxThatCannotBeReadHasANextStep: what fails of one sandbox does not send the reader to the keys of the region.
func TestASandboxThatCannotBeReadHasANextStep(t *testing.T) {
	for name, x := range map[string]struct {
		answer reply
		want   string
	}{
		"server error": {reply{status: 500, body: `{}`, header: map[string]string{"x-session-id": "sess_5"}}, "(trace sess_5); it is asked again. If it stays so, see the vendor's status page and give its support the trace"},
		"a web page":   {reply{status: 200, body: "<html>", header: map[string]string{"x-session-id": "sess_6"}}, "(trace sess_6); it is asked again. If it stays so"},
		"not found":    {reply{status: 404, body: `{"message":"sandbox not found","code":"SANDBOX_NOT_FOUND"}`}, "its list names it: the next one tells whether it is gone"},
	} {
		w := newWorld(t, nil)
		for _, what := range []string{"executions", "jobs", "events"} {
			w.set("GET /sandbox/sandboxes/"+healthyID+"/"+what, x.answer)
		}
		r := w.poll()
		if !strings.Contains(problems(r), x.want) || strings.Contains(problems(r), "Check regions") {
			t.Errorf("%s: %q is not in %s", name, x.want, problems(r))
		}
	}
}
