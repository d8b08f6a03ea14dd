package audit

import (
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"sandglass/backend"
)

func announcement(source, verb string, at time.Time) Entry {
	e := entry(0)
	e.At, e.Phase, e.Verb = at, PhaseTargetIntent, verb
	e.Subjects = []backend.Key{{Kind: backend.KindWorkspace, Source: source, Parent: backend.MustID("s1"), ID: backend.MustID("w1")}}
	return e
}

func TestPaceCountsWhatAnybodyAnnounced(t *testing.T) {
	pace := Pace{Source: "eu", Most: 3, Within: time.Minute}
	for name, x := range map[string]struct {
		before []Entry
		wait   time.Duration // 0: none
	}{
		"nothing":                         {},
		"room":                            {[]Entry{announcement("eu", "reset", t0.Add(-50*time.Second)), announcement("eu", "reset", t0.Add(-40*time.Second))}, 0},
		"full":                            {[]Entry{announcement("eu", "reset", t0.Add(-50*time.Second)), announcement("eu", "reset", t0.Add(-40*time.Second)), announcement("eu", "reset", t0)}, 10 * time.Second},
		"a minute ago":                    {[]Entry{announcement("eu", "reset", t0.Add(-time.Minute)), announcement("eu", "reset", t0), announcement("eu", "reset", t0)}, 0},
		"another source":                  {[]Entry{announcement("us", "reset", t0), announcement("eu", "reset", t0), announcement("eu", "reset", t0)}, 0},
		"another verb":                    {[]Entry{announcement("eu", "stop", t0), announcement("eu", "reset", t0), announcement("eu", "reset", t0)}, 0},
		"the clock was set back a little": {[]Entry{announcement("eu", "reset", t0.Add(20*time.Second)), announcement("eu", "reset", t0.Add(20*time.Second)), announcement("eu", "reset", t0.Add(20*time.Second))}, 80 * time.Second},
		"an hour":                         {[]Entry{announcement("eu", "reset", t0.Add(time.Hour)), announcement("eu", "reset", t0.Add(time.Hour)), announcement("eu", "reset", t0.Add(time.Hour))}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJournal(t)
			add(t, j, x.before...)
			got, err := j.AppendPaced(t.Context(), announcement("eu", "reset", t0), Written, pace)
			var soon *TooSoonError
			switch {
			case x.wait == 0 && (err != nil || got.Seq != uint64(len(x.before)+1)):
				t.Errorf("record %d, %v", got.Seq, err)
			case x.wait > 0 && (!errors.As(err, &soon) || soon.Wait != x.wait):
				t.Errorf("%v; want to wait %s", err, x.wait)
			}
			if r, err := j.Verify(t.Context()); err != nil || !r.Intact() || x.wait > 0 && r.Records != len(x.before) {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

// The records of a minute may be more than what is read of the journal's end at first.
func TestPaceReadsFarEnoughBack(t *testing.T) {
	j := newJournal(t)
	for i := range 3 {
		add(t, j, announcement("eu", "reset", t0.Add(time.Duration(i-50)*time.Second)))
	}
	big := entry(0)
	big.At = t0.Add(-30 * time.Second)
	for range 2000 {
		big.Subjects = append(big.Subjects, big.Subjects[0])
	}
	add(t, j, big, big)
	var soon *TooSoonError
	if _, err := j.AppendPaced(t.Context(), announcement("eu", "reset", t0), Written, Pace{Source: "eu", Most: 3, Within: time.Minute}); !errors.As(err, &soon) || soon.Wait != 10*time.Second {
		t.Errorf("%v", err)
	}
}

// Many at once never announce more than the pace allows.
func TestPaceHoldsForEverybodyAtOnce(t *testing.T) {
	one := newJournal(t)
	const most = 7
	var mu sync.Mutex
	written, tooSoon := 0, 0
	var all sync.WaitGroup
	for range 8 { // each as a process of its own: a journal that knows nothing of the others
		j, err := New(Options{Dir: filepath.Dir(one.Path()), Origin: origin()})
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			for range 4 {
				_, err := j.AppendPaced(t.Context(), announcement("eu", "reset", t0), Written, Pace{Source: "eu", Most: most, Within: time.Minute})
				var soon *TooSoonError
				mu.Lock()
				switch {
				case err == nil:
					written++
				case errors.As(err, &soon):
					tooSoon++
				default:
					t.Error(err)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if written != most || tooSoon != 32-most {
		t.Errorf("%d were announced, %d refused", written, tooSoon)
	}
	if r, err := one.Verify(t.Context()); err != nil || !r.Intact() || r.Records != most {
		t.Errorf("%d records, %s, %v", r.Records, found(&r), err)
	}
}
