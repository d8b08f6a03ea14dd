package refs

import (
	"fmt"
	"strings"
	"testing"

	"sandglass/backend"
)

const agentSession = `"session_id":"0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"`

func agentSource(t *testing.T) *fixture {
	return make1(t, func(_ string, o *Options) { o.Layout = layoutSDK })
}

func TestEveryBackendOfTheSDKNamesItsSandbox(t *testing.T) {
	for body, want := range map[string]string{
		`"type":"unix_local"`:                                  "",
		`"type":"docker","container_id":"c1"`:                  "c1",
		`"type":"blaxel","sandbox_name":"agents-0a1b2c3d4e5f"`: "agents-0a1b2c3d4e5f",
		`"type":"e2b","sandbox_id":"i1"`:                       "i1",
		`"type":"modal","sandbox_id":"sb-1"`:                   "sb-1",
		`"type":"daytona","sandbox_id":"d1"`:                   "d1",
		`"type":"runloop","devbox_id":"dbx_1"`:                 "dbx_1",
		`"type":"cloudflare","sandbox_id":"s1"`:                "s1",
		`"type":"vercel","sandbox_id":"sbx_1"`:                 "sbx_1",
		`"type":"vercel","sandbox_id":null`:                    "",
	} {
		f := agentSource(t)
		f.put(t, "x.json", "{"+agentSession+","+body+"}")
		r := f.poll(t)
		if len(r.Refs) != 1 || len(r.Problems) > 0 || r.Refs[0].Agent == nil {
			t.Fatalf("%s: %d refs, %s", body, len(r.Refs), problems(r))
		}
		if x := r.Refs[0]; x.Sandbox.Raw() != want || x.Agent.Unnamed != strings.Contains(body, "null") || x.Agent.PauseOnExit.IsKnown() != strings.Contains(body, "blaxel") {
			t.Errorf("%s: sandbox %q, unnamed %t, pause %v", body, x.Sandbox.Raw(), x.Agent.Unnamed, x.Agent.PauseOnExit)
		}
	}
}

// TestTheAddressOfABridgeIsThatOfItsState, without what may be a secret in it.
func TestTheAddressOfABridgeIsThatOfItsState(t *testing.T) {
	f := agentSource(t)
	f.put(t, "x.json", `{`+agentSession+`,"type":"cloudflare","sandbox_id":"abc","worker_url":"https://bridge.example.workers.dev/?token=x"}`)
	if r := f.poll(t); len(r.Refs) != 1 || r.Refs[0].Agent.Address.String() != "https://bridge.example.workers.dev/" {
		t.Errorf("%+v", r.Refs)
	}
}

func TestAnInvalidStateIsAloneInvalid(t *testing.T) {
	const good = `{"session_id":"s-good","type":"blaxel","sandbox_name":"b2"}`
	for body, want := range map[string]string{
		`"type":"blaxel"`:                   "x.json, /sandbox/sessions_by_agent/a (byte 37) | a state of type blaxel needs sandbox_name",
		`"type":"blaxel","sandbox_name":""`: "a state of type blaxel needs sandbox_name",
		`"type":"e2b"`:                      "a state of type e2b needs sandbox_id",
		`"type":"blaxel","sandbox_name":"b1","timeouts":{"exec_timeout_s":0.5}`:    "/timeouts/exec_timeout_s",
		`"type":"blaxel","sandbox_name":"b1","timeouts":{"fast_op_s":0}`:           "fast_op_s is below 1 s",
		`"type":"blaxel","sandbox_name":"b1","timeouts":{"cleanup_s":true}`:        "want cleanup_s as a number of seconds",
		`"type":"blaxel","sandbox_name":"b1","timeouts":7`:                         "want timeouts as an object",
		`"type":"blaxel","sandbox_name":"b1","pause_on_exit":"yes"`:                "want pause_on_exit as true or false",
		`"type":"blaxel","sandbox_name":"b1","manifest":{"root":5}`:                "want the manifest's root as text",
		`"type":"blaxel","sandbox_name":"b1","memory":"much"`:                      "want memory as a whole number of MB",
		`"type":"blaxel","sandbox_name":"b1","Timeouts":{"exec_timeout_s":300}`:    "wrong case",
		`"type":"blaxel","sandbox_name":"b1","timeouts":{"workspace_tar_s":"NaN"}`: "want workspace_tar_s as a number of seconds",
	} {
		f := agentSource(t)
		f.put(t, "x.json", `{"sandbox":{"sessions_by_agent":{"a":{`+agentSession+","+body+`},"b":`+good+`}}}`)
		r := f.poll(t)
		if len(r.Refs) != 1 || r.Refs[0].Session.Raw() != "s-good" || len(r.Problems) != 1 || !strings.Contains(problems(r), want) {
			t.Errorf("%s: %s problems %q, want %q", body, show(r), problems(r), want)
		}
		if want != "wrong case" && len(r.Problems) == 1 && (r.Problems[0].Subject.Kind != backend.KindRef || r.Problems[0].Subject.Parent.IsZero()) {
			t.Errorf("%s: the problem is about %v", body, r.Problems[0].Subject)
		}
	}
}

