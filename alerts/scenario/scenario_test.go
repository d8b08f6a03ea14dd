package scenario_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"sandglass/alerts/rules"
	"sandglass/alerts/scenario"
)

// files are the scenario files of the shipped rules.
func files(t *testing.T) []*scenario.File {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", "*.toml"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no scenario files: %v", err)
	}
	var out []*scenario.File
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := scenario.Read(name, data)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
	return out
}

func TestShippedScenarios(t *testing.T) {
	for _, f := range files(t) {
		results, err := f.Run(rules.Defaults())
		if err != nil {
			t.Error(err)
		}
		for _, r := range results {
			for _, d := range r.Differences {
				t.Errorf("%s: %s: at %s, %s: %s\nwant %s\ngot  %s", r.File, r.Scenario, d.At.Std(), d.Rule, d.What, d.Want, d.Got)
			}
		}
	}
}

// TestTheDocumentedScenario plays the example of docs/rule-tests.md.
func TestTheDocumentedScenario(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "rule-tests.md"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```toml\n(.*?)```").FindSubmatch(doc)
	if m == nil {
		t.Fatal("there is no example")
	}
	play(t, string(m[1]), rules.Defaults()...)
}
