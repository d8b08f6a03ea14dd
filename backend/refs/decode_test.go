package refs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

const one = `{"providerId":"local-bash","ref":"/tmp/helix-ws-a1","capabilities":["shell","fs"],"schemaVersion":3}`

func TestEncodings(t *testing.T) {
	quoted := backend.QuoteJSON
	for _, c := range []struct{ name, body, want string }{
		{"array of sessions, refs by name", `{"sessions":[{"sessionId":"s1","workspaceRefs":{"notes":` + one + `}}]}`, "s1/notes local-bash v3\n"},
		{"bare array, array of refs", `[{"sessionId":"s1","workspaceRefs":[{"name":"a","providerId":"p"},{"name":"b","providerId":"q"}]}]`, "s1/a p\ns1/b q\n"},
		{"object of sessions by id", `{"s1":{"workspaceRefs":{"a":` + one + `}},"s2":{"workspaceRef":` + one + `}}`, "s1/a local-bash v3\ns2/workspace local-bash v3\n"},
		{"one session", `{"sessionId":"s1","workspaceRefs":` + one + `}`, "s1/workspace local-bash v3\n"},
		{"a number for an id", `{"sessionId":17,"workspaceRefs":` + one + `}`, "17/workspace local-bash v3\n"},
		{"the session's own name is no workspace's", `{"sessionId":"s1","name":"My chat","workspaceRefs":` + one + `}`, "s1/workspace local-bash v3\n"},
		{"an array without names", `{"sessionId":"s1","workspaceRefs":[` + one + `,{"providerId":"q"}]}`, "s1/workspace local-bash v3\ns1/workspace-2 q\n"},
		{"JSON in strings", `{"sessions":{"s1":` + quoted(`{"workspaceRefs":`+quoted(`{"a":`+quoted(one)+`}`)+`}`) + `}}`, "s1/a local-bash v3\n"},
		{"nothing but the provider's own part", `{"sessionId":"s1","workspaceRefs":{"a":"sbx-77"}}`, "s1/a\n"},
		{"no refs", `{"sessions":[{"sessionId":"s1"},{"sessionId":"s2","workspaceRefs":null},{"sessionId":"s3","workspaceRefs":{}}]}`, ""},
		{"nothing", `{"sessions":[]}`, ""},
		{"no sessions", `{"sessions":null}`, ""},
		{"no schema version", `{"sessionId":"s1","workspaceRefs":{"a":{"providerId":"p","schemaVersion":null}}}`, "s1/a p\n"},
		{"a version in a string", `{"sessionId":"s1","workspaceRefs":{"a":{"providerId":"p","schemaVersion":"4"}}}`, "s1/a p v4\n"},
		{"JSON lines", `{"sessionId":"s1","workspaceRefs":{"a":` + one + `}}` + "\n\n" + `{"sessionId":"s2","workspaceRefs":{"a":` + one + `}}` + "\n", "s1/a local-bash v3\ns2/a local-bash v3\n"},
	} {
		f := plainSource(t)
		f.put(t, "x.json", c.body)
		r := f.poll(t)
		if got := show(r); got != c.want || len(r.Problems) > 0 || !complete(t, r) || !delivers(r) {
			t.Errorf("%s: got\n%swant\n%sproblems %s", c.name, got, c.want, problems(r))
		}
	}
}

