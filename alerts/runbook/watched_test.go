package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestALongAttemptHasNotFailed: what runs on gives no error, so that it rules out no cause and nothing is to be reset.
func TestALongAttemptHasNotFailed(t *testing.T) {
	slow := healthy("s1", "box", func(w *backend.Workspace) { w.LastAttemptAt, w.LastSuccessAt = at(7*time.Minute), at(8*time.Minute) })
	d := world{workspaces: []*backend.Workspace{slow, healthy("s2", "box")}}.diagnose("1", slow.Key)
	want(t, d, map[string]Mark{"long-attempt": Confirmed, "failed": RuledOut, "quota": CannotTell, "image": CannotTell, "binding": CannotTell, "network": CannotTell, "deleted": CannotTell})
	if !strings.HasPrefix(d.Conclusion.String(), "Nothing has failed yet") || d.NoReset.IsEmpty() || anyHas(d.Do, "lastError") || anyHas(d.Do, "does not work") {
		t.Errorf("%s %v %s", d.Conclusion, d.Do, d.NoReset)
	}
}

// TestAStormComesBeforeADeletion: an eviction says that its sandbox is gone, and a storm explains that.
func TestAStormComesBeforeADeletion(t *testing.T) {
	w := world{workspaces: []*backend.Workspace{broken("s1", "box", backend.ClassEvicted, "WorkspaceEvictedError: sandbox instance is gone")}}
	w.board = &alerts.Board{}
	want(t, w.diagnose("1", wsKey("s1", "box")), map[string]Mark{"deleted": Confirmed, "storm": CannotTell})
	w.board.Alerts = []*alerts.Alert{{Rule: "eviction-storm", Source: "helix-eu", Runbook: "7", State: alerts.StatePending, Confirmed: now,
		Subjects: []alerts.Subject{{Key: wsKey("s1", "box"), State: alerts.StatePending}}, SubjectCount: 1}}
	d := w.diagnose("1", wsKey("s1", "box"))
	want(t, d, map[string]Mark{"deleted": CannotTell, "storm": Confirmed})
	if !strings.Contains(d.Conclusion.String(), "runbook 7") {
		t.Error(d.Conclusion)
	}
}

// TestExhaustedRetriesAreRetries: lines about them are no proof that nothing is retried.
func TestExhaustedRetriesAreRetries(t *testing.T) {
	w := world{workspaces: []*backend.Workspace{healthy("s1", "box")}, counts: lines("app-log", backend.MetricEvictionExhausted, "", 8)}
	want(t, w.diagnose("7", sourceKeyOf("helix-eu")), map[string]Mark{"retries": Confirmed})
}

// TestTheAgentsWordsAreNoSilence: a line that the agent said is counted, and neither confirms nor rules out.
func TestTheAgentsWordsAreNoSilence(t *testing.T) {
	w := world{counts: lines("app-log", backend.MetricTmpdirCloseFailed.Said(), "s1", 1)}
	d := w.diagnose("5", sessionKey("s1"))
	want(t, d, map[string]Mark{"close-failed": CannotTell})
	if fact := factOf(t, d, "close-failed"); !strings.Contains(fact, "said by the agent") {
		t.Error(fact)
	}
}
