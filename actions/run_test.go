package actions

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/actions/audit"
	"sandglass/backend"
)

func bubble(t *testing.T, entries []string, f func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, entries...)
		w.run()
		defer w.end()
		f(t, w)
	})
}

func TestAResetIsVerifiedByAReading(t *testing.T) {
	bubble(t, []string{"notes"}, func(t *testing.T, w *world) {
		r := w.start(w.armed(), w.intent("notes"))
		<-r.Done()
		p := r.Progress()
		if p.Phase != PhaseDone || p.Lines[0].Result != ResultVerified || p.Overall() != ResultVerified {
			t.Fatalf("phase %s, line %+v", p.Phase, p.Lines[0])
		}
		want := []audit.Phase{audit.PhaseArmed, audit.PhaseIntent, audit.PhaseTargetIntent, audit.PhaseOutcome, audit.PhaseOutcome, audit.PhaseDone}
		if got := w.journal.phases(); !slices.Equal(got, want) {
			t.Errorf("journal has %v, want %v", got, want)
		}
		if last := w.journal.entries[4]; last.Result != ResultVerified || last.Verification.IsEmpty() {
			t.Errorf("the verification is not in the journal: %+v", last)
		}
	})
}

func TestWavesFollowOnVerification(t *testing.T) {
	bubble(t, names(25), func(t *testing.T, w *world) {
		r := w.start(w.armed(), w.intent(names(25)...))
		<-r.Done()
		p := r.Progress()
		if p.Waves != 3 || p.Count(ResultVerified) != 25 {
			t.Fatalf("%d waves: %s", p.Waves, p.Summary())
		}
		if n := p.Lines[3].Wave; n != 2 || p.Lines[4].Wave != 3 {
			t.Errorf("the second wave of 25 has the targets 2 to 4: line 4 is in wave %d, line 5 in %d", n, p.Lines[4].Wave)
		}
		if p.Lines[0].At.After(p.Lines[1].Issued) {
			t.Error("the second wave began before the canary was verified")
		}
	})
}

func TestAcceptedOnlyWaitsForTheOperator(t *testing.T) {
	bubble(t, names(4), func(t *testing.T, w *world) {
		w.onDo = func(e *entry) error { e.state = "opening"; return nil }
		r := w.start(w.armed(), w.intent(names(4)...))
		r.Continue() // too early: it does not count
		time.Sleep(10 * time.Second)
		r.Continue() // nor does this
		time.Sleep(30 * time.Second)
		p := r.Progress()
		if p.Phase != PhaseWaiting || !p.CanContinue || len(w.acted()) != 1 {
			t.Fatalf("phase %s after 40 s, %d acted on", p.Phase, len(w.acted()))
		}
		time.Sleep(time.Hour)
		if len(w.acted()) != 1 {
			t.Fatal("it went on by itself")
		}
		r.Continue()
		time.Sleep(time.Second)
		if len(w.acted()) != 2 {
			t.Fatalf("c did not start the second wave: %v", w.acted())
		}
		r.Stop(backend.Text("operator"))
		<-r.Done()
		if p := r.Progress(); p.Phase != PhaseStopped || p.Summary().String() != "2 of 4 done: 2 accepted" {
			t.Errorf("%s: %s", p.Phase, p.Summary())
		}
		if got := w.journal.phases(); got[len(got)-1] != audit.PhaseStopped {
			t.Errorf("the journal ends with %v", got)
		}
	})
}

func TestHeadlessStopsWhereAPersonWouldDecide(t *testing.T) {
	bubble(t, names(4), func(t *testing.T, w *world) {
		w.onDo = func(e *entry) error { e.state = "opening"; return nil }
		in := w.intent(names(4)...)
		in.Headless = true
		r := w.start(operator(w.options()), in)
		<-r.Done()
		if p := r.Progress(); p.Phase != PhaseStopped || p.Acted() != 1 || !strings.Contains(p.Why.String(), "without a screen") {
			t.Errorf("%s after %d: %s", p.Phase, p.Acted(), p.Why)
		}
	})
}

