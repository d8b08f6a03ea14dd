package config_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/config"
)

type credential struct {
	Header  string   `toml:"header" doc:"the header"`
	Env     string   `toml:"env" doc:"environment variable"`
	Command []string `toml:"command" doc:"argv"`
}

type pattern struct {
	Name     string `toml:"name" doc:"its name"`
	Contains string `toml:"contains" doc:"literal text"`
}

type helixOptions struct {
	URL      string            `toml:"url" doc:"health route"`
	Headers  map[string]string `toml:"headers" doc:"plain headers"`
	Sessions []string          `toml:"sessions" doc:"static list"`
	Rate     float64           `toml:"requests_per_second" doc:"budget"`
	Idle     backend.Duration  `toml:"idle_interval" doc:"idle sessions"`
	MaxBody  backend.Size      `toml:"max_body" doc:"limit"`
	Series   int               `toml:"max_series" doc:"bound"`
	Active   bool              `toml:"expect_active" doc:"whether some run"`
	States   map[string]string `toml:"states" doc:"words"`
	Words    []string          `toml:"words" doc:"running words"`
	Read     credential        `toml:"read" doc:"the reading credential"`
	Patterns []pattern         `toml:"pattern" doc:"more patterns"`
}

type tmpdirOptions struct {
	Roots []string `toml:"roots" doc:"roots"`
}

type ruleCommon struct {
	Enabled bool             `toml:"enabled" doc:"whether it is judged"`
	For     backend.Duration `toml:"for" doc:"how long it must hold"`
}

type stormOptions struct {
	ruleCommon
	Rate float64 `toml:"rate" doc:"per second"`
}

func known() config.Catalog {
	return config.Catalog{
		Kinds: []backend.SourceKind{
			{Name: "helix", Summary: "registries", Defaults: func() any {
				return &helixOptions{Rate: 10, Idle: backend.Duration(5 * time.Minute), MaxBody: 64e6, Active: true,
					States: map[string]string{"failed": "failed"}, Words: []string{"running", "active"}}
			}},
			{Name: "docker", Summary: "containers", Defaults: func() any { return &struct{}{} }},
			{Name: "tmpdir", Summary: "scratch directories", Defaults: func() any { return &tmpdirOptions{Roots: []string{"/tmp"}} }},
		},
		Rules: []config.RuleKind{{Name: "eviction-storm", Summary: "many evictions", Defaults: func() any {
			return &stormOptions{ruleCommon: ruleCommon{Enabled: true}, Rate: 0.2}
		}}},
	}
}

const good = `
environment = "prod-eu"
longest_operation = "2m"

[[source]]
id = "helix-eu"
kind = "helix"
interval = "7s"
about = ["tmp"]
url = "http://127.0.0.1/{session}"
headers = { "x-partykit-room" = "{session}" } # why
sessions = [
  "a", # first
  'b',
]
requests_per_second = 3
max_body = "1MiB"
states = { zorp = "healthy" }
words = ["busy"]
read.env = "TOKEN"
[[source.pattern]]
name = "one"
contains = """
x"""
[[source.pattern]]
name = "two"

[[source]]
kind = "tmpdir"
id = "tmp"

[[declare]]
source = "helix-eu"
provider = "docker"
destroy_on_close = false
sleep_after = "5m"

[rules]
eviction-storm.rate = 0.5
`

