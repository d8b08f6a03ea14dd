package runbook

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// closedBetween asks whether the workspace was closed where a close loses its files. That a run goes on now says nothing
// of how the one before it ended; a registry that forgot its last success does.
func (s *subjectView) closedBetween() Check {
	q := question{"closed", "Was the workspace closed, by a provider whose close removes files?", "a session list with startedAt, and the provider with destroyOnClose"}
	l := s.over()
	closed := l.mark == Confirmed
	fact, o := l.fact, l.from
	for _, w := range s.workspaces {
		switch began, again := s.beganAfter(w.LostSuccess); {
		case w.Class == backend.ClassClosed:
			closed, fact, o = true, backend.Textf("%s is reported closed", w.Key.Safe()), s.from(&w.Meta)
		case again && !closed:
			closed, o = true, s.from(&w.Meta)
			fact = backend.Textf("%s was re-created: its last success, at %s, is gone, and its session began again at %s",
				w.Key.Safe(), hourOf(w.LostSuccess), hourOf(began))
		case !w.LostSuccess.IsZero() && !closed:
			fact = backend.Textf("%s was re-created: its last success, at %s, is gone. Cause unknown (close or process restart); the session start time would show which",
				w.Key.Safe(), hourOf(w.LostSuccess))
		}
	}
	if !closed && l.mark == RuledOut {
		return q.unsure("%s; whether it was closed before is not seen", fact)
	}
	if !closed {
		return q.unsure("%s", fact)
	}
	switch p := s.provider(); p {
	case "in-memory", "local-bash", "local-sandbox":
		return q.yes(o, "%s, and closing removes the files of %s", fact, backend.Clean(p, 60))
	case "cloudflare-filestore":
		return q.no(o, "%s, but cloudflare-filestore keeps files across a close", fact)
	case "cloudflare-sandbox":
		return s.closedSandbox(q, fact, o)
	case "":
		return q.unsure("%s; whether that loses files depends on the provider, which is not named", fact)
	default:
		q.needs = "the documentation of the provider"
		return q.unsure("%s; what closing does to the files of %s is not documented", fact, backend.Clean(p, 60))
	}
}

// beganAfter is when the subject's session began, where that is after a success that its registry does not know any more.
func (s *subjectView) beganAfter(lost time.Time) (time.Time, bool) {
	if s.session == nil || lost.IsZero() {
		return time.Time{}, false
	}
	began, ok := s.session.StartedAt.Get()
	return began, ok && began.After(lost)
}

func hourOf(t time.Time) backend.Safe { return backend.Clean(t.UTC().Format("15:04Z"), 20) }

func (s *subjectView) closedSandbox(q question, fact backend.Safe, o origin) Check {
	for _, w := range s.workspaces {
		if destroys, ok := w.DestroyOnClose.Get(); ok && destroys {
			return q.yes(o, "%s, and destroyOnClose ends the container with its files", fact)
		} else if ok {
			return q.no(o, "%s, but destroyOnClose is off: the container stays until it sleeps", fact)
		}
	}
	return q.unsure("%s; whether destroyOnClose is set is not declared", fact)
}

// lastThere is when the files of a workspace were last known to be there, as the alert about them says; zero: no alert tells.
func (s *subjectView) lastThere(w *backend.Workspace) time.Time {
	if a := s.firingOn("files-vanished", w.Key); a != nil {
		for i := range a.Subjects {
			if a.Subjects[i].Key == w.Key {
				return a.Subjects[i].Bounds.Earliest
			}
		}
	}
	return time.Time{}
}

// slept asks whether the container went to sleep, which may or may not lose files: sources disagree.
func (s *subjectView) slept() Check {
	q := question{"asleep", "Did the container go to sleep?", "the platform's state of the container, or sleepAfter with the time of the last use"}
	for _, sb := range s.sandboxes {
		if sb.Class == backend.SandboxAsleep {
			return q.yes(s.from(&sb.Meta), "%s sleeps; it is not clear whether its files survive: the framework says that it hibernates, the platform that a new container starts", sb.Name)
		}
	}
	p := s.provider()
	if p != "" && p != "cloudflare-sandbox" {
		return q.no(s.newest(), "provider %s does not sleep", backend.Clean(p, 60))
	}
	for _, w := range s.workspaces {
		if f, kept := alerts.KeptAlive(w); kept && len(s.workspaces) == 1 {
			return q.no(s.from(&w.Meta), "%s says %s: it does not sleep, but a crash, a stop or a rollout starts it again, empty", w.Key.Safe(), f.Name)
		}
		if b, _ := s.stoppedBox(); b != nil {
			return q.unsure("%s is %s since %s; nothing tells a sleep from a stop", b.Name, b.Reported, hourOf(b.StoppedAt()))
		}
		after, ok := s.sleepsAfter(w)
		if b, of := s.freshBox(); ok && of == w { // what was used since then tells nothing of before
			idle, told := idleBefore(b, w)
			if known := s.lastThere(w); !told && !known.IsZero() && known.Before(b.EmptySince()) {
				return q.unsure("it was last known to be in use %s before its container started again, and it sleeps after %s: it may have slept", backend.Age(b.EmptySince().Sub(known)), spanText(after))
			}
			if !told {
				return q.unsure("how long it was not used before its container started again is not known, and it sleeps after %s: it may have slept", spanText(after))
			}
			if idle > after {
				return q.unsure("%s passed between its last success and the start of its new container, and it sleeps after %s: it may have slept", backend.Age(idle), spanText(after))
			}
			return q.no(s.from(&b.Meta), "only %s passed between its last success and the start of its new container, and it sleeps after %s", backend.Age(idle), spanText(after))
		}
		last, used := w.LastAttemptAt.Get()
		if ok && used && s.now.Sub(last) > after {
			return q.yes(s.from(&w.Meta), "last used %s ago, and it sleeps after %s; it is not clear whether its files survive", backend.Age(s.now.Sub(last)), spanText(after))
		}
		if ok && used && !w.LostSuccess.IsZero() && w.LostSuccess.Add(after).Before(last) {
			return q.unsure("its last success before was %s ago, and it sleeps after %s: it may have slept in between", backend.Age(s.now.Sub(w.LostSuccess)), spanText(after))
		}
		if ok && used && s.old.IsEmpty() {
			return q.no(s.from(&w.Meta), "last used %s ago, and it sleeps only after %s", backend.Age(s.now.Sub(last)), spanText(after))
		}
	}
	return s.mayHaveSlept(q)
}
