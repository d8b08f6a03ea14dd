package views

import "time"

// The times on screens are on the clock of the viewer, which the Now of a Frame carries: UTC, marked with a Z, or the viewer's local
// time, which has no mark in tables and its zone in the header. What commands print is always UTC.

// On is a moment on the clock of now, and the mark behind it.
func On(t, now time.Time) (at time.Time, mark string) {
	if Zoned(now) {
		return t.In(now.Location()), ""
	}
	return t.UTC(), "Z"
}

// Zoned reports whether the clock of now is the viewer's local one. The location of this process is none: nobody chose it.
func Zoned(now time.Time) bool {
	return now.Location() != time.UTC && now.Location() != time.Local
}

// Minutes writes the time of day without seconds: "15:04Z".
func Minutes(t, now time.Time) string {
	at, mark := On(t, now)
	return at.Format("15:04") + mark
}

// Seconds writes the time of day: "15:04:05Z".
func Seconds(t, now time.Time) string {
	at, mark := On(t, now)
	return at.Format(time.TimeOnly) + mark
}

// Stamp writes a moment whole, with its offset from UTC.
func Stamp(t, now time.Time) string {
	at, _ := On(t, now)
	return at.Format(time.RFC3339)
}
