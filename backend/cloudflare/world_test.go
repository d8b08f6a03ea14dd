package cloudflare

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
)

const (
	account   = "fedcba9876543210fedcba9876543210"
	scheduled = "7f3c9a52-1111-4b1e-9c53-0a1b2c3d4e5f" // an application that the platform schedules
	byObject  = "aaaabbbbccccddddeeeeffff00001111"     // one that a Durable Object manages: its id is that of the namespace
	nsOther   = "99990000999900009999000099990000"     // the namespace of the scheduled one
	apiToken  = "token-of-the-tests-1234"
	bridgeKey = "key-of-the-bridge-1234"
	runs      = "1111111111111111111111111111111111111111111111111111111111111111"
	starts    = "2222222222222222222222222222222222222222222222222222222222222222"
	died      = "3333333333333333333333333333333333333333333333333333333333333333"
	ailing    = "4444444444444444444444444444444444444444444444444444444444444444"
	owned     = "5555555555555555555555555555555555555555555555555555555555555555"
)

var zero = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

type reply struct {
	status int
	body   string
	header map[string]string
}

func ok(body string) reply { return reply{status: http.StatusOK, body: body} }

func refusal(status, code int, message string) reply {
	return reply{status: status, body: fmt.Sprintf(`{"success":false,"errors":[{"code":%d,"message":%q}],"messages":[],"result":null}`, code, message)}
}

// rows is an envelope with a list, and the token of the next page.
func rows(next string, all ...string) reply {
	info := `{}`
	if next != "" {
		info = fmt.Sprintf(`{"next_page_token":%q}`, next)
	}
	return ok(`{"success":true,"errors":[],"messages":[],"result":[` + strings.Join(all, ",") + `],"result_info":` + info + `}`)
}

// instance is a row of a list of instances; more are further members, each with a comma before it.
func instance(id, state, started, updated, more string) string {
	return fmt.Sprintf(`{"id":%q,"application_id":"x","image":"registry/agent:1","location":{"name":"fra02","region":"EEUR"},"configuration":{"vcpu":0.5,"memory":4096,"disk":8000},"started_at":%q,"status":{"state":%q,"updated_at":%q%s}}`,
		id, started, state, updated, more)
}

// world is a server that answers by path, and a source that polls it.
type world struct {
	t      testing.TB
	clock  *backendtest.Clock
	url    string
	mu     sync.Mutex
	routes map[string]func(url.Values) reply
	asked  []string
	heads  []http.Header
	posted string        // the newest body
	ahead  time.Duration // of the server's clock
	src    *Source
}

func apps(more ...string) reply { return rows("", more...) }

func scheduledApp(version, rollout string, active, most int) string {
	return fmt.Sprintf(`{"id":%q,"name":"agents","scheduling_policy":"default","instances":1,"max_instances":%d,"version":%s,"active_rollout_id":%q,
		"configuration":{"image":"registry/agent:1"},"durable_objects":{"namespace_id":"99990000-9999-0000-9999-000099990000"},"health":{"summary":"healthy","instances":{"active":%d,"assigned":0,"starting":1}}}`,
		scheduled, most, version, rollout, active)
}

const objectApp = `{"id":"` + byObject + `","name":"boxes","scheduling_policy":"durable_object","configuration":{"image":"registry/box:2"},"health":{"summary":"degraded","instances":{"active":1,"starting":0}}}`

// newWorld has an application of each policy and an instance in each of a few states.
func newWorld(t testing.TB, change func(*Options)) *world {
	t.Helper()
	w := &world{t: t, clock: backendtest.NewClock(zero), routes: map[string]func(url.Values) reply{}}
	w.set("/containers/applications", apps(scheduledApp("3", "", 2, 10), objectApp))
	w.set("/workers/durable_objects/namespaces", rows("", `{"id":"`+nsOther+`","class":"Agent","name":"agents_Agent","script":"agents-worker"}`, `{"id":"`+byObject+`","class":"Sandbox","script":"bridge-worker"}`))
	live := []string{instance(runs, "running", "2026-11-20T11:00:00Z", "2026-11-20T11:00:05Z", ""), instance(starts, "provisioning", "2026-11-20T11:59:55Z", "2026-11-20T11:59:56Z", "")}
	over := []string{instance(died, "failed", "2026-11-20T10:00:00Z", "2026-11-20T11:30:00Z", `,"exit_code":137`)}
	odd := []string{instance(ailing, "unhealthy", "2026-11-20T09:00:00Z", "2026-11-20T11:50:00Z", "")}
	w.lists(scheduled, live, over, odd)
	w.lists(byObject, []string{strings.Replace(instance(owned, "running", "2026-11-20T11:10:00Z", "2026-11-20T11:10:05Z", ""), `"image"`, `"name":"box-of-acme","image"`, 1)}, nil, nil)
	srv := httptest.NewServer(http.HandlerFunc(w.handle))
	t.Cleanup(srv.Close)
	w.url = srv.URL
	w.src = w.source(change)
	return w
}

