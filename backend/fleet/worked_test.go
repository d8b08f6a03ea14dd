package fleet

import (
	"testing"
	"time"

	"sandglass/backend"
)

// TestWorkedAtIsTheNewestReadingWithoutAFailure: a failure that the fleet watched begin cannot be older than that.
func TestWorkedAtIsTheNewestReadingWithoutAFailure(t *testing.T) {
	t0 := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) backend.Value[time.Time] { return backend.Known(t0.Add(d)) }
	key := backend.Key{Kind: backend.KindWorkspace, Source: "helix", Parent: backend.MustID("s"), ID: backend.MustID("box")}
	s := newStore(5 * time.Minute)
	read := func(d time.Duration, attempt, success backend.Value[time.Time], class backend.StateClass, unchanged bool) time.Time {
		r := &backend.Reading{Source: "helix", At: t0.Add(d)}
		whole := []backend.Scope{{Kind: backend.KindWorkspace, Complete: true}}
		if unchanged {
			r.Confirmed = whole
		} else {
			r.Scopes = whole
			r.Workspaces = []*backend.Workspace{{Meta: backend.Meta{Key: key}, Class: class, LastAttemptAt: attempt, LastSuccessAt: success}}
		}
		s.apply(r)
		return s.build(r.At, 0, nil).Workspace(key).WorkedAt
	}
	none := backend.NotApplicable[time.Time]()
	hour := at(-time.Hour)
	if got := read(0, at(0), hour, backend.ClassUnknown, false); !got.IsZero() {
		t.Errorf("on its first reading: %v", got)
	}
	read(time.Second, at(time.Second), at(time.Second), backend.ClassUnknown, false)
	read(5*time.Second, none, none, "", true)
	fails := read(6*time.Second, at(6*time.Second), at(time.Second), backend.ClassFailed, false)
	if !fails.Equal(t0.Add(5 * time.Second)) {
		t.Errorf("it was confirmed to work at 5s, not at %v", fails)
	}
	if still := read(9*time.Second, at(9*time.Second), at(time.Second), backend.ClassUnknown, false); !still.Equal(fails) {
		t.Errorf("it goes on failing since %v, now %v", fails, still)
	}
	read(10*time.Second, at(10*time.Second), at(10*time.Second), backend.ClassUnknown, false)
	if again := read(20*time.Second, at(20*time.Second), at(10*time.Second), backend.ClassUnknown, false); !again.Equal(t0.Add(10 * time.Second)) {
		t.Errorf("it worked again at 10s, not at %v", again)
	}
}
