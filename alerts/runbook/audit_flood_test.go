package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// rejectedRow is one row of rejected commands of the log source.
func rejectedRow(session, line string, ago time.Duration) *backend.Rejection {
	x := &backend.Rejection{Workspace: backend.MustID("box"), Word: backend.Text("git"), FirstAt: before(ago), First: backend.Clean(line, 500)}
	if session != "" {
		x.Session = backend.MustID(session)
	}
	return x
}

// withRejections is the world's State with what its log source remembers.
func (w world) withRejections(rows ...*backend.Rejection) Case {
	c := w.about(sessionKey("s1"))
	log := c.State.Source("app-log")
	log.Rejections = rows
	return c
}

func factOf(t *testing.T, d Diagnosis, name string) string {
	t.Helper()
	for _, c := range d.Checks {
		if c.Name == name {
			return c.Fact.String()
		}
	}
	t.Fatalf("there is no check %s", name)
	return ""
}

func TestPage9TellsTheFirstFullRejection(t *testing.T) {
	w := world{sessions: []*backend.Session{session("s1", true)}, counts: lines("app-log", backend.MetricRejections, "s1", 6000)}
	d := w.withRejections(rejectedRow("s1", "a later line", time.Minute), rejectedRow("s1", "the first line", 3*time.Minute), rejectedRow("s2", "of another", time.Hour)).Diagnose("9")
	want(t, d, map[string]Mark{"flood": Confirmed})
	if fact := factOf(t, d, "flood"); !strings.Contains(fact, "the first line, 3m ago: the first line") {
		t.Error(fact)
	}
}

func TestPage9SaysThatARollupIsUnattributable(t *testing.T) {
	w := world{counts: lines("app-log", backend.MetricRejections, "", 6)}
	for fits, says := range map[int]string{
		0: "name no session and cannot be attributed: no session has a full line of their workspace and first word",
		2: "name no session and cannot be attributed: 2 sessions have full lines of the same workspace and first word",
	} {
		c := w.withRejections(&backend.Rejection{Fits: fits, Suppressed: 6})
		c.Subject = backend.Key{}
		d := c.Diagnose("9")
		want(t, d, map[string]Mark{"one-session": CannotTell})
		if fact := factOf(t, d, "one-session"); !strings.Contains(fact, says) {
			t.Error(fact)
		}
	}
}

func TestPage9NamesTheCostOfALongerWindow(t *testing.T) {
	p, _ := Incident("9")
	for _, k := range p.Knobs {
		if k.Name.String() == "securityWindowMs" && strings.Contains(k.Cost.String(), "longer windows hide new attack signals") {
			return
		}
	}
	t.Errorf("%+v", p.Knobs)
}
