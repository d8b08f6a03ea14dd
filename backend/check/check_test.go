package check

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
)

var t0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func make1(t *testing.T, deadline time.Duration, change func(*Options)) backend.Source {
	t.Helper()
	at := t0
	var d net.Dialer
	src, err := Kind([]string{"storage", "quota"}).New(backendtest.Options[Options](func(o *Options) { o.Fact = "r2.reachable"; change(o) }), backend.Deps{ID: "r2", Deadline: deadline,
		Now: func() time.Time { at = at.Add(time.Second); return at }, Cleaner: backend.NewCleaner(), Dial: d.DialContext,
		Command: backendtest.Command})
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// said is what one poll finds out: "true: …", "false: …", or "unknown (kind): …".
func said(t *testing.T, src backend.Source) string {
	t.Helper()
	r, err := src.Poll(t.Context())
	switch {
	case err != nil && len(r.Facts) > 0:
		t.Errorf("a failed poll states %+v", r.Facts)
	case err != nil:
		return fmt.Sprintf("unknown (%s): %v", backend.KindOf(err), err)
	case len(r.Facts) != 1 || r.Facts[0].Name != "r2.reachable" || r.Load.Requests != 1:
		t.Errorf("reading %+v", r)
	}
	return fmt.Sprintf("%v: %s", r.Facts[0].Holds, r.Facts[0].Text)
}

func TestURL(t *testing.T) {
	status, body := 200, "pong"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	defer server.Close()
	plain := func(*Options) {}
	for _, c := range []struct {
		status int
		change func(*Options)
		want   string
	}{
		{200, plain, "true: answered 200"},
		{404, plain, "false: answered 404"},
		{500, plain, "false: answered 500"},
		{503, plain, "false: answered 503"},
		{403, plain, "unknown (unauthorised): "},
		{429, plain, "unknown (throttled): "},
		{403, func(o *Options) { o.Statuses = []int{200, 403} }, "true: answered 403"},
		{404, func(o *Options) { o.Statuses = []int{404} }, "true: answered 404"},
		{200, func(o *Options) { o.Statuses = []int{404} }, "false: answered 200"},
		{200, func(o *Options) { o.Expect = "^pong$" }, "true: answered 200"},
		{200, func(o *Options) { o.Expect = "ready" }, "false: answered 200, but not with what expect asks for"},
		{403, func(o *Options) { o.Statuses, o.Expect = []int{403}, "pong" }, "true: answered 403"},
		{302, plain, "unknown (invalid): "},
	} {
		status = c.status
		src := make1(t, time.Minute, func(o *Options) { o.URL = server.URL + "/x?token=geheim"; c.change(o) })
		if got := said(t, src); !strings.HasPrefix(got, c.want) || strings.Contains(got, "geheim") {
			t.Errorf("%d: got %s, want %s", c.status, got, c.want)
		}
		if target := src.(backend.Explainer).Routes()[0].Target; !strings.HasSuffix(target, "/x?…") {
			t.Errorf("route %s", target)
		}
		_ = src.(backend.Closer).Close()
	}
	body = strings.Repeat("x", 5000)
	status = 200
	if got := said(t, make1(t, time.Minute, func(o *Options) { o.URL, o.MaxBody, o.NoAnswer = server.URL, 1000, "false" })); !strings.HasPrefix(got, "unknown (invalid)") {
		t.Errorf("a body beyond max_body: %s", got)
	}
}

func TestNoAnswer(t *testing.T) {
	refused := "http://" + backendtest.Refusing(t)
	if got := said(t, make1(t, time.Minute, func(o *Options) { o.URL = refused })); !strings.HasPrefix(got, "unknown (unreachable)") {
		t.Errorf("refused: %s", got)
	}
	if got := said(t, make1(t, time.Minute, func(o *Options) { o.URL, o.NoAnswer = refused, "false" })); !strings.HasPrefix(got, "false: no answer: ") || !strings.Contains(got, "refused") {
		t.Errorf("refused, which says no: %s", got)
	}
	hangs := []string{"sleep", "60"}
	if got := said(t, make1(t, 30*time.Millisecond, func(o *Options) { o.Command = hangs })); !strings.HasPrefix(got, "unknown (timeout)") {
		t.Errorf("hangs: %s", got)
	}
	if got := said(t, make1(t, 30*time.Millisecond, func(o *Options) { o.Command, o.NoAnswer = hangs, "false" })); !strings.HasPrefix(got, "false: no answer: ") {
		t.Errorf("hangs, which says no: %s", got)
	}
}

func TestCommand(t *testing.T) {
	for script, c := range map[string]struct{ expect, want string }{
		"echo all well; echo more": {"", "true: the command ended with 0: all well"},
		"true":                     {"", "true: the command ended with 0"},
		"echo 3 of 5":              {`^5 of 5`, "false: its output is not what expect asks for: 3 of 5"},
		"echo no bucket; exit 1":   {"", "false: the command says no: no bucket"},
		"echo broken >&2; exit 1":  {"", "false: the command says no: the command failed: exit status 1: broken"},
		"exit 2":                   {"", "unknown (unreachable): "},
		"kill -9 $$":               {"", "unknown (unreachable): "},
		"head -c 5000 /dev/zero":   {"", "unknown (invalid): "},
	} {
		got := said(t, make1(t, time.Minute, func(o *Options) { o.Command, o.Expect, o.MaxBody = []string{"sh", "-c", script}, c.expect, 1000 }))
		if !strings.HasPrefix(got, c.want) || got != c.want && strings.HasPrefix(c.want, "t") {
			t.Errorf("%s: got %s, want %s", script, got, c.want)
		}
	}
	if got := said(t, make1(t, time.Minute, func(o *Options) { o.Command = []string{"/nonexistent/x"} })); !strings.HasPrefix(got, "unknown (invalid)") {
		t.Errorf("no program: %s", got)
	}
}

func TestAChangeIsPutOnTheTimeline(t *testing.T) {
	status := 200
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	defer server.Close()
	src := make1(t, time.Minute, func(o *Options) { o.URL, o.RulesOut = server.URL, []string{"storage"} })
	poll := func() backend.Reading {
		r, err := src.Poll(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first, second := poll(), poll()
	if len(first.Events)+len(second.Events) > 0 || !second.Facts[0].Since.Equal(first.Facts[0].At) || !second.Facts[0].At.After(first.Facts[0].At) || second.Facts[0].RulesOut[0] != "storage" {
		t.Errorf("the same again: %+v", second)
	}
	status = 403
	if _, err := src.Poll(t.Context()); err == nil {
		t.Error("403 is an answer")
	}
	status = 500
	third := poll()
	if len(third.Events) != 1 || third.Events[0].Text.String() != "r2.reachable is now false: answered 500" || third.Events[0].Kind != backend.EventChange ||
		!third.Facts[0].Since.Equal(third.Facts[0].At) {
		t.Errorf("it fell over: %+v", third)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"fact: say what":    func(o *Options) { o.Fact, o.URL = "", "http://a" },
		"fact: \"R2 up\"":   func(o *Options) { o.Fact, o.URL = "R2 up", "http://a" },
		"needs a url":       func(*Options) {},
		"two checks":        func(o *Options) { o.URL, o.Command = "http://a", []string{"b"} },
		"program's name":    func(o *Options) { o.Command = []string{""} },
		"neither unknown":   func(o *Options) { o.URL, o.NoAnswer = "http://a", "no" },
		"max_body":          func(o *Options) { o.URL, o.MaxBody = "http://a", 1 },
		"a command has":     func(o *Options) { o.Command, o.Statuses = []string{"a"}, []int{200} },
		"redirects":         func(o *Options) { o.URL, o.Statuses = "http://a", []int{301} },
		"no_exit":           func(o *Options) { o.Command, o.NoExit = []string{"a"}, []int{0} },
		"url: not":          func(o *Options) { o.URL = "r2" },
		"expect":            func(o *Options) { o.URL, o.Expect = "http://a", "(" },
		"read":              func(o *Options) { o.URL, o.Read.Prefix = "http://a", "x" },
		"by itself":         func(o *Options) { o.Command, o.Read.Env = []string{"a"}, "T" },
		"no diagnosis asks": func(o *Options) { o.URL, o.Confirms = "http://a", []string{"storrage"} },
		"rules_out too":     func(o *Options) { o.URL, o.Confirms, o.RulesOut = "http://a", []string{"quota"}, []string{"quota"} },
	} {
		_, err := Kind([]string{"storage", "quota"}).New(backendtest.Options[Options](func(o *Options) { o.Fact = "a.b"; change(o) }), backend.Deps{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
