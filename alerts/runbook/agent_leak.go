package runbook

import (
	"slices"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// agentLeak answers for a sandbox of an agent's SDK: no registry closes it, and no engine removes it.
func (s *subjectView) agentLeak() Diagnosis {
	b := s.sandboxes[0]
	d := Diagnosis{Checks: s.answers(s.agentOver(b), s.agentUp(b), s.agentDeletes(b), s.agentKeeps(b), s.agentUses(b), s.destroyFails())}
	name := called(b)
	switch {
	case d.Mark("over") == RuledOut:
		d.deny("It is in use: its session runs.")
		d.dont("Don't destroy it: the session would lose its files.")
	case d.Mark("up") == RuledOut:
		d.deny("It has ended; nothing is left of it.")
		d.dont("Don't probe it: there is nothing to ask.")
	case d.is("kept") && d.is("over") && b.Class == backend.SandboxRunning && s.pausesOnExit(b):
		d.conclude("It is kept after its session. Something prevents standby, so that it costs.")
		d.do("See what keeps it awake: sandglass probe %s. Its plan says what that costs.", name)
		d.do("Ask the session's owner if it is still needed. If not, destroy it: sandglass destroy %s", name)
		d.dont("Don't call it a leak: nothing failed.")
	case d.is("kept"):
		d.conclude("It is kept on purpose.")
		d.do("Ask the session's owner if it is still needed. If not, destroy it: sandglass destroy %s", name)
		d.do("See what keeps it awake: sandglass probe %s. Its plan says what that costs.", name)
		d.dont("Don't call it a leak: nothing failed.")
	case d.is("destroy-on-close") && (d.is("over") || d.is("destroy")):
		d.conclude("It leaked: the end of its session should have deleted it.")
		if d.is("used") {
			d.conclude("Its session's end should have deleted it. Something used it since: %s.", d.fact("used"))
			d.do("Ask its session's owner what uses it. Only an unused one is a leak.")
			d.dont("Don't destroy it before that: something may work in it.")
		}
		d.do("Rescue its files if they matter: sandglass rescue %s. It wakes the sandbox.", name)
		d.do("Destroy it: sandglass destroy %s. Its plan names the snapshots that could restore it.", name)
		d.dont("Don't wait for the agent's SDK: it does not try again.")
	case d.is("over"):
		d.conclude("Its session is over. Whether it should end with the session is not known.")
		d.NoDestroy = backend.Text("whether it should end with its session is not known; ask its owner first")
		d.do("Ask the session's owner if its files are still needed. Only then destroy it: sandglass destroy %s", name)
		d.dont("Don't destroy it while its files may be needed.")
	case s.namedByNoList() && d.is("up") && !s.sessionID.IsZero():
		d.conclude("No list ever named session %s. Whether this is a leak is not known.", s.sessionID.Safe())
		d.NoDestroy = backend.Text("no list ever named its session; whether it is over is not known")
		d.do("Find the owner of session %s. Search the agents' log for it.", s.sessionID.Safe())
		if fails := s.saveFails(); !fails.IsEmpty() {
			d.do("Save its files yourself: sandglass rescue %s. It wakes the sandbox. %s", name, fails)
		}
		d.do("Only if that session is over: sandglass destroy %s. Its plan names the snapshots that could restore it.", name)
		d.dont("Don't destroy it while its owner is not known. An agent may still work in it.")
	default:
		d.deny("Cannot tell whether it is leaked.")
		d.do("Read its saved states and its agent's log. Both are sources: refs and logs.")
		d.dont("Don't destroy a sandbox whose session is not known.")
	}
	s.waitFirst(&d)
	return d
}

// agentOver asks for the end of its session: of a list, else of the agent's log.
func (s *subjectView) agentOver(b *backend.Sandbox) Check {
	q := question{"over", "Is its session over?", "the agent's log, or a list of its sessions"}
	if end, over := s.State.EndOn(b); over {
		at := end.At
		if at.IsZero() {
			at = s.now
		}
		return q.yes(origin{end.Source, at}, "%s", end.Why)
	}
	if live := s.State.LiveOn(b); !live.IsEmpty() {
		return q.no(s.from(&b.Meta), "%s: the sandbox is in use", live)
	}
	if l := s.over(); s.session != nil && l.mark == Confirmed {
		return q.yes(l.from, "%s", l.fact)
	} else if s.session != nil && l.mark == RuledOut {
		return q.no(l.from, "%s: the sandbox is in use", l.fact)
	}
	return q.unsure("neither a list nor its log says so")
}

// agentUp asks whether it is there: one that sleeps is.
func (s *subjectView) agentUp(b *backend.Sandbox) Check {
	q := question{"up", "Is the sandbox still there?", "the platform's list"}
	switch {
	case b.Class == backend.SandboxUnknown:
		return q.unsure("%s is %s, which has no known meaning", called(b), b.Reported)
	case b.Class.Ended():
		return s.aged(q, b, q.no(s.from(&b.Meta), "%s is %s", called(b), b.Reported))
	}
	return s.aged(q, b, q.yes(s.from(&b.Meta), "%s is %s", called(b), b.Reported))
}

// agentDeletes asks whether the end of its session deletes it, as its saved state says.
func (s *subjectView) agentDeletes(b *backend.Sandbox) Check {
	q := question{"destroy-on-close", "Should the end of its session have deleted it?", "the saved state of its session"}
	x := s.State.StateOn(b)
	if x == nil {
		return q.unsure("no saved state of its session is read")
	}
	switch pause, known := x.Agent.PauseOnExit.Get(); {
	case !known:
		return q.unsure("its saved state %s does not say so", x.Key.Safe())
	case pause:
		return q.no(s.from(&x.Meta), "its saved state %s says pause_on_exit: it is kept", x.Key.Safe())
	}
	return q.yes(s.from(&x.Meta), "pause_on_exit is not true in its saved state %s: the end of its session deletes it", x.Key.Safe())
}

// agentKeeps asks whether it is kept on purpose.
func (s *subjectView) agentKeeps(b *backend.Sandbox) Check {
	q := question{"kept", "Is it kept on purpose?", "pause_on_exit in the saved state of its session"}
	switch by, f := alerts.KeptOnPurpose(s.State, b); by {
	case nil:
	case &b.Meta:
		return q.yes(s.from(by), "%s carries the label %s=%s", called(b), f.Name, f.Value)
	default:
		return q.yes(s.from(by), "the stored reference of %s says %s=%s", by.Key.Safe(), f.Name, f.Value)
	}
	if x := s.State.StateOn(b); x != nil {
		if pause, known := x.Agent.PauseOnExit.Get(); known && pause {
			return q.yes(s.from(&x.Meta), "its saved state %s says pause_on_exit", x.Key.Safe())
		} else if known {
			return q.no(s.from(&x.Meta), "in its saved state %s pause_on_exit is false, or missing, which counts as false", x.Key.Safe())
		}
	}
	return q.unsure("nothing that is read says so")
}

// agentUses asks whether something used it after the end of its session.
func (s *subjectView) agentUses(b *backend.Sandbox) Check {
	q := question{"used", "Did something use it after its session's end?", "when its platform last saw it in use"}
	end, over := s.State.EndOn(b)
	switch {
	case !over || end.At.IsZero() || b.LastUsedAt.IsZero():
		return q.unsure("when its session ended, or when it was last used, is not known")
	case alerts.UsedAfter(b, end.At):
		return q.yes(s.from(&b.Meta), "%s says that it was last used at %s; its session ended at %s", backend.Clean(b.Key.Source, 80), hourOf(b.LastUsedAt), hourOf(end.At))
	case b.LastUsedAt.After(end.At.Add(time.Minute)):
		return q.unsure("its last use may be a probe of Sandglass")
	}
	return q.no(s.from(&b.Meta), "its last use was at %s, not after its session's end", hourOf(b.LastUsedAt))
}

// pausesOnExit reports whether the saved state of a sandbox says that the end of its session puts it to standby.
func (s *subjectView) pausesOnExit(b *backend.Sandbox) bool {
	x := s.State.StateOn(b)
	return x != nil && x.Agent.PauseOnExit.Or(false) && !b.Power.IsEmpty()
}

// namedByNoList reports whether the page starts from an alert that no list names its session.
func (s *subjectView) namedByNoList() bool {
	return slices.ContainsFunc(s.led, func(a *alerts.Alert) bool {
		return a.Rule == "wont-terminate" && len(runsOn(a.Cause.String())) == 0
	})
}
