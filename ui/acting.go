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
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/plan"
	"sandglass/views/subjects"
)

// acting makes plans and carries confirmed ones out, for one viewer. Its overlays are the list of verbs, the form that
// arms, the dialog of a plan and the progress of a run.
type acting struct {
	control Control // nil: this viewer only looks
	examine Examine // nil: sources cannot be examined from here
	keymap  *keys.Map
	now     func() time.Time
	done    <-chan struct{} // closed when the program ends
	changed <-chan struct{} // a run began or moved on
	stop    func()          // ends that subscription

	asked  int               // numbers what was asked for; an answer to an older question is dropped
	making bool              // a plan is being made and its dialog is not there yet
	run    *actions.Progress // of the run that some viewer carries out, or of the last one; nil: none yet
	view   *runView          // of the run that was shown last
	// abilities are those of the viewer as of the arming that ends then, and of what the sources refused.
	abilities []actions.Ability
	refused   string
	until     time.Time
	quitting  bool // q was pressed once during a run
}

func newActing(v *Viewer, done <-chan struct{}) acting {
	a := acting{control: v.Control, examine: v.Examine, now: v.Now, done: done, stop: func() {}}
	if a.control != nil {
		a.changed, a.stop = a.control.Subscribe()
		a.moved()
	}
	return a
}

// request is what is planned.
type request struct {
	intent  actions.Intent
	key     string          // the verb's
	pressed time.Time       // when that key was pressed; zero: the verb was chosen in another way
	seen    *views.Snapshot // what the selection was made from; nil: the intent says what speaks against it
}

const (
	// planWithin bounds how long the targets are read for a plan.
	planWithin = 60 * time.Second
	onlyLooks  = "this console only looks"
	planLost   = "the plan was dropped: something else was opened meanwhile"
)

// frame is what is drawn of it.
func (a *acting) frame(s *fleet.State) views.Acting {
	f := views.Acting{At: a.now(), Run: a.run, Examines: a.examine != nil}
	c := a.control
	if c == nil {
		return f
	}
	f.Can = c.CanAct()
	if arming, armed := c.Armed(); armed {
		f.Until = arming.Until
	}
	refused := ""
	for _, h := range s.Sources {
		refused += h.Refuses.String() + "\n"
	}
	if a.abilities == nil || !a.until.Equal(f.Until) || a.refused != refused { // the reasons in them name who armed
		a.abilities, a.until, a.refused = append([]actions.Ability{}, c.All()...), f.Until, refused
	}
	f.Abilities = a.abilities
	return f
}

// intend begins a verb on a selection.
func (a *acting) intend(verb actions.Verb, key string, s selection, pressed time.Time) reply {
	c := a.control
	switch {
	case c == nil:
		return reply{Say: onlyLooks}
	case len(s.keys) == 0:
		return reply{Say: "there is nothing to act on: put the cursor on a row, or mark rows"}
	}
	in := actions.Intent{Verb: verb, NotNow: subjects.NotNow(verb, s.diagnosis, len(s.keys))}
	var of backend.Kind
	sources, able := map[string]bool{}, c.All()
	for _, k := range s.keys {
		for _, x := range able {
			if x.Spec.Verb == verb && x.For(k) {
				in.Source, of = x.Source, x.Spec.Of
				sources[x.Source] = true
				target, beside := x.Target(k)
				if beside != "" && len(in.Keys) > 0 {
					return reply{Say: fmt.Sprintf("%s compares with one sandbox: mark one", verb)}
				}
				in.Params.Beside = beside
				in.Keys = append(in.Keys, target)
			}
		}
	}
	switch {
	case len(in.Keys) == 0:
		return reply{Say: fmt.Sprintf("%s does nothing to this %s: x lists what can be done", verb, subjects.NounOf(s.keys[0].Kind))}
	case len(sources) > 1:
		return reply{Say: fmt.Sprintf("these belong to %d sources, and a plan acts on one: mark rows of one source", len(sources))}
	}
	in.Hidden = slices.DeleteFunc(slices.Clone(s.hidden), func(k backend.Key) bool { return k.Kind != of })
	for _, x := range able {
		if x.Spec.Verb == verb && x.For(in.Keys[0]) && !x.Denied.IsEmpty() {
			return a.list(s, verb) // the list says why, at whatever length that takes
		}
	}
	if key == "" {
		key = pressedTwice
	}
	req := request{in, key, pressed, s.seen}
	if _, armed := c.Armed(); !armed {
		return a.openArming("", &req)
	}
	return a.plan(req)
}

