package test

import (
	"regexp"
	"strings"
	"testing"

	"sandglass/demo"
)

// shellReasons are why the sandboxes of the demo's platforms have no shell, with what helps instead.
var shellReasons = []string{
	`helix-eu has no shell: a Helix server runs no command .* source of kind docker`,
	`cloudflare\S* has no shell: .* starts and bills a container .*; probe runs short commands`,
	`blaxel\S* has no shell: .* never tells how a shell ended; probe runs short commands`,
	`agentuity\S* has no shell: .* opens one: agentuity cloud ssh`,
}

// unreachablePlatforms are sources at a port that nothing listens on.
const unreachablePlatforms = `
[[source]]
id = "agentuity"
kind = "agentuity"
regions = ["use"]
org = "org_1"
url = "http://127.0.0.1:1"
api_url = "http://127.0.0.1:1"
[source.read]
env = "PLATFORM_KEY"
[[source]]
id = "blaxel"
kind = "blaxel"
workspace = "agents"
url = "http://127.0.0.1:1"
[source.read]
env = "PLATFORM_KEY"
[[source]]
id = "cloudflare"
kind = "cloudflare"
account_id = "0123456789abcdef0123456789abcdef"
url = "http://127.0.0.1:1"
[source.read]
env = "PLATFORM_KEY"
`

// TestPlatformsSayWhyTheyHaveNoShell: where no source can open one, and where a name is on no source that can.
func TestPlatformsSayWhyTheyHaveNoShell(t *testing.T) {
	t.Parallel()
	c := newCommandLines(t, demo.Options{Workspaces: 40, Seed: 1, Scenario: "calm"}, func(s string) string {
		return strings.Replace(s, `actions = ["destroy"`, `actions = ["shell", "destroy"`, 1) + unreachablePlatforms
	})
	c.env = map[string]string{"PLATFORM_KEY": "a-key-of-nobody"}
	_, said, code := c.process("shell", "nobody")
	lacksShells(t, said, code, 4)
	p := startOnTerminal(t, []string{"PLATFORM_KEY=a-key-of-nobody"}, "shell", "nobody", "--config", c.config, "--state-dir", c.dir)
	code = p.ended(t)
	lacksShells(t, p.text(), code, 64)
	if !strings.Contains(p.text(), "no source lists") || strings.Contains(p.text(), "docker-demo has no shell") {
		t.Errorf("it got %q", p.text())
	}
	if _, said, code := c.process("shell", "nobody", "--source", "helix-eu"); code != 4 || !strings.Contains(said, "helix-eu has no shell") || strings.Contains(said, "blaxel") {
		t.Errorf("exit code %d: %s", code, said)
	}
	if _, said, _ := c.process("pause", "nobody"); strings.Contains(said, "has no shell") {
		t.Errorf("pause speaks of shells: %s", said)
	}
}

func lacksShells(t *testing.T, said string, code, want int) {
	t.Helper()
	if code != want {
		t.Errorf("exit code %d, want %d: %s", code, want, said)
	}
	said = strings.Join(strings.Fields(said), " ")
	for _, reason := range shellReasons {
		if !regexp.MustCompile(reason).MatchString(said) {
			t.Errorf("%q is not in %s", reason, said)
		}
	}
}
