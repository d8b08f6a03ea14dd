package helix

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

func TestBodyShapes(t *testing.T) {
	const (
		ms  = `"lastAttemptAt":1767225600000,"lastSuccessAt":1767225590250`
		iso = `"lastAttemptAt":"2026-01-01T00:00:00.000Z","lastSuccessAt":"2025-12-31T23:59:50.250Z"`
		sec = `"lastAttemptAt":1767225600,"lastSuccessAt":1767225590.25`
	)
	for name, tc := range map[string]struct {
		body string
		want string // ids, comma separated
	}{
		"array":            {`{"workspaces":[{"name":"notes","state":"open",` + ms + `},{"name":"box","state":"open",` + ms + `}]}`, "notes,box"},
		"map":              {`{"workspaces":{"notes":{"state":"open",` + iso + `},"box":{"state":"x",` + ms + `}}}`, "notes,box"},
		"single":           {`{"workspace":{"state":"open",` + sec + `}}`, "workspace"},
		"single named":     {`{"workspace":{"name":"box","state":"open",` + ms + `}}`, "box"},
		"single null":      {`{"workspace":null}`, ""},
		"null":             {`{"workspaces":null}`, ""},
		"empty array":      {`{"workspaces":[]}`, ""},
		"empty map":        {`{"workspaces":{}}`, ""},
		"bare array":       {`[{"name":"a","state":"open",` + iso + `}]`, "a"},
		"bare empty array": {`[]`, ""},
		"bare object":      {`{"state":"open",` + ms + `}`, "workspace"},
		"one unnamed":      {`{"workspaces":[{"state":"open",` + ms + `}]}`, "workspace"},
		"white space":      {" {\n\t\"workspaces\" : [ { \"name\" : \"a\" , \"state\" : \"open\" , " + ms + " } ] } \n", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := decodeAll(testDecoder(), tc.body)
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, w := range got {
				ids = append(ids, w.Key.ID.Raw())
				attempt, _ := w.LastAttemptAt.Get()
				success, _ := w.LastSuccessAt.Get()
				if attempt.UnixMilli() != 1767225600000 || success.UnixMilli() != 1767225590250 {
					t.Errorf("%s: attempt %v, success %v", w.Key.ID, attempt, success)
				}
				if w.Named == (w.Key.ID.Raw() == "workspace") {
					t.Errorf("%s: named %v", w.Key.ID, w.Named)
				}
			}
			if s := strings.Join(ids, ","); s != tc.want {
				t.Errorf("got %s, want %s", s, tc.want)
			}
		})
	}
}

func TestOtherShapesAreTheWrongPath(t *testing.T) {
	for _, body := range []string{`{"ok":true}`, `{}`, `"ok"`, `true`, `null`, `3`, `[1,2]`, `[{"ok":true}]`,
		`{"status":"ok","workspaces":3}`, `{"workspaces":"none"}`, `{"state":5}`, `{"state":null}`, `{"workspace":"x"}`} {
		if got, err := decodeAll(testDecoder(), body); !errors.Is(err, errOtherShape) {
			t.Errorf("%s: got %v, %v", body, got, err)
		}
	}
}

func TestInvalidBodiesNameThePlace(t *testing.T) {
	for body, want := range map[string]string{
		`{"workspaces":[{"name":"a","state":"open"`:                      "cut off",
		`{"workspaces":[{"name":"a","state":"open"}]} trailing`:          "data after the JSON value",
		`{"workspaces":[{"name":"a","state":"open","state":"failed"}]}`:  "/workspaces/0/state (byte 42): duplicate",
		`{"workspaces":[{"name":"a","state":"open","State":"failed"}]}`:  `/workspaces/0/State (byte 50): the name "State" is "state"`,
		`{"workspaces":[{"name":"a","LastError":"x","state":"failed"}]}`: `"lastError"`,
		`{"Workspaces":[]}`:                          `"workspaces" in the wrong case`,
		`{"workspaces":[],"Workspaces":[]}`:          `"workspaces" in the wrong case`,
		`{"State":"open"}`:                           `"state" in the wrong case`,
		`{"workspaces":[{"name":"a","state":7}]}`:    "/workspaces/0/state",
		`{"workspaces":[{"name":7,"state":"open"}]}`: "/workspaces/0/name",
		`{"workspaces":["a"]}`:                       "/workspaces/0 (byte 15)",
		`{"workspaces":{"a":3}}`:                     "/workspaces/a",
		`{"workspaces":{"a":{}}}`:                    "not a registry entry",
		`{"workspaces":[{"name":"a","state":"x"},{"name":"a","state":"x"}]}`:        "/workspaces/1 (byte 40): a second entry",
		`{"workspaces":[{"state":"x"},{"state":"x"}]}`:                              "a second entry is called workspace",
		`{"workspaces":[],"workspace":null}`:                                        "which of them",
		"{\"workspaces\":[{\"name\":\"\xff\",\"state\":\"x\"}]}":                    "/workspaces/0",
		`{"workspaces":[{"name":"` + strings.Repeat("x", 5000) + `","state":"x"}]}`: "/workspaces/0/name",
		`<html><body>Not Found</body></html>`:                                       "byte 0",
	} {
		got, err := decodeAll(testDecoder(), body)
		if backend.KindOf(err) != backend.ErrInvalid || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%.80s: got %v, %v; want %q", body, got, err, want)
		}
	}
}

