package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/kit"
	"sandglass/views/plan"
	"sandglass/views/subjects"
)

// acting is what the program knows of the plan that is being made, confirmed or carried out.
type acting struct {
	intent     actions.Intent
	key        string // the verb's
	pressed    time.Time
	plan       *actions.Plan
	confirming *actions.Confirming
	dialog     plan.Dialog
	pager      kit.Pager
	asked      int  // numbers what was asked for; an answer to an older question is dropped
	reading    bool // a plan is being made and no dialog is there yet

	run      *actions.Run
	starting bool // a confirmed plan is about to begin
	left     bool // esc was pressed meanwhile
	quitRun  bool // q was pressed once while a plan was carried out

	verbs []plan.Verb // the list of what can be done
	at    int
	of    []backend.Key // what the list is about
	label backend.Safe
}

// Messages about plans.
type (
	plannedMsg struct {
		asked int
		plan  *actions.Plan
		diff  []backend.Safe
		err   error
	}
	startedMsg struct {
		run *actions.Run
		err error
	}
	armedMsg struct {
		until time.Time
		err   error
		then  *actions.Intent // what was to be done when the console was not armed yet
	}
	runMsg   struct{ run *actions.Run }
	readyMsg struct{}
)

// chosen are the keys that an action is about: the marked rows, else the row under the cursor or what the details show;
// an alert stands for its subjects.
func (m *Model) chosen() (shown, hidden []backend.Key, label backend.Safe) {
	if m.overlay == overDetails {
		shown = []backend.Key{m.detail.here().key}
	} else if shown, hidden = m.screen().Marked(); len(shown)+len(hidden) == 0 {
		shown = []backend.Key{m.screen().Cursor(&m.frame)}
	}
	var keys []backend.Key
	for _, k := range shown {
		if e := m.frame.Event(k); e != nil { // a line of the timeline stands for what it is about
			k = e.Subject
		}
		if k.Kind != views.KindAlert {
			keys = append(keys, k)
			continue
		}
		for _, a := range m.frame.Board.Alerts {
			if views.AlertKey(a) != k {
				continue
			}
			for _, s := range a.Subjects {
				keys = append(keys, s.Key)
			}
			label = backend.Clean(a.Rule, 60)
		}
	}
	keys = slices.DeleteFunc(keys, func(k backend.Key) bool { return k == (backend.Key{}) })
	switch {
	case len(keys) == 1:
		label = subjects.NameOf(keys[0], m.frame.Snapshot)
	case len(keys) > 1:
		label = backend.Textf("%s: %d subjects", label, len(keys))
		if label.String()[0] == ':' {
			label = backend.Textf("%d marked rows", len(keys))
		}
	}
	return keys, hidden, label
}

// intend begins a verb on what is chosen.
func (m *Model) intend(verb actions.Verb, key string) tea.Cmd {
	keys, hidden, label := m.chosen()
	m.act.label = label
	return m.intendOn(verb, key, keys, hidden)
}

func (m *Model) intendOn(verb actions.Verb, key string, subjects, hidden []backend.Key) tea.Cmd {
	c := m.viewer.Control
	switch {
	case c == nil:
		m.remark("this console only looks")
		return nil
	case len(subjects) == 0:
		m.remark("there is nothing to act on: put the cursor on a row, or mark rows")
		return nil
	}
	in := actions.Intent{Verb: verb, Hidden: hidden}
	var of backend.Kind
	sources := map[string]bool{}
	for _, k := range subjects {
		for _, a := range c.Abilities(k) {
			if a.Spec.Verb == verb {
				in.Source, of = a.Source, a.Spec.Of
				sources[a.Source] = true
				in.Keys = append(in.Keys, k)
			}
		}
	}
	switch {
	case len(in.Keys) == 0:
		m.remark(fmt.Sprintf("%s does nothing to this %s: x lists what can be done", verb, subjects[0].Kind))
		return nil
	case len(sources) > 1:
		m.remark(fmt.Sprintf("these belong to %d sources, and a plan acts on one: mark rows of one source", len(sources)))
		return nil
	}
	in.Hidden = slices.DeleteFunc(slices.Clone(hidden), func(k backend.Key) bool { return k.Kind != of })
	for _, a := range c.Abilities(in.Keys[0]) {
		if a.Spec.Verb == verb && !a.Denied.IsEmpty() {
			return m.showVerbs(subjects, verb) // the list says why, at whatever length that takes
		}
	}
	m.act.key, m.act.pressed = key, m.viewer.Now()
	if _, armed := c.Armed(); !armed {
		return m.openArming("", &in)
	}
	return m.makePlan(in)
}

// makePlan asks for the plan; its dialog opens when it is there.
func (m *Model) makePlan(in actions.Intent) tea.Cmd {
	c := m.viewer.Control
	if a, ok := c.Armed(); ok {
		in.Who, in.Reason = a.Who, a.Reason
	}
	m.act.intent = in
	old := m.act.plan
	if m.overlay != overPlan {
		old, m.act.reading = nil, true
		m.remark("reading the targets… esc drops it")
	}
	m.act.dialog.Busy = true
	m.act.asked++
	asked := m.act.asked
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), planWithin)
		defer cancel()
		p, diff, err := c.Again(ctx, old, in)
		return plannedMsg{asked, p, diff, err}
	}
}

