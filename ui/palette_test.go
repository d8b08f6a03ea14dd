package ui

import (
	"strings"
	"testing"
	"testing/synctest"
)

// A command with an argument says what enter does, and does it.
func TestOrderByAColumn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, incidentFeed(), look{w: 120, h: 30})
		s.press("2", ":")
		s.typed("order workspace")
		if !strings.Contains(s.text(), "enter: sort the table by this column") || strings.Contains(s.text(), "no command has this") {
			t.Errorf("not said:\n%s", s.text())
		}
		s.press(keyEnter)
		if !strings.Contains(s.text(), "WORKSPACE↑") || !strings.Contains(s.text(), "sorted by workspace") {
			t.Errorf("not sorted:\n%s", s.text())
		}
		s.close()
	})
}
