package alerts

import (
	"testing"

	"sandglass/backend"
)

// TestTheWordsOfAChangeAreReadAsTheyWereMade: by whom, with which exit code, and which command, whatever stands in it.
func TestTheWordsOfAChangeAreReadAsTheyWereMade(t *testing.T) {
	for _, x := range []struct {
		agent, command, who string
		exit                int
	}{{"", "rm -rf /workspace", "agent", 0}, {"coder", "rm -rf /workspace && echo 'the agent ran: x'", "agent coder", 128}, {"a/b-1", "mv /workspace\n/w2", "agent a/b-1", -1}} {
		command := backend.Clean(x.command, 160)
		who, ran, is := IsRootChange(RootChange("12:00:00Z", backend.Clean(x.agent, 60), command, x.exit).String())
		if !is || who != x.who || ran != command.String() {
			t.Errorf("%+v: %q ran %q", x, who, ran)
		}
	}
	if _, _, is := IsRootChange("log: the newest command that ran in it before was at 12:00:00Z"); is {
		t.Error("another line is one")
	}
	if agents, is := IsSharedBy(SharedBy(backend.Text("a, b, c")).String()); !is || agents != "a, b and c" {
		t.Errorf("%q", agents)
	}
}
