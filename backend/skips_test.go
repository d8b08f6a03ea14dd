package backend

import (
	"strings"
	"testing"
)

// TestSkipsAreNamed: the first of them, with how many there are besides, and those of a save behind those of a manifest.
func TestSkipsAreNamed(t *testing.T) {
	of := func(paths string) LeftOut { return LeaveOut(strings.Fields(paths), "/w", Clean) }
	x, tar := of("/w/b /w/a /w/b /other /w"), of("/w/c /w/a /w/d")
	if x.Named().String() != "a, b" || tar.Named().String() != "a, c, d" {
		t.Errorf("%s; %s", x.Named(), tar.Named())
	}
	x.SkipsMore = 7
	x.With(&tar)
	if got := x.Named().String(); got != "a, b, c and 8 more" || Join(tar.Skips, " ").String() != "a c d" {
		t.Errorf("%s; %v", got, tar.Skips)
	}
	if none := of(""); !none.Named().IsEmpty() {
		t.Error(none.Named())
	}
	state := &AgentState{Snapshot: Text("local"), LeftOut: of("/w/a")}
	if got := state.LostWith().String(); got != "its files are lost, except in mounts and in its last snapshot, which is local, without a" {
		t.Error(got)
	}
}
