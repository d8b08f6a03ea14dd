package scenario

import (
	"maps"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// alertHistory is what the engine concluded so far, by rule.
type alertHistory struct {
	transitions map[string][]transition
	live        map[string]map[string]bool // by rule and subject: it fires or is held
	resolved    map[string]map[string]bool
}

type transition struct {
	at   time.Duration
	name string
}

func newAlertHistory() *alertHistory {
	return &alertHistory{map[string][]transition{}, map[string]map[string]bool{}, map[string]map[string]bool{}}
}

// note adds the changes of one State.
func (r *alertHistory) note(at time.Duration, b *alerts.Board, events []backend.Event) {
	for _, e := range events {
		rule, _, _ := strings.Cut(e.Text.String(), " ") // every transition's text begins with its rule
		rule = strings.TrimSuffix(rule, ":")
		r.transitions[rule] = append(r.transitions[rule], transition{at, e.Name})
	}
	states := map[string]map[string]alerts.AlertState{}
	for _, a := range b.Alerts {
		if states[a.Rule] == nil {
			states[a.Rule] = map[string]alerts.AlertState{}
		}
		for _, x := range a.Subjects {
			states[a.Rule][name(x.Key)] = x.State
		}
	}
	for rule, live := range r.live {
		for subject := range maps.Clone(live) {
			state := states[rule][subject]
			if state == alerts.StateFiring || state == alerts.StateHeld {
				continue
			}
			delete(live, subject)
			if state != alerts.StateEnded {
				put(r.resolved, rule, subject)
			}
		}
	}
	for rule, subjects := range states {
		for subject, s := range subjects {
			if s == alerts.StateFiring || s == alerts.StateHeld {
				put(r.live, rule, subject)
				delete(r.resolved[rule], subject)
			}
		}
	}
}

func put(m map[string]map[string]bool, rule, subject string) {
	if m[rule] == nil {
		m[rule] = map[string]bool{}
	}
	m[rule][subject] = true
}

func name(k backend.Key) string { return k.Path().Raw() }
