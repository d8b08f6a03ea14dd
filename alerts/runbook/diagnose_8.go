package runbook

import (
	"slices"
	"time"

	"sandglass/backend"
)

// diagnose8: one tenant may have seen another's files.
func diagnose8(s *scene) Diagnosis {
	r := s.release()
	d := Diagnosis{Release: r, Checks: s.answers(
		s.sharedID(),
		s.sharedNamespace(),
		s.sharedMount(),
		s.inherits(),
		s.acrossTenants(),
		s.byLinesCollision(),
		r.check(ask{"before-4", "Is the framework older than round 4, which let a bare id share a sandbox and gave commands the whole environment?",
			"schemaVersion in a stored reference or an error, or lastAttemptAt in a snapshot"}, 4),
		ask{"reads", "Were files of another tenant really read or written?", "a log pattern for reads and writes by path and sandbox, or the platform's own audit"}.
			unsure("no source reports which files a command touched"),
	)}
	s.advise8(&d)
	return d
}

// pair is two workspaces of different sessions that have one thing in common.
type pair struct{ own, other *backend.Workspace }

// common finds the first two workspaces of different sessions that share an id, one of them the subject's; one pass
// over all, since a source may have many.
func (s *scene) common(id func(*backend.Workspace) backend.ID) (found pair, ok bool, known int) {
	first := map[backend.ID]*backend.Workspace{}
	for _, own := range s.workspaces {
		v := id(own)
		if v.IsZero() {
			continue
		}
		known++
		if x := first[v]; x == nil {
			first[v] = own
		} else if x.Key.Parent != own.Key.Parent && (!ok || s.tenantsDiffer(x, own)) {
			found, ok = pair{x, own}, true
		}
	}
	for w := range s.State.Workspaces.All() {
		x := first[id(w)]
		if x == nil || x.Key.Parent == w.Key.Parent {
			continue
		}
		if !ok || s.tenantsDiffer(x, w) && !s.tenantsDiffer(found.own, found.other) {
			found, ok = pair{x, w}, true
		}
	}
	return found, ok, known
}

func (s *scene) tenant(w *backend.Workspace) backend.Safe {
	if x := s.State.SessionOf(w); x != nil {
		return x.Tenant
	}
	return backend.Safe{}
}

// tenantsDiffer reports whether two workspaces are known to belong to different tenants.
func (s *scene) tenantsDiffer(a, b *backend.Workspace) bool {
	x, y := s.tenant(a), s.tenant(b)
	return !x.IsEmpty() && !y.IsEmpty() && x != y
}

func (s *scene) sharedID() Check {
	a := ask{"shared-id", "Do two sessions use one sandbox id?", "the sandbox id of each workspace, in the aggregate route or in a declaration"}
	p, ok, known := s.common(func(w *backend.Workspace) backend.ID { return w.ProviderID })
	switch {
	case ok:
		how := "nobody declares that this is wanted"
		if p.own.ShareAcrossSessions.Or(false) && p.other.ShareAcrossSessions.Or(false) {
			how = "shareAcrossSessions is set"
		}
		return a.yes(s.from(&p.own.Meta), "%s and %s use sandbox %s; %s", p.own.Key.Safe(), p.other.Key.Safe(), p.own.ProviderID.Safe(), backend.Clean(how, 60))
	case known > 0 && known == len(s.workspaces):
		return s.settle(a.no(s.newest(), "each of %s has a sandbox id of its own", plural(known, "workspace")), a)
	}
	return a.unsure("the sandbox id of %s is not read", plural(len(s.workspaces)-known, "workspace"))
}

func (s *scene) sharedNamespace() Check {
	a := ask{"namespace", "Do two sessions use one filestore namespace?", "namespace in the aggregate route or in a declaration"}
	if p := s.provider(); p != "" && p != "cloudflare-filestore" {
		return a.no(s.newest(), "the provider is %s, which has no namespaces", backend.Clean(p, 60))
	}
	p, ok, known := s.common(func(w *backend.Workspace) backend.ID { return w.Namespace })
	switch {
	case ok:
		return a.yes(s.from(&p.own.Meta), "%s and %s use namespace %s", p.own.Key.Safe(), p.other.Key.Safe(), p.own.Namespace.Safe())
	case known > 0 && known == len(s.workspaces):
		return s.settle(a.no(s.newest(), "each namespace that is read belongs to one session"), a)
	}
	return a.unsure("the namespace of %s is not read; without one it is derived from the session, which does not collide", plural(len(s.workspaces)-known, "workspace"))
}

