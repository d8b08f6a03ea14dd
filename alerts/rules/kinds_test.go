package rules

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pelletier/go-toml/v2"

	"sandglass/alerts"
	"sandglass/backend"
)

var update = flag.Bool("update", false, "rewrite docs/alerts.md")

func TestDocument(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "alerts.md")
	want := document()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/alerts.md is stale; run: go test ./alerts/rules -run TestDocument -update")
	}
}

func TestEveryRuleIsDocumentedAndOfOneSort(t *testing.T) {
	for _, k := range Kinds() {
		m := metaOf(k)
		e := m.Explain
		if m.Name != k.Name || k.Summary == "" || e.Means == "" || e.Inputs == "" || e.Missing == "" || e.Runbook == "" || e.Limits == "" || len(e.First) == 0 {
			t.Errorf("%s lacks a part of its documentation: %+v", k.Name, e)
		}
		for _, o := range OptionList(k.Defaults()) {
			if o.Key == "" || o.Doc == "" || o.Default == "" {
				t.Errorf("%s: option %+v lacks a tag", k.Name, o)
			}
		}
		r, _ := k.New(k.Defaults())
		_, subject := r.(alerts.SubjectRule)
		_, series := r.(alerts.SeriesRule)
		_, whole := r.(alerts.FleetRule)
		if !subject && !series && !whole {
			t.Errorf("%s is no kind of rule that the engine evaluates", k.Name)
		}
	}
}

func TestOptionsDecodeStrictly(t *testing.T) {
	for _, k := range Kinds() {
		o := k.Defaults()
		doc := "enabled = true\nseverity = \"info\"\nfor = \"90s\"\nkeep_firing_for = \"2m\"\ngap = \"reset\"\n"
		d := toml.NewDecoder(strings.NewReader(doc))
		if err := d.DisallowUnknownFields().Decode(o); err != nil {
			t.Fatalf("%s: %v", k.Name, err)
		}
		r, err := k.New(o)
		if err != nil {
			t.Fatalf("%s: %v", k.Name, err)
		}
		m := r.Meta()
		if m.Severity != alerts.SeverityInfo || m.For != 90*time.Second || m.KeepFiringFor != 2*time.Minute || m.Gap != alerts.GapReset {
			t.Errorf("%s: the common keys did not arrive: %+v", k.Name, m)
		}
		wrong := fakeOptions{"severity = \"loud\""}
		if _, err := k.Configure(wrong); err == nil || err.Error() != `at severity: "loud" is not a severity; write info, warning or critical` {
			t.Errorf("%s accepts a severity of loud: %v", k.Name, err)
		}
		if _, err := k.Configure(fakeOptions{"gap = \"ignore\""}); err == nil {
			t.Errorf("%s accepts any gap policy", k.Name)
		}
		links := "runbook_links = [\"https://wiki.example/a\", \"Escalation wiki.example/b\"]"
		if _, err := k.Configure(fakeOptions{links}); err == nil || !strings.HasPrefix(err.Error(), `at runbook_links[1]: "wiki.example/b" does not end in an address`) {
			t.Errorf("%s accepts a link without an address: %v", k.Name, err)
		}
		scope := "only = ['tenant=\"acme\"', 'provider=~\"cloud.*\"']\nexcept = ['rule=\"x\"']"
		if _, err := k.Configure(fakeOptions{scope}); err == nil || !strings.HasPrefix(err.Error(), `at except[0]: a rule is not limited by rule; there are source, provider, tenant, session`) {
			t.Errorf("%s accepts a scope of rules: %v", k.Name, err)
		}
		if _, err := k.Configure(fakeOptions{"only = ['tenant=acme', 'tenant']"}); err == nil || !strings.HasPrefix(err.Error(), `at only[1]: after tenant one of`) {
			t.Errorf("%s accepts a scope that is no matcher: %v", k.Name, err)
		}
		if _, err := k.Configure(fakeOptions{"nonsense = 1"}); err == nil {
			t.Errorf("%s accepts an unknown key", k.Name)
		}
		if r, err := k.Configure(fakeOptions{""}); r == nil || err != nil {
			t.Errorf("%s does not build without a table: %v", k.Name, err)
		}
		off := k.Defaults()
		off.common().Enabled = false
		if r, err := k.New(off); r != nil || err != nil {
			t.Errorf("%s cannot be switched off: %v", k.Name, err)
		}
	}
}

func TestWrongOptionsNameTheirKey(t *testing.T) {
	for _, c := range []struct {
		key string
		o   Options
	}{
		{"after", func() Options { o := failedDefaults(); o.After = 0; return o }()},
		{"shared", func() Options { o := failedDefaults(); o.Shared = 1; return o }()},
		{"after", func() Options { o := hammeredDefaults(); o.After = 0; return o }()},
		{"rate", func() Options { o := stormDefaults(); o.Rate = 0; return o }()},
		{"recovery", func() Options { o := stormDefaults(); o.Recovery = 50; return o }()},
		{"over", func() Options { o := stormDefaults(); o.Over = backend.Duration(2 * time.Hour); return o }()},
		{"exhausted", func() Options { o := stormDefaults(); o.Exhausted = 1; return o }()},
		{"evicted", func() Options { o := stormDefaults(); o.Evicted = 0; return o }()},
		{"leave", func() Options { o := stormDefaults(); o.Leave = 2; return o }()},
		{"rejections", func() Options { o := auditDefaults(); o.Rejections = -1; return o }()},
		{"bytes", func() Options { o := auditDefaults(); o.Bytes = 0; return o }()},
		{"leave", func() Options { o := auditDefaults(); o.Leave = 0; return o }()},
		{"over", func() Options { o := auditDefaults(); o.Over = 0; return o }()},
		{"failed_polls", func() Options { o := sourceDownDefaults(); o.FailedPolls = 0; return o }()},
		{"named", func() Options { o := registryDefaults(); o.Named = 0; return o }()},
	} {
		_, err := c.o.build()
		var key *KeyError
		if !errors.As(err, &key) || key.Key != c.key {
			t.Errorf("want an error about %s, have %v", c.key, err)
		}
	}
}

// fakeOptions is a table of a configuration file.
type fakeOptions struct{ text string }

func (o fakeOptions) Decode(into any) error {
	return toml.NewDecoder(strings.NewReader(o.text)).DisallowUnknownFields().Decode(into)
}

func (o fakeOptions) Refuse(key, format string, args ...any) error {
	return fmt.Errorf("at "+key+": "+format, args...)
}
