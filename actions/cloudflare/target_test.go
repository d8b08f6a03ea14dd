package cloudflare

import (
	"strings"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/cloudflare/bridge"
	"sandglass/backend/fleet"
	demo "sandglass/demo/cloudflare"
)

// looked is how a verb judges one sandbox of a source, which some sessions share.
func looked(t *testing.T, verb actions.Verb, b *backend.Sandbox, h *fleet.SourceHealth, sharers ...*backend.Session) actions.Candidate {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	b.Key, b.ReadAt, b.Provider, b.BridgeID = key(), now, backend.Text("cloudflare"), backend.MustID(boxID)
	h.Key, h.Status, h.LastOK, h.Interval = backend.Key{Kind: backend.KindSource, Source: "cf", ID: backend.MustID("cf")}, fleet.StatusOK, now, time.Minute
	state := &fleet.State{Number: 1, Wall: now, Sandboxes: fleet.NewTable(b), Sources: []*fleet.SourceHealth{h}, Sessions: fleet.NewTable(sharers...)}
	var named []*backend.Workspace
	for _, s := range sharers {
		named = append(named, &backend.Workspace{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindWorkspace, Source: "cf", Parent: s.Key.ID, ID: backend.MustID("box")}},
			WorkspaceFacts: backend.WorkspaceFacts{ProviderID: b.BridgeID, Provider: backend.Text("cloudflare-sandbox")}})
	}
	state.Workspaces = fleet.NewTable(named...)
	return targetReader{verb: verb}.Look(t.Context(), actions.Question{State: state, Keys: []backend.Key{key()}})[0]
}

// TestARefusalComesFirst: behind a bridge that takes no orders a repair says that, and sends to no probe that would not tell either.
func TestARefusalComesFirst(t *testing.T) {
	t.Parallel()
	for refuses, want := range map[backend.Literal]string{bridge.PreviewRefusal: "1.0 preview", "": "probe it first"} {
		b := &backend.Sandbox{Class: backend.SandboxUnknown}
		if c := looked(t, actions.Repair, b, &fleet.SourceHealth{Refuses: backend.Text(refuses)}); !strings.Contains(c.Why.String(), want) {
			t.Errorf("%q: %s", refuses, c.Why)
		}
	}
}

// TestAPlanNamesTheSessionsThatShareASandbox, and which of them run.
func TestAPlanNamesTheSessionsThatShareASandbox(t *testing.T) {
	t.Parallel()
	session := func(id string, runs bool) *backend.Session {
		return &backend.Session{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSession, Source: "cf", ID: backend.MustID(id)}}, Running: backend.Known(runs), Status: backend.Text("running")}
	}
	for _, verb := range []actions.Verb{actions.Destroy, actions.Stop} {
		b := &backend.Sandbox{Class: backend.SandboxRunning, IsSandbox: true}
		c := looked(t, verb, b, &fleet.SourceHealth{Inputs: []backend.Input{backend.InputSessions}}, session("s-a", true), session("s-b", false))
		if c.Owner.String() != "2 sessions: s-a, s-b" || backend.Join(c.Loses, "; ").String() != "all its files, and what runs in it; they are the files of 2 sessions: s-a, s-b, which share it: session s-a is listed as running" {
			t.Errorf("%s: of %s: %s", verb, c.Owner, c.Loses)
		}
		b = &backend.Sandbox{Class: backend.SandboxRunning, IsSandbox: true}
		if c := looked(t, verb, b, &fleet.SourceHealth{}, session("s-a", true)); !c.Owner.IsEmpty() || len(c.Loses) != 1 {
			t.Errorf("%s: one session shares nothing: of %s: %s", verb, c.Owner, c.Loses)
		}
	}
}

// TestAPlanSaysWhereAMovedDirectoryIs: its files are called gone only where no log says that they were moved.
func TestAPlanSaysWhereAMovedDirectoryIs(t *testing.T) {
	t.Parallel()
	for changed, moved := range map[backend.Literal]bool{"mv /workspace /w2": true, "rm -rf /workspace": false, "mv /workspace $OLD": false} {
		b := (&backend.Sandbox{Class: backend.SandboxUnknown}).WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirMissing, At: time.Now()}})
		r := backend.Report{Kind: backend.ReportNotStarted, Sandbox: backend.MustID(boxID), Changed: backend.Text(changed), ChangedAt: time.Date(2026, 1, 1, 11, 0, 0, 0, time.UTC)}
		c := looked(t, actions.Repair, b, &fleet.SourceHealth{Reports: []backend.Report{r}})
		loses := backend.Join(c.Loses, " ").String()
		if strings.Contains(loses, "moved /workspace to /w2 at 11:00:00Z") != moved || strings.Contains(loses, "mv /w2 /workspace") != moved || strings.Contains(loses, "gone already") == moved {
			t.Errorf("%s: %s", changed, loses)
		}
	}
}

