package ui

import (
	"strings"
	"testing"
	"testing/synctest"

	"sandglass/views/kit"
)

// No key is cut in the help: those that have no room beside what they do are named behind it.
func TestHelpNamesEveryKey(t *testing.T) {
	for all, want := range map[string][2]string{
		"g home":                 {"g home", ""},
		"pgdown ctrl+f space":    {"pgdown ctrl+f", " (also space)"},
		"esc left backspace q":   {"esc left", " (also backspace q)"},
		"a-single-very-long-key": {"a-single-very-long-key", ""},
	} {
		if first, others := fitting(all); first != want[0] || others != want[1] {
			t.Errorf("%s: %q and %q", all, first, others)
		}
	}
	for _, b := range KeyTable() {
		first, others := fitting(b.Help().Key)
		for _, k := range strings.Fields(b.Help().Key) {
			if !strings.Contains(" "+first+" "+strings.NewReplacer("(also", "", ")", "").Replace(others)+" ", " "+k+" ") {
				t.Errorf("%s of %q is not named: %q, %q", k, b.Help().Key, first, others)
			}
		}
		if kit.Width(first) > kit.MaxLabel {
			t.Errorf("%q is cut", first)
		}
	}
}

// The palette says what the chosen command does, where there is room for it.
func TestThePaletteExplainsTheChosenCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for h, says := range map[int]bool{24: true, 15: false} {
			s := open(t, incidentFeed(), look{w: 80, h: h})
			s.press(":")
			s.typed("copy-yaml")
			if got := strings.Contains(s.text(), "copy the reading as YAML"); got != says {
				t.Errorf("%d lines high: %v\n%s", h, got, s.text())
			}
			s.close()
		}
	})
}

// The logs of an alert are called by its rule, not by its id.
func TestLogsOfAnAlertAreNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &fakeLogs{}
		s := open(t, incidentFeed(), look{w: 80, h: 24, logs: l.logs(t)})
		s.press("1", "g", "l")
		if !strings.Contains(s.text(), "logs of eviction-storm") {
			t.Errorf("the title names no rule:\n%s", s.text())
		}
		s.close()
	})
}
