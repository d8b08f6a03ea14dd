package test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"sandglass/config"
)

// TestStartersCanBeUsed: what `config init` writes is a configuration, also with every sample switched on, and short.
func TestStartersCanBeUsed(t *testing.T) {
	p := testProgram(time.Now)
	known := p.Known()
	var all, here []config.Part
	for _, k := range known.Kinds {
		if k.Sample == "" {
			t.Errorf("%s has no lines of a first source", k.Name)
		}
		all = append(all, config.Part{Kind: k.Name, ID: k.Name + "-1"})
	}
	for _, k := range []string{"docker", "tmpdir"} {
		here = append(here, config.Part{Kind: k, ID: k + "-local", Why: "Found here."})
	}
	for _, k := range []string{"helix", "prometheus", "logs"} {
		here = append(here, config.Part{Kind: k, ID: k + "-1", Off: true})
	}
	starter := config.Starter(known, here, false)
	if n := strings.Count(starter, "\n"); n > 60 {
		t.Errorf("the starter has %d lines, at most 60:\n%s", n, starter)
	}
	for _, text := range []string{starter, config.Starter(known, all, true)} {
		if _, _, err := p.Build(parseConfig(t, p, text)); err != nil {
			t.Errorf("%v in\n%s", err, text)
		}
		on := regexp.MustCompile(`(?m)^#(\S)`).ReplaceAllString(text, "$1")
		if _, err := config.Parse([]byte(on), "everything switched on", known); err != nil {
			t.Errorf("%v in\n%s", err, on)
		}
	}
}
