package ui

import (
	"fmt"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"
)

// splitKeys drops the rest of an escape sequence when its bytes come so late that Bubble Tea has already decoded the
// beginning as something else. On a slow link an arrow key would arrive as esc, "[", "B". A terminal's reply
// "ESC ] 11;rgb:cccc/cccc/cccc" would press c, which starts the next wave of a plan. A control sequence ends with its letter
// or "~", a control string with BEL or ESC "\".
type splitKeys struct {
	now   func() time.Time
	state splitState
	until time.Time // keys after it do not belong to the sequence
}

type splitState uint8

const (
	outside     splitState = iota
	afterEsc               // esc may have been the key
	inSequence             // ESC [ or ESC O
	inString               // ESC ] and the like
	endOfString            // in a control string, after ESC
)

const (
	// splitWithin is how late the next byte of a split sequence may come. A person does not type "[" so soon after esc.
	splitWithin = 500 * time.Millisecond
	// replyWithin is how late the rest may come after a beginning that no key sends.
	replyWithin = 30 * time.Second
)

func (s *splitKeys) filter(msg tea.Msg) tea.Msg {
	key, ok := msg.(tea.KeyPressMsg)
	if !ok {
		if begun := beginning(msg); begun != outside {
			s.enter(begun, replyWithin)
		}
		return msg
	}
	if s.state != outside && s.now().After(s.until) {
		s.state = outside
	}
	if key.Mod == tea.ModAlt|tea.ModCtrl && key.Code == 'c' { // esc came just before the interrupt, which nothing hides
		key.Mod = tea.ModCtrl
		msg = key
	}
	name := key.String()
	if begun := beginningAlt(key); begun != outside && s.state != inString { // ESC and the byte behind it came together
		s.enter(begun, replyWithin)
		return nil
	}
	switch s.state {
	case inSequence:
		if len(name) != 1 {
			break
		}
		if c := name[0]; c >= 0x40 && c <= 0x7e {
			s.state = outside
		} else {
			s.enter(inSequence, splitWithin)
		}
		return nil
	case inString:
		switch {
		case name == "esc":
			s.enter(endOfString, splitWithin)
		case name == "ctrl+g", name == `alt+\`:
			s.state = outside
		default:
			s.enter(inString, splitWithin)
		}
		return nil
	case endOfString:
		s.state = outside
		if name == `\` {
			return nil
		}
	case afterEsc:
		if begun := kindOf(name); begun != outside {
			s.enter(begun, splitWithin)
			return nil
		}
	case outside:
	}
	s.state = outside
	if name == "esc" {
		s.enter(afterEsc, splitWithin)
	}
	return msg
}

func (s *splitKeys) enter(x splitState, within time.Duration) {
	s.state, s.until = x, s.now().Add(within)
}

// kindOf is what begins with ESC and this character.
func kindOf(c string) splitState {
	switch c {
	case "[", "O":
		return inSequence
	case "]", "P", "X", "^", "_": // OSC, DCS, SOS, PM, APC
		return inString
	}
	return outside
}

// beginningAlt is what begins with an ESC that was taken for the modifier alt.
func beginningAlt(key tea.KeyPressMsg) splitState {
	switch {
	case key.Mod == tea.ModAlt:
		return kindOf(string(key.Code))
	case key.Mod == tea.ModAlt|tea.ModShift && key.Code >= 'a' && key.Code <= 'z':
		return kindOf(string(key.Code - 'a' + 'A'))
	}
	return outside
}

// beginning is what an event that is not a key begins. Bubble Tea hands on bytes that it could not decode as a value of
// the decoder's own type; its text is the bytes, quoted.
func beginning(msg tea.Msg) splitState {
	event, ok := msg.(fmt.Stringer)
	if !ok {
		return outside
	}
	raw, err := strconv.Unquote(event.String())
	if err != nil || len(raw) < 2 || raw[0] != '\x1b' {
		return outside
	}
	begun := kindOf(raw[1:2])
	last := raw[len(raw)-1]
	switch {
	case begun == inSequence && len(raw) > 2 && last >= 0x40 && last <= 0x7e: // whole, and unknown to the decoder
		return outside
	case begun == inString && (last == '\a' || len(raw) > 3 && raw[len(raw)-2:] == "\x1b\\"):
		return outside
	}
	return begun
}
