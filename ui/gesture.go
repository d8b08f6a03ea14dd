package ui

import (
	"errors"
	"fmt"
	"time"

	"sandglass/actions"
)

// gesture turns keys into the text and the presses that confirm a plan.
//
// What is not typed by a person must not confirm: pasted text is refused, a reply of the terminal that arrives as keys
// spoils the text, and enter alone does nothing.
type gesture struct {
	*actions.Confirming
	key  string // of a light confirmation
	text []rune
}

// longestGesture bounds what can be typed, in characters.
const longestGesture = 120

// press is one key, as the terminal gave it: a name, and a printable text of one character. It returns the confirmation
// when a light gesture is complete.
func (g *gesture) press(name, text string, now time.Time) (actions.Confirmed, bool) {
	switch {
	case !g.Ready(now):
		g.text = nil
	case g.Light() && name == g.key:
		return g.Press(now)
	case g.Light():
		g.Interrupt()
	case name == "backspace":
		g.text = g.text[:max(len(g.text)-1, 0)]
	case name == "ctrl+u":
		g.text = nil
	case len([]rune(text)) == 1 && len(g.text) < longestGesture:
		g.text = append(g.text, []rune(text)...)
	}
	return actions.Confirmed{}, false
}

// paste refuses pasted text: what was typed before it counts no more.
func (g *gesture) paste() {
	g.text = nil
	g.Interrupt()
}

// enter judges what was typed, as actions.Confirming.Enter does, and drops it.
func (g *gesture) enter(in actions.Intent, now time.Time) (actions.Confirmed, *actions.Intent, error) {
	ok, again, err := g.Enter(g.typed(), in, now)
	g.text = nil
	if errors.Is(err, actions.ErrTwice) {
		err = fmt.Errorf("enter does not confirm it: press %s twice within 5 s", g.key)
	}
	return ok, again, err
}

func (g *gesture) typed() string { return string(g.text) }
