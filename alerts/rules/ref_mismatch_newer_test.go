package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// beginNewer begins with a running session whose reference to its container, by id or name, was saved some time ago.
func beginNewer(t testing.TB, rule, sandbox string, saved, made time.Duration) *story {
	s := begin(t, rule)
	s.source("docker", backend.InputContainers)
	s.source("refs", backend.InputRefs)
	s.session("a", func(x *backend.Session) { x.Running = backend.Known(true) })
	s.ref("a/box", func(x *backend.Ref) {
		x.Sandbox, x.SavedAt = backend.MustID(sandbox), backend.Known(s.wall.Add(-saved))
	})
	s.box("c6c6c6c6c6c6c6", "a", func(b *backend.Sandbox) {
		b.Name, b.CreatedAt = backend.Text("agent-a"), backend.Known(s.wall.Add(-made))
	})
	return s.look()
}

func TestRefMismatchOfASandboxThatIsNewerThanItsReference(t *testing.T) {
	for _, sandbox := range []string{"c6c6c6c6c6c6c6", "c6c6c6c6c6c6", "agent-a"} {
		s := beginNewer(t, "ref-mismatch", sandbox, 5*time.Hour, 10*time.Minute)
		a := s.want("ref-mismatch", alerts.StateFiring)
		wantEvidence(t, a, "the reference of a/box to sandbox "+sandbox+" was written at 07:00:00Z", "sandbox agent-a was made at 11:50:00Z")
		s.session("a", func(x *backend.Session) { x.Running = backend.Known(false) })
		s.after(time.Minute).quiet("ref-mismatch")
	}
	for _, c := range []struct{ saved, made time.Duration }{{10 * time.Minute, 3 * time.Hour}, {3 * time.Hour, 3*time.Hour - 30*time.Second}, {3 * time.Hour, time.Minute}} {
		beginNewer(t, "ref-mismatch", "agent-a", c.saved, c.made).quiet("ref-mismatch")
	}
}

func TestVanishedWithASandboxThatIsNewerThanItsReference(t *testing.T) {
	s := beginNewer(t, "files-vanished", "agent-a", 5*time.Hour, 10*time.Minute)
	s.reads("a/box", reading{state: "open", attempt: time.Minute, provider: "docker", edit: func(w *backend.Workspace) { w.LostSuccess = s.wall.Add(-time.Hour) }})
	s.look()
	a := s.want("files-vanished", alerts.StateFiring)
	wantEvidence(t, a, "its reference to agent-a was written at 07:00:00Z; that sandbox was made at 11:50:00Z")
}

// TestVanishedWithAContainerThatStartedAgain: what its sources disagree about, the start of its container decides.
func TestVanishedWithAContainerThatStartedAgain(t *testing.T) {
	for _, x := range []struct {
		fresh time.Duration // ago; 0: its container did not start again
		want  alerts.AlertState
	}{{0, alerts.StatePending}, {2 * time.Hour, alerts.StatePending}, {10 * time.Minute, alerts.StateFiring}} {
		s := begin(t, "files-vanished")
		s.source("docker", backend.InputContainers)
		s.session("a", func(x *backend.Session) { x.Running = backend.Known(true) })
		s.box("abcdefghijklmnopqrstuvwxyz", "", func(b *backend.Sandbox) {
			b.Provider = backend.Text("cloudflare")
			if x.fresh > 0 {
				b.FreshAt = s.wall.Add(-x.fresh)
			}
		})
		s.reads("a/box", reading{state: "open", attempt: time.Minute, provider: "cloudflare-sandbox", edit: func(w *backend.Workspace) {
			w.ProviderID, w.LostSuccess = backend.MustID("abcdefghijklmnopqrstuvwxyz"), s.wall.Add(-time.Hour)
		}})
		a := s.look().want("files-vanished", x.want)
		if x.want == alerts.StateFiring {
			if a.Cause.String() != "its container started again, on an empty disk: its files are gone, but for those on a mount" {
				t.Errorf("cause %v", a.Cause)
			}
			wantEvidence(t, a, "the container of sandbox helix-abcdefghijklmnopqrstuvwxyz started again at 11:50:00Z: after sleep, a stop or a restart its disk is empty")
		}
	}
}

