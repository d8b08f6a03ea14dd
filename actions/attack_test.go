package actions

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sandglass/actions/audit"
	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/fleet"
)

// odd is a world whose parts misbehave.
type odd struct {
	*world
	look   func(Question) []Candidate
	do     func(context.Context, Target) (Done, error)
	verify func(Target) Verdict
}

func (o *odd) Look(ctx context.Context, q Question) []Candidate {
	if o.look != nil {
		return o.look(q)
	}
	return o.world.Look(ctx, q)
}

func (o *odd) Do(ctx context.Context, t Target, p Params) (Done, error) {
	if o.do != nil {
		return o.do(ctx, t)
	}
	return o.world.Do(ctx, t, p)
}

func (o *odd) Verify(t Target, issued time.Time, s *fleet.State) Verdict {
	if o.verify != nil {
		return o.verify(t)
	}
	return o.world.Verify(t, issued, s)
}

// control makes an armed Control of the odd world.
func (o *odd) control(change ...func(*Options)) *Operator {
	o.t.Helper()
	opt := o.options()
	opt.Abilities[0].Part = Part{Targets: o, Verifier: o, Open: func(context.Context) (Effect, error) { return o, nil }}
	for _, f := range change {
		f(&opt)
	}
	c := operator(opt)
	if _, err := c.Arm(o.t.Context(), 8*time.Hour, backend.Safe{}, backend.Text("incident 7")); err != nil {
		o.t.Fatal(err)
	}
	return c
}

func (o *odd) last() audit.Entry {
	o.journal.mu.Lock()
	defer o.journal.mu.Unlock()
	return o.journal.entries[len(o.journal.entries)-1]
}

func TestAnEffectThatBreaksOffIsUnknownAndEndsTheRun(t *testing.T) {
	bubble(t, names(5), func(t *testing.T, w *world) {
		o := &odd{world: w, do: func(context.Context, Target) (Done, error) { panic("nil map") }}
		r := o.start(o.control(), w.intent(names(5)...))
		<-r.Done()
		p := r.Progress()
		if p.Phase != PhaseStopped || p.Lines[0].Result != ResultUnknown || p.Acted() != 1 || !strings.Contains(p.Why.String(), "attack_test.go") {
			t.Errorf("%s, %s: %+v", p.Phase, p.Why, p.Lines[0])
		}
		phases := w.journal.phases()
		if got := w.journal.entries[len(phases)-2]; got.Phase != audit.PhaseOutcome || got.Result != ResultUnknown {
			t.Errorf("the journal has %+v before its end", got)
		}
		if o.last().Phase != audit.PhaseStopped || o.last().Done != 1 {
			t.Errorf("the journal ends with %+v", o.last())
		}
	})
}

func TestAnEffectThatNeverReturnsIsUnknownAndEndsTheRun(t *testing.T) {
	bubble(t, names(5), func(t *testing.T, w *world) {
		release := make(chan struct{})
		defer close(release)
		o := &odd{world: w, do: func(context.Context, Target) (Done, error) { <-release; return Done{}, nil }}
		began := time.Now()
		r := o.start(o.control(), w.intent(names(5)...))
		time.Sleep(time.Second)
		r.Stop(backend.Text("operator")) // does not break it off
		<-r.Done()
		if d := time.Since(began); d < longestEffect || d > longestEffect+time.Minute {
			t.Errorf("it was given up after %s", d)
		}
		if p := r.Progress(); p.Lines[0].Result != ResultUnknown || p.Acted() != 1 || o.last().Phase != audit.PhaseStopped {
			t.Errorf("%s: %+v", p.Phase, p.Lines[0])
		}
	})
}

func TestATargetReaderThatBreaksOffAddsNothing(t *testing.T) {
	bubble(t, names(9), func(t *testing.T, w *world) {
		broken := true
		o := &odd{world: w}
		o.look = func(q Question) []Candidate {
			if broken {
				panic("index out of range")
			}
			return w.Look(context.Background(), q)
		}
		c := o.control()
		if p, err := c.Plan(t.Context(), w.intent(names(9)...)); err == nil {
			t.Fatalf("it made a plan: %+v", p.Targets)
		}
		broken = false
		p := plan(t, c, w.intent(names(9)...))
		broken = true
		r := begin(t, c, p)
		<-r.Done()
		s := r.Progress()
		if len(w.acted()) != 0 || s.Phase != PhaseStopped || s.Count(ResultSkipped) != breakAfter {
			t.Errorf("acted on %v; %s, %s: %s", w.acted(), s.Phase, s.Why, s.Summary())
		}
	})
}

