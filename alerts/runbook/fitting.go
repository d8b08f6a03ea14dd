package runbook

import (
	"regexp"
	"slices"
	"strings"

	"sandglass/backend"
)

var (
	// advised is a command of ours for one sandbox, with its name.
	advised = regexp.MustCompile(`\bsandglass (destroy|kill-process|pause|probe|repair|replace|rescue|restart|resume|start|stop-process|stop) (\S+)`)
	// unnamed advises a probe by words alone.
	unnamed = regexp.MustCompile(`^Probe (it|each|this one)\b`)
	// turning is what puts a sandbox into another state, so that what follows it is not refused for the present one.
	turning = regexp.MustCompile(`\b(docker|podman) (start|restart)\b|\bsandglass (wake|resume|replace|restart|start) `)
)

// ofPlanes are the questions about what is inside a sandbox: nothing is, where its container ended.
const ofPlanes = " server-dir dangling missing occupied unlinked unmounted permission frozen commands planes "

// fitting takes away what the actions would refuse: steps with a command that fits none of the sandboxes it names, and readings by a
// probe that reaches none. Of a container that ended nobody asks what is inside it.
func (s *subjectView) fitting(d *Diagnosis) {
	if len(s.sandboxes) == 0 {
		return
	}
	why := s.unprobeable()
	if s.allOver() {
		d.Checks = slices.DeleteFunc(d.Checks, func(c Check) bool { return c.Mark == CannotTell && strings.Contains(ofPlanes, " "+c.Name+" ") })
	}
	for i := range d.Checks {
		if c := &d.Checks[i]; !why.IsEmpty() && c.Mark == CannotTell && strings.Contains(c.WouldTell.String(), "a probe") {
			if c.WouldTell = backend.Textf("nothing here. No probe does: %s", why); s.ofWorkers() {
				c.WouldTell = backend.Text("its application: no probe reaches it")
			}
		}
	}
	if refused := s.fittingSteps(d); !refused.IsEmpty() {
		if s.ofWorkers() && !s.allOver() {
			d.do("Look into it through your application. Sandglass cannot: %s.", refused)
		} else if len(d.Do) == 0 {
			d.do("Nothing can be done in it now: %s.", refused)
		}
	}
	for i, x := range d.Dont {
		if !why.IsEmpty() && strings.Contains(x.String(), "before a probe") {
			d.Dont[i] = backend.Text("Don't call it broken or well: nothing that is read tells it.")
		}
	}
}

// fittingSteps takes away the steps that would be refused, and returns why; empty: none would.
func (s *subjectView) fittingSteps(d *Diagnosis) (why backend.Safe) {
	turned := false
	d.Do = slices.DeleteFunc(slices.Clone(d.Do), func(step backend.Safe) bool {
		refused := s.refusedStep(step.String())
		if turned = turned || refused.IsEmpty() && turning.MatchString(step.String()); turned || refused.IsEmpty() {
			return false
		}
		why = refused
		return true
	})
	return why
}

// refusedStep is why the first command of a step would be refused; empty: it would not.
func (s *subjectView) refusedStep(step string) backend.Safe {
	verb, name := "probe", "NAME"
	if m := advised.FindStringSubmatchIndex(step); m != nil {
		if at := turning.FindStringIndex(step); at != nil && at[0] < m[0] {
			return backend.Safe{}
		}
		verb, name = step[m[2]:m[3]], strings.TrimRight(step[m[4]:m[5]], ".,;:)")
	} else if !unnamed.MatchString(step) {
		return backend.Safe{}
	}
	named := func(b *backend.Sandbox) bool {
		return name == called(b).String() || name == b.Key.ID.Raw() || name == backend.ShellWord(b.Key.ID.Raw()).String()
	}
	all := !slices.ContainsFunc(s.sandboxes, named)
	var why backend.Safe
	for _, b := range s.sandboxes {
		if !all && !named(b) {
			continue
		}
		if why = s.refusal(verb, b); why.IsEmpty() {
			return why
		}
	}
	return why
}

func (s *subjectView) refusal(verb string, b *backend.Sandbox) backend.Safe {
	if verb == "probe" {
		return s.State.NoProbe(b)
	}
	return s.State.Unfit(verb, b)
}

// unprobeable is why no probe runs a command in any of the sandboxes; empty: one may.
func (s *subjectView) unprobeable() (why backend.Safe) {
	for _, b := range s.sandboxes {
		if why = s.State.NoProbe(b); why.IsEmpty() {
			return why
		}
	}
	return why
}

// allOver reports whether the container of each of the sandboxes ended.
func (s *subjectView) allOver() bool {
	return len(s.sandboxes) > 0 && !slices.ContainsFunc(s.sandboxes, func(b *backend.Sandbox) bool { return !b.Class.Over() })
}
