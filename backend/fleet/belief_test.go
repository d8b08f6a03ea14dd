package fleet

import (
	"testing"
	"time"

	"sandglass/backend"
)

// TestWhatAnAgentBelieves: from what is known of a sandbox follows what the check of its agent says, or that nothing does.
func TestWhatAnAgentBelieves(t *testing.T) {
	now := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	type box = backend.Sandbox
	class := func(provider backend.Literal, c backend.SandboxClass) func(*box) {
		return func(b *box) {
			b.Provider, b.Class, b.Reported = backend.Text(provider), c, backend.Clean(string(c), 40)
		}
	}
	saw := func(sees backend.Value[bool], more ...backend.Verdict) func(*box) {
		return func(b *box) {
			class("blaxel", backend.SandboxRunning)(b)
			in := &backend.Inside{At: now, AgentSees: sees, AgentWhy: backend.Text("listing / took longer than 10 s")}
			*b = *b.WithObserved(append(more, backend.Verdict{Plane: backend.PlaneControl, Outcome: backend.OutcomeOK, At: now, Inside: in}))
		}
	}
	exec := func(o backend.Outcome, kind backend.FailureKind) backend.Verdict {
		return backend.Verdict{Plane: backend.PlaneExec, Outcome: o, Kind: kind, What: backend.Text("its working directory is missing"), At: now}
	}
	for name, c := range map[string]struct {
		edit    func(*box)
		told    bool
		runs    backend.Value[bool]
		differs string
	}{
		"a platform that runs it": {class("blaxel", backend.SandboxRunning), true, backend.Unknown[bool](), ""},
		"it sleeps":               {class("blaxel", backend.SandboxAsleep), true, backend.Known(true), ""},
		"it was terminated":       {class("blaxel", backend.SandboxExited), true, backend.Known(false), ""},
		"it was terminated, and answers": {func(b *box) {
			saw(backend.Known(true))(b)
			class("blaxel", backend.SandboxExited)(b)
		}, true, backend.Known(true), "but its status is exited"},
		"it answered before its end": {func(b *box) {
			saw(backend.Known(true))(b)
			class("blaxel", backend.SandboxExited)(b)
			b.KnownSince = now.Add(time.Minute)
		}, true, backend.Known(false), ""},
		"it is disabled": {func(b *box) {
			class("blaxel", backend.SandboxPaused)(b)
			b.Reported = backend.Text("DEPLOYED, disabled")
		}, true, backend.Known(false), ""},
		"it is archived":              {class("blaxel", backend.SandboxPaused), true, backend.Unknown[bool](), ""}, // no source says what it answers
		"it is being deleted":         {class("blaxel", backend.SandboxRemoving), true, backend.Unknown[bool](), ""},
		"a word without a meaning":    {class("blaxel", backend.SandboxUnknown), true, backend.Unknown[bool](), ""},
		"a probe saw it":              {saw(backend.Known(true)), true, backend.Known(true), ""},
		"a probe saw less":            {saw(backend.Known(true), exec(backend.OutcomeFailed, backend.FailWorkDirMissing)), true, backend.Known(true), "but its working directory is missing"},
		"a probe saw nothing":         {saw(backend.Known(false)), true, backend.Known(false), ""},
		"a probe saw it, / was slow":  {saw(backend.Known(false), exec(backend.OutcomeOK, "")), true, backend.Known(false), "but a command ran in it"},
		"a probe could not tell":      {saw(backend.Unknown[bool]()), true, backend.Unknown[bool](), ""},
		"an old reading":              {func(b *box) { class("blaxel", backend.SandboxAsleep)(b); b.Stale = true }, false, backend.Unknown[bool](), ""},
		"a container":                 {class("docker", backend.SandboxRunning), true, backend.Known(true), ""},
		"a container that ended":      {class("docker", backend.SandboxExited), true, backend.Known(false), ""},
		"a check that is not known":   {class("e2b", backend.SandboxRunning), false, backend.Unknown[bool](), ""},
		"no agent SDK is known there": {func(b *box) { class("blaxel", backend.SandboxAsleep)(b); b.Name = backend.Text("web") }, false, backend.Unknown[bool](), ""},
		"a former life":               {func(b *box) { saw(backend.Known(false))(b); b.KnownSince = now.Add(time.Hour) }, true, backend.Unknown[bool](), ""},
		"a probe woke it":             {func(b *box) { saw(backend.Known(false))(b); b.KnownSince = now.Add(time.Second) }, true, backend.Known(false), ""},
	} {
		b := &box{Name: backend.Text("agents-0123456789ab")}
		b.Key, b.ReadAt = backend.Key{Kind: backend.KindSandbox, Source: "cloud", ID: backend.MustID("agents-0123456789ab")}, now
		c.edit(b)
		x, told := (&State{}).BeliefOn(b)
		if told != c.told || told && (x.Runs != c.runs || x.Differs.String() != c.differs || x.Why.IsEmpty()) {
			t.Errorf("%s: told %v: %+v", name, told, x)
		}
	}
}

