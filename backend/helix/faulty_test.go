package helix

import (
	"compress/gzip"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// TestFaultyServers puts one faulty session beside a good one. The good one is read, the faulty one says why not, and
// memory stays bounded.
func TestFaultyServers(t *testing.T) {
	block := []byte(strings.Repeat(" ", 1<<20))
	flood := func(w io.Writer, blocks int) {
		for range blocks {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}
	for name, tc := range map[string]struct {
		serve  http.HandlerFunc
		answer backend.RouteAnswer
		why    string
	}{
		"malformed":   {say(200, `{"workspaces":[{"name":"a","state":"failed",}]}`), backend.AnswerInvalid, "/workspaces/0 (byte"},
		"wrong types": {say(200, `{"workspaces":[{"name":"a","state":["failed"]}]}`), backend.AnswerInvalid, "/workspaces/0/state"},
		"duplicate":   {say(200, `{"workspaces":[{"name":"a","state":"open","state":"failed"}]}`), backend.AnswerInvalid, "duplicate"},
		"trailing":    {say(200, open+"x"), backend.AnswerInvalid, "data after"},
		"empty":       {say(200, ""), backend.AnswerInvalid, "empty"},
		"html":        {say(200, "<!doctype html><title>Login</title>"), backend.AnswerInvalid, "byte 0"},
		"401":         {say(401, ""), backend.AnswerFailed, "unauthorised"},
		"500":         {say(500, ""), backend.AnswerFailed, "answered 500"},
		"429": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "7")
			say(429, "")(w, r)
		}, backend.AnswerFailed, "throttled"},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://elsewhere.invalid/healthz", http.StatusMovedPermanently)
		}, backend.AnswerInvalid, "redirects to elsewhere.invalid; not followed"},
		"2 GiB": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(2<<30))
			flood(w, 2<<10)
		}, backend.AnswerInvalid, "larger than 1MB"},
		"2 GiB unannounced": {func(w http.ResponseWriter, _ *http.Request) { flood(w, 2<<10) }, backend.AnswerInvalid, "larger than 1MB"},
		"gzip bomb": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			defer z.Close()
			flood(z, 256)
		}, backend.AnswerInvalid, "larger than 1MB"},
		"never ends": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "50")
			_, _ = io.WriteString(w, "{")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, backend.AnswerFailed, "no complete answer within"},
		"hangs up":  {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, backend.AnswerFailed, "unreachable"},
		"deep":      {say(200, strings.Repeat("[", 200_000)), backend.AnswerInvalid, "depth"},
		"many keys": {say(200, `{"workspaces":[{"name":"a","state":"x"`+strings.Repeat(`,"k":1`, 3)+`}]}`), backend.AnswerInvalid, "duplicate"},
	} {
		t.Run(name, func(t *testing.T) {
			deadline := time.Minute
			if name == "never ends" {
				deadline = time.Second
			}
			var before, after runtime.MemStats
			read := func() backend.Reading {
				asked := make(chan struct{})
				faulty := newRigWithin(t, deadline, routes{"good": func(w http.ResponseWriter, r *http.Request) {
					close(asked)
					say(200, open)(w, r)
				}, "faulty": func(w http.ResponseWriter, r *http.Request) {
					select {
					case <-asked: // what is asked for after an answer of 429 has to wait
					case <-r.Context().Done():
					}
					tc.serve(w, r)
				}}.serve, func(o *Options, url string) {
					fixed("good", "faulty")(o, url)
					o.MaxBody = 1_000_000
				})
				runtime.ReadMemStats(&before)
				defer runtime.ReadMemStats(&after)
				return faulty.poll()
			}
			r := read()
			for ; workspace(r, "good/box") == nil && deadline < time.Minute; r = read() {
				deadline *= 4 // a busy machine does not even answer well in a second
			}
			if w := workspace(r, "good/box"); w == nil || r.Registry != backend.RegistryAnswers || len(r.Workspaces) != 1 {
				t.Errorf("the good session is affected: %+v, %s", r.Workspaces, problemsText(r))
			}
			if s := sessionOf(r, "faulty"); s == nil || s.Answer != tc.answer {
				t.Errorf("got %+v, want %s", s, tc.answer)
			}
			if why := staleWhy(r, "faulty"); !strings.Contains(why, tc.why) {
				t.Errorf("stale because %q, want %q", why, tc.why)
			}
			if r.Load.Bytes > 1_100_000 {
				t.Errorf("kept %d bytes", r.Load.Bytes)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
				t.Errorf("allocated %d bytes", used)
			}
		})
	}
}

// TestStaleKeepsLastValues checks that a faulty answer neither ends nor replaces what was read before it.
func TestStaleKeepsLastValues(t *testing.T) {
	m := &table{m: routes{"a": say(200, open), "b": say(200, open)}}
	rig := newRig(t, m.serve, fixed("a", "b"))
	rig.poll()
	m.set("b", say(200, `{"workspaces":[{"name":"box","state":`))
	r := rig.poll()
	if len(r.Ended) != 0 || workspace(r, "b/box") != nil || staleWhy(r, "b") == "" {
		t.Errorf("ended %v, stale %v", r.Ended, r.Stale)
	}
	for _, s := range r.Scopes {
		if s.Kind == backend.KindWorkspace && s.Parent.Raw() == "b" {
			t.Errorf("the unread session's scope is claimed: %+v", s)
		}
	}
	m.set("b", say(200, open))
	rig.clock.Add(time.Minute)
	if r = rig.poll(); workspace(r, "b/box") == nil || len(r.Stale) != 0 {
		t.Errorf("after recovery: %v, stale %v", r.Workspaces, r.Stale)
	}
}

// FuzzDecode feeds bodies to the decoder: it must not panic, must name a place or another shape when it refuses, and
// must never make up entries without a name or two of one name.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{open, `{"workspaces":{"a":{"state":"x","lastError":{"message":"m"}}}}`, `{"workspace":null}`, `[{"state":"x"}]`,
		`{"state":"x","lastAttemptAt":"2026-01-01T00:00:00Z","sleepAfter":"10m","id":5}`, `{"ok":true}`, `{"workspaces":[{"name":"\u001b","state":"x","x":[]}]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		all, err := decodeAll(testDecoder(), string(body))
		if err != nil && backend.KindOf(err) != backend.ErrInvalid && err != errOtherShape {
			t.Fatalf("error without a kind: %v", err)
		}
		seen := map[backend.Key]bool{}
		for _, w := range all {
			if w.Key.ID.IsZero() || seen[w.Key] {
				t.Fatalf("key %+v", w.Key)
			}
			seen[w.Key] = true
			for _, s := range []backend.Safe{w.Reported, w.LastError, w.Raw, w.Provider} {
				if strings.ContainsAny(s.String(), "\x1b\x00\x07\u009b\u202e") {
					t.Fatalf("unsafe %q", s.String())
				}
			}
		}
	})
}
