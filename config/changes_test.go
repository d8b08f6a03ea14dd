package config_test

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/config"
)

type changesOptions struct {
	File string `toml:"file" doc:"a file"`
	Name string `toml:"name" doc:"a word"`
}

func knowsChanges() config.Catalog {
	k := known()
	k.Kinds = append(k.Kinds, backend.SourceKind{Name: "changes", Summary: "markers", Defaults: func() any { return &changesOptions{Name: "change"} }})
	return k
}

func TestChangesAreShortForSources(t *testing.T) {
	c, err := config.Parse([]byte(`
[[changes]]
file = "/var/log/deploys"
[[source]]
id = "d"
kind = "docker"
[[changes]]
id = "flags"
interval = "30s"
about = ["d"]
name = "flag"
`), "f.toml", knowsChanges())
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Sources) != 3 {
		t.Fatalf("%d sources", len(c.Sources))
	}
	deploys, flags := c.Source("changes-1"), c.Source("flags")
	if deploys == nil || flags == nil || deploys.Kind != "changes" || flags.Kind != "changes" || flags.Interval != 30*time.Second || flags.About[0] != "d" {
		t.Fatalf("sources %+v", c.Sources)
	}
	for s, want := range map[*config.Source]changesOptions{deploys: {"/var/log/deploys", "change"}, flags: {"", "flag"}} {
		got := changesOptions{Name: "change"}
		if err := s.Options.Decode(&got); err != nil || got != want {
			t.Errorf("%s: %+v, %v", s.ID, got, err)
		}
	}
}

func TestChecksAreShortForSources(t *testing.T) {
	k := known()
	k.Kinds = append(k.Kinds, backend.SourceKind{Name: "check", Summary: "a fact", Defaults: func() any { return &changesOptions{} }})
	c, err := config.Parse([]byte("[[check]]\nid = \"r2\"\n[[check]]\ninterval = \"5m\"\nfile = \"x\"\n"), "f.toml", k)
	if err != nil || len(c.Sources) != 2 {
		t.Fatalf("%+v, %v", c, err)
	}
	for i, want := range []config.Source{{ID: "r2", Kind: "check", Interval: 30 * time.Second}, {ID: "check-2", Kind: "check", Interval: 5 * time.Minute}} {
		if got := c.Sources[i]; got.ID != want.ID || got.Kind != want.Kind || got.Interval != want.Interval {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if _, err := config.Parse([]byte("[[check]]\nurl = 3\n"), "f.toml", k); err == nil || !strings.Contains(err.Error(), `f.toml:2:1: unknown key "url" in [[check]] "check-1"`) {
		t.Errorf("an unknown key: %v", err)
	}
}

func TestWrongChanges(t *testing.T) {
	for text, want := range map[string]string{
		"[[changes]]\nfiles = \"x\"":                                     `f.toml:2:1: unknown key "files" in [[changes]] "changes-1"`,
		"[[changes]]\nkind = \"docker\"":                                 `f.toml:2:1: unknown key "kind" in [[changes]]`,
		"[[changes]]\nid = \"a\"\n[[changes]]\nid = \"a\"":               "f.toml:4:6",
		"[[source]]\nid = \"changes-1\"\nkind=\"docker\"\n[[changes]]\n": "has this id already",
		"changes = [{file = \"x\"}]":                                     "under a header of its own",
		"changes = 3":                                                    "must be a list of tables",
	} {
		if _, err := config.Parse([]byte(text), "f.toml", knowsChanges()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}
