package agentuity

import "strings"

// documentedFields are the members that the schemas of the vendor's client name (core 2.0.21, services/sandbox and services/coder).
const documentedFields = `success data message code error details sandboxes total executions jobs events files sessions websocket sandbox participants url
sandboxId identifier name description status mode createdAt region runtime id tags snapshot tag stdoutStreamUrl stderrStreamUrl auditStreamId auditStreamUrl
networkEnabled networkPort org timeout idle execution paused command exitCode dependencies packages metadata resources memory cpu disk cpuTimeMs memoryByteSec
networkEgressBytes user firstName lastName agent project iconUrl brandColor executionId type durationMs startedAt completedAt outputTruncated jobId eventId event
path size isDir isSymlink linkTarget modTime orgId orgName projectId autoResumed checkpointId terminatesAt sessionId label visibility workflowMode lastActivityAt
taskCount subAgentCount observerCount participantCount skills enabledAgents bucket runtimeAvailable controlAvailable wakeAvailable historyOnly liveExpected task
wsConnected role transport connectedAt agentRole limit offset diagnostics inactiveRunningTasks owner defaultAgent agentSlug archivedAt`

// KnownFields are the documented members, and those that hold data of users and events.
func (s *Source) KnownFields() (known, data []string) {
	return strings.Fields(documentedFields), []string{"metadata", "event", "diagnostics", "task"}
}
