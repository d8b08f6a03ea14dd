package helix

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/wire"
)

func TestOptionsAreRefused(t *testing.T) {
	deps := backend.Deps{ID: "helix", Now: (backendtest.NewClock(noon)).Now, Dial: noDial}
	ok := func(o *Options) { o.URL, o.Sessions = "http://h/healthz/{session}", []string{"a"} }
	for name, tc := range map[string]struct {
		set  func(*Options)
		want string // empty: accepted
	}{
		"plain": {func(*Options) {}, ""},
		"header template": {func(o *Options) {
			o.URL, o.Headers = "http://h/healthz", map[string]string{"x-partykit-room": "{session}"}
		}, ""},
		"one session, no slot":  {func(o *Options) { o.URL = "http://h/workspace" }, "url: asks the same"},
		"aggregate, no slot":    {func(o *Options) { o.URL, o.AggregateURL = "http://h/x", "http://h/all" }, "url: asks the same"},
		"aggregate only":        {func(o *Options) { o.URL, o.AggregateURL = "", "http://h/all" }, ""},
		"misspelt slot":         {func(o *Options) { o.URL = "http://h/{sesion}" }, "url: {sesion} is not known here; write {session}"},
		"second slot":           {func(o *Options) { o.URL = "http://h/{session}/{foo}" }, "url: {foo} is not known"},
		"slot in aggregate":     {func(o *Options) { o.AggregateURL = "http://h/{tenant}" }, "aggregate_url: {tenant} is not known"},
		"misspelt header slot":  {func(o *Options) { o.Headers = map[string]string{"x-room": "{sesion}"} }, "headers: \"x-room\": {sesion} is not known"},
		"nothing":               {func(o *Options) { o.URL = "" }, "url: is missing"},
		"two sessions, no slot": {func(o *Options) { o.URL, o.Sessions = "http://h/healthz", []string{"a", "b"} }, "url: asks the same"},
		"no sessions":           {func(o *Options) { o.Sessions = nil }, "sessions: no session can be found"},
		"session in host":       {func(o *Options) { o.URL = "http://{session}.h/healthz" }, "url: {session} cannot be part of the host"},
		"session in port":       {func(o *Options) { o.URL = "http://h:{session}/" }, "url: "},
		"session in list":       {func(o *Options) { o.ListURL = "http://h/{session}" }, "list_url: asks about all"},
		"password in url":       {func(o *Options) { o.URL = "http://u:p@h/{session}" }, "url: the URL holds a user"},
		"temporal":              {func(o *Options) { o.Runtime = "temporal" }, "runtime: temporal does not support workspaces"},
		"dbos":                  {func(o *Options) { o.Runtime = "dbos" }, "DBOS console"},
		"workflows":             {func(o *Options) { o.Runtime = "cloudflare-workflows" }, "wrangler workflows"},
		"unknown runtime":       {func(o *Options) { o.Runtime = "java" }, "write js or durable-object"},
		"object without list":   {func(o *Options) { o.Runtime = "durable-object" }, "list_url: is missing"},
		"state class":           {func(o *Options) { o.States = map[string]string{"x": "fine"} }, "states: \"x\" is mapped"},
		"pointer":               {func(o *Options) { o.Pointers.Next = "next" }, "pointers.next"},
		"budget":                {func(o *Options) { o.RequestsPerSec = 0 }, "requests_per_second"},
		"header line break":     {func(o *Options) { o.Headers = map[string]string{"x": "a\r\nb"} }, "headers"},
		"two credentials":       {func(o *Options) { o.Read = wire.Credential{Env: "A", File: "b"} }, "read: give exactly one"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Kind().New(backendtest.Options[Options](func(o *Options) { ok(o); tc.set(o) }), deps)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestTemplates(t *testing.T) {
	for _, tc := range []struct{ template, id, want string }{
		{"http://h/s/{session}/x", "a b", "http://h/s/a%20b/x"},
		{"http://h/s/{session}", "../../admin?x=1#y", "http://h/s/..%2F..%2Fadmin%3Fx=1%23y"},
		{"http://h/?id={session}&z=1", "a&b=c#d e", "http://h/?id=a%26b%3Dc%23d+e&z=1"},
		{"http://h/{session}?id={session}", "é/", "http://h/%C3%A9%2F?id=%C3%A9%2F"},
		{"http://h/{session}", "..", ""},
		{"http://h/s/{session}/x", ".", ""},
		{"http://h/s/v{session}", "..", "http://h/s/v.."},
	} {
		got, err := sessionURL(tc.template, backend.MustID(tc.id))
		if got != tc.want || (err == nil) != (tc.want != "") {
			t.Errorf("%s with %q: got %q, %v", tc.template, tc.id, got, err)
		}
	}
	if h, err := sessionHeaders(map[string]string{"x-partykit-room": "{session}"}, backend.MustID("room 1")); err != nil || h.Get("X-Partykit-Room") != "room 1" {
		t.Errorf("got %v, %v", h, err)
	}
	if h, err := sessionHeaders(map[string]string{"x": "{session}"}, backend.MustID("a\r\nX-Evil: 1")); err == nil {
		t.Errorf("a line break got into a header: %v", h)
	}
	if got := withCursor("http://h/x?y=1", "a&b"); got != "http://h/x?y=1&cursor=a%26b" {
		t.Errorf("got %s", got)
	}
}

func TestLoadIsWrittenAsPeopleDo(t *testing.T) {
	deps := backend.Deps{ID: "helix", Now: (backendtest.NewClock(noon)).Now, Dial: noDial, Interval: time.Minute}
	src := build(t, deps, func(o *Options) { o.URL, o.Sessions = "http://h/healthz/{session}", []string{"a"} })
	const want = "about 1 request a minute: 1 session every 1m, 0 idle every 5m; the budget allows 600"
	if _, got := src.EstimateLoad(); got.String() != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRoutesShowNoSecret(t *testing.T) {
	src := build(t, backend.Deps{ID: "helix", Now: (backendtest.NewClock(noon)).Now, Dial: noDial}, func(o *Options) {
		o.URL, o.ListURL = "http://h/healthz/{session}?k=verysecret", "http://h/list"
		o.Headers = map[string]string{"X-Api-Key": "verysecret", "X-Room": "{session}"}
		o.Read.Env = "HELIX_TOKEN"
	})
	var text strings.Builder
	for _, r := range src.Routes() {
		if r.Acts {
			t.Errorf("%+v acts", r)
		}
		text.WriteString(r.Verb + " " + r.Target + " " + r.Why + "\n")
	}
	const want = "GET http://h/list which sessions there are and which run, page by page (cursor, ETag); headers X-Api-Key; credential from environment variable HELIX_TOKEN\n" +
		"GET http://h/healthz/{session}?k=… the registry snapshot of one session; headers X-Api-Key, X-Room; credential from environment variable HELIX_TOKEN\n"
	if text.String() != want {
		t.Errorf("got\n%s", text.String())
	}
}
