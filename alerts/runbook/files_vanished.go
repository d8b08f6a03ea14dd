package runbook

import (
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// diagnoseFilesVanished says in one word why the files of a workspace are gone.
func diagnoseFilesVanished(s *subjectView) Diagnosis {
	d := Diagnosis{Checks: s.answers(append(s.stopped(),
		s.branchShares(),
		s.branched(),
		s.keepsNothing(),
		s.cleaned(),
		s.hostRestarted(),
		s.emptied(),
		s.replaced(),
		s.closedBetween(),
		s.between(),
		s.slept(),
		s.logEvidence(),
	)...)}
	if here := s.lostHere(); here.IsEmpty() {
		d.dont("Don't destroy, reset or re-open before you copied the rest.")
	} else {
		d.dont("Don't look for the rest in it: %s.", here)
	}
	d.end(s.filesVanishedEndings())
	if d.is("branch") && d.Ending == EndByDesign {
		d.do("Tell the user: a branch starts with an empty workspace. The files are still in the session that it was branched from.")
	}
	if earlier := s.earlierSession(); d.denies && !earlier.IsEmpty() {
		d.Conclusion, d.denies = backend.Textf("Possibly closed between sessions: %s.", earlier), false
	}
	return d
}

// branchShares asks whether a branch uses the sandbox of its parent, as releases before round 4 let it.
func (s *subjectView) branchShares() Check {
	q := question{"branch-shares", "Does a branch use its parent's sandbox?", "branchedFrom in the list route, and the stored references of both sessions"}
	if s.session == nil || s.session.BranchedFrom.IsZero() {
		return q.unsure("no session is known that this one was branched from")
	}
	parent := s.session.BranchedFrom
	own, theirs := s.placesOf(s.sessionID), s.placesOf(parent)
	for id, x := range own {
		if y, same := theirs[id]; same && x.sameProvider(y.provider) {
			why := backend.Literal("releases before round 4 let branches share and corrupt it")
			if s.allShow(4, s.sessionID, parent) {
				why = "their release is round 4 or later, which starts branches empty: something else gave the branch this id"
			}
			return q.yes(x.from, "session %s and the session %s that it was branched from both name sandbox %s: %s", s.sessionID.Safe(), parent.Safe(), id.Safe(), backend.Text(why))
		}
	}
	if len(own) > 0 && len(theirs) > 0 {
		return q.no(s.from(&s.session.Meta), "the sandboxes that the two sessions name differ")
	}
	return q.unsure("the sandbox of %s is not read", parent.Safe())
}

// namedSandbox is a sandbox that a session names: by which provider, which may not be known, and who said so.
type namedSandbox struct {
	provider backend.Safe
	from     origin
}

// sameProvider reports whether an id can be of the same provider: ids of different ones have nothing in common.
func (n namedSandbox) sameProvider(p backend.Safe) bool {
	return n.provider.IsEmpty() || p.IsEmpty() || n.provider == p
}

// placesOf are the sandboxes that the references and workspaces of a session name.
func (s *subjectView) placesOf(session backend.ID) map[backend.ID]namedSandbox {
	out := map[backend.ID]namedSandbox{}
	for _, r := range s.Refs {
		if r.Session == session && !r.Resource.IsZero() {
			out[r.Resource] = namedSandbox{r.Provider, origin{r.Source, r.At}}
		}
	}
	for w := range s.State.Workspaces.Of(backend.KindWorkspace, s.home, session) {
		if !w.ProviderID.IsZero() {
			out[w.ProviderID] = namedSandbox{w.Provider, s.from(&w.Meta)}
		}
	}
	for _, p := range s.Board.PastOf(backend.KindWorkspace) {
		if w, ok := p.Entity.(*backend.Workspace); ok && w.Key.Parent == session && w.Key.Source == s.home && !w.ProviderID.IsZero() {
			out[w.ProviderID] = namedSandbox{w.Provider, origin{w.Key.Source, w.ReadAt}}
		}
	}
	return out
}

// between asks for an earlier session that ended with a workspace of the same name: its files are not those of this one.
func (s *subjectView) between() Check {
	q := question{"between", "Did an earlier session with a workspace of this name end?", "sessions that ended while Sandglass read them"}
	if earlier := s.earlierSession(); !earlier.IsEmpty() {
		return q.unsure("%s; whether its files were meant to outlive it is not read", earlier)
	}
	return q.unsure("none was seen to end")
}

// earlierSession says which session with a workspace of the same name ended before the subject's began, empty when none did.
func (s *subjectView) earlierSession() backend.Safe {
	if s.wide {
		return backend.Safe{}
	}
	var found *alerts.Past
	var of *backend.Workspace
	for _, w := range s.workspaces {
		for _, p := range s.Board.PastOf(backend.KindWorkspace) {
			x, ok := p.Entity.(*backend.Workspace)
			if !ok {
				continue
			}
			if p.Left.IsZero() && s.leftBetween(x) {
				p.Left = x.ReadAt
			}
			if s.followed(w, x, p.Left) && (found == nil || p.Left.After(found.Left)) {
				found, of = &p, w
			}
		}
	}
	if found == nil {
		return backend.Safe{}
	}
	was := found.Entity.EntityMeta().Key
	if owner := s.State.Session(sessionOf(found.Entity.(*backend.Workspace))); owner != nil && found.Left.Equal(found.Entity.EntityMeta().ReadAt) {
		return backend.Textf("session %s with a workspace %s was read running last %s ago and is %s now, and session %s opened that name again",
			was.Parent.Safe(), was.ID.Safe(), backend.Age(s.now.Sub(found.Left)), owner.Status, of.Key.Parent.Safe())
	}
	if found.Left.Equal(found.Entity.EntityMeta().ReadAt) {
		return backend.Textf("session %s with a workspace %s was read last %s ago and is not listed any more, and session %s opened that name again",
			was.Parent.Safe(), was.ID.Safe(), backend.Age(s.now.Sub(found.Left)), of.Key.Parent.Safe())
	}
	return backend.Textf("session %s with a workspace %s ended %s ago, and session %s opened that name again", was.Parent.Safe(), was.ID.Safe(), backend.Age(s.now.Sub(found.Left)), of.Key.Parent.Safe())
}

func sessionOf(w *backend.Workspace) backend.Key {
	return backend.Key{Kind: backend.KindSession, Source: w.Key.Source, ID: w.Key.Parent}
}

// leftBetween reports whether a workspace left between two runs of Sandglass: its session is not listed any more, or is
// listed as one that does not run.
func (s *subjectView) leftBetween(w *backend.Workspace) bool {
	if x := s.State.Session(sessionOf(w)); x != nil {
		return s.State.Workspace(w.Key) == nil && !x.Running.Or(true)
	}
	h := s.delivers(backend.InputSessions) // the workspace was read, so that a list named its session once
	return h != nil && h.Status == fleet.StatusOK
}

// followed reports whether a workspace was opened by a later session of the same tenant than one that left.
func (s *subjectView) followed(w, was *backend.Workspace, left time.Time) bool {
	if was.Key.Source != w.Key.Source || was.Key.ID != w.Key.ID || was.Key.Parent == w.Key.Parent || left.IsZero() {
		return false
	}
	began := w.FirstSeen
	later := s.State.SessionOf(w)
	if later != nil {
		if at, ok := later.StartedAt.Get(); ok {
			began = at
		}
	}
	if began.IsZero() || began.Before(left) {
		return false
	}
	p, ok := s.Board.Past(backend.Key{Kind: backend.KindSession, Source: was.Key.Source, ID: was.Key.Parent})
	if earlier, is := p.Entity.(*backend.Session); ok && is && later != nil {
		return earlier.Tenant.IsEmpty() || later.Tenant.IsEmpty() || earlier.Tenant == later.Tenant
	}
	return true
}

func (s *subjectView) branched() Check {
	q := question{"branch", "Was the session branched from another?", "branchedFrom in the list route"}
	switch {
	case s.session == nil:
		return q.unsure("the session is not listed")
	case !s.session.BranchedFrom.IsZero():
		return q.yes(s.from(&s.session.Meta), "session %s was branched from %s, and branches start without files since round 4", s.sessionID.Safe(), s.session.BranchedFrom.Safe())
	}
	for x := range s.State.Sessions.All() {
		if x.Key.Source == s.home && !x.BranchedFrom.IsZero() {
			return q.no(s.from(&s.session.Meta), "the list route names branches, and this session is none")
		}
	}
	return q.unsure("no session of this source says what it was branched from")
}

// keepsNothing asks for providers that promise nothing beyond one process or one call.
func (s *subjectView) keepsNothing() Check {
	q := question{"durability", "Does the provider keep nothing at all?", "provider in the aggregate route or in a declaration"}
	o := s.newest()
	switch p := s.provider(); p {
	case "":
		return s.stateKeeps(q)
	case "in-memory":
		return q.yes(o, "provider in-memory keeps files in the process: a restart or a close loses them")
	case "cloudflare-dynamic-worker":
		return q.yes(o, "provider cloudflare-dynamic-worker runs scripts and keeps no files")
	case "cloudflare-filestore":
		return q.no(o, "provider cloudflare-filestore keeps files in the agent's Durable Object")
	case "local-bash", "local-sandbox":
		return q.no(o, "provider %s keeps files until close, and across a restart of the process", backend.Clean(p, 60))
	case "cloudflare-sandbox":
		return q.no(o, "provider cloudflare-sandbox keeps files while its container lives")
	case "docker":
		return q.no(o, "provider docker keeps files in a directory of the host that its containers mount at /workspace; whether its clean-up removes the directory is not documented")
	default:
		if c := s.stateKeeps(q); c.Mark != CannotTell {
			return c
		}
		q.needs = "the documentation of the provider"
		return q.unsure("what provider %s keeps is not documented", backend.Clean(p, 60))
	}
}

// stateKeeps answers by the saved state of an agent SDK what is kept of a session's files.
func (s *subjectView) stateKeeps(q question) Check {
	for _, b := range s.sandboxes {
		x := s.State.StateNaming(b)
		if x == nil || b.Provider.String() != "blaxel" {
			continue
		}
		if x.Agent.Snapshot.String() == "noop" {
			return q.no(s.from(&x.Meta), "the saved state is of blaxel, which keeps files while the sandbox exists; its snapshot, noop, keeps none elsewhere")
		}
		return q.no(s.from(&x.Meta), "the saved state is of blaxel, which keeps files while the sandbox exists")
	}
	return q.unsure("the provider is not named")
}

// hostRestarted asks whether scratch directories in memory went with a boot.
func (s *subjectView) hostRestarted() Check {
	q := question{"boot", "Did the host restart with its scratch directories in memory?", "a tmpdir source on the agents' host"}
	last := s.lastSuccess()
	var seen *backend.Host
	for _, h := range s.hosts() {
		boot, ok := h.BootedAt.Get()
		if !ok {
			continue
		}
		seen = h
		for _, r := range h.Roots {
			if r.FSType.String() == "tmpfs" && !last.IsZero() && boot.After(last) {
				return q.yes(s.from(&h.Meta), "%s booted %s ago, after the last success, and %s is a tmpfs", h.Name, backend.Age(s.now.Sub(boot)), r.Path)
			}
		}
	}
	switch {
	case seen == nil:
		return q.unsure("no host's boot time is read")
	case last.IsZero():
		return q.unsure("%s booted %s ago; when the files were last used is not known", seen.Name, backend.Age(s.now.Sub(seen.BootedAt.Or(s.now))))
	}
	return q.no(s.from(&seen.Meta), "no host with a tmpfs root booted since the last success")
}

func (s *subjectView) lastSuccess() time.Time {
	var last time.Time
	for _, w := range s.workspaces {
		if t, ok := w.LastSuccessAt.Get(); ok && t.After(last) {
			last = t
		}
	}
	return last
}

// emptiedBy reports whether a failure says that the workspace directory is not there.
func emptiedBy(v backend.Verdict) bool {
	switch v.Kind {
	case backend.FailWorkDirMissing, backend.FailWorkDirDangling, backend.FailWorkDirNoDir, backend.FailMountUnlinked, backend.FailMountGone, backend.FailFilesystemMissing:
		return true
	case "": // an answer of its own words, or one that a former version kept
		text := strings.ToLower(v.What.String())
		return strings.Contains(text, "workspace") || strings.Contains(text, "directory") || strings.Contains(text, "mount")
	case backend.FailControl5xx, backend.FailExecStuckQueued, backend.FailExecTimeout, backend.FailServerFrozen, backend.FailServerDir, backend.FailGone,
		backend.FailAsleep, backend.FailWaking, backend.FailUnauthorised, backend.FailThrottled, backend.FailNoCheckpoint, backend.FailResumeRefused, backend.FailProtocol, backend.FailNoSpace, backend.FailUsageLimit:
	}
	return false
}

// emptied asks whether the sandbox lives and its workspace directory does not.
func (s *subjectView) emptied() Check {
	q := question{"emptied", "Was the workspace directory removed from inside the sandbox?", "a probe of the sandbox; it must be running, a probe wakes a sleeping one"}
	works := origin{}
	for _, sb := range s.sandboxes {
		if _, late, failing := sb.Failing(); failing && sb.WorkDirGone() && sb.Class == backend.SandboxRunning {
			return q.yes(s.from(&sb.Meta), "%s runs, and since %s at least not even its health check begins: its working directory is gone", sb.Name, hourOf(late))
		}
		o, _ := sb.Proved()
		for _, v := range o.Verdicts {
			switch {
			case v.Outcome == backend.OutcomeFailed && emptiedBy(v):
				return q.yes(origin{sb.Key.Source, v.At}, "%s runs and %s: a command in it removed the directory", sb.Name, v.Said())
			case v.Outcome == backend.OutcomeOK && (v.Plane == backend.PlaneExec || v.Plane == backend.PlaneList) && v.At.After(works.at):
				works = origin{sb.Key.Source, v.At}
			}
		}
	}
	if !works.at.IsZero() {
		return q.no(works, "a probe found the workspace in place")
	}
	if p := s.provider(); p != "" && !alerts.HasMachine(p) {
		return q.no(s.newest(), "provider %s has no sandbox", backend.Clean(p, 60))
	}
	if b, v := s.former(); b != nil && emptiedBy(*v) {
		return q.unsure("before its newest %s, a probe of %s found: %s. None was made since", backend.Clean(b.Turn(), 20), b.Name, v.Said())
	}
	return q.unsure("no probe was made")
}

// replaced asks whether the machine behind the session is another one than before.
func (s *subjectView) replaced() Check {
	q := question{"replaced", "Is the sandbox another one than before?", "a container source whose sandboxes are joined to the session"}
	if c := s.byErrors(q, alerts.NamesReplaced); c.Mark == Confirmed {
		return c
	}
	for _, w := range s.workspaces {
		if moved := w.Moved; !moved.IsZero() {
			return q.yes(s.from(&w.Meta), "%s was kept in %s and is kept in %s now: filestore data belongs to one Durable Object", w.Key.Safe(), moved.Safe(), w.Namespace.Safe())
		}
		if moves := s.Board.MovesOf(w.Key.Parent, w.Key.ID); len(moves) > 0 {
			return q.yes(origin{moves[0].Key.Source, moves[0].At}, "%s", movedText(w.Key, &moves[0]))
		}
	}
	if b, w := s.freshBox(); b != nil {
		if how, at, ours := b.EmptiedHere(); ours {
			return q.yes(s.from(&b.Meta), "%s was %s through Sandglass at %s, and its next container began at %s, on an empty disk", b.Name, how, secondOf(at), secondOf(b.EmptySince()))
		}
		if w.LostSuccess.IsZero() {
			return q.yes(s.from(&b.Meta), "the container of %s started again at %s, on an empty disk, after %s was used", b.Name, hourOf(b.EmptySince()), w.Key.Safe())
		}
		return q.yes(s.from(&b.Meta), "the container of %s started again at %s, on an empty disk, after the last success at %s", b.Name, hourOf(b.EmptySince()), hourOf(w.LostSuccess))
	}
	last := s.lastSuccess()
	var known *backend.Sandbox
	for _, sb := range s.sandboxes {
		at, ok := sb.CreatedAt.Get()
		if !ok {
			continue
		}
		known = sb
		started, hasStart := time.Time{}, false
		if s.session != nil {
			started, hasStart = s.session.StartedAt.Get()
		}
		if !last.IsZero() && at.After(last) {
			return q.yes(s.from(&sb.Meta), "%s was created %s ago, after the workspace's last success", sb.Name, backend.Age(s.now.Sub(at)))
		}
		if hasStart && len(s.sandboxes) > 1 && at.After(started.Add(10*time.Minute)) {
			return q.yes(s.from(&sb.Meta), "%s is one of %s of this session and younger than the session", sb.Name, plural(len(s.sandboxes), "sandbox"))
		}
	}
	for _, w := range s.workspaces {
		for _, c := range w.History {
			if strings.EqualFold(c.Status.String(), "evicted") && w.Class != backend.ClassEvicted {
				return q.yes(s.from(&w.Meta), "%s was evicted at %s and was resolved again since", w.Key.Safe(), hourOf(c.At))
			}
		}
	}
	if known != nil && !last.IsZero() {
		return q.no(s.from(&known.Meta), "%s is older than the last success", known.Name)
	}
	switch p := s.provider(); {
	case p == filestore:
		q.needs = "namespace in the aggregate route or in a declaration, or a source of persisted refs, read before and after"
		return q.unsure("no change of its namespace was read, and an earlier one would not show")
	case p != "" && known == nil && !alerts.HasMachine(p):
		return q.no(s.newest(), "provider %s has no sandbox", backend.Clean(p, 60))
	}
	return q.unsure("no sandbox of this subject gives its age and a success to compare it with")
}

// freshBox is a sandbox that was seen to start again on an empty disk after a success of its workspace: one that its registry does not
// know any more, or one that an alert goes by.
func (s *subjectView) freshBox() (*backend.Sandbox, *backend.Workspace) {
	for _, w := range s.workspaces {
		for _, b := range s.sandboxes {
			if b.EmptySince().IsZero() || b.Session != w.Key.Parent || !b.Workspace.IsZero() && b.Workspace != w.Key.ID {
				continue
			}
			lost := !w.LostSuccess.IsZero() && b.EmptySince().After(w.LostSuccess)
			if a := s.firingOn("files-vanished", w.Key); lost || a != nil && w.LostSuccess.IsZero() && strings.Contains(a.Cause.String(), "container started again") {
				return b, w
			}
		}
	}
	return nil, nil
}

// lostHere says that the files of the page's workspace are gone since Sandglass ended its container, whose next one began on an empty disk;
// empty: it did not, or that is not why they are gone.
func (s *subjectView) lostHere() backend.Safe {
	if b, _ := s.freshBox(); b != nil {
		if _, _, ours := b.EmptiedHere(); ours {
			return b.LostHere()
		}
	}
	return backend.Safe{}
}

// emptiedHere reports whether an alert about lost files is about containers alone that Sandglass ended.
func (s *subjectView) emptiedHere(a *alerts.Alert) bool {
	return strings.Contains(a.Cause.String(), "container started again") && len(s.sandboxes) > 0 && !slices.ContainsFunc(s.sandboxes, func(b *backend.Sandbox) bool {
		_, _, ours := b.EmptiedHere()
		return !ours
	})
}

// idleBefore is how long a workspace was not used before a start of its container, as far as its newest success tells.
func idleBefore(b *backend.Sandbox, w *backend.Workspace) (time.Duration, bool) {
	last := w.LostSuccess
	if last.IsZero() {
		last = w.LastSuccessAt.Or(time.Time{})
	}
	return b.EmptySince().Sub(last), !last.IsZero() && last.Before(b.EmptySince())
}

// movedText says where the files of a workspace were and are kept.
func movedText(k backend.Key, m *alerts.Move) backend.Safe {
	switch {
	case m.Sandbox && m.Key.Kind == backend.KindRef:
		return backend.Textf("the stored reference of %s named sandbox %s and names %s now", k.Safe(), m.Before.Safe(), m.Now.Safe())
	case m.Sandbox:
		return backend.Textf("%s used sandbox %s and uses %s now", k.Safe(), m.Before.Safe(), m.Now.Safe())
	}
	return backend.Textf("%s was kept in %s and is kept in %s now: filestore data belongs to one Durable Object", k.Safe(), m.Before.Safe(), m.Now.Safe())
}
