package logs

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// TestLinesAboutFilesNameTheirSandbox: they count for the sandbox that they name, and the path is found in its field.
func TestLinesAboutFilesNameTheirSandbox(t *testing.T) {
	r := newRig(t, func(o *Options) {
		o.Files = []string{t.TempDir() + "/*.log"}
		o.Pattern = []PatternOption{{Name: "w", Contains: "file written", Class: "write", Cause: `"path":"([^"]+)"`}, {Name: "r", Contains: "file read", Class: "read", Cause: `read (\S+)`}}
	})
	path := strings.TrimSuffix(r.src.opts.Files[0], "*.log") + "a.log"
	appendTo(t, path, "start\n")
	r.poll(0)
	appendTo(t, path, jsonLine(t0.Add(time.Second), "", "file written", `,"sandboxId":"team-cache","path":"/w/a.txt"`)+
		jsonLine(t0.Add(time.Second), "s1", "file read /w/a.txt", `,"sandbox":"team-cache"`)+
		jsonLine(t0.Add(time.Second), "s2", "tick", `,"sandbox":"team-cache"`))
	var got []string
	for _, c := range r.poll(5 * time.Second).Counts {
		if c.N > 0 && (c.Series.Name == backend.MetricReads || c.Series.Name == backend.MetricWrites || !c.Series.Sandbox.IsZero()) {
			got = append(got, fmt.Sprintf("%s %s %s %s", c.Series.Name, c.Series.Session.Safe(), c.Series.Sandbox.Safe(), c.Sample))
		}
	}
	slices.Sort(got)
	if want := "reads s1 team-cache /w/a.txt; writes  team-cache /w/a.txt"; strings.Join(got, "; ") != want {
		t.Errorf("got %q, want %q", strings.Join(got, "; "), want)
	}
}

// TestAJoinNamesItsFile: a line that joins a session and a sandbox is told with the file that holds it.
func TestAJoinNamesItsFile(t *testing.T) {
	r, dir := logDir(t)
	path := filepath.Join(dir, "hub.log")
	appendTo(t, path, t0.Format(time.RFC3339)+" [INFO] [hub] session codesess_4cf3 bound to sandbox sbx_5044\n"+t0.Format(time.RFC3339)+" [WARN] [hub] codesess_4cf3 still has not reconnected\n")
	got := r.poll(time.Second)
	if len(got.Reports) != 2 || got.Reports[0].Where.String() != path || got.Reports[1].Where.String() != path {
		t.Errorf("%+v, want both of %s", got.Reports, path)
	}
}
