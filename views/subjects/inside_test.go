package subjects

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views/kit"
)

// probed is what the page of a sandbox says that a probe read.
func probed(t *testing.T, x *backend.Inside, sessions ...*backend.Session) string {
	t.Helper()
	f := frameWith()
	f.State.Sessions = fleet.NewTable(sessions...)
	f.State.Sources[0].Inputs = []backend.Input{backend.InputRegistry}
	x.At, x.Root = f.Now.Add(-time.Minute), backend.Text("/workspace")
	w := &writer{Doc: &kit.Doc{}, f: f}
	w.insideOf(&backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: backend.MustID("agents-1")}}, Name: backend.Text("agents-1"), Provider: backend.Text("blaxel"), Session: backend.MustID("s1")}, x, false)
	return strings.Join(strings.Fields(styles.ReplaceAllString(strings.Join(w.Doc.Layout(f.Theme, 300), "\n"), "")), " ")
}

// TestAProbeClaimsNoWakingWhereNothingAnswered: only an answer from inside says that the sandbox was awake.
func TestAProbeClaimsNoWakingWhereNothingAnswered(t *testing.T) {
	none := []backend.Safe{backend.Text(backend.PartProcesses), backend.Text(backend.PartArchives), backend.Text(backend.PartMounts)}
	for want, x := range map[string]*backend.Inside{
		"read 1m ago the sandbox was awake then": {Answered: true},
		"read 1m ago nothing inside answered":    {Unread: none},
	} {
		if page := probed(t, x); !strings.Contains(page, want) || strings.Contains(page, "awake") != x.Answered {
			t.Errorf("no %q: %s", want, page)
		}
	}
}

// TestAPartThatWasNotReadSaysWhy on the page, with the name of the part uncut.
func TestAPartThatWasNotReadSaysWhy(t *testing.T) {
	page := probed(t, &backend.Inside{Answered: true, Unread: []backend.Safe{backend.Text("processes"), backend.Text("mounts")}, UnreadWhy: []backend.Safe{backend.Text("the answer is cut off")}})
	if !strings.Contains(page, "not read processes the answer is cut off mounts") {
		t.Error(page)
	}
}

// TestAClockThatIsOffIsTold beside the times that are corrected by it.
func TestAClockThatIsOffIsTold(t *testing.T) {
	if page := probed(t, &backend.Inside{Answered: true, ClockOff: -680 * time.Second}); !strings.Contains(page, "its clock 11m20s behind ours") {
		t.Error(page)
	}
	if page := probed(t, &backend.Inside{Answered: true}); strings.Contains(page, "its clock") {
		t.Error(page)
	}
}

// TestAKilledProcessIsNotCalledRunning where no end of it is told; one that was asked to end and has none runs on.
func TestAKilledProcessIsNotCalledRunning(t *testing.T) {
	page := probed(t, &backend.Inside{Answered: true, Processes: []backend.SandboxProcess{{PID: backend.Text("40"), Reported: backend.Text("killed"), Class: backend.WorkUnknown},
		{PID: backend.Text("41"), Reported: backend.Text("stopped"), Class: backend.WorkRunning}}})
	if !strings.Contains(page, "killed, whether it ended is not told yet") || !strings.Contains(page, "stopped, but it runs on") || strings.Contains(page, "killed, but it runs on") {
		t.Error(page)
	}
}

// TestAnArchiveIsCutOffOnceItsTimeIsOver: what may still be in use is not said to be cut off, and neither is said to be under way.
func TestAnArchiveIsCutOffOnceItsTimeIsOver(t *testing.T) {
	at := frameWith().Now
	for want, x := range map[string]backend.SandboxArchive{
		"B, of a save that was cut off, session 4cf3., last written 10:59:00Z": {ChangedAt: at.Add(-61 * time.Minute)},
		"B, of a restore that was cut off, session 4cf3., last written":        {ChangedAt: at.Add(-61 * time.Minute), Restore: true},
		"B, of a save, session 4cf3., last written":                            {ChangedAt: at.Add(-3 * time.Minute)},
		"B, of a restore, session 4cf3., when it was written is not told":      {Restore: true},
	} {
		x.Path, x.Session = backend.Text("/tmp/bl-persist-4cf3.tar"), backend.Text("4cf3")
		if page := probed(t, &backend.Inside{Answered: true, Archives: []backend.SandboxArchive{x}}); !strings.Contains(page, want) || strings.Contains(page, "being") {
			t.Errorf("no %q: %s", want, page)
		}
	}
}

// TestNothingIsProbedInAnArchive: where no probe is made, the page of a sandbox does not send to one.
func TestNothingIsProbedInAnArchive(t *testing.T) {
	for status, want := range map[string]string{
		"ARCHIVED":         "neither memory nor processes. There is nothing to probe",
		"UNARCHIVING":      "no probe reads them now: it is reported UNARCHIVING: its server does not answer then",
		"DEPLOYED RUNNING": "not evaluated: a probe reads them",
	} {
		f := frameWith()
		w := &writer{Doc: &kit.Doc{}, f: f}
		w.inside(&backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: backend.MustID("agents-1")}}, Provider: backend.Text("blaxel"),
			Class: backend.SandboxRunning, Reported: backend.Clean(status, 40)})
		page := strings.Join(strings.Fields(styles.ReplaceAllString(strings.Join(w.Doc.Layout(f.Theme, 300), "\n"), "")), " ")
		if !strings.Contains(page, want) || status != "DEPLOYED RUNNING" && strings.Contains(page, "a probe reads them") {
			t.Errorf("%s: %s", status, page)
		}
	}
}

// TestAProcessOfAnEndedSessionSaysSo: each that still runs, and none while the session goes on.
func TestAProcessOfAnEndedSessionSaysSo(t *testing.T) {
	for status, want := range map[backend.Literal]int{"completed": 2, "running": 0} {
		s := &backend.Session{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSession, Source: "helix", ID: backend.MustID("s1")}}, Status: backend.Text(status), Running: backend.Known(status == "running")}
		page := probed(t, &backend.Inside{Answered: true, Processes: []backend.SandboxProcess{{PID: backend.Text("50"), Name: backend.Text("dev-server"), Class: backend.WorkRunning},
			{PID: backend.Text("51"), Name: backend.Text("pty-0a1b2c3d4e5f"), Class: backend.WorkRunning}, {PID: backend.Text("52"), Class: backend.WorkSucceeded}}}, s)
		if got := strings.Count(page, "its session is over: it runs on"); got != want {
			t.Errorf("%s: %d times: %s", status, got, page)
		}
	}
}
