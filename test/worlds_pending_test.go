package test

import "strings"

// pendingList are the worlds that the console does not judge as it should yet, one a line, with the class of what is missing.
const pendingList = `
a container that its label gives to one session and a ref to another | Docker trouble
a container that was made after its ref was saved | Docker trouble
a log in which nothing is written for hours | a newest timestamp that stands still is never alone
a Date that stands still | sources that say too little
a cache that serves bodies of a minute ago | sources that say too little
a lone surrogate in one session's error | sources that say too little
a pagination that never ends | sources that say too little
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
