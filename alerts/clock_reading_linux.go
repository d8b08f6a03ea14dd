package alerts

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// SystemMoment reads the clocks of this machine. Only the wiring calls it.
func ReadSystemClock() ClockReading {
	m := ClockReading{Wall: time.Now()}
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return m
	}
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return m
	}
	m.Boot, m.SinceBoot = strings.TrimSpace(string(id)), time.Duration(ts.Nano())
	return m
}
