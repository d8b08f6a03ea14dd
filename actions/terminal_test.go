package actions

import (
	"strings"
	"testing"
)

// What helps instead is something that the system has.
func TestNoTerminalSaysWhatHelpsOnTheSystem(t *testing.T) {
	if why := noTerminal("windows").String(); strings.Contains(why, "sandglass shell") || !strings.Contains(why, "docker exec -it") {
		t.Error(why)
	}
	if why := noTerminal("linux").String(); !strings.Contains(why, "sandglass shell NAME") {
		t.Error(why)
	}
}
