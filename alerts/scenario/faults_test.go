package scenario_test

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/alerts/rules"
	"sandglass/alerts/scenario"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// evaluateOnce evaluates one State in which every metricRule is true.
func evaluateOnce(e *alerts.Engine) []backend.Event {
	now := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	k := backend.Key{Kind: backend.KindSession, Source: "src", ID: backend.MustID("s")}
	st := &fleet.State{Number: 1, Wall: now, Sessions: fleet.NewTable(&backend.Session{Meta: backend.Meta{Key: k, ReadAt: now}, Status: backend.Text("15")})}
	st.Sources = []*fleet.SourceHealth{{Key: backend.Key{Kind: backend.KindSource, Source: "src", ID: backend.MustID("src")}, Status: fleet.StatusOK, LastOK: now}}
	_, events := e.Next(nil, st)
	return events
}

const sound = `rules = ["failed-too-long"]
[[scenario]]
name = "x"
source = [{ id = "helix", inputs = ["workspace registry"] }]
workspace = [{ id = "a/box", states = "failed", attempted = "40m", succeeded = "50m" }]
[[scenario.expect]]
at = "0s"
rule = "failed-too-long"
firing = ["a/box"]
`

// TestFaultsAreErrors holds that a file which would test something else than it says is refused, and why.
func TestFaultsAreErrors(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"unknown rule":            {`rules = ["failed-too-long"]`, `rules = ["failed-too-long", "failed-to-long"]`, `there is no rule "failed-to-long"`},
		"expected of no rule":     {`rule = "failed-too-long"`, `rule = "source-down"`, "does not run a rule of this name"},
		"unknown subject":         {`firing = ["a/box"]`, `firing = ["a/bix"]`, `there is no subject "a/bix"`},
		"unknown subject is none": {`firing = ["a/box"]`, "firing = [\"a/box\"]\nheld = [\"b/box\"]", `there is no subject "b/box"`},
		"between two steps":       {`at = "0s"`, `at = "90s"`, "no multiple of the interval of 1m"},
		"before the console":      {`name = "x"`, "name = \"x\"\nwatch = \"5m\"", "never evaluated, the console starts at 5m"},
		"while it is off":         {`name = "x"`, "name = \"x\"\nrestart = [{ at = \"0s\", down = \"5m\" }]", "the story is over before the console runs again"},
		"expects nothing":         {`firing = ["a/box"]`, "", "it expects nothing"},
		"unknown key":             {`name = "x"`, "name = \"x\"\nnmae = 1", `x.toml:4:1: there is no key "scenario.nmae"`},
		"wrong type":              {`name = "x"`, `name = 3`, "x.toml:3:8: scenario.name has another form"},
		"no list":                 {`name = "x"`, "name = \"x\"\nrestart = { at = \"1m\", down = \"1m\" }", "scenario.restart is a list"},
		"no scenario":             {sound, `rules = ["failed-too-long"]`, "there is no [[scenario]]"},
		"no such source":          {`id = "a/box"`, `source = "docker", id = "a/box"`, `there is no [[scenario.source]] "docker"`},
		"no such case":            {`name = "x"`, "name = \"x\"\ncase = \"gaps\"", `"gaps" is no case`},
		"mistyped repetition":     {`states = "failed"`, `states = "failedx-3"`, `x.toml:5:39: "failedx-3" is no state with its repetitions`},
		"bad words":               {`states = "failed"`, `states = "_xfailed"`, "no number of repetitions"},
		"bad attempts":            {`states = "failed"`, `states = "failed", attempts = "okay"`, "none of ok, fail, -"},
		"unknown input":           {`"workspace registry"`, `"workspace registri"`, `there is no input "workspace registri"`},
		"unknown metric":          {`name = "x"`, "name = \"x\"\ncount = [{ source = \"helix\", metric = \"eviction\", each = \"1\" }]", `there is no metric "eviction"`},
		"bad outage":              {`id = "helix",`, `id = "helix", outage = [{ from = "2m", to = "1m" }],`, "ends before it begins"},
		"two of a name":           {`workspace = [`, `workspace = [{ id = "a/box", states = "ready" }, `, "something else has this name"},
		"host like nothing":       {`name = "x"`, "name = \"x\"\nhost = [{ id = \"h\", states = \"okx3 fulll\" }]", `"fulll" is none of ok, full`},
		"directory on no host":    {`name = "x"`, "name = \"x\"\ntmpdir = [{ id = \"/tmp/helix-ws-a\" }]", "every directory lies on a host"},
		"directory used oddly":    {`name = "x"`, "name = \"x\"\nhost = [{ id = \"h\" }]\ntmpdir = [{ id = \"/tmp/w\", states = \"hold\" }]", `"hold" is none of held, free, unreadable`},
		"too many directories":    {`name = "x"`, "name = \"x\"\nhost = [{ id = \"h\" }]\ntmpdir = [{ id = \"/tmp/w\", count = \"20000\" }]", "more than 10000 directories"},
		"negative memory":         {`name = "x"`, "name = \"x\"\nhost = [{ id = \"h\", available = \"-5\" }]", "available: it is never below 0"},
		"reference of nothing":    {`name = "x"`, "name = \"x\"\nref = [{ id = \"a\" }]", "ref a: its id is session/name"},
		"event about nothing":     {`name = "x"`, "name = \"x\"\nevent = [{ at = \"0s\", name = \"oom\", about = \"box-9\" }]", `about: there is no "box-9"`},
		"event of a wrong kind":   {`name = "x"`, "name = \"x\"\nevent = [{ at = \"0s\", name = \"oom\", kind = \"note\" }]", "write platform or change"},
		"cloud without a region":  {`name = "x"`, "name = \"x\"\nsandbox = [{ id = \"b\", reaped = \"1h\" }]", "give its region"},
		"no kind of lifecycle":    {`name = "x"`, "name = \"x\"\nsandbox = [{ id = \"b\", region = \"usc\", lifecycle = [{ kind = \"suspend\" }] }]", `"suspend" is no kind of event`},
		"lifecycle at two times":  {`name = "x"`, "name = \"x\"\nsandbox = [{ id = \"b\", region = \"usc\", lifecycle = [{ kind = \"resumed\", at = \"1m\", ago = \"1m\" }] }]", "give either at or ago"},
		"platform read oddly":     {`name = "x"`, "name = \"x\"\nsandbox = [{ id = \"b\", region = \"usc\", platform = \"reed\" }]", `"reed" is none of read, unread`},
		"driver without a hub":    {`name = "x"`, "name = \"x\"\nsession = [{ id = \"s\", driver = \"lead\" }]", "give its sandbox"},
		"unknown driver":          {`name = "x"`, "name = \"x\"\nsession = [{ id = \"s\", sandbox = \"b\", driver = \"leads\" }]", `"leads" is none of lead, none, unread`},
		"line of no hub":          {`name = "x"`, "name = \"x\"\nreport = [{ at = \"0s\", sandbox = \"b\", text = \"hello\" }]", "a hub does not write such a line"},
		"line about nothing":      {`name = "x"`, "name = \"x\"\nreport = [{ at = \"0s\", text = \"no checkpoint data\" }]", "it names neither a session nor a sandbox"},
		"line after the end":      {`name = "x"`, "name = \"x\"\nreport = [{ at = \"9m\", sandbox = \"b\", text = \"no checkpoint data\" }]", "it never happens"},
		"event after the end":     {`name = "x"`, "name = \"x\"\nevent = [{ at = \"9m\", name = \"oom\" }]", "it never happens"},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Count(sound, c.old) < 1 {
				t.Fatal("nothing is replaced")
			}
			file := strings.Replace(sound, c.old, c.new, 1)
			if name == "expected of no rule" {
				file = strings.Replace(sound, "\nrule = ", "\nrule = \"source-down\" #", 1)
			}
			f, err := scenario.Read("x.toml", []byte(file))
			if err == nil {
				_, err = f.Run(rules.Defaults())
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("want an error with %q, got %v", c.want, err)
			}
		})
	}
	play(t, sound, rules.Defaults()...)
}