// lists serves the instances of an application by the filter that is asked with; odd ones are in no filter.
func (w *world) lists(app string, live, over, odd []string) {
	all := append(append(append([]string{}, live...), over...), odd...)
	w.setFunc("/containers/applications/"+app+"/instances-v2", func(q url.Values) reply {
		switch q.Get("state") {
		case "active":
			return rows("", live...)
		case "not-active":
			return rows("", over...)
		}
		return rows("", all...)
	})
	for _, x := range all {
		at := strings.Index(x, `"id":"`) + 6
		w.set("/containers/applications/"+app+"/instances/"+x[at:at+64], ok(`{"success":true,"result":`+x+`}`))
	}
}

func (w *world) source(change func(*Options)) *Source {
	w.t.Helper()
	o := func(o *Options) {
		o.URL, o.AccountID, o.RequestsPerSec = w.url, account, 100
		o.Analytics = false // what is about it asks for it
		if change != nil {
			change(o)
		}
	}
	src, err := Kind().New(backendtest.Options[Options](o), w.deps(nil))
	if err != nil {
		w.t.Fatal(err)
	}
	s := src.(*Source)
	w.t.Cleanup(func() { _ = s.Close() })
	return s
}

func (w *world) deps(env map[string]string) backend.Deps {
	if env == nil {
		env = map[string]string{envToken: apiToken, envKey: bridgeKey}
	}
	return backend.Deps{ID: "cf", Interval: 5 * time.Second, Deadline: 10 * time.Second, Now: w.clock.Now, Cleaner: backend.NewCleaner(), Spawn: backend.NewSpawner(nil),
		Dial: (&net.Dialer{}).DialContext, Command: backendtest.Command, Getenv: func(k string) string { return env[k] }}
}

// set serves a route of the account, or one of the bridge where the path begins with another word.
func (w *world) set(route string, r reply) { w.setFunc(route, func(url.Values) reply { return r }) }

func (w *world) setFunc(route string, f func(url.Values) reply) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.routes[route] = f
}

func (w *world) handle(out http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.mu.Lock()
	if len(body) > 0 {
		w.posted = string(body)
	}
	w.asked = append(w.asked, r.Method+" "+r.URL.RequestURI())
	w.heads = append(w.heads, r.Header.Clone())
	f := w.routes[strings.TrimPrefix(r.URL.Path, "/accounts/"+account)]
	w.mu.Unlock()
	out.Header().Set("Date", w.clock.Now().Add(w.ahead).UTC().Format(http.TimeFormat))
	if f == nil {
		f = func(url.Values) reply { return refusal(http.StatusNotFound, 7003, "no such thing") }
	}
	a := f(r.URL.Query())
	for k, v := range a.header {
		out.Header().Set(k, v)
	}
	out.WriteHeader(a.status)
	_, _ = out.Write([]byte(a.body))
}

func (w *world) requests(part string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.asked {
		if strings.Contains(r, part) {
			n++
		}
	}
	return n
}

// poll moves the clock by 12 s, which is longer than any list of live instances waits, and polls.
func (w *world) poll() backend.Reading {
	w.t.Helper()
	w.clock.Add(12 * time.Second)
	r, err := w.src.Poll(context.Background())
	if err != nil {
		w.t.Fatalf("poll: %v", err)
	}
	return r
}

func (w *world) fails() error {
	w.t.Helper()
	w.clock.Add(12 * time.Second)
	_, err := w.src.Poll(context.Background())
	if err == nil {
		w.t.Fatal("the poll did not fail")
	}
	return err
}

func sandboxOf(t testing.TB, r backend.Reading, id string) *backend.Sandbox {
	t.Helper()
	for _, b := range r.Sandboxes {
		if b.Key.ID.Raw() == id {
			return b
		}
	}
	t.Fatalf("the reading holds no sandbox %s", id)
	return nil
}

func problems(r backend.Reading) string {
	var all []string
	for _, p := range r.Problems {
		all = append(all, string(p.Kind)+" "+p.Where.String()+": "+p.What.String())
	}
	return strings.Join(all, "\n")
}

// changes are the texts of the changes among its events.
func changes(r backend.Reading) string {
	r.Events = slices.DeleteFunc(slices.Clone(r.Events), func(e backend.Event) bool { return e.Kind != backend.EventChange })
	return texts(r)
}

func texts(r backend.Reading) string {
	var all []string
	for i := range r.Events {
		e := &r.Events[i]
		all = append(all, string(e.Kind)+" "+e.Name+": "+e.Text.String())
	}
	return strings.Join(all, "\n")
}
