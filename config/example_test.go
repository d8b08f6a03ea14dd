package config_test

import (
	"regexp"
	"strings"
	"testing"

	"sandglass/backend"
	"sandglass/config"
)

// TestExampleIsComplete holds that the example parses as it stands and with everything switched on, and that it names
// every key of every struct.
func TestExampleIsComplete(t *testing.T) {
	example := config.Example(known())
	c, err := config.Parse([]byte(example), "example.toml", known())
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Sources) != len(config.Local().Sources) || c.Environment != "local" {
		t.Errorf("the example does not mean what no file means: %+v", c)
	}
	all := regexp.MustCompile(`(?m)^#(\S)`).ReplaceAllString(example, "$1")
	c, err = config.Parse([]byte(all), "all.toml", known())
	if err != nil {
		t.Fatalf("with everything switched on:\n%v", err)
	}
	if len(c.Sources) != 3 || len(c.Declarations) != 1 {
		t.Errorf("%d sources and %d declarations, want 3 and 1", len(c.Sources), len(c.Declarations))
	}
	for _, key := range []string{"environment", "production", "state_dir", "longest_operation", "id", "kind", "interval",
		"deadline", "about", "url", "headers", "sessions", "requests_per_second", "idle_interval", "max_body",
		"max_series", "expect_active", "states", "words", "header", "env", "command", "name", "contains", "roots",
		"enabled", "for", "rate", "reset_after", "framework_version", "tenant"} {
		if !regexp.MustCompile(`(?m)^# \S.*\n` + key + ` = \S`).MatchString(all) {
			t.Errorf("%q is missing, or has no line of why, in\n%s", key, all)
		}
	}
	for _, table := range []string{"\n[source.read]\n", "\n[[source.pattern]]\n", "\n[[declare]]\n", "\n[rules.eviction-storm]\n"} {
		if !strings.Contains(all, table) {
			t.Errorf("%q is missing", table)
		}
	}
}

// TestShowRoundTrip holds that what `config show` prints means the same configuration.
func TestShowRoundTrip(t *testing.T) {
	c, err := config.Parse([]byte(good), "f.toml", known())
	if err != nil {
		t.Fatal(err)
	}
	first, err := c.Show(known(), backend.NewCleaner())
	if err != nil {
		t.Fatal(err)
	}
	again, err := config.Parse([]byte(first), "f.toml", known())
	if err != nil {
		t.Fatalf("%v in\n%s", err, first)
	}
	second, err := again.Show(known(), backend.NewCleaner())
	if err != nil || first != second {
		t.Errorf("%v\nfirst:\n%s\nsecond:\n%s", err, first, second)
	}
	for _, want := range []string{"interval = \"7s\"", "requests_per_second = 3.0", `states = { failed = "failed", zorp = "healthy" }`,
		"destroy_on_close = false", "rate = 0.5", "[source.read]", `env = "TOKEN"`} {
		if !strings.Contains(first, want) {
			t.Errorf("%s is missing in\n%s", want, first)
		}
	}
	if strings.Contains(first, "concurrency") {
		t.Errorf("what nobody declared is shown:\n%s", first)
	}
}

func TestShowHidesSecrets(t *testing.T) {
	c, err := config.Parse([]byte(head+`url = "http://me:hunter2secret@127.0.0.1/x?access_token=abcdef123"
headers = { Authorization = "Bearer abcdef123", "x-api-key" = "abcdef123", cookie = "abcdef123", x = "configured9" }
sessions = ["--token", "abcdef123", "-H", "Authorization: Bearer abcdef123", "TOKEN=abcdef123", "ghp_abcdef123abcdef123"]
[source.read]
env = "HELIX_TOKEN"
command = ["pass", "show", "helix\u009b\u202e"]
`), "f.toml", known())
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.Show(known(), backend.NewCleaner("configured9"))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"hunter2secret", "abcdef123", "configured9", "\u009b", "\u202e"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is shown:\n%s", secret, text)
		}
	}
	for _, reference := range []string{`env = "HELIX_TOKEN"`, `["pass", "show", "helix`} {
		if !strings.Contains(text, reference) {
			t.Errorf("%s is hidden:\n%s", reference, text)
		}
	}
}
