package runbook

import (
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
)

// diagnoseContainer answers the questions of Sandglass's own page about failing containers. It reads the containers of the
// subject and nothing else, so that it never speaks of a platform which is not theirs.
func diagnoseContainer(s *subjectView) Diagnosis {
	d := Diagnosis{Checks: s.startFrom(s.fresh([]Check{
		s.cannotStart(), s.memoryKill(), s.loops(), s.endedBadly(), s.unhealthy(), s.sessionNeedsIt(),
	}))}
	d.end(containerEndings)
	s.nameContainer(&d)
	for i := range d.Checks {
		if d.Checks[i].Mark == Confirmed && d.Checks[i].Name != "session" && d.Checks[i].Name != AlertCheck {
			s.logLines(&d)
			break
		}
	}
	return d
}

// nameContainer puts the name of a failing container into the commands that the steps give.
func (s *subjectView) nameContainer(d *Diagnosis) {
	for _, b := range s.sandboxes {
		ill := b.Class != backend.SandboxRunning || b.Health.Or(backend.Safe{}).String() == "unhealthy"
		for _, rule := range []string{"sandbox-oom", "sandbox-crash-loop"} {
			ill = ill || s.firingOn(rule, b.Key) != nil
		}
		if !ill && len(s.sandboxes) > 1 || b.Name.IsEmpty() {
			continue
		}
		for i, step := range d.Do {
			d.Do[i] = backend.Clean(strings.ReplaceAll(step.String(), " NAME", " "+b.Name.String()), 600)
		}
		return
	}
}

var containerEndings = []ending{
	{any: []string{"start"}, conclude: "The engine cannot start it", quotes: true,
		do: "Correct what the error names; then run docker start NAME.", dont: "Don't start it again before that: it fails alike.",
		noReset: "the container cannot start; a reset meets the same error"},
	{any: []string{"memory"}, conclude: "It was killed at its memory limit", quotes: true,
		do: "See what ran in it: docker logs --tail 50 NAME. Raise its limit (docker update --memory), or bound that command.", dont: "Don't only start it again. What needs more than the limit is killed again."},
	{any: []string{"loop"}, conclude: "It ends by itself and its restart policy starts it again", quotes: true,
		do: "Read its log: docker logs --tail 50 NAME. Take the restart policy away until the cause is found: docker update --restart=no NAME.", dont: "Don't kill or restart it: the policy does that already."},
	{any: []string{"ended"}, conclude: "It ended by itself with an error", quotes: true,
		do: "Read its log: docker logs --tail 50 NAME. Correct what it names. Then start it or let the session open a new one.", dont: "Don't remove it before its log is saved."},
	{any: []string{"unhealthy"}, conclude: "It runs and its health check fails", quotes: true,
		do: "Run its health check by hand: docker exec -it NAME sh. Correct the check or what it checks.", dont: "Don't destroy it for that alone: the agent may still work in it."},
	{denies: true, conclude: "No container of this subject fails now.",
		do: "Read the Timeline: 8, or sandglass get events.", dont: "Don't restart a container without a cause: it loses its processes."},
}

// container answers a question about the first of the subject's containers of which it is true.
func (s *subjectView) container(q question, is func(*backend.Sandbox) (backend.Safe, bool), seen func(*backend.Sandbox) bool, not backend.Literal) Check {
	var fine *backend.Sandbox
	for _, b := range s.sandboxes {
		if text, yes := is(b); yes {
			return s.aged(q, b, q.yes(s.from(&b.Meta), "%s %s", b.Name, text))
		}
		if seen(b) {
			fine = b
		}
	}
	switch {
	case fine != nil && len(s.sandboxes) == 1:
		return s.aged(q, fine, q.no(s.from(&fine.Meta), "%s %s", fine.Name, backend.Text(not)))
	case fine != nil:
		return q.unsure("the %d listed containers do not show it", len(s.sandboxes))
	}
	return q.unsure("no container of this subject is listed")
}

func inspected(b *backend.Sandbox) bool { return b.RestartCount.IsKnown() }

