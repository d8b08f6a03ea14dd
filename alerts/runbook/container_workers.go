package runbook

import (
	"slices"
	"strings"
	"time"

	"sandglass/backend"
)

// adviseWorkersContainer replaces the steps of a container engine, of which no command reaches a container behind a Worker.
func (s *subjectView) adviseWorkersContainer(d *Diagnosis, led string, b *backend.Sandbox) {
	if !s.ofWorkers() {
		return
	}
	for i := range d.Checks { // no engine is to be asked
		c := &d.Checks[i]
		switch {
		case c.WouldTell.IsEmpty(), c.Name == AlertCheck:
		case c.Name == "memory":
			c.WouldTell = backend.Text("its memory in the platform's analytics")
		case strings.Contains(c.WouldTell.String(), "engine"), c.Name == "unhealthy", strings.Contains(c.WouldTell.String(), "restart count"):
			c.WouldTell = backend.Text("its state and log at the platform")
		}
	}
	log := backend.Text(readWorkersLog)
	switch led {
	case "ended", "memory", "near":
		d.Conclusion = backend.Clean(strings.Replace(d.Conclusion.String(), "It ended by itself with an error", "Its platform reports that it failed", 1), 600)
		d.Do = []backend.Safe{log}
		if led != "ended" || b.ExitCode.Or(0) == 137 {
			d.Do = append(d.Do, backend.Text(lookAtMemory))
		}
		d.Dont = []backend.Safe{backend.Text(filesAreGone)}
	case "unhealthy":
		d.Do = []backend.Safe{log}
		if !b.BridgeID.IsZero() && s.State.NoProbe(b).IsEmpty() {
			d.do("Probe it: sandglass probe NAME")
		}
	}
}

// adviseFailedSandbox replaces the steps of a container engine for a sandbox of an agent's cloud that failed: nothing starts that
// again, and its platform replaces it when one of its name is created (api-reference/controlplane.yml of blaxel-ai/docs).
func (s *subjectView) adviseFailedSandbox(d *Diagnosis, led string) {
	if led != "start" || s.platform() != agentCloud {
		return
	}
	d.Conclusion = backend.Clean(strings.Replace(d.Conclusion.String(), "The engine reports an error at the start", "Its platform reports that it failed", 1), 600)
	read := backend.Text("Read the error: a failure of the platform is nothing to correct in the sandbox. See the platform's status page.")
	if !slices.ContainsFunc(s.sandboxes, func(b *backend.Sandbox) bool { return !b.StartError.IsEmpty() }) {
		read = backend.Text("See the platform's status page: it tells no error of the sandbox.")
	}
	d.Do = []backend.Safe{read,
		backend.Text("Let the session open it again: the platform replaces a failed sandbox by a new one of the same name.")}
	d.Dont = []backend.Safe{backend.Text("Don't count on its files: the new one has none of them, except in mounts.")}
}

// readWorkersLog is how to read the log of a container behind a Worker.
const readWorkersLog backend.Literal = "Read its log: wrangler tail, or the logs of its application in Cloudflare's dashboard."

// What exit code 137 of such a container can mean, and what its end costs.
const (
	lookAtMemory backend.Literal = "Look at its memory: exit code 137 can mean that it ran out. Take a larger instance_type in the Wrangler configuration."
	filesAreGone backend.Literal = "Don't count on its files: its next start is on an empty disk."
)

// endOver concludes about containers behind a Worker that ended: nothing is left to look into, and their next use starts others.
func (s *subjectView) endOver(d *Diagnosis) {
	d.NoReset = backend.Safe{}
	d.dont(filesAreGone)
	if b := s.destroyedOne(); b != nil {
		d.deny("It was %s through Sandglass at %s, which was verified. Its end is on purpose.", howEnded(b), secondOf(b.DestroyedHere()))
		d.do("Its next use starts a fresh container. Restore its files there, or begin a new session.")
		return
	}
	switch {
	case d.is("down") && s.over().mark != RuledOut:
		d.conclude("Its container ended. %s.", d.fact("down"))
	case d.is("down"):
		d.conclude("Its container ended while its session runs. %s.", d.fact("down"))
	case s.ledBy("contradiction") != nil:
		d.conclude("It ended before what failed in it was verified. What was in it is gone.")
		d.dont("Don't take its end for a repair. What made it fail may do so again.")
	default:
		d.deny("It ended, as reported: nothing in it can be observed.")
	}
	d.do(readWorkersLog)
	if slices.ContainsFunc(s.sandboxes, func(b *backend.Sandbox) bool { return b.ExitCode.Or(0) == 137 }) {
		d.do(lookAtMemory)
	}
	d.do("Its next use starts a fresh container. Restore its files there, or begin a new session.")
}

// destroyedOne is a sandbox of a page whose sandboxes were all destroyed through Sandglass; nil: not all were.
func (s *subjectView) destroyedOne() *backend.Sandbox {
	if len(s.sandboxes) == 0 || slices.ContainsFunc(s.sandboxes, func(b *backend.Sandbox) bool { return b.DestroyedHere().IsZero() }) {
		return nil
	}
	return s.sandboxes[0]
}

// workersDown asks whether a container behind a Worker is down. One that sleeps has lost its files: while its session runs it is down too.
func (s *subjectView) workersDown() Check {
	q := question{"down", "Is its container down while its session runs?", "the state of the container"}
	life := s.over().mark
	ended := life != Confirmed // its session is not known to be over
	if life != RuledOut {
		q.text = "Is its container down?"
	}
	return s.container(q, func(b *backend.Sandbox) (backend.Safe, bool) {
		if at := b.DestroyedHere(); !at.IsZero() {
			return backend.Textf("was %s through Sandglass at %s", howEnded(b), secondOf(at)), b.Class.Over()
		}
		if b.ExitCode.IsKnown() {
			return endText(b), b.FailedEnd() || b.Class.Over() && ended
		}
		return backend.Textf("is %s", b.Reported), b.FailedEnd() || b.Class.Over() && ended
	}, func(b *backend.Sandbox) (Mark, backend.Safe) {
		return RuledOut, backend.Textf("is %s, and its session is over", b.Reported)
	})
}

// howEnded says what Sandglass did that ended a container with its files, and who did it.
func howEnded(b *backend.Sandbox) backend.Safe {
	o, _ := b.Observed.Get()
	return o.DestroyedHow()
}

func secondOf(t time.Time) backend.Safe { return backend.Clean(t.UTC().Format("15:04:05Z"), 20) }
