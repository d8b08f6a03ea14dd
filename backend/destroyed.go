package backend

import (
	"strings"
	"time"
)

// DestroyedVerdict says that Sandglass ended a container with its files, and verified it: what was observed before is of a container that
// is gone. at is when that was begun, how what was done and who did it: "destroyed by eve".
func DestroyedVerdict(at time.Time, how Safe) Verdict {
	return Verdict{Plane: PlaneExec, Outcome: OutcomeNotTried, What: Textf("%s through Sandglass, and not tried since", how), At: at, Destroyed: at, DestroyedHow: how}
}

// Destroyed is when its newest verified end through Sandglass was begun; zero: there was none.
func (o Observation) Destroyed() time.Time {
	at, _ := destroyedOf(o.Verdicts)
	return at
}

// DestroyedHow says what was done then, and who did it; empty: there was no such end.
func (o Observation) DestroyedHow() Safe {
	at, how := destroyedOf(o.Verdicts)
	if how.IsEmpty() && !at.IsZero() { // an older run wrote it down
		return Text("destroyed")
	}
	return how
}

// destroyEnds is how long after its beginning a destroy ends a container at the latest.
const destroyEnds = 2 * time.Minute

// EndedHere reports whether Sandglass ended a container of a sandbox at a time, with its files, and what was done when, and who did it.
func (b *Sandbox) EndedHere(at time.Time) (how Safe, begun time.Time, is bool) {
	o, _ := b.Observed.Get()
	begun = o.Destroyed()
	is = !begun.IsZero() && !at.Before(begun.Add(-clockSlack)) && !at.After(begun.Add(destroyEnds))
	return o.DestroyedHow(), begun, is
}

// clockSlack is how much earlier than its beginning a platform may date what Sandglass did, or later a start: no answer tells its clock finer.
const clockSlack = 5 * time.Second

// EmptySince is since when its disk is a new one: its container was seen to start again, or was started after Sandglass ended the one before;
// zero: neither is known.
func (b *Sandbox) EmptySince() time.Time {
	o, _ := b.Observed.Get()
	if started, known := b.StartedAt.Get(); known && !o.Destroyed().IsZero() && started.After(o.Destroyed()) && started.After(b.FreshAt) {
		return started
	}
	return b.FreshAt
}

// EmptiedHere reports whether its disk is a new one since Sandglass ended the container before, and what was done when, and who did it.
func (b *Sandbox) EmptiedHere() (how Safe, begun time.Time, is bool) {
	o, _ := b.Observed.Get()
	begun = o.Destroyed()
	is = !begun.IsZero() && b.EmptySince().After(begun) && !b.FreshAfter.After(begun.Add(destroyEnds)) // else one that started since ended too
	return o.DestroyedHow(), begun, is
}

// LostHere says that its files are gone since Sandglass ended its container, and who did it; empty: Sandglass did not.
func (b *Sandbox) LostHere() Safe {
	how, at, is := b.EmptiedHere()
	if here := b.DestroyedHere(); !is && !here.IsZero() {
		o, _ := b.Observed.Get()
		how, at, is = o.DestroyedHow(), here, true
	}
	if !is {
		return Safe{}
	}
	return Textf("%s through Sandglass at %s; its files are gone", how, Clean(at.UTC().Format("2006-01-02T15:04:05Z"), 30))
}

// ToldOf says of the end of a container's run that Sandglass ended it, which is no guess.
func (e *Event) ToldOf(b *Sandbox) {
	if b == nil || e.Name != EventExit {
		return
	}
	if how, at, is := b.EndedHere(e.At); is {
		text := strings.Replace(e.Text.String(), " ("+killedGuess+")", "", 1)
		e.Text = Textf("%s: %s through Sandglass at %s", Clean(text, MaxTextRunes), how, Clean(at.UTC().Format("15:04:05Z"), 20))
	}
}

// DestroyedHere is when that was begun of Sandglass which ended its newest container; zero: nothing did.
func (b *Sandbox) DestroyedHere() time.Time {
	o, _ := b.Observed.Get()
	at := o.Destroyed()
	switch started, known := b.StartedAt.Get(); {
	case at.IsZero(), known && started.After(at):
		return time.Time{}
	case !known && b.FinishedAt.Or(at).After(at.Add(destroyEnds)):
		return time.Time{}
	}
	return at
}

// NotRepaired is when a repair failed that was made of the present fault; zero: none was, or commands ran since.
func (b *Sandbox) NotRepaired() time.Time {
	o, _ := b.Proved()
	v, _ := o.Of(PlaneExec)
	if v.Outcome != OutcomeFailed || !v.Unrepaired.After(v.LastOK) || b.StartedSince(v.Unrepaired) {
		return time.Time{}
	}
	return v.Unrepaired
}

func destroyedOf(lists ...[]Verdict) (at time.Time, how Safe) {
	for _, list := range lists {
		for i := range list {
			v := &list[i]
			if c := v.Destroyed.Compare(at); c > 0 || c == 0 && v.DestroyedHow.s > how.s {
				at, how = v.Destroyed, v.DestroyedHow
			}
		}
	}
	return at, how
}

func later(x, y time.Time) time.Time {
	if y.After(x) {
		return y
	}
	return x
}

// before reports whether a verdict is of the container that a destroy ended.
func (v *Verdict) before(destroyed time.Time) bool {
	return !destroyed.IsZero() && !v.At.After(destroyed) && (v.Outcome != OutcomeNotTried || !v.Destroyed.Equal(destroyed))
}

// forget drops the times from before a destroy, and keeps that of the destroy.
func (v *Verdict) forget(destroyed time.Time, how Safe) {
	if destroyed.IsZero() {
		return
	}
	for _, t := range []*time.Time{&v.LastOK, &v.LastFailed, &v.Repaired, &v.Unrepaired} {
		if !t.After(destroyed) {
			*t = time.Time{}
		}
	}
	v.Destroyed, v.DestroyedHow = destroyed, how
}

// MergeVerdicts joins verdicts plane by plane, in the order of the planes: the newest of each stays and keeps the last
// success of all. What was found no later than the newest destroy
// is not in it. Equal sets give equal lists, in whatever order and in whatever portions they are merged.
func MergeVerdicts(lists ...[]Verdict) []Verdict {
	var out []Verdict
	destroyed, how := destroyedOf(lists...)
	for _, p := range Planes() {
		var best Verdict
		found := false
		for _, list := range lists {
			for i := range list {
				if list[i].Plane != p || list[i].before(destroyed) {
					continue
				}
				v := list[i].bounded()
				if !found {
					best, found = v, true
					continue
				}
				last, failed, repaired, order := v.LastOK, v.LastFailed, v.Repaired, v.over(&best)
				if best.LastOK.After(last) {
					last = best.LastOK
				}
				if best.LastFailed.After(failed) {
					failed = best.LastFailed
				}
				if best.Repaired.After(repaired) {
					repaired = best.Repaired
				}
				unrepaired := later(v.Unrepaired, best.Unrepaired)
				if order == 0 {
					best.Start = later(v.Start, best.Start)
				}
				past := v.Past && order >= 0 || best.Past && order <= 0
				if order > 0 {
					best = v
				}
				best.LastOK, best.LastFailed, best.Repaired, best.Unrepaired, best.Past = last, failed, repaired, unrepaired, past
			}
		}
		if found {
			best.forget(destroyed, how)
			out = append(out, best)
		}
	}
	return out
}
