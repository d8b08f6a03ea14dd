package cli

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestRefsCheckNamesInvalidStates: what is in them is not known, so that it cannot tell.
func TestRefsCheckNamesInvalidStates(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	fold := func(problems ...backend.Problem) *fleet.State {
		ref := &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "st", Parent: backend.MustID("s1"), ID: backend.MustID("w")}, ReadAt: at}, Session: backend.MustID("s1"),
			Provider: backend.Text("local-bash"), SchemaVersion: backend.Known(3)}
		return fleet.NewFolder(time.Minute).Fold([]backend.Answer{{Source: "st", Config: &backend.SourceConfig{Kind: "refs", Interval: time.Minute}},
			{Source: "st", Reading: &backend.Reading{Source: "st", Kind: "refs", At: at, Refs: []*backend.Ref{ref}, Problems: problems, Inputs: []backend.Input{backend.InputRefs},
				Scopes: []backend.Scope{{Kind: backend.KindRef, Complete: true}}}}}, backend.Instant{Wall: at})
	}
	if doc := newRollbackDoc(fold(), 2, 4); doc.ExitCode != alerts.ExitOK || len(doc.Invalid) > 0 {
		t.Errorf("%+v", doc)
	}
	doc := newRollbackDoc(fold(backend.Problem{Kind: backend.ErrInvalid, Where: backend.Text("bad.json, /timeouts"), What: backend.Text("below 1 s")}), 2, 4)
	for _, want := range []string{"Cannot tell", "not known: what is in 1 invalid part of the saved states\n    bad.json, /timeouts: below 1 s\n"} {
		if !strings.Contains(doc.text(), want) {
			t.Errorf("no %q:\n%s", want, doc.text())
		}
	}
	if doc.ExitCode != alerts.ExitUnknown {
		t.Errorf("exit code %d", doc.ExitCode)
	}
}

// TestRefsCheckTellsVersionsOfRunStates: each that is found, and one that is not known, of which what was read may be wrong.
func TestRefsCheckTellsVersionsOfRunStates(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	fold := func(versions ...string) *fleet.State {
		refs := []*backend.Ref{{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "st", Parent: backend.MustID("h"), ID: backend.MustID("w")}, ReadAt: at}, Session: backend.MustID("h"), SchemaVersion: backend.Known(3)}}
		for i, v := range versions {
			id := backend.MustID(string(rune('a' + i)))
			refs = append(refs, &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "st", Parent: id, ID: id}, ReadAt: at}, Session: id, Provider: backend.Text("unix_local"),
				SchemaVersion: backend.NotApplicable[int](), Agent: &backend.AgentState{Version: backend.Clean(v, 20), Directory: backend.Text("/srv/agents/x")}})
		}
		return fleet.NewFolder(time.Minute).Fold([]backend.Answer{{Source: "st", Config: &backend.SourceConfig{Kind: "refs", Interval: time.Minute}},
			{Source: "st", Reading: &backend.Reading{Source: "st", Kind: "refs", At: at, Refs: refs, Inputs: []backend.Input{backend.InputRefs}, Scopes: []backend.Scope{{Kind: backend.KindRef, Complete: true}}}}}, backend.Instant{Wall: at})
	}
	if doc := newRollbackDoc(fold("1.17", "1.17", ""), 2, 4); doc.ExitCode != alerts.ExitOK || !strings.Contains(doc.text(), "$schemaVersion 1.17: 2 session states\n") ||
		!strings.Contains(doc.text(), "1 session state without a $schemaVersion") || !strings.Contains(doc.text(), "it works in a directory of its agent's host, /srv/agents/x: no platform lists that") {
		t.Errorf("exit code %d:\n%s", doc.ExitCode, doc.text())
	}
	if doc := newRollbackDoc(fold("1.17", "1.99"), 2, 4); doc.ExitCode != alerts.ExitUnknown || !strings.Contains(doc.text(), "$schemaVersion 1.99: 1 session state, which Sandglass does not know") {
		t.Errorf("exit code %d:\n%s", doc.ExitCode, doc.text())
	}
}
