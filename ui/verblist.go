package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/kit"
	"sandglass/views/plan"
	"sandglass/views/subjects"
)

// verbList lists what can be done to a selection.
type verbList struct {
	acting *acting
	verbs  []plan.Verb
	at     int
	of     selection
}

func (*verbList) Keys() keys.Context { return keys.VerbMenu }

// asks for the diagnosis that says what is unsafe now.
func (l *verbList) asks(*views.Frame) (views.Question, bool) {
	return l.of.asked, l.of.asked != (views.Question{})
}

func (l *verbList) Update(msg tea.Msg, _ *views.Frame) (reply, bool) {
	if key, pressed := msg.(tea.KeyPressMsg); pressed {
		return l.letter(key.String())
	}
	in, _ := msg.(keys.Intent)
	switch in.Action {
	case keys.Back:
		return reply{Close: true}, true
	case keys.Down:
		l.at = min(l.at+1, len(l.verbs)-1)
	case keys.Up:
		l.at = max(l.at-1, 0)
	case keys.Accept:
		return l.accept(), true
	default:
		return reply{}, false
	}
	return reply{}, true
}

// letter takes the key of a verb for that verb's line and enter.
func (l *verbList) letter(key string) (reply, bool) {
	for i := range l.verbs {
		if l.verbs[i].Key == key {
			l.at = i
			return l.accept(), true
		}
	}
	return reply{}, false
}

// pressedTwice is the key that confirms a light verb without a key of its own.
const pressedTwice = "p"

func (l *verbList) accept() reply {
	if l.at < 0 || l.at >= len(l.verbs) {
		return reply{}
	}
	v := l.verbs[l.at]
	if v.Refused != nil {
		return reply{Say: v.Refused.Names() + ": not now, the list says why"}
	}
	if !v.Unfit.IsEmpty() {
		return reply{Say: string(v.Spec.Verb) + ": not now, the list says why"}
	}
	if v.Reads {
		r := l.acting.doctor(l.of)
		r.Close = true
		return r
	}
	r := l.acting.intend(v.Spec.Verb, v.Key, l.of, time.Time{}) // the list chose it: its own key was not pressed yet
	r.Close = true
	return r
}

func (l *verbList) Render(w, h int, f *views.Frame) (kit.Block, *tea.Cursor) {
	l.of.diagnosis = f.Diagnoses[l.of.asked]
	for i := range l.verbs {
		v := &l.verbs[i]
		v.NotNow, v.Unfit = subjects.NotNow(v.Spec.Verb, l.of.diagnosis, len(l.of.keys)), subjects.Unfit(v.Spec.Verb, l.of.keys, f.Snapshot)
	}
	return plan.Verbs(l.of.label, l.verbs, l.at, w-2, h-2, f.Theme), nil
}
