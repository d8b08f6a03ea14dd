package backend

import (
	"testing"
	"time"
)

// TestAgeAtMostIsNoLessThanTheAge: an upper limit is never told as less than it is.
func TestAgeAtMostIsNoLessThanTheAge(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 41 * time.Second: "41s", 41*time.Second + 1: "42s", 59*time.Second + 1: "1m", 25 * time.Minute: "25m", 25*time.Minute + time.Second: "26m",
		3*time.Hour + 25*time.Minute: "4h", 47*time.Hour + time.Minute: "2d", 6*24*time.Hour + 1: "7d", -time.Second: "0s",
	} {
		if got := AgeAtMost(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
