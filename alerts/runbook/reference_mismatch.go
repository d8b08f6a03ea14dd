package runbook

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// diagnoseReferenceMismatch is for a stored reference that disagrees with its container. It looks at the whole source, since all
// sessions of it run the same release.
func diagnoseReferenceMismatch(s *subjectView) Diagnosis {
	w := s.widen()
	if s.agentStates() && len(s.errors) == 0 {
		return s.diagnoseSavedState()
	}
	d := Diagnosis{Checks: s.answers(
		s.byErrors(question{"schema", "Does the reference carry a schema version that this release cannot read?", "lastError of the workspace while its session runs"}, alerts.NamesSchema),
		w.direction(),
		w.histogram(),
		w.unversioned(),
		w.mixed(),
		s.byErrors(question{"strict", "Are fields of the reference refused?", "lastError of the workspace while its session runs"}, alerts.NamesStrict),
		s.disagree(),
		s.ofAll((*subjectView).newer),
		s.ofAll((*subjectView).deleted),
		s.refsRead(),
	)}
	d.Release = s.release()
	cause := alerts.NamesSchema | alerts.NamesStrict
	switch { // those that fail for the other reason need something else
	case d.is("schema") && !d.is("strict"):
		cause = alerts.NamesSchema
	case d.is("strict") && !d.is("schema"):
		cause = alerts.NamesStrict
	}
	d.Sessions, d.SessionCount = w.affected(cause)
	w.adviseReferenceMismatch(&d)
	return d
}

// versionGap reads "schemaVersion 4 … 1-3": the version written and the range that can be read. ok is false when the
// text does not tell.
func versionGap(text string) (have, low, high int, ok bool) {
	m := gapText.FindStringSubmatch(text)
	if m == nil {
		return 0, 0, 0, false
	}
	n := [3]int{}
	for i := range n {
		v, err := strconv.Atoi(m[i+1])
		if err != nil {
			return 0, 0, 0, false
		}
		n[i] = v
	}
	return n[0], n[1], n[2], n[1] <= n[2]
}

var gapText = regexp.MustCompile(`(?i)schema\s?version\D{0,12}(\d{1,6})\D.{0,80}?(\d{1,6})\s*(?:-|–|to|\.\.)\s*(\d{1,6})`)

// direction asks whether the release was rolled back, or skipped several versions.
func (s *subjectView) direction() Check {
	q := question{"rollback", "Was the framework rolled back over several versions?", "an error that names the version and the range it can read"}
	for _, e := range s.errors {
		if e.cause&alerts.NamesSchema == 0 {
			continue
		}
		have, low, high, ok := versionGap(e.text.String())
		switch {
		case ok && have > high:
			return q.yes(e.from, "references were written with version %d and this release reads %d to %d: it is older than what wrote them", have, low, high)
		case ok && have < low:
			return q.no(e.from, "references have version %d and this release reads %d to %d: it is too new for them, by more than one version", have, low, high)
		}
	}
	if n, _ := s.affected(alerts.NamesSchema); len(n) > 0 {
		return q.unsure("errors name schemaVersion without a version and a range")
	}
	if len(s.errors) > 0 && s.mute == 0 && s.unread == 0 {
		return s.settle(q.no(s.errors[0].from, "no error names schemaVersion"), q)
	}
	return q.unsure("no error names schemaVersion")
}

func refVersion(text string) (int, bool) {
	_, rest, ok := strings.Cut(strings.ToLower(text), "schemaversion")
	if !ok {
		return 0, false
	}
	rest = strings.TrimLeft(rest, `"': =`)
	end := 0
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	v, err := strconv.Atoi(rest[:end])
	return v, err == nil
}

func (s *subjectView) mixed() Check {
	q := question{"mixed", "Do different releases run side by side?", "frameworkVersion in the list route or in a declaration"}
	switch v := s.versions(); len(v) {
	case 0:
		return q.unsure("no session declares its frameworkVersion")
	case 1:
		return q.no(s.newest(), "all sessions that declare it run %s", v[0])
	default:
		return q.yes(s.newest(), "sessions run %s", backend.Join(v[:min(len(v), 5)], ", "))
	}
}

