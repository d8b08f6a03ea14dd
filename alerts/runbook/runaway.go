package runbook

import (
	"slices"
	"strings"

	"sandglass/backend"
)

// runaway asks for a process that nobody waits for any more.
func (s *subjectView) runaway() Check {
	q := question{"runaway", "Does a process in it run on too long?", "its processes"}
	for _, b := range s.sandboxes {
		if platformOf(b.Provider.String()) != agentCloud {
			continue
		}
		x, read := b.Inside()
		switch {
		case s.ledBy("runaway-process") != nil:
		case !read || !x.Read(backend.PartProcesses):
			return q.unsure("not evaluated: its processes were not read. A probe reads them: sandglass probe %s", called(b))
		case !slices.ContainsFunc(x.Processes, func(p backend.SandboxProcess) bool { return p.MayRun() }):
			return q.no(origin{b.Key.Source, x.At}, "nothing ran in it when it was probed")
		}
	}
	return s.byRule(q, "runaway-process")
}

// runsOn is the process that the alert names first, as the newest look saw it; nil: that did not see it run.
func (s *subjectView) runsOn() (p *backend.SandboxProcess, others bool) {
	a := s.ledBy("runaway-process")
	if a == nil || len(s.sandboxes) != 1 {
		return nil, false
	}
	x, read := s.sandboxes[0].Inside()
	words := strings.Fields(detailOf(a, s.sandboxes[0]).String())
	if !read || len(words) < 2 || words[0] != "process" {
		return nil, false
	}
	for i := range x.Processes {
		switch q := &x.Processes[i]; {
		case !q.MayRun():
		case q.PID.String() == words[1]:
			p = q
		default:
			others = true
		}
	}
	return p, others
}

// endRunaway advises how to end it: of several the command names which, and what was asked to end in vain is not asked again.
func (s *subjectView) endRunaway(d *Diagnosis, name backend.Safe) {
	d.NoReset = backend.Safe{}
	if fact := d.fact("runaway").String(); fact == backend.RunsLong || fact == backend.StartRunsOn {
		d.conclude("A process in it runs long: %s. Nothing tells that an agent gave it up.", d.fact("runaway"))
		d.dont("Don't end it before you know whose it is.")
	} else {
		d.conclude("A process in it runs on without its agent: %s.", d.fact("runaway"))
		d.dont("Don't take the agent's error for its end. Only the agent's own wait ended.")
	}
	which := backend.Safe{}
	p, others := s.runsOn()
	if p != nil && others {
		which = backend.Textf(" --process %s", p.PID)
	}
	if p != nil && p.AskedToEnd() {
		d.do("It was asked to end and runs on. Kill it: sandglass kill-process %s%s. Its unsaved work is lost.", name, which)
	} else {
		d.do("Ask it to end: sandglass stop-process %s%s. It is billed, and wakes the sandbox.", name, which)
		d.do("It runs on: sandglass kill-process %s%s. Its unsaved work is lost.", name, which)
	}
	d.do("Probe again: sandglass probe %s. Only that shows that it is gone.", name)
}
