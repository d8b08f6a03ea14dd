package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// TestEachPageIsWholeOnEachPlatform: what is left of it where the lines of other platforms are left out. A page about a Blaxel sandbox
// names nothing of an engine.
func TestEachPageIsWholeOnEachPlatform(t *testing.T) {
	for _, p := range All() {
		if p.file == "" {
			continue
		}
		for _, at := range []platform{ownHosts, cloudflare, cloud, agentCloud} {
			x := embedded(p.file, at, "")
			for _, k := range x.Knobs {
				if (p.Number == "contradiction" || p.Number == "4") && at == agentCloud && !strings.Contains(k.Name.String(), "pause_on_exit") {
					t.Errorf("page %s on %s: setting %s", p.Number, at, k.Name)
				}
			}
		}
	}
}

// TestPage4OfAnAgentsSandbox: no registry closes it and no engine removes it. Its saved state and its log tell whether it leaked, also
// while it sleeps.
func TestPage4OfAnAgentsSandbox(t *testing.T) {
	for name, c := range map[string]struct {
		pause backend.Value[bool]
		done  bool
		marks map[string]Mark
		says  string
	}{
		"it leaked":          {backend.Known(false), true, map[string]Mark{"over": Confirmed, "up": Confirmed, "destroy-on-close": Confirmed, "kept": RuledOut}, "It leaked"},
		"it is kept":         {backend.Known(true), true, map[string]Mark{"over": Confirmed, "destroy-on-close": RuledOut, "kept": Confirmed}, "It is kept on purpose"},
		"nothing tells":      {backend.Known(false), false, map[string]Mark{"over": CannotTell}, "Cannot tell"},
		"no choice is saved": {backend.Unknown[bool](), true, map[string]Mark{"over": Confirmed, "destroy-on-close": CannotTell}, "Its session is over. Whether"},
	} {
		w := world{sandboxes: []*backend.Sandbox{box("b", "", func(b *backend.Sandbox) {
			b.Provider, b.Region, b.Class, b.Reported, b.Session = backend.Text("blaxel"), backend.Text("us-pdx-1"), backend.SandboxAsleep, backend.Text("DEPLOYED STANDBY"), backend.MustID("s9")
		})}}
		w.saved = []*backend.Ref{{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "refs", Parent: backend.MustID("s9"), ID: backend.MustID("coder")}, ReadAt: now}, Session: backend.MustID("s9"),
			Sandbox: w.sandboxes[0].Key.ID, Provider: backend.Text("blaxel"), SavedAt: backend.Known(before(time.Hour)), Agent: &backend.AgentState{PauseOnExit: c.pause}}}
		if c.done {
			w.reports = []backend.Report{{Source: "app-log", At: before(time.Minute), Kind: backend.ReportAgentDone, Session: backend.MustID("s9"), Text: backend.Text("session ended")}}
		}
		d := w.diagnose("4", sbKey("b"))
		want(t, d, c.marks)
		if !strings.HasPrefix(d.Conclusion.String(), c.says) {
			t.Errorf("%s: %s", name, d.Conclusion)
		}
		for _, x := range d.Checks {
			if text := x.WouldTell.String() + x.Fact.String(); strings.Contains(text, "destroyOnClose") || strings.Contains(text, "sleepAfter") || strings.Contains(text, "container") {
				t.Errorf("%s: of another platform: %s", name, text)
			}
		}
	}
}
