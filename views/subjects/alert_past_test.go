package subjects

import (
	"testing"
	"time"

	"sandglass/backend"
)

// TestPastAlert: the rule, the cause and the reason of an alert that is over are read from its newest event.
func TestPastAlert(t *testing.T) {
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	box := backend.Key{Kind: backend.KindWorkspace, Source: "h", Parent: backend.MustID("s1"), ID: backend.MustID("box")}
	event := func(after time.Duration, name, text string) backend.Event {
		return backend.Event{Kind: backend.EventTransition, Alert: "7f757ebc49", Source: "h", At: at.Add(after), Name: name, Text: backend.Clean(text, 200), Subject: box}
	}
	newest := []backend.Event{
		event(3*time.Minute, "ended", "failed-too-long ended: boom: x (y) (2 subjects): its session ended: gone"),
		{Kind: backend.EventAction, Alert: "7f757ebc49", At: at.Add(2 * time.Minute), Text: backend.Text("zed acknowledges it")},
		event(time.Minute, "firing", "failed-too-long firing: boom: x (y) (2 subjects)"),
		event(0, "pending", "failed-too-long pending: boom: x (y) (1 subject)"),
	}
	p, ok := PastAlertOf("7f757ebc49", newest)
	if !ok || p.Rule != "failed-too-long" || p.Cause != "boom: x (y)" || p.Why != "its session ended: gone" || p.End != "ended" ||
		!p.At.Equal(at.Add(3*time.Minute)) || !p.Fired.Equal(at.Add(time.Minute)) || len(p.Subjects) != 1 || p.Subjects[0] != box {
		t.Errorf("%+v %v", p, ok)
	}
	if _, ok := PastAlertOf("other", newest); ok {
		t.Error("an alert that no event names is remembered")
	}
	if _, ok := PastAlertOf("", newest); ok {
		t.Error("an empty id is an alert")
	}
}