func TestParse(t *testing.T) {
	c, err := config.Parse([]byte(good), "sandglass.toml", known())
	if err != nil {
		t.Fatal(err)
	}
	if c.Environment != "prod-eu" || c.LongestOperation != 2*time.Minute || c.Production || len(c.Sources) != 2 {
		t.Errorf("general keys: %+v", c)
	}
	s := c.Source("helix-eu")
	if s == nil || s.Interval != 7*time.Second || s.Deadline != 10*time.Second || s.Kind != "helix" || fmt.Sprint(s.About) != "[tmp]" {
		t.Fatalf("common keys: %+v", s)
	}
	o := known().Kinds[0].Defaults().(*helixOptions)
	if err := s.Options.Decode(o); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%+v", *o)
	want := "{URL:http://127.0.0.1/{session} Headers:map[x-partykit-room:{session}] Sessions:[a b] Rate:3 Idle:5m " +
		"MaxBody:1048576 Series:0 Active:true States:map[failed:failed zorp:healthy] Words:[busy] " +
		"Read:{Header: Env:TOKEN Command:[]} Patterns:[{Name:one Contains:x} {Name:two Contains:}]}"
	if got != want {
		t.Errorf("options:\n got %s\nwant %s", got, want)
	}
	r := known().Rules[0].Defaults().(*stormOptions)
	if err := c.Rule("eviction-storm").Decode(r); err != nil || r.Rate != 0.5 || !r.Enabled {
		t.Errorf("rule: %+v, %v", r, err)
	}
	d := c.DeclarationsFor("helix-eu")
	if len(d) != 1 || d[0].Provider.String() != "docker" || d[0].Session != "*" || !d[0].DestroyOnClose.IsKnown() ||
		d[0].SleepAfter.Or(0) != 5*time.Minute || d[0].ShareAcrossSessions.IsKnown() {
		t.Errorf("declarations: %+v", d)
	}
	if n := len(c.DeclarationsFor("tmp")); n != 0 {
		t.Errorf("%d declarations for another source", n)
	}
}

func TestRefuse(t *testing.T) {
	c, err := config.Parse([]byte(good), "f.toml", known())
	if err != nil {
		t.Fatal(err)
	}
	o := c.Source("helix-eu").Options
	for _, x := range []struct{ key, want string }{
		{"url", `f.toml:10:7: "url" in [[source]] "helix-eu": is wrong`},
		{"headers.x-partykit-room", `f.toml:11:33: "headers.x-partykit-room" in [[source]] "helix-eu": is wrong`},
		{"sessions[1]", `f.toml:14:3: "sessions[1]" in [[source]] "helix-eu": is wrong`},
		{"read.env", `f.toml:20:12: "read.env" in [[source]] "helix-eu": is wrong`},
		{"pattern[1].name", `f.toml:26:8: "pattern[1].name" in [[source]] "helix-eu": is wrong`},
		{"pattern[0].contains", `f.toml:23:12: "pattern[0].contains" in [[source]] "helix-eu": is wrong`},
		{"pattern[1].class", `f.toml:25:10: "pattern[1].class" in [[source]] "helix-eu": is wrong`},
		{"list_url", `f.toml:5:3: [[source]] "helix-eu" needs "list_url": is wrong`},
	} {
		if got := o.Refuse(x.key, "is %s", "wrong").Error(); got != x.want {
			t.Errorf("%s:\n got %s\nwant %s", x.key, got, x.want)
		}
	}
}

const head = "[[source]]\nid = \"h\"\nkind = \"helix\"\n"

