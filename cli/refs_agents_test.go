package cli

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestRefsCheckNamesWhatDiffers below each state of an agent SDK.
func TestRefsCheckNamesWhatDiffers(t *testing.T) {
	at := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	key := backend.Key{Kind: backend.KindRef, Source: "store", Parent: backend.MustID("s1"), ID: backend.MustID("coder")}
	r := &backend.Ref{Meta: backend.Meta{Key: key, ReadAt: at}, Session: key.Parent, Provider: backend.Text("blaxel"), Sandbox: backend.MustID("box"), Agent: &backend.AgentState{TTL: backend.Text("12h"), Image: backend.Text("one:1")}}
	b := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: r.Sandbox}, ReadAt: at}, Name: backend.Text("box"), Provider: backend.Text("blaxel"), IsSandbox: true, Image: backend.Text("two:2")}
	st := fleet.NewFolder(time.Minute).Fold([]backend.Answer{{Source: "store", Config: &backend.SourceConfig{Kind: "refs", Interval: time.Minute}}, {Source: "bl", Config: &backend.SourceConfig{Kind: "blaxel", Interval: time.Minute}},
		{Source: "store", Reading: &backend.Reading{Source: "store", Kind: "refs", At: at, Refs: []*backend.Ref{r}, Scopes: []backend.Scope{{Kind: backend.KindRef, Complete: true}}}},
		{Source: "bl", Reading: &backend.Reading{Source: "bl", Kind: "blaxel", At: at, Sandboxes: []*backend.Sandbox{b}, Scopes: []backend.Scope{{Kind: backend.KindSandbox, Complete: true}}}}}, backend.Instant{Wall: at})
	text := newRollbackDoc(st, 2, 4).text()
	want := "\n  taken over s1  box  (it is not as the state says: a sandbox of this name may have existed before, or it was changed since)\n" +
		"      image: one:1 in the state, two:2 in the inventory\n      ttl: 12h in the state, not in the inventory: its record names none, which may only leave it out\n"
	if !strings.Contains(text, want) {
		t.Errorf("%s\nlacks%s", text, want)
	}
}
