package helix

import (
	"net/http"
	"testing"
	"time"

	"sandglass/backend"
)

const worked = `{"sessionId":"a","status":"running","executions":[
	{"id":"e1","sandbox":"b1","type":"exec","status":"completed","command":["env","API_TOKEN=hunter2hunter2","npm","test"],"exitCode":-1,
	 "queuedAt":1767268700000,"startedAt":1767268710000,"endedAt":1767268720000,"region":"eu"},
	{"id":"e2","status":"queued","exitCode":0},
	{"id":"e3","status":"thinking"},
	{"id":"e2","status":"running"},{"status":"running"},7],
	"jobs":[{"id":12,"status":"failed","command":"node watch.js","error":{"name":"Error","message":"port in use"}}]}`

func checkWork(t *testing.T, r backend.Reading) {
	t.Helper()
	if len(r.Executions) != 3 || len(r.Jobs) != 1 || len(r.Problems) != 1 {
		t.Fatalf("%d executions, %d jobs, problems %v", len(r.Executions), len(r.Jobs), r.Problems)
	}
	for _, k := range []backend.Kind{backend.KindExecution, backend.KindJob} {
		if !r.Whole(k) {
			t.Errorf("the list of %s is not complete: %v", k.Spec().Plural, r.Scopes)
		}
	}
	e := r.Executions[0]
	if owner, _ := backend.Owner(e); owner != (backend.Key{Kind: backend.KindSession, Source: "helix", ID: backend.MustID("a")}) || e.Key.Path().Raw() != "a/e1" {
		t.Errorf("%s belongs to %v", e.Key.Path().Raw(), owner)
	}
	if e.Class != backend.WorkSucceeded || e.Sandbox.Raw() != "b1" || e.ExitCode != backend.Known(-1) || e.Command.String() != "env API_TOKEN=‹masked› npm test" ||
		e.Ended().Latest.Sub(e.Queued().Earliest) != 20*time.Second || len(e.Extra) != 1 {
		t.Errorf("the first execution is %+v", e)
	}
	if q := r.Executions[1]; q.Class != backend.WorkQueued || !q.StartedAt.IsNotApplicable() || q.QueuedAt.IsKnown() || q.QueuedAt.IsNotApplicable() || !q.ExitCode.IsNotApplicable() {
		t.Errorf("what is queued is %+v", q.Work)
	}
	if u := r.Executions[2]; u.Class != backend.WorkUnknown || u.Reported.String() != "thinking" || u.EndedAt.IsNotApplicable() {
		t.Errorf("an unknown word is read as %+v", u.Work)
	}
	if j := r.Jobs[0]; j.Key.ID.Raw() != "12" || j.Class != backend.WorkFailed || j.Error.String() != "Error: port in use" || j.ExitCode.IsNotApplicable() {
		t.Errorf("the job is %+v", j)
	}
}

func TestWorkOfTheAggregateRoute(t *testing.T) {
	rig, p := aggregateRig(t, `{"sessions":[`+worked+`]}`)
	checkWork(t, rig.poll())
	p.set(0, `{"sessions":[{"sessionId":"a","status":"running"}]}`)
	if r := rig.poll(); len(r.Executions)+len(r.Jobs) != 0 || !r.Whole(backend.KindJob) {
		t.Errorf("lists that are left out: %v and %v, scopes %v", r.Executions, r.Jobs, r.Scopes)
	}
}

// TestUndatedWorkIsKnownSinceItsFirstLook: also a later process tells since when what is queued is known.
func TestUndatedWorkIsKnownSinceItsFirstLook(t *testing.T) {
	first, _ := aggregateRig(t, `{"sessions":[`+worked+`]}`)
	r := first.poll()
	began := r.Executions[1].KnownSince
	if began.IsZero() || !r.Executions[0].KnownSince.IsZero() {
		t.Fatalf("known since %v; what is dated %v", began, r.Executions[0].KnownSince)
	}
	later, _ := aggregateRig(t, `{"sessions":[`+worked+`]}`)
	later.clock.Add(time.Minute)
	later.source.Resume(r.Bookmarks)
	if q := later.poll().Executions[1]; !q.Queued().Latest.Equal(began) {
		t.Errorf("queued since %v, want %v", q.Queued().Latest, began)
	}
}

func TestWorkOfTheListRoute(t *testing.T) {
	rig := newRig(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/operator/sessions" {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"error":"no active session"}`))
			return
		}
		_, _ = w.Write([]byte(`{"sessions":[` + worked + `]}`))
	}, func(o *Options, url string) { o.URL, o.ListURL = url+"/healthz/{session}", url+"/operator/sessions" })
	checkWork(t, rig.poll())
}

// TestServerWithoutWork: a server that lists no executions says nothing about them.
func TestServerWithoutWork(t *testing.T) {
	rig, _ := aggregateRig(t, `{"sessions":[`+full("a", "running", 1767268790000)+`]}`)
	if r := rig.poll(); r.Whole(backend.KindExecution) || r.Whole(backend.KindJob) {
		t.Errorf("scopes %v", r.Scopes)
	}
}
