package alerts

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/backend"
)

func synctestMoment() ClockReading { return ClockReading{Wall: time.Now()} }

func TestDeskTellsSubscribersAndSinks(t *testing.T) {
	l := newLamp(t, Meta{})
	var events []backend.Event
	var attention []backend.Attention
	svc := NewService(l.engine, ServiceOptions{
		Events:    func(e []backend.Event) { events = append(events, e...) },
		Attention: func(a backend.Attention) { attention = append(attention, a) },
	})
	if st, b := svc.Latest(); st != nil || b != nil {
		t.Error("something before the first State")
	}
	c, end := svc.Subscribe()
	for range 3 {
		svc.Observe(l.state("on"))
		l.now = l.now.Add(time.Second)
	}
	st, b := svc.Latest()
	if st.Number != 3 || b.Number != 3 || len(b.Alerts) != 1 {
		t.Errorf("State %d, Board %d", st.Number, b.Number)
	}
	select {
	case <-c:
	default:
		t.Error("the subscriber was not told")
	}
	select {
	case <-c:
		t.Error("three States left more than one message")
	default:
	}
	late, endLate := svc.Subscribe()
	if len(late) != 1 {
		t.Error("a late subscriber does not learn that there is something")
	}
	end()
	endLate()
	svc.Observe(l.state("on"))
	if len(c) != 0 {
		t.Error("told after the subscription ended")
	}
	if len(events) != 1 || events[0].Name != "firing" || events[0].Kind != backend.EventTransition {
		t.Errorf("events %v", events)
	}
	if len(attention) == 0 || len(attention[0].Alerting) != 1 {
		t.Errorf("attention %v", attention)
	}
}

func TestDeskMergesAttention(t *testing.T) {
	l := newLamp(t, Meta{})
	svc := NewService(l.engine, ServiceOptions{})
	svc.Observe(l.state("on"))
	k := func(id string) backend.Key {
		return backend.Key{Kind: backend.KindSession, Source: "s", ID: backend.MustID(id)}
	}
	svc.SetVisible("one", []backend.Key{k("b"), k("c")})
	svc.SetVisible("two", []backend.Key{k("c"), k("a")})
	a := svc.Attention()
	if len(a.Alerting) != 1 || a.Alerting[0] != k("a") || len(a.Visible) != 3 || a.Visible[0] != k("a") {
		t.Errorf("attention %+v", a)
	}
	svc.SetVisible("two", nil)
	l.now = l.now.Add(time.Second)
	svc.Observe(l.state("gone"))
	if a := svc.Attention(); len(a.Alerting) != 0 || len(a.Visible) != 2 {
		t.Errorf("ended subjects need no attention: %+v", a)
	}
}

func TestDeskSavesNowAndThenAndAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLamp(t, Meta{For: time.Hour})
		dir := t.TempDir()
		s := openStore(t, dir, l.engine)
		svc := NewService(l.engine, ServiceOptions{Store: s, ReadClock: synctestMoment, Problem: func(err error) { t.Error(err) }})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { svc.Run(ctx); close(done) }()
		svc.Observe(l.state("on"))
		synctest.Wait()
		if _, err := os.Stat(filepath.Join(dir, stateFile)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("saved at once: %v", err)
		}
		time.Sleep(4 * time.Second)
		synctest.Wait()
		first, err := os.ReadFile(filepath.Join(dir, stateFile))
		if err != nil {
			t.Fatal(err)
		}
		l.now = l.now.Add(time.Minute)
		svc.Observe(l.state("on"))
		stop()
		<-done
		if last, err := os.ReadFile(filepath.Join(dir, stateFile)); err != nil || string(last) == string(first) {
			t.Errorf("the last Board was not saved: %v", err)
		}
	})
}

func TestDeskWaitingTakesOverWithinFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLamp(t, Meta{For: 10 * time.Minute})
		dir := t.TempDir()
		holder := openStore(t, dir, l.engine)
		h := NewService(l.engine, ServiceOptions{Store: holder, ReadClock: synctestMoment})
		h.Observe(l.state("on"))
		l.now = l.now.Add(9 * time.Minute)
		time.Sleep(9 * time.Minute)
		h.Observe(l.state("on"))

		guest := openStore(t, dir, l.engine)
		svc := NewService(l.engine, ServiceOptions{Store: guest, ReadClock: synctestMoment, Problem: func(err error) { t.Error(err) }})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { svc.Run(ctx); close(done) }()
		svc.Observe(l.state("on"))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if guest.Locked() {
			t.Fatal("took a lock that is held")
		}
		h.Close()
		if err := holder.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if !guest.Locked() {
			t.Fatal("did not take over within 5 seconds")
		}
		l.now = l.now.Add(time.Minute)
		svc.Observe(l.state("on"))
		if _, b := svc.Latest(); b.Alerts[0].State != StateFiring {
			t.Errorf("it does not go on from the holder's clock: %s", b.Alerts[0].State)
		}
		stop()
		<-done
	})
}

func TestDeskStartsWithoutAnUnreadableState(t *testing.T) {
	l := newLamp(t, Meta{})
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, stateFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	var problems []error
	s := openStore(t, dir, l.engine)
	svc := NewService(l.engine, ServiceOptions{Store: s, ReadClock: func() ClockReading { return moment(l) }, Problem: func(err error) { problems = append(problems, err) }})
	svc.Observe(l.state("on"))
	svc.Close()
	if len(problems) != 1 {
		t.Errorf("problems %v", problems)
	}
	if got, err := s.Load(moment(l)); err != nil || len(got.Board.Alerts) != 1 {
		t.Errorf("%+v %v", got, err)
	}
}

// TestDeskSavesReadingsSeldom: readings that only refresh others are written down every 30 s, what happened within 3 s.
func TestDeskSavesReadingsSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLamp(t, Meta{For: time.Hour})
		dir := t.TempDir()
		s := openStore(t, dir, l.engine)
		svc := NewService(l.engine, ServiceOptions{Store: s, ReadClock: synctestMoment, Problem: func(err error) { t.Error(err) }})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { svc.Run(ctx); close(done) }()
		saves, last := 0, ""
		pass := func(d time.Duration, state string) {
			for range d / time.Second {
				l.now = l.now.Add(time.Second)
				svc.Observe(l.state(state))
				time.Sleep(time.Second)
				synctest.Wait()
				if now, err := os.ReadFile(filepath.Join(dir, stateFile)); err == nil && string(now) != last {
					saves, last = saves+1, string(now)
				}
			}
		}
		pass(5*time.Second, "off")
		if saves != 1 {
			t.Errorf("%d saves in the first 5 s, want the first", saves)
		}
		saves = 0
		pass(3*time.Minute, "off")
		if saves < 5 || saves > 7 {
			t.Errorf("%d saves in 3 quiet minutes", saves)
		}
		saves = 0
		pass(4*time.Second, "on")
		if saves == 0 {
			t.Error("an alert that began was not saved within 4 s")
		}
		stop()
		<-done
	})
}
