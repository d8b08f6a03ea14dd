package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandglass/config"
)

func environment(m map[string]string) func(string) string {
	return func(k string) string { return m[k] }
}

func TestFind(t *testing.T) {
	home := t.TempDir()
	there := filepath.Join(home, ".config", "sandglass", "config.toml")
	if got := config.Find("", environment(map[string]string{"HOME": home})); got != "" {
		t.Errorf("no file, got %q", got)
	}
	if err := os.MkdirAll(filepath.Dir(there), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(there, []byte("environment = \"here\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		given string
		env   map[string]string
		want  string
	}{
		{"", map[string]string{"HOME": home}, there},
		{"x.toml", map[string]string{"HOME": home, "SANDGLASS_CONFIG": "y.toml"}, "x.toml"},
		{"", map[string]string{"HOME": home, "SANDGLASS_CONFIG": "y.toml"}, "y.toml"},
		{"", map[string]string{"XDG_CONFIG_HOME": filepath.Join(home, ".config")}, there},
		{"", map[string]string{"HOME": home, "XDG_CONFIG_HOME": "relative"}, there},
		{"", nil, ""},
	} {
		if got := config.Find(c.given, environment(c.env)); got != c.want {
			t.Errorf("given %q, %v: got %q, want %q", c.given, c.env, got, c.want)
		}
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "c.toml")
	if err := os.WriteFile(file, []byte("environment = 'there'"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(file, known())
	if err != nil || c.Environment != "there" || c.Local {
		t.Errorf("got %+v, %v", c, err)
	}
	c, err = config.Load("", known())
	if err != nil || !c.Local || len(c.Sources) != 2 || c.Sources[0].Kind != "docker" || c.Sources[1].Kind != "tmpdir" {
		t.Errorf("without a file: got %+v, %v", c, err)
	}
	for path, want := range map[string]string{filepath.Join(dir, "none.toml"): "no such file", dir: "is a directory"} {
		if _, err := config.Load(path, known()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
	if err := os.WriteFile(file, make([]byte, config.MaxFileBytes+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(file, known()); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("a huge file: got %v", err)
	}
}

func TestStateDirectory(t *testing.T) {
	for _, c := range []struct {
		given, file string
		env         map[string]string
		want        string
	}{
		{"/flag", "/file", nil, "/flag"},
		{"", "/file", map[string]string{"HOME": "/h"}, "/file"},
		{"", "~/state", map[string]string{"HOME": "/h"}, "/h/state"},
		{"", "", map[string]string{"HOME": "/h"}, "/h/.local/state/sandglass/prod"},
		{"", "", map[string]string{"HOME": "/h", "XDG_STATE_HOME": "/s"}, "/s/sandglass/prod"},
	} {
		got, err := (&config.Config{Environment: "prod", StateDir: c.file}).StateDirectory(c.given, environment(c.env))
		if err != nil || got != c.want {
			t.Errorf("%+v: got %q, %v", c, got, err)
		}
	}
	if _, err := (&config.Config{}).StateDirectory("", environment(nil)); err == nil {
		t.Error("no home directory: got no error")
	}
}
