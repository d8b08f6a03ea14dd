package helix

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/backend"
)

// pages serves a list or aggregate route page by page, with ETags.
type pages struct {
	mu     sync.Mutex
	bodies []string
	sent   int // bodies
}

func (p *pages) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := 0
	if c := r.URL.Query().Get("cursor"); c != "" {
		_, _ = fmt.Sscanf(c, "page %d", &i)
	}
	if i >= len(p.bodies) {
		w.WriteHeader(400)
		return
	}
	body := p.bodies[i]
	if i+1 < len(p.bodies) {
		body = strings.Replace(body, "{", fmt.Sprintf(`{"next":"page %d",`, i+1), 1)
	}
	etag := fmt.Sprintf(`"%x"`, body)
	w.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	p.sent++
	_, _ = io.WriteString(w, body)
}

func (p *pages) set(i int, body string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bodies[i] = body
}

func (p *pages) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sent
}

const box = `{"name":"box","state":"open","provider":"docker","lastAttemptAt":1767268790000,"lastSuccessAt":%d}`

func full(id, status string, success int) string {
	return fmt.Sprintf(`{"sessionId":%q,"status":%q,"tenant":"acme","branchedFrom":"parent","workspaceRefs":[{"name":"box","providerId":"docker","ref":"r1","schemaVersion":3}],"workspaces":[`+box+`]}`, id, status, success)
}

func aggregateRig(t *testing.T, bodies ...string) (*rig, *pages) {
	t.Helper()
	p := &pages{bodies: bodies}
	return newRig(t, p.serve, func(o *Options, url string) {
		o.URL, o.AggregateURL, o.RequestsPerSec = "", url+"/operator/workspaces?shard=1", 1000
	}), p
}

func TestAggregateRoute(t *testing.T) {
	rig, p := aggregateRig(t, `{"sessions":[`+full("a", "running", 1767268790000)+`]}`,
		`{"sessions":[`+full("b", "running", 1767268790000)+`,{"sessionId":"c","status":"completed"}]}`)
	first := rig.poll()
	if len(first.Sessions) != 3 || len(first.Workspaces) != 2 || len(first.Scopes) != 2 || !first.Scopes[0].Complete || !first.Scopes[1].Complete {
		t.Fatalf("got %d sessions, %d workspaces, scopes %+v, problems %s", len(first.Sessions), len(first.Workspaces), first.Scopes, problemsText(first))
	}
	if s := sessionOf(first, "a"); s.Tenant.String() != "acme" || s.BranchedFrom.Raw() != "parent" || !s.Running.Or(false) ||
		len(s.WorkspaceRefs) != 1 || s.WorkspaceRefs[0].String() != "box docker r1 schemaVersion=3" {
		t.Errorf("session %+v", s)
	}
	if s := sessionOf(first, "c"); s.Running.Or(true) {
		t.Errorf("a completed session runs: %+v", s)
	}
	if w := workspace(first, "a/box"); w.Provider.String() != "docker" || !w.LastSuccessAt.IsKnown() {
		t.Errorf("workspace %+v", w)
	}
	if again := rig.poll(); len(again.Workspaces) != 2 || !again.Scopes[1].Complete {
		t.Errorf("what ends when two lists leave it out needs two lists, of unchanged pages too: %+v", again.Scopes)
	}
	same := rig.poll()
	if p.count() != 2 || len(same.Confirmed) != 2 || len(same.Workspaces) != 0 || same.Registry != backend.RegistryAnswers || same.Load.Requests != 2 {
		t.Errorf("unchanged pages: sent %d, confirmed %v, load %+v", p.count(), same.Confirmed, same.Load)
	}
	p.set(1, `{"sessions":[`+full("b", "running", 1767268795000)+`]}`)
	changed := rig.poll()
	if len(changed.Workspaces) != 2 || workspace(changed, "a/box") != workspace(first, "a/box") || workspace(changed, "b/box") == workspace(first, "b/box") {
		t.Error("what did not change must stay the same entity, and what changed must not")
	}
	if len(changed.Sessions) != 2 || !changed.Scopes[0].Complete {
		t.Errorf("c is still listed: %+v", changed.Sessions)
	}
	if n, text := rig.source.EstimateLoad(); n != 24 || !strings.Contains(text.String(), ": 2 pages of the aggregate route every ") {
		t.Errorf("estimate %v %v", n, text)
	}
}

