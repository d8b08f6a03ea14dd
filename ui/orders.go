package ui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/kit"
)

// Silences is what a Feed may know of silences.
type Silences interface {
	Silences() []alerts.Silencing
}

// Orders is what a Feed may let a viewer say about alerts. A viewer who must not is given a Feed without it, see
// Looking.
type Orders interface {
	Acknowledge(alertID string, owner, reason backend.Safe, lasting time.Duration) (alerts.Order, error)
	Unacknowledge(alertID string, owner backend.Safe) (alerts.Order, error)
	Silence(ms alerts.Matchers, owner, reason backend.Safe, lasting time.Duration) (alerts.Order, int, error)
	Matching(ms alerts.Matchers) int
	Expire(silenceID string, owner backend.Safe) (alerts.Order, error)
}

// Looking is a Feed that takes no orders, whatever the one behind it takes.
func Looking(f Feed) Feed { return looking{f} }

type looking struct{ Feed }

// Silences and Timeline are passed on: they are only looked at.
func (l looking) Silences() []alerts.Silencing {
	if s, ok := l.Feed.(Silences); ok {
		return s.Silences()
	}
	return nil
}

// Timeline lists the newest n events, where the Feed behind knows them.
func (l looking) Timeline(n int) []backend.Event {
	if h, ok := l.Feed.(History); ok {
		return h.Timeline(n)
	}
	return nil
}

// order is what a form collects for.
type order interface {
	title() string
	about() []string
	// check reads the texts of the form; the command carries the order out.
	check(m *Model, f *dialog) (tea.Cmd, error)
	// preview asks what the order would do with the texts as they stand; nil when there is nothing to ask.
	preview(m *Model, f *dialog) tea.Cmd
}

// orderedMsg says what became of an order.
type orderedMsg struct {
	say string
	err error
}

// previewMsg says what an order would do.
type previewMsg struct {
	round int
	note  string
	wrong bool
}

func (m *Model) owner() backend.Safe { return backend.Clean(m.viewer.Name, 60) }

// ordersOr returns what takes orders; without it, it says so.
func (m *Model) ordersOr(what string) (Orders, bool) {
	o, ok := m.feed.(Orders)
	if !ok {
		m.remark("this console only looks: it cannot " + what)
	}
	return o, ok
}

// alertHere is the alert under the cursor or in the details, nil when it is none.
func (m *Model) alertHere() *alerts.Alert {
	key := m.screen().Cursor(&m.frame)
	if m.overlay == overDetails {
		key = m.detail.here().key
	}
	for _, a := range m.frame.Board.Alerts {
		if views.AlertKey(a) == key {
			return a
		}
	}
	if key.Kind != "" {
		return m.frame.Alert(key) // the worst one that names it
	}
	return nil
}

// give opens the form of an order about the alert here, or carries out what needs none.
func (m *Model) give(in keys.Intent) tea.Cmd {
	a := m.alertHere()
	switch {
	case a == nil:
		m.remark("there is no alert here")
		return nil
	case a.State == alerts.StateEnded || a.State == alerts.StateResolved:
		m.remark("this alert is over: there is nothing to take or to silence")
		return nil
	}
	orders, ok := m.ordersOr("acknowledge or silence")
	if !ok {
		return nil
	}
	switch in.Action {
	case keys.Acknowledge:
		m.form = newDialog(&acknowledging{alert: a}, "reason", "for")
		m.form.set(1, span(alerts.AcknowledgeFor))
	case keys.Unacknowledge:
		if a.Acknowledged == nil {
			m.remark("nobody has taken " + a.Rule)
			return nil
		}
		owner := m.owner()
		return func() tea.Msg {
			_, err := orders.Unacknowledge(a.ID, owner)
			return orderedMsg{a.Rule + " is given back", err}
		}
	case keys.Silence:
		m.form = newDialog(&silencing{}, "which", "reason", "for")
		m.form.set(0, alerts.Matchers{{Label: alerts.LabelRule, Op: "=", Value: a.Rule}, {Label: alerts.LabelSource, Op: "=", Value: a.Source},
			{Label: alerts.LabelFingerprint, Op: "=", Value: a.Fingerprint}}.String())
		m.form.set(2, span(alerts.SilenceFor))
	}
	m.under, m.overlay = m.overlay, overForm
	first := 0
	if in.Action == keys.Silence {
		first = 1
	}
	return tea.Batch(m.form.focus(first), m.form.order.preview(m, &m.form))
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
		return 0, fmt.Errorf("how long? %q is no time; write it like 30m or 2h", text)
	}
	return d.Std(), nil
}

