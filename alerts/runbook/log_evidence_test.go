package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// logged are lines of a session's workspace, the newest at an age, beside what shows that the log names the session.
func logged(m backend.Metric, session, name string, n float64, newest time.Duration, sample backend.Literal) []backend.Count {
	x := backend.Series{Source: "app-log", Name: m, Session: backend.MustID(session), Workspace: backend.MustID(name)}
	return []backend.Count{{Series: x, At: before(30 * time.Minute)}, {Series: x, At: before(newest), N: n, Sample: backend.Text(sample)},
		{Series: backend.Series{Source: "app-log", Name: backend.MetricNamed, Session: backend.MustID(session)}, At: before(newest), N: n}}
}

// TestErrorLinesAndOwnPatternsAreEvidence on the pages about a failing workspace, with their counts; those of another one are
// not, and they raise nothing.
func TestErrorLinesAndOwnPatternsAreEvidence(t *testing.T) {
	w := world{workspaces: []*backend.Workspace{failed("s2", "box", "strange"), healthy("s2", "other"), healthy("s3", "box")}}
	for _, c := range [][]backend.Count{
		logged(backend.MetricErrorLines, "s2", "box", 24, time.Minute, "disc quota of the chunk store"), logged(backend.PatternLines("readfail"), "s2", "box", 20, time.Minute, "read failed /w/a.txt"),
		logged(backend.PatternLines("grepbig"), "s2", "box", 7, time.Minute, "grep scanned"), logged(backend.PatternBytes("grepbig"), "s2", "box", 1e9, time.Minute, ""),
		logged(backend.MetricErrorLines, "s2", "other", 5, time.Minute, "not this one"),
	} {
		w.counts = append(w.counts, c...)
	}
	for _, page := range []string{"1", "2", "3"} {
		for _, k := range []backend.Key{wsKey("s2", "box"), {}} {
			fact := factOf(t, w.diagnose(page, k), "log")
			for _, part := range []string{"error lines in the last hour: ", "lines of your pattern readfail in the last hour: 20, the newest: read failed /w/a.txt", "grepbig in the last hour: 7 (together they name 1 GB)"} {
				if !strings.Contains(fact, part) {
					t.Errorf("page %s about %s lacks %q: %s", page, k.Safe(), part, fact)
				}
			}
			if k.Kind != "" && !strings.Contains(fact, "error lines in the last hour: 24, the newest: disc quota") {
				t.Errorf("page %s: %s", page, fact)
			}
		}
		want(t, w.diagnose(page, wsKey("s3", "box")), map[string]Mark{"log": CannotTell})
	}
	alone := world{workspaces: []*backend.Workspace{healthy("s2", "box")}, counts: w.counts}
	if b := alone.conclude(alone.state()); len(b.Alerts) > 0 {
		t.Errorf("lines alone raise %s", b.Alerts[0].Rule)
	}
}

// TestLoggedFailuresRuleNothingOut: an unknown text leaves every check open, a known one decides only its own.
func TestLoggedFailuresRuleNothingOut(t *testing.T) {
	checks := []string{"snapshot", "module", "binding", "sharing", "quota", "image", "engine", "sqlite", "full", "memory", "database", "network", "auth"}
	for _, c := range []struct {
		text backend.Literal
		yes  string
	}{{"WorkspaceFailedError: lease gone", ""}, {"WorkspaceFailedError: env.SANDBOX is undefined", "binding"}} {
		w := world{workspaces: []*backend.Workspace{healthy("s1", "box")}, counts: logged(backend.MetricWorkspaceFailed, "s1", "box", 12, 4*time.Minute, c.text)}
		for _, k := range []backend.Key{wsKey("s1", "box"), sessionKey("s1"), {}} {
			d := w.diagnose("1", k)
			for _, name := range checks {
				mark := CannotTell
				if name == c.yes {
					mark = Confirmed
				}
				if d.Mark(name) != mark {
					t.Errorf("%s about %s: %s is %s: %s", c.text, k.Safe(), name, d.Mark(name), factOf(t, d, name))
				}
			}
		}
	}
}

// TestALineBesideAnErrorGivesNoHeadline: the registry's own error is what failed.
func TestALineBesideAnErrorGivesNoHeadline(t *testing.T) {
	w := world{workspaces: []*backend.Workspace{failed("s1", "box", "strange")}, counts: logged(backend.MetricErrorLines, "s1", "box", 3, time.Minute, "ENOSPC writing chunk")}
	d := w.diagnose("1", wsKey("s1", "box"))
	want(t, d, map[string]Mark{"full": Confirmed, "network": CannotTell})
	if !strings.Contains(d.Conclusion.String(), "no known cause") || !d.NoReset.IsEmpty() {
		t.Errorf("%s; %s", d.Conclusion, d.NoReset)
	}
	w.workspaces[0].LastError = backend.Text("max_instances reached")
	want(t, w.diagnose("1", wsKey("s1", "box")), map[string]Mark{"full": Confirmed, "quota": Confirmed, "network": RuledOut})
}

// TestFailuresSinceTheLastSuccess are not over because an entry is open.
func TestFailuresSinceTheLastSuccess(t *testing.T) {
	for newest, says := range map[time.Duration]string{10 * time.Second: "The log tells of failed operations", 20 * time.Minute: "Nothing is failed now"} {
		w := world{workspaces: []*backend.Workspace{healthy("s1", "box")}, counts: logged(backend.MetricWorkspaceFailed, "s1", "box", 12, newest, "WorkspaceFailedError: lease gone")}
		if d := w.diagnose("1", wsKey("s1", "box")); !strings.Contains(d.Conclusion.String(), says) {
			t.Errorf("%s ago: %s", newest, d.Conclusion)
		}
	}
}

// TestALineOfAnotherWorkspaceIsNotCounted on the page of its neighbour.
func TestALineOfAnotherWorkspaceIsNotCounted(t *testing.T) {
	w := world{workspaces: []*backend.Workspace{failed("s1", "box", "strange"), failed("s1", "other", "strange")}, counts: logged(backend.MetricWorkspaceFailed, "s1", "other", 12, time.Minute, "WorkspaceFailedError: lease gone"),
		board: &alerts.Board{}}
	want(t, w.diagnose("1", wsKey("s1", "box")), map[string]Mark{"lines": RuledOut})
	want(t, w.diagnose("1", wsKey("s1", "other")), map[string]Mark{"lines": Confirmed})
}