func TestAggregateKeepsOtherSessionsWhenOneIsInvalid(t *testing.T) {
	rig, p := aggregateRig(t, `{"sessions":[`+full("a", "running", 1767268790000)+`,`+full("b", "running", 1767268790000)+`]}`)
	rig.poll()
	p.set(0, `{"sessions":[`+full("a", "running", 1767268799000)+`,{"sessionId":"b","workspaces":[{"name":"box","state":7}]}]}`)
	r := rig.poll()
	if workspace(r, "a/box") == nil || workspace(r, "b/box") != nil || !strings.Contains(staleWhy(r, "b"), "/sessions/1/workspaces/0/state (byte") {
		t.Errorf("workspaces %d, stale %v", len(r.Workspaces), r.Stale)
	}
	p.set(0, `{"sessions":[{"status":"running"}]}`)
	if r = rig.poll(); !strings.Contains(problemsText(r), "has no session id") || r.Scopes[0].Complete {
		t.Errorf("a session without id: %s, scopes %+v", problemsText(r), r.Scopes)
	}
}

func TestAggregateFailures(t *testing.T) {
	good := `{"sessions":[` + full("a", "running", 1767268790000) + `]}`
	t.Run("second page", func(t *testing.T) {
		rig, p := aggregateRig(t, good, `{"sessions":[`+full("b", "running", 1767268790000)+`]}`)
		rig.poll()
		p.set(1, `{"sessions":[{"sessionId":"b"`)
		r := rig.poll()
		if r.Scopes[0].Complete || staleWhy(r, "b") == "" || r.Degraded.IsEmpty() || workspace(r, "a/box") == nil {
			t.Errorf("scopes %+v, stale %v, degraded %v", r.Scopes, r.Stale, r.Degraded)
		}
	})
	for name, body := range map[string]string{
		"other shape": `{"ok":true}`, "wrong case": `{"Sessions":[]}`, "not JSON": `<html>`, "number": `{"sessions":7}`,
	} {
		t.Run(name, func(t *testing.T) {
			rig, _ := aggregateRig(t, body)
			if r, err := rig.pollErr(); backend.KindOf(err) != backend.ErrInvalid || err == nil {
				t.Errorf("got %+v, %v", r, err)
			}
		})
	}
	t.Run("circle", func(t *testing.T) {
		rig := newRig(t, say(200, `{"sessions":[],"next":"x"}`), func(o *Options, url string) { o.AggregateURL, o.RequestsPerSec = url, 1000 })
		r := rig.poll()
		if r.Load.Requests != 2 || r.Scopes[0].Complete || !strings.Contains(problemsText(r), "circle") && !strings.Contains(problemsText(r), "page before it") {
			t.Errorf("load %+v, problems %s", r.Load, problemsText(r))
		}
	})
	t.Run("nothing published", func(t *testing.T) {
		rig, _ := aggregateRig(t, `{"sessions":[{"sessionId":"a","status":"running"},{"sessionId":"b","status":"running"}]}`)
		if r := rig.poll(); r.Registry != backend.RegistryAllIdle || !r.WorkspacesUnknown || r.Degraded.IsEmpty() {
			t.Errorf("got %s %v %v", r.Registry, r.WorkspacesUnknown, r.Degraded)
		}
	})
}

func TestAggregateEndsWhatFinished(t *testing.T) {
	rig, p := aggregateRig(t, `{"sessions":[`+full("a", "running", 1767268790000)+`,`+full("b", "running", 1767268790000)+`]}`)
	rig.poll()
	p.set(0, `{"sessions":[{"sessionId":"a","status":"completed"},`+full("b", "running", 1767268790000)+`]}`)
	if r := rig.poll(); len(r.Ended) != 1 || r.Ended[0].Path().Raw() != "a/box" {
		t.Errorf("ended %v", r.Ended)
	}
	if r := rig.poll(); len(r.Ended) != 0 {
		t.Errorf("ended twice: %v", r.Ended)
	}
}

