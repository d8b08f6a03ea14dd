package ui

import (
	"context"
	"errors"
	"slices"
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
	confirming *actions.Confirming
	view       plan.Dialog
	pager      kit.Pager
}

func (*planDialog) Keys() keys.Context { return keys.Plan }

// readyMsg tells a dialog that its keys count by now.
type readyMsg struct{ dialog *planDialog }

func (msg readyMsg) to() overlay { return msg.dialog }

func (readyMsg) missed() reply { return reply{} }

// readySoon is a little longer than a plan's dialog ignores keys.
const readySoon = 350 * time.Millisecond

func (d *planDialog) Update(msg tea.Msg, _ *views.Frame) (reply, bool) {
	switch msg := msg.(type) {
	case keys.Intent:
		return d.act(msg), true
	case tea.KeyPressMsg:
		return d.typed(msg), true
	case tea.PasteMsg:
		d.confirming.Paste()
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
	d.confirming = actions.NewConfirming(msg.plan, msg.request.key, msg.request.pressed)
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
		scroll(&d.pager, in)
	}
	return reply{}
}

// typed hands a key to the gesture.
func (d *planDialog) typed(msg tea.KeyPressMsg) reply {
	if d.view.Busy {
		return reply{}
	}
	d.view.Note, d.view.Wrong = "", false
	if ok, done := d.confirming.Key(msg.String(), msg.Text, d.acting.now()); done {
		return reply{Cmd: d.start(ok)}
	}
	return reply{}
}

// confirm takes enter: it starts a confirmed plan, has an expired one made again, or sets a refusal aside.
func (d *planDialog) confirm() reply {
	now := d.acting.now()
	in := d.request.intent
	again := func(in actions.Intent) reply {
		return reply{Cmd: d.acting.ask(request{in, d.request.key, d.request.pressed}, d)}
	}
	if d.confirming.Expired(now) {
		d.request.pressed = time.Time{}
		return again(in)
	}
	if k, asked, err := d.confirming.Include(now); err != nil {
		return d.fail(err)
	} else if asked {
		in.Named = append(slices.Clone(in.Named), k)
		return again(in)
	}
	p := d.view.Plan
	switch open := p.Open(); {
	case len(p.Targets) == 0 || len(open) > 0 && len(plan.Words(p)) == 0:
		return reply{}
	case len(open) > 0:
		word, err := d.confirming.Word(now)
		if err != nil {
			return d.fail(err)
		}
		in.Overrides = append(slices.Clone(in.Overrides), word)
		return again(in)
	}
	if d.confirming.Purges(now) {
		in.Params.PurgeNow = true
		return again(in)
	}
	ok, err := d.confirming.Enter(now)
	if err != nil {
		return d.fail(err)
	}
	return reply{Cmd: d.start(ok)}
}

// start carries the confirmed plan out.
func (d *planDialog) start(ok actions.Confirmed) tea.Cmd {
	c := d.acting.control
	d.view.Busy = true
	return func() tea.Msg {
		r, err := c.Start(context.Background(), ok) // it outlives this program's messages; the wiring stops it at the end
		return startedMsg{d, r, err}
	}
}

// startedMsg says that a plan is being carried out, or why it is not.
type startedMsg struct {
	dialog *planDialog
	run    *actions.Run
	err    error
}

func (msg startedMsg) to() overlay { return msg.dialog }

// missed is for a dialog that was left after the confirmation: esc means what it always means.
func (msg startedMsg) missed() reply {
	if msg.err != nil {
		return reply{Say: "nothing was done: " + backend.Clean(msg.err.Error(), 300).String()}
	}
	msg.run.Stop(backend.Text("stopped by the operator"))
	return reply{Cmd: msg.dialog.acting.began(msg.run)}
}

func (d *planDialog) started(msg startedMsg) reply {
	d.view.Busy = false
	if msg.err == nil {
		cmd := d.acting.began(msg.run)
		return reply{Close: true, Push: d.acting.view, Cmd: cmd}
	}
	d.fail(msg.err)
	if refused := (*actions.RefusedError)(nil); errors.As(msg.err, &refused) {
		d.request.pressed = time.Time{}
		return reply{Cmd: d.acting.ask(d.request, d)} // the new plan shows why, and what can be done about it
	}
	return reply{}
}

func (d *planDialog) offers(a keys.Action, f *views.Frame) bool {
	return a != keys.Accept || d.at(f.Acting.At).Enter()
}

func (d *planDialog) Render(w, h int, f *views.Frame) (kit.Block, *tea.Cursor) {
	box, x, y := d.at(f.Acting.At).Draw(w-2, h-2, f.Theme)
	return box, tea.NewCursor(x, y)
}

// at is the dialog as it is drawn at a time.
func (d *planDialog) at(now time.Time) *plan.Dialog {
	v := d.view
	v.Now, v.Typed, v.Ready = now, d.confirming.Typed(), d.confirming.Ready(now)
	return &v
}