func TestErrors(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"enviroment = \"x\"", `1:1: unknown key "enviroment" in the file; did you mean "environment"?`},
		{"environment = 5", `1:15: "environment" in the file must be text, not a whole number`},
		{"environment = \"Prod EU\"", `1:15: "environment" in the file: "Prod EU" holds 'P'; only a-z, 0-9, and - _ . inside are allowed`},
		{"production = \"yes\"", `1:14: "production" in the file must be true or false, not text`},
		{"longest_operation = 300", `1:21: "longest_operation" in the file: "300" is not a duration; write for example 90s, 10m, 48h or 7d`},
		{"longest_operation = \"0s\"", `1:21: "longest_operation" in the file: must be longer than 0s`},
		{head + "refesh = 1\n  intervall = \"1s\"", `4:1: unknown key "refesh" in [[source]] "h"; known: about, actions, deadline, expect_active, headers, id, idle_interval, interval, kind, max_body, max_series, pattern, read, requests_per_second, sessions, states, url, words
5:3: unknown key "intervall" in [[source]] "h"; did you mean "interval"?`},
		{head + "Url = 'x'", `4:1: unknown key "Url" in [[source]] "h"; did you mean "url"?`},
		{head + "url = 'ü'; uri = 1", `4:10: this is not valid TOML: expected newline but got U+003B ';'`},
		{head + "headers = { 'ü' = 5 }", `4:19: "ü" of "headers" in [[source]] "h" must be text, not a whole number`},
		{head + "sessions = ['a', 5, true]", "4:18: an element of \"sessions\" in [[source]] \"h\" must be text, not a whole number\n" +
			"4:21: an element of \"sessions\" in [[source]] \"h\" must be text, not true or false"},
		{head + "sessions = 'a'", `4:12: "sessions" in [[source]] "h" must be a list, not text`},
		{head + "requests_per_second = -1", `4:23: "requests_per_second" in [[source]] "h" must not be negative`},
		{head + "requests_per_second = nan", `4:23: "requests_per_second" in [[source]] "h" must be a finite number`},
		{head + "max_series = -3", `4:14: "max_series" in [[source]] "h" must not be negative`},
		{head + "max_series = 99999999999999999999", `4:14: "max_series" in [[source]] "h" is out of range`},
		{head + "max_series = 1.5", `4:14: "max_series" in [[source]] "h" must be a whole number, not a number`},
		{head + "idle_interval = 5", `4:17: "idle_interval" in [[source]] "h": "5" is not a duration; write for example 90s, 10m, 48h or 7d`},
		{head + "idle_interval = \"-5s\"", `4:17: "idle_interval" in [[source]] "h": "-5s" is not a duration; write for example 90s, 10m, 48h or 7d`},
		{head + "max_body = \"5 parsecs\"", `4:12: "max_body" in [[source]] "h": "5 parsecs" is not a size; write for example 100kB, 64MB or 1GiB`},
		{head + "max_body = [1]", `4:12: "max_body" in [[source]] "h" must be text, not a list`},
		{head + "url = 2020-01-01", `4:7: "url" in [[source]] "h" must be text, not a date or time`},
		{head + "[source.read]\nenvv = \"T\"", `5:1: unknown key "envv" in [[source]] "h" [read]; did you mean "env"?`},
		{head + "[[source.pattern]]\nname = 'a'\n[[source.pattern]]\ncontain = 'b'", `7:1: unknown key "contain" in [[source]] "h" [[pattern]]; did you mean "contains"?`},
		{head + "read = 5", `4:8: "read" in [[source]] "h" must be a table, not a whole number`},
		{head + "url = 'a'\nurl = 'b'", `5:1: "url" is here a second time; it was first set in line 4`},
		{head + "interval = \"50ms\"\ndeadline = \"0s\"", "4:12: \"interval\" in [[source]] \"h\": must be at least 100ms\n5:12: \"deadline\" in [[source]] \"h\": must be longer than 0s"},
		{head + "about = ['h', 'g']", `4:15: "about" in [[source]] "h": there is no source "g"; did you mean "h"?`},
		{head + head, `5:6: "id" in [[source]] "h": the source in line 1 has this id already`},
		{"[[source]]\nkind = \"helix\"", `1:3: [[source]] number 1 needs "id": must not be empty`},
		{"[[source]]\nid = \"a\"", `1:3: [[source]] "a" needs a "kind"; known: docker, helix, tmpdir`},
		{"[[source]]\nid = \"A\"\nkind = \"helx\"", "2:6: \"id\" in [[source]] \"A\": \"A\" holds 'A'; only a-z, 0-9, and - _ . inside are allowed\n" +
			`3:8: unknown kind "helx" in [[source]] "A"; did you mean "helix"?`},
		{"[[source]]\nid = \"a\"\nkind = 5", `3:8: "kind" in [[source]] "a" must be text, not a whole number`},
		{"[source]\nid = 'x'", `1:2: "source" must be a list of tables, not a table; write [[source]]`},
		{"source = [{ id = 'x' }]", `1:11: write this table under a header of its own, for example [[source]]`},
		{"source = 5", `1:1: "source" must be a list of tables, not a whole number; write [[source]]`},
		{"[[sources]]\nid = 'x'", `1:3: unknown key "sources" in the file; did you mean "source"?`},
		{head + "[[declare]]\nsource = 'i'\nsession = '[a'\nconcurency = 1", `7:1: unknown key "concurency" in [[declare]] number 1; did you mean "concurrency"?`},
		{head + "[[declare]]\nsource = 'i'\nsession = '[a'", "5:10: \"source\" in [[declare]] number 1: there is no source \"i\"; did you mean \"h\"?\n" +
			`6:11: "session" in [[declare]] number 1: "[a" is not a glob: a bracket is not closed`},
		{"[rules.eviction-strom]\nrate = 1", `1:8: unknown rule "eviction-strom"; did you mean "eviction-storm"?`},
		{"[rules.eviction-storm]\nrate = 'x'\nfr = 1", "2:8: \"rate\" in [rules.eviction-storm] must be a number, not text\n" +
			`3:1: unknown key "fr" in [rules.eviction-storm]; did you mean "for"?`},
		{"[rules]\neviction-storm = 5", `2:18: "eviction-storm" must be a table, not a whole number; write [rules.eviction-storm]`},
		{"rules = true", `1:9: "rules" must be a table, not true or false; write [rules.NAME]`},
		{"[a]\n[b]\n[a]", "1:2: unknown key \"a\" in the file; known: action, bell, changes, check, declare, docs_url, environment, keys, longest_operation, longest_order, production, references, reopen, rules, source, state_dir, time, ui, view\n" +
			"2:2: unknown key \"b\" in the file; known: action, bell, changes, check, declare, docs_url, environment, keys, longest_operation, longest_order, production, references, reopen, rules, source, state_dir, time, ui, view\n" +
			`3:2: "a" is here a second time; it was first set in line 1`},
		{"environment = \"x", `1:16: this is not valid TOML: unterminated basic string`},
		{"environment = \"\xff\"", `1:16: this is not UTF-8 text`},
		{"x = " + strings.Repeat("[", 40) + strings.Repeat("]", 40), "1:1: unknown key \"x\" in the file; known: action, bell, changes, check, declare, docs_url, environment, keys, longest_operation, longest_order, production, references, reopen, rules, source, state_dir, time, ui, view\n1:5: lists and tables are nested more than 32 deep here"},
	} {
		_, err := config.Parse([]byte(c.file), "f.toml", known())
		var es config.Errors
		if !errors.As(err, &es) {
			t.Errorf("%q: got %v, want errors", c.file, err)
			continue
		}
		if got := strings.ReplaceAll(es.Error(), "f.toml:", ""); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.file, got, c.want)
		}
	}
}

