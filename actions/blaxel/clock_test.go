package blaxel

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/actions"
)

// TestAClockThatIsOffIsMeasured: an offset that is no time zone is not rounded to one, which would tell a start that is minutes
// off, or to come. The page says that the clock is off.
func TestAClockThatIsOffIsMeasured(t *testing.T) {
	for _, off := range []time.Duration{-680 * time.Second, 680 * time.Second, -5 * time.Hour, 20 * time.Second} {
		w := newWorld(t)
		w.box.Server.Zone = off
		w.box.Server.Start("loop", "sleep 900", "/workspace", time.Now().Add(-2*time.Minute))
		w.box.Server.Start("before", "sleep 900", "/workspace", time.Now().Add(time.Hour)) // by a clock that was set since
		if _, err := w.do(actions.Probe, actions.Params{}); err != nil {
			t.Fatal(err)
		}
		in, _ := w.sandbox.Inside()
		clock := time.Duration(0)
		if off.Abs() == 680*time.Second {
			clock = off
		}
		if d := in.ClockOff - clock; d.Abs() > 30*time.Second || (clock == 0) != (in.ClockOff == 0) {
			t.Errorf("%s: the clock is off by %s", off, in.ClockOff)
		}
		for _, p := range in.Processes {
			switch ago := time.Since(p.StartedAt); p.Name.String() {
			case "loop":
				if ago < time.Minute || ago > 3*time.Minute {
					t.Errorf("%s: it began %s ago, and not 2m", off, ago)
				}
			case "before":
				if !p.StartedAt.IsZero() {
					t.Errorf("%s: it is told to begin in %s", off, -ago)
				}
			}
		}
	}
}

// TestASandboxThatWasMadeAgainIsAnotherOne: a plan is not carried out on what has its name since, whichever verb it is of.
func TestASandboxThatWasMadeAgainIsAnotherOne(t *testing.T) {
	t.Parallel()
	for _, v := range []actions.Verb{actions.Probe, actions.Destroy} {
		w := newWorld(t)
		w.sandbox.Born = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
		c := w.look(v, actions.Params{})
		w.sandbox.Born = w.sandbox.Born.Add(time.Minute)
		if fmt.Sprint(c.Identity) == fmt.Sprint(w.look(v, actions.Params{}).Identity) {
			t.Errorf("%s: the plan does not tell it from one that is made again", v)
		}
		_, err := w.carryOut(v, c)
		if !errors.As(err, new(*actions.ChangedError)) || !strings.Contains(err.Error(), "it is another one of the same name, created at ") || w.asks("DELETE ") > 0 || w.asks("/sbx/") > 0 {
			t.Errorf("%s: %v", v, err)
		}
	}
}
