package runbook

import (
	"strings"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// mismatched reports whether the alert of the page tells of versions that do not understand each other: they do so for longer than a
// rollout lasts.
func (s *subjectView) mismatched() bool {
	a := s.ledBy("contradiction")
	return a != nil && strings.Contains(a.Cause.String(), "versions that do not understand each other")
}

// misfitOf is the newest word on one of the sandboxes by which it and its Worker have versions that do not understand each other, with
// that sandbox; nil: there is none.
func (s *subjectView) misfitOf() (*fleet.Misfit, *backend.Sandbox) {
	for _, b := range s.sandboxes {
		if m, is := s.State.Misfit(b); is {
			return &m, b
		}
	}
	return nil, nil
}

// versionsFit adds, where such versions are told, that they are: then no command reaches a sandbox, and a probe tells nothing else of it.
func (s *subjectView) versionsFit(told []Check) []Check {
	m, b := s.misfitOf()
	if m == nil {
		return told
	}
	q := question{"versions", "Do it and its Worker have versions that do not fit?", ""}
	said, _, _ := strings.Cut(m.Said.String(), "; Worker and container")
	c := q.yes(origin{m.Source, m.At}, "%s%s", backend.Clean(said, 300), m.GoesOn())
	c.of = b
	fits := backend.Text("they fit")
	if !m.Rollout.IsEmpty() {
		fits = backend.Textf("%s is over", m.Rollout)
	}
	for i := range told {
		if x := &told[i]; x.Mark == CannotTell {
			x.WouldTell = backend.Textf("a probe, once %s", fits)
			if x.Fact.String() == nothingTells {
				x.Fact = backend.Text("no command reaches it while the versions do not fit")
			}
		}
	}
	return append([]Check{c}, told...)
}

// endMisfit concludes about versions that do not understand each other: a rollout ends that, or a deployment does.
func (s *subjectView) endMisfit(d *Diagnosis, name backend.Safe) {
	m, _ := s.misfitOf()
	const deploy = "If they still do not fit, deploy Worker and container image with one version of the SDK."
	switch {
	case s.mismatched():
		d.conclude("It and its Worker have versions of the SDK that do not fit.")
		if m != nil && !m.Calm.IsEmpty() {
			d.dont("Don't wait for it to pass: no rollout of %s goes on.", m.Calm)
		} else {
			d.dont("Don't wait for it to pass: it lasts longer than a rollout.")
		}
		d.do("See the last rollout: sandglass get events. Finish it or undo it.")
		d.do("Without one, deploy both with one version of the SDK. Then probe it: sandglass probe %s", name)
	case m == nil:
	case !m.Rollout.IsEmpty():
		d.conclude("It and its Worker have versions that do not fit. Meanwhile %s goes on, which can do that.", m.Rollout)
		d.dont("Don't probe, repair or destroy it before the rollout is over.")
		d.do("Wait until %s is over. See: sandglass get events", m.Rollout)
		d.do("When it is over, probe it: sandglass probe %s", name)
		d.do(deploy)
	case !m.Calm.IsEmpty():
		d.conclude("It and its Worker had versions that do not fit. No rollout of %s goes on now.", m.Calm)
		d.dont("Don't repair or destroy it: its versions are not its fault.")
		d.do("Probe it: sandglass probe %s. A rollout may have ended since.", name)
		d.do(deploy)
	default:
		d.conclude("It and its Worker have versions that do not fit. Nothing that is read tells whether a rollout goes on.")
		d.dont("Don't repair or destroy it: its versions are not its fault.")
		d.do("Wait for the end of any deployment of its Worker. Then probe it: sandglass probe %s", name)
		d.do(deploy)
	}
}
