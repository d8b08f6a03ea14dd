package actions

import (
	"errors"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// Standing is a Verifier of a removal. Readings after a request whose result is not known may show that nothing was removed.
type Standing interface {
	// Stands returns when the target was read after issued, zero: not since; and as what it is still there, empty: the reading
	// shows a change or tells nothing. It is pure.
	Stands(t Target, issued time.Time, s *fleet.State) (read time.Time, as backend.Safe)
}

// StillListed is Standing for sandboxes whose id is never that of another one.
type StillListed struct{}

// Stands goes by the newest reading of the target.
func (StillListed) Stands(t Target, issued time.Time, s *fleet.State) (time.Time, backend.Safe) {
	b := s.Sandbox(t.Key)
	if b == nil {
		return time.Time{}, backend.Safe{}
	}
	read := s.ReadAt(&b.Meta)
	if _, stale := s.StaleWhy(&b.Meta); stale || !read.After(issued) {
		return time.Time{}, backend.Safe{}
	}
	switch b.Class {
	case backend.SandboxRemoving, backend.SandboxExited, backend.SandboxDead, backend.SandboxUnknown:
		return read, backend.Safe{}
	case backend.SandboxCreated, backend.SandboxRunning, backend.SandboxPaused, backend.SandboxRestarting, backend.SandboxAsleep:
	}
	return read, b.Reported
}

// standing is what readings showed of one line since its request, whose result is not known.
type standing struct {
	said     backend.Safe // why it is not known
	as       backend.Safe // of the newest reading
	readings int
	last     time.Time
	told     time.Time // when the line last said so
	moved    bool      // a reading showed something else
}

// lastLook is how long before the end of the wait the source is read out of turn once more; tellEvery is how often a line that
// waits says what was read.
const (
	lastLook  = 10 * time.Second
	tellEvery = 30 * time.Second
)

// uncertainAbout keeps why the result of a line is not known.
func (r *Run) uncertainAbout(i int, why *UncertainError) {
	if r.stands == nil {
		r.stands = map[int]*standing{}
	}
	r.stands[i] = &standing{said: backend.Clean(why.Err.Error(), 300)}
}

// waitsFor says what the run waits for after a wave.
func (r *Run) waitsFor(last bool) backend.Safe {
	_, judges := r.ability.Part.Verifier.(Standing)
	if judges && last && r.p.Count(ResultUnknown) > 0 {
		return backend.Textf("nothing is sent again; the inventory is read for up to %s to see the result", backend.Age(verifyFor))
	}
	return backend.Text("waiting for readings that show the result")
}

// observe counts a reading of a line whose result is not known, and lets the line say what was read.
func (r *Run) observe(i int, s *fleet.State) {
	judge, can := r.ability.Part.Verifier.(Standing)
	w, l := r.stands[i], &r.p.Lines[i]
	if !can || w == nil || s == nil {
		return
	}
	read, as := judge.Stands(l.Target, l.Issued, s)
	if !read.After(w.last) {
		return
	}
	w.last, w.readings, w.moved = read, w.readings+1, w.moved || as.IsEmpty()
	now := r.now()
	if w.as == as && now.Sub(w.told) < tellEvery {
		return
	}
	w.as, w.told = as, now
	text := backend.Textf("%s: %s; it is still listed as %s (%s)", backend.Text(notKnown), w.said, as, backend.Counted(w.readings, "reading", "readings"))
	if as.IsEmpty() {
		text = backend.Textf("%s: %s; the newest reading: %s", backend.Text(notKnown), w.said, r.verdict(l, s).Why)
	}
	r.set(func(p *Progress) { p.Lines[i].Text, p.Lines[i].At = text, now })
}

// concludeStanding decides a line whose request may not have been carried out, where each reading of the whole wait showed its
// target as it was.
func (r *Run) concludeStanding(i int) {
	l, w := &r.p.Lines[i], r.stands[i]
	if l.Result != ResultUnknown || w == nil || w.moved || w.readings < 2 || w.last.Before(l.Issued.Add(verifyFor-2*lastLook)) {
		return
	}
	r.outcome(i, ResultFailed, backend.Textf("not deleted: %s, and it is still listed as %s, by each of %s in %s. It goes on, and may cost money: when its platform answers again, make a new plan",
		w.said, w.as, backend.Counted(w.readings, "reading", "readings"), backend.Age(verifyFor)), Done{})
}

// asUncertain is the error as one of a request whose result is not known; nil: it is another.
func asUncertain(err error) *UncertainError {
	var u *UncertainError
	if errors.As(err, &u) {
		return u
	}
	return nil
}
