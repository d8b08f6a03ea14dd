package config_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"sandglass/backend"
	"sandglass/config"
)

type resetOptions struct {
	Lifetime string     `toml:"lifetime" doc:"a plain key of the actions"`
	Act      credential `toml:"act" doc:"the acting credential"`
	Reset    request    `toml:"reset" doc:"how it is reset"`
}

type request struct {
	URL     string   `toml:"url" doc:"where it goes"`
	Method  string   `toml:"method" doc:"the method"`
	Command []string `toml:"command" doc:"or argv"`
}

type verbOptions struct {
	request
	Effect string     `toml:"effect" doc:"what it does"`
	Act    credential `toml:"act" doc:"the acting credential"`
}

func acting() config.Catalog {
	k := known()
	k.Actions = []config.ActionKind{
		{Kind: "helix", Verbs: []string{"reset"}, Defaults: func() any { return &resetOptions{Reset: request{Method: "POST"}} }},
		{Kind: "docker", Verbs: []string{"destroy", "pause"}},
	}
	verb := func() *verbOptions { return &verbOptions{request: request{Method: "POST"}} }
	example := verb()
	example.URL, example.Effect = "https://agents.example/stop", "stops it"
	brief := verb()
	brief.Effect = "does something else"
	k.Operator = config.OperatorKind{Defaults: func() any { return verb() }, Examples: []config.ActionExample{
		{Name: "interrupt", Summary: "Stops a run.", Options: example}, {Name: "other", Summary: "Is brief.", Options: brief}}}
	return k
}

const actingFile = `
[[source]]
id = "h"
kind = "helix"
url = "http://127.0.0.1/{session}"
lifetime = "48h"
actions = ["reset", "interrupt"]
[source.read]
env = "READ"
[source.act]
header = "x-act"
env = "ACT"
[source.reset]
url = "http://127.0.0.1/{session}/reset?key=hunter2"

[[source]]
id = "d"
kind = "docker"
actions = ["pause"]

[[source]]
id = "t"
kind = "tmpdir"

[[action]]
name = "interrupt"
effect = "stops the run"
command = ["/usr/bin/stop", "{session}"]
act.command = ["pass", "act"]
`

func TestActions(t *testing.T) {
	c, err := config.Parse([]byte(actingFile), "f.toml", acting())
	if err != nil {
		t.Fatal(err)
	}
	h := c.Source("h")
	if fmt.Sprint(h.Actions, c.Source("d").Actions, c.Source("t").Actions) != "[reset interrupt] [pause] []" {
		t.Errorf("verbs: %v %v", h.Actions, c.Source("d").Actions)
	}
	reading, doing := known().Kinds[0].Defaults().(*helixOptions), &resetOptions{}
	if err := errors.Join(h.Options.Decode(reading), h.ActionOptions.Decode(doing)); err != nil {
		t.Fatal(err)
	}
	if reading.Read.Env != "READ" || doing.Act.Env != "ACT" || doing.Lifetime != "48h" || !strings.Contains(doing.Reset.URL, "/reset") {
		t.Errorf("options: %+v and %+v", reading, doing)
	}
	if got := fmt.Sprint(h.Credentials()); got != "[Authorization from the environment variable READ]" {
		t.Errorf("reading credentials: %s", got)
	}
	if got := h.ActCredential(); got != "x-act from the environment variable ACT" || h.SharesCredential() {
		t.Errorf("acting credential: %s, shared %t", got, h.SharesCredential())
	}
	if got := fmt.Sprint(h.ActionRoutes()); strings.Contains(got, "hunter2") || !strings.Contains(got, "{POST http://127.0.0.1/{session}/reset?… reset true}") {
		t.Errorf("routes: %s", got)
	}
	a := c.Action("interrupt")
	if a == nil || fmt.Sprint(a.ActionRoutes(), a.ActCredential()) != "[{run /usr/bin/stop interrupt true}]Authorization from the command pass act" {
		t.Errorf("[[action]]: %+v", a)
	}
	into := &verbOptions{}
	if err := a.Options.Decode(into); err != nil || into.Effect != "stops the run" {
		t.Errorf("%+v, %v", into, err)
	}
	if err := a.Options.Refuse("effect", "too short"); err == nil || !strings.HasPrefix(err.Error(), "f.toml:27:10: ") {
		t.Errorf("a refusal without its place: %v", err)
	}
	same, err := config.Parse([]byte(strings.Replace(actingFile, `env = "ACT"`, `env = "READ"`, 1)), "f.toml", acting())
	if err != nil || !same.Source("h").SharesCredential() {
		t.Errorf("one credential for both is not noticed (%v)", err)
	}
	for _, s := range config.Local().Sources {
		if len(s.Actions) > 0 || s.ActionOptions == nil {
			t.Errorf("without a configuration %s allows %v", s.ID, s.Actions)
		}
	}
}

