package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestAStartOnAnEmptyDiskIsWhatBecameOfTheFiles: the page names it as its alert does, and a use after it does not rule out that the
// container slept before; too short a pause does.
func TestAStartOnAnEmptyDiskIsWhatBecameOfTheFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lost  time.Duration
		slept Mark
	}{"a long pause": {20 * time.Minute, CannotTell}, "a short one": {8 * time.Minute, RuledOut}} {
		w := world{sessions: []*backend.Session{session("s1", true, func(s *backend.Session) { s.StartedAt = at(3 * time.Hour) })},
			workspaces: []*backend.Workspace{healthy("s1", "box", provider("cloudflare-sandbox"), func(w *backend.Workspace) {
				w.LostSuccess, w.LastAttemptAt, w.LastSuccessAt, w.SleepAfter = before(c.lost), at(30*time.Second), backend.Unknown[time.Time](), backend.Known(10*time.Minute)
			})},
			sandboxes: []*backend.Sandbox{box("b", "s1", func(b *backend.Sandbox) {
				b.Provider, b.CreatedAt, b.FreshAt = backend.Text("cloudflare"), backend.NotApplicable[time.Time](), before(time.Minute)
			})}}
		d := w.diagnose("2", wsKey("s1", "box"))
		want(t, d, map[string]Mark{"replaced": Confirmed, "asleep": c.slept})
		if d.Ending != EndReplaced || !strings.Contains(d.Conclusion.String(), "started again at") {
			t.Errorf("%s: ends in %q: %s", name, d.Ending, d.Conclusion)
		}
	}
}

// TestAHeldAlertWhoseSourceAnswers needs no source that is restored: it is to be looked at for a while.
func TestAHeldAlertWhoseSourceAnswers(t *testing.T) {
	t.Parallel()
	w := world{workspaces: []*backend.Workspace{healthy("s1", "box")}}
	a := alertOn("l", "failed-too-long", "1", alerts.StateHeld, "boom", w.workspaces[0])
	w.board = &alerts.Board{Alerts: []*alerts.Alert{a}}
	d := w.diagnose("1", wsKey("s1", "box"))
	if strings.Contains(d.Conclusion.String(), ": .") || !strings.Contains(d.Conclusion.String(), "One reading does not tell") || anyHas(d.Do, "Restore the source") || !anyHas(d.Do, "--observe") {
		t.Errorf("%s %v", d.Conclusion, d.Do)
	}
}

// TestAContainerWhoseRestartsNobodyCountsIsListed: the page does not say that no source lists it.
func TestAContainerWhoseRestartsNobodyCountsIsListed(t *testing.T) {
	t.Parallel()
	w := world{sandboxes: []*backend.Sandbox{box("b", "", func(b *backend.Sandbox) {
		b.Provider, b.RestartCount = backend.Text("cloudflare"), backend.NotApplicable[int]()
	})}}
	if said := factOf(t, w.diagnose("4", sbKey("b")), "restarts"); said != "its source counts no restarts" {
		t.Errorf("%s", said)
	}
}

// TestAStartUnderARegistryThatStays is told by the page as by its alert, and a use after it rules no sleep out. A box of another
// workspace tells nothing.
func TestAStartUnderARegistryThatStays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		success time.Duration // ago; the container started a minute ago
		other   bool
		slept   Mark
		ending  Ending
	}{"used since": {time.Second, false, CannotTell, EndReplaced}, "a long pause": {20 * time.Minute, false, CannotTell, EndReplaced},
		"a short one": {8 * time.Minute, false, RuledOut, EndReplaced}, "another box": {time.Second, true, RuledOut, EndCannotTell}} {
		w := world{sessions: []*backend.Session{session("s1", true, func(s *backend.Session) { s.StartedAt = at(3 * time.Hour) })},
			workspaces: []*backend.Workspace{healthy("s1", "box", provider("cloudflare-sandbox"), func(w *backend.Workspace) {
				w.LastAttemptAt, w.LastSuccessAt, w.SleepAfter = at(c.success), at(c.success), backend.Known(10*time.Minute)
			})},
			sandboxes: []*backend.Sandbox{box("b", "s1", func(b *backend.Sandbox) {
				b.Provider, b.CreatedAt, b.FreshAt = backend.Text("cloudflare"), backend.NotApplicable[time.Time](), before(time.Minute)
				if c.other {
					b.Workspace = backend.MustID("other")
				}
			})}}
		w.board = &alerts.Board{Alerts: []*alerts.Alert{alertOn("l", "files-vanished", "2", alerts.StateFiring, "its container started again, on an empty disk: its files are gone, but for those on a mount", w.workspaces[0])}}
		d := w.diagnose("2", wsKey("s1", "box"))
		want(t, d, map[string]Mark{"asleep": c.slept})
		if !c.other && (d.Ending != c.ending || !strings.Contains(d.Conclusion.String(), "started again at")) {
			t.Errorf("%s: ends in %q: %s", name, d.Ending, d.Conclusion)
		}
	}
}

