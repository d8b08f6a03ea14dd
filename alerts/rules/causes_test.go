package rules

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

const (
	capabilityRule = "capability-mismatch"
	refRule        = "ref-mismatch"
	transientRule  = "misclassified-transient"
	schema         = "WorkspaceFailedError: ref schemaVersion 4 is outside the supported range 1-3 (ref wsr_0a1b2c3d)"
	noBucket       = "WorkspaceFailedError: capability snapshot is declared but backupR2Binding is not bound (request 0a1b2c3d)"
)

// survives takes a firing alert through an outage of the registry and a restart: it is held, comes back, and the restart
// changes nothing. again gives the readings that a working source would.
func survives(s *story, rule string, again func()) {
	s.t.Helper()
	s.want(rule, alerts.StateFiring)
	s.pass(time.Second)
	s.down("helix", "connection refused")
	if a := s.look().want(rule, alerts.StateHeld); !strings.Contains(a.Why.String(), "connection refused") {
		s.t.Errorf("held because %q", a.Why)
	}
	s.up("helix")
	s.pass(time.Second)
	if again != nil {
		again()
	}
	s.look().want(rule, alerts.StateFiring)
	before := s.transitions()
	s.restart()
	s.health("helix", func(h *fleet.SourceHealth) { h.Status = fleet.StatusStarting })
	s.after(time.Second).want(rule, alerts.StateFiring)
	s.up("helix")
	s.pass(time.Second)
	if again != nil {
		again()
	}
	s.look().want(rule, alerts.StateFiring)
	if s.transitions() != before {
		s.t.Errorf("the restart made transitions: %s, before %s", s.transitions(), before)
	}
}

func TestNamingReadsWholeWords(t *testing.T) {
	for text, want := range map[string]alerts.Naming{
		schema:   alerts.NamesSchema,
		noBucket: alerts.NamesSnapshot | alerts.NamesModule,
		"WorkspaceFailedError: binding \"SANDBOX\" is not defined":             alerts.NamesBinding,
		"WorkspaceFailedError: env.SANDBOX is undefined":                       alerts.NamesBinding,
		"WorkspaceFailedError: provider modal lacks module shell":              alerts.NamesModule,
		"DBOS runtime does not support workspaces (agent writer)":              alerts.NamesRuntime,
		"local-bash: Windows is not supported":                                 alerts.NamesPOSIX,
		"D1_ERROR: sqlite is not enabled, add the class to new_sqlite_classes": alerts.NamesSQLite,
		"WorkspaceFailedError: unrecognized key 'x' in ref":                    alerts.NamesStrict,
		"WorkspaceFailedError: No such container: 76fca18e9a01":                alerts.NamesGone,
		"WorkspaceFailedError: sandbox sbx_1 not found":                        alerts.NamesGone,
		quota: alerts.NamesQuota,
		"WorkspaceFailedError: image registry.demo.invalid/agents/box:1 not found: manifest unknown":     alerts.NamesImage,
		"WorkspaceFailedError: connection refused to sandbox":                                            alerts.NamesNetwork,
		"WorkspaceFailedError: r2 bucket unreachable: GET https://r2.demo.invalid/x: connect timeout":    alerts.NamesStorage,
		"WorkspaceFailedError: binding timed out after 30s":                                              0,
		"WorkspaceFailedError: ENOENT: no such file or directory, open '/tmp/helix-ws-a1b2c3/notes.txt'": alerts.NamesCleaned,
	} {
		if got := alerts.NamesIn(alerts.NormaliseCause(text)); got != want {
			t.Errorf("%q names %b, want %b", text, got, want)
		}
	}
}

func TestCapabilityFiresAtOnceAndTakesTheOutagesPlace(t *testing.T) {
	s := begin(t)
	s.reads("a/box", reading{state: "failed", err: noBucket, attempt: 12 * time.Minute, success: 14 * time.Minute})
	a := s.look().want(capabilityRule, alerts.StateFiring)
	wantEvidence(t, a, "backup bucket that is bound")
	if a.Runbook != "1" || a.Severity != alerts.SeverityCritical || a.Sessions != 1 {
		t.Errorf("alert %+v", a)
	}
	if f := s.want(failedRule, alerts.StateFiring); f.InhibitedBy != a.ID {
		t.Errorf("failed-too-long is inhibited by %q, want %q", f.InhibitedBy, a.ID)
	}
	s.quiet(refRule)
	s.pass(time.Minute)
	s.edit("a/box", func(w *backend.Workspace) {
		w.Reported, w.Class, w.LastError = backend.Text("opening"), backend.ClassOpening, backend.Safe{}
	})
	s.look().want(capabilityRule, alerts.StateFiring) // an open under way is no cure
	s.pass(time.Minute)
	s.edit("a/box", func(w *backend.Workspace) {
		w.LastAttemptAt, w.LastSuccessAt = backend.Known(s.wall), backend.Known(s.wall)
	})
	s.look().quiet(capabilityRule)
}

