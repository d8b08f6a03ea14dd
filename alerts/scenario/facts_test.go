package scenario

import (
	"reflect"
	"strings"
	"testing"

	"sandglass/alerts"
	"sandglass/alerts/rules"
	"sandglass/backend"
)

// everything is a story that uses every key by which a story tells what a source reads.
const everything = `
rules = ["failed-too-long"]
[[scenario]]
name = "everything"
source = [{ id = "a", inputs = ["workspace registry", "session list", "container state", "cloud sandboxes", "scratch directories", "host memory and disk", "persisted refs"], registry = "answers",
  trouble = [{ from = "1m", to = "2m", degraded = "half of it", workspaces_unknown = true, incomplete = true, clock = "90s", problem = "one session is invalid" }] }]
session = [{ id = "s", tenant = "acme", states = "running", answer = "ok", started = "1h", runtime = "js", version = "7.1", sdk = "0.10", branched_from = "p", sandbox = "c1", driver = "none", no_driver = "1m", error = "it did not connect" }]
workspace = [{ id = "s/box", provider = "docker", states = "failed", attempts = "ok fail", error = "no", attempted = "1m", succeeded = "1m", sandbox = "c1", namespace = "n",
    share_across_sessions = true, inherit_workspaces = true, destroy_on_close = true, sleep_after = "10m", close_timeout = "30s", reset_after = "5m", concurrency = 4, retry_attempts = 3, max_file_size = "10MB" },
  { id = "s/old", states = "open", attempted = "1m", times = "op" }]
sandbox = [{ id = "c1", session = "s", workspace = "box", name = "box-1", image = "agent:1", provider = "docker", states = "exited", exit_code = 3, oom_killed = true, created = "2h", started = "1h", ended = "1m",
  restarts = "0 1 2", restart_policy = "always", start_error = "no such file", memory_limit = "512MB", memory = "94", health = "unhealthy", start_period = "30s", log = ["fatal"], observed = "exec:exec-timeout+fs-list:ok",
    region = "usc", known = "1h", platform = "read", lifecycle = [{ kind = "suspended", ago = "1h", checkpoint = "c" }] },
  { id = "c2", states = "asleep", region = "usc", reaped = "1h" }]
execution = [{ id = "s/e", sandbox = "c1", type = "exec", states = "failed", command = "ls", exit_code = 1, error = "no" }]
job = [{ id = "s/j", states = "completed", command = "watch", exit_code = 0 }]
host = [{ id = "h", oom_kills = "3" }]
tmpdir = [{ id = "/tmp/helix-ws-a", states = "held", size = "1MB", changed = "1h" }, { id = "/tmp/helix-ws-b", states = "unreadable" }]
ref = [{ id = "s/box", provider = "docker", sandboxes = "c1", namespace = "n", schema_version = 3, saved = "1h" }]
memory = [{ session = "s", limit = "1GB", used = "900" }]
report = [{ at = "1m", sandbox = "c1", text = "no checkpoint data" }]
event = [{ at = "1m", name = "rollout", kind = "change", text = "release 7" }]
count = [{ source = "a", metric = "reads", session = "s", workspace = "box", sandbox = "c1", provider = "docker", each = "1 1 1", sample = "read /x" }]
[[scenario.expect]]
at = "2m"
rule = "failed-too-long"
ended = []
`

