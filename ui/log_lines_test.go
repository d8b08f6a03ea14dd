package ui

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/backend"
	"sandglass/views"
)

// l on rejected commands opens the logs of whose they are, at their lines; of those that name no session the log itself.
func TestLogsOfRejections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &fakeLogs{}
		s := open(t, rejectionFeed(), look{w: 120, h: 30, logs: l.logs(t)})
		defer s.close()
		s.press("6", "/", "l", "s", keyEnter, "g", "l")
		l.write("WARN workspace tool: shell metacharacter rejected sessionId=c4f1 command=ls; cat a", "WARN something else of c4f1 ls;", "rejected curl")
		time.Sleep(200 * time.Millisecond)
		s.settle()
		if l.asked.Kind != backend.KindWorkspace || l.asked.Parent.Raw() != "c4f1" || l.asked.ID.Raw() != "box" {
			t.Errorf("asked for %v", l.asked)
		}
		if got := s.text(); !strings.Contains(got, "command=ls; cat a") || strings.Contains(got, "something else") || strings.Contains(got, "rejected curl") {
			t.Errorf("not at its lines:\n%s", got)
		}
	})
	for r := range views.RejectionRows(rejectionFeedAt(noonUTC).(*fixedFeed).state) {
		of, filter := rejectedLines(&r)
		if r.Session.IsZero() && (of.Kind != backend.KindSource || of.Source != "app-logs" || filter != "rejected") {
			t.Errorf("%v, %q", of, filter)
		}
	}
}

// No line names a row of evictions: its log is that of its source.
func TestLogOfEvictions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &fakeLogs{}
		s := open(t, evictionFeed(), look{w: 120, h: 30, logs: l.logs(t)})
		defer s.close()
		if s.press("5", "l"); l.asked.Kind != backend.KindSource || l.asked.ID.Raw() != l.asked.Source {
			t.Errorf("asked for %v", l.asked)
		}
	})
}

// T shows times in the viewer's zone and says so, and UTC again.
func TestLocalTimesInLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &fakeLogs{}
		s := open(t, incidentFeed(), look{w: 120, h: 30, logs: l.logs(t)})
		defer s.close()
		s.model.frame.Now = s.model.frame.Now.In(time.FixedZone("CEST", 2*3600))
		s.press("3", "g")
		s.model.frame.Now = s.model.frame.Now.In(time.FixedZone("CEST", 2*3600))
		s.press("l")
		l.write("a line") // at 17:20 UTC
		time.Sleep(200 * time.Millisecond)
		for _, want := range []string{"17:20:00.000", "19:20:00.000", "17:20:00.000"} {
			if got := s.text(); !strings.Contains(got, want) || strings.Contains(got, "times CEST") != (want == "19:20:00.000") {
				t.Errorf("want %s:\n%s", want, got)
			}
			s.press("T")
		}
	})
}

// Where names are hidden a log shows and copies hashes, and its filter finds them and not the names.
func TestHiddenNamesInLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &fakeLogs{}
		s := open(t, incidentFeed(), look{w: 120, h: 30, logs: l.logs(t)})
		defer s.close()
		m := s.model
		m.viewer.HideNames = []byte("0123456789abcdef")
		m.frame.Hidden = m.names.begin(&m.viewer)
		m.refresh()
		s.press("3", "g", "l")
		l.write("evicted codesess_3541 from web-eval-12", "nothing")
		time.Sleep(200 * time.Millisecond)
		s.settle()
		hash := m.frame.Shown("web-eval-12")
		if got := s.text(); strings.Contains(got, "codesess_3541") || strings.Contains(got, "web-eval") || !strings.Contains(got, "from "+hash) {
			t.Errorf("drawn:\n%s", got)
		}
		s.press("s")
		if strings.Contains(l.saved, "web-eval") || !strings.Contains(l.saved, hash) {
			t.Errorf("saved %q", l.saved)
		}
		for typed, lines := range map[string]string{strings.TrimPrefix(hash, "#"): "1 of 2 lines", "eval": "0 of 2 lines"} {
			s.press("/")
			s.typed(typed)
			s.press(keyEnter)
			time.Sleep(200 * time.Millisecond)
			s.settle()
			if got := s.text(); !strings.Contains(got, lines) {
				t.Errorf("%q, want %s:\n%s", typed, lines, got)
			}
			s.press(keyEsc)
			time.Sleep(time.Second)
		}
	})
}
