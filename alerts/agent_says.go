package alerts

import (
	"slices"
	"strings"
)

// agentWords are what causes say that rest on the lines of an agent's log about commands that could not begin, of one sandbox and of many.
var agentWords = []string{"no command begins in it", "no file call begins in it", "no command begins in them"}

// FailsByAgent is in causes that rest on an agent's log which says that commands in its sandbox fail, and on nothing that was observed.
const FailsByAgent = "commands of its agent fail"

// AgentFails reports whether a cause is such a one.
func AgentFails(cause string) bool { return strings.Contains(cause, FailsByAgent) }

// FailsSaid is what the detail of such an alert's subject says beyond its cause: how often, when last and how.
func FailsSaid(detail string) string {
	_, said, _ := strings.Cut(detail, "log says: ")
	return said
}

// AgentSays reports whether a cause rests on what an agent's log says of commands in its sandbox.
func AgentSays(cause string) bool {
	return slices.ContainsFunc(agentWords, func(words string) bool { return strings.Contains(cause, words) })
}
