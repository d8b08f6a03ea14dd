package runbook

import (
	"fmt"
	"slices"
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/internal/stable"
)

// diagnoseContainer answers the questions of Sandglass's own page about failing containers. It reads the containers of the
// subject and nothing else, so that it never speaks of a platform which is not theirs.
func diagnoseContainer(s *subjectView) Diagnosis {
	if s.alert != nil && s.wide {
		s.sandboxes = slices.DeleteFunc(s.sandboxes, func(b *backend.Sandbox) bool {
			return !slices.ContainsFunc(s.alert.Subjects, func(x alerts.Subject) bool { return x.Key == b.Key })
		})
		for i := range s.alert.Subjects { // and those that were removed
			if k := s.alert.Subjects[i].Key; s.State.Sandbox(k) == nil {
				if b := s.sandboxOf(k); b != nil {
					s.sandboxes = append(s.sandboxes, b)
				}
			}
		}
	}
	d := Diagnosis{Checks: s.startFrom(s.fresh(append(s.application(), s.cannotStart(), s.memoryKill(), s.loops(), s.endedBadly(), s.unhealthy(), s.nearLimit(),
		s.sessionNeedsIt())))}
	endings := containerEndings
	if own := s.ownTrouble(); own != "" {
		endings = slices.Clone(containerEndings)
		stable.Sort(endings, func(a, b ending) int {
			return b2i(slices.Contains(b.any, own)) - b2i(slices.Contains(a.any, own))
		})
	}
	led := d.end(endings)
	if b, more := s.headlined(&d, led); b != nil {
		if led == "memory" || led == "near" {
			raiseLimit(&d, b)
		}
		s.adviseRemoved(&d, b)
		s.adviseWorkersContainer(&d, led, b)
		s.adviseFailedSandbox(&d, led)
		nameContainer(&d, b)
		if text, ok := alerts.LastLines(b, 3); ok {
			q := question{"log-end", "How does its log end?", "the log of the container"}
			d.Checks = append(d.Checks, q.yes(s.from(&b.Meta), "its log ends: %s", text))
		}
		if more > 0 {
			d.do("Ask about each container on its own (--subject NAME). %s in trouble too.", plural(more, "other"))
		}
	}
	return d
}

// ownTrouble is the check that answers the page's alert, empty without one: the trouble of another rule in one of its containers is not
// what the alert is about. Of a loop the memory limit is the reason where it is that of each.
func (s *subjectView) ownTrouble() string {
	if s.alert == nil {
		return ""
	}
	switch s.alert.Rule {
	case "sandbox-start-failed":
		return "start"
	case "sandbox-oom":
		if isNear(s.alert) {
			return "near"
		}
		return "memory"
	case "sandbox-crash-loop":
		if s.alert.Cause.String() == killedInALoop {
			return "memory"
		}
		return "loop"
	case "sandbox-exited":
		return "ended"
	case "sandbox-unhealthy":
		if s.pool() != nil {
			return "application"
		}
		return "unhealthy"
	}
	return ""
}

// killedInALoop is the cause of sandbox-crash-loop where each run is killed for memory.
const killedInALoop = "killed at its memory limit and started again and again"

// isNear reports whether an alert of sandbox-oom is about what was not killed yet.
func isNear(a *alerts.Alert) bool { return strings.HasPrefix(a.Cause.String(), "near ") }

// killedOn is the alert that fires about a kill of the sandbox at its memory limit, nil where there is none.
func (s *subjectView) killedOn(k backend.Key) *alerts.Alert {
	return s.firingWhere(k, func(a *alerts.Alert) bool { return a.Rule == "sandbox-oom" && !isNear(a) })
}

// raiseLimit adds the command that raises the memory limit of what was killed at it or is near it, where the limit is known.
func raiseLimit(d *Diagnosis, b *backend.Sandbox) {
	limit, known := b.MemLimit.Get()
	if !known || limit <= 0 {
		return
	}
	size := fmt.Sprint(2 * limit)
	if mib := int64(1) << 20; limit%mib == 0 {
		size = fmt.Sprint(2*limit/mib) + "m"
	}
	d.do("Raise the limit. Twice as much: docker update --memory %s --memory-swap %s NAME", backend.Clean(size, 20), backend.Clean(size, 20))
}

