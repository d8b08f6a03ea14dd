package ui

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/kit"
	"sandglass/views/plan"
)

// planDialog shows a plan and takes the gesture that confirms it.
type planDialog struct {
	acting     *acting
	request    request
	confirming *gesture
	view       plan.Dialog
	pager      kit.Pager
}

func (d *planDialog) waits() bool { return d.view.Busy }

func (*planDialog) Keys() keys.Context { return keys.Plan }

// readyMsg tells a dialog that its keys count by now.
type readyMsg struct{ dialog *planDialog }

func (msg readyMsg) to() overlay { return msg.dialog }

func (readyMsg) missed() reply { return reply{} }

// readySoon is a little longer than a plan's dialog ignores keys.
const readySoon = 350 * time.Millisecond

func (d *planDialog) untouched() bool { return d.confirming.typed() == "" }

func (d *planDialog) Update(msg tea.Msg, _ *views.Frame) (reply, bool) {
	switch msg := msg.(type) {
	case keys.Intent:
		return d.act(msg), true
	case tea.KeyPressMsg:
		return d.typed(msg), true
	case tea.PasteMsg:
		d.confirming.paste()
		d.say("pasted text does not confirm: type it")
	case plannedMsg:
		return d.planned(msg), true
	case startedMsg:
		return d.started(msg), true
	}
	return reply{}, true
}

// shown begins the time in which keys are ignored and that in which the plan can be confirmed.
func (d *planDialog) shown(at time.Time) { d.confirming.Drawn(at) }

func (d *planDialog) say(mistake string) { d.view.Note, d.view.Wrong = mistake, true }

func (d *planDialog) fail(err error) reply {
	d.say(backend.Clean(err.Error(), 300).String())
	return reply{}
}

// take shows a plan that was made, the first one or the next.
func (d *planDialog) take(msg plannedMsg) tea.Cmd {
	d.request, d.pager = msg.request, kit.Pager{}
	d.confirming = &gesture{Confirming: actions.NewConfirming(msg.plan, msg.request.pressed), key: msg.request.key}
	d.view = plan.Dialog{Plan: msg.plan, Key: msg.request.key, Diff: msg.diff, Pager: &d.pager}
	done := d.acting.done
	return func() tea.Msg {
		t := time.NewTimer(readySoon)
		defer t.Stop()
		select {
		case <-t.C:
			return readyMsg{d}
		case <-done:
			return nil
		}
	}
}

func (d *planDialog) planned(msg plannedMsg) reply {
	if msg.asked != d.acting.asked {
		return reply{}
	}
	d.view.Busy = false
	if msg.err != nil {
		return d.fail(msg.err)
	}
	return reply{Cmd: d.take(msg)}
}

// act handles a key that is bound.
func (d *planDialog) act(in keys.Intent) reply {
	switch in.Action {
	case keys.Cancel:
		d.acting.drop()
		return reply{Close: true}
	case keys.Accept:
		if !d.view.Busy {
			return d.confirm()
		}
	default:
		if n := len(d.view.Plan.Choices); n > 0 {
			d.view.Choice = max(0, min(d.view.Choice+step(in.Action), n-1))
		} else {
			scroll(&d.pager, in)
		}
	}
	return reply{}
}

// step is how far a key moves among the choices of a plan.
func step(a keys.Action) int {
	const page = 10
	switch a {
	case keys.Up:
		return -1
	case keys.Down:
		return 1
	case keys.PageUp:
		return -page
	case keys.PageDown:
		return page
	}
	return 0
}

// typed hands a key to the gesture.
func (d *planDialog) typed(msg tea.KeyPressMsg) reply {
	if d.view.Busy {
		return reply{}
	}
	d.view.Note, d.view.Wrong = "", false
	now := d.acting.now()
	before := d.confirming.Pressed(now)
	if ok, done := d.confirming.press(msg.String(), msg.Text, now); done {
		return reply{Cmd: d.start(ok)}
	}
	if before && d.confirming.Light() && msg.String() == d.request.key && !d.confirming.Expired(now) {
		d.say("that was too fast to be a second press: press " + d.request.key + " again")
	}
	return reply{}
}

// confirm takes enter: it starts a confirmed plan, or has it made again as what was typed says.
func (d *planDialog) confirm() reply {
	if p, now := d.view.Plan, d.acting.now(); len(p.Choices) > 0 && !d.confirming.Expired(now) {
		again, err := d.confirming.Choose(d.view.Choice, d.request.intent, now)
		if err != nil {
			return d.fail(err)
		}
		return reply{Cmd: d.acting.ask(request{*again, d.request.key, time.Time{}, d.request.seen}, d)}
	}
	ok, again, err := d.confirming.enter(d.request.intent, d.acting.now())
	switch {
	case err != nil:
		return d.fail(err)
	case again != nil:
		return reply{Cmd: d.acting.ask(request{*again, d.request.key, time.Time{}, nil}, d)}
	case ok.Plan() != nil:
		return reply{Cmd: d.start(ok)}
	}
	return reply{}
}

// start carries the confirmed plan out.
func (d *planDialog) start(ok actions.Confirmed) tea.Cmd {
	c := d.acting.control
	d.view.Busy = true
	return func() tea.Msg {
		err := c.Start(context.Background(), ok) // it outlives this program's messages; the wiring stops it at the end
		return startedMsg{d, ok.Plan().Digest, err}
	}
}

// startedMsg says that a plan is being carried out, or why it is not.
type startedMsg struct {
	dialog *planDialog
	digest string
	err    error
}

func (msg startedMsg) to() overlay { return msg.dialog }

// missed is for a dialog that was left after the confirmation: esc means what it always means.
func (msg startedMsg) missed() reply {
	if msg.err != nil {
		return reply{Say: "nothing was done: " + backend.Clean(msg.err.Error(), 300).String()}
	}
	a := msg.dialog.acting
	a.began()
	return a.stopRun(msg.digest)
}

func (d *planDialog) started(msg startedMsg) reply {
	d.view.Busy = false
	if msg.err == nil {
		d.acting.began()
		return reply{Close: true, Push: d.acting.view}
	}
	d.fail(msg.err)
	if refused := (*actions.RefusedError)(nil); errors.As(msg.err, &refused) {
		d.request.pressed = time.Time{}
		return reply{Cmd: d.acting.ask(d.request, d)} // the new plan shows why, and what can be done about it
	}
	return reply{}
}

func (d *planDialog) offers(a keys.Action, f *views.Frame) bool {
	switch a {
	case keys.Accept:
		return d.at(f).Enter()
	case keys.PageDown:
		return d.pager.More()
	}
	return true
}

func (d *planDialog) Render(w, h int, f *views.Frame) (kit.Block, *tea.Cursor) {
	box, x, y := d.at(f).Draw(w-2, h-2, f.Theme)
	return box, tea.NewCursor(x, y)
}

// at is the dialog as it is drawn in a frame.
func (d *planDialog) at(f *views.Frame) *plan.Dialog {
	v, now := d.view, f.Acting.At
	v.Now, v.Typed, v.Ready, v.Spin, v.Reach = now, d.confirming.typed(), d.confirming.Ready(now), f.Spin, f.State.Reach
	v.Pressed = d.confirming.Pressed(now)
	return &v
}
