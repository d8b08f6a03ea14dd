package ui

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestThePaneSaysWhatIsBrokenAndWhatToDo: at 80x24 an engineer reads cause, scope, onset, the first step and what not to do, and no
// instruction ends in the middle.
func TestThePaneSaysWhatIsBrokenAndWhatToDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state, board := incident(time.Now())
		s := open(t, newFeed(state, board), look{w: 80, h: 24})
		defer s.close()
		s.settle()
		text := s.text()
		for _, label := range []string{"cause ", "scope ", "since ", "first ", "don't "} {
			if !strings.Contains(text, "\n "+label) {
				t.Errorf("no line %q:\n%s", label, text)
			}
		}
		advice := false
		for _, l := range s.lines() {
			label := strings.TrimSpace(l[:min(len(l), 10)])
			if label != "" {
				advice = slices.Contains([]string{"first", "then", "don't"}, label)
			}
			if advice && strings.Contains(l, "…") {
				t.Errorf("an instruction is cut: %s", l)
			}
		}
	})
}

// Sources that never answered are not live.
func TestTheHeaderSaysLiveOnlyOfAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := &fleet.State{Number: 1, Sources: []*fleet.SourceHealth{{Kind: "prometheus", Key: backend.Key{Kind: backend.KindSource, Source: "m", ID: backend.MustID("m")}, Status: fleet.StatusDown}}}
		s := open(t, newFeed(down, &alerts.Board{}), look{w: 120, h: 24})
		defer s.close()
		if head := s.lines()[0]; !strings.Contains(head, "0/1 sources") || strings.Contains(head, "live") || !strings.Contains(head, "no data") {
			t.Error(head)
		}
	})
}

// TestTheHeaderCountsWhatFires: an alert of severity info fires too.
func TestTheHeaderCountsWhatFires(t *testing.T) {
	for _, c := range []struct {
		state alerts.AlertState
		says  string
	}{{alerts.StateFiring, "1 info"}, {alerts.StatePending, "none firing  1 pending"}, {alerts.StateEnded, "no alert"}} {
		synctest.Test(t, func(t *testing.T) {
			state, _ := incident(time.Now())
			a := &alerts.Alert{ID: "a", Rule: "wont-terminate", Severity: alerts.SeverityInfo, State: c.state, Since: time.Now(), Cause: backend.Text("its session is over")}
			s := open(t, newFeed(state, &alerts.Board{Alerts: []*alerts.Alert{a}}), look{w: 80, h: 24})
			defer s.close()
			s.settle()
			if head := s.lines()[0]; !strings.Contains(head, c.says) || c.says != "no alert" && strings.Contains(head, "no alert") {
				t.Errorf("%s: %s", c.state, head)
			}
		})
	}
}