func (s *subjectView) cannotStart() Check {
	return s.container(question{"start", "Could the engine start it?", "an inspection of the container"},
		func(b *backend.Sandbox) (backend.Safe, bool) {
			return backend.Textf("cannot start: %s", b.StartError), !b.StartError.IsEmpty()
		}, inspected, "was started without an error")
}

func (s *subjectView) memoryKill() Check {
	q := question{"memory", "Was it killed at its memory limit?", "the engine's OOM flag and events"}
	for _, b := range s.sandboxes {
		if a := s.firingOn("sandbox-oom", b.Key); a != nil {
			for i := range a.Subjects {
				if a.Subjects[i].Key == b.Key {
					return q.yes(s.from(&b.Meta), "%s: %s", b.Name, a.Subjects[i].Detail)
				}
			}
		}
	}
	return s.container(q, func(b *backend.Sandbox) (backend.Safe, bool) {
		text := backend.Text("was killed for memory")
		if limit, ok := b.MemLimit.Get(); ok {
			text = backend.Textf("was killed at its limit of %s", backend.Clean(bytesText(limit), 40))
		}
		return text, b.OOMKilled.Or(false)
	}, func(b *backend.Sandbox) bool { return b.OOMKilled.IsKnown() }, "was not killed for memory in its newest run")
}

func (s *subjectView) loops() Check {
	q := question{"loop", "Is it started again and again?", "its restart count at two readings"}
	for _, b := range s.sandboxes {
		if a := s.firingOn("sandbox-crash-loop", b.Key); a != nil {
			return q.saysAlert(a)
		}
	}
	return s.container(q, func(b *backend.Sandbox) (backend.Safe, bool) {
		n := b.RestartCount.Or(0)
		return backend.Textf("was restarted %s and waits for the next", plural(n, "time")), n > 0 && b.Class == backend.SandboxRestarting
	}, func(b *backend.Sandbox) bool { return b.RestartCount.Or(1) == 0 }, "was never restarted by its policy")
}

func (s *subjectView) endedBadly() Check {
	return s.container(question{"ended", "Did it end by itself with an error?", "its exit code"},
		func(b *backend.Sandbox) (backend.Safe, bool) {
			text := backend.Textf("ended with exit code %d", b.ExitCode.Or(0))
			if at, ok := b.FinishedAt.Get(); ok {
				text = backend.Textf("%s %s ago", text, backend.Age(s.now.Sub(at)))
			}
			return text, b.Crashed()
		}, func(b *backend.Sandbox) bool { return b.ExitCode.IsKnown() || b.Class == backend.SandboxRunning }, "did not end with an error of its own")
}

func (s *subjectView) unhealthy() Check {
	return s.container(question{"unhealthy", "Does its health check fail?", "a health check in its image or its start"},
		func(b *backend.Sandbox) (backend.Safe, bool) {
			c, _ := b.HealthChecks.Get()
			said := backend.Text("it prints nothing")
			if !b.HealthOutput.IsEmpty() {
				said = backend.Clean(b.HealthOutput.String(), 200)
			}
			return backend.Textf("is unhealthy, %s in a row: %s", plural(c.Failed, "failed check"), said),
				b.Class == backend.SandboxRunning && b.Health.Or(backend.Safe{}).String() == "unhealthy"
		}, func(b *backend.Sandbox) bool { return b.Health.Or(backend.Safe{}).String() == "healthy" }, "is healthy by its own check")
}

// sessionNeedsIt asks whether anybody still works in the container.
func (s *subjectView) sessionNeedsIt() Check {
	q := question{"session", "Does its session still run?", "a label that joins the container to a session, and a session list"}
	switch l := s.over(); l.mark {
	case RuledOut: // it is not over
		return q.yes(l.from, "%s", l.fact)
	case Confirmed:
		return q.no(l.from, "%s", l.fact)
	case CannotTell:
		return q.unsure("%s", l.fact)
	}
	return q.unsure("nothing is known of its session")
}

// logLines adds how the log of a failing container ends to what is to be read.
func (s *subjectView) logLines(d *Diagnosis) {
	for _, b := range s.sandboxes {
		if text, ok := alerts.LastLines(b, 3); ok {
			d.do("Its log ends: %s", text)
			return
		}
	}
}
