package alerts

import (
	"math"
	"time"

	"sandglass/backend"
)

// Heading is where a measure goes.
type Heading string

// The headings. Unknown: too little was measured.
const (
	HeadingUnknown Heading = ""
	HeadingWorse   Heading = "worse"
	HeadingSteady  Heading = "steady"
	HeadingEnding  Heading = "ending"
)

// Direction is where a storm or a growth goes.
type Direction struct {
	Heading Heading
	// Time is how long the measure takes to double while it gets worse, or to halve while it ends; 0 where it is steady
	// or has stopped altogether.
	Time time.Duration
}

// Text says it in words, empty when it is unknown.
func (d Direction) Text() backend.Safe {
	switch {
	case d.Heading == HeadingWorse:
		return backend.Textf("worse: doubles every %s", about(d.Time))
	case d.Heading == HeadingEnding && d.Time > 0:
		return backend.Textf("ending: halves every %s", about(d.Time))
	case d.Heading == HeadingEnding:
		return backend.Text("ending: it has stopped")
	case d.Heading == HeadingSteady:
		return backend.Text("steady")
	}
	return backend.Safe{}
}

// about rounds a duration to what the estimate is worth.
func about(d time.Duration) string {
	switch {
	case d >= 10*time.Minute:
		d = d.Round(time.Minute)
	case d >= time.Minute:
		d = d.Round(10 * time.Second)
	default:
		d = max(d.Round(5*time.Second), 5*time.Second)
	}
	return short(d)
}

const (
	directionPart = 3    // the newest third of a trend says where it goes
	directionMin  = 6    // at least so many points
	directionSure = 2.0  // standard errors from which a slope is none of chance
	directionMost = 1e15 // no measure is larger
	directionMove = 0.25 // and at least this change over the part, as a share
	directionStop = 4    // so many zeros at the end say that it has stopped
)

// DirectionOf judges a trend, oldest first, that spans a time. It fits an exponential to the newest third by weighted
// least squares, from where it began; a slope within two standard errors, or a change of less than a quarter, is steady.
func DirectionOf(trend []float64, span time.Duration) Direction {
	n := max(len(trend)/directionPart, directionMin)
	if len(trend) < n || span <= 0 {
		return Direction{}
	}
	part := trend[len(trend)-n:]
	before, all := 0.0, 0.0
	for i, v := range trend {
		if math.IsNaN(v) || v < 0 || v > directionMost {
			return Direction{}
		}
		if all += v; i < len(trend)-n {
			before += v
		}
	}
	recent := all - before
	switch {
	case all == 0:
		return Direction{}
	case recent <= 0:
		return Direction{Heading: HeadingEnding}
	}
	if before == 0 { // what had not begun is no part of how it went since
		for part[0] == 0 {
			part = part[1:]
		}
	}
	if stopped(part) {
		return Direction{Heading: HeadingEnding}
	}
	if len(part) < directionMin {
		return Direction{}
	}
	slope, err := fit(part)
	change := math.Expm1(slope * float64(len(part)-1))
	if !(math.Abs(slope) >= directionSure*err) || math.IsInf(slope, 0) || change < directionMove && change > -directionMove/(1+directionMove) {
		return Direction{Heading: HeadingSteady}
	}
	bucket := float64(span) / float64(len(trend))
	d := Direction{Heading: HeadingWorse, Time: time.Duration(max(math.Ln2/math.Abs(slope)*bucket, 1))}
	if slope < 0 {
		d.Heading = HeadingEnding
	}
	return d
}

// stopped reports whether a measure that is mostly above zero is zero at the end.
func stopped(part []float64) bool {
	zeros, above := 0, 0
	for _, v := range part {
		if zeros++; v > 0 {
			zeros, above = 0, above+1
		}
	}
	return zeros >= directionStop && 2*above >= len(part)-zeros
}

// fit is the slope of the logarithm of values per point, and its standard error. Small values are uncertain, and zero has
// no logarithm: each is weighted by its size, and all are raised by a little.
func fit(values []float64) (slope, err float64) {
	mean := 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	least := mean / 20
	var w, wx, wy, wxx, wxy float64
	for i, v := range values {
		x, y, k := float64(i), math.Log(v+least), v+least
		w, wx, wy, wxx, wxy = w+k, wx+k*x, wy+k*y, wxx+k*x*x, wxy+k*x*y
	}
	det := w*wxx - wx*wx
	slope = (w*wxy - wx*wy) / det
	at := (wy - slope*wx) / w
	rest := 0.0
	for i, v := range values {
		d := math.Log(v+least) - at - slope*float64(i)
		rest += (v + least) * d * d
	}
	return slope, math.Sqrt(rest / float64(len(values)-2) * w / det)
}
