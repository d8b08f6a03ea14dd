//go:build !linux

package alerts

import "time"

// ReadSystemClock reads the clock of this machine: elsewhere than on Linux only the wall clock outlives a process.
func ReadSystemClock() ClockReading { return ClockReading{Wall: time.Now()} }
