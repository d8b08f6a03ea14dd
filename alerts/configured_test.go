package alerts

import (
	"strings"
	"testing"
)

func TestAnotherConfigurationIsAChangeMarker(t *testing.T) {
	with := func(digest string) *Engine {
		return NewEngine([]Rule{&lampRule{Meta{Name: "lamp", Severity: SeverityWarning}}}, "test", WithConfiguration("prod.toml", digest))
	}
	l := newLamp(t, Meta{})
	l.engine = with("a")
	l.minutes("off off").want("- -", "")
	restart := func(digest string) {
		data, err := encoded(l.board, ClockReading{Wall: l.now})
		if err != nil {
			t.Fatal(err)
		}
		l.engine = with(digest)
		loaded, err := l.engine.decode(data, ClockReading{Wall: l.now})
		if err != nil {
			t.Fatal(err)
		}
		l.board, l.number = loaded.Board, 0
	}
	restart("a")
	l.minutes("off").want("- - -", "")
	restart("b")
	l.minutes("off on on").want("- - - - firing firing", "config firing")
	if e := l.board.Alerts[0].Evidence; len(e) != 2 || !strings.HasSuffix(e[1].Text.String(), "began 1m after: Sandglass runs with another configuration than before: prod.toml") {
		t.Errorf("the alert after it says %v", e)
	}
	restart("")
	l.minutes("on").want("- - - - firing firing firing", "config firing")
	restart("b")
	l.minutes("on").want("- - - - firing firing firing firing", "config firing")
}
