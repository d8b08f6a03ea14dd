package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// splitKeys drops the rest of an escape sequence whose bytes came so late that its beginning was read as the key esc:
// on a slow link an arrow key would otherwise arrive as esc, "[", "B". It drops "[" or "O" directly after esc, and what
// follows up to the letter or "~" that ends such a sequence.
type splitKeys struct {
	now   func() time.Time
	state splitState
	at    time.Time // of the last key that belonged to the sequence
}

type splitState uint8

const (
	outside splitState = iota
	afterEsc
	inside
)

// splitWithin is how late the next byte of a split sequence may come. Nobody types "[" that soon after esc.
const splitWithin = 500 * time.Millisecond

func (s *splitKeys) filter(msg tea.Msg) tea.Msg {
	key, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return msg
	}
	now := s.now()
	if s.state != outside && now.Sub(s.at) > splitWithin {
		s.state = outside
	}
	s.at = now
	name := key.String()
	switch {
	case name == "esc":
		s.state = afterEsc
		return msg
	case s.state == afterEsc && (name == "[" || name == "O"):
		s.state = inside
		return nil
	case s.state == inside && len(name) == 1:
		if c := name[0]; c >= 0x40 && c <= 0x7e {
			s.state = outside
		}
		return nil
	}
	s.state = outside
	return msg
}