// plan asks for the plan. Its dialog opens when the plan is there.
func (a *acting) plan(req request) reply {
	a.making = true
	return reply{Say: "reading the targets… esc drops it", Cmd: a.ask(req, nil)}
}

// ask has the targets read; dialog is the one whose plan is made again, nil when it is a new plan.
func (a *acting) ask(req request, dialog *planDialog) tea.Cmd {
	c := a.control
	if arming, ok := c.Armed(); ok {
		req.intent.Who, req.intent.Reason = arming.Who, arming.Reason
	}
	var old *actions.Plan
	if dialog != nil {
		old = dialog.view.Plan
		dialog.request, dialog.view.Busy = req, true
	}
	a.asked++
	asked := a.asked
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), planWithin)
		defer cancel()
		if req.seen != nil && req.intent.NotNow.IsEmpty() {
			req.intent.NotNow = subjects.Against(req.intent.Verb, req.intent.Keys, req.seen)
		}
		p, diff, err := c.Again(ctx, old, req.intent)
		return plannedMsg{acting: a, asked: asked, request: req, dialog: dialog, plan: p, diff: diff, err: err}
	}
}

// drop forgets a plan that is being made and reports whether there was one.
func (a *acting) drop() bool {
	was := a.making
	a.asked++
	a.making = false
	return was
}

// plannedMsg brings a plan.
type plannedMsg struct {
	acting  *acting
	asked   int
	request request
	dialog  *planDialog // nil: it opens one
	plan    *actions.Plan
	diff    []backend.Safe
	err     error
}

func (msg plannedMsg) to() overlay {
	if msg.dialog == nil {
		return nil
	}
	return msg.dialog
}

func (msg plannedMsg) missed() reply {
	a := msg.acting
	if msg.asked != a.asked || msg.dialog != nil {
		return reply{} // the operator went on to something else
	}
	a.making = false
	if msg.err != nil {
		return reply{Say: backend.Clean(msg.err.Error(), 300).String()}
	}
	d := &planDialog{acting: a}
	return reply{Offer: &offer{d, planLost}, Cmd: d.take(msg)}
}

// quit ends the program. A plan that this viewer carries out is asked about once, then stopped.
func (a *acting) quit() reply {
	switch {
	case a.run == nil || a.run.Over() || !a.run.Own:
	case a.quitting:
		_ = a.control.Stop(a.run.Plan.Digest, backend.Text("the operator left")) // fails only when it is over
	default:
		a.quitting = true
		return reply{Say: "a plan is being carried out: the same key again stops it before its next target, and quits"}
	}
	return reply{Cmd: tea.Quit}
}

// list shows what can be done to a selection; on is the verb under the cursor.
func (a *acting) list(s selection, on actions.Verb) reply {
	switch {
	case a.control == nil:
		return reply{Say: onlyLooks}
	case len(s.keys) == 0:
		return reply{Say: noRow}
	}
	l := &verbList{acting: a, of: s}
	seen, able := map[actions.Verb]bool{}, a.control.All()
	var all []actions.Ability
	for _, k := range s.keys {
		for _, x := range able {
			if x.For(k) && !seen[x.Spec.Verb] {
				seen[x.Spec.Verb] = true
				all = append(all, x)
			}
		}
	}
	for _, x := range all {
		if x.Denied.IsEmpty() {
			l.verbs = append(l.verbs, plan.Verb{Ability: x, Key: a.keymap.OfVerb(s.from, string(x.Spec.Verb))})
		}
		if x.Spec.Verb == on && x.Denied.IsEmpty() {
			l.at = len(l.verbs) - 1
		}
	}
	if a.examine != nil && slices.ContainsFunc(s.keys, examinable) && len(sourcesOf(s.keys)) == 1 {
		l.verbs = append(l.verbs, plan.Verb{Ability: examination(), Reads: true})
	}
	if len(l.verbs)+len(all) == 0 {
		if d := s.diagnosis; d != nil && len(d.Do) > 0 {
			step, _, _ := strings.Cut(d.Do[0].String(), ". ")
			return reply{Say: "no action fits these rows; first: " + step}
		}
		return reply{Say: "no action fits these rows: R shows the first step"}
	}
	for _, r := range actions.RefusedTogether(all) {
		v := plan.Verb{Refused: &r}
		if len(r.Verbs) == 1 {
			v.Key = a.keymap.OfVerb(s.from, string(r.Verbs[0]))
		}
		l.verbs = append(l.verbs, v)
		if slices.Contains(r.Verbs, on) {
			l.at = len(l.verbs) - 1
		}
	}
	return reply{Push: l}
}