func TestRefusedPlacesAreNamed(t *testing.T) {
	for _, c := range []struct{ name, body, refs, want string }{
		{"a name twice", `{"sessionId":"s1","workspaceRefs":{"a":{"providerId":"p","providerId":"q"}}}`, "", `/workspaceRefs/a/providerId (byte 57) | duplicate object member name`},
		{"a name twice in a string", `{"sessionId":"s1","workspaceRefs":"{\"a\":1,\"a\":2}"}`, "", "/workspaceRefs (byte 34) | the JSON in this string is refused: invalid: /a (byte 7): duplicate"},
		{"another case", `{"sessionId":"s1","workspaceRefs":{"a":{"ProviderId":"p"},"b":` + one + `}}`, "s1/b local-bash v3\n", `the name "ProviderId" is "providerId" in the wrong case`},
		{"cut off", `{"sessionId":"s1","workspaceRefs":{"a"`, "", "the JSON value is cut off"},
		{"empty", ``, "", "the body is empty"},
		{"a number", `7`, "", "whole body (byte 0) | want sessions as an array or an object"},
		{"sessions of another kind", `{"sessions":7}`, "", "/sessions (byte 12) | want sessions as an array or an object"},
		{"a session of another kind", `[7,{"sessionId":"s1","workspaceRefs":{"a":` + one + `}}]`, "s1/a local-bash v3\n", "/0 (byte 1) | want a saved session as an object"},
		{"refs of another kind", `{"sessionId":"s1","workspaceRefs":true}`, "", "want refs as an array or an object"},
		{"a ref of another kind", `{"sessionId":"s1","workspaceRefs":{"a":[1]}}`, "", "want a ref as an object or a string"},
		{"no session", `[{"workspaceRefs":{"a":` + one + `}}]`, "", "nothing says which session this is"},
		{"a session id of another kind", `{"sessionId":{},"workspaceRefs":{"a":` + one + `}}`, "", "want the id of a session"},
		{"an id too long", `{"sessionId":"` + strings.Repeat("x", backend.MaxIDBytes+1) + `","workspaceRefs":{"a":` + one + `}}`, "", "longer than 4096"},
		{"the same workspace twice", `{"sessionId":"s1","workspaceRefs":[{"name":"a","providerId":"p"},{"name":"a","providerId":"q"}]}`, "s1/a p\n", "two refs of this workspace; the first counts"},
		{"a version that is none", `{"sessionId":"s1","workspaceRefs":{"a":{"providerId":"p","schemaVersion":"new"}}}`, "s1/a p\n", "/schemaVersion (byte 73) | want the schema version"},
		{"a bad line", `{"sessionId":"s1","workspaceRefs":{"a":` + one + `}}` + "\n{]\n", "s1/a local-bash v3\n", "x.json, line 2, "},
	} {
		f := plainSource(t)
		f.put(t, "x.json", c.body)
		r := f.poll(t)
		if got := problems(r); !strings.Contains(got, c.want) || show(r) != c.refs || strings.Count(got, "\n") > 0 {
			t.Errorf("%s: problems %q, want %q; refs %q", c.name, got, c.want, show(r))
		}
	}
}

func TestAllFacts(t *testing.T) {
	f := make1(t, func(_ string, o *Options) {
		o.Pointers.Sandbox = []string{"/ref/sandboxId"}
		o.Pointers.Namespace = []string{"/ref/namespace"}
		o.Pointers.SavedAt = []string{"/updatedAt"}
	})
	f.put(t, "x.json", `{"sessions":[{"sessionId":"s1","status":"paused","updatedAt":1767225600000,"workspaceRefs":{"box":
		{"providerId":"cloudflare-sandbox","ref":{"sandboxId":"sbx-9", "namespace":"ns"},"capabilities":{"shell":{},"fs":true,"code":false,"script":null},
		 "schemaVersion":4,"region":"eu","labels":{"team":"a"}}}}]}`)
	r := f.poll(t)
	if len(r.Refs) != 1 {
		t.Fatalf("%d refs; %s", len(r.Refs), problems(r))
	}
	x := r.Refs[0]
	if x.Session.Raw() != "s1" || x.Workspace.Raw() != "box" || x.Provider.String() != "cloudflare-sandbox" || x.Status.String() != "paused" ||
		x.Sandbox.Raw() != "sbx-9" || x.Namespace.Raw() != "ns" || x.SchemaVersion.Or(0) != 4 || fmt.Sprint(x.Capabilities) != "[fs shell]" {
		t.Errorf("%+v", x)
	}
	if at, ok := x.SavedAt.Get(); !ok || !at.Equal(time.Unix(1767225600, 0)) {
		t.Errorf("saved at %v", x.SavedAt)
	}
	if x.RawOpaque.Raw() != `{"sandboxId":"sbx-9","namespace":"ns"}` || x.Opaque.String() != `{"sandboxId":"sbx-9","namespace":"ns"}` {
		t.Errorf("opaque %q, drawn %q", x.RawOpaque.Raw(), x.Opaque)
	}
	if fmt.Sprint(x.Extra) != `[{region eu} {labels {"team":"a"}}]` || !strings.HasSuffix(x.Origin.String(), "/x.json") {
		t.Errorf("extra %v, origin %s", x.Extra, x.Origin)
	}
}

