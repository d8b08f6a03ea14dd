package alerts

import (
	"regexp"
	"strings"

	"sandglass/backend"
)

var rootChange = regexp.MustCompile(`, the (agent(?: [^ ,:]+)?) ran(?:, with exit code -?\d+)?: (?s:(.*))$`)

// RootChange is how evidence tells of a command in an agent's log that changed the working directory: when, by which agent, empty
// where that is not told, and with which exit code, 0 where it ended well or that is not told.
func RootChange(at string, agent, command backend.Safe, exit int) backend.Safe {
	who := backend.Text("the agent")
	if !agent.IsEmpty() {
		who = backend.Textf("the agent %s", agent)
	}
	if exit == 0 {
		return backend.Textf("log: before it, at %s, %s ran: %s", at, who, command)
	}
	return backend.Textf("log: before it, at %s, %s ran, with exit code %d: %s", at, who, exit, command)
}

// IsRootChange reads what RootChange made: who ran which command, "agent coder" or "agent".
func IsRootChange(evidence string) (who, command string, is bool) {
	m := rootChange.FindStringSubmatch(evidence)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

const sharedBy = "log: commands in it are run by "

// SharedBy is how evidence tells of several agents in one sandbox, named with commas.
func SharedBy(agents backend.Safe) backend.Safe {
	return backend.Textf("%s%s", backend.Text(sharedBy), backend.Clean(andLast(agents.String()), 200))
}

// IsSharedBy reads what SharedBy made: "coder and planner".
func IsSharedBy(evidence string) (agents string, is bool) {
	return strings.CutPrefix(evidence, sharedBy)
}

func andLast(list string) string {
	if i := strings.LastIndex(list, ", "); i >= 0 {
		return list[:i] + " and " + list[i+len(", "):]
	}
	return list
}
