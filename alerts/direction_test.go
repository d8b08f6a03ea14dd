package alerts

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestDirection(t *testing.T) {
	const span = 15 * time.Minute // 30 points, 30 s apart
	series := func(f func(i int) float64) []float64 {
		out := make([]float64, 30)
		for i := range out {
			out[i] = f(i)
		}
		return out
	}
	r := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct {
		trend   []float64
		heading Heading
		time    time.Duration
		text    string
	}{
		"nothing":                {nil, HeadingUnknown, 0, ""},
		"too short":              {[]float64{1, 2, 4, 8}, HeadingUnknown, 0, ""},
		"all zero":               {series(func(int) float64 { return 0 }), HeadingUnknown, 0, ""},
		"not a number":           {series(func(int) float64 { return math.NaN() }), HeadingUnknown, 0, ""},
		"constant":               {series(func(int) float64 { return 3 }), HeadingSteady, 0, "steady"},
		"noise":                  {series(func(int) float64 { return 3 + r.Float64() }), HeadingSteady, 0, "steady"},
		"slow drift":             {series(func(i int) float64 { return 3 * math.Pow(2, float64(i)/60) }), HeadingSteady, 0, "steady"},
		"doubles every minute":   {series(func(i int) float64 { return math.Pow(2, float64(i)/2) }), HeadingWorse, time.Minute, "worse: doubles every 1m"},
		"halves every minute":    {series(func(i int) float64 { return 1000 * math.Pow(2, -float64(i)/2) }), HeadingEnding, time.Minute, "ending: halves every 1m"},
		"began just now":         {series(func(i int) float64 { return math.Max(0, float64(i-22)) }), HeadingWorse, 0, ""},
		"constant for a minute":  {series(func(i int) float64 { return float64(i / 28) }), HeadingUnknown, 0, ""},
		"constant for 4 minutes": {series(func(i int) float64 { return float64(min(i/22, 1)) }), HeadingSteady, 0, "steady"},
		"ended 2 minutes ago": {series(func(i int) float64 {
			if i >= 19 && i < 26 {
				return 15
			}
			return 0
		}), HeadingEnding, 0, "ending: it has stopped"},
		"has stopped": {series(func(i int) float64 {
			if i < 15 {
				return 5
			}
			return 0
		}), HeadingEnding, 0, "ending: it has stopped"},
		"over its peak": {series(func(i int) float64 { return math.Exp(-math.Pow(float64(i-15), 2) / 60) }), HeadingEnding, 0, ""},
	} {
		d := DirectionOf(c.trend, span)
		if d.Heading != c.heading {
			t.Errorf("%s: %+v, want %q", name, d, c.heading)
		}
		if c.time != 0 && (d.Time < c.time*9/10 || d.Time > c.time*11/10) {
			t.Errorf("%s: %s, want %s", name, d.Time, c.time)
		}
		if c.text != "" && d.Text().String() != c.text {
			t.Errorf("%s: %q, want %q", name, d.Text(), c.text)
		}
	}
}

func FuzzDirection(f *testing.F) {
	f.Add(1.0, 2.0, 3.0, 0.0, 5e300, 1e-300)
	f.Fuzz(func(t *testing.T, a, b, c, x, y, z float64) {
		d := DirectionOf([]float64{a, b, c, x, y, z, a, b, c}, time.Minute)
		if d.Time < 0 || d.Heading == HeadingSteady && d.Time != 0 {
			t.Errorf("%+v", d)
		}
	})
}
