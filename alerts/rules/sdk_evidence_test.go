package rules

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestMissingFilesOfAnAgentAreEvidenceOfALoss: they are told where files vanished, and are no loss themselves.
func TestMissingFilesOfAnAgentAreEvidenceOfALoss(t *testing.T) {
	s := begin(t, vanishedRule)
	s.source("app", backend.InputEvictionLogs)
	s.session("a", nil)
	s.reads("a/box", reading{state: "open", attempt: time.Second, provider: "in-memory"})
	s.lines(backend.MetricSDKMissing, "a", 2, "WorkspaceReadNotFoundError, path /workspace/a.txt")
	s.lines(backend.MetricSDKMissing, "b", 1, "WorkspaceReadNotFoundError, path /workspace/other.txt")
	s.look().quiet(vanishedRule)
	s.pass(5 * time.Second)
	s.reads("a/box", reading{state: "open", attempt: time.Second, provider: "in-memory", edit: func(w *backend.Workspace) { w.LostSuccess = s.wall.Add(-time.Hour) }})
	a := s.look().want(vanishedRule, alerts.StateFiring)
	wantEvidence(t, a, "log: its agent's SDK found no file in 2 reads, the newest: WorkspaceReadNotFoundError, path /workspace/a.txt")
	for _, e := range a.Evidence {
		if strings.Contains(e.Text.String(), "other.txt") {
			t.Errorf("of another session: %s", e.Text)
		}
	}
}

// TestAFailedDeletionIsEvidenceOfALeak: that an agent's SDK could not delete the sandbox is told, and tells of no leak by itself.
func TestAFailedDeletionIsEvidenceOfALeak(t *testing.T) {
	s := beginLeft(t, false, nil)
	s.source("app", backend.InputEvictionLogs)
	s.health("app", func(h *fleet.SourceHealth) { h.About = []string{"cloud"} })
	s.lines(backend.MetricSDKDelete, cloudSession, 1, "Sandbox delete failed during shutdown")
	a := s.every(10*time.Second, 4*time.Minute, nil).want(terminateRule, alerts.StateFiring)
	wantEvidence(t, a, "log: a deletion of its agent failed in 1 line, the newest: Sandbox delete failed during shutdown; its SDK only logs that, and does not try again")

	s = beginLeft(t, true, sleeps)
	s.source("app", backend.InputEvictionLogs)
	s.lines(backend.MetricSDKDelete, cloudSession, 1, "Sandbox delete failed during shutdown")
	s.every(20*time.Second, 10*time.Minute, nil).quiet(terminateRule)
}

// TestALeakThatALogTells: where no list names the session, the log of its agent does, unless the session went on.
func TestALeakThatALogTells(t *testing.T) {
	for _, goesOn := range []bool{false, true} {
		s := beginCloud(t, terminateRule)
		s.source("app", backend.InputEvictionLogs)
		s.health("app", func(h *fleet.SourceHealth) { h.About = []string{"cloud"} })
		s.stateOn(cloudBox, s.wall, func(x *backend.AgentState) { x.PauseOnExit = backend.Known(false) })
		s.refs[0].Session = backend.MustID("lonely")
		s.cloudBox(cloudBox, func(b *backend.Sandbox) { b.Session = backend.MustID("lonely") })
		failed := s.wall
		s.lines(backend.MetricSDKDelete, "lonely", 1, "Sandbox delete failed during shutdown")
		s.look()
		a := s.every(10*time.Second, 5*time.Minute, func() {
			if goesOn {
				s.lines(backend.MetricNamed, "lonely", 1, "")
			}
		}).alerts(terminateRule)
		told := len(a) == 1 && a[0].State == alerts.StateFiring && strings.Contains(a[0].Cause.String(), "could not delete it at the end of its session") && a[0].Bounds.Latest.Equal(failed)
		if told == goesOn {
			t.Errorf("it goes on: %t:\n%s", goesOn, summary(s.board))
		}
		used := "was last used at " + failed.Add(2*time.Minute).UTC().Format("15:04:05Z") + ", after its session's end"
		for _, e := range a[:min(len(a), 1)] {
			if text := fmt.Sprint(e.Evidence); strings.Contains(text, "was last used") {
				t.Errorf("nothing used it: %s", text)
			}
		}
		if !goesOn {
			s.cloudBox(cloudBox, func(b *backend.Sandbox) {
				b.Session, b.LastUsedAt = backend.MustID("lonely"), failed.Add(2*time.Minute)
			})
			wantEvidence(t, s.every(10*time.Second, time.Minute, nil).want(terminateRule, alerts.StateFiring), used)
		}
		if !goesOn { // the line is forgotten, the leak is not
			s.every(time.Minute, 2*time.Hour, nil).want(terminateRule, alerts.StateFiring)
		}
	}
}