func TestCapabilityDoesNotFireForOtherErrors(t *testing.T) {
	s := begin(t, capabilityRule)
	s.reads("a/box", reading{state: "failed", err: quota, attempt: time.Hour, success: 2 * time.Hour})
	s.reads("b/box", reading{state: "failed", err: schema, attempt: time.Hour, success: 2 * time.Hour})
	s.reads("c/box", reading{state: "evicted", err: noBucket, attempt: time.Hour, success: 2 * time.Hour})
	s.reads("d/box", reading{state: "open", err: noBucket, attempt: time.Hour, success: time.Minute})
	s.reads("e/box", reading{state: "failed", attempt: time.Hour})
	s.look().quiet(capabilityRule)
	s.reads("a/box", reading{state: "failed", err: noBucket, attempt: time.Second, success: 2 * time.Hour})
	s.after(time.Second).want(capabilityRule, alerts.StateFiring)
	s.reads("a/box", reading{state: "failed", err: quota, attempt: time.Second, success: 2 * time.Hour})
	s.after(time.Second).quiet(capabilityRule) // another cause now
}

func TestCapabilityColdStartGapRestart(t *testing.T) {
	s := begin(t, capabilityRule)
	s.reads("a/box", reading{state: "failed", err: noBucket, attempt: 40 * time.Minute})
	if a := s.look().want(capabilityRule, alerts.StateFiring); !a.Bounds.Latest.Equal(noon.Add(-40 * time.Minute)) {
		t.Errorf("bounds %v", a.Bounds)
	}
	survives(s, capabilityRule, nil)
}

func (s *story) ref(id string, edit func(*backend.Ref)) {
	session, name, _ := strings.Cut(id, "/")
	k := backend.Key{Kind: backend.KindRef, Source: "refs", Parent: backend.MustID(session), ID: backend.MustID(name)}
	x := &backend.Ref{Meta: backend.Meta{Key: k, ReadAt: s.wall, FirstSeen: s.wall}, Session: k.Parent, Workspace: k.ID, Provider: backend.Text("docker")}
	edit(x)
	s.refs = append(s.refs, x)
	s.delta.Changed = append(s.delta.Changed, k)
}

func TestRefMismatchFiresForSchemaVersions(t *testing.T) {
	s := begin(t)
	s.source("refs", backend.InputRefs)
	for i := range 3 {
		s.reads(fmt.Sprintf("s%d/box", i), reading{state: "failed", err: schema, attempt: time.Minute, success: time.Hour})
		s.ref(fmt.Sprintf("s%d/box", i), func(x *backend.Ref) { x.SchemaVersion = backend.Known(3 + min(i, 1)) })
	}
	a := s.look().want(refRule, alerts.StateFiring)
	if a.Runbook != "6" || a.Sessions != 3 {
		t.Errorf("alert %+v", a)
	}
	wantEvidence(t, a, "1 has version 3, 2 have version 4")
	if f := s.want(failedRule, alerts.StateFiring); f.InhibitedBy != a.ID {
		t.Error("failed-too-long is not part of it")
	}
	survives(s, refRule, nil)
}

func TestRefMismatchFiresForAFailedWorkspaceWhoseSandboxIsGone(t *testing.T) {
	s := begin(t, refRule)
	s.reads("a/box", reading{state: "failed", err: "WorkspaceFailedError: No such container: 76fca18e9a01", attempt: 40 * time.Minute, success: time.Hour})
	s.reads("b/box", reading{state: "evicted", err: "WorkspaceEvictedError: sandbox instance i-0a1b2c3d is gone", attempt: time.Minute, success: time.Hour})
	s.reads("c/box", reading{state: "failed", err: "image registry.demo.invalid/box:1 not found: manifest unknown", attempt: time.Minute, success: time.Hour})
	if a := s.look().want(refRule, alerts.StateFiring); a.SubjectCount != 1 || a.Subjects[0].Label.String() != "a/box" {
		t.Errorf("subjects %v", a.Subjects)
	}
}

