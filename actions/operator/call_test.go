package operator

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/wire"
)

// hostileIDs would leave their place if anything were pasted together.
var hostileIDs = []string{"a b", "../../admin?x=1#y", `"},"all":true,"x":"`, "$(reboot); `id` | sh", "-rf", "%2e%2e", "é\u202e", "a\nb: c", "{session}", "x\x00y", `\`, "'"}

func FuzzFill(f *testing.F) {
	for _, id := range hostileIDs {
		f.Add(id, id)
	}
	call := Call{URL: "https://h.example/s/{session}/w/{workspace}?q={id}", Method: "POST", Body: `{"s":"{session}","n":{"w":"{workspace}"}}`,
		Command: []string{"tool", "--", "{session}", "--w={workspace}"}}
	f.Fuzz(func(t *testing.T, session, name string) {
		s, err := backend.NewID(session)
		n, err2 := backend.NewID(name)
		if err != nil || err2 != nil {
			return
		}
		k := backend.Key{Kind: backend.KindWorkspace, Source: "h", Parent: s, ID: n}
		if o, err := call.order(values(k, nil)); err == nil {
			u, err := url.Parse(o.URL)
			if err != nil || u.Host != "h.example" {
				t.Fatalf("%q, %q: %s %v", session, name, o.URL, err)
			}
			parts := strings.Split(u.EscapedPath(), "/")
			if len(parts) != 5 || parts[1] != "s" || parts[3] != "w" || u.Query().Get("q") != session+"/"+name || len(u.Query()) != 1 || u.Fragment != "" {
				t.Fatalf("%q, %q leave their place: %s", session, name, o.URL)
			}
			if got, err := url.PathUnescape(parts[2]); err != nil || got != session {
				t.Fatalf("%q became %q", session, got)
			}
			var body struct {
				S string
				N struct{ W string }
			}
			d := json.NewDecoder(strings.NewReader(string(o.Body)))
			d.DisallowUnknownFields()
			if err := d.Decode(&body); err != nil || body.S != strings.ToValidUTF8(session, "\ufffd") && body.S != string([]rune(session)) {
				t.Fatalf("%q: the body became %s (%v)", session, o.Body, err)
			}
		} else if session != "." && session != ".." && name != "." && name != ".." {
			t.Fatalf("%q, %q: %v", session, name, err)
		}
		argv, err := call.argv(values(k, nil))
		switch {
		case strings.Contains(session+name, "\x00"):
			if err == nil {
				t.Fatalf("a zero byte became an argument: %q", argv)
			}
		case err != nil || len(argv) != 4 || argv[2] != session || argv[3] != "--w="+name:
			t.Fatalf("%q, %q became %q (%v)", session, name, argv, err)
		}
	})
}

func TestValues(t *testing.T) {
	box := backend.Key{Kind: backend.KindSandbox, Source: "d", ID: backend.MustID("c0ffee")}
	identity := []actions.Fact{{Name: "id", Value: "not this"}, {Name: factName, Value: "agent-1"}, {Name: factSession, Value: "s-1"}, {Name: factWorkspace, Value: ""}}
	for _, c := range []struct {
		key        backend.Key
		name, want string
	}{
		{box, "id", "c0ffee"}, {box, "sandbox", "c0ffee"}, {box, "name", "agent-1"}, {box, "session", "s-1"}, {box, "source", "d"},
		{box, "workspace", ""}, {box, "provider", ""},
		{workspaceKey("s", "w"), "id", "s/w"}, {workspaceKey("s", "w"), "name", "w"}, {workspaceKey("s", "w"), "workspace", "w"}, {workspaceKey("s", "w"), "session", "s"},
		{backend.Key{Kind: backend.KindSession, Source: "h", ID: backend.MustID("s")}, "session", "s"},
		{backend.Key{Kind: backend.KindSession, Source: "h", ID: backend.MustID("s")}, "workspace", ""},
	} {
		got, err := values(c.key, identity)(c.name)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("{%s} of %v: %q, %v", c.name, c.key, got, err)
		}
	}
	call := Call{Command: []string{"tool", "{session}"}}
	if argv, err := call.argv(values(workspaceKey("-rf", "w"), nil)); err == nil {
		t.Errorf("a value became an option: %q", argv)
	}
	headers := Call{URL: "http://h/{session}", Headers: map[string]string{"x-room": "{session}"}}
	if o, err := headers.order(values(workspaceKey("a\r\nX-Evil: 1", "w"), nil)); err == nil {
		t.Errorf("a line break became a header: %v", o.Header)
	}
}

// TestNoShellReadsAValue: an operator may name a shell, or ssh, which runs one far away; what somebody else called a
// session is then a word or nothing.
func TestNoShellReadsAValue(t *testing.T) {
	for _, c := range []struct {
		command []string
		reads   bool
	}{
		{[]string{"sh", "-c", "stop {session}"}, true},
		{[]string{"docker", "exec", "box", "/bin/bash", "-lc", "stop {session}"}, true},
		{[]string{"sudo", "su", "agent", "--command", "stop {session}"}, true},
		{[]string{"ssh", "far", "stop", "{session}"}, true},
		{[]string{"/usr/bin/ssh", "-o", "BatchMode=yes", "far", "--", "stop", "{session}"}, true},
		{[]string{"sh", "-c", "stop \"$1\"", "--", "{session}"}, false},
		{[]string{"bash", "/opt/stop.sh", "--", "{session}"}, false},
		{[]string{"curl", "-c", "jar", "--", "{session}"}, false},
		{[]string{"python3", "-c", "stop('{session}')"}, true},
		{[]string{"env", "A=b", "timeout", "5", "nice", "-n", "5", "perl", "-ne", "stop '{session}'"}, true},
		{[]string{"perl", "-lane", "stop '{session}'"}, true},
		{[]string{"gdb", "-ex", "{session}"}, true},
		{[]string{"jq", "-n", "{session}"}, true},
		{[]string{"sqlite3", "x.db", "delete from t where id={session}"}, true},
		{[]string{"sudo", "-u", "agent", "node", "--eval=stop('{session}')"}, true},
		{[]string{"/usr/bin/ruby", "-e", "{session}"}, true},
		{[]string{"kubectl", "exec", "box", "--", "sh", "-c", "stop {session}"}, true},
		{[]string{"psql", "agents", "-c", "select stop('{session}')"}, true},
		{[]string{"sitetool", "--eval", "stop('{session}')"}, true},
		{[]string{"env", "-S", "stop {session}"}, true},
		{[]string{"gawk", "{session}"}, true},
		{[]string{"sh", "-c", "--", "{session}"}, true},
		{[]string{"sh", "-cx", "{session}"}, true},
		{[]string{"bash", "-c", "-l", "{session}"}, true},
		{[]string{"sh", "-c", "+x", "{session}"}, true},
		{[]string{"bash", "-c", "-O", "extglob", "{session}"}, true},
		{[]string{"env", "--", "sh", "-c", "--", "{session}"}, true},
		{[]string{"php", "-R", "{session}"}, true},
		{[]string{"php", "-B", "{session}"}, true},
		{[]string{"php", "-r", "--", "{session}"}, true},
		{[]string{"erl", "-eval", "{session}"}, true},
		{[]string{"su", "--session-command={session}"}, true},
		{[]string{"su", "-c", "--", "{session}"}, true},
		{[]string{"cmd.exe", "/c", "{session}"}, true},
		{[]string{`C:\Windows\CMD.EXE`, "/k", "stop {session}"}, true},
		{[]string{"git", "-c", "alias.x=!{session}", "x"}, true},
		{[]string{"sed", "s/x/{session}/e", "f"}, true},
		{[]string{"tar", "-cf", "/dev/null", "--checkpoint-action=exec={session}", "x"}, true},
		{[]string{"vim", "+!{session}"}, true},
		{[]string{"bash", "-c", "-l", "stop \"$1\"", "--", "{session}"}, false},
		{[]string{"bash", "-eu", "-o", "pipefail", "/opt/stop.sh", "--", "{session}"}, false},
		{[]string{"tar", "-czf", "/backup/a.tgz", "--", "{session}"}, false},
		{[]string{"docker", "exec", "-e", "ID={session}", "box", "stop"}, false},
		{[]string{"python3", "-c", "import sys; stop(sys.argv[1])", "--", "{session}"}, false},
	} {
		call := Call{Command: c.command}
		for _, id := range hostileIDs {
			argv, err := call.argv(values(sessionKey(id), nil))
			if (err != nil) != (c.reads || strings.Contains(id, "\x00")) {
				t.Errorf("%q with %q: %q, %v", c.command, id, argv, err)
			}
		}
		if argv, err := call.argv(values(sessionKey("s-91/a.b:c@d+1"), nil)); err != nil {
			t.Errorf("%q: a plain word is refused: %q, %v", c.command, argv, err)
		}
	}
}

func sessionKey(id string) backend.Key {
	return backend.Key{Kind: backend.KindSession, Source: "h", ID: backend.MustID(id)}
}

func TestRefusals(t *testing.T) {
	const head = "name = \"stop\"\nof = \"session\"\neffect = \"stops it\"\n"
	for _, c := range []struct{ text, want string }{
		{head, `f.toml:1:3: [[action]] "stop" needs "url": give a url or a command`},
		{strings.Replace(head, "session", "host", 1) + `url = "http://h/{session}"`, `f.toml:3:6: "of" in [[action]] "stop": "host" cannot be acted on`},
		{strings.Replace(head, "stops it", "", 1) + `url = "http://h/{session}"`, `f.toml:4:10: "effect"`},
		{head + `url = "http://h/x"`, `f.toml:5:7: "url" in [[action]] "stop": says the same for every session: put one of {session}, {name}, {id} into it`},
		{head + `url = "http://h/{source}"`, `says the same for every session`},
		{head + `url = "http://{session}/x"`, `cannot be part of the host`},
		{head + `url = "http://u:p@h/{session}"`, `holds a user or password`},
		{head + `url = "http://h/{sesion}"`, `f.toml:5:7: "url" in [[action]] "stop": {sesion} is not known of a session; known: {id}, {name}, {session}, {source}`},
		{head + `url = "http://h/{workspace}"`, `{workspace} is not known of a session`},
		{head + "url = \"http://h/{session}\"\nmethod = \"GET\"", `f.toml:6:10: "method"`},
		{head + "url = \"http://h/{session}\"\nbody = '{\"a\": {session}}'", `is not a JSON document with its placeholders inside strings`},
		{head + "url = \"http://h/{session}\"\nbody = 'a={session}'", `is not a JSON document`},
		{head + "url = \"http://h/{session}\"\nheaders = { \"a b\" = \"x\" }", `cannot be a header`},
		{head + "url = \"http://h/{session}\"\ncommand = [\"x\"]", `give a url or a command, not both`},
		{head + `command = ["{session}"]`, `must begin with the program to run`},
		{head + "command = [\"x\", \"{session}\"]\nbody = '{}'", `has neither body nor headers`},
		{head + "command = [\"x\", \"{session}\"]\nact.env = \"ACT\"", `is for requests`},
		{head + "command = [\"x\", \"{session}\"]\npass = [\"A=B\"]", `cannot be the name of an environment variable`},
		{head + "url = \"http://h/{session}\"\nact.env = \"A\"\nact.file = \"/b\"", `"act" in [[action]] "stop": give exactly one of env, file and command`},
		{head + "url = \"http://h/{session}\"\nconfirm = \"enter\"", `f.toml:6:11: "confirm" in [[action]] "stop": unknown confirmation "enter"; write twice, yes, name or count`},
		{head + "url = \"http://h/{session}\"\nverify = \"success advances\"", `only workspaces report a last success`},
		{head + "url = \"http://h/{session}\"\nverify = \"state = failed\"", `is not a condition; write none, gone, success advances, ref == planned, state == WORD or state != WORD`},
		{head + "url = \"http://h/{session}\"\nper_minute = 0", `0 is outside 1 to 600`},
		{head + "url = \"http://h/{session}\"\ndeadline = \"0s\"", `must be longer than 0s and at most 2m0s`},
		{head + "url = \"http://h/{session}\"\ndeadline = \"1h\"", `at most 2m0s`},
	} {
		if v, err := verb(t, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n got %v (%v)\nwant %s", c.text, err, v, c.want)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"[source.reset]\nurl = \"http://h/{session}\"", ""}, // one workspace per session
		{"[source.reset]\nurl = \"http://h/{sandbox}?p={provider}\"", ""},
		{"reset.url = \"http://h/x\"", "says the same for every workspace"},
		{"act.env = \"A\"\nact.command = [\"b\"]", "give exactly one"},
		{"reset.url = \"h/{session}\"", "f.toml:5:13: \"reset.url\" in [[source]] \"h\": not an absolute http or https URL"},
	} {
		_, _, err := HelixKind(printed).Build(helixSite(t, c.text))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.text, err, c.want)
		}
	}
}

// TestExamplesWork holds that the printed examples are complete.
func TestExamplesWork(t *testing.T) {
	for _, e := range Examples() {
		v := *e.Block
		opts := given{&v}
		got, err := NewVerb(e.Name, opts)
		if err != nil {
			t.Errorf("%s: %v", e.Name, err)
			continue
		}
		if s := got.spec; !s.Custom || s.Effect == "" || s.Cap != actions.CapShare || s.PerMinute != 60 {
			t.Errorf("%s: %+v", e.Name, s)
		}
	}
}

// given are options that are there already.
type given struct{ block *Block }

func (g given) Decode(into any) error {
	*into.(*Block) = *g.block
	return nil
}

func (g given) Refuse(key, format string, args ...any) error {
	return backend.Errorf(backend.ErrInvalid, key, format, args...)
}

// TestWhatIsSentIsPartOfTheTarget holds that a plan names the request, and that another request is another target.
func TestWhatIsSentIsPartOfTheTarget(t *testing.T) {
	id := sessionKey("s-1")
	sent := func(c Call, header string) string {
		credential := wire.Credential{Header: header, Env: "ACT"}
		if header == "" {
			credential = wire.Credential{}
		}
		text, err := c.sends(values(id, nil), credential)
		if err != nil {
			t.Fatal(err)
		}
		return text.value
	}
	base := func() Call {
		return Call{URL: "http://h/{session}?a=b", Method: "POST", Body: `{"id":"{session}"}`, Headers: map[string]string{"X-A": "1"}}
	}
	was := sent(base(), "Authorization")
	if !strings.HasPrefix(was, `POST http://h/s-1?a=b, headers Content-Type X-A, a credential in Authorization, body {"id":"s-1"}, sum `) || sent(base(), "Authorization") != was {
		t.Errorf("sends %q", was)
	}
	for name, change := range map[string]func(c *Call){
		"method": func(c *Call) { c.Method = "DELETE" }, "address": func(c *Call) { c.URL = "http://g/{session}?a=b" },
		"query": func(c *Call) { c.URL = "http://h/{session}?a=c" }, "body": func(c *Call) { c.Body = `{"id":"{session}","force":true}` },
		"header": func(c *Call) { c.Headers = map[string]string{"X-B": "1"} }, "value": func(c *Call) { c.Headers["X-A"] = "2" },
		"command": func(c *Call) { c.URL, c.Command = "", []string{"stop", "{session}"} },
	} {
		c := base()
		if change(&c); sent(c, "Authorization") == was {
			t.Errorf("another %s is the same target: %s", name, was)
		}
	}
	if sent(base(), "X-Key") == was {
		t.Error("another header for the credential is the same target")
	}
	if sent(base(), "") == was {
		t.Error("a request without a credential is the same target")
	}
	if elsewhere, err := (&Call{URL: base().URL, Method: base().Method, Body: base().Body, Headers: base().Headers}).sends(values(id, nil),
		wire.Credential{Header: "Authorization", File: "/run/other"}); err != nil || elsewhere.value == was {
		t.Errorf("a credential of another place is the same target (%v)", err)
	}
	passes := Call{Command: []string{"stop", "{session}"}, Pass: []string{"TOKEN"}}
	if sent(passes, "") == sent(Call{Command: []string{"stop", "{session}", "TOKEN"}}, "") {
		t.Error("a variable that is passed is the same as an argument")
	}
	one, two := Call{Command: []string{"stop", "a b", "{session}"}}, Call{Command: []string{"stop", "a", "b", "{session}"}}
	if sent(one, "") == sent(two, "") {
		t.Error("arguments that are cut elsewhere are the same target")
	}
}

// TestAPlanShowsWhatRuns holds that the plan of a command shows all of its arguments, and the plan of a request its address,
// the names of its headers and its body, without what is secret.
func TestAPlanShowsWhatRuns(t *testing.T) {
	id := sessionKey("s-1")
	run := Call{Command: []string{"sqlite3", "/srv/x.db", "delete from runs", "{session}", "--token", "abcdefgh"}}
	got, err := run.sends(values(id, nil), wire.Credential{})
	if err != nil || got.name != "command" || got.shown != "sqlite3 /srv/x.db 'delete from runs' s-1 --token '‹masked›'" || !strings.HasPrefix(got.value, got.shown+", sum ") {
		t.Errorf("%+v %v", got, err)
	}
	send := Call{URL: "http://h/{session}?key=abcdefgh&why=x", Method: "POST", Body: `{"id":"{session}","password":"hunter22"}`, Headers: map[string]string{"X-Team": "ops"}}
	got, err = send.sends(values(id, nil), wire.Credential{})
	if want := `POST http://h/s-1?key=‹masked›&why=x, headers Content-Type X-Team, body {"id":"s-1","password":"‹masked›"}`; err != nil || got.name != "request" || got.shown != want {
		t.Errorf("%+v %v", got, err)
	}
}