// adviseRemoved replaces the steps that need the container: an engine has neither log nor limit of one that is gone.
func (s *subjectView) adviseRemoved(d *Diagnosis, b *backend.Sandbox) {
	if !d.is("memory") || s.State.Sandbox(b.Key) != nil {
		return
	}
	d.Do = []backend.Safe{backend.Text("Raise the limit where it is created (--memory), or bound what it ran. Its log went with it.")}
	d.Dont = []backend.Safe{backend.Text("Don't only create it again: at the same limit it is killed again.")}
}

// nameContainer puts the name of the container that the headline is about into the commands that the steps give.
func nameContainer(d *Diagnosis, b *backend.Sandbox) {
	if b.Name.IsEmpty() {
		return
	}
	for i, step := range d.Do {
		d.Do[i] = backend.Clean(strings.ReplaceAll(step.String(), " NAME", " "+b.Name.String()), 600)
	}
}

var containerEndings = []ending{
	{any: []string{"start"}, conclude: "The engine reports an error at the start", quotes: true,
		do: "Correct what the error names; then run docker start NAME.", dont: "Don't start it again before that: it fails the same way.",
		noReset: "the container cannot start; a reset meets the same error"},
	{any: []string{"memory"}, conclude: "It was killed at its memory limit", quotes: true,
		do: "See what ran in it: docker logs --tail 50 NAME. Bound that command, or raise its limit.", dont: "Don't only start it again: at the same limit it is killed again."},
	{any: []string{"loop"}, conclude: "It ends by itself and its restart policy starts it again", quotes: true,
		do: "Read its log: docker logs --tail 50 NAME. Take the restart policy away until the cause is found: docker update --restart=no NAME.", dont: "Don't kill or restart it: the policy does that already."},
	{any: []string{"ended"}, conclude: "It ended by itself with an error", quotes: true,
		do: "Read its log: docker logs --tail 50 NAME. Correct what it names. Then start it or let the session open a new one.", dont: "Don't remove it before its log is saved."},
	{any: []string{"unhealthy"}, conclude: "It runs and its health check fails", quotes: true,
		do: "Run its health check by hand: docker exec -it NAME sh. Correct the check or what it checks.", dont: "Don't destroy it for that alone: the agent may still work in it."},
	{any: []string{"application"}, conclude: "Containers of it do not come up", quotes: true,
		do: "Read its logs: wrangler tail, or Cloudflare's dashboard. If it began with a rollout, roll back.", dont: "Don't take sandboxes that run for proof: new ones fail."},
	{any: []string{"near"}, conclude: "Its memory is near its limit", quotes: true,
		do: "See what uses it: docker top NAME. End that command, or raise its limit.", dont: "Don't restart it for that alone: its work is lost."},
	{denies: true, conclude: "No container of this subject fails now.",
		do: "Read the Timeline: 8, or sandglass get events.", dont: "Don't restart a container without a cause: it loses its processes."},
}

// container answers a question about the subject's containers: one that shows it confirms it, and all of them rule it out. sound
// says what one that does not show it is known to be instead.
func (s *subjectView) container(q question, shows func(*backend.Sandbox) (backend.Safe, bool), sound func(*backend.Sandbox) (Mark, backend.Safe)) Check {
	var hit, fine, open *backend.Sandbox
	var told, known, unknown backend.Safe
	n := 0
	for _, b := range s.sandboxes {
		if text, yes := shows(b); yes {
			if n++; hit == nil {
				hit, told = b, text
			}
			continue
		}
		switch mark, text := sound(b); mark {
		case RuledOut:
			fine, known = b, text
		case Confirmed, CannotTell:
			open, unknown = b, text
		}
	}
	all := plural(len(s.sandboxes), "container")
	c := Check{}
	switch {
	case hit != nil && n == 1:
		c = s.agedHit(q, hit, q.yes(s.from(&hit.Meta), "%s %s", hit.Name, told))
	case hit != nil:
		c = s.agedHit(q, hit, q.yes(s.from(&hit.Meta), "%d of %s, %s for one: %s", n, all, hit.Name, told))
	case len(s.sandboxes) == 0:
		return q.unsure("no container of this subject is listed")
	case open != nil && len(s.sandboxes) == 1:
		return q.unsure("%s %s", open.Name, unknown)
	case open != nil:
		return q.unsure("%s, %s for one: %s", all, open.Name, unknown)
	case len(s.sandboxes) == 1:
		return s.aged(q, fine, q.no(s.from(&fine.Meta), "%s %s", fine.Name, known))
	default:
		return s.aged(q, fine, q.no(s.from(&fine.Meta), "none of %s", all))
	}
	c.of = hit
	return c
}