// danglingStory has two running sessions whose references name containers, of which the second is not listed.
func danglingStory(t *testing.T) *story {
	s := begin(t, refRule)
	s.source("refs", backend.InputRefs)
	s.source("docker", backend.InputContainers)
	s.listed[backend.KindSession] = "helix" // every poll lists them all
	for _, id := range []string{"a", "b"} {
		s.session(id, func(x *backend.Session) { x.Running = backend.Known(true) })
		s.ref(id+"/box", func(x *backend.Ref) { x.Sandbox = backend.MustID("container-" + id) })
	}
	s.sandbox("container-a", "a", backend.SandboxRunning)
	return s
}

func TestRefMismatchFiresForAReferenceThatLeadsNowhere(t *testing.T) {
	s := danglingStory(t)
	// The first look proves nothing yet, and tells it: its reference may be new to the list.
	if a := s.look().want(refRule, alerts.StatePending); !strings.Contains(a.Subjects[0].Detail.String(), "container-b is not listed") {
		t.Errorf("%s: %v", a.Cause, a.Subjects)
	}
	s.after(5 * time.Second)
	a := s.want(refRule, alerts.StateFiring)
	if a.SubjectCount != 1 || a.Subjects[0].Key.Parent.Raw() != "b" || !strings.Contains(evidence(a), "names sandbox container-b") {
		t.Errorf("subjects %v\n%s", a.Subjects, evidence(a))
	}
	s.pass(time.Second)
	s.down("docker", "no socket")
	s.look().want(refRule, alerts.StateHeld) // an unread list proves nothing
	s.up("docker")
	s.after(time.Second).want(refRule, alerts.StateFiring)
	s.restart()
	s.after(time.Second).want(refRule, alerts.StateFiring)
	s.pass(time.Second)
	s.sandbox("container-b", "b", backend.SandboxRunning)
	s.look().quiet(refRule)
}

func TestRefMismatchDoesNotJudgeReferencesThatCannotBeCompared(t *testing.T) {
	s := danglingStory(t)
	s.session("b", func(x *backend.Session) { x.Running = backend.Known(false) }) // it rests: nobody wants its sandbox now
	s.session("c", func(x *backend.Session) { x.Running = backend.Known(true) })
	s.ref("c/box", func(x *backend.Ref) {
		x.Sandbox, x.Provider = backend.MustID("sbx-1"), backend.Text("cloudflare-sandbox")
	})
	s.every(5*time.Second, time.Minute, nil).quiet(refRule)
}

// TestRefMismatchTakesNoNameForAList: what a reference or the configuration names need not be there, so that it proves neither that its
// list has the ids of that provider, nor that another reference leads nowhere.
func TestRefMismatchTakesNoNameForAList(t *testing.T) {
	for name, c := range map[string]struct {
		other, unlisted, unseen, named, fires bool
	}{"a list of these ids": {fires: true}, "a list of other ids": {other: true}, "only names": {unlisted: true}, "a list that leaves out what is named": {named: true}, "a list with rows that cannot be read": {unseen: true}} {
		s := danglingStory(t)
		s.sandbox("container-a", "a", backend.SandboxRunning)
		s.box("container-a", "a", func(b *backend.Sandbox) {
			b.Class = backend.SandboxRunning
			if c.unlisted {
				b.Class, b.Unlisted, b.NamedBy = backend.SandboxUnknown, true, backend.NamedByRef
			}
		})
		if c.named {
			s.box("container-b", "", func(b *backend.Sandbox) {
				b.Class, b.Unlisted, b.NamedBy = backend.SandboxUnknown, true, backend.NamedByRef
			})
		}
		s.health("docker", func(h *fleet.SourceHealth) { h.OtherIDs, h.Unseen = c.other, c.unseen })
		s.every(5*time.Second, time.Minute, nil)
		if got := len(s.alerts(refRule)) > 0; got != c.fires {
			t.Errorf("%s: fires %v", name, got)
		}
	}
}

// retries makes a workspace fail once more with a permanent cause while it is evicted.
func retries(s *story, path, state, err string) func() {
	return func() {
		success := noon.Add(-10 * time.Minute)
		s.reads(path, reading{state: state, err: err, attempt: time.Second, edit: func(w *backend.Workspace) { w.LastSuccessAt = backend.Known(success) }})
	}
}