func TestATargetReaderThatNeverReturnsHoldsNothingUp(t *testing.T) {
	bubble(t, names(2), func(t *testing.T, w *world) {
		release := make(chan struct{})
		defer close(release)
		o := &odd{world: w, look: func(Question) []Candidate { <-release; return nil }}
		c := o.control()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := c.Plan(ctx, w.intent("ws-000")); err == nil || !strings.Contains(err.Error(), "did not come back") {
			t.Error(err)
		}
	})
}

func TestAVerifierThatBreaksOffVerifiesNothing(t *testing.T) {
	bubble(t, []string{"notes"}, func(t *testing.T, w *world) {
		o := &odd{world: w, verify: func(Target) Verdict { panic("nil") }}
		r := o.start(o.control(), w.intent("notes"))
		<-r.Done()
		if p := r.Progress(); p.Lines[0].Result != ResultUnverified || p.Overall() != ResultUnverified {
			t.Errorf("%+v", p.Lines[0])
		}
	})
}

func TestATargetReaderThatAnswersOtherThingsAddsNothing(t *testing.T) {
	bubble(t, names(6), func(t *testing.T, w *world) {
		o := &odd{world: w}
		o.look = func(q Question) []Candidate {
			more := q
			more.Keys = []backend.Key{key("ws-003"), key("ws-004"), key("ws-000"), key("ws-001")}
			cs := w.Look(context.Background(), more)
			cs = append(cs, cs[3])
			cs[3].Why = backend.Text("somebody uses it")
			return cs
		}
		p := plan(t, o.control(), w.intent("ws-000", "ws-001", "ws-002"))
		if len(p.Targets) != 1 || p.Targets[0].Key != key("ws-000") || len(p.Excluded) != 2 {
			t.Errorf("targets %v, left out %v", p.Targets, p.Excluded)
		}
	})
}

// slowJournal blocks from a given record on, whatever it is told.
type slowJournal struct {
	memoryJournal
	from    int
	release chan struct{}
}

func (j *slowJournal) Append(ctx context.Context, e audit.Entry, d audit.Durability) (audit.Receipt, error) {
	j.mu.Lock()
	blocked := j.from > 0 && len(j.entries)+1 >= j.from
	j.mu.Unlock()
	if blocked {
		<-j.release
	}
	return j.memoryJournal.Append(ctx, e, d)
}

func (j *slowJournal) AppendPaced(ctx context.Context, e audit.Entry, d audit.Durability, _ audit.Pace) (audit.Receipt, error) {
	return j.Append(ctx, e, d)
}

func TestAJournalThatHangsActsOnNothingMore(t *testing.T) {
	for from := 2; from <= 5; from++ {
		bubble(t, names(5), func(t *testing.T, w *world) {
			j := &slowJournal{from: from, release: make(chan struct{})}
			defer close(j.release)
			o := &odd{world: w}
			c := o.control(func(opt *Options) { opt.Journal = j })
			began := time.Now()
			r := o.start(c, w.intent(names(5)...))
			if _, armed := c.Armed(); !armed {
				t.Error("it is not armed")
			}
			<-r.Done()
			if d := time.Since(began); d > 3*time.Minute {
				t.Errorf("it held on for %s", d)
			}
			most := 0
			if from > 3 {
				most = 1
			}
			if got := w.acted(); len(got) != most || r.Progress().Phase != PhaseStopped {
				t.Errorf("the journal hung at record %d, and %v was acted on: %s", from, got, r.Progress().Phase)
			}
		})
	}
}

func TestOneConfirmationStartsOnce(t *testing.T) {
	for range 20 {
		bubble(t, names(3), func(t *testing.T, w *world) {
			c := w.armed()
			p := plan(t, c, w.intent(names(3)...))
			ok := confirmed(t, p)
			other := operator(w.options()) // another console with the same state directory
			if _, err := other.Arm(t.Context(), time.Hour, backend.Safe{}, backend.Text("x")); err != nil {
				t.Fatal(err)
			}
			var began atomic.Int32
			var all sync.WaitGroup
			for i := range 8 {
				all.Add(1)
				go func() {
					defer all.Done()
					x := []*Operator{c, other}[i%2]
					if r, err := x.start(t.Context(), ok); err == nil {
						began.Add(1)
						<-r.Done()
					}
				}()
			}
			all.Wait()
			acted := w.acted()
			slices.Sort(acted)
			if began.Load() != 1 || len(slices.Compact(acted)) != len(w.acted()) {
				t.Errorf("it began %d times: %v", began.Load(), w.acted())
			}
		})
	}
}

