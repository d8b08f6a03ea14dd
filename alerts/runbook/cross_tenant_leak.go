package runbook

import (
	"slices"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// diagnoseCrossTenantLeak is for a tenant that may have seen another tenant's files.
func diagnoseCrossTenantLeak(s *subjectView) Diagnosis {
	places := s.sharedPlaces()
	concerned := s.concerned(places)
	r := s.releaseOf(concerned)
	explicit, known := s.explicitIDs()
	d := Diagnosis{Release: r, Checks: s.answers(
		s.sharedID(places),
		s.sharedNamespace(places),
		s.sharedMount(places),
		s.branchShares(),
		s.labelled(),
		s.inherits(),
		s.explicit(explicit, known),
		s.assertion(concerned),
		s.acrossTenants(places),
		s.nameCollision(),
		r.check(question{"before-4", "Is the framework older than round 4, which let a bare id share a sandbox and gave commands the whole environment?",
			"schemaVersion in a stored reference or an error, or lastAttemptAt in a snapshot"}, 4),
		s.touched(places),
	)}
	s.adviseCrossTenantLeak(&d)
	s.adviseFlags(&d, places, explicit)
	return d
}

func (s *subjectView) sharedID(places []*fleet.SharedStorage) Check {
	q := question{"shared-id", "Do two sessions use one sandbox id?", "the sandbox id of each workspace, in the aggregate route, in a declaration or by a refs source"}
	if p := first(places, fleet.StorageSandbox); p != nil {
		how := backend.Literal("that this is wanted is not declared")
		if p.Intended() {
			how = "it is declared as wanted"
		}
		return q.yes(s.from(p.Users[0].Evidence), "%s use sandbox %s; %s", users(p), p.ID.Safe(), backend.Text(how))
	}
	if other, id, o, ok := s.sharedBefore(); ok {
		return q.yes(o, "sessions %s and %s named sandbox %s when they were read last", s.sessionID.Safe(), other.Safe(), id.Safe())
	}
	known := s.named(func(w *backend.Workspace) backend.ID { return w.ProviderID }, func(x *backend.Ref) backend.ID { return x.Sandbox })
	if known > 0 && known == len(s.workspaces) {
		return s.settle(q.no(s.newest(), "no other session uses the sandbox of %s", plural(known, "workspace")), q)
	}
	return q.unsure("the sandbox id of %s is not read", plural(len(s.workspaces)-known, "workspace"))
}

func (s *subjectView) sharedNamespace(places []*fleet.SharedStorage) Check {
	q := question{"namespace", "Do two sessions use one filestore namespace?", "namespace in the aggregate route, in a declaration or by a refs source"}
	if p := first(places, fleet.StorageNamespace); p != nil {
		return q.yes(s.from(p.Users[0].Evidence), "%s use namespace %s", users(p), p.ID.Safe())
	}
	if p := s.provider(); p != "" && p != "cloudflare-filestore" {
		return q.no(s.newest(), "the provider is %s, which has no namespaces", backend.Clean(p, 60))
	}
	known := s.named(func(w *backend.Workspace) backend.ID { return w.Namespace }, func(x *backend.Ref) backend.ID { return x.Namespace })
	if known > 0 && known == len(s.workspaces) {
		return s.settle(q.no(s.newest(), "each namespace that is read belongs to one session"), q)
	}
	return q.unsure("the namespace of %s is not read; without one it is derived from the session, which does not collide", plural(len(s.workspaces)-known, "workspace"))
}

// sharedMount asks whether two sandboxes of different sessions see one directory of the host.
func (s *subjectView) sharedMount(places []*fleet.SharedStorage) Check {
	q := question{"mount", "Do sandboxes of two sessions mount one directory?", "a container source whose sandboxes are joined to sessions"}
	if p := first(places, fleet.StorageScratch); p != nil {
		return q.yes(s.from(p.Users[0].Evidence), "%s both mount %s", users(p), p.ID.Safe())
	}
	if i := slices.IndexFunc(s.sandboxes, func(b *backend.Sandbox) bool { return !b.Unlisted }); i >= 0 {
		return q.no(s.from(&s.sandboxes[i].Meta), "no directory is mounted writable into sandboxes of two sessions")
	}
	return q.unsure("no sandbox of this subject is listed")
}

func (s *subjectView) inherits() Check {
	q := question{"inherit", "Does a sub-agent inherit its parent's workspaces?", "inheritWorkspaces in the aggregate route or in a declaration"}
	known := 0
	for _, w := range s.workspaces {
		if v, ok := w.InheritWorkspaces.Get(); ok && v {
			return q.yes(s.from(&w.Meta), "inheritWorkspaces is on for %s: children see the parent's files", w.Key.Safe())
		} else if ok {
			known++
		}
	}
	if known > 0 && known == len(s.workspaces) {
		return q.no(s.newest(), "inheritWorkspaces is off")
	}
	return q.unsure("it is not declared for %s", plural(len(s.workspaces)-known, "workspace"))
}

// acrossTenants asks whether what is shared is shared by different tenants.
func (s *subjectView) acrossTenants(places []*fleet.SharedStorage) Check {
	q := question{"tenants", "Do they belong to different tenants?", "tenant in the list route or in a declaration"}
	unknown := false
	for _, p := range places {
		tenants, some := p.Tenants(s.State)
		if len(tenants) > 1 {
			return q.yes(s.from(p.Users[0].Evidence), "%s: tenants %s", users(p), backend.Join(tenants[:min(len(tenants), 5)], ", "))
		}
		unknown = unknown || some
	}
	switch {
	case len(places) == 0:
		return q.unsure("nothing shared was found that could cross tenants")
	case unknown:
		return q.unsure("the tenant of at least one side is not read")
	}
	return s.settle(q.no(s.newest(), "what is shared stays within one tenant"), q)
}

// nameCollision reads the name-collision warning the right way round: it says that the child was isolated.
func (s *subjectView) nameCollision() Check {
	q := question{"collision", "Did a sub-agent get its parent's workspace through an equal name?", "a log source that reads the agents' log"}
	t := s.tally(backend.MetricNameCollision, time.Hour)
	switch {
	case t.in.N > 0:
		return q.no(t.from, "%s of equal names in the last %s: each says that the child got a workspace of its own", plural(int(t.in.N), "warning"), s.watched(t, time.Hour))
	case t.looked && s.spanOf(t, time.Hour) < leastWatched:
		return q.unsure("no warning of equal names; the log is read for less than %s", spanText(leastWatched))
	case t.looked:
		return q.no(t.from, "no warning of equal names in the last %s", s.watched(t, time.Hour))
	}
	return q.unsure("no log source is read")
}

func (s *subjectView) adviseCrossTenantLeak(d *Diagnosis) {
	shared := slices.ContainsFunc([]string{"shared-id", "namespace", "mount", "branch-shares", "label"}, d.is)
	switch {
	case shared && d.is("tenants"):
		d.conclude("Different tenants share one place for files: %s. Treat it as a leak until the opposite is shown.", d.fact("tenants"))
		d.do("Start the security and compliance process now. It decides about the sessions. Report both sessions and the times above.")
	case shared && d.Mark("tenants") == RuledOut:
		d.conclude("Sessions share files within one tenant. No tenant sees another's.")
		d.do("Ask the owner whether the sharing is wanted.")
	case shared:
		d.conclude("Sessions share one place for files. Whether they belong to different tenants is not read.")
		d.do("Find out the tenants of both sessions. Until then treat it as a leak.")
	case d.is("assertion"):
		d.conclude("A provider refuses an explicit sandbox id. Sharing it is not declared, so nothing was shared.")
	case d.is("inherit"):
		d.conclude("Sub-agents see their parent's files. The flag inheritWorkspaces is on.")
		d.do("Check that a child works for the tenant of its parent.")
	case d.is("before-4"):
		d.conclude("Nothing shared was found. This release shares a sandbox whenever two sessions name one id.")
		d.do("Upgrade to round 4 or later. Check every explicit id by hand meanwhile.")
	default:
		d.deny("The data does not show that sessions share files. What is not declared cannot be ruled out.")
	}
	d.do("Look for ids, namespaces and inheritWorkspaces set by hand.")
	d.do("Copy logs and snapshots of both sides before any change. They are the evidence.")
	d.dont("Don't destroy or reset the sandbox first: it is the evidence.")
	if shared && d.is("tenants") {
		d.dont("Don't stop the sessions yourself: security decides.")
	}
	if s.tally(backend.MetricNameCollision, time.Hour).in.N > 0 {
		d.dont("Don't take the warning of equal names for a leak. It says that the child was given its own workspace.")
	}
	if shared {
		d.NoReset = backend.Text("the sandbox is evidence until the incident is closed")
	}
}
