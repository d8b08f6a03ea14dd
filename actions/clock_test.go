package actions

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/backend"
)

// The clock of the wall is set while a plan is on its way. Nothing may be acted on by an old reading, no plan may live
// longer, and no effect may happen twice.
func TestTheClockJumps(t *testing.T) {
	for name, jump := range map[string]time.Duration{"back": -time.Hour, "forward": time.Hour} {
		t.Run(name+" before the start", func(t *testing.T) {
			jumping(t, func(t *testing.T, w *world, c *Operator, jumped func(time.Duration), now func() time.Time) {
				p := plan(t, c, w.intent(names(6)...))
				jumped(jump)
				if _, err := ConfirmDigest(p, p.Digest, now()); !errors.Is(err, ErrExpired) {
					t.Errorf("a plan made before the jump: %v", err)
				}
			})
		})
		t.Run(name+" after the confirmation", func(t *testing.T) {
			jumping(t, func(t *testing.T, w *world, c *Operator, jumped func(time.Duration), now func() time.Time) {
				p := plan(t, c, w.intent(names(6)...))
				ok, err := ConfirmDigest(p, p.Digest, now())
				if err != nil {
					t.Fatal(err)
				}
				w.change(func() { w.down = true }) // the newest reading is from before the jump
				time.Sleep(6 * time.Second)
				jumped(jump)
				r, err := c.start(t.Context(), ok)
				if err == nil {
					<-r.Done()
				}
				if len(w.acted()) != 0 {
					t.Errorf("acted on %v by a reading from before the jump", w.acted())
				}
			})
		})
		t.Run(name+" during the waves", func(t *testing.T) {
			jumping(t, func(t *testing.T, w *world, c *Operator, jumped func(time.Duration), now func() time.Time) {
				n := 0
				w.onDo = func(e *entry) error {
					if n++; n == 3 {
						jumped(jump)
					}
					cure(e)
					return nil
				}
				r := w.start(c, w.intent(names(30)...))
				for range 20 {
					time.Sleep(time.Minute)
					r.Continue()
				}
				r.Stop(backend.Text("the test has seen enough"))
				<-r.Done()
				acted := w.acted()
				slices.Sort(acted)
				if len(slices.Compact(slices.Clone(acted))) != len(acted) {
					t.Errorf("something was acted on twice: %v", acted)
				}
			})
		})
	}
}

func jumping(t *testing.T, f func(t *testing.T, w *world, c *Operator, jumped func(time.Duration), now func() time.Time)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, names(30)...)
		w.run()
		defer w.end()
		var off atomic.Int64
		now := func() time.Time { return time.Now().Add(time.Duration(off.Load())) }
		o := &odd{world: w}
		c := o.control(func(opt *Options) { opt.Now = now })
		f(t, w, c, func(d time.Duration) { off.Add(int64(d)) }, now)
	})
}
