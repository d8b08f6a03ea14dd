package test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/config"
)

const exampleFile = "config.example.toml"

// TestExampleIsCurrent holds that config.example.toml is what the option structs say: every key, its default and one
// line of why. go test ./test -run TestExampleIsCurrent -update rewrites it.
func TestExampleIsCurrent(t *testing.T) {
	known := testProgram(time.Now).Known()
	want := config.Example(known)
	if *update {
		if err := os.WriteFile(exampleFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(exampleFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != want {
		t.Errorf("%s is not current; run go test ./test -run TestExampleIsCurrent -update", exampleFile)
	}
	for i, line := range strings.Split(want, "\n") {
		if key, _, ok := strings.Cut(strings.TrimPrefix(line, "#"), " = "); ok && !strings.HasPrefix(line, "# ") &&
			!strings.HasPrefix(strings.Split(want, "\n")[i-1], "# ") {
			t.Errorf("%s:%d: %s has no line of why", exampleFile, i+1, key)
		}
	}
	c, err := config.Parse(have, exampleFile, known)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Show(known, backend.NewCleaner()); err != nil {
		t.Error(err)
	}
	all := regexp.MustCompile(`(?m)^#(\S)`).ReplaceAll(have, []byte("$1"))
	if _, err := config.Parse(all, "everything switched on", known); err != nil {
		t.Error(err)
	}
}
