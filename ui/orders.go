package ui

import (
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"sandglass/actions"
	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/views/keys"
	"sandglass/views/kit"
)

// Silences is what a Feed may know of silences.
type Silences interface {
	Silences() []alerts.Silencing
}

// Orders is what a Feed may let a viewer say about alerts, as far as its permissions go.
type Orders interface {
	Acknowledge(alertID string, owner, reason backend.Safe, lasting time.Duration) (alerts.Order, error)
	Unacknowledge(alertID string, owner backend.Safe) (alerts.Order, error)
	Silence(ms alerts.Matchers, owner, reason backend.Safe, lasting time.Duration) (alerts.Order, int, error)
	Matching(ms alerts.Matchers) int
	Expire(silenceID string, owner backend.Safe) (alerts.Order, error)
}

// orders are those of the feed, or why this viewer gives none.
func (v *Viewer) orders(feed Feed) (Orders, error) {
	o, ok := feed.(Orders)
	switch why := v.denied(actions.Acknowledge); {
	case why != "":
		return nil, errors.New(why)
	case !ok:
		return nil, errors.New(onlyLooks + ": nothing here takes orders about alerts")
	}
	return o, nil
}

// order opens the form of an order about the alert here, or carries out one that needs no form.
func (x *scope) order(in keys.Intent) reply {
	a := x.alert()
	switch {
	case a == nil:
		return reply{Say: "there is no alert here"}
	case a.State == alerts.StateEnded || a.State == alerts.StateResolved:
		return reply{Say: "this alert is over: there is nothing to take or to silence"}
	}
	orders, err := x.viewer.orders(x.feed)
	if err != nil {
		return reply{Say: err.Error()}
	}
	owner := x.viewer.owner()
	switch in.Action {
	case keys.Acknowledge:
		f := newForm(&acknowledging{alert: a, orders: orders, owner: owner}, "reason", "for")
		f.set(1, span(alerts.AcknowledgeFor))
		return f.open(0)
	case keys.Silence:
		f := newForm(&silencing{orders: orders, owner: owner}, "which", "reason", "for")
		f.set(0, alerts.Matchers{{Label: alerts.LabelRule, Op: "=", Value: a.Rule}, {Label: alerts.LabelSource, Op: "=", Value: a.Source},
			{Label: alerts.LabelFingerprint, Op: "=", Value: a.Fingerprint}}.String())
		f.set(2, span(alerts.SilenceFor))
		return f.open(1)
	}
	if a.Acknowledged == nil {
		return reply{Say: a.Rule + " is not acknowledged"}
	}
	return reply{Cmd: func() tea.Msg {
		_, err := orders.Unacknowledge(a.ID, owner)
		return orderedMsg{say: a.Rule + " is not acknowledged any more", err: err}
	}}
}

func span(d time.Duration) string {
	b, err := backend.Duration(d).MarshalText()
	if err != nil {
		return d.String()
	}
	return string(b)
}

// lasting reads a duration field.
func lasting(text string) (time.Duration, error) {
	var d backend.Duration
	if err := d.UnmarshalText([]byte(text)); err != nil || d <= 0 {
		return 0, fmt.Errorf("how long? %q is not a time; write it like 30m or 2h", text)
	}
	return d.Std(), nil
}

// acknowledging takes an alert.
type acknowledging struct {
	alert  *alerts.Alert
	orders Orders
	owner  backend.Safe
}

func (x *acknowledging) title() string { return "acknowledge " + x.alert.Rule }

func (x *acknowledging) about() []string {
	s := []string{x.alert.Cause.String()}
	if a := x.alert.Acknowledged; a != nil {
		s = append(s, "acknowledged by "+a.Owner.String()+" already: "+a.Reason.String())
	}
	return append(s, "Known on this host only. It lapses when its time is over, the alert becomes more severe or has ten times as many subjects.")
}

func (x *acknowledging) preview(*form) tea.Cmd { return nil }

func (x *acknowledging) check(f *form) (tea.Cmd, error) {
	d, err := lasting(f.value(1))
	if err != nil {
		return nil, err
	}
	reason, say := backend.Clean(f.value(0), 200), x.alert.Rule+" is yours for "+backend.Age(d)
	return func() tea.Msg {
		_, err := x.orders.Acknowledge(x.alert.ID, x.owner, reason, d)
		return orderedMsg{form: f, say: say, err: err}
	}, nil
}

// silencing mutes alerts.
type silencing struct {
	orders Orders
	owner  backend.Safe
}

func (x *silencing) title() string { return "silence alerts" }

func (x *silencing) about() []string {
	return []string{"Alerts that match stay listed and do not count. Labels: " + strings.Join(alerts.MatcherLabels(), ", ") + "."}
}

func (x *silencing) preview(f *form) tea.Cmd {
	round, text := f.round, f.value(0)
	return func() tea.Msg {
		ms, err := alerts.ParseMatchers(text)
		if err != nil {
			return previewMsg{f, round, backend.Clean(err.Error(), 300).String(), true}
		}
		switch n := x.orders.Matching(ms); n {
		case 0:
			return previewMsg{f, round, "matches no alert now", true}
		case 1:
			return previewMsg{f, round, "matches 1 alert now", false}
		default:
			return previewMsg{f, round, "matches " + kit.Number(n) + " alerts now", false}
		}
	}
}

func (x *silencing) check(f *form) (tea.Cmd, error) {
	ms, err := alerts.ParseMatchers(f.value(0))
	if err != nil {
		return nil, err
	}
	d, err := lasting(f.value(2))
	if err != nil {
		return nil, err
	}
	reason := backend.Clean(f.value(1), 200)
	return func() tea.Msg {
		_, n, err := x.orders.Silence(ms, x.owner, reason, d)
		say := fmt.Sprintf("%s silenced for %s", alertsCount(n), backend.Age(d))
		if n == 0 {
			say = "silenced for " + backend.Age(d) + ", but it matches no alert: M lists the silences"
		}
		return orderedMsg{form: f, say: say, err: err}
	}, nil
}

func alertsCount(n int) string {
	if n == 1 {
		return "1 alert"
	}
	return kit.Number(n) + " alerts"
}
