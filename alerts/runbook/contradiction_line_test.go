package runbook

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestALineOfManyIsCountedByWhatIsProved: others that show the line of an agent's log are told whatever a probe proved of each; only those
// that are proved alike confirm that many show a fault, and a line alone rules nothing out.
func TestALineOfManyIsCountedByWhatIsProved(t *testing.T) {
	t.Parallel()
	const line = "log: 1 command in session sandbox-b could not begin since 12:00:00Z"
	type other struct {
		kind   backend.FailureKind // a probe found; empty: none was made
		ran    bool                // a probe ran a command
		silent bool                // no line
		late   bool                // it began much later
	}
	for name, c := range map[string]struct {
		own    other
		others []other
		want   Mark
		has    []string
		tells  string
	}{
		"none is probed":           {other{}, make([]other, 5), CannotTell, []string{"5 other sandboxes show the same line of their agents' logs, which alone proves no fault: c0, c1, c2 and 2 more; the first at 12:00:00Z"}, "sandglass probe c0"},
		"each is proved otherwise": {other{kind: backend.FailServerDir}, []other{{kind: backend.FailWorkDirMissing}, {kind: backend.FailWorkDirDangling}, {ran: true}}, CannotTell, []string{"2 other sandboxes show the same line, and are proved otherwise: c0, c1", "1 other sandbox shows the same line of its agent's log, which alone proves no fault: c2"}, "get events"},
		"two are proved alike":     {other{kind: backend.FailServerDir}, []other{{kind: backend.FailServerDir}, {kind: backend.FailServerDir, silent: true}, {}, {kind: backend.FailWorkDirMissing}}, Confirmed, []string{"2 other sandboxes are proved to have the same fault: c0, c1", "1 other sandbox shows the same line, and is proved otherwise: c3", "1 other sandbox shows the same line of its agent's log, which alone proves no fault: c2"}, ""},
		"others are not probed":    {other{kind: backend.FailServerDir}, make([]other, 2), CannotTell, []string{"2 other sandboxes show the same line of their agents' logs, which alone proves no fault: c0, c1"}, "sandglass probe c0"},
		"one alike":                {other{kind: backend.FailServerDir}, []other{{kind: backend.FailServerDir}}, RuledOut, []string{"1 other sandbox is proved to have the same fault: c0; two are not many"}, ""},
		"another fault, no line":   {other{kind: backend.FailServerDir}, []other{{kind: backend.FailWorkDirMissing, silent: true}, {kind: backend.FailWorkDirMissing, silent: true}}, RuledOut, []string{"no other alert tells the same"}, ""},
		"an hour later":            {other{kind: backend.FailServerDir}, []other{{late: true}, {late: true}}, RuledOut, []string{"no other alert tells the same"}, ""},
	} {
		alertOf := func(b *backend.Sandbox, o other) *alerts.Alert {
			a := saidOf(b, alerts.StatePending, "reported running, but no command begins in it, its agent's log says", line).Alerts[0]
			if a.Bounds = (alerts.Bounds{Earliest: now.Add(-time.Minute), Latest: now.Add(-time.Minute)}); o.late {
				a.Bounds = alerts.Bounds{Earliest: now.Add(time.Hour), Latest: now.Add(time.Hour)}
			}
			if o.silent {
				a.Evidence = nil
			}
			if o.kind != "" {
				a.State, a.Subjects[0].State, a.Cause = alerts.StateFiring, alerts.StateFiring, backend.Textf("reported running, but %s", o.kind)
			}
			return a
		}
		boxOf := func(id string, o other) *backend.Sandbox {
			return box(id, "", func(b *backend.Sandbox) {
				b.Provider, b.Name = backend.Text("cloudflare"), backend.Clean(id, 20)
				v := backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: o.kind, At: now}
				if o.ran {
					v.Outcome = backend.OutcomeOK
				}
				if o.ran || o.kind != "" {
					*b = *b.WithObserved([]backend.Verdict{v})
				}
			})
		}
		own := boxOf("b", c.own)
		w := world{sandboxes: []*backend.Sandbox{own}, board: &alerts.Board{Alerts: []*alerts.Alert{alertOf(own, c.own)}}}
		for i, o := range c.others {
			b := boxOf(fmt.Sprint("c", i), o)
			w.sandboxes, w.board.Alerts = append(w.sandboxes, b), append(w.board.Alerts, alertOf(b, o))
		}
		d := w.diagnose("contradiction", own.Key)
		i := slices.IndexFunc(d.Checks, func(k Check) bool { return k.Name == "many" })
		if i < 0 {
			t.Fatalf("%s: the question is not asked", name)
		}
		k := d.Checks[i]
		if k.Mark != c.want || !strings.Contains(k.WouldTell.String(), c.tells) {
			t.Errorf("%s: %s, would tell: %s", name, k.Mark, k.WouldTell)
		}
		for _, x := range c.has {
			if !strings.Contains(k.Fact.String(), strings.ReplaceAll(x, "12:00:00Z", secondOf(now.Add(-time.Minute)).String())) {
				t.Errorf("%s: %q is missing in: %s", name, x, k.Fact)
			}
		}
	}
}