func TestTransientFiresForPermanentCausesThatAreRetried(t *testing.T) {
	s := begin(t)
	again := retries(s, "a/box", "evicted", schema)
	again()
	s.look().quiet(transientRule) // a cold start knows one attempt
	s.every(10*time.Second, 50*time.Second, again).quiet(transientRule)
	a := s.every(10*time.Second, 20*time.Second, again).want(transientRule, alerts.StateFiring)
	wantEvidence(t, a, "the error is permanent, its state is evicted")
	if h := s.want(hammeredRule, alerts.StateFiring); h.InhibitedBy != a.ID {
		t.Errorf("hammered-and-failing is not part of it:\n%s", summary(s.board))
	}
	s.pass(time.Second)
	s.reads("a/box", reading{state: "open", attempt: time.Second, success: time.Millisecond})
	s.look().quiet(transientRule)
}

func TestTransientDoesNotFire(t *testing.T) {
	s := begin(t, transientRule)
	quotas, failed := retries(s, "a/box", "evicted", quota), retries(s, "b/box", "failed", schema)
	s.every(10*time.Second, 5*time.Minute, func() { quotas(); failed() }).quiet(transientRule)
	single := begin(t, transientRule)
	single.reads("a/box", reading{state: "evicted", err: schema, attempt: 40 * time.Minute, success: time.Hour})
	single.every(10*time.Second, 5*time.Minute, nil).quiet(transientRule) // nobody tries again
}

func TestTransientGapRestart(t *testing.T) {
	s := begin(t, transientRule)
	again := retries(s, "a/box", "evicted", noBucket)
	s.every(20*time.Second, 2*time.Minute, again)
	survives(s, transientRule, again)
}

func TestWrongOptionsOfCauseRulesNameTheirKey(t *testing.T) {
	for _, c := range []struct {
		key string
		o   Options
	}{
		{"share", func() Options { o := sustainedDefaults(); o.Share = 80; return o }()},
		{"leave", func() Options { o := sustainedDefaults(); o.Leave = 0.9; return o }()},
		{"over", func() Options { o := sustainedDefaults(); o.Over = 0; return o }()},
		{"failed", func() Options { o := sustainedDefaults(); o.Failed = 0; return o }()},
		{"resets", func() Options { o := loopDefaults(); o.Resets = 1; return o }()},
		{"over", func() Options { o := loopDefaults(); o.Over = 0; return o }()},
		{"sessions", func() Options { o := burstDefaults(); o.Sessions = 1; return o }()},
		{"share", func() Options { o := burstDefaults(); o.Share = 2; return o }()},
		{"share", func() Options { o := chaosDefaults(); o.Share = -1; return o }()},
		{"settled", func() Options { o := burstDefaults(); o.Settled = 0; return o }()},
		{"over", func() Options { o := burstDefaults(); o.Over = -1; return o }()},
		{"causes", func() Options { o := chaosDefaults(); o.Causes = 1; return o }()},
		{"sessions", func() Options { o := chaosDefaults(); o.Sessions = 0; return o }()},
		{"over", func() Options { o := chaosDefaults(); o.Over = 0; return o }()},
		{"listed", func() Options { o := vanishedDefaults(); o.Listed = 0; return o }()},
		{"scratch", func() Options { o := vanishedDefaults(); o.Scratch = ""; return o }()},
		{"attempts", func() Options { o := transientDefaults(); o.Attempts = 1; return o }()},
		{"apart", func() Options { o := transientDefaults(); o.Apart = 0; return o }()},
		{"warn", func() Options { o := capacityDefaults(); o.Warn = 80; return o }()},
		{"refused", func() Options { o := capacityDefaults(); o.Refused = 0; return o }()},
		{"limit", func() Options { o := capacityDefaults(); o.Limit = -1; return o }()},
		{"over", func() Options { o := capacityDefaults(); o.Over = 0; return o }()},
		{"opens", func() Options { o := restartDefaults(); o.Opens = 1; return o }()},
		{"share", func() Options { o := restartDefaults(); o.Share = 30; return o }()},
		{"unfinished", func() Options { o := restartDefaults(); o.Unfinished = 0; return o }()},
		{"within", func() Options { o := restartDefaults(); o.Within = 0; return o }()},
	} {
		_, err := c.o.build()
		var key *KeyError
		if !errors.As(err, &key) || key.Key != c.key {
			t.Errorf("want an error about %s, have %v", c.key, err)
		}
	}
}