func TestWhatFailsAgainStopsTheWaves(t *testing.T) {
	bubble(t, names(10), func(t *testing.T, w *world) {
		w.onDo = func(e *entry) error { e.attempt = time.Now().Add(time.Millisecond); return nil }
		r := w.start(w.armed(), w.intent(names(10)...))
		<-r.Done()
		p := r.Progress()
		if p.Acted() != 1 || p.Count(ResultFailedAgain) != 1 || p.Phase != PhaseStopped {
			t.Errorf("%s: %s", p.Phase, p.Summary())
		}
	})
}

func TestThreeFailuresInARowBreakTheRun(t *testing.T) {
	bubble(t, names(100), func(t *testing.T, w *world) {
		n := 0
		w.onDo = func(e *entry) error {
			if n++; n > 1 {
				return errors.New("500 Internal Server Error")
			}
			cure(e)
			return nil
		}
		r := w.start(w.armed(), w.intent(names(100)...))
		<-r.Done()
		if p := r.Progress(); p.Count(ResultFailed) != 3 || p.Acted() != 4 || !strings.Contains(p.Why.String(), "3 failures in a row") {
			t.Errorf("%s: %s", p.Why, p.Summary())
		}
	})
}

func TestATimeoutIsReadNotRepeated(t *testing.T) {
	bubble(t, []string{"notes"}, func(t *testing.T, w *world) {
		w.onDo = func(e *entry) error {
			cure(e)
			return &UncertainError{errors.New("context deadline exceeded")}
		}
		r := w.start(w.armed(), w.intent("notes"))
		<-r.Done()
		if p := r.Progress(); p.Lines[0].Result != ResultVerified || len(w.acted()) != 1 {
			t.Errorf("%v after %d effects", p.Lines[0].Result, len(w.acted()))
		}
	})
}

func TestWhatNobodySawStaysUnknown(t *testing.T) {
	bubble(t, []string{"notes"}, func(t *testing.T, w *world) {
		w.onDo = func(*entry) error { return &UncertainError{errors.New("connection lost")} }
		r := w.start(w.armed(), w.intent("notes"))
		<-r.Done()
		if p := r.Progress(); p.Lines[0].Result != ResultUnknown || p.Overall() != ResultUnknown || len(w.acted()) != 1 {
			t.Errorf("%v after %d effects", p.Lines[0].Result, len(w.acted()))
		}
	})
}

func TestAChangedTargetIsSkipped(t *testing.T) {
	bubble(t, names(10), func(t *testing.T, w *world) {
		w.onLook = func(name string) {
			if name == "ws-004" {
				w.change(func() { w.entries[name].success = time.Now().Add(-time.Minute) })
			}
		}
		r := w.start(w.armed(), w.intent(names(10)...))
		<-r.Done()
		p := r.Progress()
		if p.Lines[4].Result != ResultSkipped || !strings.Contains(p.Lines[4].Text.String(), "last success was") || slices.Contains(w.acted(), "ws-004") {
			t.Errorf("line %+v, acted on %v", p.Lines[4], w.acted())
		}
		if p.Count(ResultVerified) != 9 {
			t.Error(p.Summary())
		}
	})
}

func TestManyChangesStopTheRun(t *testing.T) {
	bubble(t, names(10), func(t *testing.T, w *world) {
		w.onLook = func(name string) {
			if name != "ws-000" {
				w.change(func() { w.entries[name].success = time.Now().Add(-time.Minute) })
			}
		}
		r := w.start(w.armed(), w.intent(names(10)...))
		<-r.Done()
		if p := r.Progress(); p.Phase != PhaseStopped || p.Count(ResultSkipped) != 3 || len(w.acted()) != 1 {
			t.Errorf("%s, %s: %s", p.Phase, p.Why, p.Summary())
		}
	})
}

