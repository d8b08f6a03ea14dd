package app

import (
	"context"
	"errors"
	"fmt"

	"sandglass/actions"
	"sandglass/actions/audit"
	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/ui"
)

// viewerFeed is the alert service for one viewer: the journal names the viewer with its orders.
type viewerFeed struct {
	*alerts.Service
	alerts.OrderWriter
}

// View shows the Station, which was started, to one viewer until that leaves (nil), ctx ends (its cause), or something breaks. v
// says who the viewer is, what its terminal can do, and what time it is; the rest of it comes from the Station and the operator.
// A panic of the viewer's program is a *CrashError. It ends this viewer alone, as a lost or a stalled terminal does.
// At the end View waits until the operator's run has stopped.
func (s *Station) View(ctx context.Context, operator *actions.Operator, v ui.Viewer, t ui.Terminal) error {
	err := s.show(ctx, operator, v, t)
	why := backend.Text("the viewer left")
	if crash := (*CrashError)(nil); errors.As(err, &crash) {
		why = backend.Text("the viewer's screen crashed")
	}
	leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestGoodbye)
	defer cancel()
	return errors.Join(err, operator.Hangup(leaving, why))
}

// show is View, and leaves it to the caller to end the operator.
func (s *Station) show(ctx context.Context, operator *actions.Operator, v ui.Viewer, t ui.Terminal) error {
	who := func() audit.Who { return operator.Who(backend.Safe{}) }
	v.ID, v.Control, v.Permissions = operator.ID(), operator, operator.Permissions()
	v.Environment, v.Production = s.Config.Environment, s.Config.Production
	_, here := t.In.(keyboard)
	v.Examine, v.Logs = s.examine, s.logs(here)
	if s.app.Sent != nil {
		v.Sent = s.app.Sent.Newest
	}
	v.Settings, v.Reload = s.reloads.viewer()
	s.keepFor(&v)
	if s.Journal != nil && !s.ReadOnly {
		v.Bundle = func(ctx context.Context, k backend.Key) (string, error) {
			saved, err := s.SaveEvidence(ctx, who(), k, "")
			return saved.Path, err
		}
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	t.Spawn = backend.NewSpawner(func(name string, reason any, stack []byte) {
		failure := &ui.PanicError{Reason: reason, Stack: stack}
		if fail(failure); context.Cause(ctx) != failure { // the program ends already, for another reason
			s.app.Crash.write(s.StateDir, name, reason, stack)
		}
	})
	on := &screen{}
	t.Started = func(restore func()) {
		on.restore = restore
		s.app.Crash.screenUp(on, s)
	}
	err := ui.Run(ctx, v, viewerFeed{s.Alerts, s.Alerts.OrdersInto(s.ordersOf(who))}, t)
	s.app.Crash.screenDown(on)
	if failure := (*ui.PanicError)(nil); errors.As(err, &failure) {
		name := fmt.Sprintf("screen of viewer %s (%s)", v.ID, v.Name)
		err = &CrashError{failure, s.app.Crash.write(s.StateDir, name, failure.Reason, failure.Stack), carriesOut(s.Control)}
	}
	return err
}