func TestOtherShapesByPointers(t *testing.T) {
	body := `{"data":{"items":[{"meta":{"id":"a","phase":"live"},"registry":{"all":{"box":{"state":"open"}}}}],"cursor":{"after":2}}}`
	rig := newRig(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("cursor") == "2" {
			_, _ = io.WriteString(w, `{"data":{"items":[]}}`)
			return
		}
		_, _ = io.WriteString(w, body)
	}, func(o *Options, url string) {
		o.AggregateURL, o.RequestsPerSec, o.RunningStatuses = url, 1000, []string{"live"}
		o.Pointers = Pointers{Sessions: "/data/items", SessionID: "/meta/id", Status: "/meta/phase", Workspaces: "/registry/all", Next: "/data/cursor/after"}
	})
	r := rig.poll()
	if workspace(r, "a/box") == nil || !sessionOf(r, "a").ListedRunning.Or(false) || r.Load.Requests != 2 {
		t.Errorf("got %+v, problems %s", r.Workspaces, problemsText(r))
	}
}

func listRig(t *testing.T, p *pages, m routes, set func(*Options)) *rig {
	t.Helper()
	return newRig(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/operator/sessions" {
			p.serve(w, r)
			return
		}
		m.serve(w, r)
	}, func(o *Options, url string) {
		o.ListURL, o.RequestsPerSec = url+"/operator/sessions", 1000
		set(o)
	})
}

func TestListRoute(t *testing.T) {
	p := &pages{bodies: []string{`{"sessions":[{"sessionId":"a","status":"running","tenant":"acme"}]}`, `{"sessions":["b"]}`}}
	rig := listRig(t, p, routes{"a": say(200, open), "b": say(200, open)}, func(*Options) {})
	r := rig.poll()
	if len(r.Workspaces) != 2 || sessionOf(r, "a").Tenant.String() != "acme" || !sessionOf(r, "a").ListedRunning.Or(false) || sessionOf(r, "b").ListedRunning.IsKnown() {
		t.Errorf("sessions %+v", r.Sessions)
	}
	if !r.Scopes[0].Complete || len(r.Inputs) != 2 {
		t.Errorf("scopes %+v, inputs %v", r.Scopes, r.Inputs)
	}
	rig.poll()
	if p.count() != 2 {
		t.Errorf("unchanged pages were sent again: %d", p.count())
	}
	p.set(1, `{"sessions":[]}`)
	if r = rig.poll(); sessionOf(r, "b") != nil || !r.Scopes[0].Complete {
		t.Errorf("b is gone from the list: %+v", r.Sessions)
	}
	p.set(0, `{"sessions":[{"sessionId":7}`)
	r = rig.poll()
	if r.Scopes[0].Complete || !strings.Contains(problemsText(r), "cut off") || workspace(r, "a/box") == nil {
		t.Errorf("a broken list must not stop the health routes: %+v, %s", r.Scopes, problemsText(r))
	}
}

func TestDurableObjectsAreAskedOnlyWhileTheyRun(t *testing.T) {
	p := &pages{bodies: []string{`{"sessions":[{"sessionId":"a","status":"running"},{"sessionId":"b","status":"hibernated"},"c"]}`}}
	rig := listRig(t, p, routes{"a": say(200, open), "b": say(200, open), "c": say(200, open)},
		func(o *Options) { o.Runtime = "durable-object" })
	if r := rig.poll(); len(r.Workspaces) != 1 || r.Partial {
		t.Errorf("got %d workspaces", len(r.Workspaces))
	}
	p.set(0, `{"sessions":[{"sessionId":"a","status":"completed"}]}`)
	r := rig.poll()
	if len(r.Ended) != 1 || rig.asked("/healthz/b")+rig.asked("/healthz/c") != 0 || rig.asked("/healthz/a") != 1 {
		t.Errorf("ended %v, a was asked %d times", r.Ended, rig.asked("/healthz/a"))
	}
	p.set(0, `{"sessions":[{"sessionId":"a","status":"running"}]}`)
	if r = rig.poll(); workspace(r, "a/box") == nil {
		t.Errorf("a runs again: %+v", r.Workspaces)
	}
}

