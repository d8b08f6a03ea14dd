package runbook

import (
	"slices"

	"sandglass/alerts"
	"sandglass/backend"
)

// stormPage is the page that looks at a whole source, whatever its alert names.
const stormPage = "7"

// alert finds the alert whose page it is, nil where there is none.
func (c Case) alert() *alerts.Alert {
	if c.Alert == "" || c.Board == nil {
		return nil
	}
	if i := slices.IndexFunc(c.Board.Alerts, func(a *alerts.Alert) bool { return a.ID == c.Alert }); i >= 0 {
		return c.Board.Alerts[i]
	}
	return nil
}

// add puts the workspaces and sessions that an alert names into a set, without their sources: a log names a session too.
func add(set map[backend.Key]bool, a *alerts.Alert) map[backend.Key]bool {
	for i := range a.Subjects {
		k := a.Subjects[i].Key
		if k.Kind == backend.KindRef {
			k.Kind = backend.KindWorkspace
		}
		if k.Kind != backend.KindWorkspace && k.Kind != backend.KindSession {
			continue
		}
		if set == nil {
			set = map[backend.Key]bool{}
		}
		k.Source = ""
		set[k] = true
	}
	return set
}

// in reports whether a set of add names a workspace or its session.
func in(set map[backend.Key]bool, w *backend.Workspace) bool {
	k := w.Key
	k.Source = ""
	return set[k] || set[backend.Key{Kind: backend.KindSession, ID: k.Parent}]
}

// narrowWorkspaces leaves the workspaces that the page's alert names. Where none is listed now they are taken as read last.
func (s *subjectView) narrowWorkspaces() {
	if s.alert == nil || !s.wide {
		return
	}
	if s.only = add(nil, s.alert); s.only == nil {
		return
	}
	s.workspaces = slices.DeleteFunc(s.workspaces, func(w *backend.Workspace) bool { return !in(s.only, w) })
	if len(s.workspaces) > 0 {
		return
	}
	for _, p := range s.Board.PastOf(backend.KindWorkspace) {
		if w, ok := p.Entity.(*backend.Workspace); ok && s.here(w.Key.Source) && in(s.only, w) {
			s.workspaces, s.recalled = append(s.workspaces, w), true
		}
	}
}

// leadWith puts the alert whose page it is before the others, and leaves out those that share no subject with it.
func (s *subjectView) leadWith(page string, list []*alerts.Alert) []*alerts.Alert {
	if s.alert == nil || s.alert.Runbook != page {
		return list
	}
	own := add(nil, s.alert)
	out := []*alerts.Alert{s.alert}
	for _, a := range list {
		if a != s.alert && s.alert.Source == a.Source && shares(own, a) {
			out = append(out, a)
		}
	}
	return out
}

// shares reports whether an alert names one of a set, or a source as a whole.
func shares(set map[backend.Key]bool, a *alerts.Alert) bool {
	return slices.ContainsFunc(a.Subjects, func(x alerts.Subject) bool {
		k := x.Key
		k.Source = ""
		return set[k] || k.Kind == backend.KindSource
	})
}
