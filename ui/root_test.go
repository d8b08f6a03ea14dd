package ui

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The root model stays small, and none of its methods names an overlay.
func TestTheModelKnowsNoOverlay(t *testing.T) {
	set := token.NewFileSet()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	names = slices.DeleteFunc(names, func(n string) bool { return strings.HasSuffix(n, "_test.go") })
	lines := 0
	methods := map[string]map[string]bool{} // by receiver
	var ofModel []*ast.FuncDecl
	size := func(n ast.Node) int { return set.Position(n.End()).Line - set.Position(n.Pos()).Line + 1 }
	for _, n := range names {
		f, err := parser.ParseFile(set, n, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if spec, ok := s.(*ast.TypeSpec); ok && spec.Name.Name == "Model" {
						lines += size(d)
					}
				}
			case *ast.FuncDecl:
				if d.Recv == nil {
					continue
				}
				on := receiver(d.Recv.List[0].Type)
				if methods[on] == nil {
					methods[on] = map[string]bool{}
				}
				methods[on][d.Name.Name] = true
				if on == "Model" {
					ofModel = append(ofModel, d)
					lines += size(d)
				}
			}
		}
	}
	overlays := map[string]bool{}
	for on, has := range methods {
		if has["Update"] && has["Render"] && has["Keys"] {
			overlays[on] = true
		}
	}
	if len(overlays) < 8 {
		t.Fatalf("found only the overlays %v", overlays)
	}
	for _, m := range ofModel {
		ast.Inspect(m, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && overlays[id.Name] {
				t.Errorf("%s: Model.%s names the overlay %s", set.Position(id.Pos()), m.Name.Name, id.Name)
			}
			return true
		})
	}
	if lines >= 500 {
		t.Errorf("the model has %d lines in %d methods", lines, len(ofModel))
	}
	t.Logf("%d lines in %d methods; overlays: %v", lines, len(ofModel), overlays)
}

func receiver(t ast.Expr) string {
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}
