package alerts

import (
	"testing"
	"time"

	"sandglass/backend/fleet"
)

// Other thresholds hold from the next State on, also for what did not change, and the state of a rule that stays goes on.
func TestReconfigure(t *testing.T) {
	l := newLamp(t, Meta{For: time.Hour})
	svc := NewService(l.engine, ServiceOptions{})
	svc.Reconfigure(l.engine) // before the first State
	unchanged := func() *fleet.State {
		l.now = l.now.Add(time.Minute)
		st := l.state("on")
		st.Delta = fleet.Delta{}
		return st
	}
	state := func() AlertState {
		if _, b := svc.Latest(); len(b.Alerts) > 0 {
			return b.Alerts[0].State
		}
		return ""
	}
	svc.Observe(l.state("on"))
	svc.Observe(unchanged())
	if got := state(); got != StatePending {
		t.Fatalf("%q before", got)
	}
	began := svc.board.Alerts[0].Began()
	soon := newLamp(t, Meta{For: time.Second})
	svc.Reconfigure(soon.engine)
	if got := state(); got != StatePending {
		t.Errorf("%q before the next State", got)
	}
	svc.Observe(unchanged())
	if got := state(); got != StateFiring || !svc.board.Alerts[0].Began().Equal(began) {
		t.Errorf("%q since %v, want firing since %v", got, svc.board.Alerts[0].Began(), began)
	}
	if m := svc.board.memory; m.reconsider {
		t.Error("every State is looked at whole from now on")
	}
	svc.Reconfigure(NewEngine(nil, "test"))
	svc.Observe(unchanged())
	if got := state(); got != "" {
		t.Errorf("%q of a rule that is switched off", got)
	}
	svc.Reconfigure(l.engine)
	svc.Observe(unchanged())
	if got := state(); got != StatePending {
		t.Errorf("%q of a rule that is switched on again, want pending anew", got)
	}
}
