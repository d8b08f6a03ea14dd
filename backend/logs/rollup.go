package logs

import (
	"time"

	"sandglass/backend"
)

// rollupMode is what the suppressedCount of this deployment turned out to be.
type rollupMode uint8

const (
	modeUndecided  rollupMode = iota
	modePerRollup             // lines suppressed since the rollup before
	modeCumulative            // lines suppressed since the first one, growing until it starts anew
)

// rollups turns suppressedCount into increases. Whether the count is per rollup or cumulative is not documented, so
// it is concluded from the counts of the same key (session, workspace, kind of rejection, first word of the command):
// cumulative ones only grow, save for rare restarts; those of single rollups go up and down. Until that is clear each
// value is counted in the smaller of the two ways, as a lower bound; what was held back is handed out later when the
// counts turn out to be per rollup.
type rollups struct {
	keys  map[string]*rollupKey
	mode  rollupMode
	steps [32]bool // the last changes from one value of a key to the next; true = it grew
	taken int      // changes seen in all
	owed  []pendingCount
}

type rollupKey struct {
	last   float64
	seen   bool // last holds the value of a rollup
	born   bool // its first, full line was seen, so that nothing was suppressed before we looked
	growth int  // rising steps in a row
	at     time.Time
}

type pendingCount struct {
	series seriesKey
	at     time.Time
	n      float64
	before bool // a running total would hold an unknown number from before we looked
	row    *rejectionRow
}

func newRollups() *rollups { return &rollups{keys: map[string]*rollupKey{}} }

// full notes that a line of the key was written in full.
func (r *rollups) full(key string, at time.Time) {
	if k := r.key(key); k != nil {
		if !k.seen {
			k.born = true
		}
		k.at = at
	}
}

// observe takes one rollup's count and returns how many rejections it adds, whether more may have happened, and
// whether that depends on what suppressedCount turns out to be.
func (r *rollups) observe(key string, s seriesKey, v float64, at time.Time) (n float64, lower, undecided bool) {
	k := r.key(key)
	if k == nil { // too many keys to follow
		if r.mode == modePerRollup {
			return v, false, false
		}
		return 0, true, false
	}
	first := !k.seen
	if !first {
		r.step(k, v > k.last)
	}
	cumulative := v // what a cumulative count adds: everything after a restart, else the difference
	switch {
	case first && !k.born:
		cumulative = 0 // how much of it happened before we looked is not known
	case !first && v >= k.last:
		cumulative = v - k.last
	}
	lower = first && !k.born
	k.last, k.seen, k.at = v, true, at
	switch r.mode {
	case modePerRollup:
		return v, false, false
	case modeCumulative:
		return cumulative, lower, false
	case modeUndecided:
	}
	if len(r.owed) < maxOwed {
		r.owed = append(r.owed, pendingCount{series: s, at: at, n: v - cumulative, before: lower})
	}
	return cumulative, false, true
}

// oweTo names the row that the count held back last belongs to.
func (r *rollups) oweTo(row *rejectionRow) {
	if n := len(r.owed); n > 0 && n < maxOwed && row != nil {
		r.owed[n-1].row = row
		row.owed++
	}
}

func (r *rollups) key(key string) *rollupKey {
	k := r.keys[key]
	if k == nil && len(r.keys) < maxRollupKeys {
		k = &rollupKey{}
		r.keys[key] = k
	}
	return k
}

// step takes one more change into account and decides again.
func (r *rollups) step(k *rollupKey, grew bool) {
	if grew {
		k.growth++
	} else {
		k.growth = 0
	}
	r.steps[r.taken%len(r.steps)] = grew
	r.taken++
	n := min(r.taken, len(r.steps))
	not := 0
	for _, up := range r.steps[:n] {
		if !up {
			not++
		}
	}
	switch {
	case not >= 2 && not*4 >= n:
		r.mode = modePerRollup
	case not == 0 && (k.growth >= 4 || n >= 8), n >= 12 && not*100 <= n*15:
		r.mode = modeCumulative
	}
}

// settle returns, once the mode is decided, the counts of the time before and what is still due on each.
func (r *rollups) settle() []pendingCount {
	if r.mode == modeUndecided {
		return nil
	}
	due := r.owed
	r.owed = nil
	for i := range due {
		if r.mode == modeCumulative {
			due[i].n = 0
		} else {
			due[i].before = false
		}
	}
	return due
}

// forget drops keys that were silent for long.
func (r *rollups) forget(now time.Time) {
	for key, k := range r.keys {
		if now.Sub(k.at) > forgetRollup {
			delete(r.keys, key)
		}
	}
}

// note says what is known, empty before the first rollup.
func (r *rollups) note() backend.Safe {
	switch {
	case r.mode == modePerRollup:
		return backend.Text("suppressedCount is counted per rollup")
	case r.mode == modeCumulative:
		return backend.Text("suppressedCount is cumulative: its growth is counted")
	case r.taken > 0 || len(r.owed) > 0:
		return backend.Text("whether suppressedCount is per rollup or cumulative is not yet clear: rejections are a lower bound")
	}
	return backend.Safe{}
}
