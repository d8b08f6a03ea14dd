package alerts

import (
	"slices"
	"strings"
)

// agentWords are what causes say that rest on the lines of an agent's log about commands that could not begin, of one sandbox and of many.
var agentWords = []string{"no command begins in it", "no file call begins in it", "no command begins in them"}

// AgentSays reports whether a cause rests on what an agent's log says of commands in its sandbox.
func AgentSays(cause string) bool {
	return slices.ContainsFunc(agentWords, func(words string) bool { return strings.Contains(cause, words) })
}
