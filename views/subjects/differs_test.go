package subjects

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/alerts/rules"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/theme"
)

// What differs from half an hour before is told with what it was; what was not read then is unknown, and what is as it was is left out.
func TestWhatDiffersFromHalfAnHourBefore(t *testing.T) {
	ago := func(m int) time.Time { return noon.Add(-time.Duration(m) * time.Minute) }
	ws := func(id string, seen int, history ...backend.StatusChange) *backend.Workspace {
		return &backend.Workspace{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindWorkspace, Source: "helix", ID: backend.MustID(id)}, FirstSeen: ago(seen), History: history}}
	}
	status := func(s string, m int) backend.StatusChange {
		return backend.StatusChange{Status: backend.Clean(s, 20), At: ago(m)}
	}
	deploy := backend.Event{Kind: backend.EventChange, At: ago(9), Source: "helix", Name: "version", Text: backend.Text("agent 0.9.1 → 0.9.2")}
	board, _ := alerts.NewEngine(rules.Defaults(), "prod").Next(nil, &fleet.State{Number: 1, Wall: noon, Events: []backend.Event{deploy}})
	failed := ws("broke", 300, status("open", 299), status("failed", 8))
	board.Alerts = []*alerts.Alert{{ID: "a1", Rule: "failed-too-long", Source: "helix", State: alerts.StateFiring, Bounds: alerts.Bounds{Latest: ago(7)}, Subjects: []alerts.Subject{{Key: failed.Key}}},
		{ID: "a2", Rule: "older-alert", Source: "helix", State: alerts.StateFiring, Bounds: alerts.Bounds{Latest: ago(70)}}}
	count := func(m int, n float64) backend.Count {
		return backend.Count{Series: backend.Series{Source: "helix", Name: backend.MetricEvictions}, At: ago(m), N: n}
	}
	st := &fleet.State{Workspaces: fleet.NewTable(failed, ws("same", 300, status("open", 299)), ws("back", 300, status("open", 299), status("failed", 20), status("open", 5)),
		ws("new", 3, status("open", 3))), Sources: []*fleet.SourceHealth{{Key: backend.Key{Kind: backend.KindSource, Source: "helix", ID: backend.MustID("helix")}}},
		Day: fleet.NewDay(noon, count(32, 5), count(1, 25), backend.Count{Series: backend.Series{Source: "helix", Name: "log-lines"}, At: ago(1), N: 10})}
	f := &views.Frame{Snapshot: views.NewSnapshot(noon, st, board), Theme: theme.New(theme.NoColours, theme.ASCII)}
	doc, links := Differs(backend.Key{}, f)
	text := plainText(doc)
	for _, want := range []string{"1.0/min > 5.0/min", "evictions", "1 count was first read too short ago", "failed-too-long", "agent 0.9.1 > 0.9.2", "1 workspace differs", "/broke  open > failed", "first seen", "1 workspace "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not told:\n%s", want, text)
		}
	}
	for _, not := range []string{"older-alert", "same", "back", "log lines"} {
		if strings.Contains(text, not) {
			t.Errorf("%q is told:\n%s", not, text)
		}
	}
	d := WhatDiffers(backend.Key{}, f)
	if len(d.Alerts) != 1 || d.Alerts[0] != "a1" || len(d.Counts) != 1 || d.Counts[0].Was != "1.0/min" || d.Counts[0].Now != "5.0/min" || len(d.Changes) != 1 {
		t.Errorf("%+v", d)
	}
	if d := WhatDiffers(failed.Key, f); len(d.Alerts) != 1 || len(d.States) != 1 || len(d.Counts) != 0 {
		t.Errorf("of one subject: %+v", d)
	}
	if len(links) != 2 {
		t.Errorf("links %v", links)
	}
	for key, want := range map[string]string{"broke": "open > failed", "same": "as 30 minutes before", "new": "what it was before is not known"} {
		doc, _ := Differs(backend.Key{Kind: backend.KindWorkspace, Source: "helix", ID: backend.MustID(key)}, f)
		if text := plainText(doc); !strings.Contains(text, want) || strings.Contains(text, "failed-too-long") != (key == "broke") {
			t.Errorf("%s:\n%s", key, text)
		}
	}
}

