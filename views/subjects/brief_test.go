package subjects

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sandglass/alerts"
	"sandglass/views/kit"
)

// TestCausesHaveABriefForm reads the causes that the rules word themselves: each fits into the narrowest column of causes, or has
// a brief form that does. Only foreign text loses its middle.
func TestCausesHaveABriefForm(t *testing.T) {
	files, err := filepath.Glob("../../alerts/rules/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	worded := regexp.MustCompile(`(?:\bl?\.?[Cc]ause(?:, [\w.]+)*(?::| :?=)|what :=) [^"\n]*?backend\.Textf?\("([^"]+)"|return backend\.Text\("([^"]+)"\), (?:true|false), true|causeOf\([^"\n]*"([^"]+)"|failing\(b, backend.Text\("([^"]+)"`)
	causes := []string{alerts.RegistriesLost, "registries of running sessions lost their workspaces at once", "its list lost half or more of its sessions at once"}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range worded.FindAllStringSubmatch(string(text), -1) {
			causes = append(causes, m[1]+m[2]+m[3]+m[4])
		}
	}
	n := 0
	for _, c := range causes {
		if c = strings.TrimPrefix(c, "%s: "); strings.Trim(c, "%s;: ") == "" || strings.Contains(c, "; the facts support") || strings.HasPrefix(c, "cannot start: ") || c == "many sessions started together" {
			continue // foreign text, or behind a cause of this list
		}
		which, way := "one attempt", "ahead of"
		c = strings.ReplaceAll(strings.Replace(c, "its clock is %s ours", "its clock is "+way+" ours", 1), "%s runs for %s", which+" runs for 7m")
		n++
		if short := brief(c).String(); kit.Width(c) > briefest && (short == "" || kit.Width(short) > briefest) {
			t.Errorf("no brief form of at most %d cells: %q, %q", briefest, c, short)
		}
	}
	if n < 45 {
		t.Errorf("only %d causes found", n)
	}
}
