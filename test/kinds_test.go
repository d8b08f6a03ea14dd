package test

import (
	"go/ast"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sandglass/backend"
)

// TestANewKindTouchesFewFiles holds where the two youngest kinds of subjects are named outside tests. Everything else, such
// as merging, staleness, `get`, JSON, names and jumps, follows from what their files declare.
func TestANewKindTouchesFewFiles(t *testing.T) {
	for kind, files := range map[string][]string{
		"Execution": {"backend/execution.go", "views/subjects/execution.go"},
		"Job":       {"backend/job.go", "views/subjects/job.go"},
	} {
		allowed := append(files,
			"backend/kinds.go", "backend/reading.go", // the declarations, and the list in a Reading
			"backend/fleet/kinds.go", "backend/fleet/state.go", // where a State keeps them
			"views/subjects/kind.go", // what is shown of them
			"backend/helix/work.go",  // the adapters that read them
			"backend/agentuity/decode_work.go", "backend/agentuity/work.go",
			"alerts/engine.go", "alerts/rules/contradiction_platform.go", "alerts/runbook/contradiction_platform.go", // facts about the sandbox that they run in
			"actions/agentuity/target.go", "backend/fleet/unfit.go", // what is queued decides whether a command may follow
			"alerts/scenario/work.go", // stories about them
			"alerts/scenario/play.go", // their States
		)
		found := map[string]bool{}
		for _, f := range sources(t) {
			ast.Inspect(f.ast, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.Ident:
					if n.Name == "Kind"+kind || n.Name == kind && f.dir == "backend" {
						found[f.name] = true
					}
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok && x.Name == "backend" && n.Sel.Name == kind {
						found[f.name] = true
					}
				}
				return true
			})
		}
		for name := range found {
			if !slices.Contains(allowed, name) {
				t.Errorf("%s names the kind %s; it has to follow from the declaration", name, kind)
			}
		}
		if len(found) < 5 {
			t.Errorf("%s is named in %d files only; does this test still see anything?", kind, len(found))
		}
	}
}

// TestKindsSayWhatTheyDeliver: until its first answer, only its kind says what a source is asked for.
func TestKindsSayWhatTheyDeliver(t *testing.T) {
	for _, k := range kinds() {
		if deliversNothing := k.Name == "changes" || k.Name == "check"; deliversNothing != (len(k.Inputs) == 0) {
			t.Errorf("%s declares the inputs %v", k.Name, k.Inputs)
		}
	}
}

// TestScreensNameKnownKinds: an empty screen names only kinds of source that a configuration can have.
func TestScreensNameKnownKinds(t *testing.T) {
	named := regexp.MustCompile(`[Ss]ources? of kind ([a-z, -]+?) (?:do|does|can)\b`)
	n := 0
	for _, f := range sources(t) {
		if !strings.HasPrefix(f.dir, "views/") {
			continue
		}
		ast.Inspect(f.ast, func(node ast.Node) bool {
			if text, is := node.(*ast.BasicLit); is {
				for _, found := range named.FindAllStringSubmatch(text.Value, -1) {
					for _, name := range strings.Split(strings.ReplaceAll(found[1], " and ", ", "), ", ") {
						n++
						if !slices.ContainsFunc(kinds(), func(k backend.SourceKind) bool { return k.Name == name }) {
							t.Errorf("%s names the kind %q, which no source can have", f.name, name)
						}
					}
				}
			}
			return true
		})
	}
	if n < 9 {
		t.Errorf("%d kinds are named; does this test still see anything?", n)
	}
}

// TestCommandsNameTheirProgram: a relative path of a program is refused wherever a configuration names a command.
func TestCommandsNameTheirProgram(t *testing.T) {
	for _, k := range kinds() {
		o := reflect.TypeOf(k.Defaults()).Elem()
		for i := range o.NumField() {
			if name := o.Field(i).Tag.Get("toml"); (name == "command" || name == "sessions_command") && o.Field(i).Tag.Get("path") != "program" {
				t.Errorf("%s: %s may be a relative path", k.Name, name)
			}
		}
	}
}