// TestALineAndTheEndOfASandbox: which came first decides what its agent believes; where a console that starts late cannot tell, it says so.
func TestALineAndTheEndOfASandbox(t *testing.T) {
	now := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	seenOtherwise := []backend.StatusChange{{Status: backend.Text("DEPLOYED RUNNING"), At: now.Add(-time.Hour)}, {Status: backend.Text("TERMINATED"), At: now}}
	for name, c := range map[string]struct {
		says  backend.ReportKind
		ago   time.Duration // before it was first seen to be over
		edit  func(*backend.Sandbox)
		runs  backend.Value[bool]
		told  bool
		words string
	}{
		"a console that starts late": {backend.ReportAgentRuns, 20 * time.Second, nil, backend.Unknown[bool](), false,
			"its log said at 11:59:40Z that it runs; its status is TERMINATED, and whether it ended before that line is not known"},
		"its agent knew":             {backend.ReportAgentDown, 20 * time.Second, nil, backend.Known(false), false, "its status is TERMINATED: / cannot be listed"},
		"it was seen to run since":   {backend.ReportAgentRuns, 5 * time.Minute, func(b *backend.Sandbox) { b.History = seenOtherwise }, backend.Known(false), false, "its status is TERMINATED: / cannot be listed"},
		"the end is near the line":   {backend.ReportAgentRuns, 20 * time.Second, func(b *backend.Sandbox) { b.History = seenOtherwise }, backend.Unknown[bool](), false, ""},
		"its end is told, and later": {backend.ReportAgentRuns, 5 * time.Minute, func(b *backend.Sandbox) { b.FinishedAt = backend.Known(now.Add(-time.Minute)) }, backend.Known(false), false, ""},
		"its end is told, and was before": {backend.ReportAgentRuns, 5 * time.Minute, func(b *backend.Sandbox) { b.FinishedAt = backend.Known(now.Add(-time.Hour)) },
			backend.Known(true), true, "its log said so: words"},
		"both in one moment":        {backend.ReportAgentRuns, 5 * time.Minute, func(b *backend.Sandbox) { b.FinishedAt = backend.Known(now.Add(-5*time.Minute - 30*time.Second)) }, backend.Unknown[bool](), false, ""},
		"a line from after the end": {backend.ReportAgentRuns, -time.Second, nil, backend.Known(true), true, "its log said so: words"},
	} {
		b := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: backend.MustID("agents-0a1b2c3d4e5f")}, ReadAt: now}, Name: backend.Text("agents-0a1b2c3d4e5f"),
			Provider: backend.Text("blaxel"), Session: backend.MustID("s1"), Class: backend.SandboxExited, Reported: backend.Text("TERMINATED"), FinishedAt: backend.Unknown[time.Time]()}
		b.KnownSince = now
		if c.edit != nil {
			c.edit(b)
		}
		said := backend.Report{Source: "log", At: now.Add(-c.ago), Kind: c.says, Session: b.Session, Sandbox: b.Key.ID, Text: backend.Text("words")}
		h := &SourceHealth{Key: backend.Key{Kind: backend.KindSource, Source: "log", ID: backend.MustID("log")}, About: []string{"bl"}, Reports: []backend.Report{said}}
		x, _ := (&State{Wall: now, Sandboxes: NewTable(b), Sources: []*SourceHealth{h}}).BeliefOn(b)
		if x.Runs != c.runs || (x.Told != nil) != c.told || c.words != "" && x.Why.String() != c.words || (x.Differs.IsEmpty()) == c.told {
			t.Errorf("%s: %+v", name, x)
		}
	}
}
