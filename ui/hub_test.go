package ui

import (
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// The sessions of a hub and what their sandboxes carry out, at every width.
func TestHubScreens(t *testing.T) {
	for name, n := range map[string]string{"sessions": "4", "executions": "0"} {
		sizedShots(t, name, hubFeed, widths(), n)
		t.Run(name+"-one", func(t *testing.T) { shot(t, hubFeed, look{w: 80, h: 24}, n, keyEnter) })
	}
	t.Run("executions-of-a-sandbox", func(t *testing.T) { shot(t, hubFeed, look{w: 80, h: 24}, "0", "/", "coder-session queued", keyEnter) })
	t.Run("sandbox", func(t *testing.T) { shot(t, hubFeed, look{w: 120, h: 40}, "3", "j", keyEnter, "G") })
}

// hubFeed is a cloud in which a session has no driver and the commands of its sandbox wait.
func hubFeed() Feed { return hubFeedAt(time.Now()) }

func hubFeedAt(now time.Time) Feed {
	const cloud = "agentuity"
	meta := func(kind backend.Kind, parent, id string) backend.Meta {
		m := backend.Meta{Key: backend.Key{Kind: kind, Source: cloud, ID: backend.MustID(id)}, ReadAt: now.Add(-3 * time.Second)}
		if parent != "" {
			m.Key.Parent = backend.MustID(parent)
		}
		return m
	}
	const nudge = "bash -lc pkill -USR1 -f '[r]pc-driver.ts' || { echo 'rpc-driver process not found' >&2; exit 1; }"
	work := func(box, session, word, command string) backend.Work {
		w := backend.Work{Within: backend.KindSandbox, Sandbox: backend.MustID(box), Session: backend.MustID(session), Reported: safe(word), Class: backend.WorkClassOf(word),
			Command: safe(command), StartedAt: backend.NotApplicable[time.Time](), EndedAt: backend.NotApplicable[time.Time](), ExitCode: backend.NotApplicable[int]()}
		return w
	}
	queued := func(id string, since time.Duration) *backend.Execution {
		x := &backend.Execution{Meta: meta(backend.KindExecution, "sbx_76fca18e", id), Type: safe("exec"), Work: work("sbx_76fca18e", "codesess_3541", "queued", nudge)}
		x.Nudge, x.KnownSince = true, now.Add(-since)
		return x
	}
	ended := func(id, word, command string, code int, began, over time.Duration) *backend.Execution {
		x := &backend.Execution{Meta: meta(backend.KindExecution, "sbx_0a91c3d2", id), Type: safe("exec"), Work: work("sbx_0a91c3d2", "codesess_77c0", word, command)}
		x.StartedAt, x.EndedAt, x.ExitCode = at(now, began), at(now, over), backend.Known(code)
		return x
	}
	driver := &backend.Job{Meta: meta(backend.KindJob, "sbx_76fca18e", "job_8a43892029d0"), Work: work("sbx_76fca18e", "codesess_3541", "running", "bun run rpc-driver.ts")}
	driver.Driver, driver.StartedAt = true, at(now, 10*time.Hour)
	box := func(id, name, session string) *backend.Sandbox {
		return &backend.Sandbox{Meta: meta(backend.KindSandbox, "", id), Name: safe(name), Provider: safe("agentuity"), IsSandbox: true, Reported: safe("idle"),
			Class: backend.SandboxRunning, Session: backend.MustID(session), CreatedAt: at(now, 10*time.Hour), Health: backend.NotApplicable[backend.Safe]()}
	}
	session := func(id, sandbox, label, status string, age time.Duration) *backend.Session {
		return &backend.Session{Meta: meta(backend.KindSession, "", id), Status: safe(status), Running: backend.Known(status == "active"),
			SessionFacts: backend.SessionFacts{StartedAt: at(now, age)},
			Hub:          &backend.HubSession{Label: safe(label), Mode: safe("sandbox"), Sandbox: backend.MustID(sandbox), Connected: backend.Known(status == "active")}}
	}
	lost := session("codesess_3541", "sbx_76fca18e", "Fix flaky build", "error", 10*time.Hour)
	lost.Hub.Driver, lost.Hub.DriverAt, lost.Hub.NoDriverSince = backend.Known(false), now.Add(-5*time.Second), now.Add(-4*time.Minute)
	lost.Hub.Error = safe("Sandbox driver did not connect within 120 s. Check sandbox background jobs for details.")
	led := session("codesess_77c0", "sbx_0a91c3d2", "Write docs", "active", 2*time.Hour)
	led.Hub.Driver, led.Hub.DriverAt = backend.Known(true), now.Add(-5*time.Second)
	led.Hub.Participants = []backend.Participant{{ID: safe("p-1"), Role: safe(backend.RoleLead), Transport: safe("websocket"), ConnectedAt: at(now, 12*time.Minute)}}
	st := &fleet.State{Number: 7, Wall: now, Sessions: fleet.NewTable(lost, led, session("codesess_9000", "sbx_gone", "Old task", "paused", 30*time.Hour)),
		Executions: fleet.NewTable(queued("exe_ca7620b48c65", 4*time.Minute), queued("exe_cac8f2370706", 3*time.Minute),
			ended("exe_1ee9527c2210", "completed", "bun test", 0, 3*time.Minute, 2*time.Minute), ended("exe_51453ca1ad6b", "failed", "npm run build", 1, 9*time.Minute, 8*time.Minute)),
		Jobs:    fleet.NewTable(driver),
		Sources: []*fleet.SourceHealth{source(now, cloud, "agentuity", fleet.StatusOK, backend.InputContainers, backend.InputSessions)}}
	coder := box("sbx_76fca18e", "coder-session", "codesess_3541")
	coder.JoinedBy = safe("a log line of hub-log at 2026-04-04 01:00:00Z, in /var/log/hub.log")
	coder.JoinedLine = safe("[INFO] [hub] session codesess_3541 bound to sandbox sbx_76fca18e")
	return newFeed(st.WithSandboxes(fleet.NewTable(coder, box("sbx_0a91c3d2", "docs-writer", "codesess_77c0"))), nil)
}
