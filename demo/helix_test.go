package demo

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// at makes a clock that a test moves.
type at struct {
	f *fleet
	t time.Duration
}

func (a *at) now() world { return a.f.At(a.t) }

func ask(t testing.TB, h http.Handler, path string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func body(t testing.TB, resp *http.Response) string {
	t.Helper()
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func decode[T any](t testing.TB, resp *http.Response) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(body(t, resp)), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestEntriesOnTheWire(t *testing.T) {
	f := &fleet{random: 1, start: testStart, sessions: []session{{where: eu, count: 1}, {where: us, first: 1, count: 1}}}
	f.workspaces = []workspace{
		{trouble: noIndex, rhythm: rhythm{period: time.Minute, length: time.Second}},
		{session: 1, trouble: 0},
	}
	f.troubles = []trouble{{cause: causeImage, state: reportedFailed, success: known(-41 * time.Minute), first: -40 * time.Minute, period: time.Hour}}
	w := f.At(90 * time.Second)
	for i, want := range []string{
		`{"name":"docs","state":"open","lastAttemptAt":1795251660000,"lastSuccessAt":1795251661000}`,
		`{"name":"docs","state":"failed","lastError":"WorkspaceFailedError: image registry.demo.invalid/agents/box:2026.11 not found: manifest unknown",` +
			`"lastAttemptAt":"2026-11-21T08:20:00.000Z","lastSuccessAt":"2026-11-21T08:19:00.000Z"}`,
	} {
		if got := string(encode(t, w.wireEntry(int32(i)))); got != want {
			t.Errorf("entry %d is\n%s\nwant\n%s", i, got, want)
		}
	}
	want := `{"name":"docs","state":"open","lastAttemptAt":1795251660000,"lastSuccessAt":1795251661000,"provider":"local-bash","closeTimeoutMs":30000}`
	f.workspaces[0].provider = localBash
	if got := string(encode(t, w.wireOperatorEntry(0))); got != want {
		t.Errorf("operator entry is\n%s\nwant\n%s", got, want)
	}
	f.workspaces[1].marks = markLegacy
	f.workspaces[1].trouble, f.workspaces[1].behaviour = noIndex, unused
	if got := string(encode(t, w.wireEntry(1))); got != `{"name":"docs","state":"declared"}` {
		t.Errorf("unused entry is %s", got)
	}
}

func TestHealthRoute(t *testing.T) {
	clock := &at{f: testFleet(t, "all", defaultWorkspaces, 1), t: time.Second}
	f := clock.f
	for where := range instances {
		h := helixServer{now: clock.now, where: where}.handler()
		for _, slot := range f.order[where][:40] {
			id := clock.now().sessionID(int(slot))
			resp := ask(t, h, "/healthz/"+url.PathEscape(id))
			switch {
			case f.sessions[slot].kind == resting:
				if got := body(t, resp); resp.StatusCode != http.StatusNotFound || got != `{"error":"no active session"}` {
					t.Errorf("a resting session answers %d %s", resp.StatusCode, got)
				}
			case f.unnamed[where] == slot || f.broken == slot:
			default:
				got := decode[map[string][]map[string]json.RawMessage](t, resp)
				if resp.StatusCode != http.StatusOK || int32(len(got["workspaces"])) != f.sessions[slot].count {
					t.Errorf("session %s answers %d with %d workspaces", id, resp.StatusCode, len(got["workspaces"]))
				}
			}
		}
		unnamed := decode[map[string]map[string]json.RawMessage](t, ask(t, h, "/healthz/"+clock.now().sessionID(int(f.unnamed[where]))))
		if _, named := unnamed["workspace"]["name"]; named || unnamed["workspace"]["state"] == nil {
			t.Errorf("the edition without names answers %v", unnamed)
		}
		if resp := ask(t, h, "/healthz/s-000000000000"); resp.StatusCode != http.StatusNotFound {
			t.Errorf("a session nobody knows answers %d", resp.StatusCode)
		}
	}
	h := helixServer{now: clock.now, where: us}.handler()
	if resp := ask(t, h, "/healthz/"+clock.now().sessionID(int(f.broken))); resp.StatusCode != http.StatusInternalServerError {
		t.Errorf("the broken session answers %d", resp.StatusCode)
	}
}

func TestOdditiesOfTheWholeWorld(t *testing.T) {
	clock := &at{f: testFleet(t, "all", defaultWorkspaces, 1), t: time.Second}
	h := helixServer{now: clock.now, where: eu}.handler()
	const odd = "acme/nightly build#7"
	if resp := ask(t, h, "/healthz/"+url.PathEscape(odd)); resp.StatusCode != http.StatusOK {
		t.Errorf("a session id that needs escaping answers %d", resp.StatusCode)
	}
	if got := decode[wireSessionRead](t, ask(t, h, "/operator/sessions/"+url.PathEscape(odd))); got.SessionID != odd {
		t.Errorf("described as %q", got.SessionID)
	}
	all := body(t, ask(t, h, "/operator/workspaces")) + body(t, ask(t, helixServer{now: clock.now, where: us}.handler(), "/operator/workspaces"))
	for _, want := range []string{`\u001b]0;pwned\u0007` + "\u009b31m\u202e", "OPENAI_API_KEY=sk-demo-", `"lastOpAt":`, `"id":"team-cache"`, `"shareAcrossSessions":true`, `"branchedFrom":"s-`} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is nowhere", want)
		}
	}
}

