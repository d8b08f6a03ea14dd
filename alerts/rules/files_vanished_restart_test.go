package rules

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// beginUsed begins with a workspace of a running session that was used in a container of Cloudflare, n times.
func beginUsed(t testing.TB, n int, edit func(*backend.Workspace)) *story {
	s := begin(t, "files-vanished")
	s.source("docker", backend.InputContainers)
	for i := range n {
		id := fmt.Sprintf("a%d", i)
		s.session(id, func(x *backend.Session) { x.Running = backend.Known(true) })
		s.freshBox(i, 0)
		s.reads(id+"/repo", reading{state: "open", attempt: 20 * time.Minute, success: 20 * time.Minute, provider: "cloudflare-sandbox", edit: func(w *backend.Workspace) {
			w.ProviderID = backend.MustID(fmt.Sprintf("box%d", i))
			if edit != nil {
				edit(w)
			}
		}})
	}
	return s.look().quiet("files-vanished")
}

// freshBox is the container of a session, which was seen to start again some time ago; 0: it was not.
func (s *story) freshBox(i int, ago time.Duration) {
	s.box(fmt.Sprintf("box%d", i), fmt.Sprintf("a%d", i), func(b *backend.Sandbox) {
		b.Provider, b.Workspace = backend.Text("cloudflare"), backend.MustID("repo")
		if ago > 0 {
			b.FreshAt = s.wall.Add(-ago)
		}
	})
}

// TestVanishedUnderARegistryThatStays: the workspace itself does not change when its container starts again. The alert ends with its
// session, and the same start is not told twice.
func TestVanishedUnderARegistryThatStays(t *testing.T) {
	s := beginUsed(t, 1, nil)
	s.pass(time.Minute)
	s.freshBox(0, 5*time.Second)
	a := s.look().want("files-vanished", alerts.StateFiring)
	if a.Source != "helix" || a.Cause.String() != string(startedAgain) || a.Runbook != "2" || a.Subjects[0].Key.Kind != backend.KindWorkspace {
		t.Errorf("%+v", a)
	}
	wantEvidence(t, a, "started again at 12:00:55Z: after sleep, a stop or a restart its disk is empty")
	s.reads("a0/repo", reading{state: "open", attempt: time.Second, success: time.Second, provider: "cloudflare-sandbox", edit: func(w *backend.Workspace) { w.ProviderID = backend.MustID("box0") }})
	s.after(10*time.Second).want("files-vanished", alerts.StateFiring)
	s.restart().look().want("files-vanished", alerts.StateFiring)
	s.after(2 * time.Hour).quiet("files-vanished")
	s.freshBox(0, 0)
	s.sandboxes[boxKey("box0")].FreshAt = noon.Add(55 * time.Second)
	s.look().quiet("files-vanished")
	s.freshBox(0, time.Second)
	s.look().want("files-vanished", alerts.StateFiring)
	s.session("a0", func(x *backend.Session) { x.Running = backend.Known(false) })
	s.look().quiet("files-vanished")
}

// TestVanishedUnderAWorkspaceThatWasUsedSince: its last success is after the start, and what was read before it tells that files were lost.
func TestVanishedUnderAWorkspaceThatWasUsedSince(t *testing.T) {
	s := beginUsed(t, 1, nil)
	s.restart()
	s.freshBox(0, 5*time.Second)
	s.reads("a0/repo", reading{state: "open", attempt: time.Second, success: time.Second, provider: "cloudflare-sandbox", edit: func(w *backend.Workspace) { w.ProviderID = backend.MustID("box0") }})
	s.look().want("files-vanished", alerts.StateFiring)
}