// TestARepairSaysWhatItFound: empty is what was listed so.
func TestARepairSaysWhatItFound(t *testing.T) {
	for _, more := range []bool{false, true} {
		w := newWorld(t, demo.BridgeOptions{})
		w.change(func(b *demo.Box) {
			if b.Root = demo.Missing; more {
				b.Files["/workspace/a.txt"] = "x"
			}
		})
		done, _, err := w.do(actions.Repair, factFailure, string(backend.FailWorkDirMissing), factLink, missingText)
		if said := done.Text.String(); err != nil || strings.Contains(said, "there again, empty") == more || strings.Contains(said, "1 entry that this repair did not make") != more {
			t.Errorf("%v: %s %v", more, said, err)
		}
	}
	if said := (&examination{}).thereAgain().String(); !strings.Contains(said, "was not listed") {
		t.Error(said)
	}
}

// TestATestOfTheDirectoryIsNoList: what only a test showed is told as that, with the time that it took.
func TestATestOfTheDirectoryIsNoList(t *testing.T) {
	w := newWorld(t, demo.BridgeOptions{})
	w.change(func(b *demo.Box) { b.Root = demo.Missing })
	done, _, err := w.do(actions.Probe)
	v := on(done, backend.PlaneList)
	if err != nil || !v.Inferred() || v.Took == 0 || v.Kind != backend.FailWorkDirMissing || v.What.String() != "not listed: a test in a new session says that /workspace is missing" {
		t.Errorf("%+v %v", v, err)
	}
}

// TestAPlanForThePreviewTellsItsOwn: effect and cost are those of the requests that only read, and not of the commands of a stable bridge.
func TestAPlanForThePreviewTellsItsOwn(t *testing.T) {
	t.Parallel()
	for refuses, bills := range map[backend.Literal]bool{bridge.PreviewRefusal: false, "": true} {
		c := looked(t, actions.Probe, &backend.Sandbox{Class: backend.SandboxUnknown}, &fleet.SourceHealth{Refuses: backend.Text(refuses)})
		if notes := backend.Join(c.Notes, " ").String(); strings.Contains(notes, "which is billed") != bills || strings.Contains(notes, "only reads") == bills {
			t.Errorf("%q: %s", refuses, notes)
		}
		part, _ := (&factory{deps: backend.Deps{ID: "cf"}}).part(actions.Probe)
		own := specs()[0]
		spec := part.Now(&fleet.State{Sources: []*fleet.SourceHealth{{Key: backend.Key{Kind: backend.KindSource, Source: "cf", ID: backend.MustID("cf")}, Refuses: backend.Text(refuses)}}}, own)
		if strings.Contains(spec.Effect, "runs no command") == bills || (spec.Cost == own.Cost) != bills || (spec.Undo == own.Undo) != bills || spec.Verb != actions.Probe {
			t.Errorf("%q: %+v", refuses, spec)
		}
	}
}

// TestAPlanSaysThatTheRoutesAloneCallItHealthy, when that was read, and that a request may start a container.
func TestAPlanSaysThatTheRoutesAloneCallItHealthy(t *testing.T) {
	t.Parallel()
	for _, verb := range []actions.Verb{actions.Probe, actions.Destroy} {
		b := &backend.Sandbox{Class: backend.SandboxUnknown, Reported: backend.Text("healthy")}
		b.Doubt = backend.Text("the account lists no such instance")
		c := looked(t, verb, b, &fleet.SourceHealth{})
		notes := backend.Join(c.Notes, " | ").String()
		if !c.Why.IsEmpty() || fact(actions.Target{Identity: c.Identity}, factRuns) != runsUnknown || !strings.Contains(notes, "the operator routes say healthy, read 0s ago; the account lists no such instance") || !strings.Contains(notes, "starts a new, empty container, which is billed") {
			t.Errorf("%s: %s %v %s", verb, c.Why, c.Identity, notes)
		}
	}
}
