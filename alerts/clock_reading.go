package alerts

import "time"

// ClockReading is one reading of both clocks that outlive a process: the wall clock, and the time since the machine was
// started, which counts suspended time and cannot be set. Boot names that start; empty where the system gives none.
type ClockReading struct {
	Wall      time.Time     `json:"wall"`
	Boot      string        `json:"boot,omitempty"`
	SinceBoot time.Duration `json:"since_boot,omitempty"`
}

// Since is the time that passed since an earlier moment of this or another process, never negative. byWall says that
// only the wall clock could tell: another boot, or none known.
func (m ClockReading) Since(earlier ClockReading) (elapsed time.Duration, byWall bool) {
	if m.Boot != "" && m.Boot == earlier.Boot && m.SinceBoot >= earlier.SinceBoot {
		return m.SinceBoot - earlier.SinceBoot, false
	}
	return max(plain(m.Wall).Sub(plain(earlier.Wall)), 0), true
}
