package logs

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

func rejectedCommand(session, workspace, command string) string {
	return `{"level":40,"sessionId":"` + session + `","workspace":"` + workspace + `","command":"` + command + `","msg":"workspace tool: shell metacharacter rejected"}`
}

func rolledUp(session, workspace, command, count string) string {
	id := ""
	if session != "" {
		id = `"sessionId":"` + session + `",`
	}
	return `{"level":40,` + id + `"workspace":"` + workspace + `","command":"` + command + `","suppressedCount":` + count + `,"msg":"[rate-limited] workspace tool: shell metacharacter rejected"}`
}

func rowOf(t *testing.T, r backend.Reading, session, word, metachar string) *backend.Rejection {
	t.Helper()
	for _, x := range r.Rejections {
		if x.Session.Raw() == session && x.Word.String() == word && x.Metacharacter.String() == metachar {
			return x
		}
	}
	t.Fatalf("no row of %q %q %q in %+v", session, word, metachar, r.Rejections)
	return nil
}

// TestRejectionsAreRowsOfSessionWorkspaceWordAndMetacharacter: each row counts its full lines and what rollups stand for, and
// keeps its first full line whole.
func TestRejectionsAreRowsOfSessionWorkspaceWordAndMetacharacter(t *testing.T) {
	long := strings.Repeat("x", 2000)
	first := rejectedCommand("s1", "box", "git log | head "+long)
	_, r := lines(t, nil, first, rejectedCommand("s1", "box", "git log | tail"), rejectedCommand("s1", "box", "git log; ls"), rejectedCommand("s2", "notes", "cat a > b"),
		rolledUp("s1", "box", "git log | head", "40"), rolledUp("s1", "box", "git log | head", "39"), rolledUp("s1", "box", "git log | head", "41"), rolledUp("s1", "box", "git log | head", "38"))
	if len(r.Rejections) != 3 {
		t.Fatalf("%d rows: %+v", len(r.Rejections), r.Rejections)
	}
	pipe := rowOf(t, r, "s1", "git", "|")
	if pipe.Lines != 2 || pipe.Suppressed != 40+39+41+38 || pipe.LowerBound || pipe.First.String() != first || pipe.Workspace.Raw() != "box" {
		t.Errorf("%+v", pipe)
	}
	if x := rowOf(t, r, "s1", "git", ";"); x.Lines != 1 || x.Suppressed != 0 {
		t.Errorf("%+v", x)
	}
	if x := rowOf(t, r, "s2", "cat", ">"); x.Lines != 1 || x.Workspace.Raw() != "notes" {
		t.Errorf("%+v", x)
	}
}

// TestARollupWithoutASessionBelongsToTheOnlyOneThatFits: the one whose full line has its workspace and first word.
func TestARollupWithoutASessionBelongsToTheOnlyOneThatFits(t *testing.T) {
	rolls := []string{rolledUp("", "box", "git x | y", "40"), rolledUp("", "box", "git x | y", "39"), rolledUp("", "box", "git x | y", "41"), rolledUp("", "box", "git x | y", "38")}
	for _, c := range []struct {
		name  string
		full  []string
		owner string
		fits  int
	}{
		{"one session has it", []string{rejectedCommand("s1", "box", "git a | b"), rejectedCommand("s2", "box", "curl a | b")}, "s1", 0},
		{"two sessions have it", []string{rejectedCommand("s1", "box", "git a | b"), rejectedCommand("s2", "box", "git c | d")}, "", 2},
		{"another workspace", []string{rejectedCommand("s1", "notes", "git a | b")}, "", 0},
		{"another word", []string{rejectedCommand("s1", "box", "curl a | b")}, "", 0},
	} {
		_, r := lines(t, nil, append(c.full, rolls...)...)
		x := rowOf(t, r, c.owner, "git", "|")
		if x.Suppressed != 158 || x.Fits != c.fits {
			t.Errorf("%s: %+v", c.name, x)
		}
		if got := total(r.Counts, backend.MetricRejections, c.owner); got < 158 {
			t.Errorf("%s: %v rejections of %q", c.name, got, c.owner)
		}
		if said := hasNote(r, "cannot be attributed"); said != (c.owner == "") {
			t.Errorf("%s: notes %v", c.name, r.Notes)
		}
	}
}

func TestRejectionsAreForgottenAfterAnHourAndBounded(t *testing.T) {
	a, r := lines(t, nil, rejectedCommand("s1", "box", "git a | b"))
	if len(r.Rejections) != 1 {
		t.Fatal(r.Rejections)
	}
	var next backend.Reading
	a.finish(&next, t0.Add(30*time.Minute))
	if len(next.Rejections) != 1 || next.Rejections[0] != r.Rejections[0] {
		t.Error("a row that did not change is told anew")
	}
	a.finish(&next, t0.Add(forgetWord+time.Minute))
	if len(next.Rejections) != 0 || len(a.refused.owners) != 0 {
		t.Errorf("%v %v", next.Rejections, a.refused.owners)
	}
	var many []string
	for i := range maxRejections + 5 {
		many = append(many, rejectedCommand("s1", "box", "w"+string(rune('a'+i%26))+strings.Repeat("b", i/26)+" | x"))
	}
	_, r = lines(t, nil, many...)
	if len(r.Rejections) != maxRejections || !hasNote(r, "5 rejected lines are beyond") {
		t.Errorf("%d rows, notes %v", len(r.Rejections), r.Notes)
	}
}