// TestEverybodyAtOnce is for the race detector.
func TestEverybodyAtOnce(t *testing.T) {
	bubble(t, names(40), func(t *testing.T, w *world) {
		c := w.armed()
		var all sync.WaitGroup
		do := func(f func(i int)) {
			for range 3 {
				all.Add(1)
				go func() {
					defer all.Done()
					for i := range 40 {
						f(i)
						time.Sleep(time.Duration(37*(i%5)+1) * time.Millisecond)
					}
				}()
			}
		}
		do(func(i int) {
			if p, err := c.Plan(t.Context(), w.intent(names(40)[i%7:]...)); err == nil {
				if ok, err := ConfirmDigest(p, p.Digest, time.Now()); err == nil {
					_, _ = c.start(t.Context(), ok)
				}
			}
		})
		do(func(i int) {
			if r := c.control.Current(); r != nil {
				_ = c.Continue(r.plan().Digest)
				p := r.Progress()
				_ = p.Summary()
				_, stop := c.Subscribe()
				stop()
				if i%9 == 8 {
					r.Stop(backend.Text("operator"))
				}
			}
		})
		do(func(int) {
			_, _ = c.Arm(t.Context(), time.Hour, backend.Safe{}, backend.Text("x"))
			_, _ = c.Armed()
			_ = c.All()
		})
		do(func(i int) {
			if i == 39 {
				c.control.Hangup(t.Context(), backend.Text("the end"))
			}
		})
		all.Wait()
		if r := c.control.Current(); r == nil || !r.Over() {
			t.Error("a plan goes on after the end")
		}
	})
}

func TestNothingBeginsAfterTheEnd(t *testing.T) {
	bubble(t, []string{"notes"}, func(t *testing.T, w *world) {
		c := w.armed()
		p := plan(t, c, w.intent("notes"))
		ok := confirmed(t, p)
		c.control.Hangup(t.Context(), backend.Text("the terminal was lost"))
		if _, err := c.start(t.Context(), ok); !errors.Is(err, errEnding) || len(w.acted()) != 0 {
			t.Errorf("%v, acted on %v", err, w.acted())
		}
	})
}

// A reason not to act that comes up while the dialog is read counts as well as one that was there before.
func TestWhatComesUpBeforeTheStartRefuses(t *testing.T) {
	bubble(t, names(2), func(t *testing.T, w *world) {
		c := w.armed()
		p := plan(t, c, w.intent("ws-000"))
		ok := confirmed(t, p)
		w.change(func() {
			w.concerns = []Concern{{ID: "s", Rule: "eviction-storm", Source: home, Firing: true, Critical: true, Since: time.Now()}}
		})
		var refused *RefusedError
		if _, err := c.start(t.Context(), ok); !errors.As(err, &refused) || refused.Refusals[0].Word != WordAddsOpens || len(w.acted()) != 0 {
			t.Errorf("%v, acted on %v", err, w.acted())
		}
		in := w.intent("ws-000")
		in.Overrides = []string{WordAddsOpens}
		r := w.start(c, in)
		<-r.Done()
		if len(w.acted()) != 1 {
			t.Errorf("with the word it did not start: %s", r.Progress().Why)
		}
	})
}

func TestAnAlertThatBeganAfterThePlanIsNews(t *testing.T) {
	bubble(t, names(12), func(t *testing.T, w *world) {
		c := w.armed()
		p := plan(t, c, w.intent(names(12)...))
		time.Sleep(10 * time.Second)
		w.change(func() {
			w.concerns = []Concern{{ID: "a", Rule: "failed-too-long", Source: home, Firing: true, Critical: true, Since: time.Now(), Subjects: []backend.Key{key("ws-003")}}}
		})
		r := begin(t, c, p)
		<-r.Done()
		if s := r.Progress(); s.Phase != PhaseStopped || len(w.acted()) != 0 {
			t.Errorf("%s, acted on %v", s.Phase, w.acted())
		}
	})
}

// observing is a world whose Feed takes what effects prove.
type observing struct {
	*world
	seen map[backend.Key][]backend.Verdict
}

