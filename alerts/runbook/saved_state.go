package runbook

import (
	"slices"

	"sandglass/alerts"
	"sandglass/backend"
)

// ofAgentSDK reports whether the references of the subject, or of the page's alert, are all session states of an agent SDK, and
// no registry of workspaces takes part: then nothing of a framework's release concerns them.
func (s *subjectView) ofAgentSDK() bool {
	return len(s.errors) == 0 && (len(s.workspaces) == 0 || s.wide) && s.agentStates()
}

// agentStates reports whether the references of the subject, or of the page's alert, are all session states of an agent SDK, whatever a
// registry lists: their sandboxes have no containers, and their sessions none of another framework's settings.
func (s *subjectView) agentStates() bool {
	of := s.savedStates()
	return len(of) > 0 && !slices.ContainsFunc(of, func(r *Ref) bool { return !r.Agent })
}

// savedStates are the references that the page is about: those of its alert, else those of the subject's session.
func (s *subjectView) savedStates() (out []*Ref) {
	mine := func(r *Ref) bool { return !s.sessionID.IsZero() && r.Session == s.sessionID }
	if a := s.alert; a != nil && a.Rule == "ref-mismatch" {
		mine = func(r *Ref) bool {
			return slices.ContainsFunc(a.Subjects, func(x alerts.Subject) bool {
				return x.Key.Parent == r.Session && x.Key.ID == r.Workspace && (x.Key.Kind == backend.KindWorkspace || x.Key.Source == r.Source)
			})
		}
	}
	for i := range s.Refs {
		if r := &s.Refs[i]; mine(r) {
			out = append(out, r)
		}
	}
	return out
}

// diagnoseSavedState is for a saved state of an agent SDK that disagrees with the list of its platform.
func (s *subjectView) diagnoseSavedState() Diagnosis {
	newer := s.ofAll((*subjectView).newer)
	checks := []Check{newer, s.refsRead()}
	if newer.Mark != Confirmed { // else the one that is there tells nothing of the one before it
		checks = append(checks, s.disagree(), s.ofAll((*subjectView).deleted))
	}
	d := Diagnosis{Checks: s.answers(checks...)}
	if !s.adviseSavedState(&d) {
		d.deny("No saved state was found that disagrees with its sandbox.")
		d.do("Read the saved states of the session. Read the list of its platform too.")
		d.dont("Don't delete the saved state: the agent finds its sandbox by it.")
	}
	return d
}

// adviseSavedState ends the page where the sandbox of a saved state is another one, or gone; false: it is neither.
func (s *subjectView) adviseSavedState(d *Diagnosis) bool {
	switch {
	case d.is("newer"):
		s.adviseAnother(d)
	case d.is("deleted"), d.is("disagree"):
		s.adviseGone(d)
	default:
		return false
	}
	if len(s.workspaces) > 0 { // a registry resets them
		d.NoReset = backend.Text("a reset does not bring the files of before back")
	}
	return true
}

// adviseAnother ends the page about a sandbox of the same name that was made anew.
func (s *subjectView) adviseAnother(d *Diagnosis) {
	d.conclude("%s.", sentence(d.fact("newer")))
	if kept := s.snapshots(); kept.IsEmpty() {
		d.do("Tell the owner: the files of before are lost. Only mounts keep them; no snapshot does.")
		d.do("Let the agent do again what it needs. Its memory may still name files that are gone.")
	} else {
		d.do("Restore the last snapshot (%s) if the agent did not. Tell the owner: what came after it is lost, except in mounts.", kept)
	}
	d.do("Find out who made it. The agent's SDK makes one of the same name, without its ports, when a resume finds none; else a person or a job did.")
	d.dont("Don't end the new one to get the files back. They are not behind it.")
	d.dont("Don't delete the saved state: the agent finds its sandbox by it.")
}

// adviseGone ends the page about a sandbox that is not there any more.
func (s *subjectView) adviseGone(d *Diagnosis) {
	about := d.fact("disagree")
	if d.is("deleted") {
		about = d.fact("deleted")
	}
	d.conclude("%s.", sentence(about))
	d.do("Stop the agent's run before it works on. When it resumes, its SDK makes an empty sandbox.")
	if kept := s.snapshots(); kept.IsEmpty() {
		d.do("Tell the session's owner that its files are lost. Only mounts keep them; no snapshot does.")
	} else {
		d.do("Let it restore its last snapshot (%s). What came after it is lost, except in mounts.", kept)
	}
	d.do("Find out what ended it. It may be its time to live, the end of its session, a person.")
	d.dont("Don't delete the saved state: it says which sandbox had the files.")
}

// snapshots are the kinds of snapshots that the page's saved states name, without the one that keeps nothing; empty: none keeps files.
func (s *subjectView) snapshots() backend.Safe {
	var kinds []backend.Safe
	for _, r := range s.savedStates() {
		x := s.State.Refs.Get(backend.Key{Kind: backend.KindRef, Source: r.Source, Parent: r.Session, ID: r.Workspace})
		if x == nil || x.Agent == nil || x.Agent.KeepsNothing() {
			continue
		}
		kind := x.Agent.Keeps()
		if kind.IsEmpty() {
			kind = backend.Text("of a kind that its state does not name")
		}
		kinds = distinct(kinds, kind)
	}
	return backend.Join(kinds, ", ")
}

// inNoSnapshot warns of the paths that the snapshots of the page's only sandbox leave out.
func (s *subjectView) inNoSnapshot(d *Diagnosis) {
	if len(s.sandboxes) != 1 {
		return
	}
	if out := s.State.LeftOut(s.sandboxes[0]).Named(); !out.IsEmpty() {
		d.dont("Don't look for %s in its snapshots: they leave that out.", out)
	}
}
