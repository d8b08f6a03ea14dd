package config_test

import (
	"strings"
	"testing"
	"time"

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