func TestEntryFields(t *testing.T) {
	body := `{"workspaces":[{"name":"box","state":"zorp","lastError":{"name":"WorkspaceFailedError","message":"schemaVersion 4"},
		"lastAttemptAt":null,"lastSuccessAt":"garbage","lastOpAt":0,"provider":"cloudflare-sandbox","id":"team","namespace":"ns",
		"shareAcrossSessions":true,"inheritWorkspaces":false,"destroyOnClose":true,"sleepAfter":"10m","closeTimeoutMs":30000,
		"concurrency":4,"maxFileSizeMb":10,"transientRetryAttempts":3,"resetAfterMs":300000,"capabilities":["fs","shell"],
		"api_token":"abcdefghijklmnop","evictedAt":null}]}`
	all, err := decodeAll(testDecoder(), body)
	if err != nil {
		t.Fatal(err)
	}
	w := all[0]
	if w.Class != backend.ClassHealthy || w.Reported.String() != "zorp" || w.LastError.String() != "WorkspaceFailedError: schemaVersion 4" {
		t.Errorf("state %v %v, error %v", w.Class, w.Reported, w.LastError)
	}
	if !w.LastAttemptAt.IsNotApplicable() || w.LastSuccessAt.IsKnown() || w.LastSuccessAt.IsNotApplicable() || w.LastOpAt.IsNotApplicable() {
		t.Errorf("times %v %v %v: null is never, garbage is unknown", w.LastAttemptAt, w.LastSuccessAt, w.LastOpAt)
	}
	facts, err := json.Marshal(w.WorkspaceFacts)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"provider":"cloudflare-sandbox","provider_id":"team","namespace":"ns","share_across_sessions":true,` +
		`"inherit_workspaces":false,"destroy_on_close":true,"sleep_after":600000000000,"close_timeout":30000000000,"concurrency":4,` +
		`"max_file_size":10485760,"retry_attempts":3,"reset_after":300000000000}`
	if string(facts) != want {
		t.Errorf("facts %s\nwant  %s", facts, want)
	}
	var extra strings.Builder
	for _, f := range w.Extra {
		fmt.Fprintf(&extra, "%v=%v;", f.Name, f.Value)
	}
	if s := extra.String(); s != `lastSuccessAt=garbage;lastOpAt=0;capabilities=["fs","shell"];api_token=‹masked›;evictedAt=null;` {
		t.Errorf("extra %s", s)
	}
	if raw := w.Raw.String(); !strings.Contains(raw, `"state":"zorp"`) || strings.Contains(raw, "abcdefghijklmnop") {
		t.Errorf("raw %s", raw)
	}
}

func TestTimesThatConcludeNothing(t *testing.T) {
	body := `{"workspace":{"state":"open","lastAttemptAt":%s}}`
	for value, known := range map[string]bool{
		"1767225600000": true, "1767225600": true, `"2026-01-01T00:00:00Z"`: true, `"2026-01-01T02:00:00+02:00"`: true,
		"-5": false, "true": false, `"yesterday"`: false, `{"x":1}`: false, "1e300": false, "99999999999999999": false,
		`"2026-01-02T00:00:00Z"`: false, // in the future
	} {
		got, err := decodeAll(testDecoder(), fmt.Sprintf(body, value))
		if err != nil || got[0].LastAttemptAt.IsKnown() != known {
			t.Errorf("%s: got %+v, %v", value, got, err)
		}
	}
	d := testDecoder()
	d.clock = clockCorrection{}
	if got, err := decodeAll(d, fmt.Sprintf(body, "1767225600000")); err != nil || got[0].LastAttemptAt.IsKnown() {
		t.Errorf("an unknown clock gave %+v, %v", got, err)
	}
}

func TestNewestTimeAsClock(t *testing.T) {
	for name, tc := range map[string]struct {
		ages []time.Duration // before noon
		want clockCorrection
	}{
		"none":        {nil, clockCorrection{}},
		"fresh":       {[]time.Duration{time.Hour, 30 * time.Second}, clockCorrection{known: true}},
		"old":         {[]time.Duration{24 * time.Hour}, clockCorrection{}},
		"one ahead":   {[]time.Duration{-24 * time.Hour, time.Hour}, clockCorrection{}},
		"three ahead": {[]time.Duration{-24 * time.Hour, -23 * time.Hour, -22 * time.Hour}, clockCorrection{known: true, offset: 24 * time.Hour}},
	} {
		var n newest
		for _, age := range tc.ages {
			n.add(noon.Add(-age))
		}
		if got := n.clock(noon); got != tc.want {
			t.Errorf("%s: got %+v, want %+v", name, got, tc.want)
		}
	}
}

func TestHostileTexts(t *testing.T) {
	name, err := json.Marshal("\x1b]0;pwned\a\u009b31m\u202e")
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("OPENAI_API_KEY=sk-abcdefghijkl \u001b[2J", 30_000)
	body, err := json.Marshal(long)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeAll(testDecoder(), `{"workspaces":[{"name":`+string(name)+`,"state":"\u001b[31m","lastError":`+string(body)+`}]}`)
	if err != nil {
		t.Fatal(err)
	}
	w := got[0]
	if w.Key.ID.Raw() != "\x1b]0;pwned\a\u009b31m\u202e" {
		t.Errorf("the raw id changed: %q", w.Key.ID.Raw())
	}
	doc, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{w.LastError.String(), w.Reported.String(), w.Raw.String(), w.Key.Safe().String(), string(doc)} {
		if strings.ContainsAny(text, "\x1b\a\u009b\u202e") || strings.Contains(text, "sk-abc") {
			t.Errorf("unsafe text %.200q", text)
		}
	}
	if n := len(doc); n > 60_000 {
		t.Errorf("a 1 MB error makes an entity of %d bytes", n)
	}
}

func TestDeclarations(t *testing.T) {
	declare, err := newDeclarations([]backend.Declaration{
		{Session: "eu/*", Workspace: "box*", WorkspaceFacts: backend.WorkspaceFacts{Provider: backend.Text("docker"), DestroyOnClose: backend.Known(true)}},
		{Session: "*", WorkspaceFacts: backend.WorkspaceFacts{Provider: backend.Text("local-bash")}, SessionFacts: backend.SessionFacts{Tenant: backend.Text("acme")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	d := testDecoder()
	d.declare = declare
	read := func(session, body string) backend.Workspace {
		resp := &wire.Response{Body: []byte(body), At: noon}
		all, err := (&Source{opt: defaults()}).read(d, backend.MustID(session), resp)
		if err != nil || len(all) != 1 {
			t.Fatal(all, err)
		}
		return all[0]
	}
	w := read("eu/a/1", `{"workspace":{"name":"box1","state":"x"}}`)
	if w.Provider.String() != "docker" || !w.DestroyOnClose.Or(false) {
		t.Errorf("got %+v", w.WorkspaceFacts)
	}
	w = read("us/1", `{"workspace":{"name":"box1","state":"x","destroyOnClose":false}}`)
	if w.Provider.String() != "local-bash" || w.DestroyOnClose.Or(true) {
		t.Errorf("got %+v", w.WorkspaceFacts)
	}
	var facts backend.SessionFacts
	if d.declareSession(backend.MustID("any"), &facts); facts.Tenant.String() != "acme" {
		t.Errorf("got %+v", facts)
	}
	if _, err := newDeclarations([]backend.Declaration{{Session: "[x"}}); err == nil {
		t.Error("a broken glob was accepted")
	}
}