// agedHit is aged for what a container shows: an alert that fires about a removed one still holds.
func (s *subjectView) agedHit(q question, b *backend.Sandbox, c Check) Check {
	if s.State.Sandbox(b.Key) == nil && s.killedOn(b.Key) != nil && q.name == "memory" {
		return c
	}
	return s.aged(q, b, c)
}

// instead is what a container is instead of what a question asks, where that was read.
func instead(read bool, l backend.Literal) (Mark, backend.Safe) {
	if !read {
		return CannotTell, backend.Text("was not inspected yet")
	}
	return RuledOut, backend.Text(l)
}

func neverRan(b *backend.Sandbox) bool {
	return b.Class == backend.SandboxCreated || !b.StartError.IsEmpty() && !b.StartedAt.IsKnown()
}

func (s *subjectView) cannotStart() Check {
	return s.container(question{"start", "Could the engine start it?", "an inspection of the container"},
		func(b *backend.Sandbox) (backend.Safe, bool) {
			if a := s.firingWhere(b.Key, func(a *alerts.Alert) bool { return a.Rule == "sandbox-start-failed" }); a != nil && b.StartError.IsEmpty() {
				return backend.Textf("is %s", detailOf(a, b)), true
			}
			return backend.Textf("cannot start: %s", b.StartReason()), !b.StartError.IsEmpty()
		}, func(b *backend.Sandbox) (Mark, backend.Safe) {
			return instead(b.RestartCount.IsKnown(), "was started without an error")
		})
}

func (s *subjectView) memoryKill() Check {
	return s.container(question{"memory", "Was it killed at its memory limit?", "the engine's OOM flag and events"},
		func(b *backend.Sandbox) (backend.Safe, bool) {
			if a := s.killedOn(b.Key); a != nil {
				return detailOf(a, b), true
			}
			text := backend.Text("was killed for memory")
			if limit, ok := b.MemLimit.Get(); ok {
				text = backend.Textf("was killed at its limit of %s", backend.Clean(bytesText(limit), 40))
			}
			return text, b.OOMKilled.Or(false)
		}, func(b *backend.Sandbox) (Mark, backend.Safe) {
			if neverRan(b) {
				return RuledOut, backend.Text("never ran")
			}
			return instead(b.OOMKilled.IsKnown(), "was not killed for memory in its newest run")
		})
}

// nearLimit asks what the alert about memory that is nearly used up says.
func (s *subjectView) nearLimit() Check {
	return s.container(question{"near", "Is its memory near its limit?", "its memory limit and samples of its memory"},
		func(b *backend.Sandbox) (backend.Safe, bool) {
			a := s.firingWhere(b.Key, func(a *alerts.Alert) bool { return a.Rule == "sandbox-oom" && isNear(a) })
			if a == nil {
				return backend.Safe{}, false
			}
			return backend.Textf("uses %s", detailOf(a, b)), true
		}, func(b *backend.Sandbox) (Mark, backend.Safe) {
			switch {
			case b.MemLimit.IsNotApplicable():
				return RuledOut, backend.Text("has no memory limit")
			case b.Class != backend.SandboxRunning:
				return RuledOut, backend.Text("does not run")
			}
			u, sampled := b.Usage.Get()
			return instead(sampled && u.Mem.IsKnown(), "is not near its memory limit")
		})
}