// beyond are fields that no story tells, with the reason.
func beyond() map[string]string {
	const views = "no rule reads it; views draw it"
	const cloud = "worlds with the demo's server of the platform tell it"
	return map[string]string{
		"Sandbox.Org": cloud, "Sandbox.Runtime": cloud, "Sandbox.JoinedBy": cloud, "Sandbox.JoinedLine": cloud,
		"Sandbox.Views": cloud, "Execution.KnownSince": cloud, "Execution.Driver": cloud, "Execution.Nudge": cloud,
		"Job.KnownSince": cloud, "Job.Driver": cloud, "Job.Nudge": cloud,
		"Sandbox.Application": cloud, "Sandbox.ObjectClass": cloud, "Sandbox.Script": cloud, "Sandbox.Container": cloud, "Sandbox.BridgeID": cloud, "Sandbox.Unattributed": cloud,
		"Sandbox.FreshAt": cloud, "Sandbox.Doubt": cloud, "Sandbox.Born": "plans compare it; no rule reads it", "Sandbox.FreshAfter": cloud, "Reading.Failing": cloud, "Reading.AnsweredAt": cloud, "Reading.Every": cloud, "Reading.EveryWhy": cloud, "Sandbox.Power": views, "Sandbox.Address": views, "Sandbox.LastUsedAt": views, "Sandbox.ExpiresAt": cloud, "Sandbox.ExpiresBy": cloud, "Sandbox.ReapedBy": cloud, "Sandbox.OpenLimits": views, "Sandbox.NoPorts": views, "Sandbox.TTL": views, "Sandbox.EnvNames": views, "Sandbox.ToldBy": views, "Sandbox.NoEnv": views,
		"Sandbox.Previews": cloud, "Sandbox.PreviewsAt": cloud, "Sandbox.Snapshots": views, "Sandbox.SnapshotsAt": views, "Reading.Pools": cloud,
		"Meta": "the fleet and the player fill it", "Workspace.Extra": views, "Workspace.Unreadable": "an unreadable entry is _ in its states", "Workspace.LostSuccess": "the fleet fills it",
		"Workspace.WorkedAt": "the fleet fills it", "Session.AnswerText": views, "Session.WorkspaceRefs": "refs are tables of their own",
		"Sandbox.Mounts": "scratch directories are tables of their own", "Sandbox.MountsCut": views, "Sandbox.Labels": "labels are session and workspace",
		"Sandbox.WorkDir": views, "Sandbox.Command": views, "Sandbox.Ports": views, "Sandbox.Watched": "every machine of a story is a sandbox, or plain", "Host.MemPressure": "diagnoses read it; it raises no alert", "Host.LimitKillsCut": "control groups of stories are whole", "Tmpdir.Born": views, "Tmpdir.Cut": "sizes of stories are whole", "Tmpdir.CutWhy": views,
		"Tmpdir.Owner": views, "Tmpdir.Mode": views, "Ref.Capabilities": views, "Ref.Status": "the session's states tell it", "Ref.Opaque": views, "Ref.RawOpaque": views, "Ref.Extra": views, "Ref.Agent": views, "Ref.Origin": views,
		"Execution.Extra": views, "Job.Extra": views, "Execution.QueuedAt": "its states tell it", "Execution.StartedAt": "its states tell it", "Execution.EndedAt": "its states tell it",
		"Job.QueuedAt": "its states tell it", "Job.StartedAt": "its states tell it", "Job.EndedAt": "its states tell it", "Job.Sandbox": "as of executions", "Job.Error": "as of executions",
		"Reading.Schema": "the player fills it", "Reading.Kind": "the player fills it", "Reading.Partial": "a story has no slices", "Reading.Stale": "_ in the states", "Reading.Ended": "stale in the states",
		"Workspace.Moved": "the fleet fills it", "Session.Closing": "it is destroy_on_close of its workspaces", "Reading.Unseen": "a list that loses sessions is told by stale in their states",
		"Reading.Unlisted": "a list that loses sessions is told by stale in their states", "Reading.Rejections": "get rejections and a page read it; rules count the lines", "Reading.Unread": "trouble with degraded tells it", "Reading.Asked": "the states of sessions tell what their routes answered",
		"Reading.Confirmed": "a story sends everything", "Reading.OwnGone": "a story lists its sandboxes; the rule has a test of its own", "Reading.Missing": "inputs that are not named", "Reading.Facts": "diagnoses read them; they raise no alert", "Reading.Notes": views, "Reading.Load": views,
		"Reading.OtherIDs": "a story lists sandboxes under the ids of its references", "Sandbox.NamedBy": "a story lists its sandboxes", "Sandbox.Unlisted": "a story lists its sandboxes",
		"Reading.Refuses": "plans read it; no rule does", "Reading.Exposed": "a story has no service that could be open; the rule has a test of its own", "Reading.Bookmarks": "they are for the next process", "Reading.Client": "pages name it; no rule reads it", "Reading.Engine": "it says of which engine a list is, for the next process", "Reading.Stopped": "it is about files, of which a story has none", "Reading.Undated": "check prints it; no rule reads it", "Reading.ClockGuessed": "the clock of a story is told",
	}
}

// TestNotationTellsWhatSourcesRead holds that every field of a reading and of what it lists can be told by a story, or is named
// with the reason why not: a rule that reads something new needs a key by which a test can tell it.
func TestNotationTellsWhatSourcesRead(t *testing.T) {
	f, err := Read("x.toml", []byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	all := map[string]bool{}
	look := func(name string, v reflect.Value) { fields(name, v, all, told) }
	s := &f.Scenarios[0]
	known := []string{"failed-too-long"}
	p, err := makePlan(s, known)
	if err != nil {
		t.Fatal(err)
	}
	y := &player{plan: p, engine: alerts.NewEngine(nil, "x"), world: newWorld(p), history: newAlertHistory()}
	y.reset()
	for step := range 2 {
		if err := y.step(step); err != nil {
			t.Fatal(err)
		}
		r := y.poll(&s.Sources[0], step).Reading
		look("Reading", reflect.ValueOf(*r))
		for _, x := range y.world.entities {
			e := reflect.ValueOf(x.entity(backend.Meta{Key: x.key})).Elem()
			look(e.Type().Name(), e)
		}
	}
	for name := range all {
		if why := beyond()[name]; (why == "") == !told[name] {
			t.Errorf("%s: told by the story %t, said to be beyond it: %q", name, told[name], why)
		}
	}
	for name := range beyond() {
		if !all[name] {
			t.Errorf("there is no field %s", name)
		}
	}
	if _, err := f.Run(rules.Defaults()); err != nil {
		t.Error(err)
	}
}

// fields notes the fields of a value, those that are embedded as its own, and which of them hold something.
func fields(name string, v reflect.Value, all, told map[string]bool) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Anonymous && f.Name != "Meta" {
			fields(name, v.Field(i), all, told)
			continue
		}
		key := name + "." + f.Name
		if f.Name == "Meta" {
			key = f.Name
		}
		if all[key] = true; f.Name == "Meta" || strings.HasSuffix(key, ".Seen") {
			delete(all, key)
			all["Meta"] = true
			continue
		}
		told[key] = told[key] || holds(v.Field(i))
	}
}

// holds reports whether a field says something: neither zero, nor unknown, nor not applicable.
func holds(v reflect.Value) bool {
	if m := v.MethodByName("IsKnown"); m.IsValid() {
		return m.Call(nil)[0].Bool()
	}
	return !v.IsZero() && (v.Kind() != reflect.Slice || v.Len() > 0)
}