// wireSessionRead reads what a test needs of a session.
type wireSessionRead struct {
	SessionID  string                       `json:"sessionId"`
	Status     string                       `json:"status"`
	StartedAt  json.RawMessage              `json:"startedAt"`
	Workspaces []map[string]json.RawMessage `json:"workspaces"`
}

type pageRead struct {
	Sessions []wireSessionRead `json:"sessions"`
	Next     string            `json:"next"`
}

func TestPagesFollowEachOther(t *testing.T) {
	clock := &at{f: testFleet(t, "all", 5000, 1)}
	for where := range instances {
		h := helixServer{now: clock.now, where: where}.handler()
		sessions, pages, cursor := 0, 0, ""
		for {
			got := decode[pageRead](t, ask(t, h, "/operator/sessions?cursor="+cursor))
			sessions += len(got.Sessions)
			pages++
			for _, s := range got.Sessions {
				if len(s.Workspaces) > 0 || s.Status == "" || (s.StartedAt[0] == '"') != (where == us) {
					t.Fatalf("%s lists %+v", where, s)
				}
			}
			if cursor = got.Next; cursor == "" {
				break
			}
		}
		if sessions < len(clock.f.order[where]) || pages != (len(clock.f.order[where])+pageSlots-1)/pageSlots {
			t.Errorf("%s: %d sessions on %d pages", where, sessions, pages)
		}
		for _, bad := range []string{"x", "-1", "7", "950000"} {
			if resp := ask(t, h, "/operator/workspaces?cursor="+bad); resp.StatusCode != http.StatusBadRequest {
				t.Errorf("cursor %s answers %d", bad, resp.StatusCode)
			}
		}
	}
}

func TestUnchangedPageIsNotSentAgain(t *testing.T) {
	clock := &at{f: testFleet(t, "all", 8000, 1)}
	h := helixServer{now: clock.now, where: eu}.handler()
	last := "/operator/workspaces?cursor=1900"
	first := ask(t, h, last)
	tag := first.Header.Get("ETag")
	if first.StatusCode != http.StatusOK || !strings.HasPrefix(tag, `"`) {
		t.Fatalf("status %d, tag %s", first.StatusCode, tag)
	}
	for _, header := range []string{tag, `"other", W/` + tag, "*"} {
		again := ask(t, h, last, "If-None-Match", header)
		if again.StatusCode != http.StatusNotModified || body(t, again) != "" || again.Header.Get("ETag") != tag {
			t.Errorf("If-None-Match %s answers %d", header, again.StatusCode)
		}
	}
	if ask(t, h, last, "If-None-Match", `"other"`).StatusCode != http.StatusOK {
		t.Error("a foreign tag is taken for this page")
	}
}

func TestEqualTagsMeanEqualPages(t *testing.T) {
	f := testFleet(t, "all", 4000, 1)
	same, different := 0, 0
	for where := range instances {
		for first := 0; first < len(f.order[where]); first += pageSlots {
			for _, full := range []bool{true, false} {
				p := page{where: where, first: first, full: full}
				tag, text := f.At(0).tag(p), string(encode(t, f.At(0).wirePage(p)))
				for at := time.Second; at < 40*time.Second; at += 3 * time.Second {
					newTag, newText := f.At(at).tag(p), string(encode(t, f.At(at).wirePage(p)))
					if (tag == newTag) != (text == newText) {
						t.Fatalf("%s page %d full=%v at %s: tags equal %v, pages equal %v", where, first, full, at, tag == newTag, text == newText)
					}
					if tag == newTag {
						same++
					} else {
						different++
					}
					tag, text = newTag, newText
				}
			}
		}
	}
	if same == 0 || different == 0 {
		t.Errorf("%d pages stayed, %d changed: this shows nothing", same, different)
	}
}