// TestVanishedSoonAfterTheFirstUse: a use that was read while the container of before ran was before the start, however soon after it that
// came and whatever succeeded since; of one that was read later two clocks do not tell.
func TestVanishedSoonAfterTheFirstUse(t *testing.T) {
	for name, c := range map[string]struct {
		ran   time.Duration // before the start; how long ago the container of before was last seen to run
		fires bool
	}{"it ran after the use was read": {8 * time.Second, true}, "it was last seen before": {25 * time.Second, false}} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, "files-vanished")
			s.source("docker", backend.InputContainers)
			s.session("a0", func(x *backend.Session) { x.Running = backend.Known(true) })
			s.freshBox(0, 0)
			use := func() {
				s.reads("a0/repo", reading{state: "open", attempt: time.Second, success: time.Second, provider: "cloudflare-sandbox", edit: func(w *backend.Workspace) { w.ProviderID = backend.MustID("box0") }})
			}
			use()
			s.look().quiet("files-vanished")
			s.pass(20 * time.Second)
			use()
			s.look().quiet("files-vanished")
			s.freshBox(0, 5*time.Second)
			s.sandboxes[boxKey("box0")].FreshAfter = s.wall.Add(-c.ran)
			if s.look(); c.fires {
				s.want("files-vanished", alerts.StateFiring)
			} else {
				s.quiet("files-vanished")
			}
		})
	}
}

// TestVanishedUnderAContainerThatIsKeptAlive: that keeps it from sleep, and not from a crash.
func TestVanishedUnderAContainerThatIsKeptAlive(t *testing.T) {
	s := beginUsed(t, 1, func(w *backend.Workspace) {
		w.Extra = []backend.Field{{Name: backend.Text("keepAlive"), Value: backend.Text("true")}}
	})
	s.pass(time.Minute)
	s.freshBox(0, 5*time.Second)
	a := s.look().want("files-vanished", alerts.StateFiring)
	wantEvidence(t, a, "started again at 12:00:55Z: it is kept alive, so it did not sleep: it crashed, was stopped or was replaced, and its disk is empty")
}

// TestVanishedSinceTheContainerOfBeforeRan: its files were there as long as that.
func TestVanishedSinceTheContainerOfBeforeRan(t *testing.T) {
	s := beginUsed(t, 1, nil)
	s.pass(time.Minute)
	s.freshBox(0, 5*time.Second)
	s.sandboxes[boxKey("box0")].FreshAfter = s.wall.Add(-20 * time.Second)
	if a := s.look().want("files-vanished", alerts.StateFiring); !a.Bounds.Earliest.Equal(noon.Add(40*time.Second)) || !a.Bounds.Latest.Equal(noon.Add(55*time.Second)) {
		t.Errorf("between %v and %v", a.Bounds.Earliest, a.Bounds.Latest)
	}
}

// TestManyContainersThatStartAgainAreOneAlert of the source whose workspaces they empty.
func TestManyContainersThatStartAgainAreOneAlert(t *testing.T) {
	s := beginUsed(t, 30, nil)
	s.pass(time.Minute)
	for i := range 30 {
		s.freshBox(i, time.Second)
	}
	s.look()
	if all := s.alerts("files-vanished"); len(all) != 1 || all[0].SubjectCount != 30 {
		t.Errorf("%d alerts", len(all))
	}
}

// TestVanishedSaysNothingOfAStart that took no files of a running session, as far as is known.
func TestVanishedSaysNothingOfAStart(t *testing.T) {
	running := func(x *backend.Session) { x.Running = backend.Known(true) }
	for name, c := range map[string]struct {
		edit  func(*backend.Workspace)
		after func(*story)
	}{
		"never used":               {edit: func(w *backend.Workspace) { w.LastSuccessAt = backend.NotApplicable[time.Time]() }},
		"another provider":         {edit: func(w *backend.Workspace) { w.Provider = backend.Text("docker") }},
		"first used by this start": {edit: func(w *backend.Workspace) { w.LastSuccessAt = backend.Known(noon.Add(54 * time.Second)) }},
		"its session is over":      {after: func(s *story) { s.session("a0", func(x *backend.Session) { x.Running = backend.Known(false) }) }},
		"its session is not known": {after: func(s *story) {
			s.session("a0", func(x *backend.Session) { running(x); x.Running = backend.Unknown[bool]() })
		}},
		"a mount": {after: func(s *story) {
			s.sandboxes[boxKey("box0")].Mounts = []backend.Mount{{Destination: backend.Text("/workspace")}}
		}},
		"another sandbox since": {after: func(s *story) {
			s.reads("a0/repo", reading{state: "open", attempt: time.Second, success: time.Second, provider: "cloudflare-sandbox", edit: func(w *backend.Workspace) { w.ProviderID = backend.MustID("box9") }})
		}},
	} {
		s := beginUsed(t, 1, c.edit)
		s.pass(time.Minute)
		s.freshBox(0, 5*time.Second)
		if c.after != nil {
			c.after(s)
		}
		if all := s.look().alerts("files-vanished"); len(all) > 0 {
			t.Errorf("%s: %v", name, all[0].Cause)
		}
	}
}

