package backend

import "time"

// DestroyedVerdict says that Sandglass destroyed a sandbox and verified it: what was observed of it before is of a container that is gone.
// at is when the destroy was begun.
func DestroyedVerdict(at time.Time) Verdict {
	return Verdict{Plane: PlaneExec, Outcome: OutcomeNotTried, What: Text("destroyed through Sandglass, and not tried since"), At: at, Destroyed: at}
}

// Destroyed is when its newest verified destroy through Sandglass was begun; zero: there was none.
func (o Observation) Destroyed() time.Time { return destroyedOf(o.Verdicts) }

// destroyEnds is how long after its beginning a destroy ends a container at the latest.
const destroyEnds = 2 * time.Minute

// DestroyedHere is when the destroy of Sandglass was begun that ended its newest container; zero: none did.
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
	if v.Outcome != OutcomeFailed || !v.Unrepaired.After(v.LastOK) || v.Unrepaired.Before(b.StartedAt.Or(time.Time{})) {
		return time.Time{}
	}
	return v.Unrepaired
}

func destroyedOf(lists ...[]Verdict) (at time.Time) {
	for _, list := range lists {
		for i := range list {
			at = later(at, list[i].Destroyed)
		}
	}
	return at
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
func (v *Verdict) forget(destroyed time.Time) {
	if destroyed.IsZero() {
		return
	}
	for _, t := range []*time.Time{&v.LastOK, &v.LastFailed, &v.Repaired, &v.Unrepaired} {
		if !t.After(destroyed) {
			*t = time.Time{}
		}
	}
	v.Destroyed = destroyed
}

// MergeVerdicts joins verdicts plane by plane, in the order of the planes: the newest of each stays and keeps the last
// success of all. What was found no later than the newest destroy
// is not in it. Equal sets give equal lists, in whatever order and in whatever portions they are merged.
func MergeVerdicts(lists ...[]Verdict) []Verdict {
	var out []Verdict
	destroyed := destroyedOf(lists...)
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
				past := v.Past && order >= 0 || best.Past && order <= 0
				if order > 0 {
					best = v
				}
				best.LastOK, best.LastFailed, best.Repaired, best.Unrepaired, best.Past = last, failed, repaired, unrepaired, past
			}
		}
		if found {
			best.forget(destroyed)
			out = append(out, best)
		}
	}
	return out
}
