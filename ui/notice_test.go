package ui

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

// A terminal gets a notification in the form that it takes; one that is not known, or behind a multiplexer, its bell alone.
func TestNotice(t *testing.T) {
	for name, c := range map[string]struct {
		environ []string
		want    string
	}{
		"kitty":     {[]string{"TERM=xterm-kitty"}, "\x1b]99;;1 critical; a\x1b\\"},
		"iTerm":     {[]string{"TERM=xterm-256color", "TERM_PROGRAM=iTerm.app"}, "\x1b]9;1 critical; a\x1b\\"},
		"foot":      {[]string{"TERM=foot"}, "\x1b]777;notify;sandglass;1 critical, a\x1b\\"},
		"unknown":   {[]string{"TERM=xterm-256color"}, ""},
		"with tmux": {[]string{"TERM=xterm-kitty", "TMUX=/tmp/x,1,0", "KITTY_WINDOW_ID=1"}, ""},
	} {
		v := Viewer{Environ: c.environ}
		if got := v.notice("1 critical; a"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	var b bell
	for _, step := range []struct {
		msg  tea.Msg
		away bool
	}{{tickMsg{}, false}, {tea.BlurMsg{}, true}, {tickMsg{}, true}, {tea.FocusMsg{}, false}} {
		if b.see(step.msg); b.away != step.away {
			t.Errorf("%T: away %v", step.msg, b.away)
		}
	}
}
