package app

import (
	"os"
	"time"
)

// localZone is the time zone of this machine as a location of its own, by which the console knows that it was chosen. Where its rules
// cannot be read it has today's offset.
func localZone(tz string, now time.Time) *time.Location {
	if tz != "" {
		if zone, err := time.LoadLocation(tz); err == nil && zone != time.UTC {
			return zone
		}
	} else if data, err := os.ReadFile("/etc/localtime"); err == nil {
		if zone, err := time.LoadLocationFromTZData("local", data); err == nil {
			return zone
		}
	}
	name, offset := now.Local().Zone()
	return time.FixedZone(name, offset)
}
