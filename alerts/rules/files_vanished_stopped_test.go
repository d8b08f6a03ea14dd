package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// stopBox lets the container of a0 stop some time ago, with an exit code.
func (s *story) stopBox(ago time.Duration, code int, edit func(*backend.Sandbox)) {
	at := s.wall.Add(-ago)
	s.freshBox(0, 0)
	b := s.sandboxes[boxKey("box0")]
	b.Class, b.Reported, b.ExitCode = backend.SandboxExited, backend.Text("stopped"), backend.Known(code)
	b.StartedAt, b.FinishedAt = backend.Known(noon.Add(-time.Hour)), backend.Known(at)
	if edit != nil {
		edit(b)
	}
}

// stillRuns has the session of a0 read again after some time, as running.
func (s *story) stillRuns(d time.Duration) *story {
	s.pass(d)
	s.session("a0", func(x *backend.Session) { x.Running = backend.Known(true) })
	return s.look()
}

// TestVanishedAtASleep: from the stop on its files are gone, and not from the next start. It is told once its session still runs after it,
// for as long as a loss stays listed, and the next start is told as what it is.
func TestVanishedAtASleep(t *testing.T) {
	s := beginUsed(t, 1, nil)
	s.pass(15 * time.Minute)
	s.stopBox(5*time.Second, 0, nil)
	if a := s.look().want("files-vanished", alerts.StatePending); a.Cause.String() != string(stoppedUnder) {
		t.Errorf("%v", a.Cause)
	}
	a := s.stillRuns(30*time.Second).want("files-vanished", alerts.StateFiring)
	if a.Cause.String() != string(stoppedUnder) || a.Runbook != "2" || a.Subjects[0].Key.Kind != backend.KindWorkspace || a.Subjects[0].Key.Parent.Raw() != "a0" {
		t.Errorf("%+v", a)
	}
	if d := a.Subjects[0].Detail.String(); d != "the container of helix-box0 stopped at 12:14:55Z, after it was used" {
		t.Errorf("%s", d)
	}
	wantEvidence(t, a, "the container of sandbox helix-box0 stopped at 12:14:55Z (exit code 0): asleep, or stopped")
	s.restart().look().want("files-vanished", alerts.StateFiring)
	s.freshBox(0, time.Second)
	b := s.sandboxes[boxKey("box0")]
	b.Class, b.Reported, b.ExitCode, b.FinishedAt = backend.SandboxRunning, backend.Text("running"), backend.NotApplicable[int](), backend.NotApplicable[time.Time]()
	if a = s.look().want("files-vanished", alerts.StateFiring); a.Cause.String() != string(startedAgain) {
		t.Errorf("at its next start: %v", a.Cause)
	}
}

// TestASleepIsListedForAWhile and told once.
func TestASleepIsListedForAWhile(t *testing.T) {
	s := beginUsed(t, 1, nil)
	s.pass(15 * time.Minute)
	s.stopBox(5*time.Second, 0, nil)
	s.look()
	s.stillRuns(time.Minute).want("files-vanished", alerts.StateFiring)
	s.after(2 * time.Hour).quiet("files-vanished")
	s.restart().look().quiet("files-vanished")
}

// TestASleepEndsWithItsSession: its files are needed by none any more.
func TestASleepEndsWithItsSession(t *testing.T) {
	s := beginUsed(t, 1, nil)
	s.pass(15 * time.Minute)
	s.stopBox(5*time.Second, 0, nil)
	s.look()
	s.stillRuns(time.Minute).want("files-vanished", alerts.StateFiring)
	s.session("a0", func(x *backend.Session) { x.Running = backend.Known(false) })
	s.look().quiet("files-vanished")
}

// TestAStopThatMayHaveKeptFiles is pending, and says why.
func TestAStopThatMayHaveKeptFiles(t *testing.T) {
	for why, edit := range map[string]func(*backend.Sandbox){
		"the operator routes say healthy": func(b *backend.Sandbox) {
			b.Labels = []backend.Field{{Name: backend.Text(backend.RoutesSayLabel), Value: backend.Text("healthy")}}
		},
		"/workspace was a link to /mnt/r2: what is there is kept if it is a mount": func(b *backend.Sandbox) {
			*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneList, Outcome: backend.OutcomeOK, At: noon, What: backend.Text(backend.RootIsLink + "/mnt/r2, which is there")}})
		},
	} {
		s := beginUsed(t, 1, nil)
		s.pass(15 * time.Minute)
		s.stopBox(time.Minute, 0, edit)
		if a := s.look().want("files-vanished", alerts.StatePending); a.Why.String() != why {
			t.Errorf("%q, want %q", a.Why, why)
		} else if said := "the operator routes of docker say of helix-box0 that it is healthy"; strings.HasPrefix(why, "the operator routes") != strings.Contains(told(a), said) {
			t.Errorf("%s%s", why, told(a))
		}
	}
}

// TestVanishedSaysNothingOfAStop that took no files of a running session, as far as is known, or that another rule tells.
func TestVanishedSaysNothingOfAStop(t *testing.T) {
	for name, c := range map[string]struct {
		edit  func(*backend.Workspace)
		code  int
		box   func(*backend.Sandbox)
		after func(*story)
	}{
		"never used":             {edit: func(w *backend.Workspace) { w.LastSuccessAt = backend.NotApplicable[time.Time]() }},
		"a filestore":            {edit: func(w *backend.Workspace) { w.Provider = backend.Text("cloudflare-filestore") }},
		"another provider":       {edit: func(w *backend.Workspace) { w.Provider = backend.Text("docker") }},
		"an engine of one's own": {box: func(b *backend.Sandbox) { b.Provider = backend.Text("docker") }},
		"it failed":              {code: 1},
		"killed":                 {code: 137},
		"not used in this run":   {box: func(b *backend.Sandbox) { b.StartedAt = backend.Known(noon.Add(5 * time.Minute)) }},
		"when is not told":       {box: func(b *backend.Sandbox) { b.FinishedAt = backend.Unknown[time.Time]() }},
		"a mount":                {box: func(b *backend.Sandbox) { b.Mounts = []backend.Mount{{Destination: backend.Text("/workspace")}} }},
		"ended through Sandglass": {box: func(b *backend.Sandbox) {
			*b = *b.WithObserved([]backend.Verdict{backend.DestroyedVerdict(b.FinishedAt.Or(noon), backend.Text("destroyed by eve"))})
		}},
		"used since": {after: func(s *story) {
			s.reads("a0/repo", reading{state: "open", attempt: time.Second, success: time.Second, provider: "cloudflare-sandbox", edit: func(w *backend.Workspace) { w.ProviderID = backend.MustID("box0") }})
		}},
		"another sandbox since": {after: func(s *story) {
			s.reads("a0/repo", reading{state: "open", attempt: time.Second, success: time.Second, provider: "cloudflare-sandbox", edit: func(w *backend.Workspace) { w.ProviderID = backend.MustID("box9") }})
		}},
		"its session is over":      {after: func(s *story) { s.session("a0", func(x *backend.Session) { x.Running = backend.Known(false) }) }},
		"its session is not known": {after: func(s *story) { s.session("a0", func(x *backend.Session) { x.Running = backend.Unknown[bool]() }) }},
	} {
		s := beginUsed(t, 1, c.edit)
		s.pass(15 * time.Minute)
		s.stopBox(2*time.Minute, c.code, c.box)
		if c.after != nil {
			c.after(s)
		}
		if all := s.look().alerts("files-vanished"); len(all) > 0 {
			t.Errorf("%s: %v", name, all[0].Cause)
		}
	}
}