// sharedMount asks whether two sandboxes of different sessions see one directory of the host.
func (s *scene) sharedMount() Check {
	a := ask{"mount", "Do sandboxes of two sessions mount one directory?", "a container source whose sandboxes are joined to sessions"}
	first := map[backend.ID]*backend.Sandbox{}
	for _, sb := range s.sandboxes {
		for _, m := range sb.Mounts {
			if !m.RawSource.IsZero() && !m.ReadOnly && !sb.Session.IsZero() {
				first[m.RawSource] = sb
			}
		}
	}
	for sb := range s.State.Sandboxes.All() {
		for _, m := range sb.Mounts {
			x, ok := first[m.RawSource]
			if ok && !m.ReadOnly && !sb.Session.IsZero() && sb.Session != x.Session && sb.Key.Source == x.Key.Source {
				return a.yes(s.from(&sb.Meta), "%s and %s both mount %s", x.Name, sb.Name, m.Source)
			}
		}
	}
	if len(s.sandboxes) > 0 {
		return a.no(s.from(&s.sandboxes[0].Meta), "no directory is mounted writable into sandboxes of two sessions")
	}
	return a.unsure("no sandbox of this subject is listed")
}

func (s *scene) inherits() Check {
	a := ask{"inherit", "Does a sub-agent inherit its parent's workspaces?", "inheritWorkspaces in the aggregate route or in a declaration"}
	known := 0
	for _, w := range s.workspaces {
		if v, ok := w.InheritWorkspaces.Get(); ok && v {
			return a.yes(s.from(&w.Meta), "inheritWorkspaces is on for %s: children see the parent's files", w.Key.Safe())
		} else if ok {
			known++
		}
	}
	if known > 0 && known == len(s.workspaces) {
		return a.no(s.newest(), "inheritWorkspaces is off")
	}
	return a.unsure("nobody declares it for %s", plural(len(s.workspaces)-known, "workspace"))
}

// acrossTenants asks whether what is shared is shared by different tenants.
func (s *scene) acrossTenants() Check {
	a := ask{"tenants", "Do they belong to different tenants?", "tenant in the list route or in a declaration"}
	unknown := 0
	shared := 0
	for _, id := range []func(*backend.Workspace) backend.ID{
		func(w *backend.Workspace) backend.ID { return w.ProviderID },
		func(w *backend.Workspace) backend.ID { return w.Namespace },
	} {
		p, ok, _ := s.common(id)
		if !ok {
			continue
		}
		shared++
		switch x, y := s.tenant(p.own), s.tenant(p.other); {
		case x.IsEmpty() || y.IsEmpty():
			unknown++
		case x != y:
			return a.yes(s.newest(), "%s belongs to %s and %s to %s", p.own.Key.Safe(), x, p.other.Key.Safe(), y)
		}
	}
	switch {
	case shared == 0:
		return a.unsure("nothing shared was found that could cross tenants")
	case unknown > 0:
		return a.unsure("the tenant of at least one side is not read")
	}
	return s.settle(a.no(s.newest(), "what is shared stays within one tenant"), a)
}

// byLinesCollision reads the name-collision warning the right way round: it says that the child was isolated.
func (s *scene) byLinesCollision() Check {
	a := ask{"collision", "Did a sub-agent get its parent's workspace through an equal name?", "a log source that reads the agents' log"}
	t := s.tally(backend.MetricNameCollision, time.Hour)
	switch {
	case t.in.N > 0:
		return a.no(t.from, "%s warnings of equal names in the last hour: each says that the child got a workspace of its own", number(t.in.N))
	case t.looked:
		return a.no(t.from, "no warning of equal names in the last hour")
	}
	return a.unsure("no log source is read")
}

func (s *scene) advise8(d *Diagnosis) {
	shared := slices.ContainsFunc([]string{"shared-id", "namespace", "mount"}, d.is)
	switch {
	case shared && d.is("tenants"):
		d.conclude("Two tenants share one place for files: treat it as a leak until the opposite is shown.")
		d.do("Start the security and compliance process now; note the time when the overlap began.")
	case shared && d.Mark("tenants") == RuledOut:
		d.conclude("Sessions share files within one tenant; no tenant sees another's.")
		d.do("Ask the owner whether the sharing is wanted.")
	case shared:
		d.conclude("Sessions share one place for files; whether they belong to different tenants is not read.")
		d.do("Find out the tenants of both sessions; until then treat it as a leak.")
	case d.is("inherit"):
		d.conclude("Sub-agents see their parent's files because inheritWorkspaces is on.")
		d.do("Check that a child never works for another tenant than its parent.")
	case d.is("before-4"):
		d.conclude("Nothing shared was found, but this release shares a sandbox whenever two sessions name one id.")
		d.do("Upgrade to round 4 or later; check every explicit id by hand meanwhile.")
	default:
		d.conclude("No reading shows that sessions share files; what is not declared cannot be ruled out.")
	}
	d.do("Audit every id, namespace and inheritance that is not the default.")
	d.do("Keep the evidence: copy logs and snapshots of both sides before anything changes.")
	d.dont("Don't destroy or reset the sandbox first: it is the evidence.")
	d.dont("Don't read the warning of equal names as a leak: it says that the child was given its own workspace.")
	if shared {
		d.NoReset = backend.Text("the sandbox is evidence until the incident is closed")
	}
}