// TestDeletionsOfAGroupAreCountedTogether: each sandbox of an alert has lines of its own.
func TestDeletionsOfAGroupAreCountedTogether(t *testing.T) {
	s := beginCloud(t, terminateRule)
	s.source("app", backend.InputEvictionLogs)
	s.health("app", func(h *fleet.SourceHealth) { h.About = []string{"cloud"} })
	for i := range 5 {
		session := fmt.Sprint("lonely", i)
		s.stateOn(cloudBox+session, s.wall, func(x *backend.AgentState) { x.PauseOnExit = backend.Known(false) })
		s.refs[i].Session, s.refs[i].Key.Parent = backend.MustID(session), backend.MustID(session)
		s.cloudBox(cloudBox+session, func(b *backend.Sandbox) { b.Session = backend.MustID(session) })
		s.lines(backend.MetricSDKDelete, session, 1, "Sandbox delete failed during shutdown")
	}
	s.look()
	a := s.every(10*time.Second, 5*time.Minute, nil).want(terminateRule, alerts.StateFiring)
	if a.SubjectCount != 5 {
		t.Errorf("%d: %s", a.SubjectCount, summary(s.board))
	}
	wantEvidence(t, a, "log: deletions of 5 sandboxes failed in 5 lines, the newest: Sandbox delete failed during shutdown; its SDK only logs that, and does not try again")
}

// TestALeakByTheEndThatALogTells: the log says that the session ended, and nothing of a deletion; the leak outlasts the line.
func TestALeakByTheEndThatALogTells(t *testing.T) {
	for _, keeps := range []bool{false, true} {
		s := beginCloud(t, terminateRule)
		s.source("app", backend.InputEvictionLogs)
		s.health("app", func(h *fleet.SourceHealth) { h.About = []string{"cloud"} })
		s.stateOn(cloudBox, s.wall, func(x *backend.AgentState) { x.PauseOnExit = backend.Known(keeps) })
		s.refs[0].Session = backend.MustID("lonely")
		s.cloudBox(cloudBox, func(b *backend.Sandbox) { b.Session = backend.MustID("lonely") })
		done := backend.Report{Kind: backend.ReportAgentDone, Session: backend.MustID("lonely"), Source: "app", At: s.wall, Text: backend.Text("session ended")}
		s.health("app", func(h *fleet.SourceHealth) { h.Reports = []backend.Report{done} })
		s.look()
		a := s.every(10*time.Second, 5*time.Minute, nil).alerts(terminateRule)
		if keeps {
			s.quiet(terminateRule)
			continue
		}
		if len(a) != 1 || a[0].State != alerts.StateFiring || !strings.Contains(a[0].Cause.String(), "it leaked: the end of its session deletes it") || !a[0].Bounds.Latest.Equal(done.At) {
			t.Errorf("%s", summary(s.board))
		}
		s.health("app", func(h *fleet.SourceHealth) { h.Reports = nil }) // the line is forgotten
		s.every(time.Minute, 2*time.Hour, nil).want(terminateRule, alerts.StateFiring)
	}
}