// planWithin bounds how long the targets are read for a plan.
const planWithin = 60 * time.Second

func (m *Model) planned(msg plannedMsg) tea.Cmd {
	if msg.asked != m.act.asked {
		return nil // the operator went on to something else
	}
	m.dirty, m.act.reading = true, false
	m.act.dialog.Busy = false
	if msg.err != nil {
		if m.overlay == overPlan {
			m.act.dialog.Note, m.act.dialog.Wrong = backend.Clean(msg.err.Error(), 300).String(), true
			return nil
		}
		m.remark(backend.Clean(msg.err.Error(), 300).String())
		return nil
	}
	if m.overlay != overPlan && m.overlay != noOverlay && m.overlay != overDetails {
		m.remark("the plan was dropped: something else was opened meanwhile")
		return nil
	}
	if m.overlay != overPlan {
		m.under = m.overlay
	}
	m.say = ""
	a := &m.act
	a.plan, a.pager = msg.plan, kit.Pager{}
	a.confirming = actions.NewConfirming(msg.plan, a.key, a.pressed)
	a.dialog = plan.Dialog{Plan: msg.plan, Key: a.key, Diff: msg.diff, Pager: &a.pager}
	m.overlay = overPlan
	done := m.done
	return func() tea.Msg { // the dialog changes once keys count
		t := time.NewTimer(armsSoon)
		defer t.Stop()
		select {
		case <-t.C:
			return readyMsg{}
		case <-done:
			return nil
		}
	}
}

// armsSoon is a little longer than a plan's dialog ignores keys.
const armsSoon = 350 * time.Millisecond

// inPlan handles a bound key in the dialog of a plan.
func (m *Model) inPlan(in keys.Intent) tea.Cmd {
	a := &m.act
	switch in.Action {
	case keys.Cancel:
		m.overlay = m.under
		a.plan, a.confirming, a.left = nil, nil, a.starting
		m.dropPlan()
	case keys.Accept:
		if !a.dialog.Busy {
			return m.confirm()
		}
	default:
		scroll(&a.pager, in)
	}
	return nil
}

// dropPlan forgets a plan that is being made.
func (m *Model) dropPlan() {
	m.act.asked++
	m.act.reading = false
}

// confirm takes enter: it starts a confirmed plan, makes an expired one anew, or sets a refusal aside.
func (m *Model) confirm() tea.Cmd {
	a := &m.act
	now := m.viewer.Now()
	say := func(err error) tea.Cmd {
		a.dialog.Note, a.dialog.Wrong = backend.Clean(err.Error(), 300).String(), true
		return nil
	}
	switch {
	case a.confirming.Expired(now):
		a.pressed = time.Time{}
		return m.makePlan(a.intent)
	}
	if k, asked, err := a.confirming.Include(now); err != nil {
		return say(err)
	} else if asked {
		in := a.intent
		in.Named = append(slices.Clone(in.Named), k)
		return m.makePlan(in)
	}
	switch open := a.plan.Open(); {
	case len(a.plan.Targets) == 0 || len(open) > 0 && len(plan.Words(a.plan)) == 0:
		return nil
	case len(open) > 0:
		word, err := a.confirming.Word(now)
		if err != nil {
			return say(err)
		}
		in := a.intent
		in.Overrides = append(slices.Clone(in.Overrides), word)
		return m.makePlan(in)
	}
	if a.confirming.Purges(now) {
		in := a.intent
		in.Params.PurgeNow = true
		return m.makePlan(in)
	}
	ok, err := a.confirming.Enter(now)
	if err != nil {
		return say(err)
	}
	return m.start(ok)
}

// typedInPlan hands a key to the gesture.
func (m *Model) typedInPlan(msg tea.KeyPressMsg) tea.Cmd {
	a := &m.act
	if a.dialog.Busy || a.confirming == nil {
		return nil
	}
	a.dialog.Note, a.dialog.Wrong = "", false
	if ok, done := a.confirming.Key(msg.String(), msg.Text, m.viewer.Now()); done {
		return m.start(ok)
	}
	return nil
}

func (m *Model) pasteInPlan() {
	if a := &m.act; a.confirming != nil {
		a.confirming.Paste()
		a.dialog.Note, a.dialog.Wrong = "pasted text does not confirm: type it", true
	}
}

// armWords parts the words of `:arm 15m REASON`, after the command.
func armWords(text string) (lasting, reason string) {
	lasting, reason, _ = strings.Cut(strings.TrimSpace(text), " ")
	return lasting, strings.TrimSpace(reason)
}

// bundle writes the evidence about what is under the cursor into a file.
func (m *Model) bundle() tea.Cmd {
	write := m.viewer.Bundle
	if write == nil {
		m.remark("there is no state directory to write evidence to: name one with --state-dir")
		return nil
	}
	key := m.screen().Cursor(&m.frame)
	if m.overlay == overDetails {
		key = m.detail.here().key
	}
	if key == (backend.Key{}) {
		m.remark("the cursor is on no row: move it first")
		return nil
	}
	m.remark("collecting the evidence…")
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), planWithin)
		defer cancel()
		path, err := write(ctx, key)
		if err != nil {
			return orderedMsg{err: err}
		}
		return orderedMsg{say: "evidence written to " + backend.Clean(path, 200).String()}
	}
}
