package logs

import (
	"regexp"
	"slices"
	"strconv"
)

const (
	maxAgentRunes    = 60
	maxSessionAgents = 8 // of one session that are told
)

// agentName is the field of a line that names the agent which wrote it, in JSON or as name=value; of an object its name.
var agentName = regexp.MustCompile(`(?:^|[{,\s])(?:"agent(?:_?[nN]ame|_?[iI]d)?"\s*:\s*(?:\{\s*"(?:name|id)"\s*:\s*)?"|agent(?:_?[nN]ame|_?[iI]d)?="?)([A-Za-z0-9][\w.@/-]{0,59})`)

// agentOf is the agent that a line names; empty: it names none.
func agentOf(line []byte) string {
	if m := agentName.FindSubmatch(line); m != nil {
		return string(m[1])
	}
	return ""
}

// ranBy notes an agent whose line of the session was read.
func (x *sandboxSession) ranBy(agent string) {
	if i, known := slices.BinarySearch(x.agents, agent); agent != "" && !known && len(x.agents) < maxSessionAgents {
		x.agents = slices.Insert(x.agents, i, agent)
	}
}

// exitOf is the exit code that a line gives; 0: it gives none that can be one.
func exitOf(found [][]byte) int {
	if len(found) < 2 {
		return 0
	}
	n, _ := strconv.Atoi(string(found[1]))
	return n
}
