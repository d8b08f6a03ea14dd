package subjects

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/filter"
	"sandglass/views/theme"
)

var styles = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// TestAStateTellsItsTimeouts: each of them with its origin, a changed one with the default that it replaces; and what a state
// without a sandbox or without a snapshot means.
func TestAStateTellsItsTimeouts(t *testing.T) {
	key := backend.Key{Kind: backend.KindRef, Source: "store", Parent: backend.MustID("s1"), ID: backend.MustID("workspace")}
	x := &backend.AgentState{Root: backend.Text("/workspace"), RootDefault: true, Snapshot: backend.Text("noop"), Unnamed: true, Version: backend.Text("1.99"), PauseOnExit: backend.Known(false), PauseDefault: true,
		Memory: backend.NotApplicable[int](), Env: []backend.AgentVariable{{Name: backend.Text("REGION"), Origin: backend.Text("manifest")}},
		Timeouts: []backend.AgentTimeout{{Name: backend.Text("exec_timeout_s"), Seconds: 600, Default: 300, Saved: true},
			{Name: backend.Text("cleanup_s"), Seconds: 30, Default: 30, Saved: true}, {Name: backend.Text("fast_op_s"), Seconds: 30, Default: 30}}}
	st := fleet.NewFolder(time.Minute).Fold([]backend.Answer{{Source: "store", Config: &backend.SourceConfig{Kind: "refs", Interval: time.Minute}},
		{Source: "store", Reading: &backend.Reading{Source: "store", Refs: []*backend.Ref{{Meta: backend.Meta{Key: key, ReadAt: noon}, Session: key.Parent, Agent: x}},
			Scopes: []backend.Scope{{Kind: backend.KindRef, Complete: true}}}}}, backend.Instant{Wall: noon})
	f := &views.Frame{Snapshot: views.NewSnapshot(noon, st, nil), Theme: theme.New(theme.NoColours, theme.ASCII)}
	doc, _ := Doc(key, f)
	page := strings.Join(strings.Fields(styles.ReplaceAllString(strings.Join(doc.Layout(f.Theme, 300), "\n"), "")), " ")
	for _, want := range []string{"exec_timeout_s 600 s changed: the default is 300 s", "cleanup_s 30 s from the state, as the default", "fast_op_s 30 s the default",
		"/workspace the default", "noop it keeps nothing", "not saved the SDK takes it out", "pause on exit no the default, as the state does not name it: the end of the session deletes the sandbox", "REGION from manifest, value not shown", "inventory unknown its SDK took the name of its sandbox out, with the credentials of a mount", "run state version 1.99 not known to Sandglass"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	row, err := refJSON(st.Refs.Get(key), f.Snapshot)
	if err != nil || !strings.Contains(string(row), `"compared":{"result":"unknown"`) {
		t.Errorf("%s, %v", row, err)
	}
}

// TestASandboxStandsBesideItsState: where the state is from, what differs, its six timeouts, who made a preview, and filters by label.
func TestASandboxStandsBesideItsState(t *testing.T) {
	safe := func(s string) backend.Safe { return backend.Clean(s, 200) }
	ref := &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "store", Parent: backend.MustID("s1"), ID: backend.MustID("coder")}, ReadAt: noon},
		Session: backend.MustID("s1"), Provider: safe("blaxel"), Sandbox: backend.MustID("agents-1"), SavedAt: backend.Known(noon.Add(-time.Hour)), Origin: safe("state-s1.json"),
		SchemaVersion: backend.NotApplicable[int](),
		Agent: &backend.AgentState{Root: safe("/workspace"), RootDefault: true, Snapshot: safe("local"), Region: safe("us-pdx-1"), TTL: safe("12h"), Ports: []int{3000}, PortsPublic: backend.Known(false), PortTTL: backend.Known(3600.0),
			PauseOnExit: backend.Known(true), Labels: []backend.Field{{Name: safe("team"), Value: safe("blue")}},
			Timeouts: []backend.AgentTimeout{{Name: safe("exec_timeout_s"), Seconds: 900, Default: 300, Saved: true}, {Name: safe("workspace_tar_s"), Seconds: 300, Default: 300}, {Name: safe("fast_op_s"), Seconds: 30, Default: 30}}}}
	ref.Agent.Drives = []backend.Safe{safe("/data"), safe("/srv")}
	ref.Agent.Skips, ref.Agent.SkipsMore = []backend.Safe{safe("build"), safe("cache")}, 3
	ref.Agent.OtherMounts = []backend.Safe{safe("/bkt (s3_mount)")}
	other := *ref
	other.Key.Parent, other.Session, other.SavedAt, other.Origin = backend.MustID("s2"), backend.MustID("s2"), backend.Known(noon.Add(-90*time.Minute)), safe("state-s2.json")
	other.Agent = &backend.AgentState{Root: safe("/workspace")}
	preview := func(name, address string, port int) backend.Preview {
		return backend.Preview{Name: safe(name), Port: backend.Known(port), Public: backend.Known(false), URL: safe(address), Control: port == 443}
	}
	box := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: backend.MustID("agents-1")}, ReadAt: noon}, Name: safe("agents-1"), Provider: safe("blaxel"), IsSandbox: true,
		CreatedAt: backend.Known(noon.Add(-2 * time.Hour)), Class: backend.SandboxRunning, Reported: safe("DEPLOYED RUNNING"), Labels: []backend.Field{{Name: safe("team"), Value: safe("blue")}},
		CloudFacts: backend.CloudFacts{Region: safe("eu-lon-1"), TTL: safe("24h"), Address: safe("http://evil.example/x"), PreviewsAt: noon, Previews: []backend.Preview{preview("port-3000", "https://a.preview.bl.run/app", 3000),
			preview("mine", "http://b.preview.bl.run:8081", 4000), preview("session-1", "https://c.preview.bl.run", 443)}}}
	box.Previews[1].Public, box.Previews[1].Expires = backend.Known(true), backend.Known(noon.Add(-time.Minute))
	box.Previews[0].Tokens = []backend.PreviewToken{{Name: safe("old"), Expires: backend.Known(noon.Add(-time.Hour)), Expired: backend.Known(true)}, {Name: safe("new"), Expires: backend.Known(noon.Add(time.Hour))}}
	box.ReapedAt, box.ReapedBy, box.OpenLimits = noon.Add(time.Hour), safe("its policy of 2h without use"), []backend.Safe{safe("its ttl of x from creation has no end that is understood")}
	box = box.WithObserved([]backend.Verdict{{Plane: backend.PlaneControl, Outcome: backend.OutcomeOK, Passive: true, At: noon,
		Inside: &backend.Inside{At: noon, Root: safe("/workspace"), Answered: true, Mounts: []backend.Safe{safe("/srv")}, LeftOut: backend.LeftOut{Skips: []backend.Safe{safe("cache"), safe("logs")}}, Owners: []backend.Safe{safe("node"), safe("root")}}}})
	st := fleet.NewFolder(time.Minute).Fold([]backend.Answer{{Source: "store", Config: &backend.SourceConfig{Kind: "refs", Interval: time.Minute}}, {Source: "bl", Config: &backend.SourceConfig{Kind: "blaxel", Interval: time.Minute}},
		{Source: "store", Reading: &backend.Reading{Source: "store", Kind: "refs", At: noon, Refs: []*backend.Ref{ref, &other}, Scopes: []backend.Scope{{Kind: backend.KindRef, Complete: true}}}},
		{Source: "bl", Reading: &backend.Reading{Source: "bl", Kind: "blaxel", At: noon, Sandboxes: []*backend.Sandbox{box}, Scopes: []backend.Scope{{Kind: backend.KindSandbox, Complete: true}},
			Problems: []backend.Problem{{Kind: backend.ErrInvalid, Where: safe("sandbox agents-1"), What: safe("it is not https below one of hosts: the key is not sent there"), Subject: box.Key}}}},
		{Source: "log", Config: &backend.SourceConfig{Kind: "logs", Interval: time.Minute}}, {Source: "log", Reading: &backend.Reading{Source: "log", Kind: "logs", At: noon, Counts: []backend.Count{
			{Series: backend.Series{Source: "log", Name: backend.MetricSDKExec, Session: backend.MustID("s1")}, At: noon.Add(-time.Minute), N: 2, Sample: safe("ExecTimeoutError: sh: permission denied")},
			{Series: backend.Series{Source: "log", Name: backend.MetricPersistFailed, Session: backend.MustID("s1")}, At: noon.Add(-time.Minute), N: 1, Sample: safe("tar: no room (phase: tar)")},
			{Series: backend.Series{Source: "log", Name: backend.MetricSDKExec, Session: backend.MustID("s2")}, At: noon, N: 9, Sample: safe("another session")}}}}}, backend.Instant{Wall: noon})
	f := &views.Frame{Snapshot: views.NewSnapshot(noon, st, nil), Theme: theme.New(theme.NoColours, theme.ASCII)}
	doc, _ := Doc(box.Key, f)
	page := strings.Join(strings.Fields(styles.ReplaceAllString(strings.Join(doc.Layout(f.Theme, 300), "\n"), "")), " ")
	for _, want := range []string{"address http://evil.example/x it is not https below one of hosts: the key is not sent there", "commands 2 lines, the newest at 11:59:00Z: ExecTimeoutError: sh: permission denied it waited 900 s, by its saved state, and saw it as final", "saves 1 line, the newest at 11:59:00Z: tar: no room (phase: tar) its SDK does not try again after tar failed",
		"owners what is in /workspace belongs to node and root: another user may not change it", "not mounted /data the saved state declares it",
		"terminals need address: missing the saved state does not name it", "WebSocket library: cannot tell", "Commands do not need them",
		"origin state-s1.json", "inventory moved its sandbox is in another region than the state says", "region: us-pdx-1 in the state, eu-lon-1 in the inventory", "ttl: 12h in the state, 24h in the inventory", "ttl 24h", "root /workspace the default", "snapshot local not in snapshots build by its manifest cache by its manifest logs by the tar of the newest save that a probe saw 3 more paths",
		"exposed ports 3000", "pause on exit yes", "exec_timeout_s 900 s changed: the default is 300 s", "fast_op_s 30 s the default",
		"also named by state-s2.json the saved state of session s2", "other mounts /bkt (s3_mount) whether it is mounted is not known: no probe looks for it", "mine port 4000 was public, ended 1m ago, at 11:59:00Z", "token old, ended 1h ago, at 11:00:00Z token new, until 13:00:00Z",
		"removed at 13:00:00Z by its policy of 2h without use, if nothing uses it before limits its ttl of x from creation has no end that is understood",
		"of the agent's SDK, by its name; port 3000 is declared by the saved state", "https://a.preview.bl.run/app TLS, port 443; the agent's SDK drops the path",
		"port 4000 is not among the exposed ports of the saved state", "http://b.preview.bl.run:8081 without TLS, port 8081", "a credential: its address opens the sandbox's own API https://c.preview.bl.run TLS, port 443"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	doc, _ = Doc(ref.Key, f)
	if own := strings.Join(strings.Fields(styles.ReplaceAllString(strings.Join(doc.Layout(f.Theme, 300), "\n"), "")), " "); !strings.Contains(own, "cache by its manifest logs by the tar of the newest save") {
		t.Errorf("its own page:\n%s", own)
	}
	read, _ := st.Sandbox(box.Key).Inside()
	read.Processes = []backend.SandboxProcess{{PID: safe("42"), Command: safe("tar -C /workspace -cf /tmp/bl-persist-0a1b2c3d4e5f.tar ."), Reported: safe("running"), Class: backend.WorkRunning, StartedAt: noon.Add(-time.Minute)}}
	doc, _ = Doc(box.Key, f)
	page = strings.Join(strings.Fields(styles.ReplaceAllString(strings.Join(doc.Layout(f.Theme, 300), "\n"), "")), " ")
	if !strings.Contains(page, "snapshot a save or restore of its files was under way then (process 42): mounts may be absent until it ends absent then /data the saved state declares it") || strings.Contains(page, "not mounted") {
		t.Errorf("during a save:\n%s", page)
	}
	for _, list := range []Listing{Refs().Listing(), Sandboxes().Listing()} {
		for expression, want := range map[string]int{"labels:team=blue": 1, "labels:team=red": 0, "!labels:team=blue": 0} {
			parsed, err := filter.Parse(expression, "labels")
			n := 0
			for row := range list.Each(f.Snapshot) {
				if parsed.Match(row) && row.Key().Parent.Raw() != "s2" {
					n++
				}
			}
			if err != nil || n != want {
				t.Errorf("%s %s: %d rows, %v", list.Kind, expression, n, err)
			}
		}
	}
}
