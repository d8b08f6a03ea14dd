//go:build !linux

package alerts

import "time"

// SystemMoment reads the clock of this machine: elsewhere than on Linux only the wall clock outlives a process.
func SystemMoment() Moment { return Moment{Wall: time.Now()} }