func (o *observing) Observe(k backend.Key, x []backend.Verdict) { o.seen[k] = x }

func TestWhatAnEffectProvesReachesTheScreen(t *testing.T) {
	bubble(t, []string{"notes"}, func(t *testing.T, w *world) {
		feed := &observing{w, map[backend.Key][]backend.Verdict{}}
		o := &odd{world: w, do: func(context.Context, Target) (Done, error) {
			return Done{Proved: true, Observed: backendtest.Ran(false, backend.Text("commands do not run"), time.Now()).Verdicts}, nil
		}}
		r := o.start(o.control(func(opt *Options) { opt.Feed = feed }), w.intent("notes"))
		<-r.Done()
		if x := feed.seen[key("notes")]; len(x) != 1 || x[0].What.String() != "commands do not run" {
			t.Errorf("%v", feed.seen)
		}
	})
}

func TestAnUnknownCanaryIsFollowedByNothing(t *testing.T) {
	bubble(t, names(10), func(t *testing.T, w *world) {
		w.onDo = func(*entry) error { return &UncertainError{errors.New("connection lost")} }
		r := w.start(w.armed(), w.intent(names(10)...))
		for range 10 {
			time.Sleep(30 * time.Second)
			r.Continue()
		}
		<-r.Done()
		if p := r.Progress(); p.Acted() != 1 || !strings.Contains(p.Why.String(), "unknown") {
			t.Errorf("%s: %s", p.Why, p.Summary())
		}
	})
}

func TestASilentSourceEndsTheRunAfterThree(t *testing.T) {
	bubble(t, names(40), func(t *testing.T, w *world) {
		c := w.armed()
		p := plan(t, c, w.intent(names(40)...))
		ok := confirmed(t, p)
		w.change(func() { w.down = true })
		time.Sleep(10 * time.Second)
		r, err := c.start(t.Context(), ok)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		<-r.Done()
		if s := r.Progress(); len(w.acted()) != 0 || time.Since(began) > 2*time.Minute || !strings.Contains(s.Why.String(), "could not be read again") {
			t.Errorf("%s after %s; acted on %v", s.Why, time.Since(began), w.acted())
		}
	})
}

func BenchmarkProgressOfTenThousand(b *testing.B) {
	p := &Plan{}
	for range 10_000 {
		p.Targets = append(p.Targets, Target{Key: key("x"), Label: backend.Text("x")})
	}
	r := &Run{p: Progress{Plan: p, Lines: make([]Line, 10_000)}, control: NewControl(Options{})}
	for b.Loop() {
		r.set(func(p *Progress) { p.Lines[5].Result = ResultAccepted })
		for range 5 { // the header, the footer and the view ask in each frame
			_ = r.Progress()
		}
	}
}

// TestAVerifiedDestroyEndsWhatWasObserved, and so does a stop that takes the files along; one that leaves them does not.
func TestAVerifiedDestroyEndsWhatWasObserved(t *testing.T) {
	for _, x := range []struct {
		verified bool
		spec     Spec
		want     string
	}{{true, Spec{Verb: Destroy}, "destroyed by eve"}, {false, Spec{Verb: Destroy}, ""}, {true, Spec{Verb: Stop, Empties: true}, "stopped by eve"}, {false, Spec{Verb: Stop, Empties: true}, ""}, {true, Spec{Verb: Stop}, ""}} {
		bubble(t, []string{"notes"}, func(t *testing.T, w *world) {
			feed := &observing{w, map[backend.Key][]backend.Verdict{}}
			run := &Run{control: &Control{opt: Options{Feed: feed}}}
			run.ability.Spec, run.p.Plan = x.spec, &Plan{Who: audit.Who{User: backend.Text("root"), Claimed: backend.Text("eve")}}
			k := backend.Key{Kind: backend.KindSandbox, Source: home, ID: backend.MustID("box")}
			run.p.Lines = []Line{{Target: Target{Key: k}, Issued: time.Now(), Result: ResultUnverified}}
			if x.verified {
				run.p.Lines[0].Result = ResultVerified
			}
			run.tellDestroyed(0)
			vs := feed.seen[k]
			if got := (backend.Observation{Verdicts: vs}).DestroyedHow().String(); got != x.want || got != "" && !vs[0].Destroyed.Equal(run.p.Lines[0].Issued) {
				t.Errorf("%v: %q, %v", x, got, vs)
			}
		})
	}
}