// TestASessionThatEndedIsOverThoughItsRegistryIsListed: its status and the time of its end say so. Neither alone does, nor an end that is to
// come, that is of a run before, or that is older than the newest use of a workspace.
func TestASessionThatEndedIsOverThoughItsRegistryIsListed(t *testing.T) {
	const used = 1767268790000
	ended := func(status string, ended, started int) string {
		return strings.TrimSuffix(full("a", status, used), "}") + fmt.Sprintf(`,"endedAt":%d,"startedAt":%d}`, ended, started)
	}
	for name, x := range map[string]struct {
		session string
		runs    bool
	}{
		"completed":          {ended("completed", used+1000, used-5000), false},
		"closed":             {ended("closed", used+1000, used-5000), false},
		"no end":             {full("a", "completed", used), true},
		"no word of an end":  {ended("paused", used+1000, used-5000), true},
		"called running":     {ended("running", used+1000, used-5000), true},
		"an end to come":     {ended("completed", int(noon.Add(time.Hour).UnixMilli()), used-5000), true},
		"of a run before":    {ended("completed", used+1000, used+2000), true},
		"used since its end": {ended("completed", used-1000, used-5000), true},
	} {
		rig, _ := aggregateRig(t, `{"sessions":[`+x.session+`]}`, `{"sessions":[]}`)
		r := rig.poll()
		if s := sessionOf(r, "a"); s.Running.Or(!x.runs) != x.runs || len(r.Workspaces) != 1 {
			t.Errorf("%s: running %v, %d workspaces", name, s.Running, len(r.Workspaces))
		}
	}
}

func TestSessionsFromFileAndCommand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sessions")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a\r\n\n  b  \n")
	m := routes{"a": say(200, open), "b": say(200, open), "x/y": say(200, open)}
	rig := newRig(t, m.serve, func(o *Options, _ string) {
		o.SessionsFile, o.SessionsCommand, o.RequestsPerSec = file, []string{"echo", `["x/y"]`}, 1000
	})
	if r := rig.poll(); workspace(r, "a/box") == nil || workspace(r, "b/box") == nil || workspace(r, "x/y/box") == nil {
		t.Errorf("got %+v, problems %s", r.Workspaces, problemsText(r))
	}
	if rig.asked("/healthz/x%2Fy") != 1 {
		t.Errorf("asked %d times", rig.asked("/healthz/x%2Fy"))
	}
	write(`["a", 5]`)
	if r := rig.poll(); !strings.Contains(problemsText(r), "/1 (byte 6) want a session id") || r.Scopes[0].Complete {
		t.Errorf("problems %s", problemsText(r))
	}
}

// TestBudget polls 1,000 sessions at 10 a second: no interval sees more than what the budget gives, and those that
// somebody looks at come first.
func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		accept, done := make(chan net.Conn), make(chan struct{})
		asked := map[string]int{}
		var mu sync.Mutex
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			asked[strings.TrimPrefix(r.URL.Path, "/")]++
			mu.Unlock()
			_, _ = fmt.Fprintf(w, `{"workspace":{"state":"x","lastAttemptAt":%d}}`, time.Now().UnixMilli())
		})}
		go func() { _ = server.Serve(pipeListener{accept, done}) }()
		deps := backend.Deps{ID: "helix", Interval: 5 * time.Second, Deadline: time.Second, Now: time.Now,
			Dial: func(context.Context, string, string) (net.Conn, error) {
				near, far := net.Pipe()
				accept <- far
				return near, nil
			}}
		src := build(t, deps, func(o *Options) {
			o.URL = "http://x/{session}"
			for i := range 1000 {
				o.Sessions = append(o.Sessions, fmt.Sprintf("s%04d", i))
			}
		})
		src.Attend(backend.Attention{Alerting: []backend.Key{{Kind: backend.KindWorkspace, Source: "helix", Parent: backend.MustID("s0999"), ID: backend.MustID("box")}}})
		for i := range 4 {
			start := time.Now()
			r, err := src.Poll(t.Context())
			if err != nil || !r.Partial {
				t.Fatal(r.Partial, err)
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("a poll took %v", took)
			}
			if n := r.Load.Requests; n > 56 || n < 40 {
				t.Errorf("poll %d sent %d requests", i, n)
			}
			time.Sleep(5*time.Second - time.Since(start))
		}
		if asked["s0999"] != 4 {
			t.Errorf("the alerting session was asked %d times in 4 polls", asked["s0999"])
		}
		_ = src.Close()
		_ = server.Close()
		synctest.Wait()
	})
}

type pipeListener struct {
	accept chan net.Conn
	done   chan struct{}
}

func (l pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.accept:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l pipeListener) Close() error {
	close(l.done)
	return nil
}

func (l pipeListener) Addr() net.Addr { return &net.UnixAddr{} }