func TestAllFactsOfASessionState(t *testing.T) {
	f := agentSource(t)
	f.put(t, "x.json", `{`+agentSession+`,"type":"blaxel","sandbox_name":"b1","image":"img:1","memory":2048,"region":"eu-lon-1","ttl":"24h",
		"manifest":{"version":1,"root":"/work","environment":{"value":{"SHARED":"v-manifest-1","ONLY":{"value":"v-manifest-2"}}}},
		"base_env_vars":{"SHARED":"v-base-1","EXTRA":"v-base-2"},"labels":{"team":"a","auth":"v-label"},"exposed_ports":[3000,8081],
		"snapshot":{"type":"noop","id":"n1"},"timeouts":{"exec_timeout_s":600,"cleanup_s":30,"fast_op_s":"45"}}`)
	r := f.poll(t)
	if len(r.Refs) != 1 {
		t.Fatalf("%d refs; %s", len(r.Refs), problems(r))
	}
	x := r.Refs[0].Agent
	if x.Root.String() != "/work" || x.RootDefault || x.Snapshot.String() != "noop" || x.SnapshotID.Raw() != "n1" || x.Memory.Or(0) != 2048 ||
		x.TTL.String() != "24h" || x.PauseOnExit.Or(true) || fmt.Sprint(x.Ports, x.Image, x.Region) != "[3000 8081] img:1 eu-lon-1" {
		t.Errorf("%+v", x)
	}
	if got := fmt.Sprint(x.Env); got != "[{EXTRA base} {ONLY manifest} {SHARED manifest}]" {
		t.Errorf("environment %s", got)
	}
	if got := fmt.Sprint(x.Labels); got != "[{auth ‹masked›} {team a}]" {
		t.Errorf("labels %s", got)
	}
	want := "[{exec_timeout_s 600 300 true} {cleanup_s 30 30 true} {file_upload_s 1800 1800 false} {file_download_s 1800 1800 false} {workspace_tar_s 300 300 false} {fast_op_s 45 30 true}]"
	if got := fmt.Sprint(x.Timeouts); got != want {
		t.Errorf("timeouts %s", got)
	}
	if !x.Timeouts[0].Changed() || x.Timeouts[1].Changed() {
		t.Error("the changed timeout is not told from the others")
	}
	if all := backend.Textf("%+v %+v", r.Refs[0], *x).String() + fmt.Sprint(r.Refs[0].Extra, r.Refs[0].Raw); strings.Contains(all, "v-base") || strings.Contains(all, "v-manifest") || strings.Contains(all, "v-label") {
		t.Errorf("a value is drawn: %s", all)
	}
}

// TestPauseOnExitTellsWhetherItIsSaved: a state without the key deletes the sandbox, as one that says false.
func TestPauseOnExitTellsWhetherItIsSaved(t *testing.T) {
	for member, want := range map[string]string{"": "false true", `,"pause_on_exit":false`: "false false", `,"pause_on_exit":true`: "true false"} {
		f := agentSource(t)
		f.put(t, "x.json", `{`+agentSession+`,"type":"blaxel","sandbox_name":"b1"`+member+`}`)
		r := f.poll(t)
		if len(r.Refs) != 1 {
			t.Fatalf("%s: %s", member, problems(r))
		}
		if x := r.Refs[0].Agent; fmt.Sprint(x.PauseOnExit.Or(true), x.PauseDefault) != want {
			t.Errorf("%q: %v, default %t, want %s", member, x.PauseOnExit, x.PauseDefault, want)
		}
	}
}

