package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/views/keys"
	"sandglass/views/plan"
)

// showVerbs lists what can be done to the subjects; on says where the cursor stands.
func (m *Model) showVerbs(subjects []backend.Key, on actions.Verb) tea.Cmd {
	c := m.viewer.Control
	if c == nil {
		m.remark("this console only looks")
		return nil
	}
	if len(subjects) == 0 {
		m.remark("the cursor is on no row: move it first")
		return nil
	}
	a := &m.act
	a.verbs, a.at, a.of = nil, 0, subjects
	seen := map[actions.Verb]bool{}
	for _, k := range subjects {
		for _, x := range c.Abilities(k) {
			if seen[x.Spec.Verb] {
				continue
			}
			seen[x.Spec.Verb] = true
			a.verbs = append(a.verbs, plan.Verb{Ability: x, Key: keys.OfVerb(string(x.Spec.Verb))})
		}
	}
	for i, v := range a.verbs {
		if v.Spec.Verb == on {
			a.at = i
		}
	}
	if m.overlay != overVerbs {
		m.under = m.overlay
	}
	m.overlay = overVerbs
	return nil
}

func (m *Model) inVerbs(in keys.Intent) tea.Cmd {
	a := &m.act
	switch in.Action {
	case keys.Back:
		m.overlay = m.under
	case keys.Down:
		a.at = min(a.at+1, len(a.verbs)-1)
	case keys.Up:
		a.at = max(a.at-1, 0)
	case keys.Accept:
		if a.at < 0 || a.at >= len(a.verbs) {
			return nil
		}
		v := a.verbs[a.at]
		if !v.Denied.IsEmpty() {
			m.remark(string(v.Spec.Verb) + " is not available here")
			return nil
		}
		m.overlay = m.under
		_, hidden, _ := m.chosen()
		key := v.Key
		if key == "" {
			key = lightKey
		}
		cmd := m.intendOn(v.Spec.Verb, key, a.of, hidden)
		a.pressed = time.Time{} // enter chose it: the verb's own key was not pressed yet
		return cmd
	}
	return nil
}

// lightKey confirms a verb that has no key of its own, pressed twice.
const lightKey = "p"
