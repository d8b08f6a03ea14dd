package app

import (
	"strings"
	"testing"

	"sandglass/backend"
	"sandglass/config"
)

// TestVariablesOfPlatformsThatNothingIsConfiguredFor: without a configuration the first that is set of each kind is told; a file
// says itself what is watched.
func TestVariablesOfPlatformsThatNothingIsConfiguredFor(t *testing.T) {
	set := map[string]string{"CLOUD_TOKEN": "x", "CLOUD_URL": "https://cloud.example", "OTHER_KEY": ""}
	a := &App{Machine: Machine{Getenv: func(name string) string { return set[name] }}, Kinds: []backend.SourceKind{
		{Name: "cloud", Env: []string{"CLOUD_TOKEN", "CLOUD_URL"}}, {Name: "other", Env: []string{"OTHER_KEY"}}, {Name: "plain"}}}
	said := a.Unused(config.Local())
	if len(said) != 1 || !strings.Contains(said[0].String(), "CLOUD_TOKEN is set, and no source of kind cloud is configured: sandglass config init --for cloud") {
		t.Errorf("%v", said)
	}
	if said := a.Unused(&config.Config{}); len(said) > 0 {
		t.Errorf("with a file: %v", said)
	}
}
