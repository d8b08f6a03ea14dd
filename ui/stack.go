package ui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/kit"
)

// overlay is one value on the stack over a screen. The top one gets the keys. The program knows none of them by name.
type overlay interface {
	// Update handles a keys.Intent (a key that is bound in Keys), a tea.KeyPressMsg (any other key), a tea.PasteMsg, a
	// changedMsg (a new State), or an addressed message. handled is false when an intent is the program's.
	Update(msg tea.Msg, f *views.Frame) (r reply, handled bool)
	// Render draws from the Frame and from what Update left, in at most w×h cells. The cursor's place is in the block.
	Render(w, h int, f *views.Frame) (kit.Block, *tea.Cursor)
	// Keys is the context in which keys are looked up.
	Keys() keys.Context
}

// What an overlay may do besides.
type (
	// page fills the space between header and footer; other overlays are boxes over it.
	page interface{ fillsBody() }
	// prompter is typed into in the footer; it returns the cursor's column. What it renders is drawn above the footer.
	prompter interface {
		prompt(l *kit.Line) (cursor int)
	}
	// subjected shows one thing, which intents are about.
	subjected interface{ subject() backend.Key }
	// asker shows a diagnosis.
	asker interface {
		asks(f *views.Frame) (views.Question, bool)
	}
	// offerer says which of the keys that work do anything worth a place in the footer.
	offerer interface {
		offers(a keys.Action, f *views.Frame) bool
	}
	// emptiable is typed into.
	emptiable interface{ untouched() bool }
	// holder holds what has to be given back when it is closed.
	holder interface {
		overlay
		gone()
	}
	// timed has to know when it came into sight.
	timed interface{ shown(at time.Time) }
)

// reply is what an overlay or a command asks the program for. The program carries it out in the order of the fields.
type reply struct {
	Say     string // one line for the footer
	Copy    string // raw ids for the clipboard
	Refresh bool   // read the newest State: what was done may be in it
	Close   bool   // close the overlay that replies
	Push    overlay
	View    *View // open it
	Theme   bool  // the viewer chose another theme
	Offer   *offer
	Intent  keys.Intent // for the program, when the stack is as asked
	Named   string      // what Intent was chosen by
	Cmd     tea.Cmd
}

// offer is an overlay that opens by itself: only where nothing else was opened meanwhile.
type offer struct {
	overlay overlay
	missed  string // the remark when it does not open
}

// addressed is a message to one overlay. missed is what happens when that overlay is closed by the time it arrives, or
// when there is none (nil).
type addressed interface {
	to() overlay
	missed() reply
}

// stack holds the overlays, the top one last.
type stack []overlay

// maxDepth is how many overlays lie over each other before the lowest is forgotten.
const maxDepth = 50

func (s *stack) push(o overlay) {
	if len(*s) >= maxDepth {
		*s = slices.Delete(*s, 0, 1)
	}
	*s = append(*s, o)
}

func (s *stack) remove(o overlay) { *s = slices.DeleteFunc(*s, func(x overlay) bool { return x == o }) }

// top is nil when the screen has the keys.
func (s stack) top() overlay {
	if len(s) == 0 {
		return nil
	}
	return s[len(s)-1]
}

// body is the topmost page, with what lies over it; nil when that is the screen.
func (s stack) body() (bottom overlay, over []overlay) {
	for i := len(s) - 1; i >= 0; i-- {
		if _, ok := s[i].(page); ok {
			return s[i], s[i+1:]
		}
	}
	return nil, s
}

// apply carries out what from, nil for a command, asks for.
func (m *Model) apply(from overlay, r reply) tea.Cmd {
	m.dirty = true
	cmds := []tea.Cmd{r.Cmd}
	if r.Copy != "" {
		if m.frame.Hidden != nil {
			r.Copy, r.Say = m.frame.Shown(r.Copy), r.Say+", names hidden"
		}
		cmds = append(cmds, m.viewer.toClipboard(r.Copy))
		if hint := m.viewer.copyHint(); hint != "" {
			r.Say += "; " + hint
		}
	}
	if r.Say != "" {
		m.remark(r.Say)
		m.sayOf = from
	}
	if r.Refresh {
		m.refresh()
	}
	if r.Close {
		m.stack.remove(from)
	}
	if r.Push != nil {
		m.stack.push(r.Push)
		m.held.opened(r.Push)
	}
	if r.View != nil {
		show(m, r.View)
	}
	if r.Theme {
		setTheme(m)
		cmds = append(cmds, askBackground(m))
	}
	if o := r.Offer; o != nil {
		if _, free := m.stack.top().(subjected); free || len(m.stack) == 0 {
			m.say = ""
			m.stack.push(o.overlay)
		} else {
			m.remark(o.missed)
		}
	}
	if r.Intent.Action != keys.None {
		m.pressed = r.Named
		cmds = append(cmds, m.do(r.Intent))
	}
	return tea.Batch(cmds...)
}

// holders are the overlays that hold something, open or just closed.
type holders []holder

// opened notes an overlay that holds something.
func (h *holders) opened(o overlay) {
	if x, holds := o.(holder); holds {
		*h = append(*h, x)
	}
}

// let tells those that are open no more to give back what they hold.
func (h *holders) let(open stack) {
	*h = slices.DeleteFunc(*h, func(x holder) bool {
		closed := !slices.Contains(open, overlay(x))
		if closed {
			x.gone()
		}
		return closed
	})
}

// deliver hands a message to its overlay, wherever that is in the stack.
func (m *Model) deliver(msg addressed) tea.Cmd {
	to := msg.to()
	if to == nil || !slices.Contains(m.stack, to) {
		return m.apply(nil, msg.missed())
	}
	r, _ := to.Update(msg, &m.frame)
	return m.apply(to, r)
}
