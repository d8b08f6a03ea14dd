package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mayImport is the direction of the house: which of our packages a package may import. A trailing /... covers
// everything below; the first line that matches a package decides.
var mayImport = []struct {
	pkg   string
	allow []string
}{
	{"demo", []string{"demo/agentuity", "demo/blaxel", "demo/cloudflare"}},
	{"demo/...", nil},
	{"config", []string{"backend"}},
	{"backend", nil},
	{"backend/wire", []string{"backend"}},
	{"backend/hostfs", []string{"backend", "backend/lockfile"}},
	{"backend/run", []string{"backend"}},
	{"backend/exporter", []string{"backend"}},
	{"backend/workdir", []string{"backend/hostfs"}},
	{"backend/examine", []string{"backend"}},
	{"backend/lockfile", nil},
	{"backend/loglines", []string{"backend"}},
	{"backend/logstream", []string{"backend"}},
	{"backend/backendtest/...", []string{"backend", "internal/skip"}}, // of tests
	{"backend/fleet", []string{"backend"}},
	{"backend/blaxel", []string{"backend", "backend/wire", "backend/hostfs", "backend/blaxel/sandbox"}},
	{"backend/cloudflare", []string{"backend", "backend/wire", "backend/cloudflare/bridge"}},
	{"backend/...", []string{"backend", "backend/wire", "backend/hostfs", "backend/run", "backend/exporter", "backend/workdir", "backend/loglines"}}, // adapters
	{"alerts", []string{"backend", "backend/fleet", "backend/hostfs", "backend/lockfile", "alerts/cause"}},
	{"alerts/cause", nil},
	{"alerts/runbook/runbooktest", []string{"backend", "backend/fleet", "alerts", "alerts/runbook"}}, // of tests
	{"alerts/...", []string{"backend", "backend/fleet", "alerts"}},
	{"actions/audit", []string{"backend", "backend/lockfile"}},
	{"actions", []string{"backend", "backend/fleet", "actions/audit"}},
	{"actions/blaxel", []string{"backend", "backend/fleet", "backend/wire", "backend/blaxel/sandbox", "actions"}},
	{"actions/cloudflare", []string{"backend", "backend/fleet", "backend/wire", "backend/cloudflare/bridge", "actions"}},
	{"actions/...", []string{"backend", "backend/fleet", "backend/wire", "backend/hostfs", "backend/run", "backend/workdir", "actions", "actions/audit"}},
	{"internal/skip", nil},   // of tests
	{"internal/stable", nil}, // which each package may import
	{"views/keys", []string{"backend"}},
	{"views/theme", []string{"backend"}},
	{"views/kit", []string{"backend", "views/theme"}},
	{"views/filter", []string{"backend"}},
	{"views/...", []string{"backend", "backend/examine", "backend/fleet", "backend/logstream", "alerts", "alerts/runbook", "actions", "views/..."}},
	{"ui", []string{"backend", "backend/examine", "backend/fleet", "backend/logstream", "alerts", "alerts/runbook", "actions", "views/..."}},
	{"app", []string{"backend", "backend/examine", "backend/fleet", "backend/hostfs", "backend/logstream", "alerts", "alerts/...", "actions", "actions/...", "config", "demo", "ui", "views/..."}},
	{"cli", []string{"app", "backend", "backend/examine", "backend/fleet", "backend/logstream", "alerts", "alerts/...", "actions", "actions/audit", "config", "views/..."}},
	{".", []string{"..."}},
}

func allowed(pattern, pkg string) bool {
	if below, ok := strings.CutSuffix(pattern, "..."); ok {
		return strings.HasPrefix(pkg+"/", below)
	}
	return pattern == pkg
}

type sourceFile struct {
	dir, name string
	ast       *ast.File
	pos       *token.FileSet
}

// sources parses every Go file of the project that is no test.
func sources(t *testing.T) []sourceFile {
	t.Helper()
	var files []sourceFile
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && p != "."):
			return filepath.SkipDir
		case !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go"):
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, p, nil, parser.SkipObjectResolution)
		files = append(files, sourceFile{filepath.ToSlash(filepath.Dir(p)), filepath.ToSlash(p), f, set})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 50 {
		t.Fatalf("found only %d source files", len(files))
	}
	return files
}

