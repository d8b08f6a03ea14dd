package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
)

var (
	pipedCommand = regexp.MustCompile(`sandglass ((?:'[^']*'|[^|')])*-o json(?:'[^']*'|[^|')])*)`)
	pipedInto    = regexp.MustCompile(`jq -r (?:'([^']*)'|(\S+))`)
	fieldPath    = regexp.MustCompile(`\.([a-z_]+(?:\.[a-z_]+)*)(\[\])?`)
	comparedWord = regexp.MustCompile(`\.([a-z_]+) == "([^"]*)"`)
)

// TestExamplesOfPipesNameFields runs the commands of the examples in docs/json.md, and finds in what they print each field that
// the filters behind them name, and the words to which these compare.
func TestExamplesOfPipesNameFields(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "json.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, examples, _ := strings.Cut(string(page), "\n```sh\n")
	examples, _, _ = strings.Cut(examples, "\n```\n")
	commands, filters := pipedCommand.FindAllStringSubmatch(examples, -1), pipedInto.FindAllStringSubmatch(examples, -1)
	if len(commands) < 3 || len(commands) != len(filters) {
		t.Fatalf("%d commands and %d filters in\n%s", len(commands), len(filters), examples)
	}
	for i, c := range commands {
		var args []string
		for _, m := range regexp.MustCompile(`'([^']*)'|\S+`).FindAllStringSubmatch(c[1], -1) {
			if m[1] != "" {
				m[0] = m[1]
			}
			args = append(args, strings.Replace(m[0], "error:quota", "error:bucket", 1)) // what the test's registry says
		}
		t.Run(args[0], func(t *testing.T) {
			filter := filters[i][1] + filters[i][2]
			if args[0] == "reset" {
				synctest.Test(t, func(t *testing.T) {
					namesFields(t, filter, newActSite(t, actConfig, "w1").run(0, `"digest"`, args...))
				})
				return
			}
			out, _, _ := run(t, "[[source]]\nid = \"helix-eu\"\nkind = \"fake\"\nfailing = 3\nworking = 1\n", args...)
			namesFields(t, filter, out)
		})
	}
}

func namesFields(t *testing.T, filter, out string) {
	t.Helper()
	var document any
	if err := json.Unmarshal([]byte(out), &document); err != nil {
		t.Fatalf("%v in\n%s", err, out)
	}
	paths, list := fieldPath.FindAllStringSubmatch(filter, -1), []any{document}
	if len(paths) > 0 && paths[0][2] != "" {
		list, _ = field(document, paths[0][1]).([]any)
		paths = paths[1:]
	}
	if len(paths) == 0 || len(list) == 0 {
		t.Fatalf("%s: %d fields of %d values in\n%s", filter, len(paths), len(list), out)
	}
	for _, x := range list {
		for _, p := range paths {
			if field(x, p[1]) == nil {
				t.Errorf("%s: no field %s in %v", filter, p[1], x)
			}
		}
	}
	for _, m := range comparedWord.FindAllStringSubmatch(filter, -1) {
		found := false
		for _, x := range list {
			found = found || field(x, m[1]) == m[2]
		}
		if !found {
			t.Errorf("%s: no %s is %q in\n%s", filter, m[1], m[2], out)
		}
	}
}

// field is the value at a path of names; nil: there is none.
func field(x any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		object, _ := x.(map[string]any)
		x = object[name]
	}
	return x
}