// TestErrorsOfAnAgentSDKAreToldBesideWhatWasObserved: the agent's class, and what its SDK made of it.
func TestErrorsOfAnAgentSDKAreToldBesideWhatWasObserved(t *testing.T) {
	for text, want := range map[string]string{
		"ExecTimeoutError":                                                      "it waited 300 s, the default, and saw it as final. Only its own wait ended",
		"ExecTimeoutError, timeout 60 s":                                        "the agent saw it as final. Only its own wait ended",
		"ExecTimeoutError, timeout 0 s":                                         "the caller asked for no time: its fault",
		"ExecTimeoutError, timeout 0 s, HTTP 504":                               "the caller asked for no time: its fault",
		"ExecTimeoutError, timeout 0.001 s":                                     "the caller asked for no time, of which the SDK makes 0.001 s: its fault, and no sign of the sandbox",
		"ExecTimeoutError, timeout 0.0011 s":                                    "the agent saw it as final. Only its own wait ended",
		"ExecTransportError, HTTP 504":                                          "the limit of the platform's edge: whether the process goes on is not known",
		"ExecTransportError, HTTP 404, WORKLOAD_UNAVAILABLE, not answering yet": "exists and did not answer yet, as one that only wakes; its SDK calls it worth another try, and tries no command again by itself",
		"ExecTransportError, timeout 300 s, HTTP 422, the process goes on":      "the process goes on inside; the agent saw it as final",
		"ExecTransportError, HTTP 422, disk full":                               "the disk of the sandbox is full",
		"ExecTransportError, permission denied":                                 "another user of the sandbox may not use it: what the SDK's API writes belongs to root",
		"ExecTransportError, HTTP 401, key not accepted":                        "nothing is known of the sandbox",
		"ExecTransportError, HTTP 403, FORBIDDEN":                               "the agent saw it as final",
	} {
		s := beginCloud(t)
		s.source("app", backend.InputEvictionLogs)
		s.health("app", func(h *fleet.SourceHealth) { h.About = []string{"cloud"} })
		s.stateOn(cloudBox, s.wall, nil)
		s.cloudBox(cloudBox, nil)
		s.pass(5 * time.Second)
		s.lines(backend.MetricSDKExec, cloudSession, 1, text)
		if s.look(); strings.HasSuffix(text, "disk full") { // its word
			s.want(contradictionRule, alerts.StatePending)
		} else {
			s.quiet(contradictionRule)
		}
		all := s.lastState().SDKErrorsOn(s.lastState().Sandbox(backend.Key{Kind: backend.KindSandbox, Source: "cloud", ID: backend.MustID(cloudBox)}))
		if len(all) != 1 || all[0].Newest.String() != text || !strings.Contains(all[0].Means.String(), want) {
			t.Errorf("%s: %+v, want %q", text, all, want)
		}
	}
}

// TestErrorsOfAddressesAreToldOncePerKind: on the page of the sandbox, also those that name no kind.
func TestErrorsOfAddressesAreToldOncePerKind(t *testing.T) {
	s := beginCloud(t)
	s.source("app", backend.InputEvictionLogs)
	s.health("app", func(h *fleet.SourceHealth) { h.About = []string{"cloud"} })
	s.stateOn(cloudBox, s.wall, nil)
	s.cloudBox(cloudBox, nil)
	for _, detail := range []string{"url_parse_failed", "invalid_preview_url", "url_parse_failed", ""} {
		s.lines(backend.MetricPreviewFailed, cloudSession, 1, "port 3000: "+detail)
		if detail != "" {
			s.lines(backend.PreviewFailedBy(detail), cloudSession, 1, "port 3000: "+detail)
		}
		s.pass(5 * time.Second)
		s.look()
	}
	got := ""
	for _, x := range s.lastState().SDKErrorsOn(s.lastState().Sandbox(backend.Key{Kind: backend.KindSandbox, Source: "cloud", ID: backend.MustID(cloudBox)})) {
		got += fmt.Sprintf("%v %s (%s)\n", x.N, x.Newest, x.Means)
	}
	if want := "1 port 3000: invalid_preview_url (the platform's answer had no address of use)\n2 port 3000: url_parse_failed (the address that the platform gave cannot be read)\n1 port 3000:  ()\n"; got != want {
		t.Errorf("got\n%s want\n%s", got, want)
	}
}