func TestRunStateOfAnAgentSDK(t *testing.T) {
	body := sample(t, "run_state_sandbox_payload")
	doc, err := wire.Parse(body)
	if err != nil {
		t.Fatal(err)
	}
	state, _ := doc.Find("/sandbox/session_state")
	const id = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"
	for name, want := range map[string]string{
		"whole.json": id + "/coder blaxel in agents-0a1b2c3d4e5f\n",
		"bare.json":  id + "/workspace blaxel in agents-0a1b2c3d4e5f\n",
		"older.json": id + "/coder blaxel in agents-0a1b2c3d4e5f\n",
		"none.json":  id + "/coder blaxel in agents-0a1b2c3d4e5f\n",
		"map.json":   id + "/workspace blaxel in agents-0a1b2c3d4e5f\n",
	} {
		f := make1(t, func(_ string, o *Options) { o.Layout = layoutSDK })
		switch name {
		case "whole.json":
			f.put(t, name, string(body))
		case "bare.json":
			f.put(t, name, string(state.Raw()))
		case "none.json":
			f.put(t, name, `{"sandbox":{"sessions_by_agent":{},"current_agent_name":"coder","session_state":`+string(state.Raw())+`}}`)
		case "older.json":
			f.put(t, name, `{"$schemaVersion":"1.9","sandbox":{"current_agent_name":"coder","session_state":`+string(state.Raw())+`}}`)
		default:
			f.put(t, name, `{"sandbox":{"sessions_by_agent":{"coder":`+string(state.Raw())+`}}}`)
		}
		r := f.poll(t)
		if got := show(r); got != want || len(r.Problems) > 0 {
			t.Errorf("%s: got %q, want %q; problems %s", name, got, want, problems(r))
			continue
		}
		x := r.Refs[0]
		all := fmt.Sprint(x.Extra, x.Raw, x.Opaque)
		if strings.Contains(all, "plain-text-value") || strings.Contains(all, "bl.run") || !strings.Contains(all, "EXAMPLE_TOKEN") {
			t.Errorf("%s: environment values or addresses are drawn: %s", name, all)
		}
		if x.SchemaVersion.IsKnown() || !x.SchemaVersion.IsNotApplicable() {
			t.Errorf("%s: schema version %v", name, x.SchemaVersion)
		}
	}
}

func TestHostileTextIsNeverDrawn(t *testing.T) {
	f := make1(t, func(_ string, o *Options) { o.Pointers.Sandbox = []string{"/ref/id"} })
	evil := "\x1b]0;pwned\a\u009b31m\u202e" + secret
	q := backend.QuoteJSON(evil)
	f.put(t, "x\x1b[2J\u202e.json", `{"sessionId":`+q+`,"status":`+q+`,"workspaceRefs":{`+q+`:{"providerId":`+q+`,"ref":{"id":`+q+`,"a":["https://u:p@h/x?token=abc"]},
		"capabilities":[`+q+`],`+backend.QuoteJSON(evil+"2")+`:`+q+`,"password":12345678,"env":["A=`+secret+`"],"nested":"{\"apiKey\":\"k-123456\"}"}}}`)
	f.put(t, "bad\x1b[2J.json", `{"\u001b]0;`+secret+`":{"workspaceRefs":7}}`)
	r := f.poll(t)
	if len(r.Refs) != 1 || len(r.Problems) != 1 {
		t.Fatalf("%d refs, problems %s", len(r.Refs), problems(r))
	}
	x := r.Refs[0]
	if x.Session.Raw() != evil || x.Workspace.Raw() != evil || x.Sandbox.Raw() != evil {
		t.Errorf("raw ids changed: %q", x.Session.Raw())
	}
	drawn := []backend.Safe{x.Provider, x.Status, x.Opaque, x.Origin, x.Raw, r.Problems[0].Where, r.Problems[0].What, r.Degraded}
	drawn = append(drawn, x.Capabilities...)
	drawn = append(drawn, r.Notes...)
	for _, e := range x.Extra {
		drawn = append(drawn, e.Name, e.Value)
	}
	for _, s := range drawn {
		for _, bad := range []string{"\x1b", "\u009b", "\u202e", secret, "token=abc", "12345678", "k-123456"} {
			if strings.Contains(s.String(), bad) {
				t.Errorf("%q holds %q", s, bad)
			}
		}
	}
}

