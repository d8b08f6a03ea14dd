package runbook

import (
	"path"
	"slices"
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
)

// cureLink says what makes a working directory that is a link to nothing work again. A repair makes the target where it may: in
// the container's own files, or on a volume.
func (s *subjectView) cureLink(d *Diagnosis, b *backend.Sandbox, name, dir backend.Safe) {
	o, _ := b.Proved()
	to := linkTarget(b, o)
	target := backend.Clean(to, 200)
	m := mountOver(b, to)
	switch {
	case loops(o):
		d.do("Remove the link: docker exec -w / %s rm %s. Then repair: sandglass repair %s", name, dir, name)
	case ofKernel(to):
		d.do("It leads to the kernel's files. Remove the link: docker exec -w / %s rm %s. Then repair: sandglass repair %s", name, dir, name)
	case m != nil && m.Type.String() != "volume":
		rest := strings.TrimPrefix(to, m.Destination.String())
		d.do("Make its target on the host, because a repair does not. Run: mkdir -p %s", backend.Clean(path.Join(m.Source.String(), rest), 300))
	case unmakeable(b) && to != "":
		d.do("Make it as root, because its user may not. Run: docker exec -u 0 -w / %s mkdir -p -m 777 %s", name, target)
	case unmakeable(b):
		d.do("Make it as root, because its user may not. Run: docker exec -u 0 -w / %s mkdir -p -m 777 %s", name, dir)
	case !b.IsSandbox && to != "": // no action touches it
		d.do("%sRun: docker exec -w / %s mkdir -p %s. It is empty then.", s.removedTogether(), name, target)
	default:
		d.do("%sMake its target again, empty: sandglass repair %s", s.removedTogether(), name)
	}
}

// loops reports whether what was observed is a link that leads back to itself.
func loops(o backend.Observation) bool {
	return slices.ContainsFunc(o.Failed(), func(v backend.Verdict) bool { return strings.Contains(v.What.String(), "leads back to itself") })
}

// onReadOnly is where on the host a working directory is that nothing in the sandbox can make: its mount is read-only.
func onReadOnly(b *backend.Sandbox) (backend.Safe, bool) {
	if b == nil {
		return backend.Safe{}, false
	}
	m := mountOver(b, b.WorkDir.String())
	if m == nil || !m.ReadOnly || m.Type.String() != "bind" {
		return backend.Safe{}, false
	}
	return backend.Clean(path.Join(m.Source.String(), strings.TrimPrefix(b.WorkDir.String(), m.Destination.String())), 300), true
}

// ofKernel reports whether a path of a container belongs to its kernel.
func ofKernel(p string) bool {
	return slices.ContainsFunc([]string{"/proc", "/sys", "/dev"}, func(top string) bool { return p == top || strings.HasPrefix(p, top+"/") })
}

// mountOver is the mount that holds a path in a sandbox; nil: the path is among the sandbox's own files.
func mountOver(b *backend.Sandbox, target string) *backend.Mount {
	var best *backend.Mount
	for i := range b.Mounts {
		m := &b.Mounts[i]
		at := m.Destination.String()
		if (target == at || strings.HasPrefix(target, strings.TrimSuffix(at, "/")+"/")) && (best == nil || len(at) > len(best.Destination.String())) {
			best = m
		}
	}
	return best
}

// mountAt is the mount that holds a path in a sandbox, or that nothing is mounted there.
func mountAt(b *backend.Sandbox, target string) backend.Safe {
	if target == "" {
		return backend.Text("where it leads was not read")
	}
	best := mountOver(b, target)
	if best == nil {
		return backend.Textf("nothing is mounted at %s", backend.Clean(target, 160))
	}
	return backend.Textf("%s is on the %s %s, mounted at %s", backend.Clean(target, 160), best.Type, best.Source, best.Destination)
}

// leads reports whether the page starts from an alert of a rule about a sandbox.
func (s *subjectView) leads(rule string, k backend.Key) bool {
	return slices.ContainsFunc(s.led, func(a *alerts.Alert) bool {
		return a.Rule == rule && slices.ContainsFunc(a.Subjects, func(x alerts.Subject) bool { return x.Key == k })
	})
}

// fires reports whether an alert that the page starts from fires.
func (s *subjectView) fires() bool {
	return slices.ContainsFunc(s.led, func(a *alerts.Alert) bool { return a.State == alerts.StateFiring })
}

// hung is the verdict about a command in a sandbox that did not end; nil: there is none.
func hung(b *backend.Sandbox) *backend.Verdict {
	if b == nil {
		return nil
	}
	o, _ := b.Proved()
	if v, _ := o.Of(backend.PlaneExec); v.Kind == backend.FailExecTimeout {
		return &v
	}
	return nil
}

// waits reports whether all threads of the main process of a sandbox wait in the kernel, where no signal reaches them.
func waits(b *backend.Sandbox) bool {
	if b == nil {
		return false
	}
	o, _ := b.Proved()
	v, _ := o.Of(backend.PlaneDriver)
	return v.Kind == backend.FailServerFrozen && slices.ContainsFunc(v.Evidence, func(e backend.Safe) bool { return strings.Contains(e.String(), ": 0 in state T") })
}

// formerFailure is what failed in a sandbox in a former life and was not tried since; nil: nothing did.
func formerFailure(b *backend.Sandbox) *backend.Verdict {
	if b == nil {
		return nil
	}
	o, _ := b.Observed.Get()
	for _, v := range o.Failed() {
		if v.Past {
			return &v
		}
	}
	return nil
}
