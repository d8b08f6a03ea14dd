package tmpdir

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the list in docs/backends/tmpdir.md")

// TestThePageHasTheList holds the written list and the code together.
func TestThePageHasTheList(t *testing.T) {
	const page, end = "../../docs/backends/tmpdir.md", "<!-- end of conditions -->"
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var list strings.Builder
	list.WriteString("\n| | Condition | A directory is cleaned only if |\n|---|---|---|\n")
	for i, c := range conditions() {
		star := ""
		if c.again {
			star = " *"
		}
		fmt.Fprintf(&list, "| %d%s | %s | %s |\n", i+1, star, c.name, c.rule)
	}
	list.WriteString("\n")
	head, rest, ok := strings.Cut(string(b), "-update -->\n")
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("the page has no place for the list")
	}
	want := head + "-update -->\n" + list.String() + end + tail
	if want == string(b) {
		return
	}
	if !*update {
		t.Fatal("the list on the page is not the one in the code; run: go test ./actions/tmpdir -run TestThePageHasTheList -update")
	}
	if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