func TestEmptyFileIsNoError(t *testing.T) {
	c, err := config.Parse([]byte("\ufeff# nothing\r\nproduction = true\r\n"), "f.toml", known())
	if err != nil || len(c.Sources) != 0 || !c.Production || c.Environment != "local" {
		t.Fatalf("got %+v, %v", c, err)
	}
}

// FuzzParse holds that no file panics, that every error has a place inside the file, and that what was accepted can be
// decoded and shown.
func FuzzParse(f *testing.F) {
	f.Add(good)
	f.Add(actingFile)
	f.Add(head + "a.b = {c = [1, {d = 2}]}\n[source.read]\n[[source.pattern]]\n[x.y.z]")
	f.Add("[[rules]]\n[rules.eviction-storm]\n")
	f.Add("\"\" = 1\n'a\tb' = 2\n[source.a]\nb.c=1\n[source.a.b]")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := config.Parse([]byte(text), "f", acting())
		if err != nil {
			var es config.Errors
			if !errors.As(err, &es) || len(es) == 0 {
				t.Fatalf("bad error %v", err)
			}
			for _, e := range es {
				if e.Line < 1 || e.Column < 1 || e.Line > strings.Count(text, "\n")+1 {
					t.Fatalf("%q: no such place: %v", text, e)
				}
			}
			return
		}
		if _, err := c.Show(acting(), backend.NewCleaner()); err != nil {
			t.Fatalf("%q was accepted and then refused: %v", text, err)
		}
	})
}

func TestReferencesNeedATitleAndAnAddress(t *testing.T) {
	for text, ok := range map[string]bool{
		`references = ["knobs https://wiki.example/knobs"]`: true, `docs_url = "https://mirror.example"`: true,
		`references = ["https://wiki.example/knobs"]`: false, `references = ["knobs wiki"]`: false, `docs_url = "mirror"`: false,
	} {
		if _, err := config.Parse([]byte(text), "f.toml", known()); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}
