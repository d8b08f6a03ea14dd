package views

import (
	"testing"
	"time"
)

// Times are in UTC unless the viewer has another clock; the machine's own location is none.
func TestOnTheViewersClock(t *testing.T) {
	at := time.Date(2026, 7, 1, 22, 30, 5, 0, time.UTC)
	cest := time.FixedZone("CEST", 7200)
	for _, c := range []struct{ now, minutes, seconds, stamp any }{
		{at, "22:30Z", "22:30:05Z", "2026-07-01T22:30:05Z"},
		{at.In(time.Local), "22:30Z", "22:30:05Z", "2026-07-01T22:30:05Z"},
		{at.In(cest), "00:30", "00:30:05", "2026-07-02T00:30:05+02:00"},
	} {
		now := c.now.(time.Time)
		if m, s, f := Minutes(at, now), Seconds(at, now), Stamp(at, now); m != c.minutes || s != c.seconds || f != c.stamp {
			t.Errorf("%v: %s, %s, %s", now, m, s, f)
		}
	}
}
