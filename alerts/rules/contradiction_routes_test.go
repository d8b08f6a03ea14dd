package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestEvidenceTellsWhereRoutesAndAccountDiffer about whether one container runs, from the reading on that shows it, and not where they agree.
func TestEvidenceTellsWhereRoutesAndAccountDiffer(t *testing.T) {
	t.Parallel()
	say := func(b *backend.Sandbox, word backend.Literal) {
		if b.Labels = nil; word != "" {
			b.Labels = []backend.Field{{Name: backend.Text(backend.RoutesSayLabel), Value: backend.Text(word)}}
		}
	}
	for name, c := range map[string]struct {
		rule, want string
		play       func(s *story, word backend.Literal)
		word       backend.Literal
	}{
		"commands of its agent": {contradictionRule, "the operator routes of workers say of demo that it is stopped, and the account says running: whether it runs is not known", func(s *story, word backend.Literal) {
			s.workersBox(func(b *backend.Sandbox) { say(b, word) })
			s.agentSays(notStarted("sandbox-demo", "ls"))
		}, "stopped"},
		"its end": {exitedRule, "the operator routes of docker say of helix-c1 that it is healthy, and the account says exited: whether it runs is not known", func(s *story, word backend.Literal) {
			s.box("c1", "a", func(b *backend.Sandbox) {
				crashed(s, 1, 0)(b)
				b.Provider = backend.Text("cloudflare")
				say(b, word)
			})
			s.every(5*time.Second, 20*time.Second, func() { s.session("a", func(x *backend.Session) { x.Running = backend.Known(true) }) })
		}, "healthy"},
		"it runs on": {terminateRule, "the operator routes of docker say of helix-c1 that it is stopped, and the account says running: whether it runs is not known", func(s *story, word backend.Literal) {
			s.session("a", func(x *backend.Session) {
				x.Running, x.ListedRunning, x.Status = backend.Known(false), backend.Known(false), backend.Text("ended")
			})
			s.reads("a/box", reading{state: "open", attempt: time.Hour, success: time.Hour, provider: "cloudflare-sandbox", edit: func(w *backend.Workspace) { w.DestroyOnClose = backend.Known(true) }})
			s.box("c1", "a", func(b *backend.Sandbox) {
				b.Provider, b.Workspace = backend.Text("cloudflare"), backend.MustID("box")
				say(b, word)
			})
		}, "stopped"},
	} {
		var s *story
		switch c.rule {
		case contradictionRule:
			s = beginWorkers(t)
		case exitedRule:
			s = beginRunningFor(t, exitedRule)
		default:
			s = beginBoxes(t, terminateRule)
		}
		for _, word := range []backend.Literal{"", c.word} {
			c.play(s, word)
			s.look()
			all := s.alerts(c.rule)
			if len(all) != 1 || all[0].State == alerts.StateEnded || strings.Contains(told(all[0]), c.want) != (word != "") {
				t.Errorf("%s, %q: %d alerts\n%s%s", name, word, len(all), summary(s.board), toldBy(all))
			}
			s.pass(10 * time.Second)
		}
	}
}