func TestActionErrors(t *testing.T) {
	helix := "[[source]]\nid = \"h\"\nkind = \"helix\"\nurl = \"x\"\n"
	for _, c := range []struct{ file, want string }{
		{helix + `actions = ["rest"]`, `5:12: unknown verb "rest" in "actions" of [[source]] "h", a source of kind "helix"; did you mean "reset"?`},
		{helix + `actions = ["destroy"]`, `5:12: unknown verb "destroy" in "actions" of [[source]] "h", a source of kind "helix"; destroy is a verb of docker`},
		{"[[source]]\nid = \"t\"\nkind = \"tmpdir\"\nactions = [\"x\"]", `4:12: unknown verb "x" in "actions" of [[source]] "t", a source of kind "tmpdir"; there are none`},
		{helix + `actions = ["reset", "reset"]`, `5:21: "reset" is twice in "actions" of [[source]] "h"`},
		{helix + `actions = "reset"`, `5:11: "actions" in [[source]] "h" must be a list, not text`},
		{helix + "lifetme = \"1h\"", `5:1: unknown key "lifetme" in [[source]] "h"; did you mean "lifetime"?`},
		{helix + "reset.ulr = \"1h\"", `5:7: unknown key "ulr" in [[source]] "h" [reset]; did you mean "url"?`},
		{"[[source]]\nid = \"d\"\nkind = \"docker\"\n[source.reset]\nurl = \"x\"", `4:9: unknown key "reset" in [[source]] "d": reset is a verb of helix, not of docker`},
		{"[[action]]\nname = \"Stop it\"", `2:8: "name" in [[action]] "Stop it": a verb is written with a-z, 0-9 and -, begins with a letter and has at most 40 characters`},
		{"[[action]]\neffect = \"x\"", `1:3: [[action]] number 1 needs "name": a verb is written with a-z, 0-9 and -, begins with a letter and has at most 40 characters`},
		{"[[action]]\nname = \"pause\"", `2:8: "name" in [[action]] "pause": this verb is Sandglass's own; choose another word`},
		{"[[action]]\nname = \"a\"\n[[action]]\nname = \"a\"", `4:8: "name" in [[action]] "a": the [[action]] in line 1 has this name already`},
		{"[[action]]\nname = \"a\"\nurll = \"x\"", `3:1: unknown key "urll" in [[action]] "a"; did you mean "url"?`},
		{"action = [{name = \"a\"}]", `1:11: write this table under a header of its own, for example [[source]]`},
	} {
		_, err := config.Parse([]byte(c.file), "f.toml", acting())
		if err == nil || strings.ReplaceAll(err.Error(), "f.toml:", "") != c.want {
			t.Errorf("%q:\n got %v\nwant %s", c.file, err, c.want)
		}
	}
}

func TestActionsShownAndInTheExample(t *testing.T) {
	c, err := config.Parse([]byte(actingFile), "f.toml", acting())
	if err != nil {
		t.Fatal(err)
	}
	shown, err := c.Show(acting(), backend.NewCleaner())
	if err != nil {
		t.Fatal(err)
	}
	again, err := config.Parse([]byte(shown), "f.toml", acting())
	if err != nil {
		t.Fatalf("%v in\n%s", err, shown)
	}
	if second, err := again.Show(acting(), backend.NewCleaner()); err != nil || second != shown {
		t.Errorf("%v: shown again it is\n%s\nnot\n%s", err, second, shown)
	}
	example := config.Example(acting())
	all := regexp.MustCompile(`(?m)^#(\S)`).ReplaceAllString(example, "$1")
	c, err = config.Parse([]byte(all), "all.toml", acting())
	if err != nil {
		t.Fatalf("%v in\n%s", err, all)
	}
	if len(c.Actions) != 2 || !strings.Contains(example, "# What can be done to it: destroy, pause\n") {
		t.Errorf("%d actions in\n%s", len(c.Actions), example)
	}
	_, brief, _ := strings.Cut(example, `#name = "other"`)
	if brief, _, _ = strings.Cut(brief, "\n\n"); strings.Contains(brief, "method") || !strings.Contains(brief, "does something else") {
		t.Errorf("the second example is not brief:\n%s", brief)
	}
}

func TestOverlap(t *testing.T) {
	k := acting()
	if got := k.Overlap(k.Kinds[0]); len(got) != 0 {
		t.Errorf("%v", got)
	}
	k.Actions[0].Defaults = func() any { return &struct{ URL, Interval, Other string }{} }
	if got := fmt.Sprint(k.Overlap(k.Kinds[0])); got != "[interval url]" {
		t.Errorf("overlap %s", got)
	}
}
