package config_test

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/config"
)

type cleanOptions struct {
	SessionLifetime string `toml:"session_lifetime" doc:"how long a session can live"`
}

func local() config.Catalog {
	k := acting()
	k.Actions = append(k.Actions, config.ActionKind{Kind: "tmpdir", Verbs: []string{"clean", "purge", "undo"}, Defaults: func() any { return &cleanOptions{} }})
	return k
}

func TestCommandLineAllowsWhatThisMachineHas(t *testing.T) {
	c, err := config.Local().Permitted(config.Permit{Verbs: []string{"pause", "destroy", "clean"}, SessionLifetime: 36 * time.Hour}, local())
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"docker-local": "destroy pause", "tmpdir-local": "clean"} {
		if got := strings.Join(c.Source(id).Actions, " "); got != want {
			t.Errorf("%s allows %q, want %q", id, got, want)
		}
	}
	into := &cleanOptions{}
	if err := c.Source("tmpdir-local").ActionOptions.Decode(into); err != nil || into.SessionLifetime != "36h0m0s" {
		t.Errorf("%+v, %v", into, err)
	}
	c, err = config.Local().Permitted(config.Permit{Verbs: []string{"destroy"}}, local())
	if err != nil || len(c.Source("tmpdir-local").Actions) > 0 {
		t.Errorf("destroy allows something to directories: %v, %v", c, err)
	}
	if c, err = config.Local().Permitted(config.Permit{}, local()); err != nil || len(c.Source("docker-local").Actions) > 0 {
		t.Errorf("nothing was allowed, and yet: %v, %v", c, err)
	}
}

type engineOptions struct {
	AllContainers bool `toml:"all_containers"`
}

// TestAllContainersAreWatchedWithoutAFileOrOnRequest: a file that does not ask for it watches sandboxes only.
func TestAllContainersAreWatchedWithoutAFileOrOnRequest(t *testing.T) {
	of := func(c *config.Config, id string) bool {
		t.Helper()
		into := &engineOptions{}
		if err := c.Source(id).Options.Decode(into); err != nil {
			t.Fatal(err)
		}
		return into.AllContainers
	}
	k := local()
	k.Kinds = []backend.SourceKind{{Name: "docker", Defaults: func() any { return &engineOptions{} }}}
	if c, err := config.Load("", k); err != nil || !of(c, "docker-local") {
		t.Error("without a configuration nothing else says which containers are of interest")
	}
	c, err := config.Parse([]byte("[[source]]\nid = \"d\"\nkind = \"docker\"\n\n[[source]]\nid = \"e\"\nkind = \"docker\"\nall_containers = false\n"), "f.toml", k)
	if err != nil {
		t.Fatal(err)
	}
	if of(c, "d") || !of(c.WithAllContainers(k), "d") || !of(c.WithAllContainers(k), "e") || of(c, "e") {
		t.Error("the flag decides for every engine, and changes nothing of the file's own configuration")
	}
}

func TestCommandLineAllowsNothingElse(t *testing.T) {
	file, err := config.Parse([]byte(actingFile), "f.toml", local())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		c      *config.Config
		permit config.Permit
		want   string
	}{
		{config.Local(), config.Permit{Verbs: []string{"destory"}}, `no verb "destory" on this machine; did you mean "destroy"?`},
		{config.Local(), config.Permit{Verbs: []string{"reset"}}, `no verb "reset" on this machine`},
		{config.Local(), config.Permit{Verbs: []string{"clean"}}, `needs --session-lifetime`},
		{config.Local(), config.Permit{SessionLifetime: -time.Hour}, `longer than 0s`},
		{file, config.Permit{Verbs: []string{"destroy"}}, `f.toml says what may be done`},
		{file, config.Permit{SessionLifetime: time.Hour}, `f.toml says what may be done`},
	} {
		if _, err := x.c.Permitted(x.permit, local()); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%+v: %v, want %q", x.permit, err, x.want)
		}
	}
}