// deleted asks whether the resource behind the reference is gone.
func (s *subjectView) deleted() Check {
	q := question{"deleted", "Was the sandbox deleted behind the framework's back?", "a container source, or the platform's list of instances, and the id inside the reference"}
	if e := s.event(7*24*time.Hour, func(e *backend.Event) bool { return removal(e) && s.concerns(e) }); e != nil {
		return q.yes(origin{e.Source, e.At}, "%s", e.Text)
	}
	if c := s.byErrors(q, alerts.NamesGone); c.Mark == Confirmed {
		return c
	}
	for _, sb := range s.sandboxes {
		if x := s.State.StateNaming(sb); x != nil && s.State.EndedOf(x) == sb {
			return q.yes(s.from(&sb.Meta), "%s is reported %s", sb.Name, sb.Reported)
		}
		if sb.Class != backend.SandboxUnknown {
			return s.aged(q, sb, q.no(s.from(&sb.Meta), "%s is there (%s)", sb.Name, sb.Reported))
		}
	}
	return q.unsure("no sandbox of this subject is listed, which alone proves nothing")
}

// disagree asks whether a stored reference names another sandbox than the one that is there.
func (s *subjectView) disagree() Check {
	q := question{"disagree", "Do a stored reference and its container disagree?", "a source of persisted refs, and a container source that lists the sandboxes of that provider"}
	listed := map[backend.ID]bool{} // whoever they belong to
	for b := range s.State.Sandboxes.All() {
		listed[b.Key.ID] = listed[b.Key.ID] || !b.Unlisted
		if name, err := backend.NewID(b.Name.String()); err == nil {
			listed[name] = listed[name] || !b.Unlisted
		}
	}
	read := 0
	for _, r := range s.Refs {
		if r.Resource.IsZero() || !s.sessionID.IsZero() && r.Session != s.sessionID || s.sessionID.IsZero() && !s.speaksHere(r.Source) || !s.mentions(r) {
			continue
		}
		read++
		if x := s.State.Refs.Get(backend.Key{Kind: backend.KindRef, Source: r.Source, Parent: r.Session, ID: r.Workspace}); x != nil {
			if b := s.State.EndedOf(x); b != nil {
				return q.yes(s.from(&b.Meta), "the reference of %s names sandbox %s, which is reported %s", r.Session.Safe(), r.Resource.Safe(), b.Reported)
			}
		}
		if !listed[r.Resource] {
			return q.unsure("the reference of %s names sandbox %s, which is not among those that are listed here", r.Session.Safe(), r.Resource.Safe())
		}
	}
	if read == 0 {
		return q.unsure("no stored reference that names a sandbox is read")
	}
	return s.settle(q.no(s.newest(), "the sandbox that each of %s names is listed", plural(read, "reference")), q)
}

// mentions reports whether a page is about a reference: its alert's subjects are all that the page of an alert is about.
func (s *subjectView) mentions(r Ref) bool {
	return s.only == nil || in(s.only, &backend.Workspace{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindWorkspace, Parent: r.Session, ID: r.Workspace}}})
}

// refsRead asks for the stored references of the subject's session.
func (s *subjectView) refsRead() Check {
	q := question{"stored", "Does the store still hold a reference for this session?", "a source of persisted refs"}
	n, old := 0, 0
	for _, r := range s.Refs {
		if !s.sessionID.IsZero() && r.Session != s.sessionID {
			continue
		}
		n++
		if r.SchemaVersion.IsNotApplicable() {
			old++
		}
	}
	if n > 0 && old == 0 {
		return q.yes(origin{s.Refs[0].Source, s.Refs[0].At}, "the store holds %s", plural(n, "reference"))
	}
	if n > 0 {
		return q.yes(origin{s.Refs[0].Source, s.Refs[0].At}, "the store holds %s, %d of them without a schemaVersion", plural(n, "reference"), old)
	}
	if len(s.Refs) > 0 {
		return q.no(origin{s.Refs[0].Source, s.Refs[0].At}, "the store was read and holds none for this session")
	}
	if s.session != nil && len(s.session.WorkspaceRefs) > 0 {
		return q.yes(s.from(&s.session.Meta), "the list route gives %s", plural(len(s.session.WorkspaceRefs), "reference"))
	}
	return q.unsure("no source reads the store")
}

