package fleet

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// TestLinesOfSandboxesThatNoSourceListsAreCounted, once what lists sandboxes was read.
func TestLinesOfSandboxesThatNoSourceListsAreCounted(t *testing.T) {
	line := func(id string) backend.Report {
		return backend.Report{Kind: backend.ReportNotStarted, At: t0, Sandbox: backend.MustID(id), Session: backend.MustID("sandbox-" + id)}
	}
	logs := &SourceHealth{Key: backend.Key{Kind: backend.KindSource, Source: "log", ID: backend.MustID("log")}, Status: StatusOK, LastOK: t0, About: []string{"cf"},
		Reports: []backend.Report{line("aaaa"), line("zzzz"), line("zzzz"), line("yyyy"), {Kind: backend.ReportCommandRan, At: t0, Sandbox: backend.MustID("xxxx")}}}
	cf := &SourceHealth{Key: backend.Key{Kind: backend.KindSource, Source: "cf", ID: backend.MustID("cf")}, Status: StatusOK, LastOK: t0, Inputs: []backend.Input{backend.InputContainers}}
	box := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "cf", ID: backend.MustID("aaaa")}}, Provider: backend.Text("cloudflare")}
	st := &State{Sources: []*SourceHealth{cf, logs}, Sandboxes: NewTable(box)}
	if got := st.Unattributed(logs).String(); !strings.HasPrefix(got, "unattributed: 3 lines of commands that could not begin, in 2 sandboxes that no source lists: zzzz, yyyy. They raise no alert") {
		t.Errorf("%q", got)
	}
	if got := st.Unattributed(cf); !got.IsEmpty() {
		t.Errorf("a source without lines: %s", got)
	}
	cf.LastOK = time.Time{}
	if got := st.Unattributed(logs); !got.IsEmpty() {
		t.Errorf("nothing was listed yet: %s", got)
	}
}

// TestNoRoomForAProbe: a refusal for want of an instance speaks of the next probe for a while, and not where the sandbox runs.
func TestNoRoomForAProbe(t *testing.T) {
	b := &backend.Sandbox{Provider: backend.Text("cloudflare"), Class: backend.SandboxUnknown}
	b = b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeUnknown, Kind: backend.FailThrottled, At: t0}})
	st := &State{}
	if !st.NoRoom(b, t0.Add(time.Minute)) || st.NoRoom(b, t0.Add(time.Hour)) {
		t.Error("a refusal a minute ago, or an hour ago")
	}
	b.Class = backend.SandboxRunning
	if st.NoRoom(b, t0.Add(time.Minute)) {
		t.Error("it runs")
	}
}
