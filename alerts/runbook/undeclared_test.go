package runbook

import (
	"strings"
	"testing"

	"sandglass/backend"
)

// TestARunningSessionWithoutARegistry may declare no workspace; one that rests is ordinary, and one whose registry was read is not.
func TestARunningSessionWithoutARegistry(t *testing.T) {
	for _, c := range []struct {
		listed, entry, offers bool
	}{{true, false, true}, {false, false, false}, {true, true, false}} {
		w := world{sessions: []*backend.Session{session("n0", c.listed, func(s *backend.Session) {
			s.ListedRunning, s.Answer = backend.Known(c.listed), backend.AnswerIdle
		})}}
		if c.entry {
			w.workspaces = []*backend.Workspace{healthy("n0", "box")}
		}
		d := w.diagnose("1", sessionKey("n0"))
		if offers := strings.Contains(d.Conclusion.String(), "may declare no workspace"); offers != c.offers || anyHas(d.Do, "Poll the session") && c.offers {
			t.Errorf("%+v: %s %v", c, d.Conclusion, d.Do)
		}
	}
}
