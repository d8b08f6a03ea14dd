package subjects

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/theme"
)

var styles = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// TestAStateTellsItsTimeouts: each of them with its origin, a changed one with the default that it replaces; and what a state
// without a sandbox or without a snapshot means.
func TestAStateTellsItsTimeouts(t *testing.T) {
	key := backend.Key{Kind: backend.KindRef, Source: "store", Parent: backend.MustID("s1"), ID: backend.MustID("workspace")}
	x := &backend.AgentState{Root: backend.Text("/workspace"), RootDefault: true, Snapshot: backend.Text("noop"), Unnamed: true, PauseOnExit: backend.Known(false),
		Memory: backend.NotApplicable[int](), Env: []backend.AgentVariable{{Name: backend.Text("REGION"), Origin: backend.Text("manifest")}},
		Timeouts: []backend.AgentTimeout{{Name: backend.Text("exec_timeout_s"), Seconds: 600, Default: 300, Saved: true},
			{Name: backend.Text("cleanup_s"), Seconds: 30, Default: 30, Saved: true}, {Name: backend.Text("fast_op_s"), Seconds: 30, Default: 30}}}
	st := fleet.NewFolder(time.Minute).Fold([]backend.Answer{{Source: "store", Config: &backend.SourceConfig{Kind: "refs", Interval: time.Minute}},
		{Source: "store", Reading: &backend.Reading{Source: "store", Refs: []*backend.Ref{{Meta: backend.Meta{Key: key, ReadAt: noon}, Session: key.Parent, Agent: x}},
			Scopes: []backend.Scope{{Kind: backend.KindRef, Complete: true}}}}}, backend.Instant{Wall: noon})
	f := &views.Frame{Snapshot: views.NewSnapshot(noon, st, nil), Theme: theme.New(theme.NoColours, theme.ASCII)}
	doc, _ := Doc(key, f)
	page := strings.Join(strings.Fields(styles.ReplaceAllString(strings.Join(doc.Layout(f.Theme, 300), "\n"), "")), " ")
	for _, want := range []string{"exec_timeout_s 600 s changed: the default is 300 s", "cleanup_s 30 s from the state, as the default", "fast_op_s 30 s the default",
		"/workspace the default", "noop it keeps nothing", "not saved the SDK takes it out", "pause on exit no", "REGION from manifest, value not shown", "inventory unknown the state does not name its sandbox"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	row, err := refJSON(st.Refs.Get(key), f.Snapshot)
	if err != nil || !strings.Contains(string(row), `"compared":{"result":"unknown"`) {
		t.Errorf("%s, %v", row, err)
	}
}
