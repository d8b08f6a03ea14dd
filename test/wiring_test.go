// Package test holds what is tested on the whole program: the house and its documents, end to end, real engines.
package test

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandglass/actions"
	agentuityact "sandglass/actions/agentuity"
	"sandglass/actions/audit"
	blaxelact "sandglass/actions/blaxel"
	cloudflareact "sandglass/actions/cloudflare"
	dockeract "sandglass/actions/docker"
	"sandglass/actions/operator"
	tmpdiract "sandglass/actions/tmpdir"
	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/app"
	"sandglass/backend"
	"sandglass/backend/agentuity"
	"sandglass/backend/blaxel"
	"sandglass/backend/changes"
	"sandglass/backend/check"
	"sandglass/backend/cloudflare"
	"sandglass/backend/docker"
	"sandglass/backend/helix"
	"sandglass/backend/logs"
	"sandglass/backend/promapi"
	"sandglass/backend/prometheus"
	"sandglass/backend/refs"
	"sandglass/backend/tmpdir"
	"sandglass/cli"
	"sandglass/config"
)

// run, kinds and effects are those of main, which no package can import; TestTheProgramIsMains compares them.
func run(a *app.App, args []string) int {
	ctx, cancel := app.Signals()
	defer cancel()
	return cli.New(a).Run(ctx, args)
}

func kinds() []backend.SourceKind {
	return []backend.SourceKind{helix.Kind(), docker.Kind(), tmpdir.Kind(), prometheus.Kind(), promapi.Kind(), logs.Kind(),
		refs.Kind(), agentuity.Kind(), cloudflare.Kind(), blaxel.Kind(), changes.Kind(), check.Kind(runbook.Questions())}
}

func effects() []actions.Kind {
	return []actions.Kind{operator.HelixKind(app.CauseOf), dockeract.Kind(), tmpdiract.Kind(), agentuityact.Kind(), cloudflareact.Kind(), blaxelact.Kind()}
}

// TestTheProgramIsMains holds that these tests run the program that main makes.
func TestTheProgramIsMains(t *testing.T) {
	bodies := func(file string) map[string]string {
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil {
				var b strings.Builder
				if err := printer.Fprint(&b, set, d.Body); err != nil {
					t.Fatal(err)
				}
				out[d.Name.Name] = b.String()
			}
		}
		return out
	}
	theirs, ours := bodies("main.go"), bodies("test/wiring_test.go")
	for _, name := range []string{"run", "kinds", "effects"} {
		if theirs[name] == "" || theirs[name] != ours[name] {
			t.Errorf("%s of main.go is\n%s\nand here it is\n%s", name, theirs[name], ours[name])
		}
	}
}

// testProgram is the program as main makes it, on a given clock, without a terminal and without an environment.
func testProgram(now func() time.Time) *cli.Program {
	a := app.New(kinds(), effects())
	began := time.Now()
	a.Version, a.Now, a.Mono, a.Spawn, a.LogSockets = "test", now, func() time.Duration { return time.Since(began) }, backend.NewSpawner(nil), audit.Sockets{}
	a.Getenv = func(string) string { return "" }
	p := cli.New(a)
	p.Console = func(context.Context, *app.Station, app.ConsoleOptions) error {
		return errors.New("no screen in this test")
	}
	p.Demo = func(context.Context, app.DemoOptions) error { return errors.New("no demo in this test") }
	p.Stdout, p.Stderr, p.Output = io.Discard, io.Discard, cli.Output{}
	return p
}

func parseConfig(t *testing.T, p *cli.Program, text string) *config.Config {
	t.Helper()
	c, err := config.Parse([]byte(text), "demo", p.Known())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func buildConfig(t *testing.T, p *cli.Program, text string) ([]app.Source, []alerts.Rule) {
	t.Helper()
	sources, rules, err := p.Build(parseConfig(t, p, text))
	if err != nil {
		t.Fatal(err)
	}
	return sources, rules
}

// partOf is what performs a verb on a source of a configuration.
func partOf(t *testing.T, p *cli.Program, text, source string, verb actions.Verb) actions.Part {
	t.Helper()
	c := parseConfig(t, p, text)
	sources, _, err := p.Build(c)
	if err != nil {
		t.Fatal(err)
	}
	able, err := p.Abilities(c, sources, "", false)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range able {
		if a.Source == source && a.Spec.Verb == verb && a.Part.Targets != nil {
			return a.Part
		}
	}
	t.Fatalf("nothing can %s on %s", verb, source)
	return actions.Part{}
}

func writeConfig(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sandglass.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
