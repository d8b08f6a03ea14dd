package alerts

import (
	"slices"

	"sandglass/backend"
)

// stands are the firing alerts of a StandingRule by what they are about.
type stands struct {
	rule       StandingRule
	own        *ruleState
	bySubject  map[backend.Key]string
	workspaces map[workspaceOf]string
}

// workspaceOf names a workspace without its source; without a name it is any of its session's.
type workspaceOf struct{ session, name backend.ID }

// stoodFor is the id of the alert that stands for an alert, because each of its live subjects, or the sandbox behind it,
// has a firing finding there; empty when there is none. It takes one step for each subject.
func (ev *evaluation) stoodFor(g *group) string {
	for _, s := range ev.standing() {
		if s.rule.Meta().Name == g.alert.Rule {
			if id := s.gathered(g.members); id != g.alert.ID {
				return id
			}
			continue
		}
		if id := s.over(g); id != "" {
			return id
		}
	}
	return ""
}

// standing collects the alerts of the StandingRules once.
func (ev *evaluation) standing() []*stands {
	if ev.stand != nil {
		return ev.stand
	}
	ev.stand = []*stands{}
	for _, r := range ev.e.rules {
		rule, is := r.(StandingRule)
		if !is || ev.next.rules[r.Meta().Name] == nil || len(ev.next.rules[r.Meta().Name].groups) == 0 {
			continue
		}
		s := &stands{rule: rule, own: ev.next.rules[r.Meta().Name], bySubject: map[backend.Key]string{}, workspaces: map[workspaceOf]string{}}
		for id, g := range s.own.groups {
			for _, m := range g.members {
				if m.State == StateFiring && id.source != "" {
					s.add(g, m)
				}
			}
		}
		ev.stand = append(ev.stand, s)
	}
	return ev.stand
}

func (s *stands) add(g *group, m *record) {
	id := g.alert.ID
	if by := s.gathered(g.members[:1]); by != "" {
		id = by // what stands for others is never hidden itself
	}
	s.bySubject[m.Key] = id
	session, name := s.rule.Behind(m.Key, m.Note)
	if !session.IsZero() {
		s.workspaces[workspaceOf{session, name}] = id
	}
}

// gathered is the alert that stands for all of some findings of the rule itself, empty where none fires.
func (s *stands) gathered(members []*record) string {
	if len(members) != 1 {
		return ""
	}
	noteOf := func(k backend.Key) Note {
		if r := s.own.get(k); r != nil {
			return r.Note
		}
		return Note{}
	}
	for _, by := range s.rule.GatheredBy(members[0].Key, members[0].Note, noteOf) {
		if by == members[0].Key {
			continue
		}
		r := s.own.get(by)
		if r == nil || r.State != StateFiring {
			continue
		}
		if id, ok := r.group(); ok && s.own.groups[id] != nil {
			return s.own.groups[id].alert.ID
		}
	}
	return ""
}

// over is the alert that stands for all live subjects of a lesser one.
func (s *stands) over(g *group) string {
	if len(s.bySubject) == 0 || !slices.Contains(s.rule.StandsFor(), g.alert.Rule) {
		return ""
	}
	found := ""
	for _, m := range g.members {
		if m.State == StateEnded {
			continue
		}
		id := s.about(m)
		if id == "" {
			return ""
		}
		if found == "" {
			found = id
		}
	}
	return found
}

func (s *stands) about(m *record) string {
	if id := s.bySubject[m.Key]; id != "" {
		return id
	}
	if m.Key.Kind == backend.KindSession {
		return s.workspaces[workspaceOf{m.Key.ID, backend.ID{}}]
	}
	if m.Key.Kind != backend.KindWorkspace && m.Key.Kind != backend.KindRef {
		return ""
	}
	for _, name := range []backend.ID{m.Key.ID, {}} {
		if id := s.workspaces[workspaceOf{m.Key.Parent, name}]; id != "" {
			return id
		}
	}
	return ""
}
