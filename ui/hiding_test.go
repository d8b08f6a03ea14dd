package ui

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"sandglass/views/keys"
)

// A filter finds a hidden name by its hash and not by the name; what is copied is the hash, and the remark says so.
func TestFilterAndCopyOfHiddenNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, incidentFeed(), look{w: 120, h: 40})
		defer s.close()
		m := s.model
		m.viewer.HideNames = []byte("0123456789abcdef")
		m.frame.Hidden = m.names.begin(&m.viewer)
		m.refresh()
		hash := m.frame.Shown("web-eval-12")
		if hash == "web-eval-12" || m.frame.Shown("codesess_3541") == "codesess_3541" {
			t.Fatal("nothing is hidden")
		}
		s.press("3")
		for typed, rows := range map[string]int{"web-eval-12": 0, strings.TrimPrefix(hash, "#"): 1, "sandbox=" + hash: 1, "sandbox~eval": 0} {
			m.do(keys.Intent{Action: keys.SetFilter, Text: typed})
			if got := m.screen().Status(&m.frame, false); got != fmt.Sprintf("%d of 7 match", rows) {
				t.Errorf("%q: %s", typed, got)
			}
		}
		m.do(keys.Intent{Action: keys.SetFilter, Text: strings.TrimPrefix(hash, "#")})
		m.do(keys.Intent{Action: keys.Top})
		x := &scope{viewer: &m.viewer, frame: &m.frame, screen: m.screen(), keymap: m.keymap, acting: &m.acting}
		r := x.copyOf("json")
		if !strings.Contains(r.Copy, "web-eval-12") {
			t.Fatal("the cursor is on another row")
		}
		sent := fmt.Sprint(m.apply(nil, r)())
		if m.say != "reading as JSON sent to the clipboard, names hidden" || strings.Contains(sent, "web-eval-12") || !strings.Contains(sent, hash) {
			t.Errorf("%q: %s", m.say, sent)
		}
		if title := windowTitle("prod-eu", &m.frame); strings.Contains(title, "prod-eu") {
			t.Error(title)
		}
	})
}
