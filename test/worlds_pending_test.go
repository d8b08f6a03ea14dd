package test

import "strings"

// pendingList are the worlds that the console does not judge as it should yet, one a line, with the class of what is missing.
const pendingList = `
`

func pendingWorlds() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(strings.TrimSpace(pendingList)) {
		if name, class, is := strings.Cut(strings.TrimSpace(line), " | "); is {
			out[name] = class
		}
	}
	return out
}
