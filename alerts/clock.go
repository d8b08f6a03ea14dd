package alerts

import (
	"time"

	"sandglass/backend/fleet"
)

// jumpAt is the difference between wall and monotonic clock from which a jump is assumed.
const jumpAt = 2 * time.Second

// clock is the engine's own time: wall-clock values that advance with the monotonic clock only. A jump of the wall
// clock moves JumpDrift instead of every duration. Immutable.
type clock struct {
	Steady    time.Time     `json:"steady"`
	Wall      time.Time     `json:"wall"`
	Mono      time.Duration `json:"mono"`
	JumpDrift time.Duration `json:"jump_drift,omitempty"` // wall minus steady as of the last jump
	JumpAt    time.Time     `json:"jump_at,omitzero"`     // steady time of the last jump
	// Offsets are the sources' clock offsets against the steady clock when they were first known. They tell whether
	// a source's times follow our wall clock when it jumps.
	Offsets map[string]time.Duration `json:"offsets,omitempty"`
	// ResumedAt is the steady time of the first State after a restart; the zero time in a first run.
	ResumedAt time.Time `json:"resumed_at,omitzero"`
	// LeftAt is the steady time of the last State that the former process saved.
	LeftAt time.Time `json:"left_at,omitzero"`
}

// resume is where the clock goes on after a restart.
type resume struct {
	steady time.Time // when the state was loaded
	wall   time.Time
}

func plain(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Round(0).UTC()
}

// maxLoadDelay bounds the time between loading and the first State that is believed from the wall clock.
const maxLoadDelay = 10 * time.Minute

func (c clock) next(st *fleet.State, from *resume) clock {
	wall := plain(st.Wall)
	n := c
	switch {
	case from != nil:
		n.Steady = from.steady.Add(min(max(wall.Sub(from.wall), 0), maxLoadDelay))
		n.ResumedAt, n.LeftAt = n.Steady, c.Steady
		if drift := from.wall.Sub(from.steady); (drift - n.JumpDrift).Abs() > jumpAt {
			n.JumpDrift, n.JumpAt = drift, from.steady // between the runs: all that this one has read is of the clock after it
		}
	case c.Steady.IsZero():
		n.Steady = wall
	case st.Mono >= c.Mono:
		n.Steady = c.Steady.Add(st.Mono - c.Mono)
	default: // another process built this State and said nothing of the time between
		n.Steady = c.Steady.Add(max(wall.Sub(c.Wall), 0))
	}
	n.Wall, n.Mono = wall, st.Mono
	if drift := wall.Sub(n.Steady); (drift - n.JumpDrift).Abs() > jumpAt {
		n.JumpDrift, n.JumpAt = drift, n.Steady
	}
	n.anchor(st)
	return n
}

func (c *clock) anchor(st *fleet.State) {
	copied := false
	for _, h := range st.Sources {
		o, known := h.ClockOffset.Get()
		if _, have := c.Offsets[h.Key.Source]; !known || have {
			continue
		}
		if !copied {
			m := make(map[string]time.Duration, len(c.Offsets)+1)
			for k, v := range c.Offsets {
				m[k] = v
			}
			c.Offsets, copied = m, true
		}
		c.Offsets[h.Key.Source] = o + c.JumpDrift
	}
}

// display turns a steady time into the wall clock of now, so that ages on the screen are right after a jump.
func (c *clock) display(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(c.JumpDrift)
}

// fresh reports whether a moment of our own wall clock lies after its last jump.
func (c *clock) fresh(t time.Time) bool {
	since := c.Steady.Sub(c.JumpAt)
	return !t.Before(c.Wall.Add(-since)) && !t.After(c.Wall.Add(jumpAt))
}

// ours turns a moment of our own wall clock into steady time.
func (c *clock) ours(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	if t = plain(t); c.JumpDrift != 0 && c.fresh(t) {
		return t.Add(-c.JumpDrift)
	}
	return t
}

// theirs turns a source's time, as corrected when it was read at readAt, into steady time. Correction by a measured
// offset makes times follow our wall clock, jumps included; without one they do not.
func (c *clock) theirs(h *fleet.SourceHealth, readAt, t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	t = plain(t)
	if c.JumpDrift == 0 || h == nil || !c.fresh(plain(readAt)) {
		return t
	}
	o, known := h.ClockOffset.Get()
	if !known {
		return t
	}
	if moved := o - c.Offsets[h.Key.Source]; (moved + c.JumpDrift).Abs() < c.JumpDrift.Abs()/2 {
		return t.Add(-c.JumpDrift)
	}
	return t
}
