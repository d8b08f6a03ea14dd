package helix

import (
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// clockCorrection is the clock correction under which times were decoded. Entities made under another one are made anew.
type clockCorrection struct {
	known  bool
	offset time.Duration // the server's clock minus ours
}

// farFuture is how far behind now a corrected time may lie at most before it is called unreadable: no attempt can
// have happened later than now.
const farFuture = 2 * time.Minute

// secondsBelow parts numbers: below it they are seconds since 1970, from it on milliseconds.
const secondsBelow = 1e11

// foreignTime reads a timestamp in any of its encodings, uncorrected. ok is false for anything else.
func foreignTime(n wire.Node) (time.Time, bool) {
	switch n.Kind() {
	case '0':
		f, ok := n.Float()
		switch {
		case !ok || f <= 0 || f > 253402300799999: // the year 9999
			return time.Time{}, false
		case f < secondsBelow:
			return time.UnixMilli(int64(f * 1000)).UTC(), true
		}
		return time.UnixMilli(int64(f)).UTC(), true
	case '"':
		s, _ := n.Text()
		t, err := time.Parse(time.RFC3339, s)
		return t.UTC(), err == nil && t.Year() > 1970
	}
	return time.Time{}, false
}

// moment is a timestamp of an entry: not applicable when absent or null (never), unknown when unreadable, in the
// future, or when the server's clock is not known.
func (d *decoder) moment(n wire.Node) (v backend.Value[time.Time], readable bool) {
	if !n.Exists() || n.IsNull() {
		return backend.NotApplicable[time.Time](), true
	}
	t, ok := foreignTime(n)
	if !ok {
		d.undated++
		return backend.Unknown[time.Time](), false
	}
	d.newest.add(t)
	if !d.clock.known {
		return backend.Unknown[time.Time](), true
	}
	t = t.Add(-d.clock.offset)
	if t.After(d.now.Add(farFuture)) {
		d.undated++
		return backend.Unknown[time.Time](), false
	}
	return backend.Known(t), true
}

// newest keeps the three newest times that a server wrote. Where no answer carries a Date header they are the only
// hint at its clock.
type newest [3]time.Time

func (n *newest) add(t time.Time) {
	for i := range n {
		if t.After(n[i]) {
			t, n[i] = n[i], t
		} else if t.Equal(n[i]) {
			return
		}
	}
}

// clock infers the correction: a newest time around now speaks for a right clock; several times in the future for one
// that is ahead by at least that much. Old times say nothing, since a quiet server and a slow clock look alike.
func (n *newest) clock(now time.Time) clockCorrection {
	ahead := n[0].Sub(now)
	switch {
	case n[0].IsZero():
		return clockCorrection{}
	case ahead.Abs() <= farFuture:
		return clockCorrection{known: true}
	case ahead > 0 && n[2].After(now.Add(farFuture)):
		return clockCorrection{known: true, offset: ahead.Round(time.Minute)}
	}
	return clockCorrection{}
}