// TestRefMismatchOfASandboxThatIsListedAsEnded: a running session whose saved state names a sandbox that its platform lists as ended has lost
// it, as where it is not listed; a container that can start again is not lost, nor is one of which a probe listed / since its end.
func TestRefMismatchOfASandboxThatIsListedAsEnded(t *testing.T) {
	begin := func(provider backend.Literal, class backend.SandboxClass, runs bool, edits ...func(*backend.Sandbox)) *story {
		s := begin(t, "ref-mismatch")
		s.source("bl", backend.InputContainers)
		s.source("refs", backend.InputRefs)
		s.session("a", func(x *backend.Session) { x.Running = backend.Known(runs) })
		s.ref("a/coder", func(x *backend.Ref) {
			x.Sandbox, x.Provider, x.SavedAt = backend.MustID("agents-a"), backend.Text(provider), backend.Known(s.wall.Add(-time.Hour))
			x.FirstSeen, x.Agent = s.wall.Add(-time.Hour), &backend.AgentState{Snapshot: backend.Text("noop")}
		})
		s.box("agents-a", "", func(b *backend.Sandbox) {
			b.Key.Source, b.Name, b.Provider, b.Class, b.Reported = "bl", backend.Text("agents-a"), backend.Text(provider), class, backend.Text("TERMINATED")
			for _, edit := range edits {
				edit(b)
			}
		})
		return s.look().after(time.Minute).after(time.Minute)
	}
	a := begin("blaxel", backend.SandboxExited, true).want("ref-mismatch", alerts.StateFiring)
	if a.Severity != alerts.SeverityCritical || a.Subjects[0].Detail.String() != "sandbox agents-a is reported TERMINATED" {
		t.Errorf("%s: %v", a.Severity, a.Subjects)
	}
	wantEvidence(t, a, "bl reports it TERMINATED: its files are lost, except in mounts: its snapshot, noop, keeps nothing")
	begin("blaxel", backend.SandboxExited, false).quiet("ref-mismatch")
	begin("blaxel", backend.SandboxRunning, true).quiet("ref-mismatch")
	begin("docker", backend.SandboxExited, true).quiet("ref-mismatch")
	for _, after := range []time.Duration{time.Second, -time.Second} {
		s := begin("blaxel", backend.SandboxExited, true, func(b *backend.Sandbox) {
			v := backend.Verdict{Plane: backend.PlaneControl, Outcome: backend.OutcomeOK, Passive: true, At: b.ReadAt, Inside: &backend.Inside{At: b.ReadAt.Add(after), AgentSees: backend.Known(true)}}
			b.KnownSince = b.ReadAt
			*b = *b.WithObserved([]backend.Verdict{v})
		})
		if after > 0 {
			s.quiet("ref-mismatch")
		} else {
			s.want("ref-mismatch", alerts.StateFiring)
		}
	}
}

// TestRefMismatchOfAnEmptyList: a whole list of a platform that names no sandbox says of each saved state that its sandbox is gone, as
// one with another sandbox does; a list that is not whole says nothing.
func TestRefMismatchOfAnEmptyList(t *testing.T) {
	for name, x := range map[string]struct {
		whole, cloud bool
		want         alerts.AlertState
	}{"a whole list": {true, true, alerts.StateFiring}, "not whole": {false, true, ""}, "an engine may be that of another machine": {true, false, ""}} {
		s := begin(t, "ref-mismatch")
		s.source("bl", backend.InputContainers)
		s.health("bl", func(h *fleet.SourceHealth) {
			h.Kind, h.Unseen = "blaxel", !x.whole
			if x.cloud {
				h.Inputs = append(h.Inputs, backend.InputPlatform)
			}
		})
		s.source("refs", backend.InputRefs)
		s.session("a", func(x *backend.Session) { x.Running = backend.Known(true) })
		s.ref("a/coder", func(x *backend.Ref) {
			x.Sandbox, x.Provider, x.SavedAt = backend.MustID("agents-a"), backend.Text("blaxel"), backend.Known(s.wall.Add(-time.Hour))
			x.FirstSeen, x.Agent = s.wall.Add(-time.Hour), &backend.AgentState{}
		})
		if s.listed[backend.KindSandbox] = "bl"; !x.whole {
			delete(s.listed, backend.KindSandbox)
		}
		st := s.look().after(time.Minute).after(time.Minute)
		if x.want == "" {
			st.quiet("ref-mismatch")
			continue
		}
		a := st.want("ref-mismatch", x.want)
		wantEvidence(t, a, "bl lists no sandbox")
		if t.Failed() {
			t.Log(name)
		}
	}
}