// TestEnvironmentOfOtherKinds: each kind of sandbox keeps its variables under a key of its own; their values are never drawn.
func TestEnvironmentOfOtherKinds(t *testing.T) {
	f := agentSource(t)
	f.put(t, "x.json", `{`+agentSession+`,"type":"e2b","sandbox_id":"b1","base_envs":{"TOK":"v-one","DB":"v-two"},"envs":{"X":"v-three"},"manifest":{"environment":{"value":{"DB":"v-four"}}}}`)
	r := f.poll(t)
	if len(r.Refs) != 1 || fmt.Sprint(r.Refs[0].Agent.Env) != "[{DB manifest} {TOK base} {X base}]" {
		t.Fatalf("%+v; %s", r.Refs, problems(r))
	}
	if all := fmt.Sprintf("%+v", *r.Refs[0]) + r.Refs[0].Raw.String(); strings.Contains(all, "v-") || len(r.Refs[0].Extra) != 1 { // its session_id
		t.Errorf("a value is drawn, or a name twice: %s", all)
	}
}

// TestDrivesOfASessionState: where the manifest has drives of Blaxel, by the path that wins; buckets are no drives.
func TestDrivesOfASessionState(t *testing.T) {
	f := agentSource(t)
	f.put(t, "x.json", `{"session_id":"s2","type":"blaxel","sandbox_name":"b1","manifest":{"root":"/srv","entries":{"models":{"type":"blaxel_drive_mount","drive_name":"m"},
		"x":{"type":"blaxel_drive_mount","drive_name":"d","mount_path":"/other","drive_mount_path":"/data/"},"bucket":{"type":"s3_mount","bucket":"b"},
		"deep":{"type":"dir","children":{"inner":{"type":"blaxel_drive_mount","drive_name":"i","mount_path":"in"}}},"odd":7}}}`)
	r := f.poll(t)
	if len(r.Refs) != 1 {
		t.Fatalf("%d refs; %s", len(r.Refs), problems(r))
	}
	if got := backend.Join(r.Refs[0].Agent.Drives, " ").String(); got != "/data /srv/in /srv/models" {
		t.Errorf("drives %s", got)
	}
	if got := backend.Join(r.Refs[0].Agent.OtherMounts, " ").String(); got != "/srv/bucket (s3_mount)" {
		t.Errorf("other mounts %s", got)
	}
}

func TestDefaultsOfASessionState(t *testing.T) {
	body := sample(t, "run_state_sandbox_payload")
	f := agentSource(t)
	f.put(t, "x.json", string(body))
	f.put(t, "y.json", `{"session_id":"s2","type":"blaxel","sandbox_name":"b1","image":null,"region":null,"memory":null,"ttl":null}`)
	r := f.poll(t)
	if len(r.Refs) != 2 {
		t.Fatalf("%d refs; %s", len(r.Refs), problems(r))
	}
	for _, x := range r.Refs {
		if a := x.Agent; len(a.Drives) != 0 || !a.RootDefault || a.Root.String() != agentRoot || len(a.Timeouts) != len(backend.AgentTimeouts()) || a.Timeouts[0].Seconds != 300 || a.Image.String() == "null" || a.Region.String() == "null" {
			t.Errorf("%+v", a)
		}
	}
}

// TestARootOfASessionStateIsCleaned where that changes nothing; one that is not absolute stays as it is.
func TestARootOfASessionStateIsCleaned(t *testing.T) {
	for root, want := range map[string]string{"/workspace/": "/workspace true false", "/a//b": "/a/b false false", "relative/dir": "relative/dir false true", "/a/../b": "/a/../b false true"} {
		f := agentSource(t)
		f.put(t, "x.json", `{`+agentSession+`,"type":"blaxel","sandbox_name":"b1","manifest":{"root":"`+root+`","entries":{"d":{"type":"s3_mount"}}}}`)
		r := f.poll(t)
		if len(r.Refs) != 1 {
			t.Fatalf("%s: %s", root, problems(r))
		}
		x := r.Refs[0].Agent
		if got := fmt.Sprint(x.Root, x.RootDefault, backend.LooseRoot(x.Root.String())); got != want {
			t.Errorf("%s: %s, want %s", root, got, want)
		}
		if loose := strings.Contains(x.OtherMounts[0].String(), "not absolute"); loose != (root == "relative/dir") {
			t.Errorf("%s: mounts %v", root, x.OtherMounts)
		}
	}
}