func TestASkippedCanaryIsReplaced(t *testing.T) {
	bubble(t, names(10), func(t *testing.T, w *world) {
		w.onLook = func(name string) {
			if name == "ws-000" {
				w.change(func() { delete(w.entries, name) })
				time.Sleep(10 * time.Second)
			}
		}
		r := w.start(w.armed(), w.intent(names(10)...))
		<-r.Done()
		p := r.Progress()
		if p.Lines[0].Result != ResultSkipped || p.Lines[1].Wave != 1 || p.Count(ResultVerified) != 9 {
			t.Errorf("%s; line 2 is in wave %d", p.Summary(), p.Lines[1].Wave)
		}
	})
}

func TestASilentSourceStopsBeforeAnyEffect(t *testing.T) {
	bubble(t, []string{"notes"}, func(t *testing.T, w *world) {
		c := w.armed()
		p := plan(t, c, w.intent("notes"))
		w.change(func() { w.down = true })
		time.Sleep(10 * time.Second)
		r := begin(t, c, p)
		<-r.Done()
		if s := r.Progress(); len(w.acted()) != 0 || s.Lines[0].Result != ResultSkipped || !strings.Contains(s.Lines[0].Text.String(), "did not answer") {
			t.Errorf("acted on %v; %+v", w.acted(), s.Lines[0])
		}
	})
}

func TestTheRateLimitHolds(t *testing.T) {
	bubble(t, names(30), func(t *testing.T, w *world) {
		o := w.options()
		o.Abilities[0].Spec.PerMinute = 10
		c := operator(o)
		if _, err := c.Arm(t.Context(), time.Hour, backend.Safe{}, backend.Text("x")); err != nil {
			t.Fatal(err)
		}
		r := w.start(c, w.intent(names(30)...))
		<-r.Done()
		p := r.Progress()
		for i := 10; i < 30; i++ {
			if d := p.Lines[i].Issued.Sub(p.Lines[i-10].Issued); d < time.Minute {
				t.Fatalf("target %d came %s after target %d", i, d, i-10)
			}
		}
		if p.Count(ResultVerified) != 30 {
			t.Error(p.Summary())
		}
	})
}

func TestANewCriticalAlertStops(t *testing.T) {
	for name, c := range map[string]struct {
		concern Concern
		stops   bool
	}{
		"names a target":      {Concern{ID: "a", Rule: "failed-too-long", Source: "other", Firing: true, Critical: true, Subjects: []backend.Key{key("ws-007")}}, true},
		"is about the source": {Concern{ID: "a", Rule: "eviction-storm", Source: home, Firing: true, Critical: true}, true},
		"is elsewhere":        {Concern{ID: "a", Rule: "eviction-storm", Source: "helix-us", Firing: true, Critical: true}, false},
		"is only a warning":   {Concern{ID: "a", Rule: "eviction-storm", Source: home, Firing: true}, false},
		"fired when it began": {Concern{ID: "known", Rule: "failed-too-long", Source: home, Firing: true, Critical: true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, names(12), func(t *testing.T, w *world) {
				w.concerns = []Concern{{ID: "known", Rule: "failed-too-long", Source: home, Firing: true, Critical: true, Since: time.Now()}}
				w.onDo = func(e *entry) error {
					cure(e)
					c.concern.Since = time.Now().Add(time.Second)
					w.concerns = []Concern{c.concern}
					return nil
				}
				r := w.start(w.armed(), w.intent(names(12)...))
				<-r.Done()
				if p := r.Progress(); (p.Phase == PhaseStopped) != c.stops {
					t.Errorf("%s: %s, %s", p.Phase, p.Why, p.Summary())
				}
			})
		})
	}
}

func TestAHangUpFinishesTheTargetAndIsWrittenDown(t *testing.T) {
	bubble(t, names(40), func(t *testing.T, w *world) {
		c := w.armed()
		n := 0
		w.onDo = func(e *entry) error {
			if n++; n == 7 {
				go c.control.Hangup(t.Context(), backend.Text("the terminal was lost"))
				w.mu.Unlock()
				time.Sleep(time.Second)
				w.mu.Lock()
			}
			cure(e)
			return nil
		}
		r := w.start(c, w.intent(names(40)...))
		<-r.Done()
		last := w.journal.entries[len(w.journal.entries)-1]
		if last.Phase != audit.PhaseStopped || last.Done != 7 || last.Targets != 40 || !last.Unseen || !strings.Contains(last.Detail.String(), "7 of 40 done") {
			t.Errorf("the journal ends with %+v", last)
		}
	})
}