// wanted is the version that a release must read, from the errors; false when they do not tell.
func (s *subjectView) wanted() (int, bool) {
	best, found := 0, false
	for _, e := range s.errors {
		if e.cause&alerts.NamesSchema == 0 {
			continue
		}
		if have, _, _, ok := versionGap(e.text.String()); ok && have > best {
			best, found = have, true
		} else if v, ok := refVersion(e.text.String()); ok && v > best {
			best, found = v, true
		}
	}
	return best, found
}

// fittingRelease is the schema version of the release nearest to the running one that reads the references which it refuses. It
// is known where the errors agree and the range is that of one version below and one above the release's own.
func (s *subjectView) fittingRelease() (n int, ok bool) {
	for _, e := range s.errors {
		if e.cause&alerts.NamesSchema == 0 {
			continue
		}
		have, low, high, told := versionGap(e.text.String())
		fits := have - 1
		if have < low {
			fits = have + 1
		}
		if !told || high-low != 2 || have >= low && have <= high || fits < 2 || ok && fits != n {
			return 0, false
		}
		n, ok = fits, true
	}
	return n, ok
}

// storedFor counts the stored references that a release of schema n refuses, which reads one version below and one above; complete
// means that the version of each known reference was read.
func (s *subjectView) storedFor(n int) (refused int, complete bool) {
	all := CheckRollback(s.State, n-1, n+1, s.speaksHere)
	for _, v := range all.Versions {
		if v.Version < n-1 || v.Version > n+1 {
			refused += v.Refs
		}
	}
	return refused, len(all.Versions) > 0 && all.Unversioned == 0 && all.Unreadable == 0
}

// readsOf says what a release of schema n, told as it, reads of the stored references; other is said where no version is known.
func (s *subjectView) readsOf(n int, it, other backend.Safe) backend.Safe {
	switch refused, complete := s.storedFor(n); {
	case refused > 0:
		return backend.Textf(" %s cannot read %s of other versions.", it, plural(refused, "stored reference"))
	case complete:
		return backend.Textf(" %s reads all known references.", it)
	}
	return other
}

// oldestRefs counts the stored references of the lowest version that a release reads: the next release refuses them.
func (s *subjectView) oldestRefs(n int) int {
	for _, v := range CheckRollback(s.State, n-1, n+1, s.speaksHere).Versions {
		if v.Version == n-1 {
			return v.Refs
		}
	}
	return 0
}

// readable is the range of versions that the running release reads, where an error tells that it is the older one.
func (s *subjectView) readable() (low, high int, ok bool) {
	for _, e := range s.errors {
		if e.cause&alerts.NamesSchema == 0 {
			continue
		}
		if have, from, to, told := versionGap(e.text.String()); told && have > to {
			return from, to, true
		}
	}
	return 0, 0, false
}

