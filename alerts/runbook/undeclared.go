package runbook

import "sandglass/backend"

// undeclared asks for an agent that declares no workspace: its session runs and its health route has no registry.
func (s *subjectView) undeclared() Check {
	q := question{"undeclared", "Does the agent declare no workspace at all?", "the agent's configuration; a list route that says which sessions run, beside the health route"}
	x := s.session
	switch {
	case len(s.workspaces) > 0 && !s.recalled:
		return q.no(s.newest(), "%s listed", plural(len(s.workspaces), "workspace"))
	case x == nil:
		return q.unsure("the session is not listed")
	case x.ListedRunning.Or(false) && x.Answer == backend.AnswerIdle:
		return q.unsure("session %s is listed as running and its health route answers 404: the agent declares no workspace, or the server does not publish its registry", s.sessionID.Safe())
	case x.Answer == backend.AnswerIdle:
		return q.unsure("the health route answers 404, as it does for an idle session")
	}
	return q.unsure("no registry of the session was read")
}
