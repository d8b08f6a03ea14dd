package test

import (
	"go/ast"
	"slices"
	"testing"
)

// TestAKindOfSubjectIsInFewFiles names the files that know a kind of subject as such: job, of which nothing outside is
// particular. A new kind touches the same ones, and each source and scenario that feeds it.
func TestAKindOfSubjectIsInFewFiles(t *testing.T) {
	files := []string{
		"backend/job.go", "backend/kinds.go", // the entity with its declaration; its line in the table
		"backend/reading.go", "backend/fleet/state.go", "backend/fleet/kinds.go", // its lists, and which list is whose
		"views/subjects/job.go", "views/subjects/kind.go", // what it looks like; its line in the table
	}
	found := map[string]bool{}
	for _, f := range sources(t) {
		feeds := f.dir == "alerts/scenario" || allowed("demo/...", f.dir) || allowed("backend/...", f.dir) && f.dir != "backend" && f.dir != "backend/fleet"
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && !feeds && slices.Contains([]string{"KindJob", "jobKind", "Job", "Jobs"}, id.Name) {
				found[f.name] = true
			}
			return true
		})
	}
	for name := range found {
		if !slices.Contains(files, name) {
			t.Errorf("%s knows the kind job: what differs by kind belongs into backend/job.go or views/subjects/job.go", name)
		}
	}
	for _, name := range files {
		if !found[name] {
			t.Errorf("%s does not name the kind job: take it off the list", name)
		}
	}
}