// What the operator stopped needs not be told at the next start, though the terminal is lost right after it.
func TestWhatTheOperatorStoppedWasSeen(t *testing.T) {
	bubble(t, names(4), func(t *testing.T, w *world) {
		c := w.armed()
		w.onDo = func(e *entry) error { cure(e); w.mu.Unlock(); time.Sleep(time.Second); w.mu.Lock(); return nil }
		r := w.start(c, w.intent(names(4)...))
		time.Sleep(100 * time.Millisecond)
		r.Stop(backend.Text("stopped by the operator"))
		c.control.Hangup(t.Context(), backend.Text("the terminal was lost"))
		if last := w.journal.entries[len(w.journal.entries)-1]; last.Phase != audit.PhaseStopped || last.Unseen || !strings.Contains(last.Detail.String(), "by the operator") {
			t.Errorf("the journal ends with %+v", last)
		}
	})
}

func TestNoJournalNoEffect(t *testing.T) {
	for refuse := 2; refuse <= 4; refuse++ { // 1 is the arming
		for _, once := range []bool{false, true} {
			bubble(t, names(3), func(t *testing.T, w *world) {
				c := w.armed()
				w.journal.refuse, w.journal.once = refuse, once
				r := w.start(c, w.intent(names(3)...))
				<-r.Done()
				most := 0
				if refuse == 4 { // the outcome of the first is refused: that one is done, and nothing after it
					most = 1
				}
				if got := w.acted(); len(got) != most {
					t.Errorf("the journal refused record %d (that one alone: %t), and %v was acted on", refuse, once, got)
				}
				if p := r.Progress(); p.Phase != PhaseStopped {
					t.Errorf("phase %s", p.Phase)
				}
			})
		}
	}
}

func TestADryRunChangesNothing(t *testing.T) {
	bubble(t, names(5), func(t *testing.T, w *world) {
		c := operator(w.options())
		p := plan(t, c, w.intent(names(5)...))
		got, err := c.Rehearse(t.Context(), p)
		if err != nil || got.Acted() != 5 || len(w.acted()) != 0 || len(w.journal.entries) != 0 {
			t.Errorf("%v, %s; acted on %v, journal %v", err, got.Summary(), w.acted(), w.journal.phases())
		}
	})
}

// What other processes do counts, also while a plan runs; each target is read anew after it had to wait.
func TestTheRateLimitCountsOtherProcesses(t *testing.T) {
	bubble(t, names(12), func(t *testing.T, w *world) {
		o := w.options()
		o.Abilities[0].Spec.PerMinute = 3
		runs := make([]*Run, 2)
		for i := range runs { // as two processes do it: they share the journal and nothing else
			c := operator(o)
			if _, err := c.Arm(t.Context(), time.Hour, backend.Safe{}, backend.Text("x")); err != nil {
				t.Fatal(err)
			}
			runs[i] = w.start(c, w.intent(names(12)[6*i:6*i+6]...))
		}
		time.Sleep(20 * time.Second)
		late := ""
		for _, r := range runs {
			for _, l := range r.Progress().Lines {
				if l.Issued.IsZero() {
					late = l.Target.Key.ID.Raw()
				}
			}
		}
		w.change(func() { w.entries[late].success = time.Now() })
		var at []time.Time
		for _, r := range runs {
			<-r.Done()
			for _, l := range r.Progress().Lines {
				if !l.Issued.IsZero() {
					at = append(at, l.Issued)
				}
			}
		}
		slices.SortFunc(at, time.Time.Compare)
		if len(at) != 11 || slices.Contains(w.acted(), late) {
			t.Fatalf("acted on %v; %s changed while it had to wait", w.acted(), late)
		}
		for i := 3; i < len(at); i++ {
			if d := at[i].Sub(at[i-3]); d < time.Minute {
				t.Errorf("effect %d came %s after effect %d, of whichever plan", i, d, i-3)
			}
		}
	})
}