// TestDifferencesAreTold holds that every sort of expectation can fail and says what was there.
func TestDifferencesAreTold(t *testing.T) {
	for want, with := range map[string]string{
		"pending":     `pending = ["a/box"]`,
		"firing":      `firing = []`,
		"held":        `held = ["a/box"]`,
		"ended":       `ended = ["a/box"]`,
		"resolved":    `resolved = ["a/box"]`,
		"alerts":      `quiet = true`,
		"transitions": `transitions = ["1m firing"]`,
		"severity":    `severity = "info"`,
		"cause":       `cause = "bucket"`,
		"why":         `why = "bucket"`,
		"evidence":    `evidence = ["bucket"]`,
	} {
		f, err := scenario.Read("x.toml", []byte(strings.Replace(sound, `firing = ["a/box"]`, with, 1)))
		if err != nil {
			t.Fatal(err)
		}
		results, err := f.Run(rules.Defaults())
		if err != nil {
			t.Fatal(err)
		}
		if d := results[0].Differences; len(d) != 1 || d[0].What != want || d[0].Got == "" {
			t.Errorf("%s: got %+v", with, d)
		}
	}
	f, err := scenario.Read("x.toml", []byte(strings.Replace(sound, `firing = ["a/box"]`, `alerts = 2`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if results, err := f.Run(rules.Defaults()); err != nil || len(results[0].Differences) != 1 {
		t.Errorf("a wrong number of alerts is no difference: %v %v", results, err)
	}
}
