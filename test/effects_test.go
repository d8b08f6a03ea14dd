package test

import (
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"
)

// isKindOfActions reports whether a directory holds the effects of one kind of source.
func isKindOfActions(dir string) bool {
	return strings.HasPrefix(dir, "actions/") && dir != "actions/audit"
}

// typeName is the last word of a type: Target of actions.Target and of *Target.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// isEffect reports whether a method is the one that acts: Do(context, Target, Params) (Done, error).
func isEffect(f *ast.FuncDecl) bool {
	if f.Recv == nil || f.Name.Name != "Do" || f.Type.Params.NumFields() != 3 || f.Type.Results.NumFields() != 2 {
		return false
	}
	last := f.Type.Params.List[len(f.Type.Params.List)-1]
	return typeName(last.Type) == "Params" && typeName(f.Type.Results.List[0].Type) == "Done"
}

// TestEffectsHaveOnePath holds the one way in which anything outside is changed: effects live below actions, only the
// wiring knows these packages, and only a run of a confirmed plan opens and calls them.
func TestEffectsHaveOnePath(t *testing.T) {
	kinds, calls, opens := map[string]bool{}, map[string]int{}, map[string]int{}
	for _, f := range sources(t) {
		at := func(n ast.Node) string { return f.pos.Position(n.Pos()).String() }
		for _, imp := range f.ast.Imports {
			dir := strings.TrimPrefix(strings.Trim(imp.Path.Value, `"`), "sandglass/")
			if isKindOfActions(dir) && f.dir != "." && f.dir != "app" && f.dir != dir {
				t.Errorf("%s imports %s; only the wiring makes effects", at(imp), dir)
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				switch {
				case !isEffect(n):
				case isKindOfActions(f.dir):
					kinds[f.dir] = true
				case f.dir == "actions" && typeName(n.Recv.List[0].Type) == "recorder": // of a dry run
				default:
					t.Errorf("%s: an effect outside actions/<kind>", at(n))
				}
			case *ast.CallExpr:
				sel, ok := n.Fun.(*ast.SelectorExpr)
				switch {
				case !ok:
				case sel.Sel.Name == "Do" && len(n.Args) == 3:
					calls[f.name]++
				case sel.Sel.Name == "Open" && typeName(sel.X) == "Part":
					opens[f.name]++
				}
			}
			return true
		})
	}
	if want := []string{"actions/agentuity", "actions/blaxel", "actions/cloudflare", "actions/docker", "actions/operator", "actions/tmpdir"}; !slices.Equal(slices.Sorted(maps.Keys(kinds)), want) {
		t.Errorf("effects were found in %v, want %v: name the new one here", slices.Sorted(maps.Keys(kinds)), want)
	}
	if !maps.Equal(calls, map[string]int{"actions/act.go": 1}) {
		t.Errorf("effects are called in %v; only a run calls one, just after its target was read again", calls)
	}
	if !maps.Equal(opens, map[string]int{"actions/run.go": 1}) {
		t.Errorf("effects are opened in %v; only a run opens one, after its intent is in the journal", opens)
	}
}

// fileWriters are the files of the program that may change files, and how. Everything else only reads. All of them write
// below the state directory or to a file that the command line names, but for actions/tmpdir.
var fileWriters = map[string][]string{
	"actions/agentuity/rescue.go":          {"os.Remove"}, // what it could not fill
	"actions/blaxel/rescue.go":             {"os.Remove"}, // the same
	"actions/audit/bundle.go":              {"os.MkdirAll", "os.OpenFile", "os.Remove"},
	"actions/audit/intents.go":             {"lockfile.Remove", "lockfile.TryOpen", "os.MkdirAll"},
	"actions/audit/journal.go":             {"lockfile.Open", "lockfile.OpenLocked", "lockfile.Truncate", "os.MkdirAll"},
	"actions/audit/reserve.go":             {"lockfile.Open"},
	"actions/rescue.go":                    {"os.MkdirAll", "os.OpenFile"}, // archives below the state directory
	"actions/store.go":                     {"os.MkdirAll", "os.Remove"},
	"actions/tmpdir/effect_linux.go":       {"unix.Renameat2"},
	"actions/tmpdir/remove_linux.go":       {"unix.Fchmod", "unix.Unlinkat"},
	"alerts/claims.go":                     {"lockfile.Truncate"},
	"alerts/linefile.go":                   {"lockfile.OpenLocked", "lockfile.Truncate"},
	"alerts/persist.go":                    {"lockfile.TryOpen", "os.CreateTemp", "os.MkdirAll", "os.Remove", "os.Rename"},
	"alerts/scenario/play.go":              {"os.MkdirTemp", "os.RemoveAll"}, // of rule tests, in a directory of their own
	"backend/lockfile/lockfile_unix.go":    {"os.OpenFile", "os.Remove"},
	"backend/lockfile/lockfile_windows.go": {"os.OpenFile", "os.Remove", "os.Truncate"},
	"backend/run/group_unix.go":            {"syscall.Kill"},                            // ends the command that it started
	"app/crash.go":                         {"os.OpenFile"},                             // the crash file
	"app/kept.go":                          {"os.CreateTemp", "os.Remove", "os.Rename"}, // what a console keeps: views, its place
	"app/logs.go":                          {"os.MkdirAll", "os.OpenFile", "os.Remove"}, // a log view's lines, below the state directory
	"app/demo_file.go":                     {"os.OpenFile", "os.Remove"},                // demo --write-config
	"app/examine.go":                       {"os.MkdirAll", "os.OpenFile"},              // the sample of doctor
	"cli/configcmd.go":                     {"os.MkdirAll", "os.OpenFile"},              // config init FILE
	"cli/man.go":                           {"os.WriteFile"},                            // man DIR
}

