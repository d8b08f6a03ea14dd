package agentuity

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// stage is a world at a moment, with the sandbox and the session that a sample is about.
type stage struct {
	w       *World
	t       time.Duration
	sandbox string
	session string
}

func newStage(s Story, t time.Duration, name string) *stage {
	g := &stage{t: t}
	g.w = New(Options{Story: s, Seed: 1, Start: time.Date(2026, 4, 4, 1, 10, 0, 0, time.UTC), Clock: func() time.Duration { return g.t }, CLIKey: "k"})
	defer g.w.enter()()
	for _, x := range g.w.sandboxes {
		if x.name == name {
			g.sandbox = x.id
		}
	}
	for _, x := range g.w.sessions {
		if x.of.id == g.sandbox {
			g.session = x.id
		}
	}
	return g
}

// ask sends a request to the host that a URL names.
func (g *stage) ask(t *testing.T, method, address, body, key string) (*http.Response, []byte) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	h := g.w.ServeRegion(Home)
	switch {
	case strings.HasPrefix(u.Host, "hub."):
		h = g.w.ServeHub()
	case strings.HasPrefix(u.Host, "api."):
		h = g.w.ServeAPI()
	case strings.HasPrefix(u.Host, "catalyst-use."):
		h = g.w.ServeRegion(Away)
	}
	r := httptest.NewRequest(method, u.RequestURI(), strings.NewReader(body))
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	out := httptest.NewRecorder()
	h.ServeHTTP(out, r)
	return out.Result(), out.Body.Bytes()
}
