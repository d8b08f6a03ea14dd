package test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// namedCommand is a command line of the program inside a text for users, with the word after it.
var namedCommand = regexp.MustCompile("(?:^|[ `(])sandglass ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?")

// TestNamedCommandsExist holds that each command line that a text names is one that the program takes.
func TestNamedCommandsExist(t *testing.T) {
	t.Parallel()
	help := exec.Command(os.Args[0], "--help")
	help.Env = append(os.Environ(), "SANDGLASS_TEST_RUN_MAIN=1")
	out, err := help.Output()
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z][a-z-]*) +[A-Z]`).FindAllStringSubmatch(string(out), -1) {
		known = append(known, m[1])
	}
	if len(known) < 25 {
		t.Fatalf("the help lists only %q", known)
	}
	named := 0
	check := func(where, text string) {
		for _, m := range namedCommand.FindAllStringSubmatch(text, -1) {
			named++
			if !slices.Contains(known, m[1]) || m[1] == "do" && slices.Contains(known, m[2]) {
				t.Errorf("%s: %q is no command line of the program", where, strings.TrimSpace(m[0]))
			}
		}
	}
	for _, root := range append([]string{"README.md", "docs"}, shownIn...) {
		err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			switch {
			case err != nil || d.IsDir() || strings.Contains(p, "testdata"):
			case filepath.Ext(p) == ".md", filepath.Ext(p) == ".tmpl":
				b, err := os.ReadFile(p)
				check(p, string(b))
				return err
			case strings.HasSuffix(p, ".go") && !strings.HasSuffix(p, "_test.go"):
				stringsOf(t, p, check)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if named < 80 {
		t.Errorf("only %d command lines were found", named)
	}
}