// TestRefMismatchOfAnotherOrganisation: a list proves nothing about a sandbox whose address names an organisation that it is not of.
func TestRefMismatchOfAnotherOrganisation(t *testing.T) {
	for organisation, fires := range map[string]bool{"acme": true, "otherws": false} {
		s := begin(t, "ref-mismatch")
		s.source("bl", backend.InputContainers, backend.InputPlatform)
		s.health("bl", func(h *fleet.SourceHealth) { h.Kind, h.Organisation = "blaxel", "acme" })
		s.source("refs", backend.InputRefs)
		for _, id := range []string{"a", "b"} { // the sandbox of b is listed
			s.session(id, func(x *backend.Session) { x.Running = backend.Known(true) })
			s.ref(id+"/coder", func(x *backend.Ref) {
				x.Sandbox, x.Provider, x.SavedAt = backend.MustID("agents-"+id), backend.Text("blaxel"), backend.Known(s.wall.Add(-time.Hour))
				x.FirstSeen, x.Agent = s.wall.Add(-time.Hour), &backend.AgentState{Address: backend.Textf("https://sbx-agents-%s-%s.us-pdx-1.bl.run", backend.Clean(id, 9), backend.Clean(organisation, 9))}
			})
		}
		s.box("agents-b", "", func(b *backend.Sandbox) {
			b.Key.Source, b.Name, b.Provider = "bl", backend.Text("agents-b"), backend.Text("blaxel")
		})
		s.listed[backend.KindSandbox] = "bl"
		s.look().after(time.Minute).after(time.Minute)
		if got := len(s.alerts("ref-mismatch")) > 0; got != fires {
			t.Errorf("%s: fires %v", organisation, got)
		}
	}
}

// TestRefMismatchOfAnEndedSandboxInOneLook: a run from cron has no look before it. What the platform lists as ended is told at once
// where the session was read as running after that, and is pending where it was read before.
func TestRefMismatchOfAnEndedSandboxInOneLook(t *testing.T) {
	for name, x := range map[string]struct {
		session time.Duration // since the session was read
		want    alerts.AlertState
	}{"the session was read after": {0, alerts.StateFiring}, "the session was read before": {10 * time.Second, alerts.StatePending}} {
		s := endedStory(t, x.session)
		if a := s.look().want("ref-mismatch", x.want); a.Subjects[0].Detail.String() != "sandbox agents-a is reported DELETING" || !strings.Contains(a.Cause.String(), "a sandbox that is going by the list of bl") {
			t.Errorf("%s: %s: %v", name, a.Cause, a.Subjects)
		}
	}
}