// TestARegistryThatIsReCreatedUnderAFreshContainer stays one alert with one cause.
func TestARegistryThatIsReCreatedUnderAFreshContainer(t *testing.T) {
	s := beginUsed(t, 1, nil)
	s.pass(time.Minute)
	s.freshBox(0, 5*time.Second)
	was := s.look().want("files-vanished", alerts.StateFiring)
	s.reads("a0/repo", reading{state: "open", attempt: time.Second, provider: "cloudflare-sandbox", edit: func(w *backend.Workspace) {
		w.ProviderID, w.LostSuccess = backend.MustID("box0"), noon.Add(-20*time.Minute)
	}})
	is := s.look().want("files-vanished", alerts.StateFiring)
	if was.ID != is.ID || !strings.Contains(is.Cause.String(), "started again") {
		t.Errorf("%v, then %v", was.Cause, is.Cause)
	}
}

// TestVanishedByADestroyOfOurs: it is no failure, and told: who did it, when, and that the next container began empty. A later start by the
// platform is a loss of its own.
func TestVanishedByADestroyOfOurs(t *testing.T) {
	s := beginUsed(t, 1, nil)
	s.pass(2 * time.Minute)
	destroyed := s.wall
	box := func(started time.Time, edit func(*backend.Sandbox)) {
		s.freshBox(0, 0)
		b := s.sandboxes[boxKey("box0")]
		b.StartedAt = backend.Known(started)
		if edit != nil {
			edit(b)
		}
		*b = *b.WithObserved([]backend.Verdict{backend.DestroyedVerdict(destroyed, backend.Text("destroyed by eve"))})
	}
	box(noon.Add(-time.Hour), func(b *backend.Sandbox) {
		b.Class, b.ExitCode, b.FinishedAt = backend.SandboxExited, backend.Known(137), backend.Known(s.wall)
	})
	s.look().quiet("files-vanished")
	s.pass(10 * time.Second)
	box(s.wall, nil)
	a := s.look().want("files-vanished", alerts.StateFiring)
	if a.Severity != alerts.SeverityInfo || a.Cause.String() != string(endedHere) || !a.Bounds.Earliest.Equal(destroyed) || !a.Bounds.Latest.Equal(s.wall) {
		t.Errorf("%v %v between %v and %v", a.Severity, a.Cause, a.Bounds.Earliest, a.Bounds.Latest)
	}
	if d := a.Subjects[0].Detail.String(); d != "helix-box0 was destroyed by eve at 12:02:00Z; its next container started at 12:02:10Z" {
		t.Errorf("detail %q", d)
	}
	wantEvidence(t, a, "sandbox helix-box0 was destroyed by eve through Sandglass at 2026-03-14T12:02:00Z; its files are gone")
	s.reads("a0/repo", reading{state: "open", attempt: time.Second, success: time.Second, provider: "cloudflare-sandbox", edit: func(w *backend.Workspace) {
		w.ProviderID, w.LostSuccess = backend.MustID("box0"), destroyed.Add(-time.Minute)
	}})
	if a := s.look().want("files-vanished", alerts.StateFiring); a.Severity != alerts.SeverityInfo || a.Cause.String() != string(endedHere) {
		t.Errorf("its registry forgot it too: %v %v", a.Severity, a.Cause)
	}
	ran := s.wall.Add(time.Hour)
	s.pass(2 * time.Hour)
	box(s.wall, func(b *backend.Sandbox) { b.FreshAt, b.FreshAfter = s.wall, ran })
	if a = s.look().want("files-vanished", alerts.StateFiring); a.Severity != alerts.SeverityWarning || a.Cause.String() != string(startedAgain) {
		t.Errorf("started by its platform: %v %v", a.Severity, a.Cause)
	}
}
