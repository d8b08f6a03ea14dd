package backend

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func sentDeps(l *SentLog) *Deps {
	at := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	return &Deps{ID: "helix-eu", Sent: l, Cleaner: NewCleaner("our-own-secret"), Now: func() time.Time {
		at = at.Add(time.Millisecond)
		return at
	}}
}

func TestRequestsAreKeptWithTheirResult(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/lost" {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "12345")
	}))
	defer srv.Close()
	l := &SentLog{}
	var told []Sent
	l.Tell(func(s Sent) { told = append(told, s) })
	d := sentDeps(l)
	c := &http.Client{Transport: d.Recorded(http.DefaultTransport, true)}
	resp, err := c.Get(srv.URL + "/sessions?key=our-own-secret")
	if err != nil {
		t.Fatal(err)
	}
	if s := l.Newest()[0]; s.Over || s.Status != http.StatusTeapot {
		t.Errorf("before its body was read: %+v", s)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	if resp, err := c.Get(srv.URL + "/lost"); err == nil {
		_ = resp.Body.Close()
		t.Error("the request was answered")
	}
	got := l.Newest()
	if len(got) != 2 || len(told) != 2 || got[0].N != 2 {
		t.Fatalf("%+v, told %+v", got, told)
	}
	if lost := got[0]; !lost.Over || lost.Status != -1 || lost.Cause.IsEmpty() || lost.Took <= 0 {
		t.Errorf("without an answer: %+v", lost)
	}
	s := got[1]
	if !s.Over || s.Bytes != 5 || s.Method != "GET" || s.Source != "helix-eu" || !s.Acts || !s.Cause.IsEmpty() {
		t.Errorf("%+v", s)
	}
	if !strings.Contains(s.What.String(), "/sessions?key=") || strings.Contains(s.What.String(), "our-own-secret") {
		t.Errorf("the address is %q", s.What)
	}
}

func TestCommandsAreKeptWithTheirExitCode(t *testing.T) {
	l := &SentLog{}
	d := sentDeps(l)
	s := d.SendingCommand(false, []string{"helper", "--token", "our-own-secret"})
	s.Exited(&exec.Cmd{}, 0, errors.New("no such file"))
	if got := l.Newest()[0]; got.What.String() != "helper --token ‹masked›" || got.Cause.String() != "no such file" || got.Status != -1 {
		t.Errorf("%+v", got)
	}
}

// What polls send never pushes out what an action sent, and the log stays bounded.
func TestPollsDoNotPushActionsOut(t *testing.T) {
	l := &SentLog{}
	d := sentDeps(l)
	d.Sending(true, "POST", "/stop").End(nil)
	for i := range 3 * keptReads {
		d.Sending(false, "GET", fmt.Sprint("/", i)).End(nil)
	}
	d.Sending(false, "GET", strings.Repeat("x", 5000)).End(nil)
	got := l.Newest()
	if len(got) != keptReads+1 || got[0].N != 3*keptReads+2 || len(got[0].What.String()) > longestSent {
		t.Errorf("%d kept, the newest %d", len(got), got[0].N)
	}
	if last := got[len(got)-1]; last.Method != "POST" || !last.Acts {
		t.Errorf("the oldest is %+v", last)
	}
}

func TestWithoutALogNothingIsNoted(t *testing.T) {
	d := &Deps{}
	s := d.Sending(true, "GET", "/")
	s.Answered(200)
	s.Received(1)
	s.End(nil)
	if d.Recorded(http.DefaultTransport, true) != http.DefaultTransport || len(d.Sent.Newest()) != 0 {
		t.Error("something was noted")
	}
}
