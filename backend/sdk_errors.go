package backend

// SDKErrorKind is a kind of error of the OpenAI Agents SDK that is evidence, and no alert of its own.
type SDKErrorKind struct {
	Name, Code string
	Means      Literal
}

var sdkErrorKinds = [...]SDKErrorKind{
	{"ExecTimeoutError", "exec_timeout", "the agent's SDK gave up waiting for a command: only its own wait ended"},
	{"ExecTransportError", "exec_transport_error", "the agent's SDK got no answer to a command"},
	{"WorkspaceReadNotFoundError", "workspace_read_not_found", "a file that the agent read was not there"},
	{"WorkspaceArchiveReadError", "workspace_archive_read_error", "the agent's SDK could not read from its sandbox"},
	{"WorkspaceArchiveWriteError", "workspace_archive_write_error", "the agent's SDK could not write to its sandbox"},
	{"WorkspaceWriteTypeError", "workspace_write_type_error", "the agent gave its SDK something to write that is no bytes"},
}

// SDKErrorKinds are those kinds, by class name and by code (src/agents/sandbox/errors.py of github.com/openai/openai-agents-python).
func SDKErrorKinds() []SDKErrorKind { return sdkErrorKinds[:] }

// AgentError is an error of the SDK that stands in a saved state. When it happened is not told: before the state was saved.
type AgentError struct {
	Class Safe `json:"class"`
	// Details are what it says beside its class: reason, status, timeout, path; empty: nothing.
	Details Safe `json:"details,omitzero"`
	Means   Safe `json:"means"`
	Where   Safe `json:"where"` // in the state, as a JSON pointer
}
