package backend

import (
	"strings"
	"testing"
)

func TestEnvironmentOfACommandIsMasked(t *testing.T) {
	c := NewCleaner()
	for raw, want := range map[string]string{
		"env REGION=oslo9x ls -la":                             "env REGION=‹masked› ls -la",
		"run: env A=oslo9x B='oslo9x y' C=\"oslo9x\" sh -c ls": "run: env A=‹masked› B=‹masked› C=‹masked› sh -c ls",
		`env A='oslo9x'"'"'oslo9x' sh`:                         "env A=‹masked› sh",
		"env 'A=oslo9x y' sh":                                  "env 'A=‹masked›' sh",
		"('env', 'A=oslo9x y', 'sh', '-c')":                    "('env', 'A=‹masked›', 'sh', '-c')",
		`{"command":["env","A=oslo9x y","sh"]}`:                `{"command":["env","A=‹masked›","sh"]}`,
		`"[\"env\",\"A=oslo9x\",\"sh\"]"`:                      `"[\"env\",\"A=‹masked›\",\"sh\"]"`,
		"env -i A=oslo9x sh":                                   "env -i A=‹masked› sh",
		"/usr/bin/env A=oslo9x sh":                             "/usr/bin/env A=‹masked› sh",
	} {
		if got := c.Mask(raw); got != want || strings.Contains(got, "oslo9x") {
			t.Errorf("%s\nbecame %s\nwant   %s", raw, got, want)
		}
	}
	for _, raw := range []string{"env is not set", "the env=production fleet", ".env A=b", "make env X", "environment A=b"} {
		if got := c.Mask(raw); got != raw {
			t.Errorf("%s became %s", raw, got)
		}
	}
}