// What was not read half an hour before is compared with what was read first, with its age: of a rate, once its span is whole.
func TestCountsAreComparedWithTheFirstReading(t *testing.T) {
	source := backend.Key{Kind: backend.KindSource, Source: "h", ID: backend.MustID("h")}
	count := func(name string, m int, n float64) backend.Count {
		return backend.Count{Series: backend.Series{Source: "h", Name: backend.Metric(name)}, At: noon.Add(-time.Duration(m) * time.Minute), N: n}
	}
	var counts []backend.Count
	for m := range 10 {
		counts = append(counts, count(string(backend.MetricEvictions), m, map[bool]float64{true: 3, false: 1}[m < 5]))
	}
	counts = append(counts, count("log-lines", 4, 1), count("log-lines", 1, 7))
	st := &fleet.State{Sources: []*fleet.SourceHealth{{Key: source}}, Day: fleet.NewDay(noon, counts...)}
	doc, _ := Differs(backend.Key{}, &views.Frame{Snapshot: views.NewSnapshot(noon, st, &alerts.Board{}), Theme: theme.New(theme.NoColours, theme.ASCII)})
	text := plainText(doc)
	for _, want := range []string{", first read 3m ago > 3.0/min", "1 count was first read too short ago"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not told:\n%s", want, text)
		}
	}
}

// What a source listed when it was first read is not new: a console that has just begun, or a command that looks for half a minute,
// compares with that, and says so.
func TestWhatDiffersFromTheFirstReading(t *testing.T) {
	ws := func(source, id string, seen, changed time.Duration) *backend.Workspace {
		return &backend.Workspace{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindWorkspace, Source: source, ID: backend.MustID(id)}, FirstSeen: noon.Add(-seen),
			History: []backend.StatusChange{{Status: backend.Text("open"), At: noon.Add(-seen)}, {Status: backend.Text("failed"), At: noon.Add(-changed)}}}}
	}
	source := func(id string, first time.Duration) *fleet.SourceHealth {
		return &fleet.SourceHealth{Key: backend.Key{Kind: backend.KindSource, Source: id, ID: backend.MustID(id)}, FirstTry: noon.Add(-first), Interval: 10 * time.Second}
	}
	st := &fleet.State{Workspaces: fleet.NewTable(ws("h", "broke", 28*time.Second, 5*time.Second), ws("h", "still", 28*time.Second, 27*time.Second), ws("h", "new", 4*time.Second, 2*time.Second)),
		Sources: []*fleet.SourceHealth{source("h", 30*time.Second)}}
	f := &views.Frame{Snapshot: views.NewSnapshot(noon, st, &alerts.Board{}), Theme: theme.New(theme.NoColours, theme.ASCII)}
	doc, _ := Differs(backend.Key{}, f)
	text := plainText(doc)
	for _, want := range []string{"Nothing was read before", "the first readings are compared", "1 workspace differs", "/broke  open > failed", "first seen  1 workspace  since then"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not told:\n%s", want, text)
		}
	}
	if strings.Contains(text, "still") {
		t.Errorf("what its first reading said is told as a change:\n%s", text)
	}
	doc, _ = Differs(backend.Key{Kind: backend.KindWorkspace, Source: "h", ID: backend.MustID("still")}, f)
	if text := plainText(doc); !strings.Contains(text, "as when its source was first read, 20s ago") {
		t.Errorf("%s", text)
	}
	if d := WhatDiffers(backend.Key{}, f); len(d.States) != 1 || d.States[0].Was != "open" || d.States[0].Now != "failed" || d.States[0].Key.ID.Raw() != "broke" || d.New["workspaces"] != 1 {
		t.Errorf("%+v", d)
	}
	if d := WhatDiffers(st.Workspaces.At(2).Key, f); len(d.States) != 0 || len(d.New) != 0 {
		t.Errorf("of one subject: %+v", d)
	}
	st.Sources = append(st.Sources, source("old", time.Hour))
	doc, _ = Differs(backend.Key{}, f)
	if text := plainText(doc); !strings.Contains(text, "Compared with their first readings: h.") {
		t.Errorf("%s", text)
	}
}