// inForm handles a key that is bound in a form.
func (m *Model) inForm(in keys.Intent) tea.Cmd {
	if in.Action == keys.Cancel {
		m.overlay = m.under
		return nil
	}
	cmd, ready := m.form.step(in)
	if !ready {
		return cmd
	}
	do, err := m.form.order.check(m, &m.form)
	if err != nil {
		m.form.say(true, err.Error())
		return nil
	}
	m.form.busy = true
	return do
}

func (m *Model) typedInForm(msg tea.Msg) tea.Cmd {
	if m.form.busy {
		return nil
	}
	cmd, changed := m.form.typed(msg)
	if changed {
		return tea.Batch(cmd, m.form.order.preview(m, &m.form))
	}
	return cmd
}

// ordered closes the form, or says in it why nothing was done.
func (m *Model) ordered(msg orderedMsg) {
	m.dirty = true
	m.form.busy = false
	switch {
	case msg.err != nil && m.overlay == overForm:
		m.form.say(true, backend.Clean(msg.err.Error(), 300).String())
		return
	case msg.err != nil:
		m.remark("not done: " + backend.Clean(msg.err.Error(), 300).String())
		return
	case m.overlay == overForm:
		m.overlay = m.under
	}
	m.remark(msg.say)
	m.refresh()
}

func (m *Model) previewed(msg previewMsg) {
	if m.overlay == overForm && msg.round == m.form.round && !m.form.busy {
		m.form.say(msg.wrong, msg.note)
		m.dirty = true
	}
}

// acknowledging takes an alert.
type acknowledging struct{ alert *alerts.Alert }

func (x *acknowledging) title() string { return "acknowledge " + x.alert.Rule }

func (x *acknowledging) about() []string {
	s := []string{x.alert.Cause.String()}
	if a := x.alert.Acknowledged; a != nil {
		s = append(s, "taken by "+a.Owner.String()+" already: "+a.Reason.String())
	}
	return append(s, "Known on this host only. It lapses when its time is over or the alert becomes more severe.")
}

func (x *acknowledging) preview(*Model, *dialog) tea.Cmd { return nil }

func (x *acknowledging) check(m *Model, f *dialog) (tea.Cmd, error) {
	d, err := lasting(f.value(1))
	if err != nil {
		return nil, err
	}
	orders, ok := m.feed.(Orders)
	if !ok {
		return nil, fmt.Errorf("this console only looks")
	}
	id, owner, reason, say := x.alert.ID, m.owner(), backend.Clean(f.value(0), 200), x.alert.Rule+" is yours for "+backend.Age(d)
	return func() tea.Msg {
		_, err := orders.Acknowledge(id, owner, reason, d)
		return orderedMsg{say, err}
	}, nil
}

// silencing mutes alerts.
type silencing struct{}

func (x *silencing) title() string { return "silence alerts" }

func (x *silencing) about() []string {
	return []string{"Alerts that match stay listed and do not count. Labels: " + strings.Join(alerts.MatcherLabels(), ", ") + "."}
}

func (x *silencing) preview(m *Model, f *dialog) tea.Cmd {
	orders, ok := m.feed.(Orders)
	if !ok {
		return nil
	}
	round, text := f.round, f.value(0)
	return func() tea.Msg {
		ms, err := alerts.ParseMatchers(text)
		if err != nil {
			return previewMsg{round, backend.Clean(err.Error(), 300).String(), true}
		}
		switch n := orders.Matching(ms); n {
		case 0:
			return previewMsg{round, "matches no alert now", true}
		case 1:
			return previewMsg{round, "matches 1 alert now", false}
		default:
			return previewMsg{round, "matches " + kit.Number(n) + " alerts now", false}
		}
	}
}

func (x *silencing) check(m *Model, f *dialog) (tea.Cmd, error) {
	ms, err := alerts.ParseMatchers(f.value(0))
	if err != nil {
		return nil, err
	}
	d, err := lasting(f.value(2))
	if err != nil {
		return nil, err
	}
	orders, ok := m.feed.(Orders)
	if !ok {
		return nil, fmt.Errorf("this console only looks")
	}
	owner, reason := m.owner(), backend.Clean(f.value(1), 200)
	return func() tea.Msg {
		_, n, err := orders.Silence(ms, owner, reason, d)
		say := fmt.Sprintf("%s silenced for %s", alertsCount(n), backend.Age(d))
		if n == 0 {
			say = "silenced for " + backend.Age(d) + ", but it matches no alert: M lists the silences"
		}
		return orderedMsg{say, err}
	}, nil
}

func alertsCount(n int) string {
	if n == 1 {
		return "1 alert"
	}
	return kit.Number(n) + " alerts"
}
