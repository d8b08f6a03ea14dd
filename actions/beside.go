package actions

import (
	"slices"
	"strings"

	"sandglass/backend"
)

// noneBegins reports whether the log of a sandbox's agent says that no command begins in it.
func (s *Snapshot) noneBegins(k backend.Key) bool { return slices.Contains(s.NoneBegins, k) }

// besideAgent is what a probe came to whose commands ran although the log of the agent says that none begins: that is no health. before
// is what was known before it. The first commands that run after a fault which an action had found are the proof that it is gone.
func (d *Done) besideAgent(before *Snapshot, t Target) {
	o := backend.Observation{Verdicts: d.Observed}
	if exec, _ := o.Of(backend.PlaneExec); exec.Outcome != backend.OutcomeOK || !before.noneBegins(t.Key) {
		return
	}
	if b := before.State.Sandbox(t.Key); b != nil {
		was, _ := b.Proved()
		exec, _ := was.Of(backend.PlaneExec)
		list, _ := o.Of(backend.PlaneList)
		if exec.Outcome == backend.OutcomeFailed && !strings.HasPrefix(list.What.String(), string(backend.RootIsLink)) {
			return
		}
	}
	d.Text = backend.Textf("a probe's commands run; its agent's log says that none begins. That is no health. See: sandglass why %s", t.Label)
	d.Proved, d.Seen = false, d.Text
}