func TestFileNamesCanNameSessions(t *testing.T) {
	f := make1(t, func(_ string, o *Options) {
		o.Pointers.Sessions, o.Pointers.Refs = []string{""}, []string{""}
		o.NamePattern = `^state-(?P<session>.+)\.json$`
	})
	f.put(t, "state-s1.json", one)
	f.put(t, "state-s2.json", `{"a":`+one+`,"b":{"providerId":"q"}}`)
	f.put(t, "other.json", one)
	r := f.poll(t)
	got := strings.Split(strings.TrimSpace(show(r)), "\n")
	slices.Sort(got)
	want := []string{"s1/workspace local-bash v3", "s2/a local-bash v3", "s2/b q"}
	if !slices.Equal(got, want) || len(r.Problems) != 1 || !strings.Contains(problems(r), "other.json, whole body (byte 0) | nothing says which session this is") {
		t.Errorf("refs %q, problems %s", got, problems(r))
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"sessions":[{"sessionId":"s1","workspaceRefs":{"notes":` + one + `}}]}`))
	f.Add([]byte(`[{"sessionId":1,"workspaceRefs":[` + one + `]}]` + "\n{}\n"))
	f.Add([]byte(`{"s":"{\"workspaceRefs\":\"[{}]\"}"}`))
	body := sample(f, "run_state_sandbox_payload")
	f.Add(body)
	helix := plainSource(f).src
	sdk := make1(f, func(_ string, o *Options) { o.Layout = layoutSDK }).src
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, s := range []*source{helix, sdk} {
			out := s.decode(&refFile{path: "x"}, b)
			if len(out.problems) > maxProblems || !out.read && len(out.problems) == 0 {
				t.Fatalf("%d problems, read %v", len(out.problems), out.read)
			}
			seen := map[backend.Key]bool{}
			for _, r := range out.refs {
				if r.Session.IsZero() || r.Key.ID.IsZero() || seen[r.Key] {
					t.Fatalf("ref %+v", r)
				}
				seen[r.Key] = true
			}
		}
	})
}

// TestMaskedJSONStaysJSON: what is hidden in a drawn value is a text, and how long something is good is not hidden.
func TestMaskedJSONStaysJSON(t *testing.T) {
	doc, err := wire.Parse([]byte(`{"sandbox_url":"https://x.bl.run/?t=1","exposed_port_url_ttl_s":3600,"token_id":77,"env":{"TTL":5}}`))
	if err != nil {
		t.Fatal(err)
	}
	got := formatter{backend.NewCleaner()}.text(doc.Root(), 1000).String()
	if got != `{"sandbox_url":"‹masked›","exposed_port_url_ttl_s":3600,"token_id":"‹masked›","env":{"TTL":"‹masked›"}}` || !json.Valid([]byte(got)) {
		t.Error(got)
	}
	if one := (formatter{backend.NewCleaner()}).member("token", doc.Root().Get("token_id"), 100).String(); one != masked {
		t.Errorf("a number alone: %s", one)
	}
}