func (s *subjectView) loops() Check {
	return s.container(question{"loop", "Is it started again and again?", "its restart count at two readings"},
		func(b *backend.Sandbox) (backend.Safe, bool) {
			if a := s.firingOn("sandbox-crash-loop", b.Key); a != nil {
				return detailOf(a, b), true
			}
			n := b.RestartCount.Or(0)
			return backend.Textf("was restarted %s and waits for the next", plural(n, "time")), n > 0 && b.Class == backend.SandboxRestarting
		}, func(b *backend.Sandbox) (Mark, backend.Safe) {
			if n := b.RestartCount.Or(0); n > 0 {
				return CannotTell, backend.Textf("was restarted %s by its policy; no alert calls that a loop", plural(n, "time"))
			}
			return instead(b.RestartCount.IsKnown(), "was never restarted by its policy")
		})
}

func (s *subjectView) endedBadly() Check {
	return s.container(question{"ended", "Did it end by itself with an error?", "its exit code"},
		func(b *backend.Sandbox) (backend.Safe, bool) {
			text := endText(b)
			if at, ok := b.FinishedAt.Get(); ok {
				text = backend.Textf("%s, %s ago", text, backend.Age(s.now.Sub(at)))
			}
			return text, b.FailedEnd()
		}, func(b *backend.Sandbox) (Mark, backend.Safe) {
			if neverRan(b) {
				return RuledOut, backend.Text("never ran")
			}
			return instead(b.ExitCode.IsKnown() || b.Class == backend.SandboxRunning, "did not end with an error of its own")
		})
}

// endText is how a container ended, as its platform tells it.
func endText(b *backend.Sandbox) backend.Safe {
	code, told := b.ExitCode.Get()
	failed := b.Provider.String() == "cloudflare" && b.Class == backend.SandboxDead // with whatever code
	switch {
	case failed && told:
		return backend.Textf("failed with exit code %s", backend.ExitText(code))
	case failed:
		return backend.Text("failed, with an exit code that is not told")
	}
	if !b.DestroyedHere().IsZero() {
		return backend.Textf("ended with exit code %d, %s through Sandglass", code, howEnded(b))
	}
	return backend.Textf("ended with exit code %s", backend.ExitText(code))
}

func (s *subjectView) unhealthy() Check {
	return s.container(question{"unhealthy", "Does its health check fail?", "a health check in its image or its start"},
		func(b *backend.Sandbox) (backend.Safe, bool) {
			c, _ := b.HealthChecks.Get()
			said := backend.Text("it prints nothing")
			if !b.HealthOutput.IsEmpty() {
				said = backend.Clean(b.HealthOutput.String(), 200)
			}
			text := backend.Textf("is unhealthy, %s in a row: %s", plural(c.Failed, "failed check"), said)
			if b.HealthChecks.IsNotApplicable() {
				text = backend.Text("is reported unhealthy by its platform")
			}
			return text, b.Class == backend.SandboxRunning && b.Health.Or(backend.Safe{}).String() == "unhealthy"
		}, func(b *backend.Sandbox) (Mark, backend.Safe) {
			health, read := b.Health.Get()
			switch {
			case s.ofWorkers() && !read:
				return CannotTell, backend.Text("tells of no health check")
			case b.Health.IsNotApplicable():
				return RuledOut, backend.Text("has no health check")
			case b.Class != backend.SandboxRunning:
				return RuledOut, backend.Text("does not run, so it is not checked")
			case read && health.String() != "healthy":
				return CannotTell, backend.Textf("is %s", health)
			}
			return instead(read, "is healthy by its own check")
		})
}

// sessionNeedsIt asks whether anybody still works in the container.
func (s *subjectView) sessionNeedsIt() Check {
	q := question{"session", "Does its session still run?", "a label that joins the container to a session, and a session list"}
	if s.platform() == cloud {
		q.needs = "the session list of its hub"
	}
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

// headlined is the container that the headline is about, nil where it is about none; more counts the other ones in trouble.
func (s *subjectView) headlined(d *Diagnosis, led string) (first *backend.Sandbox, more int) {
	if i := slices.IndexFunc(d.Checks, func(c Check) bool { return c.Name == led }); led != "" && i >= 0 {
		first = d.Checks[i].of
	}
	for _, b := range s.sandboxes {
		if b != first && (s.brokenBy(b.Key) != nil || b.Broken()) {
			more++
		}
	}
	return first, more
}
