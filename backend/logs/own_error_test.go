package logs

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// TestErrorLinesOfASessionAreCounted with lines of the operator's own patterns and the bytes that these name. What a tool or a
// command printed, what a pattern counts already, and lines without a session are not error lines.
func TestErrorLinesOfASessionAreCounted(t *testing.T) {
	path := t.TempDir() + "/app.log"
	appendTo(t, path, "")
	r := newRig(t, func(o *Options) {
		o.Files = []string{path}
		o.Pattern = []PatternOption{{Name: "readfail", Contains: "read failed", Class: "note"}, {Name: "grepbig", Contains: "grep scanned", Class: "note"}, {Name: "fread", Contains: "file read", Class: "read"}}
	})
	r.poll(0)
	line := func(level, msg, extra string) string {
		return `{"level":"` + level + `","sessionId":"s1","workspace":"box","msg":"` + msg + `"` + extra + `}`
	}
	appendTo(t, path, strings.Join([]string{
		line("error", "ENOSPC writing chunk", ""), line("fatal", "chunk store", `,"err":{"message":"gone"}`),
		`2026-01-01T12:00:01Z ERROR writing failed sessionId=s1 workspace=box`,
		line("warn", "slow chunk", ""), line("info", "error", ""), line("error", "tool output: ENOSPC", ""), line("error", "command failed: ENOSPC", ""),
		line("error", "WorkspaceFailedError: boom", ""), `{"level":"error","msg":"no session"}`,
		line("error", "read failed /w/a.txt", ""), line("info", "grep scanned bytes=50000000", ""), line("info", "grep scanned", `,"bytes":25000000`), line("info", "file read size=1000", ""),
	}, "\n")+"\n")
	got := r.poll(5 * time.Second)
	for m, n := range map[backend.Metric]float64{backend.MetricErrorLines: 3, backend.MetricWorkspaceFailed: 1, backend.PatternLines("readfail"): 1, backend.PatternLines("grepbig"): 2,
		backend.PatternBytes("grepbig"): 75000000, backend.PatternLines("fread"): 1, backend.MetricReadBytes: 1000} {
		r.want(got, m, "s1", n)
	}
	for _, c := range got.Counts {
		if c.Series.Name == backend.MetricWorkspaceFailed && c.N > 0 && c.Sample.String() != "WorkspaceFailedError: boom" {
			t.Error(c.Sample)
		}
	}
}