// TestARunStateTellsItsVersion: its own, not that of another file; a state without one has none, and a local one has a directory.
func TestARunStateTellsItsVersion(t *testing.T) {
	f := agentSource(t)
	f.put(t, "a.json", `{"$schemaVersion":"1.99","sandbox":{"session_state":{"session_id":"s1","type":"blaxel","sandbox_name":"b1"}}}`)
	f.put(t, "b.json", `{"session_id":"s2","type":"unix_local","workspace_root":"/srv/agents/s2"}`)
	got := map[string]string{}
	for _, r := range f.poll(t).Refs {
		got[r.Session.Raw()] = r.Agent.Version.String() + " " + r.Agent.Directory.String()
	}
	if got["s1"] != "1.99 " || got["s2"] != " /srv/agents/s2" {
		t.Errorf("%v", got)
	}
	for version, known := range map[string]bool{"1.0": true, "1.17": true, "1.18": false, "1.99": false, "2.1": false, "1.07": false, "": false, "1.": false} {
		if backend.RunStateKnown(version) != known {
			t.Errorf("%q is known: %t", version, !known)
		}
	}
}

// TestASnapshotIDThatIsAnAddressIsMasked: a remote snapshot may be named by an address with a user and a key, of which nothing is kept.
func TestASnapshotIDThatIsAnAddressIsMasked(t *testing.T) {
	for id, want := range map[string]string{
		"https://u:S3cr3tsnap@snap.example/x?sig=S3cr3tsig": "https://‹masked›@snap.example/x?sig=‹masked›",
		"5f0e4a9c-1111-4222-8333-444455556666":              "5f0e4a9c-1111-4222-8333-444455556666",
	} {
		f := agentSource(t)
		f.put(t, "x.json", `{`+agentSession+`,"type":"blaxel","sandbox_name":"b1","snapshot":{"type":"remote","id":"`+id+`"}}`)
		r := f.poll(t)
		if len(r.Refs) != 1 || r.Refs[0].Agent.SnapshotID.Raw() != want {
			t.Errorf("%s: %+v", id, r.Refs)
		}
	}
}

// TestWhatSnapshotsLeaveOutOfASession: entries marked ephemeral, mounts that say nothing else, and where those are mounted below the root;
// of any kind of sandbox, sorted, each once, a few of many.
func TestWhatSnapshotsLeaveOutOfASession(t *testing.T) {
	f := agentSource(t)
	f.put(t, "x.json", `{"session_id":"s2","type":"docker","container_id":"c1","manifest":{"root":"/srv/","entries":{"src":{"type":"dir","children":{"./tmp/":{"type":"dir","ephemeral":true},"kept":{"type":"file"}}},
		"cache":{"type":"dir","ephemeral":true},"bucket":{"type":"s3_mount","mount_path":"/srv/data/b"},"out":{"type":"gcs_mount","mount_path":"/mnt"},"kept":{"type":"s3_mount","ephemeral":false},
		"../up":{"type":"file","ephemeral":true},".":{"type":"dir","ephemeral":true},"esc\u001b[31m":{"type":"file","ephemeral":true},"odd":{"type":"file","ephemeral":"yes"},"file":{"type":"file","children":{"no":{"type":"file","ephemeral":true}}}}}}`)
	r := f.poll(t)
	if len(r.Refs) != 1 {
		t.Fatalf("%d refs; %s", len(r.Refs), problems(r))
	}
	if x := r.Refs[0].Agent; backend.Join(x.Skips, " ").String() != "bucket cache data/b esc␛[31m out src/tmp" || x.SkipsMore != 0 || len(x.Drives)+len(x.OtherMounts) != 0 {
		t.Errorf("%v and %d", x.Skips, x.SkipsMore)
	}
	var many []string
	for i := range 10_000 {
		many = append(many, fmt.Sprintf(`"%05d%s":{"type":"dir","ephemeral":true}`, i, strings.Repeat("x", 300)))
	}
	f.put(t, "x.json", `{"session_id":"s2","type":"blaxel","sandbox_name":"b1","manifest":{"entries":{`+strings.Join(many, ",")+`}}}`)
	x := f.poll(t).Refs[0].Agent
	if len(x.Skips) != backend.MaxSkipsKept || x.SkipsMore != 10_000-backend.MaxSkipsKept || len([]rune(x.Skips[0].String())) > 201 || !strings.HasPrefix(x.Skips[49].String(), "00049") {
		t.Errorf("%d and %d: %s", len(x.Skips), x.SkipsMore, x.Skips[0])
	}
}