// TestTheLastUseBeforeAStart is the one that the alert counts from, and what only a provider on a host has is no setting here.
func TestTheLastUseBeforeAStart(t *testing.T) {
	t.Parallel()
	w := world{sessions: []*backend.Session{session("s1", true, func(s *backend.Session) { s.StartedAt = at(3 * time.Hour) })},
		workspaces: []*backend.Workspace{healthy("s1", "box", provider("cloudflare-sandbox"), func(w *backend.Workspace) {
			w.LastAttemptAt, w.LastSuccessAt, w.SleepAfter = at(time.Second), at(time.Second), backend.Known(10*time.Minute)
		})},
		sandboxes: []*backend.Sandbox{box("b", "s1", func(b *backend.Sandbox) { b.FreshAt = before(time.Minute) })}}
	a := alertOn("l", "files-vanished", "2", alerts.StateFiring, "its container started again, on an empty disk: its files are gone, but for those on a mount", w.workspaces[0])
	w.board = &alerts.Board{Alerts: []*alerts.Alert{a}}
	if said := factOf(t, w.diagnose("2", wsKey("s1", "box")), "asleep"); !strings.Contains(said, "is not known") {
		t.Errorf("without a use: %s", said)
	}
	a.Subjects[0].Bounds = alerts.Bounds{Earliest: before(18 * time.Minute), Latest: before(time.Minute)}
	d := w.diagnose("2", wsKey("s1", "box"))
	want(t, d, map[string]Mark{"asleep": CannotTell})
	if said := factOf(t, d, "asleep"); !strings.Contains(said, "in use 17m before its container started again, and it sleeps after 10m") {
		t.Errorf("%s", said)
	}
	for _, k := range d.Knobs {
		if k.Knob.Name.String() == "tmpdirRoot" {
			t.Error("a setting of local-bash on a Cloudflare workspace")
		}
	}
}

// TestOneTimeToSleep is what the alert about a sandbox and its page tell: both count from when its session was last seen to run.
func TestOneTimeToSleep(t *testing.T) {
	t.Parallel()
	w := world{sessions: []*backend.Session{session("s1", false)}, sandboxes: []*backend.Sandbox{box("b", "s1")},
		workspaces: []*backend.Workspace{healthy("s1", "box", provider("cloudflare-sandbox"), func(w *backend.Workspace) {
			w.LastAttemptAt, w.LastSuccessAt, w.SleepAfter = at(17*time.Minute), at(17*time.Minute), backend.Known(15*time.Minute)
		})}}
	want(t, w.diagnose("4", sbKey("b")), map[string]Mark{"awaiting-sleep": RuledOut})
	a := alertOn("l", "wont-terminate", "4", alerts.StateFiring, "it waits to fall asleep")
	a.Subjects = []alerts.Subject{{Key: sbKey("b"), State: alerts.StateFiring, Bounds: alerts.Bounds{Earliest: before(2 * time.Minute), Latest: before(time.Minute)}}}
	w.board = &alerts.Board{Alerts: []*alerts.Alert{a}}
	d := w.diagnose("4", sbKey("b"))
	want(t, d, map[string]Mark{"awaiting-sleep": Confirmed})
	if said := factOf(t, d, "awaiting-sleep"); said != "its session ran until 2m ago, asleep in 13m" {
		t.Errorf("%s", said)
	}
	a.Subjects[0].Bounds = alerts.Bounds{Earliest: before(16 * time.Minute), Latest: before(15 * time.Minute)}
	d = w.diagnose("4", sbKey("b"))
	want(t, d, map[string]Mark{"awaiting-sleep": Confirmed})
	if said := factOf(t, d, "awaiting-sleep"); said != "its session ran until 16m ago, sleepAfter is 15m: it may sleep a little late" {
		t.Errorf("%s", said)
	}
	a.Cause = backend.Text("it did not fall asleep when it was due")
	want(t, w.diagnose("4", sbKey("b")), map[string]Mark{"awaiting-sleep": RuledOut})
}

