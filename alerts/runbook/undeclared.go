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
	case s.runsWithout():
		return q.unsure("session %s is listed as running and its health route answers 404: the agent declares no workspace, or the server does not publish its registry", s.sessionID.Safe())
	case x.Answer == backend.AnswerIdle:
		return q.unsure("the health route answers 404, as it does for an idle session")
	}
	return q.unsure("no registry of the session was read")
}

// runsWithout reports whether the session is listed as running while its health route has no registry.
func (s *subjectView) runsWithout() bool {
	x := s.session
	return x != nil && s.past == nil && !s.recalled && len(s.workspaces) == 0 && x.ListedRunning.Or(false) && x.Answer == backend.AnswerIdle
}

// noRegistry is what page 1 comes to for a session that runs and whose health route answers 404 all the time.
func (s *subjectView) noRegistry() ending {
	e := ending{any: []string{"undeclared"}, denies: true, conclude: "It runs and publishes no registry. It may declare no workspace.",
		do: "Look whether its agent declares a workspace. If it does, check that the server publishes its registry.", dont: "Don't take silence for health: no registry reports nothing.", noReset: "there is no workspace to reset"}
	if s.runsWithout() {
		e.any = nil
	}
	return e
}
