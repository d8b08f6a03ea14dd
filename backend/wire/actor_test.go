package wire_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// TestActor holds what an effect must know of each way in which a request can end, and that none is sent twice.
func TestActor(t *testing.T) {
	var hits atomic.Int64
	release := make(chan struct{})
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/ok":
			if r.Method != http.MethodPost || string(body) != `{"a":1}` || r.Header.Get("X-Act") != "tok-123456789" || r.Header.Get("X-Plain") != "1" {
				t.Errorf("got %s %q %v", r.Method, body, r.Header)
			}
			w.WriteHeader(http.StatusAccepted)
			_, _ = io.WriteString(w, "begun with tok-123456789\x1b[2J")
		case "/conflict":
			http.Error(w, "state is open", http.StatusConflict)
		case "/away":
			http.Redirect(w, r, "http://elsewhere.example/x", http.StatusTemporaryRedirect)
		case "/busy":
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/cut":
			panic(http.ErrAbortHandler)
		case "/silent":
			<-release
		}
	})
	defer close(release)
	d := deps()
	actor := func(u string, c wire.Credential) *wire.Actor {
		a, err := wire.NewActor(wire.Config{Origins: []string{u}, Credential: c}, d)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = a.Close() })
		return a
	}
	a := actor(url, wire.Credential{Header: "x-act", Env: "TOKEN"})
	if err := a.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	send := func(path string) (*wire.Reply, error) {
		before := hits.Load()
		r, err := a.Send(t.Context(), wire.Order{Method: http.MethodPost, URL: url + path, Body: []byte(`{"a":1}`), Header: http.Header{"X-Plain": {"1"}}})
		if n := hits.Load() - before; n != 1 {
			t.Errorf("%s was sent %d times", path, n)
		}
		return r, err
	}
	for range 2 { // the second one must not find a connection that the server ended meanwhile
		r, err := send("/ok")
		if err != nil || r.Status != 202 || strings.Contains(r.Text.String(), "tok-123456789") || !strings.HasPrefix(r.Text.String(), "begun") {
			t.Fatalf("got %+v, %v", r, err)
		}
	}
	if r, err := send("/conflict"); err != nil || r.Status != 409 || r.Text.String() != "state is open" {
		t.Errorf("conflict: %+v, %v", r, err)
	}
	if r, err := send("/away"); err != nil || r.Status != 307 || r.Redirect != "elsewhere.example" {
		t.Errorf("redirect: %+v, %v", r, err)
	}
	if r, err := send("/busy"); err != nil || r.Status != 503 || r.RetryAfter != 7*time.Second {
		t.Errorf("busy: %+v, %v", r, err)
	}
	var lost *wire.LostError
	if r, err := send("/cut"); !errors.As(err, &lost) {
		t.Errorf("a lost connection: %+v, %v", r, err)
	}
	before := hits.Load()
	// On a busy machine it does not even arrive before a short deadline: then it is tried with a longer one.
	for d.Deadline = 100 * time.Millisecond; hits.Load() == before; d.Deadline *= 4 {
		r, err := actor(url, wire.Credential{}).Send(t.Context(), wire.Order{Method: http.MethodPost, URL: url + "/silent"})
		if n := hits.Load() - before; n == 0 && d.Deadline < time.Minute {
			continue
		} else if n != 1 || !errors.As(err, &lost) || backend.KindOf(err) != backend.ErrTimeout {
			t.Fatalf("no answer: sent %d times, %+v, %v", n, r, err)
		}
	}
	d.Deadline = time.Minute
	before = hits.Load()
	missing := actor(url, wire.Credential{Env: "NOT_SET"})
	if err := missing.Unlock(t.Context()); err == nil {
		t.Error("a credential that is not there was unlocked")
	}
	_, err := missing.Send(t.Context(), wire.Order{Method: http.MethodPost, URL: url + "/ok"})
	if err == nil || errors.As(err, &lost) || hits.Load() != before {
		t.Errorf("without its credential: %v, %d requests", err, hits.Load()-before)
	}
	nobody := actor("http://127.0.0.1:1/", wire.Credential{})
	if _, err := nobody.Send(t.Context(), wire.Order{Method: http.MethodPost, URL: "http://127.0.0.1:1/"}); err == nil || errors.As(err, &lost) {
		t.Errorf("a refused connection: %v", err)
	}
}

func TestFill(t *testing.T) {
	value := func(name string) (string, error) {
		if name == "none" {
			return "", errors.New("not known")
		}
		return "{session}/..", nil // a value is never looked through
	}
	for _, c := range []struct{ template, want string }{
		{"http://h/{session}/{id}?q={session}", "http://h/%7Bsession%7D%2F../%7Bsession%7D%2F..?q=%7Bsession%7D%2F.."},
		{"http://h/{none}", ""},
	} {
		got, err := wire.FillURL(c.template, value)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v", c.template, got, err)
		}
	}
	if got, err := wire.FillURL("http://h/{session}", func(string) (string, error) { return "", nil }); err == nil {
		t.Errorf("an empty segment: %s", got)
	}
	for _, bad := range []string{"http://{name}/x", "http://h:{name}/x", "{url}", "http://u:p@h/{session}", "ftp://h/"} {
		if wire.CheckURL(bad) == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
	if got := wire.Placeholders(`{"a":"{session}","b":{"c":"{workspace}{session}"}}`); strings.Join(got, " ") != "session workspace session" {
		t.Errorf("placeholders %v", got)
	}
}
