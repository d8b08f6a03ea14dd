package runbook

import (
	"regexp"
	"slices"
	"strings"

	"sandglass/backend"
)

// placeholder stands for the name of a sandbox where a page is about many.
var placeholder = regexp.MustCompile(`\bNAME\b`)

// fillName puts the name of the sandbox into the commands of a page where no check observed one. Steps for each of many keep the placeholder.
func (s *subjectView) fillName(d *Diagnosis) {
	name := s.sandboxName().String()
	if name == "" {
		return
	}
	fill := func(step backend.Safe) backend.Safe {
		if !placeholder.MatchString(step.String()) || strings.Contains(step.String(), " each ") {
			return step
		}
		return backend.Clean(placeholder.ReplaceAllLiteralString(step.String(), name), backend.MaxTextRunes)
	}
	d.Do, d.Dont = slices.Clone(d.Do), slices.Clone(d.Dont)
	for _, list := range [][]backend.Safe{d.Do, d.Dont} {
		for i := range list {
			list[i] = fill(list[i])
		}
	}
	for i := range d.Checks {
		d.Checks[i].WouldTell = fill(d.Checks[i].WouldTell)
	}
}

// sandboxName is what commands call the sandbox of a page: that of the alert's first subject, also where only a saved state names it; on the
// page of a whole source the first that has not ended. Empty: the page is about several, or about none.
func (s *subjectView) sandboxName() backend.Safe {
	k := s.Subject
	if s.alert != nil && len(s.alert.Subjects) > 0 {
		k = s.alert.Subjects[0].Key
	}
	if r := s.State.Refs.Get(k); r != nil && !r.Sandbox.IsZero() {
		return backend.ShellWord(r.Sandbox.Raw())
	}
	if b := s.sandboxOf(k); b != nil {
		return called(b)
	}
	if i := slices.IndexFunc(s.sandboxes, func(b *backend.Sandbox) bool { return !b.Class.Ended() }); i >= 0 && (len(s.sandboxes) == 1 || s.wide) {
		return called(s.sandboxes[i])
	}
	return backend.Safe{}
}
