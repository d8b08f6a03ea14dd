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