func (s *subjectView) adviseReferenceMismatch(d *Diagnosis) {
	switch {
	case d.is("schema"), d.SessionCount > 0 && !d.is("deleted") && !d.is("strict"):
		d.NoReset = backend.Text("the same reference is refused again until the release can read it")
		if low, high, ok := s.readable(); ok {
			d.conclude("The running release reads only versions %d to %d. It cannot read the stored references of %s.", low, high, plural(d.SessionCount, "session"))
		} else {
			d.conclude("This release cannot read the stored references of %s.", plural(d.SessionCount, "session"))
		}
		if n, ok := s.fittingRelease(); ok {
			newer := backend.Text("a release")
			if _, high, told := s.readable(); told && n+1 > high {
				newer = backend.Text("a newer release of the agent")
			}
			if v, told := s.wanted(); told && v >= n-1 && v <= n+1 {
				d.do("Deploy %s that reads version %d.%s", newer, v,
					s.readsOf(n, backend.Textf("One that reads %d to %d", n-1, n+1), backend.Textf(" One of schema %d reads %d to %d.", n, n-1, n+1)))
			} else {
				d.do("Deploy %s of schema %d: it reads versions %d to %d.%s", newer, n, n-1, n+1, s.readsOf(n, backend.Text("It"), backend.Safe{}))
			}
		} else if v, ok := s.wanted(); ok {
			d.do("Roll forward to a release that reads schema version %d. A release reads one version below and one above its own.", v)
		} else {
			d.do("Roll forward to the release that wrote the references.")
		}
		if list := listOf("ws", "error:schemaVersion"); !slices.ContainsFunc(s.errors, func(e reportedError) bool { return e.cause&alerts.NamesSchema != 0 }) {
			d.do("Before you deploy save the %s below. Each step changes the list.", plural(d.SessionCount, "session id"))
		} else if d.SessionCount == 1 {
			d.do("Before you deploy save the session id. Each step changes the list. Print it: %s", list)
		} else {
			d.do("Before you deploy save the %s. Each step changes the list. Print them: %s", plural(d.SessionCount, "session id"), list)
		}
		d.do("Recreate what no release can read. Those workspaces start without files.")
		d.dont("Don't reset: a reset reads the same reference and fails again.")
		if n, ok := s.fittingRelease(); ok {
			if refs := s.oldestRefs(n); refs > 0 {
				d.dont("Don't deploy a release of schema %d: it reads %d to %d. %s of version %d.", n+1, n, n+2, backend.Counted(refs, "reference that is read is", "references that are read are"), n-1)
			}
		}
		d.dont("Don't delete stored references. They are the only way back to the files.")
	case !d.is("strict") && s.agentStates() && s.adviseSavedState(d):
	case d.is("deleted"):
		d.NoReset = backend.Text("the sandbox that the reference names does not exist any more")
		d.conclude("The sandbox of the reference is gone. The session's files are lost.")
		d.do("Start a fresh session; tell its owner what is lost.")
		d.do("Find out who deleted it. It may be the platform's tooling, a clean-up job, a person.")
		d.dont("Don't retry or reset: the sandbox does not exist any more.")
	case d.is("strict"):
		d.NoReset = backend.Text("the same reference is refused again until the release can read it")
		d.conclude("This release refuses fields in the stored references of %s.", plural(d.SessionCount, "session"))
		d.do("Run the release that wrote it. Or a provider that knows the fields.")
		d.dont("Don't edit references by hand.")
	case d.is("newer"):
		d.NoReset = backend.Text("the container is not the one that the reference was written for")
		d.conclude("%s.", sentence(d.fact("newer")))
		d.do("Find out who made the new container, and when. It may be a restart of its engine, a clean-up, a reset.")
		d.do("Go back to a checkpoint of the same session. The new container starts without the old files.")
		d.dont("Don't delete the stored reference. It says which sandbox had the files.")
	case d.is("disagree"):
		d.NoReset = backend.Text("the sandbox that the reference names is not listed")
		d.conclude("%s.", sentence(d.fact("disagree")))
		d.do("Find out if it was removed or replaced. Or it runs where no source looks.")
		d.do("Copy what is left before the session is opened again. A fresh sandbox starts without files.")
		d.dont("Don't delete the stored reference. It says which sandbox had the files.")
	default:
		d.deny("No reference was found that disagrees with its container.")
		d.do("Read the stored references of the session (a refs source).")
		d.dont("Don't roll back further to try. Each step may refuse more references.")
	}
	if d.is("unversioned") {
		d.do("Upgrade to round 4 or later. Older releases store no schemaVersion, so nothing tells in advance which release reads their references.")
	}
	if low, high, ok := s.readable(); ok {
		d.do("Before a rollback run sandglass refs check --reads %d..%d. This release reads these versions.", low, high)
	} else {
		d.do("Before a rollback: sandglass refs check --reads LOW..HIGH. LOW and HIGH are the oldest and newest version that the older release reads.")
	}
}