// endedStory has a running session, read a while ago, whose sandbox is listed as going.
func endedStory(t *testing.T, ago time.Duration) *story {
	s := begin(t, "ref-mismatch")
	s.source("bl", backend.InputContainers)
	s.source("refs", backend.InputRefs)
	s.listed[backend.KindSession] = ""
	s.session("a", func(x *backend.Session) {
		x.ReadAt = s.wall.Add(-ago)
		x.Running, x.History = backend.Known(true), []backend.StatusChange{{At: s.wall}}
	})
	s.ref("a/coder", func(x *backend.Ref) {
		x.Sandbox, x.Provider, x.SavedAt = backend.MustID("agents-a"), backend.Text("blaxel"), backend.Known(s.wall.Add(-time.Hour))
		x.Agent = &backend.AgentState{Snapshot: backend.Text("noop")}
	})
	s.box("agents-a", "", func(b *backend.Sandbox) {
		b.Key.Source, b.Name, b.Provider, b.Class, b.Reported = "bl", backend.Text("agents-a"), backend.Text("blaxel"), backend.SandboxRemoving, backend.Text("DELETING")
	})
	return s
}

// TestRefMismatchKeepsItsTimeAcrossRuns: a new run reads its sources one after the other, which neither ends nor holds what was proved.
func TestRefMismatchKeepsItsTimeAcrossRuns(t *testing.T) {
	s := endedStory(t, 0)
	first := s.look().want("ref-mismatch", alerts.StateFiring)
	since, found := first.Since, first.Bounds
	for range 2 {
		s.off(time.Minute)
		session := s.sessions[sessionKey("a")]
		s.health("helix", func(h *fleet.SourceHealth) { h.Status = fleet.StatusStarting })
		delete(s.sessions, session.Key)
		if a := s.look().want("ref-mismatch", alerts.StateFiring); !a.Since.Equal(since) {
			t.Errorf("starting: it fires since %s, and not %s", a.Since, since)
		}
		s.health("helix", func(h *fleet.SourceHealth) { h.Status = fleet.StatusOK })
		s.session("a", func(x *backend.Session) { x.Running = backend.Known(true) })
		s.lag = time.Second
		again := *s.refs[0]
		again.ReadAt = s.wall
		s.refs, s.delta.Changed = []*backend.Ref{&again}, append(s.delta.Changed, again.Key)
		if a := s.after(time.Second).want("ref-mismatch", alerts.StateFiring); !a.Since.Equal(since) || a.Bounds != found {
			t.Errorf("it fires since %s, and not %s; it began within %v, and not %v", a.Since, since, a.Bounds, found)
		}
	}
}

// TestRefMismatchOfASandboxWhoseOwnRecordIsAsked: where a source asks for own records, what its list leaves out is gone once such a
// record says so too; a saved state and a reference of another framework alike.
func TestRefMismatchOfASandboxWhoseOwnRecordIsAsked(t *testing.T) {
	for _, agent := range []*backend.AgentState{{}, nil} {
		for _, gone := range []bool{false, true} {
			s := begin(t, "ref-mismatch")
			s.source("bl", backend.InputContainers, backend.InputPlatform)
			s.health("bl", func(h *fleet.SourceHealth) {
				if h.Kind, h.OwnGone = "blaxel", []backend.Key{}; gone {
					h.OwnGone = []backend.Key{{Kind: backend.KindSandbox, Source: "bl", ID: backend.MustID("agents-a")}}
				}
			})
			s.source("refs", backend.InputRefs)
			for _, id := range []string{"a", "b"} { // the sandbox of b is listed
				s.session(id, func(x *backend.Session) { x.Running = backend.Known(true) })
				s.ref(id+"/coder", func(x *backend.Ref) {
					x.Sandbox, x.Provider, x.SavedAt = backend.MustID("agents-"+id), backend.Text("blaxel"), backend.Known(s.wall.Add(-time.Hour))
					x.FirstSeen, x.Agent = s.wall.Add(-time.Hour), agent
				})
			}
			s.box("agents-b", "", func(b *backend.Sandbox) {
				b.Key.Source, b.Name, b.Provider = "bl", backend.Text("agents-b"), backend.Text("blaxel")
			})
			s.listed[backend.KindSandbox] = "bl"
			s.look().after(time.Minute).after(time.Minute)
			if got := len(s.alerts("ref-mismatch")) > 0; got != gone {
				t.Errorf("agent's state %v, own record gone %v: fires %v", agent != nil, gone, got)
			}
		}
	}
}
