package rules

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

func TestBlindWhereNoRegistryIsConfigured(t *testing.T) {
	s := begin(t)
	s.health("helix", func(h *fleet.SourceHealth) { h.Inputs, h.LastOK = []backend.Input{backend.InputContainers}, s.wall }) // a Docker engine alone
	s.look()
	for _, b := range s.board.Blind {
		if b.Rule != "host-oom" && b.Rule != "host-restarted" && b.Rule != "tmpdir-pileup" && b.Rule != "tmpdir-root-unusable" {
			t.Errorf("%s needs an agent framework, of which nothing is configured: %s", b.Rule, b.Why)
		}
	}
	s.health("helix", func(h *fleet.SourceHealth) { h.Inputs = []backend.Input{backend.InputContainers, backend.InputRefs} }) // with a framework's references
	s.after(time.Second)
	why := map[string]string{}
	for _, b := range s.board.Blind {
		why[b.Rule+"@"+b.Source] = b.Why.String()
	}
	if got := why["ref-mismatch@"]; got != "no configured source reports workspace registries; only a stored reference of a running session to a sandbox that is gone or was made again, is seen" {
		t.Errorf("ref-mismatch sees references: %q", got)
	}
	if got := why[failedRule+"@"]; got != "no configured source reports workspace registries" {
		t.Errorf("blind %v", why)
	}
	if got := why["files-vanished@"]; got != "no configured source reports workspace registries; only a sandbox whose working directory is gone, by its health check, is seen" {
		t.Errorf("the half that needs no registry is not told: %q", got)
	}
	if got := why[auditRule+"@"]; got != "no configured source reports rejection log lines; Helix writes no log lines unless a Logger is configured" {
		t.Errorf("blind %v", why)
	}
	if got := why[stormRule+"@"]; got != "no configured source reports eviction metrics or eviction log lines or workspace registries" {
		t.Errorf("blind %v", why)
	}
	if len(s.board.BlindOn("helix")) != 0 {
		t.Errorf("rules about registries do not judge a Docker engine: %v", s.board.BlindOn("helix"))
	}
	s.health("helix", func(h *fleet.SourceHealth) { h.Status = fleet.StatusStarting })
	if s.after(time.Second); len(s.board.Blind) != 0 {
		t.Errorf("before anything was read nobody knows: %v", s.board.Blind)
	}
}

func TestBlindRegistryThatAnswersNothing(t *testing.T) {
	s := begin(t)
	s.health("helix", func(h *fleet.SourceHealth) {
		h.Inputs = nil
		h.Missing = []backend.MissingInput{{Input: backend.InputRegistry, Why: backend.Text("every session answers 404")}}
	})
	s.look()
	if got := strings.Join(s.board.BlindOn("helix"), " "); !strings.Contains(got, failedRule) || !strings.Contains(got, hammeredRule) {
		t.Errorf("blind on helix: %q", got)
	}
	for _, b := range s.board.Blind {
		if b.Rule == "files-vanished" && strings.Contains(b.Why.String(), "health check") {
			t.Errorf("without containers it sees nothing: %q", b.Why)
		}
	}
	if first := s.board.Blind[0].Why.String(); !strings.Contains(first, "every session answers 404") {
		t.Errorf("why %q", first)
	}
}

// TestBlindOnCloudSandboxesWithoutASessionList: rules about sessions on them say what is missing, and those about previews say that none
// was read yet. A log that says that a session works with its sandbox stands for the list.
func TestBlindOnCloudSandboxesWithoutASessionList(t *testing.T) {
	s := begin(t, terminateRule, expiringRule, publicRule, tokenRule)
	s.source("cloud", backend.InputContainers, backend.InputPlatform)
	s.health("cloud", func(h *fleet.SourceHealth) { h.Kind, h.About = "blaxel", []string{"cloud"} })
	s.cloudBox(cloudBox, func(b *backend.Sandbox) { b.Provider = backend.Text("blaxel") })
	why := func() map[string]string {
		out := map[string]string{}
		for _, b := range s.look().board.Blind {
			if b.Source == "cloud" {
				out[b.Rule] = b.Why.String()
			}
		}
		return out
	}
	s.source("agent-log", backend.InputEvictionLogs) // its lines tell of closes, and of no session that runs
	const noList, noPreview = "no session list speaks about cloud", "no preview of cloud was read yet"
	for rule, want := range map[string]string{terminateRule: noList, expiringRule: noList, publicRule: noPreview, tokenRule: noPreview} {
		if got := why()[rule]; !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q", rule, got)
		}
	}
	s.pass(time.Second)
	s.cloudBox(cloudBox, func(b *backend.Sandbox) { b.PreviewsAt = s.wall })
	if got := why(); got[publicRule] != "" || !strings.HasPrefix(got[tokenRule], noList) {
		t.Errorf("with previews: %v", got)
	}
	s.pass(time.Second)
	s.source("log")
	s.health("log", func(h *fleet.SourceHealth) {
		h.Reports = []backend.Report{{Kind: backend.ReportAgentRuns, Sandbox: backend.MustID(cloudBox), Session: backend.MustID(cloudSession), Source: "log", At: s.wall, Text: backend.Text("at work")}}
	})
	s.cloudBox(cloudBox, func(b *backend.Sandbox) { ends(30*time.Minute)(s, b) })
	s.look().want(expiringRule, alerts.StateFiring)
	s.source("sessions", backend.InputSessions)
	s.health("cloud", func(h *fleet.SourceHealth) { h.About = nil })
	s.pass(time.Second)
	if got := why(); len(got) > 0 && (got[expiringRule] != "" || got[tokenRule] != "") {
		t.Errorf("with a list: %v", got)
	}
}

// TestBlindOnASessionListBesideALog: rules about log lines are blind on a source of sessions of which no log speaks; what a log about the
// sandboxes of those sessions shows all the same is told.
func TestBlindOnASessionListBesideALog(t *testing.T) {
	s := begin(t)
	s.source("cloud", backend.InputContainers, backend.InputPlatform)
	s.source("app", backend.InputEvictionLogs)
	s.health("app", func(h *fleet.SourceHealth) { h.About = []string{"cloud"} })
	s.look()
	told := func() string {
		for _, b := range s.board.Blind {
			if b.Rule == "persist-failed" && b.Source == "helix" {
				return b.Why.String()
			}
		}
		return ""
	}
	if n := s.board.NotEvaluated(); slices.Contains(s.board.BlindOn("helix"), "persist-failed") {
		t.Errorf("what is evaluated in part is not evaluated, with %d rules", n)
	}
	if got := told(); got != "no log source speaks about helix; lines of app about cloud are evaluated where they name its sessions" {
		t.Errorf("%q", got)
	}
	s.health("app", func(h *fleet.SourceHealth) { h.About = []string{"elsewhere"} })
	s.health("cloud", func(h *fleet.SourceHealth) { h.About = []string{"elsewhere"} })
	if s.after(time.Second); !strings.Contains(told(), "Helix writes no log lines") || !slices.Contains(s.board.BlindOn("helix"), "persist-failed") {
		t.Errorf("%q", told())
	}
}
