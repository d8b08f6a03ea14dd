package runbook

import (
	"strings"
	"testing"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestThePageOfALinkedRootAmongMany: it says what to do instead of the link, with its costs, also where many show the line.
func TestThePageOfALinkedRootAmongMany(t *testing.T) {
	t.Parallel()
	const line = "log: 1 command in session sandbox-b could not begin since 12:00:00Z"
	for _, link := range []bool{true, false} {
		what := backend.Literal("/workspace has 2 entries")
		if link {
			what = backend.RootIsLink + "/mnt/r2, and has 2 entries"
		}
		own := workersBox(nil, backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: now}, backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeOK, At: now, What: backend.Text(what)})
		w := world{sandboxes: []*backend.Sandbox{own}, board: saidOf(own, alerts.StateFiring, "reported running, but no command begins in it", line)}
		group := &alerts.Alert{ID: "g", Rule: "contradiction", Source: own.Key.Source, Runbook: "contradiction", State: alerts.StateFiring, Confirmed: now, SubjectCount: 6,
			Cause: backend.Text("many sandboxes at once are reported well, but no command begins in them"), Subjects: []alerts.Subject{{Key: own.Key, State: alerts.StateFiring}}}
		if link {
			w.board.Alerts[0].Evidence = append(w.board.Alerts[0].Evidence, alerts.Evidence{Text: backend.Text("probe: /workspace is a link to /mnt/r2, which can be listed")})
		}
		for _, id := range []string{"c", "d", "e", "f", "g"} {
			b := box(id, "", func(b *backend.Sandbox) { b.Provider, b.Name = backend.Text("cloudflare"), backend.Clean(id, 20) })
			w.sandboxes, w.board.Alerts = append(w.sandboxes, b), append(w.board.Alerts, saidOf(b, alerts.StateFiring, "reported running, but no command begins in it", line).Alerts...)
			group.Subjects = append(group.Subjects, alerts.Subject{Key: b.Key, State: alerts.StateFiring})
		}
		for _, a := range w.board.Alerts {
			a.ID, a.InhibitedBy = "of-"+a.Subjects[0].Key.ID.Raw(), "g"
		}
		w.board.Alerts = append(w.board.Alerts, group)
		d := w.diagnose("contradiction", own.Key)
		if !strings.Contains(d.Conclusion.String(), "Many sandboxes fail alike") || anyHas(d.Do[1:], "copy from the mount at start. Costs: slower cold starts, manual sync, no transparent persistence") != link {
			t.Errorf("link %v: %s", link, steps(&d))
		}
	}
}
