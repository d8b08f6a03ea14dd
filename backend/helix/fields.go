package helix

import "strings"

// KnownFields are the names of the members that answers are read for: those of the framework, and those that pointers name.
func (s *Source) KnownFields() (known, data []string) {
	known = []string{"branchedFrom", "capabilities", "closeTimeoutMs", "command", "concurrency", "cursor", "destroyOnClose", "endedAt", "error", "executions",
		"exitCode", "frameworkVersion", "id", "inheritWorkspaces", "jobs", "lastAttemptAt", "lastError", "lastOpAt", "lastSuccessAt", "maxFileSize",
		"maxFileSizeMb", "message", "name", "namespace", "next", "provider", "providerId", "queuedAt", "ref", "resetAfterMs", "retryAttempts", "runtime",
		"running", "sandbox", "schemaVersion", "sdkVersion", "sessions", "shareAcrossSessions", "sleepAfter", "startedAt", "state", "status", "tenant",
		"transientRetryAttempts", "type", "workspace", "workspaceRefs", "workspaces"}
	p := s.opt.Pointers
	for _, pointer := range []string{p.Sessions, p.SessionID, p.Status, p.Workspaces, p.Next, s.opt.IdleMatch.Pointer} {
		known = append(known, strings.Split(strings.TrimPrefix(pointer, "/"), "/")...)
	}
	return known, nil
}
