package ui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"sandglass/actions"
	"sandglass/backend"
)

// arming is the form that lets this console act for a while.
type arming struct {
	then *actions.Intent // what is planned once it is armed; nil: nothing
	name bool            // it asks who is there
}

func (x *arming) title() string {
	if x.then != nil {
		return "arm, then plan: " + backend.Clean(string(x.then.Verb), 40).String()
	}
	return "arm this console"
}

func (x *arming) about() []string {
	s := []string{"Armed, this console may carry out plans that you confirm, on the sources whose configuration allows it. It ends by itself. The reason goes into the journal."}
	if x.name {
		s = append(s, "Several people use this account: say who you are.")
	}
	return s
}

func (x *arming) preview(*Model, *dialog) tea.Cmd { return nil }

func (x *arming) check(m *Model, f *dialog) (tea.Cmd, error) {
	d, err := lasting(f.value(1))
	if err != nil {
		return nil, err
	}
	who := backend.Safe{}
	if x.name {
		who = backend.Clean(f.value(2), 60)
	}
	return m.arm(d, who, backend.Clean(f.value(0), 200), x.then), nil
}

// arm journals it and lets the console act.
func (m *Model) arm(d time.Duration, who, reason backend.Safe, then *actions.Intent) tea.Cmd {
	c := m.viewer.Control
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), armWithin)
		defer cancel()
		a, err := c.Arm(ctx, d, who, reason)
		return armedMsg{a.Until, err, then}
	}
}

// armWithin bounds the wait for the journal.
const armWithin = 15 * time.Second

// openArming opens the form, or arms at once when everything was typed: `15m quota raised`.
func (m *Model) openArming(text string, then *actions.Intent) tea.Cmd {
	c := m.viewer.Control
	if c == nil || !c.CanAct() {
		m.remark(m.whyNotArm())
		return nil
	}
	typed, reason := armWords(text)
	d, err := lasting(typed)
	if err == nil && reason != "" && !c.NeedsName() {
		return m.arm(d, backend.Safe{}, backend.Clean(reason, 200), then)
	}
	x := &arming{then: then, name: c.NeedsName()}
	labels := []string{"reason", "for"}
	if x.name {
		labels = append(labels, "who are you")
	}
	m.form = newDialog(x, labels...)
	m.form.set(0, reason)
	m.form.set(1, spanOr(err, typed))
	m.under, m.overlay = m.overlay, overForm
	if m.under == overForm || m.under == overPlan || m.under == overVerbs || m.under == overPalette {
		m.under = noOverlay
	}
	return m.form.focus(0)
}

// spanOr is the time that was typed, or the default when none was.
func spanOr(err error, typed string) string {
	if err == nil {
		return typed
	}
	return span(actions.DefaultArming)
}

// whyNotArm says why nothing can be armed, and what to do about it.
func (m *Model) whyNotArm() string {
	c := m.viewer.Control
	if c == nil {
		return "this console only looks"
	}
	for _, a := range c.All() {
		if !a.Denied.IsEmpty() {
			return "nothing can be done here: " + a.Denied.String()
		}
	}
	return "nothing can be done to any of the sources"
}

func (m *Model) onArmed(msg armedMsg) tea.Cmd {
	m.dirty = true
	m.form.busy = false
	if msg.err != nil {
		text := backend.Clean(msg.err.Error(), 300).String()
		if m.overlay == overForm {
			m.form.say(true, text)
		} else {
			m.remark("not armed: " + text)
		}
		return nil
	}
	if m.overlay == overForm {
		m.overlay = m.under
	}
	m.remark("armed for " + backend.Age(msg.until.Sub(m.viewer.Now())))
	if msg.then != nil {
		m.act.pressed = time.Time{}
		return m.makePlan(*msg.then)
	}
	return nil
}

// disarm ends the arming.
func (m *Model) disarm() tea.Cmd {
	c := m.viewer.Control
	if c == nil {
		m.remark("this console only looks")
		return nil
	}
	if _, armed := c.Armed(); !armed {
		m.remark("it is not armed")
		return nil
	}
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), armWithin)
		defer cancel()
		if err := c.Disarm(ctx); err != nil {
			return orderedMsg{err: err}
		}
		return orderedMsg{say: "disarmed"}
	}
}

// cameBack ends the arming when the console comes back from the shell's background: whoever brings it back is not
// certainly the one who armed it.
func (m *Model) cameBack() tea.Cmd {
	m.dirty = true
	if c := m.viewer.Control; c != nil {
		if _, armed := c.Armed(); armed {
			return m.disarm()
		}
	}
	return nil
}
