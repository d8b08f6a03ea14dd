package logs

import (
	"testing"
	"time"

	"sandglass/backend"
)

func TestRollupCounts(t *testing.T) {
	for name, c := range map[string]struct {
		values [][]float64 // per key, one every 5 s
		born   bool
		mode   rollupMode
		total  float64 // with what was handed out later
	}{
		"per rollup, steady":          {[][]float64{{50, 50, 50}}, true, modePerRollup, 150},
		"per rollup, noisy":           {[][]float64{{50, 48, 51, 47, 52}}, true, modePerRollup, 248},
		"per rollup, not from start":  {[][]float64{{50, 48, 51, 47}}, false, modePerRollup, 196},
		"cumulative, from the start":  {[][]float64{{50, 100, 150, 200, 250}}, true, modeCumulative, 250},
		"cumulative, seen in between": {[][]float64{{5000, 5050, 5100, 5150, 5200}}, false, modeCumulative, 200},
		"cumulative, many keys":       {[][]float64{{5, 9, 12}, {2, 3, 8}, {1, 2, 4}, {7, 8, 9}}, true, modeCumulative, 12 + 8 + 4 + 9},
		"too little to tell":          {[][]float64{{50, 100}}, true, modeUndecided, 100},
		"cumulative with a restart": {[][]float64{{10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 5, 15}}, true, modeCumulative,
			110 + 15},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRollups()
			sum := 0.0
			for key, values := range c.values {
				k := string(rune('a' + key))
				if c.born {
					r.full(k, t0)
				}
				for i, v := range values {
					at := t0.Add(time.Duration(i) * 5 * time.Second)
					n, _, undecided := r.observe(k, seriesKey{metric: backend.MetricRejections}, v, at)
					if undecided != (r.mode == modeUndecided) {
						t.Errorf("mode %d, but undecided is %v", r.mode, undecided)
					}
					sum += n
				}
			}
			for _, o := range r.settle() {
				sum += o.n
			}
			if r.mode != c.mode || sum != c.total {
				t.Errorf("mode %d, total %v; want %d, %v", r.mode, sum, c.mode, c.total)
			}
		})
	}
}

func TestRollupModeIsTold(t *testing.T) {
	_, r := lines(t, nil, `{"msg":"[rate-limited] command not in allowlist","suppressedCount":9}`)
	if !hasNote(r, "not yet clear") {
		t.Errorf("notes: %v", r.Notes)
	}
	lower := false
	for _, c := range r.Counts {
		lower = lower || c.Series.Name == backend.MetricRejections && c.LowerBound
	}
	if !lower {
		t.Error("an undecided count is not marked")
	}
}

func TestRollupLinesAreNotRejectionsThemselves(t *testing.T) {
	line := `{"msg":"[rate-limited] command not in allowlist","sessionId":"a","suppressedCount":`
	_, r := lines(t, nil, `{"msg":"command not in allowlist","sessionId":"a"}`, line+`40}`, line+`39}`, line+`41}`, line+`38}`)
	if got := total(r.Counts, backend.MetricRejections, "a"); got != 1+40+39+41+38 {
		t.Errorf("%v rejections", got)
	}
	if got := total(r.Counts, backend.MetricRollups, "a"); got != 4 {
		t.Errorf("%v rollups", got)
	}
}

func TestALowerBoundEndsWhenTheModeIsFound(t *testing.T) {
	line := `{"msg":"[rate-limited] command not in allowlist","suppressedCount":`
	a, r := lines(t, nil, line+`40}`)
	if n, lower := rejections(r); n != 0 || !lower {
		t.Errorf("first rollup: %v, lower bound %v", n, lower)
	}
	p := placement{lo: t0, hi: t0.Add(5 * time.Second)}
	for _, v := range []string{"39}", "41}", "38}"} {
		a.line([]byte(line+v), 1, time.Time{}, &p, nil)
	}
	var next backend.Reading
	a.finish(&next, p.hi)
	if n, lower := rejections(next); n != 40+39+41+38 || lower {
		t.Errorf("once decided: %v, lower bound %v", n, lower)
	}
}

func TestALowerBoundStaysForWhatATotalHeldBefore(t *testing.T) {
	line := `{"msg":"[rate-limited] command not in allowlist","suppressedCount":`
	_, perRollup := lines(t, nil, line+`40}`, line+`39}`, line+`41}`, line+`38}`)
	if n, lower := rejections(perRollup); n != 158 || lower {
		t.Errorf("per rollup: %v, lower bound %v", n, lower)
	}
	_, total := lines(t, nil, line+`940}`, line+`950}`, line+`960}`, line+`970}`, line+`980}`)
	if n, lower := rejections(total); n != 40 || !lower {
		t.Errorf("running total: %v, lower bound %v", n, lower)
	}
}

func rejections(r backend.Reading) (n float64, lower bool) {
	for _, c := range r.Counts {
		if c.Series.Name == backend.MetricRejections {
			n += c.N
			lower = lower || c.LowerBound
		}
	}
	return n, lower
}

func TestForgottenRollupKeys(t *testing.T) {
	r := newRollups()
	for i := range maxRollupKeys + 10 {
		r.full(string(rune('a'+i)), t0)
	}
	if len(r.keys) != maxRollupKeys {
		t.Errorf("%d keys", len(r.keys))
	}
	r.forget(t0.Add(forgetRollup + time.Second))
	if len(r.keys) != 0 {
		t.Errorf("%d keys remain", len(r.keys))
	}
}
