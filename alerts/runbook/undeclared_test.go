package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/alerts/rules"
	"sandglass/backend"
)

// TestARunningSessionWithoutARegistry may declare no workspace; one that rests is ordinary, and one whose registry was read is not.
func TestARunningSessionWithoutARegistry(t *testing.T) {
	for _, c := range []struct {
		listed, entry, offers bool
	}{{true, false, true}, {false, false, false}, {true, true, false}} {
		w := world{sessions: []*backend.Session{session("n0", c.listed, func(s *backend.Session) {
			s.ListedRunning, s.Answer = backend.Known(c.listed), backend.AnswerIdle
		})}}
		if c.entry {
			w.workspaces = []*backend.Workspace{healthy("n0", "box")}
		}
		d := w.diagnose("1", sessionKey("n0"))
		if offers := strings.Contains(d.Conclusion.String(), "may declare no workspace"); offers != c.offers || anyHas(d.Do, "Poll the session") && c.offers {
			t.Errorf("%+v: %s %v", c, d.Conclusion, d.Do)
		}
	}
}

// TestAProviderWithoutSandboxesHasNoneOfTheirSettings on pages 2 and 4, and does not sleep.
func TestAProviderWithoutSandboxesHasNoneOfTheirSettings(t *testing.T) {
	for p, has := range map[backend.Literal]bool{"in-memory": false, "local-bash": false, "docker": false, "cloudflare-filestore": false, "cloudflare-sandbox": true, "": true} {
		w := world{workspaces: []*backend.Workspace{healthy("s1", "box", provider(p))}}
		d := w.diagnose("2", wsKey("s1", "box"))
		for _, name := range []string{"sleepAfter", "backupR2Binding", "destroyOnClose"} {
			listed := false
			for _, k := range d.Knobs {
				listed = listed || k.Knob.Name.String() == name
			}
			if listed != has {
				t.Errorf("provider %q: %s is listed: %v", p, name, listed)
			}
		}
		if fact := factOf(t, w.diagnose("4", wsKey("s1", "box")), "awaiting-sleep"); strings.Contains(fact, "sleepAfter") != has {
			t.Errorf("provider %q: %s", p, fact)
		}
	}
}

// TestARegistryThatClosedIsToldInThePast: nothing of it is left to reset.
func TestARegistryThatClosedIsToldInThePast(t *testing.T) {
	x, ws := session("s1", true), failed("s1", "box", "ENOSPC: no space left on device, mkdtemp")
	d := world{sessions: []*backend.Session{x}, workspaces: []*backend.Workspace{ws}}.afterwards([]backend.Entity{x, ws}, world{}, ws.Key).Diagnose("1")
	if text := d.Conclusion.String(); !strings.HasPrefix(text, "When it was read last, ") || !strings.Contains(text, "A file system is full") || !strings.Contains(d.NoReset.String(), "registry is closed") || anyHas(d.Do, "hen reset") ||
		anyHas(d.Dont, "reset") || anyHas(d.Do, "does not work until") || !anyHas(d.Do, "A new session can fail for the same cause") {
		t.Errorf("%s; %s; %v %v", d.Conclusion, d.NoReset, d.Do, d.Dont)
	}
}

// TestARegistryOfASourceThatIsDownIsNotCalledClosed: nothing says so while nothing is read since the start.
func TestARegistryOfASourceThatIsDownIsNotCalledClosed(t *testing.T) {
	x, ws := session("s1", true), failed("s1", "box", "WorkspaceFailedError: boom")
	e := alerts.NewEngine(rules.Defaults(), "test")
	store, err := alerts.OpenStateStore(t.TempDir(), e)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	first := world{sessions: []*backend.Session{x}, workspaces: []*backend.Workspace{ws}}.state()
	first.Wall = before(time.Minute)
	b, _ := e.Next(nil, first)
	if saved, err := store.Save(b, alerts.ClockReading{Wall: first.Wall}); err != nil || !saved {
		t.Fatal(saved, err)
	}
	loaded, err := store.Load(alerts.ClockReading{Wall: now})
	if err != nil {
		t.Fatal(err)
	}
	st := world{down: []string{"helix-eu"}}.state()
	b, _ = e.Next(loaded.Board, st)
	d := Case{State: st, Board: b, Subject: ws.Key}.Diagnose("1")
	if text := d.NoReset.String(); text != "its state now is unknown: source helix-eu is down" {
		t.Errorf("no reset: %s", text)
	}
	if anyHas(d.Do, "closed") || anyHas(d.Do, "opens it again") || anyHas(d.Dont, "closed") {
		t.Errorf("%v %v", d.Do, d.Dont)
	}
}
