package docker

import (
	"path"
	"regexp"

	"sandglass/backend"
)

// selection decides which containers are sandboxes and to which session and workspace each belongs.
type selection struct {
	key, value     string // label selector; an empty key: by session label or tmpdir mount
	hasValue       bool
	all            bool // a container that is no sandbox is watched too
	sessionLabel   string
	workspaceLabel string
	tmpdir         string         // path.Match pattern
	name           *regexp.Regexp // groups session, workspace; nil: names say nothing
}

// judged reports whether a container's figures and trouble are looked at.
func (s *selection) judged(labels map[string]string, mounts []mount) bool {
	return (s.all || s.isSandbox(labels, mounts)) && !isOwn(labels)
}

func (s *selection) isSandbox(labels map[string]string, mounts []mount) bool {
	if isOwn(labels) {
		return false
	}
	if s.key != "" {
		v, ok := labels[s.key]
		return ok && (!s.hasValue || v == s.value)
	}
	if _, ok := labels[s.sessionLabel]; ok && s.sessionLabel != "" {
		return true
	}
	for _, m := range mounts {
		if m.kind == "bind" && s.inTmpdir(m.source) {
			return true
		}
	}
	return false
}

// isOwn reports whether Sandglass made the container for itself, for as long as a plan takes.
func isOwn(labels map[string]string) bool {
	_, own := labels[backend.LabelPlan]
	return own
}

// Marks says what makes a container a sandbox, as the configuration has it.
func (s *Source) Marks() backend.Safe {
	if s.sel.key != "" {
		return backend.Textf("label %s (selector of %s)", s.clean(s.opt.Selector, 100), s.clean(s.deps.ID, 80))
	}
	return backend.Textf("label %s=<session id>, or selector of %s,", s.clean(s.sel.sessionLabel, 100), s.clean(s.deps.ID, 80))
}

// inTmpdir reports whether dir or one of its parents matches the tmpdir pattern.
func (s *selection) inTmpdir(dir string) bool {
	if s.tmpdir == "" || !path.IsAbs(dir) {
		return false
	}
	for dir = path.Clean(dir); dir != "/"; dir = path.Dir(dir) {
		if ok, err := path.Match(s.tmpdir, dir); ok && err == nil {
			return true
		}
	}
	return false
}

// join returns the session and workspace a container belongs to, zero where nothing says so. Labels win over the
// name; an identifier that is too long is no identifier.
func (s *selection) join(name string, labels map[string]string) (session, workspace backend.ID) {
	session, workspace = orZero(labels[s.sessionLabel]), orZero(labels[s.workspaceLabel])
	if s.name == nil || !session.IsZero() && !workspace.IsZero() {
		return session, workspace
	}
	found := s.name.FindStringSubmatch(name)
	for i, group := range s.name.SubexpNames() {
		switch {
		case found == nil:
		case group == "session" && session.IsZero():
			session = orZero(found[i])
		case group == "workspace" && workspace.IsZero():
			workspace = orZero(found[i])
		}
	}
	return session, workspace
}

func orZero(raw string) backend.ID {
	id, err := backend.NewID(raw)
	if err != nil {
		return backend.ID{}
	}
	return id
}
