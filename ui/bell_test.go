package ui

import (
	"fmt"
	"strings"

	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"sandglass/alerts"
	"sandglass/backend/fleet"
)

func TestTheBellRingsForWhatIsNewAndNobodys(t *testing.T) {
	heard := &fleet.State{Sources: []*fleet.SourceHealth{{Status: fleet.StatusOK}, {Status: fleet.StatusDown}}}
	starting := &fleet.State{Sources: []*fleet.SourceHealth{{Status: fleet.StatusOK}, {Status: fleet.StatusStarting}}}
	a := func(id string, s alerts.Severity, st alerts.AlertState, change func(*alerts.Alert)) *alerts.Alert {
		x := &alerts.Alert{ID: id, Severity: s, State: st}
		if change != nil {
			change(x)
		}
		return x
	}
	old := a("old", alerts.SeverityCritical, alerts.StateFiring, nil)
	held := a("old", alerts.SeverityCritical, alerts.StateHeld, func(x *alerts.Alert) { x.FoldedUnder = "s" })
	mine := a("old", alerts.SeverityCritical, alerts.StateFiring, func(x *alerts.Alert) { x.Acknowledged = &alerts.Acknowledgement{} })
	fresh := a("new", alerts.SeverityCritical, alerts.StateFiring, nil)
	flaps := a("new", alerts.SeverityCritical, alerts.StateFiring, func(x *alerts.Alert) { x.Flapping = true })
	part := a("new", alerts.SeverityCritical, alerts.StateFiring, func(x *alerts.Alert) { x.InhibitedBy = "old" })
	muted := a("new", alerts.SeverityCritical, alerts.StateFiring, func(x *alerts.Alert) { x.Silenced = &alerts.Silence{} })
	maybe := a("new", alerts.SeverityCritical, alerts.StatePending, nil)
	warning := a("warn", alerts.SeverityWarning, alerts.StateFiring, nil)
	type step struct {
		board []*alerts.Alert
		rings bool
	}
	for name, steps := range map[string][]step{
		"what is there at the start":        {{[]*alerts.Alert{old}, false}, {[]*alerts.Alert{old}, false}},
		"a new one":                         {{[]*alerts.Alert{old}, false}, {[]*alerts.Alert{old, fresh}, true}, {[]*alerts.Alert{old, fresh}, false}},
		"one that comes back":               {{[]*alerts.Alert{fresh}, false}, {nil, false}, {[]*alerts.Alert{fresh}, true}},
		"one that is proved":                {{nil, false}, {[]*alerts.Alert{maybe}, false}, {[]*alerts.Alert{fresh}, true}},
		"a source that goes and returns":    {{[]*alerts.Alert{old}, false}, {[]*alerts.Alert{held}, false}, {[]*alerts.Alert{old}, false}},
		"an acknowledgement that lapses":    {{[]*alerts.Alert{old}, false}, {[]*alerts.Alert{mine}, false}, {[]*alerts.Alert{old}, true}},
		"flapping":                          {{nil, false}, {[]*alerts.Alert{flaps}, false}},
		"a part of an outage":               {{nil, false}, {[]*alerts.Alert{old, part}, true}, {[]*alerts.Alert{old, part}, false}},
		"silenced":                          {{nil, false}, {[]*alerts.Alert{muted}, false}},
		"a warning is not what it is for":   {{nil, false}, {[]*alerts.Alert{warning}, false}},
		"an empty Board is a start as well": {{nil, false}, {[]*alerts.Alert{old}, true}},
	} {
		var b bell
		now := time.Unix(0, 0)
		for i, s := range steps {
			now = now.Add(time.Minute)
			if got := b.due(now, alerts.SeverityCritical, heard, &alerts.Board{Alerts: s.board}); got != s.rings {
				t.Errorf("%s: step %d rings %v", name, i, got)
			}
		}
	}
	var b bell
	now := time.Unix(0, 0)
	if b.due(now, alerts.SeverityCritical, starting, &alerts.Board{}) || b.due(now, alerts.SeverityCritical, heard, &alerts.Board{Alerts: []*alerts.Alert{old}}) {
		t.Error("it rings for what the console finds while sources are read for the first time")
	}
	if !b.due(now, alerts.SeverityCritical, heard, &alerts.Board{Alerts: []*alerts.Alert{old, fresh}}) {
		t.Error("it does not ring")
	}
	other := a("other", alerts.SeverityCritical, alerts.StateFiring, nil)
	if b.due(now.Add(bellPause-1), alerts.SeverityCritical, heard, &alerts.Board{Alerts: []*alerts.Alert{old, fresh, other}}) {
		t.Error("it rings twice within the pause")
	}
	if b = (bell{}); b.due(now, "", heard, &alerts.Board{}) || b.due(now, "", heard, &alerts.Board{Alerts: []*alerts.Alert{old}}) {
		t.Error("it rings though it is off")
	}
}

func TestTheBellReachesTheTerminal(t *testing.T) {
	now := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	for from, want := range map[alerts.Severity]bool{"": false, alerts.SeverityCritical: true} {
		state, board := incident(now)
		feed := newFeed(state, &alerts.Board{})
		m := New(Viewer{Name: "mara", Size: Size{80, 24}, Settings: Settings{Bell: from}, Now: func() time.Time { return now }}, feed)
		m.Update(changedMsg{})
		feed.set(state, board)
		m.refresh()
		cmd := ringBell(m)
		if (cmd != nil) != want {
			t.Errorf("from %q: rings %v", from, cmd != nil)
		}
		if cmd != nil {
			if msg, ok := cmd().(tea.RawMsg); !ok || msg.Msg != "\a" {
				t.Errorf("it sends %v", msg)
			}
			m.bell.rang, m.bell.known, m.bell.away = time.Time{}, map[string]bool{}, true
			m.viewer.Environ = []string{"TERM=foot"}
			if msg, ok := ringBell(m)().(tea.RawMsg); !ok || !strings.HasPrefix(fmt.Sprint(msg.Msg), "\x1b]777;") || strings.Contains(fmt.Sprint(msg.Msg), "\a") {
				t.Errorf("to one that is not looked at it sends %q", msg.Msg)
			}
		}
		m.Close()
	}
}
