package examine

import (
	"net/http"
	"testing"
	"time"

	"sandglass/backend"
)

// A request without the credential that is refused beside one with it that is answered is no fault: it shows that the route is closed.
// A GraphQL answer with errors is one, though its status is 200.
func TestWhatIsRefusedWithoutTheCredentialIsReadWithIt(t *testing.T) {
	now := time.Now()
	ask := func(method, path string, sent, status int, body string) *exchange {
		return &exchange{method: method, path: path, sent: sent, status: status, header: http.Header{"Content-Type": {"application/json"}}, began: now, ended: now, body: []byte(body)}
	}
	rec := NewRecorder(time.Now)
	rec.all = []*exchange{ask("GET", "/v1/pool", 4, 200, `{}`), ask("GET", "/v1/pool", 3, 401, `{}`), ask("GET", "/v1/closed", 4, 403, `{}`), ask("GET", "/v1/closed", 3, 401, `{}`),
		ask("POST", "/graphql", 4, 200, `{"errors":[{"message":"not authorized for that account"}]}`), ask("POST", "/fine/graphql", 4, 200, `{"data":{}}`)}
	x := &examination{Report: &Report{}, deps: backend.Deps{Cleaner: backend.NewCleaner(), Now: time.Now}, extra: map[string]bool{}}
	x.routes(rec, []backend.Route{{Verb: "GET", Target: "http://h/v1/pool"}, {Verb: "GET", Target: "http://h/v1/closed"}, {Verb: "POST", Target: "http://h/graphql"}})
	if len(x.Routes) != 3 {
		t.Fatalf("routes %+v", x.Routes)
	}
	if r := x.Routes[0]; r.May != MayRead || r.Asked != 1 || !r.Problem.IsEmpty() || len(x.Notes) != 1 {
		t.Errorf("a closed route that is read: %+v, notes %v", r, x.Notes)
	}
	if r := x.Routes[1]; r.May != MayNotRead || r.Asked != 2 {
		t.Errorf("a route that the credential may not read: %+v", r)
	}
	if r := x.Routes[2]; r.Asked != 2 || r.May != MayNotRead || r.Problem.String() != "answers 200 with errors: not authorized for that account" {
		t.Errorf("GraphQL: %+v", r)
	}
}
