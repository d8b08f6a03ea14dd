package fleet

import (
	"strings"

	"sandglass/backend"
)

// TerminalNeed is one of what an agent SDK needs to open a terminal in a sandbox of Blaxel. Plain commands need none of it.
type TerminalNeed struct {
	Name backend.Safe
	Have backend.Value[bool] // unknown: nothing tells
	Why  backend.Safe
}

// TerminalNeeds are the address of the sandbox's own server, a token and the WebSocket library, where a saved state says that the
// OpenAI Agents SDK uses the sandbox. The last two are where the agent runs: its log alone tells of them, within the last hour.
func (s *State) TerminalNeeds(b *backend.Sandbox) []TerminalNeed {
	r := s.StateNaming(b)
	if r == nil || b.Provider.String() != "blaxel" {
		return nil
	}
	yes, no := backend.Known(true), backend.Known(false)
	address := TerminalNeed{backend.Text("address"), yes, backend.Text("the saved state names it")}
	if r.Agent.Address.IsEmpty() {
		address.Have, address.Why = no, backend.Text("the saved state does not name it: the agent learns it when it makes or resumes the sandbox")
	}
	const unread = "where the agent runs is not read"
	token := TerminalNeed{Name: backend.Text("token"), Why: backend.Text(unread)}
	library := TerminalNeed{Name: backend.Text("WebSocket library"), Why: backend.Text(unread)}
	for opened := range s.Windows.All(backend.MetricPTYCount) {
		if opened.Session == r.Session && s.counted(opened).N > 0 {
			said := backend.Text("its agent opened terminals within the last hour, its log says")
			token.Have, token.Why, library.Have, library.Why = yes, said, yes, said
		}
	}
	for failed := range s.Windows.All(backend.MetricPTYFailed) {
		if x := s.counted(failed); failed.Session == r.Session && x.N > 0 && strings.Contains(x.Sample.String(), backend.NoWebSocketLibrary) {
			library.Have, library.Why = no, backend.Text("its log says so: install aiohttp where the agent runs")
		}
	}
	return []TerminalNeed{address, token, library}
}

// TerminalLimit is what bounded the step of a terminal of a session that an error says took too long; empty: the error is another one,
// or the kind of its sandbox has no such limits.
func (s *State) TerminalLimit(session backend.ID, text backend.Safe) backend.Safe {
	var state *backend.AgentState
	for r := range s.Refs.All() {
		if r.Agent != nil && r.Session == session {
			state = r.Agent
		}
	}
	return terminalLimit(text.String(), state)
}

// terminalLimit goes by the SDK (pty_exec_start and pty_write_stdin of its sandbox of Blaxel).
func terminalLimit(text string, state *backend.AgentState) backend.Safe {
	switch {
	case !strings.Contains(text, "TimeoutError"), state != nil && len(state.Timeouts) == 0:
		return backend.Safe{}
	case strings.Contains(text, backend.TerminalNoStart):
		return backend.Textf("its connection may take exec_timeout_s (%s) unless the call gave another time, sending its command fast_op_s (%s)", state.Waits(backend.AgentExec), state.Waits(backend.AgentFast))
	case strings.Contains(text, backend.TerminalNoInput):
		return backend.Textf("sending its input may take fast_op_s (%s)", state.Waits(backend.AgentFast))
	}
	return backend.Safe{}
}

// counted is what a series counted in the last hour.
func (s *State) counted(x backend.Series) Increase {
	return s.Windows.Over(x, s.Wall, WindowSpan)
}
