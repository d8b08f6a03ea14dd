package logs

import (
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// logDir is a rig on dir/*.log.
func logDir(t *testing.T) (*rig, string) {
	dir := t.TempDir()
	return newRig(t, func(o *Options) { o.Files = []string{filepath.Join(dir, "*.log")} }), dir
}

func TestFirstPollReadsTheLookback(t *testing.T) {
	r, dir := logDir(t)
	path := filepath.Join(dir, "a.log")
	// Far more than one block of old lines, then some within the lookback, then a line without a time.
	var old strings.Builder
	for i := range 8000 {
		old.WriteString(rejected(t0.Add(-2*time.Hour+time.Duration(i)*time.Millisecond), "old"))
	}
	appendTo(t, path, old.String()+rejected(t0.Add(-14*time.Minute), "a")+rejected(t0.Add(-time.Second), "a")+"  at stack WorkspaceEvictedError: gone\n")
	got := r.poll(0)
	r.want(got, backend.MetricRejections, "old", 0)
	r.want(got, backend.MetricRejections, "a", 2)
	r.want(got, backend.MetricWorkspaceEvicted, "", 1)
	if got.Load.Bytes > 3*readBlock {
		t.Errorf("%d bytes read for a few lines", got.Load.Bytes)
	}
	var times []time.Time
	for _, c := range got.Counts {
		if c.Series.Name == backend.MetricRejections && c.Series.Session.Raw() == "a" {
			times = append(times, c.At)
		}
	}
	if len(times) != 4 || !times[0].Equal(t0.Add(-15*time.Minute)) || !times[1].Equal(t0.Add(-14*time.Minute)) || !times[3].Equal(t0) {
		t.Errorf("counts at %v: want the start of the lookback (0), the two lines, and now (0)", times)
	}
	r.want(r.poll(5*time.Second), backend.MetricRejections, "*", 0)
}

func TestPastWithoutTimesIsNotCounted(t *testing.T) {
	r, dir := logDir(t)
	path := filepath.Join(dir, "a.log")
	appendTo(t, path, strings.Repeat("command not in allowlist\n", 50))
	r.want(r.poll(0), backend.MetricRejections, "*", 0)
	appendTo(t, path, "command not in allowlist\n")
	r.want(r.poll(5*time.Second), backend.MetricRejections, "*", 1)
}

func TestPartialLinesWait(t *testing.T) {
	r, dir := logDir(t)
	path := filepath.Join(dir, "a.log")
	appendTo(t, path, "")
	r.poll(0)
	line := rejected(r.now, "a")
	appendTo(t, path, line[:40])
	r.want(r.poll(5*time.Second), backend.MetricLogLines, "*", 0)
	appendTo(t, path, line[40:])
	r.want(r.poll(5*time.Second), backend.MetricRejections, "a", 1)
}

func TestRenameAndCreateLosesNothing(t *testing.T) {
	r, dir := logDir(t)
	path := filepath.Join(dir, "a.log")
	appendTo(t, path, rejected(t0, "a"))
	r.want(r.poll(0), backend.MetricRejections, "a", 1)
	appendTo(t, path, rejected(t0, "a")) // unread when the file moves
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	appendTo(t, path+".1", rejected(t0, "a")) // the writer still holds the old file
	appendTo(t, path, rejected(time.Time{}, "a"))
	r.want(r.poll(5*time.Second), backend.MetricRejections, "a", 3)
	appendTo(t, path+".1", rejected(t0, "a"))
	r.want(r.poll(5*time.Second), backend.MetricRejections, "a", 1)
	for range quietPolls + 1 {
		r.want(r.poll(5*time.Second), backend.MetricRejections, "a", 0)
	}
	if n := len(r.src.files.tails); n != 1 {
		t.Errorf("%d files open after the rotation, want 1", n)
	}
}

func TestRenamedFileThatStillMatchesIsNotReadTwice(t *testing.T) {
	r, dir := logDir(t)
	path := filepath.Join(dir, "a.log")
	appendTo(t, path, rejected(t0, "a"))
	r.poll(0)
	if err := os.Rename(path, filepath.Join(dir, "a.1.log")); err != nil {
		t.Fatal(err)
	}
	appendTo(t, path, rejected(t0, "b"))
	got := r.poll(5 * time.Second)
	r.want(got, backend.MetricRejections, "a", 0)
	r.want(got, backend.MetricRejections, "b", 1)
}

func TestCopyTruncate(t *testing.T) {
	for name, c := range map[string]struct {
		copyName string
		want     float64 // of the two lines written before the truncation, unread
	}{
		"the copy is read too":     {"a.1.log", 2},
		"the copy matches no glob": {"a.log.1", 0},
	} {
		t.Run(name, func(t *testing.T) {
			r, dir := logDir(t)
			path := filepath.Join(dir, "a.log")
			appendTo(t, path, strings.Repeat(rejected(t0, "first"), 5))
			r.want(r.poll(0), backend.MetricRejections, "first", 5)
			appendTo(t, path, rejected(t0, "late")+rejected(t0, "late"))
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			appendTo(t, filepath.Join(dir, c.copyName), string(content))
			if err := os.Truncate(path, 0); err != nil {
				t.Fatal(err)
			}
			appendTo(t, path, rejected(t0, "new"))
			got := r.poll(5 * time.Second)
			r.want(got, backend.MetricRejections, "first", 0)
			r.want(got, backend.MetricRejections, "late", c.want)
			r.want(got, backend.MetricRejections, "new", 1)
			if told := hasNote(got, "emptied in place"); told != (c.want == 0) {
				t.Errorf("notes: %v", got.Notes)
			}
			got = r.poll(5 * time.Second)
			r.want(got, backend.MetricRejections, "*", 0)
		})
	}
}

func TestTruncatedAndGrownBeyondTheOldPlace(t *testing.T) {
	r, dir := logDir(t)
	path := filepath.Join(dir, "a.log")
	appendTo(t, path, rejected(t0, "a"))
	r.poll(0)
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	appendTo(t, path, strings.Repeat(rejected(t0.Add(time.Second), "b"), 10))
	r.want(r.poll(5*time.Second), backend.MetricRejections, "b", 10)
}

func TestCopySeenBeforeTheTruncation(t *testing.T) {
	r, dir := logDir(t)
	path, cp := filepath.Join(dir, "a.log"), filepath.Join(dir, "b.log")
	appendTo(t, path, strings.Repeat(rejected(t0, "a"), 5))
	r.poll(0)
	appendTo(t, cp, strings.Repeat(rejected(t0, "a"), 5))
	r.want(r.poll(5*time.Second), backend.MetricRejections, "*", 0)
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	appendTo(t, path, rejected(t0, "b"))
	got := r.poll(5 * time.Second)
	r.want(got, backend.MetricRejections, "a", 0)
	r.want(got, backend.MetricRejections, "b", 1)
}

func TestSameBeginningIsNoCopy(t *testing.T) {
	r, dir := logDir(t)
	banner := strings.Repeat("=", 100) + " agent server\n"
	appendTo(t, filepath.Join(dir, "a.log"), banner+strings.Repeat("working\n", 20))
	r.poll(0)
	appendTo(t, filepath.Join(dir, "b.log"), banner+"command not in allowlist\n")
	n := 0.0
	for range quietPolls + 2 {
		n += total(r.poll(5*time.Second).Counts, backend.MetricRejections, "*")
	}
	if n != 1 {
		t.Errorf("%v rejections in the new file, want 1", n)
	}
}

func TestNewFileIsReadFromItsBeginning(t *testing.T) {
	r, dir := logDir(t)
	got := r.poll(0)
	if got.Degraded.IsEmpty() || !strings.Contains(got.Degraded.String(), filepath.Join(dir, "*.log")) || len(got.Missing) != 2 || len(got.Inputs) != 0 {
		t.Errorf("without a file: degraded %q, missing %v, inputs %v", got.Degraded, got.Missing, got.Inputs)
	}
	big := strings.Repeat("command not in allowlist\n", 2*readBlock/25)
	appendTo(t, filepath.Join(dir, "a.log"), big)
	got = r.poll(5 * time.Second)
	r.want(got, backend.MetricRejections, "*", float64(strings.Count(big, "\n")))
	if !got.Degraded.IsEmpty() || len(got.Inputs) != 2 {
		t.Errorf("with a file: degraded %q, inputs %v", got.Degraded, got.Inputs)
	}
}

func TestOddFilesAreNamedAndTheRestIsRead(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t, func(o *Options) {
		o.Files = []string{filepath.Join(dir, "*.log*"), filepath.Join(dir, "absent", "x.log")}
	})
	appendTo(t, filepath.Join(dir, "a.log"), rejected(t0, "a"))
	if err := os.Mkdir(filepath.Join(dir, "d.log"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "dangling.log")); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "a.log.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	if _, err := fmt.Fprint(z, rejected(t0, "packed")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	got := r.poll(0)
	r.want(got, backend.MetricRejections, "*", 1)
	if len(got.Problems) != 2 || !got.Degraded.IsEmpty() {
		t.Errorf("problems %v, degraded %q", got.Problems, got.Degraded)
	}
	if !hasNote(got, "1 compressed") {
		t.Errorf("notes %v", got.Notes)
	}
}

