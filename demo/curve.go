package demo

import "time"

// curvePoint is a rate per second that holds at one moment.
type curvePoint struct {
	at   time.Duration
	rate float64
}

// curve is a rate that runs in straight lines from knot to knot and stays level
// before the first and after the last. Counters are its integral, which never
// falls because rates are never negative.
type curve []curvePoint

// at returns the rate per second at t.
func (c curve) at(t time.Duration) float64 {
	if len(c) == 0 {
		return 0
	}
	if t <= c[0].at {
		return c[0].rate
	}
	for i := 1; i < len(c); i++ {
		if t <= c[i].at {
			return slope(c[i-1], c[i], t)
		}
	}
	return c[len(c)-1].rate
}

func slope(a, b curvePoint, t time.Duration) float64 {
	part := float64(t-a.at) / float64(b.at-a.at)
	return a.rate + (b.rate-a.rate)*part
}

// total returns the integral over [from, to] in events.
func (c curve) total(from, to time.Duration) float64 {
	if len(c) == 0 || to <= from {
		return 0
	}
	sum, left := 0.0, from
	for _, k := range c {
		if k.at <= left {
			continue
		}
		right := min(k.at, to)
		sum += c.stretch(left, right)
		left = right
		if left == to {
			return sum
		}
	}
	return sum + c.stretch(left, to)
}

// stretch integrates over a piece without a knot inside.
func (c curve) stretch(from, to time.Duration) float64 {
	return (c.at(from) + c.at(to)) / 2 * (to - from).Seconds()
}
