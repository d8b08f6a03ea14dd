package ui

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"
	"testing/synctest"
	"time"
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

// A column that is sorted by is on the screen with its arrow, also where it would have no room otherwise.
func TestOrderBringsItsColumn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, incidentFeed(), look{w: 80, h: 30})
		if s.press("2"); strings.Contains(s.text(), "ATTEM") {
			t.Errorf("the column is on the screen anyway:\n%s", s.text())
		}
		s.press(":")
		s.typed("order attempt")
		if s.press(keyEnter); !strings.Contains(s.text(), "ATTEM…↑") {
			t.Errorf("nothing shows the order:\n%s", s.text())
		}
		s.close()
	})
}

// A command that is chosen over details, in the palette or by a jump, is about what they show, not about the row below them; leaving
// the palette leads back to them.
func TestCommandsAreAboutWhatIsShown(t *testing.T) {
	for _, opened := range []string{":", "f"} {
		synctest.Test(t, func(t *testing.T) {
			copied := ""
			s := open(t, incidentFeed(), look{w: 100, h: 30})
			s.em.RegisterOscHandler(52, func(data []byte) bool {
				raw, err := base64.StdEncoding.DecodeString(string(data[bytes.LastIndexByte(data, ';')+1:]))
				copied = string(raw)
				return err == nil
			})
			s.press("2", "f")
			s.typed("web-eval-12")
			s.press(keyEnter)
			key := s.model.stack.top().(subjected).subject()
			if s.press(opened); !strings.Contains(strings.Join(s.lines()[3:6], "\n"), "web-eval-12") || len(s.model.stack) != 2 {
				t.Fatalf("%s hid the details:\n%s", opened, s.text())
			}
			if s.press("\x03"); s.model.stack.top().(subjected).subject() != key {
				t.Fatalf("leaving %s lost the details:\n%s", opened, s.text())
			}
			s.press(opened)
			s.typed("copy-name")
			if s.press(keyEnter); copied != "web-eval-12" {
				t.Errorf("%s copied %q", opened, copied)
			}
			if d, shown := over[*details](s.model); !shown || d.key != key {
				t.Errorf("the details are gone:\n%s", s.text())
			}
			s.press(":")
			s.typed("order state")
			if s.press(keyEnter); !strings.Contains(s.text(), ":order"+noMeaning) {
				t.Errorf("an order of a table that is not in sight:\n%s", s.text())
			}
			s.press("?", ":") // a page that is no subject: the row below it is not meant either
			s.typed("copy-name")
			copied = ""
			if s.press(keyEnter); copied != "" || !strings.Contains(s.text(), ":copy-name"+noMeaning) {
				t.Errorf("over the help %q was copied:\n%s", copied, s.text())
			}
			s.close()
		})
	}
}

// A new State leaves the mark of the palette on its line.
func TestPaletteKeepsItsLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, incidentFeed(), look{w: 100, h: 30})
		s.press(":", keyDown, keyDown, keyDown)
		p, _ := over[*palette](s.model)
		s.prog.Send(changedMsg{})
		time.Sleep(time.Second)
		if s.settle(); p.at != 3 {
			t.Errorf("on line %d:\n%s", p.at, s.text())
		}
		s.close()
	})
}