// changesFiles are the calls that make, change or remove something in a file system, move mounts, or end processes.
func changesFiles(pkg, name string) bool {
	if pkg == "os" {
		return slices.Contains([]string{"Chmod", "Chown", "Chtimes", "CopyFS", "Create", "CreateTemp", "Lchown", "Link", "Mkdir", "MkdirAll", "MkdirTemp",
			"OpenFile", "OpenInRoot", "OpenRoot", "Remove", "RemoveAll", "Rename", "Symlink", "Truncate", "WriteFile", "StartProcess", "FindProcess"}, name)
	}
	if pkg == "lockfile" {
		return slices.Contains([]string{"Open", "OpenLocked", "TryOpen", "Remove", "Truncate"}, name)
	}
	if pkg != "unix" && pkg != "syscall" {
		return false
	}
	for _, p := range []string{"Unlink", "Rename", "Mkdir", "Mknod", "Rmdir", "Link", "Symlink", "Fchmod", "Chmod", "Fchown", "Chown", "Lchown", "Truncate", "Ftruncate",
		"Setxattr", "Removexattr", "Mount", "Unmount", "Kill", "Creat", "Umount", "MoveMount", "Fallocate"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// reads reports whether a call of OpenFile has no flag but those for reading.
func reads(call *ast.CallExpr) bool {
	only := true
	ast.Inspect(call.Args[1], func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			only = only && slices.Contains([]string{"os", "unix", "syscall", "O_RDONLY", "O_NONBLOCK", "O_CLOEXEC", "O_NOFOLLOW", "O_DIRECTORY"}, id.Name)
		}
		return true
	})
	return only
}

// TestOnlyTheListedFilesWrite holds that adapters and screens change no file, and that nothing but actions/tmpdir removes
// a directory that is not the program's own.
func TestOnlyTheListedFilesWrite(t *testing.T) {
	found := map[string][]string{}
	for _, f := range sources(t) {
		if allowed("demo/...", f.dir) || slices.Contains(ofTests, f.dir) {
			continue // its files are its own
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := sel.X.(*ast.Ident)
			if !ok || !changesFiles(x.Name, sel.Sel.Name) || sel.Sel.Name == "OpenFile" && reads(call) {
				return true
			}
			name := x.Name + "." + sel.Sel.Name
			if !slices.Contains(fileWriters[f.name], name) {
				t.Errorf("%s: %s; what changes files is listed in fileWriters", f.pos.Position(call.Pos()), name)
			}
			if !slices.Contains(found[f.name], name) {
				found[f.name] = append(found[f.name], name)
			}
			return true
		})
	}
	for file, calls := range fileWriters {
		for _, c := range calls {
			if !slices.Contains(found[file], c) {
				t.Errorf("fileWriters lists %s in %s, which does not call it", c, file)
			}
		}
		if strings.HasPrefix(file, "backend/") && file != "backend/run/group_unix.go" && !strings.HasPrefix(file, "backend/lockfile/") || strings.HasPrefix(file, "views/") {
			t.Errorf("fileWriters lists %s: adapters and views only read", file)
		}
	}
}
