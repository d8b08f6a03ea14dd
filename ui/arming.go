package ui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"sandglass/actions"
	"sandglass/backend"
)

// arming is the order that lets this console act for a while.
type arming struct {
	acting *acting
	then   *request // what is planned once it is armed; nil: nothing
	name   bool     // it asks who is there
}

func (x *arming) title() string {
	if x.then != nil {
		return "enable actions, then plan: " + backend.Clean(string(x.then.intent.Verb), 40).String()
	}
	return "enable actions"
}

func (x *arming) about() []string {
	s := []string{"For this time, this console may carry out plans that you confirm, on the sources whose configuration allows it. It ends by itself. The reason goes into the journal."}
	if x.name {
		s = append(s, "Several people can use this account: say who you are.")
	}
	return s
}

func (x *arming) preview(*form) tea.Cmd { return nil }

func (x *arming) check(f *form) (tea.Cmd, error) {
	d, err := lasting(f.value(1))
	if err != nil {
		return nil, err
	}
	who := backend.Safe{}
	if x.name {
		who = backend.Clean(f.value(2), 60)
	}
	return x.arm(f, d, who, backend.Clean(f.value(0), 200)), nil
}

// armWithin bounds the wait for the journal.
const armWithin = 15 * time.Second

// arm writes the arming into the journal and lets the console act. form is nil when no form asked for it.
func (x *arming) arm(f *form, d time.Duration, who, reason backend.Safe) tea.Cmd {
	a := x.acting
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), armWithin)
		defer cancel()
		armed, err := a.control.Arm(ctx, d, who, reason)
		return orderedMsg{form: f, failed: "actions are not enabled", err: err, then: func() reply {
			if x.then != nil {
				return a.plan(request{x.then.intent, x.then.key, time.Time{}, x.then.seen})
			}
			return reply{Say: "actions enabled for " + backend.Age(armed.Until.Sub(a.now()))}
		}}
	}
}

// openArming opens the form. When all was typed, it arms at once: `15m quota raised`.
func (a *acting) openArming(text string, then *request) reply {
	c := a.control
	if c == nil || !c.CanAct() {
		return reply{Say: a.whyNotArm()}
	}
	typed, reason, _ := strings.Cut(strings.TrimSpace(text), " ")
	reason = strings.TrimSpace(reason)
	d, err := lasting(typed)
	x := &arming{acting: a, then: then, name: c.NeedsName()}
	if err == nil && reason != "" && !x.name {
		return reply{Cmd: x.arm(nil, d, backend.Safe{}, backend.Clean(reason, 200))}
	}
	if err != nil {
		typed = span(actions.DefaultArming)
	}
	labels := []string{"reason", "for"}
	if x.name {
		labels = append(labels, "who are you")
	}
	f := newForm(x, labels...)
	f.set(0, reason)
	f.set(1, typed)
	return f.open(0)
}

// whyNotArm says why nothing can be armed, and what to do about it.
func (a *acting) whyNotArm() string {
	if a.control == nil {
		return onlyLooks
	}
	for _, x := range a.control.All() {
		if !x.Denied.IsEmpty() {
			return "nothing can be done here: " + x.Denied.String()
		}
	}
	return "nothing can be done to any of the sources"
}

// disarm ends the arming.
func (a *acting) disarm() reply {
	c := a.control
	if c == nil {
		return reply{Say: onlyLooks}
	}
	if _, armed := c.Armed(); !armed {
		return reply{Say: "actions are not enabled"}
	}
	return reply{Cmd: func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), armWithin)
		defer cancel()
		return orderedMsg{say: "actions disabled", err: c.Disarm(ctx)}
	}}
}

// resumed ends the arming when the console comes back from the shell's background: another person may have brought it
// back.
func (a *acting) resumed() reply {
	if a.control != nil {
		if _, armed := a.control.Armed(); armed {
			return a.disarm()
		}
	}
	return reply{}
}