func TestWrongClockCountsAtReadingTime(t *testing.T) {
	r, dir := logDir(t)
	path := filepath.Join(dir, "a.log")
	appendTo(t, path, "")
	r.poll(0)
	appendTo(t, path, rejected(t0.Add(-24*time.Hour), "a")+rejected(t0.Add(24*time.Hour), "a"))
	got := r.poll(5 * time.Second)
	r.want(got, backend.MetricRejections, "a", 2)
	for _, c := range got.Counts {
		if c.N > 0 && !c.At.Equal(r.now) {
			t.Errorf("counted at %v", c.At)
		}
	}
	if !hasNote(got, "2 lines carry a time") {
		t.Errorf("notes %v", got.Notes)
	}
}

// TestLinesOfThePastAheadOfOurClockAreKept: the clock of a worker is minutes ahead. Its lines count when they are read, and the source says so; hours
// ahead is another time zone, and lines that are not used are counted too.
func TestLinesOfThePastAheadOfOurClockAreKept(t *testing.T) {
	r, dir := logDir(t)
	failed := func(ahead time.Duration) string {
		return `{"time":"` + t0.Add(ahead).Format(time.RFC3339) + `","level":"error","msg":"tool failed","err":{"message":"Failed to execute command 'ls' in session 'sandbox-demo': Unknown Error, TODO"}}` + "\n"
	}
	appendTo(t, filepath.Join(dir, "a.log"), rejected(t0.Add(-time.Minute), "a")+rejected(t0.Add(8*time.Minute), "a")+failed(9*time.Minute)+failed(2*time.Hour))
	got := r.poll(0)
	r.want(got, backend.MetricRejections, "a", 2)
	var lines []backend.Report
	for _, x := range got.Reports {
		if x.Kind == backend.ReportNotStarted {
			lines = append(lines, x)
		}
	}
	if len(lines) != 1 || !lines[0].At.Equal(t0) {
		t.Errorf("the line 9 minutes ahead is one report at the time it was read, got %v", lines)
	}
	for range 2 { // later readings say it too
		if !hasNote(got, "2 lines of the past carry a time ahead of this computer's clock") || !hasNote(got, "1 lines of the past are not counted: their time is more than 30 minutes ahead") {
			t.Errorf("notes %v", got.Notes)
		}
		got = r.poll(5 * time.Second)
	}
}