// TestPollsThatFailedAreCountedOnce by the alert about a source and its page, with those of the runs before.
func TestPollsThatFailedAreCountedOnce(t *testing.T) {
	t.Parallel()
	h := &fleet.SourceHealth{Key: sourceKeyOf("cf"), Failures: 1, DownFrom: before(time.Minute)}
	a := &alerts.Alert{Rule: "source-down", State: alerts.StatePending, Subjects: []alerts.Subject{{Key: h.Key, State: alerts.StatePending}},
		Bounds: alerts.Bounds{Latest: before(3 * time.Minute)}, Evidence: []alerts.Evidence{{Value: backend.Known(2.0), Unit: "polls"}}}
	s := &subjectView{}
	s.Board = &alerts.Board{Alerts: []*alerts.Alert{a}}
	if n, from := s.failedPolls(h); n != 2 || !from.Equal(a.Bounds.Latest) {
		t.Errorf("%d polls since %s", n, from)
	}
	h.Failures = 3
	if n, from := s.failedPolls(h); n != 3 || !from.Equal(h.DownFrom) {
		t.Errorf("%d polls since %s", n, from)
	}
}

// TestNothingIsLeftAfterOurOwnDestroy: the page of files that went with a container which Sandglass ended says so and refuses no destroy for their sake; where
// they went otherwise, or a command removed them since, it does.
func TestNothingIsLeftAfterOurOwnDestroy(t *testing.T) {
	t.Parallel()
	const again = "its container started again, on an empty disk: its files are gone, but for those on a mount"
	for name, c := range map[string]struct {
		ours  bool
		cause backend.Literal
		left  bool
	}{
		"ours":                {true, "it was destroyed or stopped through Sandglass, and " + again, false},
		"its platform's":      {false, again, true},
		"removed in it since": {true, "the working directory of the sandbox is gone: no command begins in it", true},
	} {
		w := world{sessions: []*backend.Session{session("s1", true, func(s *backend.Session) { s.StartedAt = at(3 * time.Hour) })},
			workspaces: []*backend.Workspace{healthy("s1", "box", provider("cloudflare-sandbox"))},
			sandboxes: []*backend.Sandbox{box("b", "s1", func(b *backend.Sandbox) {
				b.Provider, b.CreatedAt, b.StartedAt = backend.Text("cloudflare"), backend.NotApplicable[time.Time](), at(time.Minute)
				if c.ours {
					*b = *b.WithObserved([]backend.Verdict{backend.DestroyedVerdict(before(2*time.Minute), backend.Text("destroyed by eve"))})
				} else {
					b.FreshAt = before(time.Minute)
				}
			})}}
		w.board = &alerts.Board{Alerts: []*alerts.Alert{alertOn("l", "files-vanished", "2", alerts.StateFiring, string(c.cause), w.workspaces[0])}}
		d := w.diagnose("2", wsKey("s1", "box"))
		if refused := !d.NoDestroy.IsEmpty() && !d.NoReset.IsEmpty(); refused != c.left {
			t.Errorf("%s: refused %v: %q, %q", name, refused, d.NoDestroy, d.NoReset)
		}
		if c.left != anyHas(d.Dont, "before you copied the rest") || c.ours && !c.left && (!anyHas(d.Dont, "Don't look for the rest in it: destroyed by eve through Sandglass") ||
			!strings.Contains(d.Conclusion.String(), "b was destroyed by eve through Sandglass at") || !anyHas(d.Do, "ended on purpose") || anyHas(d.Do, "Find out why")) {
			t.Errorf("%s: %s\n%v\n%v", name, d.Conclusion, d.Do, d.Dont)
		}
	}
}