// ofTests are the packages that only tests import.
var ofTests = []string{"internal/skip", "backend/backendtest", "backend/backendtest/enginetest", "alerts/runbook/runbooktest"}

func TestImportsPointOneWay(t *testing.T) {
	for _, f := range sources(t) {
		rule := slices.IndexFunc(mayImport, func(r struct {
			pkg   string
			allow []string
		}) bool {
			return allowed(r.pkg, f.dir)
		})
		if rule < 0 {
			t.Errorf("%s: package %s has no place in the house; give it one in mayImport", f.name, f.dir)
			continue
		}
		for _, imp := range f.ast.Imports {
			p, _ := strconv.Unquote(imp.Path.Value)
			ours, ok := strings.CutPrefix(p, "sandglass/")
			if slices.Contains(ofTests, ours) && !slices.Contains(ofTests, f.dir) {
				t.Errorf("%s imports %s, which is of tests", f.pos.Position(imp.Pos()), p)
			}
			if !ok || ours == "internal/stable" || slices.ContainsFunc(mayImport[rule].allow, func(a string) bool { return allowed(a, ours) }) {
				continue
			}
			t.Errorf("%s imports %s; %s may import only %v", f.pos.Position(imp.Pos()), p, f.dir, mayImport[rule].allow)
		}
	}
}

// TestHouseRules holds what the compiler cannot: goroutines start through backend.Spawner, only the wiring reads the
// clock, and screens read no environment and no standard stream.
func TestHouseRules(t *testing.T) {
	for _, f := range sources(t) {
		inDemo := allowed("demo/...", f.dir) || slices.Contains(ofTests, f.dir)
		wiring := f.dir == "." || f.dir == "app" || inDemo
		screen := allowed("views/...", f.dir) || allowed("ui/...", f.dir)
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				if f.name != "backend/spawn.go" && !inDemo {
					t.Errorf("%s: a bare go statement; use backend.Spawner", f.pos.Position(n.Pos()))
				}
			case *ast.SelectorExpr:
				x, ok := n.X.(*ast.Ident)
				if !ok {
					return true
				}
				name := x.Name + "." + n.Sel.Name
				// alerts.ReadSystemClock reads the clocks that outlive a process; only the wiring calls it. time.Until is
				// free, because the deadline of a context is always the machine's own time.
				clock := wiring || strings.HasPrefix(f.name, "alerts/clock_reading_")
				if !clock && slices.Contains([]string{"time.Now", "time.Since"}, name) {
					t.Errorf("%s: %s; the clock is an argument", f.pos.Position(n.Pos()), name)
				}
				if screen && slices.Contains([]string{"os.Getenv", "os.LookupEnv", "os.Environ", "os.Stdin", "os.Stdout", "os.Stderr"}, name) {
					t.Errorf("%s: %s in a screen; it belongs to the Viewer", f.pos.Position(n.Pos()), name)
				}
				if name == "wire.NewActor" && !allowed("actions/...", f.dir) {
					t.Errorf("%s: %s outside actions; everything else only reads", f.pos.Position(n.Pos()), name)
				}
				if !wiring && (name == "os.Exit" || strings.HasPrefix(name, "log.Fatal")) {
					t.Errorf("%s: %s outside main", f.pos.Position(n.Pos()), name)
				}
			case *ast.FuncDecl:
				if n.Name.Name == "init" && n.Recv == nil {
					t.Errorf("%s: work in init", f.pos.Position(n.Pos()))
				}
			}
			return true
		})
	}
}

// TestPlacesExist keeps the table above honest.
func TestPlacesExist(t *testing.T) {
	dirs := map[string]bool{}
	for _, f := range sources(t) {
		for d := f.dir; d != "." && d != "/"; d = path.Dir(d) {
			dirs[d] = true
		}
	}
	for _, r := range mayImport {
		if d := strings.TrimSuffix(strings.TrimSuffix(r.pkg, "..."), "/"); d != "." && !dirs[d] {
			t.Errorf("mayImport names %s, which does not exist", r.pkg)
		}
	}
}