func TestBucketsAreAtMostFiveSeconds(t *testing.T) {
	r, dir := logDir(t)
	path := filepath.Join(dir, "a.log")
	appendTo(t, path, "")
	r.poll(0)
	var text strings.Builder
	for i := range 60 {
		text.WriteString(rejected(t0.Add(time.Duration(i)*time.Second), "a"))
	}
	appendTo(t, path, text.String())
	got := r.poll(time.Minute)
	n := 0
	for _, c := range got.Counts {
		if c.Series.Name == backend.MetricRejections && c.Series.Session.Raw() == "a" && c.N > 0 {
			n++
			if c.N > 5 {
				t.Errorf("%v in one count", c.N)
			}
		}
	}
	if n != 12 {
		t.Errorf("%d counts, want 12", n)
	}
}

func TestAFileLargerThanOnePollWaits(t *testing.T) {
	r, dir := logDir(t)
	path := filepath.Join(dir, "a.log")
	appendTo(t, path, "")
	r.poll(0)
	line := strings.Repeat("x", 999) + "\n"
	appendTo(t, path, strings.Repeat(line, maxPerPoll/1000+5000))
	got := r.poll(5 * time.Second)
	if !hasNote(got, "wait for the next poll") {
		t.Errorf("notes %v", got.Notes)
	}
	n := total(got.Counts, backend.MetricLogLines, "*") + total(r.poll(5*time.Second).Counts, backend.MetricLogLines, "*")
	if n != maxPerPoll/1000+5000 {
		t.Errorf("%v lines", n)
	}
}
